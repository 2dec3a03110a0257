"""What a router's receiver writes over the NoC of its chip: payloads, words, increments, and packets for other routers.

Each write bears a transaction id by its receiver slot: the slot is free when all writes with that id have left the tile.
"""

from tensim.sim.cores.fabric.layout import (
    ADDRESS,
    ATOMIC_INC,
    CHUNK_INC,
    CHUNK_INC_FLUSH,
    CHUNK_WRITE,
    CHUNKS,
    COUNT,
    FLAGS,
    FLUSH,
    FUSED_ATOMIC_INC,
    HEADER_BYTES,
    INLINE_WRITE,
    NOTIFIED,
    ROUTE,
    SCATTER_WRITE,
    SECOND,
    SIZES,
    STRIDE,
    UNICAST_WRITE,
    VALUE,
    fabric_of,
    l1_of,
    payload_of,
    receiver_slot,
    routers_of,
    sender_slot,
    transaction_id,
    type_of,
)
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.niu.payloads import take_from_l1
from tensim.sim.cores.niu.transactions import data_flits, new_transaction, send_request
from tensim.sim.cores.niu.transfers import count_write
from tensim.sim.cores.threads import fail
from tensim.sim.cores.transfer_checks import check_target, check_write, tile_at
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import copy_bytes, load_i64, load_u32, store_32
from tensim.sim.state import ATOMIC, INLINE, TILE_WORKER, WRITE, tiles_of, transactions_of

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
    if tile < 0 or not check_write(m, r.thread, tile, source, offset, size):
        return False
    index = new_transaction(m, WRITE, r.thread, fabric_of(m).write_noc, r.tile, tile)
    x = transactions_of(m)[index]
    x.address, x.local, x.size, x.trid = offset, source, size, transaction_id(fabric_of(m), slot)
    x.staging = take_from_l1(m, l1_of(m, r) + source, size, 1)
    send_request(m, index, -1, data_flits(m, size), time)
    count_write(m, r.thread, fabric_of(m).write_noc, x.trid, 0)
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
    send_request(m, index, -1, 1, time)
    if kind == INLINE:
        count_write(m, r.thread, noc, -1, 1)
    return True


@compiled()
def deliver(m, r, slot, time):
    """Write what a packet in a receiver slot brings for this chip; returns the cycles of the firmware, -1 after a fault.

    An increment that follows a payload, or that waits for what packets before have written, is not made here (`follows`).
    """
    f = fabric_of(m)
    at = receiver_slot(f, r, slot)
    header = l1_of(m, r) + at
    kind, payload, address = type_of(header), payload_of(header), load_i64(header + 4 * ADDRESS)
    value = load_u32(header + 4 * VALUE)
    if kind < UNICAST_WRITE or kind > SCATTER_WRITE:
        fail(m, r.thread, Fault.FABRIC_HEADER, kind, payload, f.max_payload)
        return -1
    if kind == ATOMIC_INC and follows(m, r, slot) == 2:
        return max(f.flush_look, 1)
    if kind == INLINE_WRITE or kind == ATOMIC_INC:
        word = value | ALL_BYTES << 32 if kind == INLINE_WRITE else value
        if not write_word(
            m, r, INLINE if kind == INLINE_WRITE else ATOMIC, address, word, f.write_noc, time + f.increment
        ):
            return -1
        return f.increment
    if kind == SCATTER_WRITE:
        return scatter(m, r, slot, time)
    return f.write if write_bytes(m, r, slot, at + HEADER_BYTES, address, payload, time + f.write) else -1


@compiled(inline="always")
def chunk_kind(header, chunk):
    """What a chunk of a scatter write is: 0 behind the last one."""
    words = load_u32(header + 4 * COUNT) >> 16
    return (words >> (8 + 2 * chunk)) & 3 if chunk < (words & 255) else 0


