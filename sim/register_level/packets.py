"""Requests of the register level in the packet model: from a command buffer to the target's memory, and the answer's way back.

NoC, L1 ports and DRAM channels are those of the other levels (`tensim.sim.noc.packet`, `tensim.sim.dram.channel`).  What a request
does to memory is Python's (`tensim.sim.register_level.network`): it is told by notices when a request has left its command buffer,
when its data have left, when it is at its target, and when the answer is home.  Requests may be given for cycles up to a look-ahead
before the newest event: such a head comes to its first links behind others that came there meanwhile.
"""

import numpy as np

from tensim.sim.cores.niu.transactions import (
    IN_TARGET,
    TO_SOURCE,
    TO_TARGET,
    access_dram,
    data_flits,
    free_transaction,
    prepare_request,
    prepare_response,
    take_transaction,
)
from tensim.sim.engine import event_heap
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.tables import table
from tensim.sim.noc.multicast import NIU_BUSY, PATH_TAKEN, random_wait, send_multicast
from tensim.sim.noc.packet import head_event
from tensim.sim.noc.packet_state import DYNAMIC_VC
from tensim.sim.state import (
    ATOMIC,
    INLINE,
    READ,
    TILE_DRAM,
    WRITE,
    bank_of,
    event_heap_of,
    links_of,
    machine_table,
    noc_params_of,
    packets_of,
    ports_of,
    receivers_of,
    schedule,
    tiles_of,
    transactions_of,
    vcs_of,
    workers_mask_of,
)

KINDS = {"read": READ, "write": WRITE, "atomic": ATOMIC, "inline": INLINE}
TO_RECEIVERS = 4  # stage of a multicast that has no path yet; behind those of other transactions
LINKED_BEFORE, KEPT, LOOPS_BACK = 1, 2, 4  # of a multicast: its path is open, stays open, and leads to the sender, too
ANSWERED, POSTED, BY_HOST = 0, 1, 2  # who answers: the target, nobody, or Python (`answer`)
BEGUN, LEFT, AT_TARGET, HOME = range(4)
NOTICE = np.dtype([(name, np.int64) for name in "tag what cycle tile request".split()], align=True)
notices_at = table(NOTICE)
MARGIN = 256  # transactions and notices that one event may need: one for each receiver of a multicast


@compiled(inline="always")
def note(notices, tag, what, cycle, tile, request):
    """Tell Python; the first row holds the number of the others."""
    rows = notices_at(notices)
    rows[0].tag += 1
    row = rows[rows[0].tag]
    row.tag, row.what, row.cycle, row.tile, row.request = tag, what, cycle, tile, request


@compiled()
def new_request(m, tag, kind, noc, source, target, size, answer):
    """A transaction of a tile; its key, behind the cycle, is the order of tiles, NoCs and requests."""
    key = event_heap.make_key(event_heap.CLASS_NETWORK, source, noc, tag)
    index = take_transaction(m, kind, source, noc, source, target, key)
    x = transactions_of(m)[index]
    x.size, x.value, x.posted = size, tag, answer
    return index


@compiled()
def send(machine, tag, kind, noc, source, target, address, size, vc, answer, time):
    """Put a request into its tile's NIU at cycle `time`; `source`, `target`: tiles by number, `vc`: as packets have it."""
    m = machine_table(machine)[0]
    index = new_request(m, tag, kind, noc, source, target, size, answer)
    x, packet = transactions_of(m)[index], packets_of(m)[index]
    x.address = address
    if vc == DYNAMIC_VC:
        packet.dynamic = 1
    else:
        packet.static_vc = vc
    prepare_request(m, index, data_flits(m, size) if kind == WRITE else 1)
    schedule(m, time, x.key, index)


@compiled()
def send_to_all(machine, tag, kind, noc, source, corners, size, flags, answer, time):
    """Put a multicast into its tile's NIU; `corners`: x0, y0, x1, y1 in the direction of travel, 8 bits each, `flags`: as above."""
    m = machine_table(machine)[0]
    index = new_request(m, tag, kind, noc, source, source, size, answer)
    x = transactions_of(m)[index]
    x.stage, x.address, x.local, x.trid = TO_RECEIVERS, corners, 0, flags
    schedule(m, time, x.key, index)


@compiled()
def answer(machine, index, time):
    """Let the answer to a request begin its way back at a cycle."""
    m = machine_table(machine)[0]
    x = transactions_of(m)[index]
    x.stage = IN_TARGET
    schedule(m, time, x.key, index)


