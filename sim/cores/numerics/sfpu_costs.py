"""Where the cycles of the vector unit's functions and their initialisations stand in the engine's table.

`tensim.sim.chip.sfpu_cycle_table` fills it.
A half for each width of Dst, `WIDTH_OFFSET` apart; in each of them:

| from | entries |
|---|---|
| 0, `BINARY_OFFSET`, `TERNARY_OFFSET` | calls by function, those of one tile in accurate form |
| `APPROXIMATE_OFFSET`, `UNCLAMPED_OFFSET` | calls of one tile in the other forms |
| `CAST_OFFSET` | casts by both formats |
| `INIT_OFFSET` | initialisations by form and `vector_code` |
"""

from tensim.sim.cores.numerics.sfpu_functions import SfpuBinary, SfpuTernary, SfpuUnary
from tensim.sim.cores.numerics.vector_codes import VECTOR_CODE_BITS
from tensim.sim.cores.operations import Approximation
from tensim.sim.engine.compiled import compiled

BINARY_OFFSET, TERNARY_OFFSET, APPROXIMATE_OFFSET, UNCLAMPED_OFFSET = 256, 448, 512, 768
CAST_OFFSET, CAST_BITS = 1024, 5
INIT_OFFSET = 2048
N_FORMS = 3  # accurate, approximate, unclamped
WIDTH_OFFSET = INIT_OFFSET + (N_FORMS << VECTOR_CODE_BITS)
FUNCTIONS = ((0, SfpuUnary), (BINARY_OFFSET, SfpuBinary), (TERNARY_OFFSET, SfpuTernary))


@compiled()
def unary_cost(function, approximation):
    """Index of the table for a unary function in a form that is known (not `Approximation.KERNEL`)."""
    if approximation == Approximation.ACCURATE:
        return function
    return (UNCLAMPED_OFFSET if approximation == Approximation.UNCLAMPED else APPROXIMATE_OFFSET) + function


@compiled()
def cast_cost(source, target):
    """Index of the table for a cast between two formats."""
    mask = (1 << CAST_BITS) - 1
    return CAST_OFFSET + ((source & mask) << CAST_BITS) + (target & mask)


@compiled()
def initialisation_cost(code, approximation):
    """Index of the table for the initialisation of a function by its `vector_code`, in a form that is known."""
    return INIT_OFFSET + ((approximation - Approximation.ACCURATE) << VECTOR_CODE_BITS) + code
