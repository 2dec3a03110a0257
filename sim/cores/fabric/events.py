"""Routers in the compiled engine: their processors step through the channels as the firmware's loop does.

A router is the firmware of an Ethernet tile between workers, the link and other routers of its chip: sender channels take
packets into slots and put them on the link, the receiver channel writes packets of the link to where they go.  One processor
(Wormhole) looks at all channels in turn; with two (Blackhole) one sends and one receives.  A look that finds nothing takes
`poll` cycles.  Who has found nothing in a whole turn sleeps; when something comes it goes on at that point of its turn at which
it would stand, so idle routers take no time of the simulator.

`router_event` is called by address, so chips without a fabric are compiled without any of this.
Source of the loop's order and of each step: the fabric's router firmware (docs/fabric.md#the-router).
"""

from tensim.sim.cores.fabric.layout import (
    ACKNOWLEDGEMENT,
    COMPLETION,
    CREDITS_AT,
    KINDS,
    N_DIRECTIONS,
    NOTIFIED,
    OPENED,
    PACKET,
    RETURNED,
    ROUTE,
    STRIDE,
    TURN,
    WAKE,
    event_of,
    fabric_of,
    l1_of,
    receiver_slot,
    routers_of,
    sender_slot,
    sender_slots,
    transaction_id,
)
from tensim.sim.cores.fabric.link import arrival_key, fits, send_packet, send_signal
from tensim.sim.cores.fabric.routing import NOWHERE, is_here, onward
from tensim.sim.cores.fabric.writes import deliver, follows, forward, increment, write_word
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.threads import fail
from tensim.sim.engine import event_heap
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_i64, load_u32, store_32
from tensim.sim.state import (
    ATOMIC,
    STOP_ERROR,
    machine_table,
    noc_counters_of,
    schedule,
)

NOT_FULL, NOT_KNOWN = -1, -1


@compiled(inline="always")
def steps_of(f, r, processor):
    """Channels that a processor looks at in a turn."""
    if f.processors == 1:
        return r.n_channels + 1
    return r.n_channels if processor == 0 else 1


@compiled(inline="always")
def channel_at(f, processor, step):
    """The sender channel of a step, -1 for the receiver channel, which comes second where one processor does all."""
    if processor == 1:
        return -1
    if f.processors == 2 or step == 0:
        return step
    return step - 1 if step > 1 else -1


@compiled(inline="always")
def waits_for_payload(f, r, processor):
    """Whether the firmware stands in the receiver's step until a payload has been written."""
    return r.awaiting_flush != 0 and channel_at(f, processor, r.step[processor]) < 0


@compiled(inline="always")
def poll_cycles(f, r, processor):
    """Of a look that finds nothing, at the processor's step of its turn."""
    if channel_at(f, processor, r.step[processor]) >= 0:
        return f.poll_sender
    return f.flush_look if r.awaiting_flush != 0 else f.poll_receiver


@compiled()
def wake(m, index, processor, now):
    """Something has come: a processor that sleeps goes on in its turn."""
    f, r = fabric_of(m), routers_of(m)[index]
    r.idle[processor] = 0  # it looks at everything once more, also where it has just found nothing
    if r.asleep[processor] == 0:
        return
    r.asleep[processor] = 0
    key = event_heap.make_key(event_heap.CLASS_THREAD, r.core, TURN + processor, 0)
    if now <= r.slept_at[processor]:
        schedule(m, r.slept_at[processor], key, event_of(index, TURN + processor))
        return
    steps, turn = steps_of(f, r, processor), 0
    if waits_for_payload(f, r, processor):
        steps = 1
    for _ in range(steps):
        turn += poll_cycles(f, r, processor)
        if steps > 1:
            r.step[processor] = (r.step[processor] + 1) % steps
    inside, at = (now - r.slept_at[processor]) % max(turn, 1), 0
    while at < inside:
        at += poll_cycles(f, r, processor)
        if steps > 1:
            r.step[processor] = (r.step[processor] + 1) % steps
    schedule(m, now + at - inside, key, event_of(index, TURN + processor))


@compiled()
def wake_all(m, index, now):
    for processor in range(fabric_of(m).processors):
        wake(m, index, processor, now)


# --- sender channels


@compiled()
def packets_waiting(m, r, channel):
    """Packets in the slots of a sender channel that have not been sent."""
    return load_u32(l1_of(m, r) + NOTIFIED + STRIDE * channel) - r.slot_sent[channel]


