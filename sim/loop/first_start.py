"""The first start ever: two processes compile a half of the engine each, and meet in numba's disk cache.

numba compiles in one thread.  `tensim.sim.loop.event_loop.compute_operation` with all it calls is half of the work and
shares little with the rest.  A second process that fails costs only time: what it has not left in the cache is compiled
here.
"""

import os
import subprocess
import sys

import numba as nb

from tensim.sim.cores.niu.deliveries import transaction_event
from tensim.sim.engine.coroutine import self_test
from tensim.sim.loop.event_loop import compute_operation, data_operation
from tensim.sim.state import MACHINE

ARGUMENTS = (nb.from_dtype(MACHINE), nb.int64, nb.int64)  # machine, thread or transaction, cycle


def compile_engine():
    """Compile what the entry point `run` calls; `run` itself follows when it is called."""
    self_test()
    if os.cpu_count() == 1:
        return
    command = [sys.executable, "-c", f"import {__name__} as first_start; first_start.compile_compute_half()"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment, **quiet) as helper:
        try:
            for function in (transaction_event, data_operation):
                function.dispatcher.compile(ARGUMENTS)
            helper.wait()
        finally:
            helper.kill()


def compile_compute_half():
    """What the second process does."""
    compute_operation.dispatcher.compile(ARGUMENTS)
