"""Multicasts in the packet model: the tree, the laws of their periods, and what they share with unicasts."""

import numpy as np
import pytest

from tensim.sim.arch import load_arch
from tensim.sim.noc.multicast import NIU_BUSY, PATH_TAKEN, send_multicast
from tensim.sim.noc.packet import head_event, prepare
from tensim.sim.noc.packet_state import PACKET_DTYPE, REQUEST, build_links, build_noc_params, build_ports, build_vcs

ONE_CYCLE = 1024
LATER = 1000  # NIUs rest a few cycles after a packet, also at the begin of time


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

    def multicast(self, noc, source, corners, flits, time, loopback=0, path_open=0, keep=0):
        return send_multicast(
            self.links, self.p, self.mask, noc, source, *corners, loopback, path_open, keep, flits, time, self.receivers
        )

    def unicast(self, noc, source, target, flits, time):
        """Cycle of delivery of a packet that nobody else's event comes between."""
        packets, ports, vcs = np.zeros(1, PACKET_DTYPE), build_ports(self.arch), build_vcs(self.arch)
        prepare(self.p, packets[0], noc, source, target, flits, REQUEST, ONE_CYCLE)
        while packets["delivered"][0] == 0:
            time = head_event(self.links, vcs, ports, self.p, packets, 0, time)
        return time


def test_multicast_reaches_workers_only_and_uses_each_link_once():
    net = Network()
    n, _, _ = net.multicast(0, net.tile(1, 1), (1, 1, 9, 11), 3, LATER)
    reached = {int(net.receivers[2 * i]) for i in range(n)}
    assert n == 63 and all(net.mask[tile] for tile in reached) and net.tile(1, 1) not in reached
    assert net.links["packets"].max() == 1


@pytest.mark.parametrize(
    ("corners", "source", "depth"), [((1, 1, 2, 2), (1, 1), 2), ((1, 1, 3, 3), (1, 1), 4), ((1, 1, 9, 1), (1, 1), 8)]
)
def test_unlinked_multicast_period(corners, source, depth):
    """16 H + F + 5 cycles from one unlinked multicast to the next (H even), F flits (docs/hardware/noc.md#multicast).

    The command buffer takes the next one as soon as the path is being reserved.
    """
    net = Network()
    _, left, free = net.multicast(0, net.tile(*source), corners, 3, LATER, loopback=1)
    assert left == LATER and free == LATER + 16 * depth + 3
    answer, ready, _ = net.multicast(0, net.tile(*source), corners, 3, left + 20, loopback=1)
    assert answer == NIU_BUSY and ready == LATER + 16 * depth + 3 + 5
    assert net.multicast(0, net.tile(*source), corners, 3, ready, loopback=1)[0] > 0


def test_a_linked_multicast_skips_the_reservation():
    net = Network()
    _, left, free = net.multicast(0, net.tile(1, 1), (1, 1, 3, 3), 3, 100, path_open=1)
    assert (left, free) == (100, 103)


def test_a_reservation_fails_while_another_sender_holds_a_link_of_the_path():
    """From the reservation until the tail has left the sender; paths elsewhere are not refused.

    Another one may have the path before the sender's NIU reserves it again.
    """
    net = Network()
    first, second, row = net.tile(1, 1), net.tile(2, 1), (1, 1, 9, 1)
    _, _, free = net.multicast(0, first, row, 3, LATER, loopback=1)
    before = net.links.copy()
    assert net.multicast(0, second, row, 3, free - 1, loopback=1)[0] == PATH_TAKEN
    assert (net.links["clear"] == before["clear"]).all()
    assert net.multicast(0, net.tile(1, 3), (1, 3, 9, 3), 3, free - 1, loopback=1)[0] == 8
    assert net.multicast(0, first, row, 3, free, loopback=1)[0] == NIU_BUSY
    assert net.multicast(0, second, row, 3, free, loopback=1)[0] == 8
    assert net.multicast(0, first, row, 3, free + 10, loopback=1)[0] == PATH_TAKEN


@pytest.mark.parametrize("noc", [0, 1])
def test_a_multicast_gets_to_the_rows_of_its_rectangle_first(noc):
    """On NoC 1 to its columns: the sender's row (column) carries nothing, the rectangle's first one all of it."""
    net = Network()
    source, row = ((1, 2), (1, 1, 9, 1)) if noc == 0 else ((2, 11), (1, 11, 1, 1))
    assert net.multicast(noc, net.tile(*source), row, 3, LATER)[0] > 0
    taken = [divmod(int(i), 4) for i in np.flatnonzero(net.links["packets"])]
    turns = {tile % (net.width * net.height) for tile, kind in taken if kind == (1 if noc == 0 else 2)}
    line = {tile // net.width if noc == 0 else tile % net.width for tile in turns}
    assert line == {1}


def test_a_linked_path_stays_held_until_the_last_packet():
    net = Network()
    first, second, row = net.tile(1, 1), net.tile(2, 1), (1, 1, 9, 1)
    net.multicast(0, first, row, 3, LATER, loopback=1, keep=1)
    assert net.multicast(0, second, row, 3, 100_000, loopback=1)[0] == PATH_TAKEN
    net.multicast(0, first, row, 3, 100_000, loopback=1, path_open=1)
    assert net.multicast(0, second, row, 3, 200_000, loopback=1)[0] == 8


def test_a_multicast_waits_for_unicasts_on_its_tree():
    """A linked multicast leaves so that its head reaches a busy link when that is clear."""
    net = Network()
    net.unicast(0, net.tile(3, 1), net.tile(6, 1), 257, 0)
    begin = int(net.links["clear"].max())
    _, left, _ = net.multicast(0, net.tile(1, 1), (2, 1, 6, 1), 3, 0, path_open=1)
    assert 257 <= left + 5 + 3 * 9 <= begin


def test_unicasts_wait_for_a_multicast_on_their_route():
    """A long unicast gets the links of a tree behind the multicast's tail; one that is elsewhere does not notice."""
    net, idle = Network(), Network()
    net.multicast(0, net.tile(1, 1), (2, 1, 6, 1), 257, 0, path_open=1)
    late = net.unicast(0, net.tile(2, 1), net.tile(4, 1), 65, 20)
    assert 200 < late - idle.unicast(0, net.tile(2, 1), net.tile(4, 1), 65, 20) < 280
    assert net.unicast(0, net.tile(2, 3), net.tile(4, 3), 65, 20) == idle.unicast(
        0, net.tile(2, 3), net.tile(4, 3), 65, 20
    )
