"""The vector unit (SFPU) of a Tensix coprocessor: decodes its instructions and acts at once (ISA: VectorUnit.md).

All instructions of both chips; what a mode does is in the modules of the sub-units (`vector_units`), 32 lanes at a time.
"""

from tensim.sim.cores.coprocessor.faults import MISUSE, UNKNOWN_INSTRUCTION, stop
from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.state import words
from tensim.sim.cores.coprocessor.vector_config import FIRST_TEMPLATE, write_template
from tensim.sim.cores.coprocessor.vector_dst import move_on
from tensim.sim.cores.coprocessor.vector_macro import catch_up, is_settled, load_macro, write_staged
from tensim.sim.cores.coprocessor.vector_operations import step_random
from tensim.sim.cores.coprocessor.vector_state import (
    ALL_ON,
    DEST_INDEX,
    LANE_CONFIG,
    LANES,
    NO_BACKDOOR,
    RANDOM,
    SPARE,
    row_at,
    vector_of,
)
from tensim.sim.cores.coprocessor.vector_units import (
    LOAD,
    SFPLOAD,
    SFPLOADI,
    SFPLOADMACRO,
    SFPLUT,
    SFPNOP,
    SFPSTORE,
    execute_in_sub_unit,
    exists,
    has_b,
    has_c,
    load,
    load_immediate,
    lreg_d,
    store,
    sub_unit_of,
    target_of,
)
from tensim.sim.engine.compiled import compiled

SFPCONFIG, SFPSWAP, SFPTRANSP, SFPPUSHC, SFPPOPC, SFPENCC, SFPCOMPC, SFPSETCC = opcodes(
    "SFPCONFIG SFPSWAP SFPTRANSP SFPPUSHC SFPPOPC SFPENCC SFPCOMPC SFPSETCC"
)
SEED_STEPS, LANE_STEPS = 32, 2  # of the random numbers after a seed


@compiled()
def lanes_agree(v, bit):
    """Whether all lanes have a bit of LaneConfig, or none does."""
    config = words(row_at(v, LANE_CONFIG))
    for lane in range(1, LANES):
        if (config[lane] ^ config[0]) >> bit & 1:
            return False
    return True


@compiled()
def writes_template(c, v, thread, word, d):
    """Whether an instruction only writes itself as a template of SFPLOADMACRO."""
    code = word >> 24
    if d < FIRST_TEMPLATE or code == SFPCONFIG or code == SFPLOADMACRO or code == SFPNOP:
        return False
    if not lanes_agree(v, NO_BACKDOOR):
        stop(c, MISUSE, thread, word, NO_BACKDOOR, 0)
    return v.config_bits >> NO_BACKDOOR & 1 == 0


@compiled()
def loses_its_result(v, code, d):
    """Whether an erratum spoils LReg `d`: what most instructions write to 4 to 7 while LaneConfig asks for indices.

    Source: vendor's simulator (ttsim 1.10, tensix.cpp: TEN-2932).
    """
    if v.config_bits >> DEST_INDEX & 1 == 0 or not 4 <= d < 8:
        return False
    if code < SFPLUT or code == SFPCONFIG or code == SFPSWAP or code == SFPLOADMACRO or code == SFPNOP:
        return False
    return not (SFPPUSHC <= code <= SFPPOPC or SFPENCC <= code <= SFPTRANSP or code == SFPSETCC)


@compiled()
def execute_now(c, v, thread, word):
    """Carry out an instruction that a thread issues."""
    code, d = word >> 24, lreg_d(word)
    if code == SFPLOADMACRO:
        load_macro(c, v, thread, word)
        return
    if writes_template(c, v, thread, word, d):
        write_template(v, word, d)
        if code == SFPLOAD:
            move_on(c, thread, word)
        elif code == SFPSTORE:
            store(c, v, thread, word, d, False)
    elif code == SFPLOAD:
        load(c, v, thread, word, d)
    elif code == SFPSTORE:
        store(c, v, thread, word, d, True)
    elif code == SFPLOADI:
        load_immediate(c, v, thread, word, d)
    elif code != SFPNOP:
        if loses_its_result(v, code, d):
            stop(c, MISUSE, thread, word, DEST_INDEX, d)
            return
        b, operand = word >> 12 & 15 if has_b(c, word) else d, word >> 8 & 15 if has_c(word) else d
        execute_in_sub_unit(c, v, thread, word, sub_unit_of(code), b, operand, d, target_of(v, d))


@compiled()
def execute_vector(c, thread, word):
    """Carry out an instruction of the vector unit; an instruction or mode that is not modelled stops the coprocessor.

    Where data do not move only the counters do.  A scheduled instruction for the same sub-unit takes the place of this one
    (ISA: SFPLOADMACRO.md).
    """
    v = vector_of(c)
    if not exists(c, word >> 24):
        stop(c, UNKNOWN_INSTRUCTION, thread, word, 0, 0)
        return
    if c.data_on == 0:
        code = word >> 24
        if code == SFPLOAD or code == SFPSTORE or code == SFPLOADMACRO:
            move_on(c, thread, word)
        return
    if is_settled(v):
        execute_now(c, v, thread, word)
    else:
        occupied, sub_unit = catch_up(c, v), sub_unit_of(word >> 24)
        if sub_unit == LOAD or occupied >> sub_unit & 1 == 0:
            execute_now(c, v, thread, word)
        write_staged(v)
    v.last_cycle = c.cycle


@compiled()
def seed_random_numbers(c, seed):
    """A write to PRNG_SEED: the last lane's number comes first.  Source: vendor's simulator (ttsim 1.10, tensix.cpp)."""
    v = vector_of(c)
    spare, every, numbers = row_at(v, SPARE), row_at(v, ALL_ON), words(row_at(v, RANDOM))
    words(spare)[0] = seed
    for i in range(SEED_STEPS + LANE_STEPS * LANES):
        step_random(spare, every, spare, spare, spare, 0)
        done = i + 1 - SEED_STEPS
        if done > 0 and done % LANE_STEPS == 0:
            numbers[LANES - done // LANE_STEPS] = words(spare)[0]
