"""SFPLOADMACRO: a load that schedules up to four instructions, one for each other sub-unit (ISA: SFPLOADMACRO.md).

A sub-unit has a slot for each number of steps that an instruction may have to go.  Every instruction of the unit is a step;
cycles of the coprocessor between two of them are steps too, unless a scheduled instruction counts instructions.  What executes in
one cycle reads LRegs and lane flags before any of it writes them.
"""

from tensim.sim.cores.coprocessor.faults import MISUSE, stop
from tensim.sim.cores.coprocessor.state import words
from tensim.sim.cores.coprocessor.vector_config import uniform
from tensim.sim.cores.coprocessor.vector_dst import resolved_mode, store_lanes
from tensim.sim.cores.coprocessor.vector_operations import move
from tensim.sim.cores.coprocessor.vector_state import (
    ALL_ON,
    BONUS_LREG,
    ENABLED,
    LATE,
    MACRO_MISC,
    N_SUB_UNITS,
    NEXT_ENABLED,
    SEQUENCES,
    SLOTS,
    STAGED,
    STAGED_MASKS,
    TEMPLATES,
    WASTE,
    row_at,
    slot_of,
    vector_of,
)
from tensim.sim.cores.coprocessor.vector_units import (
    MAD,
    ROUND,
    SFPNOP,
    SFPSTORE,
    SIMPLE,
    STORE,
    execute_in_sub_unit,
    has_b,
    has_c,
    has_result,
    load,
    lreg_d,
    mode_of,
    sub_unit_of,
    target_of,
)
from tensim.sim.engine.compiled import compiled

NOTHING, UNDEFINED, NO_OPERATION, STORE_ONLY, FIRST_TEMPLATE = range(5)  # what three bits of a sequence say
LATE_SHIFT = 8 * N_SUB_UNITS  # of VECTOR's `staged`
NEW_FLAGS = 1 << 8 + LATE_SHIFT
FIRST_DELAY_KIND, FIRST_LOAD_MODE = 8, 4  # bits of LoadMacroConfig.Misc


@compiled()
def run_slot(c, v, sub_unit):
    """Execute what a sub-unit has to execute now; its result is staged.  Returns whether there was anything."""
    slot = slot_of(v, sub_unit, 0)
    word, d = slot.word, slot.d
    if word == 0:
        return False
    slot.word = 0
    v.pending -= 1
    v.waiting -= slot.by_instructions
    if sub_unit == STORE:
        store_lanes(c, v, slot.thread, word, slot.mode, slot.address, row_at(v, d))
        return True
    result, mask, every, enabled = (
        row_at(v, WASTE),
        row_at(v, STAGED_MASKS + sub_unit),
        row_at(v, ALL_ON),
        row_at(v, ENABLED),
    )
    move(mask, every, enabled, enabled, enabled, 0)
    if has_result(word, d):
        result, old = row_at(v, STAGED + sub_unit), target_of(v, d)
        move(result, every, old, old, old, 0)
        v.staged |= (d + 1) << 8 * sub_unit
    execute_in_sub_unit(c, v, slot.thread, word, sub_unit, slot.b, slot.c, d, result)
    if sub_unit == SIMPLE:
        move(row_at(v, NEXT_ENABLED), every, enabled, enabled, enabled, 0)
        move(enabled, every, mask, mask, mask, 0)
        v.staged |= NEW_FLAGS
    return True


@compiled()
def write_result(v, number, result, mask):
    """Write a staged row to the LReg whose number + 1 is given, if it is not 0."""
    if number != 0:
        source = row_at(v, result)
        move(target_of(v, number - 1), row_at(v, mask), source, source, source, 0)


@compiled()
def write_staged(v):
    """Write what instructions have computed at the end of a cycle; what the MAD sub-unit has, at the end of the next one."""
    if v.staged & NEW_FLAGS != 0:
        enabled = row_at(v, NEXT_ENABLED)
        move(row_at(v, ENABLED), row_at(v, ALL_ON), enabled, enabled, enabled, 0)
    write_result(v, v.staged >> LATE_SHIFT & 0xFF, LATE, LATE + 1)
    write_result(v, v.staged & 0xFF, STAGED, STAGED_MASKS)
    write_result(v, v.staged >> 8 * ROUND & 0xFF, STAGED + ROUND, STAGED_MASKS + ROUND)
    late = v.staged >> 8 * MAD & 0xFF
    v.staged = late << LATE_SHIFT
    if late != 0:
        every, result, mask = row_at(v, ALL_ON), row_at(v, STAGED + MAD), row_at(v, STAGED_MASKS + MAD)
        move(row_at(v, LATE), every, result, result, result, 0)
        move(row_at(v, LATE + 1), every, mask, mask, mask, 0)


@compiled(inline="always")
def is_settled(v):
    """Whether nothing is scheduled or computed that is not written yet."""
    return v.pending == 0 and v.staged == 0


