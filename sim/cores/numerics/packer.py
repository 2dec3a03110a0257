"""The packer, bit for bit: words of Dst -> datums of a format in L1 (docs/hardware/numerics.md#packer-conversions).

Each row of 16 words passes three stages: the early conversion rounds to an intermediate (nearest, halves away from zero),
ReLU works on that, the late conversion makes the datum.  Words are those of `tensim.sim.cores.numerics.matrix_unit`.
"""

from tensim.sim.cores.numerics.matrix_unit import INTEGER, NARROW, OPAQUE, WIDE, WORD_ROW, exponent_of, flushed
from tensim.sim.cores.numerics.simd_lanes import ROW, Lanes, row_on_stack, row_operation
from tensim.sim.cores.numerics.unpacker import (
    FLOAT16,
    FLOAT16_B,
    FLOAT32,
    FP8_E4M3,
    INT8,
    LF8,
    TF32,
    UINT8,
    block_bits,
    copy_words,
    cut_to_bf16,
    datum_bytes,
    face_row,
    format_kind,
    unpack_bf16,
    unpack_fp16,
)
from tensim.sim.engine.compiled import Intrinsic, compiled, ir, types

DST32, DST16, PRECISE = 0, 1, 2
RELU_MIN, RELU_MAX = 2, 3
SIGN, EXPONENT = 1 << 31, 0x7F800000
QUIET_NAN = 0x7FC00000
LARGEST_HALF = (31 << 23) | (1023 << 13)  # of the fp16 without Inf and NaN


def _finite(word):
    """NaN becomes infinity of the same sign."""
    return ((word & 0x7FFFFFFF) > EXPONENT).choose((word & SIGN) | EXPONENT, word)


def _to_half(word):
    """Rounded to tf32, then a 5-bit exponent: saturating, signed zero below it (exponent 0 is kept)."""
    word = flushed(_finite(word) + 0x1000)
    exponent = exponent_of(word) - 112
    result = (word & SIGN) | (exponent << 23) | (word & 0x7FE000)
    result = (exponent > 31).choose((word & SIGN) | LARGEST_HALF, result)
    return (exponent < 0).choose(word & SIGN, result)


def _to_e5m6(word):
    """fp16 -> 6 mantissa bits, the block floats' intermediate of the 5-bit exponent family."""
    rounded = (word + (8 << 13)) & ~((16 << 13) - 1)
    largest = (word & SIGN) | (31 << 23) | (0x3F0 << 13)
    return flushed((exponent_of(rounded) > 31).choose(largest, rounded))


def _to_tf32(word):
    return (_finite(word) + 0x1000) & 0xFFFFE000


def _widened(word):
    """fp16 -> float32; exponent 0 keeps its mantissa bits without a bias."""
    exponent = exponent_of(word)
    return (word & 0x807FFFFF) | (exponent.equals(0).choose(0, exponent + 112) << 23)


# early conversions: words -> intermediate words
round_to_bf16 = row_operation(lambda word: flushed((_finite(word) + 0x8000) & 0xFFFF0000))
round_to_bfp8 = row_operation(lambda word: flushed(((_finite(word).shift_right(16) + 1) & ~1) << 16))
round_to_half = row_operation(_to_half)
round_to_tf32 = row_operation(_to_tf32)
round_to_e5m6 = row_operation(_to_e5m6)
flush_denormals = row_operation(flushed)
widen_half = row_operation(_widened)
half_to_bf16 = row_operation(lambda word: flushed(_widened(word) & 0xFFFF0000))


@compiled()
def early(source, kind, data_format, dst, target):
    """Round a row of Dst words to the intermediate of an output format.

    `dst`: DST32, DST16 (what it holds has at most 16 bits), or either plus PRECISE: block floats are made of all the bits, of a
    32-bit Dst without a look at NaN.
    """
    bits = block_bits(data_format)
    narrow_out = format_kind(data_format) == NARROW
    if kind >= INTEGER:
        copy_words(source, target)
    elif kind == WIDE:
        if data_format == FLOAT16 and dst & DST16 == 0:  # of a 32-bit Dst tt-metal has the packer read bf16
            round_to_bf16(source, target)
            round_to_half(target, target)
        elif narrow_out:
            round_to_half(source, target)
            if bits > 0:
                round_to_e5m6(target, target)
        elif bits > 0:
            if dst & PRECISE == 0:
                round_to_bfp8(source, target)
            elif dst & DST16:
                round_to_bf16(source, target)
            else:
                cut_to_bf16(source, target)
        elif data_format == FLOAT16_B or dst & DST16:
            round_to_bf16(source, target)
        elif data_format == TF32:
            round_to_tf32(source, target)
        else:
            copy_words(source, target)
    elif narrow_out and bits > 0:
        round_to_e5m6(source, target)
    elif narrow_out:
        flush_denormals(source, target)
    elif data_format == FLOAT32 or data_format == TF32:
        widen_half(source, target)
    else:
        half_to_bf16(source, target)


