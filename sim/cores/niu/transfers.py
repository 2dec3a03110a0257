"""NoC reads, writes and words of a core: issue, one packet after the other, plain and with a saved state."""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.circular_buffer import check_open_reads
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.niu.command_buffers import buffer_of, command_buffer_ready, next_issue, send_request
from tensim.sim.cores.niu.packets import data_flits
from tensim.sim.cores.niu.transactions import moves, new_staging, new_transaction, staging_address, tile_at
from tensim.sim.cores.operations import Issue
from tensim.sim.cores.threads import argument, charge, fail
from tensim.sim.cores.transfer_checks import (
    check_congruent,
    check_l1,
    check_target,
    check_unlinked,
    check_writers,
    note_open_read,
    valid_noc,
    valid_vc,
)
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import copy_bytes
from tensim.sim.noc.packet_state import DYNAMIC_VC, STATIC_VCS
from tensim.sim.state import (
    ATOMIC,
    ATOMIC_BUFFER,
    INLINE,
    READ,
    READ_BUFFER,
    TILE_DRAM,
    TILE_WORKER,
    WRITE,
    WRITE_BUFFER,
    cores_of,
    noc_counters_of,
    packets_of,
    saved_call_of,
    threads_of,
    tiles_of,
    traffic_of,
    transactions_of,
)


@compiled()
def set_request_vc(m, index, vc):
    """Give a request the virtual channel that its call names, -1 for the default one."""
    packet = packets_of(m)[index]
    packet.dynamic = vc == DYNAMIC_VC
    if 0 <= vc < STATIC_VCS:
        packet.static_vc = vc


@compiled(inline="always")
def count_read(m, thread, now):
    """One more read packet is under way."""
    traffic = traffic_of(m)[thread]
    if traffic.reads_out == 0:
        traffic.reading_since = now
    traffic.reads_out += 1


@compiled()
def valid_request(m, thread, address, size, noc, trid, vc, one_packet):
    """False when a transfer asks for what no NoC has."""
    if size <= 0:
        fail(m, thread, Fault.ZERO_LENGTH, address, size, 0)
        return False
    if not (valid_noc(m, thread, noc, trid) and valid_vc(m, thread, vc)):
        return False
    if one_packet and size > m.max_packet:
        fail(m, thread, Fault.PACKET_TOO_LONG, size, m.max_packet, 0)
        return False
    return True


@compiled()
def issue_read(m, thread, now, source, local, size, noc, trid, vc, cost, overlap, one_packet):
    """One packet of a read; `t.step` bytes have been issued before.  Returns the cycle at which the core goes on.

    `overlap`: the last of the `cost` cycles, in which the core does something else.
    """
    ready = command_buffer_ready(m, thread, noc, READ_BUFFER, now)
    if ready != now:
        return ready
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    if t.step == 0 and not valid_request(m, thread, source, size, noc, trid, vc, one_packet):
        return -1
    tile = tile_at(m, thread, source)
    if tile < 0:
        return -1
    offset = source & ctx.NOC_OFFSET_MASK
    if t.step == 0:
        is_dram = tiles_of(m)[tile].kind == TILE_DRAM
        modulus = m.dram_read_congruence if is_dram else m.l1_congruence
        if not (
            check_l1(m, thread, t.core, local, size, True)
            and check_target(m, thread, tile, offset, size, False)
            and check_congruent(m, thread, offset, local, modulus)
        ):
            return -1
        note_open_read(m, thread, local, size, noc, trid)
    count = min(size - t.step, m.max_packet)
    index = new_transaction(m, READ, thread, noc, core.tile, tile)
    x = transactions_of(m)[index]
    x.address, x.local, x.size, x.trid = offset + t.step, local + t.step, count, trid
    set_request_vc(m, index, vc)
    send_request(m, index, 1, now + cost)
    counters = noc_counters_of(m, thread, noc)
    counters.reads_out += 1
    count_read(m, thread, now)
    if trid >= 0:
        counters.trid_reads[trid] += 1
    t.step += count
    return next_issue(m, thread, now, cost - overlap, t.step >= size)


