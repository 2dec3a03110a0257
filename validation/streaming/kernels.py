"""Kernels of a streamed unary operation, a tile at a time from memory through the vector unit to memory, and the data movement
of a height-sharded matmul: one core reads B and multicasts it, the output stays where it is packed.
"""
# ruff: noqa: F403, F405

from tensim.examples.matmul_kernels import CB_IN1, CB_OUT, receive_block
from tensim.kernel_api import *

IN, OUT = 0, 16


@kernel
def read_pages(address, first, count):
    """Tiles `first` ... of an interleaved buffer, in DRAM if compile-time argument 0 says so; a barrier behind each."""
    source = InterleavedAddrGen(address, page_size=get_tile_size(IN), dram=get_compile_time_arg_val(0))
    for page in range(first, first + count):
        cb_reserve_back(IN, 1)
        noc_async_read_tile(page, source, get_write_ptr(IN))
        noc_async_read_barrier()
        cb_push_back(IN, 1)


@kernel
def exponential(count):
    """exp of each tile, exact mode."""
    init_sfpu(IN, OUT)
    for _ in range(count):
        cb_reserve_back(OUT, 1)
        tile_regs_acquire()
        cb_wait_front(IN, 1)
        copy_tile(IN, 0, 0)
        exp_tile_init()
        exp_tile(0)
        tile_regs_commit()
        tile_regs_wait()
        pack_tile(0, OUT)
        cb_pop_front(IN, 1)
        tile_regs_release()
        cb_push_back(OUT, 1)


@kernel
def write_pages(address, first, count):
    """Tiles `first` ... to an interleaved buffer, in DRAM if compile-time argument 0 says so; a barrier behind each.

    So do the library's releases from 0.59 to 0.64, the nearest to that of the rows; since 0.66 it waits until the tile has left
    the core.
    """
    target = InterleavedAddrGen(address, page_size=get_tile_size(OUT), dram=get_compile_time_arg_val(0))
    for page in range(first, first + count):
        cb_wait_front(OUT, 1)
        noc_async_write_tile(page, target, get_read_ptr(OUT))
        noc_async_write_barrier()
        cb_pop_front(OUT, 1)


@kernel
def send_b(b_address, waiting, in_box, x0, y0, x1, y1):
    """For each block of the output read B, multicast it to the `in_box` others of a rectangle once `waiting` cores are ready."""
    tiles, ready, received = (
        get_compile_time_arg_val(0), get_semaphore(get_compile_time_arg_val(1)), get_semaphore(get_compile_time_arg_val(2))
    )  # fmt: skip
    source = InterleavedAddrGen(b_address, page_size=get_tile_size(CB_IN1), dram=True)
    nbytes = tiles * get_tile_size(CB_IN1)
    noc_semaphore_set(received, 1)
    for _ in range(get_compile_time_arg_val(3)):
        cb_reserve_back(CB_IN1, tiles)
        start = get_write_ptr(CB_IN1)
        for tile in range(tiles):
            noc_async_read_tile(tile, source, start + tile * get_tile_size(CB_IN1))
        noc_async_read_barrier()
        if waiting > 0:
            noc_semaphore_wait(ready, waiting)
            noc_semaphore_set(ready, 0)
            noc_async_write_multicast(start, get_noc_multicast_addr(x0, y0, x1, y1, start), nbytes, in_box, linked=True)
            noc_semaphore_set_multicast(received, get_noc_multicast_addr(x0, y0, x1, y1, received), in_box)
        cb_push_back(CB_IN1, tiles)
    cb_wait_front(CB_OUT, get_compile_time_arg_val(4))


@kernel
def receive_b(sender_x, sender_y):
    """Receive B from the core at physical (sender_x, sender_y) and wait for the output."""
    tiles, received = get_compile_time_arg_val(0), get_semaphore(get_compile_time_arg_val(2))
    ready = get_noc_addr(sender_x, sender_y, get_semaphore(get_compile_time_arg_val(1)))
    for _ in range(get_compile_time_arg_val(3)):
        cb_reserve_back(CB_IN1, tiles)
        receive_block(ready, received)
        cb_push_back(CB_IN1, tiles)
    cb_wait_front(CB_OUT, get_compile_time_arg_val(4))
    noc_async_atomic_barrier()
    noc_async_atomic_barrier()
