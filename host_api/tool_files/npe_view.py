"""The NPE view (.npeviz): every packet of an operation with its route, and the load of links over time.

tt-npe estimates such a timeline from a list of events; here it is what was simulated: a packet's time runs from its issue
to the arrival of its data, and its bytes load the links of its route evenly during that time.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tensim.sim import state as st
from tensim.sim.cores.noc_record import ARRIVAL, NOC, SIZE, SOURCE, TARGET
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.noc.topology import X_OUT, next_hop
from tensim.sim.output_files import write_output
from tensim.tool_files.device_log import PROCESSORS, family, named_zones
from tensim.tool_files.text import file_part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensim.tool_files.operands import Described
    from tensim.tool_files.recording import Operation

Link: TypeAlias = tuple[int, str]  # tile, name
FOLDER, MANIFEST = "npe_viz", "manifest.json"
TIMESTEPS = 500  # of a view at most
SHORTEST = 16  # cycles of a timestep
LARGEST = 200_000  # packets of a view
EVENT_TYPES = {st.READ: "READ", st.WRITE: "WRITE_", st.ATOMIC: "SEMAPHORE_INC", st.INLINE: "WRITE_INLINE"}
MULTICAST = "WRITE_MULTICAST"
DIRECTIONS = {(0, True): "NOC0_EAST", (0, False): "NOC0_SOUTH", (1, True): "NOC1_WEST", (1, False): "NOC1_NORTH"}


@dataclass(frozen=True)
class Traffic:
    """How much an operation used the memory system, in percent: of DRAM's bandwidth, of the links of both NoCs, of the links
    by multicasts alone; `transfers`: number of packets.
    """

    dram_util: float
    link_util: float
    multicast_util: float
    transfers: int


@dataclass(frozen=True)
class _Packet:
    """`targets`: tiles, several of a multicast; `start`, `end`: cycles since the operation's start."""

    kind: str
    thread: int
    noc: int
    source: int
    targets: tuple[int, ...]
    size: int
    start: int
    end: int


def traffic_of(operation: Operation) -> Traffic:
    """The `Traffic` of an operation."""
    return _Load(operation, _packets(operation)).traffic()


def file_name(operation: Operation, name: str) -> str:
    """Name of an operation's view."""
    trace = "" if operation.trace is None else f"_traceID{operation.trace[0]}"
    return f"{file_part(name)}_ID{operation.run_id}{trace}.npeviz"


def write_views(folder: str | Path, described: Iterable[Described]) -> list[str]:
    """Write the views of operations with packets and their manifest; returns the names of those with too many packets.

    `described`: the operations (`operands.Described`).
    """
    target = Path(folder) / FOLDER
    target.mkdir(exist_ok=True)
    manifest, left_out = [], []
    for one in described:
        operation, file = one.operation, file_name(one.operation, one.name)
        if one.traffic.transfers > LARGEST:
            left_out.append(file)
        elif one.traffic.transfers:
            write_output(target / file, json.dumps(_view(operation), separators=(",", ":")))
            manifest.append({"global_call_count": operation.run_id, "file": file})
    write_output(target / MANIFEST, json.dumps(manifest, indent=1))
    return left_out


def _packets(operation: Operation) -> list[_Packet]:
    """The packets of an operation; those of one multicast are one."""
    rows = operation.arrivals()
    found, open_groups = [], {}
    columns = (rows[name].tolist() for name in ("thread", "operation", "time", "arguments"))
    for thread, kind, time, arguments in zip(*columns, strict=True):
        key = (thread, kind, time, arguments[NOC])
        if kind != st.READ and key in open_groups:
            open_groups[key].append(arguments)
        else:
            open_groups[key] = [arguments]
            found.append((key, open_groups[key]))
    return [
        _Packet(
            MULTICAST if len(group) > 1 else EVENT_TYPES[kind], thread, noc, group[0][SOURCE],
            tuple(arguments[TARGET] for arguments in group), max(group[0][SIZE], 1), time - operation.started,
            max(max(arguments[ARRIVAL] for arguments in group), time + 1) - operation.started,
        )
        for (thread, kind, time, noc), group in found
    ]  # fmt: skip


