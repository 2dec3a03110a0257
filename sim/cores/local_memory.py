"""Loads and stores of a RISC-V core in its own L1: when the core goes on, when the data are there
(docs/hardware/riscv.md#baby-risc-v-cores).

Cores are in order and issue one instruction a cycle.  A load blocks the instruction that uses its value, not the core: up
to four are under way.  Stores wait for the core's port into L1 (`tensim.sim.cores.store_queue`): a load that comes before one
gets it passes the store, one that comes later waits.
"""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.semaphores import l1_changed
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, TRISC1
from tensim.sim.cores.store_queue import FRACTION, begin_store
from tensim.sim.cores.threads import argument, charge, fail
from tensim.sim.cores.transfer_checks import check_l1, check_open_reads
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_u8, store_8, store_64
from tensim.sim.state import cores_of, threads_of

FIRST_OF_SECOND_PORT = TRISC1
WORD = 4  # bytes that a core loads or stores at most


@compiled()
def take_port(m, t, start):
    """Cycle at which a load that could begin at `start` gets the port: before stores that wait, behind one under way."""
    c = cores_of(m)[t.core]
    second = t.slot >= FIRST_OF_SECOND_PORT
    begun, stores = (c.port1_begun, c.port1_stores) if second else (c.port0_begun, c.port0_stores)
    if stores > start * FRACTION:
        if begun <= start * FRACTION:
            left = m.l1_store if begun == start * FRACTION else (stores - start * FRACTION) % m.l1_store
            start += (left + FRACTION - 1) // FRACTION
            stores += FRACTION
        else:
            stores += max((start + 1) * FRACTION - begun, 0)
    start = max(start, c.port1_loads if second else c.port0_loads)
    if second:
        c.port1_loads, c.port1_stores = start + 1, stores
    else:
        c.port0_loads, c.port0_stores = start + 1, stores
    return start


@compiled()
def begin_load(m, t, now):
    """Cycle in which a load that the core issues at `now` gets the port.

    Loads that take as long as those of L1 come four in the time of one less a cycle (docs/hardware/riscv.md#load-latency).
    """
    start = take_port(m, t, max(now, t.load_4))
    t.load_4, t.load_3, t.load_2, t.load_1 = t.load_3, t.load_2, t.load_1, start + m.l1_load - 1
    return start


@compiled()
def store(m, t, address, now):
    """(cycle in which a store gets into the queue, cycle at which it has changed L1)."""
    return begin_store(m, cores_of(m)[t.core], t, t.slot >= FIRST_OF_SECOND_PORT, address, now)


@compiled()
def go_on(m, thread, now, time):
    """The core's next instruction comes at `time`."""
    t = threads_of(m)[thread]
    charge(m, thread, now, time - now)
    if t.slot >= FIRST_COMPUTE_SLOT:
        t.issued = max(t.issued, time)
    return time


@compiled()
def is_aligned(m, thread, address, size):
    """Whether a core reaches a word or a half of one at an address; a fault if not, as no RISC-V core here does."""
    if size > WORD or address & (size - 1) == 0:
        return True
    fail(m, thread, Fault.MISALIGNED_ACCESS, address, size, 0)
    return False


@compiled()
def store_local(m, thread, now):
    """A store; returns the cycle of the core's next instruction, or -1 after a fault."""
    t = threads_of(m)[thread]
    address, value, size = argument(t, 0), argument(t, 1), argument(t, 2)
    if not (is_aligned(m, thread, address, size) and check_l1(m, thread, t.core, address, size, True)):
        return -1
    host = m.l1_at + t.core * m.l1_size + address
    for i in range(size):
        store_8(host + i, (value >> (8 * i)) & 255)
    issued, done = store(m, t, address, now)
    l1_changed(m, t.core, address, size, done, thread)
    return go_on(m, thread, now, issued + 1)


@compiled()
def load_local(m, thread, now):
    """A load, its value zero or sign extended; returns the cycle of the core's next instruction, or -1 after a fault."""
    t = threads_of(m)[thread]
    address, size, signed = argument(t, 0), argument(t, 1), argument(t, 2)
    if not (is_aligned(m, thread, address, size) and check_l1(m, thread, t.core, address, size, False)):
        return -1
    if t.reads_open > 0 and check_open_reads(m, thread, address, size):
        return -1
    host = m.l1_at + t.core * m.l1_size + address
    value = 0
    for i in range(size):
        value |= load_u8(host + i) << (8 * i)
    if signed != 0 and size <= WORD:
        value -= value >> (8 * size - 1) << (8 * size)
    start = begin_load(m, t, now)
    store_64(t.context + 8 * ctx.RESULT, value)
    store_64(t.context + 8 * ctx.READY, start + m.l1_load)
    return go_on(m, thread, now, start + 1)
