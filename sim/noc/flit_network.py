"""The state of the flit model as data: one record of sizes, clock and the addresses of the arrays, with views of them.

`build` makes an idle network.  Times are cycles.  An input virtual channel (VC) of a router has the number port * vcs + VC, so
has an output VC, which leads to the input VC of the same number of the next router.  Sets of input VCs are the bits of a word.
What a flit touches lies close together: an output port is one cache line, an input VC a quarter of one.
"""

import numpy as np

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import in_cache_lines, zeros_in_cache_lines
from tensim.sim.engine.tables import table
from tensim.sim.noc.packet_state import LINK_DTYPE, PORT_TICKS

MESH, TORUS, CHIP = 0, 1, 2  # a chip's network is two unidirectional tori
NONE = -1
ANY = -1  # VC of its class
RESPONSES = 1  # class of a chip's network; the other ones are requests
MAX_PORTS, MAX_CLASSES, MOST_INPUTS, MOST_FLITS = 5, 4, 62, 32767
NOBODY = 62  # holder of a free output VC: the bit of no input VC
INDEX_BITS, PORT_BITS = 6, 3  # of a word on a wire: node, port, input VC
UNLIMITED = 1 << 62
NEVER = 1 << 62  # a cycle
NODES_PER_WORD = 62  # of the bit set of routers at work
TREE_NODES = 15  # per word of a multicast tree, four bits each
TREES_PER_NIU = 4  # one that drains and those that wait
BEGUN, LEFT, ARRIVED = 0, 1, 2
EVENTS_PER_NODE = 4  # in a cycle: one of each, and BEGUN of a multicast that reserves its path

