"""Loads and stores of a RISC-V core in its own L1: when the core goes on, when the data are there
(docs/hardware/riscv.md#baby-risc-v-cores).

Cores are in order and issue one instruction a cycle.  A load blocks the instruction that uses its value, not the core: up
to four are under way.  Stores wait in a queue of four entries for the core's port into L1.  They reach it some cycles after
they issue, and a narrow store then blocks it for several: a load that comes before passes the store, one that comes later
waits.  On Blackhole a store merges into a waiting one beside it.  TRISC1 and TRISC2 share a port, the other three cores the
other one (docs/hardware/l1.md#l1, Wormhole's map; the three-core probes of `wolfpine_derived_rates.csv` show it on
Blackhole).  Banks are not modelled: two cores that store to one bank do not meet.
"""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.circular_buffer import check_open_reads
from tensim.sim.cores.semaphores import l1_changed
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, TRISC1
from tensim.sim.cores.threads import argument, charge
from tensim.sim.cores.transfer_checks import check_l1
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_u8, store_8, store_64
from tensim.sim.state import cores_of, threads_of

FIRST_OF_SECOND_PORT = TRISC1
FRACTION = 1024  # of a cycle: unit of the time that stores take
# bytes: stores to one block, starting this near, are one (docs/hardware/riscv.md#pipeline)
MERGE_BLOCK, MERGE_DISTANCE = 16, 4


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
def queue_store(m, t, now):
    """Put a store that issues at `now` behind those of its port; the cycle at which it has changed L1."""
    c = cores_of(m)[t.core]
    second = t.slot >= FIRST_OF_SECOND_PORT
    stores = c.port1_stores if second else c.port0_stores
    begin = max((now + m.l1_store_delay) * FRACTION, stores)
    end = begin + m.l1_store
    if second:
        c.port1_stores, c.port1_begun = end, begin if begin > stores else c.port1_begun
    else:
        c.port0_stores, c.port0_begun = end, begin if begin > stores else c.port0_begun
    done = (end + FRACTION - 1) // FRACTION
    t.store_4, t.store_3, t.store_2, t.store_1 = t.store_3, t.store_2, t.store_1, done
    return done


@compiled()
def begin_load(m, t, now):
    """Cycle in which a load that the core issues at `now` gets the port.

    Loads that take as long as those of L1 come four in the time of one less a cycle (docs/hardware/riscv.md#load-latency).
    """
    start = take_port(m, t, max(now, t.load_4))
    t.load_4, t.load_3, t.load_2, t.load_1 = t.load_3, t.load_2, t.load_1, start + m.l1_load - 1
    return start


@compiled()
def begin_store(m, t, address, now):
    """(cycle in which a store gets into the queue, cycle at which it has changed L1); it may merge into the one before."""
    beside = address // MERGE_BLOCK == t.stored_at // MERGE_BLOCK and abs(address - t.stored_at) <= MERGE_DISTANCE
    issued, done = now, t.store_1
    if m.store_merges == 0 or not beside or done <= now:
        issued = max(now, t.store_4)
        done = queue_store(m, t, issued)
    t.stored_at = address
    return issued, done


@compiled()
def go_on(m, thread, now, time):
    """The core's next instruction comes at `time`."""
    t = threads_of(m)[thread]
    charge(m, thread, now, time - now)
    if t.slot >= FIRST_COMPUTE_SLOT:
        t.issued = max(t.issued, time)
    return time


@compiled()
def store_local(m, thread, now):
    """A store; returns the cycle of the core's next instruction, or -1 after a fault."""
    t = threads_of(m)[thread]
    address, value, size = argument(t, 0), argument(t, 1), argument(t, 2)
    if not check_l1(m, thread, t.core, address, size, True):
        return -1
    host = m.l1_at + t.core * m.l1_size + address
    for i in range(size):
        store_8(host + i, (value >> (8 * i)) & 255)
    issued, done = begin_store(m, t, address, now)
    l1_changed(m, t.core, address, size, done, thread)
    return go_on(m, thread, now, issued + 1)


@compiled()
def load_local(m, thread, now):
    """A load, its value zero extended; returns the cycle of the core's next instruction, or -1 after a fault."""
    t = threads_of(m)[thread]
    address, size = argument(t, 0), argument(t, 1)
    if not check_l1(m, thread, t.core, address, size, False):
        return -1
    if t.reads_open > 0 and check_open_reads(m, thread, address, size):
        return -1
    host = m.l1_at + t.core * m.l1_size + address
    value = 0
    for i in range(size):
        value |= load_u8(host + i) << (8 * i)
    start = begin_load(m, t, now)
    store_64(t.context + 8 * ctx.RESULT, value)
    store_64(t.context + 8 * ctx.READY, start + m.l1_load)
    return go_on(m, thread, now, start + 1)
