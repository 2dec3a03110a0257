"""Queues: order, costs, events, several queues, sub-devices, and what happens after an error."""

import threading

import pytest

import tensim as tt
from tensim.sim.errors import DeadlockError, ProgramError, UsageError
from tensim.sim.host import commands
from tensim.sim.loop.environment import FS_PER_NS
from tests.host_api.fake_chip import FakeKernel

US = 1000 * FS_PER_NS
PAGE = 1024


def program_of(cycles, cores=((0, 0), (0, 0)), config=None, **kernel):
    program = tt.create_program()
    kernel = FakeKernel(cycles, **kernel)
    tt.create_kernel(program, kernel, tt.CoreRange(*cores), config or tt.ReaderDataMovementConfig())
    return program


def dram_buffer(device, pages=1, page=PAGE):
    return tt.create_buffer(tt.InterleavedBufferConfig(device, pages * page, page))


def seconds_of(device, pages, page, write):
    """Simulated nanoseconds of a blocking transfer of a whole buffer."""
    buffer, queue, host = dram_buffer(device, pages, page), device.command_queue(), device.system.host
    tt.finish(queue)
    begun = host.now_fs
    if write:
        tt.enqueue_write_buffer(queue, buffer, bytes(pages * page), blocking=True)
    else:
        tt.enqueue_read_buffer(queue, buffer)
    return (host.now_fs - begun) / FS_PER_NS


# --- host timeline


def test_every_call_takes_host_time(device):
    host = device.system.host
    begun = host.now_fs
    program = tt.create_program()
    tt.create_kernel(program, FakeKernel(), tt.CoreCoord(0, 0), tt.ReaderDataMovementConfig())
    assert host.now_fs == begun + 2 * device.arch["host.call_ns"] * FS_PER_NS
    begun = host.now_fs
    tt.enqueue_program(device.command_queue(), program)
    assert host.now_fs == begun + device.arch["host.enqueue_program_ns"] * FS_PER_NS
    host.compute(250)
    assert host.now_fs - begun == (device.arch["host.enqueue_program_ns"] + 250) * FS_PER_NS
    with pytest.raises(UsageError, match="-1 ns"):
        host.compute(-1)


def test_a_queue_does_not_start_before_the_host(device):
    host = device.system.host
    host.compute(1_000_000)
    tt.enqueue_program(device.command_queue(), program_of(10))
    issued = host.now_fs
    tt.finish(device.command_queue())
    assert device.chip.started[0] * FS_PER_NS >= issued
    assert device.system.env.now <= host.now_fs


def test_runs_are_reproducible(fake):
    def once():
        with tt.create_device(0, num_hw_cqs=2) as device:
            for i in range(5):
                tt.enqueue_program(device.command_queue(i % 2), program_of(1000 * i))
                tt.enqueue_write_buffer(device.command_queue(1), dram_buffer(device, 40), bytes(40 * PAGE))
            tt.synchronize(device)
            return device.chip.started, device.system.host.now_fs

    assert once() == once()


# --- costs


@pytest.mark.parametrize("cycles, expected", [(0, 2.58), (1000, 2.58), (3000, 3.87), (5000, 5.91), (10_000, 10.98)])
def test_period_of_small_programs_follows_kernel_length(device, cycles, expected):
    """Published times of one data-movement kernel of 256 B.

    Source: docs/hardware/dispatch.md#published-dispatch-times., in microseconds.
    """
    program, queue = program_of(cycles), device.command_queue()
    device.system.host.costs["enqueue_program_ns"] = 0  # the commands are there already
    for _ in range(20):
        tt.enqueue_program(queue, program)
    tt.finish(queue)
    started = device.chip.started
    assert (started[-1] - started[9]) / 10 / 1000 == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize(
    "page, write, gb_per_s",
    [
        (32, True, 0.53),
        (256, True, 4.15),
        (2048, True, 14.0),
        (32, False, 0.65),
        (256, False, 4.26),
        (2048, False, 12.6),
    ],
)
def test_bandwidth_through_the_queue(device, page, write, gb_per_s):
    """Published buffer bandwidths of Wormhole; the host's copy overlaps the transfer."""
    small, large = (seconds_of(device, n * 4096, page, write) for n in (1, 2))
    assert 4096 * page / (large - small) == pytest.approx(gb_per_s, rel=0.05)