@compiled()
def issue_write(m, thread, now, local, destination, size, noc, trid, posted, vc, cost, one_packet):
    """One packet of a write; `t.step` bytes have been issued before.  Returns the cycle at which the core goes on."""
    t = threads_of(m)[thread]
    count = min(size - t.step, m.max_packet)
    ready = command_buffer_ready(m, thread, noc, buffer_of(WRITE, count), now)
    if ready != now:
        return ready
    core = cores_of(m)[t.core]
    if t.step == 0 and not valid_request(m, thread, destination, size, noc, trid, vc, one_packet):
        return -1
    tile = tile_at(m, thread, destination)
    if tile < 0:
        return -1
    offset = destination & ctx.NOC_OFFSET_MASK
    if t.step == 0:
        is_dram = tiles_of(m)[tile].kind == TILE_DRAM
        modulus = m.dram_write_congruence if is_dram else m.l1_congruence
        if not (
            check_unlinked(m, thread, noc, destination)
            and check_l1(m, thread, t.core, local, size, False)
            and check_target(m, thread, tile, offset, size, True)
            and (size <= 4 or check_congruent(m, thread, local, offset, modulus))
        ):
            return -1
        if t.reads_open > 0 and check_open_reads(m, thread, local, size):
            return -1
    index = new_transaction(m, WRITE, thread, noc, core.tile, tile)
    x = transactions_of(m)[index]
    x.address, x.local, x.size, x.trid, x.posted = offset + t.step, local + t.step, count, trid, posted
    if moves(m, count):
        x.staging = new_staging(m, 1)
        copy_bytes(staging_address(m, x.staging), m.l1_at + t.core * m.l1_size + x.local, count)
    if not check_writers(m, index):
        return -1
    set_request_vc(m, index, vc)
    send_request(m, index, data_flits(m, count), now + cost)
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
    t = threads_of(m)[thread]
    if not (valid_noc(m, thread, noc, -1) and valid_vc(m, thread, vc) and check_unlinked(m, thread, noc, address)):
        return -1
    tile = tile_at(m, thread, address)
    if tile < 0:
        return -1
    offset = address & ctx.NOC_OFFSET_MASK
    if tiles_of(m)[tile].kind != TILE_WORKER:
        fail(m, thread, Fault.ATOMIC_NOT_L1 if kind == ATOMIC else Fault.INLINE_TO_DRAM, address, 0, 0)
        return -1
    if offset % 4 != 0:
        fail(m, thread, Fault.MISALIGNED, offset, 0, 4)
        return -1
    if not check_l1(m, thread, tiles_of(m)[tile].index, offset, 4, True):
        return -1
    source = cores_of(m)[t.core].tile
    index = new_transaction(m, kind, thread, noc, source, tile)
    x = transactions_of(m)[index]
    x.address, x.size, x.value, x.posted = offset, 4, value, posted
    if kind == INLINE and not check_writers(m, index):
        return -1
    set_request_vc(m, index, vc)
    send_request(m, index, 1, now + cost)
    if kind == INLINE:
        count_write(m, thread, noc, -1, posted)
    elif posted == 0:
        noc_counters_of(m, thread, noc).atomics_out += 1
    return next_issue(m, thread, now, cost, True)


@compiled(inline="always")
def reads_dram(m, thread, source):
    """Whether a read's source lies in DRAM."""
    tile = tile_at(m, thread, source)
    return tile >= 0 and tiles_of(m)[tile].kind == TILE_DRAM


@compiled()
def noc_read(m, thread, now):
    t = threads_of(m)[thread]
    kind = argument(t, 5)
    cost, overlap = m.issue_read, m.issue_read_overlap
    if kind == Issue.PAGE and t.step == 0:
        cost, overlap = m.issue_read_page, 0
    elif kind == Issue.ONE_PACKET:
        cost, overlap = m.issue_read_one_packet, 0
    elif kind == Issue.STATEFUL:
        cost, overlap = m.issue_read_stateful, m.issue_read_stateful_overlap
    elif reads_dram(m, thread, argument(t, 0)):
        cost, overlap = m.issue_read_dram, m.issue_read_dram_overlap
    return issue_read(
        m, thread, now, argument(t, 0), argument(t, 1), argument(t, 2), argument(t, 3), argument(t, 4), argument(t, 6),
        cost, overlap, kind == Issue.ONE_PACKET,
    )  # fmt: skip


@compiled()
def noc_write(m, thread, now):
    t = threads_of(m)[thread]
    kind = argument(t, 5)
    cost = m.issue_write
    if kind == Issue.PAGE and t.step == 0:
        cost = m.issue_write_page
    elif kind == Issue.ONE_PACKET:
        cost = m.issue_write_one_packet
    elif kind == Issue.STATEFUL:
        cost = m.issue_write_stateful
    return issue_write(
        m, thread, now, argument(t, 0), argument(t, 1), argument(t, 2), argument(t, 3), argument(t, 4),
        argument(t, 6), argument(t, 7), cost, kind == Issue.ONE_PACKET,
    )  # fmt: skip


@compiled()
def set_state(m, thread, now):
    """Program a command buffer's target, size and flags once for the `with_state` calls."""
    t = threads_of(m)[thread]
    if not (valid_noc(m, thread, argument(t, 3), -1) and valid_vc(m, thread, argument(t, 5))):
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
    return issue_read(
        m, thread, now, source, argument(t, 1), size, noc, trid, saved.vc,
        m.issue_read_stateful, m.issue_read_stateful_overlap, False,
    )  # fmt: skip


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
        m, thread, now, argument(t, 0), destination, size, noc, trid, saved.posted, saved.vc,
        m.issue_write_stateful, False,
    )  # fmt: skip
