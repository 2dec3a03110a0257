"""RISC-V cores of a Tensix tile as the coprocessor's threads see them: RV32IM, Tensix words in the text, registers in memory.

Those of a Blackhole also have Zba and Zbb (`tensim.sim.cores.coprocessor.bit_instructions`) and Zaamo (`atomic_instructions`).  A
core fetches its text by lines through an instruction cache of two ways, which is empty at the start of a program.

A core executes in order, with a cycle per register from which it can be used (ISA: BabyRISCV/README.md).  It runs ahead of its
coprocessor as long as nothing it does is seen by others: arithmetic, local memory, words pushed into a FIFO with room.  Else it
stops with an action, which `tensim.sim.cores.coprocessor.cluster` carries out in the order of cycles.
"""

import functools

import numpy as np

from tensim.sim.cores.coprocessor.atomic_instructions import FIRST as FIRST_ATOMIC
from tensim.sim.cores.coprocessor.atomic_instructions import LAST as LAST_ATOMIC
from tensim.sim.cores.coprocessor.atomic_instructions import atomic_record
from tensim.sim.cores.coprocessor.bit_instructions import FIRST, LAST, bit_record, bit_result
from tensim.sim.cores.coprocessor.costs import costs_table
from tensim.sim.cores.coprocessor.frontend import has_room, push
from tensim.sim.cores.coprocessor.instruction_table import extracted, is_embedded
from tensim.sim.cores.coprocessor.state import ASKED_TEXT, BRISC, N_THREADS, NO_FIFO
from tensim.sim.cores.riscv.core_memory import loaded, put, size_of
from tensim.sim.cores.riscv.decode import INSTRUCTION_BYTES, plain_record, record
from tensim.sim.cores.riscv.instruction_results import (
    ADD,
    ADD_SP,
    ADDI,
    ADDI_SP,
    AND,
    ANDI,
    BEQ,
    BGEU,
    DIV,
    JAL,
    JALR,
    LB,
    LUI,
    LW,
    MUL,
    MULHU,
    OR,
    ORI,
    REMU,
    SLL,
    SLLI,
    SLT,
    SLTI,
    SLTIU,
    SLTU,
    SRA,
    SRAI,
    SRL,
    SRLI,
    SUB,
    SUB_SP,
    SW,
    XOR,
    XORI,
    is_taken,
    product,
    quotient,
    remainder,
)
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_i64, store_64
from tensim.sim.engine.tables import table

WORD_MASK = 0xFFFFFFFF
REGISTERS = 33  # and as many cycles behind them; number 32 takes what is written to x0
REGISTER_BYTES = 8 * REGISTERS
LOCAL, INSTRUCTION_BUFFER = 0xFFB00000, 0xFFE40000
# codes beside those of `Code`: a word for the coprocessor; ebreak; what nobody has decoded yet
TENSIX_WORD, END, UNDECODED = 50, 51, 99
# cfg0: branch prediction, gathering of Tensix words (configure_gathering of tt-metal's firmware)
CONTROL_REGISTERS = (0x7C0,)
LINE_BYTES, WAYS = 16, 2  # of the instruction cache
FUEL = 1 << 20  # instructions that a core runs before others get their turn
# States of a core.  ENDED: at ebreak, in a jump to itself, or in reset; POLLING: it reads a counter of a circular buffer again and
# again and does nothing else
RUNNING, ACTING, BLOCKED, ENDED, FAULTED, POLLING = range(6)
NO_ACTION, LOAD, STORE, PUSH = range(4)
ILLEGAL, OUTSIDE_TEXT, MISALIGNED = 1, 2, 3  # causes of a fault

LOOP_LOADS = 8  # of L1 in a loop that is known to wait

# `clock`: cycle at which the core goes on; `action`: what it stands at: an access of `code` to `address` with `value`, result to
# register `to`; `acted_at`: when it came to its latest action; `raw_at`: the text's bytes, for what is read
# of it, 0 where that may change; `changes`: what the core has done beside arithmetic, by which
# loads that poll are told (`tensim.sim.cores.coprocessor.memory_map.polls`): `poll_pc`, `poll_address`, `poll_value`, `poll_state`,
# `poll_changes` of the last such load, `poll_since` its first one's cycle; `watches`: it waits for another value there; `told`:
# cycle up to which lines have got their time; `icache_at`: (newest, oldest) line of each of `icache_sets` sets, `fetched`: the
# line fetched last;
# `print_value`, `print_extra`: of what it prints next (`tensim.sim.cores.coprocessor.memory_map`);
# `loads`: how many loads of L1, `load_*`, it has done since the one at `poll_pc`, and nothing else of that kind;
# `store_1` to `store_4`, `stored_at`: its last stores to L1 (`tensim.sim.cores.store_queue`)
BABY_CORE = np.dtype(
    [(name, np.int64) for name in (
        "state clock pc registers_at text_at text_base text_bytes raw_at local_at local_bytes "
        "action code address value to retired stall acted_at blocked_since changes "
        "poll_pc poll_address poll_value poll_state poll_changes poll_since watches told cause icache_at icache_sets fetched "
        "loads print_value print_extra store_1 store_2 store_3 store_4 stored_at"
    ).split()]
    + [("load_address", np.int64, LOOP_LOADS), ("load_code", np.int64, LOOP_LOADS), ("load_value", np.int64, LOOP_LOADS)]
)  # fmt: skip
baby_table = table(BABY_CORE)


