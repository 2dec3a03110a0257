"""Kernels of the DRAM and congestion benchmarks: streams between one core and a DRAM channel, pages or another core."""
# ruff: noqa: F403, F405

from tensim.kernel_api import *


@kernel
def read_channel(bank, offset, count, size, stride, scratch, vc):
    """Read `count` pieces of `size` bytes, `stride` bytes apart, in one channel on a VC; one barrier."""
    for i in range(count):
        noc_async_read(get_noc_addr_from_bank_id(bank, offset + i * stride), scratch, size, read_req_vc=vc)
    noc_async_read_barrier()


@kernel
def read_channel_few_in_flight(bank, offset, count, size, stride, scratch, vc):
    """The same with at most four pieces in flight, each under its own transaction id."""
    trid = 0
    for i in range(count):
        if i >= 4:
            noc_async_read_barrier_with_trid(trid)
        noc_async_read_set_trid(trid)
        noc_async_read(get_noc_addr_from_bank_id(bank, offset + i * stride), scratch, size, read_req_vc=vc)
        trid = 0 if trid == 3 else trid + 1
    noc_async_read_set_trid(0)
    noc_async_read_barrier()


@kernel
def write_channel(bank, offset, count, size, stride, scratch, vc):
    """Write `count` pieces of `size` bytes, `stride` bytes apart, into one channel on a VC; one barrier."""
    for i in range(count):
        noc_async_write(scratch, get_noc_addr_from_bank_id(bank, offset + i * stride), size, vc=vc)
    noc_async_write_barrier()


@kernel
def read_channel_blocks(bank, offset, blocks, count, size, scratch, vc):
    """Read `blocks` blocks of `count` pieces, each block under its own transaction id, two blocks in flight."""
    for block in range(blocks):
        trid = 1 + block % 2
        if block > 1:
            noc_async_read_barrier_with_trid(trid)
        noc_async_read_set_trid(trid)
        for _ in range(count):
            noc_async_read(get_noc_addr_from_bank_id(bank, offset), scratch, size, read_req_vc=vc)
            offset += size
    noc_async_read_set_trid(0)
    noc_async_read_barrier()


@kernel
def read_channel_to_buffer(bank, offset, blocks, count, size, vc):
    """Read blocks of `count` pieces into a circular buffer of three pages of one block, two blocks in flight."""
    base = get_write_ptr(0)
    slot = 0
    for block in range(blocks):
        cb_reserve_back(0, 1 if block == 0 else 2)
        noc_async_read_set_trid(1 + block % 2)
        target = base + slot * count * size
        for _ in range(count):
            noc_async_read(get_noc_addr_from_bank_id(bank, offset), target, size, read_req_vc=vc)
            offset += size
            target += size
        slot += 1
        if slot == 3:
            slot = 0
        if block > 0:
            noc_async_read_barrier_with_trid(2 - block % 2)
            cb_push_back(0, 1)
    noc_async_read_set_trid(0)
    noc_async_read_barrier()
    cb_push_back(0, 1)


@kernel
def read_channel_block_by_block(bank, offset, blocks, count, size, vc):
    """The same without transaction ids: every block has arrived before the next one is asked for."""
    for _ in range(blocks):
        cb_reserve_back(0, 1)
        target = get_write_ptr(0)
        for _ in range(count):
            noc_async_read(get_noc_addr_from_bank_id(bank, offset), target, size, read_req_vc=vc)
            offset += size
            target += size
        noc_async_read_barrier()
        cb_push_back(0, 1)


@kernel
def forward_buffer(x, y, target, blocks, size):
    """Write every block of the circular buffer to `target` in the L1 of the core at NoC (x, y)."""
    for _ in range(blocks):
        cb_wait_front(0, 1)
        noc_async_write(get_read_ptr(0), get_noc_addr(x, y, target), size)
        noc_async_write_barrier()
        cb_pop_front(0, 1)


@kernel
def read_pages(address, size, first, step, count, per_barrier, scratch):
    """Read `count` interleaved pages first, first + step, ...; a barrier behind every `per_barrier` of them."""
    source = InterleavedAddrGen(address, page_size=size, dram=True)
    page = first
    left = per_barrier
    for _ in range(count):
        noc_async_read_page(page, source, scratch)
        page += step
        left -= 1
        if left == 0:
            noc_async_read_barrier()
            left = per_barrier
    noc_async_read_barrier()


@kernel
def read_pages_to_buffer(address, size, first, step, count):
    """Reader of a copy: one page a time into a circular buffer."""
    source = InterleavedAddrGen(address, page_size=size, dram=True)
    page = first
    for _ in range(count):
        cb_reserve_back(0, 1)
        noc_async_read_page(page, source, get_write_ptr(0))
        noc_async_read_barrier()
        cb_push_back(0, 1)
        page += step


@kernel
def write_pages_from_buffer(address, size, first, step, count):
    """Writer of a copy: one page a time out of the circular buffer."""
    target = InterleavedAddrGen(address, page_size=size, dram=True)
    page = first
    for _ in range(count):
        cb_wait_front(0, 1)
        noc_async_write_page(page, target, get_read_ptr(0))
        noc_async_writes_flushed()
        cb_pop_front(0, 1)
        page += step
    noc_async_write_barrier()


@kernel
def read_core(x, y, count, size, scratch, noc, vc):
    """Read `count` times `size` bytes from the L1 of the core at NoC (x, y) over a NoC and VC; one barrier."""
    for _ in range(count):
        noc_async_read(get_noc_addr(x, y, scratch), scratch, size, noc, vc)
    noc_async_read_barrier(noc)


@kernel
def read_cores(sources, count, size, source_stride, target_stride, scratch):
    """Read `count` times `size` bytes from cores in turn, whose NoC (x, y) follow the arguments; one barrier.

    A table in L1 holds the upper word of each core's address, and a pointer walks it: the probe takes hardly longer with
    eight sources than with one.  The probe keeps the largest value of a counter of the NIU, which it loads with each read:
    so does a poll of the posted writes, of which there are none.
    """
    first = scratch + 65536
    place = first
    for i in range(sources):
        l1_ptr(place, uint32)[0] = get_noc_addr(get_arg_val(6 + 2 * i), get_arg_val(7 + 2 * i), 0) >> 32
        place += 4
    last = place - 4
    place = first
    core = l1_ptr(place, uint32)[0]
    most = 0
    source = scratch
    target = scratch
    for _ in range(count):
        noc_async_read((core << 32) + source, target, size)
        noc_async_posted_writes_flushed()
        place = first if place == last else place + 4
        core = l1_ptr(place, uint32)[0]
        source += source_stride
        target += target_stride
        most = max(most, core)
    noc_async_read_barrier()
    l1_ptr(first, uint32)[0] = most


@kernel
def write_core(x, y, count, size, scratch, target, noc, vc):
    """Write `count` times `size` bytes to the L1 of the core at NoC (x, y) over a NoC and VC; one barrier."""
    for _ in range(count):
        noc_async_write(scratch, get_noc_addr(x, y, target), size, noc, vc)
    noc_async_write_barrier(noc)


@kernel
def write_once(x, y, size, scratch):
    """One write of `size` bytes to the L1 of the core at NoC (x, y); one barrier."""
    noc_async_write(scratch, get_noc_addr(x, y, scratch), size)
    noc_async_write_barrier()


@kernel
def multicast_once(x0, y0, x1, y1, receivers, size, scratch):
    """One multicast write to a rectangle of cores; one barrier."""
    noc_async_write_multicast(scratch, get_noc_multicast_addr(x0, y0, x1, y1, scratch), size, receivers)
    noc_async_write_barrier()
