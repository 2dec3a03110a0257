"""The launches of a chip at register level as a trace that Perfetto opens: a process for each chip, a track for who launches.

Tiles whose units tell what they do have a process each, and a track for each unit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from typing import Any

from tensim.sim.output_files import write_output

TRACKS = {"host": 0, "dispatcher": 1}  # by who launches
FIRST_TILE = 1000  # number of the process of the first tile that tells


def write_timeline(result: Mapping[str, Any] | None, path: str | PathLike[str]) -> None:
    """Write a device's result, None when none was opened: launches, of which those under way last to the end, and work of units."""
    events = [] if result is None else [*_names(result), *_spans(result), *_units(result)]
    write_output(path, json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}))


def _names(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What processes and tracks are called."""
    events = []
    for chip in range(result["chips"]):
        name = f"{result['arch']} {result['board']}, chip {chip}"
        events.append({"name": "process_name", "ph": "M", "pid": chip, "args": {"name": name}})
        for by, track in TRACKS.items():
            args = {"name": f"launched by the {by}"}
            events.append({"name": "thread_name", "ph": "M", "pid": chip, "tid": track, "args": args})
    return events


def _spans(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    per_us, events = result["clock_mhz"], []
    for one in result["launches"]:
        begin, end = one["begin_cycles"], one["end_cycles"]
        has_ended = end is not None
        name = f"program {one['id']}" + (f", {one['operation']}" if one["operation"] else "")
        args = {"cores": one["cores"], "begin_cycles": begin, "end_cycles": end}
        events.append(
            {
                "name": name if has_ended else f"{name}, not ended",
                "cat": "launch",
                "ph": "X",
                "pid": one["chip"],
                "tid": TRACKS[one["by"]],
                "ts": begin / per_us,
                "dur": ((end if has_ended else result["cycles"]) - begin) / per_us,
                "args": args,
            }
        )
    return events


def _units(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tiles that tell, their units and what those did."""
    per_us, events = result["clock_mhz"], []
    for process, one in enumerate(result["units_told"], FIRST_TILE):
        name = {"name": f"chip {one['chip']}, tile {one['place']}"}
        events.append({"name": "process_name", "ph": "M", "pid": process, "args": name})
        tracks = {unit: number for number, unit in enumerate(dict.fromkeys(span["unit"] for span in one["spans"]))}
        for unit, track in tracks.items():
            events.append({"name": "thread_name", "ph": "M", "pid": process, "tid": track, "args": {"name": unit}})
        for span in one["spans"]:
            begin, end = span["begin_cycles"], span["end_cycles"]
            events.append(
                {
                    "name": span["name"],
                    "cat": "unit",
                    "ph": "X",
                    "pid": process,
                    "tid": tracks[span["unit"]],
                    "ts": begin / per_us,
                    "dur": (end - begin) / per_us,
                    "args": {"thread": span["thread"], "begin_cycles": begin, "end_cycles": end},
                }
            )
    return events
