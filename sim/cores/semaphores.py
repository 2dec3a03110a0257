"""Waiting for a word of the own L1, and waking who waits when it changes (noc_semaphore_wait)."""

from tensim.sim.cores.faults import Fault
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.cores.threads import argument, charge, fail, park, wake
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_SEMAPHORES, SEMAPHORE_STRIDE
from tensim.sim.engine.memory import call_model, lies_within, load_u32
from tensim.sim.state import PARKED, WAIT_SEMAPHORE, cores_of, semaphore_writers_of, threads_of, traffic_of

WAIT_EQUAL, WAIT_MIN = 0, 1
WORD = 4  # bytes that a thread polls


@compiled()
def semaphore_holds(m, t):
    """Whether the semaphore condition of parked thread record t holds now."""
    value = load_u32(m.l1_at + t.core * m.l1_size + t.wait_a)
    return value >= t.wait_b if t.wait_c == WAIT_MIN else value == t.wait_b


@compiled()
def l1_changed(m, core, address, size, now, by):
    """Wake threads of `core` that poll a semaphore in the bytes that thread `by` changed (-1: the host)."""
    number = (address - m.semaphore_base) // SEMAPHORE_STRIDE
    if 0 <= number < N_SEMAPHORES and by >= 0:
        own = 1 if by // THREADS_PER_CORE == core else 0
        semaphore_writers_of(m)[2 * (core * N_SEMAPHORES + number) + own] = by + 1
    if cores_of(m)[core].semaphore_waiters == 0:
        return
    if core >= m.n_workers:  # an Ethernet tile, whose router looks at its words
        call_model(m.fabric_model_at, m.self_at, cores_of(m)[core].router_event, now)
        return
    for slot in range(THREADS_PER_CORE):
        index = core * THREADS_PER_CORE + slot
        t = threads_of(m)[index]
        changes = address < t.wait_a + WORD and t.wait_a < address + size
        if changes and t.state == PARKED and t.wait == WAIT_SEMAPHORE:
            if semaphore_holds(m, t):
                cores_of(m)[core].semaphore_waiters -= 1
                traffic_of(m)[index].woken_by = by + 1
                wake(m, index, now, m.semaphore_poll)


@compiled()
def semaphore_wait(m, thread, now, mode):
    """noc_semaphore_wait / _wait_min: poll a word of the core's own L1."""
    t = threads_of(m)[thread]
    address = argument(t, 0)
    if address % WORD != 0 or not lies_within(address, WORD, m.l1_size):
        fail(m, thread, Fault.SEMAPHORE_RANGE, address, 0, 0)
        return -1
    t.wait_a, t.wait_b, t.wait_c = address, argument(t, 1) & 0xFFFFFFFF, mode
    if semaphore_holds(m, t):
        charge(m, thread, now, m.semaphore_poll)
        return now + m.semaphore_poll
    cores_of(m)[t.core].semaphore_waiters += 1
    return park(m, thread, now, WAIT_SEMAPHORE, t.wait_a, t.wait_b, mode)
