"""Errors of a set of rows as distributions: per group, the worst groups first."""

import numpy as np

from tensim.validation.evidence import KINDS


def error_percent(simulated, measured):
    """100 (simulated - measured) / measured; for a range (low, high) 0 inside it, else against its nearer end.

    None without a measurement.
    """
    if measured is None:
        return None
    if isinstance(measured, tuple):
        low, high = measured
        measured = min(max(simulated, low), high)
    return 100.0 * (simulated - measured) / measured


def distribution(errors):
    """n, median, mean, p90 and largest |error| in percent, and the bias: the median of the signed errors.

    None in `errors`: a row without a measurement, which counts in n alone.  Without any measurement there is only n.
    """
    measured = np.asarray([error for error in errors if error is not None], float)
    if not len(measured):
        return {"n": len(errors)}
    size = np.abs(measured)
    return {
        "n": len(errors),
        "median_abs_err_pct": float(np.median(size)),
        "mean_abs_err_pct": float(size.mean()),
        "p90_abs_err_pct": float(np.percentile(size, 90)),
        "max_abs_err_pct": float(size.max()),
        "bias_pct": float(np.median(measured)),
    }


def family_of(group):
    """The family of a group: its chip and the first part of its name."""
    return "/".join(group.split("/")[:2])


def by_family(rows):
    """{"families", "family_median_abs_err_pct"}: the median of the families' medians, so that each counts once."""
    families = {}
    for row in rows:
        if row["err_pct"] is not None:
            families.setdefault(family_of(row["group"]), []).append(abs(row["err_pct"]))
    if not families:
        return {"families": 0}
    medians = [np.median(errors) for errors in families.values()]
    return {"families": len(medians), "family_median_abs_err_pct": float(np.median(medians))}


def by_evidence(rows):
    """{evidence: the figures of its rows, with `by_family`}, of `tensim.validation.evidence.KINDS` in that order."""
    parts = ((kind, [row for row in rows if row.get("evidence") == kind]) for kind in KINDS)
    return {kind: {**distribution([row["err_pct"] for row in some]), **by_family(some)} for kind, some in parts if some}


def rank_correlation(measured, simulated):
    """Spearman's: the correlation of the ranks, equal values sharing theirs; None for fewer than two different values."""
    if not len(measured):
        return None
    ranks = [_ranks(values) for values in (measured, simulated)]
    if any(np.ptp(rank) == 0 for rank in ranks):
        return None
    return float(np.corrcoef(*ranks)[0, 1])


def _ranks(values):
    _, inverse, counts = np.unique(np.asarray(values, float), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]


def add_rank_correlation(result, group_of=None):
    """Add `rank_correlation`, overall and per group, to a `summary`; rows measured as a range do not count."""
    groups = {}
    for row in result["rows"]:
        if not isinstance(row["measured"], tuple):
            groups.setdefault(row["group"] if group_of is None else group_of(row), []).append(row)
    for figures, rows in [(result, sum(groups.values(), []))] + [(result["groups"][g], r) for g, r in groups.items()]:
        figures["rank_correlation"] = rank_correlation([r["measured"] for r in rows], [r["simulated"] for r in rows])


def kept_gaps(rows):
    """{"mean", "least", "most": the part of recordings' time that replay keeps, "rest_abs_err_pct": all errors over all of
    the rest}; `rows`: with "kept_gap_share".
    """
    shares = [row["kept_gap_share"] for row in rows]
    rest = sum(row["measured"] * (1 - row["kept_gap_share"]) for row in rows)
    wrong = sum(abs(row["simulated"] - row["measured"]) for row in rows)
    return {
        "mean": float(np.mean(shares)), "least": min(shares), "most": max(shares),
        "rest_abs_err_pct": 100 * wrong / rest if rest else None,
    }  # fmt: skip


def kept_gaps_in_words(figures):
    """One sentence about figures of `kept_gaps`."""
    rest = figures["rest_abs_err_pct"]
    error = "" if rest is None else f"; errors are {rest:.1f} % of the rest"
    return (
        f"of the recorded time {figures['mean']:.0%} ({figures['least']:.0%} to {figures['most']:.0%}) are gaps that replay "
        f"keeps{error}"
    )


def with_cpp(rows):
    """The rows that are simulated with C++ kernels, too, as if that were their only simulation."""
    return [row | row["cpp"] for row in rows if "cpp" in row]


def _figures(rows):
    """The distribution of some rows; "cpp": that of their simulations with C++ kernels."""
    figures, cpp = distribution([row["err_pct"] for row in rows]), with_cpp(rows)
    if cpp:
        figures["cpp"] = distribution([row["err_pct"] for row in cpp])
    return figures


def _evidence(rows):
    """{"evidence": what the rows of a group have in common, "mixed" if nothing}; {} of rows that say nothing of it."""
    found = {row["evidence"] for row in rows if "evidence" in row}
    return {"evidence": found.pop() if len(found) == 1 else "mixed"} if found else {}


def summary(rows, skipped, failures, host_seconds, group_of=None):
    """The contract of the design page for `rows`: dicts with id, group, measured, simulated, unit, err_pct; evidence,
    where it is known; cpp, where the row is simulated with C++ kernels, too.  `skipped`: [{"id", "why"}]; `failures`:
    [{"id", "group", "why"}].

    `group_of`: function of a row that names its group; None: the row's own.
    """
    groups = {}
    for row in rows:
        groups.setdefault(row["group"] if group_of is None else group_of(row), []).append(row)
    figures = {name: _figures(members) | _evidence(members) for name, members in groups.items()}
    worst_first = sorted(figures, key=lambda name: (-figures[name].get("median_abs_err_pct", -1.0), name))
    return {
        **_figures(rows),
        **by_family(rows),
        "by_evidence": by_evidence(rows),
        "skipped": skipped,
        "failures": failures,
        "groups": {name: figures[name] for name in worst_first},
        "rows": rows,
        "host_seconds": host_seconds,
    }