@Intrinsic
def relu_row(typingctx, words, mode, threshold):
    """ReLU of 16 words in place: mode 1 negative numbers, 2 those up to the threshold become 0, 3 clamps to 0..threshold."""

    def codegen(context, builder, signature, args):
        word, chosen = Lanes.load(builder, args[0]), Lanes.splat(builder, args[1])
        limit = Lanes.splat(builder, args[2])
        low = chosen.equals(RELU_MIN).choose(limit, 0)
        high = chosen.equals(RELU_MAX).choose(limit, 0x7FFFFFFF)
        (word <= low).choose(0, word.min(high)).store(args[0])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


# --- accumulation in L1


def nearest_even(word, bits):
    """float32 rounded to nearest even, the lower `bits` bits dropped."""
    odd = word.shift_right(bits) & 1
    return (word + odd + ((1 << (bits - 1)) - 1)) & ~((1 << bits) - 1)


def signed_flush(word):
    """A denormal as a zero of its sign."""
    return exponent_of(word).equals(0).choose(word & SIGN, word)


flush_to_signed_zero = row_operation(signed_flush)


def _float_sum(old, new):
    """IEEE sum with denormals flushed on both sides; NaN has one pattern."""
    total = signed_flush(signed_flush(old).float_add(signed_flush(new)))
    return ((total & 0x7FFFFFFF) > EXPONENT).choose(QUIET_NAN, total)


def _bf16_sum(old, new):
    """The float32 sum rounded to nearest even: float32 has more than twice bf16's bits, so this rounds the exact sum."""
    total = _float_sum(old, new)
    return ((total & 0x7FFFFFFF) > EXPONENT).choose(total, signed_flush(nearest_even(total, 16)))


def _half_sum(old, new):
    """fp16: saturates; an exponent below 0, and cancellation of the largest numbers, saturate as well (a quirk)."""
    total = nearest_even(_widened(old).float_add(_widened(new)), 13)
    exponent = exponent_of(total) - 112
    sign = total & SIGN
    result = sign | (exponent << 23) | (total & 0x7FE000)
    result = ((exponent > 31) | (exponent < 0)).choose(sign | LARGEST_HALF, result)
    huge = exponent_of(old).max(exponent_of(new)) >= 30
    return (total & 0x7FFFFFFF).equals(0).choose(huge.choose(LARGEST_HALF, 0), result)


def _sum_intrinsic(function):
    def add(typingctx, old, words):
        def codegen(context, builder, signature, args):
            function(Lanes.load(builder, args[0]), Lanes.load(builder, args[1])).store(args[1])
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), codegen

    return Intrinsic(add)


add_fp32, add_bf16, add_half = (_sum_intrinsic(function) for function in (_float_sum, _bf16_sum, _half_sum))


@compiled()
def accumulate_in_l1(words, data_format, address, scratch):
    """Add what L1 holds to a row of intermediate words of fp32, bf16 or fp16: the packer adds no other formats."""
    if data_format == FLOAT32:
        add_fp32(address, words)
    elif data_format == FLOAT16_B:
        unpack_bf16(address, scratch)
        add_bf16(scratch, words)
    elif data_format == FLOAT16:
        unpack_fp16(address, scratch)
        add_half(scratch, words)


# --- late conversions


def _stored(bits, convert):
    """An intrinsic (source, target): 16 words -> datums of `bits` bits."""

    def store(typingctx, source, target):
        def codegen(context, builder, signature, args):
            convert(Lanes.load(builder, args[0])).store(args[1], 0, bits)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), codegen

    return Intrinsic(store)


def _to_fp8_e5m2(word):
    """fp16 rounded to 2 mantissa bits, saturating."""
    magnitude = ((word.shift_right(13) & 0x7FFF) + 0x80).shift_right(8).min(0x7F)
    return (word.shift_right(24) & 0x80) | magnitude


def _to_fp8_e4m3(word):
    """fp16 cut to 1-4-3 (Blackhole): signed zero below, the largest pattern above."""
    exponent = exponent_of(word)
    magnitude = ((exponent - 8) << 3) | (word.shift_right(20) & 7)
    magnitude = (exponent >= 24).choose(0x7F, (exponent <= 8).choose(0, magnitude))
    return (word.shift_right(24) & 0x80) | magnitude


store_upper = _stored(16, lambda word: word.shift_right(16))
store_fp16 = _stored(16, lambda word: (word.shift_right(16) & 0x8000) | (word.shift_right(13) & 0x7FFF))
store_lower = _stored(16, lambda word: word)
store_fp8_e5m2 = _stored(8, _to_fp8_e5m2)
store_fp8_e4m3 = _stored(8, _to_fp8_e4m3)
store_octets = _stored(8, lambda word: word)
store_int8 = _stored(8, lambda word: (word.shift_right(24) & 0x80) | (word & 0x7FFFFFFF).min(127))
store_uint8 = _stored(8, lambda word: word.max(0).min(255))
to_sign_magnitude = row_operation(lambda word: word.negative_if(word >> 31) | (word & SIGN))


