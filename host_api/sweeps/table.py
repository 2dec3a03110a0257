"""The table of a sweep in its folder: a row per point, written as soon as the point has been simulated, and read again to go on.

results.csv has a header and one physical line per point.  sweep.json says what is swept, and of which files the points were
simulated: `sources` of a row names one of its lists.  A row counts as long as tensim's code and those files are the same.
results.parquet has the same rows, sorted by point, where pyarrow is installed.
"""

from __future__ import annotations

import csv
import fcntl
import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from tensim.results.identity import file_sha256
from tensim.sim.errors import UsageError
from tensim.sim.output_files import output_path, write_output

if TYPE_CHECKING:
    from tensim.sweeps.points import Point

TABLE, SWEEP, PARQUET, LOCK = "results.csv", "sweep.json", "results.parquet", ".lock"
SCHEMA_VERSION = 1
FIGURES = {  # column -> where it stands in the summary of a run
    "cycles": "cycles",
    "device_seconds": "device_seconds",
    "verified": "verified",
    "bounded_by": "bounded_by",
    "flops": "flops",
    "flops_utilization": "flops_utilization",
    "fpu_utilization": "fpu_utilization",
    "dram_read_bytes": "dram.read_bytes",
    "dram_write_bytes": "dram.write_bytes",
    "dram_utilization": "dram.utilization",
    "peak_link_utilization": "noc.peak_link_utilization",
    "kernel_operations": "operations",
    "host_seconds": "host_seconds",
}
# why there is no result; `Point.key`; hash of tensim's code; see above
PROVENANCE = ("error", "key", "code", "sources")
DIGITS = 16
AGAIN = "choose another folder"


def columns_of(names: list[str]) -> list[str]:
    """The header, for the names of what varies."""
    clash = sorted({"point", *FIGURES, *PROVENANCE} & set(names))
    if clash:
        raise UsageError(f"{clash[0]} is a column of the table and cannot be the name of what varies")
    return ["point", *names, *FIGURES, *PROVENANCE]


