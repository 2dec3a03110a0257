"""The end of a process that we have started: it ends by itself or is ended, and its status becomes ours."""

from __future__ import annotations

import signal
import sys
import time
from subprocess import Popen
from typing import Any

INTERRUPTED = 128 + signal.SIGINT  # exit status after Ctrl-C
PATIENCE = 10  # seconds in which a process may end by itself


def wait_for_exit(process: Popen[Any], seconds: float) -> bool:
    """Wait for a process for some seconds; whether it has ended."""
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    return process.poll() is not None


def end_process(process: Popen[Any]) -> None:
    """Leave no process behind: it ends by itself, or is ended, at once after another Ctrl-C."""
    try:
        for ask in (process.terminate, process.kill):
            if wait_for_exit(process, PATIENCE if ask == process.terminate else 1):
                return
            ask()
    except KeyboardInterrupt:
        process.kill()
    process.wait()


def exit_status(code: int, what: str) -> int:
    """The exit status for a process's return code: as a shell has it when a signal ended it.  `what`: the process, in messages."""
    if code >= 0:
        return code
    if code != -signal.SIGINT:
        print(f"error: {what} was ended by {signal.Signals(-code).name}", file=sys.stderr)
    return 128 - code
