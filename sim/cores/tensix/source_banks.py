"""SrcA and SrcB change hands: two banks each, which the unpack thread fills and the math thread takes, one after the other.

A tile that the unpackers write into Dst goes the same way, but begins only when the math unit waits for it (`math_waits`);
`src_passed_by` is the number of the last such filling.

Four counters of a core say where the banks are (docs/hardware/tensix.md#unpackers): fillings started and ended by the
unpackers, fillings taken and given back by the math unit.  Whoever finds no bank waits until the other thread moves on, and
tries again in the next cycle.

Operands of element-wise operations and reductions come face by face: the math unit begins with the first, while the others are
on their way, and ends with the last (docs/hardware/tensix.md#unpackers).  A bank's filling then counts as ended with its first
face, and `src_complete_0` and `_1` say when its last one is there.
"""

from tensim.sim.cores.slots import MATH_SLOT, THREADS_PER_CORE, UNPACK_SLOT
from tensim.sim.cores.threads import park, wake_to_retry
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import PARKED, WAIT_SOURCE_FREE, WAIT_SOURCE_READY, cores_of, threads_of

SOURCE_BANKS = 2


@compiled(inline="always")
def bank_free(core):
    """Whether an unpacker may start to fill a bank of core record `core`."""
    return core.src_started - core.src_released < SOURCE_BANKS


@compiled(inline="always")
def bank_ready(core):
    """Whether the math unit finds a filled bank."""
    return core.src_filled > core.src_taken


@compiled(inline="always")
def set_completion(core, cycle):
    """The filling that begins now is complete at `cycle`."""
    if core.src_started & 1 == 0:
        core.src_complete_0 = cycle
    else:
        core.src_complete_1 = cycle


@compiled(inline="always")
def last_completion(core):
    """Cycle at which the filling that was started last is complete."""
    return core.src_complete_1 if core.src_started & 1 == 0 else core.src_complete_0


@compiled(inline="always")
def completion(core):
    """Cycle at which the filling that the math unit takes next is complete."""
    return core.src_complete_0 if core.src_taken & 1 == 0 else core.src_complete_1


@compiled(inline="always")
def name_places(core):
    """The filling that begins now hands over the newest tile of each source register."""
    if core.src_started & 1 == 0:
        core.token0_a, core.token0_b = core.bank_a, core.bank_b
    else:
        core.token1_a, core.token1_b = core.bank_a, core.bank_b


@compiled()
def math_waits(m, core):
    """Whether the math thread stands still because it has used all that the unpackers began to fill."""
    record, math = cores_of(m)[core], threads_of(m)[core * THREADS_PER_CORE + MATH_SLOT]
    return record.src_started == record.src_taken and math.state == PARKED and math.wait == WAIT_SOURCE_READY


@compiled()
def wait_for_free_bank(m, thread, now):
    return park(m, thread, now, WAIT_SOURCE_FREE, 0, 0, 0)


@compiled()
def wait_for_ready_bank(m, thread, now):
    """Park the math thread; an unpack thread that waits although a bank is free waits for that (`math_waits`)."""
    core = threads_of(m)[thread].core
    if bank_free(cores_of(m)[core]):
        wake_unpacker(m, core, now)
    return park(m, thread, now, WAIT_SOURCE_READY, 0, 0, 0)


@compiled()
def wake_unpacker(m, core, now):
    """The unpack thread, if it waits for a source bank, tries again."""
    unpack = core * THREADS_PER_CORE + UNPACK_SLOT
    if threads_of(m)[unpack].state == PARKED and threads_of(m)[unpack].wait == WAIT_SOURCE_FREE:
        wake_to_retry(m, unpack, now)


@compiled()
def bank_filled(m, core, now):
    """The filling started last is complete: the math thread may go on."""
    cores_of(m)[core].src_filled += 1
    math = core * THREADS_PER_CORE + MATH_SLOT
    if threads_of(m)[math].state == PARKED and threads_of(m)[math].wait == WAIT_SOURCE_READY:
        wake_to_retry(m, math, now)


@compiled()
def bank_released(m, core, now):
    """The math unit gives the bank taken last back: the unpack thread may go on."""
    cores_of(m)[core].src_released += 1
    wake_unpacker(m, core, now)
