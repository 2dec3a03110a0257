"""Matrix product with in0 multicast along rows and in1 down columns of cores (see `blocked_matmul`)."""

from tensim.examples.blocked_matmul import run_blocked
from tensim.examples.matmul_plan import Settings, Topology
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.errors import UsageError

AXES = "MKN"
SHAPE = "2048x2048x2048"
FIDELITY = "HiFi2"

NOCS = ("NOC_0", "NOC_1")


def run(
    device,
    *,
    shape,
    dtype,
    fidelity,
    grid,
    rng,
    in0_sharded: bool = False,
    out_sharded: bool = False,
    in0_block_w: int | None = None,
    per_core_m: int | None = None,
    per_core_n: int | None = None,
    out_block_h: int | None = None,
    out_block_w: int | None = None,
    out_subblock_h: int | None = None,
    out_subblock_w: int | None = None,
    in0_noc: str = "NOC_1",
    packer_l1_acc: bool = True,
    fp32_dest_acc_en: bool | None = None,
    kernels: str = "python",
):
    """`shape`: (M, K, N) elements.

    Block sizes are in tiles; None chooses by the rules of `matmul_plan.make_plan`.  `in0_sharded`,
    `out_sharded`: the operand lies block-sharded in L1 instead of interleaved in DRAM.  `fp32_dest_acc_en`:
    32-bit destination, by default for fp32 operands.  `in0_noc`: NOC_0 or NOC_1; in1 takes the other one.
    """
    if in0_noc not in NOCS:
        raise UsageError(f"unknown NoC {in0_noc!r}", hint=f"choose from {', '.join(NOCS)}")
    settings = Settings(
        topology=Topology.ROWS_COLUMNS,
        dtype=dtype,
        fp32_dest_acc_en=dtype == DataFormat.Float32 if fp32_dest_acc_en is None else fp32_dest_acc_en,
        in0_noc=NOCS.index(in0_noc),
        packer_l1_acc=packer_l1_acc,
        in0_sharded=in0_sharded,
        out_sharded=out_sharded,
        in0_block_w=in0_block_w,
        per_core_m=per_core_m,
        per_core_n=per_core_n,
        out_block_h=out_block_h,
        out_block_w=out_block_w,
        subblock_h=out_subblock_h,
        subblock_w=out_subblock_w,
    )
    return run_blocked(device, shape, fidelity, grid, rng, settings, kernels)
