"""State of the matrix unit of a Tensix coprocessor: scratch rows and what the next instruction must know of the last ones."""

import numpy as np

from tensim.sim.cores.numerics.matrix_unit import SPLIT_ROW, WORD_ROW
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.tables import table

FACE_ROWS = 16
# places in the scratch area, in bytes: a 16x16 matrix of SrcA split or as words, a row of SrcB split, rows of words
SPLIT_A, SPLIT_B = 0, FACE_ROWS * SPLIT_ROW
ROW_A, ROW_B, ROW_OUT = (SPLIT_B + SPLIT_ROW + i * WORD_ROW for i in range(3))
SCRATCH_BYTES = ROW_OUT + WORD_ROW

# `last_src_a_row`: where the last instruction that reads SrcA began (ISA: SHIFTXA.md); `moved_to_dst`, `moved_to_a`,
# `moved_to_b`: cycle until which a move of that kind holds others back (ISA: MOV*.md, "Instruction scheduling"); `holder`: thread
# whose instruction waits in the unit, `held_until`: the first cycle at which it takes one of another thread
MATRIX = np.dtype(
    [("last_src_a_row", np.int64), ("moved_to_dst", np.int64), ("moved_to_a", np.int64), ("moved_to_b", np.int64),
     ("holder", np.int64), ("held_until", np.int64),
     ("scratch", np.uint8, SCRATCH_BYTES)]
)  # fmt: skip
matrix_table = table(MATRIX)
SCRATCH_AT = MATRIX.fields["scratch"][1]


def make_matrix():
    """MATRIX[1] after reset."""
    return np.zeros(1, MATRIX)


@compiled(inline="always")
def matrix_of(c):
    """A coprocessor's MATRIX record."""
    return matrix_table(c.matrix_at)[0]


@compiled(inline="always")
def scratch_of(c):
    """Host address of the scratch area."""
    return c.matrix_at + SCRATCH_AT
