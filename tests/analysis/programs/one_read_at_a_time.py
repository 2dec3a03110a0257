"""A copy on four cores that waits for every read by itself; mended, there are eight before each barrier."""

from tests.analysis.programs.copies import TILE, copy

AXES, SHAPE = "N", None


def run(device, *, shape, dtype, fidelity, grid, rng, mended: bool = False):
    return copy(device, rng, (4, 1), 128, 8 if mended else 1, 16, TILE)
