"""Data races: two accesses to the same bytes of L1 or DRAM, at least one of them a write, that nothing orders.

Of each 64 bytes of L1, or 64 units of DRAM, the last write and the last read are kept, with who did it and which bytes: what an
older access or one to other bytes of the cell would tell is forgotten, so that a race may be missed, never made up.

Most accesses are to tiles: who wrote or read the whole of a block of L1 stands in the block, and is spread over its cells when
somebody touches a part of it.
"""

from tensim.sim.cores.checks.buffers import buffer_at
from tensim.sim.cores.checks.clocks import (
    call_at,
    changed,
    follow,
    follow_all,
    join,
    lane_of,
    noc_lane_of,
    row_at,
    signal,
    signal_at,
    thread_at,
    tick,
)
from tensim.sim.cores.checks.faults import Check
from tensim.sim.cores.checks.shadow import (
    BLOCK,
    BLOCK_SHIFT,
    CELL,
    CELL_SHIFT,
    CELL_UNITS,
    DRAM_UNIT_SHIFT,
    LANES,
    block_table,
    cell_table,
    clock_table,
    l1_buffer_table,
    shadow_of,
    thread_of,
    unordered_table,
)
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, THREADS_PER_CORE
from tensim.sim.cores.threads import argument, fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import lies_within, load_u8, load_u16, load_u32
from tensim.sim.state import ATOMIC, STOP_ERROR, machine_table, threads_of, transactions_of

CLOCK_SHIFT, LINE_SHIFT = 32, 16
LANE_MASK = LINE_MASK = 0xFFFF
ALL_UNITS, WORD_BITS = -1, 15
CYCLE_MASK = 0x7FFFFFFF
WORD = 4
CELL_RECORD, BLOCK_RECORD = CELL.itemsize, BLOCK.itemsize
BLOCK_BYTES = 1 << BLOCK_SHIFT


@compiled(inline="always")
def cells_of(m, s, core):
    """The cells of a core's L1."""
    return cell_table(s.cells_at + core * (m.l1_size >> CELL_SHIFT) * CELL_RECORD)


@compiled(inline="always")
def blocks_of(s, core):
    """The blocks of a core's L1."""
    return block_table(s.blocks_at + core * s.n_blocks * BLOCK_RECORD)


@compiled(inline="always")
def dram_cells_of(m, s, bank):
    """The cells of a DRAM bank."""
    return cell_table(s.dram_cells_at + bank * (m.bank_bytes >> DRAM_UNIT_SHIFT + CELL_SHIFT) * CELL_RECORD)


@compiled(inline="always")
def lane_in(access):
    return access & LANE_MASK


@compiled()
def needs_no_order(s, place, start, end):
    """Whether bytes of a core's L1, or (`place` below 0) of DRAM, lie in a buffer whose writers need no order."""
    for i in range(s.n_unordered):
        buffer = unordered_table(s.unordered_at)[i]
        if (buffer.in_dram != 0) == (place < 0) and buffer.start <= start and end <= buffer.end:
            return True
    return False


@compiled()
def hidden(s, thread, place, start, lane, clock):
    """Whether what happened in a buffer before a thread began is another queue's, and nothing orders the two queues.

    What lies in no buffer is the cores' own: they run one program after the other, whichever queue it comes from.
    """
    mine = thread_of(s, thread)
    if clock > clock_table(mine.start_at)[lane] or clock <= clock_table(mine.order_at)[lane]:
        return False
    if place < 0:
        return True
    buffers = l1_buffer_table(mine.l1_at)
    k = buffer_at(buffers, mine.n_l1, start)
    return k >= 0 and start < buffers[k].end


@compiled()
def race(m, s, thread, code, place, start, size, line, access, cycle):
    """Refuse an access that no wait orders behind another one; `place`: a core, or -1 - a bank of DRAM."""
    if m.stop != STOP_ERROR and not (code == Check.RACE_WRITES and needs_no_order(s, place, start, start + size)):
        s.line, s.other, s.other_line = line, thread_at(lane_in(access)), access >> LINE_SHIFT & LINE_MASK
        s.other_cycle = m.now - ((m.now - cycle) & CYCLE_MASK)
        fail(m, thread, code, start, size, place)


