"""NoC transfers of a core: issue, packets, delivery, acknowledgement, barriers (reference sections 2.2-2.6).

A transfer is cut into packets of at most NOC_MAX_BURST_SIZE bytes.  Each packet is a transaction that goes through
stages, one calendar event each: at the target (memory is read or written), back at the source (data or acknowledgement
arrives).  Payload waits in a staging slot between leaving and arriving, so a source may be reused once it is flushed.
"""

import numba as nb

from sim import calendar as cal
from sim.cores import context as ctx
from sim.cores.circular_buffer import check_open_reads
from sim.cores.faults import Fault
from sim.cores.operations import Barrier, Issue
from sim.cores.threads import (
    OPERATION_END,
    argument,
    charge,
    charge_stall,
    fail,
    park,
    schedule_thread,
    unpark,
    wake,
    wake_to_retry,
)
from sim.dram.channel import bus_ticks, dram_access, fragments_ticks
from sim.dram.storage import read_bank, write_bank
from sim.memory import call_model, copy_bytes, load_u32, store_8, store_32
from sim.noc.multicast import PATH_TAKEN, list_receivers, random_wait, send_multicast
from sim.noc.packet import DYNAMIC_VC, HELD, REQUEST, RESPONSE, head_event, prepare
from sim.state import (
    ATOMIC,
    ATOMICS_OUT,
    COMMAND_FREE,
    INLINE,
    LOG_DRAM,
    LOG_NOC,
    MAX_OPEN_READS,
    NOC_WORDS,
    OPEN_READS,
    PARKED,
    POSTED_FLUSH_AT,
    POSTED_UNSENT,
    READ,
    READS_OUT,
    SAVED_STATE,
    TILE_DRAM,
    TILE_WORKER,
    TRID_FLUSH_AT,
    TRID_READS,
    TRID_UNSENT,
    TRID_WRITES,
    WAIT_ATOMIC_BARRIER,
    WAIT_FLUSH,
    WAIT_NOC_ISSUE,
    WAIT_READ_BARRIER,
    WAIT_SEMAPHORE,
    WAIT_WRITE_BARRIER,
    WRITE,
    WRITE_FLUSH_AT,
    WRITES_OUT,
    WRITES_UNSENT,
    banks_of,
    calendar_of,
    channels_of,
    cores_of,
    dram_params_of,
    links_of,
    log_of,
    noc_params_of,
    noc_words_of,
    packets_of,
    ports_of,
    receivers_of,
    staging_free_of,
    staging_uses_of,
    threads_of,
    tiles_of,
    transactions_of,
    workers_mask_of,
)

ALWAYS_MOVED = 64  # bytes: smaller payloads move even with numerics off (semaphores, flags, arguments)
CORNERS_SHIFT = 36  # of a multicast address: the four coordinates lie above
# Stages of a transaction: the request is on its way or there; the target's answer is ready to leave; it is on its way
AT_TARGET, ANSWER, AT_SOURCE = 1, 2, 3
FLIT_COST = 1024  # of one cycle
WAIT_EQUAL, WAIT_MIN = 0, 1

# Enum members as plain integers, for compiled code
BARRIER_READ, BARRIER_WRITE = int(Barrier.READ), int(Barrier.WRITE)
BARRIER_FLUSHED, BARRIER_POSTED = int(Barrier.WRITES_FLUSHED), int(Barrier.POSTED_WRITES_FLUSHED)
BARRIER_ATOMIC, BARRIER_FULL = int(Barrier.ATOMIC), int(Barrier.FULL)
BARRIER_READ_TRID, BARRIER_WRITE_TRID = int(Barrier.READ_TRID), int(Barrier.WRITE_TRID)
BARRIER_FLUSHED_TRID = int(Barrier.WRITE_FLUSHED_TRID)
ISSUE_ONE_PACKET, ISSUE_STATEFUL, ISSUE_PAGE = int(Issue.ONE_PACKET), int(Issue.STATEFUL), int(Issue.PAGE)


# --- transactions and staging


@nb.njit(cache=True)
def new_transaction(m, kind, thread, noc, source, target):
    """Take a transaction from the free list (the event loop guarantees one); returns its index."""
    transactions = transactions_of(m)
    index = m.free_transaction
    x = transactions[index]
    m.free_transaction = x.next_open
    m.transactions_used += 1
    t = threads_of(m)[thread]
    t.sequence += 1
    x.kind, x.thread, x.noc, x.source, x.target, x.stage = kind, thread, noc, source, target, AT_TARGET
    x.key = cal.make_key(cal.CLASS_NETWORK, t.core, t.slot, t.sequence)
    x.staging = x.next_open = x.previous_open = x.trid = -1
    x.posted = x.value = packets_of(m)[index].dynamic = 0
    x.issued = m.now
    return index


@nb.njit(cache=True)
def free_transaction(m, index):
    x = transactions_of(m)[index]
    x.next_open = m.free_transaction
    m.free_transaction = index
    m.transactions_used -= 1


@nb.njit(cache=True)
def schedule_transaction(m, index, time):
    x = transactions_of(m)[index]
    m.calendar_size = cal.push(calendar_of(m), m.calendar_size, cal.make_order(time, x.key), index)


@nb.njit(cache=True)
def new_staging(m, uses):
    """Take a staging slot that `uses` transactions will read; returns its number."""
    m.staging_left -= 1
    slot = staging_free_of(m)[m.staging_left]
    staging_uses_of(m)[slot] = uses
    return slot


