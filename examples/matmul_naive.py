"""Matrix product as one may write it first; docs/tuning.md makes it fast, verdict by verdict, down to `matmul_multicast`.

Each core makes some tiles of the product, one after the other, and reads for each of them a row of tiles of the left operand
and a column of the right one from DRAM: one tile at a time, into circular buffers of one page.
"""
# ruff: noqa: F403, F405

import tensim as tt
from tensim.examples.common import (
    compute_config,
    create_circular_buffer,
    create_tensor,
    download_tensor,
    execute,
    grid_cores,
    grid_range,
    matmul_tolerance,
    matrix_product,
    random_tensor,
    split_work,
)
from tensim.examples.matmul_multi_core import CB_A, CB_B, CB_OUT, multiply, read_operands
from tensim.examples.result import ExampleResult
from tensim.examples.tile_kernels import write_tiles
from tensim.kernel_api import *

AXES = "MKN"
SHAPE = "256x256x256"


@kernel
def read_one_by_one(a_address, b_address, k_tiles, n_tiles, first, count):
    """Each tile is there before the next one is asked for."""
    a_source = InterleavedAddrGen(a_address, page_size=get_tile_size(CB_A), dram=True)
    b_source = InterleavedAddrGen(b_address, page_size=get_tile_size(CB_B), dram=True)
    for tile in range(first, first + count):
        for k in range(k_tiles):
            cb_reserve_back(CB_A, 1)
            noc_async_read_tile(tile // n_tiles * k_tiles + k, a_source, get_write_ptr(CB_A))
            noc_async_read_barrier()
            cb_push_back(CB_A, 1)
            cb_reserve_back(CB_B, 1)
            noc_async_read_tile(k * n_tiles + tile % n_tiles, b_source, get_write_ptr(CB_B))
            noc_async_read_barrier()
            cb_push_back(CB_B, 1)


def run(device, *, shape, dtype, fidelity, grid, rng, together: bool = False, pages: int = 1):
    """`shape`: (M, K, N) elements; `together`: both tiles of a product are read at once; `pages`: of circular buffers."""
    m, k, n = shape
    a, b = random_tensor(device, rng, (m, k), dtype), random_tensor(device, rng, (k, n), dtype)
    product = create_tensor(device, (m, n), dtype)
    program, cores = tt.create_program(), grid_range(grid)
    for index in (CB_A, CB_B, CB_OUT):
        create_circular_buffer(program, cores, index, pages, dtype)
    reads = read_operands if together else read_one_by_one
    reader = tt.create_kernel(program, reads, cores, tt.ReaderDataMovementConfig())
    writer = tt.create_kernel(program, write_tiles, cores, tt.WriterDataMovementConfig())
    compute = tt.create_kernel(program, multiply, cores, compute_config(dtype, fidelity))
    k_tiles, n_tiles = b.tiles
    shares = split_work(product.tiles[0] * n_tiles, grid[0] * grid[1])
    for core, (first, count) in zip(grid_cores(grid), shares, strict=True):
        tt.set_runtime_args(program, reader, core, [a.address, b.address, k_tiles, n_tiles, first, count])
        tt.set_runtime_args(program, writer, core, [product.address, first, count])
        tt.set_runtime_args(program, compute, core, [k_tiles, count])
    execute(device, program)
    return ExampleResult(
        expected=matrix_product(device, a, b),
        actual=download_tensor(device, product),
        tolerance=matmul_tolerance(dtype, fidelity),
        flops=2 * m * k * n,
        bytes_moved=a.nbytes + b.nbytes + product.nbytes,
        description=f"{m}x{k}x{n} product on {grid[0]}x{grid[1]} cores, every operand tile read where it is needed",
    )
