"""`System.profile`: what happened in a block of code, by family, filtered.

Source: docs/hardware/runtime.md#hooks-timeline-recordings-and-command-line.
"""

from __future__ import annotations

import contextlib
import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from tensim.runtime.counters import Counters, counter_names
from tensim.runtime.timeline import Spans
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.runtime.sync import Event
    from tensim.runtime.system import System
    from tensim.runtime.timeline import Span

FAMILIES = ("queue_events", "host", "dispatch", "memory", "counters")
FILTERS = ("function", "device", "queue")


@dataclass
class Profile:
    """What a block did.  A family that was not asked for is None; everything is there behind the block.

    `metadata`: families, filters, system, time of the block in ns, and how many spans there were and are kept.
    `queue_events`, `host`: Spans of commands, and of work of the host; `dispatch`: a row per command, with ns from its issue
    to its start; `memory`: {device: {pool: {"before", "after": bytes allocated per bank}}}; `counters`: {name: difference}.
    """

    metadata: dict = field(default_factory=dict)
    queue_events: Spans | None = None
    host: Spans | None = None
    dispatch: list | None = None
    memory: dict | None = None
    counters: dict | None = None


@contextlib.contextmanager
def profile(system: System, families: str | Iterable[str], filters: Mapping[str, Any] | None) -> Iterator[Profile]:
    """See `System.profile`."""
    families, filters = _checked(families, FAMILIES, "family"), dict(filters or {})
    _checked(filters, FILTERS, "filter")
    result, first, begun = Profile(), len(system.spans), system.host_ns
    counted = Counters(counter_names() if "counters" in families else [], system)
    memory = _allocated(system)
    try:
        yield result
    finally:
        spans = system.spans[first:]
        kept = [span for span in spans if _passes(span, filters)]
        result.metadata = {
            "families": list(families), "filters": filters, "devices": [device.spec for device in system.open_devices()],
            "begin_ns": begun, "end_ns": system.host_ns, "spans": len(spans), "kept": len(kept),
        }  # fmt: skip
        commands = Spans(span for span in kept if span.event is not None)
        made = {
            "queue_events": lambda: commands,
            "host": lambda: Spans(span for span in kept if span.event is None),
            "dispatch": lambda: [_dispatched(span) for span in commands],
            "memory": lambda: _changes(memory, _allocated(system)),
            "counters": counted.read,
        }
        for family in families:
            setattr(result, family, made[family]())


def _checked(names: str | Iterable[str], known: Sequence[str], what: str) -> tuple[str, ...]:
    names = (names,) if isinstance(names, str) else tuple(names)
    for name in names:
        if name not in known:
            raise UsageError(f"a profile has no {what} {name!r}", hint=f"supported: {', '.join(known)}")
    return names


def _passes(span: Span, filters: Mapping[str, Any]) -> bool:
    """`function`: glob over labels; `device`: glob over specs, or a device; `queue`: a number."""
    device = filters.get("device", "*")
    device = getattr(device, "name", device)
    return (
        fnmatch.fnmatchcase(span.label, filters.get("function", "*"))
        and (span.device == device or fnmatch.fnmatchcase(span.device, device))
        and filters.get("queue", span.queue) == span.queue
    )


def _dispatched(span: Span) -> dict[str, Any]:
    issued = cast("Event", span.event).t_submit
    wait = None if span.start is None or issued is None else span.start - issued
    return {
        "label": span.label, "device": span.device, "queue": span.queue, "submit_ns": issued, "start_ns": span.start,
        "wait_ns": wait,
    }  # fmt: skip


def _allocated(system: System) -> dict[str, dict[str, int]]:
    """{device: {pool: bytes allocated per bank}}."""
    views = {device.name: device.memory_view() for device in system.open_devices()}
    return {name: {pool: used["allocated"] for pool, used in view.items()} for name, view in views.items()}


def _changes(
    before: dict[str, dict[str, int]], after: dict[str, dict[str, int]]
) -> dict[str, dict[str, dict[str, int]]]:
    empty = {}
    return {
        device: {pool: {"before": before.get(device, empty).get(pool, 0), "after": now} for pool, now in pools.items()}
        for device, pools in after.items()
    }
