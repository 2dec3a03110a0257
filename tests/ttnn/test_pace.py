"""What launches of a network take one behind the other."""

from types import SimpleNamespace

import pytest

from tensim.sim.arch import load_arch
from tensim.sim.host.dispatch import ProgramCost
from tensim.ttnn import report
from tensim.ttnn.pace import paced, replays

ARCH = load_arch("blackhole")
BUFFERS = ProgramCost(config_bytes=64, config_cores=1, ring_bytes=64)


def launch(ns, cost=BUFFERS, **told):
    device = SimpleNamespace(host=SimpleNamespace(arch=ARCH))
    return SimpleNamespace(nanoseconds=ns, cost=cost, told=told, device=device)


def test_launches_without_a_known_cost_have_no_pace():
    assert paced([launch(1000.0, cost=None)]) is None
    assert paced([]) is None


def test_long_operations_are_apart_by_the_gap_whoever_issues_them():
    found = paced([launch(100_000.0)] * 11)
    assert found["alone_ns"] == 1_100_000
    assert found["traced_ns"] == pytest.approx(1_100_000 + 11 * ARCH["dispatch.op_gap_ns"], rel=0.002)
    assert found["untraced_ns"] == pytest.approx(found["traced_ns"], rel=0.01)


def test_short_operations_wait_for_python_unless_traced():
    found = paced([launch(1000.0)] * 101)
    assert found["untraced_ns"] == pytest.approx(101 * ARCH["host.ttnn_operation_ns"], rel=0.05)
    assert found["traced_ns"] < 0.3 * found["untraced_ns"]
    named = paced([launch(1000.0, library={"settings": {"program_config": "blocks of 2"}})] * 101)
    more = 100 * ARCH["host.ttnn_configuration_ns"]
    assert named["untraced_ns"] - found["untraced_ns"] == pytest.approx(more, rel=0.01)


def test_chips_work_at_the_same_time():
    assert paced([launch(1000.0, chip=0), launch(1000.0, chip=1), launch(500.0, chip=1)])["launches"] == 2


def test_rates_and_the_report():
    found = paced([launch(1_000_000.0)] * 4, items=(16, "images"))
    assert found["rates"]["of"] == "images"
    assert found["rates"]["alone"] == 4000
    lines = "\n".join(report._pace_lines(**found))
    assert "4.000 ms          the operations alone         4,000.0 images/s" in lines
    assert "from a metal trace" in lines


def test_a_replay_of_a_metal_trace_is_the_mean_of_all_on_the_chip_that_takes_longest():
    untraced, first = launch(1000.0, chip=0), launch(3000.0, chip=0, trace=[5, 1])
    second = [launch(2000.0, chip=0, trace=[5, 2]), launch(5000.0, chip=1, trace=[5, 2])]
    (found,) = replays([untraced, first, *second])
    assert (found["trace"], found["replays"], found["launches"], found["alone_ns"]) == (5, 2, 1, 4000.0)
    assert found["traced_ns"] == pytest.approx((paced([first])["traced_ns"] + paced(second[1:])["traced_ns"]) / 2)
    assert replays([untraced]) == []
