"""Tile arithmetic in float32 (`numerics=fast`): matrix product, element-wise, reductions, transposition.

The matrix unit knows neither infinity nor NaN: what it multiplies with zero is zero (docs/hardware/numerics.md#products), and so
it is here.  Unused parts of tiles may hold anything, and kernels mask them by factors of zero.

A tile is 1024 float32 words in face order: four 16x16 faces (top-left, top-right, bottom-left, bottom-right), each
row-major, at an offset in a large array.  Integer formats keep int32 bit patterns in the same words and only pass through.
"""

import numpy as np

from tensim.sim.cores.numerics.matrix_unit import WORD_ROW
from tensim.sim.cores.numerics.number_order import larger
from tensim.sim.cores.numerics.simd_lanes import largest_magnitude
from tensim.sim.cores.numerics.tile import FACE_DATUMS, FACE_SIDE, TILE_DATUMS, TILE_ROWS, TILE_SIDE
from tensim.sim.cores.numerics.tile_formats import bits_of_float, float_of_bits, signed_word
from tensim.sim.cores.numerics.tile_vectors import ROW, ROWS_AT_ONCE, multiply_rows
from tensim.sim.cores.operations import Bcast, Binary, Pool, ReduceDim
from tensim.sim.engine.compiled import compiled

WORD = 4  # bytes
EXPONENT, LARGEST_INTEGER = 0x7F800000, (1 << 31) - 1


@compiled(inline="always")
def element(row, column):
    """Position of (row, column) of a 32x32 tile in face order."""
    return (row >> 4) * 512 + (column >> 4) * FACE_DATUMS + (row & 15) * 16 + (column & 15)


@compiled()
def matmul_tile(in0, o0, in1, o1, dst, do):
    """dst += in0 @ in1, inner faces left to right, one rounding per term; the three must not overlap."""
    left, right, out = in0.ctypes.data + WORD * o0, in1.ctypes.data + WORD * o1, dst.ctypes.data + WORD * do
    for row in range(2):
        for column in range(2):
            for inner in range(2):
                a, b = left + WORD * FACE_DATUMS * (2 * row + inner), right + WORD * FACE_DATUMS * (2 * inner + column)
                c = out + WORD * FACE_DATUMS * (2 * row + column)
                for i in range(0, WORD * FACE_DATUMS, WORD * ROW * ROWS_AT_ONCE):
                    multiply_rows(a + i, b, c + i)


@compiled()
def is_finite(words):
    """Whether 1024 float32 words at a host address hold neither infinity nor NaN."""
    most = 0
    for row in range(TILE_ROWS):
        most = max(most, largest_magnitude(words + WORD_ROW * row))
    return most < 0x7F800000


@compiled(inline="always")
def product(x, y):
    """x * y, zero if one of them is."""
    return x * y if x != 0 and y != 0 else np.float32(0)


@compiled()
def matmul_tile_of_any(in0, o0, in1, o1, dst, do):
    """`matmul_tile` for operands that hold infinity or NaN."""
    for row in range(TILE_SIDE):
        for column in range(TILE_SIDE):
            total = dst[do + element(row, column)]
            for k in range(TILE_SIDE):
                total += product(in0[o0 + element(row, k)], in1[o1 + element(k, column)])
            dst[do + element(row, column)] = total


@compiled()
def matmul_tile_of_integers(in0, o0, in1, o1, dst, do):
    """`matmul_tile` for integers of 8 bits: sums in 32 bits, saturating (docs/hardware/numerics.md#accumulation-into-dst)."""
    for row in range(TILE_SIDE):
        for column in range(TILE_SIDE):
            total = signed_word(dst[do + element(row, column)])
            for k in range(TILE_SIDE):
                total += signed_word(in0[o0 + element(row, k)]) * signed_word(in1[o1 + element(k, column)])
            dst[do + element(row, column)] = float_of_bits(min(max(total, -LARGEST_INTEGER), LARGEST_INTEGER))


