"""NoC event traces: the vendor's JSON, one array of events with their times (docs/hardware/noc_event_traces.md).

The reader takes untrusted files.  A file becomes one recording per device; what a recording holds and the chip model does
not is counted in words, never dropped silently.
"""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tensim.sim.arch.loader import Arch
from tensim.sim.chip.noc_replay import EVENT, NO_END, START_TO_FIRST, EventKind
from tensim.sim.cores.niu.noc_record import CALLED
from tensim.sim.cores.operations import Barrier, Op
from tensim.sim.cores.slots import THREAD_NAMES, THREADS_PER_CORE
from tensim.sim.cores.threads import OPERATION_END, OPERATION_START
from tensim.sim.errors import UsageError

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
BARRIER_STARTS = {
    "READ_BARRIER_START": EventKind.READ_BARRIER,
    "WRITE_BARRIER_START": EventKind.WRITE_BARRIER,
}
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

    def memories(self):
        """Which memories the transfers reach: "l1", "dram" or "dram+l1"."""
        moving = self.events[self.events["kind"] < EventKind.READ_BARRIER]
        tiles = {(x, y) for x, y, _ in self.arch.dram_endpoints}
        dram = [tile in tiles for tile in moving[["x", "y"]].tolist()]
        return "dram" if all(dram) else "dram+l1" if any(dram) else "l1"


def read_recordings(path, arch):
    """The recordings in a file, one per device.  UsageError names file, index of the event (from 0) and reason."""
    path = Path(path)
    try:
        items = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON: {error}") from None
    if not isinstance(items, list):
        raise UsageError(f"{path}: not an array of events")
    arch = arch.with_workers(_issuers(items))
    readers = {}
    for index, item in enumerate(items):
        try:
            if not isinstance(item, dict):
                raise ValueError("not an object")
            device = _integer(item, "src_device_id", -1, default=None)
            if device not in readers:
                readers[device] = _Reader(arch)
            readers[device].add(index, item)
        except ValueError as error:
            raise UsageError(f"{path}: event {index}: {error}", where={"file": str(path), "index": index}) from None
    try:
        readers = {device: reader for device, reader in readers.items() if reader.last is not None} or readers
        recordings = [reader.recording(path.name, device, len(readers)) for device, reader in readers.items()]
    except ValueError as error:
        raise UsageError(f"{path}: {error}", where={"file": str(path)}) from None
    if not recordings:
        raise UsageError(f"{path}: no events")
    return recordings


def _issuers(items):
    """Tiles with data-movement kernels: whatever part the file is from, those are worker cores."""
    kernels = (item for item in items if isinstance(item, dict) and item.get("proc") in tuple(SLOTS))
    tiles = {
        (item.get("sx"), item.get("sy")) for item in kernels if type(item.get("sx")) is type(item.get("sy")) is int
    }
    return {(x, y) for x, y in tiles if x >= 0 and y >= 0}


def _integer(item, name, low, high=1 << 62, default=...):
    """A whole number in [low, high) of an event; ValueError says what it is instead."""
    value = item.get(name, default)
    if value is ...:
        raise ValueError(f"no {name}")
    if value is default:
        return value
    if type(value) is not int or not low <= value < high:
        raise ValueError(f"{name} is {value!r:.40}, not a whole number from {low} to {high - 1}")
    return value


def _choice(item, name, choices):
    value = item.get(name)
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is {value!r:.40}, not one of {', '.join(sorted(choices))}")
    return value