@nb.njit(cache=True)
def release_staging(m, slot):
    if slot >= 0:
        uses = staging_uses_of(m)
        uses[slot] -= 1
        if uses[slot] == 0:
            staging_free_of(m)[m.staging_left] = slot
            m.staging_left += 1


@nb.njit(cache=True, inline="always")
def staging_address(m, slot):
    return m.staging_at + slot * m.staging_bytes


@nb.njit(cache=True, inline="always")
def moves(m, size):
    """Whether a payload of this size is carried in the current numerics mode."""
    return m.data_on != 0 or size <= ALWAYS_MOVED


# --- checks


@nb.njit(cache=True)
def tile_at(m, thread, noc_address):
    """Tile index (y * width + x) a NoC address names; -1 after a fault."""
    x, y = (noc_address >> 36) & 63, (noc_address >> 42) & 63
    tile = y * m.grid_width + x
    if x < m.grid_width and tile < m.n_tiles:
        if tiles_of(m)[tile].kind != 0:
            return tile
    fail(m, thread, Fault.UNKNOWN_TILE, noc_address, x, y)
    return -1


@nb.njit(cache=True)
def check_l1(m, thread, core, address, size, is_write):
    """True when [address, address + size) is usable L1 of `core`."""
    if address < 0 or size < 0 or address + size > m.l1_size:
        fail(m, thread, Fault.L1_RANGE, address, size, core)
        return False
    if is_write and address < m.reserved_end:
        fail(m, thread, Fault.L1_RESERVED, address, size, m.reserved_end)
        return False
    return True


@nb.njit(cache=True)
def bank_of(m, tile, offset):
    """DRAM bank behind a DRAM tile for an offset in the tile's address space."""
    return tiles_of(m)[tile].index + offset // m.bank_bytes


@nb.njit(cache=True)
def check_target(m, thread, tile, offset, size, is_write):
    """True when the remote range exists."""
    if tiles_of(m)[tile].kind == TILE_WORKER:
        return check_l1(m, thread, tiles_of(m)[tile].index, offset, size, is_write)
    bank, inside = bank_of(m, tile, offset), offset % m.bank_bytes
    if offset < 0 or bank >= m.n_channels or inside + size > m.bank_bytes:
        fail(m, thread, Fault.DRAM_RANGE, inside, size, bank)
        return False
    if is_write and inside + size > m.trace_start:
        fail(m, thread, Fault.TRACE_REGION, inside, size, bank)
        return False
    return True


@nb.njit(cache=True)
def check_congruent(m, thread, source, destination, modulus):
    if (source - destination) % modulus != 0:
        fail(m, thread, Fault.MISALIGNED, source, destination, modulus)
        return False
    return True


@nb.njit(cache=True, inline="always")
def open_path(core, noc):
    """The path that a linked multicast of the core holds on a NoC (its corners + 1), or 0."""
    return core.linked_noc0 if noc == 0 else core.linked_noc1


@nb.njit(cache=True)
def check_unlinked(m, thread, noc, address):
    """False when a unicast request comes while a linked multicast of the core is open on the NoC."""
    if open_path(cores_of(m)[threads_of(m)[thread].core], noc) != 0:
        fail(m, thread, Fault.LINKED_OPEN, address, 0, 0)
        return False
    return True


@nb.njit(cache=True)
def check_writers(m, index):
    """Enter a write into its target tile's list of writes in flight; False when another thread writes the same bytes.

    Without data (numerics off) there is nothing to race for, so nothing is listed.
    """
    if m.data_on == 0:
        return True
    transactions = transactions_of(m)
    x = transactions[index]
    tile = tiles_of(m)[x.target]
    other = tile.open_writes
    while other >= 0:
        y = transactions[other]
        if y.thread != x.thread and y.address < x.address + x.size and x.address < y.address + y.size:
            fail(m, x.thread, Fault.UNORDERED_WRITERS, x.address, x.size, y.thread)
            return False
        other = y.next_open
    x.next_open, x.previous_open = tile.open_writes, -1
    if tile.open_writes >= 0:
        transactions[tile.open_writes].previous_open = index
    tile.open_writes = index
    return True


@nb.njit(cache=True)
def close_write(m, index):
    """Take a write that has arrived off its target tile's list."""
    if m.data_on == 0:
        return
    transactions = transactions_of(m)
    x = transactions[index]
    if x.next_open >= 0:
        transactions[x.next_open].previous_open = x.previous_open
    if x.previous_open >= 0:
        transactions[x.previous_open].next_open = x.next_open
    else:
        tiles_of(m)[x.target].open_writes = x.next_open


@nb.njit(cache=True)
def note_open_read(m, thread, address, size, tag):
    """Remember a read's destination until its barrier; neighbours of one tag are merged, the oldest is forgotten."""
    t = threads_of(m)[thread]
    words = noc_words_of(m)
    base = thread * NOC_WORDS + OPEN_READS
    n = t.reads_open
    if n > 0 and words[base + 3 * n - 2] == address and words[base + 3 * n - 1] == tag:
        words[base + 3 * n - 2] = address + size
        return
    if n == MAX_OPEN_READS:
        for i in range(3 * (n - 1)):
            words[base + i] = words[base + i + 3]
        n -= 1
    words[base + 3 * n], words[base + 3 * n + 1], words[base + 3 * n + 2] = address, address + size, tag
    t.reads_open = n + 1


