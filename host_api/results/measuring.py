"""Measuring what a plain script does on a device, from one line to another."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Self

from tensim.analysis.summary import collect
from tensim.device import Device as Handle
from tensim.queue import synchronize
from tensim.results import identity
from tensim.results.result import Result
from tensim.sim.chip.interval import Done, Interval
from tensim.sim.chip.zones import zones
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.device import Device


class measure:
    """`with tt.measure(device) as m:`; afterwards `m.result` holds what ran in the block, and nothing else.

    device: an open `Device`, of this host API, of ttnn or of `tensim.runtime`.  name: of the result, by default the script's.
    image_hash: add the hashes of DRAM and L1 at the end.  zones: add the time in profiler zones, for which the device records
    its log from here on.

    Where commands are under way at either end, the host waits for them, as in `synchronize`.  UsageError for a device that is
    closed or no simulated chip, and for a result before the block has ended; a block that raises has none.
    """

    def __init__(
        self, device: Device, name: str | None = None, *, image_hash: bool = False, zones: bool = False
    ) -> None:
        self.device, self.name = _handle(device), name
        self._result: Result | None = None
        self._image_hash, self._zones = image_hash, zones

    @property
    def result(self) -> Result:
        """The `Result` of the block."""
        if self._result is None:
            raise UsageError("there is no result: the block has not ended, or it ended in an error")
        return self._result

    def __enter__(self) -> Self:
        self._settle()
        self._result, self._begun = None, time.perf_counter()
        self._launches = identity.Launches(lambda: self.device.system.executor)
        self.device.system.executor.observers.append(self._launches)
        chip = self.device.chip
        if self._zones and not chip.machine["log_on"]:
            chip.recordings.enable_log()
        self._begun_cycle, self._interval = chip.cycle, Interval(chip)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.device.system.executor.observers.remove(self._launches)
        try:
            if error is None:
                self._settle()
        finally:
            done = self._interval.end()
        if error is None:
            self._result = Result(self._summary(done), self._identity())

    def _settle(self) -> None:
        """Wait until nothing is under way; an idle device costs its host no time, so that nobody notices the measurement."""
        device = self.device
        queued = any(not item.done.processed for queue in device._state.queues for item in queue.pending)
        if not device.is_open or queued or any("ended" not in launch for launch in device.chip.launches.values()):
            synchronize(device)

    def _summary(self, done: Done) -> dict[str, Any]:
        name = self.name or self._script() or "script"
        told = {
            "name": name, "description": "measured in a script", "verified": None, "comparison": None, "loops": [],
            "unwritten": [],
        }  # fmt: skip
        chip, summary = self.device.chip, collect(done)
        told["warnings"] = self.device.arch.without_effect(chip.numerics) + summary["warnings"]
        if self._zones:
            told["zones"] = zones(chip, self._begun_cycle)
        if self._image_hash:
            told["image_sha256"] = chip.memory.image_sha256()
        return summary | told | {"host_seconds": time.perf_counter() - self._begun}

    def _identity(self) -> dict[str, Any]:
        chip, script = self.device.chip, self._script()
        return (
            identity.of_tensim()
            | identity.of_program(self.name or script or "script", script)
            | identity.of_chip(chip)
            | identity.of_choices(seed=chip.seed, check=chip.checks is not None, max_cycles=chip.max_cycles)
            | self._launches.identity()
        )

    @staticmethod
    def _script() -> str | None:
        """The file that Python runs; None in an interactive session."""
        return getattr(sys.modules.get("__main__"), "__file__", None)


def _handle(device: object) -> Device:
    """The plain handle of a device; those of ttnn and of the runtime hold one."""
    for held in (device, getattr(device, "host", None), getattr(device, "metal", None)):
        if isinstance(held, Handle):
            return held
    raise UsageError(f"{device!r} cannot be measured", hint="give the device of a simulated chip")
