"""`tensim validate firmware`: the published time per traced program, with tt-metal's own prefetcher, dispatchers and firmware.

Rows are those of `tensim.validation.dispatch.rows`, whose model of dispatch is fitted to them, and short products of the GEMM FLOPS
report.  Here the library of the wheel makes the commands, and the kernels that read them are executed (`tensim device --dispatch
fast`): nothing is fitted to the rows.
"""

import json
from dataclasses import asdict
from functools import cache
from pathlib import Path

from tensim.library.environment import find_library
from tensim.sim.arch import load_arch
from tensim.sim.errors import TensimError
from tensim.validation.dispatch.rows import ARCHS, parse
from tensim.validation.firmware import traced_products
from tensim.validation.firmware.device_run import begun
from tensim.validation.firmware.rounds import FIRST, ROUNDS, launches
from tensim.validation.gemm import rows as gemm_rows
from tensim.validation.library_process import release
from tensim.validation.rows import Case, Skip

SECONDS = 6.0
COLUMNS = {
    "programs": ("arch", "configuration", "kernel_or_payload_bytes", "repetition", "time_per_program_ns"),
    "products": gemm_rows.COLUMNS["gemm"],
}
PROGRAMS = Path(__file__).with_name("programs.py")
BATCH = 12  # shapes of one process of the library


def require():
    """UsageError where the vendor's library is not installed."""
    find_library()


def read(row, layout):
    """The case of a row: ns per program; `Skip` for one that names no known program, or is not traced."""
    if layout == "products":
        return traced_products.read(row)
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
    """ns per round of each shape of a batch, `spec` = (release of the library, arch, shapes as JSON); of a product, per run."""
    if len(spec) == 2:
        return traced_products.simulate(spec[1])
    _, arch, batch = spec
    shapes = [json.loads(one) for one in batch]
    megahertz = load_arch(arch).clock_mhz
    return [cycles * 1000 / megahertz for cycles in times(shapes, begun(PROGRAMS, shapes, arch))]


def times(shapes, all_starts):
    """Cycles per round of each shape, from the cycles at which launches began."""
    found, at = [], 0
    for shape in shapes:
        before, size = launches(shape)
        starts = all_starts[at + before : at + before + ROUNDS * size : size]
        if len(starts) < ROUNDS:
            raise TensimError(f"{len(all_starts)} launches, {sum(sum(launches(one)) for one in shapes)} were expected")
        found.append((starts[-1] - starts[FIRST]) / (ROUNDS - 1 - FIRST))
        at += before + ROUNDS * size
    return found
