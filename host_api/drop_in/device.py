"""A simulated chip as the device of a process that reads and writes its tiles, with a record of what it did.

It is what `tensim.library.server.Server` serves; a tile that stops at what is not modelled is told of once, as it happens.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tensim.drop_in.launch_log import LaunchLog
from tensim.library.descriptions import dispatching_tiles, ethernet_tiles
from tensim.sim.register_level.chip import RegisterChip

if TYPE_CHECKING:
    from tensim.library.mailboxes import Layout
    from tensim.library.server import HostMemoryLink
    from tensim.sim.arch import Arch

SLOW, FAST = DISPATCH = "slow", "fast"
WORK_CYCLES = 2000  # between two looks whether the host says anything


class Options(NamedTuple):
    """How a chip runs.  `numerics`: exact, fast or off; `dispatch`: of tt-metal's programs, by the host (slow) or by kernels.

    `lenient`: registers that are not modelled read as zero.
    """

    numerics: str = "exact"
    dispatch: str = SLOW
    lenient: bool = False


class RegisterDevice:
    """A chip (`tensim.sim.arch.load_arch`).  `channels`: NoC coordinates of each DRAM channel.

    `layout`: of the library's mailboxes (`tensim.library.mailboxes`); `link()`: what reaches the host's memory (`HostMemoryLink`),
    None before the driver has made it.  By fast dispatch the host waits for what the chip writes there, so that the chip goes on
    while nothing is asked of it.
    """

    takes_writes = False  # each means something at its own time
    told, strangers = (), ()  # launches are not ours to carry out: firmware is what runs here

    def __init__(
        self,
        arch: Arch,
        channels: Sequence[Sequence[tuple[int, int]]],
        layout: Layout,
        link: Callable[[], HostMemoryLink | None],
        options: Options,
    ) -> None:
        self.name = f"{arch.name} {arch.board}"
        self.arch = arch
        self.errors: list[str] = []
        self.chip = RegisterChip(
            arch,
            channels,
            dispatching_tiles(arch),
            ethernet_tiles(arch),
            self._tell,
            link,
            options.numerics != "off",
            options.numerics == "fast",
            options.lenient,
        )
        self.launches = self.chip.observer = LaunchLog(arch.name, layout)
        self.tiles, self._waits_in_memory = self, options.dispatch == FAST
        self.read, self.write = self.chip.read, self.chip.write

    def polls(self, *place: int) -> bool:
        """No read makes anything run but by its time."""
        return False

    @property
    def works_by_itself(self) -> bool:
        """Does anything happen while the host is silent?"""
        return self._waits_in_memory and self.chip.is_busy

    def work(self) -> bool:
        """Go on while the host is silent; False when it should be listened to: nothing happens, or it was written to."""
        written = self.chip.host.written
        self.chip.run(self.chip.now + WORK_CYCLES)
        return self.chip.is_busy and self.chip.host.written == written

    def _tell(self, error: Exception) -> None:
        self.errors.append(str(error))
        print(f"tensim: {error}", file=sys.stderr, flush=True)

    def result(self) -> dict[str, Any]:
        """What ran, as JSON: the time in cycles and seconds; of each tile whose cores ran, instructions
        of cores, what those out of reset do at the end, work of units; launches; registers that are not modelled."""
        cycles, clock = self.chip.now, self.arch.clock_mhz
        tiles = [
            {"place": tile.place, "cores": tile.retired, "standing": tile.standing,
             "units": {name: {"instructions": count, "cycles": worked} for name, (count, worked) in tile.units.items()}}
            for tile in self.chip.tiles.values() if sum(tile.retired.values())
        ]  # fmt: skip
        return {
            "arch": self.arch.name, "board": self.arch.board, "clock_mhz": clock, "cycles": cycles,
            "seconds": cycles / (clock * 1e6), "tiles": tiles, "launches": self.launches.as_json(), "errors": self.errors,
            "unknown_registers": sorted({address for tile in self.chip.tiles.values() for address in tile.unknown}),
        }  # fmt: skip