@functools.lru_cache(maxsize=1 << 16)
def _route(width: int, height: int, noc: int, source: int, target: int) -> tuple[Link, ...]:
    """Links of a unicast route: (tile, name), from the NIU of its source to that of its target."""
    links, tile = [(source, f"NOC{noc}_IN")], source
    while tile != target:
        direction, following = next_hop.py_func(width, height, noc, tile, target)
        links.append((tile, DIRECTIONS[noc, direction == X_OUT]))
        tile = following
    return (*links, (target, f"NOC{noc}_OUT"))


def _links(size: tuple[int, int], packet: _Packet) -> tuple[Link, ...]:
    """Links that a packet takes, each once; data of a read come from its target."""
    if packet.kind == "READ":
        return _route(*size, packet.noc, packet.targets[0], packet.source)
    routes = (_route(*size, packet.noc, packet.source, target) for target in packet.targets)
    return tuple(dict.fromkeys(link for route in routes for link in route))


class _Load:
    """The load of each link in each timestep, in bytes."""

    def __init__(self, operation: Operation, packets: Sequence[_Packet]) -> None:
        arch = operation.device.arch
        self.operation, self.packets, self.size = operation, packets, arch.noc_size
        self.duration = max(max((packet.end for packet in packets), default=1), operation.ended - operation.started, 1)
        self.step = max(-(-self.duration // TIMESTEPS), SHORTEST)
        self.steps = -(-self.duration // self.step)
        self.bytes_per_cycle = arch["noc.flit_bytes"]
        self.links, self.active = {}, [[] for _ in range(self.steps)]
        self.routes = [_links(self.size, packet) for packet in packets]
        for route in self.routes:
            for link in route:
                self.links.setdefault(link, len(self.links))
        self.moved = np.zeros((len(self.links), self.steps))
        self.by_multicast = np.zeros((len(self.links), self.steps))
        for number, (packet, route) in enumerate(zip(packets, self.routes, strict=True)):
            self._add(number, packet, [self.links[link] for link in route])

    def _add(self, number: int, packet: _Packet, links: list[int]) -> None:
        first, last = packet.start // self.step, (packet.end - 1) // self.step
        rate = packet.size / (packet.end - packet.start)
        for step in range(first, last + 1):
            begin, end = max(packet.start, step * self.step), min(packet.end, (step + 1) * self.step)
            self.moved[links, step] += rate * (end - begin)
            if packet.kind == MULTICAST:
                self.by_multicast[links, step] += rate * (end - begin)
            self.active[step].append(number)

    @functools.cached_property
    def wires(self) -> NDArray[np.int64]:
        """Rows of the links between routers."""
        ends = ("_IN", "_OUT")
        return np.array([i for (_, name), i in self.links.items() if not name.endswith(ends)], int)

    def percent(self, moved: float, cycles: float) -> float:
        """Bytes in `cycles` as percent of what the wires of both NoCs could carry."""
        width, height = self.size
        return 100 * float(moved) / (cycles * self.bytes_per_cycle * 4 * width * height)

    def traffic(self) -> Traffic:
        """The `Traffic`."""
        arch, tiles = self.operation.device.arch, self.operation.device.tiles
        in_dram = tiles["kind"] == st.TILE_DRAM
        dram = sum(packet.size for packet in self.packets if in_dram[packet.targets[0]])
        peak = arch["dram.bank_bytes_per_cycle"] * arch.dram_banks
        duration = max(self.operation.ended - self.operation.started, 1)
        return Traffic(
            100 * dram / (peak * duration), self.percent(self.moved[self.wires].sum(), duration),
            self.percent(self.by_multicast[self.wires].sum(), duration), len(self.packets),
        )  # fmt: skip


def _view(operation: Operation) -> dict[str, Any]:
    """The object of a view's file."""
    load, device, (width, height) = (
        _Load(operation, _packets(operation)),
        operation.device.id,
        operation.device.arch.noc_size,
    )
    capacity = load.step * load.bytes_per_cycle
    percent = 100 * load.moved / capacity
    names = list(load.links)
    of_noc = {noc: np.array([name.startswith(noc) for _, name in names], bool) for noc in ("NOC0", "NOC1")}
    place = lambda tile: [device, tile // width, tile % width]  # noqa: E731
    demands = [[*place(tile), name] for tile, name in names]
    traffic, zones = load.traffic(), _zones(operation, place)

    def summary(chosen: slice) -> dict[str, Any]:
        part = percent[:, chosen]
        return {
            "avg_link_demand": load.percent(load.moved[load.wires][:, chosen].sum(), load.step * part.shape[1]),
            "avg_link_util": load.percent(
                np.minimum(load.moved[load.wires][:, chosen], capacity).sum(), load.step * part.shape[1]
            ),
            "noc": {
                noc: {
                    "avg_link_demand": float(part[rows].mean()) if rows.any() else 0.0,
                    "avg_link_util": float(np.minimum(part[rows], 100).mean()) if rows.any() else 0.0,
                    "max_link_demand": float(part[rows].max()) if rows.any() else 0.0,
                }
                for noc, rows in of_noc.items()
            },
        }

    whole = summary(slice(None))
    return {
        "common_info": {
            "version": "1.0.0", "mesh_device": f"{family(operation.device.arch)}", "arch": family(operation.device.arch),
            "cycles_per_timestep": load.step, "congestion_model_name": "tensim", "num_rows": height, "num_cols": width,
            "dram_bw_util": traffic.dram_util, "link_util": whole["avg_link_util"],
            "mcast_write_link_util": traffic.multicast_util, "link_demand": whole["avg_link_demand"],
            "max_link_demand": float(percent.max()) if percent.size else 0.0, "noc": whole["noc"],
        },
        "chips": {str(device): [0, 0, 0, 0]},
        "noc_transfers": [
            {
                "id": number, "src": place(packet.source), "dst": [place(tile) for tile in packet.targets],
                "total_bytes": packet.size, "start_cycle": packet.start, "end_cycle": packet.end,
                "noc_event_type": packet.kind, "fabric_event_type": False,
                "zones": f"{PROCESSORS[packet.thread % THREADS_PER_CORE]}-KERNEL",
                "route": [{
                    "device_id": device, "src": place(packet.source), "dst": [place(tile) for tile in packet.targets],
                    "noc_type": f"NOC{packet.noc}", "injection_rate": packet.size / (packet.end - packet.start),
                    "start_cycle": packet.start, "end_cycle": packet.end,
                    "links": [[*place(tile), name] for tile, name in route],
                }],
            }
            for number, (packet, route) in enumerate(zip(load.packets, load.routes, strict=True))
        ],
        "timestep_data": [
            {
                "start_cycle": step * load.step, "end_cycle": (step + 1) * load.step, "active_transfers": load.active[step],
                "link_demand": [
                    [*demands[i], round(float(percent[i, step]), 3)] for i in np.flatnonzero(percent[:, step] > 0.001)
                ],
                "mcast_write_link_util": load.percent(load.by_multicast[load.wires, step].sum(), load.step),
                **summary(slice(step, step + 1)),
            }
            for step in range(load.steps)
        ],
        "zones": zones,
    }  # fmt: skip


def _zones(operation: Operation, place: Callable[[int], list[int]]) -> list[dict[str, Any]]:
    """The zones of each thread, nested: its kernel's, and in it those that the kernel opened."""
    width, coords = operation.device.arch.noc_size[0], operation.device.arch.worker_coords
    named, found = named_zones(operation), []
    spans = zip(operation.threads.tolist(), operation.work.starts.tolist(), operation.work.ends.tolist(), strict=True)
    for thread, start, end in spans:
        core, slot = divmod(thread, THREADS_PER_CORE)
        x, y = coords[core]
        kernel = PROCESSORS[slot].split("_")[0] + "-KERNEL"
        tree = {"id": f"{kernel}[0]", "start": start - operation.started, "end": end - operation.started, "zones": []}
        nest(tree, named.get(thread, ()), operation.started)
        found.append({"core": place(y * width + x), "proc": PROCESSORS[slot], "zones": [tree]})
    return found


def nest(tree: dict[str, Any], zones: Iterable[tuple[str, int, int]], origin: int) -> None:
    """Put zones, in the order of their starts, into the tree of the one that contains them."""
    stack, seen = [tree], {}
    for name, start, end in zones:
        while len(stack) > 1 and stack[-1]["end"] < end - origin:
            stack.pop()
        number = seen[name] = seen.get(name, -1) + 1
        node = {"id": f"{name}[{number}]", "start": start - origin, "end": end - origin, "zones": []}
        stack[-1]["zones"].append(node)
        stack.append(node)
