"""Tile operations of the matrix unit, bit for bit: which rows meet in which order (docs/hardware/numerics.md).

Tiles are 1024 words in face order at host addresses; see `tensim.sim.cores.numerics.matrix_unit` for the words.  `unit` is what an
operation needs to know of the core: (fidelity phases, sources have 5-bit exponents, 32-bit Dst, renormalisation quirk,
address of the scratch area), from `tensix_exact.unit_of`.
"""

from tensim.sim.cores.numerics.matrix_unit import (
    SPLIT_ROW,
    WORD_ROW,
    add_words,
    dst_settings,
    exponent_offset,
    flush_words,
    max_words,
    multiply_row,
    multiply_words,
    rebias_words,
    split_a,
    split_b,
)
from tensim.sim.cores.numerics.simd_lanes import ROW
from tensim.sim.cores.numerics.tile import FACE_SIDE, TILE_ROWS
from tensim.sim.cores.numerics.tile_math import element
from tensim.sim.cores.numerics.unpacker import copy_words
from tensim.sim.cores.operations import Bcast, Binary, Pool, ReduceDim
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_u32, store_32

FACE_BYTES, TILE_BYTES, SPLIT_FACE = FACE_SIDE * WORD_ROW, TILE_ROWS * WORD_ROW, FACE_SIDE * SPLIT_ROW
A_BITS, B_BITS = 5, 7  # mantissa bits of an operand in one phase: what the exponents of the later phases lie lower by
SPLIT_B, SPARE_TILE = TILE_ROWS * SPLIT_ROW, 2 * TILE_ROWS * SPLIT_ROW  # places in the scratch area, behind split A
SCRATCH_BYTES = SPARE_TILE + 2 * TILE_BYTES
ALL_BITS, KEPT_TF32, KEPT_BF16 = 0xFFFFFFFF, 0xFFFFE000, 0xFFFF0000  # of words that pass through a source register
MINUS_INFINITY = 0xFFFFFFFF  # what an undefined row of Dst counts as in a maximum
LARGEST_INTEGER = (1 << 31) - 1


@compiled()
def phase_offset(unit, phase):
    """(offset of B's exponents, exponent that a zero product counts with) in a fidelity phase.

    Source: docs/hardware/numerics.md#products.
    """
    offset = exponent_offset(unit[1], unit[2]) - B_BITS * (phase >> 1)
    return offset, max(offset - A_BITS * (phase & 1), 0)


@compiled()
def split_rows(unit, phase, a, b, rows_a, rows_b):
    """Split rows of both operands for a phase into the scratch area."""
    at, offset = unit[4], phase_offset(unit, phase)[0]
    for row in range(rows_a):
        split_a(a + WORD_ROW * row, at + SPLIT_ROW * row, phase & 1, -A_BITS * (phase & 1))
    for row in range(rows_b):
        split_b(b + WORD_ROW * row, at + SPLIT_B + SPLIT_ROW * row, phase >> 1, offset)


@compiled()
def matmul_exact(in0, in1, dst, unit):
    """Dst += in0 @ in1.  Order: phase, inner face, face row, face column.

    Source: docs/hardware/numerics.md#accumulation-into-dst.; in0 is SrcB.
    """
    multiply_faces(in0, in1, dst, unit, 1)


@compiled()
def multiply_faces(in0, in1, dst, unit, step):
    """`matmul_exact` for every face of Dst, or with a `step` of 2 for the left ones."""
    settings = dst_settings(unit[1], unit[2], unit[3])
    for phase in range(unit[0]):
        split_rows(unit, phase, in1, in0, TILE_ROWS, TILE_ROWS)
        floor = phase_offset(unit, phase)[1]
        for inner in range(2):
            for face in range(0, 4, step):
                rows = unit[4] + SPLIT_B + SPLIT_FACE * (2 * (face >> 1) + inner)
                columns = unit[4] + SPLIT_FACE * (2 * inner + (face & 1))
                for row in range(FACE_SIDE):
                    out = dst + FACE_BYTES * face + WORD_ROW * row
                    multiply_row(columns, rows + SPLIT_ROW * row, out, floor, settings)


@compiled()
def integer_of(word):
    """Value of a sign-and-magnitude integer."""
    return -(word & 0x7FFFFFFF) if word >> 31 else word


@compiled()
def integer_parts(a, b, phase):
    """What a fidelity phase multiplies of two integers: 5 or 3 bits of A's magnitude, 4 or 6 bits of B's.

    Source: docs/hardware/numerics.md#fidelity-phases.
    """
    low_a, low_b = abs(a) & 31, abs(b) & 15
    left = low_a if phase & 1 else (abs(a) & 255) - low_a
    right = low_b if phase >> 1 else (abs(b) & 1023) - low_b
    return left * right if (a < 0) == (b < 0) else -left * right


@compiled()
def add_integer(address, value):
    """Add to a sign-and-magnitude integer of Dst, saturating."""
    total = integer_of(load_u32(address)) + value
    magnitude = min(abs(total), LARGEST_INTEGER)
    store_32(address, magnitude | 0x80000000 if total < 0 else magnitude)


@compiled()
def matmul_integers(in0, in1, dst, phases):
    """Dst += in0 @ in1 for 8-bit integers: exact products, one saturating sum per 16 terms."""
    for phase in range(phases):
        for inner in range(0, 32, ROW):
            for row in range(32):
                for column in range(32):
                    total = 0
                    for k in range(inner, inner + ROW):
                        b = integer_of(load_u32(in0 + 4 * element(row, k)))
                        a = integer_of(load_u32(in1 + 4 * element(k, column)))
                        total += integer_parts(a, b, phase)
                    add_integer(dst + 4 * element(row, column), total)


