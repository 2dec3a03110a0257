"""Programs that look wrong and are right: checks say nothing."""

import numpy as np
import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
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
LEGAL = {}
BOTH, ALL, ALONE = tt.CoreRange(FIRST, SECOND), tt.CoreRange(FIRST, FOURTH), tt.CoreRange(FIRST, FIRST)


def legal(function):
    return LEGAL.setdefault(function.__name__, function)


# --- multicasts that come back to their sender


@kernel
def flag_to_all(x0, y0, x1, y1, count):
    flag = get_semaphore(0)
    noc_semaphore_set(flag, 1)
    noc_semaphore_set_multicast_loopback_src(flag, get_noc_multicast_addr(x0, y0, x1, y1, flag), count)
    noc_async_write_barrier()


@kernel
def wait_flag():
    noc_semaphore_wait(get_semaphore(0), 1)


@legal
def a_flag_is_multicast_onto_its_own_word(case):
    case.semaphores(1, ALL)
    case.kernel(FIRST, ON_NOC_0, flag_to_all, *case.place(FIRST), *case.place(FOURTH), 4)
    for core in (SECOND, THIRD, FOURTH):
        case.kernel(core, NCRISC, wait_flag)
    case.run()


@legal
def a_flag_is_multicast_to_its_own_word_alone(case):
    case.semaphores(1, ALONE)
    case.kernel(FIRST, ON_NOC_0, flag_to_all, *case.place(FIRST), *case.place(FIRST), 1)
    case.run()


@kernel
def page_to_all(address, x0, y0, x1, y1, count):
    source = InterleavedAddrGen(address, page_size=2048, dram=True)
    cb_reserve_back(0, 1)
    start, flag = get_write_ptr(0), get_semaphore(0)
    noc_async_read_page(0, source, start)
    noc_async_read_barrier()
    noc_async_write_multicast_loopback_src(
        start, get_noc_multicast_addr(x0, y0, x1, y1, start), 2048, count, linked=True
    )
    noc_semaphore_set(flag, 1)
    noc_semaphore_set_multicast_loopback_src(flag, get_noc_multicast_addr(x0, y0, x1, y1, flag), count)
    noc_async_write_barrier()
    cb_push_back(0, 1)


@kernel
def take_page(address, page):
    target = InterleavedAddrGen(address, page_size=2048, dram=True)
    cb_reserve_back(0, 1)
    noc_semaphore_wait(get_semaphore(0), 1)
    noc_async_write_page(page, target, get_write_ptr(0))
    noc_async_write_barrier()


@legal
def a_page_and_its_flag_are_multicast_onto_their_own_places(case):
    target = case.buffer()
    case.circular_buffer(0, cores=ALL)
    case.semaphores(1, ALL)
    case.kernel(FIRST, ON_NOC_0, page_to_all, case.buffer(), *case.place(FIRST), *case.place(FOURTH), 4)
    case.kernel(FIRST, BRISC, write_pages, target, 1)
    for page, core in enumerate((SECOND, THIRD, FOURTH), 1):
        case.kernel(core, NCRISC, take_page, target, page)
    case.enqueue()
    assert (case.read(target).reshape(PAGES, -1)[:4] == DATA[:512]).all()


@kernel
def page_then_request(x0, y0, x1, y1, count):
    start, flag = get_write_ptr(0), get_semaphore(0)
    words = l1_ptr(start, uint32)
    for i in range(512):
        words[i] = i
    noc_semaphore_set(flag, 1)
    noc_async_write_multicast(start, get_noc_multicast_addr(x0, y0, x1, y1, start), 2048, count, linked=True)
    noc_semaphore_set_multicast(flag, get_noc_multicast_addr(x0, y0, x1, y1, flag), count)
    noc_semaphore_inc(get_noc_addr(x1, y1, get_semaphore(1)), 1)
    noc_async_full_barrier()


