"""All validations over one folder of measurements: which file belongs to which kind, and one line per kind and chip."""

import importlib
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from sim.errors import UsageError
from validation.command import KINDS
from validation.figures import add_rank_correlation, distribution, summary
from validation.goals import MEAN, MEDIAN
from validation.rows import cases_of, read_rows
from validation.runner import validate

FOLDERS = {"numerics"}  # kinds that read folders of arrays
REPLAY_MODES = ("closed", "open")
REPLAY_ARCH = "wormhole_b0"  # the chip of the recordings


@dataclass
class Line:
    """Figures of one kind on one chip; errors in percent, None without rows.  `judged`: what the goal is compared with."""

    kind: str
    chip: str
    n: int
    skipped: int
    median: float | None = None
    p90: float | None = None
    worst: float | None = None
    bias: float | None = None
    judged: float | None = None
    goal: float | None = None

    @property
    def holds(self):
        """Whether the goal is reached; None where there is none to compare with."""
        return None if self.goal is None or self.judged is None else self.judged <= self.goal

    def as_json(self):
        """All fields, and whether the goal holds."""
        return asdict(self) | {"holds": self.holds}


def line(kind, chip, errors, skipped):
    """The `Line` of signed errors in percent."""
    figures = distribution(errors)
    if not figures["n"]:
        return Line(kind, chip, 0, skipped, goal=MEDIAN.get(kind))
    median = figures["median_abs_err_pct"]
    judged = figures["mean_abs_err_pct"] if kind in MEAN else median
    return Line(
        kind, chip, figures["n"], skipped, median, figures["p90_abs_err_pct"], figures["max_abs_err_pct"],
        figures["bias_pct"], judged, MEDIAN.get(kind),
    )  # fmt: skip


def modules():
    """{kind: its module} of the kinds that read tables."""
    return {kind: importlib.import_module(f"validation.{kind}") for kind in KINDS if kind not in FOLDERS}


def table_of(path, module):
    """(rows, layout) of a file that a kind reads, else None: another kind's, or one without measured values."""
    try:
        rows, layout = read_rows(path, module.COLUMNS)
        cases_of(rows, layout, module.read)
    except (UsageError, KeyError):
        return None
    return rows, layout


def tables_of(folder):
    """({kind: [(rows, layout)]}, [files of no kind]) of all CSV files below a folder, told by their columns."""
    found, unknown = {}, []
    for path in sorted(Path(folder).rglob("*.csv")):
        kinds = []
        for kind, module in modules().items():
            table = table_of(path, module)
            if table is not None:
                found.setdefault(kind, []).append(table)
                kinds.append(kind)
        if not kinds:
            unknown.append(path)
    return found, unknown


def run_kind(kind, tables, jobs, on_progress, keep=True):
    """The summary (`validation.figures.summary`) of one kind."""
    module = importlib.import_module(f"validation.{kind}")
    rows, skipped, bad, seconds = validate(
        kind, module, tables, jobs, lambda share: on_progress(f"validate {kind}: {share:.0%}"), keep
    )
    result = summary(rows, skipped + bad, seconds)
    if getattr(module, "RANKED", False):
        add_rank_correlation(result)
    return result


def lines_of(kind, result):
    """A `Line` per chip; skipped rows belong to no chip and are counted with the first."""
    chips = {}
    for row in result["rows"]:
        chips.setdefault(row["group"].split("/")[0], []).append(row["err_pct"])
    skipped = len(result["skipped"])
    made = []
    for chip in sorted(chips) or ["-"]:
        made.append(line(kind, chip, chips.get(chip, []), skipped if not made else 0))
    return made


def run_numerics(folder, on_progress):
    """The `Line` of all golden cases below a folder, [] when there are none: percent of the datums that differ per case."""
    from validation.numerics import validate_folder

    errors, skipped, known = [], 0, False
    for index in sorted(Path(folder).rglob("index.json")):
        try:
            result = validate_folder(str(index.parent), lambda share: on_progress(f"validate numerics: {share:.0%}"))
        except UsageError:
            continue
        known = True
        skipped += len(result["skipped"])
        errors += [100 * row["mismatching"] / max(row["total"], 1) for row in result["rows"]]
    return [line("numerics", "all", errors, skipped)] if known else []


def run_replays(folder, on_progress):
    """A `Line` per mode over the NoC recordings below a folder, [] when there are none."""
    from host_api.noc_replay_cli import read_all, replay_all
    from sim.arch import load_arch

    paths = [path for path in sorted(Path(folder).rglob("*.json")) if path.name != "index.json"]
    recordings, _ = read_all([str(path) for path in paths], load_arch(REPLAY_ARCH))
    if not recordings:
        return []
    made = []
    for mode in REPLAY_MODES:
        rows, skipped, failed = replay_all(recordings, mode, None, on_progress)
        made.append(
            line(f"replay-noc {mode}", REPLAY_ARCH, [row["err_pct"] for row in rows], len(skipped) + len(failed))
        )
    return made


def run_folder(folder, jobs, on_progress, plots=None, keep=True):
    """({"lines", "unknown_files", "host_seconds", "ranks"}) of everything in a folder.

    `plots`: folder for a picture per kind; UsageError when `folder` holds nothing that any validation reads.
    """
    begun = time.perf_counter()
    if not Path(folder).is_dir():
        raise UsageError(f"{folder} is not a folder", hint="give the folder of the measurements (make: DATA=folder)")
    tables, unknown = tables_of(folder)
    lines, ranks = [], {}
    for kind in KINDS:
        if kind not in tables:
            continue
        result = run_kind(kind, tables[kind], jobs, on_progress, keep)
        lines += lines_of(kind, result)
        if "rank_correlation" in result:
            ranks[kind] = result["rank_correlation"]
        if plots and result["rows"]:
            from validation.plots import plot_rows

            plot_rows(result["rows"], Path(plots) / f"validation_{kind}.png", f"validate {kind}")
    lines += run_numerics(folder, on_progress) + run_replays(folder, on_progress)
    if not lines:
        raise UsageError(f"{folder} holds no file that a validation reads")
    return {
        "lines": lines,
        "rank_correlation": ranks,
        "unknown_files": [str(path) for path in unknown],
        "host_seconds": time.perf_counter() - begun,
    }
