"""What routers and kernels agree upon: the packet header, the words in an Ethernet tile's L1, and the state of a router.

The state of a chip's routers is one `FABRIC` record and a table of `ROUTER` records.  Slots, headers and counters lie in the
tile's own L1, where packets of the NoC reach them as they reach any other.
"""

import numpy as np

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.event_heap import CLOCK
from tensim.sim.engine.memory import load_u32
from tensim.sim.engine.tables import table

MAX_CHANNELS = 4  # sender channels: the workers' and one for each other direction
NORTH, SOUTH, EAST, WEST = range(4)
N_DIRECTIONS = 4
MAX_SLOTS = 32  # of a receiver channel
PROCESSORS = 2

# --- words of a packet header, uint32; addresses are of the NoC and take two
HEADER_BYTES = 48  # that kernels write; the rest of a longer header (`FABRIC.header_bytes`) is only on the wire
ADDRESS, SECOND, VALUE, FLAGS, SIZES, COUNT, PAYLOAD, ROUTE = 0, 2, 4, 5, 8, 9, 10, 11
# PAYLOAD: bytes | send type << 16.  A scatter write has up to four addresses from ADDRESS on, and three 16-bit sizes from SIZES
# on, behind which the top half of COUNT says: number of chunks | what each is << 8, in two bits.
TYPE_SHIFT = 16
UNICAST_WRITE, INLINE_WRITE, ATOMIC_INC, FUSED_ATOMIC_INC, SCATTER_WRITE = range(1, 6)
CHUNKS = 4
CHUNK_WRITE, CHUNK_INC, CHUNK_INC_FLUSH = 1, 2, 3  # an increment adds its size
TWO_WRITES = 2 | (CHUNK_WRITE | CHUNK_WRITE << 2) << 8
FLUSH = 1  # of FLAGS: the increment follows when the payload has been written
# A route on a line: chips to the first receiver | receivers << 8.  In a mesh: hops to the north, south, east and west, 7 bits
# each, with MESH and, when every chip on the way (and on the branches to east and west) receives it, EVERYONE.  On a line, with
# SPARSE, a bit says of each chip whether it receives it, the next one's first.
MESH, EVERYONE = 1 << 31, 1 << 30
SPARSE = EVERYONE

# --- words in the L1 of an Ethernet tile, 16 bytes apart.  Per sender channel: how many packets have been written; the NoC address
# at which the sender counts credits, behind which a worker writes 1 when it opens.  Per downstream router: the credits that have
# come back from it
FIRST_WORD, STRIDE = 0x10000, 16  # behind what firmware keeps for itself
OPENED = 8  # behind the address of credits
NOTIFIED, CREDITS_AT, RETURNED = FIRST_WORD, FIRST_WORD + STRIDE * MAX_CHANNELS, FIRST_WORD + 2 * STRIDE * MAX_CHANNELS
FIRST_SLOT = FIRST_WORD + 0x1000

# --- events: CLOCK - 1 - (router * KINDS + kind)
KINDS = 16
# A processor's turn (+ processor), a packet has arrived, something is to be looked at, a completion or an acknowledgement of a
# sender channel (+ channel) has arrived
TURN, PACKET, WAKE, COMPLETION, ACKNOWLEDGEMENT = 0, 2, 3, 4, 8

