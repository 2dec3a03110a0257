"""What the families read from a row's texts: numbers, choices and coordinates in `params`, `variant`, `core_placement`."""

import re

from tensim.sim.arch import load_arch
from tensim.validation.rows import Skip

CHIPS = ("wormhole_b0", "blackhole")
FIDELITIES = ("LoFi", "HiFi2", "HiFi3", "HiFi4")
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


def one_of(row, column, known):
    """The text of a column, one of `known`; ValueError lists what it may be."""
    text = row[column].strip()
    if text not in known:
        raise ValueError(f"column {column} is {text!r}, not one of {', '.join(known)}")
    return text


def choice(row, column, choices):
    """What `choices` {text: value} gives for a column; ValueError lists what it may be."""
    return choices[one_of(row, column, choices)]


def fidelity(row):
    """The piece of `params`, between semicolons, that is a fidelity."""
    name = next((piece.strip() for piece in row["params"].split(";") if piece.strip() in FIDELITIES), None)
    if name is None:
        raise ValueError(f"column params is {row['params']!r}: it names no fidelity ({', '.join(FIDELITIES)})")
    return name


def coordinates(text):
    """[(x, y), ...] of a text of logical coordinates."""
    return [(int(x), int(y)) for x, y in re.findall(r"\((\d+),(\d+)\)", text)]


def nanoseconds(arch, cycles):
    """Cycles of a chip at its clock in ns."""
    return cycles * 1000.0 / load_arch(arch).clock_mhz
