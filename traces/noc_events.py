"""NoC event traces: the vendor's JSON, one array of events with their times (docs/hardware/noc_event_traces.md).

The reader takes untrusted files.  A file becomes one recording per device; what a recording holds and the chip model does
not is counted in words, never dropped silently.
"""

import functools
import json
from collections import Counter
from dataclasses import dataclass
from itertools import repeat
from operator import contains
from pathlib import Path

import numpy as np
import orjson

from tensim.sim.arch.loader import Arch
from tensim.sim.chip.noc_replay import EVENT, NO_END, START_TO_FIRST, EventKind, kept_cycles
from tensim.sim.cores.noc_record import CALLED
from tensim.sim.cores.operations import Barrier, Op
from tensim.sim.cores.slots import THREAD_NAMES, THREADS_PER_CORE
from tensim.sim.cores.threads import OPERATION_END, OPERATION_START
from tensim.sim.errors import UsageError
from tensim.sim.output_files import output_file

LONGEST = 10_000_000_000  # cycles between the first and the last event
LARGEST = 1 << 31  # bytes of one transfer
SLOTS = {"BRISC": 0, "NCRISC": 1}
NOCS = {"NOC_0": 0, "NOC_1": 1}

# type -> what it does; the `_START` and `_END` of a barrier become one event
TRANSFERS = {
    "READ": EventKind.READ,
    "READ_WITH_STATE": EventKind.READ,
    "READ_DRAM_SHARDED_WITH_STATE": EventKind.READ,
    "WRITE_": EventKind.WRITE,
    "WRITE_WITH_TRID": EventKind.WRITE,
    "WRITE_WITH_STATE": EventKind.WRITE,
    "WRITE_WITH_TRID_WITH_STATE": EventKind.WRITE,
    "WRITE_INLINE": EventKind.INLINE_WRITE,
    "WRITE_MULTICAST": EventKind.MULTICAST,
    "SEMAPHORE_INC": EventKind.ATOMIC_INC,
}
# type -> the transfers whose target and size it sets
STATES = {
    "READ_SET_STATE": EventKind.READ,
    "READ_DRAM_SHARDED_SET_STATE": EventKind.READ,
    "WRITE_SET_STATE": EventKind.WRITE,
    "WRITE_WITH_TRID_SET_STATE": EventKind.WRITE,
}
BARRIER_STARTS = {"READ_BARRIER_START": EventKind.READ_BARRIER, "WRITE_BARRIER_START": EventKind.WRITE_BARRIER}
BARRIER_ENDS = {"READ_BARRIER_END": EventKind.READ_BARRIER, "WRITE_BARRIER_END": EventKind.WRITE_BARRIER}
# Barriers of which only the call is recorded
CALLS = {
    "WRITE_FLUSH": EventKind.WRITE_FLUSH,
    "FULL_BARRIER": EventKind.FULL_BARRIER,
    "ATOMIC_BARRIER": EventKind.ATOMIC_BARRIER,
}
ZONE_PHASES = ("begin", "end", "ZONE_START", "ZONE_END")
PROCESSORS = (*SLOTS, "TRISC_0", "TRISC_1", "TRISC_2", "ERISC", "SUBORDINATE_ERISC")
SILENT = ("READ_SET_TRID", "SEMAPHORE_SET")
NOT_SIMULATED = {
    "READ_BARRIER_WITH_TRID": "barriers on one transaction id, which the recording does not name",
    "SEMAPHORE_WAIT": "semaphore waits: their recorded duration is kept",
    "FABRIC_UNICAST_WRITE": "transfers to other devices",
}
KINDS = TRANSFERS | BARRIER_STARTS | CALLS
TYPES = {*TRANSFERS, *STATES, *BARRIER_STARTS, *BARRIER_ENDS, *CALLS, *SILENT, *NOT_SIMULATED}


