"""The committed accuracy of the sample: a regression is a median |error| that grew by more than a margin.

The file: {"groups": {group: {"n", "median_abs_err_pct"}}, "rises": [{"why", "groups": {group: [before, after]}}]}, the medians
that were committed although they had grown by more than the margin, each time with the reason.
"""

import itertools
import json
import statistics
from pathlib import Path

from tensim.sim.errors import UsageError
from tensim.sim.output_files import write_output

SAMPLE = Path(__file__).parent / "sample"
BASELINE = Path(__file__).parent / "baseline.json"
MARGIN = 2.0  # percentage points by which the median of a group may grow
ENOUGH = 3  # rows of a group that is judged by itself, besides with all of its kind and chip


def figures_of(rows):
    """{group: {"n", "median_abs_err_pct"}} of {kind: compared rows}: each kind on each chip, and what part of its groups'
    names (chip/PATTERN/...) `ENOUGH` measured rows share.
    """
    errors = {}
    for name, compared in rows.items():
        for row in (row for row in compared if row["err_pct"] is not None):
            for prefix in itertools.accumulate(row["group"].split("/"), "{}/{}".format):
                errors.setdefault(f"{name}: {prefix}", []).append(abs(row["err_pct"]))
    return {
        group: {"n": len(some), "median_abs_err_pct": round(statistics.median(some), 2)}
        for group, some in sorted(errors.items())
        if len(some) >= ENOUGH or "/" not in group
    }


def write_baseline(figures, because=None, path=BASELINE):
    """Make `figures` (of `figures_of`) the committed ones; `because`: why medians rose, UsageError if some did without."""
    committed = json.loads(Path(path).read_text()) if Path(path).exists() else {"groups": {}, "rises": []}
    grown = {
        group: [before["median_abs_err_pct"], figures[group]["median_abs_err_pct"]]
        for group, before in committed["groups"].items()
        if group in figures and _grew(before, figures[group], MARGIN)
    }
    if grown and not because:
        raise UsageError(
            f"the median |error| of {', '.join(grown)} rose by over {MARGIN:g} points", hint="say why: --because TEXT"
        )
    rises = committed["rises"] + ([{"why": because, "groups": grown}] if grown else [])
    write_output(path, json.dumps({"groups": figures, "rises": rises}, indent=2) + "\n")


def _grew(before, now, margin):
    return now["median_abs_err_pct"] > before["median_abs_err_pct"] + margin


def regressions(figures, path=BASELINE, margin=MARGIN):
    """Texts of what became worse: a median that grew by more than `margin`, rows that are compared no longer."""
    if not Path(path).exists():
        raise UsageError(
            f"there is no {path}", hint="make one: python -m tensim.validation run --quick --update-baseline"
        )
    worse = []
    for group, before in json.loads(Path(path).read_text())["groups"].items():
        now = figures.get(group, {"n": 0})
        if now["n"] < before["n"]:
            worse.append(f"{group}: {now['n']} rows compared, {before['n']} before")
        elif _grew(before, now, margin):
            old, new = before["median_abs_err_pct"], now["median_abs_err_pct"]
            worse.append(f"{group}: median |error| {new:.1f} %, {old:.1f} % before")
    return worse
