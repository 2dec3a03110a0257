"""Several chips below the library: what it writes to which, and launches that begin on all of them together.

In what the library's device says, the upper half of x is the chip; a worker here is (chip, worker of that chip).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tensim.library.descriptions import ethernet_channels
from tensim.library.routers import READY, TERMINATED, Told, ToldWiring, told_place, told_router
from tensim.library.server import HEAD
from tensim.sim.chip.routers import header_bytes
from tensim.sim.errors import UsageError
from tensim.sim.host.fabric import LINES, MESH, Fabric, count_together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensim.library.identifiers import Commands
    from tensim.library.runner import Launch, LibraryDevice
    from tensim.library.tiles import Tiles
    from tensim.sim.host.wiring import Wiring

Worker: TypeAlias = tuple[int, int]  # chip, worker of that chip
CHIP_SHIFT, PLACE = 16, 0xFFFF


class MeshTiles:
    """The memories of several chips: `parts`, a `Tiles` for each."""

    def __init__(self, parts: Sequence[Tiles]) -> None:
        self.parts, self.layout = parts, parts[0].layout
        self.ends = {}  # (chip, (x, y), address of the word that ends a router) -> address of its status
        self.ended = set()  # (chip, (x, y)) of routers that were told to end

    @property
    def told(self) -> bool:
        """Whether workers were told to run."""
        return any(part.told for part in self.parts)

    @property
    def strangers(self) -> bool:
        """Whether other cores were."""
        return any(part.strangers for part in self.parts)

    def take_told(self) -> tuple[list[Worker], list[tuple[int, tuple[int, int]]]]:
        """([(chip, worker)], [(chip, (x, y))]) that were told to run since this was asked last."""
        workers, others = [], []
        for chip, part in enumerate(self.parts):
            mine, strangers = part.take_told()
            workers += [(chip, worker) for worker in mine]
            others += [(chip, place) for place in strangers]
        return workers, others

    def take_writes(self, data: bytearray, at: int) -> int:
        """Carry out messages that only write what launches are made of (`Tiles.take_writes`), chip after chip."""
        while len(data) - at >= HEAD.size:
            _, x, _, _, _ = HEAD.unpack_from(data, at)
            if x >> CHIP_SHIFT >= len(self.parts):
                return at
            end = self.parts[x >> CHIP_SHIFT].take_writes(data, at)
            if end == at:
                return at
            at = end
        return at

    def write(self, x: int, y: int, address: int, data: bytes) -> None:
        """Bytes from the host."""
        part, place = self.parts[x >> CHIP_SHIFT], (x & PLACE, y)
        part.write(*place, address, data)
        status = self.ends.get((x >> CHIP_SHIFT, place, address))
        if status is not None and any(data):
            part.write(*place, status, TERMINATED.to_bytes(4, "little"))
            self.ended.add((x >> CHIP_SHIFT, place))

    def read(self, x: int, y: int, address: int, size: int) -> bytes:
        """Bytes for the host."""
        return self.parts[x >> CHIP_SHIFT].read(x & PLACE, y, address, size)

    def polls(self, x: int, y: int, address: int, size: int) -> bool:
        """Whether a read looks at a worker's go word."""
        return self.parts[x >> CHIP_SHIFT].polls(x & PLACE, y, address, size)

    def keeps(self, x: int, y: int, address: int, size: int) -> bool:
        """Whether bytes lie in a memory that kernels work on."""
        return self.parts[x >> CHIP_SHIFT].keeps(x & PLACE, y, address, size)

    def go_words(self) -> NDArray[np.uint32]:
        """uint32 (workers, 3): x and y as in messages, and the go word of every worker of all chips."""
        return np.concatenate([part.go_words() for part in self.parts])

    def answer(self, worker: Worker, signal: int) -> None:
        """Set the signal of a worker's go word."""
        chip, number = worker
        self.parts[chip].answer(number, signal)

    def launched(self, workers: Iterable[Worker]) -> None:
        """Some workers have run what they were told."""
        for chip, numbers in _by_chip(workers).items():
            self.parts[chip].launched(numbers)