@compiled()
def note_full(r, full, now):
    """Count the time in which packets wait for a receiver slot, or a worker for slots whose packets are on their way."""
    if full and r.full_since == NOT_FULL:
        r.full_since = now
    elif not full and r.full_since != NOT_FULL:
        r.full_cycles += now - r.full_since
        r.full_since = NOT_FULL


@compiled()
def sender_step(m, r, channel, now):
    """Send a packet of the channel if there is one, and give credits back.  Returns the cycles it takes, 0: nothing to do."""
    f, cycles = fabric_of(m), 0
    opens = l1_of(m, r) + CREDITS_AT + STRIDE * channel + OPENED
    if load_u32(opens) != 0:
        r.opened[channel] = r.slot_sent[channel]
        store_32(opens, 0)
    waiting = packets_waiting(m, r, channel)
    if waiting > sender_slots(f, channel):
        fail(m, r.thread, Fault.FABRIC_SLOT, channel, waiting, sender_slots(f, channel))
        return 0
    if waiting > 0:
        free = f.rx_slots - (r.sent - r.completed)
        needed = f.injection_slots if channel == 0 else 1
        note_full(r, free < needed, now)
        if free >= needed and r.sending <= now:
            if not fits(m, r, l1_of(m, r) + sender_slot(f, r, channel, r.slot_sent[channel])):
                return 0
            cycles += f.send
            send_packet(m, r, channel, now + f.send)
    elif channel == 0:  # the worker has no slot for another packet, and all have been sent
        note_full(r, r.slot_sent[0] - r.freed[0] >= sender_slots(f, 0), now)
    done = r.acknowledged[channel] if f.first_level_ack != 0 else r.returned[channel]
    credits = done - r.freed[channel]
    if credits > 0:
        r.freed[channel] = done
        cycles += f.credit
        address = load_i64(l1_of(m, r) + CREDITS_AT + STRIDE * channel)
        if address != 0:
            write_word(m, r, ATOMIC, address, credits, f.credit_noc, now + cycles)
    return cycles


# --- the receiver channel


@compiled()
def left_at(m, r, slot):
    """The cycle at which all writes with the transaction id of a slot have left the tile, or `NOT_KNOWN`."""
    trid = transaction_id(fabric_of(m), slot)
    first, second = noc_counters_of(m, r.thread, 0), noc_counters_of(m, r.thread, 1)
    if first.trid_unsent[trid] + second.trid_unsent[trid] > 0:
        return NOT_KNOWN
    return max(first.trid_flush_at[trid], second.trid_flush_at[trid])


@compiled()
def has_room(m, r, out):
    """Whether the router in direction `out` has a free slot for us."""
    back = load_u32(l1_of(m, r) + RETURNED + STRIDE * out)
    return r.forwarded[out] - back < fabric_of(m).tx_slots


@compiled()
def take_packet(m, r, slot, now):
    """Deliver and forward the packet of a receiver slot.  Returns the cycles it takes; 0 when a router ahead has no room."""
    f = fabric_of(m)
    header = l1_of(m, r) + receiver_slot(f, r, slot)
    if not fits(m, r, header):
        return 0
    route, ways = load_u32(header + 4 * ROUTE), 0
    for out in range(N_DIRECTIONS):
        if onward(route, r.straight, out) != NOWHERE:
            ways += 1
            if r.downstream[out] < 0:
                fail(m, r.thread, Fault.FABRIC_ROUTE, route, r.direction, out)
                return 0
            if not has_room(m, r, out):
                return 0
    here = is_here(route, r.direction)
    if not here and ways == 0:
        fail(m, r.thread, Fault.FABRIC_ROUTE, route, r.direction, -1)
        return 0
    cycles = 0
    for out in range(N_DIRECTIONS):
        further = onward(route, r.straight, out)
        if further != NOWHERE:
            cycles += forward(m, r, slot, out, further, now + cycles)
    if here and m.stop != STOP_ERROR:
        cycles += take_home(m, r, slot, now + cycles)
    return cycles


@compiled()
def take_home(m, r, slot, now):
    """Write what a packet brings for this chip; returns the cycles.  An increment may have to wait for what has been written."""
    cycles = deliver(m, r, slot, now)
    if cycles < 0:
        return 0
    then = follows(m, r, slot)
    if then == 2:
        r.awaiting_flush, r.stood_since = 1 + slot, now + cycles
    elif then == 1:
        cycles += max(increment(m, r, slot, now + cycles), 0)
    return cycles


