"""Moves between SrcA, SrcB and Dst, clearing, transposing and shifting (ISA: the page of each instruction).

MOVB2A and what is Blackhole's own: vendor's simulator (ttsim 1.10, tensix.cpp) and tt-llk's table of instructions.
"""

from tensim.sim.cores.coprocessor.address_mods import rwc_of
from tensim.sim.cores.coprocessor.dst_rows import define_rows, dst16_row, dst_offset, is_undefined, undefine_row
from tensim.sim.cores.coprocessor.faults import MISUSE, UNKNOWN_MODE, stop
from tensim.sim.cores.coprocessor.matrix_formats import (
    KEEP_BF16,
    KEEP_FP16,
    KEEP_TF32,
    TF32,
    dst_row_of,
    flushes_denormals,
    forced_to_fp16,
    format_of_a,
    format_of_b,
    has_wide_dst,
    is_narrow,
    src_row,
)
from tensim.sim.cores.coprocessor.matrix_rows import (
    fill_row,
    read_dst_row,
    source_of_words,
    words_of_source,
    write_dst_row,
)
from tensim.sim.cores.coprocessor.matrix_state import FACE_ROWS, ROW_A, matrix_of, scratch_of
from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.registers import register
from tensim.sim.cores.coprocessor.state import (
    BLACKHOLE,
    COLUMNS,
    DST_ROWS,
    SRC_ROWS,
    chip_of,
    config_bank,
    dst32_row,
    field,
    read_dst16,
    read_dst32,
    src_at,
    words,
    write_dst16,
    write_dst32,
)
from tensim.sim.cores.coprocessor.unpackers import MINUS_INFINITY
from tensim.sim.cores.coprocessor.vector_state import BLOCK_MOVES, LANE_CONFIG, row_at, vector_of
from tensim.sim.cores.numerics.matrix_unit import flush_words
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_u32, store_32, zero_bytes

MOVD2A, MOVD2B, ZEROACC = opcodes("MOVD2A MOVD2B ZEROACC")
ONE_ROW, SIXTEEN_ROWS, HALF, ALL = range(4)  # what ZEROACC marks
ABSOLUTE_TILES = register("DEST_ACCESS_CFG_zeroacc_absolute_tile_mode")
TRANSPOSED_ROW = 16  # of SrcB
SHIFT_RIGHT, SHIFT_LEFT = 2, 3
SRC_BANK_BYTES = 4 * COLUMNS * SRC_ROWS


@compiled()
def blocks_columns(c):
    """Whether the vector unit's configuration keeps moves out of some columns of Dst (ISA: SFPCONFIG.md, BLOCK_DEST_MOV)."""
    return vector_of(c).config_bits >> BLOCK_MOVES & 3 != 0


@compiled()
def is_blocked(c, column):
    """Whether it keeps them out of a column."""
    v = vector_of(c)
    if not blocks_columns(c):
        return False
    return words(row_at(v, LANE_CONFIG))[column >> 1] >> BLOCK_MOVES + (column & 1) & 1 != 0


@compiled(inline="always")
def low_half_of(word):
    """Whether a move takes the lower halves of 32-bit values of Dst."""
    return word >> 23 & 1 != 0


@compiled()
def moved_value(value, narrow):
    """A source's 19 bits as 16 bits of Dst."""
    if narrow:
        return (value & 0x40000) >> 3 | (value & 0x3FF00) >> 3 | (value & 0x1F)
    return (value & 0x40000) >> 3 | (value & 0x3F800) >> 3 | (value & 0xFF)


@compiled()
def put_moved(c, row, column, value, data, narrow, low):
    """Put a source's value into Dst: as 32 bits when it is tf32, else as 16 or as the lower half of 32."""
    half = moved_value(value, narrow)
    if data == TF32:
        rest = (value >> 8 & 7) << 13
        write_dst32(c, row, column, half << 16 | rest | (half if low else 0))
    elif low:
        undefined = is_undefined(c, dst32_row(row))
        old = 0 if undefined else read_dst32(c, row, column)
        write_dst32(c, row, column, (old & 0xFFFF0000) | half)
    else:
        write_dst16(c, dst16_row(c, row), column, half)


