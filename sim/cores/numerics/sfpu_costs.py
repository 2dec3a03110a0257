"""Cycles of the vector-unit functions, as one table for the compiled engine."""

import numpy as np

from tensim.sim.cores.numerics.sfpu import SfpuBinary, SfpuTernary, SfpuUnary

BINARY_OFFSET, TERNARY_OFFSET, APPROXIMATE_OFFSET = 256, 448, 512


def sfpu_cycle_table(arch):
    """int64[1024]: cycles per tile of unary function i at i, of binary function i at 256 + i, of ternary function i at
    448 + i (`tensix.sfpu_cycles`); of unary functions in approximate mode at 512 + i (`tensix.sfpu_cycles_approximate`).
    """
    cycles = arch.section("tensix.sfpu_cycles")
    table = np.full(2 * APPROXIMATE_OFFSET, cycles["default"], np.int64)
    for offset, functions in ((0, SfpuUnary), (BINARY_OFFSET, SfpuBinary), (TERNARY_OFFSET, SfpuTernary)):
        for function in functions:
            table[offset + function] = cycles.get(function.name, cycles["default"])
    fast = cycles | arch.section("tensix.sfpu_cycles_approximate")
    for function in SfpuUnary:
        table[APPROXIMATE_OFFSET + function] = fast.get(function.name, cycles["default"])
    return table
