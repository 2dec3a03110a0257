"""The result of a simulation as data: what was measured, and what makes it repeatable."""

from __future__ import annotations

import json
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tensim.results.json_text import json_text
from tensim.sim.errors import UsageError
from tensim.sim.lazy_dataclass import dataclass
from tensim.sim.output_files import write_output

if TYPE_CHECKING:
    from types import ModuleType

    import pandas

SCHEMA_VERSION = 1
FILE = "result.json"  # of a run folder
ALWAYS = {  # in the summary of every simulation: key and type
    "arch": str, "cycles": int, "device_seconds": float, "breakdown": dict, "noc": dict, "dram": dict
}  # fmt: skip
TABLES = {
    "operations": lambda result: result.operations,
    "by_operation": lambda result: result.summary.get("by_operation", []),
    "by_signpost": lambda result: result.summary.get("by_signpost", []),
    "threads": lambda result: [{"thread": name, **part} for name, part in result.summary["breakdown"].items()],
    "lines": lambda result: result.lines,
    "cores": lambda result: [{"core": core, "cycles": cycles} for core, cycles in result.core_cycles.items()],
    "zones": lambda result: result.zones,
    "links": lambda result: result.links,
    "channels": lambda result: result.summary["dram"]["channels"],
    "kernels": lambda result: result.identity.get("kernels", []),
    "loops": lambda result: result.summary.get("loops", []),
    "advice": lambda result: result.advice,
    "what_if": lambda result: result.summary.get("what_if", []),
    "circular_buffers": lambda result: result.summary.get("circular_buffers", []),
    "programs": lambda result: result.summary.get("programs", []),
    "launches": lambda result: result.summary.get("launches", []),
}


