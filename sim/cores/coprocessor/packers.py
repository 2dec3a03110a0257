"""Packers: datums from Dst to L1 (ISA: PACR.md, Packers/).

Wormhole has four packers, each with rows of its own; Blackhole one that reads up to four rows at once (tt-llk's instruction table
and llk_pack of ttnn 0.81.1).  Conversions are those of `tensim.sim.cores.numerics.packer`, a row of 16 datums at a time.

Not modelled, and stopped by name: compression, downsampling, datums that come from L1, exponent thresholds, masks by face.
"""

import numpy as np

from tensim.sim.cores.coprocessor.counter_unit import Y_MASK, ZW_MASK, adc_of
from tensim.sim.cores.coprocessor.dst_rows import dst16_row, is_undefined
from tensim.sim.cores.coprocessor.faults import DATA_FORMAT, L1_ADDRESS, UNKNOWN_INSTRUCTION, UNKNOWN_MODE, stop
from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.registers import register
from tensim.sim.cores.coprocessor.state import (
    BLACKHOLE,
    DST_ROWS,
    PACKERS,
    chip_of,
    config_bank,
    config_word,
    dst32_row,
    field,
    field_word,
    read_dst16,
    read_dst32,
    thread_field,
)
from tensim.sim.cores.coprocessor.unpackers import datum_bits, half_of_float
from tensim.sim.cores.coprocessor.words import bf16_of_dst16, fp16_of_dst16, fp32_of_dst32
from tensim.sim.cores.numerics.matrix_unit import INTEGER, NARROW, WIDE
from tensim.sim.cores.numerics.packer import (
    accumulate_in_l1,
    flush_denormals,
    half_to_bf16,
    relu_row,
    round_to_bf16,
    round_to_bfp8,
    round_to_e5m6,
    round_to_half,
    round_to_tf32,
    store_block,
    store_fp8_e4m3,
    store_fp8_e5m2,
    store_fp16,
    store_lower,
    store_octets,
    store_upper,
    widen_half,
)
from tensim.sim.cores.numerics.simd_lanes import ROW, row_on_stack
from tensim.sim.cores.numerics.unpacker import (
    BFP8,
    BFP8A,
    FLOAT16,
    FLOAT16_B,
    FLOAT32,
    INT8,
    INT32,
    LF8,
    TF32,
    UINT16,
    block_bits,
    copy_words,
    cut_to_bf16,
    format_kind,
)
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.known_words import forget
from tensim.sim.engine.memory import copy_bytes, lies_within, load_u32, store_32, zero_bytes
from tensim.sim.engine.tables import table