@dataclass(frozen=True)
class Recording:
    """The events of one device.

    `arch`: the chip, its worker grid made wide enough.  `events`: array of `EVENT`, the events of a thread in the order of
    their times.  `origin`: earliest time of any event or zone; `cycles`: golden cycles, from there to the latest event,
    less 20.  `not_simulated`: {what: how many events}.
    """

    id: str
    arch: Arch
    events: np.ndarray
    origin: int
    cycles: int
    not_simulated: dict

    def transfers(self):
        """How many transfers there are to simulate."""
        return int(np.count_nonzero(self.events["kind"] < EventKind.READ_BARRIER))

    def kept_gap_share(self, mode):
        """The part of the recorded cycles that a replay in this mode takes from the recording."""
        return kept_cycles(self.arch, self.events, self.origin, mode) / self.cycles

    def memories(self):
        """Which memories the transfers reach: "l1", "dram" or "dram+l1"."""
        moving = self.events[self.events["kind"] < EventKind.READ_BARRIER]
        dram = _tiles(self.arch, "dram_tiles")[moving["y"], moving["x"]]
        return "dram" if dram.all() else "dram+l1" if dram.any() else "l1"


class _MalformedEvent(ValueError):
    """An event (its index in the file, from 0) that the format does not allow."""

    def __init__(self, index, why):
        super().__init__(f"event {index}: {why}")
        self.index = int(index)


def read_recordings(path, arch):
    """The recordings in a file, one per device.  UsageError names file, index of the event (from 0) and reason."""
    path = Path(path)
    try:
        items = orjson.loads(path.read_bytes())
    except ValueError as error:
        raise UsageError(f"{path}: not JSON: {error}") from None
    if not isinstance(items, list):
        raise UsageError(f"{path}: not an array of events")
    try:
        devices = _devices(items)
        arch = arch.with_workers(_issuers(items))
        devices = {device: _read_device(items, rows, arch) for device, rows in devices.items()}
    except _MalformedEvent as error:
        raise UsageError(f"{path}: {error}", where={"file": str(path), "index": error.index}) from None
    except ValueError as error:
        raise UsageError(f"{path}: {error}", where={"file": str(path)}) from None
    devices = {device: read for device, read in devices.items() if read["last"] is not None} or devices
    if not devices:
        raise UsageError(f"{path}: no events")
    return [
        Recording(
            id=path.name if len(devices) == 1 else f"{path.name}:device {device}",
            arch=arch,
            events=read["events"],
            origin=read["first"],
            cycles=(read["first"] if read["last"] is None else read["last"]) - read["first"] - START_TO_FIRST,
            not_simulated=read["not_simulated"],
        )
        for device, read in devices.items()
    ]


def _devices(items):
    """{src_device_id, None where it is absent: indices of its events}."""
    for index, item in enumerate(items):
        if type(item) is not dict:
            raise _MalformedEvent(index, "not an object")
    named = _holds(items, "src_device_id")
    rows = np.arange(len(items))
    result = {None: rows[~named]} if not named.all() else {}
    numbers = _integers(items, rows[named], "src_device_id", -1)
    result |= {device: rows[named][numbers == device] for device in dict.fromkeys(numbers.tolist())}
    return result


def _issuers(items):
    """Tiles with data-movement kernels: whatever part the file is from, those are worker cores."""
    columns = (_column(items, name) for name in ("proc", "sx", "sy"))
    try:
        tiles = {(x, y) for processor, x, y in set(zip(*columns, strict=True)) if processor in SLOTS}
    except TypeError:  # an array or object for one of them, which is refused where it is read
        return set()
    return {(x, y) for x, y in tiles if type(x) is type(y) is int and x >= 0 and y >= 0}


def _column(items, name):
    """What each event says for `name`, None where it says nothing."""
    return list(map(dict.get, items, repeat(name)))


def _holds(items, name):
    """bool array: which events say something for `name`."""
    return np.fromiter(map(contains, items, repeat(name)), bool, len(items))


def _at(items, rows):
    """The events at `rows`, which are in the order of the file."""
    return [items[row] for row in rows.tolist()] if len(rows) < len(items) else items


def _integers(items, rows, name, low, high=1 << 62):
    """int64[len(rows)]: what the events at `rows` say for `name`, whole numbers in [low, high)."""
    values = _column(_at(items, rows), name)
    if not values:
        return np.zeros(0, np.int64)
    if set(map(type, values)) == {int} and low <= min(values) and max(values) < high:
        return np.array(values, np.int64)
    for row, value in zip(rows, values, strict=True):
        if name not in items[row]:
            raise _MalformedEvent(row, f"no {name}")
        if type(value) is not int or not low <= value < high:
            raise _MalformedEvent(row, f"{name} is {value!r:.40}, not a whole number from {low} to {high - 1}")
    raise AssertionError("a value outside its range was not found again")


