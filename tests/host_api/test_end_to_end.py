"""The host API on the real chip: kernels see what the host configured, and errors leave a process usable."""

import numpy as np
import pytest

import tensim as tt
from tensim.sim.errors import CycleLimitError, DeadlockError, ProgramError

RECORD = """
@kernel
def record(address, value):
    words = l1_ptr(address, uint32)
    words[0] = value
    words[1] = get_common_arg_val(0)
    words[2] = get_compile_time_arg_val(1)
    words[3] = get_relative_logical_x()
    words[4] = get_write_ptr(3) - get_write_ptr(2)
"""
GATHER = """
@kernel
def gather(source, destination, pages, page):
    pages_in = TensorAccessor(TensorAccessorArgs(0), source, page)
    pages_out = InterleavedAddrGen(destination, page_size=page, dram=True)
    scratch = get_write_ptr(0)
    for i in range(pages):
        noc_async_read_page(i, pages_in, scratch)
        noc_async_read_barrier()
        noc_async_write_page(i, pages_out, scratch)
        noc_async_write_barrier()
"""
WAIT = """
@kernel
def wait():
    cb_wait_front(0, 1)
"""
SPIN = """
@kernel
def spin(n):
    x = 0
    while n < 5:
        x += 1
"""
CLOCK = """
@kernel
def clock(address):
    words = l1_ptr(address, uint32)
    words[0] = get_timestamp()
"""
OUTSIDE = """
@kernel
def outside(address):
    words = l1_ptr(address, uint32)
    words[0] = 1
"""


@pytest.fixture
def device():
    device = tt.create_device(0)
    yield device
    tt.close_device(device)


def program_of(source, cores, args=(), common=(), compile_args=()):
    program = tt.create_program()
    config = tt.CircularBufferConfig(128, {0: tt.DataFormat.UInt32}).set_page_size(0, 64)
    tt.create_circular_buffer(program, cores, config)
    config = tt.ReaderDataMovementConfig(compile_args=list(compile_args))
    kernel = tt.create_kernel_from_string(program, source, cores, config)
    tt.set_runtime_args(program, kernel, cores, list(args))
    if common:
        tt.set_common_runtime_args(program, kernel, list(common))
    return program, kernel


def l1_words(device, core, address, count):
    data = device.chip.memory.read_l1(core[0] + core[1] * device.arch.grid[0], address, 4 * count)
    return np.frombuffer(data, np.uint32).tolist()


def test_kernels_see_what_the_host_set(device):
    cores = tt.CoreRange((2, 1), (3, 1))
    buffer = tt.create_buffer(tt.InterleavedBufferConfig(device, 64 * 32, 32, tt.BufferType.L1))
    program, kernel = program_of(RECORD, cores, [buffer, 5], [6], [0, 7])
    shared = tt.CircularBufferConfig(256, {2: tt.DataFormat.UInt32, 3: tt.DataFormat.UInt32})
    tt.create_circular_buffer(program, cores, shared.set_page_size(2, 64).set_page_size(3, 128))
    tt.enqueue_program(device.command_queue(), program, blocking=True)
    assert l1_words(device, (2, 1), buffer.address, 5) == [5, 6, 7, 2, 0]
    tt.get_runtime_args(program, kernel, (3, 1))[1] = 50
    tt.get_common_runtime_args(program, kernel)[0] = 60
    tt.enqueue_program(device.command_queue(), program, blocking=True)
    assert l1_words(device, (3, 1), buffer.address, 5) == [50, 60, 7, 3, 0]
    assert l1_words(device, (2, 1), buffer.address, 2) == [5, 60]
    assert l1_words(device, (4, 1), buffer.address, 2) == [0, 0]


@pytest.mark.parametrize(
    "layout, shard", [("HEIGHT_SHARDED", (2, 4)), ("WIDTH_SHARDED", (6, 1)), ("BLOCK_SHARDED", (4, 3))]
)
@pytest.mark.parametrize("orientation", list(tt.ShardOrientation))
def test_accessors_find_every_page(device, layout, shard, orientation):
    tensor, page = (6, 4), 64
    grid = tt.CoreRangeSet([tt.CoreRange((1, 1), (4, 4))])
    spec = tt.ShardSpecBuffer(tt.ShardSpec(grid, shard, orientation), (1, 1), tensor)
    config = tt.ShardedBufferConfig(device, 24 * page, page, tt.BufferType.L1, tt.TensorMemoryLayout[layout], spec)
    source = tt.create_buffer(config)
    target = tt.create_buffer(tt.InterleavedBufferConfig(device, 24 * page, page))
    data = np.random.default_rng(0).integers(0, 256, 24 * page, np.uint8).tobytes()
    queue = device.command_queue()
    tt.enqueue_write_buffer(queue, source, data)
    accessor = tt.TensorAccessorArgs(source).get_compile_time_args()
    program, _ = program_of(GATHER, tt.CoreRange((0, 0)), [source, target, 24, page], (), accessor)
    tt.enqueue_program(queue, program)
    assert tt.enqueue_read_buffer(queue, target) == data