PACR, PACR_SETREG = opcodes("PACR PACR_SETREG")
N_PACKERS = 4
SECTION = (0, 28, 40, 68)  # words from the first packer's configuration to the others' (cfg_defines.h, Wormhole)
DEST_ADDRESS, OUT_FORMAT, IN_FORMAT = (
    register(f"THCON_SEC0_REG1_{name}") for name in ("L1_Dest_addr", "Out_data_format", "In_data_format")
)
SUB_HEADER, EXPONENT_SECTION, ACCUMULATE = (
    register(f"THCON_SEC0_REG1_{name}") for name in ("Sub_l1_tile_header_size", "Exp_section_size", "Pack_L1_Acc")
)
FROM_L1, DOWNSAMPLE, THRESHOLD_ON, FP8_4_BITS = (
    register(f"THCON_SEC0_REG1_{name}")
    for name in ("Source_interface_selection", "Downsample_mask", "Exp_threshold_en", "Pac_LF8_4b_exp")
)
READ_32, READ_RAW, READ_UNSIGNED, ROUND_10 = (
    register(f"PCK_DEST_RD_CTRL_{name}") for name in ("Read_32b_data", "Read_int8", "Read_unsigned", "Round_10b_mant")
)
DST_FORMAT, DST_OVERRIDE, DST_VALUE = (
    register(f"ALU_FORMAT_SPEC_{name}") for name in ("REG2_Dstacc", "REG_Dstacc_override", "REG_Dstacc_val")
)
RELU, RELU_LIMIT = register("STACC_RELU_ApplyRelu"), register("STACC_RELU_ReluThreshold")
OFFSET = register("DEST_TARGET_REG_CFG_PACK_SEC0_Offset")
NEAR_BASE, NEAR_X, NEAR_Y, NEAR_Z, NEAR_W = (
    register(f"PCK0_ADDR_{name}")
    for name in ("BASE_REG_0_Base", "CTRL_XY_REG_0_Xstride", "CTRL_XY_REG_0_Ystride", "CTRL_ZW_REG_0_Zstride",
                 "CTRL_ZW_REG_0_Wstride")
)  # fmt: skip
FAR_BASE, FAR_Y, FAR_Z, FAR_W = (
    register(f"PCK0_ADDR_{name}")
    for name in ("BASE_REG_1_Base", "CTRL_XY_REG_1_Ystride", "CTRL_ZW_REG_1_Zstride", "CTRL_ZW_REG_1_Wstride")
)
Y_NEAR, Y_NEAR_CR, Y_NEAR_CLEAR, Z_NEAR, Z_NEAR_CLEAR = (
    register(f"ADDR_MOD_PACK_SEC0_{name}") for name in ("YsrcIncr", "YsrcCR", "YsrcClear", "ZsrcIncr", "ZsrcClear")
)
Y_FAR, Y_FAR_CR, Y_FAR_CLEAR, Z_FAR, Z_FAR_CLEAR = (
    register(f"ADDR_MOD_PACK_SEC0_{name}") for name in ("YdstIncr", "YdstCR", "YdstClear", "ZdstIncr", "ZdstClear")
)
MASK, MASK_MODE, MASK_SELECT, FACE_MASKS = (
    register(f"PCK_EDGE_{name}")
    for name in ("OFFSET_SEC0_mask", "MODE_mode", "TILE_ROW_SET_SELECT_select", "TILE_FACE_SET_SELECT_enable")
)
ROW_SETS, ROWS_PER_PLANE = (
    register("TILE_ROW_SET_MAPPING_0_row_set_mapping_0"),
    register("PACK_COUNTERS_SEC0_pack_reads_per_xy_plane"),
)
DESCALE, DESCALE_VALUE = register("INT_DESCALE_Enable"), register("INT_DESCALE_VALUES_SEC0_Value")
NO_FORMAT = -1

# By packer: `data`, `exponents`: L1 address of the next datum and exponent, `open`: they go on behind the last instruction's;
# `x`, `y`: place in the tile, for masks.  `bytes`: what the last instruction wrote; `rows`: of 16 datums that it read
PACKER_STATE = np.dtype(
    [(name, np.int64, N_PACKERS) for name in "data exponents open y".split()]
    + [("bytes", np.int64), ("rows", np.int64), ("through_l1", np.int64)]
)
packer_table = table(PACKER_STATE)


def make_packers():
    """PACKER_STATE[1] after reset."""
    return np.zeros(1, PACKER_STATE)


@compiled()
def intermediate_format(c, bank):
    """Format that datums have between the early and the late conversion."""
    if field(c, bank, DST_OVERRIDE, 0) != 0:
        return field(c, bank, DST_VALUE, 0)
    return field(c, bank, DST_FORMAT, 0)


@compiled()
def read_row(c, row, wide_read, narrow, words):
    """A row of Dst as words; `narrow`: it holds 16-bit floats with 5-bit exponents.  Rows without contents read 0."""
    physical = dst32_row(row) if wide_read else dst16_row(c, row)
    if is_undefined(c, physical):
        zero_bytes(words, 64)
        return
    for i in range(ROW):
        if wide_read:
            store_32(words + 4 * i, fp32_of_dst32(read_dst32(c, row, i)))
        elif narrow:
            half = fp16_of_dst16(read_dst16(c, physical, i))
            store_32(words + 4 * i, (half & 0x8000) << 16 | (half & 0x7FFF) << 13)
        else:
            store_32(words + 4 * i, bf16_of_dst16(read_dst16(c, physical, i)) << 16)


