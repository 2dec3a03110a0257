"""Metal traces: what is recorded, what a replay does, what it costs, and what is refused."""

import dataclasses
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tensim as tt
from bench import trace as bench
from tensim.sim.arch import load_arch
from tensim.sim.errors import ProgramError, TensimWarning, UsageError
from tensim.sim.host import commands
from tensim.sim.host.commands import ComputeParameters, DataMovementParameters
from tensim.sim.host.trace_descriptor import page_size
from tensim.sim.loop.environment import FS_PER_NS
from tests.host_api.fake_chip import FakeKernel

PAGE = 1024
REGION = 65536
ONE_CORE = ((0, 0), (0, 0))


@pytest.fixture
def device(fake):
    """A device with two queues and room for traces."""
    with tt.create_device(0, num_hw_cqs=2, trace_region_size=REGION) as device:
        yield device


def program_of(cycles=1000, cores=ONE_CORE, args=(), **kernel):
    program = tt.create_program()
    handle = tt.create_kernel(
        program, FakeKernel(cycles, **kernel), tt.CoreRange(*cores), tt.ReaderDataMovementConfig()
    )
    if args:
        tt.set_runtime_args(program, handle, tt.CoreRange(*cores), list(args))
    return program


def warm(device, *programs):
    """Run programs once, so that their binaries are on the device."""
    for program in programs:
        tt.enqueue_program(device.command_queue(0), program)
    tt.finish(device.command_queue(0))


def capture(device, *programs, cq_id=0):
    trace = tt.begin_trace_capture(device, cq_id)
    for program in programs:
        tt.enqueue_program(device.command_queue(cq_id), program)
    tt.end_trace_capture(device, cq_id, trace)
    return trace


def traced(device, *programs):
    """A trace of programs that this runs first."""
    warm(device, *programs)
    return capture(device, *programs)


def dram_buffer(device, pages=1, **options):
    return tt.create_buffer(tt.InterleavedBufferConfig(device, pages * PAGE, PAGE), **options)


def l1_buffer(device, per_bank, **options):
    size = per_bank * device.num_banks(tt.BufferType.L1)
    return tt.create_buffer(tt.InterleavedBufferConfig(device, size, per_bank, tt.BufferType.L1), **options)


def with_circular_buffer(program, size=2048, buffer=None):
    config = tt.CircularBufferConfig(size, {0: tt.DataFormat.UInt32}).set_page_size(0, size)
    if buffer is not None:
        config.set_globally_allocated_address(buffer)
    tt.create_circular_buffer(program, tt.CoreCoord(0, 0), config)
    return program


def as_data(launches):
    """What the chip was given, comparable."""
    return [dataclasses.asdict(dataclasses.replace(launch, kernels=[])) for launch in launches], [
        [(kernel.compiled, kernel.cores, kernel.args, kernel.common_args) for kernel in launch.kernels]
        for launch in launches
    ]


# --- what is recorded and replayed


def test_a_replay_gives_the_chip_what_live_enqueues_gave_it(device):
    first, second = with_circular_buffer(program_of(args=[1, 2])), program_of(cores=((1, 0), (2, 1)), args=[3])
    tt.create_semaphore(second, tt.CoreRange((1, 0), (2, 1)), 7)
    trace = traced(device, first, second)
    eager = as_data(device.chip.launches)
    device.chip.launches.clear()
    tt.replay_trace(device, 0, trace, blocking=True)
    assert len(device.chip.launches) == 2 and as_data(device.chip.launches) == eager


def test_capturing_runs_nothing(device):
    program = program_of()
    warm(device, program)
    launches, chip = len(device.chip.launches), device.chip
    trace = capture(device, program, program)
    tt.finish(device.command_queue(0))
    assert len(chip.launches) == launches
    for replays in range(1, 11):
        tt.enqueue_trace(device.command_queue(0), trace, blocking=True)
        assert len(chip.launches) == launches + 2 * replays


def test_arguments_are_those_of_the_capture(device):
    program = program_of(args=[1])
    warm(device, program)
    trace = tt.begin_trace_capture(device, 0)
    for value in (10, 20):
        tt.set_runtime_args(program, 0, tt.CoreCoord(0, 0), [value])
        tt.enqueue_program(device.command_queue(0), program)
    tt.end_trace_capture(device, 0, trace)
    tt.set_runtime_args(program, 0, tt.CoreCoord(0, 0), [30])
    tt.replay_trace(device, 0, trace, blocking=True)
    assert [launch.kernels[0].args for launch in device.chip.launches] == [{0: [1]}, {0: [10]}, {0: [20]}]