ROUTER = np.dtype(
    [(name, np.int64) for name in (
        "core thread tile direction straight peer_machine peer n_channels tx_base rx_base "
        "sent completed arrived accepted started finished awaiting_flush stood_since sending alarm free_at "
        "packets bytes busy_cycles full_cycles full_since"
    ).split()]
    + [("downstream", np.int64, 4)]  # router in that direction, of this chip, -1: none
    + [("channel_of", np.int64, 4)]  # sender channel there
    + [("noc_of", np.int64, 4)]  # by which packets go there
    + [(name, np.int64, MAX_CHANNELS) for name in "slot_sent returned acknowledged freed opened".split()]
    + [(name, np.int64, 4) for name in ["forwarded"]]
    + [("channel", np.int64, MAX_SLOTS)]  # that a packet in a receiver slot came from
    + [(name, np.int64, PROCESSORS) for name in "step idle asleep slept_at worked".split()],
    align=True,
)  # fmt: skip
# straight: the direction in which packets of a line go on, which is `direction` but at the corner of a line that turns; peer: the
# router at the other end of the link, on the chip whose record is at `peer_machine`; sent, completed: packets over the
# link, and of them those whose receiver slot is free again; arrived, accepted, started, finished: packets in the receiver channel,
# those acknowledged at the first level, those looked at and those whose slot is free; awaiting_flush: 1 + slot of a packet whose
# increment waits for its payload, or 0; sending: the cycle from which the transmit queue takes another payload; alarm: the last
# cycle at which an event is due for what is known to come; free_at: the cycle from which the line is free; full_cycles: while
# packets waited and the other side had no slot, or all slots of the worker were on their way, since `full_since` (-1: not so);
# worked: cycles of a processor's steps that did something, waits for acknowledgements included, the last of which began at
# `stood_since`; opened: packets of a channel before its worker opened it

# Cycles of the firmware's steps, of the line, and sizes (`ethernet.router` and `ethernet.line` in sim/arch); wire_1024: cycles a
# byte, times 1024; first_level_ack: 1 when a slot is free for its writer when the packet has arrived, not when it has been
# written; queued: payloads that the transmit queue holds beside the one on the
# line; worker_slots, tx_slots: of the sender channel of workers and of each other one; injection_slots: free receiver slots that
# the workers' channel needs to send; transaction_ids: that the writes of packets have in turn
FABRIC = np.dtype(
    [(name, np.int64) for name in (
        "routers_at n_routers processors mesh worker_slots tx_slots rx_slots slot_bytes header_bytes max_payload "
        "wire_1024 frame_bytes frame_overhead line_latency signal_cycles signal_latency look_ahead queued "
        "poll_sender poll_receiver send credit write chunk increment forward complete acknowledge flush_look "
        "first_level_ack injection_slots write_noc credit_noc transaction_ids"
    ).split()],
    align=True,
)  # fmt: skip

router_table, fabric_table = table(ROUTER), table(FABRIC)


@compiled(inline="always")
def fabric_of(m):
    return fabric_table(m.fabric_at)[0]


@compiled(inline="always")
def routers_of(m):
    return router_table(fabric_table(m.fabric_at)[0].routers_at)


@compiled(inline="always")
def event_of(router, kind):
    """The event of a router in the engine's heap."""
    return CLOCK - 1 - (router * KINDS + kind)


@compiled(inline="always")
def type_of(header):
    """How the packet with a header at a host address is to be written."""
    return (load_u32(header + 4 * PAYLOAD) >> TYPE_SHIFT) & 255


@compiled(inline="always")
def payload_of(header):
    """Bytes of payload of the packet with a header at a host address."""
    return load_u32(header + 4 * PAYLOAD) & ((1 << TYPE_SHIFT) - 1)


@compiled(inline="always")
def l1_of(m, r):
    """Host address of the L1 of a router's tile."""
    return m.l1_at + r.core * m.l1_size


@compiled(inline="always")
def sender_slot(f, r, channel, count):
    """Offset in L1 of the slot of packet `count` of a sender channel; who opens it begins with its first slot."""
    before = 0 if channel == 0 else f.worker_slots + (channel - 1) * f.tx_slots
    return r.tx_base + (before + (count - r.opened[channel]) % sender_slots(f, channel)) * f.slot_bytes


@compiled(inline="always")
def sender_slots(f, channel):
    """Slots of a sender channel; the first is that of workers."""
    return f.worker_slots if channel == 0 else f.tx_slots


@compiled(inline="always")
def transaction_id(f, slot):
    """That the writes of the packet in a receiver slot have."""
    return slot % f.transaction_ids


@compiled(inline="always")
def receiver_slot(f, r, count):
    """Offset in L1 of the slot of packet `count` of the receiver channel."""
    return r.rx_base + count % f.rx_slots * f.slot_bytes


def look_ahead(arch):
    """Cycles by which a chip may run ahead of another one that sends nothing: what that sends next is there no sooner."""
    return min(arch["ethernet.line_latency"], arch["ethernet.signal_latency"])
