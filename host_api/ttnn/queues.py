"""Metal traces, events, global semaphores, and the device profiler, on simulated time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import tensim.buffer as buffers
import tensim.metal_trace as traces
import tensim.queue as host
from tensim.device import current_system
from tensim.sim.host import commands as c
from tensim.ttnn.cores import CoreRangeSet
from tensim.ttnn.devices import open_devices, synchronize_device
from tensim.ttnn.enums import BufferType
from tensim.ttnn.errors import check_type, unsigned
from tensim.ttnn.measurements import measure, measurements_of
from tensim.types import BufferType as HostBufferType

if TYPE_CHECKING:
    from tensim.ttnn.devices import MeshDevice, SubDeviceId
    from tensim.ttnn.measurements import Operation

PROFILER_VARIABLES = (
    "TT_METAL_DEVICE_PROFILER", "TT_METAL_PROFILER_MID_RUN_DUMP", "TT_METAL_PROFILER_CPP_POST_PROCESS",
)  # fmt: skip

# --- traces

_captures = {}  # device -> (queue, trace) of the capture that is on


class MeshTraceId(int):
    """Number of a trace."""

    def __repr__(self) -> str:
        return f"MeshTraceId({int(self)})"


def begin_trace_capture(mesh_device: MeshDevice, *, cq_id: int | None = None) -> MeshTraceId:
    """Record the programs of a queue instead of running them; returns the trace's id.  Each must have run before."""
    trace = MeshTraceId(traces.begin_trace_capture(mesh_device.host, mesh_device.queue(cq_id).id))
    _captures[mesh_device] = trace
    return trace


def end_trace_capture(mesh_device: MeshDevice, trace_id: int, *, cq_id: int | None = None) -> None:
    """Write the trace into the device's trace region."""
    _captures.pop(mesh_device, None)
    traces.end_trace_capture(mesh_device.host, mesh_device.queue(cq_id).id, int(trace_id))


def execute_trace(mesh_device: MeshDevice, trace_id: int, *, cq_id: int | None = None, blocking: bool = True) -> None:
    """Run a trace."""
    queue = mesh_device.queue(cq_id)
    record = c.ReplayTrace(mesh_device.host.id, queue.id, int(trace_id), False)
    item = mesh_device.host._submit(record)
    if item is not None:
        measure(mesh_device, item, f"trace {int(trace_id)}")
    if blocking:
        synchronize_device(mesh_device, queue.id)


def release_trace(mesh_device: MeshDevice, trace_id: int) -> None:
    """Give a trace's memory back."""
    traces.release_trace(mesh_device.host, int(trace_id))


def is_trace_capture_active(mesh_device: MeshDevice) -> bool:
    """Whether a capture is on."""
    return mesh_device in _captures


# --- events


def record_event(
    mesh_device: MeshDevice, cq_id: int | None = None, sub_device_ids: Iterable[SubDeviceId] = ()
) -> host.Event:
    """An event behind everything in a queue."""
    return host.enqueue_record_event(mesh_device.queue(cq_id))


def wait_for_event(cq_id: int | None, mesh_event: host.Event) -> None:
    """Let a queue wait for an event."""
    device = next(item for item in open_devices().values() if item.host.id == mesh_event.device_id)
    host.enqueue_wait_for_event(device.queue(cq_id), mesh_event)


def event_synchronize(mesh_event: host.Event) -> None:
    """Wait until an event has happened."""
    host.event_synchronize(mesh_event)


# --- global semaphores


def create_global_semaphore(
    mesh_device: MeshDevice, cores: CoreRangeSet, initial_value: int, buffer_type: BufferType = BufferType.L1
) -> buffers.GlobalSemaphore:
    """A semaphore at one L1 address of cores, for several programs."""
    check_type("create_global_semaphore", "cores", cores, CoreRangeSet)
    value = unsigned("create_global_semaphore", "initial_value", initial_value)
    return buffers.create_global_semaphore(mesh_device.host, cores.host(), value, HostBufferType(buffer_type.value))


def get_global_semaphore_address(global_semaphore: buffers.GlobalSemaphore) -> int:
    """L1 address of the semaphore's word."""
    return global_semaphore.address


def reset_global_semaphore_value(global_semaphore: buffers.GlobalSemaphore, reset_value: int) -> None:
    """Write a value to all its cores."""
    global_semaphore.reset_semaphore_value(unsigned("reset_global_semaphore_value", "reset_value", reset_value))


# --- profiler


class ProgramExecutionUID:
    """Which execution of a program it was."""

    def __init__(self, runtime_id: int) -> None:
        self.runtime_id, self.trace_id, self.trace_id_counter = runtime_id, None, None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProgramExecutionUID) and self.runtime_id == other.runtime_id

    def __hash__(self) -> int:
        return hash(self.runtime_id)

    def __repr__(self) -> str:
        return f"ProgramExecutionUID({self.runtime_id})"


