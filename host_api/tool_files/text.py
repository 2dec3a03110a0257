"""Text in the profilers' tables, which have no quoting, and in file names."""

import re


def cell(value):
    """A value as a field of a table: a comma becomes a semicolon, a line break a blank."""
    return re.sub(r"[\r\n\t]+", " ", "" if value is None else str(value)).replace(",", ";")


def file_part(name):
    """A name as a part of a file's name."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:80] or "operation"
