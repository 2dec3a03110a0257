"""Operations of networks on cards, run by the vendor's own library on simulated chips (`model_operations.csv`).

A row's columns give shapes, formats, layouts and memory of its tensors, the number of cores and, of products, fidelity and
program configuration; `description` makes the library's call of them.  What was measured is the device kernel duration: from the
first kernel's start to the last one's end.  Calls of a chip go through one process of the library after the other, `BATCH` at a
time (`calls`).  A row counts where the library splits the work over as many cores as it did on the card: elsewhere its release
differs from the row's.
"""

import json
import math
import os
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tensim.library.environment import find_library
from tensim.sim.errors import TensimError, UsageError
from tensim.validation.evidence import OTHER_RELEASE
from tensim.validation.rows import Case, Skip

SECONDS = 20.0
COLUMNS = {"operations": ("trace", "arch", "op", "core_count", "inputs_shape_dtype_layout_memory", "kernel_ns_median")}
CALLS = Path(__file__).with_name("calls.py")
BATCH = 12  # calls of one process of the library
MARK = "ttnn.neg"  # stands between the calls
SHARED_BY = re.compile(r"(Device)?(Operation|Op)?$")
LARGEST = 10_000_000  # elements of a tensor
TILE = 32
ACKNOWLEDGED_NS = 300  # a page that takes longer was written, or read, alone: until the answer had come back
SHORTEST_ROW = 16  # elements: narrower rows of pixels are padded by rules that no column states


class Network(NamedTuple):
    """What rows of a network do not say: the chip, its board, the grid of cores that it uses, and whether its products add partial
    sums in L1.

    Compute threads tell the last apart: two products of bh_p100_dlv3 with 16 and 32 blocks of K keep theirs busy 47.0 and
    92.8 us, 47.5 and 94.0 us here with partial sums read back, 19.1 and 35.9 us with sums in L1; three of bh20_oft with 7 blocks
    take 36.5 to 38.9 us, 34.5 to 36.5 here with sums in L1, 35.8 to 44.8 without.
    """

    arch: str
    board: str
    grid: tuple[int, int]
    sums_in_l1: bool


NETWORKS = {
    "bh20_oft": Network("blackhole", "p150", (5, 4), True),
    "bh_p100_dlv3": Network("blackhole", "p100", (11, 10), False),
    "wh_clip_encoder_2": Network("wormhole_b0", "n150", (8, 8), False),
}
OLDER = {"ops_perf_results_2025_09_18_11_39_20": "a release of 2025-09, whose programs differ"}
MEMORY = ("DRAM_INTERLEAVED", "L1_INTERLEAVED", "L1_HEIGHT_SHARDED", "L1_BLOCK_SHARDED", "L1_WIDTH_SHARDED")
# The library's call of an operation (`calls`); what is left out has no call that its columns determine.
CALL_OF = {
    "Unary": "relu", "BinaryNg": "add", "Binary": "add", "Tilize": "tilize", "TilizeWithValPadding": "tilize_padded",
    "Untilize": "untilize", "UntilizeWithUnpadding": "untilize_cut", "Typecast": "typecast",
    "InterleavedToSharded": "to_sharded", "ShardedToInterleaved": "to_interleaved", "Reshard": "reshard", "Matmul": "matmul",
    "Concat": "concat", "Slice": "slice", "Permute": "permute", "Transpose": "transpose", "Upsample": "upsample",
}  # fmt: skip
ON_A_GRID = ("untilize", "tilize", "typecast", "untilize_cut")  # calls that can be told which cores to take


def require():
    """UsageError where the vendor's library is not installed."""
    find_library()


@cache
def _release():
    """The release of the library, which results belong to; None without one."""
    try:
        return find_library().release
    except UsageError:
        return None


def read(row, layout):
    """The case of a row: its time in ns."""
    made = description(*_columns(row))
    network = NETWORKS[row["trace"]]
    calls = [one for one in map(_of, row.file) if one is not None and one[0] == (network.arch, network.board)]
    place = [number for _, number, _ in calls].index(row.line)
    first = place - place % BATCH
    spec = (_release(), network.arch, network.board, tuple(call for _, _, call in calls[first : first + BATCH]))
    memory = "DRAM" if any("DRAM" in one["memory"] for one in made["inputs"][:1] + [made["output"]]) else "L1"
    cores = row.integer("core_count")
    return Case(
        spec, f"{network.arch}/{made['call']}/{memory}/{row['trace']}", row.number("kernel_ns_median"), "ns",
        work=len(spec[3]), value=lambda results: _time(results[place - first], cores),
        evidence=OTHER_RELEASE if waits_for_each_page(row, made) else "",
    )  # fmt: skip


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


