"""Queues of a device: in order within, unordered among each other except through events.

Source: docs/hardware/runtime.md#events-queues-affinity.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from tensim.runtime.arguments import of_system
from tensim.runtime.errors import RaceDetected
from tensim.runtime.sync import Event, covers, events_of, merge, settle
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.executor import new_id

if TYPE_CHECKING:
    from tensim.runtime.devices import Device, SimAccelerator
    from tensim.runtime.storage import Storage
    from tensim.runtime.sync import Clock, Waitable
    from tensim.runtime.tensors import Tensor
    from tensim.sim.host.queue import Item

Around: TypeAlias = tuple[Callable[[], object], Callable[[], object]]  # called when a command begins, when it ends


class HostCall:
    """What the callback of `Queue.host_call` gets."""

    def __init__(self, queue: Queue) -> None:
        self.queue, self.device = queue, queue.device


class Queue:
    """One in-order queue.  `depth`: commands that may be outstanding before the host blocks (None: any number)."""

    def __init__(self, device: Device, index: int) -> None:
        self.device, self.id = device, index
        self.depth: int | None = None
        self.system = device.system
        self.key = (device.number, index)
        self.clock: Clock = {}  # what is ordered before the next command
        self._awaited: list[Event] = []  # events that the next command needs
        self._issued: deque[Event] = deque()

    def __repr__(self) -> str:
        return f"Queue({self.id} of {self.device.name})"

    @property
    def outstanding(self) -> int:
        """Commands issued here that have not ended at the host's time."""
        self.system.executor.catch_up()
        while self._issued and self._issued[0].done:
            self._issued.popleft()
        return len(self._issued)

    # --- issuing

    def issue(
        self,
        kind: str,
        label: str,
        emit: Callable[[], Item | None],
        *,
        wait: Waitable = (),
        reads: Sequence[Storage] = (),
        writes: Sequence[Storage] = (),
        nbytes: int = 0,
        around: Around | None = None,
    ) -> Event:
        """Issue a command behind `wait` and the tensors' earlier uses; returns its Event.

        `emit()` submits the records and returns the queue item; `reads`, `writes`: storages with `uses`; `around`: functions
        that are called, at no cost, when the command begins and ends.
        """
        system = self.system
        system.timeline_host.check_not_in_callback()
        if system.capturing is not None and system.capturing.queue is self:
            emit()  # into the trace; the executor refuses what a trace cannot hold
            return system.origin
        self._make_room()
        explicit = events_of(wait)
        of_system(system, explicit, f"'{label}'")
        needs = [*self._awaited, *explicit, *(s.uses.last_write for s in reads if s.uses.last_write is not None)]
        self._awaited = []
        for event in explicit:
            self._stall(event)
        self._order(label, reads, writes)
        system.hooks.call("pre_command", kind, label)
        submitted, item = system.host.now_fs, emit()
        if item is not None and around is not None:
            item.before, item.after = around
        event = self._record(label, submitted, item)
        (event._state if item is None else item).needs = tuple(need._state for need in needs)
        for storage in reads:
            storage.uses.read(event)
        for storage in writes:
            storage.uses.written(event)
        system.spans.add(kind, self, event, nbytes, explicit)
        system.hooks.call("post_command", kind, label, event)
        return event

    def _make_room(self) -> None:
        if self.depth is not None and self.outstanding >= self.depth:
            settle(self._issued[0])

    def _record(self, label: str, submitted: int, item: Item | None) -> Event:
        number = new_id()
        state = self.system.executor.submit(c.RecordEvent(self.device.number, self.id, number))
        self.clock[self.key] = self.clock.get(self.key, 0) + 1
        event = Event(self.system, state, number, label, dict(self.clock), submitted, item)
        self._issued.append(event)
        return event

    def ordered(self, event: Event) -> bool:
        """Whether an event comes before the next command here by queue order and earlier waits."""
        return bool(event.clock) and covers(self.clock, event.clock)

    def wait_for(self, event: Event) -> None:
        """The queue stalls until `event`; the host goes on.  The next command needs the event: it fails if that failed."""
        of_system(self.system, [event], f"queue {self.id}")
        self._awaited.append(event)
        self._stall(event)

    def _stall(self, event: Event) -> None:
        """What is issued next comes behind an event."""
        if event is not self.system.origin and not self.ordered(event):
            self.system.executor.submit(c.WaitForEvent(self.device.number, self.id, event.id))
            self.clock = merge(self.clock, event.clock)

    def _order(self, label: str, reads: Sequence[Storage], writes: Sequence[Storage]) -> None:
        """What earlier uses of the storages ask for: `auto` waits for them, `check` finds them ordered or raises."""
        mode = self.system.hazards
        if mode == "manual":
            return
        for storage, before in _conflicts(reads, writes):
            if mode == "auto":
                self._stall(before)
            elif not self.ordered(before) and not self.system.timeline_host.has_seen(before):
                raise RaceDetected(
                    f"'{label}' on queue {self.id} of {self.device.name} and '{before.label}' use {storage.what} and nothing "
                    "orders them",
                    where={
                        "commands": [before.label, label],
                        "tensor": storage.what,
                        "missing": f"{before.label} -> {label}",
                    },
                    hint=f"give wait=[event of '{before.label}'], or hazards='auto'",
                )

    # --- commands without tensors

    def record(self) -> Event:
        """The event of everything issued here so far."""
        return self.issue("record_event", "record", lambda: None)

    def barrier(self) -> Event:
        """An event behind everything here; what follows comes after it anyway, as the queue is in order."""
        return self.issue("barrier", "barrier", lambda: None)

    def host_call(
        self,
        function: Callable[[HostCall], object],
        *,
        wait: Waitable = (),
        label: str = "host call",
        reads: Iterable[Tensor] = (),
        writes: Iterable[Tensor] = (),
    ) -> Event:
        """Call `function(HostCall)` on the host in queue order.  It must not use queues; what it raises fails the event."""
        read, written = [t.storage for t in reads], [t.storage for t in writes]

        def call() -> None:
            self.system.timeline_host.in_callback = True
            try:
                function(HostCall(self))
            finally:
                self.system.timeline_host.in_callback = False

        emit = self.emit_function(label, call, 0, exclusive=False)
        return self.issue("host_func", label, emit, wait=wait, reads=read, writes=written)

    def emit_function(
        self,
        name: str,
        function: Callable[[], object],
        duration_fs: int,
        buffers: tuple[int, ...] = (),
        parameters: str = "null",
        exclusive: bool = True,
    ) -> Callable[[], Item]:
        """What submits an EnqueueFunction of this queue."""
        record = c.EnqueueFunction(
            self.device.number, self.id, name, function, duration_fs, buffers, exclusive, parameters
        )
        return lambda: self.system.executor.submit(record)

    def fill(self, tensor: Tensor, value: int, *, wait: Waitable = (), label: str | None = None) -> Event:
        """Fill a tensor's bytes with a byte value."""
        if not 0 <= value <= 255:
            raise UsageError(f"fill value {value} is not a byte", hint="0 to 255; every byte of the tensor gets it")
        return cast("SimAccelerator", self.device).fill(
            self, tensor, value, wait=wait, label=label or f"fill {tensor.name}"
        )

    def copy(self, target: Tensor, source: Tensor, *, wait: Waitable = (), label: str | None = None) -> Event:
        """Copy a tensor into another of the same layout on this device."""
        return cast("SimAccelerator", self.device).copy(
            self, target, source, wait=wait, label=label or f"copy {source.name}"
        )


class Uses:
    """Who wrote a storage last, and who has read it since."""

    def __init__(self) -> None:
        self.last_write: Event | None = None
        self.reads: list[Event] = []

    def read(self, event: Event) -> None:
        """A command reads it.  An earlier read that comes before this one by order is covered by it."""
        kept = [e for e in self.reads if not covers(event.clock, e.clock)]
        self.reads = [*kept, event]

    def written(self, event: Event) -> None:
        """A command writes it."""
        self.last_write, self.reads = event, []

    def forget(self) -> None:
        """The host, behind everything, wrote it."""
        self.last_write, self.reads = None, []


def _conflicts(reads: Sequence[Storage], writes: Sequence[Storage]) -> Iterator[tuple[Storage, Event]]:
    """(storage, earlier event) of each read-after-write, write-after-write and write-after-read."""
    for storage in reads:
        if storage.uses.last_write is not None:
            yield storage, storage.uses.last_write
    for storage in writes:
        if storage.uses.last_write is not None:
            yield storage, storage.uses.last_write
        for event in storage.uses.reads:
            yield storage, event
