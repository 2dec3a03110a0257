"""Memory that nobody wrote: a state per 16 bytes of L1 and DRAM, which goes with the data.

0: nobody has written there.  1: written.  From FIRST_ORIGIN on: computed from memory in state 0; the number says where
(`ORIGIN`).  Copies are no mistake; the host's read of such data is.
"""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.checks.faults import Check
from tensim.sim.cores.checks.shadow import FIRST_ORIGIN, GRANULE, MAX_ORIGINS, origin_table
from tensim.sim.cores.niu.transactions import bank_of
from tensim.sim.cores.threads import fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import copy_bytes, load_i64, load_u8, store_8
from tensim.sim.engine.state import TILE_DRAM, threads_of, tiles_of

UNWRITTEN, WRITTEN = 0, 1
MIXED = -1  # of several states
WHOLE_WORD = 0x0101010101010101  # eight granules that are written
L1_BYTES, DST_TILE = 0, 1  # what was not written


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
def state_of(states, start, size):
    """State of bytes: UNWRITTEN if any of them is, else an origin if any of them has one."""
    i, end, worst = start // GRANULE, (start + size + GRANULE - 1) // GRANULE, WRITTEN
    while i < end:
        if end - i >= 8 and load_i64(states + i) == WHOLE_WORD:
            i += 8
            continue
        state = load_u8(states + i)
        if state == UNWRITTEN:
            return UNWRITTEN
        worst = max(worst, state)
        i += 1
    return worst


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
    if 0 <= address and address + size <= m.l1_size:
        if load_u8(l1_states(m, s, core) + address // GRANULE) == UNWRITTEN:
            fail(m, thread, Check.LOAD_UNWRITTEN, address, size, 0)


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
def origin(m, s, thread, kind, address):
    """State of what a thread computes now from memory that nobody wrote."""
    t, origins = threads_of(m)[thread], origin_table(s.origins_at)
    for i in range(s.n_origins):
        if origins[i].thread == thread and origins[i].line == t.line and origins[i].kind == kind:
            return FIRST_ORIGIN + i
    i = min(s.n_origins, MAX_ORIGINS - 1)
    if s.n_origins < MAX_ORIGINS:
        o = origins[i]
        o.thread, o.line, o.line_base, o.kind, o.address, o.cycle = thread, t.line, t.line_base, kind, address, m.now
        s.n_origins += 1
    return FIRST_ORIGIN + i
