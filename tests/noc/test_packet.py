"""The packet model of unicasts: latency without load, conservation, contention, and a plain reference cycle for cycle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.packet import ONE_CYCLE, TRAFFIC, send
from tensim.sim.arch import load_arch
from tensim.sim.dram.channel import build_dram_params, queue_ticks
from tensim.sim.errors import UsageError
from tensim.sim.noc.packet import head_event, prepare
from tensim.sim.noc.packet_state import (
    HELD,
    LINK_DTYPE,
    PACKET_DTYPE,
    VC_DTYPE,
    build_links,
    build_noc_params,
    build_ports,
    build_vcs,
)
from tensim.sim.noc.topology import EJECT, INJECT, LINKS_PER_TILE, hops, link_index
from tensim.sim.noc.virtual_channels import wait_for_vc
from tests.noc.packet_reference import Reference

ARCHES = ["wormhole_b0", "blackhole", "grayskull"]
WORMHOLE = load_arch("wormhole_b0")


def tile(x, y):
    return y * WORMHOLE.noc_size[0] + x


def traffic(*rows):
    """Packets from (time, noc, source, target, flits) and optionally response, dynamic, static_vc."""
    return np.array([(*row, 0, 0, 0)[:8] for row in rows], TRAFFIC)


def delivered(*rows, arch=WORMHOLE):
    return send(arch, traffic(*rows))[1].tolist()


@pytest.mark.parametrize("name", ARCHES)
@given(data=st.data())
def test_latency_without_load(name, data):
    """5 cycles into the network, 9 per hop, 5 out of it, then one cycle per further flit.

    Source: docs/hardware/noc.md#latency-and-bandwidth.
    """
    arch = load_arch(name)
    width, height = arch.noc_size
    tiles = st.integers(0, width * height - 1)
    source, target = data.draw(tiles), data.draw(tiles)
    noc, flits, response = data.draw(st.integers(0, 1)), data.draw(st.integers(1, 257)), data.draw(st.integers(0, 1))
    if source == target:
        return
    _, arrival, begun, *_ = send(arch, traffic((1000, noc, source, target, flits, response)))
    assert begun[0] == 1000
    assert arrival[0] == 1000 + 5 + 9 * hops(width, height, noc, source, target) + 5 + flits - 1


@pytest.mark.parametrize(("dx", "dy", "expected"), [(1, 0, 10), (0, 1, 12), (1, 1, 22)])
def test_round_trips_go_round_the_torus(dx, dy, expected):
    """Request and response together pass every router of the axes in which the tiles differ.

    Source: docs/hardware/noc.md#topology-and-routing.
    """
    for noc in (0, 1):
        a, b = tile(3, 4), tile(3 + dx, 4 + dy)
        assert hops(10, 12, noc, a, b) + hops(10, 12, noc, b, a) == expected


def random_traffic(data, arch, most):
    """Packets that meet: few targets, few cycles."""
    width, height = arch.noc_size
    seed, n = data.draw(st.integers(0, 2**32 - 1)), data.draw(st.integers(1, most))
    rng = np.random.default_rng(seed)
    places = rng.integers(0, width * height, data.draw(st.integers(1, 20)))
    result = np.zeros(n, TRAFFIC)
    result["time"] = rng.integers(0, data.draw(st.sampled_from([1, 100, 3000])), n)
    result["noc"], result["response"] = rng.integers(0, 2, n), rng.integers(0, 2, n)
    result["dynamic"], result["static_vc"] = rng.integers(0, 2, n), rng.integers(0, 4, n)
    result["source"], result["target"] = rng.integers(0, width * height, n), rng.choice(places, n)
    result["flits"] = rng.choice([1, 2, 9, 33, 129, 257], n)
    return result


@pytest.mark.parametrize(("name", "hop"), [*((name, None) for name in ARCHES), ("wormhole_b0", 20)])
@given(data=st.data())
def test_the_compiled_model_and_a_plain_reference_agree(name, hop, data):
    """Every packet of random traffic arrives in the same cycle, also where a hop takes longer than a credit's round trip."""
    arch = load_arch(name, {} if hop is None else {"noc.hop_cycles": hop})
    packets = random_traffic(data, arch, 120)
    assert send(arch, packets)[1].tolist() == Reference(arch, packets).run()


