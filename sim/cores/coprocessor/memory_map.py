"""What the cores of a tile's threads find at the addresses of the coprocessor (ISA: BabyRISCV/README.md, memory map).

An access is carried out in the order of cycles (`tensim.sim.cores.coprocessor.cluster`).  It may have to wait: for room in a
FIFO, for the end of what a thread has pushed (TTSync.md), for a message in a mailbox (Mailboxes.md) or a PC buffer (PCBufs.md).
"""

import numpy as np

from tensim.sim.cores.coprocessor.atomic_instructions import FIRST as FIRST_ATOMIC
from tensim.sim.cores.coprocessor.atomic_instructions import LAST as LAST_ATOMIC
from tensim.sim.cores.coprocessor.atomic_instructions import atomic_result
from tensim.sim.cores.coprocessor.baby_core import (
    LOAD,
    LOOP_LOADS,
    PUSH,
    REGISTERS,
    WORD_MASK,
    baby_table,
    complete,
    fifo_of,
    set_register,
)
from tensim.sim.cores.coprocessor.config_unit import config_words, write_config
from tensim.sim.cores.coprocessor.costs import costs_table
from tensim.sim.cores.coprocessor.dst_window import in_window, load_window, store_window
from tensim.sim.cores.coprocessor.faults import L1_ADDRESS, UNMAPPED_REGISTER, stop
from tensim.sim.cores.coprocessor.frontend import MOP_WORDS, expands_no_mop, has_room, look_at_gates, push, set_mop
from tensim.sim.cores.coprocessor.machine import is_done
from tensim.sim.cores.coprocessor.registers import register
from tensim.sim.cores.coprocessor.state import (
    ASKED_INVALIDATION,
    BRISC,
    N_CONFIG,
    N_GPRS,
    N_SEMAPHORES,
    N_THREADS,
    config_word,
    field_word,
    read_gpr,
    semaphore_table,
    write_gpr,
)
from tensim.sim.cores.coprocessor.sync_unit import get, post
from tensim.sim.cores.coprocessor.tile_registers import (
    NIUS,
    NO_COUNTER,
    STREAMS,
    STREAMS_END,
    counter_of,
    is_ethernet,
    load_register,
    store_register,
)
from tensim.sim.cores.riscv.core_memory import loaded, put, size_of
from tensim.sim.cores.riscv.instruction_results import LB, LBU, LH, LHU, LW, SB, SH, SW
from tensim.sim.cores.store_queue import begin_store
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_i64, load_u32
from tensim.sim.engine.tables import table

TILE_REGISTERS, TILE_REGISTERS_END = 0xFFB11000, 0xFFB80000
MOP_CONFIG = 0xFFB80000
GPRS, PC_BUFFER, MAILBOXES, CONFIG = 0xFFE00000, 0xFFE80000, 0xFFEC0000, 0xFFEF0000
DONE_CHECK, MOP_DONE_CHECK, SEMAPHORES = PC_BUFFER + 4, PC_BUFFER + 8, PC_BUFFER + 0x20
MAILBOX_BYTES, MAILBOX_WORDS = 0x1000, 4
# Not of the chip: what a core stores there is printed, value and extra, once it stores the kind + 1
PRINTS, PRINT_KIND = 0xFFC50000, 0xFFC50008
N_MAILBOXES = 4  # by sender: RISCV B, T0, T1, T2
MAILBOX = np.dtype([("head", np.int64), ("count", np.int64), ("words", np.int64, MAILBOX_WORDS)])  # [receiver][sender]
mailbox_table = table(MAILBOX)
# From BRISC to the core of a thread; `asked`: whether that waits for a word
PC_BUFFER_WORDS, PC_BUFFER_BYTES, PC_BUFFER_OVERRIDE = 16, 0x10000, 0x90
PC_BUFFER_QUEUE = np.dtype(
    [("head", np.int64), ("count", np.int64), ("asked", np.int64), ("words", np.int64, PC_BUFFER_WORDS)]
)
pc_buffer_table = table(PC_BUFFER_QUEUE)
STATE_PRIME = 0x100000001B3  # of FNV-1a, by which the contents of registers are told apart
WATCHES_SEMAPHORE, WATCHES_L1 = 1, 2  # what a core waits for
INVALIDATE = register("RISCV_IC_INVALIDATE_InvalidateAll")  # a bit for each core: its instruction cache is emptied


def make_mailboxes():
    """MAILBOX[4, 4], empty: by receiver and sender."""
    return np.zeros((N_MAILBOXES, N_MAILBOXES), MAILBOX)


def make_pc_buffers():
    """PC_BUFFER_QUEUE[3], empty: by the thread whose core reads it."""
    return np.zeros(N_THREADS, PC_BUFFER_QUEUE)