@compiled()
def step(c, v, issues):
    """One cycle of what is scheduled; returns a bit set of the sub-units that it occupies.

    `issues`: a thread gives the unit an instruction in this cycle.  Results are left staged.
    """
    occupied, counts = 0, v.waiting == 0 or issues
    for sub_unit in (STORE, 2, 1, 0):
        if run_slot(c, v, sub_unit):
            occupied |= 1 << sub_unit
    if counts:
        v.turn = (v.turn + 1) & (SLOTS - 1)
    return occupied


@compiled()
def settle_vector_unit(c):
    """Execute what is scheduled for the cycles before this one: another unit is about to look at what it does."""
    v = vector_of(c)
    left = min(c.cycle - v.last_cycle - 1, SLOTS)
    while left > 0 and not is_settled(v):
        step(c, v, False)
        write_staged(v)
        left -= 1
    v.last_cycle = max(v.last_cycle, c.cycle - 1)


@compiled()
def catch_up(c, v):
    """The cycles since the last instruction, then the one of an instruction that comes now; returns as `step` does."""
    settle_vector_unit(c)
    return step(c, v, True)


@compiled()
def macro_steps(c, word):
    """Steps until the last instruction that an SFPLOADMACRO schedules has executed."""
    v, steps = vector_of(c), 0
    for sub_unit in range(N_SUB_UNITS):
        bits = first_lane(v, SEQUENCES + (word >> 22 & 3)) >> 8 * sub_unit & 0xFF
        if bits & 7 != NOTHING:
            steps = max(steps, (bits >> 3 & 7) + 1)
    return steps


@compiled()
def drop_slot(v, slot):
    """Forget a scheduled instruction."""
    if slot.word != 0:
        slot.word = 0
        v.pending -= 1
        v.waiting -= slot.by_instructions


@compiled()
def first_lane(v, row):
    """What all lanes of a row hold."""
    return words(row_at(v, row))[0]


@compiled()
def scheduled_word(v, sub_unit, kind):
    """The instruction that a sequence names for a sub-unit: a template if it can execute it, otherwise SFPNOP."""
    if kind == NO_OPERATION:
        return SFPNOP << 24
    if kind == STORE_ONLY:
        word = SFPSTORE << 24
    else:
        word = first_lane(v, TEMPLATES + kind - FIRST_TEMPLATE)
    return word if sub_unit_of(word >> 24) == sub_unit else SFPNOP << 24


@compiled()
def set_registers(c, slot, word, bits, d):
    """The LRegs of a scheduled instruction: its own, some of them replaced by the macro's, `d`."""
    own = lreg_d(word)
    slot.b, slot.c = (word >> 12 & 15) if has_b(c, word) else own, (word >> 8 & 15) if has_c(word) else own
    if bits & 0x80:
        slot.b = d
    else:
        slot.c = d
    slot.d = BONUS_LREG if bits & 0x40 else d


@compiled()
def schedule(c, v, thread, word, macro, sub_unit, d, address):
    """Schedule what a macro's sequence says for a sub-unit, in the place of what is to execute then.

    A sequence that says nothing leaves that: a store of tt-llk's product of 16-bit integers (ckernel_sfpu_mul_int.h) is due the
    cycle behind a macro without one.
    """
    bits = first_lane(v, SEQUENCES + macro) >> 8 * sub_unit & 0xFF
    kind, delay, misc = bits & 7, bits >> 3 & 7, first_lane(v, MACRO_MISC)
    if kind == NOTHING:
        return
    slot = slot_of(v, sub_unit, delay)
    drop_slot(v, slot)
    template = scheduled_word(v, sub_unit, kind)
    if kind == UNDEFINED or (sub_unit == STORE and template >> 24 == SFPNOP):
        stop(c, MISUSE, thread, word, kind, sub_unit)
        return
    if sub_unit == STORE:
        slot.d = BONUS_LREG if bits & 0x40 else lreg_d(template) if bits & 0x80 else d
        own = mode_of(word) if misc >> FIRST_LOAD_MODE + macro & 1 else misc & 15
        slot.mode, slot.address = resolved_mode(c, thread, own), address
    else:
        set_registers(c, slot, template, bits, d)
    slot.word, slot.thread, slot.by_instructions = template, thread, misc >> FIRST_DELAY_KIND + sub_unit & 1
    v.pending += 1
    v.waiting += slot.by_instructions


@compiled()
def load_macro(c, v, thread, word):
    """SFPLOADMACRO.  Lanes whose macros differ stop the coprocessor: that is not modelled."""
    macro, d = word >> 22 & 3, (word >> 20 & 3) | (word & 1) << 2
    rows_agree = uniform(v, SEQUENCES + macro) and uniform(v, MACRO_MISC)
    for i in range(4):
        rows_agree = rows_agree and uniform(v, TEMPLATES + i)
    if not rows_agree:
        stop(c, MISUSE, thread, word, macro, 0)
        return
    address = load(c, v, thread, word, d)
    for sub_unit in range(N_SUB_UNITS):
        schedule(c, v, thread, word, macro, sub_unit, d, address)
