"""Kernels in which the RISC-V core itself moves data: spans copied word by word, elements gathered through an index."""
# ruff: noqa: F403, F405

from tensim.kernel_api import *

DATA = 0
ALIGNMENT = 32  # DRAM reads of Wormhole: an index's element is fetched with the 32 bytes around it


@kernel
def read_spans(address, page, spans, size, residue, scratch):
    """A barrier per span; a span that begins `residue` bytes behind the alignment is read to scratch and moved."""
    source = InterleavedAddrGen(address, page_size=page, dram=True)
    for span in range(spans):
        cb_reserve_back(DATA, 1)
        target = get_write_ptr(DATA)
        if residue == 0:
            noc_async_read(get_noc_addr(span, source), target, size)
            noc_async_read_barrier()
        else:
            noc_async_read(get_noc_addr(span, source), scratch, size + residue)
            noc_async_read_barrier()
            words = l1_ptr(target, uint32)
            moved = l1_ptr(scratch + residue, uint32)
            for i in range(size // 4):
                words[i] = moved[i]
        cb_push_back(DATA, 1)


@kernel
def write_spans(address, page, spans, size):
    """Writer of the spans, a barrier each."""
    target = InterleavedAddrGen(address, page_size=page, dram=True)
    for span in range(spans):
        cb_wait_front(DATA, 1)
        noc_async_write(get_read_ptr(DATA), get_noc_addr(span, target), size)
        noc_async_write_barrier()
        cb_pop_front(DATA, 1)


@kernel
def gather_rows(data, indices, page, rows, width, staged, rounds, scratch, index_scratch):
    """Rows of `width` 2-byte elements picked by an index row each: the row is read whole, or 32 bytes per index."""
    source = InterleavedAddrGen(data, page_size=page, dram=True)
    index_source = InterleavedAddrGen(indices, page_size=page, dram=True)
    index = l1_ptr(index_scratch, uint16)
    fetched = l1_ptr(scratch, uint16)
    for _ in range(rounds):
        for row in range(rows):
            noc_async_read(get_noc_addr(row, index_source), index_scratch, page)
            noc_async_read_barrier()
            address = get_noc_addr(row, source)
            if staged == 1:
                noc_async_read(address, scratch, page)
            else:
                target = scratch
                for i in range(width):
                    noc_async_read(address + (index[i] << 1 & -ALIGNMENT), target, ALIGNMENT)
                    target += ALIGNMENT
            noc_async_read_barrier()
            cb_reserve_back(DATA, 1)
            out = l1_ptr(get_write_ptr(DATA), uint16)
            if staged == 1:
                for i in range(width):
                    out[i] = fetched[index[i]]
            else:
                for i in range(width):
                    out[i] = fetched[i * (ALIGNMENT // 2) + (index[i] & (ALIGNMENT // 2 - 1))]
            cb_push_back(DATA, 1)


@kernel
def write_rows(address, page, rows, rounds):
    """Writer of the rows, a barrier each."""
    target = InterleavedAddrGen(address, page_size=page, dram=True)
    for _ in range(rounds):
        for row in range(rows):
            cb_wait_front(DATA, 1)
            noc_async_write_page(row, target, get_read_ptr(DATA))
            noc_async_write_barrier()
            cb_pop_front(DATA, 1)