@legal
def an_increment_for_something_else_behind_data_and_their_flag(case):
    case.circular_buffer(0, cores=ALL)
    case.semaphores(2, ALL)
    case.kernel(FIRST, ON_NOC_0, page_then_request, *case.place(SECOND), *case.place(FOURTH), 3)
    for core in (SECOND, THIRD, FOURTH):
        case.kernel(core, NCRISC, wait_flag)
    case.run()


# --- memory that is written in part, or by somebody before


@kernel
def one_word(address):
    target = InterleavedAddrGen(address, page_size=2048, dram=True)
    words = l1_ptr(get_write_ptr(0), uint32)
    words[0] = 42
    noc_async_write_page(0, target, get_write_ptr(0))
    noc_async_write_barrier()


@legal
def a_page_with_one_word_of_the_kernel(case):
    target = case.buffer()
    case.circular_buffer(0)
    case.kernel(FIRST, NCRISC, one_word, target)
    case.enqueue()
    assert case.read(target)[0] == 42


@kernel
def send_word(x, y, place):
    words = l1_ptr(get_write_ptr(0), uint32)
    words[place * 8] = 100 + place
    noc_async_write(get_write_ptr(0) + place * 32, get_noc_addr(x, y, get_write_ptr(0) + place * 32), 32)
    noc_async_write_barrier()
    noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(0)), 1)
    noc_async_atomic_barrier()


@kernel
def keep_words(address, count):
    target = InterleavedAddrGen(address, page_size=2048, dram=True)
    noc_semaphore_wait(get_semaphore(0), count)
    noc_async_write_page(0, target, get_write_ptr(0))
    noc_async_write_barrier()


@legal
def a_page_with_a_few_words_of_other_cores(case):
    target = case.buffer()
    case.circular_buffer(0, cores=ALL)
    case.semaphores(1, ALL)
    case.kernel(FIRST, NCRISC, keep_words, target, 3)
    for place, core in enumerate((SECOND, THIRD, FOURTH), 1):
        case.kernel(core, NCRISC, send_word, *case.place(FIRST), place)
    case.enqueue()
    assert (case.read(target)[:32:8][1:] == [101, 102, 103]).all()


@legal
def scratch_memory_is_read_that_an_earlier_program_filled(case):
    source, target = case.buffer(), case.buffer()
    case.circular_buffer(0)
    case.kernel(FIRST, NCRISC, read_one, source)
    case.enqueue()
    case.circular_buffer(0)
    case.kernel(FIRST, BRISC, write_one, target, 3)
    case.enqueue()
    assert (case.read(target).reshape(PAGES, -1)[3] == DATA[:512]).all()


@kernel
def clear_word():
    words = l1_ptr(get_write_ptr(0), uint32)
    words[0] = 0


@kernel
def send_count(x, y):
    noc_inline_dw_write(get_noc_addr(x, y, get_write_ptr(0)), 5)
    noc_async_writes_flushed()


@kernel
def poll_count():
    words = l1_ptr(get_write_ptr(0), uint32)
    while words[0] != 5:
        pass


@legal
def a_mailbox_that_an_earlier_program_cleared(case):
    case.circular_buffer(0, cores=BOTH)
    case.kernel(SECOND, BRISC, clear_word)
    case.enqueue()
    case.circular_buffer(0, cores=BOTH)
    case.kernel(FIRST, BRISC, send_count, *case.place(SECOND))
    case.kernel(SECOND, NCRISC, poll_count)
    case.run()


@legal
def a_buffer_of_which_the_host_reads_pages_that_nobody_wrote(case):
    target = case.buffer(None)
    case.copy(case.buffer(), target, count=3)
    assert (case.read(target)[: 3 * 512] == DATA[: 3 * 512]).all()


@kernel
def copy_rows(source_address, target_address):
    source = InterleavedAddrGen(source_address, page_size=1000, dram=True)
    target = InterleavedAddrGen(target_address, page_size=1000, dram=True)
    for row in range(4):
        noc_async_read(get_noc_addr(row, source), get_write_ptr(0), 1000)
        noc_async_read_barrier()
        noc_async_write(get_write_ptr(0), get_noc_addr(row, target), 1024)
        noc_async_write_barrier()


