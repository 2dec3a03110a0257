"""What goes wrong in a program, and what its user sees: core, thread, kernel line, cycle, values."""

import signal

import numpy as np
import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.cores.kernels import compiler as kernel_compiler
from tensim.sim.cores.kernels import lowering_emit
from tensim.sim.engine import machine_code
from tensim.sim.errors import CycleLimitError, DeadlockError, KernelCompileError, ProgramError
from tensim.sim.loop import environment

# ruff: noqa: F405
SCRATCH = 600_000  # an L1 address far from circular buffers and the allocator's buffers


@pytest.fixture
def device():
    device = tt.create_device(0, arch="wormhole_b0", max_cycles=2_000_000)
    yield device
    tt.close_device(device)


@pytest.fixture
def checked():
    """A device that refuses what the chip lets pass, too (`test_oddities.py` has what it does without checks)."""
    device = tt.create_device(0, arch="wormhole_b0", max_cycles=2_000_000, check=True)
    yield device
    tt.close_device(device)


def run(device, *kernels, args=(), circular_buffers=(), compute=None, cores=None):
    """Run data-movement kernels (RISCV_0, then RISCV_1) and one compute kernel on core (0, 0).

    `circular_buffers`: (index, pages, page size), and a format where it is not bf16.
    """
    program, core = tt.create_program(), cores or tt.CoreCoord(0, 0)
    for index, pages, page, *rest in circular_buffers:
        data_format = rest[0] if rest else tt.DataFormat.Float16_b
        config = tt.CircularBufferConfig(pages * page, {index: data_format}).set_page_size(index, page)
        tt.create_circular_buffer(program, core, config)
    configs = (tt.WriterDataMovementConfig(), tt.ReaderDataMovementConfig())
    for kernel_function, config in zip(kernels, configs, strict=False):
        handle = tt.create_kernel(program, kernel_function, core, config)
        tt.set_runtime_args(program, handle, core, list(args))
    if compute is not None:
        tt.create_kernel(program, compute, core, tt.ComputeConfig())
    queue = device.command_queue(0)
    tt.enqueue_program(queue, program, blocking=False)
    tt.finish(queue)


@kernel
def copy_words(source, destination, size):
    noc_async_read(get_noc_addr(my_x[0], my_y[0], source), destination, size)
    noc_async_read_barrier()


@kernel
def use_before_barrier():
    words = l1_ptr(600000, uint32)
    words[3] = 1
    noc_async_read(get_noc_addr(4, 4, 500000), 600000, 2048)
    value = words[3]
    assert value == value


@kernel
def push_before_barrier():
    cb_reserve_back(0, 1)
    noc_async_read(get_noc_addr(4, 4, 500000), get_write_ptr(0), 2048)
    cb_push_back(0, 1)


@kernel
def push_too_much():
    cb_push_back(0, 2)
    cb_push_back(0, 1)


@kernel
def pop_too_much():
    cb_pop_front(0, 1)


@kernel
def wait_for_more_than_there_is():
    cb_wait_front(0, 3)


@kernel
def use_missing_buffer():
    cb_reserve_back(5, 1)


@kernel
def wait_for_nobody():
    cb_wait_front(0, 1)


@kernel
def wait_for_semaphore():
    noc_semaphore_wait(600000, 7)


@kernel
def spin_forever():
    i = 0
    while i >= 0:
        i += 1


@kernel
def raise_an_error(limit):
    if limit < 5:
        raise ValueError("limit is too small")


@kernel
def read_missing_argument():
    value = get_arg_val(3)
    noc_semaphore_set(600000, value)


@kernel
def write_everywhere(target):
    noc_async_write(500000, get_noc_addr(1, 1, target), 2048)
    noc_async_write_barrier()


@kernel
def read_bank(bank, offset, size):
    noc_async_read(get_noc_addr_from_bank_id(bank, offset), 600000, size)
    noc_async_read_barrier()


