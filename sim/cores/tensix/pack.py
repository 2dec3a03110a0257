"""The pack thread: tiles from Dst to circular buffers."""

from tensim.sim.cores.faults import Fault
from tensim.sim.cores.numerics.unpacker import datum_bytes
from tensim.sim.cores.oddities import odd
from tensim.sim.cores.slots import THREADS_PER_CORE, UNPACK_SLOT
from tensim.sim.cores.tensix.data import do_pack
from tensim.sim.cores.tensix.operands import buffer_row, pack_fits, shapes_fit, tile_fits
from tensim.sim.cores.tensix.thread_time import spend
from tensim.sim.cores.threads import argument, fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import PARKED, RUNNING, WAIT_SOURCE_FREE, circular_buffers_of, cores_of, threads_of


@compiled()
def unpackers_at_work(m, index):
    """Whether the unpackers of a core fill a section of Dst: the math thread has one, and the unpack thread waits for nothing
    but a source bank.  Both hold whether or not a block product has run ahead (`run_ahead`)."""
    core, t = cores_of(m)[index], threads_of(m)[index * THREADS_PER_CORE + UNPACK_SLOT]
    reads = t.state == RUNNING or (t.state == PARKED and t.wait == WAIT_SOURCE_FREE)
    return core.dst_acquired > core.dst_committed and reads


@compiled()
def accumulate_percent(m, core, number):
    """How much longer a tile of the data format `number` takes that the packer adds to one in L1, as a percentage.

    Sums of 32 bits are slower themselves; narrower ones only share L1, where they are read and written, with the unpackers.
    """
    if datum_bytes(number) == 4:
        return m.pack_l1_acc_percent
    return m.pack_l1_shared_percent if unpackers_at_work(m, core) else 100


@compiled()
def pack(m, thread, now):
    """pack_tile and its block and untilize forms: Dst tiles to the back of a circular buffer."""
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    first, index, out, tiles = argument(t, 0), argument(t, 1), argument(t, 2), argument(t, 3)
    cb = circular_buffers_of(m)
    row, untilize = buffer_row(m, thread, index), argument(t, 4)
    if row < 0:
        return -1
    if core.dst_committed <= core.dst_released:
        fail(m, thread, Fault.DST_NOT_ACQUIRED, 0, 0, 0)
        return -1
    if first < 0 or first + tiles > core.capacity:
        fail(m, thread, Fault.DST_INDEX, first + tiles - 1, core.capacity, 0)
        return -1
    if untilize == 0 and not tile_fits(m, thread, index, row):
        return -1
    if untilize > 0 and not shapes_fit(m, thread, index, index):
        return -1
    page = out if out >= 0 else cb[row].packed
    reserved, last = cb[row].reserved, page + tiles - 1
    if untilize == 0 and last >= reserved and odd(m, thread, Fault.PACK_UNRESERVED, index, last, reserved):
        return -1
    if not pack_fits(m, thread, index, row, last, untilize):
        return -1
    if out < 0:
        cb[row].packed += tiles
    base = (core.dst_released % core.sections) * core.capacity + first
    cb[row].tiles_packed += tiles
    for i in range(tiles):
        do_pack(m, t.core, base + i, row, page + i, untilize)
    size = cb[row].tile_size
    cost = max(m.pack_minimum * 1024, size * 1024 // m.pack_bytes)
    if core.l1_accumulate != 0:
        cost = cost * accumulate_percent(m, t.core, cb[row].format) // 100
    cost += m.pack_overhead
    if untilize != 0:  # rows of 16 datums one by one (docs/hardware/tensix.md#packers); a call sets the rows' distance
        cost = max(cost, m.pack_untilize)
        return spend(m, thread, now, tiles * cost + m.pack_untilize_call)
    return spend(m, thread, now, cost + (tiles - 1) * max(cost, m.issue_pack_more * 1024))
