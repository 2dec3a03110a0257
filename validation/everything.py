"""All validations over folders of measurements: which file belongs to which kind, figures and goals per kind and chip."""

import importlib
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from tensim.sim.errors import UsageError
from tensim.validation import KINDS
from tensim.validation.figures import by_evidence, distribution, kept_gaps, rank_correlation, summary, with_cpp
from tensim.validation.goals import judge, unmeasured
from tensim.validation.noc import recordings as noc_recordings
from tensim.validation.numerics import golden_cases
from tensim.validation.rows import cases_of, read_rows
from tensim.validation.runner import compare, select, simulate

ROW = ("id", "group", "measured", "simulated", "unit", "err_pct", "evidence")  # of a row in the results
FOLDERS = {"numerics"}  # kinds that read folders of arrays
ASKED_FOR = {"firmware"}  # kinds that run by their own name alone: rows of another kind, in minutes


@dataclass(frozen=True)
class Line:
    """Figures of one kind on one chip; errors in percent, None without measured rows."""

    name: str
    chip: str
    n: int
    skipped: int
    failed: int
    median: float | None = None
    p90: float | None = None
    worst: float | None = None
    bias: float | None = None

    def as_json(self):
        """All fields."""
        return asdict(self)


def modules(everywhere=False):
    """{kind: its module} of the kinds that read tables and have here what they need; `everywhere`: of those that need nothing."""
    found = {
        kind: importlib.import_module(f"tensim.validation.{kind}.rows")
        for kind in KINDS
        if kind not in FOLDERS | ASKED_FOR
    }
    return {kind: module for kind, module in found.items() if _is_possible(module, everywhere)}


def _is_possible(module, everywhere):
    require = getattr(module, "require", None)
    if require is None or everywhere:
        return require is None
    try:
        require()
    except UsageError:
        return False
    return True


def table_of(path, module):
    """(rows, layout) of a file that a kind reads, else None: another kind's, or one without measured values."""
    try:
        rows, layout = read_rows(path, module.COLUMNS)
        cases_of(rows, layout, module.read)
    except (UsageError, KeyError):
        return None
    return rows, layout


def tables_of(folders, everywhere=False):
    """({kind: [(rows, layout)]}, [files of no kind]) of all CSV files below some folders, told by their columns."""
    found, unknown = {}, []
    for path in sorted(path for folder in folders for path in Path(folder).rglob("*.csv")):
        kinds = []
        for kind, module in modules(everywhere).items():
            table = table_of(path, module)
            if table is not None:
                found.setdefault(kind, []).append(table)
                kinds.append(kind)
        if not kinds:
            unknown.append(path)
    return found, unknown


def selections_of(folders, everywhere=False):
    """([`tensim.validation.runner.Selection`], [files of no kind]) of everything below some folders.

    A kind with several metrics (gemm: device, host) gives one of each; they share their simulations.
    """
    tables, unknown = tables_of(folders, everywhere)
    chosen = []
    for kind, module in modules(everywhere).items():
        for metric, read in getattr(module, "METRICS", {"": module.read}).items():
            if kind in tables:
                chosen.append(select(f"{kind} {metric}".strip(), module, tables[kind], read))
    return chosen + golden_cases.selections(folders) + noc_recordings.selections(folders), unknown


def chip_of(row):
    """The chip of a compared row."""
    return row["group"].split("/")[0]


def lines_of(name, rows, skipped, failures=()):
    """A `Line` per chip; skipped rows belong to no chip and are counted with the first."""
    chips, made = {chip_of(row): [] for row in failures}, []
    for row in rows:
        chips.setdefault(chip_of(row), []).append(row["err_pct"])
    for chip in sorted(chips) or ["-"]:
        figures = distribution(chips.get(chip, []))
        keys = ("median_abs_err_pct", "p90_abs_err_pct", "max_abs_err_pct", "bias_pct")
        left_out, failed = 0 if made else len(skipped), sum(chip_of(row) == chip for row in failures)
        made.append(Line(name, chip, figures["n"], left_out, failed, *(figures.get(key) for key in keys)))
    return made