@compiled()
def read_integers(c, row, wide_read, words):
    """A row of Dst as opaque 16-bit values."""
    physical = dst32_row(row) if wide_read else dst16_row(c, row)
    if is_undefined(c, physical):
        zero_bytes(words, 64)
        return
    for i in range(ROW):
        store_32(words + 4 * i, read_dst32(c, row, i) >> 16 if wide_read else read_dst16(c, physical, i))


@compiled()
def to_int8(c, bank, words):
    """32-bit integers, sign and magnitude, to 8 bits: shifted and rounded, then the nearest that there is."""
    raw, is_unsigned = field(c, bank, READ_RAW, 0) != 0, field(c, bank, READ_UNSIGNED, 0) != 0
    shift = field(c, bank, DESCALE_VALUE, 0) & 31 if field(c, bank, DESCALE, 0) != 0 else 0
    for i in range(ROW):
        word = load_u32(words + 4 * i)
        sign, magnitude = word >> 31, word & 0x7FFFFFFF
        if raw:
            value = word & 0xFF if is_unsigned else sign << 7 | (magnitude & 0x7F)
        else:
            if shift != 0:
                magnitude = (magnitude + (1 << (shift - 1))) >> shift
            if is_unsigned:
                value = 0 if sign != 0 else min(magnitude, 255)
            else:
                value = sign << 7 | min(magnitude, 127)
        store_32(words + 4 * i, value)


@compiled()
def early(c, bank, middle, wide_read, words):
    """Round a row of words to the intermediate format (ISA: Packers/FormatConversion.md); its kind, -1: not possible."""
    raw, round_10 = field(c, bank, READ_RAW, 0) != 0, field(c, bank, ROUND_10, 0) != 0
    if middle == INT32 and wide_read:
        return INTEGER
    if middle == INT8:
        to_int8(c, bank, words)
        return INTEGER
    if middle == FLOAT16 and (wide_read or round_10):  # from numbers with 8-bit exponents
        round_to_half(words, words)
        return NARROW
    if middle == FLOAT16 or middle == BFP8A or middle == LF8:
        if wide_read:
            return NO_FORMAT
        if middle == FLOAT16 and not raw:
            flush_denormals(words, words)
        elif middle == BFP8A and not raw:
            round_to_e5m6(words, words)
        elif middle == LF8:
            keep_bits(words, 0xFFE00000)
        elif middle == BFP8A:
            keep_bits(words, 0xFFFF0000)
        return NARROW
    if middle == FLOAT32 or middle == TF32:
        if wide_read and middle == FLOAT32 and (raw or not round_10):
            return WIDE
        if wide_read and raw:
            return WIDE
        round_to_tf32(words, words)
        flush_denormals(words, words)
        return WIDE
    if middle == FLOAT16_B or middle == BFP8:
        if raw:
            keep_bits(words, 0xFFFF0000)
        elif middle == FLOAT16_B:
            round_to_bf16(words, words)
        else:
            round_to_bfp8(words, words)
        return WIDE
    return NO_FORMAT


@compiled()
def keep_bits(words, mask):
    """AND of 16 words with a mask."""
    for i in range(ROW):
        store_32(words + 4 * i, load_u32(words + 4 * i) & mask)


@compiled()
def to_half_cut(words):
    """float32 -> fp16 words, cut."""
    for i in range(ROW):
        half = half_of_float(load_u32(words + 4 * i))
        store_32(words + 4 * i, (half & 0x8000) << 16 | (half & 0x7FFF) << 13)


@compiled()
def to_exponents_of(out_format, words, kind):
    """A row of floats with exponents of 5 or 8 bits, as the output format has them; returns its kind."""
    narrow_out = format_kind(out_format) == NARROW
    if narrow_out and kind == WIDE:
        to_half_cut(words)
        return NARROW
    if not narrow_out and kind == NARROW:
        if out_format == FLOAT32 or out_format == TF32:
            widen_half(words, words)
        else:
            half_to_bf16(words, words)
        return WIDE
    return kind


