"""What a system is made of: chips on boards, and the links between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tensim.sim.arch.loader import architectures, load_arch
from tensim.sim.errors import UsageError
from tensim.sim.host.topology import HOST, T3000_MESH, Link, Topology, topology_of

if TYPE_CHECKING:
    from tensim.sim.arch import Arch
    from tensim.sim.loop.environment import Environment

UNLIMITED = 1e18  # bytes per ns


@dataclass(frozen=True)
class ChipConfig:
    """A declared chip.  `remote_of`: position of the chip through which the host reaches it; None: it has PCIe itself.

    `group`, `group_shape`: the board it belongs to, whose chips form a mesh (rows, columns).
    """

    arch: str
    remote_of: int | None = None
    group: int = 0
    group_shape: tuple[int, int] = (1, 1)


@dataclass(frozen=True)
class SystemConfig:
    """What there is.

    `chips`; `overrides`: {dotted parameter: value} for all of them; `hazards`: auto, manual or check; `numerics`, `noc`,
    `check`: as `create_device`; `ideal`: no host and dispatch overheads at all, so that schedules follow from the work alone;
    `max_counters`: how many hardware counters one evaluation may ask for (None: any number); `links`:
    `tensim.sim.host.topology.Link`s in place of those of the boards.
    """

    chips: tuple[ChipConfig, ...] = (ChipConfig("wormhole_b0"),)
    overrides: Mapping[str, Any] = field(default_factory=dict)
    hazards: str = "auto"
    numerics: str = "fast"
    noc: str = "packet"
    check: bool = False
    ideal: bool = False
    max_counters: int | None = None
    links: tuple[Link, ...] | None = None

    def __post_init__(self) -> None:
        if self.max_counters is not None and self.max_counters < 0:
            raise UsageError(f"max_counters is {self.max_counters}", hint="a number from 0 on, or None for any number")

    @staticmethod
    def named(text: str, **settings: Any) -> SystemConfig:
        """The configuration of a list of boards and architectures: "n300", "wormhole_b0,blackhole", ..."""
        chips = []
        for group, name in enumerate(part.strip() for part in text.split(",")):
            chips += _board(name, len(chips), group)
        return SystemConfig(tuple(chips), **settings)


def _board(name: str, first: int, group: int) -> list[ChipConfig]:
    """Chips of a board; `first`: position of its first chip."""
    if name == "n300":
        return [ChipConfig("wormhole_b0", None, group, (1, 2)), ChipConfig("wormhole_b0", first, group, (1, 2))]
    if name == "t3000":  # four n300 cards: chips 0 to 3 have PCIe, chip c + 4 is behind chip c
        places = (None if chip < 4 else first + chip - 4 for chip in range(8))
        return [ChipConfig("wormhole_b0", remote_of, group, (2, 4)) for remote_of in places]
    arch = {"n150": "wormhole_b0", "p150": "blackhole", "p100": "blackhole"}.get(name, name)
    if arch not in architectures() and not arch.endswith((".yaml", ".yml")):
        known = ", ".join(["n150", "n300", "t3000", *architectures()])
        raise UsageError(f"a system cannot contain {name!r}", hint=f"boards and architectures: {known}")
    return [ChipConfig(arch, None, group)]


def chip_overrides(config: SystemConfig, arch: str) -> dict[str, Any]:
    """{parameter: value} for the chips of an architecture; `ideal` sets the overheads of host, dispatch and PCIe to nothing."""
    changes = {}
    if config.ideal:
        base = load_arch(arch)
        for part in ("host", "dispatch"):
            for key in base.section(part):
                if key.endswith("_ns"):
                    changes[f"{part}.{key}"] = UNLIMITED if key.endswith("_per_ns") else 0
        changes |= {"pcie.write_page_bytes_per_ns": UNLIMITED, "pcie.read_page_bytes_per_ns": UNLIMITED}
        changes |= {"pcie.write_page_ns": 0, "pcie.read_page_ns": 0}
    return {**changes, **config.overrides}


def build_topology(env: Environment, config: SystemConfig, archs: Sequence[Arch]) -> Topology:
    """The links of a configuration: those it names, or those of its boards."""
    places = [f"chip{number}" for number in range(len(config.chips))]
    if config.links is not None:
        return Topology(env, config.links, [HOST, *places])
    links, groups = [], {}
    for number, chip in enumerate(config.chips):
        groups.setdefault(chip.group, []).append(number)
    for members in groups.values():
        board = {1: "single", 2: "n300", 8: "t3000"}[len(members)]
        names = {f"chip{position}": f"chip{number}" for position, number in enumerate(members)} | {HOST: HOST}
        for link in topology_of(env, board, archs[members[0]]).links:
            ends = names[link.src], names[link.dst]
            links.append(Link(*ends, link.kind, link.bytes_per_ns, link.latency_ns, link.lanes))
    return Topology(env, links, [HOST, *places])


def mesh_of(chips: Sequence[ChipConfig], first: int, shape: Sequence[int]) -> list[int]:
    """Numbers of the chips of a mesh of `shape` (rows, columns) with chip `first` in its first corner, row-major.

    A mesh of the whole board may be asked for by any of its chips.  UsageError when it does not fit.
    """
    members = [number for number, chip in enumerate(chips) if chip.group == chips[first].group]
    rows, columns = chips[first].group_shape
    if len(members) == 8:
        order = [int(name.removeprefix("chip")) for row in T3000_MESH for name in row]
        members = [members[position] for position in order]
    row, column = (0, 0) if tuple(shape) == (rows, columns) else divmod(members.index(first), columns)
    if row + shape[0] > rows or column + shape[1] > columns:
        raise UsageError(
            f"a mesh of {shape[0]}x{shape[1]} chips does not fit at ({row}, {column}) of a board of {rows}x{columns}",
            hint="a smaller mesh, or one from another chip: sim://ARCH[n]?mesh=RxC",
        )
    return [members[r * columns + c] for r in range(row, row + shape[0]) for c in range(column, column + shape[1])]
