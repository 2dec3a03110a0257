"""Forty and more mistakes in small programs: each is found, named and placed."""

import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.errors import TensimError
from tests.cores.checks.small_programs import (
    BRISC,
    DATA,
    FIRST,
    FOURTH,
    L1,
    NCRISC,
    ON_NOC_0,
    PAGES,
    SECOND,
    THIRD,
    checked,
    read_one,
    read_pages,
    write_one,
    write_pages,
)

# ruff: noqa: F405
BUGS = {}
BOTH, ALL = tt.CoreRange(FIRST, SECOND), tt.CoreRange(FIRST, FOURTH)


def bug(kind, source):
    """A program that is refused with a `kind`, at a line with `source` in it ("": at none of a kernel)."""
    return lambda function: BUGS.setdefault(function.__name__, (function, kind, source)) and function


# --- memory that nobody wrote, which data movement alone carries


@kernel
def half_pages(address, count):
    source = InterleavedAddrGen(address, page_size=2048, dram=True)
    for page in range(count):
        cb_reserve_back(0, 1)
        noc_async_read(get_noc_addr(page, source), get_write_ptr(0), 1024)
        noc_async_read_barrier()
        cb_push_back(0, 1)


@bug("unwritten_sent", "noc_async_write_page(page, target, get_read_ptr(0))")
def a_page_is_read_by_half(case):
    target = case.buffer()
    case.circular_buffer(0)
    case.kernel(FIRST, NCRISC, half_pages, case.buffer(), PAGES)
    case.kernel(FIRST, BRISC, write_pages, target, PAGES)
    case.enqueue()
    case.read(target)


@kernel
def all_but_the_last(address, count):
    source = InterleavedAddrGen(address, page_size=2048, dram=True)
    cb_reserve_back(0, count)
    for page in range(count - 1):
        noc_async_read_page(page, source, get_write_ptr(0) + 2048 * page)
    noc_async_read_barrier()
    cb_push_back(0, count)


@bug("unwritten_sent", "noc_async_write_page(page, target, get_read_ptr(0))")
def the_last_page_is_not_read(case):
    target = case.buffer()
    case.circular_buffer(0, pages=PAGES)
    case.kernel(FIRST, NCRISC, all_but_the_last, case.buffer(), PAGES)
    case.kernel(FIRST, BRISC, write_pages, target, PAGES)
    case.enqueue()
    case.read(target)


@kernel
def dram_to_l1(source_address, target_address):
    source = InterleavedAddrGen(source_address, page_size=2048, dram=True)
    target = InterleavedAddrGen(target_address, page_size=2048, dram=False)
    noc_async_read_page(0, source, get_write_ptr(0))
    noc_async_read_barrier()
    noc_async_write_page(0, target, get_write_ptr(0))
    noc_async_write_barrier()


@bug("unwritten_read", "noc_async_read_page(0, source, get_write_ptr(0))")
def dram_that_nobody_wrote_goes_to_l1(case):
    target = case.buffer(memory=L1)
    case.circular_buffer(0)
    case.kernel(FIRST, NCRISC, dram_to_l1, case.buffer(None), target)
    case.enqueue()
    case.read(target)


@kernel
def pull(x, y, address):
    target = InterleavedAddrGen(address, page_size=2048, dram=True)
    noc_async_read(get_noc_addr(x, y, get_write_ptr(0)), get_write_ptr(0), 2048)
    noc_async_read_barrier()
    noc_async_write_page(0, target, get_write_ptr(0))
    noc_async_write_barrier()


@bug("unwritten_read", "noc_async_read(get_noc_addr(x, y, get_write_ptr(0)), get_write_ptr(0), 2048)")
def another_core_is_read_that_has_nothing(case):
    target = case.buffer()
    case.circular_buffer(0, cores=BOTH)
    case.kernel(FIRST, NCRISC, pull, *case.place(SECOND), target)
    case.enqueue()
    case.read(target)


@kernel
def spread_nothing(x0, y0, x1, y1, count):
    start = get_write_ptr(0)
    noc_async_write_multicast(start, get_noc_multicast_addr(x0, y0, x1, y1, start), 2048, count, linked=True)
    noc_semaphore_set(get_semaphore(0), 1)
    flag = get_semaphore(0)
    noc_semaphore_set_multicast(flag, get_noc_multicast_addr(x0, y0, x1, y1, flag), count)
    noc_async_write_barrier()


