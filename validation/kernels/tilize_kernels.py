"""Kernels of a tilize from DRAM to DRAM, block by block; a block is 32 rows of `piece` bytes and `tiles` tiles.

A core's blocks are first ... first + blocks - 1, begun at the `turn`-th; `across` blocks make a row of tiles.
"""
# ruff: noqa: F403, F405

from tensim.kernel_api import *

IN, OUT = 0, 16
ROWS = 32


@kernel
def read_interleaved_blocks(address, page, piece, tiles, first_row, first, blocks, turn, across):
    """Reader: pieces of interleaved pages of one row each."""
    source = InterleavedAddrGen(address, page_size=page, dram=True)
    for i in range(blocks):
        block = first + (i + turn) % blocks
        base = block // across * ROWS
        offset = block % across * piece
        cb_reserve_back(IN, tiles)
        target = get_write_ptr(IN)
        for i in range(ROWS):
            row = (i + first_row) & (ROWS - 1)
            noc_async_read(get_noc_addr(base + row, source, offset), target + row * piece, piece)
        noc_async_read_barrier()
        cb_push_back(IN, tiles)


@kernel
def read_sharded_blocks(address, banks, piece, tiles, first_row, first, blocks, turn, across):
    """Reader: rows of a shard, which lie one behind the other in its bank."""
    for i in range(blocks):
        block = first + (i + turn) % blocks
        bank = block % across % banks
        offset = address + (block // across * (across // banks) + block % across // banks) * ROWS * piece
        cb_reserve_back(IN, tiles)
        target = get_write_ptr(IN)
        for i in range(ROWS):
            row = (i + first_row) & (ROWS - 1)
            noc_async_read(get_noc_addr_from_bank_id(bank, offset + row * piece), target + row * piece, piece)
        noc_async_read_barrier()
        cb_push_back(IN, tiles)


@kernel
def tilize_blocks():
    """Compute: each block of rows into tiles."""
    tiles, blocks = get_compile_time_arg_val(0), get_compile_time_arg_val(1)
    compute_kernel_hw_startup(IN, OUT)
    tilize_init(IN, tiles, OUT)
    for _ in range(blocks):
        cb_wait_front(IN, tiles)
        cb_reserve_back(OUT, tiles)
        tilize_block(IN, tiles, OUT)
        cb_push_back(OUT, tiles)
        cb_pop_front(IN, tiles)


@kernel
def write_tiles(address, size, tiles, first, blocks, turn, _across):
    """Writer: the tiles of each block, a barrier per block."""
    target = InterleavedAddrGen(address, page_size=size, dram=True)
    for i in range(blocks):
        block = first + (i + turn) % blocks
        page = block * tiles
        cb_wait_front(OUT, tiles)
        source = get_read_ptr(OUT)
        for _ in range(tiles):
            noc_async_write_page(page, target, source)
            page += 1
            source += size
        noc_async_write_barrier()
        cb_pop_front(OUT, tiles)
