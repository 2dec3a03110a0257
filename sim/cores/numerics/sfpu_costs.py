"""Cycles of the vector-unit functions, as one table for the compiled engine."""

import numpy as np

from tensim.sim.cores.numerics.sfpu import SfpuBinary, SfpuTernary, SfpuUnary
from tensim.sim.cores.operations import Approximation
from tensim.sim.engine.compiled import compiled

BINARY_OFFSET, TERNARY_OFFSET, APPROXIMATE_OFFSET, UNCLAMPED_OFFSET = 256, 448, 512, 768
TABLE_SIZE = 1024


def sfpu_cycle_table(arch):
    """int64[1024]: cycles per tile of unary function i at i, of binary function i at 256 + i, of ternary function i at
    448 + i (`tensix.sfpu_cycles`); of unary functions in approximate mode at 512 + i (`tensix.sfpu_cycles_approximate`), without
    clamping at 768 + i (`tensix.sfpu_cycles_unclamped`).
    """
    cycles = arch.section("tensix.sfpu_cycles")
    table = np.full(TABLE_SIZE, cycles["default"], np.int64)
    for offset, functions in ((0, SfpuUnary), (BINARY_OFFSET, SfpuBinary), (TERNARY_OFFSET, SfpuTernary)):
        for function in functions:
            table[offset + function] = cycles.get(function.name, cycles["default"])
    fast = cycles | arch.section("tensix.sfpu_cycles_approximate")
    unclamped = fast | arch.section("tensix.sfpu_cycles_unclamped")
    for offset, costs in ((APPROXIMATE_OFFSET, fast), (UNCLAMPED_OFFSET, unclamped)):
        for function in SfpuUnary:
            table[offset + function] = costs.get(function.name, cycles["default"])
    return table


@compiled()
def unary_cost(function, approximation):
    """Index of the table for a unary function in a form that is known (not `Approximation.KERNEL`)."""
    if approximation == Approximation.ACCURATE:
        return function
    return (UNCLAMPED_OFFSET if approximation == Approximation.UNCLAMPED else APPROXIMATE_OFFSET) + function
