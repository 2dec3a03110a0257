"""Metal traces and allocations: what may lie where the buffers of a trace were."""

import warnings

import pytest

import tensim as tt
from tensim.sim.errors import TensimWarning
from tests.host_api.metal_trace.programs import (
    PAGE,
    capture,
    dram_buffer,
    l1_buffer,
    program_of,
    traced,
    warm,
    with_circular_buffer,
)


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