class ProgramSingleAnalysisResult:
    """First and last cycle of what an analysis is about, and the time between them in ns."""

    def __init__(self, start: float, end: float, clock_mhz: float) -> None:
        self.start_timestamp, self.end_timestamp = int(start), int(end)
        self.duration = round((end - start) * 1000 / clock_mhz)

    def __repr__(self) -> str:
        return f"ProgramSingleAnalysisResult({self.start_timestamp}, {self.end_timestamp}, {self.duration} ns)"


class ProgramAnalysisData:
    """The analyses of one program that ran."""

    def __init__(self, operation: Operation) -> None:
        self.program_execution_uid = ProgramExecutionUID(operation.number + 1)
        self.core_count = operation.cores
        self.num_available_cores = len(operation.device.host.arch.worker_coords)
        self.program_analyses_results = analyses(operation)

    def __repr__(self) -> str:
        return f"ProgramAnalysisData({self.program_execution_uid}, {self.program_analyses_results})"


def analyses(operation: Operation) -> dict[str, ProgramSingleAnalysisResult]:
    """{name: ProgramSingleAnalysisResult} of an operation, with the profiler's names."""
    clock, spans = operation.device.host.arch.clock_mhz, operation.spans
    first, last = min(a for a, _ in spans.values()), max(b for _, b in spans.values())
    movers = [spans[name][0] for name in ("BRISC", "NCRISC") if name in spans]
    ranges: dict[str, tuple[float, float]] = {
        "DEVICE FW DURATION [ns]": (first, first + operation.busy_ns * clock / 1000),
        "DEVICE KERNEL DURATION [ns]": (first, last),
        "DEVICE KERNEL FIRST TO LAST START [ns]": operation.first_starts,
    }
    if movers:
        ranges["DEVICE KERNEL DURATION DM START [ns]"] = (min(movers), last)
    ranges |= {f"DEVICE {name} KERNEL DURATION [ns]": span for name, span in spans.items()}
    return {name: ProgramSingleAnalysisResult(*span, clock) for name, span in ranges.items()}


_read = {}  # device number -> (operations of the last read, of all reads)


def ReadDeviceProfiler(device: MeshDevice) -> None:
    """Wait for the device and take in the programs that ran since the last call."""
    synchronize_device(device)
    measured = measurements_of(device)
    new = measured.operations[measured.read :]
    measured.read = len(measured.operations)
    before = _read.get(device._number, ([], []))[1]
    _read[device._number] = new, before + new


def _perf_data(which: int) -> dict[int, list[ProgramAnalysisData]]:
    if any(os.environ.get(name) != "1" for name in PROFILER_VARIABLES):
        return {}
    return {number: [ProgramAnalysisData(item) for item in reads[which]] for number, reads in _read.items()}


def get_latest_programs_perf_data() -> dict[int, list[ProgramAnalysisData]]:
    """{chip: [ProgramAnalysisData]} of the last read; empty unless the environment turns the profiler on."""
    return _perf_data(0)


def get_all_programs_perf_data() -> dict[int, list[ProgramAnalysisData]]:
    """{chip: [ProgramAnalysisData]} of all reads; empty unless the environment turns the profiler on."""
    return _perf_data(1)


class KernelDurationSummary:
    """Number, least, largest and mean of kernel durations in ns."""

    def __init__(self, durations: Sequence[int]) -> None:
        self.count = len(durations)
        self.min_ns, self.max_ns = min(durations, default=0), max(durations, default=0)
        self.avg_ns = sum(durations) / max(len(durations), 1)
        self.histogram = {}
        for duration in durations:
            self.histogram[duration] = self.histogram.get(duration, 0) + 1


def _summary(data: dict[int, list[ProgramAnalysisData]]) -> dict[int, KernelDurationSummary]:
    name = "DEVICE KERNEL DURATION [ns]"
    return {
        chip: KernelDurationSummary([program.program_analyses_results[name].duration for program in programs])
        for chip, programs in data.items()
    }


def get_latest_kernel_duration_summary() -> dict[int, KernelDurationSummary]:
    """{chip: KernelDurationSummary} of the last read."""
    return _summary(get_latest_programs_perf_data())


def get_all_kernel_duration_summary() -> dict[int, KernelDurationSummary]:
    """{chip: KernelDurationSummary} of all reads."""
    return _summary(get_all_programs_perf_data())


_zones = []  # open ones: (name, time of the host)


def start_tracy_zone(source: str, functName: str, lineNum: int, color: int = 0) -> None:
    """Begin a zone of the host in timelines."""
    _zones.append((functName or f"{source}:{lineNum}", current_system().host.now_fs))


def stop_tracy_zone(name: str = "", color: int = 0) -> None:
    """End the zone that was begun last; `name`, where it is given, is the better one."""
    if _zones:
        known, begun = _zones.pop()
        current_system().executor.log_zone(name or known, begun)


def tracy_message(source: str, color: int = 0) -> None:
    """Tracy is not there: nothing happens."""


def tracy_frame() -> None:
    """Tracy is not there: nothing happens."""
