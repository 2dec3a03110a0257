"""Kernels that stream tiles with several blocks in flight, or two operands by one or two RISC-V cores."""
# ruff: noqa: F403, F405

from tensim.kernel_api import *

IN, IN_B, OUT = 0, 1, 16


@device_function
def read_tiles(source, first, count, size, piece, target):
    """`count` tiles of `size` bytes, each in transactions of `piece` bytes; no barrier."""
    for page in range(first, first + count):
        if piece == size:
            noc_async_read_page(page, source, target)
        else:
            address = get_noc_addr(page, source)
            for offset in range(0, size, piece):
                noc_async_read(address + offset, target + offset, piece)
        target += size


@kernel
def read_both(a, b, size, piece, first, blocks, block):
    """One RISC-V core reads a block of both operands under one barrier."""
    source_a = InterleavedAddrGen(a, page_size=size, dram=True)
    source_b = InterleavedAddrGen(b, page_size=size, dram=True)
    page = first
    for _ in range(blocks):
        cb_reserve_back(IN, block)
        cb_reserve_back(IN_B, block)
        read_tiles(source_a, page, block, size, piece, get_write_ptr(IN))
        read_tiles(source_b, page, block, size, piece, get_write_ptr(IN_B))
        noc_async_read_barrier()
        cb_push_back(IN, block)
        cb_push_back(IN_B, block)
        page += block


@kernel
def read_one(address, size, piece, first, blocks, block, cb):
    """One of two RISC-V cores reads its operand into its circular buffer."""
    source = InterleavedAddrGen(address, page_size=size, dram=True)
    page = first
    for _ in range(blocks):
        cb_reserve_back(cb, block)
        read_tiles(source, page, block, size, piece, get_write_ptr(cb))
        noc_async_read_barrier()
        cb_push_back(cb, block)
        page += block


@kernel
def read_and_push_both(address, size, piece, first, blocks, block, ready, done):
    """Reads operand A and owns both circular buffers: tells the other core when there is room, and waits for its data."""
    source = InterleavedAddrGen(address, page_size=size, dram=True)
    ready_at = get_semaphore(ready)
    done_at = get_semaphore(done)
    page = first
    for i in range(blocks):
        cb_reserve_back(IN, block)
        cb_reserve_back(IN_B, block)
        noc_semaphore_set(ready_at, i + 1)
        read_tiles(source, page, block, size, piece, get_write_ptr(IN))
        noc_async_read_barrier()
        noc_semaphore_wait_min(done_at, i + 1)
        cb_push_back(IN, block)
        cb_push_back(IN_B, block)
        page += block


@kernel
def read_when_told(address, size, piece, first, blocks, block, ready, done):
    """Reads operand B, two blocks in turn, when the other core has made room."""
    source = InterleavedAddrGen(address, page_size=size, dram=True)
    ready_at = get_semaphore(ready)
    done_at = get_semaphore(done)
    base = get_write_ptr(IN_B)
    page = first
    for i in range(blocks):
        noc_semaphore_wait_min(ready_at, i + 1)
        read_tiles(source, page, block, size, piece, base + i % 2 * block * size)
        noc_async_read_barrier()
        noc_semaphore_set(done_at, i + 1)
        page += block


@kernel
def multiply_blocks():
    """Compute: C = A * B tile by tile, or (`is_full` 0) only the traffic of the circular buffers."""
    tiles, block, is_full = get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2)
    binary_op_init_common(IN, IN_B, OUT)
    mul_tiles_init(IN, IN_B)
    for _ in range(tiles // block):
        cb_wait_front(IN, block)
        cb_wait_front(IN_B, block)
        cb_reserve_back(OUT, block)
        if is_full == 1:
            for i in range(block):
                tile_regs_acquire()
                mul_tiles(IN, IN_B, i, i, 0)
                tile_regs_commit()
                tile_regs_wait()
                pack_tile(0, OUT)
                tile_regs_release()
        cb_push_back(OUT, block)
        cb_pop_front(IN, block)
        cb_pop_front(IN_B, block)