@nb.njit(cache=True)
def forget_open_reads(m, thread, noc, trid):
    """A read barrier of the thread is over; trid -1: all reads of the NoC."""
    t = threads_of(m)[thread]
    words = noc_words_of(m)
    base = thread * NOC_WORDS + OPEN_READS
    kept = 0
    for i in range(t.reads_open):
        tag = words[base + 3 * i + 2]
        if tag // 32 != noc or (trid >= 0 and tag != noc * 32 + trid + 1):
            for j in range(3):
                words[base + 3 * kept + j] = words[base + 3 * i + j]
            kept += 1
    t.reads_open = kept


# --- L1 changes that others may wait for


@nb.njit(cache=True)
def semaphore_holds(m, t):
    """Whether the semaphore condition of parked thread record t holds now."""
    value = load_u32(m.l1_at + t.core * m.l1_size + t.wait_a)
    return value >= t.wait_b if t.wait_c == WAIT_MIN else value == t.wait_b


@nb.njit(cache=True)
def l1_changed(m, core, address, size, now):
    """Wake threads of `core` that poll a semaphore in the changed bytes."""
    if cores_of(m)[core].semaphore_waiters == 0:
        return
    for slot in range(5):
        index = core * 5 + slot
        t = threads_of(m)[index]
        if t.state == PARKED and t.wait == WAIT_SEMAPHORE and address <= t.wait_a < address + size:
            if semaphore_holds(m, t):
                cores_of(m)[core].semaphore_waiters -= 1
                wake(m, index, now, m.semaphore_poll)


@nb.njit(cache=True)
def semaphore_wait(m, thread, now, mode):
    """noc_semaphore_wait / _wait_min: poll a word of the core's own L1."""
    t = threads_of(m)[thread]
    address = argument(t, 0)
    if address % 4 != 0 or address < 0 or address + 4 > m.l1_size:
        fail(m, thread, Fault.SEMAPHORE_RANGE, address, 0, 0)
        return -1
    t.wait_a, t.wait_b, t.wait_c = address, argument(t, 1) & 0xFFFFFFFF, mode
    if semaphore_holds(m, t):
        charge(m, thread, now, m.semaphore_poll)
        return now + m.semaphore_poll
    cores_of(m)[t.core].semaphore_waiters += 1
    return park(m, thread, now, WAIT_SEMAPHORE, t.wait_a, t.wait_b, mode)


# --- issue


@nb.njit(cache=True)
def command_buffer_ready(m, thread, noc, now):
    """Wait until the thread's last packet on a NoC has begun to leave.

    Returns `now` when the call can go on; else the cycle at which to try again, or -1 (parked).
    """
    if noc < 0 or noc > 1:
        return now
    free = noc_words_of(m)[thread * NOC_WORDS + 64 * noc + COMMAND_FREE]
    if free == HELD:
        return park(m, thread, now, WAIT_NOC_ISSUE, 0, noc, -1)
    if free > now:
        charge_stall(m, thread, WAIT_NOC_ISSUE, now, free)
        threads_of(m)[thread].phase = 1
        return free
    return now


@nb.njit(cache=True)
def next_issue(m, thread, now, cost, last):
    """Charge one packet's issue and give the cycle at which the core goes on."""
    charge(m, thread, now, cost)
    if not last:
        threads_of(m)[thread].phase = 1
    return now + cost


@nb.njit(cache=True)
def send_request(m, index, flits, time):
    """Give a transaction's request to the network; it is in the command buffer at cycle `time`."""
    x = transactions_of(m)[index]
    p = noc_params_of(m)[0]
    packet = packets_of(m)[index]
    prepare(p, packet, x.noc, x.source, x.target, flits, REQUEST, p.write_cost)
    packet.answered = 1 if x.kind == READ else 0
    if x.kind == WRITE and tiles_of(m)[x.target].kind == TILE_DRAM:
        dram = dram_params_of(m)[0]
        packet.gate = m.n_tiles + bank_of(m, x.target, x.address)
        packet.gate_ticks = bus_ticks(dram, x.size, x.size <= dram.partial_bytes)
        packet.fragments_ticks = fragments_ticks(dram, x.size) if packet.dynamic != 0 else 0
    noc_words_of(m)[x.thread * NOC_WORDS + 64 * x.noc + COMMAND_FREE] = HELD
    schedule_transaction(m, index, time)


@nb.njit(cache=True)
def send_answer(m, index, now):
    """Data or acknowledgement starts on its way back; returns the cycle of the packet's next event, or -1."""
    x = transactions_of(m)[index]
    p = noc_params_of(m)[0]
    flits, cost = 1, FLIT_COST
    if x.kind == READ:
        flits += (x.size + m.flit_bytes - 1) // m.flit_bytes
        if tiles_of(m)[x.target].kind == TILE_WORKER:
            cost = p.read_cost
    log_bytes(m, x.thread, LOG_NOC + x.noc, x.issued, now, x.size)
    x.stage = AT_SOURCE
    prepare(p, packets_of(m)[index], x.noc, x.target, x.source, flits, RESPONSE, cost)
    return move_packet(m, index, now)


