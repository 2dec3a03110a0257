"""The state of the flit model as data: one record of sizes, clock and addresses, the routers, and views of them.

`build` makes an idle network.  Times are cycles.  An input virtual channel (VC) of a router has a number (`number_of`), so has
an output VC, which leads to the input VC of the same number of the next router.  Sets of input VCs are the bits of a word.
All of a router lies together, what a flit touches in few cache lines: an output is one, an input VC a quarter, an output VC a
sixteenth of one.
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
MAX_PORTS, MAX_CLASSES, MOST_FLITS = 5, 4, 32767
PORT_VCS = 12  # numbers of VCs per port; behind those of all ports one per port for its VC of multicasts
OF_PORT = (1 << PORT_VCS) - 1  # bit set of the VCs of port 0
MULTICASTS = MAX_PORTS * PORT_VCS
NOBODY = 63  # holder of a free output VC: the bit of no input VC
INDEX_BITS, PORT_BITS = 6, 3  # of a word on a wire: node, port, input VC
UNLIMITED = 1 << 62
NEVER = 1 << 62  # a cycle
NODES_PER_WORD = 62  # of the bit set of routers at work
TREE_NODES = 15  # per word of a multicast tree, four bits each
TREES_PER_NIU = 6  # one that drains, one with its path, and those of four command buffers that wait
BEGUN, LEFT, ARRIVED = 0, 1, 2
EVENTS_PER_NODE = 4  # in a cycle: one of each, and BEGUN of a multicast that reserves its path

WORD, NUMBER = np.dtype(np.int64), np.dtype(np.int32)
_ARRAYS = "packets routers queued wires credits events active links ports trees reserved occupied".split()
NETWORK = np.dtype(
    [(name, np.int64) for name in (
        "kind width height n_nodes classes ports local vcs_of_class buffer shared credit hop inject eject "
        "reallocation port_ticks dram_ports dram_port_ticks span slot_bytes words tree_words now stepped in_flight moved n_events "
        "first_output hop_slot inject_slot credit_slot backoff_cycles backoff_doublings backoff_seed due"
    ).split()]
    + [(f"{name}_at", np.int64) for name in _ARRAYS]
)  # fmt: skip
PACKET = in_cache_lines(
    [
        ("arrived", "i8"),  # cycle in which its head reaches the present router
        ("ready", "i8"),  # cycle from which it may leave its source
        ("begun", "i8"),  # cycle in which its head left
        ("emission", "i8"),  # cycles its source needs for it
        ("source", "i4"),
        ("target", "i4"),
        ("flits", "i4"),
        ("sent", "i4"),  # of these, how many have left the source
        ("next", "i4"),  # in the queue of its NIU, or NONE
        ("tree", "i4"),  # of a multicast, or NONE
        ("dram_queue", "i4"),  # write queue of the DRAM channel it goes to, as an index of `ports`, or NONE
        ("group", "i1"),  # its class
        ("dateline", "i1"),  # 1: behind the wrap of the ring
        ("static_vc", "i1"),  # the VC of its class and side of the dateline that it keeps to, or ANY
        ("awaits_response", "i1"),  # 1: a read request from another tile
        ("dram_queue_ticks", "i8"),  # time it takes of that channel
        ("dram_queue_room", "i8"),  # time that as many writes like it take as the queue has room for
        ("drained", "i8"),  # when the channel has taken all of it
        ("supplied", "i8"),  # cycle by which a DRAM channel has given all of its data, or 0
        ("receivers", "i4"),
        ("rest", "i4"),  # cycles for which its NIU rests before it reserves the path of this multicast
        ("delay", "i4"),  # cycles that reserving it takes
        ("is_response", "i1"),  # 1: the data that a read request asked for
        ("linked", "i1"),  # 1: the path of a multicast is open
        ("keep", "i1"),  # 1: and stays so
        ("stage", "i1"),  # of a multicast at the front of its queue
    ]
)
NODE = in_cache_lines(
    [
        ("due", "i8", MAX_CLASSES),  # cycle from which the first packet of each class's queue may go on, or NEVER
        ("head", "i4", MAX_CLASSES),  # that packet, or NONE
        ("tail", "i4", MAX_CLASSES),  # the last one of the queue
        ("number", "i4"),
        ("link", "i4"),  # of output 0 in `links`; the one before is that from the NIU
        ("asked", "i4"),  # bit set of outputs with a flit for them
        ("needs", "i4"),  # bit set of outputs with a packet that has no VC of it yet
        ("soonest", "i8"),  # of `due`
        ("retry", "i8"),  # last cycle in which one of these may get what it did not get before
        ("multicasts", "i4"),  # bit set of input ports with a multicast flit
        ("next_class", "i4"),  # the one whose turn it is to send
        ("bit", "i8"),  # of this router in its word of `active`
        ("word", "i4"),
        ("l1_port", "i4"),  # the tile whose L1 is behind the NIU, or NONE
        ("requests", "i4"),  # read requests that the NIU buffers
        ("draining", "i4"),  # receivers that the NIU's last multicast has not reached
        ("draws", "i8"),  # of random numbers
        ("free", "i8"),  # cycle from which the tail of its last multicast has left
        ("tree", "i4"),  # the last one of its trees
        ("attempts", "i4"),  # to reserve the path of the multicast at the front of its queue
        ("noc", "i4"),
        ("x", "i4"),
        ("y", "i4"),
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
        ("next", "i4"),  # word of the input VC behind its VC with the number 0
        ("held", "i4"),  # bit set of VCs that a packet holds
        ("turn", "i4"),  # the input VC whose turn it is
    ]
)
INPUT_VC = np.dtype(
    [
        ("packet", "i4"),  # at the front, which may be on its way to the buffer yet, or NONE
        ("before", "i4"),  # word of the output VC that leads here
        ("flits", "i2"),  # of the front packet
        ("sent", "i2"),  # of these, how many have left
        ("count", "i2"),  # flits in the buffer
        ("out", "i1"),  # output given to the packet, or NONE
        ("out_vc", "i1"),  # VC of it
    ]
)
OUTPUT_VC = np.dtype(
    [
        ("credits", "i2"),  # room behind it, of which other VCs may have taken some (`has_room`)
        ("holder", "i2"),  # input VC that sends through it, or NOBODY; itself if that is no unicast from a router
    ]
)
# of packets behind the front one of an input VC: a ring in `queued`
QUEUE = np.dtype([("first", "i2"), ("count", "i2")])
_NUMBERS = 1 << INDEX_BITS  # of input VCs and output VCs for which a router has room
ROUTER = np.dtype(
    [
        ("node", NODE),
        ("outputs", OUTPUT, MAX_PORTS),
        ("output_vcs", OUTPUT_VC, _NUMBERS),
        ("input_vcs", INPUT_VC, _NUMBERS),
        ("queues", QUEUE, _NUMBERS),
        ("freed", "i8", _NUMBERS),  # cycle in which the last tail left an output VC
    ]
)


def _offset(record: np.dtype, name: str) -> int:
    assert record.fields is not None
    return record.fields[name][1]


ROUTER_BYTES, DUE_AT = ROUTER.itemsize, _offset(NODE, "due")
OUTPUTS_AT, OUTPUT_VCS_AT, INPUT_VCS_AT, QUEUES_AT, FREED_AT = (
    _offset(ROUTER, name) for name in ("outputs", "output_vcs", "input_vcs", "queues", "freed")
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
        net["classes"], net["ports"], net["local"], net["vcs_of_class"] = classes, ports, ports - 1, vcs // classes
        net["buffer"], net["hop"], net["inject"], net["eject"] = buffer, hop, inject, eject
        net["shared"], net["credit"] = shared, credit
        net["words"], net["tree_words"] = -(-n_nodes // NODES_PER_WORD), -(-n_nodes // TREE_NODES)
        net["now"], net["stepped"], net["due"] = -1, -1, NONE
        trees = n_nodes * TREES_PER_NIU if multicast else 0
        slot_words, span = 1 + n_nodes * ports, 1 << max(hop, inject, credit).bit_length()
        net["span"], net["slot_bytes"] = span, slot_words * NUMBER.itemsize
        self.place("queued", np.zeros(n_nodes * _NUMBERS * buffer, NUMBER))
        self.place("links", np.zeros(n_nodes * (ports + 1), LINK_DTYPE))
        for name in ("wires", "credits"):
            self.place(name, np.zeros((span, slot_words), NUMBER))
        self.place("events", np.zeros(EVENTS_PER_NODE * n_nodes, EVENT))
        self.place("active", np.zeros(int(net["words"]), WORD))
        self.place("trees", np.zeros(trees * int(net["tree_words"]), WORD))
        for name in ("reserved", "occupied"):
            self.place(name, np.zeros(int(net["tree_words"]), WORD))
        self.arrays["links"]["requests"] = np.iinfo(LINK_DTYPE["requests"]).max
        self._place_routers(n_nodes, ports)

    def place(self, name, array):
        """Keep an array alive and tell the network its address."""
        self.arrays[name] = array
        self.net[f"{name}_at"] = array.ctypes.data

    def place_packets(self, packets):
        """Use this array of `PACKET` from now on."""
        self.place("packets", packets)

    def _place_routers(self, n_nodes, ports):
        routers, number, index = zeros_in_cache_lines(n_nodes, ROUTER), np.arange(n_nodes), np.arange(_NUMBERS)
        nodes, outputs = routers["node"], routers["outputs"]
        nodes["number"], nodes["link"] = number, number * (ports + 1) + 1
        nodes["word"], nodes["bit"] = number // NODES_PER_WORD, 1 << number % NODES_PER_WORD
        nodes["head"] = nodes["tail"] = nodes["l1_port"] = NONE
        nodes["due"] = nodes["soonest"] = NEVER
        outputs["all_room"] = outputs["some_room"] = -1  # of those without a holder it does not matter
        routers["input_vcs"]["packet"] = routers["input_vcs"]["out"] = NONE
        routers["output_vcs"]["credits"] = self.net["buffer"]
        alone = (index >= MULTICASTS) | (index // PORT_VCS == ports - 1)
        routers["output_vcs"]["holder"] = np.where(alone, index, NOBODY)
        self.place("routers", routers)
        self.connect(ports - 1, number, 0)

    def connect(self, port, following, wraps):
        """Lead output `port` of every node to the same input port of the nodes `following`; `wraps`: by node."""
        routers, nodes, index = self.arrays["routers"], np.arange(len(following)), np.arange(_NUMBERS)
        mine = index[(index // PORT_VCS == port) | (index == MULTICASTS + port)]
        word = port << INDEX_BITS
        routers["outputs"]["next"][:, port] = following << (PORT_BITS + INDEX_BITS) | word
        routers["input_vcs"]["before"][following[:, None], mine] = (nodes << (PORT_BITS + INDEX_BITS) | word)[
            :, None
        ] | mine
        self.arrays["links"]["wraps"][routers["node"]["link"] + port] = wraps


def _grid(network, width, height, parts):
    """Set the place of every node; returns (x, y, index of the part's first node)."""
    tile = np.arange(parts * width * height) % (width * height)
    nodes = network.arrays["routers"]["node"]
    nodes["noc"] = np.arange(len(nodes)) // (width * height)
    nodes["x"], nodes["y"] = tile % width, tile // width
    return nodes["x"], nodes["y"], nodes["noc"] * width * height


def build(kind, width, height, *, vcs=4, classes=1, buffer=8, hop=9, inject=5, eject=5):
    """An idle mesh or torus with links in both directions and the NIU of a node at its fifth port.

    `vcs`: per port, a multiple of `classes`, with an even number per class on rings; `buffer`: flits per VC; latencies in
    cycles: `hop` from router to router, `inject` and `eject` between NIU and router.  ValueError for figures no network
    can have.
    """
    if not 1 <= classes <= MAX_CLASSES or vcs % classes or (kind != MESH and vcs // classes % 2) or vcs > PORT_VCS:
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
    step = 1 - 2 * network.arrays["routers"]["node"]["noc"]
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
def router_of(net, node):
    """Address of a router."""
    return net.routers_at + node * ROUTER_BYTES


@compiled(inline="always")
def router_at(net, word):
    """Address of the router of a word on a wire."""
    return net.routers_at + (word >> (INDEX_BITS + PORT_BITS)) * ROUTER_BYTES


@compiled(inline="always")
def number_of(port, vc):
    """Number of an input VC or output VC for unicasts."""
    return port * PORT_VCS + vc


@compiled(inline="always")
def port_of(index):
    """The port of the input VC for unicasts with this number."""
    return index // PORT_VCS


@compiled(inline="always")
def number_in(word):
    """Number of the input VC or output VC of a word on a wire."""
    return word & ((1 << INDEX_BITS) - 1)


@compiled(inline="always")
def port_in(word):
    """The port of a word on a wire."""
    return word >> INDEX_BITS & ((1 << PORT_BITS) - 1)


@compiled(inline="always")
def node_at(router):
    return node_table(router)[0]


@compiled(inline="always")
def due_at(router):
    """`due` of a node, by class."""
    return words_at(router + DUE_AT)


@compiled()
def set_due(router, group, time):
    """The first packet of a class's queue may go on from this cycle; NEVER: there is none."""
    due = due_at(router)
    due[group] = time
    node_at(router).soonest = min(min(due[0], due[1]), min(due[2], due[3]))


@compiled(inline="always")
def output_at(router, out):
    return output_table(router + OUTPUTS_AT)[out]


@compiled(inline="always")
def input_vc_at(router, index):
    return input_vc_table(router + INPUT_VCS_AT)[index]


@compiled(inline="always")
def output_vc_at(router, index):
    return output_vc_table(router + OUTPUT_VCS_AT)[index]


@compiled(inline="always")
def freed_at(router):
    """Cycles in which the last tail left, by output VC."""
    return words_at(router + FREED_AT)


@compiled(inline="always")
def link_behind(net, n, out):
    """The link of an output of node `n`, or from its NIU (-1)."""
    return link_table(net.links_at)[n.link + out]


@compiled(inline="always")
def events_of(net):
    return event_table(net.events_at)


@compiled(inline="always")
def wake(net, n):
    """Let the router of node `n` take part from the next time the nodes are stepped."""
    words_at(net.active_at)[n.word] |= n.bit


@compiled()
def report(net, kind, packet, node, time):
    """Tell the network's user that a packet's head (BEGUN) or tail (LEFT) leaves its NIU, or its tail is in one (ARRIVED)."""
    e = events_of(net)[net.n_events]
    e.kind, e.packet, e.node, e.time = kind, packet, node, time
    net.n_events += 1


@compiled(inline="always")
def slot_at(net, wheel, time):
    """Address of the words of a cycle in `net.wires_at` or `net.credits_at`: how many, then these."""
    return wheel + (time & (net.span - 1)) * net.slot_bytes


@compiled(inline="always")
def put(slot, word):
    """Add a word to a slot."""
    words = numbers_at(slot)
    n = words[0] + 1
    words[n] = word
    words[0] = n


@compiled(forceinline=True)
def hand_on(net, router, o, index, slot):
    """Put a flit on the wire of the VC of output `o` with the number `index`, to be there in the cycle of `slot`."""
    v = output_vc_at(router, index)
    bit = 1 << v.holder
    o.taken += v.credits < net.buffer
    o.all_room &= ~bit
    v.credits -= 1
    if v.credits == 0:
        o.some_room &= ~bit
    put(slot, o.next + index)


@compiled(forceinline=True)
def leave_buffer(net, c):
    """The front flit of input VC `c` goes, and its place goes back to the router before as a credit."""
    c.count -= 1
    c.sent += 1
    put(net.credit_slot, c.before)


@compiled()
def join_buffer(net, o, index, packet, flits):
    """The head of a packet sets out for the buffer behind a VC of output `o`: it will be at the front after those before it."""
    router = router_at(net, o.next)
    c = input_vc_at(router, index)
    if c.packet == NONE:
        c.packet, c.flits = packet, flits
        return
    q = queue_table(router + QUEUES_AT)[index]
    at = q.first + q.count
    ring_of(net, router, index)[at - net.buffer if at >= net.buffer else at] = packet
    q.count += 1


@compiled()
def next_in_buffer(net, router, index, c):
    """The tail of the front packet of input VC `c` has left: the one behind it is at the front."""
    q = queue_table(router + QUEUES_AT)[index]
    c.sent, c.out = 0, NONE
    if q.count == 0:
        c.packet = NONE
        return
    c.packet = ring_of(net, router, index)[q.first]
    c.flits = packets_of(net)[c.packet].flits
    q.first = q.first + 1 if q.first + 1 < net.buffer else 0
    q.count -= 1


@compiled(inline="always")
def ring_of(net, router, index):
    """The packets behind the front one of an input VC; see `QUEUE`."""
    first = ((node_at(router).number << INDEX_BITS) + index) * net.buffer
    return numbers_at(net.queued_at + first * 4)


@compiled(inline="always")
def with_room(net, o):
    """Input VCs behind whose VC of output `o` the buffer takes a flit: its own place is free, or one that VCs share."""
    return o.all_room | (o.some_room if o.taken < net.shared else 0)


@compiled(inline="always")
def has_room(net, o, index):
    """Whether the buffer behind a VC of output `o` that holds itself takes a flit."""
    return with_room(net, o) >> index & 1 != 0


@compiled()
def take_port(net, n, first):
    """Whether a flit may pass the L1 port of node `n`'s tile in this cycle; heads are not stored and pass freely."""
    tile = n.l1_port
    if first or tile == NONE:
        return True
    ports = words_at(net.ports_at)
    if ports[tile] >= (net.now + 1) * PORT_TICKS:
        return False
    ports[tile] = max(ports[tile], net.now * PORT_TICKS) + net.port_ticks
    return True


@compiled()
def dram_queue_takes(net, p, sent):
    """Whether the write queue of the DRAM channel takes the next flit of write `p`, of which `sent` are in it.

    Channels serve packets in the order of their heads, each at its rate; the queue has room for
    the last `dram_queue_room` ticks of data.
    """
    if p.dram_queue == NONE:
        return True
    if sent == 0:
        queues = words_at(net.ports_at)
        p.drained = queues[p.dram_queue] = max(queues[p.dram_queue], net.now * PORT_TICKS) + p.dram_queue_ticks
        return True
    left = (p.flits - 1 - sent) * p.dram_queue_ticks // (p.flits - 1)
    return (p.drained - left - p.dram_queue_room) // PORT_TICKS <= net.now + 1


@compiled()
def dram_port_takes(net, node, p, sent):
    """Whether the port of a node's DRAM tile, if it is slower than a link, takes a data flit of write `p` in this cycle."""
    if p.dram_queue == NONE or sent == 0 or net.dram_port_ticks <= PORT_TICKS:
        return True
    ports, at = words_at(net.ports_at), net.dram_ports + node
    if ports[at] >= (net.now + 1) * PORT_TICKS:
        return False
    ports[at] = max(ports[at], net.now * PORT_TICKS) + net.dram_port_ticks
    return True
