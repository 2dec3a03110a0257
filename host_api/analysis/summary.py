"""The machine-readable summary of a chip's work: `tensim.sim.chip.statistics`, verdicts and advice, cores, circular buffers,
programs and launches (keys: docs/design.md#9-machine-readable-output).
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensim.analysis import verdict as verdicts
from tensim.analysis.case import Case
from tensim.analysis.facts import LaunchFacts, launches, span_cycles
from tensim.analysis.rules import advice, by_relevance
from tensim.sim.chip import repetition, statistics
from tensim.sim.chip.launch_work import WAIT_NAMES
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.slots import THREAD_NAMES, THREADS_PER_CORE

if TYPE_CHECKING:
    from tensim.analysis.access_patterns import AccessPatterns
    from tensim.analysis.case import Advice
    from tensim.sim.chip.chip import Chip
    from tensim.sim.chip.interval import Done
    from tensim.sim.chip.launch_work import BufferWork, LaunchWork

THREADS_SHOWN = 32  # launches whose threads are in the summary
VERDICTS = 8  # different launches that get a verdict of their own
ADVICE_SHOWN = 6


class RunFacts:
    """What the launches of a run have in common: programs, the launch that counts, time with and without a program."""

    def __init__(self, chip: Chip | Done) -> None:
        self.chip, self.works = chip, launches(chip)
        self.span_cycles = span_cycles(chip)
        self.active_cycles = min(statistics.program_cycles(chip), self.span_cycles)
        self.programs = {}  # kernels -> its works
        for work in self.works:
            self.programs.setdefault(_signature(work), []).append(work)
        self.numbers = {id(work): number for number, works in enumerate(self.programs.values()) for work in works}

    @functools.cached_property
    def facts(self) -> LaunchFacts | None:
        """`LaunchFacts` of the longest launch of the program that takes most time, or None."""
        most = max(self.programs.values(), key=lambda works: sum(work.cycles for work in works), default=None)
        return None if most is None else LaunchFacts(self.chip, max(most, key=lambda work: work.cycles))

    @functools.cached_property
    def verdict(self) -> verdicts.Verdict | None:
        """The `Verdict` of the run, or None when nothing has run."""
        if self.facts is None:
            return None
        found = verdicts.of_run(self.chip, self.facts, self.span_cycles, self.active_cycles)
        if len(self.works) < len(self.chip.launches):
            found.evidence.append(
                f"of {len(self.chip.launches):,} launches the first {len(self.works):,} are looked at; others have times only"
            )
        return found

    def case(self, facts: LaunchFacts, patterns: AccessPatterns | None = None) -> Case:
        """What the rules look at."""
        idle = 1 - self.active_cycles / self.span_cycles if self.span_cycles else 0.0
        return Case(facts, patterns, len(self.chip.launches), idle)

    def advice(self, patterns: AccessPatterns | None = None) -> list[Advice]:
        """All `Advice` the figures give reason for, not measured."""
        return [] if self.facts is None else advice(self.case(self.facts, patterns))


def _signature(work: LaunchWork) -> Hashable:
    """What makes launches the same program: their kernels and where these ran."""
    if work.launch is None:
        return ("recorded",)
    return tuple((one.compiled.name, one.compiled.file, one.slot, tuple(one.cores)) for one in work.launch.kernels)


def collect(chip: Chip | Done) -> dict[str, Any]:
    """The summary of a chip, or of an interval (`tensim.sim.chip.interval`)."""
    run = RunFacts(chip)
    summary = statistics.collect(chip)
    summary["lasting"] = repetition.lasting(chip, summary["cycles"])
    if run.verdict is None:
        nothing = {"advice": [], "circular_buffers": [], "programs": [], "launches": [], "cores": None, "verdict": None}
        return summary | nothing | {"bounded_by": None, "span_cycles": run.span_cycles}
    programs = [_program(run, works) for works in run.programs.values()]
    return summary | {
        "bounded_by": run.verdict.bounded_by,
        "span_cycles": run.span_cycles,
        "verdict": run.verdict.to_dict(),
        "advice": [one.to_dict() for one in by_relevance(run.advice(), run.verdict)[:ADVICE_SHOWN]],
        "cores": cores(chip, run.works),
        "circular_buffers": [
            {"program": number} | one for number, program in enumerate(programs) for one in program["circular_buffers"]
        ],
        "programs": programs,
        "launches": _launches(run, programs),
    }


# --- programs and launches


def _program(run: RunFacts, works: Sequence[LaunchWork]) -> dict[str, Any]:
    longest = LaunchFacts(run.chip, max(works, key=lambda work: work.cycles))
    moved, verdict = longest.transfers(), verdicts.of_launch(longest)
    return {
        "name": ", ".join(dict.fromkeys(kernel["name"] for kernel in longest.kernels())) or "recorded NoC events",
        "kernels": longest.kernels(),
        "launches": len(works),
        "cycles": sum(work.cycles for work in works),
        "longest_cycles": longest.work.cycles,
        "cores": len(longest.cores),
        "verdict": verdict.to_dict(),
        "bounded_by": verdict.bounded_by,
        "unit_shares": longest.units(),
        "imbalance_share": longest.imbalance,
        "transfers": {
            kind: {
                "transfers": one.transfers, "bytes": one.bytes, "request_bytes": one.request_bytes,
                "latency_cycles": one.latency_cycles, "idle_latency_cycles": one.idle_latency_cycles,
                "under_way": one.in_flight,
            }
            for kind, one in moved.items()
        },
        "dram_unique_read_bytes": longest.work.first_read_bytes,
        "channel_busy_shares": longest.channel_shares().tolist(),
        "circular_buffers": [_buffer(longest, one) for one in longest.work.buffers],
    }  # fmt: skip


def _buffer(facts: LaunchFacts, one: BufferWork) -> dict[str, Any]:
    """A circular buffer of the longest launch of its program."""
    total = max(int(one.levels.sum()), 1)
    names = {slot: _kernel_on(facts, one, slot) for slot in (*one.producers, *one.consumers)}
    return {
        "index": one.index, "pages": one.pages, "page_bytes": one.page_size, "cores": len(one.cores),
        "format": DataFormat(one.data_format).name, "pushed_pages": one.pushed, "left_pages": one.left, "packed_tiles": one.packed,
        "fill_shares": (one.levels / total).tolist(), "mean_fill": float(one.levels @ np.arange(len(one.levels))) / total / 8,
        "producers": [names[slot] for slot in one.producers], "consumers": [names[slot] for slot in one.consumers],
        "producer_wait_share": one.waits["back"] / facts.cycles / len(one.cores),
        "consumer_wait_share": one.waits["front"] / facts.cycles / len(one.cores),
        "longest_producer_wait_cycles": one.most["back"][0], "longest_consumer_wait_cycles": one.most["front"][0],
    }  # fmt: skip


def _kernel_on(facts: LaunchFacts, buffer: BufferWork, slot: int) -> str:
    row = facts.rows.get((int(buffer.cores[0]), slot))
    kernel = None if row is None else facts.kernel(row)
    return THREAD_NAMES[slot] + (f" {kernel['name']}" if kernel else "")


def _launches(run: RunFacts, programs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A dict per launch in its order: times, what bounded it (beyond `VERDICTS` different ones, what bounded its program), and
    of the first ones the columns of its threads."""
    found, known = [], {}
    for place, work in enumerate(run.works):
        number = run.numbers[id(work)]
        key = number, work.cycles, int(work.busy.sum())
        if key not in known:
            more = len(known) < VERDICTS
            known[key] = (
                verdicts.of_launch(LaunchFacts(run.chip, work)).bounded_by if more else programs[number]["bounded_by"]
            )
        found.append(
            {
                "program": number, "start_cycle": work.started, "end_cycle": work.ended, "cycles": work.cycles,
                "bounded_by": known[key], "threads": _threads(work) if place < THREADS_SHOWN else None,
            }
        )  # fmt: skip
    return found


