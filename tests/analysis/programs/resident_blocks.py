"""A good program: blocks of products from operands in L1, as fast as the matrix unit goes."""

from tests.analysis.programs.resident_products import multiply

AXES, SHAPE = "N", None


def run(device, *, shape, dtype, fidelity, grid, rng):
    return multiply(device, dtype, fidelity, (2, 2), rng, 64, blocks=True)
