"""`make bench`: which figures decide how it ends."""

import inspect

import pytest

import bench.__main__ as bench_main
from bench.__main__ import at_least, at_most, fact, verdict


def row(holds):
    return fact("ratio", 1.0, "times", "at most 1", holds, ratio=1.0)


@pytest.mark.parametrize(
    ("figures", "status"),
    [
        ([row(True), at_least("rate", 1, 2), at_most("time", 2, 1)], 0),
        ([row(True), at_least("rate", 2, 1), row(False)], 1),
        ([row(True), row(True)], 0),
    ],
)
def test_correctness_and_ratios_decide_speeds_do_not(figures, status):
    assert verdict(figures)[0] == status


def test_the_verdict_counts_both_kinds():
    _, text = verdict([row(True), row(False), at_least("rate", 1, 2)])
    assert text.startswith("1 of 2 goals of correctness and ratios hold; 0 of 1 goals of speed")


def test_every_group_of_figures_is_run():
    """What yields figures is in GROUPS."""
    things = vars(bench_main).items()
    made = {name for name, one in things if inspect.isgeneratorfunction(one) and one.__module__ == bench_main.__name__}
    assert made == {group.__name__ for group in bench_main.GROUPS}
