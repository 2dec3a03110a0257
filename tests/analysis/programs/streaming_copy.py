"""A good program: a copy on all cores with eight reads under way on each, as fast as DRAM goes."""

from tests.analysis.programs.copies import TILE, copy

AXES, SHAPE = "N", None


def run(device, *, shape, dtype, fidelity, grid, rng):
    return copy(device, rng, grid, 64, 8, 16, TILE)
