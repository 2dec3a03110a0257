"""Counters by name (docs/hardware/runtime.md#names-of-hardware-counters-in-xtc and docs/hardware/runtime.md#evaluate):
`sim.<unit>.<event>[.chip.<sel>][.core.<sel>]`, `host.<event>`.

A unit has one raw value per place and chip; the place is what `core` selects:

    tensix, riscv       worker cores: index, or logical x-y
    noc0, noc1          tiles of the NoC: index, or NoC coordinates x-y
    dram                channels: index
    queue               command queues: index
    eth, pcie           the chip's links together: index 0

`sel` is a place, or sum (the default), min, max or avg; cores are reduced first, then chips.  Raw values only grow, so the
difference of two readings is what happened between them.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from tensim.runtime.errors import UnknownCounter
from tensim.sim import state as st
from tensim.sim.cores.slots import THREADS_PER_CORE, TRISC0, TRISC1, TRISC2
from tensim.sim.errors import UsageError
from tensim.sim.host.topology import HOST
from tensim.sim.loop.environment import FS_PER_NS
from tensim.sim.noc.topology import INJECT, LINKS_PER_TILE

if TYPE_CHECKING:
    from tensim.runtime.devices import OpenDevice, SimAccelerator
    from tensim.runtime.system import System

Raw: TypeAlias = Mapping[int | None, np.ndarray]  # chip number, None for the host -> value of every place
Reading: TypeAlias = Callable[[Any], np.ndarray]  # of an open chip
REDUCTIONS: dict[Any, Callable[..., Any]] = {"sum": np.sum, "min": np.min, "max": np.max, "avg": np.mean}


def _threads(values: np.ndarray) -> np.ndarray:
    """Values of every thread as (workers, threads of a core)."""
    return values.reshape(-1, THREADS_PER_CORE)


def _busy(thread: int) -> Reading:
    return lambda device: _threads(device.chip.work["busy"])[:, thread]


def _stalls(first: int, end: int) -> Reading:
    """Cycles that the threads of a core waited, for reasons `first` to `end` of `tensim.sim.state`."""
    return lambda device: _threads(device.chip.work["stalls"][:, first:end].sum(axis=1)).sum(axis=1)


def _operations(device: Any) -> np.ndarray:
    return _threads(device.chip.work["operations"]).sum(axis=1)


def _links(noc: int, field: str, kind: Any = slice(None)) -> Reading:
    """A figure of the links that leave each tile of a NoC."""

    def read(device: Any) -> np.ndarray:
        links = device.chip.arrays["links"][field].reshape(2, -1, LINKS_PER_TILE)
        return links[noc][:, kind].reshape(links.shape[1], -1).sum(axis=1)

    return read


def _noc_bytes(noc: int) -> Reading:
    flits = _links(noc, "flits", INJECT)
    return lambda device: flits(device) * int(device.chip.machine["flit_bytes"])


def _channel(field: str) -> Reading:
    return lambda device: device.chip.arrays["channels"][field].copy()


def _moved(kind: str, towards_host: bool, towards_chip: bool) -> Reading:
    """Bytes that ended their way over the links of a kind at this chip."""

    def read(device: Any) -> np.ndarray:
        topology, place = device.system.topology, device.state.place
        moved = (
            count
            for link, count in topology.bytes_moved.items()
            if link.kind == kind
            and ((link.src == place and towards_host) or (link.dst == place and link.src == HOST and towards_chip))
        )
        return np.array([sum(moved)], np.int64)

    return read


def _queue(part: str) -> Reading:
    def read(device: Any) -> np.ndarray:
        return np.array([queue_times(device, queue.id)[part] for queue in device.queues])

    return read


def queue_times(device: OpenDevice, number: int) -> dict[str, float]:
    """{"busy", "wait", "idle"} ns of a queue since its device was opened.

    busy: a command is carried out; wait: the next one was issued and what it depends on holds it up; idle: the rest.
    """
    busy = wait = last = 0.0
    for span in device.system.spans:
        if span.device != device.name or span.queue != number or span.end is None:
            continue
        start, end = cast(float, span.start), span.end
        ready = max(last, cast(float, cast(Any, span.event).t_submit))
        busy, wait, last = busy + end - start, wait + max(start - ready, 0.0), end
    lived = max(device.system.host_ns - device.opened_ns, last - device.opened_ns)
    return {"busy": busy, "wait": wait, "idle": lived - busy - wait}


# unit -> event -> raw values of an open chip, one per place
UNITS = {
    "tensix": {
        "cycles": lambda device: (
            device.chip.core_cycles.copy()
        ),  # from program start to the end of the core's last thread
        "unpack_busy": _busy(TRISC0),
        "math_busy": _busy(TRISC1),
        "pack_busy": _busy(TRISC2),
        "cb_wait": _stalls(st.WAIT_CB_FRONT, st.WAIT_CB_BACK),
        "cb_reserve": _stalls(st.WAIT_CB_BACK, st.WAIT_READ_BARRIER),
    },
    "riscv": {"instructions": _operations, "stall": _stalls(0, st.N_REASONS)},  # instructions: kernel operations
    # bytes: put on the NoC, with headers; flits, stall: of all links that leave the tile
    "noc0": {"bytes": _noc_bytes(0), "flits": _links(0, "flits"), "stall": _links(0, "stall")},
    "noc1": {"bytes": _noc_bytes(1), "flits": _links(1, "flits"), "stall": _links(1, "stall")},
    "dram": {
        "read_bytes": _channel("read_bytes"),
        "write_bytes": _channel("write_bytes"),
        "row_hit": _channel("row_hits"),
        "row_miss": _channel("row_misses"),
    },
    "eth": {"bytes": _moved("eth", towards_host=True, towards_chip=False)},  # that left the chip
    "pcie": {
        "h2d_bytes": _moved("pcie", towards_host=False, towards_chip=True),
        "d2h_bytes": _moved("pcie", towards_host=True, towards_chip=False),
    },
    "queue": {part: _queue(part) for part in ("busy", "idle", "wait")},  # ns
}
HOST_EVENTS = {
    "prep_ns": lambda system: system.stats["host.prep_ns"],
    "enqueue_ns": lambda system: system.host.enqueue_fs / FS_PER_NS,
    "sync_ns": lambda system: system.host.sync_fs / FS_PER_NS,
}


def counter_names() -> list[str]:
    """Every counter, without selectors."""
    chip = [f"sim.{unit}.{event}" for unit, events in UNITS.items() for event in events]
    return [*chip, *(f"host.{event}" for event in HOST_EVENTS)]


@dataclass(frozen=True)
class Counter:
    """A counter's name, read: `chip` and `core` are a number, (x, y), or the name of a reduction; None unit: of the host."""

    name: str
    unit: str | None
    event: str
    chip: int | tuple[int, int] | str = "sum"
    core: int | tuple[int, int] | str = "sum"

    def raw(self, system: System) -> Raw:
        """{chip number: value of every place}; of the host: {None: its one value}."""
        if self.unit is None:
            return {None: np.array([HOST_EVENTS[self.event](system)])}
        return {device.number: UNITS[self.unit][self.event](device) for device in _chips(system)}

    def check(self, system: System) -> None:
        """UnknownCounter when a selector names a chip or place that is not there."""
        if self.unit is None:
            return
        devices = {device.number: device for device in _chips(system)}
        if isinstance(self.chip, int):
            if self.chip not in devices:
                raise _unknown(self.name, f"chip {self.chip} is not open", [f"chip {n}" for n in devices])
            devices = {self.chip: devices[self.chip]}
        for device in devices.values():
            self._place(device)

    def _place(self, device: Any) -> int | None:
        """The selected place as an index; None for reductions."""
        if self.core in REDUCTIONS:
            return None
        index, count = cast("int | tuple[int, int]", self.core), len(UNITS[cast(str, self.unit)][self.event](device))
        if isinstance(index, tuple):
            width, height = _grid(self.unit, device)
            x, y = index
            index = y * width + x if x < width and y < height else count
        if index >= count:
            raise _unknown(self.name, f"{device.name} has {count} places for {self.unit}, numbered from 0", [])
        return index

    def reduce(self, raw: Raw, system: System) -> float:
        """One number of raw values: the selected core, or all reduced, then the same over chips."""
        if self.unit is None:
            return float(raw[None][0])
        values = {}
        for device in _chips(system):
            place = self._place(device)
            places = raw[device.number]
            values[device.number] = REDUCTIONS[self.core](places) if place is None else places[place]
        if isinstance(self.chip, int):
            return float(values[self.chip])
        return float(REDUCTIONS[self.chip](list(values.values()))) if values else 0.0