def test_a_full_issue_queue_blocks_the_host(fake):
    from tensim.sim.arch import load_arch

    arch = load_arch("wormhole_b0", {"dispatch.issue_queue_bytes": 64 * PAGE})
    with tt.create_device(0, arch=arch) as device:
        buffer, queue, host = dram_buffer(device, 60), device.command_queue(), device.system.host
        tt.enqueue_write_buffer(queue, buffer, bytes(60 * PAGE))
        first = host.now_fs
        tt.enqueue_write_buffer(queue, buffer, bytes(60 * PAGE))
        assert host.now_fs - first > 60 * PAGE / device.arch["pcie.write_bytes_per_ns"] * FS_PER_NS


# --- order


def test_reads_wait_for_programs_of_the_queue(device):
    buffer = dram_buffer(device)
    queue = device.command_queue()

    def on_start(chip):
        chip.memory.write_dram(0, buffer.address, b"x" * PAGE)

    tt.enqueue_write_buffer(queue, buffer, b"." * PAGE)
    tt.enqueue_program(queue, program_of(50_000, on_start=on_start))
    assert tt.enqueue_read_buffer(queue, buffer) == b"x" * PAGE
    assert device.system.host.now_fs > 50_000 * FS_PER_NS


def test_programs_run_one_after_the_other(two_queues):
    for i in range(6):
        tt.enqueue_program(two_queues.command_queue(i % 2), program_of(5000))
    tt.synchronize(two_queues)
    started = two_queues.chip.started
    assert len(started) == 6 and all(b - a >= 5000 for a, b in zip(started, started[1:], strict=False))


# --- events


def test_event_ids_rise_per_queue(two_queues):
    first, second = two_queues.command_queue(0), two_queues.command_queue(1)
    events = [tt.enqueue_record_event(queue) for queue in (first, first, second)]
    assert [event.event_id for event in events] == [1, 2, 1]
    assert [event.cq_id for event in events] == [0, 0, 1] and events[0].device_id == 0
    tt.event_synchronize(events[1])
    assert tt.event_query(events[0])


def test_queues_are_ordered_by_events_only(two_queues):
    device, (first, second) = two_queues, (two_queues.command_queue(i) for i in range(2))
    buffer = dram_buffer(device, 4096)
    half, other = tt.BufferRegion(0, 2048 * PAGE), tt.BufferRegion(2048 * PAGE, 2048 * PAGE)
    tt.enqueue_write_sub_buffer(first, buffer, b"1" * half.size, half)
    written = tt.enqueue_record_event(first)
    assert not tt.event_query(written)
    tt.enqueue_wait_for_event(second, written)
    late = tt.enqueue_read_sub_buffer(second, buffer, half, blocking=False)
    tt.finish(second)
    assert bytes(late) == b"1" * half.size and tt.event_query(written)
    tt.enqueue_write_sub_buffer(first, buffer, b"2" * half.size, other)
    early = tt.enqueue_read_sub_buffer(second, buffer, tt.BufferRegion(other.offset, PAGE), blocking=True)
    assert early == bytes(PAGE)
    tt.synchronize(device)


def test_a_polling_loop_ends(device):
    tt.enqueue_program(device.command_queue(), program_of(20_000))
    event = tt.enqueue_record_event(device.command_queue())
    polls = 0
    while not tt.event_query(event):
        polls += 1
    assert 100 < polls < 1000
    assert device.system.env.now <= device.system.host.now_fs


def test_wrong_events_and_queues(device):
    with pytest.raises(UsageError, match="has not been recorded"):
        tt.enqueue_wait_for_event(device.command_queue(), tt.Event())
    with pytest.raises(UsageError, match="has not been recorded"):
        tt.event_query(tt.Event())
    with pytest.raises(UsageError, match="no command queue 1; it has 1"):
        device.command_queue(1)
    with pytest.raises(UsageError, match="no command queue 3"):
        tt.synchronize(device, 3)
    with pytest.raises(UsageError, match="no sub-device 2"):
        tt.finish(device.command_queue(), [2])


# --- sub-devices


@pytest.fixture
def halves(two_queues):
    """A device with two halves, each with 64 KiB of own L1."""
    split = [tt.SubDevice(tt.CoreRange((0, 0), (3, 7))), tt.SubDevice(tt.CoreRange((4, 0), (7, 7)))]
    two_queues.load_sub_device_manager(two_queues.create_sub_device_manager(split, 65536))
    yield two_queues
    two_queues.clear_loaded_sub_device_manager()


def test_sub_devices_run_side_by_side(halves):
    left, right = program_of(100_000), program_of(100_000, ((4, 0), (5, 0)))
    tt.enqueue_program(halves.command_queue(), left)
    tt.enqueue_program(halves.command_queue(), right)
    tt.finish(halves.command_queue())
    started = halves.chip.started
    assert started[1] - started[0] < 50_000
    assert halves.chip.launches[1].sub_device_origin == (4, 0)
    assert halves.get_sub_device_ids() == [0, 1]


