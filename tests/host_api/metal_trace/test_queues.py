"""Metal traces on queues and sub-devices: what overlaps, and what it takes."""

import pytest

import tensim as tt
from bench import trace as bench
from tensim.sim.errors import UsageError
from tensim.sim.loop.environment import FS_PER_NS
from tests.host_api.metal_trace.programs import PAGE, dram_buffer, program_of, traced, warm


def test_a_queue_works_while_the_other_one_captures(device):
    program, buffer = program_of(), dram_buffer(device)
    warm(device, program)
    trace = tt.begin_trace_capture(device, 0)
    tt.enqueue_write_buffer(device.command_queue(1), buffer, b"1" * PAGE)
    tt.enqueue_program(device.command_queue(1), program)
    tt.finish(device.command_queue(1))
    tt.enqueue_program(device.command_queue(0), program)
    other = tt.begin_trace_capture(device, 1)
    tt.end_trace_capture(device, 0, trace)
    tt.enqueue_program(device.command_queue(1), program)
    tt.end_trace_capture(device, 1, other)
    assert [tt.trace_descriptor(device, item).queue for item in (trace, other)] == [0, 1]
    assert len(device.chip.launches) == 2


def test_traces_on_two_queues_do_not_run_at_once(device):
    traces = [traced(device, program_of(20_000)) for _ in range(2)]
    device.chip.started.clear()
    for _ in range(3):
        for queue in (1, 0):
            tt.replay_trace(device, queue, traces[queue])
    tt.synchronize(device)
    started = device.chip.started
    assert len(started) == 6 and all(b - a >= 20_000 for a, b in zip(started, started[1:], strict=False))


def test_input_and_output_on_one_queue_and_traces_on_the_other(device):
    """docs/hardware/metal_trace.md#traces-and-several-queues: events order the queues; the trace copies its input to its output."""
    source, target = dram_buffer(device), dram_buffer(device)

    def copy(chip):
        bank, address = source.page_location(0)
        chip.memory.write_dram(target.page_location(0)[0], target.address, chip.memory.read_dram(bank, address, PAGE))

    trace = traced(device, program_of(5000, args=[source, target], on_start=copy))
    compute, transfers = device.command_queue(0), device.command_queue(1)
    reads = []
    for i in range(4):
        tt.enqueue_write_buffer(transfers, source, bytes([i]) * PAGE)
        tt.enqueue_wait_for_event(compute, tt.enqueue_record_event(transfers))
        tt.enqueue_trace(compute, trace)
        tt.enqueue_wait_for_event(transfers, tt.enqueue_record_event(compute))
        reads.append(tt.enqueue_read_buffer(transfers, target, blocking=False))
    tt.synchronize(device)
    assert [bytes(read) for read in reads] == [bytes([i]) * PAGE for i in range(4)]


@pytest.fixture
def halves(device):
    split = [tt.SubDevice(tt.CoreRange((0, 0), (3, 7))), tt.SubDevice(tt.CoreRange((4, 0), (7, 7)))]
    device.load_sub_device_manager(device.create_sub_device_manager(split))
    return device


def test_sub_devices_of_a_trace_run_side_by_side(halves):
    left, right = program_of(100_000), program_of(100_000, ((4, 0), (5, 0)))
    trace = traced(halves, left, right)
    halves.chip.started.clear()
    tt.replay_trace(halves, 0, trace, blocking=True)
    first, second = halves.chip.started
    assert 0 < second - first < 5000
    assert [launch.sub_device_origin for launch in halves.chip.launches[-2:]] == [(0, 0), (4, 0)]


def test_a_trace_overlaps_the_other_sub_device(halves):
    left, right = program_of(100_000), program_of(1000, ((4, 0), (5, 0)))
    trace = traced(halves, right)
    tt.enqueue_program(halves.command_queue(1), left)
    begun = halves.system.host.now_fs
    tt.replay_trace(halves, 0, trace, blocking=True)
    assert halves.system.host.now_fs - begun < 50_000 * FS_PER_NS
    tt.synchronize(halves)


def test_traces_belong_to_their_manager(halves):
    trace, manager = traced(halves, program_of()), halves._state.manager.id
    halves.clear_loaded_sub_device_manager()
    with pytest.raises(UsageError, match=f"trace {trace} belongs to sub-device manager {manager}; manager None"):
        tt.replay_trace(halves, 0, trace)
    halves.load_sub_device_manager(manager)
    tt.replay_trace(halves, 0, trace, blocking=True)
    halves.clear_loaded_sub_device_manager()
    tt.release_trace(halves, trace)


def test_host_time_of_capture_and_replay(device):
    program, host = program_of(), device.system.host
    warm(device, program)

    def took(call):
        begun = host.now_fs
        result = call()
        return result, (host.now_fs - begun) / FS_PER_NS

    trace, _ = took(lambda: tt.begin_trace_capture(device, 0))
    assert took(lambda: tt.enqueue_program(device.command_queue(0), program))[1] == 15_200
    assert took(lambda: tt.end_trace_capture(device, 0, trace))[1] == pytest.approx(39_100, rel=0.15)
    assert took(lambda: tt.replay_trace(device, 0, trace))[1] == 1850


def test_replays_take_equal_time(device):
    trace = traced(device, *(program_of(cycles) for cycles in (100, 5000, 700)))
    host, times = device.system.host, []
    for _ in range(10):
        begun = host.now_fs
        tt.replay_trace(device, 0, trace, blocking=True)
        times.append(host.now_fs - begun)
    assert len(set(times)) == 1


def test_long_kernels_are_not_faster_in_a_trace(device):
    """Published: 10,000 cycles take 10.98 us per program (docs/hardware/dispatch.md#published-dispatch-times)."""
    trace = traced(device, *[program_of(10_000)] * 20)
    device.chip.started.clear()
    tt.replay_trace(device, 0, trace, blocking=True)
    started = device.chip.started
    assert (started[-1] - started[0]) / 19 == pytest.approx(10_980, rel=0.02)


def test_configuration_behind_a_trace_waits_for_its_programs(device):
    """The ring counts as full after a trace.

    Source: docs/hardware/metal_trace.md#replay-sequence.; what is behind has been fetched meanwhile.
    """
    slow, fast = program_of(100_000), program_of(100, text_bytes=16)
    trace = traced(device, slow, fast)
    device.chip.started.clear()
    tt.replay_trace(device, 0, trace)
    tt.enqueue_program(device.command_queue(0), fast)
    tt.finish(device.command_queue(0))
    _, last, behind = device.chip.started
    written, go, done = (device.arch[f"dispatch.{name}_ns"] for name in ("program", "go", "done"))
    assert behind - last - 100 == pytest.approx(written + go + done, abs=5)


def test_a_traced_loop_is_as_much_faster_as_published():
    """100 small one-processor programs, with the architecture's own parameters of the device."""
    device, host = bench.run(100, bench.NO_HOST), bench.run(100)
    assert device.eager_ns == pytest.approx(bench.EAGER_DEVICE_NS, rel=0.05)
    assert device.eager_ns / device.traced_ns == pytest.approx(bench.EAGER_DEVICE_NS / bench.TRACED_NS, rel=0.05)
    assert host.eager_ns / host.traced_ns == pytest.approx(bench.EAGER_HOST_NS / bench.TRACED_NS, rel=0.05)