@compiled()
def finish_row(c, row, data, low):
    """A row of Dst has been written by a move."""
    wide = data == TF32 or low
    define_rows(c, dst32_row(row) if wide else dst16_row(c, row), wide, 1)


@compiled()
def move_row(c, at, row, wide, narrow, flush, first_column):
    """A row of a source at `at` into a row of Dst."""
    words_at = scratch_of(c) + ROW_A
    words_of_source(at, words_at, KEEP_TF32)
    if first_column:
        fill_row(words_at, load_u32(words_at))
    if flush:
        flush_words(words_at, words_at)
    write_dst_row(c, row, wide, int(narrow), words_at)


@compiled()
def source_to_dst(c, thread, word, from_b, dst, source, count, same_row, first_column):
    """Rows of a source into Dst.  `same_row`: one row for all; `first_column`: its first value for all columns."""
    data, low, flush = format_of_a(c, thread, from_b), low_half_of(word), flushes_denormals(c, thread)
    narrow = forced_to_fp16(c, thread) or (is_narrow(data) and data != TF32)
    base, bank = (c.src_b_at, c.matrix_bank_b) if from_b else (c.src_a_at, c.matrix_bank_a)
    keep = 0x7FFFF
    if from_b:
        own = format_of_b(c, thread)
        keep = 0x7FF1F if is_narrow(own) else 0x7FFFF if own == TF32 else 0x7F8FF
    whole = not low and not blocks_columns(c) and (data != TF32 or keep == 0x7FFFF)
    for i in range(count):
        at, row = src_at(base, bank, src_row(source if same_row else source + i)), dst + i
        if whole:
            move_row(c, at, row, data == TF32, narrow, flush, first_column)
            continue
        for column in range(COLUMNS):
            if is_blocked(c, column):
                continue
            value = load_u32(at + 4 * (0 if first_column else column))
            if flush and value & 0xFF == 0:
                value = 0
            put_moved(c, row, column, value & keep, data, narrow, low)
        finish_row(c, row, data, low)


@compiled()
def move_a_to_dst(c, thread, word):
    """MOVA2D, MOVDBGA2D: one row or eight."""
    mode = word >> 12 & (3 if chip_of(c) == BLACKHOLE else 7)
    rwc, source = rwc_of(c, thread), word >> 17 & 0x3F
    dst, source = dst_row_of(c, thread, word), src_row(source + rwc.src_a)
    matrix_of(c).last_src_a_row = source
    if mode & 2:
        source_to_dst(c, thread, word, False, dst & 0x3F8, source & 0x38, 8, False, False)
    else:
        source_to_dst(c, thread, word, False, dst, source, 1, False, False)


@compiled()
def move_b_to_dst(c, thread, word):
    """MOVB2D: one row, four, or one to eight; with the first column for all."""
    mode = word >> 11 & 7 if chip_of(c) == BLACKHOLE else word >> 12 & 7
    dst, source = dst_row_of(c, thread, word), src_row((word >> 17 & 0x3F) + rwc_of(c, thread).src_b)
    matrix_of(c).last_src_a_row = rwc_of(c, thread).src_a
    first_column = mode & 1 != 0
    if mode & 2:
        source_to_dst(c, thread, word, True, dst & 0x3F8, source, 8, True, first_column)
    elif mode & 4:
        source_to_dst(c, thread, word, True, dst & 0x3FC, source & 0x3C, 4, False, first_column)
    else:
        source_to_dst(c, thread, word, True, dst, source, 1, False, first_column)


@compiled()
def value_of_dst(c, row, column, wide, low, data, narrow):
    """A value of Dst as 19 bits of a source."""
    if wide:
        value = 0 if is_undefined(c, dst32_row(row)) else read_dst32(c, row, column)
        if low and data == TF32:
            return value & 0x1FFF
        half = value & 0xFFFF if low else value >> 16
        if data == TF32 and not narrow:
            return (half & 0xFF00) << 3 | (value >> 13 & 7) << 8 | (half & 0xFF)
    else:
        half = 0 if is_undefined(c, dst16_row(c, row)) else read_dst16(c, dst16_row(c, row), column)
    return (half & 0xFFE0) << 3 | (half & 0x1F) if narrow else (half & 0xFF00) << 3 | (half & 0xFF)