WORD, NUMBER = np.dtype(np.int64), np.dtype(np.int32)
_ARRAYS = (
    "packets nodes outputs input_vcs output_vcs freed queues queued port_of wires wire_counts credits credit_counts events active "
    "links ports trees reserved occupied"
).split()
NETWORK = np.dtype(
    [(name, np.int64) for name in (
        "kind width height n_nodes classes ports vcs vcs_of_class multicast_vc inputs buffer shared credit "
        "hop inject eject "
        "reallocation port_ticks dram_ports dram_port_ticks span wire_room words tree_words now stepped in_flight moved n_events "
        "first_output backoff_cycles backoff_doublings backoff_seed due"
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
NODE = in_cache_lines(
    [
        ("due", "i8", MAX_CLASSES),  # cycle from which the first packet of each class's queue may go on, or NEVER
        ("head", "i4", MAX_CLASSES),  # that packet, or NONE
        ("tail", "i4", MAX_CLASSES),  # the last one of the queue
        ("noc", "i4"),
        ("x", "i4"),
        ("y", "i4"),
        ("l1_port", "i4"),  # the tile whose L1 is behind the NIU, or NONE
        ("next_class", "i4"),  # the one whose turn it is to send
        ("requests", "i4"),  # read requests that the NIU buffers
        ("multicasts", "i4"),  # bit set of input ports with a multicast flit
        ("draining", "i4"),  # receivers that the NIU's last multicast has not reached
        ("tree", "i4"),  # the last one of its trees
        ("attempts", "i4"),  # to reserve the path of the multicast at the front of its queue
        ("draws", "i8"),  # of random numbers
        ("free", "i8"),  # cycle from which the tail of its last multicast has left
    ]
)
# The one to the NIU stands, as the buffer behind it, for the wire from the NIU to the router.
OUTPUT = in_cache_lines(
    [
        ("request", "i8"),  # input VCs with a flit for it
        ("need", "i8"),  # input VCs whose front packet has no VC of it yet
        ("all_room", "i8"),  # input VCs in whose output VC no flit takes room
        ("some_room", "i8"),  # input VCs in whose output VC there is room, if the part that VCs share has some
        ("retry", "i8"),  # last cycle in which those of `need` may get what they did not get before
        ("taken", "i4"),  # flits in the shared part of the buffer behind it
        ("next", "i4"),  # the node behind it
        ("before", "i4"),  # the node whose output of the same number leads here
        ("held", "i4"),  # bit set of VCs that a packet holds
        ("turn", "i4"),  # the input VC whose turn it is
    ]
)
INPUT_VC = np.dtype(
    [
        ("packet", "i4"),  # at the front, which may be on its way to the buffer yet, or NONE
        ("flits", "i4"),  # of this packet
        ("sent", "i4"),  # of these, how many have left
        ("count", "i2"),  # flits in the buffer
        ("out", "i1"),  # output port given to the packet, or NONE
        ("out_vc", "i1"),  # VC of it
    ]
)
OUTPUT_VC = np.dtype(
    [
        ("credits", "i2"),  # room behind it, of which other VCs may have taken some (`has_room`)
        ("holder", "i2"),  # input VC that sends through it, or NOBODY; itself if that is no unicast from a router
    ]
)
QUEUE = np.dtype([("first", "i2"), ("count", "i2")])  # of packets behind the front one of an input VC: a ring in `queued`
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
        net["vcs_of_class"], net["vcs"], net["inputs"] = vcs // classes, all_vcs, ports * all_vcs
        net["multicast_vc"] = vcs if multicast else NONE
        net["buffer"], net["hop"], net["inject"], net["eject"] = buffer, hop, inject, eject
        net["shared"], net["credit"] = shared, credit
        net["span"], net["wire_room"] = 1 << max(hop, inject, credit).bit_length(), n_nodes * ports
        net["words"], net["tree_words"] = -(-n_nodes // NODES_PER_WORD), -(-n_nodes // TREE_NODES)
        net["now"], net["stepped"], net["due"] = -1, -1, NONE
        trees = n_nodes * TREES_PER_NIU if multicast else 0
        self.place("nodes", zeros_in_cache_lines(n_nodes, NODE))
        self._place_virtual_channels(n_nodes, ports, all_vcs, buffer)
        self.place("links", np.zeros(n_nodes * (ports + 1), LINK_DTYPE))
        for name in ("wire", "credit"):
            self.place(f"{name}s", np.zeros(int(net["span"] * net["wire_room"]), NUMBER))
            self.place(f"{name}_counts", np.zeros(int(net["span"]), WORD))
        self.place("events", np.zeros(EVENTS_PER_NODE * n_nodes, EVENT))
        self.place("active", np.zeros(int(net["words"]), WORD))
        self.place("trees", np.zeros(trees * int(net["tree_words"]), WORD))
        for name in ("reserved", "occupied"):
            self.place(name, np.zeros(int(net["tree_words"]), WORD))
        self.arrays["links"]["requests"] = np.iinfo(LINK_DTYPE["requests"]).max
        self.arrays["nodes"]["head"] = self.arrays["nodes"]["tail"] = NONE
        self.arrays["nodes"]["due"] = NEVER
        self.arrays["nodes"]["l1_port"] = NONE

    def place(self, name, array):
        """Keep an array alive and tell the network its address."""
        self.arrays[name] = array
        self.net[f"{name}_at"] = array.ctypes.data

    def place_packets(self, packets):
        """Use this array of `PACKET` from now on."""
        self.place("packets", packets)

    def _place_virtual_channels(self, n_nodes, ports, vcs, buffer):
        inputs = np.zeros(n_nodes * ports * vcs, INPUT_VC)
        inputs["packet"] = inputs["out"] = NONE
        outputs = np.zeros(len(inputs), OUTPUT_VC)
        index, multicast_vc = np.arange(len(inputs)) % (ports * vcs), self.net["multicast_vc"]
        outputs["credits"] = buffer
        own = (index // vcs == ports - 1) | (index % vcs == multicast_vc)
        outputs["holder"] = np.where(own, index, NOBODY)
        self.place("input_vcs", inputs)
        self.place("output_vcs", outputs)
        self.place("freed", np.zeros(len(outputs), WORD))
        self.place("queues", np.zeros(len(inputs), QUEUE))
        self.place("queued", np.zeros(len(inputs) * buffer, NUMBER))
        self.place("port_of", np.arange(ports * vcs, dtype=WORD) // vcs)
        ends = zeros_in_cache_lines(n_nodes * ports, OUTPUT)
        ends["next"] = ends["before"] = np.arange(n_nodes * ports) // ports  # the NIU's; `connect` sets the others
        ends["all_room"] = ends["some_room"] = -1  # of those without a holder it does not matter
        self.place("outputs", ends)

    def connect(self, port, following, wraps):
        """Lead output `port` of every node to the same input port of the nodes `following`; `wraps`: by node."""
        ports, nodes = int(self.net["ports"]), np.arange(len(following))
        outputs = self.arrays["outputs"].reshape(-1, ports)
        outputs["next"][:, port] = following
        outputs["before"][following, port] = nodes
        self.arrays["links"]["wraps"][nodes * (ports + 1) + 1 + port] = wraps


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
        or MAX_PORTS * vcs > MOST_INPUTS
    ):
        raise ValueError(f"{vcs} VCs cannot be shared by {classes} classes; rings need an even number for each")
    if min(hop, inject, buffer) < 1 or buffer > MOST_FLITS:
        raise ValueError(f"hop, inject and buffer are at least 1, buffer at most {MOST_FLITS}")
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

node_table, output_table, event_table = table(NODE), table(OUTPUT), table(EVENT)
input_vc_table, output_vc_table, queue_table = table(INPUT_VC), table(OUTPUT_VC), table(QUEUE)
packet_table, link_table, words_at, numbers_at = table(PACKET), table(LINK_DTYPE), table(WORD), table(NUMBER)


@compiled(inline="always")
def packets_of(net):
    return packet_table(net.packets_at)


@compiled(inline="always")
def nodes_of(net):
    return node_table(net.nodes_at)


@compiled(inline="always")
def outputs_of(net):
    """`ports` of each node."""
    return output_table(net.outputs_at)


@compiled(inline="always")
def input_vcs_of(net):
    """`inputs` of each node."""
    return input_vc_table(net.input_vcs_at)


@compiled(inline="always")
def output_vcs_of(net):
    """`inputs` of each node."""
    return output_vc_table(net.output_vcs_at)


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


@compiled(inline="always")
def wire_word(node, port, index):
    """An input VC, or an output VC of the same number, in one word."""
    return ((node << PORT_BITS) | port) << INDEX_BITS | index


@compiled()
def hand_on(net, node, out, vc, latency):
    """Put a flit on the wire of an output VC."""
    o, index = outputs_of(net)[node * net.ports + out], out * net.vcs + vc
    v = output_vcs_of(net)[node * net.inputs + index]
    v.credits -= 1
    bit = 1 << v.holder
    if v.credits == net.buffer - 1:
        o.all_room &= ~bit
    else:
        o.taken += 1
    if v.credits == 0:
        o.some_room &= ~bit
    slot = (net.now + latency) & (net.span - 1)
    counts = words_at(net.wire_counts_at)
    numbers_at(net.wires_at)[slot * net.wire_room + counts[slot]] = wire_word(o.next, out, index)
    counts[slot] += 1


@compiled()
def leave_buffer(net, node, index, c):
    """The front flit of input VC `c`, of that number, goes, and its place goes back to the router before as a credit."""
    c.count -= 1
    c.sent += 1
    port = words_at(net.port_of_at)[index]
    slot, counts = (net.now + net.credit) & (net.span - 1), words_at(net.credit_counts_at)
    numbers_at(net.credits_at)[slot * net.wire_room + counts[slot]] = wire_word(
        outputs_of(net)[node * net.ports + port].before, port, index
    )
    counts[slot] += 1


@compiled()
def join_buffer(net, node, out, vc, packet, flits):
    """The head of a packet sets out for the buffer behind an output VC: it will be at the front there after those before it."""
    channel = outputs_of(net)[node * net.ports + out].next * net.inputs + out * net.vcs + vc
    c = input_vcs_of(net)[channel]
    if c.packet == NONE:
        c.packet, c.flits = packet, flits
        return
    q = queue_table(net.queues_at)[channel]
    at = q.first + q.count
    numbers_at(net.queued_at)[channel * net.buffer + (at - net.buffer if at >= net.buffer else at)] = packet
    q.count += 1


@compiled()
def next_in_buffer(net, node, index):
    """The tail of the front packet of an input VC has left: the one behind it is at the front."""
    channel = node * net.inputs + index
    c, q = input_vcs_of(net)[channel], queue_table(net.queues_at)[channel]
    c.sent, c.packet = 0, NONE
    if q.count > 0:
        c.packet = numbers_at(net.queued_at)[channel * net.buffer + q.first]
        c.flits = packets_of(net)[c.packet].flits
        q.first = q.first + 1 if q.first + 1 < net.buffer else 0
        q.count -= 1


@compiled(inline="always")
def with_room(net, o):
    """Input VCs behind whose output VC of an output the buffer takes a flit: its own place is free, or one that VCs share."""
    return o.all_room | (o.some_room if o.taken < net.shared else 0)


@compiled(inline="always")
def has_room(net, o, index):
    """Whether the buffer behind the VC of output `o` that itself holds takes a flit."""
    return with_room(net, o) >> index & 1 != 0


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
