"""Runs a selection of a folder of tests of the vendor's on a simulated chip, and keeps what became of each.

`tensim ttnn --library` runs a process for each family of tests, `tensim device` one for a few families; `survey_child` runs in it
and tells what it does in a file.  A test that passes its limit of time, or in which the process ends, is the only one that is lost:
another process does the rest.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from tensim.library.environment import find_library
from tensim.library.outcomes import judged
from tensim.sim.chip.first_compilation import compile_once
from tensim.sim.errors import UsageError

CHILD = Path(__file__).with_name("survey_child.py")
START = 600  # seconds that a process may take until its first test begins: torch, the library, all files of tests
PATIENCE = 15  # seconds in which a process that is interrupted may end by itself
TOGETHER = 8  # families of the LLK suite in a process: its start takes longer than the tests of most of them
LOOK = 0.1  # seconds between looks at what a process has said


@dataclass(frozen=True)
class Survey:
    """What is surveyed: `options`, of the command; `limit`, of parametrisations; `seconds`, that a test may take.

    `release`: of the library, None for tests that drive the device by themselves: those are run as their own configuration says.
    `patterns`: names of the files of tests.
    """

    folder: Path
    python: str
    release: str | None
    options: tuple
    limit: int
    seconds: float
    patterns: tuple = ("test_*.py",)

    def settings(self):
        """What makes the results of two surveys comparable."""
        lists = {"options": list(self.options), "patterns": list(self.patterns)}
        return asdict(self) | {"folder": str(self.folder)} | lists


def survey_of(folder, python, options, limit, seconds):
    """A `Survey` with the library of an interpreter.  UsageError where there is none, or it lacks pytest."""
    library = find_library(python)
    require_package(library.python, "pytest")
    return Survey(Path(folder).resolve(), str(library.python), library.release, tuple(options), limit, seconds)


def require_package(python, name):
    """UsageError for an interpreter that lacks a package."""
    done = subprocess.run([python, "-c", f"import {name}"], capture_output=True, text=True)
    if done.returncode:
        raise UsageError(f"{python} has no {name}", hint=f"{python} -m pip install {name}")


APART = {"quasar", "helpers"}  # folders of tests of a chip that is not simulated, and of what is no test


def families(folder, patterns=("test_*.py",)):
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

    def __init__(self, survey, path=None):
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

    def _add(self, test):
        self.tests[test["test"]] = test

    def keep(self, family, record):
        """Keep a test's record."""
        outcome, why = judged(record)
        self.add_outcome(family, record["test"], outcome, why, record["seconds"])

    def add_outcome(self, family, name, outcome, why, seconds):
        """Keep what became of a test."""
        test = {"test": name, "family": family, "outcome": outcome, "why": why, "seconds": seconds}
        self._add(test)
        if self._file is not None:
            self._file.write(json.dumps(test) + "\n")
            self._file.flush()


def run(survey, results, on_progress=lambda text: None):
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

    def __init__(self, survey, group, results, on_progress):
        self.survey, self.results, self.on_progress = survey, results, on_progress
        self.files = [file for files in group.values() for file in files]
        self.families = {
            file.relative_to(survey.folder).as_posix(): family for family, files in group.items() for file in files
        }
        self.name = " to ".join(dict.fromkeys((next(iter(group)), next(reversed(group)))))
        self.started, self.selected = (
            False,
            None,
        )  # whether the process has begun; names of its tests, when it knows them
        self.now, self.since = None, time.monotonic()  # the test that runs; when the process has said something

    def run(self):
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
            self._lose(slow, process.returncode, last)
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

    def _family(self, name):
        """Of a test, by the file in its name."""
        return self.families[name.partition("::")[0]]

    def _left(self):
        return [name for name in self.selected if name not in self.results.tests]

    def _settings(self, report):
        root = next((path.parent for path in self.survey.folder.parents if path.name == "tests"), None)
        return {
            "folder": str(self.survey.folder), "files": list(map(str, self.files)), "limit": self.survey.limit,
            "done": list(self.results.tests), "root": root and str(root), "report": str(report),
            "own_configuration": self.survey.release is None,
        }  # fmt: skip

    def _command(self, settings):
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

    def _follow(self, process, lines):
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

    def _hear(self, record):
        self.since = time.monotonic()
        if "test" in record:
            self.results.keep(self._family(record["test"]), record)
            self.now = None
        elif "begins" in record:
            self.now = record["begins"]
            done = len(self.selected) - len(self._left())
            self.on_progress(f"{self.name}: {done + 1} of {len(self.selected)}: {self.now}")
        elif "selected" in record:
            self.selected = record["selected"]
        else:
            self.started = True

    def _lose(self, slow, status, last):
        """Keep that the test at hand has not come to its end."""
        seconds = round(time.monotonic() - self.since, 3)
        outcome = ("too slow", f"over {self.survey.seconds:g} s") if slow else ("failed", _ending(status, last))
        self.results.add_outcome(self._family(self.now), self.now, *outcome, seconds)


def _ending(status, last):
    """How a process has ended: the simulator says why in its last line (`runner`)."""
    if status < 0:
        return f"the process was ended by {signal.Signals(-status).name}"
    said = next((line for line in reversed(last) if line.startswith("error: ")), None)
    return said.removeprefix("error: ") if said else f"the process ended with status {status}"


def _end(process):
    """Leave no process behind: neither the simulator nor the library."""
    for number, patience in ((signal.SIGINT, PATIENCE), (signal.SIGKILL, None)):
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(patience)
