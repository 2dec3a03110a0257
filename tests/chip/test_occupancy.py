"""How busy links and DRAM channels are over time: windows add up to the counters, whatever their number, and work booked ahead
is served when there is room for it.
"""

import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given

import tensim as tt
from tensim.analysis import summary as summaries
from tensim.running.options import Options
from tensim.running.programs import Settings, run_program
from tensim.running.runnable import find_program
from tensim.sim.chip import launch_work, occupancy
from tensim.sim.chip.occupancy import COUNTERS, FIRST_WINDOW, MOST_WINDOWS, OccupancyRecorder, shares

COPY = find_program("dram_loopback")


class Counters(dict):
    """Arrays of a machine with one link and one channel, whose counters grow by one a cycle."""

    def __init__(self):
        types = {}
        for table, counter in COUNTERS:
            types.setdefault(table, []).append((counter, np.int64))
        super().__init__({table: np.zeros(1, fields) for table, fields in types.items()})

    def work(self, cycles):
        for table, counter in COUNTERS:
            self[table][counter] += cycles


@given(start=some.integers(0, 10**9), steps=some.lists(some.integers(1, 40 * FIRST_WINDOW), max_size=40))
def test_windows_are_equal_few_and_add_up(start, steps):
    counters = Counters()
    recorder, cycle = OccupancyRecorder(counters), start
    recorder.begin(start)
    for step in steps:
        for _ in range(step // FIRST_WINDOW):  # an engine stops at `next`
            due = recorder.next
            counters.work(due - cycle)
            cycle = due
            recorder.look(cycle)
        recorder.look(cycle := max(cycle, cycle + step % 7))  # idle cycles
    counters.work(17)
    edges, moved = recorder.windows(cycle + 17)
    assert edges[0] == start and edges[-1] == cycle + 17 and len(edges) <= MOST_WINDOWS + 2
    assert (np.diff(edges)[:-1] == recorder.width).all()
    for table, counter in COUNTERS:
        assert moved[table, counter].sum() == counters[table][counter][0]
        assert (moved[table, counter] <= np.diff(edges)[:, None] + 17).all()


@given(booked=some.lists(some.integers(0, 500), min_size=1, max_size=20))
def test_work_booked_ahead_is_served_once_and_as_soon_as_there_is_room(booked):
    widths = np.full(len(booked), 100)
    served = shares(np.array(booked)[:, None], widths)[:, 0] * 100
    assert (served <= 100).all()
    behind = np.cumsum(booked) - np.cumsum(served)
    assert (behind >= -1e-9).all()
    assert all(one == pytest.approx(100) for one, left in zip(served, behind, strict=True) if left > 1e-6)


def test_a_run_says_how_busy_its_links_and_channels_were_over_time():
    result = run_program(Settings(program="matmul_multicast", shape="512x512x512"))
    told = result["occupancy"]
    windows = -(-result.cycles // told["window_cycles"])
    assert {len(one["busy_shares"]) for one in told["links"] + told["channels"]} == {windows}
    assert len(told["channels"]) == len(result["dram"]["channels"])
    for link in result["noc"]["links"][:5]:
        mine = next(one for one in told["links"] if all(one[key] == link[key] for key in ("noc", "from", "kind")))
        busy = sum(mine["busy_shares"][:-1]) * told["window_cycles"]
        assert busy <= link["utilization"] * result.cycles * 1.001
        assert busy + told["window_cycles"] >= link["utilization"] * result.cycles
        waited = sum(mine["waiting"][:-1]) * told["window_cycles"]
        assert waited <= link["stall_cycles"] + 0.01 * result.cycles


@pytest.mark.parametrize("noc", ["packet", "flit"])
def test_who_waited_longest_for_a_link_and_a_channel_is_named(noc):
    result = run_program(Settings(program="matmul_naive", shape="128x128x128", noc=noc))
    links = [one for one in result["noc"]["links"] if one["longest_wait_cycles"]]
    assert links and all(0 < one["longest_wait_cycles"] <= one["stall_cycles"] for one in links)
    assert {one["longest_wait_of"] is None for one in result["noc"]["links"] if not one["stall_cycles"]} <= {True}
    channels = [one for one in result["dram"]["channels"] if one["longest_wait_cycles"]]
    assert channels and all(one["longest_wait_cycles"] <= one["waited_cycles"] for one in channels)
    readers = {"core (0,0) BRISC", "core (0,0) NCRISC"}
    cores = result["cores"]["used"]
    assert cores > 1 or {one["longest_wait_of"] for one in channels} <= readers


def test_a_measured_part_has_windows_of_its_own():
    with tt.create_device(0) as device:
        COPY.run_on(device, Options(shape="256x256"))
        before = device.chip.occupancy.windows(device.chip.cycle)[1]["links", "flits"].sum()
        with tt.measure(device) as m:
            COPY.run_on(device, Options(shape="64x64"))
        after = device.chip.occupancy.windows(device.chip.cycle)[1]["links", "flits"].sum()
        assert len(device.chip.recorders) == 1
    part = sum(sum(one["busy_shares"]) for one in m.result["occupancy"]["channels"])
    assert 0 < part and m.result["occupancy"]["start_cycle"] > 0
    assert after - before > 0


@pytest.mark.parametrize("program, shape", [("matmul_multicast", "512x512x512"), ("dram_loopback", "256x256")])
def test_looking_changes_nothing(program, shape, monkeypatch):
    found = []
    for width in (16, 1 << 40):
        monkeypatch.setattr(occupancy, "FIRST_WINDOW", width)
        result = run_program(Settings(program=program, shape=shape, image_hash=True))
        found.append((result.cycles, result["core_cycles"], result["image_sha256"], result["noc"], result["dram"]))
    assert found[0] == found[1]


def test_a_chip_that_goes_back_to_cycle_0_is_looked_at_anew():
    with tt.create_device(0) as device:
        with tt.measure(device) as m:
            COPY.run_on(device, Options(shape="256x256"))
            device.chip.rewind()
            assert device.chip.occupancy.start is None
        assert m.result["occupancy"] is None and device.chip.recorders == [device.chip.occupancy]


def test_longest_waits_are_those_of_the_part_and_the_whole_keeps_its_own():
    program, options = find_program("matmul_naive"), Options(shape="128x128x128")
    with tt.create_device(0) as device:
        program.run_on(device, options)
        whole = device.chip.arrays["channels"]["longest"].copy()
        with tt.measure(device) as m:
            COPY.run_on(device, Options(shape="32x32"))
        assert (device.chip.arrays["channels"]["longest"] >= whole).all()
    part = max(one["longest_wait_cycles"] for one in m.result["dram"]["channels"])
    assert part < whole.max() / 256


def test_a_verdict_says_when_it_knows_only_the_first_launches(monkeypatch):
    monkeypatch.setattr(launch_work, "MAX_DETAILED", 2)
    with tt.create_device(0) as device:
        for _ in range(3):
            COPY.run_on(device, Options(shape="32x32"))
        told = summaries.collect(device.chip)
    assert "of 3 launches the first 2 are looked at" in " ".join(told["verdict"]["evidence"])
