"""What the chip lets pass: without checks a program goes on as there, and the report says what was odd; with checks it stops."""

import numpy as np
import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.cores.kernels.compiler import kernel_from_source
from tensim.sim.cores.riscv.kernel import CppKernel
from tensim.sim.errors import DeadlockError, ProgramError, TensimWarning

# ruff: noqa: F405
SEEN = 600_000  # L1 address of what kernels have found
PAGE = 2048
READER, WRITER, COMPUTE = tt.ReaderDataMovementConfig, tt.WriterDataMovementConfig, tt.ComputeConfig


@pytest.fixture
def opened():
    """Opens a device, with checks or without, in the place of the one before."""
    devices = []

    def open_device(check=False):
        close()
        devices.append(tt.create_device(0, max_cycles=200_000, check=check))
        return devices[-1]

    def close():
        while devices:
            tt.close_device(devices.pop())

    yield open_device
    close()


def run(device, *kernels, buffers=(), core=(0, 0)):
    """Run (kernel, configuration, arguments) on one core; `buffers`: (index, pages), and bytes of a page if not PAGE."""
    program, core = tt.create_program(), tt.CoreCoord(*core)
    for index, pages, *page in buffers:
        page = page[0] if page else PAGE
        config = tt.CircularBufferConfig(pages * page, {index: tt.DataFormat.Float16_b}).set_page_size(index, page)
        tt.create_circular_buffer(program, core, config)
    for function, config, *args in kernels:
        tt.set_runtime_args(program, tt.create_kernel(program, function, core, config()), core, list(args))
    with tt.measure(device) as measured:
        tt.enqueue_program(device.command_queue(0), program, blocking=False)
        tt.finish(device.command_queue(0))
    return measured.result


def seen(device, count, address=SEEN, core=0):
    return np.frombuffer(device.chip.memory.read_l1(core, address, 4 * count), np.uint32).tolist()


def refused(device, kind, *kernels, **options):
    """The error of a program that checks stop."""
    with pytest.raises(ProgramError) as caught:
        run(device, *kernels, **options)
    assert caught.value.kind == kind
    return caught.value


# --- counters and pointers of circular buffers


@kernel
def push_past_the_end():
    out = l1_ptr(SEEN, uint32)
    start = get_write_ptr(0)
    cb_push_back(0, 2)
    cb_push_back(0, 1)
    out[0] = get_write_ptr(0) - start
    out[1] = cb_pages_reservable_at_back(0, 2)
    cb_reserve_back(0, 1)
    cb_wait_front(0, 3)
    out[2] = cb_pages_available_at_front(0, 3)


def test_an_over_run_leaves_no_end_of_room(opened):
    """Three pages in a buffer of two: room is -1 in 16 bits."""
    device = opened()
    result = run(device, (push_past_the_end, READER), buffers=[(0, 2)])
    assert seen(device, 3) == [PAGE, 1, 1], "the pointer met the end and went back, then on by a page"
    (overrun, *rest) = result["oddities"]
    assert [one["kind"] for one in rest] == ["cb_too_many", "cb_too_many"]
    assert overrun["kind"] == "cb_overrun" and overrun["message"].endswith("push of 1 pages with 0 free")
    assert (overrun["core"], overrun["thread"], overrun["count"], overrun["cores"]) == ("(0,0)", "NCRISC", 1, 1)
    assert overrun["file"].endswith("test_oddities.py") and overrun["source"] == "cb_push_back(0, 1)"
    (warning, *_) = (text for text in result.warnings if "over-run" in text)
    assert "1 times on 1 core" in warning and f"test_oddities.py:{overrun['line']}" in warning
    refused(opened(check=True), "cb_push_unreserved", (push_past_the_end, READER), buffers=[(0, 2)])


@kernel
def pop_before_the_push():
    out = l1_ptr(SEEN, uint32)
    cb_pop_front(0, 1)
    out[0] = cb_pages_available_at_front(0, 2)
    cb_wait_front(0, 2)
    cb_reserve_back(0, 2)
    cb_push_back(0, 1)
    out[1] = cb_pages_available_at_front(0, 1)


