"""Metal traces: programs of a queue recorded once and replayed by one host call.

Errors and limits are those of the trace API of tt-metal (docs/hardware/host_api.md#trace-api and
docs/hardware/metal_trace.md#constraints): only enqueues of programs that ran on the device before can be captured;
arguments, addresses and circular buffers are those of the capture.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.trace_descriptor import TraceDescriptor
from tensim.traces.light_metal.kernels import KernelReader
from tensim.traces.light_metal.metal_traces import add_trace, read_descriptor
from tensim.traces.light_metal.verify import open_verified
from tensim.traces.light_metal.write import BinaryWriter, device_description

if TYPE_CHECKING:
    from tensim.device import CommandQueue, Device

_ids = itertools.count()


def begin_trace_capture(device: Device, cq_id: int) -> int:
    """Record the programs of a queue from here on instead of running them; returns the id of the trace.

    UsageError while the queue captures already.  Until `end_trace_capture` whatever else goes through the queue is a
    UsageError, and so is a program that the device has not run before.
    """
    trace = next(_ids)
    device._submit(c.BeginTraceCapture(device.id, cq_id, trace))
    return trace


def end_trace_capture(device: Device, cq_id: int, tid: int) -> None:
    """End a capture and write the trace into the device's trace region; the queue runs programs again.

    UsageError when the queue is not capturing `tid`; ProgramError (kind out_of_memory) when the region is too small: there
    is no trace then.
    """
    device._submit(c.EndTraceCapture(device.id, cq_id, tid))


def replay_trace(device: Device, cq_id: int, tid: int, blocking: bool = False) -> None:
    """Run a trace on a queue; `blocking`: wait for its end.

    UsageError for an unknown trace and for one of another sub-device manager.  Warns (TensimWarning) of buffers that lie
    in memory which the trace uses and that are not its own.
    """
    device._submit(c.ReplayTrace(device.id, cq_id, tid, bool(blocking)))


def enqueue_trace(queue: CommandQueue, tid: int, blocking: bool = False) -> None:
    """`replay_trace` on a queue given by its handle."""
    replay_trace(queue.device, queue.id, tid, blocking)


def release_trace(device: Device, tid: int) -> None:
    """Give the memory of a trace back.  UsageError for an unknown trace or while a replay is under way."""
    device._submit(c.ReleaseTrace(device.id, tid))


def new_trace_id() -> int:
    """A trace id that no trace of this process has."""
    return next(_ids)


def collect_trace(device: Device, tid: int) -> bytes:
    """A trace as bytes that another process can load: a Light Metal binary with that trace and no commands."""
    writer = BinaryWriter()
    writer.devices.append(device_description(device._state.opened_with, device.arch, device.arch.clock_mhz))
    add_trace(writer, tid, trace_descriptor(device, tid))
    return bytes(writer.finish(0, 0, "tensim"))


def _collected(data: bytes | bytearray | memoryview) -> TraceDescriptor:
    """The descriptor in the bytes of `collect_trace`."""
    binary = open_verified(bytes(data))
    root = binary.reader.root("trace_descriptors", "kernel_binaries")
    if binary.count:
        raise UsageError(
            "the binary holds commands, not one trace alone",
            hint="LightMetalReplay runs it; collect_trace makes the other kind",
        )
    entries = list(root.trace_descriptors or ())
    if len(entries) != 1 or entries[0].desc is None:
        raise UsageError(f"the binary holds {len(entries)} traces; collect_trace makes it hold one")
    return read_descriptor(entries[0].desc, KernelReader(root.kernel_binaries), {})


def load_trace(device: Device, cq_id: int, descriptor: bytes | bytearray | memoryview | TraceDescriptor) -> int:
    """Put a trace on a device; returns its new id.

    `descriptor`: the bytes of `collect_trace`, or a `tensim.sim.host.trace_descriptor.TraceDescriptor`.

    Errors as `end_trace_capture`, for cores or circular buffers that the device does not have, and for anything that is no
    trace: UsageError, of bytes BinaryError.
    """
    if isinstance(descriptor, bytes | bytearray | memoryview):
        descriptor = _collected(descriptor)
    elif not isinstance(descriptor, TraceDescriptor):
        raise UsageError(
            f"{type(descriptor).__name__} is not a trace",
            hint="the bytes of collect_trace; those of a file are read first",
        )
    trace = new_trace_id()
    device._submit(c.LoadTrace(device.id, cq_id, trace, descriptor))
    return trace


def trace_descriptor(device: Device, tid: int) -> TraceDescriptor:
    """`tensim.sim.host.trace_descriptor.TraceDescriptor` of a trace: plain data.  UsageError for an unknown trace."""
    return device._state.trace(tid).descriptor
