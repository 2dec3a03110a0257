"""Memory that nobody wrote: a state per 16 bytes of L1 and DRAM, which goes with the data.

0: nobody has written there.  1: written.  2: written in small pieces, by stores or as words: whoever composes a page so may
leave a part of it as it is.  3: written before the program began, in memory that is one of its circular buffers': unwritten
from the buffer's first use on.  From FIRST_ORIGIN on: taken from memory in state 0 by an operation; the number says which
(`ORIGIN`).  That is no mistake yet; the host's read of such data is.
"""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.checks.clocks import call_at
from tensim.sim.cores.checks.faults import Check
from tensim.sim.cores.checks.shadow import (
    DRAM_READ,
    FIRST_ORIGIN,
    GRANULE,
    IN_PIECES,
    L1_READ,
    L1_SENT,
    LEFT_OVER,
    MAX_ORIGINS,
    MIXED,
    PLACE_SHIFT,
    UNWRITTEN,
    WRITTEN,
    origin_table,
)
from tensim.sim.cores.circular_buffer import row_of
from tensim.sim.cores.threads import fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import copy_bytes, lies_within, load_i64, load_u8, store_8
from tensim.sim.state import TILE_DRAM, bank_of, circular_buffers_of, threads_of, tiles_of

WHOLE_WORD = 0x0101010101010101  # eight granules that are written
PIECE = 64  # bytes at most that count as a small piece