@given(data=st.data())
def test_packets_and_flits_are_conserved(data):
    """Every packet arrives (no deadlock), crosses exactly its links, and leaves every VC and queue empty."""
    packets = random_traffic(data, WORMHOLE, 2000)
    links, arrival, _, vcs, crossed, _ = send(WORMHOLE, packets)
    passed = [hops(10, 12, p["noc"], p["source"], p["target"]) + 2 for p in packets]
    assert (arrival > packets["time"]).all()
    assert links["packets"].sum() == crossed == sum(passed)
    assert links["flits"].sum() == (packets["flits"] * passed).sum()
    assert (vcs["waiting"] == -1).all() and (vcs["free"] < HELD).all()
    assert (vcs["buffered"] == 0).all() and (vcs["full"] == 0).all()


def test_no_deadlock_when_every_ring_is_full():
    """Long packets round every ring at once block each other in a circle unless the dateline breaks it."""
    rows = [
        (0, noc, tile(x, y), tile((x + 5) % 10, (y + 6) % 12), 257)
        for noc in (0, 1)
        for x in range(10)
        for y in range(12)
    ]
    assert min(delivered(*rows * 3)) > 0


def test_no_link_carries_more_than_a_flit_per_cycle():
    """Eight senders of one target: its ejection link is the bottleneck, and busy all the time."""
    rows = [(0, 0, tile(x, 1), tile(9, 9), 129) for x in range(1, 9)]
    ends = delivered(*rows)
    assert 8 * 129 <= max(ends) <= 8 * 129 + 150


def test_two_flows_share_a_link():
    """The second packet through a link waits for the first one's flits, once (docs/hardware/noc.md#congestion)."""
    first, second = (0, 0, tile(1, 1), tile(6, 1), 257), (14, 0, tile(2, 1), tile(7, 1), 257)
    assert 240 < delivered(first, second)[1] - delivered(second)[0] < 280


def test_links_are_taken_in_the_order_of_arrival():
    """A packet that will reach a link late does not hold up one that is there early."""
    late, early = (0, 0, tile(1, 1), tile(6, 1), 257), (20, 0, tile(5, 1), tile(7, 1), 9)
    assert delivered(late, early)[1] == delivered(early)[0]


def test_a_dynamic_request_passes_a_blocked_one():
    """It takes the other virtual channel of its class, for which a static one does not ask."""
    busy, waits = (0, 0, tile(5, 2), tile(5, 5), 257), (0, 0, tile(1, 2), tile(5, 5), 257)
    behind = (100, 0, tile(2, 2), tile(4, 2), 1)
    free = delivered(behind)[0]
    assert delivered(busy, waits, (*behind, 0, 1))[2] == free
    assert delivered(busy, waits, behind)[2] > free + 150


@pytest.mark.parametrize("static_vc", [1, 2, 3])
def test_a_request_passes_a_blocked_one_on_another_static_channel(static_vc):
    """Four static virtual channels of requests, two classes of two (docs/hardware/noc.md#virtual-channels-and-arbitration)."""
    busy, waits = (0, 0, tile(5, 2), tile(5, 5), 257), (0, 0, tile(1, 2), tile(5, 5), 257)
    behind = (100, 0, tile(2, 2), tile(4, 2), 1)
    assert delivered(busy, waits, (*behind, 0, 0, static_vc))[2] == delivered(behind)[0]
    same = [(*row, 0, 0, static_vc) for row in (busy, waits, behind)]
    assert delivered(*same)[2] > delivered(behind)[0] + 150


def test_a_source_sends_one_packet_of_a_class_at_a_time():
    """Even a dynamic one waits until the blocked packet before it has left, though another virtual channel is free."""
    busy, waits = (0, 0, tile(5, 2), tile(5, 5), 257), (0, 0, tile(1, 2), tile(5, 5), 257, 0, 1)
    behind = (20, 0, tile(1, 2), tile(3, 2), 1, 0, 1)
    assert delivered(busy, waits, behind)[2] > delivered(behind)[0] + 250


