"""What the library tells an Ethernet core's router: the model of the router takes its place, as it does that of firmware.

The settings are the named compile-time arguments of the router's kernel, whose compiler command the launch message leads to, as it
does for workers.  Source of names and states: fabric_erisc_router_ct_args.hpp, hostdev/fabric_edm_packet_header.hpp of 0.81.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tensim.library.descriptions import ethernet_channels
from tensim.library.identifiers import TEXT_BYTES, identifier_in
from tensim.library.kernels import ROUTER, kernel_file, named_arguments
from tensim.sim.cores.fabric.worker_area import DIRECTION_CODES
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.library.identifiers import Commands
    from tensim.library.tiles import Tiles

WORD = 4
ARGUMENTS = (
    "MY_DIRECTION", "CHANNEL_BUFFER_SIZE", "EDM_STATUS_PTR_ADDR", "TERMINATION_SIGNAL_ADDR", "ENABLE_FIRST_LEVEL_ACK_VC0",
    "IS_2D_FABRIC", "NUM_DOWNSTREAM_SENDERS_VC0",
)  # fmt: skip
ACTIVE_ETHERNET = 1  # place of its base among those of kinds of cores in a launch message
READY, TERMINATED = 0xA2B2C2D2, 0xA4B4C4D4  # handshake done with the other end and on the chip; ended


@dataclass(frozen=True)
class Told:
    """Settings of a router: Ethernet channel, direction of its link, bytes of a slot; `status`, `termination`: addresses of words
    that the host reads and writes; `closed`: packets may go round; `mesh`: they turn."""

    channel: int
    direction: int
    slot_bytes: int
    status: int
    termination: int
    closed: bool
    mesh: bool
    forwards: bool = False


def told_router(tiles: Tiles, place: tuple[int, int], commands: Commands) -> Told | None:
    """What the launch message of an Ethernet core tells its router (`Told`); None where it is another kernel.

    `commands`: `tensim.library.identifiers.Commands`.
    """
    layout, channels = tiles.layout, ethernet_channels(tiles.device.arch)
    if place not in channels:
        return None

    def word(address: int) -> int:
        return int.from_bytes(tiles.read(*place, address, WORD), "little")

    base, text = word(layout.ethernet_launch + WORD * ACTIVE_ETHERNET), word(layout.ethernet_launch + layout.text)
    texts = (tiles.read(*place, at, TEXT_BYTES) for at in (base + text, text))  # Wormhole's lies where it always does
    identifier = next(filter(None, map(identifier_in, texts)), None)
    if identifier is None:
        return None
    arguments, folder = commands.find(identifier)
    if Path(kernel_file(folder)).name != ROUTER:
        return None
    named = dict(named_arguments(arguments, folder))
    if missing := [name for name in ARGUMENTS if name not in named]:
        raise UsageError(
            f"the library's router is not told its {missing[0]} by name",
            hint="release 0.81 tells it; one chip works with others",
        )
    return Told(
        channels[place], DIRECTION_CODES.index(named["MY_DIRECTION"]), named["CHANNEL_BUFFER_SIZE"],
        named["EDM_STATUS_PTR_ADDR"], named["TERMINATION_SIGNAL_ADDR"], bool(named["ENABLE_FIRST_LEVEL_ACK_VC0"]),
        bool(named["IS_2D_FABRIC"]), named["NUM_DOWNSTREAM_SENDERS_VC0"] > 0,
    )  # fmt: skip


# Places in a worker's routing table (`routing_l1_info_t`): the chip's number in its mesh, which counts row after row, and the
# numbers of rows and columns
MY_DEVICE, ROWS, COLUMNS = 34, 2702, 2703


def told_place(tiles: Tiles) -> tuple[int, int, int]:
    """(rows, columns, number of the chip) of the mesh that the library's routing tables describe."""
    table = tiles.config[0][tiles.layout.routing_table :]
    return int(table[ROWS]), int(table[COLUMNS]), int.from_bytes(table[MY_DEVICE : MY_DEVICE + 2].tobytes(), "little")


class ToldWiring:
    """The links of a mesh between routers that were told so (compare `tensim.sim.host.wiring.Wiring`).

    `routers`: {(chip, channel): `Told`}; `connections`: [((chip, channel), (chip, channel))] of all links that there are.
    """

    def __init__(
        self,
        routers: Mapping[tuple[int, int], Told],
        connections: Iterable[tuple[tuple[int, int], tuple[int, int]]],
        chips: int,
    ) -> None:
        channels = [sorted(channel for one, channel in routers if one == chip) for chip in range(chips)]
        self.ports, self._tiles = [], {}
        for chip, mine in enumerate(channels):
            ports = []
            for channel in mine:
                way = routers[chip, channel].direction
                port = way, sum(other == way for other, _ in ports)
                ports.append(port)
                self._tiles[chip, port] = channel
            self.ports.append(ports)
        numbers = {(chip, channel): i for chip, mine in enumerate(channels) for i, channel in enumerate(mine)}
        self.links = [
            ((first[0], numbers[first]), (second[0], numbers[second]))
            for first, second in connections
            if first in numbers and second in numbers
        ]

        self.turns = {chip: _turns(routers, chip, mine) for chip, mine in enumerate(channels)}

    def tile(self, chip: int, way: int, plane: int) -> int:
        """Number of the Ethernet tile of a link."""
        return self._tiles[chip, (way, plane)]


def _turns(routers: Mapping[tuple[int, int], Told], chip: int, channels: Sequence[int]) -> dict[int, int]:
    """{direction in which packets come: the one in which they go on} at a corner, where a line leads from a row into a column."""
    ways = {routers[chip, channel].direction for channel in channels}
    if len(ways) != 2 or {way ^ 1 for way in ways} == ways:
        return {}
    told = [routers[chip, channel] for channel in channels]
    turning = {one.direction for one in told if one.forwards and not one.mesh}
    return {way ^ 1: next(iter(ways - {way})) for way in turning}
