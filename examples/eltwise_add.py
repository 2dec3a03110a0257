"""Element-wise sum of two tensors: reader, compute and writer coupled by circular buffers."""
# ruff: noqa: F403, F405

import tensim as tt
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
    source_of,
    split_work,
)
from tensim.examples.result import ExampleResult
from tensim.examples.tile_kernels import write_tiles
from tensim.kernel_api import *

AXES = "MN"
SHAPE = "512x512"
GRID = "1x1"

CB_A = 0
CB_B = 1
CB_SUM = 16
DOUBLE_BUFFER = 2  # tiles per circular buffer: one in use, one in flight


@kernel
def read_pairs(a_address, b_address, first, count):
    """Bring tiles `first` ... of both operands into L1, a pair at a time."""
    a_source = InterleavedAddrGen(a_address, page_size=get_tile_size(CB_A), dram=True)
    b_source = InterleavedAddrGen(b_address, page_size=get_tile_size(CB_B), dram=True)
    for i in range(first, first + count):
        cb_reserve_back(CB_A, 1)
        cb_reserve_back(CB_B, 1)
        noc_async_read_tile(i, a_source, get_write_ptr(CB_A))
        noc_async_read_tile(i, b_source, get_write_ptr(CB_B))
        noc_async_read_barrier()
        cb_push_back(CB_A, 1)
        cb_push_back(CB_B, 1)


@kernel
def add_pairs(count):
    """Sum of each pair of tiles on the matrix unit."""
    binary_op_init_common(CB_A, CB_B, CB_SUM)
    add_tiles_init(CB_A, CB_B)
    for _ in range(count):
        cb_wait_front(CB_A, 1)
        cb_wait_front(CB_B, 1)
        tile_regs_acquire()
        add_tiles(CB_A, CB_B, 0, 0, 0)
        tile_regs_commit()
        cb_pop_front(CB_A, 1)
        cb_pop_front(CB_B, 1)
        cb_reserve_back(CB_SUM, 1)
        tile_regs_wait()
        pack_tile(0, CB_SUM)
        tile_regs_release()
        cb_push_back(CB_SUM, 1)


def run(device, *, shape, dtype, fidelity, grid, rng, kernels: str = "python"):
    """`shape`: (M, N) elements; the tiles are split over the cores of `grid`."""
    a = random_tensor(device, rng, shape, dtype)
    b = random_tensor(device, rng, shape, dtype)
    total = create_tensor(device, shape, dtype)
    program, cores = tt.create_program(), grid_range(grid)
    for index in (CB_A, CB_B, CB_SUM):
        create_circular_buffer(program, cores, index, DOUBLE_BUFFER, dtype)
    reader = tt.create_kernel(program, source_of(read_pairs, kernels), cores, tt.ReaderDataMovementConfig())
    writer = tt.create_kernel(program, source_of(write_tiles, kernels), cores, tt.WriterDataMovementConfig())
    compute = tt.create_kernel(program, source_of(add_pairs, kernels), cores, compute_config(dtype, fidelity))
    shares = split_work(a.tiles[0] * a.tiles[1], grid[0] * grid[1])
    for core, (first, count) in zip(grid_cores(grid), shares, strict=True):
        tt.set_runtime_args(program, reader, core, [a.address, b.address, first, count])
        tt.set_runtime_args(program, writer, core, [total.address, first, count])
        tt.set_runtime_args(program, compute, core, [count])
    execute(device, program)
    return ExampleResult(
        expected=a.values + b.values,
        actual=download_tensor(device, total),
        tolerance=FORMAT_ERROR[dtype],
        flops=shape[0] * shape[1],
        bytes_moved=a.nbytes + b.nbytes + total.nbytes,
        description=f"{shape[0]}x{shape[1]} {dtype.name} sum on {grid[0]}x{grid[1]} cores",
    )
