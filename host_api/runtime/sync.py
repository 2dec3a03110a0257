"""Events and timelines: what commands signal, and what commands and the host wait for
(docs/hardware/runtime.md#events-queues-affinity).

An `Event` stands for a tt-metal event that a queue records behind a command, or that the host signals.  Every queue
counts its commands; an event carries a vector clock of those counts, so whether one command is ordered before another is
a comparison of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, cast

from tensim.runtime.arguments import of_system
from tensim.runtime.errors import CommandFailed, Deadlock, WaitTimeout
from tensim.sim.errors import CommandFault, DeadlockError, EndlessWaitError, TensimError, UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.executor import new_id
from tensim.sim.loop.environment import FS_PER_NS

if TYPE_CHECKING:
    from tensim.runtime.system import System
    from tensim.sim.host.commands import WaitEvents
    from tensim.sim.host.event_commands import RecordedEvent
    from tensim.sim.host.queue import Item


QueueKey: TypeAlias = tuple[int, int]  # number of a device, number of its queue
Clock: TypeAlias = dict[QueueKey, int]  # number of each queue's last command
Waitable: TypeAlias = "Event | HasEvent | Iterable[Waitable] | None"


class HasEvent(Protocol):
    """A tensor or a submission."""

    @property
    def event(self) -> Waitable:
        """What happens when it is ready."""


class Event:
    """Something that happens once.  `clock`: {queue key: number of its last command ordered before}.

    `t_submit`, `t_start`, `t_end`: simulated ns, None as long as unknown; `label`: of the command.
    """

    __slots__ = ("system", "id", "label", "clock", "_submitted", "_item", "_state", "_chain", "__weakref__")

    def __init__(
        self,
        system: System,
        state: RecordedEvent,
        number: int,
        label: str = "",
        clock: Clock | None = None,
        submitted: int | None = None,
        item: Item | None = None,
    ) -> None:
        self.system, self.id, self.label, self.clock = system, number, label, clock or {}
        self._state, self._submitted, self._item = state, submitted, item
        self._chain: list[str] | None = None
        state.done.callbacks.append(self._happened)

    def _happened(self, _: object) -> None:
        error = self._state.error
        if error is not None:
            chain = error.where.setdefault("chain", [])
            chain.append(self.label)
            self._chain = list(chain)

    def __repr__(self) -> str:
        return f"Event({self.label or self.id}, {'done' if self.done else 'pending'})"

    @property
    def done(self) -> bool:
        """Whether it has happened in what is simulated so far."""
        return self._state.done.processed

    @property
    def error(self) -> CommandFailed | None:
        """CommandFailed, with the root cause and the chain of dependents, when it failed; else None."""
        error = self._state.error
        if error is None:
            return None
        chain = self._chain or [self.label]
        return CommandFailed(
            f"{self.label or 'a command'} failed: {error.message}",
            where={**error.where, "root": error.message, "chain": chain},
            hint=f"first to fail: {chain[0]}",
        )

    @property
    def t_submit(self) -> float | None:
        """When the host issued it."""
        return None if self._submitted is None else self._submitted / FS_PER_NS

    @property
    def t_start(self) -> float | None:
        """When the command began to use the device; its end for what takes no time there."""
        return None if self.span_fs is None else self.span_fs[0] / FS_PER_NS

    @property
    def t_end(self) -> float | None:
        """When the command was over; its event happens once that is recorded behind it."""
        return None if self.span_fs is None else self.span_fs[1] / FS_PER_NS

    @property
    def span_fs(self) -> tuple[int, int] | None:
        """(begin, end) in femtoseconds, None before it happened."""
        return span_fs(self._item, self._state)

    def query(self) -> bool:
        """Whether it has happened by now on the host's clock; a poll costs host time."""
        if self is self.system.origin:
            return True
        return self.system.executor.submit(c.QueryEvent(self.id))

    @staticmethod
    def all_of(*events: Event) -> Event:
        """The event that happens when all of them have."""
        return _combined(events, "all")

    @staticmethod
    def any_of(*events: Event) -> Event:
        """The event that happens when the first of them does."""
        return _combined(events, "any")


def span_fs(item: Item | None, state: RecordedEvent) -> tuple[int, int] | None:
    """(begin, end) of a command by its queue item and the recorded event behind it, or None as long as that has not
    happened.  Without an item, and for one that did not run, both are the time of the event.
    """
    if state.time is None:
        return None
    return (state.time, state.time) if item is None or item.ended is None else (cast(int, item.begun), item.ended)


def _combined(events: Sequence[Event], mode: Literal["all", "any"]) -> Event:
    if not events:
        raise UsageError("an event that combines no events would never complete", hint="give at least one event")
    if len(events) == 1:
        return events[0]
    system = events[0].system
    of_system(system, events, f"the {mode} of several events")
    pending = [event for event in events if event is not system.origin]
    if not pending or (mode == "any" and len(pending) < len(events)):
        return system.origin
    events = pending
    state, number = host_event(system, tuple(event.id for event in events), mode == "any")
    clock = merge(*(event.clock for event in events)) if mode == "all" else {}
    return Event(system, state, number, f"{mode} of {', '.join(event.label for event in events)}", clock)


