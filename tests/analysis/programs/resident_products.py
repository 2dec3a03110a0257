"""Products of tiles that stay in L1: sums over `K` of them, each packed and accumulated in L1 (`partial`), or in Dst.

`blocks`: rows of products as blocks, which one operand stays for.
"""
# ruff: noqa: F403, F405

import numpy as np

import tensim as tt
from tensim.examples import ExampleResult
from tensim.examples.common import (
    compute_config,
    create_circular_buffer,
    create_tensor,
    download_tensor,
    execute,
    grid_cores,
    grid_range,
    matmul_tolerance,
    random_tensor,
)
from tensim.examples.tile_kernels import write_tiles
from tensim.kernel_api import *
from tensim.sim.cores.numerics.data_format import DataFormat

IN0, IN1, OUT = 0, 1, 16
K = 8  # tiles of a sum, and columns of a block


@kernel
def read_operands(a, b, left, right):
    for i in range(2):
        cb = i
        count = right if i else left
        source = InterleavedAddrGen(b if i else a, page_size=get_tile_size(cb), dram=True)
        cb_reserve_back(cb, count)
        start = get_write_ptr(cb)
        for tile in range(count):
            noc_async_read_tile(tile, source, start + tile * get_tile_size(cb))
        noc_async_read_barrier()
        cb_push_back(cb, count)


@kernel
def sum_products(count, k_tiles, partial):
    mm_init(IN0, IN1, OUT)
    cb_wait_front(IN0, k_tiles)
    cb_wait_front(IN1, k_tiles)
    for t in range(count):
        cb_reserve_back(OUT, 1)
        if partial:
            for k in range(k_tiles):
                tile_regs_acquire()
                matmul_tiles(IN0, IN1, k, (k + t) % k_tiles, 0)
                tile_regs_commit()
                tile_regs_wait()
                if k == 0:
                    pack_reconfig_l1_acc(0)
                if k == 1:
                    pack_reconfig_l1_acc(1)
                pack_tile(0, OUT, 0, out_of_order_output=True)
                tile_regs_release()
        else:
            tile_regs_acquire()
            for k in range(k_tiles):
                matmul_tiles(IN0, IN1, k, (k + t) % k_tiles, 0)
            tile_regs_commit()
            tile_regs_wait()
            pack_tile(0, OUT)
            tile_regs_release()
        cb_push_back(OUT, 1)


@kernel
def multiply_rows(count, k_tiles):
    """Rows of 8 output tiles: (1 x K) tiles times (K x 8)."""
    mm_block_init(IN0, IN1, OUT, 0, 8, 1, k_tiles)
    cb_wait_front(IN0, k_tiles)
    cb_wait_front(IN1, k_tiles * 8)
    for _ in range(count // 8):
        tile_regs_acquire()
        for _again in range(8):
            for k in range(k_tiles):
                matmul_block(IN0, IN1, k, k * 8, 0, 0, 8, 1, k_tiles)
        tile_regs_commit()
        cb_reserve_back(OUT, 8)
        tile_regs_wait()
        for i in range(8):
            pack_tile(i, OUT)
        tile_regs_release()
        cb_push_back(OUT, 8)


def multiply(device, dtype, fidelity, grid, rng, count, partial=False, blocks=False, wide=False):
    """The `ExampleResult`: `count` output tiles per core, all cores the same ones; `wide`: summed and written as fp32."""
    right = 8 * K if blocks else K
    a = random_tensor(device, rng, (32, 32 * K), dtype)
    b = random_tensor(device, rng, (32 * K, 32 * (8 if blocks else 1)), dtype)
    cores = grid_cores(grid)
    out = DataFormat.Float32 if wide else dtype
    c = create_tensor(device, (32, 32 * count * len(cores)), out)
    program = tt.create_program()
    for index, pages, data_format in ((IN0, K, dtype), (IN1, right, dtype), (OUT, 16, out)):
        create_circular_buffer(program, grid_range(grid), index, pages, data_format)
    reader = tt.create_kernel(program, read_operands, grid_range(grid), tt.ReaderDataMovementConfig())
    writer = tt.create_kernel(program, write_tiles, grid_range(grid), tt.WriterDataMovementConfig())
    kernel = multiply_rows if blocks else sum_products
    config = compute_config(dtype, fidelity, fp32_dest_acc_en=wide)
    compute = tt.create_kernel(program, kernel, grid_range(grid), config)
    tt.set_runtime_args(program, reader, grid_range(grid), [a.address, b.address, K, right])
    for number, core in enumerate(cores):
        tt.set_runtime_args(program, writer, core, [c.address, number * count, count])
    tt.set_runtime_args(program, compute, grid_range(grid), [count, K] if blocks else [count, K, int(partial)])
    execute(device, program)
    if blocks:
        expected = np.tile(8 * a.values @ b.values, count // 8)
    else:
        left, rows = a.values.reshape(32, K, 32), b.values.reshape(K, 32, 32)
        sums = [sum(left[:, k] @ rows[(k + t) % K] for k in range(K)) for t in range(count)]
        expected = np.concatenate(sums, axis=1)
    return ExampleResult(
        expected=np.tile(expected, len(cores)), actual=download_tensor(device, c),
        tolerance=matmul_tolerance(dtype, fidelity) + 0.03, flops=2 * 32**3 * K * count * len(cores),
        bytes_moved=a.nbytes + b.nbytes + c.nbytes, description=f"{count} tiles of products per core",
    )  # fmt: skip
