"""Replay of a recording: the same commands on the same or on other chips, some programs replaced.

Source: docs/hardware/runtime.md#hooks-timeline-recordings-and-command-line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import tensim.device as metal
from tensim.buffer import Buffer
from tensim.light_metal.binary import verified
from tensim.light_metal.replay import Replay
from tensim.runtime.errors import ReplayMismatch
from tensim.runtime.functions import bound_to_buffers
from tensim.runtime.program_info import Variant
from tensim.runtime.sync import span_fs
from tensim.runtime.systems import SystemConfig, build_topology, chip_overrides
from tensim.runtime.timeline import Span, Spans
from tensim.sim.arch.loader import load_arch
from tensim.sim.errors import BinaryError
from tensim.sim.host import commands as c
from tensim.sim.loop.environment import FS_PER_NS
from tensim.traces.light_metal.system import chip_names, spec_names

if TYPE_CHECKING:
    from tensim.traces.light_metal.binary import Binary as BinaryFile


class Replayed:
    """What a replay did.  `reads`: the bytes of every read of a buffer, in the order of issue."""

    def __init__(self, spans: Iterable[Span], reads: list[bytes]) -> None:
        self._spans, self.reads = Spans(spans), reads

    def timeline(self) -> Spans:
        """The spans of the replay, as `System.timeline`."""
        return self._spans


def replay(
    path: str | PathLike[str] | bytes | BinaryFile,
    devices: SystemConfig | str | None = None,
    *,
    remap: Mapping[str, str] | None = None,
    substitute: Mapping[str, Variant | Callable[..., Any]] | None = None,
    scope: str | None = None,
) -> Replayed:
    """Carry a recording (file name or bytes) out again; returns a `Replayed`.  Nothing is skipped.

    `devices`: what to replay on, a SystemConfig or a list of boards as text (None: a system like the recorded one).
    `remap`: {recorded spec: spec}, specs as "sim://wormhole_b0[1]"; a device that is not named is replayed on the one with
    its own spec.  `substitute`: {program: Variant, or its `build`} to run in place of a recorded program, over its buffers;
    building it takes no host time.  `scope`: give the spans of this scope; what comes before is carried out, too.

    ReplayMismatch when a device, program or scope is missing, or when a span of a replay with nothing changed differs.
    """
    binary = verified(path)
    spans = _recorded(binary, scope)
    config = SystemConfig.named(devices) if isinstance(devices, str) else devices
    done = _Replay(binary, spans, config, remap or {}, substitute or {}).run_all()
    if not (devices or remap or substitute):
        _check_same(spans, done.timeline())
    if scope is not None:
        return Replayed([span for span in done.timeline() if span.scope == scope], done.reads)
    return done


def _recorded(binary: BinaryFile, scope: str | None) -> Sequence[Any]:
    """The SpanDescriptions of a file; BinaryError when one points outside of it."""
    spans = binary.reader.root("spans").spans
    if spans is None:
        raise ReplayMismatch("the file holds no timeline", hint="System.record writes one; LightMetalReplay needs none")
    for number, span in enumerate(spans):
        if span.command >= len(binary):
            where = {"offset": span.position, "field": f"spans[{number}].command"}
            raise BinaryError(
                f"there is no command {span.command}", hint="the file is damaged: record it again", where=where
            )
    scopes = {span.scope for span in spans if span.scope}
    if scope is not None and scope not in scopes:
        raise _mismatch(f"the recording has no scope {scope!r}", scope, sorted(scopes))
    return spans


def _mismatch(message: str, expected: object, found: object) -> ReplayMismatch:
    shown = ", ".join(map(str, found)) if isinstance(found, list) else found
    return ReplayMismatch(message, where={"expected": expected, "found": found}, hint=f"there are: {shown or 'none'}")


def _deps(span: Any) -> tuple[str, ...]:
    """Labels of the events that a span waited for."""
    try:
        return tuple(map(str, json.loads(span.deps or "[]")))
    except (ValueError, TypeError) as error:
        raise BinaryError(
            f"the dependencies of span '{span.label}' cannot be read",
            hint="the file is damaged: record it again",
            where={"offset": span.position, "field": "spans"},
        ) from error


def _check_same(recorded: Sequence[Any], spans: Iterable[Span]) -> None:
    for number, (before, now) in enumerate(zip(recorded, spans, strict=True)):
        expected, found = (before.start_fs / FS_PER_NS, before.end_fs / FS_PER_NS), (now.start, now.end)
        if expected != found:
            raise ReplayMismatch(
                f"span {number}, '{now.label}', was recorded from {expected[0]:.3f} to {expected[1]:.3f} ns and replayed "
                f"from {found[0]:.3f} to {found[1]:.3f} ns",
                where={"expected": expected, "found": found},
                hint="the file was changed, or another version of tensim recorded it; tensim replay FILE accepts it as it is",
            )


class _Borrowed(Buffer):
    """A buffer of the recording: it goes when the recording lets it go."""

    def __del__(self) -> None:
        pass


class _Replay(Replay):
    """A replay that keeps the times of the recorded spans."""

    def __init__(
        self,
        binary: BinaryFile,
        recorded: Sequence[Any],
        config: SystemConfig | None,
        remap: Mapping[str, str],
        substitute: Mapping[str, Variant | Callable[..., Any]],
    ) -> None:
        super().__init__(binary, find_function=bound_to_buffers)
        self.recorded, self.config, self.remap, self.substitute = recorded, config, remap, substitute
        self.archs = [] if config is None else [load_arch(o.arch, chip_overrides(config, o.arch)) for o in config.chips]
        self.specs = chip_names(binary.root)
        self.specs_here = self.specs if config is None else spec_names([chip.arch for chip in config.chips])
        self.span_of = {span.command: span for span in recorded}
        self.items, self.host_times, self.events = {}, {}, {}  # by (device, queue), by command, by global event id
        self.built = {}  # programs that run in place of recorded ones
        self._renumber()
        programs = sorted({span.program for span in recorded if span.program})
        for name in substitute:
            if name not in programs:
                raise _mismatch(f"the recording submits no program {name!r}", name, programs)

    def run_all(self) -> Replayed:
        """Carry everything out; returns the `Replayed`."""
        try:
            self.execute()
            return Replayed([self._span(span) for span in self.recorded], [item.result for item in self.reads])
        finally:
            self.close()

    # --- devices

    def _renumber(self) -> None:
        """Chips of the recording by their numbers here, as far as they are here."""
        for spec in self.remap:
            if spec not in self.specs:
                raise _mismatch(f"the recording has no device {spec}", spec, self.specs)
        for number, spec in enumerate(self.specs):
            wanted = self.remap.get(spec, spec)
            if wanted in self.specs_here:
                self.decoder.renumbered[number] = self.specs_here.index(wanted)

    def _restore_system(self) -> None:
        if self.config is None:
            super()._restore_system()
        else:
            self.system.topology = build_topology(self.system.env, self.config, self.archs)
            self.system.host.use_costs(self.archs[0])

    def open(self, record: Any) -> Any:
        number = self.decoder.renumbered.get(record.device)
        if number is None:
            spec = self.specs[record.device] if record.device < len(self.specs) else f"device {record.device}"
            wanted = self.remap.get(spec, spec)
            raise _mismatch(f"the recording needs {spec}, to be replayed on {wanted}", wanted, self.specs_here)
        record = replace(record, device=number)
        if self.config is not None:
            queues = self.archs[number]["dispatch.max_queues"]
            if record.num_hw_cqs > queues:
                raise _mismatch(f"{self.specs_here[number]} has too few queues", record.num_hw_cqs, queues)
            self.note_differences(record.arch.load(), self.archs[number])
            record = replace(record, arch=self.archs[number])
        return super().open(record)

    # --- commands

    def _carry_out(self, index: int, record: Any) -> Any:
        host, span = self.system.host, self.span_of.get(index)
        if isinstance(record, c.EnqueueProgram | c.EnqueueFunction) and span and span.program in self.substitute:
            record = c.EnqueueProgram(record.device, record.queue, self._replacement(span, record.device), False)
        begun = host.now_fs
        result = super()._carry_out(index, record)
        if isinstance(record, c.HostWork):
            self.host_times[index] = begun, host.now_fs
        elif isinstance(record, c.RecordEvent):
            self.events[self.node.event_global_id] = self.items.pop((record.device, record.queue), None), result
        elif hasattr(record, "queue") and not isinstance(record, c.WaitForEvent):
            self.items[record.device, record.queue] = result
        return result

    def _replacement(self, span: Any, device: int) -> int:
        """Id of the program that runs in place of a recorded one, built when its buffers are first seen."""
        wanted = self.substitute[span.program]
        build: Any = wanted.build if isinstance(wanted, Variant) else wanted
        sides = [
            [self.names.get(n) for n in (() if ids is None else ids.tolist())] for ids in (span.inputs, span.outputs)
        ]
        key = (span.program, device, *map(tuple, sides))
        if key not in self.built:
            state, host, others = self.system.executor.devices[device], self.system.host, metal.current_system()
            handle, begun = metal.Device(device, state, self.system), host.now_fs
            buffers = [[_Borrowed(handle, n, self.system.executor.buffer(n)) for n in side] for side in sides]
            metal.use_system(self.system)
            try:
                self.built[key] = build(handle, *buffers)
            finally:
                metal.use_system(others)
                host.now_fs = begun
        return self.built[key].id

    # --- the timeline

    def _span(self, span: Any) -> Span:
        """The Span of the replay for a recorded one."""
        if span.queue < 0:
            times = self.host_times.get(span.command)
        else:
            times = self.events.get(span.event_global_id)
            times = None if times is None else span_fs(*times)
        if times is None:
            where = {"offset": span.position, "field": "spans"}
            raise BinaryError(
                f"span '{span.label}' refers to a command without a time",
                hint="the file is damaged: record it again",
                where=where,
            )
        begun, ended = times
        return Span(
            span.kind or "", self.remap.get(span.device, span.device), None if span.queue < 0 else span.queue,
            span.label or "", span.nbytes, _deps(span), begun, ended, None, span.scope or "",
        )  # fmt: skip