@compiled()
def late(c, bank, words, kind, out_format, section, place, exponents):
    """Store a row of words with the output format's exponents as 16 datums; False when that conversion does not exist."""
    bits = block_bits(out_format)
    if kind == INTEGER:
        if out_format == INT32:
            copy_words(words, place)
        elif out_format == INT8:
            store_octets(words, place)
        elif out_format == UINT16:
            store_lower(words, place)
        else:
            return False
        return True
    if bits > 0:
        if kind == WIDE:
            cut_to_bf16(words, words)
        store_block(words, bits, exponents, place)
    elif out_format == FLOAT32 or out_format == TF32:
        copy_words(words, place)
    elif out_format == FLOAT16_B:
        store_upper(words, place)
    elif out_format == FLOAT16:
        store_fp16(words, place)
    elif out_format == LF8 and field(c, bank, FP8_4_BITS, section) != 0:
        store_fp8_e4m3(words, place)
    elif out_format == LF8:
        store_fp8_e5m2(words, place)
    else:
        return False
    return True


@compiled()
def apply_mask(c, bank, packer, y, words):
    """Put 0, or minus infinity, for the datums of a row that the edge mask leaves out."""
    select = field(c, bank, MASK_SELECT, 0) >> (2 * packer) & 3
    row_set = config_word(c, bank, field_word(c, ROW_SETS) + select) >> (2 * (y & 15)) & 3
    mask = field(c, bank, MASK, row_set)
    if mask == 0xFFFF:
        return
    other = 0xFF800000 if field(c, bank, MASK_MODE, 0) != 0 else 0
    for i in range(ROW):
        if mask >> i & 1 == 0:
            store_32(words + 4 * i, other)


@compiled()
def pack_row(c, thread, word, bank, packer, section, middle, row, count, pack_y, out_format, data, exponents):
    """Pack a row of Dst to L1 addresses; `count`: of its datums that are stored.  False when it stopped."""
    words = row_on_stack()
    wide_read = field(c, bank, READ_32, 0) != 0
    if word >> 12 & 1 != 0:
        zero_bytes(words, 64)
        kind = INTEGER if middle == UINT16 or middle == INT32 or middle == INT8 else format_kind(middle)
    elif middle == UINT16:
        read_integers(c, row, wide_read, words)
        apply_mask(c, bank, packer, pack_y, words)
        kind = INTEGER
    else:
        from_wide = wide_read or (middle == FLOAT16 and field(c, bank, ROUND_10, 0) != 0)
        read_row(c, row, wide_read, format_kind(middle) == NARROW and not from_wide, words)
        apply_mask(c, bank, packer, pack_y, words)
        kind = early(c, bank, middle, wide_read, words)
    relu = field(c, bank, RELU, 0) & 3
    if relu != 0:
        limit = field(c, bank, RELU_LIMIT, 0)
        relu_row(words, 1 if kind == INTEGER else relu, (limit & 0x7FFF) << (13 if kind == NARROW else 16))
    bits = datum_bits(out_format)
    size = 2 * bits if count == ROW else bits * count // 8
    if kind == NO_FORMAT or bits == 0 or (count != ROW and block_bits(out_format) > 0):
        stop(c, DATA_FORMAT, thread, word, middle, out_format)
        return False
    if data + size > c.l1_size or exponents >= c.l1_size:
        stop(c, L1_ADDRESS, thread, word, data, size)
        return False
    place = c.l1_at + data
    if count != ROW:
        place = row_on_stack()
        copy_bytes(place, c.l1_at + data, size)
    if kind < INTEGER:
        kind = to_exponents_of(out_format, words, kind)
        if field(c, bank, ACCUMULATE, section) != 0 and block_bits(out_format) == 0:
            accumulate_in_l1(words, out_format, place, row_on_stack())
    if not late(c, bank, words, kind, out_format, section, place, c.l1_at + exponents):
        stop(c, DATA_FORMAT, thread, word, middle, out_format)
        return False
    if count != ROW:
        copy_bytes(c.l1_at + data, place, size)
    return True