@compiled(inline="always")
def chunk_size(header, chunk):
    """The size of a chunk, or what an increment adds, as the header says: nothing of the last chunk."""
    return (load_u32(header + 4 * (SIZES + chunk // 2)) >> (16 * (chunk & 1))) & 0xFFFF if chunk < CHUNKS - 1 else 0


@compiled()
def scatter(m, r, slot, time):
    """The writes of a scatter packet and increments that wait for nothing; the last write has what is left of the payload."""
    f = fabric_of(m)
    at = receiver_slot(f, r, slot)
    header = l1_of(m, r) + at
    data, left, cycles = at + HEADER_BYTES, payload_of(header), 0
    for chunk in range(CHUNKS):
        kind, address = chunk_kind(header, chunk), load_i64(header + 4 * ADDRESS + 8 * chunk)
        if kind == CHUNK_WRITE:
            cycles += f.write if cycles == 0 else f.chunk
            last = chunk_kind(header, chunk + 1) != CHUNK_WRITE
            size = left if last else chunk_size(header, chunk)
            if size > left or not write_bytes(m, r, slot, data, address, size, time + cycles):
                if size > left:
                    fail(m, r.thread, Fault.FABRIC_PAYLOAD, size, left, 0)
                return -1
            data, left = data + size, left - size
        elif kind == CHUNK_INC:
            cycles += f.increment
            if not write_word(m, r, ATOMIC, address, chunk_size(header, chunk), f.write_noc, time + cycles):
                return -1
    return cycles


@compiled()
def follows(m, r, slot):
    """Whether an increment of a packet is still to be made, and whether it waits for all writes: 0, 1, 2."""
    header = l1_of(m, r) + receiver_slot(fabric_of(m), r, slot)
    flushes = load_u32(header + 4 * FLAGS) & FLUSH
    if type_of(header) == FUSED_ATOMIC_INC:
        return 2 if flushes else 1
    if type_of(header) == ATOMIC_INC and flushes:
        return 2
    if type_of(header) == SCATTER_WRITE:
        for chunk in range(CHUNKS):
            if chunk_kind(header, chunk) == CHUNK_INC_FLUSH:
                return 2
    return 0


@compiled()
def increment(m, r, slot, time):
    """The increment that `deliver` has left; returns the cycles of the firmware, -1 after a fault."""
    f = fabric_of(m)
    header = l1_of(m, r) + receiver_slot(f, r, slot)
    place = SECOND if type_of(header) == FUSED_ATOMIC_INC else ADDRESS
    address, value = load_i64(header + 4 * place), load_u32(header + 4 * VALUE)
    if type_of(header) == SCATTER_WRITE:
        for chunk in range(CHUNKS):
            if chunk_kind(header, chunk) == CHUNK_INC_FLUSH:
                address, value = load_i64(header + 4 * ADDRESS + 8 * chunk), chunk_size(header, chunk)
    done = write_word(m, r, ATOMIC, address, value, f.write_noc, time + f.increment)
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
    size = payload_of(l1_of(m, r) + source)
    noc = r.noc_of[out]
    index = new_transaction(m, WRITE, r.thread, noc, r.tile, target.tile)
    x = transactions_of(m)[index]
    x.address, x.local, x.trid = place + HEADER_BYTES, source + HEADER_BYTES, transaction_id(f, slot)
    x.size = max(size, 4)
    if size > 0:
        x.staging = take_from_l1(m, l1_of(m, r) + x.local, size, 1)
    send_request(m, index, -1, data_flits(m, size + f.header_bytes), time + f.forward)
    count_write(m, r.thread, noc, x.trid, 0)
    r.forwarded[out] += 1
    notified = NOTIFIED + STRIDE * channel
    index = new_transaction(m, ATOMIC, r.thread, noc, r.tile, target.tile)
    x = transactions_of(m)[index]
    x.address, x.size, x.value, x.posted = notified, 4, 1, 1
    send_request(m, index, -1, 1, time + f.forward)
    return f.forward
