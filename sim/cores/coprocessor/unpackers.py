"""Unpackers: datums from L1 to SrcA, SrcB or Dst (ISA: UNPACR_Regular.md and the pages beside it).

Blackhole's differences: rows of 32 datums in the mode that tilizes 16-bit and wider datums, fp8 with a 4-bit exponent, the
fields of UNPACR_NOP; read off the vendor's low-level kernels and functional simulator (docs/hardware/README.md names them).

Not modelled, and stopped by name: compressed data, row search, upsampling, shifted columns.
"""

import numpy as np

from tensim.sim.cores.coprocessor.counter_unit import Y_MASK, ZW_MASK, adc_of
from tensim.sim.cores.coprocessor.dst_rows import define_rows, dst16_row
from tensim.sim.cores.coprocessor.faults import DATA_FORMAT, L1_ADDRESS, UNKNOWN_INSTRUCTION, UNKNOWN_MODE, stop
from tensim.sim.cores.coprocessor.frontend import look_at_gates
from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.registers import register
from tensim.sim.cores.coprocessor.state import (
    BLACKHOLE,
    BY_MATRIX_UNIT,
    BY_UNPACKERS,
    COLUMNS,
    DST_ROWS,
    N_THREADS,
    SRC_ROWS,
    chip_of,
    config_bank,
    config_word,
    counters,
    dst32_row,
    field,
    field_word,
    src_at,
    thread_field,
    write_dst16,
    write_dst32,
)
from tensim.sim.cores.coprocessor.words import dst16_of_bf16, dst16_of_fp16, dst32_of_fp32, src_of_word
from tensim.sim.cores.numerics.matrix_unit import NARROW
from tensim.sim.cores.numerics.simd_lanes import ROW, row_on_stack
from tensim.sim.cores.numerics.unpacker import (
    FLOAT16,
    FLOAT16_B,
    FLOAT32,
    FP8_E4M3,
    INT8,
    INT32,
    LF8,
    TF32,
    TO_BF16,
    TO_FP32,
    TO_TF32,
    UINT16,
    block_bits,
    format_kind,
    unpack_block,
    unpack_row,
)
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_u8, load_u16, load_u32, store_32, zero_bytes
from tensim.sim.engine.tables import table

UNPACR, UNPACR_NOP, SETDVALID = opcodes("UNPACR UNPACR_NOP SETDVALID")
SRC_A, SRC_B, TO_DST = range(3)  # where datums go
SHIFTED_ROWS = 4  # rows by which addresses of SrcA and Dst begin before the registers (ISA: UNPACR_Regular.md)
ONE_OF_BF16, ONE_OF_FP16 = 127, 15  # in a source: their exponents (CLR_SRC_1 of ckernel_instr_params.h)
CLEAR, NOTHING, GIVE = 1, 2, 7  # what UNPACR_NOP does
MINUS_INFINITY = 0x7FFFF  # of SrcA, to the matrix unit


def _both(name):
    """The numbers of a field of unpacker 0 and of unpacker 1."""
    return register(f"THCON_SEC0_{name}"), register(f"THCON_SEC1_{name}")


