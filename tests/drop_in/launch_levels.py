"""Cycles of the vendor's library's programs: with firmware and dispatchers executed, and as tensim makes them of launch messages.

`python -m tests.drop_in.launch_levels CHIP [CASE ...]` prints both for each program of the cases of tests/library/cases.py that
ran on both, longest first, and quantiles of what the executed ones take beyond the others (TENSIM_LIBRARY_PYTHON names an
interpreter that has ttnn).
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.drop_in.test_functional_simulator import CASES, listed


def programs_of(chip, names, folder, python):
    """{host's number: (name, cores, cycles of the executed launch, cycles of the operation)} of cases run in one process each."""
    device = ["device", "--dispatch", "fast"]
    library = ["ttnn", "--library", "--numerics", "off"]
    executed = _told([*device, "--arch", chip, "--python", python], ["--", python], names, Path(folder, "executed"))
    made = _told([*library, "--arch", chip, "--python", python], [], names, Path(folder, "made"))
    launches = {one["id"]: one for one in executed["device"]["launches"] if one["end_cycles"] is not None}
    return {
        operation["launch_id"]: (
            operation["name"],
            one["cores"],
            one["end_cycles"] - one["begin_cycles"],
            operation["cycles"],
        )
        for operation in made["operations"]
        if (one := launches.get(operation["launch_id"]))
    }


def _told(options, words, names, place):
    """The report of a command that runs cases.  RuntimeError with its messages when it leaves none."""
    place.mkdir()
    command = [
        sys.executable,
        "-m",
        "tensim",
        *options,
        "--json",
        place / "report.json",
        *words,
        CASES,
        place / "cases",
        *names,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000)
    if not (place / "report.json").exists():
        raise RuntimeError(done.stderr)
    return json.loads((place / "report.json").read_text())


def main(chip, *names):
    """Print rows: cores, cycles executed, cycles made, what the former take more (cycles, percent), name."""
    with tempfile.TemporaryDirectory() as folder:
        found = programs_of(chip, names or listed(), folder, os.environ["TENSIM_LIBRARY_PYTHON"])
    for name, cores, executed, made in sorted(found.values(), key=lambda one: -one[2]):
        print(f"{cores:4} {executed:9,} {made:9,} {executed - made:+8,} {100 * (executed / made - 1):+6.1f} %  {name}")
    more = np.array([100 * (executed / made - 1) for _, _, executed, made in found.values()])
    print(
        f"{len(more)} programs: {', '.join(f'{name} {np.quantile(more, at):+.1f} %' for name, at in QUANTILES.items())}"
    )


QUANTILES = {"least": 0, "p10": 0.1, "median": 0.5, "p90": 0.9, "most": 1}

if __name__ == "__main__":
    main(*sys.argv[1:])
