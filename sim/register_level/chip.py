"""A chip as its tiles' address spaces, with time: what a driver reads and writes.

The host sees one clock.  A read takes `pcie.read_latency_ns`, in which the cores run; a host that reads a place again and finds
what it found before polls, and the chip runs on until something changes there, so that waiting takes few reads.
"""

import math

import numpy as np

from tensim.sim.errors import TensimError
from tensim.sim.register_level.memory import SparseMemory
from tensim.sim.register_level.tile import RegisterTile

POLL_STEP = 500  # cycles after which a polled place is looked at
POLL_CYCLES = 50_000  # cycles after which the host reads it anew


class RegisterChip:
    """The tiles of a chip (`tensim.sim.arch.load_arch`); `channels`: the NoC coordinates of each DRAM channel's tiles.

    `report(error)` is told of a tile that stopped; `data`, `fast`: as for `RegisterTile`.
    """

    def __init__(self, arch, channels, report, data=True, fast=False):
        self.arch, self._report, self._numerics = arch, report, (data, fast)
        self.now = 0
        self._read_cycles = math.ceil(arch["pcie.read_latency_ns"] * arch.clock_mhz / 1000)
        self._workers = dict(zip(arch.kernel_coords, range(len(arch.kernel_coords)), strict=True))
        self.tiles = {}  # by coordinates, of workers that the host has reached
        memories = [SparseMemory() for _ in channels]
        self._others = {place: memory for places, memory in zip(channels, memories, strict=True) for place in places}
        self._polled, self._value = None, None

    def tile(self, x, y):
        """The `RegisterTile` or `SparseMemory` at a place."""
        place = x, y
        if place not in self._workers:
            return self._others.setdefault(place, SparseMemory())
        if place not in self.tiles:
            l1 = np.zeros(self.arch.l1_size, np.uint8)
            self.tiles[place] = RegisterTile(self.arch, l1, f"{x}-{y}", *self._numerics)
            self.tiles[place].now = self.now
        return self.tiles[place]

    def write(self, x, y, address, content):
        """What the host writes is there at once."""
        self._polled = None
        self.tile(x, y).write(address, content)

    def read(self, x, y, address, size):
        """What the host reads after the cycles that a read takes, or more when it polls."""
        self.run(self.now + self._read_cycles)
        tile, polled = self.tile(x, y), (x, y, address, size)
        value = tile.read(address, size)
        if polled == self._polled and value == self._value:
            end = self.now + POLL_CYCLES
            while value == self._value and self.now < end and self.is_busy:
                self.run(self.now + POLL_STEP)
                value = tile.read(address, size)
        self._polled, self._value = polled, value
        return value

    @property
    def is_busy(self):
        """Does anything happen by itself?"""
        return any(not tile.rests for tile in self.tiles.values())

    def run(self, until):
        """Run all tiles to a cycle."""
        for tile in self.tiles.values():
            try:
                tile.run(until)
            except TensimError as error:
                self._report(error)
        self.now = until
