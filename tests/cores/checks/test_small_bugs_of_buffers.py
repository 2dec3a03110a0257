"""Mistakes in small programs about buffers: who uses them, their address generators, and their end."""

import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tests.cores.checks.small_bugs import bug_of, check_is_found, push_three
from tests.cores.checks.small_programs import BRISC, FIRST, L1, NCRISC, PAGES, read_one, read_pages, write_one

# ruff: noqa: F405
BUGS = {}
bug = bug_of(BUGS)


@kernel
def pop_first(count):
    for _ in range(count):
        cb_wait_front(0, 1)
        cb_pop_front(0, 1)
    noc_semaphore_set(get_semaphore(0), 1)


@kernel
def pop_then(count):
    noc_semaphore_wait(get_semaphore(0), 1)
    for _ in range(count):
        cb_wait_front(0, 1)
        cb_pop_front(0, 1)


@kernel
def three_tiles():
    for _ in range(3):
        cb_reserve_back(0, 1)
        cb_push_back(0, 1)


@bug("cb_two_consumers", "cb_pop_front(0, 1)")
def two_threads_pop_one_after_the_other(case):
    case.circular_buffer(0)
    case.semaphores(1, tt.CoreRange(FIRST, FIRST))
    case.kernel(FIRST, tt.ComputeConfig(), three_tiles)
    case.kernel(FIRST, NCRISC, pop_first, 1)
    case.kernel(FIRST, BRISC, pop_then, 2)
    case.run()


@kernel
def push_first(count):
    for _ in range(count):
        cb_reserve_back(0, 1)
        cb_push_back(0, 1)
    noc_semaphore_set(get_semaphore(0), 1)


@kernel
def push_then(count):
    noc_semaphore_wait(get_semaphore(0), 1)
    for _ in range(count):
        cb_reserve_back(0, 1)
        cb_push_back(0, 1)


@bug("cb_two_producers", "cb_push_back(0, 1)")
def two_threads_push_one_after_the_other(case):
    case.circular_buffer(0, pages=4)
    case.semaphores(1, tt.CoreRange(FIRST, FIRST))
    case.kernel(FIRST, NCRISC, push_first, 1)
    case.kernel(FIRST, BRISC, push_then, 2)
    case.run()


@kernel
def compute_pops():
    cb_wait_front(0, 1)
    cb_pop_front(0, 1)


@kernel
def pop_late():
    riscv_wait(4000)
    cb_wait_front(0, 1)
    cb_pop_front(0, 1)


@bug("cb_two_consumers", "cb_pop_front(0, 1)")
def compute_and_writer_pop(case):
    case.circular_buffer(0, pages=3)
    case.kernel(FIRST, NCRISC, push_three, 2)
    case.kernel(FIRST, BRISC, pop_late)
    case.kernel(FIRST, tt.ComputeConfig(), compute_pops)
    case.run()


@kernel
def one_tile():
    cb_reserve_back(0, 1)
    cb_push_back(0, 1)


@kernel
def peek():
    cb_wait_front(0, 1)


@kernel
def pop_when_peeked():
    riscv_wait(4000)
    cb_wait_front(0, 1)
    cb_pop_front(0, 1)


@bug("cb_pop_awaited", "cb_pop_front(0, 1)")
def a_page_is_popped_that_another_thread_waits_for(case):
    case.circular_buffer(0)
    case.kernel(FIRST, tt.ComputeConfig(), one_tile)
    case.kernel(FIRST, BRISC, peek)
    case.kernel(FIRST, NCRISC, pop_when_peeked)
    case.run()


def generator(
    name, kind, function, memory=tt.BufferType.DRAM, compile_args=lambda case: (), source="noc_async_read", **config
):
    """A kernel whose generator does not fit the buffer at its base."""

    def program(case):
        made = case.buffer(memory=memory, **config)
        case.circular_buffer(0)
        case.kernel(FIRST, NCRISC, function, made, compile_args=compile_args(case))
        case.run()

    program.__name__ = name
    bug(kind, source)(program)