@compiled()
def move_dst_to_source(c, thread, word):
    """MOVD2A, MOVD2B: one row of Dst or four."""
    to_b, low, wide, rwc = word >> 24 == MOVD2B, low_half_of(word), has_wide_dst(c, thread), rwc_of(c, thread)
    data = format_of_a(c, thread, to_b)
    narrow = forced_to_fp16(c, thread) or is_narrow(data)
    if not wide and (low or (data == TF32 and not narrow)):
        stop(c, MISUSE, thread, word, data, 1 if low else 0)
        return
    source, dst = src_row((word >> 17 & 0x3F) + (rwc.src_b if to_b else rwc.src_a)), dst_row_of(c, thread, word)
    base, bank, count = (c.src_b_at, c.matrix_bank_b, 1) if to_b else (c.src_a_at, c.matrix_bank_a, 1)
    matrix_of(c).last_src_a_row = rwc.src_a if to_b else source
    if word >> 12 & 2:
        source, dst, count = source & 0x3C, dst & 0x3FC, 4
    whole, words_at = not low and not (wide and narrow) and not blocks_columns(c), scratch_of(c) + ROW_A
    for i in range(count):
        at = src_at(base, bank, source + i)
        if whole:
            read_dst_row(c, dst + i, wide, int(narrow), words_at)
            source_of_words(words_at, at, KEEP_FP16 if narrow else KEEP_TF32 if data == TF32 else KEEP_BF16)
            continue
        for column in range(COLUMNS):
            if not is_blocked(c, column):
                store_32(at + 4 * column, value_of_dst(c, dst + i, column, wide, low, data, narrow))


@compiled()
def move_b_to_a(c, thread, word):
    """MOVB2A: one row of SrcB or four."""
    mode, rwc, flush = word >> 12 & 3, rwc_of(c, thread), flushes_denormals(c, thread)
    to, source = src_row((word >> 17 & 0x3F) + rwc.src_a), src_row((word & 0x3F) + rwc.src_b)
    matrix_of(c).last_src_a_row = to
    count = 4 if mode & 2 else 1
    if count == 4:
        to, source = to & 0x3C, source & 0x3C
    for i in range(count):
        a, b = src_at(c.src_a_at, c.matrix_bank_a, to + i), src_at(c.src_b_at, c.matrix_bank_b, source + i)
        for column in range(COLUMNS):
            value = load_u32(b + 4 * column)
            store_32(a + 4 * column, 0 if flush and value & 0xFF == 0 else value)


@compiled()
def mark_rows(c, first, count, wide, define):
    """Mark rows of Dst as undefined, or as defined."""
    for i in range(count):
        physical = dst32_row(first + i) if wide else dst16_row(c, first + i)
        if define:
            define_rows(c, physical, wide, 1)
        else:
            undefine_row(c, physical, wide)


@compiled()
def clear_fields(c, word):
    """(mode, 32-bit values, unmark) of ZEROACC."""
    wide = word >> 18 & 1 if chip_of(c) == BLACKHOLE else word >> 21 & 1
    return word >> 19 & 3, wide, word >> 17 & 1 if chip_of(c) == BLACKHOLE else word >> 18 & 1


@compiled()
def tile_offset(c, thread, wide):
    """Groups of sixteen rows that Blackhole adds to ZEROACC's when the thread works on the second half of Dst."""
    if chip_of(c) != BLACKHOLE or field(c, config_bank(c, thread), ABSOLUTE_TILES, 0) != 0:
        return 0
    offset = dst_offset(c, thread) + rwc_of(c, thread).dst
    if wide:
        return 16 if offset & 0x300 else 0
    return 32 if offset & 0x200 else 0


