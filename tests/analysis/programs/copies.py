"""Copies of tiles from DRAM to DRAM through circular buffers: what `reads`, `pages` and `source_pages` make slow or fast."""
# ruff: noqa: F403, F405

import numpy as np

import tensim as tt
from tensim.examples import ExampleResult
from tensim.examples.common import grid_cores, grid_range
from tensim.kernel_api import *

TILE = 2048
CB = 0


@kernel
def fetch(address, page_bytes, first, count, batch):
    """Read tiles `first` ... of a buffer with pages of one or more tiles, `batch` before each barrier."""
    source = InterleavedAddrGen(address, page_size=page_bytes, dram=True)
    per_page = page_bytes // 2048
    for tile in range(first, first + count, batch):
        cb_reserve_back(CB, batch)
        target = get_write_ptr(CB)
        for i in range(batch):
            place = get_noc_addr((tile + i) // per_page, source) + (tile + i) % per_page * 2048
            noc_async_read(place, target + i * 2048, 2048)
        noc_async_read_barrier()
        cb_push_back(CB, batch)


@kernel
def store(address, first, count, batch):
    target = InterleavedAddrGen(address, page_size=2048, dram=True)
    for tile in range(first, first + count, batch):
        cb_wait_front(CB, batch)
        start = get_read_ptr(CB)
        for i in range(batch):
            noc_async_write_tile(tile + i, target, start + i * 2048)
        noc_async_writes_flushed()
        cb_pop_front(CB, batch)
    noc_async_write_barrier()


def copy(device, rng, grid, tiles_per_core, reads, pages, source_page, writer_noc=tt.NOC.NOC_1, *, reader_noc=tt.NOC.NOC_0,
         reader=fetch, writer=store):  # fmt: skip
    """The `ExampleResult` of a copy: `reads` tiles before each barrier (or what the kernels take for it, a function of the
    core's number), `pages` in the circular buffer, pages of `source_page` bytes in the source."""
    cores = grid_cores(grid)
    size = len(cores) * tiles_per_core * TILE
    program, data = tt.create_program(), rng.integers(0, 256, size, np.uint8)
    config = tt.InterleavedBufferConfig
    source = tt.create_buffer(config(device=device, size=size, page_size=size if source_page is None else source_page))
    target = tt.create_buffer(config(device=device, size=size, page_size=TILE))
    queue = device.command_queue()
    tt.enqueue_write_buffer(queue, source, data)
    buffer = tt.CircularBufferConfig(pages * TILE, {CB: tt.DataFormat.Float16_b}).set_page_size(CB, TILE)
    tt.create_circular_buffer(program, grid_range(grid), buffer)
    mode = tt.NOC_MODE.DM_DYNAMIC_NOC
    reader = tt.create_kernel(
        program, reader, grid_range(grid), tt.ReaderDataMovementConfig(noc=reader_noc, noc_mode=mode)
    )
    writer = tt.create_kernel(
        program, writer, grid_range(grid), tt.WriterDataMovementConfig(noc=writer_noc, noc_mode=mode)
    )
    for number, core in enumerate(cores):
        first = number * tiles_per_core
        batch = reads(number) if callable(reads) else reads
        tt.set_runtime_args(program, reader, core, [source, source.page_size, first, tiles_per_core, batch])
        last = batch if callable(reads) else min(batch, 8)
        tt.set_runtime_args(program, writer, core, [target, first, tiles_per_core, last])
    tt.enqueue_program(queue, program)
    actual = np.frombuffer(tt.enqueue_read_buffer(queue, target), np.uint8)
    return ExampleResult(
        expected=data, actual=actual, tolerance=0, flops=0, bytes_moved=2 * size, description=f"copy of {size} B"
    )
