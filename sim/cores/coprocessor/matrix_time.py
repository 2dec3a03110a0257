"""How long instructions of the matrix unit take, and when the unit takes the next one (ISA: MatrixUnit.md, Dst.md, MOV*.md).

A block of 8 rows of Dst cannot be read for some cycles after a write; moves hold back instructions of other kinds.
"""

from tensim.sim.cores.coprocessor.costs import costs_table
from tensim.sim.cores.coprocessor.dst_rows import mark_written, readable_at
from tensim.sim.cores.coprocessor.matrix_formats import TF32, dst_row_of, format_of_a, has_wide_dst
from tensim.sim.cores.coprocessor.matrix_state import matrix_of
from tensim.sim.cores.coprocessor.matrix_unit import (
    ELWMUL,
    GMPOOL,
    MOVA2D,
    MOVB2A,
    MOVB2D,
    MOVD2A,
    MOVD2B,
    MOVDBGA2D,
    MOVDBGB2D,
    SHIFTXB,
    is_elementwise,
    is_product,
)
from tensim.sim.engine.compiled import compiled


@compiled(inline="always")
def moves_to_dst(code):
    """MOVA2D and its like."""
    return code == MOVA2D or code == MOVB2D or code == MOVDBGA2D or code == MOVDBGB2D


@compiled()
def reads_dst(word):
    """Whether an instruction reads Dst: sums only when they accumulate."""
    code = word >> 24
    if is_elementwise(code) and code != ELWMUL:
        return word >> 21 & 1 != 0
    return is_product(code) or code == ELWMUL or code == GMPOOL or code == MOVD2A or code == MOVD2B


@compiled()
def waits_for_moves(code):
    """Whether an instruction waits for any move to Dst before it."""
    return code == MOVD2A or code == MOVD2B or code == ELWMUL or is_product(code) or code == GMPOOL


@compiled()
def touches_wide_dst(c, thread, word):
    """Whether an instruction takes Dst for 32-bit values."""
    code = word >> 24
    if moves_to_dst(code):
        return word >> 23 & 1 != 0 or format_of_a(c, thread, code == MOVB2D or code == MOVDBGB2D) == TF32
    return has_wide_dst(c, thread)


@compiled()
def matrix_ready_at(c, thread, word, now):
    """Cycle, `now` or later, at which the unit takes an instruction, as far as Dst and earlier moves are concerned."""
    m, code, at = matrix_of(c), word >> 24, now
    if code != MOVD2A and code != MOVB2A:
        at = max(at, m.moved_to_a)
    if code != MOVD2B:
        at = max(at, m.moved_to_b)
    if waits_for_moves(code):
        at = max(at, m.moved_to_dst)
    if reads_dst(word):
        at = max(at, readable_at(c, dst_row_of(c, thread, word), touches_wide_dst(c, thread, word)))
    return at


@compiled()
def matrix_cost(c, thread, word):
    """(cycles that an instruction which enters now has the unit, cycles until its result is there); notes what it holds up."""
    m, k, code = matrix_of(c), costs_table(c.costs_at)[0], word >> 24
    if is_product(code) or is_elementwise(code) or code == GMPOOL:
        mark_written(c, dst_row_of(c, thread, word), touches_wide_dst(c, thread, word))
        return 1, k.matrix_latency
    if moves_to_dst(code):
        m.moved_to_dst = c.cycle + k.move_to_dst_latency
        mark_written(c, dst_row_of(c, thread, word), touches_wide_dst(c, thread, word))
        return 1, k.move_to_dst_latency
    if code == MOVD2A:
        m.moved_to_a = c.cycle + k.move_to_a_latency
        return 1, k.move_to_a_latency
    if code == MOVD2B:
        m.moved_to_b = c.cycle + k.move_to_b_latency
        return 1, k.move_to_b_latency
    if code == SHIFTXB:
        return k.shift_b_latency, k.shift_b_latency
    return 1, k.move_to_dst_latency if code == MOVB2A else k.matrix_short_latency
