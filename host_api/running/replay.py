"""Replay of Light Metal binaries with everything that they may name: chips by their specs, host functions by their names."""

from tensim.light_metal.replay import Replay
from tensim.running.device_choice import choose_chip
from tensim.runtime.functions import bound_to_buffers


class LightMetalReplay(Replay):
    """Replays a binary on a device that it opens itself, or on `device`.

    `binary`: LightMetalBinary, bytes or a file name.  Afterwards `compares` holds the comparisons' results, `reads` the
    bytes of every read in order, `error` what stopped the replay.
    """

    def __init__(self, binary, device=None, options=None):
        super().__init__(binary, device, options, find_chip=choose_chip, find_function=bound_to_buffers)
