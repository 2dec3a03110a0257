"""Processes on this machine that run points: forked from one that has loaded everything, so each starts warm.

One that dies takes its point along.  The points that were under way then run again one at a time, so that it is known which
one kills its process.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import warnings
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from tensim.sim.chip.numerics_threads import set_numerics_threads
from tensim.sweeps.worker import warm

PR_SET_PDEATHSIG = 1  # of prctl: the signal that a process gets when its parent dies


def _begin() -> None:
    """In a new process: the parent hears of Ctrl-C, nobody outlives it, and numpy and tile arithmetic have one thread each: the
    other processors have points, too."""
    set_numerics_threads(1)
    with contextlib.suppress(ImportError):
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def start(processes: int, programs: Iterable[Any]) -> ProcessPoolExecutor:
    """A `ProcessPoolExecutor` of processes that are warm for some programs."""
    warm(programs)
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(processes, context, initializer=_begin)
    with warnings.catch_warnings():
        # threads of the parent: no lock of theirs is used in a child
        warnings.simplefilter("ignore", DeprecationWarning)
        pool.submit(os.getpid).result()  # all processes are forked here
    return pool


def kill(pool: ProcessPoolExecutor) -> None:
    """End the processes at once."""
    running = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in running:
        process.kill()
    for process in running:
        process.join()


def usable_processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))
