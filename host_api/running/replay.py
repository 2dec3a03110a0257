"""Replay of Light Metal binaries with everything that they may name: chips by their specs, host functions by their names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tensim.light_metal.replay import Replay, ReplayOptions
from tensim.running.device_choice import choose_chip
from tensim.runtime.functions import bound_to_buffers

if TYPE_CHECKING:
    from tensim.device import Device
    from tensim.light_metal.binary import LightMetalBinary


class LightMetalReplay(Replay):
    """Replays a binary on a device that it opens itself, or on `device`.

    `binary`: LightMetalBinary, bytes or a file name.  Afterwards `compares` holds the comparisons' results, `reads` the
    bytes of every read in order, `error` what stopped the replay.
    """

    def __init__(
        self,
        binary: LightMetalBinary | bytes | str | os.PathLike,
        device: Device | None = None,
        options: ReplayOptions | None = None,
    ) -> None:
        super().__init__(binary, device, options, find_chip=choose_chip, find_function=bound_to_buffers)
