"""Drawing the sample of `make validate-quick`: some rows of every group, told by a hash of the row's text.

The sample is a folder of small CSV files with the columns of the files they come from.  Only cheap rows that stand for
themselves are drawn, at most `PER_CHIP` of a kind and chip, so that a run stays short.
"""

import csv
import dataclasses
import hashlib
import itertools
import statistics
from pathlib import Path

from tensim.sim.errors import UsageError
from tensim.sim.output_files import output_file
from tensim.validation.everything import modules, table_of
from tensim.validation.rows import Skip, cases_of

PER_CHIP = 24


def rank(row):
    """The order in which rows are drawn: by a hash of their text."""
    return hashlib.sha256("\x1f".join(str(value) for value in row.columns.values()).encode()).hexdigest()


def stands_alone(row, case, layout, read):
    """Whether a row means the same without the rest of its file."""
    try:
        alone = read(dataclasses.replace(row, file=[row]), layout)
    except (Skip, ValueError, UsageError, StopIteration, IndexError, KeyError):
        return False
    return (alone.spec, alone.measured) == (case.spec, case.measured)


def draw(pairs):
    """At most `PER_CHIP` rows of each chip among [(row, case)]: groups in turn, of each the less costly half by rank."""
    groups = {}
    for row, case in pairs:
        groups.setdefault(case.group, []).append((row, case.work))
    chips = {}
    for group, mine in groups.items():
        limit = statistics.median(work for _, work in mine)
        cheap = sorted((row for row, work in mine if work <= limit), key=rank)
        chips.setdefault(group.split("/")[0], []).append(cheap)
    return [row for mine in chips.values() for row in _in_turn(sorted(mine, key=lambda rows: rank(rows[0])))[:PER_CHIP]]


def _in_turn(groups):
    """The first of each group, then the second of each, ..."""
    return [row for turn in itertools.zip_longest(*groups) for row in turn if row is not None]


def write_sample(folders, target):
    """Draw the sample from the files below some folders into the folder `target`; returns how many rows it has."""
    chosen = {}  # path -> {line: row}
    paths = sorted(path for folder in folders for path in Path(folder).rglob("*.csv"))
    for module in modules(everywhere=True).values():
        pairs, places = [], {}
        for path in paths:
            alone = _rows_alone(path, module)
            pairs += alone
            places |= {id(row): path for row, _ in alone}
        for row in draw(pairs):
            chosen.setdefault(places[id(row)], {})[row.line] = row
    for old in Path(target).glob("*.csv"):
        old.unlink()
    return sum(_write(Path(target) / path.name, [rows[line] for line in sorted(rows)]) for path, rows in chosen.items())


def _rows_alone(path, module):
    """[(row, case)] of the measured rows of a file that stand for themselves; [] for a file of another kind."""
    table = table_of(path, module)
    if table is None:
        return []
    rows, layout = table
    cases, _, _ = cases_of(rows, layout, module.read)
    measured = ((row, case) for row, case in cases if case.measured is not None)
    return [(row, case) for row, case in measured if stands_alone(row, case, layout, module.read)]


def _write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with output_file(path, newline="") as file:
        writer = csv.DictWriter(file, rows[0].columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row.columns for row in rows)
    return len(rows)
