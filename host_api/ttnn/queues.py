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
from tensim.ttnn.devices import synchronize_device
from tensim.ttnn.enums import BufferType
from tensim.ttnn.errors import ArgumentError, check_type, unsigned
from tensim.ttnn.measurements import measure, measurements_of
from tensim.ttnn.signposts import put
from tensim.types import BufferType as HostBufferType

if TYPE_CHECKING:
    from tensim.ttnn.devices import MeshDevice
    from tensim.ttnn.measurements import Operation
    from tensim.ttnn.sub_devices import SubDeviceId

PROFILER_VARIABLES = (
    "TT_METAL_DEVICE_PROFILER", "TT_METAL_PROFILER_MID_RUN_DUMP", "TT_METAL_PROFILER_CPP_POST_PROCESS",
)  # fmt: skip

# --- traces

_captures: dict[MeshDevice, MeshTraceId] = {}  # captures that are on
_traces: dict[MeshTraceId, list[int]] = {}  # numbers of a mesh's traces on its chips


class MeshTraceId(int):
    """Number of a trace."""

    def __repr__(self) -> str:
        return f"MeshTraceId({int(self)})"


def begin_trace_capture(mesh_device: MeshDevice, *, cq_id: int | None = None) -> MeshTraceId:
    """Record the programs of a queue instead of running them; returns the trace's id.  Each must have run before."""
    queue = mesh_device.queue(cq_id).id
    numbers = [traces.begin_trace_capture(chip.host, queue) for chip in mesh_device.chips]
    trace = MeshTraceId(numbers[0])
    _captures[mesh_device], _traces[trace] = trace, numbers
    return trace


def _on_chips(mesh_device: MeshDevice, trace_id: int) -> list[tuple[MeshDevice, int]]:
    """(chip, number of the trace there) of the chips of a mesh."""
    numbers = _traces.get(MeshTraceId(trace_id), [])
    if len(numbers) != len(mesh_device.chips):
        raise ArgumentError(f"trace {int(trace_id)} is none of {mesh_device}")
    return list(zip(mesh_device.chips, numbers, strict=True))


def end_trace_capture(mesh_device: MeshDevice, trace_id: int, *, cq_id: int | None = None) -> None:
    """Write the trace into the device's trace region."""
    _captures.pop(mesh_device, None)
    for chip, number in _on_chips(mesh_device, trace_id):
        traces.end_trace_capture(chip.host, mesh_device.queue(cq_id).id, number)


def execute_trace(mesh_device: MeshDevice, trace_id: int, *, cq_id: int | None = None, blocking: bool = True) -> None:
    """Run a trace."""
    queue = mesh_device.queue(cq_id)
    for chip, number in _on_chips(mesh_device, trace_id):
        joined = chip is not mesh_device.chips[0]  # they begin together, and the host pays once
        item = chip.host._submit(c.ReplayTrace(chip.host.id, queue.id, number, False, joined))
        if item is not None:
            told = None if chip.joined is None else {"chip": chip.get_device_id()}
            measure(chip, item, f"trace {int(trace_id)}", told)
    if blocking:
        synchronize_device(mesh_device, queue.id)


def release_trace(mesh_device: MeshDevice, trace_id: int) -> None:
    """Give a trace's memory back."""
    for chip, number in _on_chips(mesh_device, trace_id):
        traces.release_trace(chip.host, number)
    del _traces[MeshTraceId(trace_id)]


def is_trace_capture_active(mesh_device: MeshDevice) -> bool:
    """Whether a capture is on."""
    return mesh_device in _captures


# --- events


class MeshEvent:
    """An event of a mesh: one of each of its chips."""

    def __init__(self, mesh_device: MeshDevice, events: Sequence[host.Event]) -> None:
        self.mesh_device, self.events = mesh_device, list(events)


def record_event(
    mesh_device: MeshDevice, cq_id: int | None = None, sub_device_ids: Iterable[SubDeviceId] = ()
) -> MeshEvent:
    """An event behind everything in a queue."""
    queue = mesh_device.queue(cq_id).id
    chips = mesh_device.chips
    return MeshEvent(mesh_device, [host.enqueue_record_event(chip.queue(queue)) for chip in chips])


def wait_for_event(cq_id: int | None, mesh_event: MeshEvent) -> None:
    """Let a queue wait for an event."""
    queue = mesh_event.mesh_device.queue(cq_id).id
    for chip, event in zip(mesh_event.mesh_device.chips, mesh_event.events, strict=True):
        host.enqueue_wait_for_event(chip.queue(queue), event)


def event_synchronize(mesh_event: MeshEvent) -> None:
    """Wait until an event has happened."""
    for event in mesh_event.events:
        host.event_synchronize(event)


# --- global semaphores


class GlobalSemaphore:
    """A semaphore of a mesh: one of each of its chips, at one address."""

    def __init__(self, parts: Sequence[buffers.GlobalSemaphore]) -> None:
        if len({part.address for part in parts}) > 1:
            raise ArgumentError(
                "create_global_semaphore: it would lie at different addresses of the chips of a mesh",
                hint="free what was allocated on a part of the mesh alone",
            )
        self._parts = list(parts)

    @property
    def address(self) -> int:
        """L1 address on all its cores."""
        return self._parts[0].address

    def reset_semaphore_value(self, value: int) -> None:
        """Write a value to all its cores."""
        for part in self._parts:
            part.reset_semaphore_value(value)


def create_global_semaphore(
    mesh_device: MeshDevice, cores: CoreRangeSet, initial_value: int, buffer_type: BufferType = BufferType.L1
) -> GlobalSemaphore:
    """A semaphore at one L1 address of cores of all chips, for several programs."""
    check_type("create_global_semaphore", "cores", cores, CoreRangeSet)
    value, kind = unsigned("create_global_semaphore", "initial_value", initial_value), HostBufferType(buffer_type.value)
    chips = mesh_device.chips
    return GlobalSemaphore([buffers.create_global_semaphore(chip.host, cores.host(), value, kind) for chip in chips])


def get_global_semaphore_address(global_semaphore: GlobalSemaphore) -> int:
    """L1 address of the semaphore's word."""
    return global_semaphore.address


def reset_global_semaphore_value(global_semaphore: GlobalSemaphore, reset_value: int) -> None:
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
    for chip in device.chips:
        measured = measurements_of(chip)
        new = measured.operations[measured.read :]
        measured.read = len(measured.operations)
        before = _read.get(chip._number, ([], []))[1]
        _read[chip._number] = new, before + new


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
    """A signpost of reports (`tensim.ttnn.signposts`), if the text is one; Tracy itself is not there."""
    put(source)


def tracy_frame() -> None:
    """Tracy is not there: nothing happens."""