def _chips(system: System) -> list[SimAccelerator]:
    chips = [cast("SimAccelerator", device) for device in system.open_devices() if device.scheme != "host"]
    return sorted(chips, key=lambda device: device.number)


def _grid(unit: str | None, device: Any) -> tuple[int, int]:
    """(width, height) of the coordinates that a unit's places have."""
    sizes = {"tensix": device.arch.grid, "riscv": device.arch.grid}
    sizes |= {noc: device.arch.noc_size for noc in ("noc0", "noc1")}
    return sizes.get(cast(str, unit), (0, 0))


def _unknown(name: str, why: str, matches: list[str]) -> UnknownCounter:
    known = ", ".join(matches)
    return UnknownCounter(
        f"counter {name!r}: {why}",
        where={"counter": name, "matches": matches},
        hint=f"near: {known}"
        if known
        else "sim.UNIT.EVENT[.chip.SEL][.core.SEL]; SEL: a number, x-y, sum, min, max, avg",
    )


def parse_counter(name: str) -> Counter:
    """The `Counter` of a name; UnknownCounter with near matches."""
    parts = name.split(".")
    if parts[0] == "host" and len(parts) == 2 and parts[1] in HOST_EVENTS:
        return Counter(name, None, parts[1])
    stem, rest = ".".join(parts[:3]), parts[3:]
    known = counter_names()
    if parts[0] != "sim" or stem not in known:
        raise _unknown(name, "there is no such counter", difflib.get_close_matches(name, known, n=3, cutoff=0.5))
    selectors = {}
    for key, text in zip(rest[::2], [*rest[1::2], ""], strict=False):
        later = ("core",) if "chip" in selectors else ("chip", "core")
        if key not in later or key in selectors or "core" in selectors:
            raise _unknown(name, f"{key!r} is not a selector here", [f"{stem}.chip.0.core.sum"])
        selectors[key] = _selector(name, stem, key, text)
    return Counter(name, parts[1], parts[2], **selectors)