DESCRIPTOR_0, DESCRIPTOR_1 = _both("REG0_TileDescriptor")
OUT_FORMAT_0, OUT_FORMAT_1 = _both("REG2_Out_data_format")
OVERRIDE_FORMAT_0, OVERRIDE_FORMAT_1 = _both("REG2_Ovrd_data_format")
TILIZE_0, TILIZE_1 = _both("REG2_Tileize_mode")
TRANSPOSE_0 = register("THCON_SEC0_REG2_Haloize_mode")
SHARED_0, SHARED_1 = _both("REG2_Force_shared_exp")
UPSAMPLE_0, UPSAMPLE_1 = _both("REG2_Upsample_rate")
THROTTLE_0, THROTTLE_1 = _both("REG2_Throttle_mode")
SET_UPDATE_0, SET_UPDATE_1 = _both("REG2_Unpack_Src_Reg_Set_Upd")
COUNT_0, COUNT_1 = _both("REG2_Context_count")
BASE_0, BASE_1 = _both("REG3_Base_address")
OFFSET_0, OFFSET_1 = _both("REG7_Offset_address")
FP8_0, FP8_1 = _both("REG1_Unp_LF8_4b_exp")
DEFAULT_SPEED_0 = register("THCON_SEC0_REG1_ovrd_default_throttle_mode")
IF_SELECT = register("THCON_SEC0_REG2_Unpack_If_Sel")
IF_SELECT_CONTEXT = register("THCON_SEC0_REG2_Unpack_if_sel_cntx0")
X_DIM_CONTEXT = register("THCON_SEC0_REG5_Tile_x_dim_cntx0")
DEST_CONTEXT = register("THCON_SEC0_REG5_Dest_cntx0_address")
FORMAT_CONTEXT_0, FORMAT_CONTEXT_1 = _both("REG7_Unpack_data_format_cntx0")
OUT_CONTEXT_0, OUT_CONTEXT_1 = _both("REG7_Unpack_out_data_format_cntx0")
UNCOMPRESSED_CONTEXT_0, UNCOMPRESSED_CONTEXT_1 = _both("REG2_Disable_zero_compress_cntx0")
SHIFT_AMOUNTS = register("THCON_SEC0_REG2_Shift_amount_cntx0")
Y_STRIDE = (register("UNP0_ADDR_CTRL_XY_REG_1_Ystride"), register("UNP1_ADDR_CTRL_XY_REG_1_Ystride"))
Z_STRIDE = (register("UNP0_ADDR_CTRL_ZW_REG_1_Zstride"), register("UNP1_ADDR_CTRL_ZW_REG_1_Zstride"))
W_STRIDE = (register("UNP0_ADDR_CTRL_ZW_REG_1_Wstride"), register("UNP1_ADDR_CTRL_ZW_REG_1_Wstride"))
OUT_BASE = (register("UNP0_ADDR_BASE_REG_1_Base"), register("UNP1_ADDR_BASE_REG_1_Base"))
SHARED_EXPONENT = (register("UNP0_FORCED_SHARED_EXP_shared_exp"), register("UNP1_FORCED_SHARED_EXP_shared_exp"))
ADD_DEST = register("UNP0_ADD_DEST_ADDR_CNTR_add_dest_addr_cntr")
CONTEXT_OFFSET = (register("UNPACK_MISC_CFG_CfgContextOffset_0"), register("UNPACK_MISC_CFG_CfgContextOffset_1"))
OVERRIDE_WITH_ADDRESS = register("SRCA_SET_SetOvrdWithAddr")
SET_BASE = (register("SRCA_SET_Base"), register("SRCB_SET_Base"))
UNSIGNED_A, UNSIGNED_B = register("ALU_FORMAT_SPEC_REG0_SrcAUnsigned"), register("ALU_FORMAT_SPEC_REG0_SrcBUnsigned")
CLEAR_VALUE = (register("UNP0_NOP_REG_CLR_VAL_nop_reg_clr_val"), register("UNP1_NOP_REG_CLR_VAL_nop_reg_clr_val"))

# Of unpacker 0 and 1: by thread, the context counter and the row that a set begins with; `bytes`, `speed`: what the last
# instruction fetched and bytes a cycle at which; `format_a`, `format_b`: output format of what each bank was given with
UNPACKERS = np.dtype(
    [("context", np.int64, (2, N_THREADS)), ("row", np.int64, (2, N_THREADS)), ("format", np.int64, (2, 2)),
     ("bytes", np.int64), ("speed", np.int64)]
)  # fmt: skip
unpackers_table = table(UNPACKERS)
CONTEXT_AT, ROW_AT, FORMAT_AT = (UNPACKERS.fields[name][1] for name in ("context", "row", "format"))


def make_unpackers():
    """UNPACKERS[1] after reset."""
    return np.zeros(1, UNPACKERS)


@compiled(inline="always")
def _of(unit, first, second):
    """The number of a field of unpacker 0 or 1."""
    return first if unit == 0 else second


@compiled(inline="always")
def context_counters(c, unit):
    """Context counters of an unpacker by thread."""
    return counters(c.unpackers_at + CONTEXT_AT + 8 * N_THREADS * unit)


@compiled(inline="always")
def first_rows(c, unit):
    """Row at which a thread's next set of an unpacker begins, by thread."""
    return counters(c.unpackers_at + ROW_AT + 8 * N_THREADS * unit)


@compiled(inline="always")
def bank_formats(c, unit):
    """Format that a bank of SrcA (unit 0) or SrcB was given to the matrix unit with, by bank."""
    return counters(c.unpackers_at + FORMAT_AT + 16 * unit)


