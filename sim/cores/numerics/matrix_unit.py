"""The matrix unit, bit for bit (`numerics=exact`; docs/hardware/numerics.md): products and accumulation
into Dst.

A register word of SrcA, SrcB and Dst is 32 bits wide here, whatever its format: sign (bit 31), exponent (bits 23-30; formats
with 5-bit exponents use the lower five) and mantissa (from bit 22 down; bf16 fills the upper 7 bits, fp16 and tf32 the upper
10).  For formats with 8-bit exponents that is the float32 of the same value.

The unit knows no NaN or Inf, takes numbers with exponent 0 as zero and rounds halves away from zero or towards +infinity,
depending on the place.
"""

from tensim.sim.cores.numerics.simd_lanes import ROW, Lanes, row_operation
from tensim.sim.engine.compiled import Intrinsic, compiled, types

NO_EXPONENT = -4096  # of a zero operand: below every other, so that the product never sets a group's exponent
GROUP = 8  # products that are aligned and summed before they meet Dst
SPLIT_ROW = 128  # bytes of a row of 16 split datums: exponents, then signed mantissas
WORD_ROW = 64  # bytes of a row of 16 words
WIDE, NARROW, INTEGER, OPAQUE = range(4)  # what words mean: 8-bit or 5-bit exponents, sign-magnitude integers, any bits


@compiled()
def dst_settings(narrow, fp32_dest, lone_bit_quirk):
    """How Dst rounds: (bits dropped from a term, bits dropped from a sum, exponent limit, word beyond it, WH quirk).

    `narrow`: the sources have 5-bit exponents (kept in a 16-bit Dst only).
    """
    if fp32_dest != 0:
        return 0, 0, 255, 255 << 23, lone_bit_quirk
    if narrow:
        return 13, 13, 32, (31 << 23) | (1023 << 13), lone_bit_quirk
    return 13, 16, 255, 255 << 23, lone_bit_quirk


@compiled()
def exponent_offset(narrow, fp32_dest):
    """What is added to the sum of two exponents of sources to give a product's exponent in Dst's terms."""
    if narrow:
        return 97 if fp32_dest != 0 else -15
    return -127


def exponent_of(word):
    """The exponent's field of words."""
    return word.shift_right(23) & 255


def flushed(word):
    """Numbers with exponent 0 become +0."""
    return exponent_of(word).equals(0).choose(0, word)


def _split(word, low_bits, is_a, denormals):
    """(exponent, signed mantissa) of operands: the mantissa bits that a fidelity phase multiplies.

    Source: docs/hardware/numerics.md#fidelity-phases.  With `denormals` (-1, else 0) a number without exponent, 0 too, has a
    hidden bit like others (`multiply_words`).
    """
    exponent = exponent_of(word)
    significand = (word.shift_right(13) & 1023) | 1024
    if is_a:
        mantissa = low_bits.choose(significand.shift_right(1) & 31, significand.shift_right(6))
    else:
        mantissa = low_bits.choose((significand & 15) << 3, significand.shift_right(4))
    zero = (exponent | denormals).equals(0)
    return zero.choose(NO_EXPONENT, exponent), zero.choose(0, mantissa.negative_if(word >> 31))


def _split_intrinsic(is_a):
    def split(typingctx, source, target, low_bits, offset):
        def codegen(context, builder, signature, args):
            word, low = Lanes.load(builder, args[0]), Lanes.splat(builder, args[2]) > 0
            exponent, mantissa = _split(word, low, is_a, 0)
            (exponent + args[3]).store(args[1])
            (mantissa if is_a else mantissa + mantissa).store(args[1], WORD_ROW)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.int64, types.int64), codegen

    return split


# 16 words at `source` -> exponents (+ offset), then mantissas at `target`; those of B are doubled
split_a = Intrinsic(_split_intrinsic(True))
split_b = Intrinsic(_split_intrinsic(False))


