"""Whom a NoC transfer is for, and what it must not do: leave its memories, break alignment rules, meet another write or an
unfinished read.

A first packet's rights are asked by one call for each kind of transfer: `read_target`, `write_target`, `word_target`.
"""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.oddities import odd
from tensim.sim.cores.threads import fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import lies_within
from tensim.sim.noc.packet_state import DYNAMIC_VC, STATIC_VCS
from tensim.sim.state import (
    ATOMIC,
    MAX_OPEN_READS,
    TILE_DRAM,
    TILE_WORKER,
    bank_of,
    cores_of,
    noc_columns_of,
    noc_rows_of,
    open_reads_of,
    threads_of,
    tiles_of,
    transactions_of,
)


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
def check_l1(m, thread, core, address, size, is_write):
    """True when [address, address + size) is usable L1 of `core`."""
    if not lies_within(address, size, m.l1_size):
        fail(m, thread, Fault.L1_RANGE, address, size, core)
        return False
    if is_write and address < m.reserved_end:
        fail(m, thread, Fault.L1_RESERVED, address, size, m.reserved_end)
        return False
    return True


@compiled()
def check_target(m, thread, tile, offset, size, is_write):
    """True when the remote range exists."""
    if tiles_of(m)[tile].kind == TILE_WORKER:
        return check_l1(m, thread, tiles_of(m)[tile].index, offset, size, is_write)
    bank, inside = bank_of(m, tile, offset), offset % m.bank_bytes
    if not (0 <= offset < m.dram_tile_bytes and lies_within(inside, size, m.bank_bytes)):
        fail(m, thread, Fault.DRAM_RANGE, inside, size, bank)
        return False
    if is_write and inside + size > m.trace_start:
        fail(m, thread, Fault.TRACE_REGION, inside, size, bank)
        return False
    return True


@compiled()
def check_congruent(m, thread, source, destination, modulus):
    if (source - destination) % modulus != 0:
        fail(m, thread, Fault.MISALIGNED, source, destination, modulus)
        return False
    return True


@compiled(inline="always")
def open_path(core, noc):
    """The path that a linked multicast of the core holds on a NoC (its corners + 1), or 0."""
    return core.linked_noc0 if noc == 0 else core.linked_noc1


@compiled()
def check_unlinked(m, thread, noc, address):
    """False when a unicast request comes while a linked multicast of the core is open on the NoC."""
    if open_path(cores_of(m)[threads_of(m)[thread].core], noc) != 0:
        fail(m, thread, Fault.LINKED_OPEN, address, 0, 0)
        return False
    return True


@compiled()
def check_writers(m, index):
    """Enter a write into its target tile's list of writes in flight; False when another thread's to the same bytes is refused.

    What arrives last stays, as on the chip.  Without data (numerics off) there is nothing to race for, so nothing is listed.
    """
    if m.data_on == 0:
        return True
    transactions = transactions_of(m)
    x = transactions[index]
    tile = tiles_of(m)[x.target]
    other = tile.open_writes
    while other >= 0:
        y = transactions[other]
        meets = y.thread != x.thread and y.address < x.address + x.size and x.address < y.address + y.size
        if meets and odd(m, x.thread, Fault.UNORDERED_WRITERS, x.address, x.size, y.thread):
            return False
        other = y.next_open
    x.next_open, x.previous_open = tile.open_writes, -1
    if tile.open_writes >= 0:
        transactions[tile.open_writes].previous_open = index
    tile.open_writes = index
    return True


@compiled()
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


@compiled()
def note_open_read(m, thread, address, size, noc, trid):
    """Remember a read's destination until its barrier; neighbours of one NoC and id are merged, the oldest is forgotten."""
    t = threads_of(m)[thread]
    reads, n = open_reads_of(m, thread), t.reads_open
    if n > 0 and reads[n - 1].end == address and reads[n - 1].noc == noc and reads[n - 1].trid == trid:
        reads[n - 1].end = address + size
        return
    if n == MAX_OPEN_READS:
        n -= 1
        for i in range(n):
            copy_read(reads, i + 1, i)
    read = reads[n]
    read.begin, read.end, read.noc, read.trid = address, address + size, noc, trid
    t.reads_open = n + 1


@compiled(inline="always")
def copy_read(reads, source, target):
    a, b = reads[source], reads[target]
    b.begin, b.end, b.noc, b.trid = a.begin, a.end, a.noc, a.trid


