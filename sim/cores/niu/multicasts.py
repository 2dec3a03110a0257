"""Multicast writes and increments: paths, linked or reserved packet by packet, receivers (docs/hardware/noc.md#multicast)."""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.niu.command_buffers import command_buffer_ready, next_issue
from tensim.sim.cores.niu.payloads import take_from_l1
from tensim.sim.cores.niu.transactions import buffer_of, data_flits, new_transaction
from tensim.sim.cores.oddities import odd
from tensim.sim.cores.threads import argument, charge, charge_stall, fail
from tensim.sim.cores.transfer_checks import (
    check_congruent,
    check_l1,
    check_open_reads,
    check_writers,
    open_path,
    valid_noc,
)
from tensim.sim.engine.compiled import compiled
from tensim.sim.noc.multicast import NIU_BUSY, PATH_TAKEN, entry_tile, list_receivers, random_wait, send_multicast
from tensim.sim.noc.packet import prepare
from tensim.sim.noc.packet_state import HELD, REQUEST
from tensim.sim.state import (
    ATOMIC,
    ATOMIC_BUFFER,
    WAIT_NOC_ISSUE,
    WRITE,
    cores_of,
    links_of,
    noc_columns_of,
    noc_counters_of,
    noc_params_of,
    noc_rows_of,
    packets_of,
    receivers_of,
    schedule,
    threads_of,
    transactions_of,
    workers_mask_of,
)

CORNERS_SHIFT = 36  # of a multicast address: the four coordinates lie above


@compiled()
def issue_multicast(m, thread, now):
    """One packet of a multicast write: one transaction per receiver, one staging slot for all of them."""
    t = threads_of(m)[thread]
    local, address, size = argument(t, 0), argument(t, 1), argument(t, 2)
    expected, linked, loopback, noc = argument(t, 3), argument(t, 4), argument(t, 5), argument(t, 6)
    count = min(size - t.step, m.max_packet)
    buffer = buffer_of(WRITE, count)
    ready = command_buffer_ready(m, thread, noc, buffer, now)
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
    last = t.step + count >= size
    flits = data_flits(m, count)
    path = (address >> CORNERS_SHIFT) + 1
    is_open = open_path(core, noc)
    if is_open != 0 and is_open != path:
        fail(m, thread, Fault.LINKED_OPEN, address, 0, 0)
        return -1
    cost, issued = m.issue_multicast, now
    if is_open == 0 and m.flit_model_at == 0:  # there NIUs reserve the paths
        if t.attempts == 0:
            return first_attempt(m, thread, now, cost)
        cost, issued = 0, t.count
    n, left, free = multicast_packet(m, thread, now + cost, address, noc, expected, loopback, is_open, linked, flits)
    if n == PATH_TAKEN or n == NIU_BUSY:
        return reserve_again(m, thread, now, n, left)
    if n < 0:
        return -1
    keep = path if linked != 0 else 0  # unlinked, every packet reserves its path anew (docs/hardware/noc.md#multicast)
    if noc == 0:
        core.linked_noc0 = keep
    else:
        core.linked_noc1 = keep
    slot = take_from_l1(m, m.l1_at + t.core * m.l1_size + local + t.step, count, n)
    receivers, chain = receivers_of(m), -1
    for i in range(n):
        index = new_transaction(m, WRITE, thread, noc, core.tile, receivers[2 * i])
        x = transactions_of(m)[index]
        x.address, x.local, x.size, x.staging, x.issued = offset + t.step, local + t.step, count, slot, issued
        if not check_writers(m, index):
            return -1
        chain = to_receiver(m, index, receivers[2 * i + 1], chain)
    counters = noc_counters_of(m, thread, noc)
    if m.flit_model_at != 0:
        counters.writes_unsent += 1
        carry_multicast(m, WRITE, thread, noc, chain, address, count, is_open, keep, now + cost)
    else:
        counters.write_flush_at = max(counters.write_flush_at, free + m.multicast_sent)
    counters.writes_out += n
    counters.command_free[buffer] = left
    if m.flit_model_at == 0:
        counters.niu_free = max(counters.niu_free, left)
    t.step += count
    return next_issue(m, thread, now, cost, last)