@compiled()
def unpack_bank(c, unit):
    """The bank that an unpacker works on."""
    return c.unpack_bank_a if unit == 0 else c.unpack_bank_b


@compiled()
def bank_is_free(c, unit):
    """May the unpacker write to its bank?"""
    owners = counters(c.src_a_owner_at if unit == 0 else c.src_b_owner_at)
    return owners[unpack_bank(c, unit)] == BY_UNPACKERS


@compiled()
def give_bank(c, thread, unit, out_format):
    """Give the unpacker's bank to the matrix unit and go on with the other one."""
    bank = unpack_bank(c, unit)
    bank_formats(c, unit)[bank] = out_format
    look_at_gates(c)
    if unit == 0:
        counters(c.src_a_owner_at)[bank] = BY_MATRIX_UNIT
        c.unpack_bank_a = 1 - bank
    else:
        counters(c.src_b_owner_at)[bank] = BY_MATRIX_UNIT
        c.unpack_bank_b = 1 - bank
    first_rows(c, unit)[thread] = thread_field(c, thread, SET_BASE[0] if unit == 0 else SET_BASE[1], 0) << 4


@compiled()
def datum_bits(data_format):
    """Bits of a datum in L1, 0 for a number that is no format."""
    bits = block_bits(data_format)
    if bits > 0:
        return bits
    if data_format == FLOAT32 or data_format == TF32 or data_format == INT32:
        return 32
    if data_format == FLOAT16 or data_format == FLOAT16_B or data_format == UINT16:
        return 16
    return 8 if data_format == LF8 or data_format == INT8 else 0


@compiled()
def context_format(c, bank, position, context):
    """A format's field by context: four contexts in words that follow each other, four more 8 bits higher."""
    word = config_word(c, bank, field_word(c, position) + (context & 3))
    low = 16 if position == FORMAT_CONTEXT_0 or position == FORMAT_CONTEXT_1 else 20
    return word >> (low + (8 if context >= 4 else 0)) & 15


@compiled()
def context_bit(c, bank, position, context):
    """A bit by context: four of them side by side, four more 16 bits higher."""
    word, low = config_word(c, bank, field_word(c, position)), 4 if position == IF_SELECT_CONTEXT else 0
    return word >> (low + (context & 3) + (16 if context >= 4 else 0)) & 1


@compiled()
def context_half(c, bank, position, context):
    """A field of 16 bits by context, two to a word."""
    return config_word(c, bank, field_word(c, position) + ((context & 3) >> 1)) >> (16 * (context & 1)) & 0xFFFF


@compiled()
def can_convert(source, target, to_dst):
    """Does an unpacker turn a format into another?  From float32 to others, else none (ISA: UNPACR_Regular.md).

    For what it makes of blocks the target means nothing: tt-llk's tests of compressed weights leave it as it was for other blocks.
    """
    if source == FLOAT32:
        if target == FLOAT32:
            return to_dst
        return target == TF32 or target == FLOAT16_B or target == FLOAT16
    if source == TF32 or source == INT32:
        return source == target and to_dst
    return source == target or (block_bits(source) > 0 and block_bits(target) > 0)


@compiled()
def half_of_float(word):
    """fp16 of a float32, cut: exponents below 5 bits give zero, above them the largest number."""
    exponent, sign = (word >> 23 & 0xFF) - 112, word >> 16 & 0x8000
    if exponent < 0:
        return sign
    if exponent > 31:
        return sign | 0x7FFF
    return sign | exponent << 10 | (word >> 13 & 0x3FF)


@compiled()
def to_source_words(c, bank, unit, data_format, out_format, words):
    """16 converted words -> the 19 bits of each in SrcA or SrcB, in the same place."""
    if data_format == INT8:
        is_unsigned = field(c, bank, UNSIGNED_A if unit == 0 else UNSIGNED_B, 0)
        for i in range(ROW):
            word = load_u32(words + 4 * i)
            sign, magnitude = (0, word & 0xFF) if is_unsigned != 0 else (word & 0x80, word & 0x7F)
            store_32(words + 4 * i, sign << 11 | magnitude << 8 | (16 if magnitude != 0 else 0))
    elif data_format == UINT16:
        for i in range(ROW):
            word = load_u32(words + 4 * i)
            store_32(words + 4 * i, (word & 0xFF00) << 3 | (word & 0xFF))
    elif data_format == FLOAT32 and out_format == FLOAT16:
        for i in range(ROW):
            half = half_of_float(load_u32(words + 4 * i))
            store_32(words + 4 * i, (half & 0x8000) << 3 | (half & 0x3FF) << 8 | (half >> 10 & 31))
    else:
        for i in range(ROW):
            store_32(words + 4 * i, src_of_word(load_u32(words + 4 * i)))