def test_the_stall_group_decides_who_is_waited_for(halves):
    queue, host = halves.command_queue(), halves.system.host
    tt.enqueue_program(queue, program_of(1_000_000))
    halves.set_sub_device_stall_group([1])
    tt.enqueue_read_buffer(queue, dram_buffer(halves))
    assert host.now_fs < 500 * US
    halves.reset_sub_device_stall_group()
    tt.finish(queue, [1])
    assert host.now_fs < 500 * US
    tt.finish(queue)
    assert host.now_fs > 1000 * US
    with pytest.raises(UsageError, match="at least one"):
        halves.set_sub_device_stall_group([])


def test_a_program_stays_on_one_sub_device(halves):
    with pytest.raises(UsageError, match=r"are in sub-devices \[0, 1\]"):
        tt.enqueue_program(halves.command_queue(), program_of(1, ((3, 0), (4, 0))))


def local_buffer(device, cores, sub_device, kind=tt.BufferType.L1):
    spec = tt.ShardSpecBuffer(tt.ShardSpec(tt.CoreRangeSet([cores]), (1, 1)), (1, 1), (cores.size(), 1))
    layout = tt.TensorMemoryLayout.HEIGHT_SHARDED
    config = tt.ShardedBufferConfig(device, cores.size() * 1024, 1024, kind, layout, spec)
    return tt.create_buffer(config, sub_device_id=sub_device)


def test_local_memory_of_sub_devices(halves):
    base = halves.arch.l1_user_base
    buffer = local_buffer(halves, tt.CoreRange((4, 0), (5, 1)), 1)
    assert buffer.address == base + 65536 - 1024
    with pytest.raises(UsageError, match="outside sub-device 0"):
        local_buffer(halves, tt.CoreRange((4, 0), (5, 1)), 0)
    with pytest.raises(UsageError, match="sharded and in L1"):
        tt.create_buffer(tt.InterleavedBufferConfig(halves, 64, 64), sub_device_id=0)
    with pytest.raises(ProgramError, match="still holds 1024 B"):
        halves.clear_loaded_sub_device_manager()
    tt.deallocate_buffer(buffer)
    program = program_of(1)
    config = tt.CircularBufferConfig(64, {0: tt.DataFormat.UInt32}).set_page_size(0, 64)
    handle = tt.create_circular_buffer(program, tt.CoreCoord(0, 0), config)
    tt.enqueue_program(halves.command_queue(), program, blocking=True)
    assert tt.get_circular_buffer_config(program, handle)["address"] == base + 65536
    halves.clear_loaded_sub_device_manager()
    with pytest.raises(UsageError, match="ran under sub-device manager"):
        tt.enqueue_program(halves.command_queue(), program)


def test_a_manager_whose_local_memory_is_taken_is_not_loaded(halves):
    base = halves.arch.l1_user_base
    small = tt.SubDevice(tt.CoreRange((0, 0), (7, 7)))
    larger = halves.create_sub_device_manager([small], 128 * 1024)
    config = tt.InterleavedBufferConfig(halves, 64, 64, tt.BufferType.L1)
    buffer = tt.create_buffer(config, bottom_up=True)
    assert buffer.address == base + 65536
    with pytest.raises(ProgramError, match="lies below the new base"):
        halves.load_sub_device_manager(larger)
    assert halves.get_sub_device_ids() == [0, 1]
    assert tt.create_buffer(config, bottom_up=True).address == base + 65536 + 64  # none of the local memory
    tt.deallocate_buffer(buffer)
    halves.load_sub_device_manager(larger)
    assert tt.create_buffer(config, bottom_up=True).address == base + 128 * 1024