@pytest.mark.parametrize("kind", [tt.BufferType.L1, tt.BufferType.DRAM])
@pytest.mark.parametrize("contiguous", [False, True])
def test_accessors_find_every_page_of_several_shards_in_a_bank(device, kind, contiguous):
    page, cores = 64, [(x, 0) for x in range(5)]
    spec = tt.BufferDistributionSpec((3, 4, 5), (2, 2, 3), cores, contiguous)  # 2 x 2 x 2 shards
    layout = tt.TensorMemoryLayout.BLOCK_SHARDED
    source = tt.create_buffer(tt.ShardedBufferConfig(device, 60 * page, page, kind, layout, spec))
    target = tt.create_buffer(tt.InterleavedBufferConfig(device, 60 * page, page))
    data = np.random.default_rng(1).integers(0, 256, 60 * page, np.uint8).tobytes()
    queue = device.command_queue()
    tt.enqueue_write_buffer(queue, source, data)
    accessor = tt.TensorAccessorArgs(source).get_compile_time_args()
    program, _ = program_of(GATHER, tt.CoreRange((0, 0)), [source, target, 60, page], (), accessor)
    tt.enqueue_program(queue, program)
    assert tt.enqueue_read_buffer(queue, target) == data


DESCRIBE = """
@kernel
def describe(base, out):
    accessor = TensorAccessor(TensorAccessorArgs(0), base, 64)
    words = l1_ptr(out, uint32)
    spec = accessor.dspec()
    words[0] = spec.rank()
    words[1] = spec.num_banks()
    words[2] = spec.tensor_volume()
    words[3] = spec.shard_volume()
    words[4] = spec.shard_shape()[0]
    words[5] = spec.tensor_shape()[0]
    bank, offset = accessor.get_bank_and_offset(13)
    words[6] = bank
    words[7] = offset
    words[8] = accessor.is_local_shard(0)
    words[9] = accessor.is_local_shard(1)
    words[10] = accessor.is_local_page(0)
    words[11] = accessor.is_local_page(13)
    words[12] = accessor.is_local_addr(accessor.get_noc_addr(13))
    words[13] = accessor.is_local_bank(my_x[0], my_y[0])
"""


