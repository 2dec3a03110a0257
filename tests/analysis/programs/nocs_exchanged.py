"""A copy on all cores that reads on NoC 1 and writes on NoC 0; mended, it is the other way round."""

import tensim as tt
from tests.analysis.programs.copies import TILE, copy

AXES, SHAPE = "N", None


def run(device, *, shape, dtype, fidelity, grid, rng, mended: bool = False):
    nocs = (tt.NOC.NOC_0, tt.NOC.NOC_1) if mended else (tt.NOC.NOC_1, tt.NOC.NOC_0)
    return copy(device, rng, (8, 8), 48, 8, 16, TILE, nocs[1], reader_noc=nocs[0])