@compiled()
def put_in_dst(c, bank, row, column, data_format, out_format, word):
    """A converted word into Dst."""
    wide = out_format == FLOAT32 or out_format == TF32 or out_format == INT32
    physical = dst32_row(row) if wide else dst16_row(c, row)
    define_rows(c, physical, wide, 1)
    if wide:
        write_dst32(c, row, column, dst32_of_fp32(word))
    elif data_format == UINT16:
        write_dst16(c, physical, column, word)
    elif data_format == INT8:
        is_unsigned = field(c, bank, UNSIGNED_A, 0)
        sign, magnitude = (0, word & 0xFF) if is_unsigned != 0 else (word & 0x80, word & 0x7F)
        write_dst16(c, physical, column, sign << 8 | magnitude << 5 | (16 if magnitude != 0 else 0))
    elif data_format == FLOAT32 and out_format == FLOAT16:
        write_dst16(c, physical, column, dst16_of_fp16(half_of_float(word)))
    elif format_kind(out_format) == NARROW:
        write_dst16(c, physical, column, dst16_of_fp16((word >> 16 & 0x8000) | (word >> 13 & 0x7FFF)))
    else:
        write_dst16(c, physical, column, dst16_of_bf16(word >> 16 & 0xFFFF))


@compiled()
def speed_of(c, bank, unit, data_format, tilize):
    """Bytes of L1 that an unpacker fetches in a cycle (ISA: UNPACR_Regular.md, Performance).

    Blackhole fetches at twice the fourfold speed where datums have 16 bits or more, and eightfold those of 8 bits.
    """
    mode = field(c, bank, _of(unit, THROTTLE_0, THROTTLE_1), 0)
    bits = datum_bits(data_format)
    if bits == 2:
        return 16
    if tilize:
        mode = 2
    elif chip_of(c) == BLACKHOLE and field(c, bank, DEFAULT_SPEED_0, 0) == 0:
        mode = 3 if bits == 8 else 2
    speed = 16 << min(mode, 3)
    return 2 * speed if chip_of(c) == BLACKHOLE and mode == 2 and bits >= 16 else speed


@compiled()
def fetch_row(datums, exponent, data_format, cut, words):
    """16 datums at a host address -> words (bits of integers as they are)."""
    bits = block_bits(data_format)
    if bits > 0:
        unpack_block(datums, exponent, bits, 31 if format_kind(data_format) == NARROW else 255, words)
    elif data_format == INT8:
        for i in range(ROW):
            store_32(words + 4 * i, load_u8(datums + i))
    elif data_format == UINT16:
        for i in range(ROW):
            store_32(words + 4 * i, load_u16(datums + 2 * i))
    else:
        unpack_row(datums, data_format, cut, words)


@compiled()
def first_target(c, thread, unit, bank, context, to_dst, out_format):
    """Datum of the registers at which an instruction begins to write; `context`: -1 without contexts."""
    target = adc_of(c, thread, unit, 1)
    out = field(c, bank, OUT_BASE[0] if unit == 0 else OUT_BASE[1], 0)
    out += target.y * field(c, bank, Y_STRIDE[0] if unit == 0 else Y_STRIDE[1], 0)
    out += target.z * field(c, bank, Z_STRIDE[0] if unit == 0 else Z_STRIDE[1], 0)
    out += target.w * field(c, bank, W_STRIDE[0] if unit == 0 else W_STRIDE[1], 0)
    out_bits = datum_bits(out_format)
    out >>= 2 if out_bits == 32 else (1 if out_bits == 16 else 0)
    if context >= 0 and unit == 0:
        given = context_half(c, bank, DEST_CONTEXT, context)
        out = out + given if to_dst or field(c, bank, ADD_DEST, 0) != 0 else given
    return out - SHIFTED_ROWS * ROW if unit == 0 else out


