"""Products and sums of the matrix unit: MVMUL, DOTPV, GAPOOL, ELWADD, ELWSUB, ELWMUL (ISA).

Bit for bit the arithmetic of `tensim.sim.cores.numerics.matrix_unit` (docs/hardware/numerics.md).  With `c.fast` products of
formats with 8-bit exponents are the host's float32 products: phase 0 has all of them, the other phases none.
"""

from tensim.sim.cores.coprocessor.address_mods import rwc_of
from tensim.sim.cores.coprocessor.faults import MISUSE, UNKNOWN_MODE, stop
from tensim.sim.cores.coprocessor.matrix_formats import (
    FP16,
    computes_integers,
    dst_row_of,
    fidelity_phase,
    flushes_denormals,
    forced_to_fp16,
    format_of_a,
    format_of_b,
    has_wide_dst,
    is_narrow,
    kept_bits,
    src_row,
)
from tensim.sim.cores.coprocessor.matrix_rows import (
    combine_integers,
    fill_row,
    integers_of_source,
    multiply_finite_floats,
    multiply_floats,
    multiply_integers,
    negate_integers,
    read_dst_row,
    round_to_bf16,
    words_of_source,
    write_dst_row,
)
from tensim.sim.cores.coprocessor.matrix_state import (
    FACE_ROWS,
    ROW_A,
    ROW_B,
    ROW_OUT,
    SPLIT_A,
    SPLIT_B,
    matrix_of,
    scratch_of,
)
from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.state import BLACKHOLE, chip_of, src_at
from tensim.sim.cores.numerics.exact_math import A_BITS, phase_offset
from tensim.sim.cores.numerics.matrix_unit import (
    SPLIT_ROW,
    WORD_ROW,
    add_words,
    dst_settings,
    flush_words,
    multiply_row,
    multiply_words,
    split_a,
    split_b,
)
from tensim.sim.cores.numerics.simd_lanes import largest_magnitude
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_u32

MVMUL, DOTPV, GAPOOL, ELWMUL, ELWSUB = opcodes("MVMUL DOTPV GAPOOL ELWMUL ELWSUB")
BROADCAST_COLUMN, BROADCAST_ROW = 1, 2  # of SrcB, in ELW*'s mode
REBIAS = 112  # from 5-bit to 8-bit exponents
LOW_BITS_A, HIGH_BITS_A, LOW_BITS_B, HIGH_BITS_B = 0x1F, 0xE0, 0x0F, 0x3F0  # of magnitudes, by fidelity phase
ALL_BITS = 0x3FF
INFINITY = 0x7F800000  # magnitudes of float32 from here on are infinity and NaN


@compiled()
def unit_of(c, narrow, wide):
    """What `tensim.sim.cores.numerics.exact_math` needs to know of a core; phases and scratch area are not used here."""
    return 1, narrow, 1 if wide else 0, 0 if chip_of(c) == BLACKHOLE else 1, 0


@compiled()
def mode_of_sources(c, thread):
    """(SrcA's bits of a word, SrcB's, sources have 5-bit exponents as 0 or 1)."""
    if forced_to_fp16(c, thread):
        return kept_bits(FP16), kept_bits(FP16), 1
    a, b = format_of_a(c, thread, False), format_of_b(c, thread)
    return kept_bits(a), kept_bits(b), int(is_narrow(a))


@compiled()
def broadcast_column(row):
    """The first of 16 words for all."""
    fill_row(row, load_u32(row))


