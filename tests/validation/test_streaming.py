"""`tensim validate streaming`: rows by columns, long streams, and the rank correlation."""

import pytest

from tensim.sim.chip import statistics
from tensim.validation.figures import add_rank_correlation, rank_correlation, summary
from tensim.validation.rows import Row, Skip
from tensim.validation.streaming import programs
from tensim.validation.streaming import rows as streaming
from tensim.validation.streaming.programs import out_blocks, subblock

EXP = {
    "chip": "wormhole_b0 n150", "dim0": "10", "dim1": "640", "dim2": "32", "dim3": "0", "tiles": "200", "dtype": "bfloat16",
    "input_memory": "DRAM", "median_ns": "10002",
}  # fmt: skip
MATMUL = {
    "arch": "wormhole_b0", "M": "1280", "K": "192", "N": "384", "num_cores": "10", "per_core_M_tiles": "4",
    "device_kernel_duration_ns": "30603",
}  # fmt: skip


def row(base, **changes):
    return Row("rows.csv:1", 2, base | {name: str(value) for name, value in changes.items()})


@pytest.mark.parametrize(("base", "layout", "limit"), [(EXP, "exp", 0.08), (MATMUL, "matmul", 0.07)])
def test_times_are_near_the_measured_ones(base, layout, limit):
    case = streaming.read(row(base), layout)
    assert streaming.simulate(case.spec) == pytest.approx(case.measured, rel=limit)


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


def test_operands_that_are_larger_than_the_memory_they_are_said_to_lie_in_are_skipped():
    in_l1 = EXP | {"dtype": "float32", "input_memory": "L1"}
    assert streaming.read(row(in_l1, tiles=336 * 56), "exp").group == "wormhole_b0/exp/float32/L1/large"
    with pytest.raises(Skip, match="cannot lie in the L1 of 56 cores"):
        streaming.read(row(in_l1, tiles=337 * 56), "exp")


def test_the_output_lies_in_both_memories_where_l1_has_room(monkeypatch):
    times = {(False, False): 30, (False, True): 20, (True, False): 24, (True, True): 22}
    monkeypatch.setattr(programs, "stream_time", lambda tiles, dtype, in_l1, out_l1: times[in_l1, out_l1])
    assert programs.exp_time(9125, "Float32", False) == 25 and programs.exp_time(9125, "Float32", True) == 23
    assert programs.exp_time(9548, "Float32", True) == 24, "two tensors are too much for L1"
    assert programs.exp_time(19000, "Float32", False) == 30, "so is one"


def test_long_streams_are_simulated_tile_by_tile(monkeypatch):
    """No steady state is extrapolated: each tile is read and written."""
    moved, run = [], programs.run

    def run_and_look(device, program):
        ns = run(device, program)
        moved.append(statistics.dram(device.chip, device.chip.cycle))
        return ns

    monkeypatch.setattr(programs, "run", run_and_look)
    streaming.simulate(streaming.read(row(EXP, tiles=6400), "exp").spec)
    assert [(one["read_bytes"], one["write_bytes"]) for one in moved] == [(6400 * 2048, 6400 * 2048), (6400 * 2048, 0)]


def test_blocks_of_a_product():
    assert subblock(6) == (1, 6) and subblock(9) == (1, 1)
    # As in the library's launches: 10 rows in 5 blocks, 14 in 7, 13 one by one.
    assert [out_blocks(*shape) for shape in ((10, 27, 3), (14, 27, 1), (13, 27, 3))] == [5, 7, 13]
    assert out_blocks(8, 18, 1) == 1 and out_blocks(2, 9, 27) == 2


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