@compiled()
def forget_open_reads(m, thread, noc, trid):
    """A read barrier of the thread is over; trid -1: all reads of the NoC."""
    t = threads_of(m)[thread]
    reads, kept = open_reads_of(m, thread), 0
    for i in range(t.reads_open):
        if reads[i].noc != noc or (trid >= 0 and reads[i].trid != trid):
            copy_read(reads, i, kept)
            kept += 1
    t.reads_open = kept


@compiled()
def valid_noc(m, thread, noc, trid):
    if noc < 0 or noc > 1:
        fail(m, thread, Fault.NOC_RANGE, noc, 0, 0)
        return False
    if trid < -1 or trid > 15:
        fail(m, thread, Fault.TRID_RANGE, trid, 0, 0)
        return False
    return True


@compiled()
def valid_vc(m, thread, vc):
    """Whether a request that is no multicast may name this virtual channel: -1 (the default one), 0 to 3, or DYNAMIC_VC."""
    if (vc < -1 or vc >= STATIC_VCS) and vc != DYNAMIC_VC:
        fail(m, thread, Fault.VC_RANGE, vc, 0, 0)
        return False
    return True


@compiled()
def check_open_reads(m, thread, address, size):
    """Find the use of L1 bytes whose NoC read this thread has not waited for; True when refused."""
    t = threads_of(m)[thread]
    reads = open_reads_of(m, thread)
    for i in range(t.reads_open):
        if address < reads[i].end and reads[i].begin < address + size:
            return odd(m, thread, Fault.READ_BEFORE_BARRIER, address, size, reads[i].begin)
    return False


@compiled()
def requested_tile(m, thread, address, size, noc, trid, vc, one_packet):
    """The tile that a transfer's remote address names; -1 after a fault, also when it asks for what no NoC has."""
    if size <= 0:
        fail(m, thread, Fault.ZERO_LENGTH, address, size, 0)
        return -1
    if not (valid_noc(m, thread, noc, trid) and valid_vc(m, thread, vc)):
        return -1
    if one_packet and size > m.max_packet:
        fail(m, thread, Fault.PACKET_TOO_LONG, size, m.max_packet, 0)
        return -1
    return tile_at(m, thread, address)


@compiled()
def read_target(m, thread, source, local, size, noc, trid, vc, one_packet):
    """The tile that a read is from, -1 after a fault; the read's destination is open from now on."""
    tile = requested_tile(m, thread, source, size, noc, trid, vc, one_packet)
    if tile < 0:
        return -1
    offset = source & ctx.NOC_OFFSET_MASK
    modulus = m.dram_read_congruence if tiles_of(m)[tile].kind == TILE_DRAM else m.l1_congruence
    if not (
        check_l1(m, thread, threads_of(m)[thread].core, local, size, True)
        and check_target(m, thread, tile, offset, size, False)
        and check_congruent(m, thread, offset, local, modulus)
    ):
        return -1
    note_open_read(m, thread, local, size, noc, trid)
    return tile


@compiled()
def check_write(m, thread, tile, local, offset, size):
    """True when a write from the own L1 reaches a range that exists, and lies there as it does here."""
    modulus = m.dram_write_congruence if tiles_of(m)[tile].kind == TILE_DRAM else m.l1_congruence
    return check_target(m, thread, tile, offset, size, True) and (
        size <= 4 or check_congruent(m, thread, local, offset, modulus)
    )


@compiled()
def write_target(m, thread, local, destination, size, noc, trid, vc, one_packet):
    """The tile that a write is to, -1 after a fault."""
    tile = requested_tile(m, thread, destination, size, noc, trid, vc, one_packet)
    if tile < 0:
        return -1
    t = threads_of(m)[thread]
    if not (
        check_unlinked(m, thread, noc, destination)
        and check_l1(m, thread, t.core, local, size, False)
        and check_write(m, thread, tile, local, destination & ctx.NOC_OFFSET_MASK, size)
    ):
        return -1
    if t.reads_open > 0 and check_open_reads(m, thread, local, size):
        return -1
    return tile


@compiled()
def word_target(m, thread, kind, address, noc, vc):
    """The tile that an inline write or an atomic increment is to, -1 after a fault."""
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
    return tile if check_l1(m, thread, tiles_of(m)[tile].index, offset, 4, True) else -1
