"""The timeline of a system: one span per command, for tables and for Perfetto."""

import json
from dataclasses import dataclass
from pathlib import Path

from tensim.sim.engine.environment import FS_PER_NS


@dataclass(slots=True)
class Span:
    """A command: where it ran, from when to when.  Times come from the event, for work of the host from `begun`, `ended`."""

    kind: str
    device: str
    queue: int | None
    label: str
    nbytes: int
    deps: tuple
    begun: int | None
    ended: int | None
    event: object
    scope: str = ""

    @property
    def start(self):
        """Simulated ns, None before it began."""
        return self.event.t_start if self.event is not None else self.begun / FS_PER_NS

    @property
    def end(self):
        """Simulated ns, None before it ended."""
        return self.event.t_end if self.event is not None else self.ended / FS_PER_NS

    def key(self):
        """What makes two spans the same."""
        return self.kind, self.device, self.queue, self.label, self.nbytes, self.start, self.end

    def as_dict(self):
        """Plain values."""
        names = ("kind", "device", "queue", "label", "nbytes", "start", "end", "scope")
        return {name: getattr(self, name) for name in names} | {"deps": list(self.deps)}


class Spans(list):
    """Spans in the order of issue."""

    def to_chrome_trace(self, path):
        """Write trace events that Perfetto opens: a process per device, a thread per queue, times in us."""
        devices = list(dict.fromkeys(span.device for span in self))
        events = [
            {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": device}}
            for pid, device in enumerate(devices)
        ]
        for span in self:
            if span.end is None:
                continue
            events.append(
                {
                    "name": span.label,
                    "cat": span.kind,
                    "ph": "X",
                    "pid": devices.index(span.device),
                    "tid": span.queue or 0,
                    "ts": span.start / 1000,
                    "dur": (span.end - span.start) / 1000,
                    "args": {"bytes": span.nbytes, "after": list(span.deps)},
                }
            )
        Path(path).write_text(json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}))


def chrome_trace(spans):
    """The spans that take part in a timeline."""
    return Spans(spans)