@compiled()
def spread(m, s, core, number):
    """Enter in the cells of a block of L1 who touched the whole of it."""
    block, cells = blocks_of(s, core)[number], cells_of(m, s, core)
    first = max((number << BLOCK_SHIFT) - s.lead, 0) >> CELL_SHIFT
    last = min((number + 1 << BLOCK_SHIFT) - s.lead, m.l1_size) >> CELL_SHIFT
    if block.writer != 0:
        for i in range(first, last):
            cell = cells[i]
            cell.writer, cell.written, cell.written_at = block.writer, ALL_UNITS, block.written_at
        block.writer = 0
    if block.reader != 0:
        for i in range(first, last):
            cell = cells[i]
            cell.reader, cell.read, cell.read_at = block.reader, ALL_UNITS, block.read_at
        block.reader = 0


@compiled(inline="always")
def spread_at(m, s, core, address):
    """From now on the cells say who touched the block of an L1 address, too."""
    number = address + s.lead >> BLOCK_SHIFT
    block = blocks_of(s, core)[number]
    block.in_cells = 1
    if block.writer | block.reader != 0:
        spread(m, s, core, number)


@compiled()
def spread_bytes(machine, core, start, size):
    """`spread_at` of all blocks in which `size` bytes of an L1 from `start` on lie: for Python, which looks at cells."""
    m = machine_table(machine)[0]
    s, at = shadow_of(m), start
    while at < start + size:
        spread_at(m, s, core, at)
        at = ((at + s.lead >> BLOCK_SHIFT) + 1 << BLOCK_SHIFT) - s.lead


@compiled()
def touch(m, s, thread, core, start, size, clock, line, from_noc, writes):
    """A thread, or for it the NoC, reads or `writes` L1 bytes of `core`; see `tensim.sim.cores.checks.clocks` for `clock`."""
    if size <= 0 or not lies_within(start, size, m.l1_size):
        return
    end, begin = start + size, start
    while begin < end:
        number = begin + s.lead >> BLOCK_SHIFT
        edge = (number + 1 << BLOCK_SHIFT) - s.lead
        if edge - begin == BLOCK_BYTES and edge <= end:
            refused = touch_block(m, s, thread, core, number, begin, start, size, clock, line, from_noc, writes)
        else:
            edge = min(edge, end)
            spread_at(m, s, core, begin)
            cells = cells_of(m, s, core)
            refused = access(m, s, thread, cells, core, begin, edge, start, end, 0, clock, line, from_noc, writes)
        if refused:
            return
        begin = edge


@compiled()
def touch_block(m, s, thread, core, number, begin, start, size, clock, line, from_noc, writes):
    """Access a whole block of L1, from `begin` on; whether that is a race.  `start`, `size`: of all that is accessed."""
    block = blocks_of(s, core)[number]
    mine = access_of(thread, clock, line, from_noc)
    if block.in_cells == 0 or block.writer != 0 and (block.reader != 0 or not writes):
        if not is_ordered(s, thread, core, start, block.writer):
            code = Check.RACE_WRITES if writes else Check.RACE_READ
            race(m, s, thread, code, core, start, size, line, block.writer, block.written_at)
            return True
        if writes and not is_ordered(s, thread, core, start, block.reader):
            race(m, s, thread, Check.RACE_WRITE, core, start, size, line, block.reader, block.read_at)
            return True
    else:
        spread_at(m, s, core, begin)
        cells, edge = cells_of(m, s, core), begin + BLOCK_BYTES
        if access(m, s, thread, cells, core, begin, edge, start, start + size, 0, clock, line, from_noc, writes):
            return True
    if writes:
        block.writer, block.written_at = mine, m.now & CYCLE_MASK
    else:
        block.reader, block.read_at = mine, m.now & CYCLE_MASK
    return False


@compiled()
def is_ordered(s, thread, place, start, other):
    """Whether an access comes before what a thread does now."""
    lane, clock = lane_in(other), other >> CLOCK_SHIFT
    own_noc = lane_of(thread)
    if thread % THREADS_PER_CORE < FIRST_COMPUTE_SLOT:
        own_noc = noc_lane_of(thread)
    if lane != lane_of(thread) and lane != own_noc and clock_table(row_at(s, thread))[lane] < clock:
        return False
    return thread_of(s, thread).hides == 0 or not hidden(s, thread, place, start, lane, clock)