def _group_sum(products, floor):
    """(exponent, signed sum of mantissas) of a group: aligned to the largest exponent, halves away from zero."""
    largest = Lanes.splat(products[0][0].builder, floor)
    for exponent, _ in products:
        largest = largest.max(exponent)
    total = None
    for exponent, double in products:
        distance = (largest - exponent).min(31)
        aligned = (((double + (double >> 31)) >> distance) + 1) >> 1
        total = aligned if total is None else total + aligned
    live = largest > 0
    return live.choose(largest, 0), live.choose(total, 0)


def _half_up(value, distance):
    """Signed value / 2**distance (0..31), halves towards +infinity; |value| < 2**30."""
    return (((value + value) >> distance) + 1) >> 1


def accumulate(terms, old, settings):
    """Words of Dst after adding `terms`, [(exponent, signed mantissa with hidden bit 13)], to `old`.

    docs/hardware/numerics.md#accumulation-into-dst.  `settings`: scalars of the compiled code, from `dst_settings`.
    """
    term_drop, sum_drop, limit, saturated, quirk = settings
    builder = terms[0][0].builder
    term_drop, sum_drop = Lanes.splat(builder, term_drop), Lanes.splat(builder, sum_drop)
    half = (Lanes.splat(builder, 1) << term_drop).shift_right(1)
    old_exponent = top = exponent_of(old)
    for exponent, _ in terms:
        top = top.max(exponent)
    significand = old_exponent.equals(0).choose(0, (old & 0x7FFFFF) | 0x800000)
    value = _half_up(significand, (top - old_exponent).min(31))
    total = (((value + half) >> term_drop) << term_drop).negative_if(old >> 31)
    for exponent, mantissa in terms:
        value = _half_up(mantissa << 13, (top - exponent).min(31))
        total = total + (((value + half) >> term_drop) << term_drop)
    return _normalised(total, top, sum_drop, limit, saturated, quirk)


def _normalised(total, exponent, sum_drop, limit, saturated, quirk):
    """A sum as a word of Dst: shifted to the hidden bit, rounded half up in magnitude, saturated."""
    sign = total >> 31
    magnitude = total.negative_if(sign)
    shift = magnitude.leading_zeros() - 8
    lone = (total + Lanes.splat(total.builder, quirk)).equals(0)  # the sum is -1 and the chip has the quirk
    shift = lone.choose(shift - 27, shift)
    result = exponent - shift
    left = shift - sum_drop
    value = magnitude << left.max(0)
    value = ((value + value).shift_right((-left).max(0).min(31)) + 1).shift_right(1) << sum_drop
    result = result + (value.shift_right(24) & 1)
    word = (result << 23) | (value & 0x7FFFFF)
    word = (result >= limit).choose(saturated, word) | (sign << 31)
    word = (result <= 0).choose(0, word)
    word = (exponent <= 0).choose(0, word)
    return magnitude.equals(0).choose(0, word)


def _scalars(builder, aggregate, count):
    return [builder.extract_value(aggregate, i) for i in range(count)]


@Intrinsic
def multiply_row(typingctx, a, b, dst, floor, settings):
    """One row of an MVMUL: 16 words of Dst += row of B (1x16) times a face of A (16x16).

    `a`: address of 16 split rows; `b`: address of a split row; `floor`: exponent that a zero product counts with.
    """

    def codegen(context, builder, signature, args):
        left, right, out, least, aggregate = args
        terms = []
        for first in range(0, ROW, GROUP):
            products = []
            for k in range(first, first + GROUP):
                exponent = Lanes.load(builder, left, SPLIT_ROW * k) + Lanes.load_word(builder, right, 4 * k)
                mantissa = Lanes.load(builder, left, SPLIT_ROW * k + WORD_ROW)
                products.append((exponent, mantissa * Lanes.load_word(builder, right, WORD_ROW + 4 * k)))
            terms.append(_group_sum(products, least))
        accumulate(terms, Lanes.load(builder, out), _scalars(builder, aggregate, 5)).store(out)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64, types.UniTuple(types.int64, 5)), codegen


