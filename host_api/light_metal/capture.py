"""Capture: the command records of a workload, observed at the executor and written to a Light Metal binary."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tensim.device import current_system, submit
from tensim.light_metal.binary import WRITER, LightMetalBinary
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tensim.traces.light_metal.metal_traces import add_trace
from tensim.traces.light_metal.write import BinaryWriter, device_description

if TYPE_CHECKING:
    from tensim.buffer import Buffer
    from tensim.device import CommandQueue

SWITCH = "TENSIM_LIGHT_METAL"


class Capture:
    """Observes the records of a system and writes those that belong to the captured workload."""

    def __init__(self, system, compress):
        self.writer, self.system = BinaryWriter(compress), system
        self.host_start = self.before = system.host.now_fs  # before: host time after the last record
        self.recording = set()  # (device, queue) that record a metal trace
        for device in system.executor.devices.values():
            record = device.opened_with
            self.writer.devices.append(device_description(record, device.arch, device.arch.clock_mhz))
        system.executor.observers.append(self._observe)

    def _observe(self, record, result):
        """One record of the workload.

        While a queue records a metal trace, its programs go into the trace only
        (docs/hardware/light_metal.md#which-calls-are-recorded); the trace is put into the file whole, and loaded where its
        capture ended.
        """
        host, queue = self.system.host, (getattr(record, "device", None), getattr(record, "queue", None))
        if isinstance(record, c.BeginTraceCapture):
            self.recording.add(queue)
        elif isinstance(record, c.EndTraceCapture):
            self.recording.discard(queue)
            ready = self.before + host.cost("end_trace_capture") - host.cost("call")
            add_trace(self.writer, record.trace, result)
            self.writer.add(c.LoadTrace(record.device, record.queue, record.trace, result), ready)
        elif not (isinstance(record, c.EnqueueProgram) and queue in self.recording):
            if isinstance(record, c.LoadTrace):
                add_trace(self.writer, record.trace, record.descriptor)
            self.writer.add(record, result)
        self.before = host.now_fs

    def stop(self):
        """Observe no more; the captured cycles are those of the devices that are open now."""
        self.cycles = sum(program_cycles(device.chip) for device in self.system.executor.devices.values())
        self.system.executor.observers.remove(self._observe)

    def finish(self):
        """The bytes of the file."""
        return self.writer.finish(self.host_start, self.cycles, WRITER)


_capture = None


def light_metal_begin_capture(compress: bool = False) -> None:
    """Record every call from now on.  Open the devices first.  UsageError while another capture is going on.

    `compress`: pack the data that is written.  With the environment variable TENSIM_LIGHT_METAL=0 nothing is recorded:
    begin and end only warn, and the binary is empty.
    """
    global _capture
    if os.environ.get(SWITCH) == "0":
        warnings.warn(f"Light Metal capture is switched off by {SWITCH}=0", stacklevel=2)
        return
    if _capture is not None:
        raise UsageError("a Light Metal capture is already in progress", hint="light_metal_end_capture ends it")
    _capture = Capture(current_system(), compress)


def light_metal_end_capture() -> LightMetalBinary:
    """Stop recording; returns the `LightMetalBinary`.  UsageError when no capture is going on."""
    global _capture
    if _capture is None and os.environ.get(SWITCH) == "0":
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
    item = submit(c.CompareBuffer(queue.device.id, queue.id, buffer.unique_id, None, name))
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

    With `data_format` and a tolerance the values may differ by atol + rtol * |golden|.  Nothing is read now.
    """
    golden = bytes(np.ascontiguousarray(golden).view(np.uint8)) if isinstance(golden, np.ndarray) else bytes(golden)
    if len(golden) != buffer.size:
        raise UsageError(f"golden data of {len(golden)} B for a buffer of {buffer.size} B")
    code = int(DataFormat.Invalid if data_format is None else data_format)
    record = c.CompareBuffer(queue.device.id, queue.id, buffer.unique_id, golden, name, float(rtol), float(atol), code)
    if _capture is not None:
        _capture.writer.add(record, None)