@legal
def the_alignment_behind_a_row_is_sent_along(case):
    source, target = (case.buffer(pages=4, page=1000) for _ in range(2))
    case.circular_buffer(0)
    case.kernel(FIRST, NCRISC, copy_rows, source, target)
    case.enqueue()
    assert (case.read(target) == DATA[:1000]).all()


# --- circular buffers


@kernel
def read_into_both(address):
    source = InterleavedAddrGen(address, page_size=2048, dram=True)
    cb_reserve_back(0, 1)
    cb_reserve_back(1, 1)
    noc_async_read(get_noc_addr(0, source), get_write_ptr(0), 4096)
    noc_async_read_barrier()
    cb_push_back(0, 1)
    cb_push_back(1, 1)


@kernel
def take_both():
    cb_wait_front(0, 1)
    cb_wait_front(1, 1)
    cb_pop_front(0, 1)
    cb_pop_front(1, 1)


@legal
def one_read_fills_two_buffers_that_lie_together(case):
    case.circular_buffer(0, pages=1)
    case.circular_buffer(1, pages=1)
    case.kernel(FIRST, NCRISC, read_into_both, case.buffer(pages=24))
    case.kernel(FIRST, BRISC, take_both)
    case.run()


@kernel
def push_round(address, mine, other, rounds):
    source = InterleavedAddrGen(address, page_size=2048, dram=True)
    for turn in range(rounds):
        noc_semaphore_wait_min(get_semaphore(mine), turn + 1)
        cb_reserve_back(0, 2)
        noc_async_read_page(0, source, get_write_ptr(0))
        noc_async_read_page(1, source, get_write_ptr(0) + 2048)
        noc_async_read_barrier()
        cb_push_back(0, 2)
        noc_semaphore_set(get_semaphore(other), turn + mine + 1)


@kernel
def take_all(count):
    init_sfpu(0, 16)
    for _ in range(count):
        cb_wait_front(0, 1)
        cb_pop_front(0, 1)


@legal
def two_threads_push_whole_rounds_in_turns(case):
    source = case.buffer()
    case.circular_buffer(0)
    case.circular_buffer(16)
    tt.create_semaphore(case.program, [ALONE], 1)
    tt.create_semaphore(case.program, [ALONE], 0)
    case.kernel(FIRST, NCRISC, push_round, source, 0, 1, 2)
    case.kernel(FIRST, BRISC, push_round, source, 1, 0, 2)
    case.kernel(FIRST, tt.ComputeConfig(), take_all, 8)
    case.run()


@kernel
def fill_pages(count):
    for _ in range(count):
        cb_reserve_back(0, 1)
        cb_push_back(0, 1)


@kernel
def peek_and_tell():
    cb_wait_front(0, 1)
    noc_semaphore_set(get_semaphore(0), 1)


@kernel
def pop_when_told():
    cb_wait_front(0, 1)
    noc_semaphore_wait(get_semaphore(0), 1)
    cb_pop_front(0, 1)


@legal
def one_thread_pops_when_the_other_one_has_looked(case):
    case.circular_buffer(0)
    case.semaphores(1, ALONE)
    case.kernel(FIRST, tt.ComputeConfig(), fill_pages, 1)
    case.kernel(FIRST, BRISC, peek_and_tell)
    case.kernel(FIRST, NCRISC, pop_when_told)
    case.run()


@kernel
def push_block(count):
    cb_reserve_back(0, count)
    cb_push_back(0, count)


@kernel
def pop_block(count):
    cb_wait_front(0, count - 1)
    cb_pop_front(0, count)


@legal
def a_whole_block_is_popped_of_which_a_part_was_waited_for(case):
    case.circular_buffer(0, pages=4)
    case.kernel(FIRST, NCRISC, push_block, 4)
    case.kernel(FIRST, BRISC, pop_block, 4)
    case.run()


