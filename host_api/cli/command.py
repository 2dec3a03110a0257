"""The process of the `tensim` command: it ends when its work has, without taking the interpreter apart."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from typing import NoReturn, cast

NEW_OBJECTS = 150_000  # between two searches for garbage: what imports make is none, and Python looks after every 700


def command() -> None:
    """Run `tensim.cli.main.main` with the arguments of the process, and leave it with the exit code."""
    gc.set_threshold(NEW_OBJECTS)
    from tensim.cli.main import main

    try:
        main()
    except SystemExit as end:
        if _is_watched() or end.code not in range(256):
            raise
        _leave(end)


def _is_watched() -> bool:
    """Does a debugger, a profiler or a user at a prompt wait for the interpreter's own end?"""
    return bool(sys.gettrace() or sys.getprofile() or sys.flags.inspect or sys.flags.interactive)


def _leave(end: SystemExit) -> NoReturn:
    """End the process as the interpreter does, but for freeing its objects: a tenth of a second with LLVM's and numpy's.

    Where output cannot be written, the interpreter's own end says so.
    """
    threading._shutdown()  # type: ignore[attr-defined]  # as the interpreter: threads that are no daemons are waited for
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        raise end from None
    os._exit(cast(int, end.code))
