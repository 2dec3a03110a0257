"""Instructions of the vector unit that move data between registers or lanes: SFPSWAP, SFPTRANSP, SFPSHFT2 (ISA)."""

from tensim.sim.cores.coprocessor.faults import UNKNOWN_MODE, stop
from tensim.sim.cores.coprocessor.state import BLACKHOLE, chip_of, words
from tensim.sim.cores.coprocessor.vector_lanes import swapped_lanes
from tensim.sim.cores.coprocessor.vector_operations import (
    and_bit,
    and_not_bit,
    bits_and,
    move,
    put,
    shift,
    shift_immediate,
)
from tensim.sim.cores.coprocessor.vector_state import (
    ALL_ON,
    DEST_INDEX,
    ENABLED,
    LANE_CONFIG,
    LANES,
    SHUFFLED,
    SPARE,
    row_at,
)
from tensim.sim.engine.compiled import compiled

COPY_4, CHAINED_COPY_4, ROTATE_AND_COPY_4, ROTATE, SHIFT, BY_REGISTER, BY_IMMEDIATE = range(7)  # modes of SFPSHFT2
FIRST_MODE_OF_MAXIMUM = 9  # SFPSWAP: VD gets the larger in all lanes; tt-llk uses 9 (ALL_ROWS_MAX) and 15
COLUMNS_OF_LANES = 8


@compiled()
def lanes_with_least(mode):
    """Bit set of lanes in which SFPSWAP gives VD the smaller value."""
    if mode >= FIRST_MODE_OF_MAXIMUM:
        return 0
    if mode <= 1:
        return 0xFFFFFFFF
    if mode == 2:
        return 0x0000FFFF
    if mode == 3:
        return 0x00FF00FF
    if mode == 4:
        return 0xFF0000FF
    return 0xFF << 8 * (mode - 5)


@compiled()
def exchange(v, mask, written, b, c, d):
    """Where `mask` (host address) says so, LReg `d` gets what `c` holds, then `c` what `b` held; LRegs from `written` on stay."""
    spare, every, held, given = row_at(v, SPARE), row_at(v, ALL_ON), row_at(v, b), row_at(v, c)
    move(spare, every, held, held, held, 0)
    if d < written:
        move(row_at(v, d), mask, given, given, given, 0)
    if c < written:
        move(given, mask, spare, spare, spare, 0)


@compiled()
def swap(v, mode, b, c, d):
    """SFPSWAP of LRegs `c` and `d`; lanes with an index swap those of LRegs 4 to 7 with the values of 0 to 3.

    Scheduled by a macro it reads `b` in the place of `d` (ISA: SFPLOADMACRO.md).  If then `c` and `d` are one, that gets what
    is meant for `c`: tt-llk's exponential clamps so, to the larger of a load and a constant.
    """
    mask, every, config = row_at(v, SPARE + 1), row_at(v, ALL_ON), row_at(v, LANE_CONFIG)
    always = -1 if mode == 0 else 0
    swapped_lanes(mask, row_at(v, c), row_at(v, b), config, lanes_with_least(mode), always)
    bits_and(mask, every, mask, mask, row_at(v, ENABLED), 0)
    if v.config_bits >> DEST_INDEX & 1 == 0:
        exchange(v, mask, 8, b, c, d)
        return
    indexed, plain = row_at(v, SPARE + 2), row_at(v, SPARE + 3)
    and_bit(indexed, every, mask, mask, config, DEST_INDEX)
    and_not_bit(plain, every, mask, mask, config, DEST_INDEX)
    exchange(v, plain, 8, b, c, d)
    exchange(v, indexed, 4, b, c, d)
    exchange(v, indexed, 8, 4 + (b & 3), 4 + (c & 3), 4 + (d & 3))


@compiled()
def transpose(v):
    """SFPTRANSP: in each column of lanes, rows of LRegs 0 to 3 and of 4 to 7 as 4x4 matrices."""
    on = words(row_at(v, ENABLED))
    for base in range(0, 8, 4):
        for i in range(4):
            for j in range(i):
                upper, lower = words(row_at(v, base + j)), words(row_at(v, base + i))
                for column in range(COLUMNS_OF_LANES):
                    at_j, at_i = COLUMNS_OF_LANES * j + column, COLUMNS_OF_LANES * i + column
                    ij, ji = lower[at_j], upper[at_i]
                    if on[at_j] != 0:
                        lower[at_j] = ji
                    if on[at_i] != 0:
                        upper[at_i] = ij


@compiled()
def rotated(v, source, target, carried):
    """Rows of eight lanes moved right by one; the first gets lane 7 of the row at `carried`, or 0 when that is 0."""
    given, result = words(source), words(target)
    for lane in range(LANES):
        if lane & 7:
            result[lane] = given[lane - 1]
        else:
            result[lane] = words(carried)[lane + 7] if carried != 0 else 0


@compiled()
def copy_4(v, mask):
    """LRegs 0 to 2 take the next one's values."""
    for i in range(3):
        source = row_at(v, i + 1)
        move(row_at(v, i), mask, source, source, source, 0)


@compiled()
def remember(v, d, source):
    """Keep what a rotation saw for Wormhole's shift, whose first lanes come from it."""
    if d < 12:
        move(row_at(v, SHUFFLED), row_at(v, ALL_ON), source, source, source, 0)


@compiled()
def shuffle(c, v, thread, word, mode, immediate, b, source, d, target):
    """SFPSHFT2.  `b`: number of an LReg, `source`: host address of LReg VC, `target`: where LReg `d` is to be written."""
    mask, spare, first, third = row_at(v, ENABLED), row_at(v, SPARE), row_at(v, 0), row_at(v, 3)
    if mode == COPY_4:
        copy_4(v, mask)
        put(third, mask, third, third, third, 0)
    elif mode == CHAINED_COPY_4:
        old, chained = words(first), words(spare)
        for lane in range(LANES):
            chained[lane] = old[lane + 8] if lane < LANES - 8 else 0
        copy_4(v, mask)
        move(third, mask, spare, spare, spare, 0)
    elif mode == ROTATE_AND_COPY_4:
        rotated(v, source, spare, source)
        remember(v, d, source)
        copy_4(v, mask)
        move(third, mask, spare, spare, spare, 0)
    elif mode == ROTATE:
        rotated(v, source, spare, source)
        remember(v, d, source)
        move(target, mask, spare, spare, spare, 0)
    elif mode == SHIFT:
        rotated(v, source, spare, 0 if chip_of(c) == BLACKHOLE else row_at(v, SHUFFLED))
        move(target, mask, spare, spare, spare, 0)
    elif mode == BY_REGISTER:
        shift(target, mask, source, row_at(v, b), source, 0)
    elif mode == BY_IMMEDIATE:
        shift_immediate(target, mask, source, row_at(v, b), source, immediate)
    else:
        stop(c, UNKNOWN_MODE, thread, word, mode, 0)