# --- ends of kernels


@kernel
def all_kinds(x, y):
    noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(0)), 1)
    noc_inline_dw_write(get_noc_addr(x, y, get_semaphore(1)), 1)
    noc_async_full_barrier()
    noc_inline_dw_write(get_noc_addr(x, y, get_semaphore(1)), 2)
    noc_async_writes_flushed()


@kernel
def posted_increment(x, y):
    noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(0)), 1, posted=1)


@legal
def increments_and_words_behind_a_full_barrier(case):
    case.semaphores(2, BOTH)
    case.kernel(FIRST, NCRISC, all_kinds, *case.place(SECOND))
    case.kernel(FIRST, BRISC, posted_increment, *case.place(SECOND))
    case.run()


# --- address generators


@kernel
def inside_a_page(address):
    source = InterleavedAddrGen(address, page_size=512, dram=True)
    for part in range(4):
        noc_async_read(get_noc_addr(0, source, part * 512), get_write_ptr(0) + part * 512, 512)
    noc_async_read_barrier()


@legal
def parts_of_a_buffer_of_one_page(case):
    case.circular_buffer(0)
    case.kernel(FIRST, NCRISC, inside_a_page, case.buffer(pages=1))
    case.run()


@kernel
def by_its_argument(address, in_dram, page_bytes):
    if in_dram == 1:
        source = InterleavedAddrGen(address, page_size=page_bytes, dram=True)
        noc_async_read_page(0, source, get_write_ptr(0))
    else:
        other = InterleavedAddrGen(address, page_size=page_bytes, dram=False)
        noc_async_read_page(0, other, get_write_ptr(0))
    noc_async_read_barrier()


@legal
def a_generator_for_each_memory_within_a_condition(case):
    for memory in (tt.BufferType.DRAM, L1):
        case.circular_buffer(0)
        case.kernel(FIRST, NCRISC, by_its_argument, case.buffer(memory=memory), int(memory != L1), 2048)
        case.run()


@legal
def rows_whose_alignment_is_that_of_the_generator(case):
    case.circular_buffer(0)
    case.kernel(FIRST, NCRISC, read_one, case.buffer(pages=4, page=2044))
    case.run()


# --- two queues


@legal
def an_event_orders_two_queues(case):
    source, middle, target, event = case.buffer(), case.buffer(), case.buffer(), tt.Event()
    case.copy(source, middle)
    tt.enqueue_record_event(case.queue(0), event)
    tt.enqueue_wait_for_event(case.queue(1), event)
    case.copy(middle, target, queue=1)
    assert (case.read(target, queue=1) == DATA).all()


@legal
def the_host_waits_between_two_queues(case):
    source, middle, target = case.buffer(), case.buffer(), case.buffer()
    case.copy(source, middle)
    tt.finish(case.queue(0))
    case.copy(middle, target, core=SECOND, queue=1)
    tt.finish(case.queue(1))
    assert (case.read(target) == DATA).all()


@legal
def two_queues_read_one_buffer(case):
    source, targets = case.buffer(), [case.buffer(), case.buffer()]
    case.copy(source, targets[0])
    case.copy(source, targets[1], core=SECOND, queue=1)
    for queue, target in enumerate(targets):
        assert (case.read(target, queue=queue) == DATA).all()


@legal
def two_queues_with_buffers_of_their_own_on_one_core(case):
    sources, targets = [case.buffer(), case.buffer()], [case.buffer(), case.buffer()]
    for queue in (0, 1, 0, 1):
        case.copy(sources[queue], targets[queue], queue=queue)
    for queue, target in enumerate(targets):
        assert (case.read(target, queue=queue) == DATA).all()


@kernel
def copy_one(source_address, target_address, page):
    source = InterleavedAddrGen(source_address, page_size=2048, dram=True)
    target = InterleavedAddrGen(target_address, page_size=2048, dram=True)
    noc_async_read_page(page, source, get_write_ptr(0))
    noc_async_read_barrier()
    noc_async_write_page(page, target, get_write_ptr(0))
    noc_async_write_barrier()