def _choices(items, rows, name, choices):
    """int64[len(rows)]: positions in the tuple `choices` of what the events at `rows` say for `name`."""
    values = _column(_at(items, rows), name)
    positions = {choice: position for position, choice in enumerate(choices)}
    try:
        return np.array([positions[value] for value in values], np.int64)
    except (KeyError, TypeError):  # which one is it?
        row, value = next(
            (row, value)
            for row, value in zip(rows, values, strict=True)
            if not isinstance(value, str) or value not in positions
        )
        raise _MalformedEvent(row, f"{name} is {value!r:.40}, not one of {', '.join(sorted(choices))}") from None


@functools.lru_cache(maxsize=16)
def _tiles(arch, kind):
    """bool[height, width]: which tiles of the NoC are of a kind, an attribute of `arch` with (x, y, ...) of each."""
    result = np.zeros(arch.noc_size[::-1], bool)
    for x, y, *_ in getattr(arch, kind):
        result[y, x] = True
    return result


# A call as read: an `EVENT` and what its type says besides
CALL = np.dtype([(name, np.int64) for name in (*EVENT.names, "index", "type")])
TYPE_NAMES = tuple(sorted(TYPES))
FABRIC = TYPE_NAMES.index("FABRIC_UNICAST_WRITE")


def _of_type(table, absent=-1):
    """int64 array by type: what `table`, a dict by name, holds for it."""
    return np.array([table.get(name, absent) for name in TYPE_NAMES], np.int64)


KIND = _of_type(KINDS, EventKind.MARK)
SETS_STATE, ENDS_BARRIER, STARTS_BARRIER = _of_type(STATES), _of_type(BARRIER_ENDS), _of_type(BARRIER_STARTS)
IS_TRANSFER = _of_type(TRANSFERS) >= 0
IS_MULTICAST = KIND == EventKind.MULTICAST
TAKES_STATE = np.array([name in TRANSFERS and name.endswith("WITH_STATE") for name in TYPE_NAMES])


def _read_device(items, rows, arch):
    """`events`, `first` and `last` time (None without any event) and `not_simulated` of the events at `rows`."""
    width, height = arch.noc_size
    time = _integers(items, rows, "timestamp", 0)
    sx, sy = _integers(items, rows, "sx", 0, width), _integers(items, rows, "sy", 0, height)
    zones = _holds(_at(items, rows), "zone")
    _choices(items, rows[zones], "zone_phase", ZONE_PHASES)
    calls = np.zeros(np.count_nonzero(~zones), CALL)
    calls["index"], calls["time"], calls["sx"], calls["sy"] = rows[~zones], time[~zones], sx[~zones], sy[~zones]
    calls["type"] = _choices(items, calls["index"], "type", TYPE_NAMES)
    processors = _choices(items, calls["index"], "proc", PROCESSORS)
    first, last = int(time.min()), int(calls["time"].max()) if len(calls) else None
    if last is not None and last - first > LONGEST:
        raise ValueError(f"its events are {last - first} cycles apart; the limit is {LONGEST}")
    others = Counter(
        f"events of {PROCESSORS[other]} processors" for other in processors[processors >= len(SLOTS)].tolist()
    )
    calls["slot"] = processors
    calls = calls[processors < len(SLOTS)]
    idle = np.flatnonzero(~_tiles(arch, "worker_coords")[calls["sy"], calls["sx"]])
    if len(idle):
        index, slot, x, y = calls[["index", "slot", "sx", "sy"]][idle[0]].tolist()
        where = f"{PROCESSORS[slot]} at {x}-{y}, which is not a worker core of {arch.name} ({arch.board})"
        raise _MalformedEvent(index, where)
    _read_other_ends(items, calls, width, height)
    events, not_simulated = _events(arch, calls)
    return {"events": events, "first": first, "last": last, "not_simulated": dict(others + not_simulated)}


