"""What a router's receiver writes over the NoC of its chip: payloads, words, increments, and packets for other routers.

Each write bears the receiver slot as its transaction id, so that the slot is free when no write with that id is under way.
"""

from tensim.sim.cores.fabric.layout import (
    ADDRESS,
    FIRST_CHUNK,
    HEADER_BYTES,
    INLINE_WRITE,
    NOTIFIED,
    PAYLOAD,
    ROUTE,
    SCATTER_WRITE,
    SECOND,
    STRIDE,
    UNICAST_WRITE,
    VALUE,
    fabric_of,
    l1_of,
    receiver_slot,
    routers_of,
    sender_slot,
)
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.niu.command_buffers import send_request
from tensim.sim.cores.niu.transactions import (
    moves,
    new_staging,
    new_transaction,
    staging_address,
    tile_at,
)
from tensim.sim.cores.niu.transfers import count_write
from tensim.sim.cores.threads import fail
from tensim.sim.cores.transfer_checks import check_target
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import copy_bytes, load_i64, load_u32, store_32
from tensim.sim.state import ATOMIC, INLINE, TILE_WORKER, WRITE, tiles_of, transactions_of

WRITE_NOC, CREDIT_NOC = (
    1,
    0,
)  # of what the receiver writes, and of credits; packets for other routers go the shorter way
OFFSET_BITS = 36
ALL_BYTES = 15


@compiled()
def write_bytes(m, r, slot, source, address, size, time):
    """One write of `size` bytes from the offset `source` of the router's L1 to a NoC address; False after a fault."""
    if size <= 0 or size > m.max_packet:
        fail(m, r.thread, Fault.FABRIC_PAYLOAD, size, m.max_packet, 0)
        return False
    tile = tile_at(m, r.thread, address)
    offset = address & ((1 << OFFSET_BITS) - 1)
    if tile < 0 or not check_target(m, r.thread, tile, offset, size, True):
        return False
    index = new_transaction(m, WRITE, r.thread, WRITE_NOC, r.tile, tile)
    x = transactions_of(m)[index]
    x.address, x.local, x.size, x.trid = offset, source, size, slot
    if moves(m, size):
        x.staging = new_staging(m, 1)
        copy_bytes(staging_address(m, x.staging), l1_of(m, r) + source, size)
    send_request(m, index, 1 + (size + m.flit_bytes - 1) // m.flit_bytes, time)
    count_write(m, r.thread, WRITE_NOC, slot, 0)
    return True


@compiled()
def write_word(m, r, kind, address, value, noc, time):
    """A word or an increment that nobody waits for; False after a fault."""
    tile = tile_at(m, r.thread, address)
    if tile < 0:
        return False
    offset = address & ((1 << OFFSET_BITS) - 1)
    if tiles_of(m)[tile].kind != TILE_WORKER or offset % 4 != 0:
        fail(m, r.thread, Fault.ATOMIC_NOT_L1, address, 0, 0)
        return False
    if not check_target(m, r.thread, tile, offset, 4, True):
        return False
    index = new_transaction(m, kind, r.thread, noc, r.tile, tile)
    x = transactions_of(m)[index]
    x.address, x.size, x.value, x.posted = offset, 4, value, 1
    send_request(m, index, 1, time)
    if kind == INLINE:
        count_write(m, r.thread, noc, -1, 1)
    return True


@compiled()
def deliver(m, r, slot, time):
    """Write what a packet in a receiver slot brings for this chip; returns the cycles of the firmware, -1 after a fault.

    The increment that follows a payload is not made here when it has to wait for it.
    """
    f = fabric_of(m)
    at = receiver_slot(f, r, slot)
    header = l1_of(m, r) + at
    kind, payload, address = load_u32(header), load_u32(header + 4 * PAYLOAD), load_i64(header + 4 * ADDRESS)
    value, second = load_u32(header + 4 * VALUE), load_i64(header + 4 * SECOND)
    data = at + HEADER_BYTES
    if kind < UNICAST_WRITE or kind > SCATTER_WRITE or payload > f.max_payload:
        fail(m, r.thread, Fault.FABRIC_HEADER, kind, payload, f.max_payload)
        return -1
    if kind == INLINE_WRITE or kind > INLINE_WRITE and kind < SCATTER_WRITE and payload == 0:
        word = value | ALL_BYTES << 32 if kind == INLINE_WRITE else value
        if not write_word(
            m, r, INLINE if kind == INLINE_WRITE else ATOMIC, address, word, WRITE_NOC, time + f.increment
        ):
            return -1
        return f.increment
    if kind == SCATTER_WRITE:
        first = load_u32(header + 4 * FIRST_CHUNK)
        if not (
            write_bytes(m, r, slot, data, address, first, time + f.write)
            and write_bytes(m, r, slot, data + first, second, payload - first, time + f.write + f.chunk)
        ):
            return -1
        return f.write + f.chunk
    return f.write if write_bytes(m, r, slot, data, address, payload, time + f.write) else -1


@compiled()
def increment(m, r, slot, time):
    """The increment of a packet with payload; returns the cycles of the firmware, -1 after a fault."""
    f = fabric_of(m)
    header = l1_of(m, r) + receiver_slot(f, r, slot)
    done = write_word(
        m, r, ATOMIC, load_i64(header + 4 * SECOND), load_u32(header + 4 * VALUE), WRITE_NOC, time + f.increment
    )
    return f.increment if done else -1


@compiled()
def forward(m, r, slot, out, route, time):
    """Write the packet of a receiver slot into the next slot of the router in direction `out`; -1 after a fault.

    That slot is free.  The header has the new route there.
    """
    f = fabric_of(m)
    target = routers_of(m)[r.downstream[out]]
    channel = r.channel_of[out]
    source, place = receiver_slot(f, r, slot), sender_slot(f, target, channel, r.forwarded[out])
    copy_bytes(l1_of(m, target) + place, l1_of(m, r) + source, HEADER_BYTES)
    store_32(l1_of(m, target) + place + 4 * ROUTE, route)
    size = load_u32(l1_of(m, r) + source + 4 * PAYLOAD)
    noc = r.noc_of[out]
    index = new_transaction(m, WRITE, r.thread, noc, r.tile, target.tile)
    x = transactions_of(m)[index]
    x.address, x.local, x.trid = place + HEADER_BYTES, source + HEADER_BYTES, slot
    x.size = max(size, 4)
    if size > 0 and moves(m, size):
        x.staging = new_staging(m, 1)
        copy_bytes(staging_address(m, x.staging), l1_of(m, r) + x.local, size)
    flits = 1 + (size + f.header_bytes + m.flit_bytes - 1) // m.flit_bytes
    send_request(m, index, flits, time + f.forward)
    count_write(m, r.thread, noc, slot, 0)
    r.forwarded[out] += 1
    notified = NOTIFIED + STRIDE * channel
    index = new_transaction(m, ATOMIC, r.thread, noc, r.tile, target.tile)
    x = transactions_of(m)[index]
    x.address, x.size, x.value, x.posted = notified, 4, 1, 1
    send_request(m, index, 1, time + f.forward)
    return f.forward
