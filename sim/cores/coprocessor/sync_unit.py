"""Sync unit: mutexes and semaphores (ISA: SyncUnit.md); what SEMWAIT and STALLWAIT latch at the wait gate is the frontend's."""

from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.state import N_SEMAPHORES, NO_THREAD, counters, semaphore_table
from tensim.sim.engine.compiled import compiled

ATGETM, ATRELM, SEMINIT, SEMPOST, SEMGET = opcodes("ATGETM ATRELM SEMINIT SEMPOST SEMGET")
LARGEST = 15  # value of a semaphore
NO_MUTEX, LAST_MUTEX = 1, 7


@compiled()
def post(c, semaphore):
    """Add one to a semaphore, up to 15."""
    entry = semaphore_table(c.semaphores_at)[semaphore]
    entry.value = min(entry.value + 1, LARGEST)


@compiled()
def get(c, semaphore):
    """Take one from a semaphore, down to 0."""
    entry = semaphore_table(c.semaphores_at)[semaphore]
    entry.value = max(entry.value - 1, 0)


@compiled()
def mutex_is_free(c, thread, word):
    """May ATGETM of this word pass the gate?  A mutex that does not exist never comes free."""
    index = word & 0xFFFF
    if index == NO_MUTEX or index > LAST_MUTEX:
        return False
    holder = counters(c.mutexes_at)[index]
    return holder == NO_THREAD or holder == thread


@compiled()
def execute_sync(c, thread, word):
    """Carry out an instruction of the sync unit other than the waits; False for one that it does not know."""
    code, mask = word >> 24, word >> 2 & 0xFF
    if code == ATGETM:
        counters(c.mutexes_at)[word & 0xFFFF] = thread
    elif code == ATRELM:
        index = word & 0xFFFF
        if index <= LAST_MUTEX and counters(c.mutexes_at)[index] == thread:
            counters(c.mutexes_at)[index] = NO_THREAD
    elif code == SEMINIT or code == SEMPOST or code == SEMGET:
        for i in range(N_SEMAPHORES):
            if mask >> i & 1 == 0:
                continue
            if code == SEMPOST:
                post(c, i)
            elif code == SEMGET:
                get(c, i)
            else:
                entry = semaphore_table(c.semaphores_at)[i]
                entry.value, entry.max = word >> 16 & 15, word >> 20 & 15
    else:
        return False
    return True