@compiled()
def transpose_tile(source, so, target, to):
    """target = transpose of source; the two must not overlap."""
    for row in range(TILE_SIDE):
        for column in range(TILE_SIDE):
            target[to + element(column, row)] = source[so + element(row, column)]


@compiled()
def broadcast_offset(bcast, i):
    """Position in B of the datum that meets position i of A: column 0, row 0 or element 0 of B is repeated."""
    row = (i >> 9) * 16 + ((i >> 4) & 15)
    column = ((i >> 8) & 1) * 16 + (i & 15)
    if bcast == Bcast.COL:
        return element(row, 0)
    if bcast == Bcast.ROW:
        return element(0, column)
    return 0


@compiled()
def binary_tile(op, bcast, a, ao, b, bo, dst, do, accumulate):
    """dst = a op b (`Binary`), added to dst when `accumulate`."""
    for i in range(TILE_DATUMS):
        x = a[ao + i]
        y = b[bo + (i if bcast == Bcast.NONE else broadcast_offset(bcast, i))]
        value = x + y if op == Binary.ADD else (x - y if op == Binary.SUB else product(x, y))
        dst[do + i] = dst[do + i] + value if accumulate != 0 else value


@compiled()
def copy_tile(source, so, bcast, target, to):
    """target = source, or its column 0, row 0 or element 0 repeated."""
    for i in range(TILE_DATUMS):
        target[to + i] = source[so + (i if bcast == Bcast.NONE else broadcast_offset(bcast, i))]


@compiled(inline="always")
def pooled(pool, old, value):
    return larger(old, value) if pool == Pool.MAX else old + value


@compiled(inline="always")
def scaled(pool, value, factor):
    """A datum times the scaler's: a maximum takes only the scaler's exponent (docs/hardware/numerics.md#pools-and-moves)."""
    return product(value, float_of_bits(bits_of_float(factor) & EXPONENT) if pool == Pool.MAX else factor)


@compiled()
def store_reduced(pool, dst, position, value, fresh):
    """Combine a reduced value with what Dst holds, unless the tile is fresh."""
    dst[position] = value if fresh != 0 else pooled(pool, dst[position], value)


@compiled(inline="always")
def line_place(dim, line, i):
    """Position of datum i of a row or, COL, a column."""
    return element(line, i) if dim == ReduceDim.ROW else element(i, line)


@compiled()
def reduce_tile(pool, dim, a, ao, scaler, so, dst, do, fresh):
    """Reduce a tile over rows (result in column 0), columns (row 0) or both (element 0), times the scaler.

    SUM and AVG add up (the scaler of an average holds 1/n), MAX takes the maximum.  Sums of rows are products with row 0 of the
    scaler's upper faces, a factor for each column; those of columns take row 0 of its first face, a factor for each row of a
    face, and both dimensions one after the other.  A maximum takes the first factor for all.  Results accumulate into dst unless
    `fresh`, other elements of a fresh tile become 0.
    """
    if fresh != 0:
        for i in range(TILE_DATUMS):
            dst[do + i] = 0.0
    if dim == ReduceDim.ROW or dim == ReduceDim.COL:
        for i in range(TILE_SIDE):
            value = scaled(pool, a[ao + line_place(dim, i, 0)], scaler[so])
            for j in range(1, TILE_SIDE):
                place = 0 if pool == Pool.MAX else element(0, j) if dim == ReduceDim.ROW else j % FACE_SIDE
                factor = scaler[so + place]
                value = pooled(pool, value, scaled(pool, a[ao + line_place(dim, i, j)], factor))
            store_reduced(pool, dst, do + line_place(dim, i, 0), value, fresh)
        return
    value = scaled(pool, scaled(pool, a[ao], scaler[so]), scaler[so])
    for i in range(1, TILE_DATUMS):
        row, column = (0, 0) if pool == Pool.MAX else ((i >> 4) % FACE_SIDE, i % FACE_SIDE)
        value = pooled(pool, value, scaled(pool, scaled(pool, a[ao + i], scaler[so + column]), scaler[so + row]))
    store_reduced(pool, dst, do, value, fresh)