def test_an_under_run_leaves_no_end_of_pages(opened):
    device = opened()
    result = run(device, (pop_before_the_push, READER), buffers=[(0, 2)])
    assert seen(device, 2) == [1, 0]
    assert [(one["kind"], one["count"]) for one in result["oddities"]] == [("cb_underrun", 1)]
    refused(opened(check=True), "cb_underrun", (pop_before_the_push, READER), buffers=[(0, 2)])


@kernel
def straddle():
    out = l1_ptr(SEEN, uint32)
    start = get_write_ptr(0)
    for i in range(3):
        cb_reserve_back(0, 2)
        cb_push_back(0, 2)
        cb_wait_front(0, 2)
        cb_pop_front(0, 2)
        out[2 * i] = get_write_ptr(0) - start
        out[2 * i + 1] = get_read_ptr(0) - start


def test_a_data_movement_pointer_goes_back_only_where_it_meets_the_end(opened):
    device = opened()
    result = run(device, (straddle, READER), buffers=[(0, 3)])
    assert seen(device, 6) == [2 * PAGE, 2 * PAGE, 4 * PAGE, 4 * PAGE, 6 * PAGE, 6 * PAGE]
    assert [(one["kind"], one["count"]) for one in result["oddities"]] == [("cb_straddle", 2)] * 2
    refused(opened(check=True), "cb_straddle", (straddle, READER), buffers=[(0, 3)])


@kernel
def pushes():
    cb_reserve_back(0, 1)
    cb_push_back(0, 1)
    noc_semaphore_set(SEEN + 64, 1)


@kernel
def looks(_first):
    out = l1_ptr(SEEN, uint32)
    start = get_write_ptr(0)
    noc_semaphore_wait(SEEN + 64, 1)
    cb_wait_front(0, 1)
    cb_pop_front(0, 1)
    out[0] = get_write_ptr(0) - start
    out[1] = get_read_ptr(0) - start


def test_every_processor_has_pointers_of_its_own(opened):
    """The one that pushes moves its write pointer, the one that pops its read pointer."""
    device = opened()
    result = run(device, (pushes, READER), (looks, WRITER, 0), buffers=[(0, 2)])
    assert seen(device, 2) == [0, PAGE] and result["oddities"] == []


@kernel
def push_one_late():
    riscv_wait(500)
    cb_reserve_back(0, 1)
    cb_push_back(0, 1)


@kernel
def take_one():
    cb_wait_front(0, 1)
    cb_pop_front(0, 1)


@kernel
def look_at_one():
    cb_wait_front(0, 1)
    noc_semaphore_set(SEEN, 5)


def test_all_that_wait_for_a_page_see_it(opened):
    device = opened()
    run(device, (push_one_late, READER), (look_at_one, WRITER), (take_one, COMPUTE), buffers=[(0, 1)])
    assert seen(device, 1) == [5]


@kernel
def push_two_and_count():
    out = l1_ptr(SEEN, uint32)
    cb_reserve_back(0, 2)
    cb_push_back(0, 2)
    riscv_wait(2000)
    out[0] = cb_pages_available_at_front(0, 1)
    out[1] = cb_pages_available_at_front(0, 2)


@kernel
def take_one_later():
    riscv_wait(1000)
    cb_wait_front(0, 2)
    cb_pop_front(0, 1)


def test_the_unpack_thread_counts_for_itself(opened):
    """It waits for what it has not popped itself, and writes its own count over the one that another thread has changed."""
    device = opened()
    run(device, (push_two_and_count, READER), (take_one, WRITER), (take_one_later, COMPUTE), buffers=[(0, 2)])
    assert seen(device, 2) == [1, 0]


POINTER = """
#include "dataflow_api.h"
void kernel_main() {
    const uint32_t there = get_arg_val<uint32_t>(0);
    get_local_cb_interface(0).fifo_wr_ptr = there;
    *reinterpret_cast<volatile uint32_t*>(there) = get_write_ptr(0);
    cb_reserve_back(0, 1);
    cb_push_back(0, 1);
    reinterpret_cast<volatile uint32_t*>(there)[1] = get_write_ptr(0);
}
"""


