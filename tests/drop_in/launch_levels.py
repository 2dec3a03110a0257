"""Cycles of the vendor's library's programs: with firmware and dispatchers executed, and as tensim makes them of launch messages.

`python -m tests.drop_in.launch_levels CHIP [CASE ...]` prints both for each program of the cases of tests/library/cases.py, and
quantiles of what the executed ones take beyond the others (TENSIM_LIBRARY_PYTHON names an interpreter that has ttnn).
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.drop_in.test_functional_simulator import CASES, listed

QUANTILES = {"least": 0, "p10": 0.1, "median": 0.5, "p90": 0.9, "most": 1}


def programs_of(chip, case, python):
    """[(name, cores, cycles executed, cycles made)] of a case's programs; None where fast dispatch launched others."""
    executed = _told(["device", "--dispatch", "fast", "--arch", chip, "--python", python], ["--", python], case)[
        "device"
    ]
    made = _told(["ttnn", "--library", "--arch", chip, "--python", python], [], case)["operations"]
    launches = [one for one in executed["launches"] if one["end_cycles"] is not None and one["id"]]
    if [one["id"] for one in launches] != [operation["launch_id"] for operation in made]:
        return None
    return [
        (operation["name"], one["cores"], one["end_cycles"] - one["begin_cycles"], operation["cycles"])
        for one, operation in zip(launches, made, strict=True)
    ]


def _told(options, words, case):
    """The report of a command that runs a case.  RuntimeError with its messages when it leaves none."""
    with tempfile.TemporaryDirectory() as folder:
        report, held = Path(folder, "report.json"), Path(folder, "held")
        command = [sys.executable, "-m", "tensim", *options, "--json", report, *words, CASES, held, case]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if not report.exists():
            raise RuntimeError(done.stderr)
        return json.loads(report.read_text())


def main(chip, *names):
    """Print rows: case, cores, cycles executed, cycles made, what the former take more (cycles, percent), name."""
    more = []
    for case in names or listed():
        rows = programs_of(chip, case, os.environ["TENSIM_LIBRARY_PYTHON"])
        if rows is None:
            print(f"{case}: other programs by fast dispatch")
        for name, cores, executed, made in rows or ():
            beyond = 100 * (executed / made - 1)
            more.append(beyond)
            print(
                f"{case:24} {cores:4} {executed:9,} {made:9,} {executed - made:+8,} {beyond:+6.1f} %  {name}",
                flush=True,
            )
    print(
        f"{len(more)} programs: {', '.join(f'{name} {np.quantile(more, at):+.1f} %' for name, at in QUANTILES.items())}"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