@compiled(forceinline=True)
def unpack(c, unit, thread, word):
    """UNPACR of an unpacker, which is a constant where it is called: so are the places of its fields."""
    bank = config_bank(c, thread)
    if word >> 2 & 1 != 0 or word >> 5 & 1 != 0:  # row search; a repeated row
        stop(c, UNKNOWN_MODE, thread, word, word & 0x24, 0)
        return
    many_contexts, counter, context, adc = word >> 7 & 1 != 0, word >> 3 & 1, 0, thread
    if many_contexts:
        context = context_counters(c, unit)[thread] if counter != 0 else word >> 10 & 7
        context = (context + thread_field(c, thread, CONTEXT_OFFSET[0] if unit == 0 else CONTEXT_OFFSET[1], 0)) & 7
        adc = word >> 8 & 3
        if adc >= N_THREADS or (unit == 1 and context >= 2):
            stop(c, UNKNOWN_MODE, thread, word, context, adc)
            return
    at = field_word(c, _of(unit, DESCRIPTOR_0, DESCRIPTOR_1))
    first, second, third, last = (
        config_word(c, bank, at), config_word(c, bank, at + 1), config_word(c, bank, at + 2), config_word(c, bank, at + 3),
    )  # fmt: skip
    uncompressed = first >> 4 & 1
    x_dim, y_dim, z_dim, w_dim = first >> 16, second & 0xFF, max(second >> 16 & 0xFF, 1), max(third & 0xFF, 1)
    data_format, out_format = first & 15, field(c, bank, _of(unit, OUT_FORMAT_0, OUT_FORMAT_1), 0)
    base = field(c, bank, _of(unit, BASE_0, BASE_1), context)
    offset = field(c, bank, _of(unit, OFFSET_0, OFFSET_1), context & 3 if many_contexts else 0)
    to_dst = unit == 0 and field(c, bank, IF_SELECT, 0) != 0
    if many_contexts:
        uncompressed = context_bit(c, bank, _of(unit, UNCOMPRESSED_CONTEXT_0, UNCOMPRESSED_CONTEXT_1), context)
        if unit == 0:
            x_dim = context_half(c, bank, X_DIM_CONTEXT, context)
            to_dst = context_bit(c, bank, IF_SELECT_CONTEXT, context) != 0
        if field(c, bank, _of(unit, OVERRIDE_FORMAT_0, OVERRIDE_FORMAT_1), 0) != 0:
            data_format = context_format(c, bank, _of(unit, FORMAT_CONTEXT_0, FORMAT_CONTEXT_1), context)
            out_format = context_format(c, bank, _of(unit, OUT_CONTEXT_0, OUT_CONTEXT_1), context)
    bits, zero = datum_bits(data_format), word >> 4 & 1 != 0
    if bits == 0 or not (zero or can_convert(data_format, out_format, to_dst)):
        stop(c, DATA_FORMAT, thread, word, data_format, out_format)
        return
    upsample, transpose = field(c, bank, _of(unit, UPSAMPLE_0, UPSAMPLE_1), 0), False
    tilize = field(c, bank, _of(unit, TILIZE_0, TILIZE_1), 0) != 0
    shifts = config_word(c, bank, field_word(c, SHIFT_AMOUNTS)) >> 16
    if unit == 0:
        transpose = field(c, bank, TRANSPOSE_0, 0) != 0
    shifted = unit == 0 and not tilize and shifts >> (4 * (context & 3)) & 15 != 0
    if uncompressed == 0 or upsample != 0 or shifted or (tilize and unit == 1) or (to_dst and transpose):
        stop(c, UNKNOWN_MODE, thread, word, uncompressed, upsample)
        return

    address = ((base + (offset & 0xFFFF) + 1 + (last >> 24)) << 4) & 0xFFFFFFFF
    exponents, is_block = address, block_bits(data_format) > 0
    shared = field(c, bank, _of(unit, SHARED_0, SHARED_1), 0) != 0
    if is_block and not shared and (bits == 8 or first >> 5 & 1 == 0):
        address += ((x_dim * y_dim * z_dim * w_dim + 15) // 16 + 15) // 16 * 16
    plane, across = adc_of(c, adc, unit, 0), adc_of(c, thread, unit, 0)
    first_datum = ((across.w * z_dim + across.z) * y_dim + plane.y) * x_dim + plane.x
    count = adc_of(c, adc, unit, 1).x + 1 - plane.x
    bit_address = 8 * address + first_datum * bits
    row_datums = 32 if chip_of(c) == BLACKHOLE and tilize and bits > 8 else ROW
    stride = 2 * bits  # bytes of a row of 16
    if tilize:
        stride = (shifts & 15) << 4 | (shifts >> 4 & 15) << 8 | (shifts >> 8 & 15) << 12

    unpackers_table(c.unpackers_at)[0].bytes = max(count, 0) * bits // 8
    unpackers_table(c.unpackers_at)[0].speed = speed_of(c, bank, unit, data_format, tilize)
    if count > 0:
        in_l1 = (bit_address + 8 * stride * ((count - 1) // row_datums) + bits * row_datums + 7) // 8
        if in_l1 > c.l1_size:
            stop(c, L1_ADDRESS, thread, word, bit_address // 8, count * bits // 8)
            return
    if c.data_on != 0 and count > 0:
        exponent_at = 16 * exponents + first_datum if is_block and not shared else -1
        place = TO_DST if to_dst else (SRC_A if unit == 0 else SRC_B)
        override = thread_field(c, thread, OVERRIDE_WITH_ADDRESS, 0) != 0
        shared_exponent = field(c, bank, SHARED_EXPONENT[0] if unit == 0 else SHARED_EXPONENT[1], 0)
        fp8 = field(c, bank, _of(unit, FP8_0, FP8_1), 0) != 0
        out = first_target(c, thread, unit, bank, context if many_contexts else -1, to_dst, out_format)
        source_format = FP8_E4M3 if data_format == LF8 and fp8 else data_format
        move(c, thread, bank, place, override, transpose, zero, source_format, out_format, bit_address, stride, row_datums,
             exponent_at, shared_exponent, count, out)  # fmt: skip

    for i in range(N_THREADS):
        if i == thread or i == adc:
            near, far = adc_of(c, i, unit, 0), adc_of(c, i, unit, 1)
            near.z, near.y = (near.z + (word >> 15 & 3)) & ZW_MASK, (near.y + (word >> 17 & 3)) & Y_MASK
            far.z, far.y = (far.z + (word >> 19 & 3)) & ZW_MASK, (far.y + (word >> 21 & 3)) & Y_MASK
    if many_contexts and counter != 0:
        following = context + 1
        limit = 1 << field(c, bank, _of(unit, COUNT_0, COUNT_1), 0)
        context_counters(c, unit)[thread] = following if following < limit else 0
    if word >> 6 & 1 != 0:
        give_bank(c, thread, unit, out_format)
    elif field(c, bank, _of(unit, SET_UPDATE_0, SET_UPDATE_1), 0) != 0:
        set_base = thread_field(c, thread, SET_BASE[0] if unit == 0 else SET_BASE[1], 0) << 4
        first_rows(c, unit)[thread] = (first_rows(c, unit)[thread] + 16 + set_base) & (SRC_ROWS - 1)


@compiled()
def move(
    c, thread, bank, place, override, transpose, zero, data_format, out_format, bit_address, stride, row_datums, exponent_at,
    shared_exponent, count, out,
):  # fmt: skip
    """The datums of an UNPACR: fetch them in rows of 16, convert them, put them where they go."""
    bits, is_block = datum_bits(data_format & 15), block_bits(data_format) > 0
    cut = TO_FP32
    if data_format == FLOAT32 and out_format == FLOAT16_B:
        cut = TO_BF16
    elif place != TO_DST and (data_format == FLOAT32 or data_format == TF32) and out_format != FLOAT16:
        cut = TO_TF32
    words, unit = row_on_stack(), 1 if place == SRC_B else 0
    src_bank, base = unpack_bank(c, unit), c.src_b_at if place == SRC_B else c.src_a_at
    first_row = 0 if place == SRC_A and override else first_rows(c, unit)[thread]
    row_shift = 4 if row_datums == ROW else 5
    for i in range(0, count, ROW):
        start = bit_address + bits * (i & (row_datums - 1)) + 8 * stride * (i >> row_shift)
        exponent = shared_exponent
        if is_block and exponent_at >= 0:
            exponent = load_u8(c.l1_at + ((exponent_at + i) >> 4))
        if zero:
            zero_bytes(words, 64)
        else:
            fetch_row(c.l1_at + (start >> 3), exponent, data_format, cut, words)
        lanes = min(ROW, count - i)
        if place == TO_DST:
            for lane in range(lanes):
                to = out + i + lane
                row = to // COLUMNS & (COLUMNS - 1 if override else DST_ROWS - 1)
                put_in_dst(c, bank, row, to % COLUMNS, data_format, out_format, load_u32(words + 4 * lane))
            continue
        to_source_words(c, bank, unit, data_format, out_format, words)
        put_in_source(src_at(base, src_bank, 0), place == SRC_A, first_row, transpose, out + i, lanes, words)


@compiled()
def put_in_source(bank_at, is_a, first_row, transpose, out, lanes, words):
    """The first `lanes` of 16 words into a bank of SrcA or SrcB, from datum `out` of the registers on."""
    if out % COLUMNS == 0 and lanes == ROW and not transpose:
        row = out // COLUMNS
        if row >= 0 or not is_a:
            at = bank_at + 4 * COLUMNS * (row + first_row & (SRC_ROWS - 1))
            for column in range(COLUMNS):
                store_32(at + 4 * column, load_u32(words + 4 * column))
        return
    for lane in range(lanes):
        row, column = (out + lane) // COLUMNS, (out + lane) % COLUMNS
        if row < 0 and is_a:
            continue
        row += first_row
        if transpose:
            row, column = (row & ~15) | column, row & 15
        store_32(bank_at + 4 * (COLUMNS * (row & (SRC_ROWS - 1)) + column), load_u32(words + 4 * lane))


@compiled()
def clear_source(c, unit, src_bank, value):
    """Fill a bank of SrcA or SrcB with a value."""
    at = src_at(c.src_a_at if unit == 0 else c.src_b_at, src_bank, 0)
    for i in range(SRC_ROWS * COLUMNS):
        store_32(at + 4 * i, value)


@compiled()
def unpack_nothing(c, thread, word):
    """UNPACR_NOP: clear or give a bank without fetching anything."""
    unit, bank = word >> 23 & 1, config_bank(c, thread)
    out_format = field(c, bank, _of(unit, OUT_FORMAT_0, OUT_FORMAT_1), 0)
    kind, clear, value = word & 3, word >> 2 & 3, 0
    both, gives = word >> 4 & 1, word >> 8 & 1
    if chip_of(c) == BLACKHOLE:
        if clear == 3 and kind == CLEAR:
            value = field(c, bank, CLEAR_VALUE[0] if unit == 0 else CLEAR_VALUE[1], 0) >> 13
        gives |= int(word >> 6 & 3 == 3)
        one = word >> 6 & 3  # whose 1 a source is set to
        if clear == 2 and kind == CLEAR:
            value = ONE_OF_BF16 if one == 0 else ONE_OF_FP16
        known = kind == CLEAR and (clear != 2 or one <= 1) or kind == NOTHING
    else:  # bits 0-2: 1 and 5 clear, 2 does nothing, 7 gives the bank
        both, gives = word >> 3 & 1, word >> 6 & 1
        known = kind == CLEAR or word & 7 == NOTHING or word & 7 == GIVE
        if word & 7 == GIVE:
            kind, gives = NOTHING, 1
        clear = clear & 1 if kind == CLEAR else 0
    if not known or (clear == 1 and unit == 1):
        stop(c, UNKNOWN_MODE, thread, word, kind, clear)
        return
    if clear == 1:
        value = MINUS_INFINITY
    unpackers_table(c.unpackers_at)[0].bytes = 0
    unpackers_table(c.unpackers_at)[0].speed = 16
    if kind == CLEAR:
        src_bank = unpack_bank(c, unit)
        clear_source(c, unit, src_bank, value)
        if both != 0:
            clear_source(c, unit, 1 - src_bank, value)
    if gives != 0:
        give_bank(c, thread, unit, out_format)


@compiled()
def set_valid(c, thread, word):
    """SETDVALID: give banks to the matrix unit."""
    bank = config_bank(c, thread)
    for unit in range(2):
        if word >> unit & 1 != 0:
            give_bank(c, thread, unit, field(c, bank, _of(unit, OUT_FORMAT_0, OUT_FORMAT_1), 0))


@compiled()
def execute_unpack(c, thread, word):
    """Carry out an instruction of the unpackers."""
    code = word >> 24
    if code == UNPACR:
        if word >> 23 & 1 == 0:
            unpack(c, 0, thread, word)
        else:
            unpack(c, 1, thread, word)
    elif code == UNPACR_NOP:
        unpack_nothing(c, thread, word)
    else:
        stop(c, UNKNOWN_INSTRUCTION, thread, word, 0, 0)