def test_a_trace_outlives_its_programs(device):
    program = program_of()
    trace = traced(device, program)
    del program
    tt.replay_trace(device, 0, trace, blocking=True)
    assert len(device.chip.launches) == 2


def test_traced_and_untraced_programs_keep_their_order(device):
    started = []
    programs = [program_of(on_start=lambda chip, i=i: started.append(i)) for i in range(3)]
    trace = traced(device, programs[0], programs[1])
    started.clear()
    queue = device.command_queue(0)
    for _ in range(2):
        tt.enqueue_program(queue, programs[2])
        tt.enqueue_trace(queue, trace)
    tt.enqueue_program(queue, programs[2], blocking=True)
    assert started == [2, 0, 1, 2, 0, 1, 2]


def test_ids_rise_over_all_devices(device):
    with tt.create_device(1, trace_region_size=REGION) as other:
        ids = [capture(item) for item in (device, other, device)]
    assert ids == [ids[0], ids[0] + 1, ids[0] + 2]


def test_an_empty_trace_is_replayed(device):
    trace = capture(device)
    tt.replay_trace(device, 0, trace, blocking=True)
    assert tt.trace_descriptor(device, trace).programs == () and device.chip.launches == []


PROGRAMS = st.lists(
    st.fixed_dictionaries(
        {
            "core": st.tuples(st.integers(0, 6), st.integers(0, 6)),
            "args": st.lists(st.integers(0, (1 << 32) - 1), max_size=20),
            "cycles": st.integers(0, 5000),
            "pages": st.integers(0, 4),
            "semaphores": st.lists(st.integers(0, 99), max_size=3),
        }
    ),
    min_size=1,
    max_size=6,
)


def random_program(shape):
    x, y = shape["core"]
    program = program_of(shape["cycles"], ((x, y), (x + 1, y + 1)), shape["args"])
    for index in range(shape["pages"]):
        config = tt.CircularBufferConfig(64 * (index + 1), {index: tt.DataFormat.UInt32}).set_page_size(index, 64)
        tt.create_circular_buffer(program, tt.CoreCoord(x, y), config)
    for initial in shape["semaphores"]:
        tt.create_semaphore(program, tt.CoreCoord(x, y), initial)
    return program


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PROGRAMS, st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(1, 4)), min_size=1, max_size=6))
def test_random_programs_traced_and_not(fake, shapes, runs):
    """The chip gets the same programs in the same order, whichever stretches of them come from traces."""
    with tt.create_device(0, trace_region_size=1 << 20) as device:
        programs = [random_program(shape) for shape in shapes]
        warm(device, *programs)

        def chip_gets(tracing):
            device.chip.launches.clear()
            for traced, first, count in runs:
                stretch = [programs[(first + i) % len(programs)] for i in range(count)]
                if traced and tracing:
                    trace = capture(device, *stretch)
                    tt.replay_trace(device, 0, trace)
                else:
                    for program in stretch:
                        tt.enqueue_program(device.command_queue(), program)
            tt.finish(device.command_queue())
            return as_data(device.chip.launches)

        assert chip_gets(tracing=True) == chip_gets(tracing=False)


# --- descriptors


PLAIN = (int, str, bool, type(None), FakeKernel, DataMovementParameters, ComputeParameters)


def check_plain(value):
    """Nothing but numbers, text, tuples, records and kernels, and nothing that can change."""
    if isinstance(value, tuple):
        for item in value:
            check_plain(item)
    elif dataclasses.is_dataclass(value):
        with pytest.raises(dataclasses.FrozenInstanceError):
            value.changed = 1
        for field in dataclasses.fields(value):
            check_plain(getattr(value, field.name))
    else:
        assert isinstance(value, PLAIN), value


def test_a_descriptor_is_plain_data(device):
    buffer = l1_buffer(device, 2048)
    program = with_circular_buffer(program_of(args=[buffer.address]))
    tt.create_semaphore(program, tt.CoreCoord(0, 0), 3)
    trace = traced(device, program, with_circular_buffer(program_of(), buffer=buffer))
    descriptor = tt.trace_descriptor(device, trace)
    check_plain(descriptor)
    first, second = descriptor.programs
    assert first.kernels[0].args == (((0, 0), (buffer.address,)),)
    assert first.circular_buffers[0].address == device.arch.l1_user_base and not first.circular_buffers[0].on_buffer
    assert second.circular_buffers[0].address == buffer.address and second.circular_buffers[0].on_buffer
    assert [(semaphore.id, semaphore.initial) for semaphore in first.semaphores] == [(0, 3)]
    assert [(item.address, item.size) for item in descriptor.buffers] == [(buffer.address, 2048)]