@compiled()
def first_attempt(m, thread, now, cost):
    """A multicast is in the command buffer after `cost` cycles: returns the cycle at which its NIU may reserve the path.

    `attempts` counts from one while the thread comes back for it; `count` is the cycle at which its issue began.
    """
    t = threads_of(m)[thread]
    t.attempts, t.phase, t.count = 1, 1, now
    charge(m, thread, now, cost)
    return now + cost


@compiled()
def reserve_again(m, thread, now, answer, again):
    """The path of a multicast is another's, or its NIU is busy until cycle `again`: returns the cycle of the next attempt.

    Random exponential back-off: the window doubles with every failure.
    """
    t = threads_of(m)[thread]
    if answer == PATH_TAKEN:
        window = m.backoff_cycles << min(t.attempts - 1, m.backoff_doublings)
        t.attempts += 1
        draw = ((m.backoff_seed * 1024 + t.core) * 1048576 + t.sequence) * 4096 + t.attempts
        again = now + random_wait(window, draw)
    charge_stall(m, thread, WAIT_NOC_ISSUE, now, again)
    t.phase = 1
    return again


@compiled()
def corners(m, address):
    """(x0, y0, x1, y1) of the rectangle of a multicast address, in tiles; -1 where there are none."""
    columns, rows = noc_columns_of(m), noc_rows_of(m)
    return (
        columns[(address >> 48) & 63], rows[(address >> 54) & 63],
        columns[(address >> 36) & 63], rows[(address >> 42) & 63],
    )  # fmt: skip


@compiled()
def travelled(m, noc, address):
    """The corners of a multicast in the order in which its NoC goes from one to the other.

    They are the kernel's, unless an experiment has put it on the other NoC (`tensim.sim.chip.experiments.turn_corners`).
    """
    x0, y0, x1, y1 = corners(m, address)
    if m.turned_corners == 0:
        return x0, y0, x1, y1
    if noc == 0:
        return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
    return max(x0, x1), max(y0, y1), min(x0, x1), min(y0, y1)


@compiled()
def contains(m, x0, y0, x1, y1, tile):
    """Whether a rectangle of tiles has this one."""
    x, y = tile % m.grid_width, tile // m.grid_width
    return min(x0, x1) <= x <= max(x0, x1) and min(y0, y1) <= y <= max(y0, y1)


@compiled()
def multicast_packet(m, thread, time, address, noc, expected, loopback, is_open, keep, flits):
    """Route one multicast packet; receivers, `expected` in number, land in the machine's receiver list.

    Returns what `send_multicast` does, or -1 in place of the number after a fault.
    """
    t = threads_of(m)[thread]
    source = cores_of(m)[t.core].tile
    x0, y0, x1, y1 = travelled(m, noc, address)
    if min(x0, x1, y0, y1) < 0:
        x, y = max((address >> 36) & 63, (address >> 48) & 63), max((address >> 42) & 63, (address >> 54) & 63)
        fail(m, thread, Fault.UNKNOWN_TILE, address, x, y)
        return -1, 0, 0
    if (noc == 0 and (x0 > x1 or y0 > y1)) or (noc == 1 and (x0 < x1 or y0 < y1)):
        fail(m, thread, Fault.MULTICAST_INVERTED, address, noc, 0)
        return -1, 0, 0
    if m.flit_model_at != 0:
        n = list_receivers(
            noc_params_of(m)[0], workers_mask_of(m), noc, source, x0, y0, x1, y1, loopback, receivers_of(m)
        )
        left = free = HELD
    else:
        n, left, free = send_multicast(
            links_of(m), noc_params_of(m)[0], workers_mask_of(m), noc, source,
            x0, y0, x1, y1, loopback, is_open, keep, flits, time, receivers_of(m),
        )  # fmt: skip
        if n == PATH_TAKEN or n == NIU_BUSY:
            return n, left, free
    t.attempts = 0
    if n == 0:
        inside = contains(m, x0, y0, x1, y1, source)
        fail(m, thread, Fault.MULTICAST_TO_SENDER if inside else Fault.MULTICAST_EMPTY, address, 0, 0)
        return -1, 0, 0
    alone = n == 1 and receivers_of(m)[0] == source
    if alone and (keep != 0 or is_open != 0) and odd(m, thread, Fault.LINKED_TO_SENDER, address, 0, 0):
        return -1, 0, 0
    if n != expected:
        fail(m, thread, Fault.MULTICAST_COUNT, expected, n, 0)
        return -1, 0, 0
    return n, left, free