def _selector(name: str, stem: str, key: str, text: str) -> Any:
    if text in REDUCTIONS:
        return text
    numbers = text.split("-")
    if all(number.isdecimal() for number in numbers) and len(numbers) <= (2 if key == "core" else 1):
        return int(text) if len(numbers) == 1 else tuple(map(int, numbers))
    close = difflib.get_close_matches(text, REDUCTIONS, n=1, cutoff=0.3) or list(REDUCTIONS)
    raise _unknown(name, f"{key} {text!r} selects nothing", [f"{stem}.{key}.{candidate}" for candidate in close])


class Counters:
    """Some counters of a system, between `start()` and readings.

    UnknownCounter; UsageError for more hardware counters (all but the host's) than `SystemConfig.max_counters`.
    """

    def __init__(self, names: Iterable[str], system: System) -> None:
        self.system, self.counters = system, [parse_counter(name) for name in names]
        for counter in self.counters:
            counter.check(system)
        limit, wanted = system.config.max_counters, sum(counter.unit is not None for counter in self.counters)
        if limit is not None and wanted > limit:
            raise UsageError(
                f"{wanted} hardware counters were requested; the system can count {limit} at once",
                where={"asked": wanted, "limit": limit},
                hint="split them over several runs, or raise SystemConfig.max_counters",
            )
        self.start()

    def start(self) -> None:
        """Count from now on."""
        self._before = [counter.raw(self.system) for counter in self.counters]

    def raw(self) -> dict[str, Raw]:
        """{name: {chip number: value of every place}} since `start`; chips opened since count from nothing."""
        return {
            counter.name: {chip: values - before.get(chip, 0) for chip, values in counter.raw(self.system).items()}
            for counter, before in zip(self.counters, self._before, strict=True)
        }

    def read(self) -> dict[str, float]:
        """{name: reduced value} since `start`."""
        raw = self.raw()
        return {counter.name: counter.reduce(raw[counter.name], self.system) for counter in self.counters}
