"""Sections of Dst: handed from math (acquire, commit) to pack (wait, release)."""

from tensim.sim.cores.faults import Fault
from tensim.sim.cores.oddities import odd
from tensim.sim.cores.slots import MATH_SLOT, PACK_SLOT, THREADS_PER_CORE
from tensim.sim.cores.tensix.math import hold_unpackers
from tensim.sim.cores.threads import charge, fail, park, wake
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import PARKED, WAIT_DST_FREE, WAIT_DST_READY, cores_of, threads_of


@compiled()
def dst_acquire(m, thread, now):
    """tile_regs_acquire: the math thread takes a section that the pack thread has given back, cleared."""
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    if core.dst_committed - core.dst_released >= core.sections:
        return park(m, thread, now, WAIT_DST_FREE, 0, 0, 0)
    take_section(core)
    charge(m, thread, now, m.sync_cycles)
    return now + m.sync_cycles


@compiled()
def take_section(core):
    """The math thread has the section behind the committed ones: cleared, if it had not acquired it before."""
    if core.dst_acquired <= core.dst_committed:
        first = (core.dst_committed % core.sections) * core.capacity
        core.fresh |= ((1 << core.capacity) - 1) << first
        core.dst_acquired = core.dst_committed + 1


@compiled()
def dst_commit(m, thread, now):
    """tile_regs_commit: hand the section to the pack thread."""
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    if core.dst_acquired <= core.dst_committed and odd(m, thread, Fault.DST_NOT_ACQUIRED, 0, 0, 0):
        return -1
    core.dst_committed += 1
    hold_unpackers(m, core)
    charge(m, thread, now, m.sync_cycles)
    pack_thread = t.core * THREADS_PER_CORE + PACK_SLOT
    other = threads_of(m)[pack_thread]
    if other.state == PARKED and other.wait == WAIT_DST_READY:
        wake(m, pack_thread, now + m.sync_lag, m.sync_cycles)
    return now + m.sync_cycles


@compiled()
def dst_wait(m, thread, now):
    """tile_regs_wait: the pack thread waits for a committed section."""
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    if core.dst_committed <= core.dst_released:
        return park(m, thread, now, WAIT_DST_READY, 0, 0, 0)
    charge(m, thread, now, m.sync_cycles)
    return now + m.sync_cycles


@compiled()
def dst_release(m, thread, now):
    """tile_regs_release: give the section back to the math thread."""
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    if core.dst_committed <= core.dst_released:
        fail(m, thread, Fault.DST_NOT_ACQUIRED, 0, 0, 0)
        return -1
    core.dst_released += 1
    charge(m, thread, now, m.sync_cycles)
    math_thread = t.core * THREADS_PER_CORE + MATH_SLOT
    other = threads_of(m)[math_thread]
    if other.state == PARKED and other.wait == WAIT_DST_FREE:
        take_section(core)
        wake(m, math_thread, now + m.sync_lag, m.sync_cycles)
    return now + m.sync_cycles
