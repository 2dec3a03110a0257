"""Mistakes in small programs about order: what is open when kernels end, and what two queues do."""

import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.errors import ProgramError
from tests.cores.checks.small_bugs import ALL, BOTH, bug_of, check_is_found, push_three
from tests.cores.checks.small_programs import DATA, FIRST, FOURTH, NCRISC, ON_NOC_0, SECOND, checked

# ruff: noqa: F405
BUGS = {}
bug = bug_of(BUGS)


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


@pytest.mark.parametrize("name", BUGS)
def test_a_small_bug_is_found(name):
    check_is_found(name, *BUGS[name])


def test_a_missing_semaphore_is_one_of_a_core_by_its_coordinates():
    with pytest.raises(ProgramError, match=r"semaphore 0 does not exist on core \(1,0\)"):
        checked(lambda case: (case.kernel(FIRST, NCRISC, increments, *case.place(SECOND)), case.run()))