@compiled(inline="always")
def signal_cycles(f, r, now, cycles):
    """When a signal behind `cycles` of a step can go: one processor waits until the transmit queue takes it."""
    return max(cycles, r.sending - now) if f.processors == 1 else cycles


@compiled()
def receiver_step(m, r, now):
    """Take a packet, then free the oldest slot whose writes are done.  Returns the cycles it takes, 0: nothing to do."""
    f, cycles = fabric_of(m), 0
    if f.first_level_ack != 0 and r.arrived > r.accepted:
        cycles = signal_cycles(f, r, now, 0) + f.acknowledge
        send_signal(m, r, ACKNOWLEDGEMENT + r.channel[r.accepted % f.rx_slots], now + cycles)
        r.accepted += 1
    if r.awaiting_flush != 0:
        under_way = noc_counters_of(m, r.thread, 0).writes_out + noc_counters_of(m, r.thread, 1).writes_out
        if under_way > 0:  # the firmware waits for the writes of all packets
            return cycles
        r.worked[f.processors - 1] += now - r.stood_since
        # it has looked at one id after the other and stood at this packet's
        cycles += f.flush_look * (f.transaction_ids - transaction_id(f, r.awaiting_flush - 1))
        cycles += increment(m, r, r.awaiting_flush - 1, now + cycles)
        r.awaiting_flush = 0
    elif r.arrived > r.started:
        slot = r.started % f.rx_slots
        taken = take_packet(m, r, slot, now + cycles)
        if taken > 0:
            cycles += taken
            r.started += 1
    if r.finished < r.started and r.awaiting_flush == 0:
        slot = r.finished % f.rx_slots
        left = left_at(m, r, slot)
        if left != NOT_KNOWN and left <= now:
            r.finished += 1
            cycles = signal_cycles(f, r, now, cycles) + f.complete
            send_signal(m, r, COMPLETION + r.channel[slot], now + cycles)
    return cycles


# --- events


@compiled()
def wake_later(m, index, time, now):
    """Have the router look at everything at a cycle that is still to come."""
    r = routers_of(m)[index]
    if time > now and r.alarm != time:
        r.alarm = time
        schedule(m, time, arrival_key(r.core, WAKE), event_of(index, WAKE))


@compiled()
def turn(m, index, processor, now):
    """A step of a processor; returns the cycle of its next one, or -1 when it falls asleep."""
    f, r = fabric_of(m), routers_of(m)[index]
    channel = channel_at(f, processor, r.step[processor])
    cycles = receiver_step(m, r, now) if channel < 0 else sender_step(m, r, channel, now)
    if m.stop == STOP_ERROR:
        return -1
    r.idle[processor] = 0 if cycles > 0 else r.idle[processor] + 1
    looked = poll_cycles(f, r, processor)
    r.worked[processor] += cycles + looked if cycles > 0 else 0
    cycles += looked
    stands = waits_for_payload(f, r, processor)
    if not stands:
        r.step[processor] = (r.step[processor] + 1) % steps_of(f, r, processor)
    if r.idle[processor] < (1 if stands else steps_of(f, r, processor)):
        return now + cycles
    r.asleep[processor], r.slept_at[processor] = 1, now + cycles
    wake_later(m, index, r.sending, now)  # for what waits until the transmit queue is free
    if r.finished < r.started:
        wake_later(m, index, left_at(m, r, r.finished % f.rx_slots), now)
    return -1


@compiled()
def router_event(machine, event, now):
    """An event of a router; returns the cycle of its next one, or -1."""
    m = machine_table(machine)[0]
    index, kind = (event_heap.CLOCK - 1 - event) // KINDS, (event_heap.CLOCK - 1 - event) % KINDS
    r = routers_of(m)[index]
    if kind < PACKET:
        return turn(m, index, kind, now)
    if kind == PACKET:
        r.arrived += 1
    elif kind >= ACKNOWLEDGEMENT:
        r.acknowledged[kind - ACKNOWLEDGEMENT] += 1
    elif kind >= COMPLETION:
        r.returned[kind - COMPLETION] += 1
        r.completed += 1
    wake_all(m, index, now)
    return -1
