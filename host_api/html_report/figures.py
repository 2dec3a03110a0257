"""What the page draws, computed from the data of a result: key figures, heat map, roofline, bars, strip of launches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

CELL = 44  # pixels of a core in the heat map
METRICS = ("active", "work", "BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2")
PLOT = (460, 290, 44, 40)  # width, height, left and lower margin of the roofline in pixels
STRIP_WIDTH = 920
STRIP_LAUNCHES = 400
ROW, ROW_GAP = 3, 1.2  # pixels of a thread in the strip, between cores
REASONS_SHOWN = 5
SPARK = (110, 22)  # pixels of a chart of windows
MESH_CHIP, MESH_STEP = 56, 112  # pixels of a chip in a mesh, and from one to the next
WAYS = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
TENSOR_UNITS = ("TRISC0", "TRISC1", "TRISC2")


def key_figures(data: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """[(name, value, explanation)] of the run."""
    noc, dram = data.get("noc") or {}, data.get("dram") or {}
    found = [
        ("cycles", f"{data['cycles']:,}", f"of {data['arch']}, summed over its programs"),
        ("device time", f"{data['device_seconds'] * 1e6:,.2f} µs", "simulated"),
    ]
    if data.get("flops"):
        rate = data["flops"] / max(data["device_seconds"], 1e-30)
        found.append(
            ("arithmetic", f"{rate / 1e12:.2f} TFLOP/s", f"{_percent(data['flops_utilization'])} of LoFi's peak")
        )
        found.append(("matrix unit", _percent(data["fpu_utilization"]), "busy, mean of the cores used"))
    if dram:
        moved = (dram["read_bytes"] + dram["write_bytes"]) / 1e6
        found.append(("DRAM", _percent(dram["utilization"]), f"of its bandwidth; {moved:,.2f} MB"))
    if noc:
        found.append(("busiest link", _percent(noc["peak_link_utilization"]), "of the NoCs"))
    if data.get("cores"):
        cores = data["cores"]
        found.append(
            ("cores", f"{cores['used']} of {cores['available']}", f"active {_percent(cores['mean_active_share'])}")
        )
    return found


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def grid(cores: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The heat map: {"width", "height", "cells": [{"x", "y", "core", "shares": {metric: share}}], "cell", "metrics"}, or None."""
    rows = (cores or {}).get("rows")
    if not rows:
        return None
    cells = []
    for row in rows:
        x, y = (int(part) for part in row["core"].strip("()").split(","))
        shares = {"active": row["active_share"], "work": row["work_share"], **row["busy_shares"]}
        cells.append({"x": x * CELL, "y": y * CELL, "core": row["core"], "shares": shares})
    return {
        "width": max(cell["x"] for cell in cells) + CELL, "height": max(cell["y"] for cell in cells) + CELL,
        "cell": CELL, "cells": cells,
        "metrics": [metric for metric in METRICS if any(metric in cell["shares"] for cell in cells)],
    }  # fmt: skip