def test_a_fourth_dynamic_request_on_a_link_gets_a_flit_per_credit():
    """Three others fill the part of a router's buffer that virtual channels share (ISA DRAMTile)."""
    around = [(9 - 9 * i, 0, tile(8 - i, 2), tile(3 + i, 2), 257, 0, 1) for i in range(2)]
    straight = [(30 + 9 * i, 0, tile(i, 2), tile(5 + i, 2), 257, 0, 1) for i in range(2)]
    starved = 257 * WORMHOLE["noc.credit_round_trip_cycles"]
    assert delivered(*around, straight[0])[2] < starved < delivered(*around, *straight)[3] < starved + 100


def test_a_blocked_packet_holds_the_links_behind_it():
    """Column 5 is busy; a packet that waits for it holds row 2 for those of its class, and for no others."""
    busy, waits = (0, 0, tile(5, 2), tile(5, 5), 257), (0, 0, tile(1, 2), tile(5, 5), 257)
    behind = (100, 0, tile(2, 2), tile(4, 2), 1)
    free = delivered(behind)[0]
    assert delivered(busy, waits, behind)[2] > free + 150
    assert delivered(busy, waits, (*behind, 1))[2] == free


def test_a_blocked_packet_that_fits_into_a_buffer_holds_no_link():
    """A short packet waits in the input buffer of the router, off the link it came over."""
    busy, waits = ((0, 0, tile(5, 2), tile(5, 5), 257), (0, 0, tile(1, 2), tile(5, 5), WORMHOLE["noc.buffer_flits"]))
    behind = (100, 0, tile(2, 2), tile(4, 2), 1)
    assert delivered(busy, waits, behind)[2] == delivered(behind)[0]


def test_short_packets_fill_a_buffer():
    """Column 5 is busy; as many short packets wait for it as a buffer holds, the next one stays on the link behind."""
    room = WORMHOLE["noc.buffer_flits"]
    busy = (0, 0, tile(5, 2), tile(5, 5), 257)
    waiting = [(0, 0, tile(1, 2), tile(5, 5), 1)] * (room + 2)
    behind = (100, 0, tile(2, 2), tile(4, 2), 1)
    assert delivered(busy, *waiting[:room], behind)[-1] == delivered(behind)[0]
    assert delivered(busy, *waiting * 4, behind)[-1] > delivered(behind)[0] + 100


def test_an_answer_passes_a_blocked_one():
    """Column 5 is busy on both virtual channels of responses; what waits for it leaves the other one of row 2 to the next."""
    busy = [(0, 0, tile(5, y), tile(5, 5), 257) for y in (1, 2)]
    behind = (100, 0, tile(2, 2), tile(4, 2), 1)
    rows = [*busy, (0, 0, tile(1, 2), tile(5, 5), 257), behind]
    requests, responses = (delivered(*((*row, kind) for row in rows))[-1] for kind in (0, 1))
    assert responses == delivered(behind)[0] < requests - 150


@given(arrivals=st.lists(st.integers(0, 20), min_size=1, max_size=12))
def test_of_those_that_wait_the_head_that_came_first_goes_first(arrivals):
    """Heads that stood behind a tail ask for a virtual channel later than others that came to the router after them."""
    vcs, packets = build_vcs(WORMHOLE)[:2], np.zeros(len(arrivals), PACKET_DTYPE)
    packets["arrive"] = arrivals
    for index in range(len(arrivals)):
        wait_for_vc(vcs, packets, 0, index)
    queue = [vcs["waiting"][0]]
    while packets["next"][queue[-1]] >= 0:
        queue.append(packets["next"][queue[-1]])
    assert queue == sorted(range(len(arrivals)), key=lambda index: arrivals[index]) and vcs["waiting"][1] == queue[-1]


