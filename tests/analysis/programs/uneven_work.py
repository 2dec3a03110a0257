"""Exponentials of tiles, of which core i gets i + 1; mended, all get as many."""
# ruff: noqa: F403, F405

import numpy as np

import tensim as tt
from tensim.examples import ExampleResult
from tensim.examples.common import (
    FORMAT_ERROR,
    compute_config,
    create_circular_buffer,
    create_tensor,
    download_tensor,
    execute,
    grid_cores,
    grid_range,
    random_tensor,
    split_work,
)
from tensim.examples.tile_kernels import write_tiles
from tensim.kernel_api import *

AXES, SHAPE = "N", None
IN, OUT = 0, 16


@kernel
def read_tiles(address, first, count):
    source = InterleavedAddrGen(address, page_size=get_tile_size(IN), dram=True)
    for tile in range(first, first + count):
        cb_reserve_back(IN, 1)
        noc_async_read_tile(tile, source, get_write_ptr(IN))
        noc_async_read_barrier()
        cb_push_back(IN, 1)


@kernel
def exponentials(count):
    init_sfpu(IN, OUT)
    exp_tile_init()
    for _ in range(count):
        cb_wait_front(IN, 1)
        tile_regs_acquire()
        copy_tile(IN, 0, 0)
        exp_tile(0)
        tile_regs_commit()
        cb_pop_front(IN, 1)
        cb_reserve_back(OUT, 1)
        tile_regs_wait()
        pack_tile(0, OUT)
        tile_regs_release()
        cb_push_back(OUT, 1)


def run(device, *, shape, dtype, fidelity, grid, rng, mended: bool = False):
    cores = len(grid_cores(grid))
    tiles = cores * (cores + 1) // 2
    counts = [count for _, count in split_work(tiles, cores)] if mended else list(range(1, cores + 1))
    return function_of_tiles(device, dtype, fidelity, grid, rng, counts, exponentials, np.exp)


def function_of_tiles(device, dtype, fidelity, grid, rng, counts, kernel, function, depth=2):
    """The `ExampleResult`: `counts` tiles of each core, `depth` pages in its circular buffers."""
    cores, tiles = grid_cores(grid), sum(counts)
    x = random_tensor(device, rng, (32, 32 * tiles), dtype)
    y = create_tensor(device, x.shape, dtype)
    program = tt.create_program()
    for index in (IN, OUT):
        create_circular_buffer(program, grid_range(grid), index, depth, dtype)
    reader = tt.create_kernel(program, read_tiles, grid_range(grid), tt.ReaderDataMovementConfig())
    writer = tt.create_kernel(program, write_tiles, grid_range(grid), tt.WriterDataMovementConfig())
    compute = tt.create_kernel(program, kernel, grid_range(grid), compute_config(dtype, fidelity))
    for core, count, end in zip(cores, counts, np.cumsum(counts).tolist(), strict=True):
        tt.set_runtime_args(program, reader, core, [x.address, end - count, count])
        tt.set_runtime_args(program, writer, core, [y.address, end - count, count])
        tt.set_runtime_args(program, compute, core, [count])
    execute(device, program)
    return ExampleResult(
        expected=function(x.values), actual=download_tensor(device, y), tolerance=FORMAT_ERROR[dtype],
        flops=x.values.size, bytes_moved=x.nbytes + y.nbytes, description=f"{kernel.name} of {tiles} tiles",
    )  # fmt: skip
