"""The packet model against the flit model in the compiled engine: exact without load, near under load, the same links."""

import numpy as np
import pytest

from tensim.sim.arch import load_arch
from tensim.sim.chip.chip import Chip
from tensim.sim.chip.noc_replay import EVENT, NO_END, EventKind, replay
from tensim.sim.errors import ProgramError, UsageError

NAMES = ("wormhole_b0", "blackhole")
NONE = -1


@pytest.fixture(scope="module", params=NAMES)
def chips(request):
    """(packet model, flit model) of one architecture."""
    arch = load_arch(request.param)
    return tuple(Chip(arch, numerics="off", noc=model) for model in ("packet", "flit"))


def events(*rows):
    """Events from (core, slot, kind, noc, other end or corners, bytes, time)."""
    return np.array(
        [[*core, slot, kind, noc, *to, *(to[:2] if len(to) == 2 else ()), size, time, NO_END]
         for core, slot, kind, noc, to, size, time in rows], np.int64,
    ).view(EVENT)[:, 0]  # fmt: skip


def cycles(chips, table):
    """Cycles from the first transfer to the completion of the last one, by model."""
    return [replay(chip, table, 0, "open") for chip in chips]


def random_transfer(rng, arch, time, largest=40_000):
    """A read, write, word or increment between random tiles on a random NoC."""
    workers = arch.worker_coords
    core, other = (workers[rng.integers(len(workers))] for _ in range(2))
    kind = EventKind(int(rng.choice([EventKind.READ, EventKind.WRITE, EventKind.INLINE_WRITE, EventKind.ATOMIC_INC])))
    if kind in (EventKind.READ, EventKind.WRITE) and rng.random() < 0.3:
        other = arch.dram_endpoints[0][rng.integers(arch.dram_banks)][:2]
    size = 4 if kind in (EventKind.INLINE_WRITE, EventKind.ATOMIC_INC) else 32 * int(rng.integers(1, largest // 32))
    return core, int(rng.integers(2)), kind, int(rng.integers(2)), other, size, time


def random_multicast(rng, arch, time):
    """A multicast to a random rectangle of tiles that holds at least one worker beside the sender."""
    workers = np.array(arch.worker_coords)
    core = tuple(workers[rng.integers(len(workers))])
    a, b = workers[rng.integers(len(workers), size=2)]
    low, high = np.minimum(a, b), np.maximum(a, b)
    inside = ((workers >= low) & (workers <= high)).all(axis=1) & (workers != core).any(axis=1)
    if not inside.any():
        return random_multicast(rng, arch, time)
    noc = int(rng.integers(2))
    corners = (*low, *high) if noc == 0 else (*high, *low)
    return core, 0, EventKind.MULTICAST, noc, corners, 32 * int(rng.integers(1, 256)), time


def test_without_load_the_models_agree_to_the_cycle(chips):
    rng = np.random.default_rng(1)
    for _ in range(60):
        packet, flit = cycles(chips, events(random_transfer(rng, chips[0].arch, 0)))
        assert packet == flit


def test_a_lone_multicast_takes_as_long(chips):
    """To the cycle with one receiver.  The acknowledgements of several meet, and only in the flit model do those of two VCs
    share the cycles of a link: that moves the last one by 4 % at most and 0.5 % in the mean.
    """
    rng, differences = np.random.default_rng(2), []
    for _ in range(60):
        row = random_multicast(rng, chips[0].arch, 0)
        packet, flit = cycles(chips, events(row))
        differences.append(abs(flit / packet - 1))
        first = row[4][:2]
        if first in chips[0].arch.worker_coords and first != row[0]:
            packet, flit = cycles(chips, events((*row[:4], first * 2, *row[5:])))
            assert packet == flit
    assert max(differences) < 0.04 and np.mean(differences) < 0.005


@pytest.mark.parametrize("seed", range(6))
def test_small_programs_at_low_load_differ_by_little(chips, seed):
    """Eight threads, each with ten reads and writes of up to 4 KiB and a barrier behind each one: within 2 %."""
    rng, arch, rows = np.random.default_rng(seed), chips[0].arch, []
    for core in rng.choice(arch.worker_coords, 8, replace=False):
        for time in range(0, 1000, 100):
            _, _, kind, noc, other, size, _ = random_transfer(rng, arch, time, 4096)
            kind = EventKind.READ if kind == EventKind.READ else EventKind.WRITE
            wait = EventKind.READ_BARRIER if kind == EventKind.READ else EventKind.WRITE_BARRIER
            rows += [(core, 0, kind, noc, other, size, time), (core, 0, wait, noc, (0, 0), 0, time + 1)]
    table = events(*rows)
    table["end"][1::2] = table["time"][1::2] + 1
    packet, flit = (replay(chip, table, 0, "closed") for chip in chips)
    assert flit == pytest.approx(packet, rel=0.02)


@pytest.mark.parametrize("flits", [1, 2])
def test_both_nocs_share_the_port_of_an_l1(chips, flits):
    """Two neighbours write to a core over a NoC each while it writes to both, four streams without a common link: in the
    flit model they take the bytes over its L1 port's rate of `flits` per cycle, and a latency.
    """
    arch = chips[0].arch
    rate, size = flits * arch["noc.flit_bytes"], 65536
    left, middle, right = arch.worker_coords[:3]
    rows = [(left, 0, EventKind.WRITE, 0, middle, size, 0), (right, 0, EventKind.WRITE, 1, middle, size, 0)]
    rows += [(middle, 0, EventKind.WRITE, 0, right, size, 0), (middle, 1, EventKind.WRITE, 1, left, size, 0)]
    limited = load_arch(arch.name, {"l1.noc_port_bytes_per_cycle": rate})
    (taken,) = cycles([Chip(limited, numerics="off", noc="flit")], events(*rows))
    assert 0 <= taken - 4 * size / rate < 250


def test_both_models_take_the_same_links(chips):
    """Hundreds of transfers and multicasts at once: every link of both NoCs carries the same flits and packets."""
    rng = np.random.default_rng(7)
    arch = chips[0].arch
    rows = [random_transfer(rng, arch, 0, 8192) for _ in range(300)] + [
        random_multicast(rng, arch, 0) for _ in range(40)
    ]
    cycles(chips, events(*rows))
    packet, flit = (chip.arrays["links"] for chip in chips)
    for name in ("flits", "packets"):
        assert (packet[name] == flit[name]).all()
    assert flit["stall"].sum() > 0


def test_long_reads_of_dram_take_as_long(chips):
    """Data come out of a channel at its rate, whatever model carries them."""
    arch = chips[0].arch
    size, (*place, _) = arch["noc.max_packet_bytes"], arch.dram_endpoints[0][0]
    packet, flit = cycles(chips, events((arch.worker_coords[0], 0, EventKind.READ, 0, tuple(place), size, 0)))
    assert packet == pytest.approx(flit, abs=3) and packet > size / arch["dram.bank_bytes_per_cycle"]


@pytest.mark.parametrize("model", ["packet", "flit"])
@pytest.mark.parametrize(("overrides", "more"), [({}, 72), ({"dram.write_port_bytes_per_cycle": 64}, 65)])
def test_a_dram_tile_takes_writes_at_its_rate(model, overrides, more):
    """Silicon: on Blackhole a write of 8 KiB ends 72 cycles after one of 4 KiB, and one of 16 KiB 144 later (ONE_TO_ALL)."""
    arch = load_arch("blackhole", overrides)
    chip, (*place, _) = Chip(arch, numerics="off", noc=model), arch.dram_endpoints[0][0]
    short, middle, long = (
        cycles([chip], events((arch.worker_coords[0], 0, EventKind.WRITE, 0, tuple(place), size, 0)))[0]
        for size in (4096, 8192, 16384)
    )
    assert middle - short == pytest.approx(more, abs=1) and long - middle == pytest.approx(2 * more, abs=1)


@pytest.mark.parametrize(("size", "measured"), [(4096, 4712), (8192, 9040), (16384, 18151)])
def test_a_stream_of_writes_to_bank_after_bank_is_ahead_of_the_ports_of_dram_tiles(size, measured):
    """64 writes of a core: what buffers hold of one is taken while the next one goes to another tile (ONE_TO_ALL, NoC 0)."""
    arch = load_arch("blackhole")
    chips = [Chip(arch, numerics="off", noc=model) for model in ("packet", "flit")]
    banks = [tuple(place[:2]) for place in arch.dram_endpoints[0]]
    core = arch.worker_coords[0]
    table = events(*[(core, 0, EventKind.WRITE, 0, banks[i % len(banks)], size, 0) for i in range(64)])
    packet, flit = cycles(chips, table)
    assert packet == pytest.approx(flit, abs=2) and flit == pytest.approx(measured, rel=0.02)


@pytest.mark.parametrize("flits", [9, 17, 18, 20, 24, 33, 65])
def test_writers_round_a_ring_take_as_long(chips, flits):
    """Eight cores of a row write nearly all the way round it, over links that all share: what waits books its flits ahead on
    links and L1 ports, and others take the gaps.
    """
    arch = chips[0].arch
    row = arch.worker_coords[:8]
    assert len({y for _, y in row}) == 1
    size = (flits - 1) * arch["noc.flit_bytes"]
    table = events(*[(row[i - 1], 0, EventKind.WRITE, 1, row[i], size, 0) for _ in range(32) for i in range(8)])
    packet, flit = cycles(chips, table)
    assert flit == pytest.approx(packet, rel=0.1)


def test_two_streams_of_responses_share_a_link_equally():
    """Banks 1 and 4 answer over the link from 0-1 to 1-1, which carries less than both give: a response follows the one before it
    on the same VC, so that the stream that comes round the ring has no more of them there than the other.
    """
    arch = load_arch("wormhole_b0")
    chips = [Chip(arch, numerics="off", noc=model) for model in ("packet", "flit")]
    banks = [arch.dram_endpoints[0][bank][:2] for bank in (1, 4)]
    assert banks == [(0, 1), (5, 1)]
    reads = [
        ((x, 2), 0, EventKind.READ, 0, bank, 2048, 40 * i)
        for x, bank in zip((1, 2), banks, strict=True)
        for i in range(24)
    ]
    packet, flit = cycles(chips, events(*reads))
    assert packet == pytest.approx(flit, rel=0.005)
    assert 3120 < packet < 3120 + 400  # 48 packets of 65 flits: the link is never idle from the first response on


@pytest.mark.parametrize(("target", "waits"), [((5, 2), True), ((7, 2), False)])
def test_a_dram_endpoint_takes_writes_of_both_sides_of_the_dateline_in_turn(target, waits):
    """128 B from next door meet a long write that has come round the ring; a worker tile takes the two flit by flit."""
    x, y = target
    arch = load_arch("wormhole_b0")
    assert (target in arch.dram_tiles) == waits
    chips = [Chip(arch, numerics="off", noc=model) for model in ("packet", "flit")]
    south = max(row for column, row in arch.worker_coords if column == x - 1)
    long, near = ((x - 1, south), 0, EventKind.WRITE, 0, target, 8192, 0), (x - 1, y)
    short = (near, 0, EventKind.WRITE, 0, target, 128, 100), (near, 0, EventKind.WRITE_BARRIER, 0, target, 0, 101)
    then = (near, 0, EventKind.WRITE, 0, (x + 1, y), 8192, 102)
    alone, alone_flit = cycles(chips, events(*short, then))
    both, both_flit = cycles(chips, events(long, *short, then))
    assert (alone, both) == (alone_flit, both_flit)
    assert (both - alone > 100) == waits


@pytest.mark.parametrize(("column", "waits"), [(3, True), (2, False)])
def test_a_packet_waits_behind_the_tail_before_it_wherever_it_is_bound_for(column, waits):
    """Of a write of 17 flits that waits in the router of its target one flit stands in the router before, in column 3: a word
    that turns there stands behind it, one that turns in column 2 does not.
    """
    chips = [Chip(load_arch("wormhole_b0"), numerics="off", noc=model) for model in ("packet", "flit")]
    stream, waiting = ((3, 1), 0, EventKind.WRITE, 0, (4, 1), 8192, 0), ((1, 1), 0, EventKind.WRITE, 0, (4, 1), 512, 20)
    sender, target = (2, 1), (column, 2)
    word = (sender, 0, EventKind.WRITE, 0, target, 64, 80), (sender, 0, EventKind.WRITE_BARRIER, 0, target, 0, 81)
    then = (sender, 0, EventKind.WRITE, 0, (2, 2), 8192, 82)
    alone, both = cycles(chips, events(*word, then)), cycles(chips, events(stream, waiting, *word, then))
    assert alone[0] == alone[1] and both[0] == pytest.approx(both[1], abs=2)
    assert (both[0] - alone[0] > 100) == waits


def test_senders_of_one_row_back_off_in_both_models(chips):
    """All cores of a row multicast to it again and again, and nearly every reservation meets another sender's path: with the
    same law of back-off, but other random numbers, the whole takes as long within 15 %, and no receiver is left out.
    """
    workers = chips[0].arch.worker_coords
    row = [core for core in workers if core[1] == workers[0][1]]
    corners = (min(x for x, _ in row), row[0][1], max(x for x, _ in row), row[0][1])
    rows = [(core, 0, EventKind.MULTICAST, 0, corners, 2048, 0) for core in row for _ in range(20)]
    packet, flit = cycles(chips, events(*rows))
    assert flit == pytest.approx(packet, rel=0.15)
    assert min(packet, flit) > len(rows) * 2048 // chips[0].arch["noc.flit_bytes"]  # one sender at a time
    links = [chip.arrays["links"] for chip in chips]
    assert (links[0]["packets"] == links[1]["packets"]).all()


def test_all_buffers_and_paths_are_free_after_a_crowd(chips):
    rng = np.random.default_rng(8)
    chip = chips[1]
    rows = [(random_transfer, random_multicast)[int(i % 8 == 0)](rng, chip.arch, 0) for i in range(400)]
    replay(chip, events(*rows), 0, "open")
    network = chip.arrays.flits
    routers = network.arrays["routers"]
    nodes, outputs = routers["node"], routers["outputs"]
    assert network.net["in_flight"] == 0 and network.net["due"] == NONE
    assert (
        not routers["input_vcs"]["count"].any() and not outputs["held"].any() and not network.arrays["reserved"].any()
    )
    assert not nodes["draining"].any() and not outputs["need"].any() and not nodes["multicasts"].any()
    assert (nodes["head"] == NONE).all()


@pytest.mark.parametrize("noc", ["packet", "flit"])
def test_the_same_run_takes_the_same_cycles(chips, noc):
    """Also on another chip object, and after a run that was given up in the middle."""
    rng = np.random.default_rng(9)
    arch = chips[1].arch
    table = events(*[random_transfer(rng, arch, int(i % 50)) for i in range(300)])
    other = Chip(arch, numerics="off", noc=noc)
    first = replay(other, table, 0, "open")
    links = other.arrays["links"].copy()
    assert replay(other, table, 0, "open") == first
    assert (other.arrays["links"] == links).all()
    broken = events(
        *[random_transfer(rng, arch, 0) for _ in range(50)],
        (arch.worker_coords[0], 0, EventKind.WRITE, 0, (0, 0), 64, 40),
    )
    with pytest.raises(ProgramError, match="tile"):
        replay(other, broken, 0, "open")
    other.abort()
    assert replay(other, table, 0, "open") == first


def test_what_the_flit_model_cannot_do_is_refused():
    with pytest.raises(UsageError, match="noc.hop_cycles is 0; the flit model takes whole cycles"):
        Chip(load_arch("wormhole_b0", {"noc.hop_cycles": 0}), noc="flit")
    with pytest.raises(UsageError, match="noc.credit_round_trip_cycles is 9, .* more than the 9 of noc.hop_cycles"):
        Chip(load_arch("wormhole_b0", {"noc.credit_round_trip_cycles": 9}), noc="flit")
    with pytest.raises(UsageError, match="not one of packet, flit"):
        Chip(load_arch("wormhole_b0"), noc="wire")