@compiled()
def output_address(c, bank, packer, section, adc, out_format):
    """(L1 address of the data, of the exponents) at which a packer's output begins (ISA: Packers/OutputAddressGenerator.md)."""
    address = field(c, bank, DEST_ADDRESS, section)
    if field(c, bank, SUB_HEADER, section) == 0:
        address += 1
    if packer > 0:
        first = field(c, bank, DEST_ADDRESS, 0) + (1 if field(c, bank, SUB_HEADER, 0) == 0 else 0)
        if first >> 31 & 1 != 0:
            address += first
    moved = field(c, bank, FAR_BASE, 0) + adc.y * field(c, bank, FAR_Y, 0)
    moved += adc.z * field(c, bank, FAR_Z, 0) + adc.w * field(c, bank, FAR_W, 0)
    address += moved >> 4 if chip_of(c) == BLACKHOLE else moved & ~15
    exponents = (address & 0x1FFFF) << 4
    if out_format & 2 != 0:  # formats of fewer than 16 bits
        address += field(c, bank, EXPONENT_SECTION, section)
    return (address & 0x1FFFF) << 4, exponents


@compiled()
def input_row(c, bank, packer, adc, in_format):
    """(row of Dst at which a packer's input begins, column) (ISA: Packers/InputAddressGenerator.md)."""
    shift, mask = 2, 3  # a datum has 1 << shift bytes
    if in_format & 3 == 1:
        shift, mask = 1, 7
    elif in_format & 3 != 0:
        shift, mask = 0, 15
    address = field(c, bank, NEAR_BASE, 0) + adc.x * (field(c, bank, NEAR_X, 0) & 15)
    address += adc.y * field(c, bank, NEAR_Y, 0) + adc.z * field(c, bank, NEAR_Z, 0) + adc.w * field(c, bank, NEAR_W, 0)
    address = (address >> shift & ~mask) + (adc.x & mask)
    address += field(c, bank, OFFSET, packer) << 4
    return address >> 4 & (DST_ROWS - 1), address & 15


@compiled()
def step_counters(c, thread, mode):
    """What a PACR adds to the packers' addressing counters."""
    near, far = adc_of(c, thread, PACKERS, 0), adc_of(c, thread, PACKERS, 1)
    if thread_field(c, thread, Y_NEAR_CLEAR, mode) != 0:
        near.y = near.y_cr = 0
    elif thread_field(c, thread, Y_NEAR_CR, mode) != 0:
        near.y = near.y_cr = (near.y_cr + thread_field(c, thread, Y_NEAR, mode)) & Y_MASK
    else:
        near.y = (near.y + thread_field(c, thread, Y_NEAR, mode)) & Y_MASK
    if thread_field(c, thread, Z_NEAR_CLEAR, mode) != 0:
        near.z = near.z_cr = 0
    else:
        near.z = (near.z + thread_field(c, thread, Z_NEAR, mode)) & ZW_MASK
    if thread_field(c, thread, Y_FAR_CLEAR, mode) != 0:
        far.y = far.y_cr = 0
    elif thread_field(c, thread, Y_FAR_CR, mode) != 0:
        far.y = far.y_cr = (far.y_cr + thread_field(c, thread, Y_FAR, mode)) & Y_MASK
    else:
        far.y = (far.y + thread_field(c, thread, Y_FAR, mode)) & Y_MASK
    if thread_field(c, thread, Z_FAR_CLEAR, mode) != 0:
        far.z = far.z_cr = 0
    else:
        far.z = (far.z + thread_field(c, thread, Z_FAR, mode)) & ZW_MASK


@compiled()
def nth_row(c, word, row, n):
    """The n-th row that an instruction reads.  Blackhole: rows by the interfaces it selects, 16 apart in the strided mode."""
    if chip_of(c) != BLACKHOLE:
        return row + n
    if word >> 17 & 1 != 0:
        return row + 16 * n
    interfaces = word >> 8 & 15
    if interfaces == 5:
        return row + 2 * n
    return row + 2 * n + 1 if interfaces == 10 else row + n


@compiled()
def selected(c, word):
    """(bit set of the packers of an instruction, rows that each count of datums stands for)."""
    mask = word >> 8 & 15
    if chip_of(c) != BLACKHOLE:
        return (1 if mask == 0 else mask), 1
    rows = 4 if mask == 0 else (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3)
    return 1, rows


@compiled()
def close_output(c, packer, out_format):
    """Fill what a packer has begun up to 16 bytes with zeros."""
    state = packer_table(c.packers_at)[0]
    for exponents in range(2 if block_bits(out_format) > 0 else 1):
        end = state.exponents[packer] if exponents != 0 else state.data[packer]
        rest = -end % 16
        if rest != 0 and end + rest <= c.l1_size:
            zero_bytes(c.l1_at + end, rest)


