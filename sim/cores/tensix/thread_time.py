"""What a compute thread spends, in fractions of a cycle."""

from tensim.sim.cores.threads import charge
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import threads_of


@compiled()
def spend(m, thread, now, fixed):
    """Charge a cost given in 1/1024 cycles, carrying the fraction to the thread's next one; returns the end cycle."""
    t = threads_of(m)[thread]
    total = fixed + t.fraction
    cycles = max(total >> 10, 1)
    t.fraction = total & 1023
    charge(m, thread, now, cycles)
    return now + cycles
