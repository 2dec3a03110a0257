"""Reading what the `params` and `core_placement` texts of the small-kernel rows say."""

import re

from validation.rows import Skip

CHIPS = ("wormhole_b0", "blackhole")
FORMATS = {"bf16": "Float16_b", "bfp8_b": "Bfp8_b", "fp32": "Float32"}


def chip(row):
    """Name of the row's chip; its board's grid and clock are the default ones of the chip."""
    if row["arch"] not in CHIPS:
        raise Skip(f"{row['arch']}: no board of this chip is described")
    return row["arch"]


def number_in(row, pattern, column="params", default=None):
    """The first group of `pattern` in a column as an int; ValueError when it is not there and has no default."""
    match = re.search(pattern, row[column])
    if match:
        return int(match[1])
    if default is None:
        raise ValueError(f"column {column} is {row[column]!r}: nothing in it is like {pattern!r}")
    return default


def one_of(row, column, choices):
    """The value that `choices` {text: value} gives for a column; ValueError for another text."""
    text = row[column].strip()
    if text not in choices:
        raise ValueError(f"column {column} is {text!r}, none of: {', '.join(choices)}")
    return choices[text]


def coordinates(text):
    """[(x, y), ...] of a text of logical coordinates."""
    return [(int(x), int(y)) for x, y in re.findall(r"\((\d+),(\d+)\)", text)]
