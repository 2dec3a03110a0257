"""The matrix unit (FPU) of a Tensix coprocessor: decodes its instructions and acts at once (ISA: MatrixUnit.md).

Not modelled, and stopped by name: the convolutions and poolings of earlier chips, TRNSPSRCA, SETIBRWC, SETASHRM*, SETPKEDGOF.
"""

from tensim.sim.cores.coprocessor.address_mods import apply_address_mod
from tensim.sim.cores.coprocessor.faults import UNKNOWN_INSTRUCTION, stop
from tensim.sim.cores.coprocessor.matrix_counters import clear_valid, flip_banks, increment_counters, set_counters
from tensim.sim.cores.coprocessor.matrix_formats import address_mod_of, fidelity_phase
from tensim.sim.cores.coprocessor.matrix_moves import (
    ONE_ROW,
    SIXTEEN_ROWS,
    clear_dst,
    clear_fields,
    clear_sources,
    move_a_to_dst,
    move_b_to_a,
    move_b_to_dst,
    move_dst_to_source,
    shift_a,
    shift_b,
    transpose_b,
)
from tensim.sim.cores.coprocessor.matrix_pools import pool_maximum
from tensim.sim.cores.coprocessor.matrix_products import combine_elements, multiply_matrices
from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.state import BLACKHOLE, chip_of
from tensim.sim.engine.compiled import compiled

MVMUL, DOTPV, GAPOOL, GMPOOL, ELWMUL, ELWADD, ELWSUB = opcodes("MVMUL DOTPV GAPOOL GMPOOL ELWMUL ELWADD ELWSUB")
MOVD2A, MOVDBGA2D, MOVD2B, MOVB2A, MOVA2D, MOVB2D, MOVDBGB2D = opcodes(
    "MOVD2A MOVDBGA2D MOVD2B MOVB2A MOVA2D MOVB2D MOVDBGB2D"
)
ZEROACC, ZEROSRC, TRNSPSRCB, SHIFTXA, SHIFTXB, CLREXPHIST, GATESRCRST, CLEARDVALID, SETRWC, INCRWC = opcodes(
    "ZEROACC ZEROSRC TRNSPSRCB SHIFTXA SHIFTXB CLREXPHIST GATESRCRST CLEARDVALID SETRWC INCRWC"
)
NEEDS_A, NEEDS_B = 1, 2
PRODUCT_FLOPS, ELEMENTWISE_FLOPS = 2 * 8 * 16 * 16, 8 * 16


@compiled(inline="always")
def is_product(code):
    """MVMUL and its like."""
    return code == MVMUL or code == DOTPV or code == GAPOOL


@compiled(inline="always")
def is_elementwise(code):
    """ELWADD and its like."""
    return code == ELWMUL or code == ELWADD or code == ELWSUB


@compiled()
def matrix_needs(word):
    """Which sources' banks an instruction waits for: NEEDS_A, NEEDS_B (ISA: Wait Gate, in the page of each)."""
    code = word >> 24
    if is_product(code) or is_elementwise(code) or code == GMPOOL:
        return NEEDS_A | NEEDS_B
    if code == MOVA2D or code == SHIFTXA:
        return NEEDS_A
    return NEEDS_B if code == MOVB2D or code == MOVB2A or code == TRNSPSRCB or code == SHIFTXB else 0


@compiled()
def flops_of(c, thread, word):
    """Floating-point operations of an instruction: 8 x 16 values, each a sum of 16 products where it multiplies matrices."""
    code = word >> 24
    if fidelity_phase(c, thread) != 0:
        return 0
    return PRODUCT_FLOPS if is_product(code) else ELEMENTWISE_FLOPS if is_elementwise(code) else 0


@compiled()
def compute(c, thread, word):
    """The data of an instruction that computes or moves."""
    code = word >> 24
    if is_product(code):
        multiply_matrices(c, thread, word)
    elif is_elementwise(code):
        combine_elements(c, thread, word)
    elif code == GMPOOL:
        pool_maximum(c, thread, word)
    elif code == MOVA2D or code == MOVDBGA2D:
        move_a_to_dst(c, thread, word)
    elif code == MOVB2D or code == MOVDBGB2D:
        move_b_to_dst(c, thread, word)
    elif code == MOVD2A or code == MOVD2B:
        move_dst_to_source(c, thread, word)
    elif code == MOVB2A:
        move_b_to_a(c, thread, word)
    elif code == TRNSPSRCB:
        transpose_b(c)
    elif code == SHIFTXA:
        shift_a(c, thread, word)
    elif code == SHIFTXB:
        shift_b(c, thread, word)
    elif code == ZEROACC:
        clear_dst(c, thread, word)
    elif code == ZEROSRC:
        clear_sources(c, word)


@compiled()
def is_known(c, code):
    """Whether the unit has an instruction and it is modelled."""
    if is_product(code) or is_elementwise(code) or code == GMPOOL or MOVD2A <= code <= MOVB2A:
        return True
    if code == MOVDBGB2D:
        return chip_of(c) == BLACKHOLE
    if ZEROACC <= code <= MOVB2D or TRNSPSRCB <= code <= SHIFTXB:
        return True
    return code == CLREXPHIST or code == GATESRCRST or CLEARDVALID <= code <= INCRWC


@compiled()
def has_address_mod(c, word):
    """Whether an instruction moves the counters on."""
    code = word >> 24
    if code == ZEROACC:
        mode = clear_fields(c, word)[0]
        return mode == ONE_ROW or mode == SIXTEEN_ROWS
    return (
        is_product(code) or is_elementwise(code) or code == GMPOOL or code == SHIFTXB
        or MOVD2A <= code <= MOVDBGB2D or code == MOVA2D or code == MOVB2D
    )  # fmt: skip


@compiled()
def execute_matrix(c, thread, word):
    """Carry out an instruction of the matrix unit; one that is not modelled stops the coprocessor.

    The packers keep no exponent histogram that CLREXPHIST could reset, SrcB no cache for GATESRCRST.  Where data do not move
    only banks and counters do.
    """
    code = word >> 24
    if not is_known(c, code):
        stop(c, UNKNOWN_INSTRUCTION, thread, word, 0, 0)
    elif code == SETRWC:
        set_counters(c, thread, word)
    elif code == INCRWC:
        increment_counters(c, thread, word)
    elif code == CLEARDVALID:
        clear_valid(c, word)
    else:
        if c.data_on != 0:
            compute(c, thread, word)
        if is_product(code) or is_elementwise(code) or code == GMPOOL:
            flip_banks(c, thread, word >> 22 & 3)
        if has_address_mod(c, word):
            apply_address_mod(c, thread, address_mod_of(c, word), True)
