"""What the families read from a row's texts: numbers, choices and coordinates in `params`, `variant`, `core_placement`."""

import re

from validation.rows import Skip

CHIPS = ("wormhole_b0", "blackhole")
FORMATS = {"bf16": "Float16_b", "bfp8_b": "Bfp8_b", "fp32": "Float32"}


def chip(row):
    """Name of the row's chip, whose default board stands for the row's, with its clock."""
    if row["arch"] not in CHIPS:
        raise Skip(f"{row['arch']}: no small kernel was measured on this chip")
    return row["arch"]


def find(row, pattern, column="params"):
    """The match of a pattern in a column; ValueError names the column and what it must hold."""
    match = re.search(pattern, row[column])
    if match is None:
        raise ValueError(f"column {column} is {row[column]!r}: nothing in it matches {pattern!r}")
    return match


def number_in(row, pattern, column="params", default=None):
    """The first group of `pattern` in a column as an int; without a match `default`, or ValueError when there is none."""
    if default is not None and not re.search(pattern, row[column]):
        return default
    return int(find(row, pattern, column)[1])


def choice(row, column, choices):
    """What `choices` {text: value} gives for a column; ValueError lists what it may be."""
    text = row[column].strip()
    if text not in choices:
        raise ValueError(f"column {column} is {text!r}, not one of {', '.join(choices)}")
    return choices[text]


def coordinates(text):
    """[(x, y), ...] of a text of logical coordinates."""
    return [(int(x), int(y)) for x, y in re.findall(r"\((\d+),(\d+)\)", text)]