def csr_record(word):
    """Record of an instruction on a control register, None for another: those of a core switch how it fetches and predicts, which
    has no effect here, and read as after reset."""
    if word & 0x7F != 0x73 or word >> 12 & 3 == 0 or word >> 20 not in CONTROL_REGISTERS:
        return None
    return record(LUI, word >> 7 & 31)


def decode(text, base, has_bit_instructions):
    """Records of a text (bytes) that lies at `base` in L1, Tensix words among its instructions."""
    words = np.frombuffer(text, "<u4").tolist()
    records = []
    for index, word in enumerate(words):
        if is_embedded(word):
            records.append(record(TENSIX_WORD, immediate=extracted(word)))
        elif word == 0x00100073:
            records.append(record(END))
        elif (control := csr_record(word)) is not None:
            records.append(control)
        else:
            extended = (bit_record(word) or atomic_record(word)) if has_bit_instructions else None
            records.append(plain_record(word, base + INSTRUCTION_BYTES * index) if extended is None else extended)
    return np.array(records, np.int64)


@compiled()
def quotient_of(code, a, b):
    """(result, cycles) of DIV to REMU (ISA: BabyRISCV/README.md, Integer Unit)."""
    is_unsigned, gives_quotient = (code - DIV) & 1 != 0, code - DIV < 2
    if is_unsigned:
        a, b = a & WORD_MASK, b & WORD_MASK
    if b == 0:
        return -1 if gives_quotient else a, 2
    cycles = 2
    if b != 1:
        size, left = 0, abs(a)
        while left != 0:
            left >>= 1
            size += 1
        cycles = min(6 + size, 33)
    return quotient(a, b) if gives_quotient else remainder(a, b), cycles


@compiled()
def arithmetic(code, a, b, immediate):
    """Result of an instruction of one cycle on registers."""
    if code == ADDI or code == ADDI_SP:
        return a + immediate
    if code == ADD or code == ADD_SP:
        return a + b
    if code == LUI:
        return immediate
    if code == SLLI:
        return a << immediate
    if code == ANDI:
        return a & immediate
    if code == SRLI:
        return (a & WORD_MASK) >> immediate
    if code == SUB or code == SUB_SP:
        return a - b
    if code == SRAI:
        return a >> immediate
    if code == ORI:
        return a | immediate
    if code == XORI:
        return a ^ immediate
    if code == SLTI:
        return int(a < immediate)
    if code == SLTIU:
        return int((a & WORD_MASK) < (immediate & WORD_MASK))
    if code == SLL:
        return a << (b & 31)
    if code == SRL:
        return (a & WORD_MASK) >> (b & 31)
    if code == SRA:
        return a >> (b & 31)
    if code == AND:
        return a & b
    if code == OR:
        return a | b
    if code == XOR:
        return a ^ b
    if code == SLT:
        return int(a < b)
    if code == SLTU:
        return int((a & WORD_MASK) < (b & WORD_MASK))
    return 0  # FENCE


@compiled()
def set_register(core, to, value, ready):
    """Write a register, signed 32 bits, which can be used from a cycle on."""
    store_64(core.registers_at + 8 * to, np.int64(np.int32(value)))
    store_64(core.registers_at + REGISTER_BYTES + 8 * to, ready)


@compiled()
def stop_core(core, cause, cycle):
    """End a core that cannot go on."""
    core.state, core.cause, core.clock = FAULTED, cause, cycle


@compiled()
def fetch(c, core, line):
    """Cycles that the fetch of a line of text takes: none when it is in the instruction cache."""
    core.fetched = line
    entry = core.icache_at + 8 * WAYS * (line & (core.icache_sets - 1))
    newest, oldest = load_i64(entry), load_i64(entry + 8)
    if newest == line:
        return 0
    store_64(entry, line)
    store_64(entry + 8, newest)
    return 0 if oldest == line else costs_table(c.costs_at)[0].fetch_miss


