"""What drives a thread of a replayed NoC recording (`tensim.sim.chip.noc_replay`): a table of operations with their times."""

from tensim.sim.cores import context as ctx
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_i64, store_64

NO_END = -1

# Columns of the front end's table
OPERATION, TIME, END, ARGS, SIMULATED = 0, 1, 2, 3, 11
N_ARGS = SIMULATED - ARGS
ROW_WORDS = 12


@compiled()
def front_end(context):
    """Post the operations of a table, each at its recorded time plus what the simulated barriers took longer."""
    row = load_i64(context + 8 * ctx.COMPILE_ARGS)
    last = row + 8 * ROW_WORDS * load_i64(context + 8 * ctx.N_COMPILE_ARGS)
    shift = 0
    while row < last:
        now = load_i64(context + 8 * ctx.TIME)
        due = max(load_i64(row + 8 * TIME) + shift, now)
        store_64(context + 8 * ctx.OPCODE, load_i64(row + 8 * OPERATION))
        store_64(context + 8 * ctx.CYCLES, due - now)
        for i in range(N_ARGS):
            store_64(context + 8 * (ctx.ARG0 + i), load_i64(row + 8 * (ARGS + i)))
        yield 0
        end = load_i64(row + 8 * END)
        if end != NO_END:
            due = load_i64(context + 8 * ctx.TIME)
            shift = due - end
        store_64(row + 8 * SIMULATED, due)
        row += 8 * ROW_WORDS
