"""The kernels' text beside the cycles that its lines took.

A result names files, which may have changed since or never have been here; so a file is shown only when every line that the
result quotes from it stands in it, and only if its name is that of a source.  Else the quoted lines alone are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

SUFFIXES = (".py", ".c", ".cc", ".cpp", ".h", ".hpp", ".inl")
CONTEXT = 3  # lines around one that took time
LARGEST = 2_000_000  # bytes of a file
FILES, LINES = 12, 1500  # shown at most


def sources(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """[{"file", "name", "kernels", "stalled", "busy", "rows": [row or None]}] of the result's kernel lines, dearest file first.

    A row: {"line", "text", "busy", "stalled", "busy_share", "stalled_share"}, shares of the dearest line's cycles; None
    stands where lines are left out.
    """
    files = {}
    for line in lines:
        files.setdefault(str(line["file"]), []).append(line)
    dearest = max((line["busy"] + line["stalled"] for line in lines), default=1) or 1
    found = [_file(name, mine, dearest) for name, mine in files.items()]
    found.sort(key=lambda one: -(one["stalled"] + one["busy"]))
    left = LINES
    for one in found[:FILES]:
        one["rows"] = one["rows"][:left]
        left -= len(one["rows"])
    return [one for one in found[:FILES] if one["rows"]]


def _file(name: str, lines: Sequence[Mapping[str, Any]], dearest: int) -> dict[str, Any]:
    cost = {}
    for line in lines:
        busy, stalled = cost.get(line["line"], (0, 0))
        cost[line["line"]] = busy + line["busy"], stalled + line["stalled"]
    text = _text(name, lines)
    if text is None:
        text_of = {line["line"]: line["source"] for line in lines}
        shown = sorted(text_of)
    else:
        near = {n for line in cost for n in range(line - CONTEXT, line + CONTEXT + 1)}
        shown = sorted(n for n in near if 1 <= n <= len(text))
        text_of = {n: text[n - 1] for n in shown}
    rows: list[dict[str, Any] | None] = []
    before = None
    for number in shown:
        if before is not None and number > before + 1:
            rows.append(None)
        before = number
        busy, stalled = cost.get(number, (0, 0))
        rows.append(
            {
                "line": number, "text": text_of[number], "busy": busy, "stalled": stalled,
                "busy_share": busy / dearest, "stalled_share": stalled / dearest,
            }
        )  # fmt: skip
    return {
        "file": name, "name": Path(name).name, "kernels": sorted({str(line["kernel"]) for line in lines}), "rows": rows,
        "busy": sum(busy for busy, _ in cost.values()), "stalled": sum(stalled for _, stalled in cost.values()),
    }  # fmt: skip


def _text(name: str, lines: Iterable[Mapping[str, Any]]) -> list[str] | None:
    """The lines of a file; None when it is not the one that the result quotes."""
    path = Path(name)
    try:
        if path.suffix not in SUFFIXES or not path.is_file() or path.stat().st_size > LARGEST:
            return None
        text = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    quoted = [line for line in lines if line["source"]]
    same = quoted and all(
        1 <= line["line"] <= len(text) and text[line["line"] - 1].strip() == line["source"] for line in quoted
    )
    return text if same else None