@compiled()
def fifo_of(core_number, address):
    """The thread whose FIFO takes what a core stores to an address, NO_FIFO for none (ISA: PushTensixInstruction.md).

    BRISC's words also pass the MOP expander here, which on silicon lies before the place where they come in: it pushes no MOP.
    """
    fifo = (address - INSTRUCTION_BUFFER) >> 16
    if core_number < N_THREADS:
        return core_number if fifo == 0 else NO_FIFO
    return fifo if core_number == BRISC and 0 <= fifo < N_THREADS else NO_FIFO


@compiled()
def run_ahead(c, cores_at, thread):
    """Run a core up to its next action, its end or a fault; its state says which."""
    core = baby_table(cores_at)[thread]
    k = costs_table(c.costs_at)[0]
    registers, text, base, size = core.registers_at, core.text_at, core.text_base, core.text_bytes
    pc, cycle, fuel = core.pc, core.clock, FUEL
    core.action = NO_ACTION
    while fuel > 0:
        fuel -= 1
        place = pc - base
        if place < 0 or place >= size:
            core.pc = pc
            if c.debug_at != 0:
                core.clock, core.state = cycle, RUNNING
                c.asked, c.asked_by = ASKED_TEXT, thread
            else:
                stop_core(core, OUTSIDE_TEXT, cycle)
            return
        if pc // LINE_BYTES != core.fetched:
            cycle += fetch(c, core, pc // LINE_BYTES)
        word = load_i64(text + 2 * place)
        code, to, immediate = word & 255, word >> 8 & 255, word >> 32
        following = pc + INSTRUCTION_BYTES
        if code == TENSIX_WORD:
            fifo = fifo_of(thread, INSTRUCTION_BUFFER)
            if fifo == NO_FIFO:
                core.pc = pc
                stop_core(core, ILLEGAL, cycle)
                return
            if has_room(c, fifo):
                push(c, fifo, immediate & WORD_MASK, cycle + k.push_latency)
                cycle += 1
                core.retired += 1
                core.changes += 1
                pc = following
                continue
            core.action, core.address, core.value = PUSH, INSTRUCTION_BUFFER, immediate & WORD_MASK
            break
        if code == END:
            core.pc, core.clock, core.state = pc, cycle, ENDED
            return
        if code == UNDECODED:
            core.pc, core.clock, core.state = pc, cycle, RUNNING
            c.asked, c.asked_by = ASKED_TEXT, thread
            return
        first, second = registers + 8 * (word >> 16 & 255), registers + 8 * (word >> 24 & 255)
        a, b = load_i64(first), load_i64(second)
        cycle = max(cycle, max(load_i64(first + REGISTER_BYTES), load_i64(second + REGISTER_BYTES)))
        core.retired += 1
        if code <= SUB_SP:
            set_register(core, to, arithmetic(code, a, b, immediate), cycle + 1)
            cycle += 1
        elif BEQ <= code <= BGEU:
            cycle += 1
            if is_taken(code, a, b):
                following = pc + immediate
        elif LB <= code <= SW:
            address = (a + immediate) & WORD_MASK
            size_ = size_of(code)
            if address & (size_ - 1) != 0:
                core.pc, core.address = pc, address
                stop_core(core, MISALIGNED, cycle)
                return
            inside = address - LOCAL
            if 0 <= inside < core.local_bytes:
                if code <= LW:
                    set_register(core, to, loaded(core.local_at + inside, code), cycle + k.local_load)
                else:
                    put(core.local_at + inside, code, b)
                    core.changes += 1
                cycle += 1
            elif code <= LW and core.raw_at != 0 and 0 <= address - base < size:
                set_register(core, to, loaded(core.raw_at + address - base, code), cycle + k.l1_load)
                cycle += 1
            else:
                fifo = fifo_of(thread, address) if code == SW else NO_FIFO
                if fifo != NO_FIFO and has_room(c, fifo):
                    push(c, fifo, b & WORD_MASK, cycle + k.push_latency)
                    core.changes += 1
                    cycle += 1
                else:
                    core.action = LOAD if code <= LW else STORE
                    if fifo != NO_FIFO:
                        core.action = PUSH
                    core.code, core.address, core.value, core.to = code, address, b & WORD_MASK, to
                    break
        elif code == JAL:
            if immediate == 0:  # it stays here for good
                core.pc, core.clock, core.state = pc, cycle, ENDED
                return
            set_register(core, to, following, cycle + 1)
            cycle, following = cycle + 1, pc + immediate
        elif code == JALR:
            set_register(core, to, following, cycle + 1)
            cycle, following = cycle + 1, (a + immediate) & 0xFFFFFFFE
        elif MUL <= code <= MULHU:
            set_register(core, to, product(code, a, b), cycle + k.multiply_latency)
            cycle += k.multiply
        elif DIV <= code <= REMU:
            result, cycles = quotient_of(code, a, b)
            set_register(core, to, result, cycle + cycles)
            cycle += cycles
        elif FIRST_ATOMIC <= code <= LAST_ATOMIC:
            core.action, core.code, core.address, core.value, core.to = (
                LOAD,
                code,
                a & WORD_MASK & ~3,
                b & WORD_MASK,
                to,
            )
            break
        elif FIRST <= code <= LAST:
            set_register(core, to, bit_result(code, a, b, immediate), cycle + 1)
            cycle += 1
        else:
            core.pc = pc
            stop_core(core, ILLEGAL, cycle)
            return
        pc = following
    core.pc, core.clock = pc, cycle
    core.state = ACTING if core.action != NO_ACTION else RUNNING


@compiled()
def complete(core, cycle):
    """The action is done: the core goes on behind its instruction at a cycle."""
    core.pc += INSTRUCTION_BYTES
    core.clock, core.state, core.action = cycle, RUNNING, NO_ACTION


class BabyCores:
    """The first cores of a tile, T0 to T2, BRISC, NCRISC: records and what they point to, alive as long as this object."""

    def __init__(self, local_bytes, icache_bytes):
        """Size of each core's local memory, and of all instruction caches."""
        cores = np.arange(len(local_bytes))
        self.lines = np.full((len(cores), icache_bytes // (LINE_BYTES * WAYS), WAYS), -1)
        self.records = np.zeros(len(cores), BABY_CORE)
        self.registers = np.zeros((len(cores), 2 * REGISTERS), np.int64)
        self.local = [np.zeros(size, np.uint8) for size in local_bytes]
        self._texts = [None] * len(cores)
        self.records["registers_at"] = self.registers.ctypes.data + cores * self.registers.strides[0]
        self.records["local_at"] = [local.ctypes.data for local in self.local]
        self.records["local_bytes"], self.records["state"] = local_bytes, ENDED
        self.records["icache_at"] = self.lines.ctypes.data + cores * self.lines.strides[0]
        self.records["icache_sets"] = self.lines.shape[1]

    def load(self, thread, text, entry):
        """Give a core a `BabyText`; it stands at address `entry` with all registers 0, ready to run from its cycle 0 on."""
        self._texts[thread] = text
        core = self.records[thread]
        core["text_at"], core["raw_at"] = text.records.ctypes.data, text.raw.ctypes.data
        core["text_base"], core["text_bytes"] = text.base, len(text.records) * INSTRUCTION_BYTES
        self.start(thread, entry, 0)

    def start(self, thread, entry, cycle):
        """Let a core leave reset at a cycle: it stands at address `entry`, its instruction cache is empty."""
        core = self.records[thread]
        for name in COUNTERS:
            core[name] = 0
        core["pc"], core["clock"], core["state"], core["poll_pc"] = entry, cycle, RUNNING, -1
        self.lines[thread], core["fetched"] = -1, -1
        self.registers[thread] = 0

    def word_at(self, thread, address):
        """The word of a core's text at an address, None where its text is not kept here."""
        text = self._texts[thread]
        if text is None or not 0 <= address - text.base <= len(text.raw) - INSTRUCTION_BYTES:
            return None
        return int.from_bytes(text.raw[address - text.base :][:INSTRUCTION_BYTES].tobytes(), "little")

    @property
    def address(self):
        """Host address of the records."""
        return self.records.ctypes.data


COUNTERS = (
    "clock action retired stall changes poll_pc poll_since watches told cause loads store_1 store_2 store_3 store_4 stored_at"
).split()


class BabyText:
    """A text (bytes) that lies at `base`: its instructions, decoded for the cores of a chip (its name), and its bytes."""

    def __init__(self, text, base, chip):
        self.base = base
        self.records = _kept_records(bytes(text), base, chip == "blackhole")
        self.raw = np.frombuffer(bytes(text), np.uint8)


@functools.lru_cache(256)
def _kept_records(text, base, has_bit_instructions):
    """`decode`, once for the launches of a kernel; read-only."""
    records = decode(text, base, has_bit_instructions)
    records.flags.writeable = False
    return records
