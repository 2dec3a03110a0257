"""Operations of networks on cards, run by the vendor's own library on simulated chips (`model_operations.csv`).

A row's columns give shapes, formats, layouts and memory of its tensors, the number of cores and, of products, fidelity and
program configuration; `description` makes the library's call of them.  What was measured is the device kernel duration: from the
first kernel's start to the last one's end.  Calls of a chip go through one process of the library after the other, `BATCH` at a
time (`calls`).  A row counts where the library splits the work over as many cores as it did on the card: elsewhere its release
differs from the row's.
"""

import json
import math
import sys
import tempfile
from functools import cache
from pathlib import Path

from tensim.validation.evidence import OTHER_RELEASE
from tensim.validation.figures import error_percent
from tensim.validation.library_process import output_of, release, require_torch
from tensim.validation.operations.descriptions import description
from tensim.validation.operations.networks import network_of
from tensim.validation.rows import Case, Skip

SECONDS = 20.0
COLUMNS = {"operations": ("trace", "arch", "op", "core_count", "inputs_shape_dtype_layout_memory", "kernel_ns_median")}
CALLS = Path(__file__).with_name("calls.py")
BATCH = 12  # calls of one process of the library
MARK = "ttnn.neg"  # stands between the calls
TILE = 32
ACKNOWLEDGED_NS = 300  # a page that takes longer was written, or read, alone: until the answer had come back
REPLACED = ("BinaryDeviceOperation",)  # of earlier releases: 0.81 has BinaryNgDeviceOperation alone
OWN_KERNEL = {"halo": "halo_gather"}  # of a call that runs several programs, a kernel of the one that the row is about


def require():
    """UsageError where the vendor's library is not installed, or not beside torch."""
    require_torch()


def read(row, layout):
    """The case of a row: its time in ns."""
    made = description(row)
    network = network_of(row["trace"], row["arch"])
    process = _process(network)
    calls = [one for one in _calls(row.file) if one[0] == process]
    place = [number for _, number, _ in calls].index(row.line)
    first = place - place % BATCH
    spec = (release(), *process, tuple(call for _, _, call in calls[first : first + BATCH]))
    memory = "DRAM" if any("DRAM" in one["memory"] for one in made["inputs"][:1] + [made["output"]]) else "L1"
    cores = row.integer("core_count")
    return Case(
        spec, f"{network.arch}/{made['call']}/{memory}/{row['trace']}", row.number("kernel_ns_median"), "ns",
        work=len(spec[-1]), value=lambda results: _time(results[place - first], cores),
        evidence=OTHER_RELEASE if _is_of_another_release(row, made, network) else "",
    )  # fmt: skip


def _is_of_another_release(row, made, network):
    packs_rows = made["call"] in ("untilize", "halo") and made["inputs"][0]["layout"] == "TILE"
    earlier = network.earlier and (packs_rows or made["call"] == "group_norm")
    return row["op"] in REPLACED or earlier or waits_for_each_page(row, made)


def _process(network):
    """What calls of one process share: (chip, board)."""
    return network.arch, network.board


@cache
def _listed():
    """{id of a file's rows: (rows, their calls)}: rows of a file are read one after the other, each with all of its neighbours."""
    return {}


def _calls(file):
    """[(process, line, call as JSON)] of the rows of a file that are re-created."""
    if id(file) not in _listed():
        _listed()[id(file)] = file, [one for one in map(_call, file) if one is not None]
    return _listed()[id(file)][1]


def _call(row):
    try:
        made = description(row)
    except Skip:
        return None
    return _process(network_of(row["trace"], row["arch"])), row.line, json.dumps(made, sort_keys=True)


def waits_for_each_page(row, made):
    """Whether the card's threads show a barrier behind each page, as programs before release 0.66 have it in tilize and in what
    moves sticks to shards; since then there is one behind the last.

    Tilize: BRISC goes on for the last row of tiles when the packer has done them.  Sticks: the kernel's time for each of a core.
    Rows of both lie between 316 and 443 ns a page; with one barrier at the end a page takes less than 100.
    """
    height, width = _height_and_width(made["output"])
    if made["call"] in ("tilize", "tilize_padded"):
        pages, ns = width / TILE, row.number("brisc_ns_median") - row.number("trisc2_ns_median")
    elif made["call"] == "to_sharded" and made["inputs"][0]["layout"] == "ROW_MAJOR":
        pages, ns = math.ceil(height / made["cores"]), row.number("kernel_ns_median")
    else:
        return False
    return ns / pages > ACKNOWLEDGED_NS


def _height_and_width(tensor):
    *rows, width = tensor["shape"]
    return math.prod(rows), width


def _time(result, cores):
    """ns of a call; raises `Skip` where it did not run as on the card."""
    if "why" in result:
        raise Skip(result["why"])
    if result["cores"] != cores:
        raise Skip(f"another release: {result['cores']} cores here, {cores} on the card")
    return result["ns"]


def networks(rows):
    """{trace: sums over all calls of the compared rows}: {"rows", "calls", "measured_ns", "simulated_ns", "err_pct"}, and
    "another_release" with the same of the rows whose programs are others than the card's."""
    found = {}
    for row in rows:
        of_release = found.setdefault(row["columns"]["trace"], ([], []))
        of_release[row["evidence"] == OTHER_RELEASE].append(row)
    return {trace: _sums(same) | {"another_release": _sums(other)} for trace, (same, other) in found.items()}


def _sums(rows):
    calls = [int(row["columns"].get("calls") or 1) for row in rows]
    measured, simulated = (
        sum(n * row[key] for n, row in zip(calls, rows, strict=True)) for key in ("measured", "simulated")
    )
    return {
        "rows": len(rows), "calls": sum(calls), "measured_ns": measured, "simulated_ns": simulated,
        "err_pct": error_percent(simulated, measured) if rows else None,
    }  # fmt: skip


def simulate(spec):
    """[{"ns", "cores"} or {"why"}] of the calls of a batch; `spec` = (release of the library, arch, board, calls as JSON)."""
    _, arch, board, calls = spec
    with tempfile.TemporaryDirectory() as folder:
        listed, report = Path(folder, "calls.json"), Path(folder, "report.json")
        listed.write_text(f"[{','.join(calls)}]")
        command = [sys.executable, "-m", "tensim", "ttnn", "--library", "--arch", arch, "--numerics", "off"]
        command += ["--set", f"board={board}", "--json", str(report), str(CALLS), str(listed)]
        refused = {one["place"]: one["why"] for one in map(json.loads, _told(output_of(command)))}
        ran = json.loads(report.read_text())["operations"]
    segments = []
    for one in ran:
        if one["name"].split(" ")[0] == MARK:
            segments.append([])
        else:
            segments[-1].append(one)
    return [
        _result(json.loads(call)["call"], segment, refused.get(place))
        for place, (call, segment) in enumerate(zip(calls, segments, strict=True))
    ]


def _result(call, segment, refused):
    """{"ns", "cores"} of a call's own program, else {"why"}; `segment`: the programs that ran for it."""
    own = [one for one in segment if OWN_KERNEL.get(call, "") in one["name"]]
    if call not in OWN_KERNEL and refused is not None or not own:
        return {"why": refused or "no program ran"}
    return {"ns": own[-1]["ns"], "cores": own[-1]["cores"]}


def _told(output):
    return [line for line in output.splitlines() if line.startswith('{"place"')]
