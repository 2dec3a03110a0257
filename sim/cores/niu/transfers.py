"""NoC reads, writes and words of a core: issue, one packet after the other, plain and with a saved state."""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.domains import known, mask_of
from tensim.sim.cores.niu.command_buffers import command_buffer_ready, next_issue
from tensim.sim.cores.niu.payloads import take_from_l1
from tensim.sim.cores.niu.transactions import buffer_of, data_flits, new_transaction, send_request
from tensim.sim.cores.operations import Issue, SavedBuffer
from tensim.sim.cores.threads import argument, charge
from tensim.sim.cores.transfer_checks import (
    check_writers,
    read_target,
    tile_at,
    valid_noc,
    valid_vc,
    word_target,
    write_target,
)
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import (
    ATOMIC_BUFFER,
    INLINE,
    READ,
    READ_BUFFER,
    TILE_DRAM,
    WRITE,
    WRITE_BUFFER,
    cores_of,
    noc_counters_of,
    saved_call_of,
    threads_of,
    tiles_of,
    traffic_of,
    transactions_of,
)

SAVED = mask_of(SavedBuffer)


@compiled(inline="always")
def count_read(m, thread, now):
    """One more read packet is under way."""
    traffic = traffic_of(m)[thread]
    if traffic.reads_out == 0:
        traffic.reading_since = now
    traffic.reads_out += 1


@compiled(inline="always")
def read_cost(m, kind, first, is_dram):
    """(cycles that the issue of a read's packet takes, the last of them in which the core does something else)."""
    if kind == Issue.PAGE and first:
        return m.issue_read_page, 0
    if kind == Issue.ONE_PACKET:
        return m.issue_read_one_packet, 0
    if kind == Issue.STATEFUL:
        return m.issue_read_stateful, m.issue_read_stateful_overlap
    if is_dram:
        return m.issue_read_dram, m.issue_read_dram_overlap
    return m.issue_read, m.issue_read_overlap


@compiled()
def issue_read(m, thread, now, source, local, size, noc, trid, vc, kind):
    """One packet of a read; `t.step` bytes have been issued before.  Returns the cycle at which the core goes on."""
    ready = command_buffer_ready(m, thread, noc, READ_BUFFER, now)
    if ready != now:
        return ready
    t = threads_of(m)[thread]
    if t.step == 0:
        tile = read_target(m, thread, source, local, size, noc, trid, vc, kind == Issue.ONE_PACKET)
        if tile < 0:
            return -1
    else:
        tile = tile_at(m, thread, source)
    cost, overlap = read_cost(m, kind, t.step == 0, tiles_of(m)[tile].kind == TILE_DRAM)
    count = min(size - t.step, m.max_packet)
    index = new_transaction(m, READ, thread, noc, cores_of(m)[t.core].tile, tile)
    x = transactions_of(m)[index]
    x.address, x.local, x.size, x.trid = (source & ctx.NOC_OFFSET_MASK) + t.step, local + t.step, count, trid
    send_request(m, index, vc, 1, now + cost)
    counters = noc_counters_of(m, thread, noc)
    counters.reads_out += 1
    count_read(m, thread, now)
    if trid >= 0:
        counters.trid_reads[trid] += 1
    t.step += count
    return next_issue(m, thread, now, cost - overlap, t.step >= size)


@compiled(inline="always")
def write_cost(m, kind, first):
    """Cycles that the issue of a write's packet takes."""
    if kind == Issue.PAGE and first:
        return m.issue_write_page
    if kind == Issue.ONE_PACKET:
        return m.issue_write_one_packet
    if kind == Issue.STATEFUL:
        return m.issue_write_stateful
    return m.issue_write


@compiled()
def issue_write(m, thread, now, local, destination, size, noc, trid, posted, vc, kind):
    """One packet of a write; `t.step` bytes have been issued before.  Returns the cycle at which the core goes on."""
    t = threads_of(m)[thread]
    count = min(size - t.step, m.max_packet)
    ready = command_buffer_ready(m, thread, noc, buffer_of(WRITE, count), now)
    if ready != now:
        return ready
    if t.step == 0:
        tile = write_target(m, thread, local, destination, size, noc, trid, vc, kind == Issue.ONE_PACKET)
        if tile < 0:
            return -1
    else:
        tile = tile_at(m, thread, destination)
    cost = write_cost(m, kind, t.step == 0)
    index = new_transaction(m, WRITE, thread, noc, cores_of(m)[t.core].tile, tile)
    x = transactions_of(m)[index]
    x.address, x.local = (destination & ctx.NOC_OFFSET_MASK) + t.step, local + t.step
    x.size, x.trid, x.posted = count, trid, posted
    x.staging = take_from_l1(m, m.l1_at + t.core * m.l1_size + x.local, count, 1)
    if not check_writers(m, index):
        return -1
    send_request(m, index, vc, data_flits(m, count), now + cost)
    count_write(m, thread, noc, trid, posted)
    t.step += count
    return next_issue(m, thread, now, cost, t.step >= size)


