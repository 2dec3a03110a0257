"""One matrix product of the GEMM FLOPS report, from a trace; started by the library's Python below `tensim device --dispatch fast`.

A JSON file describes it (`tensim.validation.firmware.traced_products`).  It is launched once, then `PRODUCTS` times from a trace.
"""

import json
import sys

import ttnn
from rounds import PRODUCTS

TRACE_REGION = 1 << 24


def operands(device, one, grid):
    m, k, n = one["shape"]
    dtype = getattr(ttnn, one["dtype"])
    place = ttnn.DRAM_MEMORY_CONFIG
    if one["in0_sharded"]:
        place = ttnn.create_sharded_memory_config(
            (1, 1, m, k), core_grid=grid, strategy=ttnn.ShardStrategy.BLOCK, orientation=ttnn.ShardOrientation.ROW_MAJOR
        )
    shapes = (((1, 1, m, k), place), ((1, 1, k, n), ttnn.DRAM_MEMORY_CONFIG))
    return [
        ttnn.empty(shape, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory)
        for shape, memory in shapes
    ]


def blocks(one, grid):
    """How the product is cut, as the row states it; else the library chooses."""
    if one["blocks"] is None:
        return {"core_grid": grid}
    return {
        "program_config": ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            compute_with_storage_grid_size=(grid.x, grid.y),
            transpose_mcast=False,
            fused_activation=None,
            **one["blocks"],
        )
    }


def main():
    with open(sys.argv[1]) as file:
        one = json.load(file)
    device = ttnn.open_device(device_id=0, trace_region_size=TRACE_REGION)
    grid = ttnn.CoreGrid(x=one["grid"][0], y=one["grid"][1])
    a, b = operands(device, one, grid)
    out = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.BLOCK_SHARDED, ttnn.BufferType.L1)
    engine = ttnn.WormholeComputeKernelConfig(
        math_fidelity=getattr(ttnn.MathFidelity, one["fidelity"]), math_approx_mode=True, fp32_dest_acc_en=False,
        packer_l1_acc=True,
    )  # fmt: skip

    def multiply():
        result = ttnn.matmul(
            a, b, compute_kernel_config=engine, memory_config=out if one["out_sharded"] else ttnn.DRAM_MEMORY_CONFIG,
            dtype=getattr(ttnn, one["dtype"]), **blocks(one, grid),
        )  # fmt: skip
        ttnn.deallocate(result)

    multiply()
    ttnn.synchronize_device(device)
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    for _ in range(PRODUCTS):
        multiply()
    ttnn.end_trace_capture(device, trace, cq_id=0)
    ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
    ttnn.release_trace(device, trace)
    ttnn.close_device(device)


main()
