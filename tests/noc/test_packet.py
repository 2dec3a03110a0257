"""The packet model: latency without load, conservation, contention, multicast trees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.arch import load_arch
from sim.noc.packet import build_links, build_noc_params, send_multicast, send_unicast
from sim.noc.topology import INJECT, LINKS_PER_TILE, hops, link_index

ARCHES = ["wormhole_b0", "blackhole", "grayskull"]


class Network:
    def __init__(self, name="wormhole_b0"):
        self.arch = load_arch(name)
        self.width, self.height = self.arch.noc_size
        self.links, self.p = build_links(self.arch), build_noc_params(self.arch)[0]
        self.mask = np.zeros(self.width * self.height, np.int64)
        for x, y in self.arch.worker_coords:
            self.mask[y * self.width + x] = 1
        self.receivers = np.zeros(2 * self.width * self.height, np.int64)

    def tile(self, x, y):
        return y * self.width + x

    def unicast(self, noc, source, target, flits, time):
        return send_unicast(self.links, self.p, noc, source, target, flits, time)

    def multicast(self, noc, source, corners, flits, time, loopback=0, path_open=0):
        return send_multicast(
            self.links,
            self.p,
            self.mask,
            noc,
            source,
            *corners,
            loopback,
            path_open,
            flits,
            time,
            self.receivers,
        )


@pytest.mark.parametrize("name", ARCHES)
@given(data=st.data())
def test_latency_without_load(name, data):
    """5 cycles into the network, 9 per hop, 5 out of it, then one cycle per further flit (reference section 2.3)."""
    net = Network(name)
    tiles = st.integers(0, net.width * net.height - 1)
    source, target, noc, flits = (
        data.draw(tiles),
        data.draw(tiles),
        data.draw(st.integers(0, 1)),
        data.draw(st.integers(1, 7)),
    )
    if source == target:
        return
    left, arrival = net.unicast(noc, source, target, flits, 1000)
    assert left == 1000
    assert arrival == 1000 + 5 + 9 * hops(net.width, net.height, noc, source, target) + 5 + flits - 1


@pytest.mark.parametrize(("dx", "dy", "expected"), [(1, 0, 10), (0, 1, 12), (1, 1, 22)])
def test_round_trips_go_round_the_torus(dx, dy, expected):
    """Request and answer together pass every router of the axes in which the tiles differ (reference section 2.1)."""
    net = Network()
    for noc in (0, 1):
        a, b = net.tile(3, 4), net.tile(3 + dx, 4 + dy)
        assert hops(10, 12, noc, a, b) + hops(10, 12, noc, b, a) == expected


@given(st.lists(st.tuples(st.integers(0, 119), st.integers(0, 119), st.integers(1, 40)), min_size=1, max_size=40))
def test_every_flit_is_conserved(packets):
    """What is injected is ejected, and every packet crosses exactly its hops."""
    net = Network()
    expected = 0
    for i, (source, target, flits) in enumerate(packets):
        net.unicast(0, source, target, flits, 10 * i)
        expected += flits * (hops(10, 12, 0, source, target) + 2 if source != target else 1)
    assert net.links["flits"].sum() == expected


def test_two_flows_share_a_link():
    """The second packet through a link waits for the first one's flits, once (reference section 2.7)."""
    net = Network()
    net.unicast(0, net.tile(1, 1), net.tile(6, 1), 257, 0)
    alone = Network().unicast(0, net.tile(2, 1), net.tile(7, 1), 257, 14)[1]
    shared = net.unicast(0, net.tile(2, 1), net.tile(7, 1), 257, 14)[1]
    assert 240 < shared - alone < 280


def test_a_blocked_packet_holds_the_links_behind_it():
    net = Network()
    net.unicast(0, net.tile(5, 2), net.tile(5, 5), 257, 0)  # keeps column 5 busy
    net.unicast(0, net.tile(1, 2), net.tile(5, 5), 257, 0)  # waits for it, holding row 2
    behind = net.unicast(0, net.tile(2, 2), net.tile(4, 2), 1, 100)[1]
    free = Network().unicast(0, net.tile(2, 2), net.tile(4, 2), 1, 100)[1]
    assert behind > free + 150


@given(st.integers(1, 300), st.integers(0, 1))
def test_a_self_transfer_stays_out_of_the_network(flits, noc):
    net = Network()
    tile = net.tile(3, 3)
    net.unicast(noc, tile, tile, flits, 0)
    used = np.flatnonzero(net.links["flits"])
    assert list(used) == [link_index(120, noc, tile, INJECT)]


def test_multicast_reaches_workers_only_and_uses_each_link_once():
    net = Network()
    n, _, _ = net.multicast(0, net.tile(1, 1), (1, 1, 9, 11), 3, 0)
    reached = {int(net.receivers[2 * i]) for i in range(n)}
    assert n == 63 and all(net.mask[tile] for tile in reached) and net.tile(1, 1) not in reached
    assert net.links["packets"].max() == 1


@pytest.mark.parametrize(
    ("corners", "source", "depth"),
    [((1, 1, 2, 2), (1, 1), 2), ((1, 1, 3, 3), (1, 1), 4), ((1, 1, 9, 1), (1, 1), 8)],
)
def test_unlinked_multicast_period(corners, source, depth):
    """16 H + F + 5 cycles from one unlinked multicast to the next (H even), F flits (reference section 2.5)."""
    net = Network()
    free = 0
    for _ in range(2):
        begun = free
        _, _, free = net.multicast(0, net.tile(*source), corners, 3, free, loopback=1)
    assert free - begun == 16 * depth + 3 + 5


def test_a_linked_multicast_skips_the_reservation():
    net = Network()
    _, left, free = net.multicast(0, net.tile(1, 1), (1, 1, 3, 3), 3, 100, path_open=1)
    assert (left, free) == (100, 103)


@pytest.mark.parametrize("direction", range(LINKS_PER_TILE))
def test_link_indices_are_unique(direction):
    indices = {link_index(120, noc, tile, direction) for noc in (0, 1) for tile in range(120)}
    assert len(indices) == 240
