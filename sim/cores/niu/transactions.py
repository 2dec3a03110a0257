"""Transactions and staging: what a packet occupies from its issue until its response is home.

A transfer is cut into packets of at most NOC_MAX_BURST_SIZE bytes.  Each packet is a transaction that goes through
stages, one event each: at the target (memory is read or written), back at the source (data or acknowledgement
arrives).  Payload waits in a staging slot between leaving and arriving, so a source may be reused once it is flushed.
"""

from tensim.sim.cores.faults import Fault
from tensim.sim.cores.threads import fail
from tensim.sim.engine import event_heap
from tensim.sim.engine.compiled import compiled
from tensim.sim.noc.packet_state import DEFAULT_VC
from tensim.sim.state import (
    log_of,
    noc_columns_of,
    noc_rows_of,
    packets_of,
    staging_free_of,
    staging_uses_of,
    threads_of,
    tiles_of,
    transactions_of,
)

ALWAYS_MOVED = 64  # bytes: smaller payloads move even with numerics off (semaphores, flags, arguments)
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
def new_staging(m, uses):
    """Take a staging slot that `uses` transactions will read; returns its number."""
    m.staging_left -= 1
    slot = staging_free_of(m)[m.staging_left]
    staging_uses_of(m)[slot] = uses
    return slot


@compiled()
def release_staging(m, slot):
    if slot >= 0:
        uses = staging_uses_of(m)
        uses[slot] -= 1
        if uses[slot] == 0:
            staging_free_of(m)[m.staging_left] = slot
            m.staging_left += 1


@compiled(inline="always")
def staging_address(m, slot):
    return m.staging_at + slot * m.staging_bytes


@compiled(inline="always")
def moves(m, size):
    """Whether a payload of this size is carried in the current numerics mode."""
    return m.data_on != 0 or size <= ALWAYS_MOVED


@compiled()
def tile_at(m, thread, noc_address):
    """Tile index (y * width + x) a NoC address names, by physical or translated coordinates; -1 after a fault."""
    x, y = noc_columns_of(m)[(noc_address >> 36) & 63], noc_rows_of(m)[(noc_address >> 42) & 63]
    tile = y * m.grid_width + x
    if x >= 0 and y >= 0:
        if tiles_of(m)[tile].kind != 0:
            return tile
    fail(m, thread, Fault.UNKNOWN_TILE, noc_address, (noc_address >> 36) & 63, (noc_address >> 42) & 63)
    return -1


@compiled()
def log_bytes(m, thread, kind, start, end, size, operation, target):
    """Enter moved bytes into the timeline log."""
    if m.log_on != 0 and m.n_log < m.log_capacity:
        entry = log_of(m)[m.n_log]
        entry.thread, entry.kind, entry.start, entry.end, entry.line = thread, kind, start, end, size
        entry.operation, entry.line_base, entry.target = operation, threads_of(m)[thread].line_base, target
        m.n_log += 1
