"""The state of the flit model as data: one record of sizes, clock and the addresses of the arrays, with views of them.

`build` makes an idle network.  Times are cycles; a channel is an input VC of a router, and what its output VC of the same
index needs to know.
"""

import numpy as np

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.tables import table
from tensim.sim.noc.packet_state import LINK_DTYPE, PORT_TICKS

MESH, TORUS, CHIP = 0, 1, 2  # a chip's network is two unidirectional tori
NONE = -1
ANY = -1  # VC of its class
RESPONSES = 1  # class of a chip's network; the other ones are requests
MAX_PORTS, MAX_CLASSES = 5, 4
UNLIMITED = 1 << 62
NODES_PER_WORD = 62  # of the bit set of routers at work
TREE_NODES = 15  # per word of a multicast tree, four bits each
TREES_PER_NIU = 4  # one that drains and those that wait
BEGUN, LEFT, ARRIVED = 0, 1, 2
EVENTS_PER_NODE = 4  # in a cycle: one of each, and BEGUN of a multicast that reserves its path

WORD = np.dtype(np.int64)
_ARRAYS = (
    "packets nodes channels buffers wires wire_counts credits credit_counts pools events active links ports trees reserved occupied"
).split()
NETWORK = np.dtype(
    [(name, np.int64) for name in (
        "kind width height n_nodes classes ports vcs unicast_vcs multicast_vc inputs buffer shared credit "
        "hop inject eject "
        "reallocation port_ticks dram_ports dram_port_ticks span wire_room words tree_words now stepped in_flight moved n_events "
        "backoff_cycles backoff_doublings backoff_seed due"
    ).split()]
    + [(f"{name}_at", np.int64) for name in _ARRAYS]
)  # fmt: skip
# `ready`: cycle from which it may leave, `begun`: at which its head left; `emission`: cycles its source needs for it;
# `arrived`: its head in the present router; `tree`: of a multicast, with the cycles for which its NIU rests before it reserves it
# (`rest`) and that reserving it takes (`delay`);
# `awaits_response`: 1 for a read request from another tile, `is_response`: 1 for the data it asked for; `dram_queue`: write
# queue of the DRAM channel it goes to, as an index of `ports`, or NONE; `dram_queue_ticks`: time it takes of that channel, until
# `drained`; `dram_queue_room`: time that as many writes like it take as the queue has room for; `supplied`: cycle by which a DRAM
# channel has given all of its data, or 0
PACKET = np.dtype(
    [(name, np.int64) for name in (
        "source target flits group ready emission begun arrived sent dateline static_vc next tree receivers rest delay linked keep "
        "stage awaits_response is_response supplied dram_queue dram_queue_ticks dram_queue_room drained"
    ).split()]
)  # fmt: skip
# Of an input VC: its router, port, number there and at the port; the output VC a credit goes back to; place of the front flit,
# flits, flits of the front packet that have left, output port (NONE before) and VC given to it.  Of the output VC of the same
# index: the input VC behind it, whether a packet holds it, the cycle in which the last tail left it (`freed`), room behind it, of
# which other VCs may have taken some (`has_room`).
# The NIU's own wire is an output VC of the port to the NIU, whose `held` stands for the ejection.
CHANNEL = np.dtype(
    [(name, np.int64) for name in (
        "node port index vc upstream first count sent out out_vc downstream held freed credits"
    ).split()]
)  # fmt: skip
# `need`: bit set of input VCs whose front packet has no output VC yet; `request`: by output port, those with a flit for it;
# `multicasts`: input ports with a multicast flit; `draining`: receivers that the NIU's last multicast has not reached;
# `free`: cycle from which its tail has left; `attempts` for the one at the front of its queue, `draws` of random numbers;
# `requests`: read requests that the NIU buffers
NODE = np.dtype(
    [
        (name, np.int64)
        for name in ("noc x y l1_port need multicasts next_class draining tree free attempts draws requests").split()
    ]
    + [(name, np.int64, MAX_PORTS) for name in "request turn".split()]
    + [(name, np.int64, MAX_CLASSES + 1) for name in "head tail".split()]
)
EVENT = np.dtype([(name, np.int64) for name in "kind packet node time".split()])