def test_a_pointer_may_be_set_to_where_the_buffer_is_not(opened):
    function, device = CppKernel("kernel.cpp", text=POINTER), opened()
    result = run(device, (function, READER, SEEN), buffers=[(0, 2)])
    assert seen(device, 2) == [SEEN, SEEN + PAGE]
    assert [(one["kind"], one["line"]) for one in result["oddities"]] == [("cb_pointer", 5), ("cb_straddle", 8)]
    refused(opened(check=True), "cb_pointer", (function, READER, SEEN), buffers=[(0, 2)])


@kernel
def wait_for_too_many():
    cb_wait_front(0, 3)


def test_a_deadlock_tells_what_was_odd_before(opened):
    with pytest.raises(DeadlockError, match="3 pages asked of a buffer that holds 2") as caught:
        run(opened(), (wait_for_too_many, READER), buffers=[(0, 2)])
    assert "cb_wait_front(0, 3): 0 of 2 pages are there" in str(caught.value)
    refused(opened(check=True), "cb_too_many", (wait_for_too_many, READER), buffers=[(0, 2)])


# --- pages of compute kernels


@kernel
def fill_pages(count):
    words = l1_ptr(get_write_ptr(0), uint32)
    cb_reserve_back(0, count)
    for page in range(count):
        for i in range(512):
            words[512 * page + i] = 0x3F803F80 + 0x00010001 * page
    cb_push_back(0, count)


@kernel
def copy_tiles(count, reserved):
    unary_op_init_common(0, 16)
    copy_tile_init(0)
    cb_wait_front(0, count)
    cb_reserve_back(16, reserved)
    for i in range(count):
        tile_regs_acquire()
        copy_tile(0, i, 0)
        tile_regs_commit()
        tile_regs_wait()
        pack_tile(0, 16)
        tile_regs_release()
    cb_push_back(16, reserved)
    cb_pop_front(0, count)


@kernel
def note_place():
    out = l1_ptr(SEEN, uint32)
    out[0] = get_read_ptr(16)
    cb_wait_front(16, 1)


@pytest.mark.parametrize("pages, kinds", [(3, ["pack_unreserved"]), (2, ["pack_unreserved", "tile_outside_cb"])])
def test_tiles_are_packed_behind_the_write_pointer_reserved_or_not(opened, pages, kinds):
    kernels = (fill_pages, READER, 3), (copy_tiles, COMPUTE, 3, 1), (note_place, WRITER)
    device = opened()
    result = run(device, *kernels, buffers=[(0, 3), (16, pages), (17, 2)])
    (place,) = seen(device, 1)
    assert [seen(device, 1, place + PAGE * i) for i in range(3)] == [[0x3F803F80 + 0x00010001 * i] for i in range(3)]
    assert [one["kind"] for one in result["oddities"]] == kinds
    assert result["oddities"][0]["count"] == 2 and result["oddities"][0]["thread"] == "TRISC2"
    refused(opened(check=True), "pack_unreserved", *kernels, buffers=[(0, 3), (16, pages), (17, 2)])


@kernel
def fill_in_twos(first):
    fill_tile_init()
    for _ in range(2):
        cb_reserve_back(16, 2)
        tile_regs_acquire()
        fill_tile(0, first)
        tile_regs_commit()
        tile_regs_wait()
        pack_tile(0, 16)
        tile_regs_release()
        cb_push_back(16, 2)
        cb_wait_front(16, 2)
        cb_pop_front(16, 2)
    cb_reserve_back(16, 1)
    tile_regs_acquire()
    fill_tile(0, float_bits(2.0))
    tile_regs_commit()
    tile_regs_wait()
    pack_tile(0, 16)
    tile_regs_release()
    cb_push_back(16, 1)


def test_a_compute_pointer_that_has_passed_the_end_comes_back_by_the_size(opened):
    """Four pages of a buffer of three: the fifth is its second."""
    device = opened()
    result = run(device, (fill_in_twos, COMPUTE, 0x3F800000), (note_place, WRITER), buffers=[(16, 3)])
    (place,) = seen(device, 1)
    assert [seen(device, 1, place + PAGE * i)[0] >> 16 for i in range(3)] == [0x3F80, 0x4000, 0x3F80]
    found = [(one["kind"], one["thread"]) for one in result["oddities"]]
    assert sorted(found) == [("cb_straddle", "TRISC0"), ("cb_straddle", "TRISC2")]


