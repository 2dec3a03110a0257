"""Tile formats between L1 bytes and float32 words, for the compiled lane (formats: section 8.1 of the timing reference).

A tile in L1 is 1024 datums in face order; block floats store 64 shared exponents first, one per 16 datums.  Floats are
decoded to float32, integers to int32 bit patterns in the same words.  Encoding rounds to nearest, ties away from zero, as
the packer does (section 8.8); the fp16 of these chips has no Inf or NaN: its largest exponent is an ordinary binade.
"""

import numba as nb
import numpy as np
from numba import types
from numba.extending import intrinsic

from sim.cores.tile_vectors import add_bf16, add_row, copy_row, narrow_bf16, widen_bf16, widen_bfp8
from sim.memory import load_f32, load_u8, load_u16, load_u32, store_8, store_16, store_32

TILE = 1024
FLOAT32, FLOAT16, BFP8A, BFP4A, TF32, FLOAT16_B, BFP8, BFP4 = range(8)
INT32, UINT16, LF8, BFP2A, INT8, BFP2 = 8, 9, 10, 11, 14, 15
UINT32, FP8_E4M3, UINT8, RAW8, RAW16, RAW32 = 24, 26, 30, 240, 241, 242
RELU_ZERO, RELU_MIN, RELU_MAX = 1, 2, 3


@intrinsic
def float_of_bits(typingctx, bits):
    """The float32 with these 32 bits."""

    def codegen(context, builder, signature, args):
        narrow = builder.trunc(args[0], context.get_value_type(types.int32))
        return builder.bitcast(narrow, context.get_value_type(types.float32))

    return types.float32(types.int64), codegen


@intrinsic
def bits_of_float(typingctx, value):
    """The 32 bits of a float32, as a non-negative integer."""

    def codegen(context, builder, signature, args):
        narrow = builder.bitcast(args[0], context.get_value_type(types.int32))
        return builder.zext(narrow, context.get_value_type(types.int64))

    return types.int64(types.float32), codegen


@nb.njit(cache=True)
def is_integer(data_format):
    return (
        data_format == INT32 or data_format == UINT16 or data_format == INT8 or data_format == UINT32
        or data_format == UINT8 or data_format >= RAW8
    )  # fmt: skip


@nb.njit(cache=True)
def block_bits(data_format):
    """Bits per datum of a block-float format, 0 for others."""
    if data_format == BFP8 or data_format == BFP8A:
        return 8
    if data_format == BFP4 or data_format == BFP4A:
        return 4
    if data_format == BFP2 or data_format == BFP2A:
        return 2
    return 0


@nb.njit(cache=True)
def datum_bytes(data_format):
    """Bytes per datum of a format that is no block float."""
    if (
        data_format == FLOAT32
        or data_format == TF32
        or data_format == INT32
        or data_format == UINT32
        or data_format == RAW32
    ):
        return 4
    if data_format == FLOAT16 or data_format == FLOAT16_B or data_format == UINT16 or data_format == RAW16:
        return 2
    return 1


@nb.njit(cache=True)
def small_float(bits, exponent_bits, mantissa_bits):
    """Value of a small float without Inf and NaN (fp16 of the chip, fp8 formats)."""
    sign = bits >> (exponent_bits + mantissa_bits) & 1
    exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    if exponent == 0:
        value = np.float32(mantissa) * float_of_bits((127 + 1 - bias - mantissa_bits) << 23)
    else:
        value = float_of_bits(((exponent - bias + 127) << 23) | (mantissa << (23 - mantissa_bits)))
    return -value if sign else value


@nb.njit(cache=True)
def small_float_bits(value, exponent_bits, mantissa_bits):
    """Bits of a small float nearest to `value`, ties away from zero, saturating."""
    bits = bits_of_float(np.float32(value))
    sign, magnitude = bits >> 31, bits & 0x7FFFFFFF
    top = (1 << (exponent_bits + mantissa_bits)) - 1
    exponent = (magnitude >> 23) - 127 + (1 << (exponent_bits - 1)) - 1
    shift = 23 - mantissa_bits
    if exponent >= 1:
        rounded = ((exponent << 23) | (magnitude & 0x7FFFFF)) + (1 << (shift - 1)) >> shift
    else:
        shift += 1 - exponent
        rounded = ((magnitude & 0x7FFFFF) | 0x800000) + (1 << (shift - 1)) >> shift if shift < 26 else 0
    return (sign << (exponent_bits + mantissa_bits)) | min(rounded, top)


