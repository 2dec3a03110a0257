"""GMPOOL: the maximum down the columns of a 16x16 block of SrcA, with the index of the largest value if asked (ISA: GMPOOL.md)."""

from tensim.sim.cores.coprocessor.address_mods import rwc_of
from tensim.sim.cores.coprocessor.dst_rows import define_rows, dst16_row, is_undefined
from tensim.sim.cores.coprocessor.matrix_formats import (
    TF32,
    computes_integers,
    dst_row_of,
    forced_to_fp16,
    format_of_a,
    has_wide_dst,
    is_narrow,
)
from tensim.sim.cores.coprocessor.matrix_state import FACE_ROWS, matrix_of
from tensim.sim.cores.coprocessor.state import (
    COLUMNS,
    dst32_row,
    read_dst16,
    read_dst32,
    src_at,
    write_dst16,
    write_dst32,
)
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_u32

AS_INT8, AS_FP16, AS_BF16, AS_TF32, AS_INT32 = range(5)
MINUS_INFINITY = 0xFFFFFFFF  # what an undefined row of Dst holds
SMALLEST = -((511 << 10) + 1023)  # in the order of `key`: below every number
BIAS, NARROW_BIAS = 127, 15
REBIAS = 2 * (BIAS - NARROW_BIAS)  # of the sum of two exponents
PLACES = (0, 3, 6, 1, 4, 7, 2, 5)  # how the index of one of the first eight rows is encoded
ROWS_WRITTEN = 4


@compiled()
def styles(c, thread, index):
    """(what SrcA holds, what Dst holds); `index`: the index of the largest is wanted."""
    if forced_to_fp16(c, thread):
        return AS_FP16, AS_FP16
    if computes_integers(c, thread):
        return AS_INT8, AS_INT32
    data, wide = format_of_a(c, thread, False), has_wide_dst(c, thread)
    if data == TF32:
        return AS_TF32, AS_INT32 if index else AS_TF32 if wide else AS_BF16
    own = AS_FP16 if is_narrow(data) else AS_BF16
    return own, AS_TF32 if wide and not index else own


@compiled()
def key_of_dst(value, style):
    """A 32-bit value of Dst (16-bit ones in the upper half) as a signed number whose magnitude is exponent, then mantissa."""
    if style == AS_INT32:
        magnitude = ((value >> 10 & 0x3F) + ((value >> 24 & 7) << 6)) << 10 | (value & 0x3FF)
    elif style == AS_FP16:
        magnitude = ((value >> 16 & 31) + NARROW_BIAS) << 10 | (value >> 21 & 0x3FF)
    else:
        magnitude = ((value >> 16 & 255) + BIAS) << 10 | (value >> 24 & 0x7F) << 3
        if style == AS_TF32:
            magnitude |= value >> 13 & 7
    return -magnitude if value >> 31 else magnitude


@compiled()
def value_of_key(key, sign, style):
    """The opposite of `key_of_dst`; exponents wrap."""
    magnitude = abs(key)
    exponent, mantissa = magnitude >> 10, magnitude & 0x3FF
    if style == AS_INT32:
        return sign << 31 | (exponent & 7) << 10 | mantissa
    if style == AS_FP16:
        if exponent & 0x3F == 0:
            return 0
        return sign << 31 | mantissa << 21 | ((exponent - NARROW_BIAS) & 31) << 16
    if exponent == 0:
        return 0
    value = sign << 31 | (mantissa & 0x3F8) << 21 | ((exponent - BIAS) & 255) << 16
    return value | (mantissa & 7) << 13 if style == AS_TF32 else value


@compiled()
def key_of_source(a, b, style, dst_style):
    """A value of SrcA as in `key_of_dst`, scaled by the exponent of one of SrcB.

    In a 32-bit Dst 5-bit exponents become 8-bit ones, as with the other instructions; the ISA's page does not say so.
    """
    exponent_a, exponent_b, mantissa = a & 255, b & 255, a >> 8 & 0x3FF
    if exponent_b == 0:
        return SMALLEST
    if exponent_a == 0:
        return 0
    if style == AS_INT8:
        magnitude = mantissa
    elif style == AS_FP16:
        rebias = REBIAS if dst_style == AS_TF32 else 0
        magnitude = ((exponent_a & 31) + (exponent_b & 31) + rebias) << 10 | mantissa
    else:
        magnitude = (exponent_a + exponent_b) << 10 | (mantissa if style == AS_TF32 else mantissa & 0x3F8)
    return -magnitude if a >> 18 & 1 else magnitude


@compiled()
def old_value(c, row, column, wide):
    """A value of Dst as 32 bits."""
    if is_undefined(c, dst32_row(row) if wide else dst16_row(c, row)):
        return MINUS_INFINITY if wide else MINUS_INFINITY & 0xFFFF0000
    return read_dst32(c, row, column) if wide else read_dst16(c, dst16_row(c, row), column) << 16


@compiled()
def largest_of_column(c, old, column, row_a, row_b, source_style, dst_style, index):
    """New value of Dst for a column: the largest of it and of 16 rows, with its index if asked."""
    best, sign, place = key_of_dst(old, dst_style), old >> 31, old & 0xFF
    turn = (old + 0x100) & 0xF00
    for k in range(FACE_ROWS):
        i = k ^ 4 if k < 8 else k  # the order decides between equal values
        a = load_u32(src_at(c.src_a_at, c.matrix_bank_a, row_a + i) + 4 * column)
        b = load_u32(src_at(c.src_b_at, c.matrix_bank_b, row_b) + 4 * i)
        key = key_of_source(a, b, source_style, dst_style)
        if key >= best:
            best, sign = key, 1 if key == SMALLEST else 0 if a & 0xFF == 0 else a >> 18 & 1
            if i < 8:
                place = (turn >> 4) + PLACES[i]
    value = value_of_key(best, sign, dst_style)
    if index == 0:
        return value
    return turn | place if dst_style == AS_INT32 else value | turn | place


@compiled()
def pool_maximum(c, thread, word):
    """GMPOOL: a row of Dst, and below it three rows that become 0 or, with an index, leftovers."""
    index, rwc, wide = word >> 14 & 1, rwc_of(c, thread), has_wide_dst(c, thread)
    source_style, dst_style = styles(c, thread, index)
    row_a, row_b = rwc.src_a & 0x30, rwc.src_b & 0x38
    matrix_of(c).last_src_a_row = row_a
    row = dst_row_of(c, thread, word) & 0x3FC
    for column in range(COLUMNS):
        for i in range(ROWS_WRITTEN):
            old, value = old_value(c, row + i, column, wide), 0
            if i == 0:
                value = largest_of_column(c, old, column, row_a, row_b, source_style, dst_style, index)
            elif index != 0 and wide:
                value = (old + 0x100) & 0xF00
            if wide:
                write_dst32(c, row + i, column, value)
            else:
                write_dst16(c, dst16_row(c, row + i), column, value >> 16)
    define_rows(c, dst32_row(row) if wide else dst16_row(c, row), wide, ROWS_WRITTEN)