@compiled()
def pack(c, thread, word):
    """PACR: see the module."""
    bank, state = config_bank(c, thread), packer_table(c.packers_at)[0]
    last = word & 1 != 0
    flush = word >> 1 & 1 != 0
    adc = adc_of(c, thread, PACKERS, 0)
    packers, rows_each = selected(c, word)
    middle, state.bytes, state.rows, state.through_l1 = intermediate_format(c, bank), 0, 0, 0
    unknown = word >> 7 & 1 != 0 or field(c, bank, FACE_MASKS, 0) != 0
    if chip_of(c) == BLACKHOLE:
        unknown = unknown or word >> 13 & 3 != 0 or word >> 18 & 0x3F != 0 or word >> 2 & 3 != 0
    if unknown:
        stop(c, UNKNOWN_MODE, thread, word, word >> 7 & 1, 0)
        return
    counted = 0 if flush else adc_of(c, thread, PACKERS, 1).x - adc.x + 1
    datums, each = max(counted, 0) * rows_each, ROW if rows_each == 1 else counted  # `each`: of each row that is read
    rows = (datums + ROW - 1) // ROW if rows_each == 1 else rows_each if datums > 0 else 0
    state.rows = rows  # of each packer
    for packer in range(N_PACKERS):
        if packers >> packer & 1 == 0:
            continue
        section = SECTION[0]
        if packer == 1:
            section = SECTION[1]
        elif packer == 2:
            section = SECTION[2]
        elif packer == 3:
            section = SECTION[3]
        out_format = field(c, bank, OUT_FORMAT, section)
        mask = field(c, bank, DOWNSAMPLE, section)
        if field(c, bank, FROM_L1, section) + field(c, bank, THRESHOLD_ON, section) != 0 or not (
            mask == 0 or mask == 0xFFFF
        ):
            stop(c, UNKNOWN_MODE, thread, word, packer, mask)
            return
        if state.open[packer] == 0:
            state.data[packer], state.exponents[packer] = output_address(
                c, bank, packer, section, adc_of(c, thread, PACKERS, 1), out_format
            )
            state.y[packer] = 0
        row, column = input_row(c, bank, packer, adc, field(c, bank, IN_FORMAT, section))
        if column != 0 and datums > 0:
            stop(c, UNKNOWN_MODE, thread, word, column, datums)
            return
        planes = max(field(c, bank, ROWS_PER_PLANE, 0), 1)
        if c.data_on != 0:
            y, data, bits = state.y[packer], state.data[packer], datum_bits(out_format)
            for n in range(rows):
                count = min(each, datums - n * each)
                if not pack_row(
                    c, thread, word, bank, packer, section, middle, nth_row(c, word, row, n) & (DST_ROWS - 1), count, y,
                    out_format, data, state.exponents[packer] + n,
                ):  # fmt: skip
                    return
                y, data = (y + 1) % planes, data + bits * count // 8
        size = datum_bits(out_format) * datums // 8
        if c.l1_known_at != 0:
            forget_packed(c, state.data[packer], size)
            forget_packed(c, state.exponents[packer], rows)
        state.y[packer] = (state.y[packer] + rows) % planes
        state.data[packer] += size
        state.exponents[packer] += rows
        state.bytes += size
        state.through_l1 += size if field(c, bank, ACCUMULATE, section) == 0 else 2 * size
        state.open[packer] = 0 if last or flush else 1
        if (last or flush) and c.data_on != 0:
            close_output(c, packer, out_format)
    step_counters(c, thread, word >> 15 & 3)


@compiled()
def forget_packed(c, address, size):
    """A range of L1 gets what is left out with numerics off."""
    if lies_within(address, size, c.l1_size):
        forget(c.l1_known_at, address, size)


@compiled()
def execute_pack(c, thread, word):
    """Carry out an instruction of the packers."""
    if word >> 24 == PACR:
        pack(c, thread, word)
    else:
        stop(c, UNKNOWN_INSTRUCTION, thread, word, 0, 0)
