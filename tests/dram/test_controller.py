"""The command-level controller: conformance with the timing table, order, rates, refresh, latency under load."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensim.sim.arch import architectures, load_arch
from tensim.sim.dram.controller import COMMAND_DTYPE, build_controller, locate, serve
from tensim.sim.dram.timing import ACT, COMMANDS, PRE, RD, REF, REFB, WR, build_timing, clock_ns
from tensim.sim.errors import UsageError
from tests.dram.conformance import violations

NAMES = architectures()


class Run:
    """All bursts served by one channel of an architecture; `requests`: (arrival in clocks, burst, is_write)."""

    def __init__(self, name, requests, overrides=None, log=1 << 16):
        self.arch = load_arch(name, overrides)
        timing = build_timing(self.arch)
        columns = np.array(requests, np.int64).reshape(-1, 3).T.copy()
        self.done, commands = np.zeros(len(requests), np.int64), np.zeros(log, COMMAND_DTYPE)
        self.controller = build_controller(timing)
        serve(self.controller, timing, *columns, self.done, commands)
        self.commands = commands[: self.controller["commands"]]
        self.burst_bytes = int(timing["burst_bytes"])

    @property
    def gb_per_s(self):
        return len(self.done) * self.burst_bytes / (self.done.max() * clock_ns(self.arch))

    def count(self, command):
        return int((self.commands["command"] == command).sum())


def stream(n, is_write=0):
    return [(0, i, is_write) for i in range(n)]


bursts = st.one_of(st.integers(0, 63), st.integers(0, 1 << 22), st.integers(0, 40).map(lambda i: i << 12))
traffic = st.lists(st.tuples(st.integers(0, 60), bursts, st.integers(0, 1)), min_size=1, max_size=250)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60)
@given(requests=traffic)
def test_no_command_pair_violates_the_table(name, requests):
    arrivals = np.cumsum([gap for gap, _, _ in requests])
    run = Run(name, [(int(at), burst, kind) for at, (_, burst, kind) in zip(arrivals, requests, strict=True)])
    assert violations(run.arch, run.commands) == []
    assert (run.count(RD), run.count(WR)) == tuple(sum(kind == k for _, _, kind in requests) for k in (0, 1))
    assert (run.done > arrivals).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("pattern", ["stream", "random", "mixed"])
def test_long_traffic_keeps_the_table(name, pattern):
    rng = np.random.default_rng(1)
    n = 6000
    numbers = range(n) if pattern == "stream" else rng.integers(0, 1 << 22, n)
    kinds = rng.integers(0, 2, n) if pattern == "mixed" else np.zeros(n, int)
    run = Run(name, [(0, int(b), int(k)) for b, k in zip(numbers, kinds, strict=True)])
    assert violations(run.arch, run.commands) == []
    assert run.count(REF) + run.count(REFB) > 0


def test_the_checker_finds_what_is_wrong():
    run = Run("wormhole_b0", stream(40))
    wrong = [tuple(row) for row in run.commands]
    at = next(i for i, row in enumerate(wrong) if row[1] == RD)
    early = (wrong[at][0] - 5, *wrong[at][1:])
    assert any("ACT" in text for text in violations(run.arch, [*wrong[:at], early, *wrong[at + 1 :]]))
    closed = [row for row in wrong if row[1] != ACT]
    assert any("is not open" in text for text in violations(run.arch, closed))


@pytest.mark.parametrize(
    ("name", "is_write", "measured"),
    [("wormhole_b0", 0, 22.25), ("wormhole_b0", 1, 21.95), ("blackhole", 0, 62.54), ("blackhole", 1, 63.2)],
)
def test_sustained_rate_of_a_channel(name, is_write, measured):
    """GB/s: 22.2-22.3 and 21.9-22.0 on Wormhole, 46.3 and 46.8 B/cycle on Blackhole.

    Source: docs/hardware/dram.md#bandwidth-and-latency.
    """
    assert Run(name, stream(60_000, is_write), log=0).gb_per_s == pytest.approx(measured, rel=0.02)


def test_first_ready_goes_before_first_come():
    """A burst for the open row overtakes an older one that needs another row of the bank."""
    timing = build_timing(load_arch("wormhole_b0"))
    other = next(b for b in range(4096, 1 << 20) if locate(timing, b)[0] == locate(timing, 0)[0])
    run = Run("wormhole_b0", [(0, 0, 0), (100, other, 0), (100, 4, 0)])
    same_bank = {int(c["bank"]) for c in run.commands if c["command"] == ACT}
    assert len(same_bank) == 1
    assert run.done[2] < run.done[1]


@pytest.mark.parametrize("patience", [3_000, 10_000])
@pytest.mark.parametrize("kind", [0, 1])
def test_a_burst_that_has_waited_too_long_goes_first(kind, patience):
    """Hits without an end overtake one for another row of their bank until it has waited for `dram.patience_ck` clocks."""
    rare_refresh = {"dram.t_refi_ns": 12_000, "dram.patience_ck": patience}
    timing = build_timing(load_arch("wormhole_b0", rare_refresh))
    other = next(b for b in range(4096, 1 << 20) if locate(timing, b)[0] == locate(timing, 0)[0])
    at = int(timing["t_refi"]) + 500  # behind a quiet time and a refresh; the next one is further away than that
    run = Run(
        "wormhole_b0", [(0, 0, kind), (at, 0, kind), (at, other, kind), *[(at, 0, kind)] * 20_000], rare_refresh, log=0
    )
    assert patience < run.done[2] - at < patience + 300 < timing["t_refi"] - 500


def test_writes_are_drained_in_batches():
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, 4000)
    run = Run("wormhole_b0", [(0, i, int(k)) for i, k in enumerate(kinds)])
    columns = [c for c in run.commands["command"] if c in (RD, WR)]
    turns = sum(a != b for a, b in zip(columns, columns[1:], strict=False))
    assert turns < len(columns) / 10


def test_a_quiet_channel_refreshes_between_requests():
    arch = load_arch("blackhole")
    interval = int(arch["dram.t_refi_ns"] / clock_ns(arch))
    run = Run("blackhole", [(0, 0, 0), (10 * interval, 0, 0)])
    assert run.count(REFB) >= 9 * arch["dram.internal_banks"]
    assert violations(run.arch, run.commands) == []


def test_refreshes_of_a_busy_bank_are_put_off_as_often_as_may_be():
    """Hits in one row for less than two rounds of refreshes: a refresh of its bank closes the row, if it comes in time."""
    hits = [(0, 0, 0)] * 2_000
    at_once, later = (Run("blackhole", hits, {"dram.postponed_refreshes": n}) for n in (1, 64))
    assert at_once.count(ACT) > later.count(ACT) == 1


def test_a_longer_queue_serves_random_traffic_faster():
    rng = np.random.default_rng(3)
    requests = [(0, int(b), 0) for b in rng.integers(0, 1 << 22, 5000)]
    short, long = (Run("wormhole_b0", requests, {"dram.read_queue": n}, log=0) for n in (2, 32))
    assert long.gb_per_s > 1.5 * short.gb_per_s


def test_a_row_is_precharged_only_when_another_is_needed():
    run = Run("wormhole_b0", [(40 * i, 4 * i, 0) for i in range(30)])
    assert (run.count(ACT), run.count(PRE)) == (1, 0)


def test_counts_must_be_powers_of_two():
    with pytest.raises(UsageError, match=r"dram\.internal_banks is 12; it must be a power of two"):
        build_timing(load_arch("wormhole_b0", {"dram.internal_banks": 12}))


def test_commands_have_names():
    assert (COMMANDS[ACT], COMMANDS[REFB]) == ("ACT", "REFB")
