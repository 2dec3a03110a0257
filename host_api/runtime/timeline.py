"""The timeline of a system: one span per command, for tables and for Perfetto."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

from tensim.sim.loop.environment import FS_PER_NS
from tensim.sim.output_files import write_output

if TYPE_CHECKING:
    from tensim.runtime.queues import Queue
    from tensim.runtime.sync import Event

HOST_CONVERT = "host_convert"  # kind of a step that the host does behind a download


@dataclass(slots=True)
class Span:
    """A command: where it ran, from when to when.  Times come from the event, for work of the host from `begun`, `ended`."""

    kind: str
    device: str
    queue: int | None
    label: str
    nbytes: int
    deps: tuple[str, ...]
    begun: int | None
    ended: int | None
    event: Event | None
    scope: str = ""

    @property
    def on_host(self) -> bool:
        """Whether the host was busy with it: on its own timeline, or behind a download."""
        return self.event is None or self.kind == HOST_CONVERT

    @property
    def start(self) -> float | None:
        """Simulated ns, None before it began."""
        return self.event.t_start if self.event is not None else cast(int, self.begun) / FS_PER_NS

    @property
    def end(self) -> float | None:
        """Simulated ns, None before it ended."""
        return self.event.t_end if self.event is not None else cast(int, self.ended) / FS_PER_NS

    def key(self) -> tuple[object, ...]:
        """What makes two spans the same."""
        return self.kind, self.device, self.queue, self.label, self.nbytes, self.start, self.end

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        names = ("kind", "device", "queue", "label", "nbytes", "start", "end", "scope")
        return {name: getattr(self, name) for name in names} | {"deps": list(self.deps)}


class Spans(list[Span]):
    """Spans in the order of issue."""

    def to_chrome_trace(self, path: str | PathLike[str]) -> None:
        """Write trace events that Perfetto opens: a process per device, a thread per queue, times in us."""
        devices = list(dict.fromkeys(span.device for span in self))
        events = [
            {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": device}}
            for pid, device in enumerate(devices)
        ]
        for span in self:
            start, end = span.start, span.end
            if start is None or end is None:
                continue
            events.append(
                {
                    "name": span.label,
                    "cat": span.kind,
                    "ph": "X",
                    "pid": devices.index(span.device),
                    "tid": span.queue or 0,
                    "ts": start / 1000,
                    "dur": (end - start) / 1000,
                    "args": {"bytes": span.nbytes, "after": list(span.deps)},
                }
            )
        write_output(path, json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}))


class SpanLog(Spans):
    """The spans of a system as its commands are issued."""

    def __init__(self) -> None:
        super().__init__()
        self._scopes = []

    def add(self, kind: str, queue: Queue, event: Event, nbytes: int, deps: Iterable[Event]) -> None:
        """Remember a command of a queue; `deps`: the events that it waited for."""
        labels = tuple(dep.label for dep in deps)
        self.append(Span(kind, queue.device.name, queue.id, event.label, nbytes, labels, None, None, event))

    @contextlib.contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """The spans of the block belong to a part of the timeline with this name."""
        self._scopes.append(name)
        first = len(self)
        try:
            yield
        finally:
            self._scopes.pop()
            for span in self[first:]:
                span.scope = span.scope or name

    def digest(self) -> str:
        """Hash of the timeline: equal runs have equal ones."""
        text = "\n".join(map(str, (span.key() for span in self)))
        return hashlib.sha256(text.encode()).hexdigest()
