"""Rows of 16 values between the registers and the words of `tensim.sim.cores.numerics.matrix_unit`, as LLVM vectors.

The registers hold sign, mantissa, exponent (ISA: Dst.md, SrcASrcB.md); a word has IEEE's order.
"""

from tensim.sim.cores.coprocessor.dst_rows import DST_ROW_BYTES, LOW_HALVES, define_rows, dst16_row, is_undefined
from tensim.sim.cores.coprocessor.state import DST_ROWS, dst32_row
from tensim.sim.cores.numerics.simd_lanes import ROW, Lanes
from tensim.sim.engine.compiled import Intrinsic, compiled, types
from tensim.sim.engine.memory import store_32

WORD_ROW = 4 * ROW  # bytes
LARGEST_INTEGER = (1 << 31) - 1


@Intrinsic
def words_of_source(typingctx, source, target, keep):
    """19-bit values of a row of SrcA or SrcB as words; `keep`: mask of the bits of a word that the format has."""

    def codegen(context, builder, signature, args):
        value = Lanes.load(builder, args[0])
        word = (value & 0x40000) << 13 | (value & 0xFF) << 23 | (value.shift_right(8) & 0x3FF) << 13
        (word & args[2]).store(args[1])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 3), codegen


@Intrinsic
def source_of_words(typingctx, source, target, keep):
    """Words as 19-bit values of a row of SrcA or SrcB; `keep`: mask of the bits of a word that the format has."""

    def codegen(context, builder, signature, args):
        word = Lanes.load(builder, args[0]) & args[2]
        value = word.shift_right(13) & 0x40000 | (word.shift_right(13) & 0x3FF) << 8 | word.shift_right(23) & 0xFF
        value.store(args[1])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 3), codegen


@Intrinsic
def integers_of_source(typingctx, source, target, mask, flush):
    """19-bit values of a row of SrcA or SrcB as signed integers of those bits of their magnitude that the mask has.

    `flush`: -1 to take values without exponent for 0, else 0.
    """

    def codegen(context, builder, signature, args):
        value = Lanes.load(builder, args[0])
        magnitude = value.shift_right(8) & args[2]
        empty = (value & 255).equals(0).choose(Lanes.splat(builder, args[3]), 0)
        number = magnitude.negative_if((value << 13) >> 31)
        (number & (empty ^ -1)).store(args[1])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), codegen


@Intrinsic
def words_of_dst16(typingctx, source, target, narrow):
    """A row of 16-bit Dst as words: fp16 with `narrow` (1), else bf16."""

    def codegen(context, builder, signature, args):
        value, narrow = Lanes.load(builder, args[0], bits=16), Lanes.splat(builder, args[2]) > 0
        half = (value & 31) << 23 | (value.shift_right(5) & 1023) << 13
        brain = (value & 255) << 23 | (value.shift_right(8) & 127) << 16
        ((value & 0x8000) << 16 | narrow.choose(half, brain)).store(args[1])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 3), codegen


@Intrinsic
def dst16_of_words(typingctx, source, target, narrow):
    """The opposite of `words_of_dst16`."""

    def codegen(context, builder, signature, args):
        word, narrow = Lanes.load(builder, args[0]), Lanes.splat(builder, args[2]) > 0
        half = word.shift_right(23) & 31 | (word.shift_right(13) & 1023) << 5
        brain = word.shift_right(23) & 255 | (word.shift_right(16) & 127) << 8
        (word.shift_right(16) & 0x8000 | narrow.choose(half, brain)).store(args[1], bits=16)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 3), codegen


@Intrinsic
def words_of_dst32(typingctx, high, low, target):
    """Rows of upper and lower halves of 32-bit Dst as words."""

    def codegen(context, builder, signature, args):
        high, low = (Lanes.load(builder, address, bits=16) for address in args[:2])
        word = (high & 0x8000) << 16 | (high & 255) << 23 | (high.shift_right(8) & 127) << 16 | low
        word.store(args[2])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 3), codegen


@Intrinsic
def dst32_of_words(typingctx, source, high, low):
    """The opposite of `words_of_dst32`."""

    def codegen(context, builder, signature, args):
        word = Lanes.load(builder, args[0])
        upper = word.shift_right(16) & 0x8000 | word.shift_right(23) & 255 | (word.shift_right(16) & 127) << 8
        upper.store(args[1], bits=16)
        word.store(args[2], bits=16)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 3), codegen