@kernel
def math_without_acquire():
    cb_reserve_back(16, 1)
    fill_tile_init()
    fill_tile(0, float_bits(2.0))
    tile_regs_commit()
    tile_regs_wait()
    pack_tile(0, 16)
    tile_regs_release()
    cb_push_back(16, 1)


@kernel
def acquire_again():
    cb_reserve_back(16, 1)
    fill_tile_init()
    tile_regs_acquire()
    fill_tile(0, float_bits(2.0))
    tile_regs_acquire()
    tile_regs_commit()
    tile_regs_wait()
    pack_tile(0, 16)
    tile_regs_release()
    cb_push_back(16, 1)


@pytest.mark.parametrize("compute, odd", [(math_without_acquire, {"dst_not_acquired"}), (acquire_again, set())])
def test_a_commit_and_nothing_else_changes_the_section_of_dst(opened, compute, odd):
    """Acquiring waits for room: a section that has it is the same one when it is acquired again, or not at all."""
    device = opened()
    result = run(device, (compute, COMPUTE), (note_place, WRITER), buffers=[(16, 2)])
    (place,) = seen(device, 1)
    assert seen(device, 1, place) == [0x40004000] and {one["kind"] for one in result["oddities"]} == odd


# --- memory


@kernel
def read_arguments(_first):
    out = l1_ptr(SEEN, uint32)
    for i in range(3):
        out[i] = get_arg_val(1 + i)
    out[3] = get_common_arg_val(2)


def test_an_argument_that_was_not_set_is_the_word_in_l1(opened):
    """Zero at first, later what an earlier program has left there."""
    device = opened()
    result = run(device, (read_arguments, READER, 7))
    assert seen(device, 4) == [0, 0, 0, 0]
    found = [(one["kind"], one["count"]) for one in result["oddities"]]
    assert found == [("argument_unset", 4)], "all of a thread's, at the line of the first"
    assert "out[i] = get_arg_val(1 + i)" in result["oddities"][0]["source"]
    run(device, (read_arguments, READER, 7, 11, 22, 33, 44))
    run(device, (read_arguments, READER, 7))
    assert seen(device, 4) == [11, 22, 33, 33]
    refused(opened(check=True), "kernel_raised", (read_arguments, READER, 7))


@kernel
def use_before_the_barrier():
    words, out = l1_ptr(SEEN + 4096, uint32), l1_ptr(SEEN, uint32)
    words[0] = 3
    words[1024] = 4
    noc_async_read(get_noc_addr(my_x[0], my_y[0], SEEN + 8192), SEEN + 4096, 64)
    out[0] = words[0]
    noc_async_read_barrier()
    out[1] = words[0]


def test_a_load_before_the_barrier_finds_what_is_there(opened):
    device = opened()
    result = run(device, (use_before_the_barrier, READER))
    assert seen(device, 2) == [3, 4]
    assert [(one["kind"], one["count"]) for one in result["oddities"]] == [("read_before_barrier", 1)]
    refused(opened(check=True), "read_before_barrier", (use_before_the_barrier, READER))


@kernel
def write_there(value, at):
    words = l1_ptr(SEEN + value * 64, uint32)
    words[0] = value
    noc_async_write(SEEN + value * 64, get_noc_addr(my_x[0], my_y[0], at), 32)
    noc_async_write_barrier()


def test_of_two_writers_to_one_address_the_last_stays(opened):
    at, device = SEEN + 4096, opened()
    result = run(device, (write_there, READER, 1, at), (write_there, WRITER, 2, at))
    assert seen(device, 1, at)[0] in (1, 2)
    (one,) = result["oddities"]
    assert one["kind"] == "unordered_writers" and "test_oddities.py" in one["message"]


# --- multicasts


@kernel
def to_itself(linked, loopback):
    place = get_noc_multicast_addr(my_x[0], my_y[0], my_x[0], my_y[0], SEEN)
    if loopback:
        noc_async_write_multicast_loopback_src(SEEN + 64, place, 32, 1, linked=linked)
        noc_async_write_multicast_loopback_src(SEEN + 64, place, 32, 1)
    else:
        noc_async_write_multicast(SEEN + 64, place, 32, 1)
    noc_async_write_barrier()