@legal
def two_queues_write_different_pages_of_one_buffer(case):
    source, target = case.buffer(), case.buffer(np.zeros_like(DATA))
    for page in range(PAGES):
        core = tt.CoreCoord(page, 0)
        case.circular_buffer(0, cores=core)
        case.kernel(core, NCRISC, copy_one, source, target, page)
        case.enqueue(page % 2)
    tt.finish(case.queue(1))
    assert (case.read(target) == DATA).all()


@legal
def an_event_goes_round_by_the_other_queue(case):
    first, second = tt.Event(), tt.Event()
    buffers = [case.buffer() for _ in range(4)]
    case.copy(buffers[0], buffers[1])
    tt.enqueue_record_event(case.queue(0), first)
    tt.enqueue_wait_for_event(case.queue(1), first)
    tt.enqueue_record_event(case.queue(1), second)
    tt.event_synchronize(second)
    tt.enqueue_write_buffer(case.queue(1), buffers[1], (DATA + 1).tobytes(), blocking=False)
    case.copy(buffers[1], buffers[2], queue=1)
    assert (case.read(buffers[2], queue=1) == DATA + 1).all()


@legal
def a_double_buffered_upload(case):
    """The host fills one buffer on queue 1 while a program of queue 0 reads the other."""
    inputs, target = [case.buffer(), case.buffer()], case.buffer()
    written, used = [tt.Event(), tt.Event()], [None, None]
    for turn in range(4):
        side = turn % 2
        if used[side] is not None:
            tt.enqueue_wait_for_event(case.queue(1), used[side])
        tt.enqueue_write_buffer(case.queue(1), inputs[side], (DATA + turn).tobytes(), blocking=False)
        written[side] = tt.Event()
        tt.enqueue_record_event(case.queue(1), written[side])
        tt.enqueue_wait_for_event(case.queue(0), written[side])
        case.copy(inputs[side], target)
        used[side] = tt.Event()
        tt.enqueue_record_event(case.queue(0), used[side])
    assert (case.read(target) == DATA + 3).all()


# --- buffers that are not any more


@legal
def a_buffer_is_freed_behind_its_program(case):
    source, target = case.buffer(), case.buffer()
    case.copy(source, target)
    tt.deallocate_buffer(source)
    case.buffer(DATA + 1)
    assert (case.read(target) == DATA).all()


@legal
def an_argument_is_set_anew_when_its_buffer_is_freed(case):
    old, new, target = case.buffer(), case.buffer(DATA + 1), case.buffer()
    case.circular_buffer(0)
    reader = case.kernel(FIRST, NCRISC, read_pages, old, PAGES)
    case.kernel(FIRST, BRISC, write_pages, target, PAGES)
    tt.deallocate_buffer(old)
    tt.set_runtime_args(case.program, reader, FIRST, [new, PAGES])
    case.enqueue()
    assert (case.read(target) == DATA + 1).all()


@kernel
def read_small_tiles(address):
    source = InterleavedAddrGenFast(address, get_tile_size(0), DataFormat.UInt32)
    noc_async_read_tile(PAGES - 1, source, get_write_ptr(0))
    noc_async_read_barrier()


@legal
def tiles_have_other_shapes(case):
    config = tt.CircularBufferConfig(2048, {0: tt.DataFormat.UInt32}).set_page_size(0, 2048).set_tile_dims(0, (16, 32))
    tt.create_circular_buffer(case.program, FIRST, config)
    case.kernel(FIRST, NCRISC, read_small_tiles, case.buffer(page=2048))
    case.run()


@pytest.mark.parametrize("name", LEGAL)
def test_nothing_is_said_of_a_legal_program(name):
    checked(LEGAL[name])


def test_there_are_more_than_twenty():
    assert len(LEGAL) > 20
