"""Tile arithmetic in float32 (`numerics=fast`): matrix product, element-wise, reductions, transposition.

A tile is 1024 float32 words in face order: four 16x16 faces (top-left, top-right, bottom-left, bottom-right), each
row-major, at an offset in a large array.  Integer formats keep int32 bit patterns in the same words and only pass through.
"""

from tensim.sim.cores.numerics.tile import FACE_DATUMS, TILE_DATUMS, TILE_SIDE
from tensim.sim.cores.numerics.tile_vectors import ROW, ROWS_AT_ONCE, multiply_rows
from tensim.sim.cores.operations import Bcast, Binary, Pool, ReduceDim
from tensim.sim.engine.compiled import compiled

WORD = 4  # bytes


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
        value = x + y if op == Binary.ADD else (x - y if op == Binary.SUB else x * y)
        dst[do + i] = dst[do + i] + value if accumulate != 0 else value


@compiled()
def copy_tile(source, so, bcast, target, to):
    """target = source, or its column 0, row 0 or element 0 repeated."""
    for i in range(TILE_DATUMS):
        target[to + i] = source[so + (i if bcast == Bcast.NONE else broadcast_offset(bcast, i))]


@compiled(inline="always")
def pooled(pool, old, value):
    return max(old, value) if pool == Pool.MAX else old + value


@compiled()
def store_reduced(pool, dst, position, value, fresh):
    """Combine a reduced value with what Dst holds, unless the tile is fresh."""
    dst[position] = value if fresh != 0 else pooled(pool, dst[position], value)


@compiled()
def reduce_tile(pool, dim, a, ao, scaler, so, dst, do, fresh):
    """Reduce a tile over rows (result in column 0), columns (row 0) or both (element 0), times the scaler.

    SUM and AVG add up (the scaler of an average holds 1/n), MAX takes the maximum.  Row 0 of each of the scaler's faces
    holds the factor; results accumulate into dst unless `fresh`, other elements of a fresh tile become 0.
    """
    factor = scaler[so]
    if fresh != 0:
        for i in range(TILE_DATUMS):
            dst[do + i] = 0.0
    if dim == ReduceDim.ROW or dim == ReduceDim.COL:
        for i in range(TILE_SIDE):
            value = a[ao + (element(i, 0) if dim == ReduceDim.ROW else element(0, i))]
            for j in range(1, TILE_SIDE):
                value = pooled(pool, value, a[ao + (element(i, j) if dim == ReduceDim.ROW else element(j, i))])
            position = do + (element(i, 0) if dim == ReduceDim.ROW else element(0, i))
            store_reduced(pool, dst, position, value * factor, fresh)
        return
    value = a[ao]
    for i in range(1, TILE_DATUMS):
        value = pooled(pool, value, a[ao + i])
    # the scaler is applied once per reduced dimension, as the chip does (two passes)
    store_reduced(pool, dst, do, value * factor * factor, fresh)