@compiled()
def multiply_rows(c, thread, dst, row_a, row_b, count, broadcast):
    """Rows of Dst += rows of SrcB times a 16x16 matrix of SrcA; with `broadcast` every second row, all of one of SrcB."""
    at, (keep_a, keep_b, narrow), wide = scratch_of(c), mode_of_sources(c, thread), has_wide_dst(c, thread)
    phase, unit = fidelity_phase(c, thread), unit_of(c, narrow, wide)
    settings, (offset, floor) = dst_settings(narrow == 1, unit[2], unit[3]), phase_offset(unit, phase)
    fast, largest = c.fast != 0 and narrow == 0, 0
    for k in range(FACE_ROWS):
        source = src_at(c.src_a_at, c.matrix_bank_a, src_row(row_a + k))
        words_of_source(source, at + ROW_A, keep_a)
        if fast:
            flush_words(at + ROW_A, at + SPLIT_A + WORD_ROW * k)
            largest = max(largest, largest_magnitude(at + ROW_A))
        else:
            split_a(at + ROW_A, at + SPLIT_A + SPLIT_ROW * k, phase & 1, -A_BITS * (phase & 1))
    for i in range(0, count, 2 if broadcast else 1):
        source = src_at(c.src_b_at, c.matrix_bank_b, src_row(row_b + (0 if broadcast else i)))
        words_of_source(source, at + ROW_B, keep_b)
        read_dst_row(c, dst + i, wide, narrow, at + ROW_OUT)
        if fast:
            if phase == 0:
                flush_words(at + ROW_B, at + ROW_B)
                if max(largest, largest_magnitude(at + ROW_B)) < INFINITY:
                    multiply_finite_floats(at + SPLIT_A, at + ROW_B, at + ROW_OUT)
                else:
                    multiply_floats(at + SPLIT_A, at + ROW_B, at + ROW_OUT)
                if not wide:
                    round_to_bf16(at + ROW_OUT)
        else:
            split_b(at + ROW_B, at + SPLIT_B, phase >> 1, offset)
            multiply_row(at + SPLIT_A, at + SPLIT_B, at + ROW_OUT, floor, settings)
        write_dst_row(c, dst + i, wide, narrow, at + ROW_OUT)


@compiled()
def multiply_integer_rows(c, thread, dst, row_a, row_b, count, broadcast):
    """As `multiply_rows` for integers, of which a phase takes some bits; sums of 16 products saturate."""
    at, phase, flush = scratch_of(c), fidelity_phase(c, thread), -1 if flushes_denormals(c, thread) else 0
    for k in range(FACE_ROWS):
        source = src_at(c.src_a_at, c.matrix_bank_a, src_row(row_a + k))
        integers_of_source(source, at + SPLIT_A + WORD_ROW * k, LOW_BITS_A if phase & 1 else HIGH_BITS_A, -1)
    for i in range(0, count, 2 if broadcast else 1):
        source = src_at(c.src_b_at, c.matrix_bank_b, src_row(row_b + (0 if broadcast else i)))
        integers_of_source(source, at + ROW_B, LOW_BITS_B if phase & 2 else HIGH_BITS_B, flush)
        read_dst_row(c, dst + i, True, 0, at + ROW_OUT)
        multiply_integers(at + SPLIT_A, at + ROW_B, at + ROW_OUT)
        write_dst_row(c, dst + i, True, 0, at + ROW_OUT)


@compiled()
def multiply_matrices(c, thread, word):
    """MVMUL, DOTPV, GAPOOL: their rows, then the product."""
    code, mode, rwc = word >> 24, word >> 19 & 7, rwc_of(c, thread)
    broadcast, count = code == MVMUL and mode == 1, 4 if code == GAPOOL else 8
    if (code == MVMUL and mode > 1) or (code == GAPOOL and word >> 14 & 1 != 0):
        stop(c, UNKNOWN_MODE, thread, word, mode, 0)
        return
    if not flushes_denormals(c, thread) and not computes_integers(c, thread):
        stop(c, MISUSE, thread, word, mode, 0)  # what becomes of denormals then is not known
        return
    row_a = rwc.src_a & 0x38
    matrix_of(c).last_src_a_row = row_a
    row_b = rwc.src_b if broadcast else rwc.src_b & 0x38
    if broadcast:
        count = 7
    dst = dst_row_of(c, thread, word) & (0x400 - count)
    if computes_integers(c, thread):
        multiply_integer_rows(c, thread, dst, row_a, row_b, count, broadcast)
    else:
        multiply_rows(c, thread, dst, row_a, row_b, count, broadcast)