@kernel
def keep_page(address, page):
    target = InterleavedAddrGen(address, page_size=2048, dram=True)
    noc_semaphore_wait(get_semaphore(0), 1)
    noc_async_write_page(page, target, get_write_ptr(0))
    noc_async_write_barrier()


@bug(
    "unwritten_sent",
    "noc_async_write_multicast(start, get_noc_multicast_addr(x0, y0, x1, y1, start), 2048, count, linked=True)",
)
def a_multicast_of_a_page_that_nobody_filled(case):
    target = case.buffer()
    case.circular_buffer(0, cores=ALL)
    case.semaphores(1, ALL)
    case.kernel(FIRST, ON_NOC_0, spread_nothing, *case.place(SECOND), *case.place(FOURTH), 3)
    for page, core in enumerate((SECOND, THIRD, FOURTH)):
        case.kernel(core, NCRISC, keep_page, target, page)
    case.enqueue()
    case.read(target)


@kernel
def push_nothing(count):
    for _ in range(count):
        cb_reserve_back(0, 1)
        cb_push_back(0, 1)


@bug("unwritten_sent", "noc_async_write_page(page, target, get_read_ptr(0))")
def the_second_program_sends_pages_of_the_first(case):
    target = case.buffer()
    case.copy(case.buffer(), target)
    case.circular_buffer(0)
    case.kernel(FIRST, NCRISC, push_nothing, PAGES)
    case.kernel(FIRST, BRISC, write_pages, target, PAGES)
    case.enqueue()
    case.read(target)


@kernel
def write_other_buffer(address, count):
    target = InterleavedAddrGen(address, page_size=2048, dram=True)
    for page in range(count):
        cb_wait_front(0, 1)
        noc_async_write_page(page, target, get_read_ptr(1))
        noc_async_write_barrier()
        cb_pop_front(0, 1)


@bug("unwritten_sent", "noc_async_write_page(page, target, get_read_ptr(1))")
def pages_of_the_wrong_circular_buffer_are_sent(case):
    target = case.buffer()
    case.circular_buffer(0)
    case.circular_buffer(1)
    case.kernel(FIRST, NCRISC, read_pages, case.buffer(), PAGES)
    case.kernel(FIRST, BRISC, write_other_buffer, target, PAGES)
    case.enqueue()
    case.read(target)


@kernel
def send_page(x, y):
    start = get_write_ptr(0)
    noc_async_write(start, get_noc_addr(x, y, start), 2048)
    noc_async_write_barrier()
    noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(0)), 1)
    noc_async_atomic_barrier()


@bug("unwritten_sent", "noc_async_write(start, get_noc_addr(x, y, start), 2048)")
def a_core_passes_on_what_another_one_never_filled(case):
    target = case.buffer()
    case.circular_buffer(0, cores=BOTH)
    case.semaphores(1, BOTH)
    case.kernel(FIRST, BRISC, send_page, *case.place(SECOND))
    case.kernel(SECOND, NCRISC, keep_page, target, 0)
    case.enqueue()
    case.read(target)


SEND_BEYOND = """#include <cstdint>
#include "dataflow_api.h"
void kernel_main() {
    const InterleavedAddrGen<true> target = {.bank_base_address = get_arg_val<uint32_t>(0), .page_size = 2048};
    for (uint32_t page = 0; page < get_arg_val<uint32_t>(1); page++) {
        cb_wait_front(0, 1);
        noc_async_write(get_write_ptr(1), get_noc_addr(page, target), 2048);
        noc_async_write_barrier();
        cb_pop_front(0, 1);
    }
}
"""


@bug("unwritten_sent", "noc_async_write(get_write_ptr(1), get_noc_addr(page, target), 2048);")
def pages_of_the_wrong_circular_buffer_are_sent_cpp(case):
    target = case.buffer()
    case.circular_buffer(0)
    case.circular_buffer(1)
    case.kernel(FIRST, NCRISC, read_pages, case.buffer(), PAGES)
    case.kernel(FIRST, BRISC, SEND_BEYOND, target, PAGES)
    case.enqueue()
    case.read(target)


