"""Recording: what a system does, in a Light Metal file
(docs/hardware/runtime.md#hooks-timeline-recordings-and-command-line); `replay` carries it out again.

A recording is the Light Metal capture of all devices of a system in one stream, with its chips and links, and with the
timeline: which command each of its spans stands for.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

from tensim.light_metal.binary import LightMetalBinary
from tensim.light_metal.capture import Capture
from tensim.runtime.replaying import Replayed, replay
from tensim.runtime.storage import buffers_of
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tensim.traces.flatbuffers.tables import Node
from tensim.traces.light_metal.system import system_fields

if TYPE_CHECKING:
    from tensim.runtime.program_info import ProgramInfo
    from tensim.runtime.sync import Event
    from tensim.runtime.system import System
    from tensim.runtime.tensors import Tensor
    from tensim.runtime.timeline import Span

__all__ = ["Replayed", "record", "replay"]


@contextlib.contextmanager
def record(system: System, path: str | PathLike[str]) -> Iterator[None]:
    """Record what `system` does in the block; at its end the host waits for everything, then the file is written.

    All data stands in the commands.  Begin before tensors and programs are made: older ones are refused.  UsageError while
    another recording goes on.
    """
    if system.recorder is not None:
        raise UsageError("a recording of this system is already in progress", hint="leave its with block first")
    recorder = system.recorder = Recorder(system)
    try:
        yield
        system.drain()
    finally:
        recorder.stop()
        system.recorder = None
    LightMetalBinary(recorder.finish()).save_to_file(path)


class Recorder(Capture):
    """A capture that knows which command each span of the timeline stands for."""

    def __init__(self, system: System) -> None:
        super().__init__(system.sim, compress=False)
        self.runtime, self.first_span = system, len(system.spans)
        self.pending = {}  # (device, queue) -> command since the last event there
        self.commands = {}  # event id -> command that it stands behind
        self.host_work = []  # commands, one per span of the host
        self.programs = {}  # event id -> (program, input buffers, output buffers)
        hosts = [(host.id, len(host.queues)) for host in system.executor.hosts.values()]
        chips = [chip.arch for chip in system.config.chips]
        costs = system.host.costs
        self.writer.further = system_fields(chips, system.topology.links, hosts, costs)

    def add(self, record: Any, result: Any, called_fs: int) -> None:
        """See Capture.add."""
        super().add(record, result, called_fs)
        command = len(self.writer.commands) - 1
        if isinstance(record, c.HostWork):
            self.host_work.append(command)
        elif isinstance(record, c.RecordEvent):
            self.commands[record.event] = self.pending.pop((record.device, record.queue), command)
        elif hasattr(record, "queue") and not isinstance(record, c.WaitForEvent):
            self.pending[record.device, record.queue] = command

    def submitted(self, info: ProgramInfo, inputs: Sequence[Tensor], outputs: Sequence[Tensor], event: Event) -> None:
        """The command behind which `event` stands is a program of a binary."""
        sides = [buffers_of([t.storage for t in tensors]) for tensors in (inputs, outputs)]
        self.programs[event.id] = info.name, *([self.writer.id("buffer", b) for b in side] for side in sides)

    def finish(self) -> bytes:
        """The bytes of the file."""
        host_work = iter(self.host_work)
        spans = [self._span(span, host_work) for span in self.runtime.spans[self.first_span :]]
        self.writer.further["spans"] = self.writer.writer.tables([self.writer.writer.node(span) for span in spans])
        return super().finish()

    def _span(self, span: Span, host_work: Iterator[int]) -> Node:
        event = span.event
        if event is not None and event.error is not None:
            raise UsageError(
                f"'{span.label}' failed while it was recorded, and a recording cannot represent failures",
                hint="record a run in which nothing fails",
            )
        begun, ended = (span.begun, span.ended) if event is None else cast(tuple[int, int], event.span_fs)
        fields: dict[str, Any] = {
            "kind": span.kind, "device": span.device, "label": span.label, "nbytes": span.nbytes, "scope": span.scope,
            "deps": json.dumps(span.deps), "start_fs": begun, "end_fs": ended,
        }  # fmt: skip
        if event is None:
            return Node("SpanDescription", fields | {"command": next(host_work)})
        fields |= {"queue": span.queue, "command": self.commands[event.id]}
        fields["event_global_id"] = self.writer.id("event", event.id)
        if event.id in self.programs:
            fields |= dict(zip(("program", "inputs", "outputs"), self.programs[event.id], strict=True))
        return Node("SpanDescription", fields)
