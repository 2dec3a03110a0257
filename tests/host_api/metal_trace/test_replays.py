"""Metal traces: what is recorded, and what a replay gives the chip."""

import dataclasses

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tensim as tt
from tensim.sim.errors import ProgramError, UsageError
from tensim.sim.host.commands import ComputeParameters, DataMovementParameters
from tests.host_api.fake_chip import FakeKernel
from tests.host_api.metal_trace.programs import (
    REGION,
    as_data,
    capture,
    dram_buffer,
    l1_buffer,
    program_of,
    traced,
    warm,
    with_circular_buffer,
)


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
