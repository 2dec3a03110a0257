"""SFPCONFIG, and instructions with VD from 12 on, which write themselves as SFPLOADMACRO's templates (ISA: SFPCONFIG.md)."""

from tensim.sim.cores.coprocessor.state import words
from tensim.sim.cores.coprocessor.vector_flags import refresh_enabled
from tensim.sim.cores.coprocessor.vector_operations import put
from tensim.sim.cores.coprocessor.vector_state import (
    ENABLED,
    FLAGS,
    LANE_CONFIG,
    LANE_CONFIG_BITS,
    LANES,
    MACRO_MISC,
    MACRO_MISC_BITS,
    N_SEQUENCES,
    N_TEMPLATES,
    SEQUENCES,
    TEMPLATES,
    USE_FLAGS,
    row_at,
)
from tensim.sim.engine.compiled import compiled

IMMEDIATE, LANE_MASK = 1, 8  # bits of SFPCONFIG's mode; bits 1 and 2: write, or, and, xor
MISC, FIRST_LREG, LAST_LREG, LANES_OWN = 8, 11, 14, 15  # what SFPCONFIG's VD names
FIRST_TEMPLATE = 12


@compiled()
def default_of(d):
    """What SFPCONFIG writes to an LReg when its immediate is to be the value."""
    if d == 11:
        return 0xBF800000
    if d == 12:
        return 0x37800000
    return 0xBF2CC4C7 if d == 13 else 0xBEB08FF9


@compiled()
def combined(mode, old, value):
    """A configuration's new value by SFPCONFIG's mode."""
    if mode & 6 == 2:
        return old | value
    if mode & 6 == 4:
        return old & value
    return old ^ value if mode & 6 == 6 else value


@compiled()
def configured_row(d):
    """Row that SFPCONFIG's VD names, or -1: it writes nothing."""
    if d < N_TEMPLATES:
        return TEMPLATES + d
    if d < N_TEMPLATES + N_SEQUENCES:
        return SEQUENCES + d - N_TEMPLATES
    if d == MISC:
        return MACRO_MISC
    if d == LANES_OWN:
        return LANE_CONFIG
    return d if FIRST_LREG <= d <= LAST_LREG else -1


@compiled()
def new_value(mode, d, immediate, old, value):
    """What SFPCONFIG writes.  `value`: the lane's of LReg 0."""
    if mode & IMMEDIATE and d >= N_TEMPLATES:
        value = default_of(d) if FIRST_LREG <= d <= LAST_LREG else immediate
    if d == MISC:
        return combined(mode, old, value) & MACRO_MISC_BITS
    if d == LANES_OWN:
        result = combined(mode, old, value) & LANE_CONFIG_BITS
        return result | (old & LANE_CONFIG_BITS & ~0xFFFF) if mode & IMMEDIATE else result
    return value


@compiled()
def configure(v, mode, d, immediate):
    """SFPCONFIG: eight lanes of LReg 0, or an immediate, for all four rows of lanes."""
    row = configured_row(d)
    if row < 0:
        return
    target, first, flags, use = (
        words(row_at(v, row)),
        words(row_at(v, 0)),
        words(row_at(v, FLAGS)),
        words(row_at(v, USE_FLAGS)),
    )
    for lane in range(LANES):
        column = lane & 7
        masked = mode & LANE_MASK != 0 and immediate >> 2 * column & 1 == 0
        if not masked and (use[column] == 0 or flags[column] != 0):
            target[lane] = new_value(mode, d, immediate, target[lane], first[column])
    if d == LANES_OWN:
        bits = 0
        for lane in range(LANES):
            bits |= target[lane]
        v.config_bits = bits
        refresh_enabled(v)


@compiled()
def write_template(v, word, d):
    """Keep an instruction as a template in the lanes that are enabled."""
    target = row_at(v, TEMPLATES + d - FIRST_TEMPLATE)
    put(target, row_at(v, ENABLED), target, target, target, word)


@compiled()
def special_register(number):
    """Row that SFPMOV reads of the configuration, or -1: reads 0."""
    if number < N_TEMPLATES:
        return TEMPLATES + number
    if number < N_TEMPLATES + N_SEQUENCES:
        return SEQUENCES + number - N_TEMPLATES
    if number == MISC:
        return MACRO_MISC
    return LANE_CONFIG if number == LANES_OWN else -1


@compiled()
def uniform(v, row):
    """Whether all lanes of a row hold the same."""
    lanes = words(row_at(v, row))
    for lane in range(1, LANES):
        if lanes[lane] != lanes[0]:
            return False
    return True
