"""A core's command buffers and the packets of transactions, from the NIU into the network and back."""

from tensim.sim.cores.barriers import transaction_returned
from tensim.sim.cores.niu.packets import prepare_request, prepare_response
from tensim.sim.cores.niu.transactions import TO_TARGET, log_bytes
from tensim.sim.cores.threads import charge, charge_stall, park, schedule_thread, unpark
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import call_model
from tensim.sim.noc.packet import head_event
from tensim.sim.noc.packet_state import HELD
from tensim.sim.state import (
    ATOMIC_BUFFER,
    INLINE,
    LOG_NOC,
    PARKED,
    READ,
    READ_BUFFER,
    TILE_DRAM,
    WAIT_NOC_ISSUE,
    WORD_BUFFER,
    WRITE,
    WRITE_BUFFER,
    links_of,
    noc_counters_of,
    noc_params_of,
    packets_of,
    ports_of,
    schedule,
    threads_of,
    tiles_of,
    transactions_of,
    vcs_of,
)

WORD_BYTES = 4


@compiled()
def buffer_of(kind, size):
    """The command buffer of a request: tt-metal's calls use one each for data in, data out, semaphores that are copied to others,
    and words that a request carries (inline writes, atomics).
    """
    if kind == READ:
        return READ_BUFFER
    if kind == WRITE:
        return WORD_BUFFER if size <= WORD_BYTES else WRITE_BUFFER
    return ATOMIC_BUFFER


@compiled()
def command_buffer_ready(m, thread, noc, buffer, now):
    """Wait until the thread's last packet of a command buffer on a NoC has begun to leave.

    Returns `now` when the call can go on; else the cycle at which to try again, or -1 (parked).
    """
    if noc < 0 or noc > 1:
        return now
    free = noc_counters_of(m, thread, noc).command_free[buffer]
    if free == HELD:
        return park(m, thread, now, WAIT_NOC_ISSUE, buffer, noc, -1)
    if free > now:
        charge_stall(m, thread, WAIT_NOC_ISSUE, now, free)
        threads_of(m)[thread].phase = 1
        return free
    return now


@compiled()
def next_issue(m, thread, now, cost, last):
    """Charge one packet's issue and give the cycle at which the core goes on."""
    charge(m, thread, now, cost)
    if not last:
        threads_of(m)[thread].phase = 1
    return now + cost


@compiled()
def send_request(m, index, flits, time):
    """Give a transaction's request to the network; it is in the command buffer at cycle `time`."""
    x = transactions_of(m)[index]
    prepare_request(m, index, flits)
    counters = noc_counters_of(m, x.thread, x.noc)
    counters.command_free[buffer_of(x.kind, x.size)] = HELD
    begin = max(time, counters.niu_free)
    counters.niu_free = begin + 1  # in the order of the calls, whatever buffers they use
    schedule(m, begin, x.key, index)


@compiled()
def send_response(m, index, now):
    """Data or acknowledgement starts on its way back; returns the cycle of the packet's next event, or -1."""
    x = transactions_of(m)[index]
    log_bytes(m, x.thread, LOG_NOC + x.noc, x.issued, now, x.size, x.kind, x.target)
    prepare_response(m, index)
    return move_packet(m, index, now)


@compiled()
def move_packet(m, index, now):
    """The head of a transaction's packet reaches its next link; returns the cycle of the packet's next event, or -1.

    In the flit model the packet is handed to its NIU as a whole.
    """
    if m.flit_model_at != 0:
        return call_model(m.flit_model_at, m.self_at, index, now)
    packets, p = packets_of(m), noc_params_of(m)[0]
    time = head_event(links_of(m), vcs_of(m), ports_of(m), p, packets, index, now)
    if packets[index].hop == 1 and time >= 0:
        left_command_buffer(m, index, now)
    other = p.granted
    while other >= 0:
        schedule(m, packets[other].time, transactions_of(m)[other].key, other)
        if packets[other].hop == 1 and packets[other].waits == 0:
            left_command_buffer(m, other, now)
        other = packets[other].next_granted
    other = p.tail_sent
    while other >= 0:
        tail_left(m, other, now)
        other = packets[other].next_tail_sent
    return time


@compiled()
def left_command_buffer(m, index, now):
    """A packet has got the link out of its NIU: its thread may use the command buffer again."""
    x = transactions_of(m)[index]
    if x.stage != TO_TARGET:
        return
    begun, buffer = packets_of(m)[index].begun, buffer_of(x.kind, x.size)
    noc_counters_of(m, x.thread, x.noc).command_free[buffer] = begun
    t = threads_of(m)[x.thread]
    if t.state == PARKED and t.wait == WAIT_NOC_ISSUE and t.wait_a == buffer and t.wait_b == x.noc:
        unpark(m, x.thread, begun)
        schedule_thread(m, x.thread, begun)


@compiled()
def tail_left(m, index, now):
    """The tail of a packet leaves its NIU at the packet's cycle `left`: its source may be reused from then on.

    Of a multicast, which has no target of its own in the flit model, the NIU tells later.
    """
    x = transactions_of(m)[index]
    if x.stage != TO_TARGET or (x.kind != WRITE and x.kind != INLINE):
        return
    counters = noc_counters_of(m, x.thread, x.noc)
    left = packets_of(m)[index].left
    if x.target < 0:
        left += m.multicast_sent
    elif tiles_of(m)[x.target].kind != TILE_DRAM:
        left += m.write_sent
    if x.posted != 0:
        counters.posted_unsent -= 1
        counters.posted_flush_at = max(counters.posted_flush_at, left)
    else:
        counters.writes_unsent -= 1
        counters.write_flush_at = max(counters.write_flush_at, left)
        if x.trid >= 0:
            counters.trid_unsent[x.trid] -= 1
            counters.trid_flush_at[x.trid] = max(counters.trid_flush_at[x.trid], left)
    transaction_returned(m, x.thread, now)
