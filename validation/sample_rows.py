"""Drawing the sample of `make validate-quick`: some rows of every group, told by a hash of the row's text.

The sample is a folder of small CSV files with the columns of the files they come from.  Only cheap rows that stand for
themselves are drawn, at most `PER_CHIP` of a file, kind and chip, so that a run stays short.
"""

import csv
import dataclasses
import hashlib
from pathlib import Path

from sim.errors import UsageError
from validation.everything import modules, table_of
from validation.rows import Skip, cases_of

PER_CHIP = 4


def rank(row):
    """The order in which rows are drawn: by a hash of their text."""
    return hashlib.sha256("\x1f".join(str(value) for value in row.columns.values()).encode()).hexdigest()


def stands_alone(row, case, layout, read):
    """Whether a row means the same without the rest of its file."""
    try:
        return read(dataclasses.replace(row, file=[row]), layout) == case
    except (Skip, ValueError, UsageError, StopIteration, IndexError, KeyError):
        return False


def draw(pairs):
    """At most `PER_CHIP` rows of each chip among [(row, case)] that are no costlier than half of them; groups in turn."""
    if not pairs:
        return []
    limit = sorted(case.work for _, case in pairs)[len(pairs) // 2]
    groups = {}
    for row, case in sorted(pairs, key=lambda pair: rank(pair[0])):
        if case.work <= limit:
            groups.setdefault(case.group, []).append(row)
    chips = {}
    for depth in range(PER_CHIP):
        for group, rows in sorted(groups.items(), key=lambda item: rank(item[1][0])):
            chosen = chips.setdefault(group.split("/")[0], [])
            if depth < len(rows) and len(chosen) < PER_CHIP:
                chosen.append(rows[depth])
    return [row for rows in chips.values() for row in rows]


def write_sample(folder, target):
    """Draw the sample from the files of a folder into the folder `target`; returns how many rows it has."""
    count = 0
    for path in sorted(Path(folder).rglob("*.csv")):
        drawn = {}
        for module in modules().values():
            table = table_of(path, module)
            if table is None:
                continue
            rows, layout = table
            cases, _, _ = cases_of(rows, layout, module.read)
            alone = [(row, case) for row, case in cases if stands_alone(row, case, layout, module.read)]
            drawn |= {row.line: row for row in draw(alone)}
        if drawn:
            count += _write(Path(target) / path.name, [drawn[line] for line in sorted(drawn)])
    return count


def _write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row.columns for row in rows)
    return len(rows)
