"""A simulated chip as the device of a process that reads and writes its tiles, with a record of what it did.

It is what `tensim.library.server.Server` serves; a tile that stops at what is not modelled is told of once, as it happens.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from tensim.drop_in.launch_log import LaunchLog
from tensim.library.descriptions import dispatching_tiles, ethernet_channels, ethernet_tiles
from tensim.sim.cores.coprocessor.instruction_table import by_opcode
from tensim.sim.cores.coprocessor.units import UNIT_NAMES
from tensim.sim.register_level import base_firmware
from tensim.sim.register_level.chip import RegisterChip
from tensim.sim.register_level.mesh import RegisterMesh

if TYPE_CHECKING:
    import numpy as np

    from tensim.library.mailboxes import Layout
    from tensim.library.server import ChipsHostMemory
    from tensim.sim.arch import Arch
    from tensim.sim.host.wiring import Wiring

CHIP_SHIFT, PLACE = 16, 0xFFFF  # the upper half of x is the chip
SLOW, FAST = "slow", "fast"
WORK_CYCLES = 2000  # between two looks whether the host says anything


class Options(NamedTuple):
    """How a chip runs.  `numerics`: exact, fast or off; `dispatch`: of tt-metal's programs, by the host (slow) or by kernels.

    `lenient`: registers that are not modelled read as zero; `units`: names of the workers whose units tell what they do and when;
    `noc`: the model of the NoCs, packet or flit.
    """

    numerics: str = "exact"
    dispatch: str = SLOW
    lenient: bool = False
    units: tuple[tuple[int, int], ...] = ()
    noc: str = "packet"


class RegisterDevice:
    """A chip (`tensim.sim.arch.load_arch`), or those that a `wiring` links.  `channels`: NoC coordinates of each DRAM channel.

    `layout`: of the library's mailboxes (`tensim.library.mailboxes`); `link(chip)`: what reaches that chip's part of the host's
    memory, None before the driver has made it.  By fast dispatch the host waits for what the chip writes there, so that the chip
    goes on while nothing is asked of it.
    """

    takes_writes = False  # each means something at its own time
    told, strangers = (), ()  # launches are not ours to carry out: firmware is what runs here

    def __init__(
        self,
        arch: Arch,
        channels: Sequence[Sequence[tuple[int, int]]],
        layout: Layout,
        link: Callable[[int], ChipsHostMemory | None],
        options: Options,
        wiring: Wiring | None = None,
    ) -> None:
        self.name = f"{arch.name} {arch.board}"
        self.arch = arch
        self.errors: list[str] = []
        self.chips = [
            RegisterChip(
                arch,
                channels,
                dispatching_tiles(arch),
                ethernet_tiles(arch),
                self._tell,
                partial(link, number),
                options.numerics != "off",
                options.numerics == "fast",
                options.lenient,
                options.noc,
            )
            for number in range(1 if wiring is None else len(wiring.ports))
        ]
        self._telling = [(number, chip.tile(*name)) for number, chip in enumerate(self.chips) for name in options.units]
        for _, tile in self._telling:
            tile.tell_spans()
        self.launches = [LaunchLog(arch.name, layout) for _ in self.chips]
        for chip, log in zip(self.chips, self.launches, strict=True):
            chip.observer = log
        self.whole = self.chips[0] if wiring is None else self._joined(wiring)
        self.tiles, self._waits_in_memory = self, options.dispatch == FAST

    def _joined(self, wiring: Wiring) -> RegisterMesh:
        """The chips with their links."""
        names = {channel: name for name, channel in ethernet_channels(self.arch).items()}
        connections = wiring.connections()
        mesh = RegisterMesh(
            self.chips, [tuple((chip, names[channel]) for chip, channel in ends) for ends in connections]
        )
        for one, other in connections:
            for mine, theirs in ((one, other), (other, one)):
                base_firmware.boot(self.chips[mine[0]].tile(*names[mine[1]]), (mine, theirs))
        return mesh

    def read(self, x: int, y: int, address: int, size: int) -> bytes:
        """What the host reads (`RegisterChip.read`); the upper half of `x` is the chip's number."""
        return self.chips[x >> CHIP_SHIFT].read(x & PLACE, y, address, size)

    def write(self, x: int, y: int, address: int, content: bytes) -> None:
        """What the host writes."""
        self.chips[x >> CHIP_SHIFT].write(x & PLACE, y, address, content)

    def polls(self, *place: int) -> bool:
        """No read makes anything run but by its time."""
        return False

    keeps = polls  # and no write

    @property
    def works_by_itself(self) -> bool:
        """Does anything happen while the host is silent?"""
        return self._waits_in_memory and self.whole.is_busy

    def work(self) -> bool:
        """Go on while the host is silent; False when it should be listened to: nothing happens, or it was written to."""
        written = self._written
        self.whole.run(self.whole.now + WORK_CYCLES)
        return self.whole.is_busy and self._written == written

    @property
    def _written(self) -> int:
        return sum(chip.host.written for chip in self.chips)

    def _tell(self, error: Exception) -> None:
        self.errors.append(str(error))
        print(f"tensim: {error}", file=sys.stderr, flush=True)

    def result(self) -> dict[str, Any]:
        """What ran, as JSON: the time in cycles and seconds; of each tile whose cores ran, instructions
        of cores, what those out of reset do at the end, work of units; launches; payloads of links; registers that are not
        modelled; what units did and when, of the tiles that tell."""
        cycles, clock = self.whole.now, self.arch.clock_mhz
        tiles = [
            {"chip": number, "place": tile.place, "cores": tile.retired, "standing": tile.standing,
             "units": {name: {"instructions": count, "cycles": worked} for name, (count, worked) in tile.units.items()}}
            for number, chip in enumerate(self.chips) for tile in chip.tiles.values() if sum(tile.retired.values())
        ]  # fmt: skip
        links = [
            {"chip": number, "place": f"{x}-{y}", "packets": link.packets, "bytes": link.bytes}
            for number, chip in enumerate(self.chips)
            for (x, y), link in chip.links.items()
        ]
        launches = [{"chip": number} | one for number, log in enumerate(self.launches) for one in log.as_json()]
        every = [tile for chip in self.chips for tile in chip.tiles.values()]
        return {
            "arch": self.arch.name, "board": self.arch.board, "chips": len(self.chips), "clock_mhz": clock, "cycles": cycles,
            "seconds": cycles / (clock * 1e6), "tiles": tiles, "launches": launches, "links": links, "errors": self.errors,
            "unknown_registers": sorted({address for tile in every for address in tile.unknown}),
            "units_told": [
                {"chip": number, "place": tile.place, "spans": spans_as_json(self.arch.name, tile.told_spans)}
                for number, tile in self._telling
            ],
        }  # fmt: skip


def spans_as_json(chip: str, spans: np.ndarray) -> list[dict[str, Any]]:
    """[{"unit", "thread", "name", "begin_cycles", "end_cycles"}] of `units.SPAN` records; equal instructions in a row are one."""
    names = {code: instruction.name for code, instruction in by_opcode(chip).items()}
    return [
        {"unit": UNIT_NAMES[unit], "thread": thread, "name": names[opcode], "begin_cycles": start, "end_cycles": end}
        for unit, thread, opcode, start, end in spans.tolist()
    ]
