"""What a program does that the chip lets pass, though it is hardly meant: noted, or with checks on refused (docs/checks.md).

The machine has a table of `ODDITY` records, one for each kind at each line of each thread, found by hashing; the host empties it
when a program ends or when it is half full (`tensim.sim.chip.oddities`).
"""

import numpy as np

from tensim.sim.cores.threads import fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.tables import table
from tensim.sim.state import threads_of

# The values are those of the first time; `code` 0: free
ODDITY = np.dtype([(name, np.int64) for name in "code thread line line_base cycle a b c count".split()], align=True)
PLACES = 1 << 12
HALF = PLACES // 2  # from so many on, the engine leaves to have the table emptied
oddity_table = table(ODDITY)


@compiled()
def note(m, thread, line, code, a, b, c):
    """Count what a thread does at a line that the chip lets pass."""
    t, oddities = threads_of(m)[thread], oddity_table(m.oddities_at)
    place = (thread * 40503 + line * 9973 + code * 131) & (PLACES - 1)
    for _ in range(PLACES):
        one = oddities[place]
        if one.code == 0:
            one.code, one.thread, one.line, one.line_base, one.cycle = code, thread, line, t.line_base, m.now
            one.a, one.b, one.c, one.count = a, b, c, 1
            m.n_oddities += 1
            return
        if one.code == code and one.thread == thread and one.line == line and one.line_base == t.line_base:
            one.count += 1
            return
        place = (place + 1) & (PLACES - 1)


@compiled()
def odd(m, thread, code, a, b, c):
    """Something that the chip lets pass: True when checks are on and stop the thread, else it is noted."""
    if m.checker_at != 0:
        fail(m, thread, code, a, b, c)
        return True
    note(m, thread, threads_of(m)[thread].line, code, a, b, c)
    return False
