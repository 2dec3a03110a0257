"""Metal traces of the library's programs: what its operations launch while one is captured is kept, and run when one is executed.

The library has no traces in slow dispatch, which it runs below us.  So `trace_calls`, in its process, takes its calls of traces
over, and says to the server what they ask for.  As on a card, an operation that is captured does not run, and the host neither
reads nor writes tensors while one is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tensim.sim.errors import UsageError


@dataclass
class Trace:
    """`launches`: what `LibraryDevice.captured` or `LibraryMesh.captured` gave, in order; `replays`: how often it was executed."""

    launches: list[Any] = field(default_factory=list)
    replays: int = 0


class Traces:
    """The traces of one process, by the numbers that it gives them; one is captured at a time."""

    def __init__(self) -> None:
        self._kept: dict[int, Trace] = {}
        self._captured: int | None = None

    @property
    def capturing(self) -> bool:
        """Whether one is being captured."""
        return self._captured is not None

    def begin(self, number: int) -> None:
        """Capture a trace from here on.  UsageError while another one is captured."""
        if self._captured is not None:
            raise UsageError(
                f"trace {number} begins while trace {self._captured} is captured", hint="end_trace_capture ends it"
            )
        self._kept[number], self._captured = Trace(), number

    def add(self, launch: Any) -> None:
        """A launch of the trace that is captured."""
        assert self._captured is not None
        self._kept[self._captured].launches.append(launch)

    def end(self, number: int) -> None:
        """A trace is complete.  UsageError for one that is not captured."""
        if number != self._captured:
            raise UsageError(f"trace {number} ends, which is not being captured")
        self._captured = None

    def drop(self) -> None:
        """A device is closed: a capture that an error has broken off ends, and its trace is gone."""
        if self._captured is not None:
            del self._kept[self._captured]
            self._captured = None

    def next_replay(self, number: int) -> tuple[Sequence[Any], tuple[int, int]]:
        """(launches of a trace in order, (its number, number of this replay from 1)).  UsageError for one that is not there."""
        trace = self._complete(number)
        trace.replays += 1
        return trace.launches, (number, trace.replays)

    def release(self, number: int) -> None:
        """Forget a trace.  UsageError for one that is not there."""
        self._complete(number)
        del self._kept[number]

    def _complete(self, number: int) -> Trace:
        if number not in self._kept:
            raise UsageError(f"there is no trace {number}", hint="it was never captured, or has been released")
        if self._captured is not None:
            raise UsageError(f"trace {number} is asked for while trace {self._captured} is captured")
        return self._kept[number]
