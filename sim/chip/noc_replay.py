"""Replay of NoC events: the transfers and barriers of a recorded run, issued by threads that follow the recording.

Each (core, data-movement RISC) of the recording is a thread of the compiled engine, driven by a compiled front end that
walks a table of operations with their recorded times and posts them as a kernel would.

*open*: every transfer at its recorded time; barriers are left out.
*closed*: a thread keeps its recorded gaps, except the waits: when a barrier of the recording had an end, everything
after it moves by the difference between the simulated and the recorded end
(docs/hardware/noc_event_traces.md#what-the-timestamps-say).

A recording holds no addresses.  The reads of a thread come from consecutive pages of a DRAM bank, as from its block of an
interleaved tensor, those of the next thread from the pages behind them; in L1, which has no timing by address, reads land
in one place, and no two threads write the same bytes of a target.
"""

import functools
import itertools
from enum import IntEnum

import numpy as np

from tensim.sim.cores.niu.replayed_events import ARGS, END, NO_END, OPERATION, ROW_WORDS, SIMULATED, TIME
from tensim.sim.cores.operations import Barrier, Op
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.engine.entry_points import replay_front_end
from tensim.sim.errors import UsageError

MODES = ("closed", "open")
START_TO_FIRST = 20  # cycles that both recorded and simulated durations leave out (docs/hardware/noc_event_traces.md)


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
WORD = 4  # bytes
ALIGNMENT = 64  # bytes: every architecture's largest

# One event.  sx, sy: the issuing core; slot: 0 BRISC, 1 NCRISC; x, y: the other end, or the first corner of a multicast in
# its direction of travel; x1, y1: the last corner, equal to x, y where there is one tile (NoC-0 coordinates); time, end:
# cycles, end of barriers only.
EVENT = np.dtype([(name, np.int64) for name in "sx sy slot kind noc x y x1 y1 bytes time end".split()])


def replay(chip, events, origin, mode="closed"):
    """Replay `events` (array of `EVENT`, those of a thread in the order of their times) on an idle chip from cycle 0.

    `origin`: the recorded time that is cycle 0.  Returns the simulated cycles.  closed: from `origin` to the last event;
    open: to the completion of the last transfer; both less 20.  The chip's counters (links, DRAM) are those of this replay.
    Raises UsageError when the events do not fit the chip, ProgramError when a transfer cannot be made.
    """
    if mode not in MODES:
        raise UsageError(f"mode {mode!r} is not one of {', '.join(MODES)}")
    threads = thread_of(chip.arch, events)
    order = np.argsort(threads, kind="stable")
    events, threads = events[order], threads[order]
    delay = _recording_cost(chip.arch, events, threads)
    if mode == "open":
        moves = events["kind"] < FIRST_BARRIER
        events, threads = events[moves], threads[moves]
    if not len(events):
        return 0
    table = _table(chip.arch, events, threads, origin, delay)
    first = np.flatnonzero(np.diff(threads, prepend=-1))  # row of each thread
    counts = np.diff(first, append=len(threads))
    rows = table.ctypes.data + first * table.strides[0]
    chip.rewind()
    launch = chip.launch_front_end("NoC events", replay_front_end.code, threads[first], rows, counts, 0)
    ended = dict(_advance(chip))[launch]
    # A thread that waits for its last transfer ends one cycle after that has completed.
    last = ended - 1 if mode == "open" else int(table[:, SIMULATED].max())
    return last - START_TO_FIRST


def kept_cycles(arch, events, origin, mode="closed"):
    """Cycles that `replay` takes from the recording: with a network and memories of no time it would still take as long.

    closed: of the thread with the most, from `origin` to the end of its last event, less its recorded waits at barriers;
    open: to the last recorded time of a transfer; both less 20.
    """
    threads = thread_of(arch, events)
    until = events["time"]
    if mode == "open":
        moves = events["kind"] < FIRST_BARRIER
        return max(int(until[moves].max(initial=origin)) - origin - START_TO_FIRST, 0)
    waits = np.where(events["end"] == NO_END, 0, events["end"] - until)
    ends, waited = np.zeros(threads.max(initial=0) + 1, np.int64), np.zeros(threads.max(initial=0) + 1, np.int64)
    np.maximum.at(ends, threads, until + waits - origin)
    np.add.at(waited, threads, waits)
    return max(int((ends - waited).max()) - START_TO_FIRST, 0)


