"""Semaphores: those that are waited for or counted exist on the core."""

from tensim.sim.cores.checks.faults import Check
from tensim.sim.cores.checks.shadow import words_table
from tensim.sim.cores.threads import fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_SEMAPHORES

STRIDE = 16  # bytes from one semaphore to the next


@compiled()
def check_semaphore(m, s, thread, core, address):
    """Refuse the use of a word of the program's semaphores that no program has made on the core."""
    place = address - s.semaphore_base
    if 0 <= place < N_SEMAPHORES * STRIDE and (words_table(s.semaphores_at)[core] >> (place // STRIDE)) & 1 == 0:
        fail(m, thread, Check.SEMAPHORE_MISSING, place // STRIDE, core, 0)
