"""Tile operations of the matrix unit, bit for bit: which rows meet in which order (reference sections 8.4-8.7).

Tiles are 1024 words in face order at host addresses; see `sim.cores.matrix_unit` for the words.
"""

import numba as nb

from sim.cores.matrix_unit import (
    SPLIT_ROW,
    WORD_ROW,
    dst_settings,
    exponent_offset,
    multiply_row,
    split_a,
    split_b,
)

FACE_ROWS, TILE_ROWS = 16, 64
A_BITS, B_BITS = 5, 7  # mantissa bits of an operand in one phase: what the exponents of the later phases lie lower by


@nb.njit(cache=True)
def split_tiles(phase, a, b, offset, split_at):
    """Split both operands for a phase; returns the addresses of the split tiles (64 rows of 128 bytes each)."""
    low_a, low_b = phase & 1, phase >> 1
    second = split_at + TILE_ROWS * SPLIT_ROW
    for row in range(TILE_ROWS):
        split_a(a + WORD_ROW * row, split_at + SPLIT_ROW * row, low_a, -A_BITS * low_a)
        split_b(b + WORD_ROW * row, second + SPLIT_ROW * row, low_b, offset - B_BITS * low_b)
    return split_at, second


@nb.njit(cache=True)
def matmul_exact(in0, in1, dst, phases, narrow, fp32_dest, quirk, split_at):
    """Dst += in0 @ in1.  Order: phase, inner face, face row, face column (reference section 8.6); in0 is SrcB."""
    settings = dst_settings(narrow, fp32_dest, quirk)
    base = exponent_offset(narrow, fp32_dest)
    for phase in range(phases):
        a, b = split_tiles(phase, in1, in0, base, split_at)
        floor = max(base - A_BITS * (phase & 1) - B_BITS * (phase >> 1), 0)
        for inner in range(2):
            for face in range(4):
                rows = b + SPLIT_ROW * FACE_ROWS * (2 * (face >> 1) + inner)
                columns = a + SPLIT_ROW * FACE_ROWS * (2 * inner + (face & 1))
                out = dst + WORD_ROW * FACE_ROWS * face
                for row in range(FACE_ROWS):
                    multiply_row(columns, rows + SPLIT_ROW * row, out + WORD_ROW * row, floor, settings)
