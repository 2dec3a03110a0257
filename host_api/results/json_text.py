"""JSON for people and programs: an entry a line where it helps."""

from __future__ import annotations

import json
from typing import Any

import orjson

# What the standard library's writer takes as something else stays that: a dataclass and a date are shown by their texts
OPTIONS = (
    orjson.OPT_NON_STR_KEYS
    | orjson.OPT_SERIALIZE_NUMPY
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
)


def json_text(data: Any, levels: int = 2, margin: str = "") -> str:
    """JSON with an entry a line down to some levels; deeper ones stay on the line.

    What JSON has no form for is its text, and null if it is a number: not a number, or without an end.
    """
    if not levels or not data or not isinstance(data, dict | list):
        return _on_a_line(data)
    inner = margin + "  "
    if isinstance(data, dict):  # in a dict, for keys become strings
        entries = [f"{_on_a_line({key: None})[1:-5]} {json_text(one, levels - 1, inner)}" for key, one in data.items()]
        return "{\n" + ",\n".join(inner + entry for entry in entries) + f"\n{margin}}}"
    return "[\n" + ",\n".join(inner + json_text(item, levels - 1, inner) for item in data) + f"\n{margin}]"


def _on_a_line(data: Any) -> str:
    try:
        return orjson.dumps(data, _other, OPTIONS).decode()
    except TypeError:  # integers above 64 bits, texts that UTF-8 cannot hold
        return json.dumps(json.loads(json.dumps(data, default=_other), parse_constant=lambda name: None))


def _other(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else float(value) if isinstance(value, float) else str(value)