def _read_other_ends(items, calls, width, height):
    """Fill in what the events of data-movement cores say of NoC, tiles and bytes; -1 for a tile that is not named."""
    calls["noc"] = _choices(items, calls["index"], "noc", tuple(NOCS))
    mine = _at(items, calls["index"])
    away = ["dst_device_id" in item and item["dst_device_id"] != item.get("src_device_id") for item in mine]
    calls["type"][np.array(away, bool)] = FABRIC
    calls["kind"], calls["end"] = KIND[calls["type"]], NO_END
    moving = IS_TRANSFER[calls["type"]] | (SETS_STATE[calls["type"]] >= 0)
    calls["bytes"][moving] = _integers(items, calls["index"][moving], "num_bytes", 0, LARGEST)
    multicasts = IS_MULTICAST[calls["type"]]
    for axis, size in (("x", width), ("y", height)):
        rows = calls["index"][multicasts]
        ends = [_integers(items, rows, f"mcast_{end}_{axis}", 0, size) for end in ("start", "end")]
        low, high = np.minimum(*ends), np.maximum(*ends)
        on_first = calls["noc"][multicasts] == NOCS["NOC_0"]  # a multicast begins at the corner its NoC comes from
        calls[axis][multicasts] = np.where(on_first, low, high)
        calls[f"{axis}1"][multicasts] = np.where(on_first, high, low)
    single = moving & ~multicasts
    for axis, size in (("x", width), ("y", height)):
        calls[axis][single] = _integers(items, calls["index"][single], f"d{axis}", -1, size)
    unnamed = single & ((calls["x"] < 0) | (calls["y"] < 0))
    needed = np.flatnonzero(unnamed & ~TAKES_STATE[calls["type"]])
    if len(needed):
        call = calls[needed[0]]
        raise _MalformedEvent(call["index"], f"{TYPE_NAMES[call['type']]} without the coordinates of its other end")
    calls["x"][unnamed] = -1
    for axis in "xy":
        calls[f"{axis}1"][single] = calls[axis][single]


def _events(arch, calls):
    """(array of `EVENT`, thread by thread in the order of time; how many of what are not simulated)."""
    calls = calls[np.lexsort([calls[name] for name in ("index", "time", "slot", "sy", "sx")])]
    threads = (calls["sx"] * arch.noc_size[1] + calls["sy"]) * len(SLOTS) + calls["slot"]
    _take_states(calls, threads)
    ends = _end_barriers(calls, threads)
    not_simulated = Counter(NOT_SIMULATED[name] for name in _names(calls) if name in NOT_SIMULATED)
    not_simulated += _mark_what_is_not_simulated(arch, calls)
    calls = calls[~ends]
    events = np.zeros(len(calls), EVENT)
    for name in EVENT.names:
        events[name] = calls[name]
    return events, not_simulated


def _names(calls):
    return (TYPE_NAMES[kind] for kind in calls["type"].tolist())


def _before(calls, threads, kind, chosen, sources):
    """For each of the `chosen` calls the position of the last one before it that is of `sources`, or -1.

    Both are masks; what comes before is of the same thread, the same `kind` (an array) and the same NoC.
    """
    taken = np.flatnonzero(chosen | sources)
    taken = taken[np.lexsort((taken, calls["noc"][taken], kind[taken], threads[taken]))]
    group = np.stack([threads[taken], kind[taken], calls["noc"][taken]])
    changes = (group[:, 1:] != group[:, :-1]).any(axis=0)
    begin = np.maximum.accumulate(np.where(np.append(True, changes), np.arange(len(taken)), 0)) if len(taken) else taken
    # A source is seen by those behind it; `seen` is the row of the nearest one, of whichever group.
    rows = np.where(sources[taken], np.arange(len(taken)), -1)
    seen = np.append(-1, np.maximum.accumulate(rows)[:-1]) if len(taken) else taken
    result = np.full(len(calls), -1)
    result[taken] = np.where(seen >= begin, taken[seen], -1)
    return result[chosen]


