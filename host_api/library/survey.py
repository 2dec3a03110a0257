"""Runs a selection of a folder of tests of the vendor's on a simulated chip, and keeps what became of each.

`tensim ttnn --library` runs a process for each family of tests, `tensim device` one for a few families; `survey_child` runs in it
and tells what it does in a file.  A test that passes its limit of time, or in which the process ends, is the only one that is lost:
another process does the rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from tensim.library.environment import find_library
from tensim.library.outcomes import judged
from tensim.sim.chip.first_compilation import compile_once
from tensim.sim.errors import UsageError

CHILD = Path(__file__).with_name("survey_child.py")
START = 600  # seconds that a process may take until its first test begins: torch, the library, all files of tests
PATIENCE = 15  # seconds in which a process that is interrupted may end by itself
TOGETHER = 8  # families of the LLK suite in a process: its start takes longer than the tests of most of them
MEASURED = ("values", "times")  # of a performance test of the LLK suite: its parameters, and what took how long
LOOK = 0.1  # seconds between looks at what a process has said


@dataclass(frozen=True)
class Survey:
    """What is surveyed: `options`, of the command; `limit`, of parametrisations; `seconds`, that a test may take.

    `release`: of the library, None for tests that drive the device by themselves: those are run as their own configuration says.
    `patterns`: names of the files of tests.  `chosen`: {"function", "values"} of the parametrisations that are run
    (`survey_child`), where it is not their number that selects them.  `mesh`: (rows, columns) of the chips.
    """

    folder: Path
    python: str
    release: str | None
    options: tuple[str, ...]
    limit: int
    seconds: float
    patterns: tuple[str, ...] = ("test_*.py",)
    chosen: tuple[Mapping[str, Any], ...] = ()
    mesh: tuple[int, int] = (1, 1)

    def settings(self) -> dict[str, Any]:
        """What makes the results of two surveys comparable."""
        lists = {name: list(getattr(self, name)) for name in ("options", "patterns", "chosen", "mesh")}
        return asdict(self) | {"folder": str(self.folder)} | lists


def survey_of(
    folder: str | Path,
    python: str | None,
    options: Iterable[str],
    limit: int,
    seconds: float,
    mesh: tuple[int, int] = (1, 1),
) -> Survey:
    """A `Survey` with the library of an interpreter.  UsageError where there is none, or it lacks pytest."""
    library = find_library(python)
    require_package(library.python, "pytest")
    folder, python = Path(folder).resolve(), str(library.python)
    return Survey(folder, python, library.release, tuple(options), limit, seconds, mesh=mesh)


def require_package(python: str | Path, name: str) -> None:
    """UsageError for an interpreter that lacks a package."""
    done = subprocess.run([python, "-c", f"import {name}"], capture_output=True, text=True)
    if done.returncode:
        raise UsageError(f"{python} has no {name}", hint=f"{python} -m pip install {name}")


APART = {"quasar", "helpers"}  # folders of tests of a chip that is not simulated, and of what is no test


def families(folder: Path, patterns: Iterable[str] = ("test_*.py",)) -> dict[str, list[Path]]:
    """{family: files} of the tests below a folder: those of a folder below it, and each file that lies in it itself.

    UsageError where there are none.
    """
    found = {}
    for file in sorted(path for pattern in patterns for path in folder.rglob(pattern)):
        inside = file.parent.relative_to(folder).as_posix()
        if not APART & set(inside.split("/")):
            found.setdefault(file.stem.removeprefix("test_") if inside == "." else inside, []).append(file)
    if not found:
        raise UsageError(f"there are no tests ({', '.join(patterns)}) below {folder}")
    return found


class Results:
    """What became of each test so far: in a file, if there is one, which a later survey goes on from.

    The file's first line is the survey's settings, each other one a test.
    """

    def __init__(self, survey: Survey, path: str | Path | None = None) -> None:
        self.tests, self._file = {}, None
        if path is None:
            return
        lines = Path(path).read_text().splitlines() if Path(path).exists() else []
        settings = json.dumps(survey.settings())
        if lines and lines[0] != settings:
            raise UsageError(f"{path} is of another survey: {lines[0]}", hint="name another file, or remove this one")
        for line in lines[1:]:
            with contextlib.suppress(ValueError):  # the last one may be cut off
                self._add(json.loads(line))
        text = "".join(f"{line}\n" for line in [settings, *map(json.dumps, self.tests.values())])
        Path(path).write_text(text)
        self._file = open(path, "a", encoding="utf-8")

    def _add(self, test: dict[str, Any]) -> None:
        self.tests[test["test"]] = test

    def keep(self, family: str, record: Mapping[str, Any]) -> None:
        """Keep a test's record."""
        outcome, why = judged(record)
        more = {key: record[key] for key in MEASURED if key in record}
        self.add_outcome(family, record["test"], outcome, why, record["seconds"], **more)

    def add_outcome(self, family: str, name: str, outcome: str, why: str, seconds: float, **more: Any) -> None:
        """Keep what became of a test, and `more`: what it has measured (`MEASURED`)."""
        test = {"test": name, "family": family, "outcome": outcome, "why": why, "seconds": seconds, **more}
        self._add(test)
        if self._file is not None:
            self._file.write(json.dumps(test) + "\n")
            self._file.flush()