def test_counters_follow_the_sub_devices(device):
    split = [tt.SubDevice(tt.CoreRange((0, 0), (3, 7))), tt.SubDevice(tt.CoreRange((4, 0), (7, 6)))]
    device.load_sub_device_manager(device.create_sub_device_manager(split))
    left, right = program_of(), program_of(cores=((4, 0), (5, 0)))
    descriptor = tt.trace_descriptor(device, traced(device, left, right, right))
    assert descriptor.sub_device_ids == (0, 1) and descriptor.queue == 0
    assert [dataclasses.astuple(counter) for counter in descriptor.counters] == [(0, 32, 1, 0), (1, 56, 2, 0)]


def test_a_loaded_descriptor_replays_on_another_device(device):
    buffer = dram_buffer(device)
    descriptor = tt.trace_descriptor(device, traced(device, with_circular_buffer(program_of(args=[buffer.address, 5]))))
    with tt.create_device(1, trace_region_size=REGION) as other:
        trace = tt.load_trace(other, 0, descriptor)
        tt.replay_trace(other, 0, trace, blocking=True)
        assert as_data(other.chip.launches) == as_data(device.chip.launches)
        assert tt.trace_descriptor(other, trace) == descriptor


def test_a_descriptor_that_does_not_fit_the_device_is_refused(device):
    program = with_circular_buffer(program_of())
    tt.create_semaphore(program, tt.CoreCoord(0, 0), 0)
    descriptor = tt.trace_descriptor(device, traced(device, program))
    (program,) = descriptor.programs

    def load(**changes):
        tt.load_trace(device, 0, dataclasses.replace(descriptor, programs=(dataclasses.replace(program, **changes),)))

    with pytest.raises(UsageError, match=r"core \(8,0\) is outside the 8x8 grid"):
        load(kernels=(dataclasses.replace(program.kernels[0], cores=((8, 0),)),))
    with pytest.raises(UsageError, match="not those of sub-device 3"):
        load(sub_device=3)
    (kernel,), (cb,), (semaphore,) = program.kernels, program.circular_buffers, program.semaphores
    for address in (0, device.arch.l1_size - 16):
        with pytest.raises(ProgramError, match="is outside L1"):
            load(circular_buffers=(dataclasses.replace(cb, address=address),))
    with pytest.raises(UsageError, match=rf"program {program.program}: circular buffer index 32 is not below 32"):
        load(circular_buffers=(dataclasses.replace(cb, formats=((32, 0),), page_sizes=((32, 64),)),))
    with pytest.raises(UsageError, match="not a multiple of the page size"):
        load(circular_buffers=(dataclasses.replace(cb, size=cb.size + 16),))
    with pytest.raises(UsageError, match="already used by kernel"):
        load(kernels=(kernel, kernel))
    with pytest.raises(UsageError, match="processor and NoC 0 or 1"):
        load(kernels=(dataclasses.replace(kernel, parameters=DataMovementParameters(2, 0)),))
    with pytest.raises(UsageError, match=r"does not run on core \(1, 1\)"):
        load(kernels=(dataclasses.replace(kernel, args=(((1, 1), (5,)),)),))
    with pytest.raises(UsageError, match="342 unique and 0 common runtime arguments"):
        load(kernels=(dataclasses.replace(kernel, args=(((0, 0), (0,) * 342),)),))
    with pytest.raises(UsageError, match="semaphore id 16"):
        load(semaphores=(dataclasses.replace(semaphore, id=16),))
    with pytest.raises(UsageError, match="not an unsigned 32-bit word"):
        load(semaphores=(dataclasses.replace(semaphore, initial=-1),))
    with pytest.raises(UsageError, match="a command stream of 0 B"):
        tt.load_trace(device, 0, dataclasses.replace(descriptor, trace_bytes=0))
    assert list(device._state.traces.values())[1:] == []


# --- the trace region


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


# --- what is refused


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


# --- memory


