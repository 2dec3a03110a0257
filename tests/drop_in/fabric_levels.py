"""The fabric's router as its firmware, which is executed, and as the timed model: the same packets of the same workers on both.

`python -m tests.drop_in.fabric_levels n300 p150_x2 p150_x4` prints the rows of the table of docs/fabric.md (TENSIM_LIBRARY_PYTHON
names an interpreter that has ttnn and torch).
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PROGRAM = Path(__file__).with_name("programs_fabric.py")


class Case(NamedTuple):
    """Runs on a line of chips: payloads, and settings with which the model is like what the library starts.

    On simulated chips the library lets one core of a Blackhole's Ethernet tile run the router.
    """

    chips: int
    sizes: tuple
    settings: tuple = ()


ONE_PROCESSOR = ("ethernet.router.processors=1",)
CASES = {  # by mesh and largest payload of the fabric
    ("n300", 4352): Case(2, (16, 2048, 4096)),
    ("p150_x2", 4352): Case(2, (16, 2048, 4096), ONE_PROCESSOR),
    ("p150_x2", 14336): Case(2, (14336,), ONE_PROCESSOR),
    ("p150_x4", 4352): Case(4, (16, 4096), ONE_PROCESSOR),
}
MEASURES = ("round_trip", "packet", "both")


def measured(mesh, largest, python):
    """({size: measures} of the executed firmware, the same of the timed model)."""
    case = CASES[mesh, largest]
    tensim, arguments = [sys.executable, "-m", "tensim"], [str(PROGRAM), *map(str, (case.chips, largest, *case.sizes))]
    settings = [word for setting in case.settings for word in ("--set", setting)]
    device = [*tensim, "device", "--mesh", mesh, "--", python, *arguments]
    model = [*tensim, "ttnn", "--library", "--mesh", mesh, "--python", python, *settings, *arguments]
    return _told(device, python), _told(model, python)


def _told(command, python):
    """What a program says of each size.  RuntimeError with its messages."""
    environment = os.environ | {"TENSIM_LIBRARY_PYTHON": python}
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, env=environment)
    if done.returncode:
        raise RuntimeError(done.stderr)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {row["size"]: row for row in rows}


def main():
    """Print rows: mesh, size of a payload, and of each measure both levels' cycles."""
    for mesh, largest in CASES:
        if mesh in sys.argv[1:]:
            firmware, model = measured(mesh, largest, os.environ["TENSIM_LIBRARY_PYTHON"])
            for size, row in firmware.items():
                pairs = (f"{row[name]:,.0f} | {model[size][name]:,.0f}" for name in MEASURES)
                print(f"| {mesh} | {size:,} | {' | '.join(pairs)} |", flush=True)


if __name__ == "__main__":
    main()
