"""Start-up of the command: seconds of whole warm processes that do little, and of `import numba` alone to compare with."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPEATS = 5
RECORDINGS = 70
PYTHON = (sys.executable, "-c")
TENSIM = (sys.executable, "-m", "tensim")
COMPLETION = {"_TENSIM_COMPLETE": "bash_complete", "COMP_WORDS": "tensim run mat", "COMP_CWORD": "2"}
COMPLETE = "from tensim.cli.main import main; main(prog_name='tensim')"


def seconds(*command, code=0, **environment):
    """Of the fastest of some runs of a command that ends with `code`; Python keeps its modules compiled, as it does for users."""
    best, environment = float("inf"), {**os.environ, **environment}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for _ in range(REPEATS):
        begun = time.perf_counter()
        done = subprocess.run(command, env=environment, capture_output=True)
        best = min(best, time.perf_counter() - begun)
        assert done.returncode == code, done.stderr.decode()
    return best


def rows():
    """(name, seconds, goal) of each kind of start; the last has read, replayed and reported a number of recordings."""
    yield "help", seconds(*TENSIM, "--help"), 0.15
    yield "completion of an example's name", seconds(*PYTHON, COMPLETE, **COMPLETION), 0.15
    yield "usage error", seconds(*TENSIM, "run", "no_such_program", code=2), 0.15
    yield "warm run of add_integers", seconds(*TENSIM, "run", "add_integers", "--json"), 0.2
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "events.json"))
        seconds(*TENSIM, "run", "eltwise_add", "--shape", "128x128", "--noc-trace", file)
        yield (
            f"replay-noc of {RECORDINGS} recordings",
            seconds(*TENSIM, "replay-noc", *[file] * RECORDINGS, "--json"),
            0.25,
        )


def numba_seconds():
    """Of `import numba` alone."""
    return seconds(*PYTHON, "import numba")
