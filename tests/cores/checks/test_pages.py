"""Pages of L1 buffers: the page behind the last one is an error, on whatever core it would lie."""

import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.cores.riscv.kernel import CppKernel
from tensim.sim.errors import ProgramError

# ruff: noqa: F405
PAGE = 2048


@kernel
def read_pages(address, first, count):
    source = InterleavedAddrGen(address, page_size=2048, dram=False)
    for page in range(first, first + count):
        noc_async_read_page(page, source, 0x80000)
    noc_async_read_barrier()


@kernel
def write_page(address, page):
    words = l1_ptr(0x80000, uint32)
    for i in range(512):
        words[i] = i
    noc_async_write_page(page, InterleavedAddrGen(address, page_size=2048, dram=False), 0x80000)
    noc_async_write_barrier()


READ_PAGES = """#include <cstdint>
#include "dataflow_api.h"
void kernel_main() {
    const InterleavedAddrGen<false> source = {.bank_base_address = get_arg_val<uint32_t>(0), .page_size = 2048};
    const uint32_t first = get_arg_val<uint32_t>(1);
    for (uint32_t page = first; page < first + get_arg_val<uint32_t>(2); page++)
        noc_async_read_page(page, source, 0x80000);
    noc_async_read_barrier();
}
"""


def buffer(device, pages):
    """An interleaved L1 buffer, written by the host."""
    made = tt.create_buffer(tt.InterleavedBufferConfig(device, pages * PAGE, PAGE, tt.BufferType.L1))
    tt.enqueue_write_buffer(device.command_queue(0), made, bytes(pages * PAGE), blocking=True)
    return made


def run(kernel_function, pages, *args):
    """Run a kernel with the address of a buffer of `pages` between two others."""
    with tt.create_device(0, arch="wormhole_b0", check=True) as device:
        buffers = [buffer(device, 64), buffer(device, pages), buffer(device, 64)]
        program, core = tt.create_program(), tt.CoreCoord(0, 0)
        handle = tt.create_kernel(program, kernel_function, core, tt.ReaderDataMovementConfig())
        tt.set_runtime_args(program, handle, core, [buffers[1].address, *args])
        tt.enqueue_program(device.command_queue(0), program, blocking=False)
        tt.finish(device.command_queue(0))


@pytest.mark.parametrize("pages", [1, 64, 100, 128])
def test_all_pages_of_a_buffer(pages):
    run(read_pages, pages, 0, pages)
    run(write_page, pages, pages - 1)


@pytest.mark.parametrize("pages", [1, 64, 100, 128])
def test_the_page_behind_the_last_one(pages):
    for kernel_function, args in ((read_pages, (1, pages)), (write_page, (pages,))):
        with pytest.raises(ProgramError, match="behind the pages that the core holds") as caught:
            run(kernel_function, pages, *args)
        assert caught.value.kind == "page_beyond_l1" and "noc_async" in caught.value.where["source"]


def test_the_page_behind_the_last_one_in_cpp():
    pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
    run(CppKernel("pages.cpp", READ_PAGES), 64, 0, 64)
    with pytest.raises(ProgramError) as caught:
        run(CppKernel("pages.cpp", READ_PAGES), 64, 0, 65)
    assert caught.value.kind == "page_beyond_l1"
    assert caught.value.where["source"] == "noc_async_read_page(page, source, 0x80000);"
