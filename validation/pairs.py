"""Which of two designs is faster: pairs of rows that differ in one design column, in simulation and on silicon."""

from itertools import combinations

MARGIN_PCT = 5.0  # pairs that are closer than this on silicon are not judged


def pair_order(rows, designs, conditions):
    """{"n", "agree", "by_group": {group: {"n", "agree"}}} of `rows` (dicts with group, measured, simulated, columns).

    A pair has equal `conditions` columns and equal `designs` columns but one, and measured times that differ by over 5 % of
    the smaller.  It agrees when the row that is faster on silicon is strictly faster in simulation.
    """
    groups = {}
    for design in designs:
        for alike in _alike(rows, [name for name in (*conditions, *designs) if name != design]):
            for first, second in combinations(alike, 2):
                if first["columns"][design] == second["columns"][design] or not _apart(first, second):
                    continue
                count = groups.setdefault(first["group"], {"n": 0, "agree": 0})
                count["n"] += 1
                count["agree"] += _same_order(first, second)
    totals = {key: sum(count[key] for count in groups.values()) for key in ("n", "agree")}
    return {**totals, "by_group": groups}


def _alike(rows, names):
    """Measured rows that agree in the columns `names`, as lists."""
    groups = {}
    for row in rows:
        if row["measured"] is not None:
            groups.setdefault(tuple(row["columns"][name] for name in names), []).append(row)
    return groups.values()


def _apart(first, second):
    low, high = sorted((first["measured"], second["measured"]))
    return 100.0 * (high - low) > MARGIN_PCT * low


def _same_order(first, second):
    return (first["measured"] - second["measured"]) * (first["simulated"] - second["simulated"]) > 0