@kernel
def use_dst_beyond_capacity():
    tile_regs_acquire()
    fill_tile(8, 0)
    tile_regs_commit()


@kernel
def use_dst_without_acquire():
    fill_tile(0, 0)


@pytest.mark.parametrize(
    ("args", "kind", "words"),
    [
        ((600_000, 1_499_136 - 16, 64), "l1_range", "outside L1"),
        ((1_499_136, 600_000, 64), "l1_range", "outside L1"),
        ((600_000, 64, 64), "l1_reserved", "reserved"),
        ((600_000, 700_008, 64), "misaligned", "misaligned"),
        ((600_000, 700_000, 0), "zero_length", "0 bytes"),
    ],
)
def test_bad_transfers_name_the_values(device, args, kind, words):
    with pytest.raises(ProgramError, match=words) as caught:
        run(device, copy_words, args=args)
    where = caught.value.where
    assert caught.value.kind == kind
    assert where["core"] == "(0,0)" and where["thread"] == "BRISC" and where["cycle"] > 0
    assert where["file"].endswith("test_failures.py") and "noc_async_read(" in where["source"]


def test_dram_bounds(device):
    with pytest.raises(ProgramError, match="outside DRAM bank 11"):
        run(device, read_bank, args=(11, 2**30 - 64, 128))


@pytest.mark.parametrize(
    ("kernel_function", "kind"),
    [
        (use_before_barrier, "read_before_barrier"),
        (push_before_barrier, "read_before_barrier"),
        (push_too_much, "cb_push_unreserved"),
        (pop_too_much, "cb_underrun"),
        (wait_for_more_than_there_is, "cb_too_many"),
        (use_missing_buffer, "cb_missing"),
    ],
)
def test_misuse_of_buffers_and_barriers(checked, kernel_function, kind):
    with pytest.raises(ProgramError) as caught:
        run(checked, kernel_function, circular_buffers=[(0, 2, 2048)])
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("kernel_function", "kind"), [(use_dst_beyond_capacity, "dst_index"), (use_dst_without_acquire, "dst_not_acquired")]
)
def test_dst_misuse(checked, kernel_function, kind):
    with pytest.raises(ProgramError) as caught:
        run(checked, compute=kernel_function)
    assert caught.value.kind == kind and caught.value.where["thread"] == "TRISC1"


def test_two_writers_to_one_address(checked):
    with pytest.raises(ProgramError, match="two writers without ordering") as caught:
        run(checked, write_everywhere, write_everywhere, args=(600_000,))
    assert caught.value.where["other"]["thread"] != caught.value.where["thread"]


def test_deadlock_tells_who_waits_for_what(device):
    with pytest.raises(DeadlockError) as caught:
        run(device, wait_for_nobody, wait_for_semaphore, circular_buffers=[(0, 2, 2048)])
    graph = {node["thread"]: node for node in caught.value.where["waiting"]}
    assert set(graph) == {"BRISC", "NCRISC"}
    assert "cb_wait_front(0, 1): 0 of 2 pages" in graph["BRISC"]["waits_for"]
    assert "== 7: its value is 0" in graph["NCRISC"]["waits_for"]
    assert graph["BRISC"]["source"] == "cb_wait_front(0, 1)"


def test_endless_loop_ends_at_the_cycle_limit(device):
    with pytest.raises(CycleLimitError, match="2000000 cycles") as caught:
        run(device, spin_forever)
    assert caught.value.where["threads"][0]["kernel"] == "spin_forever"