@nb.njit(cache=True)
def move_packet(m, index, now):
    """The head of a transaction's packet reaches its next link; returns the cycle of the packet's next event, or -1.

    In the flit model the packet is handed to its NIU as a whole.
    """
    if m.flit_model_at != 0:
        return call_model(m.flit_model_at, m.self_at, index, now)
    packets, p = packets_of(m), noc_params_of(m)[0]
    time = head_event(links_of(m), ports_of(m), p, packets, index, now)
    if packets[index].hop == 1 and time >= 0:
        left_command_buffer(m, index, now)
    other = p.granted
    while other >= 0:
        schedule_transaction(m, other, packets[other].time)
        if packets[other].hop == 1:
            left_command_buffer(m, other, now)
        other = packets[other].next_granted
    other = p.gone
    while other >= 0:
        tail_left(m, other, now)
        other = packets[other].next_gone
    return time


@nb.njit(cache=True)
def left_command_buffer(m, index, now):
    """A packet has got the link out of its NIU: its thread may use the command buffer again."""
    x = transactions_of(m)[index]
    if x.stage != AT_TARGET:
        return
    begun = packets_of(m)[index].begun
    noc_words_of(m)[x.thread * NOC_WORDS + 64 * x.noc + COMMAND_FREE] = begun
    t = threads_of(m)[x.thread]
    if t.state == PARKED and t.wait == WAIT_NOC_ISSUE and t.wait_b == x.noc:
        unpark(m, x.thread, begun)
        schedule_thread(m, x.thread, begun)


@nb.njit(cache=True)
def tail_left(m, index, now):
    """The tail of a packet leaves its NIU at the packet's cycle `left`: its source may be reused from then on."""
    x = transactions_of(m)[index]
    if x.stage != AT_TARGET or (x.kind != WRITE and x.kind != INLINE):
        return
    words = noc_words_of(m)
    base = x.thread * NOC_WORDS + 64 * x.noc
    left = packets_of(m)[index].left
    if x.posted != 0:
        words[base + POSTED_UNSENT] -= 1
        words[base + POSTED_FLUSH_AT] = max(words[base + POSTED_FLUSH_AT], left)
    else:
        words[base + WRITES_UNSENT] -= 1
        words[base + WRITE_FLUSH_AT] = max(words[base + WRITE_FLUSH_AT], left)
        if x.trid >= 0:
            words[x.thread * NOC_WORDS + TRID_UNSENT + 16 * x.noc + x.trid] -= 1
            words[base + TRID_FLUSH_AT + x.trid] = max(words[base + TRID_FLUSH_AT + x.trid], left)
    transaction_returned(m, x.thread, now)


@nb.njit(cache=True)
def valid_noc(m, thread, noc, trid):
    if noc < 0 or noc > 1:
        fail(m, thread, Fault.NOC_RANGE, noc, 0, 0)
        return False
    if trid < -1 or trid > 15:
        fail(m, thread, Fault.TRID_RANGE, trid, 0, 0)
        return False
    return True


@nb.njit(cache=True)
def issue_read(m, thread, now, source, local, size, noc, trid, vc, cost, one_packet):
    """One packet of a read; `t.step` bytes have been issued before.  Returns the cycle at which the core goes on."""
    ready = command_buffer_ready(m, thread, noc, now)
    if ready != now:
        return ready
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    if t.step == 0:
        if size <= 0:
            fail(m, thread, Fault.ZERO_LENGTH, source, size, 0)
            return -1
        if not valid_noc(m, thread, noc, trid):
            return -1
        if one_packet and size > m.max_packet:
            fail(m, thread, Fault.PACKET_TOO_LONG, size, m.max_packet, 0)
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
        note_open_read(m, thread, local, size, noc * 32 + trid + 1)
    count = min(size - t.step, m.max_packet)
    index = new_transaction(m, READ, thread, noc, core.tile, tile)
    x = transactions_of(m)[index]
    x.address, x.local, x.size, x.trid = offset + t.step, local + t.step, count, trid
    packets_of(m)[index].dynamic = vc == DYNAMIC_VC
    send_request(m, index, 1, now + cost)
    words = noc_words_of(m)
    base = thread * NOC_WORDS + 64 * noc
    words[base + READS_OUT] += 1
    if trid >= 0:
        words[base + TRID_READS + trid] += 1
    t.step += count
    return next_issue(m, thread, now, cost, t.step >= size)


@nb.njit(cache=True)
def issue_write(m, thread, now, local, destination, size, noc, trid, posted, vc, cost, one_packet):
    """One packet of a write; `t.step` bytes have been issued before.  Returns the cycle at which the core goes on."""
    ready = command_buffer_ready(m, thread, noc, now)
    if ready != now:
        return ready
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    if t.step == 0:
        if size <= 0:
            fail(m, thread, Fault.ZERO_LENGTH, destination, size, 0)
            return -1
        if not valid_noc(m, thread, noc, trid):
            return -1
        if one_packet and size > m.max_packet:
            fail(m, thread, Fault.PACKET_TOO_LONG, size, m.max_packet, 0)
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
    count = min(size - t.step, m.max_packet)
    index = new_transaction(m, WRITE, thread, noc, core.tile, tile)
    x = transactions_of(m)[index]
    x.address, x.local, x.size, x.trid, x.posted = offset + t.step, local + t.step, count, trid, posted
    if moves(m, count):
        x.staging = new_staging(m, 1)
        copy_bytes(staging_address(m, x.staging), m.l1_at + t.core * m.l1_size + x.local, count)
    if not check_writers(m, index):
        return -1
    flits = 1 + (count + m.flit_bytes - 1) // m.flit_bytes
    packets_of(m)[index].dynamic = vc == DYNAMIC_VC
    send_request(m, index, flits, now + cost)
    count_write(m, thread, noc, trid, posted)
    t.step += count
    return next_issue(m, thread, now, cost, t.step >= size)


