"""Light Metal: record the commands of a program, save them, replay them."""

from __future__ import annotations

from typing import Any

import tensim.light_metal.capture as capture
from tensim.light_metal.binary import LightMetalBinary as HostBinary
from tensim.running.replay import LightMetalReplay as HostReplay
from tensim.ttnn.errors import ArgumentError


class LightMetalBinary(HostBinary):
    """The bytes of a recording."""

    def set_data(self, data: bytes) -> None:
        """Take other bytes."""
        self._data = bytes(data)


class LightMetalReplay:
    """Runs a recording, on devices of its own unless one is given.  ArgumentError for a mesh of several chips."""

    def __init__(self, binary: HostBinary, device: Any) -> None:
        if device is not None and len(device.chips) > 1:
            raise ArgumentError(
                "LightMetalReplay.create: a mesh of several chips", hint="leave device out: a replay opens its own"
            )
        self._replay = HostReplay(binary, None if device is None else device.host)

    @staticmethod
    def create(binary: HostBinary, device: Any = None) -> LightMetalReplay:
        """Prepare a replay."""
        return LightMetalReplay(binary, device)

    def run(self) -> bool:
        """Carry out the commands; whether everything went well."""
        return self._replay.run()


def light_metal_begin_capture() -> None:
    """Record every command from here on."""
    capture.light_metal_begin_capture()


def light_metal_end_capture() -> LightMetalBinary:
    """The recording."""
    return LightMetalBinary(capture.light_metal_end_capture().get_data())