@pytest.fixture
def ctrl_c():
    """Raise what Ctrl-C raises, with Python's handler: a shell's background jobs begin with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: signal.raise_signal(signal.SIGINT)
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def interrupt_the_engine():
    """Ctrl-C after some milliseconds of processor time from now: while compiled code runs, however busy the machine."""
    before = signal.signal(signal.SIGVTALRM, signal.default_int_handler)
    yield lambda: signal.setitimer(signal.ITIMER_VIRTUAL, 0.005)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


def test_ctrl_c_interrupts_a_loop_that_calls_nothing(interrupt_the_engine, monkeypatch):
    """Compiled code returns to Python, where signals are handled, after so much work at most."""
    device = tt.create_device(0, max_cycles=10**15)
    returns, advance = [], device.chip.advance

    def advance_and_note(limit, fuel):
        if len(returns) == 3:
            interrupt_the_engine()
        ended = advance(limit, fuel)
        returns.append(device.chip.cycle)
        return ended

    monkeypatch.setattr(device.chip, "advance", advance_and_note)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(device, spin_forever)
    finally:
        tt.close_device(device)
    loops = environment.FUEL / 50  # a report of plain code counts as 50 events
    assert len(returns) >= 3 and max(np.diff(returns)) <= loops * (lowering_emit.FUEL + 100)


@kernel
def compiled_for_the_first_time():
    noc_async_read_barrier()


def test_ctrl_c_while_a_kernel_compiles_comes_behind_the_compilation(ctrl_c, monkeypatch, tmp_path):
    compile_generated = kernel_compiler.compile_generated

    def interrupted(*arguments):
        ctrl_c()
        return compile_generated(*arguments)

    monkeypatch.setattr(machine_code, "DIRECTORY", tmp_path)
    monkeypatch.setattr(kernel_compiler, "compile_generated", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compiled_for_the_first_time.compile()
    assert len(list(tmp_path.glob("machine_code/kernel_*.o"))) == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    compiled_for_the_first_time.compile()


def test_kernel_exception_carries_its_message(device):
    with pytest.raises(ProgramError, match="limit is too small"):
        run(device, raise_an_error, args=(3,))


def test_missing_runtime_argument(checked):
    with pytest.raises(ProgramError, match="argument is read that was not set") as caught:
        run(checked, read_missing_argument)
    assert "get_arg_val" in caught.value.where["source"]


def test_division_by_zero_names_its_line(device):
    with pytest.raises(ProgramError, match="division by zero") as caught:
        run(device, divide, args=(7, 0))
    assert "//" in caught.value.where["source"]


@pytest.mark.parametrize("start, stop", [(0, 10), (10, 0)])
def test_a_step_of_zero_names_its_line(device, start, stop):
    with pytest.raises(ProgramError, match=r"range\(\) with a step of zero") as caught:
        run(device, steps, args=(start, stop, 0))
    assert "range(start, stop, step)" in caught.value.where["source"]


def test_page_too_small_for_a_tile(checked):
    with pytest.raises(ProgramError, match="a page of 1024 bytes does not hold a tile of 2048 bytes"):
        run(checked, push_one, compute=copy_one, circular_buffers=[(0, 2, 1024)])


def test_write_into_the_trace_region():
    device = tt.create_device(0, trace_region_size=1 << 20)
    try:
        start = device.arch.dram_bank_bytes - (1 << 20)
        run(device, write_dram, args=(start - 32,))
        with pytest.raises(ProgramError, match="write into the trace region of DRAM bank 3"):
            run(device, write_dram, args=(start,))
    finally:
        tt.close_device(device)


@pytest.mark.parametrize("numerics", ["exact", "fast", "off"])
def test_operands_of_two_exponent_families(numerics):
    device = tt.create_device(0, numerics=numerics)
    try:
        buffers = [(0, 1, 2048, tt.DataFormat.Float16), (1, 1, 1088, tt.DataFormat.Bfp8_b)]
        with pytest.raises(ProgramError, match="operands of formats 1 and 6: the matrix unit") as caught:
            run(device, push_pair, compute=multiply_pair, circular_buffers=buffers)
        assert caught.value.where["thread"] == "TRISC0" and "(1: Float16, 6: Bfp8_b)" in str(caught.value)
        assert "matmul_tiles(0, 1, 0, 0, 0)" in caught.value.where["source"]
    finally:
        tt.close_device(device)


def test_loaded_data_that_decides_control_is_refused_without_data():
    device = tt.create_device(0, numerics="off")
    try:
        with pytest.raises(ProgramError, match="numerics=off") as caught:
            run(device, branch_on_data)
        assert "branch_on_data" in str(caught.value)
    finally:
        tt.close_device(device)


@kernel
def push_pair():
    for cb in range(2):
        cb_reserve_back(cb, 1)
        cb_push_back(cb, 1)


@kernel
def multiply_pair():
    cb_wait_front(0, 1)
    cb_wait_front(1, 1)
    tile_regs_acquire()
    matmul_tiles(0, 1, 0, 0, 0)
    tile_regs_commit()


@kernel
def steps(start, stop, step):
    words = l1_ptr(SCRATCH, uint32)
    for i in range(start, stop, step):
        words[0] = i


@kernel
def divide(a, b):
    words = l1_ptr(SCRATCH, uint32)
    words[0] = a // b


@kernel
def push_one():
    cb_reserve_back(0, 1)
    cb_push_back(0, 1)


@kernel
def copy_one():
    unary_op_init_common(0, 0)
    copy_tile_init(0)
    cb_wait_front(0, 1)
    tile_regs_acquire()
    copy_tile(0, 0, 0)
    tile_regs_commit()
    tile_regs_wait()
    tile_regs_release()


@kernel
def write_dram(offset):
    noc_async_write(SCRATCH, get_noc_addr_from_bank_id(3, offset, dram=True), 32)
    noc_async_write_barrier()


@kernel
def branch_on_data():
    noc_async_read(get_noc_addr_from_bank_id(0, 64, dram=True), SCRATCH, 256)
    noc_async_read_barrier()
    words = l1_ptr(SCRATCH, uint32)
    if words[9] > 3:
        noc_async_write(SCRATCH, get_noc_addr_from_bank_id(1, 64, dram=True), 32)
    noc_async_write_barrier()


@kernel
def multicast(x0, y0, x1, y1, dests, linked):
    noc_async_write_multicast(SCRATCH, get_noc_multicast_addr(x0, y0, x1, y1, SCRATCH), 32, dests, linked=linked, noc=0)
    noc_async_write_barrier()


@kernel
def write_under_an_open_path():
    noc_async_write_multicast(SCRATCH, get_noc_multicast_addr(2, 1, 3, 1, SCRATCH), 32, 2, linked=True, noc=0)
    noc_async_write(SCRATCH, get_noc_addr(2, 2, SCRATCH), 32, noc=0)
    noc_async_write_barrier()


@kernel
def multicast_elsewhere_under_an_open_path():
    noc_async_write_multicast(SCRATCH, get_noc_multicast_addr(2, 1, 3, 1, SCRATCH), 32, 2, linked=True, noc=0)
    noc_async_write_multicast(SCRATCH, get_noc_multicast_addr(2, 2, 3, 2, SCRATCH), 32, 2, noc=0)
    noc_async_write_barrier()


@pytest.mark.parametrize(
    ("kernel_function", "args", "words"),
    [
        (multicast, (3, 2, 2, 2, 2, 0), "inverted multicast rectangle"),
        (multicast, (2, 1, 3, 1, 2, 1), "ends with a linked multicast open"),
        (multicast, (2, 1, 3, 1, 3, 0), "multicast to 2 cores, but num_dests says 3"),
        (multicast, (0, 1, 0, 1, 1, 0), "without a worker core"),
        (write_under_an_open_path, (), "a linked multicast of this core is open"),
        (multicast_elsewhere_under_an_open_path, (), "a linked multicast of this core is open"),
    ],
)
def test_multicast_misuse(device, kernel_function, args, words):
    with pytest.raises(ProgramError, match=words):
        run(device, kernel_function, args=args)


def test_missing_api_call_is_refused_by_name():
    with pytest.raises(KernelCompileError, match="topk_local_sort") as caught:

        @kernel
        def sort():
            topk_local_sort(0, 0, 1)

    assert caught.value.where["line"]


def test_a_new_device_opens_after_an_error_a_hundred_times():
    import resource

    sizes = []
    for _ in range(100):
        device = tt.create_device(0, max_cycles=2_000_000)
        try:
            with pytest.raises(ProgramError):
                run(device, use_missing_buffer, circular_buffers=[(0, 2, 2048)])
        finally:
            tt.close_device(device)
        sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert sizes[-1] < sizes[20] + 30_000  # kilobytes


# --- numbers without end, half words, links


@kernel
def load_beyond():
    words = l1_ptr(0x7FFFFFFFFFFFFFFC, uint32)
    words[0] = words[0] + 1


@kernel
def wait_beyond():
    noc_semaphore_wait(0x7FFFFFFFFFFFFFFC, 1)


@pytest.mark.parametrize(("wrong", "match"), [(load_beyond, "outside L1"), (wait_beyond, "not a 4-byte aligned L1")])
def test_an_address_whose_end_has_no_room_in_64_bits(device, wrong, match):
    with pytest.raises(ProgramError, match=match):
        run(device, wrong)


@kernel
def pack_far_behind():
    copy_tile_init(0)
    cb_wait_front(0, 1)
    tile_regs_acquire()
    copy_tile(0, 0, 0)
    tile_regs_commit()
    tile_regs_wait()
    pack_tile(0, 1, (1 << 53) - 704, out_of_order_output=True)
    tile_regs_release()


def test_a_tile_number_whose_place_has_no_room_in_64_bits(device):
    with pytest.raises(ProgramError, match="tile"):
        run(device, push_one, compute=pack_far_behind, circular_buffers=[(0, 2, 2048), (1, 2, 2048)], args=[0])


@kernel
def wait_for_upper_half():
    noc_semaphore_wait_min(get_semaphore(0), 65536)


@kernel
def store_upper_half():
    riscv_wait(1000)
    halves = l1_ptr(get_semaphore(0), uint16)
    halves[1] = 1


def test_a_store_into_a_part_of_a_word_wakes_who_polls_it(device):
    program, core = tt.create_program(), tt.CoreCoord(0, 0)
    tt.create_semaphore(program, core, 0)
    tt.create_kernel(program, wait_for_upper_half, core, tt.WriterDataMovementConfig())
    tt.create_kernel(program, store_upper_half, core, tt.ReaderDataMovementConfig())
    tt.enqueue_program(device.command_queue(0), program, blocking=False)
    tt.finish(device.command_queue(0))


@kernel
def leave_link_open(x0, y0, x1, y1):
    noc_async_write_multicast(600000, get_noc_multicast_addr(x0, y0, x1, y1, 600000), 64, 2, linked=True)


@kernel
def write_to(x, y):
    noc_async_write(600000, get_noc_addr(x, y, 600000), 64)
    noc_async_write_barrier()


def test_a_restart_closes_what_was_linked(device):
    first, last = (device.worker_core_from_logical_core(tt.CoreCoord(x, 0)) for x in (2, 1))
    with pytest.raises(ProgramError, match="linked"):
        run(device, leave_link_open, args=[int(first.x), int(first.y), int(last.x), int(last.y)])
    device._state.restart()
    run(device, write_to, args=[int(last.x), int(last.y)])


@kernel
def store_across_words(offset):
    words = l1_ptr(600000 + offset, uint32)
    words[0] = 1


@pytest.mark.parametrize("offset", [1, 2, 3])
def test_a_core_stores_no_word_across_two(device, offset):
    """As C++ kernels: no RISC-V core here reaches it."""
    with pytest.raises(ProgramError, match=f"misaligned access to {600000 + offset:#x}, 4 bytes"):
        run(device, store_across_words, args=[offset])