@kernel
def load_page(address, place):
    source = InterleavedAddrGen(address, page_size=2048, dram=True)
    noc_async_read_page(0, source, get_write_ptr(0))
    noc_async_read_barrier()
    words = l1_ptr(get_write_ptr(0), uint32)
    assert words[place] < 100


@bug("load_unwritten", "assert words[place] < 100")
def a_word_is_looked_at_that_came_from_dram_nobody_wrote(case):
    case.circular_buffer(0)
    case.kernel(FIRST, NCRISC, load_page, case.buffer(None), 3)
    case.run()


# --- transfers that leave their circular buffer


@kernel
def read_two_pages(address):
    source = InterleavedAddrGen(address, page_size=2048, dram=True)
    cb_reserve_back(0, 1)
    noc_async_read(get_noc_addr(0, source), get_write_ptr(0), 4096)
    noc_async_read_barrier()
    cb_push_back(0, 1)


@kernel
def use_other(index):
    cb_reserve_back(index, 1)
    riscv_wait(3000)


@bug("cb_beyond_end", "noc_async_read(get_noc_addr(0, source), get_write_ptr(0), 4096)")
def a_read_runs_on_into_a_buffer_that_nobody_has_used_yet(case):
    case.circular_buffer(0, pages=1)
    case.circular_buffer(1)
    case.kernel(FIRST, NCRISC, read_two_pages, case.buffer(pages=24))
    case.run()


@kernel
def push_other(index):
    cb_reserve_back(index, 1)
    cb_push_back(index, 1)


@bug("cb_beyond_end", "noc_async_read(get_noc_addr(0, source), get_write_ptr(0), 4096)")
def a_read_runs_on_into_pushed_pages_of_the_next_buffer(case):
    case.circular_buffer(0, pages=1)
    case.circular_buffer(1)
    case.kernel(FIRST, BRISC, push_other, 1)
    case.kernel(FIRST, NCRISC, read_two_pages, case.buffer(pages=24))
    case.run()


@kernel
def write_two_pages(address):
    target = InterleavedAddrGen(address, page_size=2048, dram=True)
    cb_wait_front(0, 1)
    noc_async_write(get_read_ptr(0), get_noc_addr(0, target), 4096)
    noc_async_write_barrier()
    cb_pop_front(0, 1)


@bug("cb_beyond_end", "noc_async_write(get_read_ptr(0), get_noc_addr(0, target), 4096)")
def a_write_takes_the_next_buffer_along(case):
    case.circular_buffer(0, pages=1)
    case.circular_buffer(1)
    case.kernel(FIRST, NCRISC, read_pages, case.buffer(), 1)
    case.kernel(FIRST, BRISC, write_two_pages, case.buffer(pages=24))
    case.run()


@kernel
def send_two_pages(x, y):
    riscv_wait(2000)
    noc_async_write(get_write_ptr(0), get_noc_addr(x, y, get_write_ptr(0)), 4096)
    noc_async_write_barrier()


@kernel
def reserve_and_push_next():
    cb_reserve_back(0, 1)
    cb_reserve_back(1, 1)
    cb_push_back(1, 1)
    riscv_wait(9000)


@bug("cb_beyond_end", "noc_async_write(get_write_ptr(0), get_noc_addr(x, y, get_write_ptr(0)), 4096)")
def what_is_sent_arrives_in_the_next_buffer_too(case):
    case.circular_buffer(0, pages=1, cores=BOTH)
    case.circular_buffer(1, cores=BOTH)
    case.kernel(FIRST, NCRISC, send_two_pages, *case.place(SECOND))
    case.kernel(SECOND, NCRISC, reserve_and_push_next)
    case.run()


@kernel
def read_scratch_and_more(address):
    source = InterleavedAddrGen(address, page_size=2048, dram=True)
    riscv_wait(2000)
    noc_async_read(get_noc_addr(0, source), get_write_ptr(0), 4096)
    noc_async_read_barrier()