class _Reader:
    """Collects the events of one device."""

    def __init__(self, arch):
        self.arch, self.width, self.height = arch, *arch.noc_size
        self.workers = set(arch.worker_coords)
        self.dram = {(x, y) for x, y, _ in arch.dram_endpoints}
        self.threads, self.not_simulated = {}, Counter()
        self.first, self.last = None, None

    def add(self, index, item):
        """Take one object of the file; ValueError when it is malformed."""
        time = _integer(item, "timestamp", 0)
        x, y = self._tile(item, "sx", "sy")
        self.first = time if self.first is None else min(self.first, time)
        if "zone" in item:
            _choice(item, "zone_phase", ZONE_PHASES)
            return
        name = _choice(item, "type", TYPES)
        if item.get("dst_device_id", item.get("src_device_id")) != item.get("src_device_id"):
            name = "FABRIC_UNICAST_WRITE"
        proc = _choice(item, "proc", PROCESSORS)
        self.last = time if self.last is None else max(self.last, time)
        if proc not in SLOTS:
            self.not_simulated[f"events of {proc} processors"] += 1
            return
        if (x, y) not in self.workers:
            raise ValueError(f"{proc} at {x}-{y}, which is not a worker core of {self.arch.name} ({self.arch.board})")
        if name in NOT_SIMULATED:
            self.not_simulated[NOT_SIMULATED[name]] += 1
        event = (time, index, name, NOCS[_choice(item, "noc", NOCS)], *self._ends(item, name))
        self.threads.setdefault((x, y, SLOTS[proc]), []).append(event)

    def _tile(self, item, x, y, low=0):
        return _integer(item, x, low, self.width), _integer(item, y, low, self.height)

    def _ends(self, item, name):
        """(tile or first corner, last corner of a multicast, bytes); None for a tile that the event does not name."""
        if name not in TRANSFERS and name not in STATES:
            return None, None, 0
        size = _integer(item, "num_bytes", 0, LARGEST)
        if name == "WRITE_MULTICAST":
            start = self._tile(item, "mcast_start_x", "mcast_start_y")
            end = self._tile(item, "mcast_end_x", "mcast_end_y")
            corners = [tuple(sorted(pair)) for pair in zip(start, end, strict=True)]
            low, high = zip(*corners, strict=True)
            return (low, high, size) if item["noc"] == "NOC_0" else (high, low, size)
        tile = self._tile(item, "dx", "dy", low=-1)
        if -1 in tile and not name.endswith("WITH_STATE"):
            raise ValueError(f"{name} without the coordinates of its other end")
        return None if -1 in tile else tile, None, size

    def recording(self, file, device, devices):
        """The `Recording` of all events taken; ValueError when they do not fit together."""
        events = [
            event for thread in sorted(self.threads) for event in self._thread_events(thread, self.threads[thread])
        ]
        last = self.first if self.last is None else self.last
        if last - self.first > LONGEST:
            raise ValueError(f"its events are {last - self.first} cycles apart; the limit is {LONGEST}")
        return Recording(
            arch=self.arch,
            id=file if devices == 1 else f"{file}:device {device}",
            events=np.array(events, np.int64).reshape(-1, len(EVENT)).view(EVENT)[:, 0],
            origin=self.first,
            cycles=last - self.first - START_TO_FIRST,
            not_simulated=dict(self.not_simulated),
        )

    def _thread_events(self, thread, taken):
        """Rows of `EVENT` of one thread, in the order of time."""
        rows, states, starts = [], {}, {}
        for time, index, name, noc, tile, corner, size in sorted(taken, key=lambda event: event[:2]):
            if name in STATES:
                states[STATES[name], noc] = tile, size
            if name in BARRIER_ENDS:
                start = starts.pop((BARRIER_ENDS[name], noc), None)
                if start is None:
                    raise ValueError(f"event {index}: {name} of core {thread[0]}-{thread[1]} before its start")
                rows[start][-1] = time
                continue
            kind = KINDS.get(name, EventKind.MARK)
            if name in BARRIER_STARTS:
                starts[kind, noc] = len(rows)
            if name in TRANSFERS:
                if name.endswith("WITH_STATE"):
                    tile, size = self._with_state(index, name, states.get((kind, noc)), tile, size)
                kind = self._simulated(kind, tile, size)
            rows.append([*thread, kind, noc, *(tile or (0, 0)), *(corner or tile or (0, 0)), size, time, NO_END])
        return rows

    @staticmethod
    def _with_state(index, name, state, tile, size):
        """(tile, bytes) of a call that takes what it does not name from the state set before."""
        if state is None and (tile is None or size == 0):
            raise ValueError(f"event {index}: {name} without a target, and none was set before")
        return tile or state[0], size or state[1]

    def _simulated(self, kind, tile, size):
        """The kind of a transfer, or MARK, counted, when the model has nothing for it."""
        one_word = kind in (EventKind.INLINE_WRITE, EventKind.ATOMIC_INC)
        why = None
        if size == 0 and not one_word:
            why = "transfers of no bytes"
        elif kind != EventKind.MULTICAST and tile not in self.workers and tile not in self.dram:
            why = "transfers to tiles that are neither worker cores nor DRAM"
        elif one_word and tile in self.dram:
            why = "inline writes and increments in DRAM"
        if why is not None:
            self.not_simulated[why] += 1
            return EventKind.MARK
        return kind


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
    """Write the calls that `chip` has recorded (`Chip.record_noc`) to `path`; returns the number of events."""
    calls = chip.noc_calls()
    calls = calls[np.lexsort((calls["time"], calls["thread"]))]  # stable: equal times stay as they were posted
    count, begun, axes = 0, {}, chip.arch.noc_axes()
    with open(path, "w") as file:
        file.write("[\n")
        columns = (calls[name].tolist() for name in ("thread", "operation", "moment", "time", "arguments"))
        for call in zip(*columns, strict=True):
            event = _written(chip, axes, begun, *call)
            if event is not None:
                file.write((",\n" if count else "") + json.dumps(event))
                count += 1
        file.write("\n]\n")
    return count


def _written(chip, axes, begun, thread, operation, moment, time, arguments):
    """One event of the format, or None; `axes`: `Arch.noc_axes`; `begun`: {thread: start of its kernel}, kept up to date."""
    core, slot = divmod(thread, THREADS_PER_CORE)
    proc, (x, y) = THREAD_NAMES[slot], chip.arch.worker_coords[core]
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
