"""A core's command buffers: when a thread may use one again, and when what it has sent has left.

They are filled by `tensim.sim.cores.niu.transactions.send_request`.
"""

from tensim.sim.cores.barriers import transaction_returned
from tensim.sim.cores.niu.transactions import TO_TARGET, buffer_of
from tensim.sim.cores.threads import charge, charge_stall, park, schedule_thread, unpark
from tensim.sim.engine.compiled import compiled
from tensim.sim.noc.packet_state import HELD
from tensim.sim.state import (
    INLINE,
    PARKED,
    TILE_DRAM,
    WAIT_NOC_ISSUE,
    WRITE,
    noc_counters_of,
    packets_of,
    threads_of,
    tiles_of,
    transactions_of,
)


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
