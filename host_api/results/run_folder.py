"""A run's folder: its result, what it was asked to do, and what it said.

result.json is a saved `Result`; configuration.yaml the command, the choices and every parameter of the chip; log.txt what the
run reported and its kernels printed, with seconds since its start.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from tensim.results.result import FILE
from tensim.sim.errors import UsageError
from tensim.sim.output_files import append_output, remove_output, require_output, write_output

if TYPE_CHECKING:
    from tensim.results.result import Result
    from tensim.sim.arch import Arch

CONFIGURATION, LOG = "configuration.yaml", "log.txt"


class RunFolder:
    """The folder of one run; made when it is not there.  UsageError when it cannot be written.

    Files of an earlier run there are replaced.  `unwritten`: [{"file", "why"}] of what could not be written later, when the
    disk is full say: the run goes on and has its other results.
    """

    def __init__(self, path: str | Path) -> None:
        self.path, self._begun = Path(path), time.perf_counter()
        self.unwritten: list[dict[str, str]] = []
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            for name in (FILE, CONFIGURATION, LOG):
                remove_output(self.path / name)
                require_output(self.path / name)
        except OSError as error:
            raise UsageError(f"cannot write the folder {path}: {error.strerror}") from error

    def log(self, text: str) -> None:
        """Add a line to the log."""
        line = f"{time.perf_counter() - self._begun:9.3f}  {text}\n"
        self._write(LOG, lambda path: append_output(path, line))

    def _write(self, name: str, action: Callable[[Path], object]) -> None:
        """`action(path)` writes a file of the folder; the first failure of each is remembered."""
        path = self.path / name
        try:
            action(path)
        except OSError as error:
            if not any(item["file"] == str(path) for item in self.unwritten):
                self.unwritten.append({"file": str(path), "why": error.strerror or str(error)})

    def also_told(self, listener: Callable[[str], object]) -> Callable[[str], None]:
        """A function that tells what another one is told, and the log, too."""

        def call(text: str) -> None:
            listener(text)
            self.log(text)

        return call

    def configure(self, identity: Mapping[str, Any], arch: Arch) -> None:
        """Say what is run (`tensim.results.identity`), and on which chip (`tensim.sim.arch.Arch`)."""
        import yaml

        run = {name: value for name, value in identity.items() if name != "kernels"}
        told = {"command": sys.argv, "run": run, "parameters": arch.values()}
        self._write(CONFIGURATION, lambda path: write_output(path, yaml.safe_dump(told, sort_keys=False)))

    def finish(self, result: Result) -> None:
        """Save the result of the run, whose `unwritten` then has what could not be."""
        for warning in result.warnings:
            self.log(f"warning: {warning}")
        self.log(f"{result.cycles:,} cycles")
        summary = result.summary
        if self.unwritten:
            summary["unwritten"] = [*summary.get("unwritten", ()), *self.unwritten]
        before = len(self.unwritten)
        self._write(FILE, lambda path: write_output(path, result.to_json()))
        if self.unwritten[before:]:
            summary["unwritten"] = [*summary.get("unwritten", ()), *self.unwritten[before:]]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.log(f"{type(error).__name__}: {error}")