@kernel
def pages_of_1024(address):
    source = InterleavedAddrGen(address, page_size=get_tile_size(0) // 4, dram=True)
    noc_async_read(get_noc_addr(0, source), get_write_ptr(0), 64)
    noc_async_read_barrier()


@kernel
def pages_of_pow2(address):
    source = InterleavedPow2AddrGen(address, 10)
    noc_async_read(get_noc_addr(0, source), get_write_ptr(0), 64)
    noc_async_read_barrier()


@kernel
def not_in_dram(address):
    source = InterleavedAddrGen(address, page_size=2048, dram=False)
    noc_async_read(get_noc_addr(0, source), get_write_ptr(0), 64)
    noc_async_read_barrier()


@kernel
def by_accessor(address):
    source = TensorAccessor(TensorAccessorArgs(0), address, 2048)
    noc_async_read_page(0, source, get_write_ptr(0))
    noc_async_read_barrier()


READ_CPP = """#include <cstdint>
#include "dataflow_api.h"
constexpr uint32_t page_bytes = get_compile_time_arg_val(0);
void kernel_main() {{
    const uint32_t address = get_arg_val<uint32_t>(0);
    const InterleavedAddrGen<{dram}> source = {{
        .bank_base_address = address, .page_size = page_bytes / {part}}};  // the page of a tile
    noc_async_read(get_noc_addr(0, source), get_write_ptr(0), 64);
    noc_async_read_barrier();
}}
"""
generator("a_generator_with_half_the_page", "generator_page", pages_of_1024)
generator("a_generator_with_a_power_of_two", "generator_page", pages_of_pow2)
generator("a_generator_for_l1_on_dram", "generator_memory", not_in_dram)
generator("a_generator_for_dram_on_l1", "generator_memory", read_one, memory=L1)
generator(
    "an_accessor_of_another_buffer", "generator_memory", by_accessor,
    compile_args=lambda case: tt.TensorAccessorArgs(case.buffer(memory=L1)).get_compile_time_args(),
)  # fmt: skip
generator(
    "an_accessor_of_a_buffer_with_other_pages", "generator_page", by_accessor, page=4096,
    compile_args=lambda case: tt.TensorAccessorArgs(case.buffer()).get_compile_time_args(),
)  # fmt: skip
generator(
    "a_generator_with_half_the_page_cpp", "generator_page", READ_CPP.format(dram="true", part=2),
    compile_args=lambda case: (2048,),
)  # fmt: skip
generator(
    "a_generator_for_l1_on_dram_cpp", "generator_memory", READ_CPP.format(dram="false", part=1),
    compile_args=lambda case: (2048,),
)  # fmt: skip


@bug("buffer_freed", "def read_pages(address, count):")
def a_freed_buffer_as_an_argument(case):
    source = case.buffer()
    case.circular_buffer(0)
    case.kernel(FIRST, NCRISC, read_pages, source, PAGES)
    tt.deallocate_buffer(source)
    case.run()


@bug("buffer_freed", "def write_one(address, page):")
def the_address_of_a_freed_buffer_that_another_one_has_now(case):
    freed = case.buffer()
    address = freed.address
    tt.deallocate_buffer(freed)
    case.buffer()
    case.circular_buffer(0)
    case.kernel(FIRST, BRISC, write_one, address, 0)
    case.run()


@kernel
def by_common_argument():
    source = InterleavedAddrGen(get_common_arg_val(0), page_size=2048, dram=True)
    noc_async_read_page(0, source, get_write_ptr(0))
    noc_async_read_barrier()


@bug("buffer_freed", "def by_common_argument():")
def a_freed_buffer_as_a_common_argument(case):
    source = case.buffer()
    case.circular_buffer(0)
    handle = tt.create_kernel(case.program, by_common_argument, FIRST, NCRISC())
    tt.set_common_runtime_args(case.program, handle, [source])
    tt.deallocate_buffer(source)
    case.run()


@pytest.mark.parametrize("name", BUGS)
def test_a_small_bug_is_found(name):
    check_is_found(name, *BUGS[name])
