"""Errors of a set of rows as distributions: per group, the worst groups first."""

import numpy as np


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


def with_cpp(rows):
    """The rows that are simulated with C++ kernels, too, as if that were their only simulation."""
    return [row | row["cpp"] for row in rows if "cpp" in row]


def _figures(rows):
    """The distribution of some rows; "cpp": that of their simulations with C++ kernels."""
    figures, cpp = distribution([row["err_pct"] for row in rows]), with_cpp(rows)
    return figures | {"cpp": distribution([row["err_pct"] for row in cpp])} if cpp else figures


def summary(rows, skipped, failures, host_seconds, group_of=None):
    """The contract of the design page for `rows`: dicts with id, group, measured, simulated, unit, err_pct; cpp, where
    the row is simulated with C++ kernels, too.  `skipped`: [{"id", "why"}]; `failures`: [{"id", "group", "why"}].

    `group_of`: function of a row that names its group; None: the row's own.
    """
    groups = {}
    for row in rows:
        groups.setdefault(row["group"] if group_of is None else group_of(row), []).append(row)
    figures = {name: _figures(members) for name, members in groups.items()}
    worst_first = sorted(figures, key=lambda name: (-figures[name].get("median_abs_err_pct", -1.0), name))
    return {
        **_figures(rows),
        "skipped": skipped,
        "failures": failures,
        "groups": {name: figures[name] for name in worst_first},
        "rows": rows,
        "host_seconds": host_seconds,
    }
