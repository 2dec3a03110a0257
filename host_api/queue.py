"""Commands for the queues of a device: transfers, programs, events, waiting."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from tensim.buffer import Buffer, BufferView, HostData, as_bytes, resolve
from tensim.device import CommandQueue, Device, current_system, submit
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.executor import new_id
from tensim.types import BufferRegion, SubDeviceId

if TYPE_CHECKING:
    from tensim.program import Program
    from tensim.sim.host.event_commands import RecordedEvent as EventState
    from tensim.sim.host.queue import Item

Destination: TypeAlias = bytearray | memoryview | np.ndarray  # where the bytes of a read are put


class PendingRead:
    """Result of a read that does not block: `bytes(read)` once a finish or an event has covered it."""

    def __init__(self, item: Item, size: int) -> None:
        self._item, self._size = item, size

    @property
    def ready(self) -> bool:
        """Whether the data has arrived."""
        if self._item.done.processed:
            current_system().executor.seen(self._item)
        return self._item.done.processed

    def __len__(self) -> int:
        return self._size

    def __bytes__(self) -> bytes:
        if not self.ready:
            raise UsageError("the data has not arrived", hint="call finish on the queue, or read with blocking=True")
        return self._item.result


class Event:
    """Marks a point of a queue; see enqueue_record_event."""

    def __init__(self) -> None:
        self.unique_id = new_id()

    @property
    def _state(self) -> EventState:
        return current_system().executor.event(self.unique_id)

    @property
    def device_id(self) -> int:
        return self._state.device

    @property
    def cq_id(self) -> int:
        return self._state.queue

    @property
    def event_id(self) -> int:
        """1, 2, ... in the order of recording on the queue."""
        return self._state.number


# --- transfers


def enqueue_write_buffer(
    queue: CommandQueue, buffer: Buffer | BufferView, data: HostData, blocking: bool = False
) -> None:
    """Write a whole buffer (or view).  `data` (bytes-like, array or words) is copied during the call."""
    _write(queue, *resolve(buffer), data, blocking)


def enqueue_write_sub_buffer(
    queue: CommandQueue, buffer: Buffer | BufferView, data: HostData, region: BufferRegion, blocking: bool = False
) -> None:
    """Write a region of whole pages."""
    _write(queue, *resolve(buffer, region), data, blocking)


def _write(queue: CommandQueue, buffer: Buffer, offset: int, size: int, data: HostData, blocking: bool) -> None:
    data = as_bytes(data)
    if len(data) != size:
        raise UsageError(f"{len(data)} B of host data for {size} B of a buffer")
    record = c.WriteBuffer(queue.device.id, queue.id, buffer.unique_id, data, offset, bool(blocking))
    queue.device._submit(record)


def enqueue_read_buffer(
    queue: CommandQueue, buffer: Buffer | BufferView, dst: Destination | None = None, blocking: bool = True
) -> bytes | PendingRead:
    """Read a whole buffer (or view): bytes, or a PendingRead when not blocking.

    `dst`: also put the bytes there once they have arrived: a bytearray, which is resized, or any writable
    contiguous memory of that many bytes (a numpy array).  UsageError for another `dst`.
    """
    return _read(queue, *resolve(buffer), dst, blocking)


def enqueue_read_sub_buffer(
    queue: CommandQueue,
    buffer: Buffer | BufferView,
    region: BufferRegion,
    dst: Destination | None = None,
    blocking: bool = True,
) -> bytes | PendingRead:
    """Read a region of whole pages; otherwise as enqueue_read_buffer."""
    return _read(queue, *resolve(buffer, region), dst, blocking)


def _read(
    queue: CommandQueue, buffer: Buffer, offset: int, size: int, dst: Destination | None, blocking: bool
) -> bytes | PendingRead:
    _check_destination(dst, size)
    record = c.ReadBuffer(queue.device.id, queue.id, buffer.unique_id, offset, size, bool(blocking))
    item = queue.device._submit(record)
    if dst is not None and blocking:
        _fill(dst, item.result)
    elif dst is not None:
        item.done.callbacks.append(lambda done: _fill(dst, done.value))
    return item.result if blocking else PendingRead(item, size)


def _check_destination(dst: Destination | None, size: int) -> None:
    if dst is None or isinstance(dst, bytearray):
        return
    try:
        view = _memory(dst)
    except (TypeError, ValueError):
        raise UsageError(f"cannot read into {type(dst).__name__}", hint="give a bytearray or a numpy array") from None
    if view.readonly or not view.c_contiguous or view.nbytes != size:
        raise UsageError(f"a read of {size} B needs writable contiguous memory of that size, not {view.nbytes} B")


def _memory(dst: Destination) -> memoryview:
    """The memory of a destination; numpy arrays may have types that memoryview does not know (bfloat16)."""
    if isinstance(dst, np.ndarray) and dst.flags.c_contiguous:
        dst = dst.reshape(-1).view(np.uint8)
    return memoryview(cast("bytearray", dst))  # arrays have the buffer protocol, too


def _fill(dst: Destination, data: bytes) -> None:
    if isinstance(dst, bytearray):
        dst[:] = data
    else:
        _memory(dst).cast("B")[:] = data


# --- programs


def enqueue_program(queue: CommandQueue, program: Program, blocking: bool = False) -> None:
    """Put a program into a queue, with a copy of its runtime arguments."""
    queue.device._submit(c.EnqueueProgram(queue.device.id, queue.id, program.id, bool(blocking)))


# --- waiting and events


def finish(queue: CommandQueue, sub_device_ids: Iterable[SubDeviceId] = ()) -> None:
    """Wait until everything in a queue has ended."""
    queue.device._submit(c.Finish(queue.device.id, queue.id, tuple(sub_device_ids)))


def synchronize(device: Device, cq_id: int | None = None, sub_device_ids: Iterable[int] = ()) -> None:
    """Wait for one queue, or all queues, of a device."""
    device._submit(c.Finish(device.id, cq_id, tuple(sub_device_ids)))


def enqueue_record_event(
    queue: CommandQueue, event: Event | None = None, sub_device_ids: Iterable[SubDeviceId] = ()
) -> Event:
    """Record an event behind everything in a queue; returns it (a new one when none is given)."""
    event = Event() if event is None else event
    queue.device._submit(c.RecordEvent(queue.device.id, queue.id, event.unique_id, tuple(sub_device_ids)))
    return event


def enqueue_wait_for_event(queue: CommandQueue, event: Event) -> None:
    """Let a queue wait for an event of any queue; the host goes on."""
    queue.device._submit(c.WaitForEvent(queue.device.id, queue.id, event.unique_id))


def event_synchronize(event: Event) -> None:
    """Wait until an event has happened."""
    submit(c.SynchronizeEvent(event.unique_id))


def event_query(event: Event) -> bool:
    """Whether an event has happened by now on the host's clock."""
    return submit(c.QueryEvent(event.unique_id))
