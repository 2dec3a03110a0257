"""The programs that tt-metal launches on a chip at register level: when cores are told to go, and when the last is done.

Both are told by words that firmware and dispatchers exchange, at addresses that a release's structures give
(`tensim.library.mailboxes`): a go word comes to a core; a core that is done adds to a register of the dispatcher's streams, or the
host finds it in the go word.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tensim.library.mailboxes import DONE, GO, SIGNAL
from tensim.sim.cores.coprocessor.stream_registers import BLACKHOLE_UPDATE, STREAM_BYTES, WORMHOLE_UPDATE
from tensim.sim.cores.coprocessor.tile_registers import STREAMS, STREAMS_END

if TYPE_CHECKING:
    from tensim.library.mailboxes import Layout

UPDATES = {"wormhole_b0": WORMHOLE_UPDATE, "blackhole": BLACKHOLE_UPDATE}
LAUNCH_MESSAGES = 8  # of the ring
BY_HOST = 1  # a message's mode; dispatchers' programs have 0
READ_POINTER = -4  # of the ring of launch messages, as seen from its first message


@dataclass
class Launch:
    """`begin`, `end`: cycles of the first go word and the last answer; `mode`: who launches; `identifier`: the host's number of it.

    `places`: cores that were told to go, of which `cores` have kernels; `told`: those of which the host has not read an answer.
    """

    begin: int
    mode: int
    identifier: int = 0
    cores: int = 0
    end: int | None = None
    told: set[tuple[int, int]] = field(default_factory=set)
    answers: int = 0
    places: int = 0

    def as_json(self) -> dict[str, Any]:
        """{"id", "by", "cores", "begin_cycles", "end_cycles"}; the last is None for one that has not ended."""
        by = "host" if self.mode == BY_HOST else "dispatcher"
        return {
            "id": self.identifier,
            "by": by,
            "cores": self.cores,
            "begin_cycles": self.begin,
            "end_cycles": self.end,
        }


class LaunchLog:
    """Sees what reaches tiles of a chip (`name`: of the architecture) whose mailboxes a release keeps as `layout` says."""

    def __init__(self, name: str, layout: Layout) -> None:
        self._update, self._layout = UPDATES[name], layout
        self.launches: list[Launch] = []

    def as_json(self) -> list[dict[str, Any]]:
        """`Launch.as_json` of each."""
        return [launch.as_json() for launch in self.launches]

    def written(self, tile: Any, address: int, content: bytes, cycle: int) -> None:
        """Somebody outside a tile writes to it."""
        if address == self._layout.go and len(content) == 4 and content[SIGNAL] == GO:
            self._goes(tile, cycle)
        elif STREAMS <= address < STREAMS_END and address % STREAM_BYTES // 4 == self._update:
            self._answers(cycle)

    def read(self, tile: Any, address: int, content: bytes, cycle: int) -> None:
        """The host reads a tile's memory."""
        running = self.launches[-1] if self.launches else None
        if running is None or address != self._layout.go or content[SIGNAL : SIGNAL + 1] != bytes([DONE]):
            return
        if tile.coordinates in running.told:
            running.told.discard(tile.coordinates)
            if not running.told:
                running.end = cycle

    def _goes(self, tile: Any, cycle: int) -> None:
        layout = self._layout
        at = layout.launch + layout.launch_bytes * (int(tile.l1[layout.launch + READ_POINTER]) % LAUNCH_MESSAGES)
        identifier = int.from_bytes(tile.l1[at + layout.host_id :][:4].tobytes(), "little")
        mode = int(tile.l1[at + layout.mode])  # dispatchers, whom the host launches, run for as long as they launch
        last = self.launches[-1] if self.launches else None
        if last is None or last.end is not None or mode != last.mode or tile.coordinates in last.told:
            last = Launch(cycle, mode)
            self.launches.append(last)
        last.told.add(tile.coordinates)
        last.places += 1
        if any(tile.l1[at + layout.enables :][:4]):  # of the others the message is empty
            last.cores, last.identifier = last.cores + 1, identifier

    def _answers(self, cycle: int) -> None:
        running = next((launch for launch in reversed(self.launches) if launch.end is None), None)
        if running is not None:
            running.answers += 1
            if running.answers == running.places:
                running.end = cycle
