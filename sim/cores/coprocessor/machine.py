"""The Tensix coprocessor cycle by cycle: three frontends push instructions into the units that all share.

In a cycle each thread's wait gate lets at most one instruction through; who has waited the longest goes first.
An instruction acts when it enters its unit; what it occupies and when its results can be used is kept beside
(`tensim.sim.cores.coprocessor.units`).  `step` tells in which cycle something can happen next.
"""

from tensim.sim.cores.coprocessor.config_unit import execute_config
from tensim.sim.cores.coprocessor.costs import costs_table
from tensim.sim.cores.coprocessor.counter_unit import execute_counters
from tensim.sim.cores.coprocessor.faults import UNKNOWN_INSTRUCTION, stop
from tensim.sim.cores.coprocessor.frontend import (
    GATE_FIFO,
    MIDDLE_FIFO,
    NO_TIME,
    NO_WAIT,
    NOTHING,
    at_gate,
    frontend_of,
    is_empty,
    leave_gate,
    look_at_gates,
    next_word_time,
    step_mop,
    step_replay,
)
from tensim.sim.cores.coprocessor.matrix_state import matrix_of
from tensim.sim.cores.coprocessor.matrix_time import matrix_cost, matrix_ready_at
from tensim.sim.cores.coprocessor.matrix_unit import NEEDS_A, NEEDS_B, execute_matrix, flops_of, matrix_needs
from tensim.sim.cores.coprocessor.mover import execute_mover
from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.packers import execute_pack, packer_table
from tensim.sim.cores.coprocessor.scalar_unit import execute_scalar, scalar_cycles
from tensim.sim.cores.coprocessor.state import BLACKHOLE, BY_MATRIX_UNIT, N_THREADS, chip_of, counters
from tensim.sim.cores.coprocessor.sync_unit import execute_sync, mutex_is_free
from tensim.sim.cores.coprocessor.units import (
    BLOCK_AT,
    CONFIG,
    MATRIX,
    MISCELLANEOUS,
    MOVER,
    NO_UNIT,
    PACK,
    SCALAR,
    SYNC,
    UNIT_MASK,
    UNKNOWN,
    UNPACK_0,
    UNPACK_1,
    VECTOR,
    note_span,
    occupy,
    units_table,
)
from tensim.sim.cores.coprocessor.unpackers import CLEAR, bank_is_free, execute_unpack, set_valid, unpackers_table
from tensim.sim.cores.coprocessor.vector_macro import settle_vector_unit
from tensim.sim.cores.coprocessor.vector_time import vector_cost, vector_ready_at
from tensim.sim.cores.coprocessor.vector_unit import execute_vector
from tensim.sim.cores.coprocessor.wait_gate import BLOCK_ALL, latch_semaphores, latch_stall, latched_until
from tensim.sim.cores.store_queue import FRACTION
from tensim.sim.engine.compiled import compiled

TILE_BYTES = 2048  # of 16-bit datums
RESETS_PHASE = 8  # of SETRWC's BitMask: the fidelity phase
MOST_HELD = 16  # tiles' worth: half of Dst, summed up in L1
STALLWAIT, SEMWAIT, ATGETM, SETDVALID, SETC16, UNPACR, UNPACR_NOP, NOP, CLEARDVALID, SETRWC, MVMUL = opcodes(
    "STALLWAIT SEMWAIT ATGETM SETDVALID SETC16 UNPACR UNPACR_NOP NOP CLEARDVALID SETRWC MVMUL"
)


@compiled()
def source_valid_at(c, now, needs):
    """Cycle from which the banks that an instruction of the matrix unit reads can be read."""
    u, at = units_table(c.units_at)[0], now
    if needs & NEEDS_A != 0:
        if counters(c.src_a_owner_at)[c.matrix_bank_a] != BY_MATRIX_UNIT:
            return NO_TIME
        at = max(at, u.src_a_valid[c.matrix_bank_a])
    if needs & NEEDS_B != 0:
        if counters(c.src_b_owner_at)[c.matrix_bank_b] != BY_MATRIX_UNIT:
            return NO_TIME
        at = max(at, u.src_b_valid[c.matrix_bank_b])
    return at


@compiled()
def unpacker_ready_at(c, thread, word, now):
    """Cycle from which an instruction of the unpackers finds its unit and its bank."""
    u, unit, code = units_table(c.units_at)[0], word >> 23 & 1, word >> 24
    place = UNPACK_0 if unit == 0 else UNPACK_1
    at = max(u.free[place], now)
    if code == UNPACR or word & 3 == CLEAR:
        if not bank_is_free(c, unit):
            if u.bank_wait[thread] < 0:
                u.bank_wait[thread] = at
            return NO_TIME
    if code == UNPACR_NOP and word & 3 == CLEAR:  # it writes to the bank behind what the unpacker has under way
        for thread in range(N_THREADS):
            at = max(at, u.busy[thread, place])
    return at


