"""Which operation of the vendor's ttnn a launch belongs to: the command's Python notes its calls (`calls/sitecustomize.py`), and
the library numbers its programs, which launch messages bear.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FILE = "TENSIM_DEVICE_CALLS"  # environment: where the calls are noted
FOLDER = Path(__file__).with_name("calls")


def variables(file: str | Path, around: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment in which a command's Python notes its calls in a file."""
    others = [around["PYTHONPATH"]] if around.get("PYTHONPATH") else []
    return {FILE: str(file), "PYTHONPATH": os.pathsep.join([str(FOLDER), *others])}


def read(file: str | Path) -> list[dict[str, Any]]:
    """The calls, those inside of others first; a line at which its process ended is none."""
    if not Path(file).is_file():
        return []
    calls = []
    for line in Path(file).read_text().splitlines():
        try:
            calls.append(json.loads(line))
        except ValueError:
            continue
    return calls


def call_of(number: int, calls: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The innermost call that launched the program `number`, None where nobody noted it."""
    return next((one for one in calls if one["first"] <= number < one["end"]), None)


def name_launches(launches: Sequence[dict[str, Any]], calls: Sequence[dict[str, Any]]) -> None:
    """Give each launch its "operation", the name of the call that it belongs to, or None."""
    for one in launches:
        call = call_of(one["id"], calls) if one["id"] else None
        one["operation"] = call and call["name"]
