"""What the threads of a finished program did, added to the totals of its chip."""

import numpy as np

from tensim.sim import state as st
from tensim.sim.chip.interval import TOTALS
from tensim.sim.chip.launch_work import Sparse, columns_of
from tensim.sim.cores.slots import THREADS_PER_CORE, TRISC0


def account(chip, slot, record, launch):
    """Add what a finished program's threads did to a chip's `work`, `core_cycles`, oddities and totals of the compute cores.

    Its `record` in `launches` gets its end and, when it is kept, its `LaunchWork`.
    """
    record["ended"] = int(chip.arrays["launches"][slot]["ended"])
    chip.oddities.drain()
    table, started = chip.arrays["threads"], record["started"]
    mine = np.sort(np.asarray(record["threads"], np.int64))
    mine = mine[(table["launch"][mine] == slot) & (table["state"][mine] == st.ENDED) & (table["ended"][mine] > 0)]
    cores = mine[mine % THREADS_PER_CORE == TRISC0] // THREADS_PER_CORE
    rows, work = _as_slice(mine), chip.work
    threads = table[rows]
    ended, time = threads["ended"], threads["ended"] - threads["started"]
    for name, amount in (
        ("busy", threads["busy"]),
        ("issue", threads["issue_busy"]),
        ("operations", threads["operations"]),
        ("time", time),
    ):
        _add(work[name], rows, amount)
    stalls = Sparse.of(chip.arrays["stalls"][rows])
    stalled, reasons = mine[stalls.indices[0]], stalls.indices[1]
    work["stalls"][stalled, reasons] += stalls.values
    chip.arrays["stalls"][stalled, reasons] = 0  # as a program that is loaded finds it
    work["longest"][rows] = np.maximum(work["longest"][rows], time)
    last = np.zeros(chip.n_workers, np.int64)
    np.maximum.at(last, threads["core"], ended)
    chip.core_cycles += np.maximum(last - started, 0)
    work = chip.works.collect(slot, mine, rows, cores, stalls, launch)
    if work is not None:
        record["work"] = work
    table["state"][rows], table["launch"][rows] = st.IDLE, -1
    for name, total in zip(TOTALS, columns_of(chip.arrays["cores"], TOTALS, cores).sum(axis=0).tolist(), strict=True):
        setattr(chip, name, getattr(chip, name) + total)
    chip.compute_cores.update(cores.tolist())


def _as_slice(rows):
    """Rows of a table as a slice where they follow each other: a view of the table instead of a copy."""
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1:
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


def _add(column, rows, amount):
    """Add to rows of a column; where they are a slice, in place."""
    if isinstance(rows, slice):
        part = column[rows]
        part += amount
    else:
        column[rows] += amount
