"""A copy on four cores that waits for the arrival of every write; mended, it waits until each has left."""
# ruff: noqa: F403, F405

from tensim.kernel_api import *
from tests.analysis.programs.copies import CB, TILE, copy

AXES, SHAPE = "N", None


@kernel
def store_and_wait(address, first, count, batch):
    target = InterleavedAddrGen(address, page_size=2048, dram=True)
    for tile in range(first, first + count):
        cb_wait_front(CB, 1)
        noc_async_write_tile(tile, target, get_read_ptr(CB))
        noc_async_write_barrier()
        cb_pop_front(CB, 1)


@kernel
def store_and_flush(address, first, count, batch):
    target = InterleavedAddrGen(address, page_size=2048, dram=True)
    for tile in range(first, first + count):
        cb_wait_front(CB, 1)
        noc_async_write_tile(tile, target, get_read_ptr(CB))
        noc_async_writes_flushed()
        cb_pop_front(CB, 1)
    noc_async_write_barrier()


def run(device, *, shape, dtype, fidelity, grid, rng, mended: bool = False):
    return copy(device, rng, (4, 1), 128, 8, 16, TILE, writer=store_and_flush if mended else store_and_wait)