@compiled()
def count_write(m, thread, noc, trid, posted):
    """Count a write to one target: one more to leave the core and, unless posted, to be acknowledged."""
    counters = noc_counters_of(m, thread, noc)
    if posted != 0:
        counters.posted_unsent += 1
        return
    counters.writes_out += 1
    counters.writes_unsent += 1
    if trid >= 0:
        counters.trid_writes[trid] += 1
        counters.trid_unsent[trid] += 1


@compiled()
def issue_word(m, thread, now, kind, address, value, noc, posted, vc, cost):
    """A one-flit request that carries its operand: inline write or atomic increment."""
    ready = command_buffer_ready(m, thread, noc, ATOMIC_BUFFER, now)
    if ready != now:
        return ready
    tile = word_target(m, thread, kind, address, noc, vc)
    if tile < 0:
        return -1
    index = new_transaction(m, kind, thread, noc, cores_of(m)[threads_of(m)[thread].core].tile, tile)
    x = transactions_of(m)[index]
    x.address, x.size, x.value, x.posted = address & ctx.NOC_OFFSET_MASK, 4, value, posted
    if kind == INLINE and not check_writers(m, index):
        return -1
    send_request(m, index, vc, 1, now + cost)
    if kind == INLINE:
        count_write(m, thread, noc, -1, posted)
    elif posted == 0:
        noc_counters_of(m, thread, noc).atomics_out += 1
    return next_issue(m, thread, now, cost, True)


@compiled()
def noc_read(m, thread, now):
    t = threads_of(m)[thread]
    return issue_read(
        m, thread, now, argument(t, 0), argument(t, 1), argument(t, 2), argument(t, 3), argument(t, 4), argument(t, 6),
        argument(t, 5),
    )  # fmt: skip


@compiled()
def noc_write(m, thread, now):
    t = threads_of(m)[thread]
    return issue_write(
        m, thread, now, argument(t, 0), argument(t, 1), argument(t, 2), argument(t, 3), argument(t, 4),
        argument(t, 6), argument(t, 7), argument(t, 5),
    )  # fmt: skip


@compiled()
def set_state(m, thread, now):
    """Program a command buffer's target, size and flags once for the `with_state` calls."""
    t = threads_of(m)[thread]
    if not (
        known(m, thread, 0, SAVED) and valid_noc(m, thread, argument(t, 3), -1) and valid_vc(m, thread, argument(t, 5))
    ):
        return -1
    saved = saved_call_of(m, thread, argument(t, 3), argument(t, 0))
    saved.address, saved.size, saved.posted = argument(t, 1), argument(t, 2), argument(t, 4)
    saved.vc, saved.trid = argument(t, 5), argument(t, 6)
    charge(m, thread, now, m.issue_set_state)
    return now + m.issue_set_state


@compiled()
def noc_read_with_state(m, thread, now):
    t = threads_of(m)[thread]
    noc = argument(t, 3)
    if not valid_noc(m, thread, noc, argument(t, 4)):
        return -1
    saved = saved_call_of(m, thread, noc, READ_BUFFER)
    size = argument(t, 2) if argument(t, 2) > 0 else saved.size
    source = (saved.address & ~ctx.NOC_OFFSET_MASK) | (argument(t, 0) & ctx.NOC_OFFSET_MASK)
    trid = argument(t, 4) if argument(t, 4) >= 0 else saved.trid
    return issue_read(m, thread, now, source, argument(t, 1), size, noc, trid, saved.vc, Issue.STATEFUL)


@compiled()
def noc_write_with_state(m, thread, now):
    t = threads_of(m)[thread]
    noc = argument(t, 3)
    if not valid_noc(m, thread, noc, argument(t, 4)):
        return -1
    saved = saved_call_of(m, thread, noc, WRITE_BUFFER)
    size = argument(t, 2) if argument(t, 2) > 0 else saved.size
    destination = (saved.address & ~ctx.NOC_OFFSET_MASK) | (argument(t, 1) & ctx.NOC_OFFSET_MASK)
    trid = argument(t, 4) if argument(t, 4) >= 0 else saved.trid
    return issue_write(
        m, thread, now, argument(t, 0), destination, size, noc, trid, saved.posted, saved.vc, Issue.STATEFUL
    )
