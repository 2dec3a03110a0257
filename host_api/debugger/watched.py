"""Bytes of L1 that a debugger watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensim.debugger.stops import Stop
from tensim.sim.chip.places import core_name, thread_place

if TYPE_CHECKING:
    from tensim.sim.chip.chip import Chip


class Watched:
    """Bytes of the L1 of a core of `chip`; `value`: what they were when they were looked at last, as a number."""

    def __init__(self, chip: Chip, core: int, address: int, size: int) -> None:
        self._chip, self.core, self.address, self.size = chip, core, address, size
        self.value = self._now()

    def _now(self) -> int:
        return int.from_bytes(self._chip.l1[self.core, self.address : self.address + self.size].tobytes(), "little")

    def stop(self, thread: int) -> Stop:
        """The `Stop` of their change by a thread, negative: by nobody on a core."""
        before, self.value = self.value, self._now()
        core = core_name(self._chip, self.core)
        text = f"{self.address:#x} of core {core} has changed from {before:#x} to {self.value:#x}"
        if thread >= 0:
            place = thread_place(self._chip, thread)
            text += f", by {place['thread']} of core {place['core']}"
        return Stop("watch", self._chip.cycle, thread if thread >= 0 else None, text)