def test_accessors_tell_where_pages_are(device):
    """A tensor of 6 x 4 pages in shards of 2 x 4 on the cores (1, 1), (2, 1), (3, 1); asked on core (1, 1)."""
    page = 64
    grid = tt.CoreRangeSet([tt.CoreRange((1, 1), (4, 1))])
    spec = tt.ShardSpecBuffer(tt.ShardSpec(grid, (2, 4), tt.ShardOrientation.ROW_MAJOR), (1, 1), (6, 4))
    layout = tt.TensorMemoryLayout.HEIGHT_SHARDED
    source = tt.create_buffer(tt.ShardedBufferConfig(device, 24 * page, page, tt.BufferType.L1, layout, spec))
    out, core = device.arch.l1_user_base + 4096, tt.CoreRange((1, 1))
    accessor = tt.TensorAccessorArgs(source).get_compile_time_args()
    program, _ = program_of(DESCRIBE, core, [source, out], (), accessor)
    tt.enqueue_program(device.command_queue(), program, blocking=True)
    row, column = divmod(13, 4)
    inside = (row % 2 * 4 + column) * page
    assert l1_words(device, (1, 1), out, 14) == [1, 3, 24, 8, 8, 24, row // 2, inside, 1, 0, 1, 0, 0, 1]


def test_sub_devices_run_at_the_same_time(device):
    halves = [tt.SubDevice(tt.CoreRange((0, 0), (3, 7))), tt.SubDevice(tt.CoreRange((4, 0), (7, 7)))]
    device.load_sub_device_manager(device.create_sub_device_manager(halves))
    queue, address = device.command_queue(), device.arch.l1_user_base + 4096
    for x in (1, 6):
        core = tt.CoreRange((x, 2))
        program, _ = program_of(RECORD, core, [address, x], [0], [0, 0])
        shared = tt.CircularBufferConfig(64, {2: tt.DataFormat.UInt32, 3: tt.DataFormat.UInt32})
        tt.create_circular_buffer(program, core, shared.set_page_size(2, 64).set_page_size(3, 64))
        tt.enqueue_program(queue, program)
    tt.finish(queue)
    assert l1_words(device, (1, 2), address, 4)[3] == 1
    assert l1_words(device, (6, 2), address, 4) == [6, 0, 0, 2]


@pytest.mark.parametrize(
    "source, args, error, text",
    [
        (WAIT, [], DeadlockError, r"cb_wait_front\(0, 1\)"),
        (SPIN, [1], CycleLimitError, "limit of 300000 cycles"),
        (OUTSIDE, [1 << 30], ProgramError, "0x40000000"),
    ],
)
def test_after_an_error_the_process_goes_on(source, args, error, text):
    for _ in range(2):
        device = tt.create_device(0, max_cycles=300_000)
        program, _ = program_of(source, tt.CoreRange((0, 0)), args)
        with pytest.raises(error, match=text):
            tt.enqueue_program(device.command_queue(), program, blocking=True)
        tt.close_device(device)
    with tt.create_device(0) as device:
        program, _ = program_of(OUTSIDE, tt.CoreRange((0, 0)), [device.arch.l1_user_base + 4096])
        tt.enqueue_program(device.command_queue(), program, blocking=True)
        assert l1_words(device, (0, 0), device.arch.l1_user_base + 4096, 1) == [1]


def test_kernels_from_files(device, tmp_path, monkeypatch):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "outside.py").write_text(OUTSIDE)
    monkeypatch.setenv("TT_METAL_HOME", str(tmp_path))
    program, core, address = tt.create_program(), tt.CoreCoord(0, 0), device.arch.l1_user_base
    kernel = tt.create_kernel(program, "kernels/outside.py", core, tt.WriterDataMovementConfig())
    tt.set_runtime_args(program, kernel, core, [address])
    tt.enqueue_program(device.command_queue(), program, blocking=True)
    assert l1_words(device, (0, 0), address, 1) == [1]


def test_an_event_orders_two_queues_and_a_program():
    """Queue 1 uploads, queue 0 computes when the upload is there, queue 1 reads when the program is done."""
    with tt.create_device(0, num_hw_cqs=2) as device:
        compute, transfer = device.command_queue(0), device.command_queue(1)
        source, target = (tt.create_buffer(tt.InterleavedBufferConfig(device, 6400, 64)) for _ in range(2))
        accessor = tt.TensorAccessorArgs(source).get_compile_time_args()
        program, _ = program_of(GATHER, tt.CoreRange((0, 0)), [source, target, 100, 64], (), accessor)
        for value in (1, 2, 3):
            tt.enqueue_write_buffer(transfer, source, bytes([value]) * 6400)
            tt.enqueue_wait_for_event(compute, tt.enqueue_record_event(transfer))
            tt.enqueue_program(compute, program)
            tt.enqueue_wait_for_event(transfer, tt.enqueue_record_event(compute))
            assert tt.enqueue_read_buffer(transfer, target) == bytes([value]) * 6400


SIGNAL = """
@kernel
def signal(semaphore, x, y):
    noc_semaphore_inc(get_noc_addr(x, y, semaphore), 1)
    noc_async_atomic_barrier()
"""
AWAIT = """
@kernel
def await_signal(semaphore):
    noc_semaphore_wait(semaphore, 1)
"""


def test_a_program_may_wait_for_one_that_starts_later(device):
    """The first program waits until the second, enqueued later elsewhere, increments a global semaphore."""
    halves = [tt.SubDevice(tt.CoreRange((0, 0), (3, 7))), tt.SubDevice(tt.CoreRange((4, 0), (7, 7)))]
    device.load_sub_device_manager(device.create_sub_device_manager(halves))
    semaphore, queue = tt.create_global_semaphore(device, tt.CoreCoord(0, 0), 0), device.command_queue()
    waiting, _ = program_of(AWAIT, tt.CoreRange((0, 0)), [semaphore])
    target = device.worker_core_from_logical_core((0, 0))
    signalling, _ = program_of(SIGNAL, tt.CoreRange((5, 5)), [semaphore, *target])
    tt.enqueue_program(queue, waiting)
    device.system.host.compute(100_000)
    tt.enqueue_program(queue, signalling)
    tt.finish(queue)
    assert l1_words(device, (0, 0), semaphore.address, 1) == [1]


