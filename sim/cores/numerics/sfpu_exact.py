"""The vector unit's way to Dst and back with `numerics=exact` (SFPLOAD and SFPSTORE, docs/hardware/numerics.md#vector-unit).

Its lanes are float32: denormals become zeros of their sign on the way in and out, a 16-bit Dst takes results by truncation.
Between the two stands the function of `tensim.sim.cores.numerics.sfpu`, from its mathematical definition; docs/numerics.md gives
the errors.
"""

from tensim.sim.cores.numerics.matrix_unit import INTEGER, NARROW, OPAQUE, WIDE, WORD_ROW, exponent_of, rebias_words
from tensim.sim.cores.numerics.packer import flush_to_signed_zero, nearest_even
from tensim.sim.cores.numerics.sfpu import sfpu_binary, sfpu_reduce, sfpu_ternary, sfpu_unary
from tensim.sim.cores.numerics.sfpu_functions import (
    FIRST_BINARY_INT,
    FIRST_BINARY_QUOTIENT,
    FIRST_UNARY_INT,
    SfpuBinary,
    SfpuUnary,
)
from tensim.sim.cores.numerics.simd_lanes import row_operation
from tensim.sim.cores.numerics.tensix_exact import dst_kind, set_dst_kind
from tensim.sim.cores.numerics.tile import TILE_DATUMS, TILE_ROWS
from tensim.sim.cores.numerics.tile_formats import twos_complement
from tensim.sim.cores.numerics.unpacker import cut_to_bf16, format_kind
from tensim.sim.engine.compiled import compiled


def _cut_to_half(word):
    """float32 -> fp16 by truncation: saturating, zero below the smallest normal number."""
    exponent, sign = exponent_of(word) - 112, word & (1 << 31)
    result = sign | (exponent << 23) | (word & 0x7FE000)
    result = (exponent > 31).choose(sign | (31 << 23) | 0x7FE000, result)
    return (exponent <= 0).choose(sign, result)


def _to_bf16_even(word):
    """float32 rounded to the nearest bf16, halves to even; infinity and NaN stay."""
    return (exponent_of(word).equals(255)).choose(word, nearest_even(word, 16))


cut_to_half, round_to_even = row_operation(_cut_to_half), row_operation(_to_bf16_even)


@compiled()
def load_values(record, tile, words):
    """Turn a tile's words into float32 or two's complement integers, in place; returns whether they were fp16."""
    kind = dst_kind(record, tile)
    if kind == OPAQUE:
        return False
    for row in range(TILE_ROWS):
        at = words + WORD_ROW * row
        if kind == INTEGER:
            twos_complement(at, at)
        elif kind == NARROW:
            rebias_words(at, at)
        else:
            flush_to_signed_zero(at, at)
    set_dst_kind(record, tile, OPAQUE if kind == INTEGER else WIDE)
    return kind == NARROW


@compiled()
def store_values(record, tile, words, narrow):
    """Cut a tile's float32 numbers to what Dst holds, fp16 if `narrow`; integers stay."""
    if dst_kind(record, tile) != WIDE:
        return
    for row in range(TILE_ROWS):
        at = words + WORD_ROW * row
        if narrow:
            cut_to_half(at, at)
        elif record.fp32_dest == 0:
            cut_to_bf16(at, at)
        else:
            flush_to_signed_zero(at, at)
    set_dst_kind(record, tile, NARROW if narrow else WIDE)


@compiled()
def words_of(dst, first, tile):
    """Address of a Dst tile; `first`: position of the core's tile 0 in `dst`."""
    return dst.ctypes.data + 4 * (first + TILE_DATUMS * tile)


@compiled()
def sfpu_unary_exact(record, function, form, dst, first, tile, p0, p1, p2):
    words = words_of(dst, first, tile)
    narrow = load_values(record, tile, words)
    sfpu_unary(function, form, dst, first + TILE_DATUMS * tile, p0, p1, p2)
    if function == SfpuUnary.TYPECAST:
        set_dst_kind(record, tile, OPAQUE if format_kind(p1) >= INTEGER else WIDE)
        narrow = format_kind(p1) == NARROW and record.fp32_dest == 0
    elif function >= FIRST_UNARY_INT:
        set_dst_kind(record, tile, OPAQUE)
    store_values(record, tile, words, narrow)


@compiled()
def sfpu_binary_exact(record, function, dst, first, a, b, out, nearest):
    """`nearest`: the call rounds its result to bf16 itself, as products and quotients do; others are cut by a 16-bit Dst."""
    narrow, wide = load_values(record, a, words_of(dst, first, a)), record.fp32_dest != 0
    load_values(record, b, words_of(dst, first, b))
    sfpu_binary(function, dst, first + TILE_DATUMS * a, first + TILE_DATUMS * b, first + TILE_DATUMS * out, wide)
    if function >= FIRST_BINARY_QUOTIENT:
        set_dst_kind(record, out, WIDE)
    else:
        set_dst_kind(record, out, OPAQUE if function >= FIRST_BINARY_INT else dst_kind(record, a))
    rounds = nearest != 0 or function == SfpuBinary.MUL_BINARY or function == SfpuBinary.DIV_BINARY
    if rounds and not wide and not narrow and dst_kind(record, out) == WIDE:
        for row in range(TILE_ROWS):
            at = words_of(dst, first, out) + WORD_ROW * row
            round_to_even(at, at)
    for tile in (a, b, out):
        store_values(record, tile, words_of(dst, first, tile), narrow)


@compiled()
def sfpu_ternary_exact(record, function, dst, first, a, b, c, out, p0):
    load_values(record, a, words_of(dst, first, a))
    narrow = load_values(record, b, words_of(dst, first, b))
    load_values(record, c, words_of(dst, first, c))
    x, y, z = first + TILE_DATUMS * a, first + TILE_DATUMS * b, first + TILE_DATUMS * c
    sfpu_ternary(function, dst, x, y, z, first + TILE_DATUMS * out, p0)
    set_dst_kind(record, out, dst_kind(record, b))
    for tile in (a, b, c, out):
        store_values(record, tile, words_of(dst, first, tile), narrow)


@compiled()
def sfpu_reduce_exact(record, pool, dim, data_format, dst, first, tile, spare, so):
    words = words_of(dst, first, tile)
    narrow = load_values(record, tile, words)
    sfpu_reduce(pool, dim, data_format, dst, first + TILE_DATUMS * tile, spare, so)
    store_values(record, tile, words, narrow)
