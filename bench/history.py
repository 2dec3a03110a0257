"""What earlier runs of the benchmarks gave: a line of JSON for each run, with the commit and the machine.

A run is compared with the last one on the same machine; what another machine gave says nothing of a change.
"""

import hashlib
import json
import os
import platform
import subprocess
import time
from pathlib import Path

HISTORY = Path(__file__).with_name("history.jsonl")
CHANGED = 0.03  # relative, from which on a figure is told to have changed


def machine():
    """A short name of this machine's processor and its number of processors: {"processor", "cores", "id"}."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else platform.processor()
    model = next((line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")), text)
    told = {"processor": model, "cores": os.cpu_count()}
    return told | {"id": hashlib.sha256(repr(told).encode()).hexdigest()[:8]}


def commit():
    """The commit of the checkout, with + behind it where files differ from it; None outside of one."""
    folder = Path(__file__).parent
    try:
        name = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=folder, capture_output=True, check=True)
        changed = subprocess.run(["git", "status", "--porcelain", "-uno"], cwd=folder, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return name.stdout.decode().strip() + ("+" if changed.stdout.strip() else "")


def before(path, here):
    """{name of a figure: its last value} of the earlier runs on a machine (`machine`)."""
    values = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        run = json.loads(line)
        if run["machine"]["id"] == here["id"]:
            values |= run["figures"]
    return values


def keep(path, figures, here):
    """Write a run of `figures` ({"name", "value", ...} each) behind the others."""
    run = {
        "commit": commit(), "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "machine": here,
        "figures": {figure["name"]: figure["value"] for figure in figures},
    }  # fmt: skip
    with path.open("a") as file:
        file.write(json.dumps(run) + "\n")


def change(figure, values):
    """How a figure differs from its last value, in words; empty where there is none, "=" within `CHANGED`."""
    old = values.get(figure["name"])
    if not old:
        return ""
    relative = figure["value"] / old - 1
    return "=" if abs(relative) < CHANGED else f"{relative:+.0%}"
