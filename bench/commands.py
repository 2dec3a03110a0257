"""The `tensim` command measured from outside: seconds, memory and results of whole processes."""

import json
import os
import resource
import subprocess
import sys
import time


def tensim(*arguments, **environment):
    """Run `tensim ARGUMENTS --json` in a process of its own; returns (its JSON, seconds of real time)."""
    command = [sys.executable, "-m", "tensim", *arguments, "--json"]
    begun = time.perf_counter()
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=600, check=False
    )
    seconds = time.perf_counter() - begun
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout), seconds


def fastest(repeats, *arguments):
    """The fastest of several runs: (JSON, seconds)."""
    return min((tensim(*arguments) for _ in range(repeats)), key=lambda run: run[1])


def in_turn(repeats, *commands):
    """The least processor seconds of each of several commands (their arguments), run in turn."""
    rounds = [[_processor_seconds(arguments) for arguments in commands] for _ in range(repeats)]
    return [min(seconds) for seconds in zip(*rounds, strict=True)]


def _processor_seconds(arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    tensim(*arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def peak_memory():
    """Bytes of the largest process that has been run so far."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def seconds_and_memory(*arguments):
    """(seconds of real time, bytes at most) of one `tensim ARGUMENTS` by itself, whatever ran before."""
    begun = time.perf_counter()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([sys.executable, "-m", "tensim", *arguments, "--json"], **quiet)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(process.args)} failed")
    return time.perf_counter() - begun, used.ru_maxrss * 1024
