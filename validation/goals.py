"""What the validations must reach, as the project states it, and whether a run does."""

import re
from dataclasses import asdict, dataclass

from tensim.validation.evidence import PREDICTED
from tensim.validation.figures import by_family, distribution, rank_correlation

AT_LEAST = ("pairs", "rank correlation")
DISTRIBUTION = {
    "median": "median_abs_err_pct", "mean": "mean_abs_err_pct", "p90": "p90_abs_err_pct", "worst": "max_abs_err_pct",
    "bias": "bias_pct",
}  # fmt: skip


@dataclass(frozen=True)
class Goal:
    """A limit for one figure of a chip's rows.

    `figure`: a distribution's (|error| in percent; bias: of either sign), "worst group" (the largest median of a group),
    "pairs" (percent of the designs ordered as on silicon), "rank correlation" or "failures" (rows whose simulation raises).
    `groups`: regular expression of the groups that count, without their chip; empty: all.  "family median": of the medians
    of families, each of which counts once.  `rows`: of which evidence (`tensim.validation.evidence`) rows count; empty: all.
    `only`: the chip that it is about; empty: each.
    """

    figure: str
    limit: float
    groups: str = ""
    rows: str = ""
    only: str = ""


@dataclass(frozen=True)
class Verdict:
    """A goal of one chip's rows against its `value`, None when no row measures it."""

    name: str
    chip: str
    goal: Goal
    value: float | None

    @property
    def holds(self):
        """Whether the goal is reached."""
        if self.value is None:
            return False
        if self.goal.figure in AT_LEAST:
            return self.value >= self.goal.limit
        return abs(self.value) <= self.goal.limit

    def as_json(self):
        """The fields as one flat dict."""
        goal = {name: value for name, value in asdict(self.goal).items() if name != "only"}
        return {"name": self.name, "chip": self.chip, **goal, "value": self.value, "holds": self.holds}


NO_FAILURES = Goal("failures", 0)
CROWDED = r"(ROW_TO_ROW|COLUMN_TO_COLUMN)/MULTICAST"  # random back-off on silicon: judged apart
OTHERS = rf"(?!{CROWDED})"
COLUMNS = r"ALL_(TO|FROM)_ALL/UNICAST/DRAM"  # every core at the columns of DRAM tiles
# of the GEMM report: stated blocks, older rows, ttnn's choice
PRODUCTS = ("manual 2026-07", "manual older", "out_of_box")
ENGINES, VECTOR = r"unpack|pack|math \(matrix\)", r"math \(SFPU\)"  # groups of validate instruction
GOALS = {
    "noc": (
        Goal("median", 4), Goal("bias", 3), Goal("p90", 15, OTHERS), Goal("worst group", 12, OTHERS),
        Goal("worst group", 20, CROWDED), Goal("median", 8, CROWDED), Goal("p90", 25, CROWDED), Goal("median", 6, COLUMNS),
    ),
    "replay-noc closed": (Goal("mean", 2.2), Goal("worst", 8)),
    "replay-noc open": (Goal("mean", 2.0), Goal("worst", 8)),
    "replay-noc closed flit": (Goal("mean", 2.0), Goal("worst", 7)),
    "replay-noc open flit": (Goal("mean", 1.6), Goal("worst", 7)),
    "dram": (Goal("median", 5), Goal("worst group", 12), Goal("median", 6, "channels/(read|write) random")),
    "numerics": (Goal("worst", 0),),
    "compute": (
        Goal("median", 4), Goal("p90", 12), Goal("bias", 4), Goal("worst group", 12), Goal("pairs", 90, only="blackhole"),
        Goal("pairs", 92, only="wormhole_b0"),
        Goal("median", 6, rows=PREDICTED), Goal("p90", 20, rows=PREDICTED), Goal("family median", 6, rows=PREDICTED),
    ),
    "gemm device": (
        Goal("median", 6, "manual 2026-07"), Goal("p90", 15, "manual 2026-07"), Goal("bias", 4, "manual 2026-07"),
        Goal("median", 15, "(?!manual 2026-07)"), Goal("p90", 12, "manual older"), Goal("p90", 12, "out_of_box"),
    ),
    "gemm host": (
        *(Goal("median", 8, f"{rows}/traced") for rows in PRODUCTS), *(Goal("p90", 15, f"{rows}/traced") for rows in PRODUCTS),
        *(Goal("median", 15, f"{rows}/untraced") for rows in PRODUCTS), *(Goal("p90", 40, f"{rows}/untraced") for rows in PRODUCTS),
    ),
    "issue": (Goal("median", 2), Goal("p90", 10), Goal("bias", 2), Goal("worst group", 15)),
    "instruction": (
        Goal("median", 5, ENGINES), Goal("p90", 15, ENGINES), Goal("median", 8, VECTOR), Goal("p90", 20, VECTOR),
        Goal("median", 15, "init"), Goal("median", 5, "rates"),
    ),
    "kernels": (Goal("median", 10), Goal("p90", 30), Goal("worst group", 20), Goal("pairs", 85)),
    "streaming": (
        Goal("rank correlation", 0.98), Goal("median", 8, "matmul"), Goal("p90", 25, "matmul"), Goal("median", 3, "exp"),
        Goal("p90", 30, "exp"), Goal("worst group", 10, "exp/(float32|uint32)"),
    ),
    "dispatch": (Goal("median", 15, "(un)?traced"), Goal("median", 15, "transfers")),
    "firmware": (Goal("median", 15),),
    "fabric": (
        Goal("median", 8, "bandwidth"), Goal("p90", 20, "bandwidth"), Goal("median", 6, "latency"), Goal("p90", 15, "latency"),
        Goal("median", 5, "link ceiling"), Goal("median", 8, "gather"), Goal("p90", 20, "gather"),
    ),
    "operations": (  # of programs of this release
        Goal("median", 6, rows="predicted"), Goal("p90", 18, rows="predicted"), Goal("bias", 3, rows="predicted"),
        Goal("median", 7, r"\w+/DRAM", "predicted"), Goal("median", 8, r"\w+/L1", "predicted"),
    ),
}  # fmt: skip


