"""Matrix product with the output tiles split over cores; each core reads what it needs from DRAM."""
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
    source_of,
    split_work,
)
from tensim.examples.result import ExampleResult
from tensim.examples.tile_kernels import write_tiles
from tensim.kernel_api import *
from tensim.sim.errors import UsageError

AXES = "MKN"
SHAPE = "640x640x640"

CB_A = 0
CB_B = 1
CB_OUT = 16
DOUBLE_BUFFER = 2


@kernel
def read_operands(a_address, b_address, k_tiles, n_tiles, first, count):
    """For output tiles `first` ... (row-major): the row of A and the column of B, tile pair by tile pair."""
    a_source = InterleavedAddrGen(a_address, page_size=get_tile_size(CB_A), dram=True)
    b_source = InterleavedAddrGen(b_address, page_size=get_tile_size(CB_B), dram=True)
    for output in range(first, first + count):
        row = output // n_tiles
        column = output % n_tiles
        for k in range(k_tiles):
            cb_reserve_back(CB_A, 1)
            cb_reserve_back(CB_B, 1)
            noc_async_read_tile(row * k_tiles + k, a_source, get_write_ptr(CB_A))
            noc_async_read_tile(k * n_tiles + column, b_source, get_write_ptr(CB_B))
            noc_async_read_barrier()
            cb_push_back(CB_A, 1)
            cb_push_back(CB_B, 1)


@kernel
def multiply(k_tiles, count):
    """Accumulate `k_tiles` tile products per output tile in one destination tile."""
    mm_init(CB_A, CB_B, CB_OUT)
    for _ in range(count):
        tile_regs_acquire()
        for _k in range(k_tiles):
            cb_wait_front(CB_A, 1)
            cb_wait_front(CB_B, 1)
            matmul_tiles(CB_A, CB_B, 0, 0, 0)
            cb_pop_front(CB_A, 1)
            cb_pop_front(CB_B, 1)
        tile_regs_commit()
        cb_reserve_back(CB_OUT, 1)
        tile_regs_wait()
        pack_tile(0, CB_OUT)
        tile_regs_release()
        cb_push_back(CB_OUT, 1)


def run(device, *, shape, dtype, fidelity, grid, rng, kernels: str = "python"):
    """`shape`: (M, K, N) elements."""
    m, k, n = shape
    a = random_tensor(device, rng, (m, k), dtype)
    b = random_tensor(device, rng, (k, n), dtype)
    product = create_tensor(device, (m, n), dtype)
    k_tiles, n_tiles = b.tiles
    outputs = product.tiles[0] * product.tiles[1]
    if outputs < grid[0] * grid[1]:
        raise UsageError(
            f"{outputs} output tiles cannot keep {grid[0]}x{grid[1]} cores busy",
            hint="choose a smaller grid or a larger shape",
        )
    program, cores = tt.create_program(), grid_range(grid)
    for index in (CB_A, CB_B, CB_OUT):
        create_circular_buffer(program, cores, index, DOUBLE_BUFFER, dtype)
    reader = tt.create_kernel(program, source_of(read_operands, kernels), cores, tt.ReaderDataMovementConfig())
    writer = tt.create_kernel(program, source_of(write_tiles, kernels), cores, tt.WriterDataMovementConfig())
    compute = tt.create_kernel(program, source_of(multiply, kernels), cores, compute_config(dtype, fidelity))
    for core, (first, count) in zip(grid_cores(grid), split_work(outputs, grid[0] * grid[1]), strict=True):
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
        description=(f"{m}x{k}x{n} {dtype.name} {fidelity.name} product, tile by tile on {grid[0]}x{grid[1]} cores"),
    )
