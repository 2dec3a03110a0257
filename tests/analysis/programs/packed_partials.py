"""Sums of products that the packer accumulates in L1, step by step; mended, they stay in Dst."""

from tensim.types import MathFidelity
from tests.analysis.programs.resident_products import multiply

AXES, SHAPE = "N", None


def run(device, *, shape, dtype, fidelity, grid, rng, mended: bool = False):
    return multiply(device, dtype, MathFidelity.LoFi, (4, 1), rng, 64, partial=not mended, wide=True)
