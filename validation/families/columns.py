"""What the families read from a row's texts: the pieces of `params`, chips, fidelities."""

import re

from sim.arch import load_arch

FIDELITIES = ("LoFi", "HiFi2", "HiFi3", "HiFi4")
FORMATS = {"bf16": "Float16_b", "fp32": "Float32"}


def pieces(row):
    """The parts of the column `params`, which semicolons separate."""
    return [piece.strip() for piece in row["params"].split(";")]


def find(row, pattern, column="params"):
    """The match of a pattern in a column; ValueError names the column and what it must hold."""
    match = re.search(pattern, row[column])
    if match is None:
        raise ValueError(f"column {column} is {row[column]!r}: nothing in it matches {pattern!r}")
    return match


def one_of(row, column, known):
    """The column's text as a key of `known`; ValueError lists what it may be."""
    if row[column] not in known:
        raise ValueError(f"column {column} is {row[column]!r}, not one of {', '.join(known)}")
    return row[column]


def fidelity(row):
    """The piece of `params` that is a fidelity."""
    name = next((piece for piece in pieces(row) if piece in FIDELITIES), None)
    if name is None:
        raise ValueError(f"column params is {row['params']!r}: it names no fidelity ({', '.join(FIDELITIES)})")
    return name


def nanoseconds(arch, cycles):
    """Cycles of a chip at its clock in ns."""
    return cycles * 1000.0 / load_arch(arch).clock_mhz