def test_wrong_sub_devices(device):
    one = tt.SubDevice([tt.CoreRangeSet([tt.CoreRange((0, 0), (1, 1))])])
    with pytest.raises(UsageError, match=r"overlap at core \(0, 0\)"):
        device.create_sub_device_manager([one, one])
    with pytest.raises(UsageError, match="9 sub-devices; a manager has 1 to 8"):
        device.create_sub_device_manager([tt.SubDevice(tt.CoreCoord(x % 8, x // 8)) for x in range(9)])
    with pytest.raises(UsageError, match="no sub-device manager 12345678"):
        device.load_sub_device_manager(12345678)
    manager = device.create_sub_device_manager([one])
    device.load_sub_device_manager(manager)
    with pytest.raises(UsageError, match="is active"):
        device.remove_sub_device_manager(manager)
    with pytest.raises(UsageError, match="no local L1"):
        local_buffer(device, tt.CoreRange((0, 0), (1, 0)), 0)
    with pytest.raises(UsageError, match="no sub-device 1"):
        device.set_sub_device_stall_group([0, 1])
    with pytest.raises(UsageError, match="no sub-device 1"):
        tt.synchronize(device, sub_device_ids=[1])
    with pytest.raises(UsageError, match=r"are in sub-devices none of 1"):
        tt.enqueue_program(device.command_queue(), program_of(1, ((5, 5), (5, 5))))
    device.clear_loaded_sub_device_manager()
    device.remove_sub_device_manager(manager)
    with pytest.raises(UsageError, match=f"no sub-device manager {manager}"):
        device.remove_sub_device_manager(manager)
    with pytest.raises(UsageError, match=r"outside the 8x8 grid"):
        device.create_sub_device_manager([tt.SubDevice(tt.CoreRange((7, 7), (8, 7)))])


# --- devices and errors


def test_opening_and_closing(fake):
    device = tt.create_device(3, arch="blackhole")
    assert device.is_open and device.id == 3 and device.num_hw_cqs() == 1
    assert device.compute_with_storage_grid_size() == (11, 10)
    assert device.worker_core_from_logical_core((0, 0)) == tuple(device.arch.worker_coords[0])
    assert device.num_banks(tt.BufferType.L1) == 110
    assert device.dram_grid_size() == (device.arch.dram_banks, 1)
    with pytest.raises(UsageError, match="outside the 11x10"):
        device.worker_core_from_logical_core((11, 0))
    with pytest.raises(UsageError, match="already open"):
        tt.create_device(3)
    assert tt.close_device(device) and not tt.close_device(device)
    with pytest.raises(UsageError, match="device 3 is closed"):
        tt.finish(device.command_queue())
    for number in (0, 3):
        with pytest.raises(UsageError, match=f"num_hw_cqs is {number}"):
            tt.create_device(0, num_hw_cqs=number)
    with pytest.raises(UsageError, match="unknown architecture"):
        tt.create_device(0, arch="wormhole_c7")


def test_devices_of_the_host(fake):
    count = tt.get_num_available_devices()
    assert count == tt.get_num_pcie_devices() > 1 and not tt.is_galaxy_cluster()
    assert [tt.get_pcie_device_id(number) for number in range(count)] == list(range(count))
    for number in (-1, count):
        with pytest.raises(UsageError, match=f"no device {number}"):
            tt.create_device(number)


def test_ethernet_cores_are_refused(device):
    with pytest.raises(UsageError, match="no ethernet core"):
        device.ethernet_core_from_logical_core((0, 0))


def test_a_minimal_device_has_memory_and_no_queues(fake):
    device = tt.create_device_minimal(2, arch="blackhole")
    buffer = dram_buffer(device)
    tt.write_to_buffer(buffer, b"m" * PAGE)
    assert tt.read_from_buffer(buffer) == b"m" * PAGE
    assert device.num_hw_cqs() == 0
    with pytest.raises(UsageError, match="no command queue 0; it has 0"):
        device.command_queue()
    assert tt.close_device(device)


def test_the_current_queue_of_a_thread(two_queues):
    assert two_queues.command_queue().id == 0
    tt.push_current_command_queue_id_for_thread(1)
    other = []
    thread = threading.Thread(target=lambda: other.append(tt.get_current_command_queue_id_for_thread()))
    thread.start()
    thread.join()
    assert two_queues.command_queue().id == 1 and two_queues.command_queue(0).id == 0 and other == [0]
    assert tt.pop_current_command_queue_id_for_thread() == 1
    assert two_queues.command_queue().id == tt.get_current_command_queue_id_for_thread() == 0
    with pytest.raises(UsageError, match="no command queue id was pushed"):
        tt.pop_current_command_queue_id_for_thread()


def test_the_program_cache_counts_finalised_programs(device):
    programs = [program_of(1) for _ in range(3)]
    tt.enqueue_program(device.command_queue(), programs[0])
    assert device.num_program_cache_entries() == 0
    device.enable_program_cache()
    for program in programs[:2] * 2:
        tt.enqueue_program(device.command_queue(), program)
    tt.compile_program(device, programs[2])
    assert device.num_program_cache_entries() == 3
    del programs[2]
    assert device.num_program_cache_entries() == 2
    device.clear_program_cache()
    assert device.num_program_cache_entries() == 0
    tt.enqueue_program(device.command_queue(), programs[0])
    assert device.num_program_cache_entries() == 1
    device.disable_and_clear_program_cache()
    tt.enqueue_program(device.command_queue(), programs[0])
    assert device.num_program_cache_entries() == 0


def test_time_starts_anew_with_the_first_device(fake):
    for _ in range(2):
        with tt.create_device(0) as device:
            tt.enqueue_program(device.command_queue(), program_of(100), blocking=True)
            assert device.system.env.now < 30 * US


def test_a_program_outlives_its_device(fake):
    program = program_of(100)
    for arch in ("wormhole_b0", "blackhole"):
        with tt.create_device(0, arch=arch) as device:
            tt.enqueue_program(device.command_queue(), program, blocking=True)
            assert len(device.chip.launches) == 1


def test_closing_waits_for_the_queues(fake):
    device = tt.create_device(0)
    tt.enqueue_program(device.command_queue(), program_of(10_000))
    tt.close_device(device)
    assert device.chip.cycle > 10_000 and device.chip.closed


def test_after_an_error_a_new_device_works(fake):
    device = tt.create_device(0)
    queue = device.command_queue()
    tt.enqueue_program(queue, program_of(None))
    with pytest.raises(DeadlockError, match="hangs"):
        tt.finish(queue)
    assert device.chip.aborted
    with pytest.raises(UsageError, match="stopped after an error: the fake program hangs"):
        tt.enqueue_program(queue, program_of(1))
    tt.close_device(device)
    with tt.create_device(0) as device:
        tt.enqueue_program(device.command_queue(), program_of(1), blocking=True)


def test_an_error_in_a_launch_reaches_the_host(fake):
    def on_start(chip):
        raise ProgramError("bad launch", hint="do better")

    device = tt.create_device(0)
    tt.enqueue_program(device.command_queue(), program_of(1, on_start=on_start))
    with pytest.raises(ProgramError, match="bad launch") as caught:
        tt.finish(device.command_queue())
    assert caught.value.hint == "do better"
    tt.close_device(device)


def test_an_error_leaves_other_devices_alone(fake):
    with tt.create_device(0) as good, tt.create_device(1) as bad:
        tt.enqueue_program(bad.command_queue(), program_of(None))
        with pytest.raises(DeadlockError):
            tt.finish(bad.command_queue())
        tt.enqueue_program(good.command_queue(), program_of(10), blocking=True)
        assert not good.chip.aborted


def test_nothing_pending_starts_on_a_failed_device(fake):
    """What is queued behind a program that fails does not happen, even while another device lets time pass."""
    started = []

    def fail(chip):
        raise ProgramError("bad launch")

    with tt.create_device(0) as bad, tt.create_device(1) as good:
        halves = [tt.SubDevice(tt.CoreRange((0, 0), (3, 7))), tt.SubDevice(tt.CoreRange((4, 0), (7, 7)))]
        bad.load_sub_device_manager(bad.create_sub_device_manager(halves))
        tt.enqueue_program(bad.command_queue(), program_of(10, ((4, 0), (4, 0)), on_start=fail))
        tt.enqueue_program(bad.command_queue(), program_of(10, on_start=started.append))
        target = dram_buffer(bad)
        tt.enqueue_write_buffer(bad.command_queue(), target, b"x" * PAGE)
        with pytest.raises(ProgramError, match="bad launch"):
            tt.finish(bad.command_queue())
        tt.enqueue_program(good.command_queue(), program_of(10_000_000), blocking=True)
        assert good.chip.cycle > 10_000_000 and started == []
        assert bad.chip.memory.read_dram(0, target.address, 1) == b"\0"


def test_an_interrupted_run_closes_at_once(fake):
    def on_start(chip):
        raise KeyboardInterrupt

    device = tt.create_device(0)
    tt.enqueue_program(device.command_queue(), program_of(1, on_start=on_start))
    with pytest.raises(KeyboardInterrupt):
        tt.finish(device.command_queue())
    tt.close_device(device)
    assert not device.is_open


def test_every_call_is_one_record(device):
    seen = []
    executor = device.system.executor
    executor.observers.append(lambda record, result: seen.append(type(record)))
    buffer, queue, program = dram_buffer(device), device.command_queue(), program_of(1)
    tt.enqueue_write_buffer(queue, buffer, bytes(PAGE))
    tt.enqueue_program(queue, program)
    tt.finish(queue)
    executor.observers.clear()
    assert seen == [
        commands.CreateBuffer,
        commands.CreateProgram,
        commands.CreateKernel,
        commands.WriteBuffer,
        commands.EnqueueProgram,
        commands.Finish,
    ]