def host_event(system: System, of: tuple[int, ...] = (), any: bool = False) -> tuple[RecordedEvent, int]:
    """(state, id) of a fresh event that no queue records; `of`, `any`: the events that it follows."""
    number = new_id()
    return system.executor.submit(c.CreateEvent(number, of, any)), number


def covers(clock: Clock, other: Clock) -> bool:
    """Whether everything that a clock `other` counts comes before `clock`."""
    for key, count in other.items():
        if clock.get(key, 0) < count:
            return False
    return True


def merge(*clocks: Clock) -> Clock:
    """The clock behind all of these."""
    result = {}
    for clock in clocks:
        for key, count in clock.items():
            if result.get(key, 0) < count:
                result[key] = count
    return result


class Timeline:
    """A counter that only grows; `at(n)` is the event of its reaching n, which may be waited for before."""

    def __init__(self, system: System, label: str = "timeline") -> None:
        self.system, self.label, self.value = system, label, 0
        self.failure: object = None
        self._waiting = {}  # value -> Event

    def at(self, value: int) -> Event:
        """The event of the counter's reaching `value`."""
        if value not in self._waiting:
            state, number = host_event(self.system)
            self._waiting[value] = Event(self.system, state, number, f"{self.label} at {value}")
            self._settle()
        return self._waiting[value]

    def signal(self, value: int) -> None:
        """The host lets the counter reach `value`; a lower value than it has changes nothing."""
        self.value = max(self.value, value)
        self._settle()

    def fail(self, error: object) -> None:
        """Every value that was not reached fails with `error`, for good; the first error counts."""
        self.failure = self.failure or error
        self._settle()

    def _settle(self) -> None:
        for value, event in self._waiting.items():
            if event._state.done.triggered or event.id in self.system.signalled:
                continue
            if value <= self.value or self.failure is not None:
                self.system.signalled.add(event.id)
                why = "" if value <= self.value else str(self.failure)
                self.system.executor.submit(c.SignalEvent(event.id, why))


def events_of(x: Waitable) -> list[Event]:
    """The events of an event, tensor, submission, None, or any nesting of those."""
    if x is None:
        return []
    if isinstance(x, Event):
        return [x]
    if hasattr(x, "event"):
        return events_of(x.event)
    try:
        if isinstance(x, str | bytes):
            raise TypeError
        parts = iter(x)
    except TypeError:
        raise UsageError(
            f"cannot wait for {type(x).__name__}", hint="give an event, a tensor or a submission"
        ) from None
    return [event for part in parts for event in events_of(part)]


def wait(x: Waitable, *, mode: Literal["all", "any"] = "all", timeout_ns: float | None = None) -> None:
    """The host waits for events, tensors or submissions: for all of them, or (`mode="any"`) for the first.

    Raises WaitTimeout (at host time + `timeout_ns`), Deadlock when it can never happen, CommandFailed when it failed.
    """
    if mode not in ("all", "any"):
        raise UsageError(f"mode is {mode!r}", hint="'all' or 'any'")
    for event in _over(x, mode, timeout_ns):
        if event.error is not None:
            raise event.error


def settle(x: Waitable) -> None:
    """The host waits until all of it is over, failed or not: what comes next only has to come later."""
    _over(x, "all", None)


def _over(x: Waitable, mode: Literal["all", "any"], timeout_ns: float | None) -> list[Event]:
    """Wait; the events that are over."""
    events = [event for event in events_of(x) if event is not event.system.origin]
    if not events:
        return []
    system = events[0].system
    of_system(system, events, "wait")
    timeout = None if timeout_ns is None else round(timeout_ns * FS_PER_NS)
    deadline = None if timeout is None else system.host.now_fs + timeout
    record = c.WaitEvents(tuple(dict.fromkeys(event.id for event in events)), mode == "any", timeout)
    happened = _happen(system, record, events)
    if not happened:
        raise _timed_out(events, cast(int, deadline))
    over = [event for event in events if event.done]
    for event in over:
        system.timeline_host.saw(event)
    return over


def _happen(system: System, record: WaitEvents, events: Sequence[Event]) -> bool:
    """Carry the wait out.  A device that fails ends only the waits for what failed with it."""
    while True:
        try:
            return system.executor.submit(record)
        except EndlessWaitError as error:
            raise Deadlock(
                f"{error.message}; waiting for {', '.join(e.label for e in events)}",
                hint="signal the timeline that is waited for, or wait for something that commands end",
            ) from None
        except DeadlockError:
            raise
        except TensimError as error:
            if all(event.done for event in events) and not isinstance(error, CommandFault):
                return True
            if any(device.failed is error for device in system.executor.devices.values()):
                continue
            raise


def _timed_out(events: Sequence[Event], deadline: int) -> WaitTimeout:
    pending = [event.label or str(event.id) for event in events if not event.done]
    now_ns = deadline / FS_PER_NS
    return WaitTimeout(
        f"after the wait, at {now_ns:.0f} ns, still pending: {', '.join(pending)}",
        where={"pending": pending, "now_ns": now_ns},
        hint="wait longer: nothing is lost, the commands are still running",
    )
