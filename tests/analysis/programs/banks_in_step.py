"""A copy on all cores, each of which begins at the same DRAM bank; mended, core i begins i tiles further on."""
# ruff: noqa: F403, F405

from tensim.kernel_api import *
from tests.analysis.programs.copies import CB, TILE, copy

AXES, SHAPE = "N", None


@kernel
def fetch_from(address, page_bytes, first, count, batch):
    """Read `count` tiles from `first` on, the first of them `batch` tiles behind it."""
    source = InterleavedAddrGen(address, page_size=2048, dram=True)
    for i in range(count):
        cb_reserve_back(CB, 1)
        noc_async_read_tile(first + (i + batch) % count, source, get_write_ptr(CB))
        noc_async_read_barrier()
        cb_push_back(CB, 1)


@kernel
def store_from(address, first, count, batch):
    target = InterleavedAddrGen(address, page_size=2048, dram=True)
    for i in range(count):
        cb_wait_front(CB, 1)
        noc_async_write_tile(first + (i + batch) % count, target, get_read_ptr(CB))
        noc_async_writes_flushed()
        cb_pop_front(CB, 1)
    noc_async_write_barrier()


def run(device, *, shape, dtype, fidelity, grid, rng, mended: bool = False):
    begins = (lambda number: number) if mended else (lambda number: 0)
    return copy(device, rng, (8, 8), 48, begins, 4, TILE, reader=fetch_from, writer=store_from)
