"""The link of a router: packets and signals on their way to the router at its other end.

A payload is sent in frames, one after the other at the line's rate; a signal behind it, written into a register of the other
tile, tells that it is there.  A signal alone is seen sooner than a payload, which has to be written first.  The transmit queue
takes the next payload when the one before has left or, if it holds one more, has begun to leave (docs/fabric.md#the-link).
Chips share the engine's time: what is sent lies in the other chip's heap as an event at the cycle of its arrival, and the own chip
does not run past the earliest answer.
"""

from tensim.sim.cores.fabric.layout import (
    HEADER_BYTES,
    KINDS,
    PACKET,
    event_of,
    fabric_of,
    l1_of,
    payload_of,
    receiver_slot,
    routers_of,
    sender_slot,
    type_of,
)
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.niu.payloads import carry
from tensim.sim.cores.niu.transactions import log_bytes
from tensim.sim.cores.threads import fail
from tensim.sim.engine import event_heap
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import LOG_LINK, machine_table, schedule

ARRIVAL_SLOT = 7  # of the tie key: no thread has it


@compiled(inline="always")
def arrival_key(core, kind):
    return event_heap.make_key(event_heap.CLASS_NETWORK, core, ARRIVAL_SLOT, kind)


@compiled()
def wire_cycles(f, size):
    """Cycles that `size` bytes take on the line, frames around them included."""
    frames = (size + f.frame_bytes - 1) // f.frame_bytes
    return ((size + frames * f.frame_overhead) * f.wire_1024 + 1023) >> 10


@compiled()
def tell_peer(m, r, kind, time):
    """Let the other end's router have an event at cycle `time`."""
    other = machine_table(r.peer_machine)[0]
    peer = routers_of(other)[r.peer]
    schedule(other, time, arrival_key(peer.core, kind % KINDS), event_of(r.peer, kind))
    m.limit = min(m.limit, time + fabric_of(m).look_ahead - 1)


@compiled()
def fits(m, r, header):
    """Whether the payload that a header names has room in a slot; a fault if not.  Anybody may write into slots."""
    f = fabric_of(m)
    if payload_of(header) <= f.max_payload:
        return True
    fail(m, r.thread, Fault.FABRIC_HEADER, type_of(header), payload_of(header), f.max_payload)
    return False


@compiled()
def send_packet(m, r, channel, time):
    """The transmit queue gets the next packet of a sender channel at cycle `time`; its receiver slot is free."""
    f, other = fabric_of(m), machine_table(r.peer_machine)[0]
    peer = routers_of(other)[r.peer]
    source = l1_of(m, r) + sender_slot(f, r, channel, r.slot_sent[channel])
    target = l1_of(other, peer) + receiver_slot(f, peer, r.sent)
    payload = payload_of(source)
    carry(m, source, other, target, HEADER_BYTES, HEADER_BYTES + payload)
    peer.channel[r.sent % f.rx_slots] = channel
    begin, cycles = max(time, r.free_at), wire_cycles(f, f.header_bytes + payload)
    r.sending = begin if f.queued != 0 else begin + cycles
    r.free_at = begin + cycles + f.signal_cycles
    log_bytes(m, r.thread, LOG_LINK, begin, r.free_at, payload, 0, channel)
    r.busy_cycles += cycles + f.signal_cycles
    r.packets += 1
    r.bytes += payload
    r.slot_sent[channel] += 1
    r.sent += 1
    tell_peer(m, r, PACKET, r.free_at + f.line_latency)


@compiled()
def send_signal(m, r, kind, time):
    """Write a register of the router at the other end at cycle `time`, which has an event of that kind then.

    Routers with two processors have a transmit queue for that alone, whose turn comes behind the payload on the line; else it
    stands behind what the queue has.
    """
    f = fabric_of(m)
    waits = time < r.sending and f.processors > 1  # the payload that the queue got last has not begun
    begin = r.sending if waits else max(time, r.free_at)
    r.free_at = max(time, r.free_at) + f.signal_cycles
    r.busy_cycles += f.signal_cycles
    tell_peer(m, r, kind, begin + f.signal_cycles + f.signal_latency)
