"""JSON for people and programs: an entry a line where it helps."""

from __future__ import annotations

import json
from typing import Any


def json_text(data: Any, levels: int = 2, margin: str = "") -> str:
    """JSON with an entry a line down to some levels; deeper ones stay on the line, for json indents slowly."""
    if not levels or not data or not isinstance(data, dict | list):
        return json.dumps(data, default=str)
    inner = margin + "  "
    if isinstance(data, dict):  # in a dict, for keys become strings
        entries = [
            json.dumps({key: None}, default=str)[1:-5] + json_text(one, levels - 1, inner) for key, one in data.items()
        ]
        return "{\n" + ",\n".join(inner + entry for entry in entries) + f"\n{margin}}}"
    return "[\n" + ",\n".join(inner + json_text(item, levels - 1, inner) for item in data) + f"\n{margin}]"