@compiled()
def access_of(thread, clock, line, from_noc):
    """What cells say of an access of a thread."""
    lane = lane_of(thread)
    if from_noc and thread % THREADS_PER_CORE < FIRST_COMPUTE_SLOT:
        lane = noc_lane_of(thread)
    return clock << CLOCK_SHIFT | (line & LINE_MASK) << LINE_SHIFT | lane


@compiled()
def touch_dram(m, s, thread, bank, start, size, clock, line, writes):
    """The NoC reads or `writes` bytes of a DRAM bank for a thread; of whole units alone is it known who did."""
    first, end = start + (1 << DRAM_UNIT_SHIFT) - 1 >> DRAM_UNIT_SHIFT, start + size >> DRAM_UNIT_SHIFT
    if first < end:
        cells = dram_cells_of(m, s, bank)
        access(m, s, thread, cells, -1 - bank, first, end, first, end, DRAM_UNIT_SHIFT, clock, line, True, writes)


@compiled()
def access(m, s, thread, cells, place, start, end, whole, whole_end, shift, clock, line, from_noc, writes):
    """Look at the cells of units `start` to `end`, each of 1 << `shift` bytes and of those from `whole` on, and enter the access
    there; whether it is a race, which ends it.
    """
    known, cycle = clock_table(row_at(s, thread)), m.now & CYCLE_MASK
    own, own_noc, hides = lane_of(thread), lane_of(thread), thread_of(s, thread).hides
    if thread % THREADS_PER_CORE < FIRST_COMPUTE_SLOT:
        own_noc = noc_lane_of(thread)
    mine = access_of(thread, clock, line, from_noc)
    first, last = start >> CELL_SHIFT, (end - 1) >> CELL_SHIFT
    written, read = mine, mine  # accesses of which the last cells have shown that they come before this one
    for i in range(first, last + 1):
        cell, mask = cells[i], ALL_UNITS
        if i == first:
            mask <<= start & (CELL_UNITS - 1)
        if i == last and end & (CELL_UNITS - 1) != 0:
            mask &= (1 << (end & (CELL_UNITS - 1))) - 1
        other = cell.writer
        if other != written:
            lane = lane_in(other)
            ordered = lane == own or lane == own_noc or known[lane] >= other >> CLOCK_SHIFT
            if ordered and (hides == 0 or not hidden(s, thread, place, whole << shift, lane, other >> CLOCK_SHIFT)):
                written = other
            elif cell.written & mask != 0:
                code = Check.RACE_WRITES if writes else Check.RACE_READ
                race(
                    m, s, thread, code, place, whole << shift, whole_end - whole << shift, line, other, cell.written_at
                )
                return True
        if writes:
            other = cell.reader
            if other != read:
                lane = lane_in(other)
                ordered = lane == own or lane == own_noc or known[lane] >= other >> CLOCK_SHIFT
                if ordered and (hides == 0 or not hidden(s, thread, place, whole << shift, lane, other >> CLOCK_SHIFT)):
                    read = other
                elif cell.read & mask != 0:
                    code = Check.RACE_WRITE
                    race(
                        m, s, thread, code, place, whole << shift, whole_end - whole << shift, line, other, cell.read_at
                    )
                    return True
            if cell.writer == mine:
                mask |= cell.written
            cell.writer, cell.written, cell.written_at = mine, mask, cycle
        else:
            if cell.reader == mine:
                mask |= cell.read
            cell.reader, cell.read, cell.read_at = mine, mask, cycle
    return False


@compiled()
def word_arrives(m, s, thread, core, address, clock, line, lane):
    """The NoC writes or counts a word that synchronises: only a store of the core itself can be in the way of that."""
    spread_at(m, s, core, address)
    cell, bits = cells_of(m, s, core)[address >> CELL_SHIFT], WORD_BITS << (address & (CELL_UNITS - 1))
    other, theirs = cell.writer, lane_in(cell.writer)
    if cell.written & bits != 0 and core * LANES <= theirs < core * LANES + THREADS_PER_CORE:
        if thread_at(theirs) != thread and clock_table(row_at(s, thread))[theirs] < other >> CLOCK_SHIFT:
            race(m, s, thread, Check.RACE_WRITES, core, address, WORD, line, other, cell.written_at)
            return
    cell.writer = clock << CLOCK_SHIFT | (line & LINE_MASK) << LINE_SHIFT | lane
    cell.written, cell.written_at = bits, m.now & CYCLE_MASK


