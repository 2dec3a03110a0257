"""Predication in the vector unit: lane flags, whether they count, and the stack of both (ISA: VectorUnit.md and SFP*C.md)."""

from tensim.sim.cores.coprocessor.faults import MISUSE, STACK_DEPTH, UNKNOWN_MODE, stop
from tensim.sim.cores.coprocessor.vector_lanes import enabled_lanes
from tensim.sim.cores.coprocessor.vector_operations import (
    and_not,
    bits_and,
    bits_not,
    bits_or,
    bits_xor,
    move,
    negative,
    not_negative,
    not_zero,
    or_not,
    put,
    zero,
)
from tensim.sim.cores.coprocessor.vector_state import (
    ALL_ON,
    ENABLED,
    FLAG_STACK,
    FLAGS,
    LANE_CONFIG,
    SPARE,
    STACK_FLAGS,
    STACK_USE,
    USE_FLAGS,
    row_at,
)
from tensim.sim.engine.compiled import compiled


@compiled()
def refresh_enabled(v):
    """Work out LaneEnabled anew."""
    enabled_lanes(row_at(v, ENABLED), row_at(v, FLAGS), row_at(v, USE_FLAGS), row_at(v, LANE_CONFIG))


@compiled()
def set_flags(v, mode, immediate, c):
    """SFPSETCC.  `c`: host address of the row that is compared with 0."""
    flags, on, use = row_at(v, FLAGS), row_at(v, ENABLED), row_at(v, USE_FLAGS)
    if mode & 8:
        put(flags, on, flags, flags, flags, 0)
    elif mode & 1:
        put(flags, on, flags, flags, flags, -(immediate & 1))
    elif mode == 0:
        negative(flags, on, c, c, c, 0)
    elif mode == 2:
        not_zero(flags, on, c, c, c, 0)
    elif mode == 4:
        not_negative(flags, on, c, c, c, 0)
    else:
        zero(flags, on, c, c, c, 0)
    bits_and(flags, on, flags, flags, use, 0)
    refresh_enabled(v)


@compiled()
def enable_flags(v, mode, immediate):
    """SFPENCC."""
    flags, use, every = row_at(v, FLAGS), row_at(v, USE_FLAGS), row_at(v, ALL_ON)
    if mode & 2:
        put(use, every, use, use, use, -(immediate & 1))
    elif mode & 1:
        bits_not(use, every, use, use, use, 0)
    put(flags, every, flags, flags, flags, -(immediate >> 1 & 1) if mode & 8 else -1)
    refresh_enabled(v)


@compiled()
def push_flags(c, v, thread, word, mode):
    """SFPPUSHC."""
    if mode != 0:
        stop(c, UNKNOWN_MODE, thread, word, mode, 0)
    elif v.depth >= FLAG_STACK:
        stop(c, STACK_DEPTH, thread, word, v.depth, FLAG_STACK)
    else:
        flags, use, every = row_at(v, FLAGS), row_at(v, USE_FLAGS), row_at(v, ALL_ON)
        move(row_at(v, STACK_FLAGS + v.depth), every, flags, flags, flags, 0)
        move(row_at(v, STACK_USE + v.depth), every, use, use, use, 0)
        v.depth += 1


@compiled()
def combine_flags(v, mode, top):
    """The sixteen functions of SFPPOPC's mode over flags A and those of the stack's top, B; 1 to 12 of them are two-valued."""
    flags, every, spare = row_at(v, FLAGS), row_at(v, ALL_ON), row_at(v, SPARE)
    if mode == 1 or mode == 2:
        move(flags, every, top, top, top, 0)
    elif mode == 3 or mode == 10:
        bits_and(flags, every, top, flags, top, 0)
    elif mode == 4 or mode == 9:
        bits_or(flags, every, top, flags, top, 0)
    elif mode == 5 or mode == 8:
        and_not(flags, every, top, flags, top, 0)
    elif mode == 6 or mode == 7:
        or_not(flags, every, top, flags, top, 0)
    else:
        bits_xor(flags, every, top, flags, top, 0)
    if mode == 2 or (7 <= mode <= 10) or mode == 12:
        bits_not(spare, every, top, top, flags, 0)
        move(flags, every, top, top, spare, 0)


@compiled()
def pop_flags(c, v, thread, word, mode):
    """SFPPOPC: take the top of the stack, or look at it and combine it with the flags."""
    flags, use, every = row_at(v, FLAGS), row_at(v, USE_FLAGS), row_at(v, ALL_ON)
    if mode == 0 and v.depth == 0:
        stop(c, STACK_DEPTH, thread, word, 0, FLAG_STACK)
        return
    if mode != 0 and v.depth == FLAG_STACK:  # the hardware would overwrite the bottom of the stack
        stop(c, MISUSE, thread, word, v.depth, 0)
        return
    top_flags, top_use = row_at(v, SPARE + 1), row_at(v, SPARE + 2)
    put(top_flags, every, top_flags, top_flags, top_flags, 0)
    put(top_use, every, top_use, top_use, top_use, 0)
    if v.depth > 0:
        top_flags, top_use = row_at(v, STACK_FLAGS + v.depth - 1), row_at(v, STACK_USE + v.depth - 1)
    if mode == 0:
        move(flags, every, top_flags, top_flags, top_flags, 0)
        v.depth -= 1
    elif mode <= 12:
        combine_flags(v, mode, top_flags)
    elif mode == 13:
        bits_not(flags, every, flags, flags, flags, 0)
    else:
        put(flags, every, flags, flags, flags, -1 if mode == 14 else 0)
        put(use, every, use, use, use, -1)
    if mode <= 12:
        move(use, every, top_use, top_use, top_use, 0)
    refresh_enabled(v)


@compiled()
def complement_flags(v):
    """SFPCOMPC: the else of an if whose condition lies on the stack's top."""
    flags, use, every, spare = row_at(v, FLAGS), row_at(v, USE_FLAGS), row_at(v, ALL_ON), row_at(v, SPARE)
    bits_not(spare, every, flags, flags, flags, 0)
    bits_and(spare, every, spare, spare, use, 0)
    if v.depth > 0:
        bits_and(spare, every, spare, spare, row_at(v, STACK_USE + v.depth - 1), 0)
        bits_and(spare, every, spare, spare, row_at(v, STACK_FLAGS + v.depth - 1), 0)
    move(flags, every, spare, spare, spare, 0)
    refresh_enabled(v)


@compiled()
def flags_of_sign(v, result, on, compare, invert):
    """Flags of a result's sign (`compare`), then inverted (`invert`), in the lanes of the mask at `on`."""
    flags = row_at(v, FLAGS)
    if compare != 0:
        negative(flags, on, result, result, result, 0)
    if invert != 0:
        bits_not(flags, on, flags, flags, flags, 0)
    if compare != 0 or invert != 0:
        refresh_enabled(v)