@compiled()
def pc_buffer_of(c, core_number, address):
    """The thread whose PC buffer a core reaches at an address, -1 for none: BRISC all three, a thread's core its own."""
    if c.n_cores == N_THREADS:
        return -1
    if core_number == BRISC:
        thread = (address - PC_BUFFER) // PC_BUFFER_BYTES
        return thread if 0 <= thread < N_THREADS else -1
    return core_number if core_number < N_THREADS and address & ~3 == PC_BUFFER else -1


@compiled()
def has_been_taken(c, thread, now):
    """Does a thread's core wait for more from its PC buffer, and has its coprocessor thread done all it was given?"""
    buffer = pc_buffer_table(c.pc_buffers_at)[thread]
    return buffer.count == 0 and buffer.asked != 0 and is_done(c, thread, now)


@compiled()
def load_pc_buffer(c, core_number, thread, now):
    """(Whether a load from a thread's PC buffer happens, its value): BRISC waits until all is taken, the thread for a word."""
    buffer = pc_buffer_table(c.pc_buffers_at)[thread]
    override = load_u32(c.debug_at + PC_BUFFER_OVERRIDE) >> 10 * thread
    if core_number == BRISC:
        return override & 3 == 3 or has_been_taken(c, thread, now), 0
    if buffer.count == 0:
        if override & 1 != 0:
            return True, override >> 2 & 0xFF
        if buffer.asked == 0:
            buffer.asked = 1
            look_at_gates(c)
        return False, 0
    value, buffer.asked = buffer.words[buffer.head], 0
    buffer.head = (buffer.head + 1) % PC_BUFFER_WORDS
    buffer.count -= 1
    return True, value


@compiled()
def store_pc_buffer(c, core_number, thread, value):
    """Whether a store to a thread's PC buffer happens: BRISC waits for room; what the thread's own core writes is thrown away."""
    buffer = pc_buffer_table(c.pc_buffers_at)[thread]
    if core_number == BRISC:
        if buffer.count == PC_BUFFER_WORDS:
            return False
        buffer.words[(buffer.head + buffer.count) % PC_BUFFER_WORDS] = value
        buffer.count += 1
    return True


@compiled(inline="always")
def mailbox_of(core_number):
    """A core's place among senders and receivers."""
    return (core_number + 1) % (BRISC + 1)


@compiled()
def gpr_of(core_number, address):
    """N_GPRS * thread + index of the GPR at an address, -1 for none: BRISC sees those of all threads."""
    index = (address - GPRS) // 4
    if core_number < N_THREADS:
        return N_GPRS * core_number + index if 0 <= index < N_GPRS else -1
    return index if core_number == BRISC and 0 <= index < N_THREADS * N_GPRS else -1


@compiled()
def narrow_value(code, address, value):
    """The part of a register's word that a load of this kind sees."""
    shifted = value >> (8 * (address & 3))
    if code == LB:
        return np.int64(np.int8(shifted))
    if code == LBU:
        return shifted & 0xFF
    if code == LH:
        return np.int64(np.int16(shifted))
    return shifted & 0xFFFF if code == LHU else value


