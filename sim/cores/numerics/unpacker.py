"""The unpacker's conversions, bit for bit: datums of a format in L1 -> words of SrcA, SrcB or Dst
(docs/hardware/numerics.md#unpacker-conversions).

Words are those of `tensim.sim.cores.numerics.matrix_unit`.  Numbers with 8-bit exponents become the float32 of the same
value, so `fast` numerics and the host use these conversions, too; `tensim.sim.cores.numerics.tile_formats` adds the last
step for the other kinds.
"""

from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.numerics.matrix_unit import INTEGER, NARROW, OPAQUE, WIDE, WORD_ROW
from tensim.sim.cores.numerics.simd_lanes import ROW, Lanes, row_operation
from tensim.sim.cores.numerics.tile import TILE_ROWS
from tensim.sim.engine.compiled import Intrinsic, compiled, types
from tensim.sim.engine.memory import load_u8

FLOAT32, FLOAT16, BFP8A, BFP4A = (int(DataFormat[name]) for name in ("Float32", "Float16", "Bfp8", "Bfp4"))
TF32, FLOAT16_B, BFP8, BFP4 = (int(DataFormat[name]) for name in ("Tf32", "Float16_b", "Bfp8_b", "Bfp4_b"))
INT32, UINT16, LF8, BFP2A = (int(DataFormat[name]) for name in ("Int32", "UInt16", "Lf8", "Bfp2"))
INT8, BFP2, UINT32, FP8_E4M3 = (int(DataFormat[name]) for name in ("Int8", "Bfp2_b", "UInt32", "Fp8_e4m3"))
UINT8, RAW8, RAW16, RAW32 = (int(DataFormat[name]) for name in ("UInt8", "RawUInt8", "RawUInt16", "RawUInt32"))

TO_BF16, TO_TF32, TO_FP32 = range(3)  # what a float32 datum is cut to: a source of 16-bit or 32-bit Dst; Dst itself
SIGN = 1 << 31


@compiled()
def format_kind(data_format):
    """What the words of a format mean: WIDE or NARROW exponents, INTEGER (sign and magnitude) or OPAQUE bits."""
    if data_format == INT8 or data_format == UINT8:
        return INTEGER
    if data_format == INT32 or data_format == UINT32 or data_format == UINT16 or data_format >= RAW8:
        return OPAQUE
    if (
        data_format == FLOAT16 or data_format == LF8 or data_format == FP8_E4M3
        or data_format == BFP8A or data_format == BFP4A or data_format == BFP2A
    ):  # fmt: skip
        return NARROW
    return WIDE


@compiled()
def block_bits(data_format):
    """Bits per datum of a block-float format, 0 for others."""
    if data_format == BFP8 or data_format == BFP8A:
        return 8
    if data_format == BFP4 or data_format == BFP4A:
        return 4
    if data_format == BFP2 or data_format == BFP2A:
        return 2
    return 0


@compiled()
def datum_bytes(data_format):
    """Bytes per datum of a format that is no block float."""
    if (
        data_format == FLOAT32 or data_format == TF32 or data_format == INT32 or data_format == UINT32
        or data_format == RAW32
    ):  # fmt: skip
        return 4
    if data_format == FLOAT16 or data_format == FLOAT16_B or data_format == UINT16 or data_format == RAW16:
        return 2
    return 1


def _cut_to_bf16(word):
    """float32 -> bf16: denormals to signed zero, the lower 16 bits dropped."""
    return (word & 0x7F800000).equals(0).choose(word & SIGN, word & 0xFFFF0000)


cut_to_bf16 = row_operation(_cut_to_bf16)
cut_to_tf32 = row_operation(lambda word: word & 0xFFFFE000)
copy_words = row_operation(lambda word: word)
clear_words = row_operation(lambda word: word & 0)


def _unpacked(bits, convert):
    """An intrinsic (source, target): 16 datums of `bits` bits -> words."""

    def unpack(typingctx, source, target):
        def codegen(context, builder, signature, args):
            convert(Lanes.load(builder, args[0], 0, bits)).store(args[1])
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), codegen

    return Intrinsic(unpack)


def _fp8_e4m3(datum):
    """1-4-3 -> fp16 (Blackhole): the largest pattern fills the mantissa with ones."""
    exponent, mantissa = (datum >> 3) & 15, datum & 7
    exponent = exponent.equals(0).choose(0, exponent + 8)
    mantissa = (datum & 0x7F).equals(0x7F).choose(1023, mantissa << 7)
    return ((datum & 0x80) << 24) | (exponent << 23) | (mantissa << 13)