class Network:
    """An idle network: its record (`net`), and the arrays, which live as long as this object.

    Packets are records of an array that `place_packets` gives; see `build` for the rest.
    """

    def __init__(
        self,
        kind,
        width,
        height,
        n_nodes,
        *,
        ports,
        classes,
        vcs,
        multicast,
        buffer,
        hop,
        inject,
        eject,
        shared=UNLIMITED,
        credit=1,
    ):
        self.record, self.arrays = np.zeros(1, NETWORK), {}
        self.net = net = self.record[0]
        net["kind"], net["width"], net["height"], net["n_nodes"] = kind, width, height, n_nodes
        all_vcs = vcs + multicast
        net["classes"], net["ports"] = classes, ports
        net["unicast_vcs"], net["vcs"], net["inputs"] = vcs, all_vcs, ports * all_vcs
        net["multicast_vc"] = vcs if multicast else NONE
        net["buffer"], net["hop"], net["inject"], net["eject"] = buffer, hop, inject, eject
        net["shared"], net["credit"] = shared, credit
        net["span"], net["wire_room"] = max(hop, inject, credit) + 1, n_nodes * ports
        net["words"], net["tree_words"] = -(-n_nodes // NODES_PER_WORD), -(-n_nodes // TREE_NODES)
        net["now"], net["stepped"], net["due"] = -1, -1, NONE
        trees = n_nodes * TREES_PER_NIU if multicast else 0
        self.place("nodes", np.zeros(n_nodes, NODE))
        self.place("channels", self._channels(n_nodes, ports, all_vcs, buffer))
        self.place("links", np.zeros(n_nodes * (ports + 1), LINK_DTYPE))
        self.place("buffers", np.zeros(len(self.arrays["channels"]) * buffer, np.int64))
        self.place("wires", np.zeros(2 * int(net["span"] * net["wire_room"]), np.int64))
        self.place("wire_counts", np.zeros(int(net["span"]), np.int64))
        self.place("credits", np.zeros(int(net["span"] * net["wire_room"]), np.int64))
        self.place("credit_counts", np.zeros(int(net["span"]), np.int64))
        self.place("pools", np.zeros(n_nodes * ports, np.int64))
        self.place("events", np.zeros(EVENTS_PER_NODE * n_nodes, EVENT))
        self.place("active", np.zeros(int(net["words"]), np.int64))
        self.place("trees", np.zeros(trees * int(net["tree_words"]), np.int64))
        for name in ("reserved", "occupied"):
            self.place(name, np.zeros(int(net["tree_words"]), np.int64))
        self.arrays["links"]["requests"] = np.iinfo(LINK_DTYPE["requests"]).max
        self.arrays["nodes"]["head"] = self.arrays["nodes"]["tail"] = NONE
        self.arrays["nodes"]["l1_port"] = NONE

    def place(self, name, array):
        """Keep an array alive and tell the network its address."""
        self.arrays[name] = array
        self.net[f"{name}_at"] = array.ctypes.data

    def place_packets(self, packets):
        """Use this array of `PACKET` from now on."""
        self.place("packets", packets)

    @staticmethod
    def _channels(n_nodes, ports, vcs, buffer):
        channels = np.zeros(n_nodes * ports * vcs, CHANNEL)
        number = np.arange(len(channels))
        channels["node"], channels["index"] = number // (ports * vcs), number % (ports * vcs)
        channels["port"], channels["vc"] = channels["index"] // vcs, number % vcs
        channels["out"] = channels["out_vc"] = NONE
        channels["upstream"] = channels["downstream"] = number  # the NIU's wire; `connect` sets the others
        channels["credits"] = buffer
        return channels

    def connect(self, port, following, wraps):
        """Lead output `port` of every node to the same input port of the nodes `following`; `wraps`: by node."""
        net, channels = self.net, self.arrays["channels"]
        ports, vcs = int(net["ports"]), int(net["vcs"])
        mine = (np.arange(len(following))[:, None] * ports + port) * vcs + np.arange(vcs)
        theirs = (following[:, None] * ports + port) * vcs + np.arange(vcs)
        channels["downstream"][mine], channels["upstream"][theirs] = theirs, mine
        self.arrays["links"]["wraps"][np.arange(len(following)) * (ports + 1) + 1 + port] = wraps


def _grid(network, width, height, parts):
    """Set the place of every node; returns (x, y, index of the part's first node)."""
    tile = np.arange(parts * width * height) % (width * height)
    nodes = network.arrays["nodes"]
    nodes["noc"] = np.arange(len(nodes)) // (width * height)
    nodes["x"], nodes["y"] = tile % width, tile // width
    return nodes["x"], nodes["y"], nodes["noc"] * width * height


def build(kind, width, height, *, vcs=4, classes=1, buffer=8, hop=9, inject=5, eject=5):
    """An idle mesh or torus with links in both directions and the NIU of a node at its fifth port.

    `vcs`: per port, a multiple of `classes`, with an even number per class on rings; `buffer`: flits per VC; latencies in
    cycles: `hop` from router to router, `inject` and `eject` between NIU and router.  ValueError for figures no network
    can have.
    """
    if (
        not 1 <= classes <= MAX_CLASSES
        or vcs % classes
        or (kind != MESH and vcs // classes % 2)
        or MAX_PORTS * vcs > 62
    ):
        raise ValueError(f"{vcs} VCs cannot be shared by {classes} classes; rings need an even number for each")
    if min(hop, inject, buffer) < 1:
        raise ValueError("hop, inject and buffer are at least 1")
    network = Network(
        kind, width, height, width * height, ports=MAX_PORTS, classes=classes, vcs=vcs, multicast=0, buffer=buffer,
        hop=hop, inject=inject, eject=eject,
    )  # fmt: skip
    x, y, _ = _grid(network, width, height, 1)
    for port, (dx, dy) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
        tx, ty = (x + dx) % width, (y + dy) % height
        network.connect(port, ty * width + tx, (kind == TORUS) & ((tx != x + dx) | (ty != y + dy)))
    return network


def build_chip(width, height, *, buffer, hop, inject, eject, shared=UNLIMITED, credit=1):
    """Both NoCs of a chip, idle: node noc * tiles + tile; classes 0 and 2 requests, 1 responses; a VC of multicasts."""
    network = Network(
        CHIP, width, height, 2 * width * height, ports=3, classes=3, vcs=12, multicast=1, buffer=buffer, hop=hop,
        inject=inject, eject=eject, shared=shared, credit=credit,
    )  # fmt: skip
    x, y, first = _grid(network, width, height, 2)
    step = 1 - 2 * network.arrays["nodes"]["noc"]
    for port, (dx, dy) in enumerate(((step, 0 * step), (0 * step, step))):
        tx, ty = (x + dx) % width, (y + dy) % height
        network.connect(port, first + ty * width + tx, (tx != x + dx) | (ty != y + dy))
    return network


# --- views and the smallest steps

node_table, channel_table, event_table = table(NODE), table(CHANNEL), table(EVENT)
packet_table, link_table, words_at = table(PACKET), table(LINK_DTYPE), table(WORD)


@compiled(inline="always")
def packets_of(net):
    return packet_table(net.packets_at)


@compiled(inline="always")
def nodes_of(net):
    return node_table(net.nodes_at)


@compiled(inline="always")
def channels_of(net):
    return channel_table(net.channels_at)


@compiled(inline="always")
def links_of(net):
    """(ports + 1) per node: from the NIU, then by output port."""
    return link_table(net.links_at)


@compiled(inline="always")
def events_of(net):
    return event_table(net.events_at)


@compiled(inline="always")
def wake_node(net, node):
    """Let a router take part from the next time the nodes are stepped."""
    words_at(net.active_at)[node // NODES_PER_WORD] |= 1 << (node % NODES_PER_WORD)


@compiled()
def report(net, kind, packet, node, time):
    """Tell the network's user that a packet's head (BEGUN) or tail (LEFT) leaves its NIU, or its tail is in one (ARRIVED)."""
    e = events_of(net)[net.n_events]
    e.kind, e.packet, e.node, e.time = kind, packet, node, time
    net.n_events += 1


@compiled()
def hand_on(net, output, packet, latency):
    """Put a flit on the wire of an output VC."""
    c = channels_of(net)[output]
    c.credits -= 1
    words_at(net.pools_at)[output // net.vcs] += c.credits < net.buffer - 1
    slot = (net.now + latency) % net.span
    counts, wires = words_at(net.wire_counts_at), words_at(net.wires_at)
    at = 2 * (slot * net.wire_room + counts[slot])
    wires[at], wires[at + 1] = c.downstream, packet
    counts[slot] += 1


@compiled()
def leave_buffer(net, c):
    """The front flit of input VC `c` goes, and its place goes back to the router before as a credit."""
    c.first = c.first + 1 if c.first + 1 < net.buffer else 0
    c.count -= 1
    slot, counts = (net.now + net.credit) % net.span, words_at(net.credit_counts_at)
    words_at(net.credits_at)[slot * net.wire_room + counts[slot]] = c.upstream
    counts[slot] += 1


@compiled(inline="always")
def has_room(net, output):
    """Whether the buffer behind an output VC takes a flit: its own place is free, or one that the VCs of the port share."""
    credits = channels_of(net)[output].credits
    return credits == net.buffer or (credits > 0 and words_at(net.pools_at)[output // net.vcs] < net.shared)


@compiled()
def take_port(net, node, first):
    """Whether a flit may pass the L1 port of the node's tile in this cycle; heads are not stored and pass freely."""
    tile = nodes_of(net)[node].l1_port
    if first or tile == NONE:
        return True
    ports = words_at(net.ports_at)
    if ports[tile] >= (net.now + 1) * PORT_TICKS:
        return False
    ports[tile] = max(ports[tile], net.now * PORT_TICKS) + net.port_ticks
    return True


@compiled()
def dram_queue_takes(net, packet, sent):
    """Whether the write queue of the DRAM channel takes the next flit of a write, of which `sent` are in it.

    Channels serve packets in the order of their heads, each at its rate; the queue has room for
    the last `dram_queue_room` ticks of data.
    """
    p = packets_of(net)[packet]
    if p.dram_queue == NONE:
        return True
    if sent == 0:
        queues = words_at(net.ports_at)
        p.drained = queues[p.dram_queue] = max(queues[p.dram_queue], net.now * PORT_TICKS) + p.dram_queue_ticks
        return True
    left = (p.flits - 1 - sent) * p.dram_queue_ticks // (p.flits - 1)
    return (p.drained - left - p.dram_queue_room) // PORT_TICKS <= net.now + 1


@compiled()
def dram_port_takes(net, node, packet, sent):
    """Whether the port of a node's DRAM tile, if it is slower than a link, takes a data flit of a write in this cycle."""
    if packets_of(net)[packet].dram_queue == NONE or sent == 0 or net.dram_port_ticks <= PORT_TICKS:
        return True
    ports, at = words_at(net.ports_at), net.dram_ports + node
    if ports[at] >= (net.now + 1) * PORT_TICKS:
        return False
    ports[at] = max(ports[at], net.now * PORT_TICKS) + net.dram_port_ticks
    return True
