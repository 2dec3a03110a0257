"""The wait gate: what STALLWAIT and SEMWAIT latch there, and when that lets an instruction pass (ISA: STALLWAIT.md, SEMWAIT.md).

A condition that time alone meets gives the cycle at which it does; one that another thread has to meet gives NO_TIME.
Blackhole's bits of the condition mask: p_stall of tt-llk (ttnn 0.81.1).
"""

from tensim.sim.cores.coprocessor.frontend import NO_TIME, NO_WAIT, SEMAPHORE_WAIT, STALL_WAIT, frontend_of
from tensim.sim.cores.coprocessor.state import (
    BLACKHOLE,
    BY_MATRIX_UNIT,
    BY_UNPACKERS,
    chip_of,
    counters,
    semaphore_table,
)
from tensim.sim.cores.coprocessor.units import (
    CONFIG,
    MATRIX,
    MOVER,
    PACK,
    SCALAR,
    UNPACK_0,
    UNPACK_1,
    VECTOR,
    busy_until,
    units_table,
)
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import lowest_bit

BLOCK_ALL, DEFAULT_BLOCK, DEFAULT_CONDITION = 0x1FF, 1 << 6, 0x7F
# conditions, by bit of Wormhole's mask; Blackhole's bits in the order of its own mask
(SCALAR_IDLE, UNPACK_0_IDLE, UNPACK_1_IDLE, PACK_0_IDLE, PACK_1_IDLE, PACK_2_IDLE, PACK_3_IDLE, MATRIX_IDLE, A_FREE, B_FREE,
 A_VALID, B_VALID, MOVER_IDLE, CORE_WRITES_DONE, VECTOR_IDLE, CONFIG_IDLE) = range(16)  # fmt: skip
_BLACKHOLE_BITS = (SCALAR_IDLE, UNPACK_0_IDLE, UNPACK_1_IDLE, PACK_0_IDLE, MATRIX_IDLE, A_FREE, B_FREE, A_VALID, B_VALID,
                   MOVER_IDLE, CORE_WRITES_DONE, VECTOR_IDLE, CONFIG_IDLE)  # fmt: skip
DEFAULT_BLACKHOLE = 0x1F  # units that hold instructions of the thread, as on Wormhole


@compiled()
def translated(c, mask):
    """A condition mask in the bits above."""
    if chip_of(c) != BLACKHOLE:
        return mask if mask != 0 else DEFAULT_CONDITION
    mask = mask if mask != 0 else DEFAULT_BLACKHOLE
    result = 0
    for bit in range(len(_BLACKHOLE_BITS)):
        condition = _BLACKHOLE_BITS[bit]
        result |= (mask >> bit & 1) << condition
    return result


@compiled()
def latch_stall(c, thread, word, now):
    """STALLWAIT: hold up the instructions of its block mask until its conditions are met."""
    f = frontend_of(c, thread)
    block = word >> 15 & BLOCK_ALL
    f.wait_kind, f.wait_block, f.wait_from = STALL_WAIT, block if block != 0 else DEFAULT_BLOCK, now + 1
    f.wait_condition, f.wait_semaphores = translated(c, word & 0x7FFF), 0


@compiled()
def latch_semaphores(c, thread, word, now):
    """SEMWAIT: the same until none of its semaphores is zero, or at its maximum."""
    f = frontend_of(c, thread)
    if word & 3 == 0:
        latch_stall(c, thread, word & ~0x7FFF, now)
        return
    block = word >> 15 & BLOCK_ALL
    f.wait_kind, f.wait_block, f.wait_from = SEMAPHORE_WAIT, block if block != 0 else DEFAULT_BLOCK, now + 1
    f.wait_condition, f.wait_semaphores = word & 3, word >> 2 & 0xFF


@compiled()
def semaphores_let_pass(c, condition, semaphores):
    """Are the conditions of a latched SEMWAIT met?"""
    while semaphores != 0:
        entry = semaphore_table(c.semaphores_at)[lowest_bit(semaphores)]
        if (condition & 1 != 0 and entry.value == 0) or (condition & 2 != 0 and entry.value >= entry.max):
            return False
        semaphores &= semaphores - 1
    return True


@compiled()
def condition_met_at(c, thread, condition, now):
    """Cycle from which a condition of STALLWAIT is met, NO_TIME when another thread has to act first."""
    u = units_table(c.units_at)[0]
    if condition == SCALAR_IDLE:
        return busy_until(c, thread, SCALAR)
    if condition == UNPACK_0_IDLE:
        return busy_until(c, thread, UNPACK_0)
    if condition == UNPACK_1_IDLE:
        return busy_until(c, thread, UNPACK_1)
    if PACK_0_IDLE <= condition <= PACK_3_IDLE:
        return busy_until(c, thread, PACK)
    if condition == MATRIX_IDLE:
        return busy_until(c, thread, MATRIX)
    if condition == VECTOR_IDLE:
        return busy_until(c, thread, VECTOR)
    if condition == CONFIG_IDLE:
        return busy_until(c, thread, CONFIG)
    if condition == MOVER_IDLE:
        return u.free[MOVER]
    if condition == A_FREE:
        return now if counters(c.src_a_owner_at)[c.unpack_bank_a] == BY_UNPACKERS else NO_TIME
    if condition == B_FREE:
        return now if counters(c.src_b_owner_at)[c.unpack_bank_b] == BY_UNPACKERS else NO_TIME
    if condition == A_VALID:
        valid = counters(c.src_a_owner_at)[c.matrix_bank_a] == BY_MATRIX_UNIT
        return u.src_a_valid[c.matrix_bank_a] if valid else NO_TIME
    if condition == B_VALID:
        valid = counters(c.src_b_owner_at)[c.matrix_bank_b] == BY_MATRIX_UNIT
        return u.src_b_valid[c.matrix_bank_b] if valid else NO_TIME
    return now  # CORE_WRITES_DONE: a core's writes act at once


@compiled()
def latched_until(c, thread, now):
    """Cycle at which the latched wait is looked at again or met; at most `now` when it is met."""
    f = frontend_of(c, thread)
    if f.wait_kind == NO_WAIT:
        return now
    if now < f.wait_from:
        return f.wait_from
    if f.wait_kind == SEMAPHORE_WAIT:
        return now if semaphores_let_pass(c, f.wait_condition, f.wait_semaphores) else NO_TIME
    met, conditions = now, f.wait_condition
    while conditions != 0:
        met = max(met, condition_met_at(c, thread, lowest_bit(conditions), now))
        conditions &= conditions - 1
    return met