unpack_bf16 = _unpacked(16, lambda datum: datum << 16)
unpack_fp16 = _unpacked(16, lambda datum: ((datum & 0x8000) << 16) | ((datum & 0x7FFF) << 13))
unpack_fp8_e5m2 = _unpacked(8, lambda datum: ((datum & 0x80) << 24) | ((datum & 0x7F) << 21))
unpack_fp8_e4m3 = _unpacked(8, _fp8_e4m3)
unpack_int8 = _unpacked(8, lambda datum: ((datum & 0x80) << 24) | (datum & 0x7F))
unpack_8 = _unpacked(8, lambda datum: datum)
unpack_16 = _unpacked(16, lambda datum: datum)


def _block_datums(builder, address, bits):
    """Sixteen datums of a block float of `bits` bits each."""
    if bits == 8:
        return Lanes.load(builder, address, 0, 8)
    if bits == 2:
        return Lanes.load_word(builder, address).shift_right(Lanes.constant(builder, range(0, 32, 2))) & 3
    upper = Lanes.constant(builder, [0] * 8 + [1] * 8) > 0
    words = upper.choose(Lanes.load_word(builder, address, 4), Lanes.load_word(builder, address))
    return words.shift_right(Lanes.constant(builder, [*range(0, 32, 4)] * 2)) & 15


def _unpacked_block(bits):
    """An intrinsic (source, exponent, largest, target): a block with a shared exponent -> words; a zero magnitude with
    sign is -infinity; `largest`: all ones of the exponent's field."""

    def unpack(typingctx, source, exponent, largest, target):
        def codegen(context, builder, signature, args):
            datum = _block_datums(builder, args[0], bits)
            magnitude = (datum & ((1 << (bits - 1)) - 1)) << (8 - bits)
            zeros = magnitude.leading_zeros() - 25  # in the 7 bits of a magnitude
            mask = Lanes.splat(builder, args[2])
            power = (Lanes.splat(builder, args[1]) - zeros) & mask
            sign = (datum >> (bits - 1)) << 31
            word = sign | (power << 23) | (((magnitude << (zeros + 1)) & 127) << 16)
            nothing = sign.equals(0).choose(0, sign | (mask << 23))
            magnitude.equals(0).choose(nothing, word).store(args[3])
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.int64, types.int64), codegen

    return Intrinsic(unpack)


unpack_bfp8, unpack_bfp4, unpack_bfp2 = (_unpacked_block(bits) for bits in (8, 4, 2))


@compiled()
def unpack_block(source, exponent, bits, largest, target):
    """16 datums of a block float."""
    if bits == 8:
        unpack_bfp8(source, exponent, largest, target)
    elif bits == 4:
        unpack_bfp4(source, exponent, largest, target)
    else:
        unpack_bfp2(source, exponent, largest, target)


@compiled()
def unpack_row(source, data_format, cut, target):
    """16 datums of a format that is no block float."""
    if data_format == FLOAT16_B:
        unpack_bf16(source, target)
    elif data_format == FLOAT32 or data_format == TF32:
        if cut == TO_TF32:
            cut_to_tf32(source, target)
        elif cut == TO_BF16:
            cut_to_bf16(source, target)
        else:
            copy_words(source, target)
    elif data_format == FLOAT16:
        unpack_fp16(source, target)
    elif data_format == INT32 or data_format == UINT32 or data_format == RAW32:
        copy_words(source, target)
    elif data_format == UINT16 or data_format == RAW16:
        unpack_16(source, target)
    elif data_format == LF8:
        unpack_fp8_e5m2(source, target)
    elif data_format == FP8_E4M3:
        unpack_fp8_e4m3(source, target)
    elif data_format == INT8:
        unpack_int8(source, target)
    else:
        unpack_8(source, target)


@compiled()
def unpack_tile(address, data_format, cut, rows, target):
    """A tile in L1 -> 1024 words in face order at `target`; both are host addresses.

    `rows`: of 16 datums, 64 in a whole tile; a smaller tile fills the first rows, the others become 0.
    """
    for row in range(rows, TILE_ROWS):
        clear_words(target + WORD_ROW * row, target + WORD_ROW * row)
    bits = block_bits(data_format)
    if bits > 0:
        largest = 31 if format_kind(data_format) == NARROW else 255
        for row in range(rows):
            datums = address + rows + 2 * bits * row
            unpack_block(datums, load_u8(address + row), bits, largest, target + WORD_ROW * row)
        return
    pitch = ROW * datum_bytes(data_format)
    for row in range(rows):
        unpack_row(address + pitch * row, data_format, cut, target + WORD_ROW * row)


@compiled()
def face_row(row, half):
    """Number, in face order, of the 16 datums in the left or right half of a row of a 32x32 tile."""
    return (row >> 4) * 32 + half * 16 + (row & 15)


@compiled()
def unpack_rows(address, data_format, pitch, cut, target):
    """32 row-major rows of 32 datums, `pitch` bytes apart -> 1024 words in face order (tilize)."""
    half_row = ROW * datum_bytes(data_format)
    for row in range(32):
        for half in range(2):
            unpack_row(
                address + pitch * row + half_row * half, data_format, cut, target + WORD_ROW * face_row(row, half)
            )