@compiled()
def follow_word(m, s, thread, core, address):
    """Whoever has written or counted a word comes before what a thread does that has waited for it."""
    if not lies_within(address, WORD, m.l1_size):
        return
    n_words = s.n_words
    row = signal_at(s, core, address, True)
    if row == 0:
        follow_all(s, thread)
        return
    if join(row_at(s, thread), row, s.clock_bytes) != 0:
        changed(s, thread)
    spread_at(m, s, core, address)
    cell = cells_of(m, s, core)[address >> CELL_SHIFT]
    other, lane = cell.writer, lane_in(cell.writer)
    if other == 0 or lane >= s.n_cores * LANES or thread_at(lane) == thread:  # nobody, a queue for the host, or itself
        return
    if cell.written & (WORD_BITS << (address & (CELL_UNITS - 1))) != 0:
        clock = other >> CLOCK_SHIFT
        follow(s, thread, thread_at(lane), clock, clock if lane % LANES >= THREADS_PER_CORE else 0)
    elif s.n_words != n_words:  # who wrote it before anybody looked is forgotten
        follow_all(s, thread)


# --- loads and stores


@compiled()
def stored(m, t, address, size):
    """What lies in L1 of the thread's core."""
    host = m.l1_at + t.core * m.l1_size + address
    return load_u32(host) if size == 4 else load_u16(host) if size == 2 else load_u8(host)


@compiled()
def store(m, s, thread):
    """A core stores into its own L1; what lies there already changes nothing."""
    t = threads_of(m)[thread]
    address, value, size = argument(t, 0), argument(t, 1), argument(t, 2)
    clock = tick(m, s, thread)
    if not lies_within(address, size, m.l1_size):
        return
    if stored(m, t, address, size) != value & ((1 << 8 * size) - 1):
        touch(m, s, thread, t.core, address, size, clock, t.line, False, True)
    row = signal_at(s, t.core, address, False)
    if row != 0:
        signal(s, row, thread, clock, 0)


@compiled()
def polls(s, t, thread):
    """Whether loads of the line at which a thread stands wait for another's write."""
    at = thread_of(s, thread).polls_at
    return at != 0 and load_u8(at + t.line - t.first_line) != 0


@compiled()
def load(m, s, thread):
    """A core loads from its own L1: data, or a word that tells it something."""
    t = threads_of(m)[thread]
    address, size = argument(t, 0), argument(t, 1)
    if signal_at(s, t.core, address & ~(WORD - 1), False) != 0 or polls(s, t, thread):
        follow_word(m, s, thread, t.core, address & ~(WORD - 1))
    else:
        touch(m, s, thread, t.core, address, size, thread_of(s, thread).clock, t.line, False, False)


# --- packets


@compiled()
def arrive(m, s, index, core, address, size, writes):
    """A packet acts on L1 of `core`."""
    x = transactions_of(m)[index]
    clock, line = call_at(s, x.thread, x.issued)
    if line < 0:
        return
    if x.kind == ATOMIC:
        row = signal_at(s, core, address, True)
        if row != 0:
            signal(s, row, x.thread, clock, 0)
        lane = lane_of(x.thread)  # it says nothing of what else has arrived
        word_arrives(m, s, x.thread, core, address, clock, line, lane)
        return
    row = signal_at(s, core, address, False) if size <= WORD and writes else 0
    if row != 0:
        signal(s, row, x.thread, clock, clock)
        word_arrives(m, s, x.thread, core, address, clock, line, noc_lane_of(x.thread))
    else:
        touch(m, s, x.thread, core, address, size, clock, line, True, writes)


@compiled()
def arrive_at_dram(m, s, index, bank, inside, writes):
    """A packet acts on a DRAM bank."""
    x = transactions_of(m)[index]
    clock, line = call_at(s, x.thread, x.issued)
    if line >= 0:
        touch_dram(m, s, x.thread, bank, inside, x.size, clock, line, writes)