def test_an_allocation_after_a_capture_gives_one_warning(device):
    program = program_of()
    warm(device, program)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TensimWarning)
        dram_buffer(device)
        trace = tt.begin_trace_capture(device, 0)
        inside = dram_buffer(device)
        tt.enqueue_program(device.command_queue(0), program)
        tt.end_trace_capture(device, 0, trace)
        dram_buffer(device, address=inside.address)  # allocates nothing
    with pytest.warns(TensimWarning, match=f"device 0: buffer .* is allocated while trace {trace} may be replayed"):
        kept = dram_buffer(device)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TensimWarning)
        later = dram_buffer(device)
        tt.replay_trace(device, 0, trace, blocking=True)
    assert kept.is_allocated and later.is_allocated and len(device.chip.launches) == 2


def test_allocations_are_safe_without_traces(device):
    tt.release_trace(device, capture(device))
    with warnings.catch_warnings():
        warnings.simplefilter("error", TensimWarning)
        dram_buffer(device)


def test_a_global_semaphore_is_an_allocation(device):
    trace = capture(device)
    with pytest.warns(TensimWarning, match=f"global semaphore .* is allocated while trace {trace}"):
        tt.create_global_semaphore(device, tt.CoreCoord(0, 0), 0)


@pytest.mark.parametrize("make", [dram_buffer, lambda device: l1_buffer(device, PAGE)])
def test_a_buffer_in_place_of_one_that_the_trace_uses(device, make):
    used, other = make(device), make(device)
    trace = traced(device, program_of(args=[used.address + 512]))
    number = used.unique_id
    tt.deallocate_buffer(used)
    tt.deallocate_buffer(other)
    with pytest.warns(TensimWarning, match="is allocated while"):
        victim, harmless = make(device), make(device)
    if victim.address != used.address:
        victim, harmless = harmless, victim
    with pytest.warns(TensimWarning) as caught:
        tt.replay_trace(device, 0, trace, blocking=True)
    (text,) = (str(item.message) for item in caught)
    assert f"buffer {victim.unique_id} at" in text and f"trace {trace} uses buffer {number};" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error", TensimWarning)
        tt.replay_trace(device, 0, trace, blocking=True)