def _threads(work: LaunchWork) -> dict[str, Any]:
    """Columns with an entry per thread: {"core", "processor", "start_cycle", "end_cycle", "busy_cycles", "operations",
    "wait_cycles": {kind: column}}."""
    return {
        "core": work.cores.tolist(),
        "processor": [THREAD_NAMES[slot] for slot in work.slots],
        "start_cycle": work.starts.tolist(),
        "end_cycle": work.ends.tolist(),
        "busy_cycles": work.busy.tolist(),
        "operations": work.operations.tolist(),
        "wait_cycles": {
            name: work.waits[:, column].tolist()
            for column, name in enumerate(WAIT_NAMES)
            if work.waits[:, column].any()
        },
    }


# --- cores


def cores(chip: Chip | Done, works: Sequence[LaunchWork]) -> dict[str, Any]:
    """{"available", "used", ..., "rows": [a dict per worker core]}: shares of the time in which programs ran, idle included."""
    count, cycles = len(chip.arch.worker_coords), max(sum(work.cycles for work in works), 1)
    busy, active = np.zeros((count, THREADS_PER_CORE)), np.zeros(count)
    for work in works:
        np.add.at(busy, (work.cores, work.slots), work.busy)
        last = np.zeros(count, np.int64)
        np.maximum.at(last, work.cores, work.ends)
        active += np.maximum(last - work.started, 0)
    busy, active = busy / cycles, active / cycles
    used = np.flatnonzero(active)
    best, worst = int(used[active[used].argmax()]), int(used[active[used].argmin()])
    width = chip.arch.grid[0]
    work_share = busy.max(axis=1)
    return {
        "available": count, "used": len(used),
        "mean_active_share": float(active[used].mean()), "least_active_share": float(active[worst]),
        "mean_work_share": float(work_share[used].mean()), "most_work_share": float(work_share.max()),
        "least_work_share": float(work_share[used].min()),
        "slowest_core": f"({best % width},{best // width})", "first_done_core": f"({worst % width},{worst // width})",
        "rows": [
            {
                "core": f"({core % width},{core // width})", "active_share": float(active[core]),
                "work_share": float(work_share[core]),
                "busy_shares": {name: float(busy[core, slot]) for slot, name in enumerate(THREAD_NAMES) if busy[core, slot]},
            }
            for core in range(count)
        ],
    }  # fmt: skip