def _of(row):
    """((arch, board), line, call as JSON) of a row of the file that is re-created, else None."""
    try:
        made = description(*_columns(row))
    except Skip:
        return None
    network = NETWORKS[row["trace"]]
    return (network.arch, network.board), row.line, json.dumps(made, sort_keys=True)


def _time(result, cores):
    """ns of a call; raises `Skip` where it did not run as on the card."""
    if "why" in result:
        raise Skip(result["why"])
    if result["cores"] != cores:
        raise Skip(f"another release: {result['cores']} cores here, {cores} on the card")
    return result["ns"]


def _columns(row):
    names = ("trace", "op", "core_count", "math_fidelity", "matmul_program_config")
    tensors = (row[f"{side}_shape_dtype_layout_memory"] for side in ("inputs", "outputs"))
    return *(row[name] for name in names), *tensors


def _tensor(text):
    shape, dtype, layout, memory = text.strip().split(":")
    if memory not in MEMORY:
        raise Skip("a tensor's memory is not understood")
    return {"shape": [int(one) for one in shape.split("x")], "dtype": dtype, "layout": layout, "memory": memory}


@cache
def description(trace, operation, cores, fidelity, config, inputs, outputs):
    """The call of a row, as `calls` takes it: {"call", "inputs", "output", "cores", "grid", ...}.  Raises `Skip`."""
    if trace in OLDER:
        raise Skip(OLDER[trace])
    call = CALL_OF.get(SHARED_BY.sub("", operation))
    if call is None or trace not in NETWORKS:
        raise Skip("no call that its columns determine")
    network = NETWORKS[trace]
    tensors, output = [_tensor(one) for one in inputs.split("|")], _tensor(outputs)
    made = {
        "call": call, "inputs": tensors, "output": output, "cores": int(cores), "grid": list(network.grid),
        "fidelity": fidelity, "config": config, "sums_in_l1": network.sums_in_l1, "inplace": False,
    }  # fmt: skip
    _refuse(made, network, tensors, output)
    if call == "add":
        made["inplace"] = operation.startswith("BinaryNg") and len(tensors) == 3
        made["call"] = "add" if len(tensors) > 1 else "scale"
    elif call == "relu":
        made["inplace"] = len(tensors) == 2
    return made


def _refuse(made, network, tensors, output):
    """Raise `Skip` for a row whose columns do not say all that its time depends on."""
    call, sharded = made["call"], "SHARDED" in tensors[0]["memory"]
    if any(math.prod(tensor["shape"]) > LARGEST for tensor in [*tensors, output]):
        raise Skip("too large")
    if any(tensor["shape"][-1] < SHORTEST_ROW for tensor in tensors):
        raise Skip("narrow rows")
    if call == "relu" and (network.arch == "wormhole_b0" or tensors[0]["memory"] == "L1_INTERLEAVED"):
        raise Skip("which function it is")
    if call == "to_sharded" and len(tensors) == 1 and tensors[0]["shape"] != output["shape"]:
        raise Skip("how it pads")
    if call in ("transpose", "slice", "concat", "permute", "upsample") and network.arch == "wormhole_b0":
        raise Skip("shapes without their padding")
    part_of_chip = network.grid == (5, 4)
    told = sharded or "SHARDED" in output["memory"] or call in ON_A_GRID or "MultiCast" in (made["config"] or "")
    if part_of_chip and not told:
        raise Skip("which cores of a larger chip it takes")


def simulate(spec):
    """[{"ns", "cores"} or {"why"}] of the calls of a batch; `spec` = (release of the library, arch, board, calls as JSON)."""
    _, arch, board, calls = spec
    with tempfile.TemporaryDirectory() as folder:
        listed, report = Path(folder, "calls.json"), Path(folder, "report.json")
        listed.write_text(f"[{','.join(calls)}]")
        command = [sys.executable, "-m", "tensim", "ttnn", "--library", "--arch", arch, "--numerics", "off"]
        command += ["--set", f"board={board}", "--json", str(report), str(CALLS), str(listed)]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
        if done.returncode:
            raise TensimError(f"the library ended with {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
        refused = {one["place"]: one["why"] for one in map(json.loads, _told(done.stdout))}
        ran = json.loads(report.read_text())["operations"]
    segments = []
    for one in ran:
        if one["name"].split(" ")[0] == MARK:
            segments.append([])
        else:
            segments[-1].append(one)
    results = []
    for place, segment in enumerate(segments):
        if place in refused or not segment:
            results.append({"why": refused.get(place, "no program ran")})
        else:
            results.append({"ns": segment[-1]["ns"], "cores": segment[-1]["cores"]})
    return results


def _told(output):
    return [line for line in output.splitlines() if line.startswith('{"place"')]