@compiled()
def load_operands(c, at, row_a, row_b, keep_a, keep_b, columns):
    """A row of each source as words; `columns`: SrcB's first column for all."""
    words_of_source(src_at(c.src_a_at, c.matrix_bank_a, row_a), at + ROW_A, keep_a)
    words_of_source(src_at(c.src_b_at, c.matrix_bank_b, row_b), at + ROW_B, keep_b)
    if columns != 0:
        broadcast_column(at + ROW_B)


@compiled()
def combine_rows(c, thread, code, dst, row_a, row_b, mode, keep):
    """Eight rows of Dst = or += (`keep`: 0 or -1) those of SrcA and SrcB combined."""
    at, (keep_a, keep_b, narrow), wide = scratch_of(c), mode_of_sources(c, thread), has_wide_dst(c, thread)
    phase, unit = fidelity_phase(c, thread), unit_of(c, narrow, wide)
    settings, (offset, floor) = dst_settings(narrow == 1, unit[2], unit[3]), phase_offset(unit, phase)
    low_a, low_b, denormals = phase & 1, phase >> 1, 0 if flushes_denormals(c, thread) else -1
    for i in range(8):
        load_operands(
            c, at, row_a + i, row_b + (0 if mode & BROADCAST_ROW else i), keep_a, keep_b, mode & BROADCAST_COLUMN
        )
        out = at + ROW_OUT
        read_dst_row(c, dst + i, wide, narrow, out)
        if code == ELWMUL:
            base = offset - A_BITS * low_a
            multiply_words(at + ROW_A, at + ROW_B, out, low_a, low_b, denormals, base, floor, settings)
        else:
            rebias = REBIAS if narrow == 1 and wide else 0
            add_words(at + ROW_A, at + ROW_B, out, int(code == ELWSUB), keep, denormals, rebias, settings)
        write_dst_row(c, dst + i, wide, narrow, out)


@compiled()
def combine_integer_rows(c, thread, code, dst, row_a, row_b, mode, keep):
    """As `combine_rows` for integers."""
    at, phase, flush = scratch_of(c), fidelity_phase(c, thread), -1 if flushes_denormals(c, thread) else 0
    bits_a = bits_b = ALL_BITS
    if code == ELWMUL:
        bits_a, bits_b = LOW_BITS_A if phase & 1 else HIGH_BITS_A, LOW_BITS_B if phase & 2 else HIGH_BITS_B
    for i in range(8):
        other = row_b + (0 if mode & BROADCAST_ROW else i)
        integers_of_source(src_at(c.src_a_at, c.matrix_bank_a, row_a + i), at + ROW_A, bits_a, -1)
        integers_of_source(src_at(c.src_b_at, c.matrix_bank_b, other), at + ROW_B, bits_b, flush)
        if mode & BROADCAST_COLUMN:
            broadcast_column(at + ROW_B)
        if code == ELWSUB:
            negate_integers(at + ROW_B)
        read_dst_row(c, dst + i, True, 0, at + ROW_OUT)
        combine_integers(at + ROW_A, at + ROW_B, at + ROW_OUT, int(code == ELWMUL), keep)
        write_dst_row(c, dst + i, True, 0, at + ROW_OUT)


@compiled()
def combine_elements(c, thread, word):
    """ELWADD, ELWSUB, ELWMUL: their rows, then the result."""
    code, mode, rwc = word >> 24, word >> 19 & 3, rwc_of(c, thread)
    row_a, row_b = rwc.src_a & 0x38, rwc.src_b if mode & BROADCAST_ROW else rwc.src_b & 0x38
    matrix_of(c).last_src_a_row = row_a
    dst, keep = dst_row_of(c, thread, word) & 0x3F8, -1 if code == ELWMUL or word >> 21 & 1 else 0
    if computes_integers(c, thread):
        combine_integer_rows(c, thread, code, dst, row_a, row_b, mode, keep)
        return
    if code != ELWMUL and fidelity_phase(c, thread) != 0:  # the sum would be divided
        stop(c, MISUSE, thread, word, fidelity_phase(c, thread), 0)
        return
    combine_rows(c, thread, code, dst, row_a, row_b, mode, keep)
