"""Tiles between L1 bytes and values: float32, or int32 bit patterns for integer formats (`numerics=fast`, and the host).

The conversions are the chip's own (`tensim.sim.cores.numerics.unpacker`, `tensim.sim.cores.numerics.packer`); what is left
to do here is to turn words with 5-bit exponents and sign-magnitude integers into values.
"""

from tensim.sim.cores.numerics.matrix_unit import INTEGER, NARROW, OPAQUE, WIDE, WORD_ROW, exponent_of
from tensim.sim.cores.numerics.simd_lanes import row_operation
from tensim.sim.cores.numerics.tile import TILE_ROWS
from tensim.sim.cores.numerics.unpacker import TO_FP32, format_kind, unpack_rows, unpack_tile
from tensim.sim.engine.compiled import Intrinsic, compiled, types

WORD = 4  # bytes


@Intrinsic
def float_of_bits(typingctx, bits):
    """The float32 with these 32 bits."""

    def codegen(context, builder, signature, args):
        narrow = builder.trunc(args[0], context.get_value_type(types.int32))
        return builder.bitcast(narrow, context.get_value_type(types.float32))

    return types.float32(types.int64), codegen


@Intrinsic
def bits_of_float(typingctx, value):
    """The 32 bits of a float32, as a non-negative integer."""

    def codegen(context, builder, signature, args):
        narrow = builder.bitcast(args[0], context.get_value_type(types.int32))
        return builder.zext(narrow, context.get_value_type(types.int64))

    return types.int64(types.float32), codegen


@compiled()
def signed_word(value):
    """The int32 in a float32 word."""
    bits = bits_of_float(value)
    return bits - 0x100000000 if bits >= 0x80000000 else bits


@compiled()
def is_integer(data_format):
    return format_kind(data_format) >= INTEGER


def _half_values(word):
    """fp16 words -> float32; denormals get the smallest normal's exponent, then lose the hidden bit by subtraction."""
    exponent = exponent_of(word)
    magnitude = (word & 0x7FFFFF) | ((exponent.max(1) + 112) << 23)
    denormal = magnitude.float_add(magnitude.splat(word.builder, 0xB8800000))  # - 2**-14
    return exponent.equals(0).choose(denormal, magnitude) | (word & (1 << 31))


half_values = row_operation(_half_values)
twos_complement = row_operation(lambda word: (word & 0x7FFFFFFF).negative_if(word >> 31))


@compiled()
def words_to_values(words, kind):
    """1024 words as the unpacker leaves them -> values, in place."""
    if kind == NARROW:
        for row in range(TILE_ROWS):
            half_values(words + WORD_ROW * row, words + WORD_ROW * row)
    elif kind == INTEGER:
        for row in range(TILE_ROWS):
            twos_complement(words + WORD_ROW * row, words + WORD_ROW * row)


@compiled()
def value_kind(data_format):
    """How the packer is to read values on their way to a format."""
    return OPAQUE if is_integer(data_format) else WIDE


@compiled()
def decode_tile(address, data_format, rows, out, off):
    """A tile in L1 at a host address -> out[off:off + 1024]; `rows`: see `tensim.sim.cores.numerics.unpacker.unpack_tile`."""
    words = out.ctypes.data + WORD * off
    unpack_tile(address, data_format, TO_FP32, rows, words)
    words_to_values(words, format_kind(data_format))


@compiled()
def decode_rows(address, data_format, pitch, out, off):
    """32 row-major rows of 32 datums, `pitch` bytes apart, into face order (tilize)."""
    words = out.ctypes.data + WORD * off
    unpack_rows(address, data_format, pitch, TO_FP32, words)
    words_to_values(words, format_kind(data_format))