@dataclass(frozen=True)
class Result:
    """What one simulation measured (`summary`) and what it was of (`identity`).

    `summary`: plain data with the keys of docs/design.md#9-machine-readable-output; `result["dram"]` is an entry of it.
    Times are in cycles of the chip or in seconds, as their names say.  `identity`: see `tensim.results.identity`.  `output`: the
    array that the program read back, where `tt.run` ran it with numerics; it is not saved.
    """

    summary: dict[str, Any]
    identity: dict[str, Any] = field(default_factory=dict)
    schema_version: int = SCHEMA_VERSION
    output: Any = field(default=None, compare=False, repr=False)

    def __getitem__(self, key: str) -> Any:
        return self.summary[key]

    def __repr__(self) -> str:
        lasted = f", {self.span_cycles:,} from start to end" if self.span_cycles != self.cycles else ""
        return f"Result({self.name}: {self.cycles:,} cycles{lasted} on {self.arch})"

    # --- the figures that most readers want

    @property
    def name(self) -> str:
        """Of the program."""
        return self.summary.get("name") or self.identity.get("program") or "program"

    @property
    def arch(self) -> str:
        """Name of the chip's architecture."""
        return self.summary["arch"]

    @property
    def cycles(self) -> int:
        """Cycles of the chip's clock, summed over its programs: each from the first kernel's start to the last one's end."""
        return self.summary["cycles"]

    @property
    def span_cycles(self) -> int:
        """Cycles that the run lasted: from the first start to the last end of a program, idle time between them included."""
        return self.summary.get("span_cycles", self.cycles)

    @property
    def device_seconds(self) -> float:
        """`cycles` in seconds of simulated time."""
        return self.summary["device_seconds"]

    @property
    def host_seconds(self) -> float | None:
        """Seconds that the simulation took on this machine."""
        return self.summary.get("host_seconds")

    @property
    def verified(self) -> bool | None:
        """Whether the output was right; None when nothing was compared."""
        return self.summary.get("verified")

    @property
    def bounded_by(self) -> str | None:
        """The unit, or the kind of wait, that bounds the run."""
        return self.summary.get("bounded_by")

    @property
    def verdict(self) -> dict[str, Any] | None:
        """What bounds the run, with its evidence: "kind", "resource", "share", "text", ...; None when nothing ran."""
        return self.summary.get("verdict")

    @property
    def advice(self) -> list[dict[str, Any]]:
        """What to try: "rule", "title", "text", "estimated_gain_pct" (of `tensim.advise`, else None), ..."""
        return self.summary.get("advice", [])

    @property
    def image_sha256(self) -> dict[str, str] | None:
        """{"dram", "l1"}: hashes of the memories at the end, where they were asked for."""
        return self.summary.get("image_sha256")

    @property
    def zones(self) -> list[dict[str, Any]]:
        """Profiler zones, where they were asked for: "zone", "kernel", "thread", "count", "cycles" and their extremes."""
        return self.summary.get("zones", [])

    @property
    def core_cycles(self) -> dict[str, int]:
        """{"(x,y)": cycles}: of each worker core, from the start of each program to its end there, summed."""
        return self.summary.get("core_cycles", {})

    @property
    def kernel_operations(self) -> int:
        """Operations that all kernels have carried out."""
        summary = self.summary
        return summary["kernel_operations"] if "kernel_operations" in summary else summary.get("operations", 0)

    @property
    def operations(self) -> list[dict[str, Any]]:
        """The operations of a ttnn program in their order, each with "name" and "cycles"; none of other programs."""
        operations = self.summary.get("operations")
        return operations if isinstance(operations, list) else []

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The slowest kernel lines: "file", "line", "busy", "stalled" (cycles over all cores), "operations"."""
        return self.summary.get("lines", [])

    @property
    def links(self) -> list[dict[str, Any]]:
        """The used links of the NoCs, busiest first: "noc", "from", "to", "kind", "utilization", "stall_cycles", "bytes"."""
        return self.summary["noc"]["links"]

    @property
    def warnings(self) -> list[str]:
        """What its user should know."""
        return self.summary.get("warnings", [])

    # --- as plain data

    def to_dict(self) -> dict[str, Any]:
        """The summary with its keys at top level, "schema_version" and "identity": what `--json` writes."""
        return self.summary | {"schema_version": self.schema_version, "identity": self.identity}

    @classmethod
    def from_dict(cls, data: dict[str, Any], origin: str | Path = "the data") -> Self:
        """The result that `to_dict` gave; UsageError, which names `origin`, for other data and other schemas."""
        if not isinstance(data, dict):
            raise UsageError(f"{origin} holds no result: it is a {type(data).__name__}", hint=HINT)
        if "results" in data:
            raise UsageError(f"{origin} holds {len(data['results'])} results", hint="save one result in each file")
        missing = [key for key in ALWAYS if key not in data]
        if missing and "error" in data:
            message = data["error"].get("message") if isinstance(data["error"], dict) else data["error"]
            raise UsageError(f"{origin} holds no result but the error of a run: {message}")
        if missing:
            raise UsageError(f"{origin} holds no result: {', '.join(missing)} missing", hint=HINT)
        summary = dict(data)
        version, identity = summary.pop("schema_version", None), summary.pop("identity", None)
        if version != SCHEMA_VERSION:
            raise UsageError(
                f"{origin} has schema version {version}; this tensim reads {SCHEMA_VERSION}",
                hint="read it with the tensim that wrote it, or run the program again",
            )
        wrong = [key for key, kind in ALWAYS.items() if type(summary[key]) is not kind]
        if wrong or type(identity) is not dict:
            raise UsageError(f"{origin} is damaged: {', '.join(wrong) or 'identity'} has another type", hint=HINT)
        return cls(summary, identity)

    def save(self, path: str | Path) -> Path:
        """Write the result as JSON to a file, or as result.json into a folder that is there; returns the file's path."""
        file = Path(path)
        file = file / FILE if file.is_dir() else file
        try:
            write_output(file, self.to_json())
        except OSError as error:
            raise UsageError(f"cannot write {file}: {error.strerror}") from error
        return file

    def to_json(self) -> str:
        """The result as the text of a JSON file."""
        return json_text(self.to_dict()) + "\n"

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The result that a file or run folder holds; UsageError when it holds none."""
        file = Path(path)
        file = file / FILE if file.is_dir() else file
        try:
            data = json.loads(file.read_text())
        except OSError as error:
            raise UsageError(f"cannot read {file}: {error.strerror}", hint=HINT) from error
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{file} is not JSON: {error}", hint=HINT) from error
        return cls.from_dict(data, file)

    def to_html(self) -> str:
        """One self-contained HTML page: summary, verdict, cores, roofline, source lines, circular buffers, timeline."""
        from tensim.html_report.page import html_page

        return html_page(self.to_dict())

    def _repr_html_(self) -> str:
        """What a notebook shows: the page in a frame of its own."""
        from tensim.html_report.page import notebook_frame

        return notebook_frame(self.to_dict())

    # --- as tables

    def row(self) -> dict[str, Any]:
        """The single figures of the summary and of the identity by dotted names, as a table of several results has them."""
        return _scalars(self.identity) | _scalars({k: v for k, v in self.summary.items() if k not in FOLDED})

    def to_frame(self, table: str | None = None) -> pandas.DataFrame:
        """A pandas DataFrame: one row of all single figures, or a `table` with a row per entry.

        `table`: "operations", "by_operation", "threads", "cores", "zones", "lines", "links", "channels", "kernels", "loops",
        "advice", "what_if", "circular_buffers", "programs" or "launches".
        UsageError for another one and without pandas.
        """
        if table is not None and table not in TABLES:
            raise UsageError(f"a result has no table {table!r}", hint=f"one of {', '.join(TABLES)}")
        return require_pandas("to_frame").DataFrame([self.row()] if table is None else TABLES[table](self))


HINT = "a result is what --json FILE or Result.save wrote, or the folder of -o"
FOLDED = (
    "core_cycles", "noc", "dram", "breakdown", "units", "roofline", "name", "arch", "seed", "numerics", "noc_model",
)  # fmt: skip


def require_pandas(what: str) -> ModuleType:
    """The module pandas; UsageError when it is not installed."""
    try:
        import pandas
    except ImportError as error:
        raise UsageError(f"{what} needs pandas, which is not installed", hint="pip install pandas") from error
    return pandas


def _scalars(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """{dotted key: value} of the texts, numbers and truth values in nested dicts."""
    found = {}
    for key, value in data.items():
        if isinstance(value, dict):
            found |= _scalars(value, f"{prefix}{key}.")
        elif value is None or isinstance(value, str | int | float):
            found[f"{prefix}{key}"] = value
    return found
