"""Transactions: what a packet occupies from its issue until its response is home, and the packets of request and response.

A transfer is cut into packets of at most NOC_MAX_BURST_SIZE bytes.  Each packet is a transaction that goes through
stages, one event each: at the target (memory is read or written), back at the source (data or acknowledgement
arrives).  Payload waits in a staging slot between leaving and arriving, so a source may be reused once it is flushed.
How long packets are, and what their flits cost: docs/hardware/noc.md#packets.
"""

from tensim.sim.dram.channel import dram_access, fragments_ticks, queue_ticks
from tensim.sim.engine import event_heap
from tensim.sim.engine.compiled import compiled
from tensim.sim.noc.packet import prepare
from tensim.sim.noc.packet_state import DEFAULT_VC, DYNAMIC_VC, FLIT_COST, HELD, REQUEST, RESPONSE, STATIC_VCS
from tensim.sim.state import (
    ATOMIC_BUFFER,
    READ,
    READ_BUFFER,
    TILE_DRAM,
    WORD_BUFFER,
    WRITE,
    WRITE_BUFFER,
    bank_of,
    banks_of,
    channels_of,
    dram_params_of,
    log_of,
    noc_counters_of,
    noc_params_of,
    packets_of,
    ports_of,
    schedule,
    threads_of,
    tiles_of,
    transactions_of,
)

WORD_BYTES = 4
# Stages of a transaction: the request goes to the target; it is in the target; the response goes to the source
TO_TARGET, IN_TARGET, TO_SOURCE = 1, 2, 3


@compiled()
def new_transaction(m, kind, thread, noc, source, target):
    """A transaction of a thread; returns its index."""
    t = threads_of(m)[thread]
    t.sequence += 1
    key = event_heap.make_key(event_heap.CLASS_NETWORK, t.core, t.slot, t.sequence)
    return take_transaction(m, kind, thread, noc, source, target, key)


@compiled()
def take_transaction(m, kind, thread, noc, source, target, key):
    """Take a transaction from the free list (whoever runs the events guarantees one); returns its index."""
    index = m.free_transaction
    x = transactions_of(m)[index]
    m.free_transaction = x.next_open
    m.transactions_used += 1
    x.kind, x.thread, x.noc, x.source, x.target, x.stage = kind, thread, noc, source, target, TO_TARGET
    x.key = key
    x.staging = x.next_open = x.previous_open = x.trid = -1
    x.posted = x.value = 0
    pk = packets_of(m)[index]
    pk.dynamic, pk.static_vc, pk.supplied = 0, DEFAULT_VC, 0
    x.issued = m.now
    return index


@compiled()
def free_transaction(m, index):
    x = transactions_of(m)[index]
    x.next_open = m.free_transaction
    m.free_transaction = index
    m.transactions_used -= 1


@compiled()
def log_bytes(m, thread, kind, start, end, size, operation, target):
    """Enter moved bytes into the timeline log."""
    if m.log_on != 0 and m.n_log < m.log_capacity:
        entry = log_of(m)[m.n_log]
        entry.thread, entry.kind, entry.start, entry.end, entry.line = thread, kind, start, end, size
        entry.operation, entry.line_base, entry.target = operation, threads_of(m)[thread].line_base, target
        m.n_log += 1


@compiled(inline="always")
def data_flits(m, size):
    """Flits of a packet with `size` bytes of data behind its header."""
    return 1 + (size + m.flit_bytes - 1) // m.flit_bytes


@compiled(inline="always")
def emission_cost(p, x, cost):
    """`occupancy` cost of a flit that leaves L1: what a tile sends to itself is read from and written to the same L1."""
    return max(cost, p.loopback_cost) if x.source == x.target else cost


@compiled()
def prepare_request(m, index, flits):
    """Make the packet of a transaction's request, whose virtual channel is chosen, ready to leave the source."""
    x, packet, p = transactions_of(m)[index], packets_of(m)[index], noc_params_of(m)[0]
    prepare(p, packet, x.noc, x.source, x.target, flits, REQUEST, emission_cost(p, x, p.write_cost))
    packet.awaits_response = 1 if x.kind == READ else 0
    if x.kind == WRITE and tiles_of(m)[x.target].kind == TILE_DRAM:
        dram = dram_params_of(m)[0]
        packet.dram_queue = m.n_tiles + bank_of(m, x.target, x.address)
        packet.dram_queue_ticks, packet.dram_queue_room = queue_ticks(dram, x.size)
        packet.fragments_ticks = fragments_ticks(dram, x.size) if packet.dynamic != 0 else 0


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
def send_request(m, index, vc, flits, time):
    """Give a transaction's request to the network; it is in the command buffer at cycle `time`.

    `vc`: the virtual channel that the call names, -1 for the default one.
    """
    x, packet = transactions_of(m)[index], packets_of(m)[index]
    packet.dynamic = vc == DYNAMIC_VC
    if 0 <= vc < STATIC_VCS:
        packet.static_vc = vc
    prepare_request(m, index, flits)
    counters = noc_counters_of(m, x.thread, x.noc)
    counters.command_free[buffer_of(x.kind, x.size)] = HELD
    begin = max(time, counters.niu_free)
    counters.niu_free = begin + 1  # in the order of the calls, whatever buffers they use
    schedule(m, begin, x.key, index)


@compiled()
def prepare_response(m, index):
    """Make the packet of a transaction's data or acknowledgement ready to leave the target."""
    x, p = transactions_of(m)[index], noc_params_of(m)[0]
    flits, cost = 1, FLIT_COST
    if x.kind == READ:
        flits, cost = data_flits(m, x.size), emission_cost(p, x, p.read_cost)
        if tiles_of(m)[x.target].kind == TILE_DRAM:  # the first chunk is there as a whole
            chunk = min(flits, p.chunk_flits)
            cost = (chunk * FLIT_COST + (flits - chunk) * p.dram_cost) // flits
    x.stage = TO_SOURCE
    prepare(p, packets_of(m)[index], x.noc, x.target, x.source, flits, RESPONSE, cost)


@compiled()
def access_dram(m, index, bank, now):
    """A transaction's request is at a DRAM bank.  Returns the cycle at which the response can leave."""
    x, packet = transactions_of(m)[index], packets_of(m)[index]
    done = dram_access(
        channels_of(m), banks_of(m), dram_params_of(m)[0], bank, x.address % m.bank_bytes, x.size, x.kind != READ, now,
        x.noc, packet.mixed, x.thread,
    )  # fmt: skip
    ports_of(m)[m.n_tiles + bank] = max(ports_of(m)[m.n_tiles + bank], channels_of(m)[bank].drained)
    if x.kind == READ:
        packet.supplied = channels_of(m)[bank].supplied
    return done