AWAIT_THEN_STORE = """
@kernel
def await_then_store(address, target):
    noc_semaphore_wait(address, 1)
    words = l1_ptr(target, uint32)
    words[0] = 7
"""


@pytest.fixture
def two_queues():
    device = tt.create_device(0, num_hw_cqs=2)
    yield device
    tt.close_device(device)


def l1_word_buffer(device):
    """An L1 buffer with one 16-byte page on each core."""
    size = 16 * device.num_banks(tt.BufferType.L1)
    return tt.create_buffer(tt.InterleavedBufferConfig(device, size, 16, tt.BufferType.L1))


def by_direct_write(device, buffer):
    tt.write_to_buffer(buffer, [1, 0, 0, 0] * device.num_banks(tt.BufferType.L1))


def by_the_other_queue(device, buffer):
    words = [1, 0, 0, 0] * device.num_banks(tt.BufferType.L1)
    tt.enqueue_write_buffer(device.command_queue(1), buffer, words)


@pytest.mark.parametrize("write", [by_direct_write, by_the_other_queue])
def test_a_host_write_wakes_a_kernel_that_polls_the_word(two_queues, write):
    buffer, queue = l1_word_buffer(two_queues), two_queues.command_queue(0)
    core, target = tt.CoreCoord(2, 1), 600_000
    program, _ = program_of(AWAIT_THEN_STORE, tt.CoreRange(core), [buffer, target])
    tt.enqueue_program(queue, program)
    two_queues.system.host.compute(200_000)
    write(two_queues, buffer)
    tt.finish(queue)
    assert l1_words(two_queues, core, target, 1) == [7]
    assert two_queues.chip.cycle > 200_000  # at 1 GHz: not before the host wrote


def test_a_reset_wakes_a_kernel_that_polls_a_global_semaphore(device):
    semaphore, queue = tt.create_global_semaphore(device, tt.CoreCoord(0, 0), 0), device.command_queue()
    program, _ = program_of(AWAIT_THEN_STORE, tt.CoreRange((0, 0)), [semaphore, 600_000])
    tt.enqueue_program(queue, program)
    device.system.host.compute(200_000)
    semaphore.reset_semaphore_value(2)  # not the value it waits for
    device.system.host.compute(200_000)
    semaphore.reset_semaphore_value(1)
    tt.finish(queue)
    assert 400_000 < device.chip.cycle < 500_000


def test_a_kernel_that_fails_when_the_host_wakes_it_is_reported(device):
    semaphore, queue = tt.create_global_semaphore(device, tt.CoreCoord(0, 0), 0), device.command_queue()
    program, _ = program_of(AWAIT_THEN_STORE, tt.CoreRange((0, 0)), [semaphore, device.arch.l1_size])
    tt.enqueue_program(queue, program)
    device.system.host.compute(200_000)
    semaphore.reset_semaphore_value(1)
    with pytest.raises(ProgramError, match="outside"):
        tt.finish(queue)


@pytest.mark.parametrize(("buffers", "cycles"), [(0, 0), (2, 42), (32, 672)])
def test_the_brisc_begins_when_the_circular_buffers_are_set_up(device, buffers, cycles):
    """It starts the other cores first; 21 ns a buffer.  Source: docs/hardware/dispatch.md#worker-side."""
    program, core = tt.create_program(), tt.CoreCoord(0, 0)
    for index in range(buffers):
        config = tt.CircularBufferConfig(64, {index: tt.DataFormat.UInt32}).set_page_size(index, 64)
        tt.create_circular_buffer(program, core, config)
    times = tt.create_buffer(
        tt.InterleavedBufferConfig(device=device, size=128, page_size=128, buffer_type=tt.BufferType.L1)
    )
    for i, config in enumerate((tt.WriterDataMovementConfig(), tt.ReaderDataMovementConfig())):  # BRISC, NCRISC
        kernel = tt.create_kernel_from_string(program, CLOCK, core, config)
        tt.set_runtime_args(program, kernel, core, [times.address + 64 * i])
    tt.enqueue_program(device.command_queue(0), program, blocking=True)
    words = np.frombuffer(bytes(tt.enqueue_read_buffer(device.command_queue(0), times, blocking=True)), np.uint32)
    assert words[0] - words[16] == cycles