@nb.njit(cache=True)
def count_write(m, thread, noc, trid, posted):
    """Count a write to one target: one more to leave the core and, unless posted, to be acknowledged."""
    words = noc_words_of(m)
    base = thread * NOC_WORDS + 64 * noc
    if posted != 0:
        words[base + POSTED_UNSENT] += 1
        return
    words[base + WRITES_OUT] += 1
    words[base + WRITES_UNSENT] += 1
    if trid >= 0:
        words[base + TRID_WRITES + trid] += 1
        words[thread * NOC_WORDS + TRID_UNSENT + 16 * noc + trid] += 1


@nb.njit(cache=True)
def issue_multicast(m, thread, now):
    """One packet of a multicast write: one transaction per receiver, one staging slot for all of them."""
    t = threads_of(m)[thread]
    local, address, size = argument(t, 0), argument(t, 1), argument(t, 2)
    expected, linked, loopback, noc = argument(t, 3), argument(t, 4), argument(t, 5), argument(t, 6)
    ready = command_buffer_ready(m, thread, noc, now)
    if ready != now:
        return ready
    core = cores_of(m)[t.core]
    offset = address & ctx.NOC_OFFSET_MASK
    if t.step == 0:
        if size <= 0:
            fail(m, thread, Fault.ZERO_LENGTH, address, size, 0)
            return -1
        if not (
            valid_noc(m, thread, noc, -1)
            and check_l1(m, thread, t.core, local, size, False)
            and check_l1(m, thread, t.core, offset, size, True)
            and (size <= 4 or check_congruent(m, thread, local, offset, m.l1_congruence))
        ):
            return -1
        if t.reads_open > 0 and check_open_reads(m, thread, local, size):
            return -1
    count = min(size - t.step, m.max_packet)
    last = t.step + count >= size
    flits = 1 + (count + m.flit_bytes - 1) // m.flit_bytes
    path = (address >> CORNERS_SHIFT) + 1
    is_open = open_path(core, noc)
    if is_open != 0 and is_open != path:
        fail(m, thread, Fault.LINKED_OPEN, address, 0, 0)
        return -1
    cost = m.issue_multicast if t.attempts == 0 else 0
    n, left, free = multicast_packet(m, thread, now + cost, address, noc, loopback, is_open, linked, flits)
    if n == PATH_TAKEN:
        return reserve_again(m, thread, now + cost)
    if n < 0:
        return -1
    if n != expected:
        fail(m, thread, Fault.MULTICAST_COUNT, expected, n, 0)
        return -1
    keep = path if linked != 0 else 0  # unlinked, every packet reserves its path anew (timing reference, section 2.5)
    if noc == 0:
        core.linked_noc0 = keep
    else:
        core.linked_noc1 = keep
    slot = -1
    if moves(m, count):
        slot = new_staging(m, n)
        copy_bytes(staging_address(m, slot), m.l1_at + t.core * m.l1_size + local + t.step, count)
    receivers, chain = receivers_of(m), -1
    for i in range(n):
        index = new_transaction(m, WRITE, thread, noc, core.tile, receivers[2 * i])
        x = transactions_of(m)[index]
        x.address, x.local, x.size, x.staging = offset + t.step, local + t.step, count, slot
        if not check_writers(m, index):
            return -1
        chain = to_receiver(m, index, receivers[2 * i + 1], chain)
    words = noc_words_of(m)
    base = thread * NOC_WORDS + 64 * noc
    if m.flit_model_at != 0:
        words[base + WRITES_UNSENT] += 1
        carry_multicast(m, WRITE, thread, noc, chain, flits, is_open, keep, now + cost)
    else:
        words[base + WRITE_FLUSH_AT] = max(words[base + WRITE_FLUSH_AT], free)
    words[base + WRITES_OUT] += n
    words[base + COMMAND_FREE] = left
    t.step += count
    return next_issue(m, thread, now, cost, last)


@nb.njit(cache=True)
def reserve_again(m, thread, now):
    """The path of a multicast is another's: returns the cycle of the next attempt.

    Random exponential back-off: the window doubles with every failure.
    """
    t = threads_of(m)[thread]
    window = m.backoff_cycles << min(t.attempts, m.backoff_doublings)
    t.attempts += 1
    again = now + random_wait(window, ((m.backoff_seed * 1024 + t.core) * 1048576 + t.sequence) * 4096 + t.attempts)
    charge_stall(m, thread, WAIT_NOC_ISSUE, now, again)
    t.phase = 1
    return again


