"""A run's folder: its result, what it was asked to do, and what it said.

result.json is a saved `Result`; configuration.yaml the command, the choices and every parameter of the chip; log.txt what the
run reported and its kernels printed, with seconds since its start.
"""

import sys
import time
from pathlib import Path

from tensim.results.result import FILE
from tensim.sim.errors import UsageError

CONFIGURATION, LOG = "configuration.yaml", "log.txt"


class RunFolder:
    """The folder of one run; made when it is not there.  UsageError when it cannot be written.

    Files of an earlier run there are replaced.
    """

    def __init__(self, path):
        self.path, self._begun = Path(path), time.perf_counter()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            for name in (FILE, CONFIGURATION):
                (self.path / name).unlink(missing_ok=True)
            (self.path / LOG).write_text("")
        except OSError as error:
            raise UsageError(f"cannot write the folder {path}: {error.strerror}") from error

    def log(self, text):
        """Add a line to the log."""
        with open(self.path / LOG, "a") as file:
            file.write(f"{time.perf_counter() - self._begun:9.3f}  {text}\n")

    def also_told(self, listener):
        """A function that tells what another one is told, and the log, too."""

        def call(text):
            listener(text)
            self.log(text)

        return call

    def configure(self, identity, arch):
        """Say what is run (`tensim.results.identity`), and on which chip (`tensim.sim.arch.Arch`)."""
        import yaml

        run = {name: value for name, value in identity.items() if name != "kernels"}
        told = {"command": sys.argv, "run": run, "parameters": arch.values()}
        (self.path / CONFIGURATION).write_text(yaml.safe_dump(told, sort_keys=False))

    def finish(self, result):
        """Save the result of the run."""
        for warning in result.warnings:
            self.log(f"warning: {warning}")
        self.log(f"{result.cycles:,} cycles")
        result.save(self.path)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is not None:
            self.log(f"{kind.__name__}: {error}")