@Intrinsic
def multiply_words(typingctx, a, b, dst, low_a, low_b, denormals, offset, floor, settings):
    """A row of ELWMUL: 16 words of Dst += a * b, with the mantissa bits of one phase (`low_a`, `low_b`: 0 or 1).

    `denormals`: -1 where those of b are not flushed (ALU_ACC_CTRL_Zero_Flag_disabled_src), else 0; those of a always are.
    Source: vendor's simulator (ttsim 1.10, tensix.cpp), as for the sums of `add_words`.
    """

    def codegen(context, builder, signature, args):
        left, right, out, low_a, low_b, denormals, base, least, aggregate = args
        a_exponent, a_mantissa = _split(Lanes.load(builder, left), Lanes.splat(builder, low_a) > 0, True, 0)
        b_exponent, b_mantissa = _split(Lanes.load(builder, right), Lanes.splat(builder, low_b) > 0, False, denormals)
        exponent = a_exponent + b_exponent + base
        dead = exponent <= 0
        term = dead.choose(least, exponent), dead.choose(0, a_mantissa * b_mantissa)
        accumulate([term], Lanes.load(builder, out), _scalars(builder, aggregate, 5)).store(out)
        return context.get_dummy_value()

    words, row = types.int64, types.UniTuple(types.int64, 5)
    return types.void(words, words, words, words, words, words, words, words, row), codegen


@Intrinsic
def add_words(typingctx, a, b, dst, subtract, keep, denormals, rebias, settings):
    """A row of ELWADD or ELWSUB: 16 words of Dst = a + b, or Dst += a + b (`keep` = -1, else 0).

    `denormals`: -1 where those of b are not flushed, else 0; `rebias`: added to exponents, 112 for 5-bit exponents on their way to
    a 32-bit Dst, else 0.
    """

    def codegen(context, builder, signature, args):
        left, right, out, subtract, keep, denormals, rebias, aggregate = args
        a, b = flushed(Lanes.load(builder, left)), Lanes.load(builder, right)
        b = (exponent_of(b) | denormals).equals(0).choose(0, b)
        b = b ^ (Lanes.splat(builder, subtract) << 31)
        swap = (b & 0x7FFFFFFF) > (a & 0x7FFFFFFF)
        large, small = swap.choose(b, a), swap.choose(a, b)
        exponent = exponent_of(large)
        aligned = _half_up(_significand(small), (exponent - exponent_of(small)).min(31))
        opposite = (large ^ small) >> 31
        total = (_significand(large) + aligned.negative_if(opposite)).negative_if(large >> 31)
        bias = Lanes.splat(builder, rebias)
        exponent = exponent.equals(0).choose((bias - 15).max(0), exponent + bias)
        old = Lanes.load(builder, out) & keep
        accumulate([(exponent, total)], old, _scalars(builder, aggregate, 5)).store(out)
        return context.get_dummy_value()

    words, row = types.int64, types.UniTuple(types.int64, 5)
    return types.void(words, words, words, words, words, words, words, row), codegen


def _significand(word):
    """The 11-bit significand of a source word; 0 for zero."""
    return (word & 0x7FFFFFFF).equals(0).choose(0, (word.shift_right(13) & 1023) | 1024)


flush_words = row_operation(flushed)
to_bf16_source = row_operation(lambda word: word & 0xFFFF0000)
rebias_words = row_operation(lambda word: exponent_of(word).equals(0).choose(0, word + (112 << 23)))


@Intrinsic
def max_words(typingctx, source, target, steps):
    """A row of GMPOOL: target = the larger of source and target, by sign and magnitude.

    Denormals of source count as +0; `steps` is added to the exponents of the others.
    """

    def codegen(context, builder, signature, args):
        word, old = Lanes.load(builder, args[0]), Lanes.load(builder, args[1])
        new = exponent_of(word).equals(0).choose(0, word + (Lanes.splat(builder, args[2]) << 23))
        larger = _ordered(new) > _ordered(old)
        larger.choose(new, old).store(args[1])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


def _ordered(word):
    """Integers in the order of sign-and-magnitude numbers."""
    return word ^ ((word >> 31) & 0x7FFFFFFF)