def test_reads_that_wait_for_their_answers_fill_an_niu():
    """An NIU takes `noc.niu_requests` read requests; the next one holds the ejection link until a response leaves."""
    links, vcs, ports = build_links(WORMHOLE), build_vcs(WORMHOLE), build_ports(WORMHOLE)
    p = build_noc_params(WORMHOLE)[0]
    packets = np.zeros(WORMHOLE["noc.niu_requests"] + 1, PACKET_DTYPE)
    source, target = tile(1, 1), tile(2, 1)
    for index, packet in enumerate(packets):
        prepare(p, packet, 0, source, target, 1, 0, ONE_CYCLE)
        packet["awaits_response"] = 1
        times = [100 * index]
        while packet["delivered"] == 0 and times[-1] >= 0:
            times.append(head_event(links, vcs, ports, p, packets, index, times[-1]))
    assert packets["delivered"].tolist() == [1] * WORMHOLE["noc.niu_requests"] + [0]
    prepare(p, packets[0], 0, target, source, 33, 1, ONE_CYCLE)
    head_event(links, vcs, ports, p, packets, 0, 10_000)
    assert packets[-1]["delivered"] == 1 and p["granted"] == len(packets) - 1


@pytest.mark.parametrize("room", [1, 2, 16])
def test_reads_from_both_sides_of_the_dateline_fill_an_niu_together(room):
    """They come on two VCs; each is held when it delivers one that makes the NIU full, for as many responses as are too many."""
    arch = load_arch("wormhole_b0", {"noc.niu_requests": room})
    links, vcs, ports, p = build_links(arch), build_vcs(arch), build_ports(arch), build_noc_params(arch)[0]
    packets, target = np.zeros(room + 2, PACKET_DTYPE), tile(3, 1)
    for index, packet in enumerate(packets):
        prepare(p, packet, 0, tile(2 if index % 2 else 8, 1), target, 1, 0, ONE_CYCLE)
        packet["awaits_response"] = 1
        time = 100 * index
        while packet["delivered"] == 0 and time >= 0:
            time = head_event(links, vcs, ports, p, packets, index, time)
    assert packets["delivered"].tolist() == [1] * (room + 1) + [0]
    for index in range(len(packets)):
        assert packets[-1]["delivered"] == (index > 1)
        prepare(p, packets[index], 0, target, tile(4, 1), 33, 1, ONE_CYCLE)
        time = 10_000 * (1 + index)
        while packets[index]["delivered"] == 0:
            time = head_event(links, vcs, ports, p, packets, index, time)
    ejection = links[link_index(p["tiles"], 0, target, EJECT)]
    assert ejection["buffered"] == ejection["closed"] == 0


def test_data_of_a_dram_channel_hold_up_the_tail_alone():
    """A response whose data come slowly leaves at once, and is complete when they are; what has them all is no slower."""
    p, ends = build_noc_params(WORMHOLE)[0], []
    for supplied in (0, 50, 500):
        links, vcs, ports = build_links(WORMHOLE), build_vcs(WORMHOLE), build_ports(WORMHOLE)
        packets, time = np.zeros(1, PACKET_DTYPE), 0
        prepare(p, packets[0], 0, tile(5, 2), tile(1, 1), 65, 1, ONE_CYCLE)
        packets[0]["supplied"] = supplied
        while packets[0]["delivered"] == 0:
            time = head_event(links, vcs, ports, p, packets, 0, time)
            assert packets[0]["begun"] == 0
        ends.append(time)
    assert ends[0] == ends[1] and ends[2] - ends[0] == 500 - 65


def test_a_dram_channel_takes_writes_no_faster_than_it_stores_them():
    """The write queue takes the first writes at the link's rate, the later ones at the channel's."""
    links, vcs, ports = build_links(WORMHOLE), build_vcs(WORMHOLE), build_ports(WORMHOLE)
    p = build_noc_params(WORMHOLE)[0]
    per_packet = 2048 / WORMHOLE["dram.bank_bytes_per_cycle"]
    ends = []
    for index in range(20):
        packets = np.zeros(1, PACKET_DTYPE)
        prepare(p, packets[0], 0, tile(1, 1), tile(5, 2), 65, 0, ONE_CYCLE)
        packets[0]["dram_queue"], packets[0]["dram_queue_ticks"] = 120, round(256 * per_packet)
        packets[0]["dram_queue_room"] = round(256 * per_packet)
        time = 66 * index
        while packets[0]["delivered"] == 0:
            time = head_event(links, vcs, ports, p, packets, 0, time)
        ends.append(time)
    assert 64 <= ends[1] - ends[0] < 70
    assert ends[-1] - ends[-2] == pytest.approx(per_packet, abs=1.5)