def run(survey: Survey, results: Results, on_progress: Callable[[str], object] = lambda text: None) -> None:
    """Run what `results` lacks; `on_progress(text)` is called as tests begin."""
    compile_once()  # no test's time
    found = list(families(survey.folder, survey.patterns).items())
    size = TOGETHER if survey.release is None else 1
    waiting = [dict(found[first : first + size]) for first in range(0, len(found), size)]
    while waiting:
        attempt = _Attempt(survey, waiting[0], results, on_progress)
        if attempt.run():
            waiting.pop(0)
        elif attempt.selected is None:  # one of the families ends the process before any test
            waiting[:1] = [dict([family]) for family in waiting[0].items()]


class _Attempt:
    """One process, that runs tests of some families, {family: files}, until all are done or one of them ends it."""

    def __init__(
        self, survey: Survey, group: dict[str, list[Path]], results: Results, on_progress: Callable[[str], object]
    ) -> None:
        self.survey, self.results, self.on_progress = survey, results, on_progress
        self.files = [file for files in group.values() for file in files]
        self.families = {
            file.relative_to(survey.folder).as_posix(): family for family, files in group.items() for file in files
        }
        self.name = " to ".join(dict.fromkeys((next(iter(group)), next(reversed(group)))))
        self.started = False  # whether the process has begun
        self.selected: list[str] | None = None  # names of its tests, when it knows them
        self.now: str | None = None  # the test that runs
        self.since = time.monotonic()  # when the process has said something

    def run(self) -> bool:
        """Whether nothing is left to do."""
        before = len(self.results.tests)
        self.on_progress(f"{self.name}: starting")
        with tempfile.TemporaryDirectory(prefix="tensim-") as folder:
            settings, report, log = (Path(folder, name) for name in ("settings.json", "report.jsonl", "log.txt"))
            report.touch()
            settings.write_text(json.dumps(self._settings(report)))
            with open(log, "wb") as said, open(report, encoding="utf-8") as lines:
                # Where tt-umd keeps the sockets of a simulation: a driver takes one that is there for its own
                environment = os.environ | {"TMPDIR": folder}
                process = subprocess.Popen(
                    self._command(settings), stdout=said, stderr=said, start_new_session=True, env=environment
                )
                try:
                    slow = self._follow(process, lines)
                finally:
                    _end(process)
            last = log.read_text(errors="replace").strip().splitlines()
        if self.now is not None:
            self._lose(self.now, slow, process.returncode, last)
            return False
        if not self.started and not slow:
            hint = next((line.strip().removeprefix("hint: ") for line in reversed(last) if "hint: " in line), None)
            raise UsageError(f"the tests cannot be started: {_ending(process.returncode, last)}", hint=hint)
        if self.selected is None and len(set(self.families.values())) > 1:
            return False
        if self.selected is None:
            why = f"does not start within {START} s" if slow else _ending(process.returncode, last)
            self.results.add_outcome(self.name, self.name, "failed", f"import: {why}", 0.0)
            return True
        left = self._left()
        if left and len(self.results.tests) == before:
            ending = _ending(process.returncode, last)
            self.results.add_outcome(self._family(left[0]), left[0], "failed", ending, 0.0)
        return not left  # where a fixture has ended it, some are

    def _family(self, name: str) -> str:
        """Of a test, by the file in its name."""
        return self.families[name.partition("::")[0]]

    def _left(self) -> list[str]:
        return [name for name in self._named() if name not in self.results.tests]

    def _named(self) -> list[str]:
        assert self.selected is not None  # the process has said what it runs
        return self.selected

    def _settings(self, report: Path) -> dict[str, Any]:
        root = next((path.parent for path in self.survey.folder.parents if path.name == "tests"), None)
        return {
            "folder": str(self.survey.folder), "files": list(map(str, self.files)), "limit": self.survey.limit,
            "done": list(self.results.tests), "root": root and str(root), "report": str(report),
            "own_configuration": self.survey.release is None, "chosen": list(self.survey.chosen),
            "mesh": list(self.survey.mesh),
        }  # fmt: skip

    def _command(self, settings: Path) -> list[str]:
        survey, program = self.survey, [str(CHILD), str(settings)]
        if survey.release is None:
            return [sys.executable, "-m", "tensim", "device", *survey.options, "--", survey.python, *program]
        return [
            sys.executable,
            "-m",
            "tensim",
            "ttnn",
            "--library",
            "--python",
            survey.python,
            *survey.options,
            *program,
        ]

    def _follow(self, process: subprocess.Popen[bytes], lines: IO[str]) -> bool:
        """Read what the process says until it ends; whether it took too long."""
        part = ""
        while True:
            running = process.poll() is None
            for line in lines:
                part += line
                if part.endswith("\n"):
                    self._hear(json.loads(part))
                    part = ""
            if not running:
                return False
            if time.monotonic() - self.since > (START if self.now is None else self.survey.seconds):
                return True
            time.sleep(LOOK)

    def _hear(self, record: Mapping[str, Any]) -> None:
        self.since = time.monotonic()
        if "test" in record:
            self.results.keep(self._family(record["test"]), record)
            self.now = None
        elif "begins" in record:
            self.now = record["begins"]
            done, count = len(self._named()) - len(self._left()), len(self._named())
            self.on_progress(f"{self.name}: {done + 1} of {count}: {self.now}")
        elif "selected" in record:
            self.selected = record["selected"]
        else:
            self.started = True

    def _lose(self, name: str, slow: bool, status: int, last: Sequence[str]) -> None:
        """Keep that the test at hand has not come to its end."""
        seconds = round(time.monotonic() - self.since, 3)
        outcome = ("too slow", f"over {self.survey.seconds:g} s") if slow else ("failed", _ending(status, last))
        self.results.add_outcome(self._family(name), name, *outcome, seconds)


def _ending(status: int, last: Sequence[str]) -> str:
    """How a process has ended: the simulator says why in its last line (`runner`)."""
    if status < 0:
        return f"the process was ended by {signal.Signals(-status).name}"
    said = next((line for line in reversed(last) if line.startswith("error: ")), None)
    return said.removeprefix("error: ") if said else f"the process ended with status {status}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Leave no process behind: neither the simulator nor the library."""
    for number, patience in ((signal.SIGINT, PATIENCE), (signal.SIGKILL, None)):
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(patience)
