"""The first start ever: two processes compile a half of the engine each, and meet in numba's disk cache.

Then one of them makes machine code of it, and the other compiles the checker, where that is wanted.

numba compiles in one thread.  `tensim.sim.loop.event_loop.compute_operation` with all it calls is half of the work and
shares little with the rest.  A second process that fails costs only time: what it has not left in the cache is compiled
here.
"""

import os
import subprocess
import sys
from contextlib import contextmanager

import numba as nb

from tensim.sim.cores.niu.deliveries import transaction_event
from tensim.sim.engine import entry_points
from tensim.sim.engine.coroutine import self_test
from tensim.sim.engine.entry_points import run
from tensim.sim.loop.event_loop import compute_operation, data_operation
from tensim.sim.state import MACHINE

ARGUMENTS = (nb.from_dtype(MACHINE), nb.int64, nb.int64)  # machine, thread or transaction, cycle


def compile_engine():
    """Compile what the entry point `run` calls; `compile_run` makes machine code of it."""
    self_test()
    if os.cpu_count() == 1:
        return
    with _second_process(f"import {__name__} as first_start; first_start.compile_compute_half()"):
        for function in (transaction_event, data_operation):
            function.dispatcher.compile(ARGUMENTS)


def compile_run(beside=None):
    """Make machine code of the engine; `beside`: name of another entry point that a second process compiles meanwhile."""
    if beside is None or os.cpu_count() == 1:
        run.code  # noqa: B018  compiled and kept
        return
    with _second_process(f"from {entry_points.__name__} import {beside}; {beside}.code"):
        run.code  # noqa: B018


@contextmanager
def _second_process(text):
    """Another process runs a Python text beside a block, which ends when both have."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", text], env=environment, **quiet) as helper:
        try:
            yield
            helper.wait()
        finally:
            helper.kill()


def compile_compute_half():
    """What the second process does."""
    compute_operation.dispatcher.compile(ARGUMENTS)
