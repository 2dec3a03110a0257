"""The committed accuracy of the sample: a regression is a median |error| that grew by more than a margin."""

import json
from pathlib import Path

from sim.errors import UsageError

SAMPLE = Path(__file__).parent / "sample"
BASELINE = Path(__file__).parent / "baseline.json"
MARGIN = 2.0  # percentage points by which the median of a kind on a chip may grow


def name(line):
    """The group of a `validation.everything.Line`."""
    return f"{line.kind}/{line.chip}"


def write_baseline(lines, path=BASELINE):
    """Make the figures of `lines` the committed ones."""
    medians = {name(line): {"n": line.n, "median_abs_err_pct": round(line.median, 2)} for line in lines if line.n}
    Path(path).write_text(json.dumps(medians, indent=2) + "\n")


def regressions(lines, path=BASELINE, margin=MARGIN):
    """Texts of what became worse: a median that grew by more than `margin`, rows that are compared no longer."""
    if not Path(path).exists():
        raise UsageError(f"there is no {path}", hint="make one: python -m validation --quick --update-baseline")
    known, worse = json.loads(Path(path).read_text()), []
    now = {name(line): line for line in lines}
    for group, before in known.items():
        line = now.get(group)
        if line is None or line.n < before["n"]:
            worse.append(f"{group}: {0 if line is None else line.n} rows compared, {before['n']} before")
        elif line.median > before["median_abs_err_pct"] + margin:
            worse.append(f"{group}: median |error| {line.median:.1f} %, {before['median_abs_err_pct']:.1f} % before")
    return worse