@compiled(inline="always")
def l1_states(m, s, core):
    """Host address of the states of a core's L1."""
    return s.l1_at + core * (m.l1_size // GRANULE)


@compiled()
def mark(states, start, size, value):
    """Bytes get a state; granules that they fill in part only become written."""
    first, end = start // GRANULE, (start + size + GRANULE - 1) // GRANULE
    for i in range(first, end):
        whole = i * GRANULE >= start and (i + 1) * GRANULE <= start + size
        if whole or value == WRITTEN:
            store_8(states + i, value)


@compiled()
def mark_piece(states, start, size):
    """A small piece of memory is written."""
    for i in range(start // GRANULE, (start + size + GRANULE - 1) // GRANULE):
        if load_u8(states + i) != WRITTEN:
            store_8(states + i, IN_PIECES)


@compiled()
def state_of(states, start, size):
    """State of bytes: UNWRITTEN if any of them is, else an origin if any of them has one."""
    i, end, worst = start // GRANULE, (start + size + GRANULE - 1) // GRANULE, WRITTEN
    while i < end:
        if end - i >= 8:
            word = load_i64(states + i)
            if word == WHOLE_WORD or word == IN_PIECES * WHOLE_WORD:
                i += 8
                continue
        state = load_u8(states + i)
        if state == UNWRITTEN:
            return UNWRITTEN
        if state >= FIRST_ORIGIN:
            worst = max(worst, state)
        i += 1
    return worst


@compiled()
def first_hole(states, start, size):
    """The first of bytes that nobody has written; -1: there is none, or whoever wrote the others did so in small pieces."""
    i, end, hole = start // GRANULE, (start + size + GRANULE - 1) // GRANULE, -1
    while i < end:
        if end - i >= 8 and load_i64(states + i) == WHOLE_WORD:
            i += 8
            continue
        state = load_u8(states + i)
        if state == IN_PIECES:
            return -1
        if state == UNWRITTEN and hole < 0:
            hole = max(i * GRANULE, start)
        i += 1
    return hole


@compiled()
def settle_copy(states, start, size, holes):
    """The states of bytes that were copied to a place: what nobody had written gets the state `holes`."""
    for i in range(start // GRANULE, (start + size + GRANULE - 1) // GRANULE):
        state = load_u8(states + i)
        if state == UNWRITTEN:
            store_8(states + i, holes)
        elif state == LEFT_OVER or (state == WRITTEN and size <= PIECE):
            store_8(states + i, IN_PIECES if size <= PIECE else WRITTEN)


@compiled()
def common_state(states, start, size):
    """The state that all bytes have, or MIXED."""
    i, end = start // GRANULE, (start + size + GRANULE - 1) // GRANULE
    first = load_u8(states + i)
    word = first * WHOLE_WORD
    while i < end:
        if end - i >= 8 and load_i64(states + i) == word:
            i += 8
        elif load_u8(states + i) == first:
            i += 1
        else:
            return MIXED
    return first


@compiled()
def check_load(m, s, thread, address, size):
    """Refuse a load of L1 that nobody wrote."""
    core = threads_of(m)[thread].core
    if lies_within(address, size, m.l1_size):
        state = load_u8(l1_states(m, s, core) + address // GRANULE)
        taken = state >= FIRST_ORIGIN and origin_table(s.origins_at)[state - FIRST_ORIGIN].kind >= L1_SENT
        if state == UNWRITTEN or taken:
            fail(m, thread, Check.LOAD_UNWRITTEN, address, size, 0)


@compiled()
def first_use(m, s, core, index):
    """A circular buffer is used as one: it begins empty, whatever an earlier program has left there."""
    cb, row = circular_buffers_of(m), row_of(core, index)
    base, size, states = cb[row].base, cb[row].size, l1_states(m, s, core)
    for i in range(base // GRANULE, (base + size + GRANULE - 1) // GRANULE):
        if load_u8(states + i) == LEFT_OVER:
            store_8(states + i, UNWRITTEN)


@compiled()
def copy_states(target, target_start, source, source_start, size):
    """States go with data from one memory to another."""
    if target_start % GRANULE == 0 and source_start % GRANULE == 0:
        copy_bytes(target + target_start // GRANULE, source + source_start // GRANULE, size // GRANULE)
        rest = size % GRANULE
        if rest > 0:
            mark(target, target_start + size - rest, rest, WRITTEN)
        return
    mark(target, target_start, size, WRITTEN)


@compiled()
def states_at(m, s, tile, address):
    """(host address of the states of a tile's memory, offset of the address in it)."""
    if tiles_of(m)[tile].kind == TILE_DRAM:
        bank, inside = bank_of(m, tile, address), address % m.bank_bytes
        return s.dram_at + bank * (m.bank_bytes // GRANULE), inside
    return l1_states(m, s, tiles_of(m)[tile].index), address & ctx.NOC_OFFSET_MASK


@compiled()
def place_of(m, tile, address):
    """(number of the core or bank above the address in it, L1_READ or DRAM_READ) of a tile's memory."""
    if tiles_of(m)[tile].kind == TILE_DRAM:
        return bank_of(m, tile, address) << PLACE_SHIFT | address % m.bank_bytes, DRAM_READ
    return tiles_of(m)[tile].index << PLACE_SHIFT | address & ctx.NOC_OFFSET_MASK, L1_READ


@compiled()
def sent_state(m, s, thread, start, size):
    """(state of L1 bytes that a NoC write takes now, or MIXED; what becomes of those in them that nobody has written)."""
    t = threads_of(m)[thread]
    states = l1_states(m, s, t.core)
    state = common_state(states, start, size)
    if state == UNWRITTEN:
        state = origin(m, s, thread, t.line, L1_SENT, start)
    if state != MIXED:
        return (state if state >= FIRST_ORIGIN else WRITTEN), WRITTEN
    hole = first_hole(states, start, size)
    return MIXED, WRITTEN if hole < 0 else origin(m, s, thread, t.line, L1_SENT, hole)


@compiled()
def copy_sent(m, s, thread, local, size, target, inside, state, holes):
    """The states of a packet of a NoC write that arrives; `state`, `holes`: as of `sent_state`."""
    if state == MIXED:
        copy_states(target, inside, l1_states(m, s, threads_of(m)[thread].core), local, size)
    else:
        mark(target, inside, size, state)
    if state == MIXED or size <= PIECE:
        settle_copy(target, inside, size, holes)


@compiled()
def copy_read(m, s, thread, issued, tile, address, local, size):
    """The states of a packet of a NoC read, `issued` at a cycle, whose data arrive."""
    source, inside = states_at(m, s, tile, address)
    mine = l1_states(m, s, threads_of(m)[thread].core)
    copy_states(mine, local, source, inside, size)
    if size > PIECE and common_state(source, inside, size) == WRITTEN:
        return
    hole, holes = first_hole(source, inside, size), WRITTEN
    if hole >= 0:
        line = call_at(s, thread, issued)[1]
        line = line if line >= 0 else threads_of(m)[thread].line
        place, kind = place_of(m, tile, address + hole - inside)
        holes = origin(m, s, thread, line, kind, place)
    settle_copy(mine, local, size, holes)


@compiled()
def origin(m, s, thread, line, kind, address):
    """State of what a thread takes at a line from memory that nobody wrote."""
    t, origins = threads_of(m)[thread], origin_table(s.origins_at)
    for i in range(s.n_origins):
        if origins[i].thread == thread and origins[i].line == line and origins[i].kind == kind:
            return FIRST_ORIGIN + i
    i = min(s.n_origins, MAX_ORIGINS - 1)
    if s.n_origins < MAX_ORIGINS:
        o = origins[i]
        o.thread, o.line, o.line_base, o.kind, o.address, o.cycle = thread, line, t.line_base, kind, address, m.now
        s.n_origins += 1
    return FIRST_ORIGIN + i
