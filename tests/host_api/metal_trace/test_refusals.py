"""Metal traces: room for them, and what is refused."""

import pytest

import tensim as tt
from tensim.sim.arch import load_arch
from tensim.sim.errors import ProgramError, UsageError
from tensim.sim.host import commands
from tensim.sim.host.trace_descriptor import page_size
from tests.host_api.fake_chip import FakeKernel
from tests.host_api.metal_trace.programs import (
    PAGE,
    REGION,
    capture,
    dram_buffer,
    program_of,
    traced,
    warm,
    with_circular_buffer,
)


def test_the_region_is_counted(device):
    program = program_of()
    warm(device, program)
    traces = [capture(device, program) for _ in range(REGION // PAGE)]
    with pytest.raises(ProgramError, match=f"needs 1024 B of the trace region, 0 B of {REGION} B are left") as error:
        capture(device, program)
    assert error.value.kind == "out_of_memory"
    descriptor = tt.trace_descriptor(device, traces[0])
    with pytest.raises(ProgramError, match="needs 1024 B of the trace region"):
        tt.load_trace(device, 0, descriptor)
    tt.release_trace(device, traces[0])
    tt.replay_trace(device, 0, tt.load_trace(device, 0, descriptor), blocking=True)


def test_overflow_leaves_the_queue_usable(fake):
    with tt.create_device(0) as device:
        program = program_of()
        warm(device, program)
        with pytest.raises(ProgramError, match=r"needs 1024 B of the trace region, 0 B of 0 B are left\n.*1024"):
            capture(device, program)
        tt.enqueue_program(device.command_queue(), program, blocking=True)
        assert len(device.chip.launches) == 2


def test_the_stream_grows_with_what_the_dispatcher_writes(device):
    plain = program_of()

    def size(*programs):
        return tt.trace_descriptor(device, traced(device, *programs)).trace_bytes

    one = size(plain)
    command = device.arch["dispatch.command_bytes"]
    assert 0 < one < PAGE and size(plain, plain) == 2 * one - command  # the end is there once
    assert size(program_of(args=range(16))) == one + command + 16 + 64
    assert size(with_circular_buffer(program_of())) == one + command + 16 + 16
    everything = with_circular_buffer(program_of(cores=((0, 0), (7, 7)), args=range(16)))
    assert size(everything) > one + 64 * 64


@pytest.mark.parametrize(
    "n_bytes, page", [(1, 1024), (12 * 1024, 1024), (12 * 2048, 2048), (12 * 4096, 4096), (24576 * 2, 4096)]
)
def test_pages_pad_least(n_bytes, page):
    """Wormhole: 12 banks; a row of pages takes 12, 24 or 48 KiB."""
    assert page_size(n_bytes, load_arch("wormhole_b0")) == page


FORBIDDEN = {
    "write": lambda d, b, e: tt.enqueue_write_buffer(d.command_queue(0), b, bytes(PAGE)),
    "sub-write": lambda d, b, e: tt.enqueue_write_sub_buffer(
        d.command_queue(0), b, bytes(PAGE), tt.BufferRegion(0, PAGE)
    ),
    "read": lambda d, b, e: tt.enqueue_read_buffer(d.command_queue(0), b, blocking=False),
    "record": lambda d, b, e: tt.enqueue_record_event(d.command_queue(0)),
    "wait": lambda d, b, e: tt.enqueue_wait_for_event(d.command_queue(0), e),
    "synchronize event": lambda d, b, e: tt.event_synchronize(e),
    "finish": lambda d, b, e: tt.finish(d.command_queue(0)),
    "synchronize": lambda d, b, e: tt.synchronize(d),
    "blocking program": lambda d, b, e: tt.enqueue_program(d.command_queue(0), program_of(), blocking=True),
    "manager": lambda d, b, e: d.clear_loaded_sub_device_manager(),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_only_programs_can_be_captured(device, name):
    program, buffer = program_of(), dram_buffer(device)
    tt.enqueue_write_buffer(device.command_queue(0), buffer, b"x" * PAGE)
    event = tt.enqueue_record_event(device.command_queue(0))
    warm(device, program)
    trace = tt.begin_trace_capture(device, 0)
    with pytest.raises(UsageError, match=f"queue 0 of device 0 is capturing trace {trace}, which cannot hold"):
        FORBIDDEN[name](device, buffer, event)
    tt.enqueue_program(device.command_queue(0), program)
    tt.end_trace_capture(device, 0, trace)
    assert len(tt.trace_descriptor(device, trace).programs) == 1
    assert tt.enqueue_read_buffer(device.command_queue(0), buffer) == b"x" * PAGE
    FORBIDDEN[name](device, buffer, event)


def test_no_trace_inside_a_trace(device):
    trace = capture(device)
    inner = tt.begin_trace_capture(device, 0)
    for call in (
        lambda: tt.begin_trace_capture(device, 0),
        lambda: tt.replay_trace(device, 0, trace),
        lambda: tt.load_trace(device, 0, tt.trace_descriptor(device, trace)),
    ):
        with pytest.raises(UsageError, match=f"is capturing trace {inner}"):
            call()
    with pytest.raises(UsageError, match=f"trace {inner} is being captured on queue 0"):
        tt.release_trace(device, inner)
    with pytest.raises(UsageError, match=f"no trace {inner}"):
        tt.replay_trace(device, 1, inner)
    tt.end_trace_capture(device, 0, inner)


def test_a_capture_is_ended_by_its_id_on_its_queue(device):
    with pytest.raises(UsageError, match="is not capturing a trace; trace 5 cannot be ended"):
        tt.end_trace_capture(device, 0, 5)
    trace = tt.begin_trace_capture(device, 0)
    with pytest.raises(UsageError, match="queue 1 of device 0 is not capturing"):
        tt.end_trace_capture(device, 1, trace)
    with pytest.raises(UsageError, match=f"is capturing trace {trace}, not {trace + 1}"):
        tt.end_trace_capture(device, 0, trace + 1)
    tt.end_trace_capture(device, 0, trace)
    with pytest.raises(UsageError, match="is not capturing"):
        tt.end_trace_capture(device, 0, trace)


def test_unknown_and_known_ids(device):
    trace = capture(device)
    for call in (tt.release_trace, tt.trace_descriptor, lambda d, tid: tt.replay_trace(d, 0, tid)):
        with pytest.raises(UsageError, match=f"device 0 has no trace {trace + 1}\n.*its traces: {trace}"):
            call(device, trace + 1)
    submit, descriptor = device.system.executor.submit, tt.trace_descriptor(device, trace)
    for record in (commands.LoadTrace(0, 0, trace, descriptor), commands.BeginTraceCapture(0, 0, trace)):
        with pytest.raises(UsageError, match=f"device 0 already has a trace {trace}"):
            submit(record)
    submit(commands.BeginTraceCapture(0, 0, trace + 1000))
    with pytest.raises(UsageError, match=f"device 0 already has a trace {trace + 1000}"):
        submit(commands.BeginTraceCapture(0, 1, trace + 1000))
    submit(commands.EndTraceCapture(0, 0, trace + 1000))
    tt.release_trace(device, trace)
    with pytest.raises(UsageError, match=f"no trace {trace}"):
        tt.release_trace(device, trace)


def test_programs_must_be_warm(device):
    cold, program = program_of(name="cold"), program_of()
    warm(device, program)
    tt.compile_program(device, cold)
    trace = tt.begin_trace_capture(device, 0)
    with pytest.raises(UsageError, match=rf"program {cold.id} \(cold\) cannot be captured in trace {trace}.*binaries"):
        tt.enqueue_program(device.command_queue(0), cold)
    tt.enqueue_program(device.command_queue(0), program)
    tt.end_trace_capture(device, 0, trace)
    assert [item.program for item in tt.trace_descriptor(device, trace).programs] == [program.id]
    warm(device, cold)
    capture(device, cold)
    tt.create_kernel(cold, FakeKernel(), tt.CoreCoord(0, 0), tt.WriterDataMovementConfig())
    trace = tt.begin_trace_capture(device, 0)
    with pytest.raises(UsageError, match="cannot be captured"):
        tt.enqueue_program(device.command_queue(0), cold)
    tt.end_trace_capture(device, 0, trace)


def test_programs_are_warm_per_device(device):
    program = program_of()
    warm(device, program)
    with tt.create_device(1, trace_region_size=REGION) as other:
        trace = tt.begin_trace_capture(other, 0)
        with pytest.raises(UsageError, match="not on device 1 yet"):
            tt.enqueue_program(other.command_queue(), program)
        tt.end_trace_capture(other, 0, trace)


def test_an_exception_while_capturing(device):
    program = program_of()
    warm(device, program)
    trace = tt.begin_trace_capture(device, 0)
    with pytest.raises(UsageError, match="outside the 8x8 grid"):
        tt.enqueue_program(device.command_queue(0), program_of(cores=((8, 8), (8, 8))))
    tt.end_trace_capture(device, 0, trace)
    tt.release_trace(device, trace)
    tt.enqueue_program(device.command_queue(0), program, blocking=True)
    tt.replay_trace(device, 0, capture(device, program), blocking=True)
    assert len(device.chip.launches) == 3


def test_closing_a_device_ends_its_captures(fake):
    with tt.create_device(0, trace_region_size=REGION) as device:
        tt.begin_trace_capture(device, 0)
    assert not device.is_open


def test_a_trace_is_not_released_under_its_replay(device):
    trace = traced(device, *(program_of(100_000) for _ in range(10)))
    tt.replay_trace(device, 0, trace)
    with pytest.raises(UsageError, match=f"a replay of trace {trace} has not ended"):
        tt.release_trace(device, trace)
    tt.finish(device.command_queue(0))
    tt.release_trace(device, trace)
