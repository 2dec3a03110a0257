"""Tiles copied from DRAM to L1 and back to DRAM, one RISC-V per core."""
# ruff: noqa: F403, F405

import tensim as tt
from tensim.examples.common import (
    create_circular_buffer,
    create_tensor,
    download_tensor,
    execute,
    grid_cores,
    grid_range,
    random_tensor,
    source_of,
    split_work,
)
from tensim.examples.result import ExampleResult
from tensim.kernel_api import *

AXES = "MN"
SHAPE = "320x160"
GRID = "1x1"

CB_SCRATCH = 0


@kernel
def copy_pages(source_address, destination_address, first, count):
    """Copy pages one after the other through an L1 scratch page."""
    page = get_tile_size(CB_SCRATCH)
    source = InterleavedAddrGen(source_address, page_size=page, dram=True)
    destination = InterleavedAddrGen(destination_address, page_size=page, dram=True)
    scratch = get_write_ptr(CB_SCRATCH)
    for i in range(first, first + count):
        noc_async_read_tile(i, source, scratch)
        noc_async_read_barrier()
        noc_async_write_tile(i, destination, scratch)
        noc_async_write_barrier()


def run(device, *, shape, dtype, fidelity, grid, rng, kernels: str = "python"):
    """`shape`: (M, N) elements, stored as tiles of `dtype`; the tiles are split over the cores of `grid`."""
    source = random_tensor(device, rng, shape, dtype)
    destination = create_tensor(device, shape, dtype)
    program, cores = tt.create_program(), grid_range(grid)
    create_circular_buffer(program, cores, CB_SCRATCH, 1, dtype)
    copier = tt.create_kernel(program, source_of(copy_pages, kernels), cores, tt.ReaderDataMovementConfig())
    n_tiles = source.tiles[0] * source.tiles[1]
    shares = split_work(n_tiles, grid[0] * grid[1])
    for core, (first, count) in zip(grid_cores(grid), shares, strict=True):
        tt.set_runtime_args(program, copier, core, [source.address, destination.address, first, count])
    execute(device, program)
    return ExampleResult(
        expected=source.values,
        actual=download_tensor(device, destination),
        tolerance=0.0,
        flops=0,
        bytes_moved=source.nbytes + destination.nbytes,
        description=f"copy of {n_tiles} {dtype.name} tiles on {grid[0]}x{grid[1]} cores",
    )