def _take_states(calls, threads):
    """Give calls that take what they do not name from a state the tile and the bytes of the state set before."""
    sets, takes = SETS_STATE[calls["type"]] >= 0, TAKES_STATE[calls["type"]]
    if not takes.any():
        return
    kind = np.where(sets, SETS_STATE[calls["type"]], calls["kind"])
    state = _before(calls, threads, kind, takes, sets)
    takes = np.flatnonzero(takes)
    lacks_tile, lacks_bytes = calls["x"][takes] < 0, calls["bytes"][takes] == 0
    missing = takes[(state < 0) & (lacks_tile | lacks_bytes)]
    if len(missing):
        call = calls[missing[0]]
        raise _MalformedEvent(call["index"], f"{TYPE_NAMES[call['type']]} without a target, and none was set before")
    for names, lacks in ((("x", "y", "x1", "y1"), lacks_tile), (("bytes",), lacks_bytes)):
        for name in names:
            calls[name][takes[lacks]] = calls[name][state[lacks]]


def _end_barriers(calls, threads):
    """Note the end of each barrier at its start; returns the mask of the ends, which are no events of their own."""
    starts, ends = STARTS_BARRIER[calls["type"]], ENDS_BARRIER[calls["type"]]
    either = (starts >= 0) | (ends >= 0)
    before = _before(calls, threads, np.maximum(starts, ends), ends >= 0, either)
    positions = np.flatnonzero(ends >= 0)
    orphans = positions[(before < 0) | (starts[before] < 0)]
    if len(orphans):
        call = calls[orphans[0]]
        name, core = TYPE_NAMES[call["type"]], f"{call['sx']}-{call['sy']}"
        raise _MalformedEvent(call["index"], f"{name} of core {core} before its start")
    calls["end"][before] = calls["time"][positions]
    return ends >= 0


def _mark_what_is_not_simulated(arch, calls):
    """Transfers that the model has nothing for become MARK; returns how many, by reason."""
    one_word = (calls["kind"] == EventKind.INLINE_WRITE) | (calls["kind"] == EventKind.ATOMIC_INC)
    dram = _tiles(arch, "dram_tiles")[calls["y"], calls["x"]]
    memory = dram | _tiles(arch, "worker_coords")[calls["y"], calls["x"]]
    reasons = {
        "transfers of no bytes": (calls["bytes"] == 0) & ~one_word,
        "transfers to tiles that are neither worker cores nor DRAM": ~memory & (calls["kind"] != EventKind.MULTICAST),
        "inline writes and increments in DRAM": one_word & dram,
    }
    result, left = Counter(), IS_TRANSFER[calls["type"]]
    for reason, applies in reasons.items():
        result[reason] += int(np.count_nonzero(left & applies))
        calls["kind"][left & applies] = EventKind.MARK
        left &= ~applies
    return +result


# --- writing

WRITTEN = {
    Op.NOC_READ: "READ",
    Op.NOC_MULTICAST: "WRITE_MULTICAST",
    Op.NOC_INLINE_WRITE: "WRITE_INLINE",
    Op.NOC_ATOMIC_INC: "SEMAPHORE_INC",
    Op.NOC_READ_WITH_STATE: "READ_WITH_STATE",
    Op.NOC_WRITE_WITH_STATE: "WRITE_WITH_STATE",
    Op.NOC_MULTICAST_INC: "WRITE_MULTICAST",  # the format has no name for it; the traffic is that of a one-word write
    Op.SEM_WAIT: "SEMAPHORE_WAIT",
    Op.SEM_WAIT_MIN: "SEMAPHORE_WAIT",
}
# The type of a barrier's call; those with an end of their own are written as a pair
BARRIERS = {
    Barrier.READ: "READ_BARRIER",
    Barrier.WRITE: "WRITE_BARRIER",
    Barrier.WRITE_TRID: "WRITE_BARRIER",
    Barrier.WRITES_FLUSHED: "WRITE_FLUSH",
    Barrier.POSTED_WRITES_FLUSHED: "WRITE_FLUSH",
    Barrier.WRITE_FLUSHED_TRID: "WRITE_FLUSH",
    Barrier.ATOMIC: "ATOMIC_BARRIER",
    Barrier.FULL: "FULL_BARRIER",
    Barrier.READ_TRID: "READ_BARRIER_WITH_TRID",
}
PAIRED = ("READ_BARRIER", "WRITE_BARRIER")
# operation -> positions of its (NoC address, bytes, noc) among its arguments; None: one word
OPERANDS = {
    Op.NOC_READ: (0, 2, 3),
    Op.NOC_WRITE: (1, 2, 3),
    Op.NOC_MULTICAST: (1, 2, 6),
    Op.NOC_INLINE_WRITE: (0, None, 3),
    Op.NOC_ATOMIC_INC: (0, None, 2),
    Op.NOC_MULTICAST_INC: (0, None, 3),
    Op.NOC_SET_STATE: (1, 2, 3),
    Op.NOC_READ_WITH_STATE: (None, 2, 3),
    Op.NOC_WRITE_WITH_STATE: (None, 2, 3),
    Op.NOC_BARRIER: (None, None, 1),
}
WORD = 4


