"""A copy whose reader and writer are both on NoC 0; mended, the writer is on NoC 1."""

import tensim as tt
from tests.analysis.programs.copies import TILE, copy

AXES, SHAPE = "N", None


def run(device, *, shape, dtype, fidelity, grid, rng, mended: bool = False):
    noc = tt.NOC.NOC_1 if mended else tt.NOC.NOC_0
    return copy(device, rng, (1, 1), 256, 8, 16, TILE, noc)
