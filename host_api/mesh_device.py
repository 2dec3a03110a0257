"""Meshes of chips on a fabric: opening and closing, and how workers of a chip reach its routers (docs/fabric.md)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tensim.device import Device, close_device, current_system, open_devices
from tensim.sim.cores.fabric.layout import EAST, EVERYONE, MESH, NORTH, SOUTH, WEST
from tensim.sim.errors import TensimError, UsageError
from tensim.sim.host.commands import CreateDevice, StartFabric
from tensim.sim.host.fabric import LINES, Connection, Fabric
from tensim.sim.host.wiring import BOARDS, Board

if TYPE_CHECKING:
    from tensim.sim.arch import Arch

DIRECTIONS = {"north": NORTH, "south": SOUTH, "east": EAST, "west": WEST}


class MeshDevice:
    """Chips in a grid.  `shape`: (rows, columns); `devices`: `tensim.Device`, row after row; `fabric`: None: no routers run."""

    def __init__(self, shape: tuple[int, int], devices: list[Device], fabric: Fabric | None) -> None:
        self.shape, self.devices, self._fabric = shape, devices, fabric

    def __repr__(self) -> str:
        return f"MeshDevice({self.shape[0]}x{self.shape[1]} {self.devices[0].arch.name})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        close_mesh_device(self)

    @property
    def has_fabric(self) -> bool:
        """Whether its routers run."""
        return self._fabric is not None

    @property
    def fabric(self) -> Fabric:
        """Its routers and links; UsageError for a mesh without."""
        if self._fabric is None:
            raise UsageError("the mesh was opened without its fabric: no routers run", hint='open it with fabric="1d"')
        return self._fabric

    def connection(self, chip: int, direction: str, link: int = 0) -> Connection:
        """How a worker of a chip reaches the router whose link leads to the "north", "south", "east" or "west".

        On a ring east is forward.  UsageError when there is no such link.
        """
        if not 0 <= chip < len(self.devices):
            raise UsageError(f"the mesh has no chip {chip}", hint=f"chips 0 to {len(self.devices) - 1}")
        return self.fabric.connection(chip, _direction(direction), link)

    def line_route(self, distance: int, receivers: int = 1) -> int:
        """The route of a packet on a line: `receivers` chips get it, the first one `distance` hops away."""
        if not (1 <= distance <= 127 and 1 <= receivers <= 127):
            raise UsageError(f"a route of {distance} hops to {receivers} chips", hint="1 to 127 of each")
        return distance | receivers << 8

    def mesh_route(self, everyone: bool = False, **hops: int) -> int:
        """The route of a packet in a mesh: hops to the north or south, then to the east or west (`mesh_route(south=2, east=1)`).

        `everyone`: all chips on the way get it, those on the branches to east and west, too.
        """
        route = MESH | (EVERYONE if everyone else 0)
        for name, count in hops.items():
            if not 0 <= count <= 127:
                raise UsageError(f"{count} hops to the {name}", hint="0 to 127")
            route |= count << (7 * _direction(name))
        return route

    def link_utilization(self) -> list[dict]:
        """What each link has carried: [{"chip", "direction", "link", "packets", "bytes", "busy_cycles", "full_cycles",
        "router_cycles"}].

        `bytes`: of payloads; `busy_cycles`: that the line was in use; `full_cycles`: that packets waited for a slot of the router
        at the other end, or a worker for slots whose packets are on their way; `router_cycles`: that the busier one of the
        routers at its ends worked.
        """
        return self.fabric.link_utilization()


def _direction(name: str) -> int:
    if name not in DIRECTIONS:
        raise UsageError(f"direction {name!r}", hint=f"one of {', '.join(DIRECTIONS)}")
    return DIRECTIONS[name]


DEFAULT_BOARD = "t3k"


def board_of(name: str | None) -> Board:
    """The board of a name, None: the default one; UsageError for a name of none."""
    name = name or DEFAULT_BOARD
    if name not in BOARDS:
        raise UsageError(f"no board {name!r}", hint=f"one of {', '.join(BOARDS)}")
    return BOARDS[name]


def open_mesh_device(
    board: str = DEFAULT_BOARD,
    shape: tuple[int, int] | None = None,
    fabric: str | None = LINES,
    links: int | None = None,
    ring: bool = False,
    packet_bytes: int | None = None,
    forwarding: bool = True,
    arch: str | Path | Arch | None = None,
    numerics: str = "fast",
    noc: str = "packet",
    max_cycles: int | None = None,
    check: bool = False,
    num_hw_cqs: int = 1,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    seed: int = 0,
    line: bool = False,
) -> MeshDevice:
    """Open the chips of a board, or those of a part of it, and start their routers.

    `board`: t3k, p150_x4 and others (`tensim.sim.host.wiring.BOARDS`); `shape`: (rows, columns) of the part; `fabric`: "1d", whose
    packets count chips along a row or a column, "2d", or None, which starts no routers; `ring`: one ring around the mesh
    instead of lines, `line`: one line around it, on which east leads away from the first chip; `links`: per neighbour, None: all
    of the board; `packet_bytes`: the largest payload; `forwarding`: False for routers that serve neighbours alone.  The others are
    those of `create_device`, the same for each chip.  UsageError for what a board does not have.
    """
    whole = board_of(board)
    shape = tuple(shape or whole.shape)
    if len(shape) != 2 or not all(1 <= mine <= most for mine, most in zip(shape, whole.shape, strict=True)):
        raise UsageError(f"{board} has {whole.shape[0]}x{whole.shape[1]} chips, not {shape}")
    links = whole.links if links is None else links
    if not 1 <= links <= whole.links:
        raise UsageError(f"{links} links between neighbours", hint=f"{board} has 1 to {whole.links}")
    devices = open_devices(
        [
            CreateDevice(
                number, num_hw_cqs, l1_small_size, trace_region_size, arch or whole.arch, numerics, noc, max_cycles, seed,
                check=check,
            )
            for number in range(math.prod(shape))
        ]
    )  # fmt: skip
    if fabric is None:
        return MeshDevice(shape, devices, None)
    torus = whole.torus and shape == whole.shape
    start = StartFabric(shape, fabric, (*whole.shape, whole.links), links, torus, ring, line, packet_bytes, forwarding)
    try:
        joined = current_system().executor.submit(start)
    except BaseException:
        for device in devices:
            close_device(device)
        raise
    return MeshDevice(shape, devices, joined)


def close_mesh_device(mesh: MeshDevice) -> None:
    """Wait for what is queued on each chip and close all; raises what a chip raised first."""
    errors = []
    for device in mesh.devices:
        try:
            close_device(device)
        except TensimError as error:
            errors.append(error)
    if errors:
        raise errors[0]
