"""Kernels that bring an operand to many cores: each reads it itself, or one reads and multicasts it.

A stream has `blocks` blocks of `block` tiles, one circular-buffer entry, one barrier, one handshake each.
"""
# ruff: noqa: F403, F405

from tensim.examples.matmul_kernels import receive_block, send_block
from tensim.kernel_api import *

OUT = 16


@kernel
def read_alone(cb, address, size, first, row_step, rows, columns, blocks):
    """`blocks` blocks of `rows` runs of `columns` pages, `row_step` apart, into the circular buffer `cb`."""
    source = InterleavedAddrGen(address, page_size=size, dram=True)
    page = first
    for _ in range(blocks):
        cb_reserve_back(cb, rows * columns)
        target = get_write_ptr(cb)
        for _ in range(rows):
            for column in range(columns):
                noc_async_read_page(page + column, source, target)
                target += size
            page += row_step
        noc_async_read_barrier()
        cb_push_back(cb, rows * columns)


@kernel
def read_and_send(
    cb, address, size, first, row_step, rows, columns, blocks, ready, received, receivers, x0, y0, x1, y1
):
    """The same, and multicast each block to the rectangle (x0, y0)-(x1, y1) when all receivers have room."""
    ready_at = get_semaphore(ready)
    received_at = get_semaphore(received)
    noc_semaphore_set(received_at, 1)
    source = InterleavedAddrGen(address, page_size=size, dram=True)
    page = first
    for _ in range(blocks):
        cb_reserve_back(cb, rows * columns)
        start = get_write_ptr(cb)
        target = start
        for _ in range(rows):
            for column in range(columns):
                noc_async_read_page(page + column, source, target)
                target += size
            page += row_step
        noc_async_read_barrier()
        send_block(
            start, rows * columns * size, ready_at, received_at, receivers, x0, y0, x1, y1, 1
        )  # Blackhole's order
        noc_async_writes_flushed()
        cb_push_back(cb, rows * columns)
    noc_async_write_barrier()


@kernel
def receive(cb, tiles, blocks, ready, received, x, y):
    """Blocks that the core at NoC (x, y) sends."""
    sender_ready = get_noc_addr(x, y, get_semaphore(ready))
    received_at = get_semaphore(received)
    for _ in range(blocks):
        cb_reserve_back(cb, tiles)
        receive_block(sender_ready, received_at)
        cb_push_back(cb, tiles)
    noc_async_atomic_barrier()