@compiled()
def to_receiver(m, index, time, chain):
    """A multicast's transaction is with its receiver at `time`, in the flit model when the network says so.

    Returns the chain (by `next` of the packets) of transactions that the network is to deliver, with this one before `chain`.
    """
    pk = packets_of(m)[index]
    pk.delivered = 1
    if m.flit_model_at == 0:
        schedule(m, time, transactions_of(m)[index].key, index)
        return -1
    pk.next = chain
    return index


@compiled()
def carry_multicast(m, kind, thread, noc, chain, address, size, is_open, keep, time):
    """Make the transaction, without a target, whose packet of `size` bytes the flit model takes to all receivers in `chain`."""
    source = cores_of(m)[threads_of(m)[thread].core].tile
    index = new_transaction(m, kind, thread, noc, source, source)
    x, p, pk = transactions_of(m)[index], noc_params_of(m)[0], packets_of(m)[index]
    x.target, x.value, x.address, x.local = -1, is_open, keep, entry_tile(p, noc, source, *travelled(m, noc, address))
    x.size = size
    prepare(p, pk, noc, source, source, data_flits(m, size), REQUEST, p.multicast_cost)
    pk.next = chain
    schedule(m, time, x.key, index)


@compiled()
def issue_multicast_increment(m, thread, now):
    """Atomic increment of one word on every core of a rectangle."""
    t = threads_of(m)[thread]
    address, value, expected, noc = argument(t, 0), argument(t, 1), argument(t, 2), argument(t, 3)
    ready = command_buffer_ready(m, thread, noc, ATOMIC_BUFFER, now)
    if ready != now:
        return ready
    offset = address & ctx.NOC_OFFSET_MASK
    if not (valid_noc(m, thread, noc, -1) and check_l1(m, thread, t.core, offset, 4, True)):
        return -1
    cost, issued = m.issue_atomic, now
    if m.flit_model_at == 0:
        if t.attempts == 0:
            return first_attempt(m, thread, now, cost)
        cost, issued = 0, t.count
    n, left, _ = multicast_packet(m, thread, now + cost, address, noc, expected, 0, 0, 0, 1)
    if n == PATH_TAKEN or n == NIU_BUSY:
        return reserve_again(m, thread, now, n, left)
    if n < 0:
        return -1
    receivers, chain = receivers_of(m), -1
    for i in range(n):
        index = new_transaction(m, ATOMIC, thread, noc, cores_of(m)[t.core].tile, receivers[2 * i])
        x = transactions_of(m)[index]
        x.address, x.size, x.value, x.issued = offset, 4, value, issued
        chain = to_receiver(m, index, receivers[2 * i + 1], chain)
    if m.flit_model_at != 0:
        carry_multicast(m, ATOMIC, thread, noc, chain, address, 0, 0, 0, now + cost)
    counters = noc_counters_of(m, thread, noc)
    counters.atomics_out += n
    counters.command_free[ATOMIC_BUFFER] = left
    if m.flit_model_at == 0:
        counters.niu_free = max(counters.niu_free, left)
    return next_issue(m, thread, now, cost, True)