def test_a_write_queue_full_of_slow_writes_alone_holds_up_the_network():
    """Read-modify-writes of 64 B take the channel 60 cycles each, but its queue holds 32 of them, as many as of any such size."""
    links, vcs, ports = build_links(WORMHOLE), build_vcs(WORMHOLE), build_ports(WORMHOLE)
    p, dram = build_noc_params(WORMHOLE)[0], build_dram_params(WORMHOLE)[0]
    ends = []
    for index in range(60):
        packets, time = np.zeros(1, PACKET_DTYPE), 4 * index
        prepare(p, packets[0], 0, tile(1, 1), tile(5, 2), 3, 0, ONE_CYCLE)
        packets[0]["dram_queue"] = 120
        packets[0]["dram_queue_ticks"], packets[0]["dram_queue_room"] = queue_ticks(dram, 64)
        while packets[0]["delivered"] == 0:
            time = head_event(links, vcs, ports, p, packets, 0, time)
        ends.append(time)
    assert ends[31] - ends[0] == 4 * 31
    assert ends[-1] - ends[-2] == WORMHOLE["dram.partial_write_cycles"]


@pytest.mark.parametrize("queue", [-1, 120])
def test_a_dram_channel_takes_writes_of_both_sides_of_the_dateline_one_after_the_other(queue):
    """A short write from nearby waits for the tail of a long one that has come round the ring; other tiles take them together."""
    links, vcs, ports = build_links(WORMHOLE), build_vcs(WORMHOLE), build_ports(WORMHOLE)
    p, packets = build_noc_params(WORMHOLE)[0], np.zeros(2, PACKET_DTYPE)
    ends = []
    for index, (time, source, flits) in enumerate([(0, tile(5, 8), 257), (100, tile(4, 2), 3)]):
        prepare(p, packets[index], 0, source, tile(5, 2), flits, 0, ONE_CYCLE)
        packets[index]["dram_queue"] = queue
        while packets[index]["delivered"] == 0:
            time = head_event(links, vcs, ports, p, packets, index, time)
        ends.append(time)
    assert (ends[1] > ends[0]) == (queue >= 0)


@pytest.mark.parametrize(
    ("flits", "response", "dynamic", "later"), [(9, 0, 0, 1), (1, 0, 0, 0), (9, 1, 0, 0), (9, 0, 1, 0)]
)
def test_a_write_that_has_waited_gets_its_vc_after_the_tail(flits, response, dynamic, later):
    """`noc.reallocation_cycles` later; not what may take another VC, nor a single flit."""
    row = (tile(5, 2), flits, response, dynamic)
    before = [(0, 0, tile(x, 2), tile(5, 2), 257, response, dynamic) for x in range(1 + max(response, dynamic))]
    rows = [*before, (100, 0, tile(2, 2), *row)]
    with_it, without = (
        delivered(*rows, arch=load_arch("wormhole_b0", {"noc.reallocation_cycles": cycles}))[-1] for cycles in (1, 0)
    )
    assert without > delivered(rows[-1])[0] + 100
    assert with_it - without == later


def test_the_l1_port_is_shared_by_both_nocs_and_both_directions():
    """Four packets into and out of one L1 take what its port needs for all of them: 64 B/cycle, two flits."""
    here = tile(4, 4)
    rows = [(0, 0, here, tile(5, 5), 257), (0, 1, here, tile(3, 3), 257)]
    rows += [(0, 0, tile(3, 3), here, 257), (0, 1, tile(5, 5), here, 257)]
    assert all(delivered(row)[0] < 300 for row in rows)
    assert 4 * 256 / 2 <= max(delivered(*rows)) < 4 * 256 / 2 + 50


