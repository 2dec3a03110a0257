"""Why a program has stopped, and what is to stop it: breakpoints with their conditions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from tensim.debugger.locations import Location
from tensim.sim import state as st
from tensim.sim.chip import inspection
from tensim.sim.chip.places import thread_place
from tensim.sim.cores import context as ctx
from tensim.sim.cores.operations import Op
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.sim.chip.chip import Chip
    from tensim.sim.chip.stepping import EngineStops
    from tensim.sim.errors import TensimError


@dataclass(frozen=True)
class Stop:
    """`reason`: start, breakpoint, watch, step, until, end, interrupted, failed or ended; `thread`: that has stopped, or None."""

    reason: str
    cycle: int
    thread: int | None = None
    text: str = ""

    def as_json(self, chip: Chip) -> dict[str, Any]:
        """Plain data, with where the thread stands."""
        place = None if self.thread is None else inspection.thread(chip, self.thread)
        return {"reason": self.reason, "cycle": self.cycle, "text": self.text, "at": place}


@dataclass
class Breakpoint:
    """Stops at a location, of one thread, one core or all, where a condition holds."""

    number: int
    location: Location
    asked: str | None  # the location as it was typed
    core: int | None = None
    thread: int | None = None
    condition: str | None = None
    hits: int = 0
    code: CodeType | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.condition is not None:
            try:
                self.code = compile(self.condition, "condition", "eval")
            except (SyntaxError, ValueError) as error:
                raise UsageError(f"the condition {self.condition!r} is no expression: {error}") from None

    def is_of(self, thread: int) -> bool:
        """Whether it is meant for a thread."""
        return self.thread in (None, thread) and self.core in (None, thread // THREADS_PER_CORE)

    def holds(self, chip: Chip, thread: int) -> bool:
        """Whether its condition does.  UsageError for one that cannot be evaluated."""
        return self.code is None or bool(evaluated(self.code, str(self.condition), chip, thread))

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "number": self.number, "location": self.location.text, "condition": self.condition, "hits": self.hits,
            "pending": not (self.location.rows or self.location.operations),
        }  # fmt: skip


class Names(dict[str, Any]):
    """What expressions may use of a chip, where a thread stands; each is looked up when it is used.

    cycle, x, y, thread, line, args[i] (of the operation), cb[i] (pages in it), sem[i], l1[address] (words), and registers by name.
    """

    def __init__(self, chip: Chip, thread: int) -> None:
        super().__init__()
        self.chip, self.thread, self.core = chip, thread, thread // THREADS_PER_CORE

    def __missing__(self, name: str) -> Any:
        chip = self.chip
        place = thread_place(chip, self.thread)
        columns = chip.arch.grid[0]
        plain = {
            "cycle": chip.cycle, "x": self.core % columns, "y": self.core // columns, "thread": place["thread"],
            "line": place.get("line"),
        }  # fmt: skip
        if name in plain:
            return plain[name]
        if name == "args":
            return chip.arrays["contexts"][self.thread][ctx.ARG0 : ctx.ARG0 + ctx.MAX_ARGS].tolist()
        if name == "cb":
            rows = chip.arrays["circular_buffers"][self.core]
            return (rows[:, ctx.CB_RECEIVED] - rows[:, ctx.CB_ACKED]).tolist()
        if name == "sem":
            found = {one["index"]: one["value"] for one in inspection.semaphores(chip, self.core)}
            return Values(lambda index: found.get(index, 0))
        if name == "l1":
            return Values(lambda address: int(chip.l1[self.core, address : address + 4].view(np.uint32)[0]))
        if (registers := self._registers()) and name in registers:
            return registers[name]
        raise KeyError(name)

    def _registers(self) -> dict[str, int]:
        try:
            return inspection.registers(self.chip, self.thread)
        except UsageError:
            return {}


class Values:
    """Something that is asked by index."""

    def __init__(self, get: Callable[[Any], Any]) -> None:
        self._get = get

    def __getitem__(self, index: Any) -> Any:
        return self._get(index)


def evaluated(code: CodeType, text: str, chip: Chip, thread: int) -> Any:
    """The value of a Python expression over `Names`."""
    try:
        return eval(code, {"__builtins__": {}}, Names(chip, thread))  # the user's own, in the user's own process
    except Exception as error:
        raise UsageError(
            f"{text!r} has no value here: {error}",
            hint="names are cycle, x, y, thread, line, args[i], cb[i], sem[i], l1[address] and registers",
        ) from None


class Breakpoints:
    """All of them, by number."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.known: dict[int, Breakpoint] = {}

    def add(self, location: Location, asked: str | None, **options: Any) -> Breakpoint:
        """A new `Breakpoint`."""
        one = Breakpoint(next(self._numbers), location, asked, **options)
        self.known[one.number] = one
        return one

    def rows(self) -> dict[tuple[int, Any], set[int]]:
        """{(base, program): rows} of all."""
        found = {}
        for one in self.known.values():
            for key, rows in one.location.rows.items():
                found.setdefault(key, set()).update(rows)
        return found

    def operations(self) -> set[Op]:
        """Operations of all."""
        return {op for one in self.known.values() for op in one.location.operations}

    def hit(self, chip: Chip, thread: int, program: Any, row: int, at_row: bool) -> Breakpoint | None:
        """The first that stops a thread here, or None; `at_row`: it stands in front of a row, not of an operation at most."""
        posted = chip.arrays["threads"][thread]["operation"]
        for one in self.known.values():
            if not one.is_of(thread):
                continue
            is_there = at_row and any(row in rows for (_, other), rows in one.location.rows.items() if other is program)
            if not at_row or not is_there:
                is_there = is_there or self._is_operation(chip, thread, one, int(posted))
            if is_there and one.holds(chip, thread):
                one.hits += 1
                return one
        return None

    @staticmethod
    def _is_operation(chip: Chip, thread: int, one: Breakpoint, posted: int) -> bool:
        if posted <= Op.SPEND or posted not in one.location.operations:
            return False
        kind = one.location.operations[Op(posted)]
        return kind is None or kind == int(chip.arrays["contexts"][thread][ctx.ARG0])


def failed_thread(chip: Chip, error: TensimError) -> int | None:
    """The thread that an error is about."""
    machine = chip.machine
    if machine["stop"] == st.STOP_ERROR:
        return int(machine["error_thread"])
    states = chip.arrays["threads"]["state"]
    cause = next((node for node in error.where.get("waiting", ()) if node["is_cause"]), None)
    for thread in np.flatnonzero((states == st.PARKED) | (states == st.RUNNING)).tolist():
        place = thread_place(chip, thread)
        if cause is None or (place["core"], place["thread"]) == (cause["core"], cause["thread"]):
            return thread
    return None


def scheduled_thread(stops: EngineStops) -> int | None:
    """The thread whose event comes next, or None; `stops`: `EngineStops`."""
    event = stops.next_event()
    return -1 - event if -len(stops.chip.arrays["threads"]) <= event < 0 else None