class SweepTable:
    """The rows of a sweep; in a folder unless that is None.

    `definition`: plain data of what is swept, the same for all its points.  `names`: of what varies.  `code`: hash of
    tensim's sources.  `dropped`: how many rows were there that no longer count.  UsageError for a folder that cannot be
    written, that another process writes, or that holds another sweep.
    """

    def __init__(
        self,
        folder: str | Path | None,
        definition: dict[str, Any],
        names: list[str],
        code: str,
        retry_failed: bool = False,
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        self.definition = json.loads(json.dumps(definition | {"varies": names}, default=str))
        self.columns, self.code = columns_of(names), code[:DIGITS]
        self.rows: dict[str, dict[str, str]] = {}  # by key
        self.sources: dict[str, dict[str, str]] = {}  # hash -> {path: hash}
        self.dropped = 0
        self._file: IO[str] | None = None
        self._lock: IO[str] | None = None
        self._added = False
        if self.folder is None:
            return
        try:
            self._open(self.folder, retry_failed)
        except OSError as error:
            raise UsageError(f"cannot write the folder {folder}: {error.strerror}") from error

    def _path(self, name: str) -> Path:
        """A file of the folder."""
        assert self.folder is not None  # without one nothing is written
        return self.folder / name

    def _open(self, folder: Path, retry_failed: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._refuse_foreign()
        self._lock = open(self._path(LOCK), "a")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"another process is writing the sweep in {self.folder}", hint="wait for it") from None
        self._read(retry_failed)
        self._write_sweep()
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows.values())
        self._replace(TABLE, text.getvalue())
        self._file = open(self._path(TABLE), "a", newline="")

    def _refuse_foreign(self) -> None:
        """UsageError for a folder with a table or a run that no sweep has written."""
        if self._path(SWEEP).exists():
            return
        there = sorted(path.name for path in self._path(SWEEP).parent.iterdir())
        foreign = [name for name in there if name.endswith((".csv", ".parquet")) or name == "result.json"]
        if foreign:
            raise UsageError(f"{self.folder} holds {foreign[0]} and is no folder of a sweep", hint=AGAIN)

    def _read(self, retry_failed: bool) -> None:
        """Take over what the folder holds of this sweep."""
        if not self._path(SWEEP).exists():
            return
        try:
            data = json.loads(self._path(SWEEP).read_text())
            definition, sources = data["definition"], dict(data["sources"])
            version = data["schema_version"]
        except (ValueError, LookupError, TypeError) as error:
            raise UsageError(f"{self._path(SWEEP)} is damaged: {error}", hint=AGAIN) from error
        if version != SCHEMA_VERSION:
            raise UsageError(f"{self._path(SWEEP)} has schema version {version}, not {SCHEMA_VERSION}", hint=AGAIN)
        if definition != self.definition:
            different = sorted(
                name for name in {*definition, *self.definition} if definition.get(name) != self.definition.get(name)
            )
            told = "; ".join(f"{name} was {definition.get(name)}, is {self.definition.get(name)}" for name in different)
            raise UsageError(f"{self.folder} holds another sweep: {told}", hint=AGAIN)
        holding = {name for name, files in sources.items() if _unchanged(files)}
        for row in self._saved_rows():
            if row["code"] == self.code and row["sources"] in holding and not (retry_failed and row["error"]):
                self.rows[row["key"]] = row
            else:
                self.dropped += 1
        used = {row["sources"] for row in self.rows.values()}
        self.sources = {name: files for name, files in sources.items() if name in used}

    def _saved_rows(self) -> list[dict[str, str]]:
        """The whole rows of the table; the last line of a process that was killed may be half a line."""
        path = self._path(TABLE)
        if not path.exists():
            return []
        lines = path.read_text().splitlines(keepends=True)
        whole = [line for line in lines if line.endswith("\n")]
        rows = list(csv.DictReader(whole))
        if rows and list(rows[0]) != self.columns:
            raise UsageError(f"{path} has other columns than this sweep", hint=AGAIN)
        return [row for row in rows if None not in row and None not in row.values()]

    def _write_sweep(self) -> None:
        data = {"schema_version": SCHEMA_VERSION, "definition": self.definition, "sources": self.sources}
        self._replace(SWEEP, json.dumps(data, indent=2) + "\n")

    def _replace(self, name: str, text: str) -> None:
        """Write a file of the folder at once: whoever is killed leaves the old one or the new one."""
        write_output(self._path(name), text)

    def has(self, point: Point) -> bool:
        """Whether a point's row is there."""
        return point.key in self.rows

    def add(self, point: Point, figures: Mapping[str, Any], error: str, sources: dict[str, str]) -> None:
        """Add the row of a point.  `figures`: {column: value}, empty without a result; `error`: text, or empty; `sources`:
        {path: hash}.  A point that is there already stays as it is.
        """
        if self.has(point):
            return
        name = hashlib.sha256(json.dumps(sources, sort_keys=True).encode()).hexdigest()[:DIGITS]
        row = {"point": point.number, **point.values, **figures, "error": error}
        row |= {"key": point.key, "code": self.code, "sources": name}
        row = {column: _cell(row.get(column)) for column in self.columns}
        if name not in self.sources:
            self.sources[name] = sources
            if self._file is not None:
                self._write_sweep()
        self.rows[point.key], self._added = row, True
        if self._file is not None:
            csv.DictWriter(self._file, self.columns, lineterminator="\n").writerow(row)
            self._file.flush()

    def of(self, points: Iterable[Point]) -> list[dict[str, Any]]:
        """The rows of some points, in their order, with values of Python instead of text."""
        found = []
        for point in points:
            if self.has(point):
                row = {column: _value(column, text) for column, text in self.rows[point.key].items()}
                found.append(row | {"point": point.number} | point.values)
        return found

    def close(self) -> None:
        """Write the table as parquet, too, where that is possible, and let go of the folder."""
        if self._file is None:
            return
        self._file.close()
        if self._added or not self._path(PARQUET).exists():
            self._write_parquet()
        if self._lock is not None:
            self._lock.close()

    def _write_parquet(self) -> None:
        try:
            from pyarrow import csv as arrow_csv
            from pyarrow import parquet
        except ImportError:
            return
        rows = arrow_csv.read_csv(self._path(TABLE)).sort_by("point")
        with output_path(self._path(PARQUET)) as path:
            parquet.write_table(rows, path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _unchanged(files: Mapping[str, str]) -> bool:
    return all(file_sha256(path) == digest for path, digest in files.items())


def _cell(value: object) -> str:
    """What a cell of the table holds: text on one line."""
    if value is None:
        return ""
    return " ".join(str(value).split()) if isinstance(value, str) else str(value)


def _value(column: str, text: str) -> Any:
    """The value that a cell stands for; figures are numbers, None without one."""
    if column not in (*FIGURES, "point") or column == "bounded_by":
        return text
    if text in ("", "None"):
        return None
    if text in ("True", "False"):
        return text == "True"
    return float(text) if any(mark in text for mark in ".en") else int(text)
