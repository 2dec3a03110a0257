"""Small programs that captures are made of."""

# ruff: noqa: F403, F405
import contextlib

import numpy as np

import tensim as tt
from tensim.kernel_api import *

PAGE = 2048
WORDS = np.arange(16384 // 4, dtype=np.uint32)
CORE = tt.CoreCoord(0, 0)


@contextlib.contextmanager
def opened(number=0, **settings):
    """A device, closed at the end."""
    device = tt.create_device(number, **settings)
    try:
        yield device
    finally:
        tt.close_device(device)


def dram(device, size=16384, page=PAGE):
    return tt.create_buffer(tt.InterleavedBufferConfig(device=device, size=size, page_size=page))


def l1(device, size=16384, page=PAGE):
    config = tt.InterleavedBufferConfig(device=device, size=size, page_size=page, buffer_type=tt.BufferType.L1)
    return tt.create_buffer(config)


@kernel
def copy_pages(source_address, target_address, pages):
    source = InterleavedAddrGen(source_address, page_size=2048, dram=True)
    target = InterleavedAddrGen(target_address, page_size=2048, dram=True)
    for page in range(pages):
        cb_reserve_back(0, 1)
        noc_async_read_page(page, source, get_write_ptr(0))
        noc_async_read_barrier()
        noc_async_write_page(page, target, get_write_ptr(0))
        noc_async_write_barrier()


def copier(source, target, pages=8, backing=None):
    """A program that copies pages on one core, by way of a circular buffer (on the buffer `backing`)."""
    program = tt.create_program()
    config = tt.CircularBufferConfig(PAGE, {0: tt.DataFormat.UInt32}).set_page_size(0, PAGE)
    if backing is not None:
        config = config.set_globally_allocated_address(backing)
    tt.create_circular_buffer(program, CORE, config)
    program.handle = tt.create_kernel(program, copy_pages, CORE, tt.ReaderDataMovementConfig())
    tt.set_runtime_args(program, program.handle, CORE, [source, target, pages])
    return program


def copied(device):
    """(source, target, program) of a copy that has run."""
    queue, source, target = device.command_queue(0), dram(device), dram(device)
    program = copier(source, target)
    tt.enqueue_write_buffer(queue, source, WORDS)
    tt.enqueue_program(queue, program)
    tt.finish(queue)
    return source, target, program


def traced(device, *programs):
    """The id of a metal trace of programs that have run."""
    trace, queue = tt.begin_trace_capture(device, 0), device.command_queue(0)
    for program in programs:
        tt.enqueue_program(queue, program)
    tt.end_trace_capture(device, 0, trace)
    return trace
