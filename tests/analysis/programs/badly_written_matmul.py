"""`matmul_naive`: every core reads each tile it needs from DRAM itself, one at a time, into single-buffered space.

Mended, every byte is read once: the first core of a row or column reads a tile and multicasts it, and each core multiplies a
block of 2x2 tiles, so that it needs no tile twice.
"""
# ruff: noqa: F403, F405

import tensim as tt
from tensim.examples import ExampleResult, matmul_naive
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
from tensim.kernel_api import *

AXES, SHAPE = "MKN", "512x512x512"
IN0, IN1, OUT = 0, 1, 16
SIDE = 2  # tiles of a core's block, mended


@device_function
def deliver(cb, page, source, sends, ready, valid, receivers, x0, y0, x1, y1, sender_x, sender_y):
    """A tile into the circular buffer: read and multicast it, or receive it."""
    cb_reserve_back(cb, 1)
    start = get_write_ptr(cb)
    if sends:
        noc_async_read_tile(page, source, start)
        noc_async_read_barrier()
        noc_semaphore_wait(ready, receivers)
        noc_semaphore_set(ready, 0)
        target = get_noc_multicast_addr(x0, y0, x1, y1, start)
        noc_async_write_multicast(start, target, get_tile_size(cb), receivers, linked=True)
        noc_semaphore_set_multicast(valid, get_noc_multicast_addr(x0, y0, x1, y1, valid), receivers)
    else:
        noc_semaphore_set(valid, 0)
        noc_semaphore_inc(get_noc_addr(sender_x, sender_y, ready), 1)
        noc_semaphore_wait(valid, 1)
    cb_push_back(cb, 1)


@kernel
def share_both(a, b, row, column, k_tiles, n_tiles):
    left = InterleavedAddrGen(a, page_size=get_tile_size(IN0), dram=True)
    right = InterleavedAddrGen(b, page_size=get_tile_size(IN1), dram=True)
    side, across, down = get_arg_val(6), get_arg_val(7), get_arg_val(8)
    ready0, valid0 = get_semaphore(0), get_semaphore(1)
    ready1, valid1 = get_semaphore(2), get_semaphore(3)
    noc_semaphore_set(valid0, 1)
    noc_semaphore_set(valid1, 1)
    for k in range(k_tiles):
        for i in range(side):
            deliver(
                IN0, (row * side + i) * k_tiles + k, left, column == 0, ready0, valid0, across,
                get_arg_val(9), get_arg_val(10), get_arg_val(11), get_arg_val(12), get_arg_val(13), get_arg_val(14),
            )  # fmt: skip
        for i in range(side):
            deliver(
                IN1, k * n_tiles + column * side + i, right, row == 0, ready1, valid1, down,
                get_arg_val(15), get_arg_val(16), get_arg_val(17), get_arg_val(18), get_arg_val(19), get_arg_val(20),
            )  # fmt: skip
    noc_async_write_barrier()
    noc_async_atomic_barrier()


@kernel
def multiply_block(k_tiles, side):
    mm_init(IN0, IN1, OUT)
    tile_regs_acquire()
    for _k in range(k_tiles):
        cb_wait_front(IN0, side)
        cb_wait_front(IN1, side)
        for i in range(side):
            for j in range(side):
                matmul_tiles(IN0, IN1, i, j, i * side + j)
        cb_pop_front(IN0, side)
        cb_pop_front(IN1, side)
    tile_regs_commit()
    tile_regs_wait()
    for i in range(side * side):
        cb_reserve_back(OUT, 1)
        pack_tile(i, OUT)
        cb_push_back(OUT, 1)
    tile_regs_release()


@kernel
def write_block(address, row, column, n_tiles, side):
    target = InterleavedAddrGen(address, page_size=get_tile_size(OUT), dram=True)
    for i in range(side):
        for j in range(side):
            cb_wait_front(OUT, 1)
            noc_async_write_tile((row * side + i) * n_tiles + column * side + j, target, get_read_ptr(OUT))
            noc_async_write_barrier()
            cb_pop_front(OUT, 1)


def run(device, *, shape, dtype, fidelity, grid, rng, mended: bool = False):
    if not mended:
        return matmul_naive.run(device, shape=shape, dtype=dtype, fidelity=fidelity, grid=grid, rng=rng)
    (m, k, n), columns, rows = shape, *grid
    a, b = (random_tensor(device, rng, size, dtype) for size in ((m, k), (k, n)))
    c = create_tensor(device, (m, n), dtype)
    program, cores = tt.create_program(), grid_range(grid)
    for index, pages in ((IN0, SIDE), (IN1, SIDE), (OUT, 1)):
        create_circular_buffer(program, cores, index, pages, dtype)
    k_tiles, n_tiles = k // 32, n // 32
    for _ in range(4):
        tt.create_semaphore(program, cores, 0)
    reader = tt.create_kernel(program, share_both, cores, tt.ReaderDataMovementConfig())
    writer = tt.create_kernel(program, write_block, cores, tt.WriterDataMovementConfig())
    compute = tt.create_kernel(program, multiply_block, cores, compute_config(dtype, fidelity))
    physical = {(one.x, one.y): device.worker_core_from_logical_core(one) for one in grid_cores(grid)}

    def place(x, y):
        return [physical[x, y].x, physical[x, y].y]

    for core in grid_cores(grid):
        x, y = core
        arguments = [a.address, b.address, y, x, k_tiles, n_tiles, SIDE, columns - 1, rows - 1]
        arguments += [*place(1, y), *place(columns - 1, y), *place(0, y)]
        arguments += [*place(x, 1), *place(x, rows - 1), *place(x, 0)]
        tt.set_runtime_args(program, reader, core, arguments)
        tt.set_runtime_args(program, writer, core, [c.address, y, x, n_tiles, SIDE])
    tt.set_runtime_args(program, compute, cores, [k_tiles, SIDE])
    execute(device, program)
    return ExampleResult(
        expected=a.values @ b.values, actual=download_tensor(device, c), tolerance=matmul_tolerance(dtype, fidelity),
        flops=2 * m * k * n, bytes_moved=a.nbytes + b.nbytes + c.nbytes, description="matrix product, tile by tile",
    )  # fmt: skip