@bug("cb_overwritten", "noc_async_read(get_noc_addr(0, source), get_write_ptr(0), 4096)")
def scratch_memory_runs_on_into_pushed_pages(case):
    case.circular_buffer(0, pages=1)
    case.circular_buffer(1)
    case.kernel(FIRST, BRISC, push_other, 1)
    case.kernel(FIRST, NCRISC, read_scratch_and_more, case.buffer(pages=24))
    case.run()


# --- several threads at one end of a circular buffer


@kernel
def push_three(count):
    for _ in range(count):
        cb_reserve_back(0, 1)
        cb_push_back(0, 1)


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


# --- ends of kernels


@kernel
def increments(x, y):
    noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(0)), 1)
    noc_async_write_barrier()


@bug("atomics_at_end", "noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(0)), 1)")
def an_increment_with_a_barrier_for_writes(case):
    case.semaphores(1, BOTH)
    case.kernel(FIRST, NCRISC, increments, *case.place(SECOND))
    case.run()


@kernel
def increments_other_noc(x, y):
    noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(0)), 1)
    noc_async_atomic_barrier(1 - noc_index)


@bug("atomics_at_end", "noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(0)), 1)")
def an_increment_with_a_barrier_on_the_other_noc(case):
    case.semaphores(1, BOTH)
    case.kernel(FIRST, NCRISC, increments_other_noc, *case.place(SECOND))
    case.run()


@kernel
def increments_all(x0, y0, x1, y1, count):
    flag = get_semaphore(0)
    noc_semaphore_inc_multicast(get_noc_multicast_addr(x0, y0, x1, y1, flag), 1, count)


@bug("atomics_at_end", "noc_semaphore_inc_multicast(get_noc_multicast_addr(x0, y0, x1, y1, flag), 1, count)")
def a_multicast_increment_without_a_barrier(case):
    case.semaphores(1, ALL)
    case.kernel(FIRST, ON_NOC_0, increments_all, *case.place(SECOND), *case.place(FOURTH), 3)
    case.run()


INCREMENT = """#include <cstdint>
#include "dataflow_api.h"
void kernel_main() {
    const uint32_t x = get_arg_val<uint32_t>(0), y = get_arg_val<uint32_t>(1);
    noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(0)), 1);
}
"""


@bug("atomics_at_end", "noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(0)), 1);")
def an_increment_without_a_barrier_cpp(case):
    case.semaphores(1, BOTH)
    case.kernel(FIRST, NCRISC, INCREMENT, *case.place(SECOND))
    case.run()


@kernel
def inline_word(x, y):
    noc_inline_dw_write(get_noc_addr(x, y, get_semaphore(0)), 7)
    noc_async_atomic_barrier()


@bug("writes_at_end", "noc_inline_dw_write(get_noc_addr(x, y, get_semaphore(0)), 7)")
def an_inline_write_with_a_barrier_for_increments(case):
    case.semaphores(1, BOTH)
    case.kernel(FIRST, NCRISC, inline_word, *case.place(SECOND))
    case.run()


@kernel
def flag_to_itself(x0, y0, x1, y1, count):
    flag = get_semaphore(0)
    noc_semaphore_set(flag, 1)
    noc_semaphore_set_multicast_loopback_src(flag, get_noc_multicast_addr(x0, y0, x1, y1, flag), count)
    noc_async_atomic_barrier()


@bug(
    "writes_at_end",
    "noc_semaphore_set_multicast_loopback_src(flag, get_noc_multicast_addr(x0, y0, x1, y1, flag), count)",
)
def a_flag_that_is_multicast_with_a_barrier_for_increments(case):
    case.semaphores(1, ALL)
    case.kernel(FIRST, ON_NOC_0, flag_to_itself, *case.place(FIRST), *case.place(FOURTH), 4)
    case.run()


@kernel
def keeps_dst():
    init_sfpu(0, 16)
    copy_tile_to_dst_init_short(0)
    cb_wait_front(0, 1)
    tile_regs_acquire()
    copy_tile(0, 0, 0)
    tile_regs_commit()
    cb_pop_front(0, 1)
    cb_reserve_back(16, 1)
    tile_regs_wait()
    pack_tile(0, 16)
    cb_push_back(16, 1)


