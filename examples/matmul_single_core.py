"""Matrix product on one core: the kernels of `matmul_multi_core` with the whole output as one share."""

from tensim.examples import matmul_multi_core
from tensim.examples.common import require_single_core

AXES = "MKN"
SHAPE = "320x320x320"
GRID = "1x1"


def run(device, *, shape, dtype, fidelity, grid, rng, kernels: str = "python"):
    """`shape`: (M, K, N) elements."""
    require_single_core(grid, "matmul_single_core")
    return matmul_multi_core.run(
        device, shape=shape, dtype=dtype, fidelity=fidelity, grid=grid, rng=rng, kernels=kernels
    )
