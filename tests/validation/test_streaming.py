"""`tensim validate streaming`: rows by columns, long streams, and the rank correlation."""

import pytest

from tensim.validation.figures import add_rank_correlation, rank_correlation, summary
from tensim.validation.rows import Row, Skip
from tensim.validation.streaming import rows as streaming
from tensim.validation.streaming.programs import alike, block_depth, subblock

EXP = {
    "chip": "wormhole_b0 n150", "dim0": "10", "dim1": "640", "dim2": "32", "dim3": "0", "tiles": "200", "dtype": "bfloat16",
    "input_memory": "DRAM", "median_ns": "10002",
}  # fmt: skip
MATMUL = {
    "arch": "wormhole_b0", "M": "640", "K": "96", "N": "96", "num_cores": "10", "per_core_M_tiles": "2",
    "device_kernel_duration_ns": "3759",
}  # fmt: skip


def row(base, **changes):
    return Row("rows.csv:1", 2, base | {name: str(value) for name, value in changes.items()})


@pytest.mark.parametrize(("base", "layout"), [(EXP, "exp"), (MATMUL, "matmul")])
def test_times_are_near_the_measured_ones(base, layout):
    case = streaming.read(row(base), layout)
    assert streaming.simulate(case.spec) == pytest.approx(case.measured, rel=0.2)


@pytest.mark.parametrize(
    ("base", "layout", "changes"),
    [
        (EXP, "exp", {"dtype": "float7"}),
        (EXP, "exp", {"input_memory": "disk"}),
        (MATMUL, "matmul", {"K": 33}),
        (MATMUL, "matmul", {"num_cores": 65}),
    ],
)
def test_malformed_rows_are_refused(base, layout, changes):
    with pytest.raises(ValueError):
        streaming.read(row(base, **changes), layout)


def test_other_chips_are_skipped():
    with pytest.raises(Skip):
        streaming.read(row(MATMUL, arch="blackhole"), "matmul")


@pytest.mark.parametrize("rounds", [244, 100, 64, 255])
def test_short_streams_stand_for_a_long_one_that_begins_with_the_same_banks(rounds):
    for in_l1 in (False, True):
        shorter, longer = alike(rounds, in_l1)
        assert shorter < longer and shorter % 12 == longer % 12 == rounds % 12


def test_blocks_of_a_product():
    assert subblock(6) == (1, 6) and subblock(9) == (1, 1)
    assert block_depth(2, 24, 9) == 24 and block_depth(2, 27, 9) == 1


def test_rank_correlation():
    assert rank_correlation([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert rank_correlation([1, 1, 2, 3], [5, 5, 6, 7]) == pytest.approx(1), "equal values share a rank"
    assert rank_correlation([1, 2], [4, 4]) is None and rank_correlation([], []) is None


def test_rank_correlation_overall_and_per_group():
    rows = [
        {"group": group, "measured": m, "simulated": s, "err_pct": 0.0}
        for group, m, s in [("a", 1, 1), ("a", 2, 2), ("b", 3, 6), ("b", 4, 5)]
    ]
    result = summary(rows, [], [], 0.0)
    add_rank_correlation(result)
    assert [result["groups"][name]["rank_correlation"] for name in "ab"] == pytest.approx([1, -1])
    assert result["rank_correlation"] == pytest.approx(0.8)
