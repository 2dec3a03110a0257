"""Vectors of integers added in many programs, each for a short piece; mended, one program adds them all."""
# ruff: noqa: F403, F405

import numpy as np

import tensim as tt
from tensim.examples import ExampleResult
from tensim.kernel_api import *

AXES, SHAPE = "N", None
PIECES, WORDS = 32, 16


@kernel
def add(a, b, c, first, count):
    scratch = get_arg_val(5)
    for piece in range(first, first + count):
        for i in range(2):
            source = InterleavedAddrGen(b if i else a, page_size=64, dram=True)
            noc_async_read_page(piece, source, scratch + 64 * i)
        noc_async_read_barrier()
        x, y = l1_ptr(scratch), l1_ptr(scratch + 64)
        for i in range(16):
            x[i] = x[i] + y[i]
        target = InterleavedAddrGen(c, page_size=64, dram=True)
        noc_async_write_page(piece, target, scratch)
        noc_async_write_barrier()


def run(device, *, shape, dtype, fidelity, grid, rng, mended: bool = False):
    size, queue, core = PIECES * WORDS * 4, device.command_queue(), tt.CoreCoord(0, 0)
    values = [rng.integers(0, 1 << 20, PIECES * WORDS, np.int32) for _ in range(2)]
    config = tt.InterleavedBufferConfig(device=device, size=size, page_size=WORDS * 4)
    buffers = [tt.create_buffer(config) for _ in range(3)]
    scratch = tt.create_buffer(
        tt.InterleavedBufferConfig(device=device, size=256, page_size=256, buffer_type=tt.BufferType.L1)
    )
    for buffer, data in zip(buffers, values, strict=False):
        tt.enqueue_write_buffer(queue, buffer, data)
    program = tt.create_program()
    kernel = tt.create_kernel(program, add, core, tt.ReaderDataMovementConfig())
    for first in range(1 if mended else PIECES):
        tt.set_runtime_args(program, kernel, core, [*buffers, first, PIECES if mended else 1, scratch])
        tt.enqueue_program(queue, program, blocking=False)
    actual = np.frombuffer(tt.enqueue_read_buffer(queue, buffers[2]), np.int32)
    return ExampleResult(
        expected=values[0] + values[1], actual=actual, tolerance=0, flops=0, bytes_moved=3 * size,
        description=f"{PIECES} pieces of {WORDS} words",
    )  # fmt: skip