@bug("dst_held", "cb_push_back(16, 1)")
def dst_is_never_released(case):
    case.circular_buffer(0, page=4096)
    case.circular_buffer(16, page=4096)
    case.kernel(FIRST, NCRISC, push_three, 1)
    case.kernel(FIRST, tt.ComputeConfig(), keeps_dst)
    case.run()


@kernel
def multicast_then_increment(x0, y0, x1, y1, count):
    start = get_write_ptr(0)
    noc_async_write_multicast(start, get_noc_multicast_addr(x0, y0, x1, y1, start), 2048, count)
    noc_semaphore_inc(get_noc_addr(x1, y1, get_semaphore(0)), 1)
    noc_async_full_barrier()


@bug("signal_before_data", "noc_semaphore_inc(get_noc_addr(x1, y1, get_semaphore(0)), 1)")
def an_increment_tells_of_a_multicast_that_may_not_be_there(case):
    case.circular_buffer(0, cores=ALL)
    case.semaphores(1, ALL)
    case.kernel(FIRST, ON_NOC_0, multicast_then_increment, *case.place(SECOND), *case.place(FOURTH), 3)
    case.run()


# --- address generators beside their buffers


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


# --- two queues


@bug("race_read", "noc_async_read_page(page, source, get_write_ptr(0))")
def a_program_reads_what_one_of_another_queue_writes(case):
    source, middle, target = case.buffer(), case.buffer(), case.buffer()
    case.copy(source, middle)
    case.copy(middle, target, queue=1)
    tt.finish(case.queue(1))


@bug("race_read", "noc_async_read_page(page, source, get_write_ptr(0))")
def an_event_is_recorded_before_the_program(case):
    source, middle, target, event = case.buffer(), case.buffer(), case.buffer(), tt.Event()
    tt.enqueue_record_event(case.queue(0), event)
    case.copy(source, middle)
    tt.enqueue_wait_for_event(case.queue(1), event)
    case.copy(middle, target, core=SECOND, queue=1)
    tt.finish(case.queue(1))


@bug("race_read", "noc_async_read_page(page, source, get_write_ptr(0))")
def an_event_is_waited_for_behind_the_program(case):
    source, middle, target, event = case.buffer(), case.buffer(), case.buffer(), tt.Event()
    case.copy(source, middle)
    tt.enqueue_record_event(case.queue(0), event)
    case.copy(middle, target, core=SECOND, queue=1)
    tt.enqueue_wait_for_event(case.queue(1), event)
    tt.finish(case.queue(1))


@bug("race_write", "")
def the_host_writes_what_a_program_of_another_queue_reads(case):
    source = case.buffer()
    case.copy(source, case.buffer())
    tt.enqueue_write_buffer(case.queue(1), source, DATA.tobytes(), blocking=True)


@bug("race_read", "noc_async_read_page(page, source, get_write_ptr(0))")
def a_program_reads_what_the_host_writes_on_another_queue(case):
    source = case.buffer()
    target = case.buffer()
    tt.enqueue_write_buffer(case.queue(1), source, DATA.tobytes(), blocking=False)
    case.copy(source, target)
    tt.finish(case.queue(0))
    tt.finish(case.queue(1))


@bug("race_write", "noc_async_write_page(page, target, get_read_ptr(0))")
def the_host_reads_what_a_program_of_another_queue_writes(case):
    target = case.buffer()
    case.copy(case.buffer(), target)
    case.read(target, queue=1)


@bug("race_writes", "")
def the_host_writes_on_two_queues(case):
    target = case.buffer()
    tt.enqueue_write_buffer(case.queue(0), target, DATA.tobytes(), blocking=False)
    tt.enqueue_write_buffer(case.queue(1), target, DATA.tobytes(), blocking=False)
    tt.finish(case.queue(0))
    tt.finish(case.queue(1))


# --- buffers that are not any more


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
    program, kind, source = BUGS[name]
    if name.endswith("cpp"):
        pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
    with pytest.raises(TensimError) as caught:
        checked(program)
    error = caught.value
    assert error.kind == kind and error.hint, error
    assert source in error.where.get("source", ""), error
    if not source:
        assert error.where["other"], error


def test_there_are_more_than_forty():
    assert len(BUGS) > 40