def _advance(chip):
    while not (done := chip.advance(chip.max_cycles)):
        pass
    return done


def thread_of(arch, events):
    """Thread index of each event's issuer; UsageError when one is not a worker core."""
    core = _core_of(arch)[events["sy"], events["sx"]]
    if (core < 0).any():
        x, y = events[["sx", "sy"]][np.argmin(core)]
        raise UsageError(f"the issuing tile {x}-{y} is not a worker core of {arch.name}")
    return core * THREADS_PER_CORE + events["slot"]


@functools.lru_cache(maxsize=8)
def _core_of(arch):
    """Worker index by [y, x]; -1 on other tiles."""
    width, height = arch.noc_size
    result = np.full((height, width), -1)
    for index, (x, y) in enumerate(arch.worker_coords):
        result[y, x] = index
    return result


@functools.lru_cache(maxsize=8)
def _bank_offsets(arch):
    """Offset of a bank in its DRAM tile by [y, x], of the last bank of the tile; -1 on other tiles."""
    width, height = arch.noc_size
    result = np.full((height, width), -1)
    for x, y, offset in itertools.chain(*arch.dram_endpoints):
        result[y, x] = offset
    return result


def _table(arch, events, threads, origin, delay):
    """The front end's table: one row of int64[ROW_WORDS] per event; transfers are called `delay` behind their times."""
    table = np.zeros((len(events), ROW_WORDS), np.int64)
    moves = events["kind"] < FIRST_BARRIER
    table[:, TIME] = events["time"] - origin + np.where(moves, delay, 0)
    table[:, END] = np.where(events["end"] == NO_END, NO_END, events["end"] - origin)
    landing = _align(arch.l1_user_base)
    reads = events["kind"] == EventKind.READ
    sending = landing + _align(events["bytes"][reads].max(initial=0))
    place = _writing_places(arch, events, threads, sending)
    noc, size = events["noc"], events["bytes"]
    tile = (events["x"] << 36) | (events["y"] << 42)
    for kind in np.flatnonzero(np.bincount(events["kind"])).tolist():
        mine = events["kind"] == kind
        if kind == EventKind.READ:
            operation = Op.NOC_READ
            values = tile + _sources(arch, events, threads, landing), landing, size, noc, -1, 0, -1
        elif kind == EventKind.WRITE:
            operation, values = Op.NOC_WRITE, (sending, tile + place, size, noc, -1, 0, 0, -1)
        elif kind == EventKind.INLINE_WRITE:
            operation, values = Op.NOC_INLINE_WRITE, (tile + place, 0, 15, noc, 0, -1)
        elif kind == EventKind.ATOMIC_INC:
            operation, values = Op.NOC_ATOMIC_INC, (tile + place, 0, noc, 0, -1)
        elif kind == EventKind.MULTICAST:
            corners = (events["x1"] << 36) | (events["y1"] << 42) | (events["x"] << 48) | (events["y"] << 54)
            operation = Op.NOC_MULTICAST
            values = sending, corners + place, size, _receivers(arch, events), _linked(events, threads), 0, noc
        elif kind in BARRIERS:
            operation, values = Op.NOC_BARRIER, (BARRIERS[kind], noc, -1)
        else:
            operation, values = Op.SPEND, ()
        table[mine, OPERATION] = operation
        for column, value in enumerate(values, ARGS):
            table[mine, column] = value[mine] if isinstance(value, np.ndarray) else value
    return table


def _linked(events, threads):
    """1 for multicasts of data whose thread then multicasts a word to the same rectangle, else 0.

    tt-metal's kernels link the two (the word is the flag that the data have come), which recordings do not say.  As an open
    path takes nothing else, other threads of the core must keep off the NoC.
    """
    linked = np.zeros(len(events), bool)
    linked[:-1] = (threads[1:] == threads[:-1]) & (events["bytes"][1:] <= WORD) & (events["bytes"][:-1] > WORD)
    linked &= events["kind"] == EventKind.MULTICAST
    for name in ("kind", "noc", "x", "y", "x1", "y1"):
        linked[:-1] &= events[name][1:] == events[name][:-1]
    ways = threads // THREADS_PER_CORE * 2 + events["noc"]
    moves = events["kind"] < FIRST_BARRIER
    used, threads_of_way = np.unique(np.unique([ways[moves], threads[moves]], axis=1)[0], return_counts=True)
    return (linked & np.isin(ways, used[threads_of_way == 1])).astype(np.int64)