@nb.njit(cache=True)
def load_datum(address, data_format):
    """One datum that is no block float, as a float32 word."""
    if data_format == FLOAT16_B:
        return float_of_bits(load_u16(address) << 16)
    if data_format == FLOAT32 or data_format == TF32:
        return load_f32(address)
    if data_format == FLOAT16:
        return small_float(load_u16(address), 5, 10)
    if data_format == INT32 or data_format == UINT32 or data_format == RAW32:
        return float_of_bits(load_u32(address))
    if data_format == UINT16 or data_format == RAW16:
        return float_of_bits(load_u16(address))
    if data_format == LF8:
        return small_float(load_u8(address), 5, 2)
    if data_format == FP8_E4M3:
        return small_float(load_u8(address), 4, 3)
    if data_format == INT8:  # sign and magnitude in L1
        value = load_u8(address)
        return float_of_bits(-(value & 127) if value & 128 else value)
    return float_of_bits(load_u8(address))


@nb.njit(cache=True)
def store_datum(address, data_format, value):
    """Round one float32 word to a format that is no block float and store it."""
    if data_format == FLOAT16_B:
        bits = bits_of_float(value)
        if bits & 0x7F800000 != 0x7F800000:
            bits += 0x8000
        store_16(address, bits >> 16)
    elif data_format == FLOAT32 or data_format == INT32 or data_format == UINT32 or data_format == RAW32:
        store_32(address, bits_of_float(value))
    elif data_format == TF32:
        store_32(address, (bits_of_float(value) + 0x1000) & 0xFFFFE000)
    elif data_format == FLOAT16:
        store_16(address, small_float_bits(value, 5, 10))
    elif data_format == UINT16 or data_format == RAW16:
        store_16(address, bits_of_float(value))
    elif data_format == LF8:
        store_8(address, small_float_bits(value, 5, 2))
    elif data_format == FP8_E4M3:
        store_8(address, small_float_bits(value, 4, 3))
    elif data_format == INT8:
        bits = bits_of_float(value)
        signed = bits - 0x100000000 if bits >= 0x80000000 else bits
        magnitude = min(abs(signed), 127)
        store_8(address, magnitude | 128 if signed < 0 else magnitude)
    else:
        store_8(address, bits_of_float(value))


