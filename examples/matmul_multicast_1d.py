"""Wide matrix product: core (0, 0) multicasts in0 to all cores, each owns a strip of output columns."""

from tensim.examples.blocked_matmul import run_blocked
from tensim.examples.matmul_plan import Settings, Topology
from tensim.sim.cores.numerics.data_format import DataFormat

AXES = "MKN"
SHAPE = "128x1024x4096"


def run(
    device,
    *,
    shape,
    dtype,
    fidelity,
    grid,
    rng,
    in0_block_w: int | None = None,
    packer_l1_acc: bool = True,
    kernels: str = "python",
):
    """`shape`: (M, K, N) elements.  `in0_block_w`: tiles of a K block; None: see `make_plan`."""
    settings = Settings(
        topology=Topology.ALL,
        dtype=dtype,
        fp32_dest_acc_en=dtype == DataFormat.Float32,
        packer_l1_acc=packer_l1_acc,
        in0_block_w=in0_block_w,
    )
    return run_blocked(device, shape, fidelity, grid, rng, settings, kernels)