def test_a_torrent_of_acknowledgements_takes_a_cycle_each():
    """Packets of one flit from everywhere go through one ejection link at a flit per cycle (docs/hardware/noc.md#multicast)."""
    rows = [(0, 0, tile(x, y), tile(1, 1), 1, 1) for x in range(2, 10) for y in range(2, 12) for _ in range(4)]
    assert len(rows) - 30 <= max(delivered(*rows)) <= len(rows) + 250


@given(st.integers(1, 300), st.integers(0, 1))
def test_a_self_transfer_stays_out_of_the_network(flits, noc):
    """It uses the injection and the ejection link of its own tile."""
    links = send(WORMHOLE, traffic((0, noc, tile(3, 3), tile(3, 3), flits)))[0]
    assert list(np.flatnonzero(links["flits"])) == [link_index(120, noc, tile(3, 3), end) for end in (INJECT, EJECT)]


def test_a_self_transfer_shares_the_ports_of_its_tile():
    """What comes from elsewhere and what a tile sends to itself go out of the network in turn."""
    here = tile(4, 4)
    own, other = (0, 0, here, here, 257), (0, 0, tile(2, 4), here, 257)
    assert max(delivered(*[own] * 4, *[other] * 4)) >= 8 * 257


def test_requests_round_a_ring_share_the_way_into_a_tile_with_others():
    """They are on the other side of the dateline: one from nearby waits for the first of two of them, not for both."""
    here, late = tile(5, 5), (150, 0, tile(4, 5), tile(5, 5), 257)  # a DRAM tile, without the port of an L1
    round_the_rings = [(0, 0, tile(x, y), here, 257) for x, y in ((7, 5), (5, 7))]
    straight = [(0, 0, tile(x, y), here, 257) for x, y in ((3, 5), (5, 3))]
    assert delivered(*round_the_rings, late)[2] < 150 + 2 * 257 + 30
    assert delivered(*straight, late)[2] > 3 * 257


def test_a_self_transfer_leaves_its_niu_in_turn():
    """Before it a response to another tile, which the ejection link of that one holds up; a request of its own need not wait."""
    here, there = tile(4, 4), tile(6, 4)
    busy = [(0, 0, tile(x, 4), there, 257, 1) for x in (5, 3)]
    before, own = (0, 0, here, there, 257, 1), (20, 0, here, here, 1)
    response, request = (delivered(*busy, before, (*own, kind))[-1] for kind in (1, 0))
    assert request == delivered(own)[0] < response - 257


@pytest.mark.parametrize("value", [0, 10_001])
@pytest.mark.parametrize(
    "key", ["noc.buffer_flits", "noc.niu_requests", "noc.credit_round_trip_cycles", "dram.endpoint_requests"]
)
def test_buffers_without_a_place_or_with_too_many_are_refused(key, value):
    with pytest.raises(UsageError, match=f"{key} is {value}; it must be from 1 to 10000"):
        build_noc_params(load_arch("wormhole_b0", {key: value}))


def test_packets_of_more_flits_than_the_model_counts_are_refused():
    with pytest.raises(UsageError, match="noc.max_packet_bytes is 1048576, more than 10000 flits"):
        build_noc_params(load_arch("wormhole_b0", {"noc.max_packet_bytes": 1 << 20}))


@pytest.mark.parametrize("name", ARCHES)
def test_records_fill_cache_lines(name):
    """What a hop touches does not straddle lines of 64 bytes."""
    arch = load_arch(name)
    assert LINK_DTYPE.itemsize % 64 == PACKET_DTYPE.itemsize % 64 == VC_DTYPE.itemsize % 64 == 0
    assert PACKET_DTYPE.fields["begun"][1] == 64  # all that is needed at every hop stands before it
    assert all(table.ctypes.data % 64 == 0 for table in (build_links(arch), build_vcs(arch)))


@pytest.mark.parametrize("direction", range(LINKS_PER_TILE))
def test_link_indices_are_unique(direction):
    indices = {link_index(120, noc, place, direction) for noc in (0, 1) for place in range(120)}
    assert len(indices) == 240
