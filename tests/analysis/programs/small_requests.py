"""Reads of rows of 128 B, a page each; mended, of pages of 2 KiB."""
# ruff: noqa: F403, F405

import numpy as np

import tensim as tt
from tensim.examples import ExampleResult
from tensim.examples.common import grid_cores, grid_range
from tensim.kernel_api import *

AXES, SHAPE = "N", None
BYTES = 64 * 1024  # of a core


@kernel
def read_pages(address, target, page_bytes, first, count, batch):
    source = InterleavedAddrGen(address, page_size=page_bytes, dram=True)
    for page in range(first, first + count, batch):
        for i in range(batch):
            noc_async_read_page(page + i, source, target + i * page_bytes)
        noc_async_read_barrier()


def run(device, *, shape, dtype, fidelity, grid, rng, mended: bool = False):
    page, cores, program = 2048 if mended else 128, grid_cores((4, 1)), tt.create_program()
    config = tt.InterleavedBufferConfig
    buffer = tt.create_buffer(config(device=device, size=len(cores) * BYTES, page_size=page))
    room = tt.create_buffer(config(device=device, size=64 * 16384, page_size=16384, buffer_type=tt.BufferType.L1))
    reader = tt.create_kernel(program, read_pages, grid_range((4, 1)), tt.ReaderDataMovementConfig())
    each = BYTES // page
    for number, core in enumerate(cores):
        tt.set_runtime_args(program, reader, core, [buffer, room, page, number * each, each, 8])
    tt.enqueue_program(device.command_queue(), program)
    tt.finish(device.command_queue())
    return ExampleResult(
        expected=np.zeros(1), actual=np.zeros(1), tolerance=0, flops=0, bytes_moved=len(cores) * BYTES,
        description=f"reads of {page} B",
    )  # fmt: skip