def write_noc_events(chip, path):
    """Write the calls that `chip` has recorded (`tensim.sim.chip.recordings`) to `path`; returns the number of events."""
    count = 0
    with output_file(path) as file:
        file.write("[\n")
        for event in events_of(chip.recordings.noc_calls(), chip.arch):
            file.write((",\n" if count else "") + json.dumps(event))
            count += 1
        file.write("\n]\n")
    return count


def events_of(calls, arch):
    """The events, as the format has them, of recorded calls (`Recordings.noc_calls`), thread by thread in the order of time."""
    calls = calls[np.lexsort((calls["time"], calls["thread"]))]  # stable: equal times stay as they were posted
    begun, axes = {}, arch.noc_axes()
    columns = (calls[name].tolist() for name in ("thread", "operation", "moment", "time", "arguments"))
    for call in zip(*columns, strict=True):
        event = _written(arch, axes, begun, *call)
        if event is not None:
            yield event


def _written(arch, axes, begun, thread, operation, moment, time, arguments):
    """One event of the format, or None; `axes`: `Arch.noc_axes`; `begun`: {thread: start of its kernel}, kept up to date."""
    core, slot = divmod(thread, THREADS_PER_CORE)
    proc, (x, y) = THREAD_NAMES[slot], arch.worker_coords[core]
    if operation in (OPERATION_START, OPERATION_END):
        phase = "ZONE_START" if operation == OPERATION_START else "ZONE_END"
        if operation == OPERATION_START:
            begun[thread] = time
        return {
            "proc": proc, "zone": f"{proc}-KERNEL", "zone_phase": phase, "sx": x, "sy": y, "timestamp": time,
        }  # fmt: skip
    name = _name(operation, moment, arguments)
    if name is None:
        return None
    address_at, bytes_at, noc_at = OPERANDS.get(operation, (None, None, None))
    noc = 0 if noc_at is None else arguments[noc_at]
    event = {"proc": proc, "noc": f"NOC_{noc}", "vc": -1, "sx": x, "sy": y}
    size = 0 if operation in (Op.NOC_BARRIER, Op.SEM_WAIT, Op.SEM_WAIT_MIN) else WORD
    address = None if address_at is None else arguments[address_at]
    if name == "WRITE_MULTICAST":
        for key, shift in (("mcast_end_x", 36), ("mcast_end_y", 42), ("mcast_start_x", 48), ("mcast_start_y", 54)):
            event[key] = _physical(axes["xy".index(key[-1])], address >> shift & 63)
    elif address is None:
        event["dx"] = event["dy"] = -1
    else:
        event["dx"] = _physical(axes[0], address >> 36 & 63)
        event["dy"] = _physical(axes[1], address >> 42 & 63)
    event["num_bytes"] = size if bytes_at is None else arguments[bytes_at]
    return event | {"type": name, "timestamp": time, "kernel_start_delta": time - begun.get(thread, time)}


def _physical(axis, coordinate):
    """The coordinate behind the one that an address names, which may be a translated one; as it is where there is no tile."""
    return axis[coordinate] if axis[coordinate] >= 0 else coordinate


def _name(operation, moment, arguments):
    """The type of a call in the format; None when it is not written."""
    if operation == Op.NOC_BARRIER:
        name = BARRIERS[arguments[0]]
        if name in PAIRED:
            return f"{name}_START" if moment == CALLED else f"{name}_END"
        return name if moment == CALLED else None
    if operation == Op.NOC_WRITE:
        return "WRITE_" if arguments[4] < 0 else "WRITE_WITH_TRID"
    if operation == Op.NOC_SET_STATE:
        return "WRITE_SET_STATE" if arguments[0] else "READ_SET_STATE"
    return WRITTEN.get(operation)
