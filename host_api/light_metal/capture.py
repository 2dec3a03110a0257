"""Capture: the command records of a workload, observed at the executor and written to a Light Metal binary."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tensim.device import current_system
from tensim.light_metal.binary import SWITCH, WRITER, LightMetalBinary, switched_off
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tensim.traces.light_metal.metal_traces import add_trace
from tensim.traces.light_metal.write import BinaryWriter, device_description

if TYPE_CHECKING:
    from tensim.buffer import Buffer
    from tensim.device import CommandQueue
    from tensim.sim.host.device import Device as DeviceState
    from tensim.sim.host.executor import Executor, Simulation


class Capture:
    """Writes the records of a system that belong to the captured workload.

    `system`: a `Simulation`; `begun_fs`: host time up to which the file accounts for it.
    """

    def __init__(self, system: Simulation, compress: bool) -> None:
        self.writer, self.system = BinaryWriter(compress), system
        self.host_start = self.accounted_fs = system.host.now_fs
        self.older = {}  # device id -> {memory: what was allocated there before}
        self.before: dict[int, int] = {}  # device id -> program cycles when it joined
        self.closed: list[tuple[object, int]] = []  # of devices that were closed: fabric or None, program cycles
        for number, device in system.executor.devices.items():
            self.writer.devices.append(device_description(device.opened_with, device.arch, device.arch.clock_mhz))
            self.before[number], self.older[number] = program_cycles(device.chip), _allocated(system.executor, device)
        for fabric in dict.fromkeys(device.fabric for device in system.executor.devices.values()):
            if fabric is not None:
                self.writer.add(fabric.started_with, None)
        system.executor.captures.append(self)

    def check(self, record: c.Command) -> None:
        """UsageError for a call that the file could not repeat: it uses what was made before the capture began."""
        self.writer.check(record)
        if isinstance(record, c.EndTraceCapture | c.ReplayTrace) and not self.writer.knows("trace", record.trace):
            raise UsageError(
                f"trace {record.trace} was captured before the Light Metal capture began, so the binary would not contain it",
                hint="begin the Light Metal capture right after opening the device",
            )
        if isinstance(record, c.CreateBuffer | c.CreateGlobalSemaphore):
            self._check_placement(record)
        if isinstance(record, c.CloseDevice) and record.device in self.before:
            self.closed.append(self._cycles_of(record.device))

    def _check_placement(self, record: c.CreateBuffer | c.CreateGlobalSemaphore) -> None:
        """Where this lies depends on what lies there already, which the file does not know."""
        executor = self.system.executor
        if getattr(record, "address", None) is not None or record.device not in executor.devices:
            return
        older = self.older.get(record.device, {}).get(record.buffer_type, {})
        held = [text for key, text in older.items() if _is_allocated(executor, *key)]
        if held:
            raise UsageError(
                f"device {record.device} still holds {held[0]}, allocated before the capture began: the binary could not "
                "tell where this allocation lies",
                hint="begin the capture right after opening the device, or free what is older",
            )

    def add(self, record: c.Command, result: object, called_fs: int) -> None:
        """One record of the workload; `called_fs`: host time of the call.

        While a queue records a metal trace, its programs go into the trace only
        (docs/hardware/light_metal.md#which-calls-are-recorded); the trace is put into the file whole, and loaded where its
        capture ended.
        """
        host = self.system.host
        if isinstance(record, c.CreateDevice):
            self.before[record.device] = 0
        if isinstance(record, c.ReleaseTrace) and not self.writer.knows("trace", record.trace):
            return
        if isinstance(record, c.BeginTraceCapture) or isinstance(record, c.EnqueueProgram) and self._is_traced(record):
            if isinstance(record, c.BeginTraceCapture):
                self.writer.note("trace", record.trace)
            return
        ready = None
        if isinstance(record, c.EndTraceCapture):
            ready = called_fs + host.cost("end_trace_capture") - host.cost("call")
            record = c.LoadTrace(record.device, record.queue, record.trace, result)
        elif called_fs > self.accounted_fs:  # calls that failed took their time, too
            self.writer.add(c.HostWork(called_fs - self.accounted_fs), None)
        if isinstance(record, c.LoadTrace):
            self.writer.note("trace", record.trace)
            add_trace(self.writer, record.trace, record.descriptor)
        self.writer.add(record, result if ready is None else ready)
        self.accounted_fs = host.now_fs

    def _is_traced(self, record: c.EnqueueProgram) -> bool:
        """Whether the queue of an enqueue records a metal trace."""
        return self.system.executor.devices[record.device].queues[record.queue].capture is not None

    def _cycles_of(self, number: int) -> tuple[object, int]:
        device = self.system.executor.devices[number]
        return device.fabric, program_cycles(device.chip) - self.before.pop(number, 0)

    def stop(self) -> None:
        """Record no more."""
        self.closed += map(self._cycles_of, list(self.system.executor.devices))
        self.system.executor.captures.remove(self)

    def finish(self) -> bytes:
        """The bytes of the file.  Its cycles are those of programs that ran since the capture began; chips of a mesh work at the
        same time, so the one that worked longest counts.
        """
        longest: dict[object, int] = {}
        for fabric, cycles in self.closed:
            longest[fabric] = max(longest.get(fabric, 0), cycles) if fabric else longest.get(None, 0) + cycles
        return self.writer.finish(self.host_start, sum(longest.values()), WRITER)


def _allocated(executor: Executor, device: DeviceState) -> dict[int, dict[tuple[str, int], str]]:
    """{memory: {(kind, id): text}} of what a device holds: buffers and global semaphores."""
    held = {}
    for buffer in device.buffers.values():
        if buffer.owned:
            text = f"buffer {buffer.id} of {buffer.size} B at {buffer.address:#x}"
            held.setdefault(buffer.buffer_type, {})["buffer", buffer.id] = text
    for number, semaphore in executor.global_semaphores.items():
        if semaphore.device is device:
            text = f"global semaphore {number} at {semaphore.address:#x}"
            held.setdefault(semaphore.buffer_type, {})["semaphore", number] = text
    return held


def _is_allocated(executor: Executor, kind: str, number: int) -> bool:
    """Whether a buffer or global semaphore still takes memory."""
    if kind == "semaphore":
        return number in executor.global_semaphores
    return number in executor.buffers and executor.buffers[number].allocated


_capture = None


def light_metal_begin_capture(compress: bool = False) -> None:
    """Record every call from now on.  Open the devices first: a call that uses what was made before, or allocates where older
    buffers lie, is a UsageError.  UsageError, too, while another capture is going on.

    `compress`: pack the data that is written.  With the environment variable TENSIM_LIGHT_METAL=0 nothing is recorded:
    begin and end only warn, and the binary is empty.
    """
    global _capture
    if switched_off():
        warnings.warn(f"Light Metal capture is switched off by {SWITCH}=0", stacklevel=2)
        return
    if _capture is not None:
        raise UsageError("a Light Metal capture is already in progress", hint="light_metal_end_capture ends it")
    _capture = Capture(current_system(), compress)


def light_metal_end_capture() -> LightMetalBinary:
    """Stop recording; returns the `LightMetalBinary`.  UsageError when no capture is going on."""
    global _capture
    if _capture is None and switched_off():
        return LightMetalBinary()
    if _capture is None:
        raise UsageError("no Light Metal capture is in progress")
    capture, _capture = _capture, None
    capture.stop()
    return LightMetalBinary(capture.finish())


@contextlib.contextmanager
def light_metal_capture(compress: bool = False) -> Iterator[Captured]:
    """Capture what happens in a `with` block: `with light_metal_capture() as captured: ...; captured.binary`."""
    light_metal_begin_capture(compress)
    captured = Captured()
    try:
        yield captured
    except BaseException:
        light_metal_end_capture()
        raise
    captured.binary = light_metal_end_capture()


class Captured:
    """What `light_metal_capture` gives: `binary` after the block."""

    binary: LightMetalBinary | None = None


def light_metal_name_buffer(buffer: Buffer, name: str) -> None:
    """Give a buffer of the capture a name, for `--bind` and `--save` at a replay.  UsageError for a name in use."""
    if _capture is None and switched_off():
        return
    if _capture is None:
        raise UsageError("no Light Metal capture is in progress")
    writer = _capture.writer
    if name in writer.names or not name or name.isdigit():
        raise UsageError(f"{name!r} cannot be a buffer's name: it is in use, empty or a number")
    writer.names[name] = writer.id("buffer", buffer.unique_id)


def light_metal_compare_to_capture(
    queue: CommandQueue, buffer: Buffer, dst: bytearray | None = None, *, name: str = ""
) -> bytes:
    """Read a buffer now, blocking, and let every replay compare what it reads with that.  Returns the bytes.

    `dst`: a bytearray that gets the bytes, too.
    """
    item = queue.device._submit(c.CompareBuffer(queue.device.id, queue.id, buffer.unique_id, None, name))
    if dst is not None:
        dst[:] = item.result
    return item.result


def light_metal_compare_to_golden(
    queue: CommandQueue,
    buffer: Buffer,
    golden: bytes | bytearray | memoryview | np.ndarray,
    *,
    name: str = "",
    rtol: float = 0.0,
    atol: float = 0.0,
    data_format: DataFormat | None = None,
) -> None:
    """Let every replay compare a buffer with `golden` (bytes-like of the buffer's size).

    With `data_format` and a tolerance the values may differ by atol + rtol * |golden|.  Nothing is read now.  UsageError for
    data of another size, a tolerance that is negative, not finite or without a format, and data that are not whole tiles.
    """
    golden = bytes(np.ascontiguousarray(golden).view(np.uint8)) if isinstance(golden, np.ndarray) else bytes(golden)
    if len(golden) != buffer.size:
        raise UsageError(f"golden data of {len(golden)} B for a buffer of {buffer.size} B")
    _check_tolerance(rtol, atol, data_format)
    if data_format is not None and len(golden) % tile_size(data_format):
        raise UsageError(
            f"golden data of {len(golden)} B are not whole tiles of {data_format.name} ({tile_size(data_format)} B)",
            hint="without data_format words are compared, bit by bit",
        )
    code = int(DataFormat.Invalid if data_format is None else data_format)
    record = c.CompareBuffer(queue.device.id, queue.id, buffer.unique_id, golden, name, float(rtol), float(atol), code)
    if _capture is not None:
        _capture.check(record)
        _capture.writer.add(record, None)


def _check_tolerance(rtol: float, atol: float, data_format: DataFormat | None) -> None:
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not (math.isfinite(value) and value >= 0):
            raise UsageError(f"{name} is {value}", hint="a tolerance is a finite number from 0 on")
    if data_format is None and (rtol or atol):
        raise UsageError("a tolerance needs a data_format: without one words are compared, bit by bit")