@Intrinsic
def multiply_integers(typingctx, a, b, out):
    """16 sign-and-magnitude words at `out` += row of 16 integers at `b` times the 16x16 integers at `a`, saturating."""

    def codegen(context, builder, signature, args):
        total = None
        for k in range(ROW):
            term = Lanes.load(builder, args[0], WORD_ROW * k) * Lanes.load_word(builder, args[1], 4 * k)
            total = term if total is None else total + term
        _saturated(Lanes.load(builder, args[2]), total).store(args[2])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 3), codegen


@Intrinsic
def combine_integers(typingctx, a, b, out, product, keep):
    """16 sign-and-magnitude words at `out` (kept where `keep` is -1) += a * b (`product` 1) or a + b, saturating."""

    def codegen(context, builder, signature, args):
        a, b = Lanes.load(builder, args[0]), Lanes.load(builder, args[1])
        value = (Lanes.splat(builder, args[3]) > 0).choose(a * b, a + b)
        _saturated(Lanes.load(builder, args[2]) & args[4], value).store(args[2])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), codegen


def _saturated(word, value):
    """Sign and magnitude of a word's integer plus a small one."""
    old = (word & LARGEST_INTEGER).negative_if(word >> 31)
    total = old + value
    over = ((old ^ total) & (value ^ total)) >> 31
    limit = (value >> 31) ^ LARGEST_INTEGER
    total = total ^ ((total ^ limit) & over)
    total = total.max(-LARGEST_INTEGER)
    sign = total >> 31
    return total.negative_if(sign) | (sign << 31)


def _float_products(typingctx, a, b, out, zero_wins):
    def codegen(context, builder, signature, args):
        total = Lanes.load(builder, args[2])
        for k in range(ROW):
            row, word = Lanes.load(builder, args[0], WORD_ROW * k), Lanes.load_word(builder, args[1], 4 * k)
            product = row.float_multiply(word)
            if zero_wins:
                product = (row << 1).equals(0).choose(0, (word << 1).equals(0).choose(0, product))
            total = total.float_add(product)
        total.store(args[2])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 3), codegen


@Intrinsic
def multiply_finite_floats(typingctx, a, b, out):
    """16 float32 at `out` += row of 16 float32 at `b` times the 16x16 float32 at `a`, as the host's processor computes it."""
    return _float_products(typingctx, a, b, out, False)


@Intrinsic
def multiply_floats(typingctx, a, b, out):
    """The same where a number may be infinity or NaN: what it multiplies with zero is zero."""
    return _float_products(typingctx, a, b, out, True)


@Intrinsic
def negate_integers(typingctx, row):
    """16 integers become their negatives."""

    def codegen(context, builder, signature, args):
        (-Lanes.load(builder, args[0])).store(args[0])
        return context.get_dummy_value()

    return types.void(types.int64), codegen


@Intrinsic
def round_to_bf16(typingctx, row):
    """16 float32 become the nearest bf16, halves away from zero."""

    def codegen(context, builder, signature, args):
        ((Lanes.load(builder, args[0]) + 0x8000) & 0xFFFF0000).store(args[0])
        return context.get_dummy_value()

    return types.void(types.int64), codegen


@compiled()
def fill_row(row, word):
    """16 times a word."""
    for i in range(ROW):
        store_32(row + 4 * i, word)


@compiled()
def read_dst_row(c, row, wide, narrow, target):
    """A row of Dst as 16 words at `target`; 0 where it is undefined."""
    physical = dst32_row(row & (DST_ROWS - 1)) if wide else dst16_row(c, row)
    at = c.dst_at + DST_ROW_BYTES * physical
    if is_undefined(c, physical):
        fill_row(target, 0)
    elif wide:
        words_of_dst32(at, at + DST_ROW_BYTES * LOW_HALVES, target)
    else:
        words_of_dst16(at, target, narrow)


@compiled()
def write_dst_row(c, row, wide, narrow, source):
    """16 words at `source` into a row of Dst."""
    physical = dst32_row(row & (DST_ROWS - 1)) if wide else dst16_row(c, row)
    at = c.dst_at + DST_ROW_BYTES * physical
    if wide:
        dst32_of_words(source, at, at + DST_ROW_BYTES * LOW_HALVES)
    else:
        dst16_of_words(source, at, narrow)
    define_rows(c, physical, wide, 1)