@compiled()
def broadcast_exact(source, bcast, target):
    """target = the first column, first row or first element of a tile, repeated over the tile."""
    for row in range(32):
        for column in range(32):
            first = element(row, 0) if bcast == Bcast.COL else element(0, column) if bcast == Bcast.ROW else 0
            store_32(target + 4 * element(row, column), load_u32(source + 4 * first))


@compiled()
def transpose_exact(source, target):
    """target = transpose of source; the two must not overlap."""
    for row in range(32):
        for column in range(32):
            store_32(target + 4 * element(column, row), load_u32(source + 4 * element(row, column)))


@compiled()
def binary_exact(op, a, b, dst, accumulate, unit):
    """Dst = a op b, or Dst += a op b.  Multiplication always adds, one phase after the other; sums have no phases."""
    settings = dst_settings(unit[1], unit[2], unit[3])
    if op != Binary.MUL:
        rebias = 112 if unit[1] and unit[2] != 0 else 0
        for row in range(TILE_ROWS):
            at = WORD_ROW * row
            add_words(a + at, b + at, dst + at, int(op == Binary.SUB), -int(accumulate != 0), 0, rebias, settings)
        return
    for phase in range(unit[0]):
        offset, floor = phase_offset(unit, phase)
        low_a, low_b = phase & 1, phase >> 1
        for row in range(TILE_ROWS):
            at = WORD_ROW * row
            multiply_words(a + at, b + at, dst + at, low_a, low_b, 0, offset - A_BITS * low_a, floor, settings)


@compiled()
def copy_exact(source, target, is_float, unit):
    """MOVA2D of a tile: denormals become zero; 5-bit exponents become 8-bit ones in a 32-bit Dst."""
    for row in range(TILE_ROWS):
        at = WORD_ROW * row
        if not is_float:
            copy_words(source + at, target + at)
        elif unit[1] and unit[2] != 0:
            rebias_words(source + at, target + at)
        else:
            flush_words(source + at, target + at)


# --- reductions: GAPOOL and GMPOOL work down the columns of a face; the maximum of a row is that of a transposed tile's column


@compiled()
def pool_face(pool, face, scaler, row, unit):
    """Combine the rows of a 16x16 face, times the scaler, into a row of 16 words.

    A maximum takes only the exponent of the scaler; 5-bit exponents are rebased for a 32-bit Dst
    (docs/hardware/numerics.md#pools-and-moves).
    """
    if pool == Pool.MAX:
        bias = 127
        if unit[1]:
            bias = 15 - 112 if unit[2] != 0 else 15
        steps = (load_u32(scaler) >> 23 & 255) - bias
        for k in range(FACE_SIDE):
            max_words(face + WORD_ROW * k, row, steps)
        return
    settings = dst_settings(unit[1], unit[2], unit[3])
    for phase in range(unit[0]):
        split_rows(unit, phase, face, scaler, FACE_SIDE, 1)
        multiply_row(unit[4], unit[4] + SPLIT_B, row, phase_offset(unit, phase)[1], settings)


@compiled()
def fill_words(address, count, word):
    for i in range(count):
        store_32(address + 4 * i, word)


@compiled()
def reduce_exact(pool, dim, a, scaler, dst, fresh, kept, unit):
    """Reduce a tile over rows (result in column 0), columns (row 0) or both (element 0), times the scaler.

    Combines with what Dst holds unless it is fresh; then the rest of the tile becomes 0.  Sums of rows are products with
    the scaler's row 0 as a column; what its other rows would give, the packer masks.  The maxima of rows, and the
    columns' results where both are reduced, pass through SrcB, which keeps the bits `kept` of each word (tt-llk,
    llk_math_reduce.h; ISA: MOVD2B.md, MOVB2D.md).
    """
    start = MINUS_INFINITY if pool == Pool.MAX else 0
    row, tile = unit[4] + SPARE_TILE, unit[4] + SPARE_TILE + TILE_BYTES
    if fresh:
        fill_words(dst, 4 * FACE_SIDE * ROW, 0)
    if dim == ReduceDim.ROW and pool != Pool.MAX:
        fill_words(tile, 4 * FACE_SIDE * ROW, 0)
        for i in range(2 * FACE_SIDE):
            store_32(tile + 4 * element(i, 0), load_u32(scaler + 4 * element(0, i)))
        multiply_faces(a, tile, dst, unit, 2)
        return
    source = a
    if dim == ReduceDim.ROW:
        transpose_exact(a, tile)
        source = tile
    if dim == ReduceDim.COL or dim == ReduceDim.ROW:
        for half in range(2):
            for i in range(ROW):
                at = element(16 * half + i, 0) if dim == ReduceDim.ROW else element(0, 16 * half + i)
                store_32(row + 4 * i, start if fresh else load_u32(dst + 4 * at))
            for face in range(2):
                pool_face(pool, source + FACE_BYTES * (2 * face + half), scaler, row, unit)
            for i in range(ROW):
                at = element(16 * half + i, 0) if dim == ReduceDim.ROW else element(0, 16 * half + i)
                store_32(dst + 4 * at, load_u32(row + 4 * i) & (kept if dim == ReduceDim.ROW else ALL_BITS))
        return
    fill_words(row, ROW, start)
    for face in range(4):
        pool_face(pool, source + FACE_BYTES * face, scaler, row, unit)
    second = row + WORD_ROW
    fill_words(tile, FACE_SIDE * ROW, start)
    for i in range(ROW):  # the second pass: the 16 partial results as a column
        store_32(tile + WORD_ROW * i, load_u32(row + 4 * i) & kept)
    fill_words(second, ROW, start)
    if not fresh:
        store_32(second, load_u32(dst))
    pool_face(pool, tile, scaler, second, unit)
    store_32(dst, load_u32(second))
