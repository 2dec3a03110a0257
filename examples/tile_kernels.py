"""Kernels that several examples share."""
# ruff: noqa: F403, F405

from tensim.kernel_api import *

CB_OUT = 16


@kernel
def write_tiles(address, first, count):
    """Write tiles `first` ... of the output to DRAM as they come from the packer."""
    destination = InterleavedAddrGen(address, page_size=get_tile_size(CB_OUT), dram=True)
    for i in range(first, first + count):
        cb_wait_front(CB_OUT, 1)
        noc_async_write_tile(i, destination, get_read_ptr(CB_OUT))
        noc_async_writes_flushed()
        cb_pop_front(CB_OUT, 1)
    noc_async_write_barrier()
