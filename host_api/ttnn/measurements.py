"""What operations took: for each program its time on the chip, kernel by kernel, and, if asked, what bounded it.

Times are cycles of the chip from the first kernel's start to the last one's end, as a profiler's zones have it: they begin when a
core has seen the go signal, `riscv.kernel_entry` before its kernel's own first instruction.  `detailed` adds counters of the chip
for every operation; profiler calls and reports read the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from tensim.sim.chip import statistics
from tensim.sim.cores.slots import THREAD_NAMES, THREADS_PER_CORE
from tensim.ttnn.signposts import behind_which

_LINK_FIELDS = ("flits", "stall")
_CHANNEL_FIELDS = ("read_bytes", "write_bytes", "row_hits", "row_misses")


@dataclass
class Operation:
    """One program that ran.  `spans`: {thread kind: (first start, last end)} in cycles; `counters`: see `Counters`."""

    number: int
    name: str
    device: Any
    cores: int
    started: int
    ended: int
    spans: dict[str, tuple[int, int]] = field(repr=False)
    first_starts: tuple[int, int] = (0, 0)  # of any thread: the first and the last
    busy_ns: float = 0.0  # of the command, firmware included
    counters: object = field(default=None, repr=False)
    told: dict[str, Any] = field(default_factory=dict)  # what else is known of it, for its row in reports
    cost: object = field(default=None, repr=False)  # `ProgramCost` of a launch of the library's

    @property
    def cycles(self) -> int:
        return self.ended - self.started

    @property
    def nanoseconds(self) -> float:
        return self.cycles * 1000 / self.device.host.arch.clock_mhz


class Counters:
    """What the chip's counters gained during an operation, in the form in which `tensim.sim.chip.statistics` reads a chip."""

    def __init__(self, chip: Any, work: Any, links: Any, channels: Any, sums: Any, launch: Any) -> None:
        self.arch, self.machine, self.compute_cores = chip.arch, chip.machine, set(range(sums[3]))
        self.work, self.flops, self.sfpu_busy, self.fpu_busy = work, sums[0], sums[1], sums[2]
        self.arrays = {"links": links, "channels": channels, "tiles": chip.arrays["tiles"]}
        self.launches = {0: launch}

    def bounded_by(self, cycles: int) -> str:
        """What bounded the operation (`statistics.bounded_by`)."""
        return statistics.bounded_by(self, cycles)

    def stalls(self) -> dict[str, dict[str, float]]:
        """{thread kind: {reason: share of its time}}, the busy share first."""
        return {name: {"busy": part["busy"], **part["stalled"]} for name, part in statistics.breakdown(self).items()}


class Measurements:
    """The operations of a device, and where its chip's counters stood at the end of the last one."""

    def __init__(self, device: Any, detailed: bool) -> None:
        self.device, self.detailed, self.operations, self.read = device, detailed, [], 0
        self._seen, self._names = 0, {}
        self._before = self._counters() if detailed else None

    def ended(self, name: str, told: dict[str, Any], cost: object = None) -> None:
        """An item of a queue has ended: note the programs that ran since."""
        chip = self.device.host.chip
        for number in range(self._seen, len(chip.launches)):
            launch = chip.launches[number]
            if "ended" in launch:
                self._seen = number + 1
                self._note(chip, launch, name, told, cost)

    def _note(self, chip: Any, launch: Any, name: str, told: dict[str, Any], cost: object) -> None:
        threads = np.asarray(launch["threads"])
        table = chip.arrays["threads"]
        started, ended, kinds = table["started"][threads], table["ended"][threads], threads % THREADS_PER_CORE
        entry = min(chip.arch["riscv.kernel_entry"], launch["started"])
        spans = {
            THREAD_NAMES[kind]: (int(started[kinds == kind].min()) - entry, int(ended[kinds == kind].max()))
            for kind in np.unique(kinds)
        }
        operation = Operation(
            len(self.operations), name, self.device, len(np.unique(threads // THREADS_PER_CORE)), launch["started"] - entry,
            launch["ended"], spans, (int(started.min()) - entry, int(started.max()) - entry),
        )  # fmt: skip
        operation.told, operation.cost = told, cost
        operation.busy_ns = operation.nanoseconds + chip.arch["dispatch.done_ns"]
        if self.detailed:
            operation.counters = self._difference(chip, launch)
        self.operations.append(operation)

    def _counters(self) -> tuple[Any, ...]:
        chip = self.device.host.chip
        work = np.zeros(THREADS_PER_CORE, chip.work.dtype)
        for name in chip.work.dtype.names:
            values = chip.work[name]
            work[name] = [values[slot::THREADS_PER_CORE].sum(axis=0) for slot in range(THREADS_PER_CORE)]
        links = _columns(chip.arrays["links"], _LINK_FIELDS)
        channels = _columns(chip.arrays["channels"], _CHANNEL_FIELDS)
        return work, links, channels, (chip.flops, chip.sfpu_busy, chip.fpu_busy)

    def _difference(self, chip: Any, launch: Any) -> Counters:
        before, now = cast(tuple[Any, ...], self._before), self._counters()
        self._before = now
        work, links, channels = (_minus(a, b) for a, b in zip(now[:3], before[:3], strict=True))
        cores = len({thread // THREADS_PER_CORE for thread in launch["threads"] if thread % THREADS_PER_CORE == 2})
        sums = (*(a - b for a, b in zip(now[3], before[3], strict=True)), cores)
        return Counters(chip, work, links, channels, sums, launch)


def _columns(records: Any, names: Sequence[str]) -> np.ndarray:
    result = np.zeros(len(records), [(name, np.int64) for name in names])
    for name in names:
        result[name] = records[name]
    return result


def _minus(now: np.ndarray, before: np.ndarray) -> np.ndarray:
    result = now.copy()
    for name in now.dtype.names or ():
        result[name] = now[name] - before[name]
    return result


detailed = False
_all = {}


def measurements_of(device: Any) -> Measurements:
    """The Measurements of a device."""
    if id(device) not in _all:
        _all[id(device)] = Measurements(device, detailed)
    return _all[id(device)]


def all_operations() -> list[Operation]:
    """The operations of all devices of this process, in the order in which they ended on each."""
    return [operation for item in _all.values() for operation in item.operations]


def measure(device: Any, item: Any, name: str, told: dict[str, Any] | None = None, cost: object = None) -> None:
    """Note the programs of a queue's item when it ends; `told`: what else their rows in reports say, `cost`: see `Operation`."""
    measured, told = measurements_of(device), (told or {}) | behind_which()
    item.after = lambda: measured.ended(name, told, cost)


def use_details(on: bool) -> bool:
    """Keep counters of operations on devices that run their first one from here on; returns the setting before."""
    global detailed
    before, detailed = detailed, on
    return before