@compiled(inline="always")
def run_events(machine, until, notices, room, margin, event):
    """Let happen what is due up to a cycle: `event(m, notices, number, now)`, which tells when it goes on, or -1.

    It stops when there are no `margin` notices left, or not as many transactions as an event may take.
    """
    m = machine_table(machine)[0]
    heap = event_heap_of(m)
    rows = notices_at(notices)
    rows[0].tag = 0
    while (
        m.event_heap_size > 0
        and heap[0] >> event_heap.KEY_BITS <= until
        and rows[0].tag + margin < room
        and m.n_transactions - m.transactions_used > MARGIN
    ):
        now, key, number = heap[0] >> event_heap.KEY_BITS, heap[0] & ((1 << event_heap.KEY_BITS) - 1), heap[1]
        m.now = now
        time = event(m, notices, number, now)
        if time >= 0:
            event_heap.replace_top(heap, m.event_heap_size, event_heap.make_order(time, key), number)
        else:
            m.event_heap_size = event_heap.pop(heap, m.event_heap_size)


@compiled()
def run(machine, until, notices, room):
    """Let happen what is due up to a cycle, as far as there is room for notices and transactions."""
    run_events(machine, until, notices, room, MARGIN, request_event)


@compiled()
def request_event(m, notices, index, now):
    """A request's packet moves, or one of its stages ends; returns the cycle of its next event, or -1."""
    x = transactions_of(m)[index]
    if x.stage == TO_RECEIVERS:
        return reserve_path(m, notices, index, now)
    if x.stage == IN_TARGET:
        prepare_response(m, index)
        return move(m, notices, index, now)
    if packets_of(m)[index].delivered == 0:
        return move(m, notices, index, now)
    return arrive(m, notices, index, now)


@compiled()
def arrive(m, notices, index, now):
    """The tail of a packet reaches its NIU: of an answer, or of a request; the cycle at which its answer leaves, or -1."""
    x = transactions_of(m)[index]
    if x.stage == TO_SOURCE:
        note(notices, x.value, HOME, now, x.source, index)
        free_transaction(m, index)
        return -1
    note(notices, x.value, AT_TARGET, now, x.target, index)
    x.stage = IN_TARGET
    if x.posted == BY_HOST:
        return -1
    served = served_at(m, index, now)
    if x.posted == POSTED:
        free_transaction(m, index)
        return -1
    return max(served, now + 1)


@compiled()
def served_at(m, index, now):
    """The cycle at which the target's memory has done its part."""
    x = transactions_of(m)[index]
    if tiles_of(m)[x.target].kind != TILE_DRAM:
        return now + (m.l1_noc_latency if x.kind == READ else m.l1_noc_write_latency)
    return access_dram(m, index, bank_of(m, x.target, x.address), now)


@compiled()
def move(m, notices, index, now):
    """The head of a packet reaches its next link; returns the cycle of its next event, or -1."""
    packets, p = packets_of(m), noc_params_of(m)[0]
    time = head_event(links_of(m), vcs_of(m), ports_of(m), p, packets, index, now)
    if packets[index].hop == 1 and time >= 0:
        note_begun(m, notices, index)
    other = p.granted
    while other >= 0:
        schedule(m, packets[other].time, transactions_of(m)[other].key, other)
        if packets[other].hop == 1 and packets[other].waits == 0:
            note_begun(m, notices, other)
        other = packets[other].next_granted
    other = p.tail_sent
    while other >= 0:
        x = transactions_of(m)[other]
        if x.stage == TO_TARGET and x.kind != READ:
            note(notices, x.value, LEFT, packets[other].left, x.source, other)
        other = packets[other].next_tail_sent
    return time


@compiled()
def note_begun(m, notices, index):
    """A packet has got the link out of its NIU: its command buffer is free."""
    x = transactions_of(m)[index]
    if x.stage == TO_TARGET:
        note(notices, x.value, BEGUN, packets_of(m)[index].begun, x.source, index)


@compiled()
def reserve_path(m, notices, index, now):
    """A multicast tries to get its path; then every receiver has a transaction of its own.  Returns as `request_event`."""
    x = transactions_of(m)[index]
    flits = data_flits(m, x.size) if x.kind == WRITE else 1
    n, left, free = send_multicast(
        links_of(m), noc_params_of(m)[0], workers_mask_of(m), x.noc, x.source,
        x.address & 255, x.address >> 8 & 255, x.address >> 16 & 255, x.address >> 24 & 255,
        x.trid & LOOPS_BACK, x.trid & LINKED_BEFORE, x.trid & KEPT, flits, now, receivers_of(m),
    )  # fmt: skip
    if n == NIU_BUSY:
        return left
    if n == PATH_TAKEN:
        window = m.backoff_cycles << min(x.local, m.backoff_doublings)
        x.local += 1
        return now + random_wait(window, (m.backoff_seed * 1024 + x.source) * 1048576 + (x.value << 6) + x.local)
    note(notices, x.value, BEGUN, left, x.source, n)
    note(notices, x.value, LEFT, free, x.source, n)
    for i in range(n):
        one = new_request(m, x.value, x.kind, x.noc, x.source, receivers_of(m)[2 * i], x.size, x.posted)
        packets_of(m)[one].delivered = 1
        schedule(m, receivers_of(m)[2 * i + 1], transactions_of(m)[one].key, one)
    free_transaction(m, index)
    return -1
