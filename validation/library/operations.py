"""Runs operations that a JSON file lists; started by the library's Python below `tensim ttnn --library`.

Each is called twice: the second call finds its program in the cache, as the measured ones did.  What the library refuses is
written to standard output as a line of JSON with the operation's place.
"""

import json
import sys

import ttnn

DTYPES = {
    "BFLOAT16": ttnn.bfloat16, "BFLOAT8_B": ttnn.bfloat8_b, "BFLOAT4_B": ttnn.bfloat4_b, "FLOAT32": ttnn.float32,
    "UINT32": ttnn.uint32, "UINT16": ttnn.uint16,
}  # fmt: skip
MEMORY = {"DRAM": ttnn.DRAM_MEMORY_CONFIG, "L1": ttnn.L1_MEMORY_CONFIG}
CALLS = 2


def empty(device, shape, dtype, memory):
    return ttnn.empty(shape, dtype=DTYPES[dtype], layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory)


def cut(one, grid):
    """How a product is cut, as its row states it; else the library chooses."""
    if one["blocks"] is None:
        return {"core_grid": grid}
    return {
        "dtype": DTYPES[one["dtype"]],
        "program_config": ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            compute_with_storage_grid_size=tuple(one["grid"]), transpose_mcast=False, fused_activation=None, **one["blocks"]
        ),
    }  # fmt: skip


def matmul(device, one, grid):
    m, k, n = one["shape"]
    in0, in1, out = (MEMORY[name] for name in one["memory"])
    if one["blocks"] is not None and one["sharded"][0]:
        x, y = one["grid"]
        in0 = ttnn.create_sharded_memory_config(
            (1, 1, m, k), core_grid=ttnn.CoreGrid(x=x, y=y), strategy=ttnn.ShardStrategy.BLOCK,
            orientation=ttnn.ShardOrientation.ROW_MAJOR,
        )  # fmt: skip
    if one["blocks"] is not None and one["sharded"][1]:
        out = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.BLOCK_SHARDED, ttnn.BufferType.L1)
    a, b = empty(device, (1, 1, m, k), one["dtype"], in0), empty(device, (1, 1, k, n), one["dtype"], in1)
    engine = ttnn.WormholeComputeKernelConfig(
        math_fidelity=getattr(ttnn.MathFidelity, one["fidelity"]), math_approx_mode=True, fp32_dest_acc_en=False,
        packer_l1_acc=True,
    )  # fmt: skip
    call = lambda: ttnn.matmul(a, b, compute_kernel_config=engine, memory_config=out, **cut(one, grid))  # noqa: E731
    return (a, b), call


def exp(device, one, grid):
    a = empty(device, one["shape"], one["dtype"], MEMORY[one["memory"][0]])
    return (a,), lambda: ttnn.exp(a, memory_config=MEMORY[one["output"]])


def main(path):
    device = ttnn.open_device(device_id=0)
    size = device.compute_with_storage_grid_size()
    grid = ttnn.CoreGrid(y=size.y, x=size.x)
    for place, one in enumerate(json.load(open(path))):
        try:
            operands, call = (matmul if one["operation"] == "matmul" else exp)(device, one, grid)
            for _ in range(CALLS):
                result = call()
                ttnn.synchronize_device(device)
                ttnn.deallocate(result)
            for tensor in operands:
                ttnn.deallocate(tensor)
        except Exception as error:
            print(json.dumps({"place": place, "why": str(error).splitlines()[0]}), flush=True)
    ttnn.close_device(device)


if __name__ == "__main__":
    main(sys.argv[1])