@nb.njit(cache=True)
def multicast_packet(m, thread, time, address, noc, loopback, is_open, keep, flits):
    """Route one multicast packet; receivers land in the machine's receiver list.  Returns (n or -1, left, free)."""
    t = threads_of(m)[thread]
    x1, y1 = (address >> 36) & 63, (address >> 42) & 63
    x0, y0 = (address >> 48) & 63, (address >> 54) & 63
    height = m.n_tiles // m.grid_width
    if x0 >= m.grid_width or x1 >= m.grid_width or y0 >= height or y1 >= height:
        fail(m, thread, Fault.UNKNOWN_TILE, address, max(x0, x1), max(y0, y1))
        return -1, 0, 0
    if (noc == 0 and (x0 > x1 or y0 > y1)) or (noc == 1 and (x0 < x1 or y0 < y1)):
        fail(m, thread, Fault.MULTICAST_INVERTED, address, noc, 0)
        return -1, 0, 0
    if m.flit_model_at != 0:
        source = cores_of(m)[t.core].tile
        n = list_receivers(
            noc_params_of(m)[0], workers_mask_of(m), noc, source, x0, y0, x1, y1, loopback, receivers_of(m)
        )
        left = free = HELD
    else:
        n, left, free = send_multicast(
            links_of(m), noc_params_of(m)[0], workers_mask_of(m), noc, cores_of(m)[t.core].tile,
            x0, y0, x1, y1, loopback, is_open, keep, flits, time, receivers_of(m),
        )  # fmt: skip
        if n == PATH_TAKEN:
            return n, 0, 0
    t.attempts = 0
    if n == 0:
        fail(m, thread, Fault.MULTICAST_EMPTY, address, 0, 0)
        return -1, 0, 0
    return n, left, free


@nb.njit(cache=True)
def to_receiver(m, index, time, chain):
    """A multicast's transaction is with its receiver at `time`, in the flit model when the network says so.

    Returns the chain (by `next` of the packets) of transactions that the network is to deliver, with this one before `chain`.
    """
    pk = packets_of(m)[index]
    pk.delivered = 1
    if m.flit_model_at == 0:
        schedule_transaction(m, index, time)
        return -1
    pk.next = chain
    return index


@nb.njit(cache=True)
def carry_multicast(m, kind, thread, noc, chain, flits, is_open, keep, time):
    """Make the transaction, without a target, whose packet the flit model takes to all receivers in `chain`."""
    source = cores_of(m)[threads_of(m)[thread].core].tile
    index = new_transaction(m, kind, thread, noc, source, source)
    x, p, pk = transactions_of(m)[index], noc_params_of(m)[0], packets_of(m)[index]
    x.target, x.value, x.address = -1, is_open, keep
    prepare(p, pk, noc, source, source, flits, REQUEST, p.multicast_cost)
    pk.next = chain
    schedule_transaction(m, index, time)


@nb.njit(cache=True)
def issue_word(m, thread, now, kind, address, value, noc, posted, cost):
    """A one-flit request that carries its operand: inline write or atomic increment."""
    ready = command_buffer_ready(m, thread, noc, now)
    if ready != now:
        return ready
    t = threads_of(m)[thread]
    if not (valid_noc(m, thread, noc, -1) and check_unlinked(m, thread, noc, address)):
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
    send_request(m, index, 1, now + cost)
    if kind == INLINE:
        count_write(m, thread, noc, -1, posted)
    elif posted == 0:
        noc_words_of(m)[thread * NOC_WORDS + 64 * noc + ATOMICS_OUT] += 1
    return next_issue(m, thread, now, cost, True)


@nb.njit(cache=True)
def issue_multicast_increment(m, thread, now):
    """Atomic increment of one word on every core of a rectangle."""
    t = threads_of(m)[thread]
    address, value, expected, noc = argument(t, 0), argument(t, 1), argument(t, 2), argument(t, 3)
    ready = command_buffer_ready(m, thread, noc, now)
    if ready != now:
        return ready
    offset = address & ctx.NOC_OFFSET_MASK
    if not (valid_noc(m, thread, noc, -1) and check_l1(m, thread, t.core, offset, 4, True)):
        return -1
    cost = m.issue_atomic if t.attempts == 0 else 0
    n, left, _ = multicast_packet(m, thread, now + cost, address, noc, 0, 0, 0, 1)
    if n == PATH_TAKEN:
        return reserve_again(m, thread, now + cost)
    if n < 0:
        return -1
    if n != expected:
        fail(m, thread, Fault.MULTICAST_COUNT, expected, n, 0)
        return -1
    receivers, chain = receivers_of(m), -1
    for i in range(n):
        index = new_transaction(m, ATOMIC, thread, noc, cores_of(m)[t.core].tile, receivers[2 * i])
        x = transactions_of(m)[index]
        x.address, x.size, x.value = offset, 4, value
        chain = to_receiver(m, index, receivers[2 * i + 1], chain)
    if m.flit_model_at != 0:
        carry_multicast(m, ATOMIC, thread, noc, chain, 1, 0, 0, now + cost)
    noc_words_of(m)[thread * NOC_WORDS + 64 * noc + ATOMICS_OUT] += n
    noc_words_of(m)[thread * NOC_WORDS + 64 * noc + COMMAND_FREE] = left
    return next_issue(m, thread, now, cost, True)


# --- operations


@nb.njit(cache=True)
def noc_read(m, thread, now):
    t = threads_of(m)[thread]
    kind = argument(t, 5)
    cost = m.issue_read
    if kind == ISSUE_PAGE and t.step == 0:
        cost = m.issue_read_page
    elif kind == ISSUE_ONE_PACKET:
        cost = m.issue_read_one_packet
    elif kind == ISSUE_STATEFUL:
        cost = m.issue_read_stateful
    return issue_read(
        m, thread, now, argument(t, 0), argument(t, 1), argument(t, 2), argument(t, 3), argument(t, 4), argument(t, 6),
        cost, kind == ISSUE_ONE_PACKET,
    )  # fmt: skip