def test_a_multicast_to_the_sender_alone(opened):
    assert run(opened(), (to_itself, READER, 0, 1), core=(1, 1))["oddities"] == []
    (one, _) = run(opened(), (to_itself, READER, 1, 1), core=(1, 1))["oddities"]
    assert one["kind"] == "linked_to_sender" and "to the sender alone" in one["message"]
    refused(opened(check=True), "linked_to_sender", (to_itself, READER, 1, 1), core=(1, 1))
    error = refused(opened(), "multicast_to_sender", (to_itself, READER, 0, 0), core=(1, 1))
    assert "the sender is the only worker core" in str(error)


# --- reports


def test_a_script_without_a_report_is_warned_when_it_closes_the_device():
    device, program, core = tt.create_device(0), tt.create_program(), tt.CoreCoord(0, 0)
    config = tt.CircularBufferConfig(PAGE, {0: tt.DataFormat.Float16_b}).set_page_size(0, PAGE)
    tt.create_circular_buffer(program, core, config)
    tt.create_kernel(program, pop_one, core, READER())
    tt.enqueue_program(device.command_queue(0), program, blocking=False)
    with pytest.warns(TensimWarning, match="odd, but the chip goes on: .* pop of 1 pages with 0 available") as told:
        assert tt.close_device(device)
    assert len(told) == 1 and not tt.close_device(device)


@kernel
def pop_one():
    cb_pop_front(0, 1)


def test_a_measurement_tells_what_was_odd_in_it(opened):
    device = opened()
    for _ in range(2):
        (one,) = run(device, (pop_before_the_push, READER), buffers=[(0, 2)])["oddities"]
        assert one["count"] == 1
    assert run(device, (pushes, READER), buffers=[(0, 2)])["oddities"] == []


def test_many_kinds_at_many_lines_are_all_kept(opened):
    """The machine's table is emptied while a program runs."""
    cores, device = tt.CoreRange(tt.CoreCoord(0, 0), tt.CoreCoord(7, 7)), opened()
    program = tt.create_program()
    config = tt.CircularBufferConfig(2 * PAGE, {0: tt.DataFormat.Float16_b}).set_page_size(0, PAGE)
    tt.create_circular_buffer(program, cores, config)
    lines = "".join(f"    cb_pop_front(0, {1 + i % 2})\n" for i in range(80))
    function = kernel_from_source(f"@kernel\ndef pops():\n{lines}")
    tt.create_kernel(program, function, cores, READER())
    with tt.measure(device) as measured:
        tt.enqueue_program(device.command_queue(0), program, blocking=True)
    rows = measured.result["oddities"]
    assert sum(row["count"] for row in rows if row["kind"] == "cb_underrun") == 64 * 80
    assert all(row["cores"] == 64 for row in rows)
    assert sum("odd, but" in text for text in measured.result.warnings) == 8


# --- arithmetic

DIVIDE = """#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    volatile tt_l1_ptr uint32_t* out = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_arg_val<uint32_t>(0));
    const uint32_t by = get_arg_val<uint32_t>(1);
    out[0] = 7u / by;
    out[1] = 9u % by;
    out[2] = -7 / int32_t(by);
    out[3] = -9 % int32_t(by);
}
"""


def test_a_division_by_zero_gives_what_risc_v_says(opened):
    """All ones and the dividend; by another number nothing is odd, with checks either."""
    function, device = CppKernel("kernel.cpp", text=DIVIDE), opened()
    result = run(device, (function, READER, SEEN, 0))
    assert seen(device, 4) == [2**32 - 1, 9, 2**32 - 1, 2**32 - 9]
    assert [(one["kind"], one["line"]) for one in result["oddities"]] == [
        ("division_by_zero", line) for line in range(5, 9)
    ]
    error = refused(opened(check=True), "division_by_zero", (function, READER, SEEN, 0))
    assert "7 is divided by zero" in str(error) and error.where["line"] == 5
    device = opened(check=True)
    assert not run(device, (function, READER, SEEN, 4))["oddities"]
    assert seen(device, 4) == [1, 1, 2**32 - 1, 2**32 - 1]


@kernel
def divide(by):
    l1_ptr(SEEN, uint32)[0] = 7 // by


def test_a_python_kernel_raises_when_it_divides_by_zero(opened):
    refused(opened(), "kernel_raised", (divide, READER, 0))
