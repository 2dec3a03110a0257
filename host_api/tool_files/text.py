"""Text in the profilers' tables, which have no quoting, and in file names."""

from __future__ import annotations

import re


def cell(value: object) -> str:
    """A value as a field of a table: a comma becomes a semicolon, a line break a blank."""
    return re.sub(r"[\r\n\t]+", " ", "" if value is None else str(value)).replace(",", ";")


def file_part(name: str) -> str:
    """A name as a part of a file's name."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:80] or "operation"
