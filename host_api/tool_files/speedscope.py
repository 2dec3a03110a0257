"""Speedscope profiles of a run: where the time of threads went, by kernel, source line and what the line did.

For each kind of thread one profile over all cores, in cycles ("sampled": left-heavy and sandwich views), and one of the
core that ended last in the order of time ("evented").  The format: https://www.speedscope.app/file-format-schema.json
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tensim.sim import state as st
from tensim.sim.chip.deadlock import reason_name
from tensim.sim.cores.operations import Op
from tensim.sim.cores.slots import THREAD_NAMES, THREADS_PER_CORE
from tensim.sim.output_files import output_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensim.sim.chip.chip import Chip

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
PLAIN_CODE = "plain code"
_KEY = ("line_base", "line", "kind", "operation")  # what a span is told by


def write_speedscope(chip: Chip, path: str | Path, name: str) -> None:
    """Write the spans that `chip` has logged (`tensim.sim.chip.recordings`) to `path`; `name`: of the profile."""
    log = chip.recordings.log()
    spans = log[(log["kind"] < st.LOG_DRAM) & (log["end"] > log["start"])]
    frames = _Frames(chip)
    profiles = [
        _sampled(f"{thread}, all cores", spans[spans["thread"] % THREADS_PER_CORE == slot], frames)
        for slot, thread in enumerate(THREAD_NAMES)
    ]
    if len(spans):
        last = int(spans["thread"][np.argmax(spans["end"])]) // THREADS_PER_CORE
        core = f"core ({last % chip.arch.grid[0]},{last // chip.arch.grid[0]})"
        scale = 1000 / chip.arch.clock_mhz
        for slot, thread in enumerate(THREAD_NAMES):
            mine = spans[spans["thread"] == last * THREADS_PER_CORE + slot]
            profiles.append(_evented(f"{thread}, {core}", mine, frames, scale))
    data = {
        "$schema": SCHEMA, "exporter": "tensim", "name": name, "activeProfileIndex": 0, "shared": {"frames": frames.all},
        "profiles": [profile for profile in profiles if profile is not None],
    }  # fmt: skip
    with output_file(path) as file:
        json.dump(data, file, separators=(",", ":"))


class _Frames:
    """The frames of a file, each once."""

    def __init__(self, chip: Chip) -> None:
        self._chip, self._numbers, self.all = chip, {}, []

    def _number(self, **frame: Any) -> int:
        key = tuple(sorted(frame.items()))
        if key not in self._numbers:
            self._numbers[key] = len(self.all)
            self.all.append(frame)
        return self._numbers[key]

    def stack(self, line_base: int, line: int, kind: int, operation: int) -> list[int]:
        """Frames of a span, outer ones first: kernel, source line, what it did."""
        busy = kind == st.WAIT_NONE
        done = _operation_name(operation) if busy else f"wait: {reason_name(kind)}"
        program = self._chip.line_programs.get(line_base)
        if program is None:
            return [self._number(name=done)]
        place = program.place(line)
        text = f"{place['file'].rsplit('/', 1)[-1]}:{place['line']} {place['source']}".rstrip()
        return [
            self._number(name=program.name, file=place["file"]),
            self._number(name=text, file=place["file"], line=max(int(place["line"]), 1)),
            self._number(name=done),
        ]


def _operation_name(number: int) -> str:
    known = {int(op): op.name.lower() for op in Op} | {-1: "start", -2: "end"}
    return known.get(number, PLAIN_CODE) if number else PLAIN_CODE


def _sampled(name: str, spans: NDArray[Any], frames: _Frames) -> dict[str, Any] | None:
    """Cycles by stack over all cores; None without spans."""
    if not len(spans):
        return None
    keys, which = np.unique(spans[list(_KEY)], return_inverse=True)
    weights = np.bincount(which, weights=spans["end"] - spans["start"])
    order = np.argsort(-weights, kind="stable")
    return {
        "type": "sampled", "name": name, "unit": "none", "startValue": 0, "endValue": int(weights.sum()),
        "samples": [frames.stack(*keys[i].tolist()) for i in order], "weights": [int(weights[i]) for i in order],
    }  # fmt: skip


def _evented(name: str, spans: NDArray[Any], frames: _Frames, scale: float) -> dict[str, Any] | None:
    """The spans of one thread in the order of time; None without spans.  `scale`: ns of a cycle."""
    if not len(spans):
        return None
    spans = spans[np.argsort(spans["start"], kind="stable")]
    events, opened, now = [], [], int(spans["start"][0])
    stacks = {}
    columns = (spans[column].tolist() for column in ("start", "end", *_KEY))
    for start, end, *key in zip(*columns, strict=True):
        start = max(start, now)  # a compute thread's own core may run ahead of its coprocessor
        if end <= start:
            continue
        stack = stacks.get(tuple(key)) or stacks.setdefault(tuple(key), frames.stack(*key))
        common = 0
        while start == now and common < min(len(opened), len(stack) - 1) and opened[common] == stack[common]:
            common += 1
        events += [{"type": "C", "at": now * scale, "frame": frame} for frame in reversed(opened[common:])]
        events += [{"type": "O", "at": start * scale, "frame": frame} for frame in stack[common:]]
        opened, now = stack, end
    events += [{"type": "C", "at": now * scale, "frame": frame} for frame in reversed(opened)]
    begun = int(spans["start"][0]) * scale
    return {
        "type": "evented", "name": name, "unit": "nanoseconds", "startValue": begun, "endValue": now * scale, "events": events,
    }  # fmt: skip
