"""Rows of a file of measurements: what a validation re-creates, and why some rows are not.

A kind of validation (`tensim.validation.noc.rows`, ...) is a module with
- `COLUMNS`: for each layout of file it understands, the columns that tell it;
- `read(row) -> Case`: what to simulate for one row, from its columns, never from its measured value; raises `Skip`;
- `simulate(case.spec)`: runs it, in a process of its own, and returns what was measured, in the row's unit; or several
  numbers, of which `case.value` takes what the row measured;
- optionally `METRICS`: {name: a `read` of its own}, for rows with several measurements; the first is the default;
- `pairs(rows) -> dict`, if designs can be told apart in its rows: see `tensim.validation.pairs`;
- `networks(rows) -> dict`, if its rows are calls of networks: their sums by network;
- `require()`: UsageError where this machine lacks what its simulations need; `make validate` then leaves the kind out;
- `RANKED = True`, if the order of its rows counts: the rank correlation is then among the figures.
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tensim.sim.errors import UsageError


class Skip(Exception):
    """A row that cannot be re-created, for a reason about the row."""


@dataclass(frozen=True)
class Row:
    """One line of a file.  `id`: FILE:n, n from 1 behind the header; `line`: in the file; `columns`: its texts by column;
    `file`: all rows of the file, for a measurement that takes several.
    """

    id: str
    line: int
    columns: dict
    file: list = field(repr=False, compare=False, default_factory=list)

    def __getitem__(self, name):
        return self.columns[name]

    def number(self, name, default=None):
        """A column as a float; `default` when it is empty.  ValueError names the column."""
        text = (self.columns[name] or "").strip()
        if not text and default is not None:
            return default
        try:
            return float(text)
        except ValueError:
            raise ValueError(f"column {name} is {text!r}, not a number") from None

    def integer(self, name, default=None):
        """A column as an int; ValueError names the column."""
        value = self.number(name, default)
        if value != int(value):
            raise ValueError(f"column {name} is {value}, not a whole number")
        return int(value)


@dataclass(frozen=True)
class Case:
    """What to simulate for a row.

    `spec`: hashable, picklable description, all that decides the result: equal specs are simulated once.
    `group`: "ARCH/...".  `measured`: a number, a range (low, high), or None when the row has none.
    `work`: relative cost of the simulation, the longest go first.  `value`: the compared number of a simulation's
    result, which is JSON (a number, a list); it raises `Skip` where the result says
    that the row cannot be compared.  `cpp`: the spec of the same with kernels in C++, for a row that is
    simulated both ways.  `evidence`: what its agreement is worth, where the row itself says it (`tensim.validation.evidence`).
    """

    spec: tuple
    group: str
    measured: float | tuple | None
    unit: str
    work: float = 1.0
    value: Callable = float
    cpp: tuple | None = None
    evidence: str = ""

    @property
    def specs(self):
        """All that is simulated for the row."""
        return (self.spec,) if self.cpp in (None, self.spec) else (self.spec, self.cpp)


def read_rows(path, layouts):
    """(rows, layout) of a CSV file; `layouts`: {name: columns that must be there}.  UsageError for another file."""
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            header = reader.fieldnames or []
            layout = next((name for name, columns in layouts.items() if set(columns) <= set(header)), None)
            if layout is None:
                known = "; ".join(f"{name}: {', '.join(columns)}" for name, columns in layouts.items())
                raise UsageError(f"{path}: its columns match no known file", hint=f"needed are {known}")
            rows = []
            rows += (Row(f"{path.name}:{n}", reader.line_num, columns, rows) for n, columns in enumerate(reader, 1))
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: not a CSV file: {error}") from None
    return rows, layout


def cases_of(rows, layout, read):
    """([(row, case)], skipped, bad): every row is in one of the three; bad rows are malformed."""
    cases, skipped, bad = [], [], []
    for row in rows:
        try:
            if None in row.columns or None in row.columns.values():
                raise ValueError("it has a different number of columns than the header")
            cases.append((row, read(row, layout)))
        except Skip as why:
            skipped.append({"id": row.id, "why": str(why)})
        except (ValueError, UsageError) as error:
            bad.append({"id": row.id, "line": row.line, "why": f"line {row.line}: {error}"})
    return cases, skipped, bad
