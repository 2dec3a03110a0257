"""Replay of NoC events: the transfers and barriers of a recorded run, issued by threads that follow the recording.

Each (core, data-movement RISC) of the recording is a thread of the compiled lane, driven by a compiled front end that
walks a table of operations with their recorded times and posts them as a kernel would.

*open*: every transfer at its recorded time; barriers are left out.
*closed*: a thread keeps its recorded gaps, except the waits: when a barrier of the recording had an end, everything
after it moves by the difference between the simulated and the recorded end (reference: noc_event_trace, "What the
timestamps say").

A recording holds no addresses.  Reads come from consecutive pages of a DRAM bank in the order of their times, as from
interleaved tensors; in L1, which has no timing by address, reads land in one place and every writing thread has a place
of its own, so that no two threads write the same bytes.
"""

from dataclasses import dataclass
from enum import IntEnum

import numba as nb
import numpy as np

from sim.cores import context as ctx
from sim.cores.operations import Barrier, Op
from sim.errors import UsageError
from sim.launch import THREADS_PER_CORE
from sim.memory import load_i64, store_64

MODES = ("closed", "open")
START_TO_FIRST = 20  # cycles that both recorded and simulated durations leave out (golden cycles of the reference)


class EventKind(IntEnum):
    """What an event of a recording does."""

    READ = 0
    WRITE = 1
    INLINE_WRITE = 2
    MULTICAST = 3
    ATOMIC_INC = 4
    READ_BARRIER = 5
    WRITE_BARRIER = 6
    WRITE_FLUSH = 7
    ATOMIC_BARRIER = 8
    FULL_BARRIER = 9
    MARK = 10  # nothing that the NoC sees; its time is kept


FIRST_BARRIER = EventKind.READ_BARRIER
BARRIERS = {
    EventKind.READ_BARRIER: Barrier.READ,
    EventKind.WRITE_BARRIER: Barrier.WRITE,
    EventKind.WRITE_FLUSH: Barrier.WRITES_FLUSHED,
    EventKind.ATOMIC_BARRIER: Barrier.ATOMIC,
    EventKind.FULL_BARRIER: Barrier.FULL,
}
NO_END = -1

# One event.  sx, sy: the issuing core; x, y: the other end, or the first corner of a multicast in its direction of travel,
# whose last corner is x1, y1 (NoC-0 coordinates); slot: 0 BRISC, 1 NCRISC; time, end: cycles, end of barriers only.
EVENT = np.dtype([(name, np.int64) for name in "sx sy slot kind noc x y x1 y1 bytes time end".split()])

# Columns of the front end's table
OPERATION, TIME, END, ARGS, SIMULATED = 0, 1, 2, 3, 11
N_ARGS = SIMULATED - ARGS
ROW_WORDS = 12


@nb.njit(cache=True)
def _front_end(context):
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


@dataclass(frozen=True)
class Replayed:
    """Cycles of a recording and of its replay, both less `START_TO_FIRST`."""

    cycles: int


def replay(chip, events, origin, mode="closed"):
    """Replay `events` (array of `EVENT`, those of a thread in the order of their times) on an idle chip from cycle 0.

    `origin`: the recorded time that is cycle 0.  Returns the simulated cycles.  closed: from `origin` to the last event;
    open: to the completion of the last transfer; both less 20.  The chip's counters (links, DRAM) are those of this replay.
    Raises UsageError when the events do not fit the chip, ProgramError when a transfer cannot be made.
    """
    if mode not in MODES:
        raise UsageError(f"mode {mode!r} is not one of {', '.join(MODES)}")
    if mode == "open":
        events = events[events["kind"] < FIRST_BARRIER]
    if not len(events):
        return 0
    order = np.lexsort((_thread_of(chip, events),))
    events = events[order]
    table = _table(chip, events, origin, mode)
    threads, first, counts = np.unique(_thread_of(chip, events), return_index=True, return_counts=True)
    rows = table.ctypes.data + first * table.strides[0]
    chip.rewind()
    launch = chip.launch_front_end("NoC events", _front_end, threads, rows, counts, 0)
    ended = dict(_advance(chip))[launch]
    # A thread that waits for its last transfer ends one cycle after that has completed.
    last = ended - 1 if mode == "open" else int(table[:, SIMULATED].max())
    return last - START_TO_FIRST


def _advance(chip):
    while not (done := chip.advance(chip.max_cycles)):
        pass
    return done


def _thread_of(chip, events):
    """Thread index of each event."""
    width, height = chip.arch.noc_size
    core_of = np.full((height, width), -1)
    for index, (x, y) in enumerate(chip.arch.worker_coords):
        core_of[y, x] = index
    return core_of[events["sy"], events["sx"]] * THREADS_PER_CORE + events["slot"]


def _table(chip, events, origin, mode):
    """The front end's table: one row of int64[ROW_WORDS] per event."""
    table = np.zeros((len(events), ROW_WORDS), np.int64)
    table[:, TIME] = events["time"] - origin
    table[:, END] = np.where(events["end"] == NO_END, NO_END, events["end"] - origin)
    table[:, OPERATION] = Op.SPEND
    arguments = table[:, ARGS:SIMULATED]
    place = _Places(chip, events)
    noc, size = events["noc"], events["bytes"]
    tile = (events["x"] << 36) | (events["y"] << 42)
    for kind, operation, values in (
        (EventKind.READ, Op.NOC_READ, (tile + place.source, place.landing, size, noc, -1, 0)),
        (EventKind.WRITE, Op.NOC_WRITE, (place.own, tile + place.own, size, noc, -1, 0, 0, -1)),
        (EventKind.INLINE_WRITE, Op.NOC_INLINE_WRITE, (tile + place.own, 0, 15, noc, 0)),
        (EventKind.ATOMIC_INC, Op.NOC_ATOMIC_INC, (tile + place.own, 0, noc, 0)),
        (EventKind.MULTICAST, Op.NOC_MULTICAST, (place.own, place.rectangle, size, place.receivers, 0, 0, noc)),
        *((kind, Op.NOC_BARRIER, (barrier, noc, -1)) for kind, barrier in BARRIERS.items()),
    ):
        mine = events["kind"] == kind
        table[mine, OPERATION] = operation
        for column, value in enumerate(values):
            arguments[mine, column] = value[mine] if isinstance(value, np.ndarray) else value
    return table