@compiled()
def clear_dst(c, thread, word):
    """ZEROACC: mark one row, sixteen, half of Dst or all of it as undefined."""
    mode, wide, define = clear_fields(c, word)
    if define != 0 and (mode != SIXTEEN_ROWS or chip_of(c) != BLACKHOLE):
        stop(c, UNKNOWN_MODE, thread, word, mode, define)
    elif mode == ONE_ROW:
        mark_rows(c, dst_row_of(c, thread, word), 1, has_wide_dst(c, thread), False)
    elif mode == SIXTEEN_ROWS:
        group = (word & 0xFF) + tile_offset(c, thread, wide)
        if group < (DST_ROWS // 32 if wide else DST_ROWS // 16):
            mark_rows(c, FACE_ROWS * group, FACE_ROWS, wide != 0, define != 0)
    else:
        first = DST_ROWS // 2 * (word & 1) if mode == HALF else 0
        for row in range(first, first + DST_ROWS // 2 if mode == HALF else DST_ROWS):
            undefine_row(c, row, False)


@compiled()
def fill_bank(base, bank, value):
    """Fill a bank of a source with a value."""
    at = src_at(base, bank, 0)
    if value == 0:
        zero_bytes(at, SRC_BANK_BYTES)
    else:
        for i in range(SRC_ROWS * COLUMNS):
            store_32(at + 4 * i, value)


@compiled()
def clear_sources(c, word):
    """ZEROSRC: banks of SrcA to zero or minus infinity, of SrcB to zero."""
    both, reads = word >> 2 & 1 != 0, word >> 3 & 1 != 0
    value = MINUS_INFINITY if word >> 4 & 1 else 0
    for bank in range(2):
        if word & 1 and (both or bank == (c.matrix_bank_a if reads else c.unpack_bank_a)):
            fill_bank(c.src_a_at, bank, value)
        if word & 2 and (both or bank == (c.matrix_bank_b if reads else c.unpack_bank_b)):
            fill_bank(c.src_b_at, bank, 0)


@compiled()
def transpose_b(c):
    """TRNSPSRCB: rows 16 to 31 of SrcB."""
    for i in range(FACE_ROWS):
        for j in range(i):
            upper = src_at(c.src_b_at, c.matrix_bank_b, TRANSPOSED_ROW + j) + 4 * i
            lower = src_at(c.src_b_at, c.matrix_bank_b, TRANSPOSED_ROW + i) + 4 * j
            value = load_u32(upper)
            store_32(upper, load_u32(lower))
            store_32(lower, value)


@compiled()
def shift_a(c, thread, word):
    """SHIFTXA: sixteen rows of SrcA to its first rows, by one column; which ones, an earlier instruction decides (ISA)."""
    mode, first = word & 3, matrix_of(c).last_src_a_row & 0x30
    if mode != SHIFT_RIGHT and mode != SHIFT_LEFT:
        stop(c, UNKNOWN_MODE, thread, word, mode, 0)
        return
    for i in range(FACE_ROWS):
        to, source = src_at(c.src_a_at, c.matrix_bank_a, i), src_at(c.src_a_at, c.matrix_bank_a, first + i)
        for k in range(COLUMNS - 1):
            if mode == SHIFT_RIGHT:
                store_32(to + 4 * (COLUMNS - 1 - k), load_u32(source + 4 * (COLUMNS - 2 - k)))
            else:
                store_32(to + 4 * k, load_u32(source + 4 * (k + 1)))
        store_32(to if mode == SHIFT_RIGHT else to + 4 * (COLUMNS - 1), 0)


@compiled()
def shift_b(c, thread, word):
    """SHIFTXB: one row of SrcB to the left by one column, rotating or with 0 coming in.

    The last but one column gets the last one's value, as the summary of the page says and its loop does not.
    """
    at = src_at(c.src_b_at, c.matrix_bank_b, src_row((word & 0x3F) + rwc_of(c, thread).src_b))
    first = load_u32(at)
    for column in range(COLUMNS - 1):
        store_32(at + 4 * column, load_u32(at + 4 * (column + 1)))
    store_32(at + 4 * (COLUMNS - 1), 0 if word >> 10 & 1 else first)