@compiled()
def matrix_unit_ready_at(c, thread, word, now):
    """Cycle from which the matrix unit takes an instruction, NO_TIME when another thread has to act.

    On Blackhole one that waits for Dst does so in the unit, which then takes none of another thread (MATH rates of
    wolfpine_derived_rates.csv: a thread that steps through Dst is as slow as one beside it that does not).
    """
    u, m = units_table(c.units_at)[0], matrix_of(c)
    at = max(source_valid_at(c, now, matrix_needs(word)), u.free[MATRIX])
    at = max(at, u.configured[thread])
    if m.holder != thread:
        at = max(at, m.held_until)
    if at > now and chip_of(c) == BLACKHOLE:
        return at
    at = matrix_ready_at(c, thread, word, at)
    if at > now and chip_of(c) == BLACKHOLE:
        m.holder, m.held_until = thread, at + 1
    return at


@compiled()
def ready_at(c, thread, word, unit, now):
    """Cycle from which a unit takes an instruction; at most `now` when it does, NO_TIME when another thread has to act.

    Blackhole's threads share the unit of counters (DMANOP in wolfpine_derived_rates.csv); Wormhole's have one each.
    """
    u = units_table(c.units_at)[0]
    if unit == UNPACK_0:
        return unpacker_ready_at(c, thread, word, now)
    if unit == SYNC:
        if word >> 24 == ATGETM and not mutex_is_free(c, thread, word):
            return NO_TIME
        return max(u.free[SYNC], now)
    if unit == MATRIX:
        return matrix_unit_ready_at(c, thread, word, now)
    if unit == VECTOR:
        return vector_ready_at(c, thread, word, max(u.free[VECTOR], now))
    if unit == NO_UNIT or word >> 24 == SETC16 or (unit == MISCELLANEOUS and chip_of(c) != BLACKHOLE):
        return now
    return max(u.free[unit], now)


@compiled()
def fetched_ahead(c, thread, which, now):
    """Cycles by which an unpacker is ahead of an instruction that now finds its bank free.

    It waits for a bank only when it is to write to it: what stands behind that instruction is fetched meanwhile, one instruction of
    each unpacker.  Here the bank holds up the thread; the words behind it are early by as much, if they are there.
    """
    u = units_table(c.units_at)[0]
    waited = now - u.bank_wait[thread] if u.bank_wait[thread] >= 0 else 0
    u.bank_wait[thread] = -1
    u.ahead[thread] = min(u.ahead[thread] + waited, now - u.entered[which])
    u.entered[which] = now
    return u.ahead[thread]


@compiled()
def enter_unpacker(c, thread, word, now):
    """Carry out an instruction of the unpackers: the address phase holds the thread, the data the port to L1.

    `begin` to `end`: while it writes to its bank.  Its pipeline is full then, so data of the next instruction follow at once.
    What was fetched while another instruction waited for its bank was written as soon as its own bank was free.
    """
    u, k, f = units_table(c.units_at)[0], costs_table(c.costs_at)[0], frontend_of(c, thread)
    which = word >> 23 & 1
    unit = UNPACK_0 if which == 0 else UNPACK_1
    bank_a, bank_b = c.unpack_bank_a, c.unpack_bank_b
    execute_unpack(c, thread, word)
    moved = unpackers_table(c.unpackers_at)[0]
    ahead = fetched_ahead(c, thread, which, now)
    hold = k.unpack_address if ahead == 0 else 1
    fills = k.unpack_latency if moved.bytes > 0 else 0  # from L1 to the source registers
    ready = max(now - ahead + k.unpack_address + fills, u.writes[which])
    given = (u.src_a_given[bank_a] if which == 0 else u.src_b_given[bank_b]) + 1
    begin = max(ready, min(given, now))
    speed = max(moved.speed, 1)  # not known of an instruction that has stopped
    stream = (moved.bytes + speed - 1) // speed
    end = begin + stream
    if moved.bytes > 0:
        shared = (moved.bytes + k.unpack_joint_bytes - 1) // k.unpack_joint_bytes
        u.port = max(u.port, ready) + shared + (held_by_packers(c, shared) if which == 0 else 0)
        end = max(end, u.port)
    u.writes[which] = end + (k.unpack_gap if moved.bytes > 0 else 0)
    f.held_until = now + hold
    u.free[UNPACK_0] = max(u.free[UNPACK_0], now + hold)
    u.free[UNPACK_1] = max(u.free[UNPACK_1], now + hold)
    u.free[unit] = max(u.free[unit], begin - fills)
    u.busy[thread, unit] = max(u.busy[thread, unit], end)
    u.left[thread] = max(u.left[thread], end)
    u.issued[unit] += 1
    u.worked[unit] += end - begin
    if u.spans_at != 0:
        note_span(u, unit, thread, word >> 24, begin, end)
    if c.unpack_bank_a != bank_a:
        u.src_a_valid[bank_a] = end
    if c.unpack_bank_b != bank_b:
        u.src_b_valid[bank_b] = end


