"""Matrix product with an output block per core: operands are reused inside a core, not shared."""

from tensim.examples.blocked_matmul import run_blocked
from tensim.examples.matmul_plan import Settings, Topology
from tensim.sim.cores.numerics.data_format import DataFormat

AXES = "MKN"
SHAPE = "640x640x640"


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
        topology=Topology.NONE,
        dtype=dtype,
        fp32_dest_acc_en=dtype == DataFormat.Float32,
        packer_l1_acc=packer_l1_acc,
        in0_block_w=in0_block_w,
    )
    return run_blocked(device, shape, fidelity, grid, rng, settings, kernels)