def test_intermediates_of_a_trace_may_share_memory(device):
    program = program_of(args=[0])
    warm(device, program)
    trace, addresses = tt.begin_trace_capture(device, 0), []
    for _ in range(2):
        buffer = dram_buffer(device)
        addresses.append(buffer.address)
        tt.set_runtime_args(program, 0, tt.CoreCoord(0, 0), [buffer])
        tt.enqueue_program(device.command_queue(0), program)
        if len(addresses) < 2:
            tt.deallocate_buffer(buffer)
    tt.end_trace_capture(device, 0, trace)
    assert addresses[0] == addresses[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error", TensimWarning)
        tt.replay_trace(device, 0, trace, blocking=True)


def test_a_buffer_over_the_circular_buffers_of_a_trace(device):
    program = with_circular_buffer(program_of())
    trace = traced(device, program)
    with pytest.warns(TensimWarning, match="is allocated while"):
        above = l1_buffer(device, PAGE)
        low = l1_buffer(device, PAGE, bottom_up=True)
    with pytest.warns(TensimWarning) as caught:
        tt.replay_trace(device, 0, trace, blocking=True)
    (text,) = (str(item.message) for item in caught)
    assert (
        f"buffer {low.unique_id} " in text and f"trace {trace} uses a circular buffer of program {program.id};" in text
    )
    assert above.address > low.address


def test_buffers_over_the_circular_buffers_of_a_loaded_trace(device):
    """Buffers that stood at the load where the trace expects its own are taken for them; others are not."""
    used = l1_buffer(device, PAGE)
    trace = traced(device, with_circular_buffer(program_of(args=[used])))
    descriptor = tt.trace_descriptor(device, trace)
    tt.release_trace(device, trace)
    low = l1_buffer(device, PAGE, bottom_up=True)
    loaded = tt.load_trace(device, 0, descriptor)
    with pytest.warns(TensimWarning) as caught:
        tt.replay_trace(device, 0, loaded, blocking=True)
    (text,) = (str(item.message) for item in caught)
    assert f"buffer {low.unique_id} at" in text and f"trace {loaded} uses a circular buffer" in text


# --- queues and sub-devices


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


# --- time


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


# --- the real chip


ADD = """
@kernel
def add(source, destination, pages, page):
    pages_in = InterleavedAddrGen(source, page_size=page, dram=True)
    pages_out = InterleavedAddrGen(destination, page_size=page, dram=True)
    scratch = get_write_ptr(0)
    words = l1_ptr(scratch, uint32)
    for i in range(pages):
        noc_async_read_page(i, pages_in, scratch)
        noc_async_read_barrier()
        for j in range(page // 4):
            words[j] = words[j] * 3 + get_common_arg_val(0)
        noc_async_write_page(i, pages_out, scratch)
        noc_async_write_barrier()
"""
CHECK = """
@kernel
def check(out):
    words = l1_ptr(out, uint32)
    semaphore = l1_ptr(get_semaphore(0), uint32)
    words[0] = semaphore[0]
    words[1] = get_write_ptr(1) - get_write_ptr(0)
    words[2] += 1
    semaphore[0] = 99
"""
PAGES = 8


@pytest.fixture(scope="module")
def chip():
    with tt.create_device(0, num_hw_cqs=2, trace_region_size=6144) as device:
        yield device


def stage(source, destination, addend):
    """A program that stores 3 x + addend for every word of a buffer."""
    program, core = tt.create_program(), tt.CoreCoord(0, 0)
    tt.create_circular_buffer(
        program, core, tt.CircularBufferConfig(64, {0: tt.DataFormat.UInt32}).set_page_size(0, 64)
    )
    kernel = tt.create_kernel_from_string(program, ADD, core, tt.ReaderDataMovementConfig())
    tt.set_runtime_args(program, kernel, core, [source, destination, PAGES, 64])
    tt.set_common_runtime_args(program, kernel, [addend])
    return program


def small_buffers(device, count):
    return [tt.create_buffer(tt.InterleavedBufferConfig(device, PAGES * 64, 64)) for _ in range(count)]


def random_words(seed):
    return np.random.default_rng(seed).integers(0, 1 << 32, PAGES * 16, np.uint32)


@pytest.mark.filterwarnings("ignore::tensim.sim.errors.TensimWarning")
def test_traced_equals_eager_bits_and_loops(chip):
    source, middle, eager, target = small_buffers(chip, 4)
    queue = chip.command_queue(0)
    programs = [stage(source, middle, 5), stage(middle, target, 7)]
    for program in (stage(source, middle, 5), stage(middle, eager, 7), *programs):
        tt.enqueue_write_buffer(queue, source, random_words(1))
        tt.enqueue_program(queue, program, blocking=True)
    expected = tt.enqueue_read_buffer(queue, eager)
    assert np.array_equal(np.frombuffer(expected, np.uint32), (random_words(1) * 3 + 5) * 3 + 7)
    trace = capture(chip, *programs)
    for _ in range(10):
        tt.enqueue_write_buffer(queue, target, bytes(PAGES * 64))
        tt.enqueue_trace(queue, trace)
        assert tt.enqueue_read_buffer(queue, target) == expected
    for seed in range(2, 5):
        tt.enqueue_write_buffer(chip.command_queue(1), source, random_words(seed), blocking=True)
        tt.replay_trace(chip, seed % 2, trace, blocking=True)
        words = np.frombuffer(tt.enqueue_read_buffer(queue, target), np.uint32)
        assert np.array_equal(words, (random_words(seed) * 3 + 5) * 3 + 7)
    tt.release_trace(chip, trace)


@pytest.mark.filterwarnings("ignore::tensim.sim.errors.TensimWarning")
def test_every_replay_writes_semaphores_and_circular_buffers_anew(chip):
    queue, core = chip.command_queue(0), tt.CoreCoord(1, 1)
    out = l1_buffer(chip, 64)
    programs = []
    for size, initial in ((64, 5), (128, 6)):
        program = tt.create_program()
        for index in range(2):
            config = tt.CircularBufferConfig(size, {index: tt.DataFormat.UInt32}).set_page_size(index, 64)
            tt.create_circular_buffer(program, core, config)
        tt.create_semaphore(program, core, initial)
        kernel = tt.create_kernel_from_string(program, CHECK, core, tt.ReaderDataMovementConfig())
        tt.set_runtime_args(program, kernel, core, [out])
        programs.append(program)
        tt.enqueue_program(queue, program, blocking=True)
    traces = [capture(chip, program) for program in programs]
    worker = core[0] + core[1] * chip.arch.grid[0]

    def words():
        return np.frombuffer(chip.chip.memory.read_l1(worker, out.address, 12), np.uint32).tolist()

    for round in range(3):
        tt.replay_trace(chip, 0, traces[0], blocking=True)
        assert words() == [5, 64, 3 + 2 * round]
        tt.replay_trace(chip, 0, traces[1], blocking=True)
        assert words() == [6, 128, 4 + 2 * round]
    for trace in traces:
        tt.release_trace(chip, trace)