@nb.njit(cache=True)
def noc_write(m, thread, now):
    t = threads_of(m)[thread]
    kind = argument(t, 5)
    cost = m.issue_write
    if kind == ISSUE_PAGE and t.step == 0:
        cost = m.issue_write_page
    elif kind == ISSUE_ONE_PACKET:
        cost = m.issue_write_one_packet
    elif kind == ISSUE_STATEFUL:
        cost = m.issue_write_stateful
    return issue_write(
        m, thread, now, argument(t, 0), argument(t, 1), argument(t, 2), argument(t, 3), argument(t, 4),
        argument(t, 6), argument(t, 7), cost, kind == ISSUE_ONE_PACKET,
    )  # fmt: skip


@nb.njit(cache=True)
def set_state(m, thread, now):
    """Program a command buffer's target, size and flags once for the `with_state` calls."""
    t = threads_of(m)[thread]
    if not valid_noc(m, thread, argument(t, 3), -1):
        return -1
    words = noc_words_of(m)
    base = thread * NOC_WORDS + SAVED_STATE + 16 * argument(t, 3) + 8 * argument(t, 0)
    for i, source in enumerate((1, 2, 4, 5, 6)):
        words[base + i] = argument(t, source)
    charge(m, thread, now, m.issue_set_state)
    return now + m.issue_set_state


@nb.njit(cache=True)
def noc_read_with_state(m, thread, now):
    t = threads_of(m)[thread]
    noc = argument(t, 3)
    if not valid_noc(m, thread, noc, argument(t, 4)):
        return -1
    base = thread * NOC_WORDS + SAVED_STATE + 16 * noc
    words = noc_words_of(m)
    size = argument(t, 2) if argument(t, 2) > 0 else words[base + 1]
    source = (words[base] & ~ctx.NOC_OFFSET_MASK) | (argument(t, 0) & ctx.NOC_OFFSET_MASK)
    trid = argument(t, 4) if argument(t, 4) >= 0 else words[base + 4]
    vc = words[base + 3]
    return issue_read(m, thread, now, source, argument(t, 1), size, noc, trid, vc, m.issue_read_stateful, False)


@nb.njit(cache=True)
def noc_write_with_state(m, thread, now):
    t = threads_of(m)[thread]
    noc = argument(t, 3)
    if not valid_noc(m, thread, noc, argument(t, 4)):
        return -1
    base = thread * NOC_WORDS + SAVED_STATE + 16 * noc + 8
    words = noc_words_of(m)
    size = argument(t, 2) if argument(t, 2) > 0 else words[base + 1]
    destination = (words[base] & ~ctx.NOC_OFFSET_MASK) | (argument(t, 1) & ctx.NOC_OFFSET_MASK)
    trid = argument(t, 4) if argument(t, 4) >= 0 else words[base + 4]
    return issue_write(
        m,
        thread,
        now,
        argument(t, 0),
        destination,
        size,
        noc,
        trid,
        words[base + 2],
        words[base + 3],
        m.issue_write_stateful,
        False,
    )


# --- barriers


@nb.njit(cache=True)
def barrier_open(m, thread, kind, noc, trid):
    """What the barrier still waits for (0: all of it is known): transactions, or writes that have not left yet."""
    words = noc_words_of(m)
    base = thread * NOC_WORDS + 64 * noc
    if kind == BARRIER_READ:
        return words[base + READS_OUT]
    if kind == BARRIER_WRITE:
        return words[base + WRITES_OUT]
    if kind == BARRIER_ATOMIC:
        return words[base + ATOMICS_OUT]
    if kind == BARRIER_FULL:
        return (
            words[base + READS_OUT] + words[base + WRITES_OUT] + words[base + ATOMICS_OUT] + words[base + POSTED_UNSENT]
        )
    if kind == BARRIER_READ_TRID:
        return words[base + TRID_READS + trid]
    if kind == BARRIER_WRITE_TRID:
        return words[base + TRID_WRITES + trid]
    if kind == BARRIER_FLUSHED:
        return words[base + WRITES_UNSENT]
    if kind == BARRIER_POSTED:
        return words[base + POSTED_UNSENT]
    return words[thread * NOC_WORDS + TRID_UNSENT + 16 * noc + trid]


@nb.njit(cache=True)
def finish_barrier(m, thread, kind, noc, trid):
    if kind == BARRIER_READ or kind == BARRIER_FULL:
        forget_open_reads(m, thread, noc, -1)
    elif kind == BARRIER_READ_TRID:
        forget_open_reads(m, thread, noc, trid)


@nb.njit(cache=True)
def barrier(m, thread, now):
    """noc_async_*_barrier and *_flushed."""
    t = threads_of(m)[thread]
    kind, noc, trid = argument(t, 0), argument(t, 1), argument(t, 2)
    if not valid_noc(m, thread, noc, trid):
        return -1
    words = noc_words_of(m)
    base = thread * NOC_WORDS + 64 * noc
    until = now
    if kind == BARRIER_FLUSHED or kind == BARRIER_FULL:
        until = max(until, words[base + WRITE_FLUSH_AT])
    if kind == BARRIER_POSTED or kind == BARRIER_FULL:
        until = max(until, words[base + POSTED_FLUSH_AT])
    if kind == BARRIER_FLUSHED_TRID:
        until = max(until, words[base + TRID_FLUSH_AT + trid])
    if barrier_open(m, thread, kind, noc, trid) > 0:
        reason = WAIT_WRITE_BARRIER
        if kind == BARRIER_READ or kind == BARRIER_READ_TRID or kind == BARRIER_FULL:
            reason = WAIT_READ_BARRIER
        elif kind == BARRIER_ATOMIC:
            reason = WAIT_ATOMIC_BARRIER
        elif kind == BARRIER_FLUSHED or kind == BARRIER_POSTED or kind == BARRIER_FLUSHED_TRID:
            reason = WAIT_FLUSH
        return park(m, thread, now, reason, kind, noc, trid)
    finish_barrier(m, thread, kind, noc, trid)
    charge_stall(m, thread, WAIT_FLUSH, now, until)
    charge(m, thread, until, m.barrier_poll)
    return until + m.barrier_poll