def _recording_cost(arch, events, threads):
    """Cycles between the recorded time of a transfer and its call: what the recording itself takes.

    The recorder reads the clock, stores the event and then lets the call begin; so the smallest gap behind a transfer is
    that cost and the call with what its address takes (reads of silicon are never nearer than 118 cycles to what follows).
    What is above `noc.recording_cycles` is the program's own.
    """
    one_packet = (events["kind"] < FIRST_BARRIER) & (events["bytes"] <= arch["noc.max_packet_bytes"])
    gaps = np.diff(events["time"])[one_packet[:-1] & (threads[1:] == threads[:-1])]
    if not len(gaps):
        return 0
    return min(max(int(gaps.min()) - arch["noc.recorded_call_cycles"], 0), arch["noc.recording_cycles"])


def _align(address):
    return -(-address // ALIGNMENT) * ALIGNMENT


def _writing_places(arch, events, threads, first):
    """For each event the offset in its target at which its thread writes, `first` or more.

    In DRAM every thread has a place of its own.  In L1 threads are laid one after the other, each behind all those that
    write to one of its targets.
    """
    free, result = np.full(arch.noc_size[::-1], first), np.full(len(events), first)
    writes = (events["kind"] < FIRST_BARRIER) & (events["kind"] != EventKind.READ)
    size = _align(np.where(writes, np.maximum(events["bytes"], ALIGNMENT), 0))
    to_l1 = writes & (_core_of(arch)[events["y1"], events["x1"]] >= 0)
    to_dram = writes & ~to_l1
    result[to_dram] += threads[to_dram] * size[to_dram].max(initial=0)
    rows = np.flatnonzero(to_l1)
    for mine in np.split(rows, np.flatnonzero(np.diff(threads[rows])) + 1) if len(rows) else ():  # of each thread
        targets = np.zeros(free.shape, bool)
        for region in set(events[["x", "y", "x1", "y1"]][mine].tolist()):
            targets[_rectangle(*region)] = True
        place = free[targets].max()
        free[targets] = place + size[mine].max()
        result[mine] = place
    if free.max() > arch.l1_size:
        raise UsageError("the writes of all threads to one core do not fit side by side into its L1")
    return result


def _rectangle(x, y, x1, y1):
    """Index of a rectangle of tiles in an array by [y, x]; the corners may come in either order."""
    return slice(min(y, y1), max(y, y1) + 1), slice(min(x, x1), max(x, x1) + 1)


def _sources(arch, events, threads, landing):
    """For each event the offset in its tile from which a read comes."""
    result = np.full(len(events), landing)
    offsets = _bank_offsets(arch)[events["y"], events["x"]]
    reads = np.flatnonzero((events["kind"] == EventKind.READ) & (offsets >= 0))
    if not len(reads):
        return result
    tiles = events["y"][reads] * arch.noc_size[0] + events["x"][reads]
    order = np.lexsort((events["time"][reads], threads[reads], tiles))
    reads, tiles = reads[order], tiles[order]
    pages = _align(events["bytes"][reads])
    changes = np.diff(tiles, prepend=-1) != 0
    first, group = np.flatnonzero(changes), np.cumsum(changes) - 1  # of each tile; of each read
    before = np.cumsum(pages) - pages
    room = arch.dram_bank_bytes - np.maximum.reduceat(pages, first)
    result[reads] = offsets[reads] + (before - before[first][group]) % room[group]
    return result


def _receivers(arch, events):
    """For each event the number of worker cores in its multicast rectangle, the sender left out."""
    result = np.zeros(len(events), np.int64)
    is_worker = _core_of(arch) >= 0
    for i in np.flatnonzero(events["kind"] == EventKind.MULTICAST):
        sx, sy, *region = events[["sx", "sy", "x", "y", "x1", "y1"]][i].tolist()
        listens = is_worker.copy()
        listens[sy, sx] = False
        result[i] = np.count_nonzero(listens[_rectangle(*region)])
    return result
