"""A copy whose source is one page, so that all of it lies in one DRAM bank; mended, a page is a tile."""

from tests.analysis.programs.copies import TILE, copy

AXES, SHAPE = "N", None


def run(device, *, shape, dtype, fidelity, grid, rng, mended: bool = False):
    return copy(device, rng, grid, 32, 8, 16, TILE if mended else None)