@nb.njit(cache=True)
def transaction_returned(m, thread, now):
    """A count of the thread went down: end its barrier if that was the last one."""
    t = threads_of(m)[thread]
    if t.state == PARKED and WAIT_READ_BARRIER <= t.wait <= WAIT_ATOMIC_BARRIER:
        if barrier_open(m, thread, t.wait_a, t.wait_b, t.wait_c) == 0:
            if t.operation == OPERATION_END or t.wait == WAIT_FLUSH:  # the tail that has been waited for leaves later
                wake_to_retry(m, thread, now)
                return
            finish_barrier(m, thread, t.wait_a, t.wait_b, t.wait_c)
            wake(m, thread, now, m.barrier_poll)


# --- what happens at the target and on return


@nb.njit(cache=True)
def log_bytes(m, thread, kind, start, end, size):
    """Enter moved bytes into the timeline log."""
    if m.log_on != 0 and m.n_log < m.log_capacity:
        entry = log_of(m)[m.n_log]
        entry.thread, entry.kind, entry.start, entry.end, entry.line = thread, kind, start, end, size
        m.n_log += 1


@nb.njit(cache=True)
def access_memory(m, index, now):
    """The request is at its target: read or write the memory there.  Returns the cycle at which the answer can leave."""
    x = transactions_of(m)[index]
    target = tiles_of(m)[x.target]
    if target.kind == TILE_DRAM:
        bank, inside = bank_of(m, x.target, x.address), x.address % m.bank_bytes
        done = dram_access(
            channels_of(m),
            banks_of(m),
            dram_params_of(m)[0],
            bank,
            inside,
            x.size,
            x.kind == WRITE,
            now,
            x.noc,
            packets_of(m)[index].mixed,
        )
        ports_of(m)[m.n_tiles + bank] = max(ports_of(m)[m.n_tiles + bank], channels_of(m)[bank].write_free)
        log_bytes(m, x.thread, LOG_DRAM + bank, now, done, x.size)
        if x.kind == READ and moves(m, x.size):
            x.staging = new_staging(m, 1)
            read_bank(m, bank, inside, x.size, staging_address(m, x.staging))
        elif x.kind == WRITE and x.staging >= 0:
            write_bank(m, bank, inside, x.size, staging_address(m, x.staging))
        return done
    core = target.index
    host = m.l1_at + core * m.l1_size + x.address
    if x.kind == READ:
        if moves(m, x.size):
            x.staging = new_staging(m, 1)
            copy_bytes(staging_address(m, x.staging), host, x.size)
        return now + m.l1_noc_latency
    if x.kind == WRITE:
        if x.staging >= 0:
            copy_bytes(host, staging_address(m, x.staging), x.size)
    elif x.kind == ATOMIC:
        store_32(host, load_u32(host) + x.value)
    else:
        for i in range(4):
            if (x.value >> (32 + i)) & 1:
                store_8(host + i, (x.value >> (8 * i)) & 255)
    l1_changed(m, core, x.address, x.size, now)
    return now + m.l1_noc_write_latency


@nb.njit(cache=True)
def transaction_event(m, index, now):
    """A packet of a transaction moves, or one of its stages ends; returns the cycle of its next event, or -1."""
    x = transactions_of(m)[index]
    if packets_of(m)[index].delivered == 0:
        return move_packet(m, index, now)
    if x.stage == AT_TARGET:
        answer = access_memory(m, index, now)
        if x.kind != READ:
            if x.kind != ATOMIC:
                close_write(m, index)
            release_staging(m, x.staging)
            x.staging = -1
            if x.posted != 0:
                free_transaction(m, index)
                return -1
        x.stage = ANSWER
        return max(answer, now + 1)
    if x.stage == ANSWER:
        return send_answer(m, index, now)
    transaction_home(m, index, now)
    return -1


@nb.njit(cache=True)
def transaction_home(m, index, now):
    """Data or acknowledgement is back at the core that asked."""
    x = transactions_of(m)[index]
    thread = x.thread
    t = threads_of(m)[thread]
    words = noc_words_of(m)
    base = thread * NOC_WORDS + 64 * x.noc
    if x.kind == READ:
        if x.staging >= 0:
            copy_bytes(m.l1_at + t.core * m.l1_size + x.local, staging_address(m, x.staging), x.size)
            release_staging(m, x.staging)
        words[base + READS_OUT] -= 1
        if x.trid >= 0:
            words[base + TRID_READS + x.trid] -= 1
        l1_changed(m, t.core, x.local, x.size, now)
    elif x.kind == ATOMIC:
        words[base + ATOMICS_OUT] -= 1
    else:
        words[base + WRITES_OUT] -= 1
        if x.trid >= 0:
            words[base + TRID_WRITES + x.trid] -= 1
    free_transaction(m, index)
    transaction_returned(m, thread, now)
