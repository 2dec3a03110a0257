"""The goals of the validations: which rows count for which, and when one holds."""

import pytest

from tensim.validation import KINDS
from tensim.validation.goals import GOALS, NO_FAILURES, Goal, Verdict, judge, unmeasured


def rows_of(group, *errors):
    return [
        {"group": f"wormhole_b0/{group}", "err_pct": error, "measured": 100.0 + n, "simulated": 100.0 + n}
        for n, error in enumerate(errors)
    ]


def verdicts(name, rows, **options):
    return {(item.goal.figure, item.goal.groups): item for item in judge(name, "wormhole_b0", rows, **options)}


@pytest.mark.parametrize(
    "goal, value, holds",
    [
        (Goal("median", 4), 4.0, True),
        (Goal("median", 4), 4.1, False),
        (Goal("bias", 3), -3.5, False),
        (Goal("bias", 3), -2.5, True),
        (Goal("pairs", 85), 90, True),
        (Goal("rank correlation", 0.98), 0.97, False),
        (NO_FAILURES, 0, True),
        (NO_FAILURES, 1, False),
        (Goal("median", 4), None, False),
    ],
)
def test_a_goal_holds_up_to_its_limit(goal, value, holds):
    assert Verdict("noc", "wormhole_b0", goal, value).holds is holds


def test_row_multicasts_are_judged_apart_from_the_tail_of_the_others():
    rows = rows_of("ONE_TO_ONE/UNICAST/L1", 1.0, 2.0) + rows_of("ROW_TO_ROW/MULTICAST/L1", 40.0)
    by_goal = {(item.goal.figure, item.goal.limit): item for item in judge("noc", "wormhole_b0", rows)}
    assert by_goal["median", 4].value == 2.0  # all rows
    assert by_goal["p90", 15].value < 2.0
    assert by_goal["worst group", 12].value == 1.5
    assert by_goal["p90", 25].value == 40.0 and not by_goal["p90", 25].holds


def test_a_goal_may_be_about_one_chip():
    def limits(chip):
        verdicts = judge("compute", chip, rows_of("MB2", 1.0), pairs=lambda rows: {"n": 100, "agree": 91})
        return {item.goal.limit: item.holds for item in verdicts if item.goal.figure == "pairs"}

    assert limits("wormhole_b0") == {92: False} and limits("blackhole") == {90: True}


def test_matrix_products_that_state_their_blocks_have_goals_of_their_own():
    rows = rows_of("manual 2026-07", 5.0) + rows_of("manual older", 12.0) + rows_of("out_of_box", 14.0)
    medians = [item for item in judge("gemm device", "wormhole_b0", rows) if item.goal.figure == "median"]
    assert [(median.value, median.goal.limit) for median in medians] == [(5.0, 6), (13.0, 15)]


def test_every_group_of_host_times_has_a_goal_traced_or_not():
    """A row without a goal can be as wrong as it likes; a goal that is missed stays in the table."""
    groups = [
        f"{rows}/{how}" for rows in ("manual 2026-07", "manual older", "out_of_box") for how in ("traced", "untraced")
    ]
    judged = judge("gemm host", "wormhole_b0", [row for group in groups for row in rows_of(group, 90.0)])
    assert {item.goal.groups for item in judged} == set(groups)
    assert {item.goal.figure for item in judged} == {"median", "p90"} and not any(item.holds for item in judged)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_a_goal(name):
    assert any(goal for kind, goal in GOALS.items() if kind.split()[0] == name)


def test_pairs_and_ranks_are_figures():
    rows = rows_of("double_buffer", 1.0, 2.0)
    found = verdicts("kernels", rows, pairs=lambda some: {"n": len(some), "agree": 1})
    assert found["pairs", ""].value == 50.0
    assert ("pairs", "") not in verdicts("kernels", rows)
    assert verdicts("streaming", rows)["rank correlation", ""].value == pytest.approx(1.0)


def test_a_goal_that_a_chip_does_not_measure_is_left_out_one_that_none_measures_does_not_hold():
    assert judge("dispatch", "wormhole_b0", rows_of("traced", None)) == []
    traced = judge("dispatch", "wormhole_b0", rows_of("traced", 1.0))
    assert [(one.chip, one.goal.groups, one.holds) for one in unmeasured("dispatch", traced)] == [
        ("-", "transfers", False)
    ]
    assert unmeasured("dispatch", judge("dispatch", "a", rows_of("traced", 1.0) + rows_of("transfers", 1.0))) == []
    assert len(judge("dispatch", "wormhole_b0", rows_of("traced", 1.0))) == 1 < len(GOALS["dispatch"])
    assert judge("of no known name", "wormhole_b0", rows_of("NOP", 50.0)) == []


def test_one_failure_is_too_many():
    failed = [{"id": "1", "group": "wormhole_b0/NOP", "why": "a deadlock"}]
    assert [(one.goal, one.value, one.holds) for one in judge("issue", "wormhole_b0", [], failed)] == [
        (NO_FAILURES, 1, False)
    ]
