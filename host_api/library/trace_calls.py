"""The library's calls of metal traces, for slow dispatch, where it refuses them: each says to the simulator what it asks for.

This file is run by the library's Python, in the program's process, without tensim: it imports nothing but the standard library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class TraceCalls:
    """`begin_trace_capture`, `end_trace_capture`, `execute_trace` and `release_trace`, with the library's names and arguments, and
    `is_trace_capture_active`.

    `number_of`: the library's class of numbers of traces; `tell(message)` says it to the simulator and returns what has failed,
    or '', or what was asked for.
    """

    def __init__(self, number_of: Callable[[int], Any], tell: Callable[[dict[str, Any]], str]) -> None:
        self._number_of, self._tell = number_of, tell
        self._begun = 0

    def begin_trace_capture(self, mesh_device: Any, *, cq_id: Any = None) -> Any:
        """Keep what operations launch from here on; returns the trace's number."""
        self._ask("begin", self._begun)
        self._begun += 1
        return self._number_of(self._begun - 1)

    def end_trace_capture(self, mesh_device: Any, trace_id: Any, *, cq_id: Any = None) -> None:
        """The trace is complete."""
        self._ask("end", trace_id)

    def execute_trace(self, mesh_device: Any, trace_id: Any, *, cq_id: Any = None, blocking: bool = True) -> None:
        """Run what the trace has kept, and wait for its end, as operations outside traces do here."""
        self._ask("replay", trace_id)

    def release_trace(self, mesh_device: Any, trace_id: Any) -> None:
        """Forget the trace."""
        self._ask("release", trace_id)

    def is_trace_capture_active(self, device: Any) -> bool:
        """Whether a trace is being captured."""
        return self._tell({"capturing": True}) == "1"

    def closing(self, close: Callable[..., Any]) -> Callable[..., Any]:
        """A call that closes devices, which ends a capture that an error has broken off."""

        def run(*arguments: Any, **named: Any) -> Any:
            self._tell({"closes": True})
            return close(*arguments, **named)

        return run

    def _ask(self, what: str, number: Any) -> None:
        failed = self._tell({"trace": what, "number": int(number)})
        if failed:
            raise RuntimeError(failed)


def replace_calls(library: Any, tell: Callable[[dict[str, Any]], str]) -> None:
    """Put these calls in the place of those of `ttnn._ttnn`, which other modules of the library have not imported yet."""
    traces = library.operations.trace
    calls = TraceCalls(traces.MeshTraceId, tell)
    for module in (traces, library.device):
        for name in (
            "begin_trace_capture",
            "end_trace_capture",
            "execute_trace",
            "release_trace",
            "is_trace_capture_active",
        ):
            if hasattr(module, name):
                setattr(module, name, getattr(calls, name))
    for module in (library.device, library.multi_device):
        for name in ("close_device", "CloseDevice", "CloseDevices", "close_mesh_device"):
            if hasattr(module, name):
                setattr(module, name, calls.closing(getattr(module, name)))
