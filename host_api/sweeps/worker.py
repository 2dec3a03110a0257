"""What runs one point, in whatever process."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensim.results.code_digest import code_digest
from tensim.running.programs import run_program, settings_of
from tensim.running.runnable import find_program
from tensim.sim.errors import TensimError
from tensim.sweeps.sources import sources_of
from tensim.sweeps.table import FIGURES

if TYPE_CHECKING:
    from tensim.running.runnable import Runnable

_one = threading.Lock()  # a process simulates one point at a time, however many threads its executor has
_runnables = {}  # program -> (its file's time of change, Runnable): its kernels stay compiled


@dataclass(frozen=True)
class Outcome:
    """Of a point: {column: value}, why it failed (or empty text), {path: hash} of its sources, hash of the tensim that ran."""

    figures: dict[str, Any]
    error: str
    sources: dict[str, str]
    code: str


def run_point(settings: Mapping[str, Any]) -> Outcome:
    """The `Outcome` of a run with these settings (names as in `tensim.running.programs.Settings`).

    What a program does wrong is an outcome, too.
    """
    with _one:
        return _run(settings)


def _run(settings: Mapping[str, Any]) -> Outcome:
    figures, error, sources = {}, "", {}
    try:
        runnable = _runnable(settings["program"])
        sources = sources_of(runnable, ())
        given = {name: value for name, value in settings.items() if name != "program"}
        result = run_program(settings_of(runnable, given))
        sources = sources_of(runnable, [kernel["file"] for kernel in result.identity["kernels"]])
        figures = {column: _at(result.summary, path) for column, path in FIGURES.items()}
        if result.verified is False:
            error = f"the output is wrong: {result['comparison']['text']}"
    except TensimError as failure:
        error = f"{failure.kind}: {failure}"
        if sources and "file" in failure.where:
            sources = sources_of(runnable, [failure.where["file"]])
    except MemoryError as failure:
        error = f"out of memory: {failure}"
    except Exception as failure:  # of a program that is a function: its mistakes are rows like any other
        place = traceback.extract_tb(failure.__traceback__)[-1]
        error = f"{type(failure).__name__}: {failure} ({place.filename}:{place.lineno})"
    return Outcome(figures, " ".join(error.split()), sources, code_digest())


def _runnable(program: Any) -> Runnable:
    """The `Runnable` of a program, loaded once as long as its file stays the same."""
    if callable(program):
        return find_program(program)
    stamp = _stamp(program)
    if program not in _runnables or _runnables[program][0] != stamp:
        _runnables[program] = stamp, find_program(program)
    return _runnables[program][1]


def _stamp(program: str) -> int | None:
    try:
        return os.stat(program).st_mtime_ns
    except OSError:
        return None


def _at(summary: Mapping[str, Any], path: str) -> Any:
    for name in path.split("."):
        summary = summary[name]
    return summary


def warm(programs: Iterable[Any]) -> None:
    """Load all that the runs of some programs need, and compile the engine unless another process does or has done so."""
    run_program(settings_of("add_integers", {"numerics": "off"}))  # the smallest one: it needs what every run needs
    for program in programs:
        _runnable(program).load()
    code_digest()
