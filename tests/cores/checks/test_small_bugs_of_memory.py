"""Mistakes in small programs about memory that nobody wrote, or that belongs to another buffer."""

import pytest

from tensim.kernel_api import *  # noqa: F403
from tests.cores.checks.small_bugs import ALL, BOTH, bug_of, check_is_found
from tests.cores.checks.small_programs import (
    BRISC,
    FIRST,
    FOURTH,
    L1,
    NCRISC,
    ON_NOC_0,
    PAGES,
    SECOND,
    THIRD,
    read_pages,
    write_pages,
)

# ruff: noqa: F405
BUGS = {}
bug = bug_of(BUGS)


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


@kernel
def read_two_pages(address):
    source = InterleavedAddrGen(address, page_size=2048, dram=True)
    cb_reserve_back(0, 1)
    noc_async_read(get_noc_addr(0, source), get_write_ptr(0), 4096)
    noc_async_read_barrier()
    cb_push_back(0, 1)


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


@pytest.mark.parametrize("name", BUGS)
def test_a_small_bug_is_found(name):
    check_is_found(name, *BUGS[name])
