"""Threads beside the event loop's that take part in tile arithmetic (`tensim.sim.cores.tensix.queues`): one team of a process.

They begin when a chip has long operations to do, and end when there was nothing for them for some time.  They hold no Python object
and never the interpreter's lock.  How many there are changes neither cycles nor bits.
"""

from __future__ import annotations

import atexit
import functools
import os
import threading
from typing import TYPE_CHECKING

import numpy as np

from tensim.sim.cores.tensix.queue_state import MAX_THREADS, SERVE, SERVING, STOP, TEAM
from tensim.sim.engine.entry_points import run
from tensim.sim.engine.memory import zeros_in_cache_lines
from tensim.sim.errors import UsageError
from tensim.sim.state import STOP_TEAM

if TYPE_CHECKING:
    from tensim.sim.chip.chip import Chip

VARIABLE = "TENSIM_NUMERICS_THREADS"
# where an exact matrix product has come close to what the event loop alone takes (docs/numerics.md)
MOST_BY_DEFAULT = 16
PATIENCE = 256  # long operations, milliseconds of work, after which threads are worth their start
WORD_BYTES = 8


class Team:
    """The threads of this process; `record`: what they and the engine share."""

    def __init__(self) -> None:
        self.record = zeros_in_cache_lines(1, TEAM)
        self._words: np.ndarray = self.record.view(np.int64)
        self._threads: list[threading.Thread] = []

    @property
    def address(self) -> int:
        """Of the record."""
        return int(self.record.ctypes.data)

    def serves(self, count: int) -> bool:
        """Are there `count` threads that have not ended?"""
        return bool(self._words[SERVING // WORD_BYTES] == count)

    def begin(self, count: int) -> None:
        """Let `count` threads serve; where the system gives no more threads, there are none from now on."""
        self.end()
        self._words[SERVING // WORD_BYTES] = count
        for number in range(1, count + 1):
            name, arguments = f"tensim numerics {number}", (self.address, SERVE, number)
            thread = threading.Thread(target=run.beside, args=arguments, name=name, daemon=True)
            try:
                thread.start()
            except RuntimeError:
                self.end()
                set_numerics_threads(1)
                return
            self._threads.append(thread)

    def end(self) -> None:
        """End the threads and wait for that."""
        self._words[STOP // WORD_BYTES] = 1
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        self._words[:] = 0


TEAM_OF_PROCESS = Team()
atexit.register(TEAM_OF_PROCESS.end)
os.register_at_fork(before=TEAM_OF_PROCESS.end)  # a child has none of its parent's threads
_chosen: int | None = None


def set_numerics_threads(count: int | None) -> None:
    """Let `count` threads of this process, the event loop's among them, do tile arithmetic; None: as many as is usual.

    Raises UsageError for a number below 1 or above 64.
    """
    global _chosen
    _chosen = None if count is None else _valid(count)


def _valid(count: int) -> int:
    if not 1 <= count <= MAX_THREADS:
        raise UsageError(f"{count} threads for numerics; there may be 1 to {MAX_THREADS}")
    return count


@functools.cache
def _said_by_environment() -> int | None:
    text = os.environ.get(VARIABLE, "")
    if not text:
        return None
    if not text.isdigit():
        raise UsageError(f"{VARIABLE} is {text!r}, which is no number of threads")
    return _valid(int(text))


@functools.cache
def _usual() -> int:
    """Threads for the processors that this process may use, which processes of pytest-xdist share."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    sharing = os.environ.get("PYTEST_XDIST_WORKER_COUNT", "")
    return max(min(processors, MOST_BY_DEFAULT) // (int(sharing) if sharing.isdigit() else 1), 1)


def helpers(numerics: str) -> int:
    """Threads beside the event loop's that a chip's tile arithmetic may have."""
    if numerics == "off":
        return 0
    return (_chosen or _said_by_environment() or _usual()) - 1


def run_stretch(chip: Chip, limit: int, fuel: int) -> None:
    """Run a chip's engine until it stops, with other threads for tile arithmetic from the time when there is much of it.

    When the chip has none yet and they are worth it, the engine stops with STOP_TEAM, and the next stretch has them.
    """
    machine, count = chip.machine, helpers(chip.numerics) if chip.run_engine is run else 0
    helped = count > 0 and TEAM_OF_PROCESS.serves(count)
    machine["team_at"] = TEAM_OF_PROCESS.address if helped else 0
    if helped or count == 0:
        machine["patience"] = 0
    elif machine["patience"] <= 0:
        machine["patience"] = PATIENCE
    chip.run_engine(chip.arrays.address, limit, fuel)
    if machine["stop"] == STOP_TEAM:
        TEAM_OF_PROCESS.begin(count)