def mesh(fabric: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The chips of a mesh and the links that have carried packets, in pixels: {"width", "height", "chip", "chips": [(x, y,
    number)], "links": [{"x0", "y0", "x1", "y1", "share", "row"}]}, or None without a mesh; each way is a line of its own.
    """
    if not fabric:
        return None
    columns, found = fabric["columns"], []
    for row in fabric["links"]:
        if not row["packets"]:
            continue
        y, x = divmod(row["chip"], columns)
        dx, dy = WAYS[row["direction"]]
        aside = MESH_CHIP * (0.12 + 0.2 * row["link"] + 0.08 * (dx < 0 or dy < 0))  # along the chip's edge
        begin = [MESH_STEP * place + (MESH_CHIP * (1 + way) / 2 if way else aside) for place, way in ((x, dx), (y, dy))]
        end = [at + (MESH_STEP - MESH_CHIP) * way for at, way in zip(begin, (dx, dy), strict=True)]
        found.append(
            {"x0": begin[0], "y0": begin[1], "x1": end[0], "y1": end[1], "share": row["line_share"], "row": row}
        )
    chips = [(MESH_STEP * (n % columns), MESH_STEP * (n // columns), n) for n in range(fabric["chips"])]
    size = [MESH_STEP * count - MESH_STEP + MESH_CHIP for count in (columns, fabric["rows"])]
    return {"width": size[0], "height": size[1], "chip": MESH_CHIP, "chips": chips, "links": found}


def roofline(told: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The run under its roofs, in pixels: {"width", "height", "roofs": [{"name", "points", "x", "y"}], "point", "ticks"...}.

    None when the run did no arithmetic or touched no DRAM.
    """
    if not told or not told.get("flops_per_byte") or not told.get("flops_per_second"):
        return None
    width, height, left, low = PLOT
    intensity, rate, bandwidth = told["flops_per_byte"], told["flops_per_second"], told["dram_bytes_per_second"]
    ridges = [roof / bandwidth for roof in told["roofs"].values()]
    x0, x1 = _decades(min(intensity, *ridges) / 4, max(intensity, *ridges) * 4)
    y0, y1 = _decades(min(rate, bandwidth * x0) * 0.8, max(told["roofs"].values()) * 1.2)
    across = lambda value: left + (math.log10(value / x0) / math.log10(x1 / x0)) * (width - left - 56)  # noqa: E731
    up = lambda value: height - low - math.log10(max(value, y0) / y0) / math.log10(y1 / y0) * (height - low - 12)  # noqa: E731
    roofs = [
        {"name": name, "x0": across(max(roof / bandwidth, x0)), "x1": across(x1), "y": up(roof)}
        for name, roof in told["roofs"].items()
    ]
    top = max(told["roofs"].values())
    slope = [across(x0), up(bandwidth * x0), across(top / bandwidth), up(top)]
    return {
        "width": width, "height": height, "left": left, "base": height - low, "right": across(x1), "roofs": roofs,
        "slope": slope, "bandwidth": f"DRAM {bandwidth / 1e9:,.0f} GB/s", "point": (across(intensity), up(rate)),
        "label": f"{rate / 1e12:.2f} TFLOP/s at {intensity:,.1f} FLOP/B",
        "x_ticks": [(across(v), _short(v)) for v in _powers(x0, x1)],
        "y_ticks": [(up(v), f"{v / 1e12:g}") for v in _powers(y0, y1)],
    }  # fmt: skip


def _decades(low: float, high: float) -> tuple[float, float]:
    """The powers of ten around a range."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return 10.0**first, 10.0 ** max(last, first + 1)


def _powers(low: float, high: float) -> list[float]:
    return [10.0**e for e in range(round(math.log10(low)), round(math.log10(high)) + 1)]


def _short(value: float) -> str:
    return f"{value:g}" if value < 1e5 else f"1e{round(math.log10(value))}"


def thread_bars(breakdown: Mapping[str, Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """For each kind of thread [{"kind", "share", "name"}]: work, the largest waits, the others, and nothing to do."""
    found = {}
    for thread, part in breakdown.items():
        waits = sorted(part["stalled"].items(), key=lambda item: -item[1])
        bars = [{"kind": "busy", "name": "busy", "share": part["busy"]}]
        bars += [
            {"kind": _kind(name), "name": name, "share": share}
            for name, share in waits[:REASONS_SHOWN]
            if share >= 0.001
        ]
        rest = sum(share for _, share in waits) - sum(bar["share"] for bar in bars[1:])
        if rest >= 0.001:
            bars.append({"kind": "rest", "name": "other waits", "share": rest})
        found[thread] = bars
    return found


def _kind(reason: str) -> str:
    """The colour of a wait."""
    if reason.startswith("cb_"):
        return "cb"
    return "noc" if reason.startswith("noc_") else "semaphore" if reason == "semaphore" else "unit"


def buffers(told: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Circular buffers with the bars of their fill levels: heights from 0 to 1, the highest one 1."""
    found = []
    for one in told:
        most = max(one["fill_shares"], default=0) or 1
        found.append(one | {"bars": [(share / most, share) for share in one["fill_shares"]]})
    return found


def over_time(shares: Sequence[float]) -> list[tuple[float, float, float, float]]:
    """Shares of windows as bars of a small chart: [(x, y, height, share)] in pixels, the chart `SPARK` wide and high."""
    width, height = SPARK
    step = width / max(len(shares), 1)
    return [(i * step, height * (1 - share), max(height * share, 0.6), share) for i, share in enumerate(shares)]


def with_occupancy(
    rows: Iterable[dict[str, Any]], told: Iterable[Mapping[str, Any]], *names: str
) -> list[dict[str, Any]]:
    """Rows of links or channels, which `names` name, with "bars": how busy they were over time, [] where that is not known."""
    found = {tuple(one[name] for name in names): over_time(one["busy_shares"]) for one in told}
    return [row | {"bars": found.get(tuple(row[name] for name in names), [])} for row in rows]


def strip(launches: Sequence[Mapping[str, Any]], programs: Sequence[Any]) -> dict[str, Any] | None:
    """Launches over time, and the threads of the longest one: {"width", "launches": [...], "threads": [...], ...}, or None."""
    if not launches:
        return None
    shown = launches[:STRIP_LAUNCHES]
    begin, end = min(one["start_cycle"] for one in shown), max(one["end_cycle"] for one in shown)
    scale = STRIP_WIDTH / max(end - begin, 1)
    boxes = [
        {
            "x": (one["start_cycle"] - begin) * scale, "width": max(one["cycles"] * scale, 0.5), "hue": one["program"] * 67 % 360,
            "title": f"{_program(programs, one['program'])}: {one['cycles']:,} cycles from {one['start_cycle']:,}"
            + (f", bound by {one['bounded_by']}" if one["bounded_by"] else ""),
        }
        for one in shown
    ]  # fmt: skip
    detailed = [one for one in shown if one["threads"]]
    longest = max(detailed, key=lambda one: one["cycles"], default=None)
    return {
        "width": STRIP_WIDTH, "launches": boxes, "begin": begin, "end": end, "left_out": len(launches) - len(shown),
        "threads": [] if longest is None else _threads(longest), "longest": longest,
        "height": 0 if longest is None else _height(longest), "row": ROW,
    }  # fmt: skip


def _program(programs: Sequence[Any], number: int) -> str:
    """Name of a program; a replay of a binary of programs has names only."""
    if number >= len(programs):
        return f"program {number}"
    return programs[number]["name"] if isinstance(programs[number], dict) else programs[number]


def _rows(launch: Mapping[str, Any]) -> dict[tuple[int, str], float]:
    """{(core, processor): row in pixels} of a launch's threads, core by core."""
    threads, rows, at = launch["threads"], {}, 0.0
    places = sorted(set(zip(threads["core"], threads["processor"], strict=True)))
    for i, place in enumerate(places):
        if i and place[0] != places[i - 1][0]:
            at += ROW_GAP
        rows[place] = at
        at += ROW
    return rows


def _height(launch: Mapping[str, Any]) -> float:
    return max(_rows(launch).values()) + ROW


def _threads(launch: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The threads of a launch as bars: from start to end, the fuller the busier."""
    threads, rows = launch["threads"], _rows(launch)
    scale = STRIP_WIDTH / max(launch["cycles"], 1)
    columns = (threads[name] for name in ("core", "processor", "start_cycle", "end_cycle", "busy_cycles"))
    found = []
    for core, processor, start, end, busy in zip(*columns, strict=True):
        share = busy / max(end - start, 1)
        found.append(
            {
                "x": (start - launch["start_cycle"]) * scale, "width": max((end - start) * scale, 0.5),
                "y": rows[core, processor], "kind": "compute" if processor in TENSOR_UNITS else "mover",
                "opacity": 0.12 + 0.88 * min(share, 1), "title": f"core {core} {processor}: busy {_percent(share)}",
            }
        )  # fmt: skip
    return found