def judge(name, chip, rows, failures=(), pairs=None):
    """[`Verdict`] on the rows of one chip; `pairs`: function of rows (`tensim.validation.pairs`), None where no designs differ.

    A goal that no row of the chip measures is left out (`unmeasured`).  `failures`: rows whose simulation raised; one is
    too many.
    """
    verdicts = [Verdict(name, chip, NO_FAILURES, len(failures))] if failures else []
    for goal in GOALS.get(name, ()):
        if goal.only not in ("", chip):
            continue
        mine = [row for row in rows if row["err_pct"] is not None and _counts(goal, row)]
        value = _figure(goal.figure, mine, pairs) if mine else None
        if value is not None:
            verdicts.append(Verdict(name, chip, goal, value))
    return verdicts


def unmeasured(name, verdicts):
    """[`Verdict`] without value on the goals of a kind that no chip's rows measure."""
    judged = {verdict.goal for verdict in verdicts}
    return [Verdict(name, "-", goal, None) for goal in GOALS.get(name, ()) if goal not in judged]


def _counts(goal, row):
    """Whether a row is one of those that a goal is about."""
    return re.match(goal.groups, _kind_of(row)) and goal.rows in ("", row.get("evidence"))


def _kind_of(row):
    """The group of a row without its chip."""
    return row["group"].partition("/")[2]


def _figure(figure, rows, pairs):
    """One figure of measured rows; None when they do not have it."""
    if figure == "rank correlation":
        return rank_correlation([row["measured"] for row in rows], [row["simulated"] for row in rows])
    if figure == "pairs":
        count = pairs(rows) if pairs else {"n": 0}
        return 100 * count["agree"] / count["n"] if count["n"] else None
    if figure == "family median":
        return by_family(rows)["family_median_abs_err_pct"]
    if figure == "worst group":
        groups = {}
        for row in rows:
            groups.setdefault(row["group"], []).append(row["err_pct"])
        return max(distribution(errors)["median_abs_err_pct"] for errors in groups.values())
    return distribution([row["err_pct"] for row in rows])[DISTRIBUTION[figure]]
