"""Kernels of the gather between two chips: blocks of a tensor come from DRAM and go to the DRAM of both chips.

A block is one page of circular buffer 0 and holds up to `step` pages of the tensor: of one bank, where they lie behind each other
and are one packet (`runs`), or one behind the other over all banks, each a packet.  There are `rows` of `columns` blocks: a block
begins `stride` pages behind the one before, a row `jump` more behind the row before.  Blocks of the last row have `last` pages.
"""
# ruff: noqa: F403, F405

from tensim.fabric_api import *
from tensim.kernel_api import *
from tensim.validation.fabric.kernels import send_one

IN_FLIGHT = 3  # blocks of a reader, each with a transaction id of its own
OWN_NOC, OTHER_NOC = 1, 2  # on which a sender writes the own chip's tensor; 0: it does not


@kernel
def read_blocks(source, blocks, page, step, runs, rows, columns, stride, jump, last, first):
    """The blocks from page `first` on into circular buffer 0, which has room for `blocks`; `IN_FLIGHT` are under way at a time."""
    tensor = InterleavedAddrGen(source, page_size=page, dram=True)
    begin, block = get_write_ptr(0), step * page
    place, end = begin, begin + blocks * block
    newest, oldest, under_way, at = 1, 1, 0, first
    for row in range(rows):
        size = step if row + 1 < rows else last
        for _ in range(columns):
            under_way += 1
            cb_reserve_back(0, under_way)
            noc_async_read_set_trid(newest)
            if runs:
                noc_async_read(get_noc_addr(at, tensor), place, size * page)
            else:
                for i in range(size):
                    noc_async_read(get_noc_addr(at + i, tensor), place + i * page, page)
            newest = 1 if newest == IN_FLIGHT else newest + 1
            place = begin if place + block == end else place + block
            at += stride
            if under_way == IN_FLIGHT:
                noc_async_read_barrier_with_trid(oldest)
                cb_push_back(0, 1)
                oldest = 1 if oldest == IN_FLIGHT else oldest + 1
                under_way -= 1
        at += jump
    noc_async_read_barrier()
    for _ in range(under_way):
        cb_push_back(0, 1)


@kernel
def send_blocks(
    x, y, first_slot, slot_bytes, slots, notified, credits_at, header, route, own,
    target, page, step, runs, rows, columns, stride, jump, last, first,
):  # fmt: skip
    """Send the blocks of circular buffer 0 to the other chip's tensor, from page `first` on, and write them to the own (`own`)."""
    tensor = InterleavedAddrGen(target, page_size=page, dram=True)
    credits = get_semaphore(0)
    router = fabric_open(x, y, credits_at, credits)
    begin, bell, needed = router + first_slot, router + notified, 1 - slots
    place, behind = begin, begin + (slots - 1) * slot_bytes
    words = l1_ptr(header, uint32)
    words[11] = route
    at = first
    for row in range(rows):
        size = step if row + 1 < rows else last
        packets, length = 1 if runs else size, size * page if runs else page
        for _ in range(columns):
            cb_wait_front(0, 1)
            source = get_read_ptr(0)
            for i in range(packets):
                where = get_noc_addr(at + i, tensor)
                words[0] = where & 0xFFFFFFFF
                words[1] = where >> 32
                words[10] = length | FABRIC_UNICAST_WRITE << 16
                place = send_one(place, begin, behind, slot_bytes, bell, credits, needed, source, header, length, False)
                needed += 1
                if own == OWN_NOC:
                    noc_async_write(source, where, length)
                elif own == OTHER_NOC:
                    noc_async_write(source, where, length, noc=1 - noc_index)
                    noc_async_writes_flushed(noc=1 - noc_index)
                noc_async_writes_flushed()
                source += page
            cb_pop_front(0, 1)
            at += stride
        at += jump
    fabric_close(credits, needed - 1 + slots)
    noc_async_write_barrier()


@kernel
def write_blocks(target, page, step, runs, rows, columns, stride, jump, last, first):
    """Write the blocks of circular buffer 0 to the own chip's tensor, from page `first` on."""
    tensor = InterleavedAddrGen(target, page_size=page, dram=True)
    at = first
    for row in range(rows):
        size = step if row + 1 < rows else last
        for _ in range(columns):
            cb_wait_front(0, 1)
            source = get_read_ptr(0)
            if runs:
                noc_async_write(source, get_noc_addr(at, tensor), size * page)
            else:
                for i in range(size):
                    noc_async_write(source + i * page, get_noc_addr(at + i, tensor), page)
            noc_async_writes_flushed()
            cb_pop_front(0, 1)
            at += stride
        at += jump
    noc_async_write_barrier()
