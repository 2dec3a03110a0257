"""The DRAM channel: lone accesses, sustained rates against measurements, rows, refresh, monotonicity."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensim.sim.arch import load_arch
from tensim.sim.dram.channel import TICKS, build_banks, build_channels, build_dram_params, dram_access, queue_ticks
from tensim.sim.errors import UsageError

LATER = 150  # cycles: past the refresh window at the start of time


class Channel:
    def __init__(self, name="wormhole_b0", overrides=None):
        self.arch = load_arch(name, overrides)
        self.state, self.banks = build_channels(self.arch), build_banks(self.arch)
        self.p = build_dram_params(self.arch)[0]

    def access(self, address, size, time, is_write=False, channel=0, noc=0, mixed=0):
        return dram_access(self.state, self.banks, self.p, channel, address, size, is_write, time, noc, mixed, 0)


@pytest.mark.parametrize(("name", "latency"), [("wormhole_b0", 136), ("blackhole", 157)])
def test_lone_read_costs_the_measured_latency(name, latency):
    """noc_latencies.csv, reads of one transaction; 64 bytes take up to 3 cycles more on the bus than on the NoC."""
    assert latency <= Channel(name).access(0, 64, LATER) - LATER <= latency + 3


@pytest.mark.parametrize(("name", "rate", "chunk"), [("wormhole_b0", 24, 0), ("blackhole", 47.41, 1024)])
def test_a_read_starts_to_leave_with_its_first_data(name, rate, chunk):
    """A long read leaves no later than a short one, or on Blackhole with its first KiB; its last data follow at the channel's rate
    and then, on Blackhole, for as long as a KiB takes on a link.
    """
    short, long = Channel(name), Channel(name)
    leaves = long.access(0, 8192, LATER)
    assert leaves - short.access(0, 64, LATER) == pytest.approx(max(chunk - 64, 0) / rate, abs=1)
    assert long.state[0]["supplied"] - leaves == pytest.approx((8192 - chunk) / rate + chunk / 64, abs=2)


@pytest.mark.parametrize(
    ("name", "is_write", "measured"),
    [
        ("wormhole_b0", False, 22.2),
        ("wormhole_b0", True, 21.95),
        ("blackhole", False, 47.16),
        ("blackhole", True, 46.8),
    ],
)
def test_sustained_rate_of_one_channel(name, is_write, measured):
    """Bytes per cycle of back-to-back 8 KiB accesses against silicon (docs/hardware/dram.md#bandwidth-and-latency), within 4 %."""
    channel = Channel(name)
    for i in range(2048):
        channel.access(8192 * i, 8192, 0, is_write)
    assert 2048 * 8192 / (channel.state[0]["bus_free"] / TICKS) == pytest.approx(measured, rel=0.04)


@pytest.mark.parametrize(
    ("name", "size", "share"),
    [("blackhole", 576, 62), ("blackhole", 1088, 91), ("blackhole", 2048, 98), ("wormhole_b0", 576, 92)],
)
def test_share_of_a_channel_that_reads_of_a_size_get(name, size, share):
    """Percent of its peak, on one NoC (tt-metal issue 55898): endpoints take longer for longer reads, and hold up short ones."""
    channel, count = Channel(name), 2048
    for i in range(count):
        channel.access(size * i, size, 0)
    peak = channel.arch["dram.bank_bytes_per_cycle"]
    assert 100 * count * size / (channel.state[0]["bus_free"] / TICKS) / peak == pytest.approx(share, rel=0.07)


@pytest.mark.parametrize("name", ["wormhole_b0", "blackhole"])
def test_who_acknowledges_a_write(name):
    """The device on Wormhole, after its time on the channel; the controller's queue on Blackhole, as soon as it is in."""
    arch = load_arch(name)
    link, bus = 8192 / arch["noc.flit_bytes"], 8192 / arch["dram.bank_bytes_per_cycle"]
    small, large = (Channel(name).access(0, size, 1000, True) - 1000 for size in (256, 8192))
    expected = bus - link if arch["dram.device_acknowledges"] else 0
    assert large - small == pytest.approx(expected, abs=3)


def test_a_write_to_an_open_row_is_acknowledged_no_sooner():
    """Four writes of 128 B end three periods of their issue after one (ONE_TO_ONE: 413 and 488 cycles)."""
    channel = Channel()
    first, later = (
        channel.access(address, 128, time, True) - time for address, time in ((0, LATER), (128, LATER + 50))
    )
    assert channel.state[0]["row_hits"] == 1 and first == later


def test_writes_of_more_than_128_bytes_are_acknowledged_later():
    """ONE_TO_ONE on Wormhole: 413 cycles for one of 128 B, 448 for one of 512, of which 12 are flits."""
    short, long = (Channel().access(0, size, LATER, True) for size in (128, 512))
    assert long - short == pytest.approx(448 - 413 - 12, abs=2)


def test_small_writes_cost_a_read_modify_write():
    """64 B writes take 65 cycles each of a Wormhole channel (docs/hardware/dram.md#bandwidth-and-latency), refreshes included."""
    channel = Channel()
    times = [channel.access(64 * i, 64, 0, True) for i in range(2001)]
    assert (times[-1] - times[0]) / 2000 == pytest.approx(65, abs=1)


def test_a_read_modify_write_is_acknowledged_like_other_writes():
    """noc_latencies.csv (ONE_TO_ONE): alone it ends as soon as a write of 128 B, the fourth of four three bank times later."""
    alone, other = (Channel().access(0, size, LATER, True) for size in (64, 128))
    assert other - 5 <= alone <= other
    channel = Channel()
    last = [channel.access(64 * i, 64, LATER, True) for i in range(4)][-1]
    assert last - alone == pytest.approx(3 * load_arch("wormhole_b0")["dram.partial_write_cycles"], abs=1)


def test_an_open_row_is_a_hit():
    channel = Channel()
    channel.access(0, 64, LATER)
    channel.access(64, 64, LATER)
    channel.access(16 * 2048, 64, LATER)  # the next row of the same internal bank
    assert (int(channel.state[0]["row_hits"]), int(channel.state[0]["row_misses"])) == (1, 2)


def test_mixed_bursts_of_several_writers_open_a_row_each():
    """7.6 GB/s of 24 when 12 tiles write one channel on dynamic virtual channels (ISA DRAMTile), within 8 %."""
    channel = Channel()
    for i in range(200):
        channel.access(8192 * i, 8192, 0, True, mixed=1)
    assert 200 * 8192 / (channel.state[0]["bus_free"] / TICKS) == pytest.approx(7.6, rel=0.08)


def test_a_write_goes_before_reads_that_wait():
    """Behind four reads of 4 KiB a write to other banks is done as soon as alone; the next read comes later by its time."""
    alone, behind, reads = Channel(), Channel(), Channel()
    for channel in (behind, reads):
        for row in range(4):
            channel.access(4096 * row, 4096, LATER)
    assert behind.access(4096 * 5, 4096, LATER + 150, True) <= alone.access(4096 * 5, 4096, LATER + 150, True) + 60
    assert behind.access(4096 * 4, 4096, LATER) - reads.access(4096 * 4, 4096, LATER) >= 4096 / 24


def test_a_request_fills_the_gap_before_one_that_waits_for_its_row():
    """Two reads of one set of banks leave the bus idle in between; a longer read of another bank starts in that gap."""
    channel, without = Channel(), Channel()
    for one, rows in ((channel, (0, 16, 1)), (without, (0, 1))):
        for row in rows:
            one.access(row * 4096, 4096, LATER)
    apart = (channel.state[0]["bus_free"] - without.state[0]["bus_free"]) / TICKS
    assert apart < 4096 / 24 + 60


def test_changing_direction_costs_a_turnaround():
    same, mixed = Channel(), Channel()
    a = [same.access(64 * i, 64, LATER) for i in range(20)][-1]
    b = [mixed.access(64 * i, 64, LATER, is_write=bool(i % 2)) for i in range(20)][-1]
    assert b > a


@pytest.mark.parametrize(("size", "share"), [(2048, 1), (1024, 1 / 2), (512, 1 / 4)])
def test_writes_that_are_drained_together_share_a_change_of_direction(size, share):
    """Blackhole drains 32 bursts of 64 B at a time: as many turnarounds for one write of 2 KiB as for four of 512 B."""
    lost = []
    for change in (4.5, 0):
        channel = Channel("blackhole", {"dram.direction_change_ns": change})
        for i in range(64):
            channel.access(8192 * i, size, LATER, is_write=bool(i % 2))
        lost.append(channel.state[0]["bus_free"] / TICKS)
    assert lost[0] - lost[1] == pytest.approx(63 * 4.5 * 1.35 * share, rel=0.15)


def test_marks_of_the_write_queue_that_meet_are_refused():
    with pytest.raises(UsageError, match=r"dram\.write_high is 24; it must be over dram\.write_low, 24"):
        build_dram_params(load_arch("wormhole_b0", {"dram.write_low": 24}))


def test_refresh_closes_the_bus():
    assert Channel().access(0, 64, 1900) - 1900 > 150  # tREFI = 1900 cycles: the window has just begun


def test_channels_refresh_one_after_the_other():
    """Twelve windows of 122 cycles, spread over the 1900 of tREFI: at any time one channel is in its own, or none."""
    for time in range(38_000, 39_900, 20):
        channel = Channel()
        late = [channel.access(0, 64, time, channel=index) - time > 160 for index in range(12)]
        assert sum(late) <= 1
    channel = Channel()
    assert channel.access(0, 64, 1900 * 11 // 12, channel=1) > 1900 * 11 // 12 + 150  # a twelfth earlier than channel 0


@pytest.mark.parametrize(("size", "low", "high"), [(4096, 39.5, 41.5), (8192, 39.5, 41.5), (16384, 46.5, 47.5)])
@pytest.mark.parametrize("is_write", [False, True])
def test_a_stream_that_stays_in_a_set_of_banks_waits_for_its_refreshes(size, low, high, is_write):
    """Silicon: Blackhole reads 41.1 and writes 40.0 of 47.4 B/cycle of one bank in 256 transactions of 4 KiB at one address, 47 in
    those of 16 KiB, which two sets of banks share (docs/hardware/dram.md#bandwidth-and-latency).
    """
    channel, ends = Channel("blackhole"), [0, 0]
    for _ in range(2000):
        ends.append(channel.access(0, size, ends[-2], is_write))
        if is_write:  # acknowledged when queued
            ends[-1] = channel.state[0]["drained"] // TICKS
    assert low < size * 2000 / ends[-1] < high


def test_a_set_of_banks_that_is_idle_now_and_then_is_refreshed_then():
    """Reads of a page at one address every 300 cycles: none is late by a refresh of 180."""
    channel = Channel("blackhole")
    waits = {channel.access(0, 2048, 300 * i) - 300 * i for i in range(1000)}
    assert len(waits) == 1


@pytest.mark.parametrize("name", ["wormhole_b0", "blackhole"])
def test_a_row_that_is_open_makes_no_read_faster(name):
    """Reads of a page one after the other, and the first of a row: the row opens while the request is on its way."""
    channel = Channel(name)
    waits = [channel.access(64 * i, 64, LATER + 100 * i) - LATER - 100 * i for i in range(8)]
    assert channel.state[0]["row_hits"] == 7
    assert len(set(waits)) == 1


@given(st.lists(st.tuples(st.integers(0, 4000), st.integers(1, 64), st.integers(0, 500)), min_size=1, max_size=40))
def test_more_bandwidth_never_slows_a_flow(requests):
    slow, fast, time = Channel(), Channel(overrides={"dram.bank_bytes_per_cycle": 48.0}), 0
    total = 0
    for page, lines, gap in requests:
        time += gap
        size = 32 * lines
        assert fast.access(32 * page, size, time) <= slow.access(32 * page, size, time) + 130  # one refresh window
        total += size
    assert slow.state[0]["read_bytes"] == fast.state[0]["read_bytes"] == total


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 256)), min_size=1, max_size=60))
def test_channels_are_independent(requests):
    one, both = Channel(), Channel()
    for page, lines in requests:
        both.access(32 * page, 32 * lines, 0, channel=5)
    assert [one.access(32 * p, 32 * n, 0) for p, n in requests] == [both.access(32 * p, 32 * n, 0) for p, n in requests]


@pytest.mark.parametrize("name", ["wormhole_b0", "blackhole", "grayskull"])
@given(size=st.integers(1, 16384))
def test_a_write_queue_holds_as_many_bytes_of_slow_writes_as_of_fast_ones(name, size):
    """`dram.write_queue` bursts, however long each takes; silicon: 56 cores that write 64 B each keep Wormhole's channels busy."""
    arch, p = load_arch(name), build_dram_params(load_arch(name))[0]
    burst = arch["dram.burst_length"] * arch["dram.channel_bits"] // 8
    ticks, room = queue_ticks(p, size)
    assert room / ticks * max(size, burst) == pytest.approx(arch["dram.write_queue"] * burst, rel=0.02)
    free = build_dram_params(load_arch(name, {"dram.bank_bytes_per_cycle": 65536.0, "dram.partial_write_cycles": 0}))[0]
    assert queue_ticks(free, 32) == (0, 0)