@compiled()
def load(c, thread, core, now):
    """Carry out a load: True, or False when it has to wait."""
    address, k = core.address, costs_table(c.costs_at)[0]
    code, value, latency = core.code, 0, k.register_load
    if FIRST_ATOMIC <= code <= LAST_ATOMIC:
        return change(c, thread, core, now)
    if address < c.l1_size:
        value, latency = loaded(c.l1_at + address, code), k.l1_load
    elif TILE_REGISTERS <= address < TILE_REGISTERS_END or is_ethernet(c, address):
        value, latency = load_register(c, thread, address & ~3, now), k.tile_register_load
        value = narrow_value(code, address, value)
    elif in_window(c, thread, address):
        value = narrow_value(code, 0, load_window(c, thread, address))
    elif pc_buffer_of(c, thread, address) >= 0:
        happens, value = load_pc_buffer(c, thread, pc_buffer_of(c, thread, address), now)
        if not happens:
            return False
    elif gpr_of(thread, address) >= 0:
        gpr = gpr_of(thread, address)
        value, latency = narrow_value(code, address, read_gpr(c, gpr // N_GPRS, gpr % N_GPRS)), k.config_load
    elif CONFIG <= address < CONFIG + 8 * N_CONFIG:
        index, words = (address - CONFIG) // 4, config_words(c)
        if index < 2 * words:
            bank = 0 if index < words else 1
            value, latency = narrow_value(code, address, config_word(c, bank, index - bank * words)), k.config_load
    elif SEMAPHORES <= address < SEMAPHORES + 4 * N_SEMAPHORES:
        value = semaphore_table(c.semaphores_at)[(address - SEMAPHORES) // 4].value
    elif address == DONE_CHECK:
        if not is_done(c, thread, now):
            return False
    elif address == MOP_DONE_CHECK:
        if not expands_no_mop(c, thread):
            return False
    elif MAILBOXES <= address < MAILBOXES + N_MAILBOXES * MAILBOX_BYTES:
        sender = (address - MAILBOXES) // MAILBOX_BYTES
        box = mailbox_table(c.mailboxes_at)[mailbox_of(thread) * N_MAILBOXES + sender]
        if box.count == 0:
            return False
        value = box.words[box.head]
        box.head = (box.head + 1) % MAILBOX_WORDS
        box.count -= 1
    else:
        stop(c, UNMAPPED_REGISTER, thread, 0, address, 0)
    set_register(core, core.to, value, now + latency)
    return True


@compiled()
def change(c, thread, core, now):
    """Carry out an atomic instruction on L1: True."""
    address = core.address
    if address >= c.l1_size:
        stop(c, L1_ADDRESS, thread, 0, address, 4)
        return True
    old = loaded(c.l1_at + address, LW)
    put(c.l1_at + address, SW, atomic_result(core.code, old, np.int64(np.int32(core.value))) & WORD_MASK)
    c.l1_stored, c.l1_stored_at, c.l1_stored_by = 4, address, thread
    set_register(core, core.to, old, now + costs_table(c.costs_at)[0].l1_load)
    return True


@compiled()
def store(c, thread, core, now):
    """Carry out a store: True, or False when it has to wait."""
    address, value, code = core.address, core.value, core.code
    if address < c.l1_size:
        if address + size_of(code) > c.l1_size:
            stop(c, L1_ADDRESS, thread, 0, address, size_of(code))
        else:
            put(c.l1_at + address, code, value)
            c.l1_stored, c.l1_stored_at, c.l1_stored_by = size_of(code), address, thread
    elif in_window(c, thread, address):
        store_window(c, thread, address, value, size_of(code))
    elif code == SB or code == SH:
        stop(c, UNMAPPED_REGISTER, thread, 0, address, 1)
    elif TILE_REGISTERS <= address < TILE_REGISTERS_END or is_ethernet(c, address):
        store_register(c, thread, address, value)
    elif pc_buffer_of(c, thread, address) >= 0:
        return store_pc_buffer(c, thread, pc_buffer_of(c, thread, address), value)
    elif MOP_CONFIG <= address < MOP_CONFIG + 4 * MOP_WORDS and thread < N_THREADS:
        set_mop(c, thread, (address - MOP_CONFIG) // 4, value)
    elif gpr_of(thread, address) >= 0:
        gpr = gpr_of(thread, address)
        write_gpr(c, gpr // N_GPRS, gpr % N_GPRS, value)
    elif CONFIG <= address < CONFIG + 8 * N_CONFIG and (address - CONFIG) // 4 < 2 * config_words(c):
        index, words = (address - CONFIG) // 4, config_words(c)
        bank = 0 if index < words else 1
        write_config(c, bank, index - bank * words, value)
        if index - bank * words == field_word(c, INVALIDATE):
            c.asked, c.asked_by = ASKED_INVALIDATION, thread
    elif SEMAPHORES <= address < SEMAPHORES + 4 * N_SEMAPHORES:
        if value & 1 != 0:
            get(c, (address - SEMAPHORES) // 4)
        else:
            post(c, (address - SEMAPHORES) // 4)
    elif MAILBOXES <= address < MAILBOXES + N_MAILBOXES * MAILBOX_BYTES:
        receiver = (address - MAILBOXES) // MAILBOX_BYTES
        box = mailbox_table(c.mailboxes_at)[receiver * N_MAILBOXES + mailbox_of(thread)]
        if box.count == MAILBOX_WORDS:
            return False
        box.words[(box.head + box.count) % MAILBOX_WORDS] = value
        box.count += 1
    elif PRINTS <= address <= PRINT_KIND and c.debug_at == 0:
        if address == PRINT_KIND:
            c.printed, c.printed_by = value, thread
        elif address == PRINTS:
            core.print_value = value
        else:
            core.print_extra = value
    elif not (PC_BUFFER <= address < SEMAPHORES):  # what is written to the checks is thrown away
        stop(c, UNMAPPED_REGISTER, thread, 0, address, 1)
    return True


@compiled()
def state_of(core):
    """A number that tells the contents of a core's registers."""
    first, second, third, fourth = 0, 0, 0, 0  # of a quarter each: four short chains of products in place of a long one
    for i in range((REGISTERS - 1) // 4):
        at = core.registers_at + 32 * i
        first = (first * STATE_PRIME) ^ load_i64(at)
        second = (second * STATE_PRIME) ^ load_i64(at + 8)
        third = (third * STATE_PRIME) ^ load_i64(at + 16)
        fourth = (fourth * STATE_PRIME) ^ load_i64(at + 24)
    return ((first * STATE_PRIME ^ second) * STATE_PRIME ^ third) * STATE_PRIME ^ fourth


@compiled(inline="always")
def is_watched(c, address):
    """Does it lie in L1, or among registers of NIUs, streams and Ethernet, which change by what others do?"""
    return address < c.l1_size or (c.niu_at != 0 and NIUS <= address < STREAMS_END) or is_ethernet(c, address)


@compiled()
def watched(c, address, code):
    """What a load of L1, or of a register of an NIU, a stream or Ethernet, gives."""
    if address < c.l1_size:
        return loaded(c.l1_at + address, code)
    return narrow_value(code, address, load_register(c, 0, address & ~3, 0))


@compiled()
def is_unchanged(c, core):
    """Do L1 and registers hold what the loads of a core's loop have read there?"""
    for i in range(core.loads):
        if watched(c, core.load_address[i], core.load_code[i]) != core.load_value[i]:
            return False
    return True


@compiled()
def waits_for_l1(c, core):
    """Does a core go round a loop that only such loads can end, and nothing has changed there?  Notes its loads meanwhile.

    A round begins at a load, `poll_pc`, with the registers that the core had there before.
    """
    if not is_watched(c, core.address) or FIRST_ATOMIC <= core.code <= LAST_ATOMIC:
        core.poll_pc = -1
        return False
    in_round = core.poll_pc >= 0 and core.changes == core.poll_changes + core.loads
    if in_round and core.pc == core.poll_pc and core.loads > 0:
        if core.poll_state == state_of(core) and is_unchanged(c, core):
            return True
        in_round = False
    if not in_round or core.loads == LOOP_LOADS:
        core.poll_pc, core.poll_state, core.poll_changes, core.loads = core.pc, state_of(core), core.changes, 0
    core.load_address[core.loads], core.load_code[core.loads] = core.address, core.code
    core.load_value[core.loads] = watched(c, core.address, core.code)
    core.loads += 1
    return False


@compiled()
def polls(c, core, now):
    """Does a core stand at a load that can only give what it gave last time, after which it will stand here again?

    Nothing but the load tells it of others, and since then it has done nothing but arithmetic and has the same registers.
    """
    if core.action != LOAD:
        return False
    if SEMAPHORES <= core.address < SEMAPHORES + 4 * N_SEMAPHORES:
        value = semaphore_table(c.semaphores_at)[(core.address - SEMAPHORES) // 4].value
    elif c.debug_at != 0:
        return waits_for_l1(c, core)
    elif STREAMS <= core.address < STREAMS_END and counter_of(c, core.address) != NO_COUNTER:
        value = load_register(c, 0, core.address & ~3, now)
    else:
        return False
    state = state_of(core)
    same = core.poll_pc == core.pc and core.poll_address == core.address and core.changes == core.poll_changes
    if same and core.poll_value == value and core.poll_state == state:
        return True
    if not same:
        core.poll_since = now
    core.poll_pc, core.poll_address, core.poll_value, core.poll_state = core.pc, core.address, value, state
    core.poll_changes = core.changes + 1
    return False


@compiled()
def still_waits(c, core, thread, now):
    """Can a core's action, which had to wait, surely not happen at a cycle either?"""
    if core.watches == WATCHES_SEMAPHORE:
        return semaphore_table(c.semaphores_at)[(core.address - SEMAPHORES) // 4].value == core.poll_value
    if core.watches != 0:
        return False
    if core.action == PUSH:
        return not has_room(c, fifo_of(thread, core.address))
    checks = thread < N_THREADS and core.action == LOAD and core.address == DONE_CHECK
    return checks and not is_done(c, thread, now)


@compiled()
def perform(c, cores_at, thread, now):
    """Carry out a core's action at a cycle; False when it has to wait for others."""
    core, k = baby_table(cores_at)[thread], costs_table(c.costs_at)[0]
    if core.watches == WATCHES_L1:
        if is_unchanged(c, core):
            return False
        core.watches, core.poll_pc = 0, -1
    elif core.watches != 0:
        if semaphore_table(c.semaphores_at)[(core.address - SEMAPHORES) // 4].value == core.poll_value:
            return False
        core.watches = core.poll_pc = 0
    core.changes += 1
    if core.action == PUSH:
        fifo = fifo_of(thread, core.address)
        if not has_room(c, fifo):
            return False
        push(c, fifo, core.value, now + k.push_latency)
        complete(core, now + 1)
        return True
    if core.action == LOAD:
        if not load(c, thread, core, now):
            return False
    else:
        if not store(c, thread, core, now):
            return False
        if core.address >= c.l1_size:
            look_at_gates(c)
    if core.action != LOAD and core.address < c.l1_size:
        now, _ = begin_store(k, c, core, 0 < thread < N_THREADS, core.address, now)  # TRISC1 and TRISC2 share a port
    complete(core, now + 1)
    return True
