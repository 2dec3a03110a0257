"""What a RISC-V core finds at its addresses: loads, stores, the instruction cache, the window on circular buffers."""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.circular_buffer import write_pointer
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.oddities import note
from tensim.sim.cores.riscv.instruction_results import LB, LBU, LHU, LW, SB, SW
from tensim.sim.cores.riscv.layout import CB_STRIDE, CB_WINDOW
from tensim.sim.cores.threads import thread_key
from tensim.sim.engine import event_heap
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.engine.memory import (
    load_i8,
    load_i16,
    load_i32,
    load_i64,
    load_u8,
    load_u16,
    store_8,
    store_16,
    store_32,
    store_64,
)
from tensim.sim.state import RUNNING_ON, event_heap_of

CB_POINTER = int(Fault.CB_POINTER)
FIRST_SHARED_COLUMN = ctx.CB_RECEIVED  # columns of a circular buffer's row that other threads change


@compiled()
def fetch(m, core, line):
    """Cycles that the fetch of a line of code takes: it is in the instruction cache or pushes out the oldest of its set."""
    entry = core.icache_at + 16 * (line & (core.icache_sets - 1))
    newest, oldest = load_i64(entry), load_i64(entry + 8)
    if newest == line:
        return 0
    store_64(entry, line)
    store_64(entry + 8, newest)
    return 0 if oldest == line else m.fetch_miss


@compiled()
def ordered_until(m, t, index):
    """The last cycle at which the thread may look at L1 before the other events, -1 if it has to post that.

    Only the thread whose event is being processed knows what comes next: the one that another's event has woken does not know
    what that event will still do.
    """
    heap = event_heap_of(m)
    if m.stop != RUNNING_ON or m.l1_posted != 0 or m.log_on != 0 or m.checker_at != 0 or heap[1] != -1 - index:
        return -1
    earliest = min(min(heap[2], heap[4]), min(heap[6], heap[8]))
    cycle = earliest >> event_heap.KEY_BITS
    if earliest & ((1 << event_heap.KEY_BITS) - 1) < thread_key(t):
        cycle -= 1
    return min(cycle, m.limit)


@compiled(inline="always")
def loaded(host, code):
    """The value that a load of this kind finds at a host address."""
    if code == LW:
        return load_i32(host)
    if code == LBU:
        return load_u8(host)
    if code == LHU:
        return load_u16(host)
    return load_i8(host) if code == LB else load_i16(host)


@compiled(inline="always")
def put(host, code, value):
    """A store of this kind at a host address."""
    if code == SW:
        store_32(host, value)
    elif code == SB:
        store_8(host, value)
    else:
        store_16(host, value)


@compiled(inline="always")
def size_of(code):
    """Bytes that a load or store moves."""
    if code == LW or code == SW:
        return 4
    return 1 if code == LB or code == LBU or code == SB else 2


@compiled()
def window_place(m, t, address):
    """Host address behind an address of the window on circular buffers, or 0; the pointers are the thread's own."""
    index, inside = (address - CB_WINDOW) // CB_STRIDE, (address - CB_WINDOW) % CB_STRIDE
    if inside >= 8 * ctx.CB_WORDS:
        return 0
    if 8 * ctx.CB_WRITE_PTR <= inside < 8 * (ctx.CB_READ_PTR + 1):
        inside += 8 * (write_pointer(t.slot) - ctx.CB_WRITE_PTR)
    return m.circular_buffers_at + 8 * ctx.CB_WORDS * (N_CIRCULAR_BUFFERS * t.core + index) + inside


@compiled()
def set_pointer(m, t, index, pc, address, value):
    """A store into the window: the thread's read and write pointers may be moved.  False when it is refused.

    On the chip they may lie anywhere; with checks on, inside their circular buffer.
    """
    host = window_place(m, t, address)
    column = (address - CB_WINDOW) % CB_STRIDE // 8
    if host == 0 or address % 8 != 0 or (column != ctx.CB_READ_PTR and column != ctx.CB_WRITE_PTR) or value > m.l1_size:
        return False
    row = window_place(m, t, address - 8 * column)
    base, size = load_i64(row + 8 * ctx.CB_BASE), load_i64(row + 8 * ctx.CB_SIZE)
    if not (base <= value <= base + size):  # its end comes between a step and the wrap behind it
        if m.checker_at != 0:
            return False
        note(m, index, pc >> 2, CB_POINTER, address, value, 0)
    store_64(host, value)
    return True