@nb.njit(cache=True)
def decode_block(address, exponent_address, bits, first, out, off):
    """16 datums of a block float: `first` is their number in the tile, `out[off:off + 16]` gets the values."""
    exponent = load_u8(exponent_address)
    mask, per_byte = (1 << (bits - 1)) - 1, 8 // bits
    scale = float_of_bits(exponent << 23) if exponent > 0 else np.float32(0.0)
    scale = scale / np.float32(1 << (bits - 2))
    for i in range(16):
        position = first + i
        datum = load_u8(address + position // per_byte) >> (position % per_byte * bits)
        value = np.float32(datum & mask) * scale
        out[off + i] = -value if datum >> (bits - 1) & 1 else value


@nb.njit(cache=True)
def relu(value, mode, threshold):
    """The packer's ReLU: 1 zero, 2 values below the threshold to zero, 3 clamped to [0, threshold]."""
    if mode == RELU_ZERO:
        return max(value, np.float32(0.0))
    if mode == RELU_MIN:
        return value if value > threshold else np.float32(0.0)
    if mode == RELU_MAX:
        return min(max(value, np.float32(0.0)), threshold)
    return value


@nb.njit(cache=True)
def encode_block(values, off, address, exponent_address, bits, first, relu_mode, limit):
    """Round 16 values, after ReLU, to a block float with the exponent of the largest; the inverse of `decode_block`."""
    largest = 0
    for i in range(16):
        largest = max(largest, bits_of_float(relu(values[off + i], relu_mode, limit)) >> 23 & 255)
    step = float_of_bits(max(largest, 1) << 23) / np.float32(1 << (bits - 2))
    most, per_byte = (1 << (bits - 1)) - 1, 8 // bits
    store_8(exponent_address, largest)
    for i in range(16):
        value = relu(values[off + i], relu_mode, limit)
        magnitude = min(int(abs(value) / step + np.float32(0.5)), most) if largest > 0 else 0
        datum = magnitude | (1 << (bits - 1)) if value < 0 and magnitude > 0 else magnitude
        position = first + i
        shift = position % per_byte * bits
        byte = address + position // per_byte
        keep = load_u8(byte) & ~(((1 << bits) - 1) << shift)
        store_8(byte, keep | (datum << shift))


@nb.njit(cache=True)
def decode_tile(address, data_format, out, off):
    """A tile in L1 at a host address -> out[off:off + 1024]."""
    bits = block_bits(data_format)
    target = out.ctypes.data + 4 * off
    if bits == 8:
        for row in range(64):
            widen_bfp8(address + 64 + 16 * row, load_u8(address + row), target + 64 * row)
    elif bits > 0:
        for block in range(64):
            decode_block(address + 64, address + block, bits, 16 * block, out, off + 16 * block)
    elif data_format == FLOAT16_B:
        for row in range(64):
            widen_bf16(address + 32 * row, target + 64 * row)
    elif data_format == FLOAT32:
        for row in range(64):
            copy_row(address + 64 * row, target + 64 * row)
    else:
        size = datum_bytes(data_format)
        for i in range(TILE):
            out[off + i] = load_datum(address + size * i, data_format)


@nb.njit(cache=True)
def decode_rows(address, data_format, pitch, out, off):
    """32 row-major rows of 32 datums, `pitch` bytes apart, into face order (tilize)."""
    size = datum_bytes(data_format)
    for row in range(32):
        for column in range(32):
            position = (row >> 4) * 512 + (column >> 4) * 256 + (row & 15) * 16 + (column & 15)
            out[off + position] = load_datum(address + row * pitch + size * column, data_format)


@nb.njit(cache=True)
def encode_tile(source, off, address, data_format, relu_mode, threshold, l1_accumulate):
    """source[off:off + 1024] -> a tile in L1 at a host address; optionally added to the tile that is there.

    The source stays as it is: a Dst tile can be packed again.
    `threshold`: the upper 16 bits of a float32 (as pack_relu_config takes it).
    """
    bits = block_bits(data_format)
    limit = float_of_bits(threshold << 16)
    plain = is_integer(data_format)
    size = datum_bytes(data_format)
    words = source.ctypes.data + 4 * off
    if relu_mode == 0 and data_format == FLOAT16_B:
        for row in range(64):
            if l1_accumulate != 0:
                add_bf16(words + 64 * row, address + 32 * row)
            else:
                narrow_bf16(words + 64 * row, address + 32 * row)
        return
    if relu_mode == 0 and data_format == FLOAT32:
        for row in range(64):
            if l1_accumulate != 0:
                add_row(words + 64 * row, address + 64 * row)
            else:
                copy_row(words + 64 * row, address + 64 * row)
        return
    for block in range(64):
        if bits > 0:
            encode_block(source, off + 16 * block, address + 64, address + block, bits, 16 * block, relu_mode, limit)
            continue
        for i in range(16 * block, 16 * block + 16):
            value = source[off + i]
            if not plain:
                if l1_accumulate != 0:
                    value += load_datum(address + size * i, data_format)
                value = relu(value, relu_mode, limit)
            store_datum(address + size * i, data_format, value)


@nb.njit(cache=True)
def encode_rows(source, off, address, data_format, pitch):
    """A tile in face order -> 32 row-major rows of 32 datums, `pitch` bytes apart (untilize)."""
    size = datum_bytes(data_format)
    for row in range(32):
        for column in range(32):
            position = (row >> 4) * 512 + (column >> 4) * 256 + (row & 15) * 16 + (column & 15)
            store_datum(address + row * pitch + size * column, data_format, source[off + position])
