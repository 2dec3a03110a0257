"""Stores of RISC-V cores to their own L1, on their way (docs/hardware/riscv.md#stores).

They wait in a queue of four entries for the core's port into L1.  They reach it some cycles after they issue, and a narrow store
then blocks it for several.  On Blackhole a store merges into a waiting one beside it.  TRISC1 and TRISC2 share a port, the other
three cores the other one (docs/hardware/l1.md#l1, Wormhole's map; the three-core probes of `wolfpine_derived_rates.csv` show it on
Blackhole).  Banks are not modelled: two cores that store to one bank do not meet.

`k`: record with `l1_store`, `l1_store_delay` and `store_merges`; `ports`: a tile's, with `port0_stores`, `port0_begun` and those of
the other port; `core`: with `store_1` to `store_4` and `stored_at`.
"""

from tensim.sim.engine.compiled import compiled

FRACTION = 1024  # of a cycle: unit of the time that stores take
# bytes: stores to one block, starting this near, are one (docs/hardware/riscv.md#pipeline)
MERGE_BLOCK, MERGE_DISTANCE = 16, 4


@compiled()
def queue_store(k, ports, core, second, now):
    """Put a store that issues at `now` behind those of its port; the cycle at which it has changed L1."""
    stores = ports.port1_stores if second else ports.port0_stores
    begin = max((now + k.l1_store_delay) * FRACTION, stores)
    end = begin + k.l1_store
    if second:
        ports.port1_stores, ports.port1_begun = end, begin if begin > stores else ports.port1_begun
    else:
        ports.port0_stores, ports.port0_begun = end, begin if begin > stores else ports.port0_begun
    done = (end + FRACTION - 1) // FRACTION
    core.store_4, core.store_3, core.store_2, core.store_1 = core.store_3, core.store_2, core.store_1, done
    return done


@compiled()
def begin_store(k, ports, core, second, address, now):
    """(cycle in which a store gets into the queue, cycle at which it has changed L1); it may merge into the one before."""
    beside = address // MERGE_BLOCK == core.stored_at // MERGE_BLOCK and abs(address - core.stored_at) <= MERGE_DISTANCE
    issued, done = now, core.store_1
    if k.store_merges == 0 or not beside or done <= now:
        issued = max(now, core.store_4)
        done = queue_store(k, ports, core, second, issued)
    core.stored_at = address
    return issued, done
