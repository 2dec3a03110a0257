"""The first compilation of the engine, and of its parts that are used rarely: once on a machine, and never in silence.

It takes a minute or more.  Processes that start at the same time wait for the one that began.
"""

import fcntl
import sys
import threading
import time
from contextlib import contextmanager

from tensim.sim.cores.riscv.build_progress import told_line
from tensim.sim.engine.cache import DIRECTORY
from tensim.sim.engine.entry_points import RUN_TILE, check_event, compute_event, run

FIRST = "compiling the engine, once for this version of tensim"
INSTRUCTIONS = "compiling the machine that executes Tensix instructions, once for this version of tensim"
WAITING = "another process compiles the engine; waiting for it"
EVERY = 30  # seconds between two lines where there is no terminal


def compile_once(check=False):
    """Compile the engine unless the cache holds it, or another process is about to put it there; and, with `check`, the checker."""

    def work():
        # imports numba, which takes a third of a second
        from tensim.sim.loop.first_start import compile_engine, compile_run

        compile_engine()
        compile_run(check_event.name if check and not check_event.is_compiled else None)

    in_turn(DIRECTORY / "compiling", lambda: run.is_compiled, work)


def compile_instruction_level(chip):
    """Compile what executes the Tensix instructions of a chip (its name), likewise."""
    _compile_parts((RUN_TILE[chip], compute_event))


def compile_tile(chip):
    """Compile what executes the instructions of one tile by itself."""
    _compile_parts((RUN_TILE[chip],))


def _compile_parts(parts):
    def work():
        for part in parts:
            part.code  # noqa: B018  compiled and kept

    in_turn(DIRECTORY / "compiling_instructions", lambda: all(part.is_compiled for part in parts), work, INSTRUCTIONS)


def in_turn(lock, is_done, work, text=FIRST):
    """Do the work, or wait until the process that holds the lock has done it; `text`: what is said meanwhile."""
    if is_done():
        return
    with _locked(lock):
        if not is_done():
            with _said(text):
                work()


@contextmanager
def _locked(path):
    """Hold a lock file; where files cannot be locked, nothing is held and the work is done twice."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with _said(WAITING):
                fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            pass
        yield


@contextmanager
def _said(text):
    """Say what is under way, at once and from time to time: in the progress line of a terminal, else in lines of stderr."""
    ended, begun, terminal = threading.Event(), time.monotonic(), told_line()

    def say(state=""):
        line = f"{text}{state}"
        if terminal is not None:
            terminal(line)
        else:
            print(f"tensim: {line}", file=sys.stderr, flush=True)

    def repeat():
        while not ended.wait(1 if terminal else EVERY):
            say(f" ({time.monotonic() - begun:.0f} s)")

    say()
    ticker = threading.Thread(target=repeat, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        ended.set()
        ticker.join()
    say(f": done in {time.monotonic() - begun:.0f} s")
