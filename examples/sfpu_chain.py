"""softplus(x) = log(1 + exp(x)) as three vector-unit operations on a tile in the destination register."""
# ruff: noqa: F403, F405

import numpy as np

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

CB_IN = 0
CB_OUT = 16
DOUBLE_BUFFER = 2
OPERATIONS = 3  # exp, add, log


@kernel
def read_tiles(address, first, count):
    """Bring tiles `first` ... into L1."""
    source = InterleavedAddrGen(address, page_size=get_tile_size(CB_IN), dram=True)
    for i in range(first, first + count):
        cb_reserve_back(CB_IN, 1)
        noc_async_read_tile(i, source, get_write_ptr(CB_IN))
        noc_async_read_barrier()
        cb_push_back(CB_IN, 1)


@kernel
def softplus(count):
    """log(1 + exp(x)) of each tile."""
    init_sfpu(CB_IN, CB_OUT)
    for _ in range(count):
        cb_wait_front(CB_IN, 1)
        tile_regs_acquire()
        copy_tile(CB_IN, 0, 0)
        exp_tile_init()
        exp_tile(0)
        binop_with_scalar_tile_init()
        add_unary_tile(0, float_bits(1.0))
        log_tile_init()
        log_tile(0)
        tile_regs_commit()
        cb_pop_front(CB_IN, 1)
        cb_reserve_back(CB_OUT, 1)
        tile_regs_wait()
        pack_tile(0, CB_OUT)
        tile_regs_release()
        cb_push_back(CB_OUT, 1)


def run(device, *, shape, dtype, fidelity, grid, rng, kernels: str = "python"):
    """`shape`: (M, N) elements; the tiles are split over the cores of `grid`."""
    x = random_tensor(device, rng, shape, dtype)
    y = create_tensor(device, shape, dtype)
    program, cores = tt.create_program(), grid_range(grid)
    create_circular_buffer(program, cores, CB_IN, DOUBLE_BUFFER, dtype)
    create_circular_buffer(program, cores, CB_OUT, DOUBLE_BUFFER, dtype)
    reader = tt.create_kernel(program, source_of(read_tiles, kernels), cores, tt.ReaderDataMovementConfig())
    writer = tt.create_kernel(program, source_of(write_tiles, kernels), cores, tt.WriterDataMovementConfig())
    compute = tt.create_kernel(program, source_of(softplus, kernels), cores, compute_config(dtype, fidelity))
    shares = split_work(x.tiles[0] * x.tiles[1], grid[0] * grid[1])
    for core, (first, count) in zip(grid_cores(grid), shares, strict=True):
        tt.set_runtime_args(program, reader, core, [x.address, first, count])
        tt.set_runtime_args(program, writer, core, [y.address, first, count])
        tt.set_runtime_args(program, compute, core, [count])
    execute(device, program)
    return ExampleResult(
        expected=np.log1p(np.exp(x.values)),
        actual=download_tensor(device, y),
        tolerance=FORMAT_ERROR[dtype],
        flops=OPERATIONS * shape[0] * shape[1],
        bytes_moved=x.nbytes + y.nbytes,
        description=f"softplus of {shape[0]}x{shape[1]} {dtype.name} on {grid[0]}x{grid[1]} cores",
    )