class LibraryMesh:
    """The chips below the library: `chips`, a `LibraryDevice` for each; `wiring`: their links, `Wiring`; `commands`: those of its
    kernels, `Commands`."""

    works_by_itself = False
    takes_writes = True

    def __init__(self, chips: Sequence[LibraryDevice], wiring: Wiring, commands: Commands) -> None:
        self.chips, self.wiring, self._commands = chips, wiring, commands
        self.fabric: Fabric | None = None
        self._routers: dict[tuple[int, int], Told] = {}  # by chip and channel
        self._built: dict[tuple[int, int], Told] | None = None  # of which the fabric was built
        self.name = f"{len(chips)} x {chips[0].name}"
        self.tiles = MeshTiles([chip.tiles for chip in chips])
        count_together([chip.state for chip in chips])  # so that a fabric may begin when one has run

    def run(self, workers: Iterable[Worker], operation: dict[str, Any] | None) -> None:
        """Run what an operation has told workers of all chips; returns when all have ended.  Raises what kernels raise."""
        self._run([(chip, chip.told(mine, operation)) for chip, mine in self._parts(workers)])

    def captured(
        self, workers: Iterable[Worker], operation: dict[str, Any] | None
    ) -> list[tuple[LibraryDevice, Launch]]:
        """What an operation has told workers of all chips, for `replay`."""
        return [(chip, chip.captured(mine, operation)) for chip, mine in self._parts(workers)]

    def has_loaded(self, captured: Iterable[tuple[LibraryDevice, Launch]]) -> bool:
        """Whether programs with the kernels of a captured launch have run before, on every chip."""
        return all(chip.has_loaded(launch) for chip, launch in captured)

    def replay(self, captured: Iterable[tuple[LibraryDevice, Launch]], trace: tuple[int, int]) -> None:
        """Run a launch of a metal trace: (trace, number of its replay)."""
        self._run([(chip, chip.of_trace(launch, trace)) for chip, launch in captured])

    def _parts(self, workers: Iterable[Worker]) -> list[tuple[LibraryDevice, list[int]]]:
        return [(self.chips[chip], mine) for chip, mine in _by_chip(workers).items()]

    def _run(self, launches: Sequence[tuple[LibraryDevice, Launch]]) -> None:
        self._start_fabric()
        try:
            for number, (chip, launch) in enumerate(launches):
                chip.begin(launch, first=number == 0)  # all at once, as cores of one chip are
            for chip, _ in launches:
                chip.finish()
        finally:
            if any(chip.state.failed is not None for chip in self.chips):
                for chip in self.chips:
                    chip.state.restart()

    @property
    def elapsed_ns(self) -> int:
        """Time that programs have taken so far, on the chip where it is the longest."""
        return max(chip.elapsed_ns for chip in self.chips)

    def run_elsewhere(self, cores: Iterable[tuple[int, tuple[int, int]]]) -> None:
        """Let the model of the router act on Ethernet cores that were told to run it; UsageError for other kernels."""
        self._forget_ended()
        for chip, place in cores:
            part = self.tiles.parts[chip]
            told = told_router(part, place, self._commands)
            if told is None:
                raise UsageError(
                    f"a kernel is to run on core {place[0]}-{place[1]} of chip {chip}, which is no worker of {self.name}",
                    hint="dispatch on workers (no DispatchCoreConfig), and no kernels on Ethernet cores but routers",
                )
            self._routers[chip, told.channel] = told
            self.tiles.ends[chip, place, told.termination] = told.status
            part.write(*place, told.status, READY.to_bytes(4, "little"))

    def _forget_ended(self) -> None:
        """Routers that were told to end are none of the fabric that begins now."""
        channels = ethernet_channels(self.chips[0].state.arch)
        for chip, place in self.tiles.ended:
            self._routers.pop((chip, channels[place]), None)
        self.tiles.ended.clear()

    def _start_fabric(self) -> None:
        """Build the routers that the library has started since, in place of those of other settings before."""
        if not self._routers or self._routers == self._built:
            return
        some = next(iter(self._routers.values()))
        arch, states = self.chips[0].state.arch, [chip.state for chip in self.chips]
        wiring = ToldWiring(self._routers, self.wiring.connections(), len(states))
        payload = some.slot_bytes - header_bytes(arch, some.mesh)
        kind, room = MESH if some.mesh else LINES, len(ethernet_channels(arch))
        self.fabric = Fabric(states, wiring, self.wiring.shape, kind, some.closed, payload, room=room)
        self._built = dict(self._routers)
        for chip, part in zip(states, self.tiles.parts, strict=True):
            if some.mesh:
                chip.chip.routers.tell_workers(*told_place(part))


def _by_chip(workers: Iterable[Worker]) -> dict[int, list[int]]:
    """{chip: workers of it}."""
    found = {}
    for chip, worker in workers:
        found.setdefault(chip, []).append(worker)
    return found