@compiled()
def gives_bank_and_resets_phase(word):
    """Does a SETRWC do what a tile of a product with several fidelity phases ends with?"""
    return word >> 22 & 3 != 0 and word & RESETS_PHASE != 0


@compiled()
def held_by_packers(c, read):
    """Cycles by which the packers lengthen a read of L1 by unpacker 0, of `read` cycles: a third of the time is theirs, until they
    have what they need (`tensix.pack.unpack_hold`)."""
    u = units_table(c.units_at)[0]
    held = min(read // 2, u.held // FRACTION)
    u.held -= held * FRACTION
    return held


@compiled()
def enter_packers(c, thread, word, now):
    """Carry out an instruction of the packers: rows of 16 datums a cycle and packer, or what L1 takes.

    What they write, and read to sum it up, is L1's time that unpacker 0 misses.
    """
    u, k = units_table(c.units_at)[0], costs_table(c.costs_at)[0]
    execute_pack(c, thread, word)
    moved = packer_table(c.packers_at)[0]
    rows = moved.rows if chip_of(c) != BLACKHOLE else (moved.rows + 3) // 4
    cycles = max(max(rows, (moved.bytes + k.pack_bytes - 1) // k.pack_bytes), 1)
    occupy(c, thread, PACK, now, cycles, cycles + k.pack_latency)
    u.held = min(u.held + moved.through_l1 * k.unpack_hold // TILE_BYTES, MOST_HELD * k.unpack_hold)


@compiled()
def enter(c, thread, word, unit, now):
    """Carry out an instruction that its unit takes; False when it has to try again."""
    f, code = frontend_of(c, thread), word >> 24
    if unit == MATRIX or unit == PACK:
        settle_vector_unit(c)
    if unit == SYNC:
        if code == STALLWAIT:
            latch_stall(c, thread, word, now)
        elif code == SEMWAIT:
            latch_semaphores(c, thread, word, now)
        elif execute_sync(c, thread, word):
            look_at_gates(c)
        else:
            stop(c, UNKNOWN_INSTRUCTION, thread, word, 0, 0)
        occupy(c, thread, SYNC, now, 1, 1)
    elif unit == UNPACK_0:
        enter_unpacker(c, thread, word, now)
    elif unit == MATRIX:
        occupancy, latency = matrix_cost(c, thread, word)
        u, bank_a, bank_b = units_table(c.units_at)[0], c.matrix_bank_a, c.matrix_bank_b
        u.flops += flops_of(c, thread, word)
        execute_matrix(c, thread, word)
        u.ended_product[thread] = code == MVMUL or (code == SETRWC and gives_bank_and_resets_phase(word))
        if c.matrix_bank_a != bank_a or code == CLEARDVALID:
            u.src_a_given[bank_a] = now
        if c.matrix_bank_b != bank_b or code == CLEARDVALID:
            u.src_b_given[bank_b] = now
        occupy(c, thread, MATRIX, now, occupancy, latency)
    elif unit == VECTOR:
        occupancy, latency = vector_cost(c, thread, word)
        execute_vector(c, thread, word)
        occupy(c, thread, VECTOR, now, occupancy, latency)
    elif unit == PACK:
        enter_packers(c, thread, word, now)
    elif unit == SCALAR:
        cycles = scalar_cycles(word)
        occupy(c, thread, SCALAR, now, cycles, cycles)
        f.held_until = now + cycles
        look_at_gates(c)
        return execute_scalar(c, thread, word, now)
    elif unit == CONFIG:
        k = costs_table(c.costs_at)[0]
        execute_config(c, thread, word)
        look_at_gates(c)
        occupy(c, thread, CONFIG, now, 1, k.config_latency)
        u = units_table(c.units_at)[0]
        if code == SETC16 and u.ended_product[thread] == 0:  # what rows of silicon show; why is not known
            u.configured[thread] = now + k.thread_config_latency
    elif unit == MOVER:
        cycles = execute_mover(c, thread, word)
        look_at_gates(c)
        occupy(c, thread, MOVER, now, cycles, cycles)
    else:
        if code == SETDVALID:
            set_valid(c, thread, word)
        else:
            execute_counters(c, thread, word)
        occupy(c, thread, unit, now, 1, 1)
    return True


@compiled()
def try_gate(c, thread, now):
    """Let the word at a thread's gate through if it may pass: `now` when it did, else the cycle to try again, or NO_TIME.

    Leaves the latter as `look_at`, or an earlier one at which a latched wait ends.
    """
    f, u = frontend_of(c, thread), units_table(c.units_at)[0]
    word = at_gate(c, thread)
    blocked, until = 0, NO_TIME
    if f.wait_kind != NO_WAIT:
        blocked = f.wait_block
        until = latched_until(c, thread, now)
        if until <= now:
            f.wait_kind = NO_WAIT  # its block mask still holds in this cycle
            until = now + 1
    f.look_at = until
    if word == NOTHING:
        if is_empty(c, thread):
            u.ahead[thread] = 0
        return NO_TIME
    if f.held_until > now:
        f.look_at = min(until, f.held_until)
        return f.held_until
    code = word >> 24
    instruction = u.instructions[code]
    unit = instruction & UNIT_MASK
    if unit == UNKNOWN:
        stop(c, UNKNOWN_INSTRUCTION, thread, word, 0, 0)
        return NO_TIME
    holds = instruction >> BLOCK_AT
    if code == STALLWAIT:
        holds = BLOCK_ALL
    if blocked & holds != 0 or (code == NOP and blocked == BLOCK_ALL):
        return until
    at = ready_at(c, thread, word, unit, now)
    if at > now:
        f.look_at = min(until, at) if unit != VECTOR else now + 1  # what that unit holds back may become free sooner
        return at
    if not enter(c, thread, word, unit, now):
        f.look_at = now + scalar_cycles(word)
        return f.look_at
    if u.spans_at != 0 and unit != UNPACK_0 and unit != NO_UNIT:
        note_span(u, unit, thread, code, now, max(u.free[unit], now + 1))
    leave_gate(c, thread, now)
    f.look_at = now + 1
    return now


@compiled(inline="always")
def look_at_gate(c, thread, now):
    """The first cycle after `now` at which a thread's gate lets its word through by itself, NO_TIME when there is none.

    In this cycle it lets it through if it may pass.  A gate that waits is not looked at before something can have changed.
    """
    f = frontend_of(c, thread)
    if f.look_at <= now:
        f.passes_at = max(try_gate(c, thread, now), now + 1)
    if f.gate_count == 0 and f.wait_kind != NO_WAIT and not is_empty(c, thread):
        return now + 1  # words are on their way to a gate that waits
    return f.passes_at


@compiled(inline="always")
def move_words(c, thread, now):
    """A cycle of the expanders of a thread: the first one after `now` at which they do something by themselves, or NO_TIME.

    They stand still until a word arrives, or leaves the gate.
    """
    f = frontend_of(c, thread)
    if f.move_at <= now:
        moved = step_replay(c, thread)
        moved = step_mop(c, thread, now) or moved
        if moved:
            f.move_at = f.moves_at = now + 1
        else:
            f.move_at = next_word_time(c, thread) if f.middle_count < MIDDLE_FIFO else NO_TIME
            f.moves_at = f.move_at if f.gate_count < GATE_FIFO else NO_TIME
    return f.moves_at


@compiled()
def gate_order(c):
    """The threads, first the one whose last word has passed the gate the longest ago: a unit that all want serves them in turn."""
    first, second, third = 0, 1, 2
    if frontend_of(c, second).passed_at < frontend_of(c, first).passed_at:
        first, second = second, first
    if frontend_of(c, third).passed_at < frontend_of(c, second).passed_at:
        second, third = third, second
        if frontend_of(c, second).passed_at < frontend_of(c, first).passed_at:
            first, second = second, first
    return first, second, third


@compiled()
def step(c, now):
    """One cycle: the first cycle after `now` at which something can happen by itself, NO_TIME if nothing can."""
    following = NO_TIME
    first, second, third = gate_order(c)
    for i in range(N_THREADS):
        thread = first if i == 0 else (second if i == 1 else third)
        following = min(following, look_at_gate(c, thread, now))
    for thread in range(N_THREADS):
        following = min(following, move_words(c, thread, now))
    return following


@compiled()
def is_done(c, thread, now):
    """Have all instructions of a thread left their units?  (ISA: TTSync.md, CoprocessorDoneCheck.)"""
    return is_empty(c, thread) and units_table(c.units_at)[0].left[thread] <= now
