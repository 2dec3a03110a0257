"""`tensim validate firmware`: the published time per traced program, with tt-metal's own prefetcher, dispatchers and firmware.

Rows are those of `tensim.validation.dispatch.rows`, whose model of dispatch is fitted to them.  Here the library of the wheel
makes the commands, and the kernels that read them are executed (`tensim device --dispatch fast`): nothing is fitted to the rows.
"""

import json
import sys
import tempfile
from dataclasses import asdict
from functools import cache
from pathlib import Path

from tensim.library.environment import find_library
from tensim.sim.arch import load_arch
from tensim.sim.errors import TensimError
from tensim.validation.dispatch.rows import ARCHS, parse
from tensim.validation.firmware.rounds import FIRST, ROUNDS, launches
from tensim.validation.library_process import output_of, release
from tensim.validation.rows import Case, Skip

SECONDS = 6.0
COLUMNS = {"programs": ("arch", "configuration", "kernel_or_payload_bytes", "repetition", "time_per_program_ns")}
PROGRAMS = Path(__file__).with_name("programs.py")
BATCH = 12  # shapes of one process of the library


def require():
    """UsageError where the vendor's library is not installed."""
    find_library()


def read(row, layout):
    """The case of a row: ns per program; `Skip` for one that names no known program, or is not traced."""
    shape = _shape(row)
    arch = row["arch"]
    shapes = _shapes(row.file)[arch]
    place = shapes.index(shape)
    first = place - place % BATCH
    batch = tuple(json.dumps(asdict(one), sort_keys=True) for one in shapes[first : first + BATCH])
    where = "all cores" if shape.all_cores else "one core"
    return Case(
        (release(), arch, batch), f"{arch}/{where}", row.number("time_per_program_ns"), "ns", work=len(batch),
        value=lambda times: times[place - first],
    )  # fmt: skip


def _shape(row):
    if row["arch"] not in ARCHS:
        raise Skip(f"no dispatch times of {row['arch']} are described")
    shape = parse(row["configuration"], row.integer("kernel_or_payload_bytes"))
    if not shape.traced:
        raise Skip("the host's own time is not simulated")
    return shape


@cache
def _listed():
    """{id of a file's rows: (rows, {arch: their shapes})}: rows of a file are read one after the other."""
    return {}


def _shapes(file):
    if id(file) not in _listed():
        found = {arch: {} for arch in ARCHS}
        for row in file:
            try:
                shape = _shape(row)
            except (Skip, ValueError):
                continue
            found[row["arch"]][shape] = True
        _listed()[id(file)] = file, {arch: list(shapes) for arch, shapes in found.items()}
    return _listed()[id(file)][1]


def simulate(spec):
    """ns per round of each shape of a batch; `spec` = (release of the library, arch, shapes as JSON)."""
    _, arch, batch = spec
    shapes = [json.loads(one) for one in batch]
    with tempfile.TemporaryDirectory() as folder:
        listed, report = Path(folder, "shapes.json"), Path(folder, "report.json")
        listed.write_text(json.dumps(shapes))
        command = [sys.executable, "-m", "tensim", "device", "--arch", arch, "--dispatch", "fast", "--numerics", "off"]
        command += ["--json", str(report), "--", str(find_library().python), str(PROGRAMS), str(listed)]
        output_of(command)
        found = json.loads(report.read_text())["device"]["launches"]
    megahertz = load_arch(arch).clock_mhz
    return [cycles * 1000 / megahertz for cycles in times(shapes, [one["begin_cycles"] for one in found])]


def times(shapes, begun):
    """Cycles per round of each shape, from the cycles at which launches began."""
    found, at = [], 0
    for shape in shapes:
        before, size = launches(shape)
        starts = begun[at + before : at + before + ROUNDS * size : size]
        if len(starts) < ROUNDS:
            raise TensimError(f"{len(begun)} launches, {sum(sum(launches(one)) for one in shapes)} were expected")
        found.append((starts[-1] - starts[FIRST]) / (ROUNDS - 1 - FIRST))
        at += before + ROUNDS * size
    return found