@compiled()
def late(words, kind, data_format, address):
    """Store a row of intermediate words as 16 datums of a format that is no block float."""
    if data_format == FLOAT16_B:
        store_upper(words, address)
    elif data_format == FLOAT16:
        store_fp16(words, address)
    elif data_format == LF8:
        store_fp8_e5m2(words, address)
    elif data_format == FP8_E4M3:
        store_fp8_e4m3(words, address)
    elif data_format == INT8 or data_format == UINT8:
        if kind == OPAQUE and data_format == INT8:  # two's complement, as the vector unit leaves integers
            to_sign_magnitude(words, words)
        if data_format == INT8:
            store_int8(words, address)
        elif kind == OPAQUE:
            store_octets(words, address)
        else:
            store_uint8(words, address)
    elif datum_bytes(data_format) == 4:
        copy_words(words, address)
    elif datum_bytes(data_format) == 2:
        store_lower(words, address)
    else:
        store_octets(words, address)


def _stored_block(bits):
    """An intrinsic (source, exponent, target): 16 words -> a block float with the exponent of the largest."""

    def store(typingctx, source, exponent, target):
        def codegen(context, builder, signature, args):
            word = Lanes.load(builder, args[0])
            power = exponent_of(word)
            largest = power.largest()
            builder.store(
                builder.trunc(largest, ir.IntType(8)), builder.inttoptr(args[1], ir.IntType(8).as_pointer()), align=1
            )
            significand = power.equals(0).choose(0, 128) + (word.shift_right(16) & 127)
            shift = Lanes.splat(builder, largest) - power
            near = shift.min(8)
            magnitude = ((significand + (Lanes.splat(builder, 1) << near)) >> (near + 1)).min(127)
            magnitude = (shift >= 8).choose(0, magnitude) >> (8 - bits)
            datum = magnitude.equals(0).choose(0, magnitude | ((word >> 31) & (1 << (bits - 1))))
            if bits == 8:
                datum.store(args[2], 0, 8)
            else:
                datum.store_packed(args[2], bits)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.int64), codegen

    return Intrinsic(store)


store_bfp8, store_bfp4, store_bfp2 = (_stored_block(bits) for bits in (8, 4, 2))


@compiled()
def store_block(words, bits, exponent_address, address):
    """Late conversion of a row to a block float."""
    if bits == 8:
        store_bfp8(words, exponent_address, address)
    elif bits == 4:
        store_bfp4(words, exponent_address, address)
    else:
        store_bfp2(words, exponent_address, address)


# --- tiles


@compiled()
def relu_limit(threshold, data_format):
    """The word of a ReLU threshold, the 16 bits of a bf16, or of a fp16 for an output with 5-bit exponents."""
    return (threshold & 0x7FFF) << (13 if format_kind(data_format) == NARROW else 16)


@compiled()
def pack_row(source, kind, data_format, dst, address, relu_mode, limit, l1_accumulate):
    """16 words of Dst -> 16 datums of a format that is no block float."""
    words = row_on_stack()
    early(source, kind, data_format, dst, words)
    if kind < INTEGER:
        if relu_mode != 0:
            relu_row(words, relu_mode, limit)
        if l1_accumulate != 0:
            accumulate_in_l1(words, data_format, address, row_on_stack())
    late(words, kind, data_format, address)


@compiled()
def pack_tile(source, kind, data_format, dst, rows, address, relu_mode, threshold, l1_accumulate):
    """1024 words of Dst in face order -> a tile in L1, both at host addresses; the words stay.

    `dst`: see `early`; `rows`: of 16 datums, 64 in a whole tile; `threshold`: 16 bits, as pack_relu_config takes it;
    `l1_accumulate`: added to the tile that is there.
    """
    bits, limit = block_bits(data_format), relu_limit(threshold, data_format)
    if bits > 0:
        words = row_on_stack()
        for row in range(rows):
            early(source + WORD_ROW * row, kind, data_format, dst, words)
            if relu_mode != 0:
                relu_row(words, relu_mode, limit)
            store_block(words, bits, address + row, address + rows + 2 * bits * row)
        return
    pitch = ROW * datum_bytes(data_format)
    for row in range(rows):
        pack_row(
            source + WORD_ROW * row, kind, data_format, dst, address + pitch * row, relu_mode, limit, l1_accumulate
        )


@compiled()
def pack_rows(source, kind, data_format, dst, address, pitch, relu_mode, threshold, l1_accumulate):
    """1024 words of Dst in face order -> 32 row-major rows of 32 datums, `pitch` bytes apart (untilize), else as `pack_tile`."""
    half_row, limit = ROW * datum_bytes(data_format), relu_limit(threshold, data_format)
    for row in range(32):
        for half in range(2):
            target, words = address + pitch * row + half_row * half, source + WORD_ROW * face_row(row, half)
            pack_row(words, kind, data_format, dst, target, relu_mode, limit, l1_accumulate)
