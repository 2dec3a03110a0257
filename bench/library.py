"""The vendor's own ttnn on tensim: what its device costs the host, by its launches and register by register."""

import json
import subprocess
import tempfile
from pathlib import Path

from bench.start_up import TENSIM
from tensim.library.environment import find_library
from tensim.sim.errors import UsageError

PROGRAM = """import json, sys, time
import ttnn

begun = time.perf_counter()
device = ttnn.open_device(device_id=0)
opened = time.perf_counter() - begun


def cached(side):
    tensor = ttnn.Tensor([1.0] * side**2, [1, 1, side, side], ttnn.bfloat16, ttnn.TILE_LAYOUT).to(device)
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        total = ttnn.add(tensor, tensor)
        ttnn.synchronize_device(device)
        times.append(time.perf_counter() - begun)
    return min(times)


with open(sys.argv[1], "w") as file:
    json.dump([opened, cached(64), cached(256)], file)
ttnn.close_device(device)
"""


def by_launches(python):
    """The command before a program of which the library's launch messages are read."""
    return ("ttnn", "--library", "--python", python)


def by_registers(python):
    """The command before a program of which firmware and kernels are executed, by slow dispatch."""
    return ("device", "--arch", "blackhole", "--python", python, "--", python)


def host_seconds(command):
    """Seconds of `open_device`, of a cached addition of four tiles, of one of 64 on as many cores, by one of the two commands.

    None where no interpreter has the library.
    """
    try:
        python = find_library().python
    except UsageError:
        return None
    with tempfile.TemporaryDirectory() as folder:
        program, report = Path(folder, "program.py"), Path(folder, "report")
        program.write_text(PROGRAM)
        words = [*TENSIM, *command(python), str(program), str(report)]
        subprocess.run(words, check=True, capture_output=True)  # compiles what it needs
        subprocess.run(words, check=True, capture_output=True)
        return tuple(json.loads(report.read_text()))