def evidence_lines_of(name, rows):
    """[{"name", "chip", "evidence", figures}] per chip: rows that chose parameters apart from those that are predicted."""
    chips = {}
    for row in rows:
        chips.setdefault(chip_of(row), []).append(row)
    parts = ((chip, by_evidence(chips[chip])) for chip in sorted(chips))
    return [{"name": name, "chip": chip, "evidence": kind, **part[kind]} for chip, part in parts for kind in part]


def verdicts_of(name, module, rows, failures=()):
    """[`tensim.validation.goals.Verdict`] of all chips; a goal that no row of any chip measures does not hold."""
    pairs = getattr(importlib.import_module(module), "pairs", None)
    chips = sorted({chip_of(row) for row in [*rows, *failures]})
    verdicts = []
    for chip in chips:
        mine, failed = ([row for row in some if chip_of(row) == chip] for some in (rows, failures))
        verdicts += judge(name, chip, mine, failed, pairs)
    return verdicts + unmeasured(name, verdicts)


def run_folders(folders, jobs, on_progress, plots=None, keep=True, everywhere=False):
    """{"lines", "by_evidence", "verdicts", "kept_gaps": {name: `tensim.validation.figures.kept_gaps`}, "groups": {name: {group:
    figures}}, "rows": {name: [...]}, "skipped": {name: [...]}, "failures": {name: [...]}, "rank_correlation", "unknown_files",
    "unknown_rows", "host_seconds"} of everything below some folders.

    `plots`: folder for a picture per kind; `everywhere`: only what needs no library or sources of the vendor's, so that the result
    is the same on every machine.  UsageError when the folders hold nothing that any validation reads.
    """
    begun = time.perf_counter()
    for folder in folders:
        if not Path(folder).is_dir():
            raise UsageError(
                f"{folder} is not a folder", hint="give the folder of the measurements (make: DATA=folder)"
            )
    selections, unknown = selections_of(folders, everywhere)
    if not selections:
        raise UsageError(f"{', '.join(map(str, folders))} holds no file that a validation reads")
    results = simulate(selections, jobs, lambda share, name: on_progress(f"validate: {share:.0%}, {name}"), keep)
    total = {
        "lines": [],
        "by_evidence": [],
        "verdicts": [],
        "kept_gaps": {},
        "groups": {},
        "rows": {},
        "skipped": {},
        "failures": {},
        "rank_correlation": {},
    }
    for selection in selections:
        _add(total, selection, *compare(selection, results), plots)
    return {
        **total,
        "unknown_files": [str(path) for path in unknown],
        "unknown_rows": sum(max(len(path.read_text(errors="replace").splitlines()) - 1, 0) for path in unknown),
        "host_seconds": time.perf_counter() - begun,
    }


def _add(total, selection, rows, skipped, failures, plots):
    """Add what one selection came to; its rows with C++ kernels have a line and rows of their own."""
    name, left_out = selection.name, skipped + selection.bad
    total["lines"] += lines_of(name, rows, left_out, failures)
    if cpp := with_cpp(rows):
        total["lines"] += lines_of(f"{name} cpp", cpp, [])
        total["rows"][f"{name} cpp"] = [{key: row[key] for key in ROW} for row in cpp]
    total["by_evidence"] += evidence_lines_of(name, rows)
    total["verdicts"] += verdicts_of(name, selection.module, rows, failures)
    total["groups"][name] = summary(rows, left_out, failures, 0.0)["groups"]
    total["rows"][name] = [{key: row[key] for key in ROW} | _kept_gaps(row) for row in rows]
    if gaps := [row for row in total["rows"][name] if "kept_gap_share" in row]:
        total["kept_gaps"][name] = kept_gaps(gaps)
    total["skipped"][name], total["failures"][name] = left_out, failures
    if getattr(importlib.import_module(selection.module), "RANKED", False):
        pairs = [(row["measured"], row["simulated"]) for row in rows]
        total["rank_correlation"][name] = rank_correlation(*zip(*pairs, strict=True)) if pairs else None
    if plots and rows and name not in FOLDERS:  # bits are equal or not
        from tensim.validation.plots import plot_rows

        plot_rows(rows, Path(plots) / f"validation_{name.replace(' ', '_')}.png", f"validate {name}")


def _kept_gaps(row):
    """What a recording's replay takes from the recording; {} of other rows."""
    return {name: share for name, share in row["columns"].items() if name == "kept_gap_share"}
