"""The host of a system: its clock, its work, and which commands it has waited for (docs/hardware/runtime.md#time)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensim.runtime.sync import covers, merge
from tensim.runtime.timeline import Span
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tensim.sim.loop.environment import FS_PER_NS

if TYPE_CHECKING:
    from tensim.runtime.sync import Event
    from tensim.runtime.system import System


class HostTimeline:
    """The host's clock.  `now_ns`; `compute(ns)`: the host works.  `in_callback`: a queue calls a function of the host."""

    def __init__(self, system: System) -> None:
        self._system, self._clock, self.in_callback = system, {}, False

    @property
    def now_ns(self) -> float:
        """Simulated ns."""
        return self._system.host.now_fs / FS_PER_NS

    def compute(self, ns: float) -> None:
        """Let the host work for `ns`; devices go on meanwhile."""
        self.charge("host work", "compute", ns, 0)

    def charge(self, label: str, op: str, ns: float, nbytes: int) -> None:
        """The host works for `ns` on something that the timeline shows."""
        system, begun = self._system, self._system.host.now_fs
        system.executor.submit(c.HostWork(round(ns * FS_PER_NS)))
        if op != "idle":
            system.stats["host.prep_ns"] += ns  # type: ignore[assignment]
        system.spans.append(Span(op, "host", None, label, nbytes, (), begun, system.host.now_fs, None))

    def has_seen(self, event: Event) -> bool:
        """Whether the host has waited for an event, so that what it issues now comes later."""
        return bool(event.clock) and covers(self._clock, event.clock)

    def saw(self, event: Event) -> None:
        """The host has waited for an event."""
        self._clock = merge(self._clock, event.clock)

    def check_not_in_callback(self) -> None:
        """UsageError inside a host call: it may not use queues."""
        if self.in_callback:
            raise UsageError("a host call must not use queues", hint="issue it behind the host call's event")
