"""Kernels that copy interleaved DRAM pages block by block, through a circular buffer or a fixed place in L1.

A walk of pages is first, first + step, ...; a block is what one barrier covers.
"""
# ruff: noqa: F403, F405

from tensim.kernel_api import *

IN, IN_B, OUT = 0, 1, 16


@kernel
def read_blocks(address, size, first, step, count, block, rounds):
    """Reader: `count` pages in blocks into the circular buffer IN, `rounds` times."""
    source = InterleavedAddrGen(address, page_size=size, dram=True)
    for _ in range(rounds):
        page = first
        left = count
        while left > 0:
            now = min(block, left)
            cb_reserve_back(IN, now)
            target = get_write_ptr(IN)
            for _ in range(now):
                noc_async_read_page(page, source, target)
                page += step
                target += size
            noc_async_read_barrier()
            cb_push_back(IN, now)
            left -= now


@kernel
def write_blocks(address, size, first, step, count, block, rounds, cb):
    """Writer: `count` pages in blocks out of the circular buffer `cb`, `rounds` times."""
    target = InterleavedAddrGen(address, page_size=size, dram=True)
    for _ in range(rounds):
        page = first
        left = count
        while left > 0:
            now = min(block, left)
            cb_wait_front(cb, now)
            source = get_read_ptr(cb)
            for _ in range(now):
                noc_async_write_page(page, target, source)
                page += step
                source += size
            noc_async_write_barrier()
            cb_pop_front(cb, now)
            left -= now


@kernel
def read_blocks_again(address, size, first, count, block, rounds, scratch):
    """Read `count` pages from `first` on, `rounds` times, to a fixed place of a block; no circular buffer."""
    source = InterleavedAddrGen(address, page_size=size, dram=True)
    for _ in range(rounds):
        page = first
        left = count
        while left > 0:
            now = min(block, left)
            target = scratch
            for _ in range(now):
                noc_async_read_page(page, source, target)
                page += 1
                target += size
            noc_async_read_barrier()
            left -= now


@kernel
def write_blocks_again(address, size, first, count, block, rounds, scratch):
    """Write `count` pages from `first` on, `rounds` times, from a fixed place of a block; no circular buffer."""
    target = InterleavedAddrGen(address, page_size=size, dram=True)
    for _ in range(rounds):
        page = first
        left = count
        while left > 0:
            now = min(block, left)
            source = scratch
            for _ in range(now):
                noc_async_write_page(page, target, source)
                page += 1
                source += size
            noc_async_write_barrier()
            left -= now
