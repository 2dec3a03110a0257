"""A chip as its tiles' address spaces, with time: what a driver reads and writes.

The host sees one clock.  A read takes `pcie.read_latency_ns`, in which the cores run; a host that reads a place again and finds
what it found before polls, and the chip runs on until something changes there, so that waiting takes few reads.
"""

import math

import numpy as np

from tensim.sim.cores.coprocessor.debug_registers import SOFT_RESET
from tensim.sim.errors import SimulatorError, TensimError
from tensim.sim.register_level.core_sets import ETHERNET, ETHERNET_L1, TENSIX
from tensim.sim.register_level.host_memory import PCIE_TILE, HostMemory
from tensim.sim.register_level.memory import SparseMemory
from tensim.sim.register_level.network import Network
from tensim.sim.register_level.niu import Request
from tensim.sim.register_level.tile import RegisterTile
from tensim.sim.register_level.tiles_together import TilesTogether

POLL_STEP = 500  # cycles after which a polled place is looked at
POLL_CYCLES = 50_000  # cycles after which the host reads it anew


class RegisterChip:
    """The tiles of a chip (`tensim.sim.arch.load_arch`); `channels`: the NoC coordinates of each DRAM channel's tiles;
    `dispatching`: [(name, coordinates on NoC 0)] of Tensix tiles beside the workers, `ethernet`: of Ethernet tiles; `link`: what
    reaches the host's memory (`HostMemory`).

    A tile's name is the pair of coordinates by which the driver knows it; the attribute `channels` has the number of the channel by
    name.  `report(error)` is told of a tile that stopped; `data`, `fast`, `lenient`: as for `RegisterTile`; `noc`: the model of the
    NoCs, packet or flit.
    """

    def __init__(
        self,
        arch,
        channels,
        dispatching,
        ethernet,
        report,
        link=lambda: None,
        data=True,
        fast=False,
        lenient=False,
        noc="packet",
    ):
        self.arch, self._report = arch, report
        self._numerics, self._lenient = (data, fast), lenient
        self.now = 0
        self._read_cycles = math.ceil(arch["pcie.read_latency_ns"] * arch.clock_mhz / 1000)
        self._physical = dict(zip(arch.kernel_coords, arch.worker_coords, strict=True)) | dict(dispatching)
        self._ethernet = dict(ethernet)
        self._named = {physical: place for place, physical in self._physical.items()}
        self.tiles = {}  # by name, of workers that somebody has reached
        self._awake = set()  # names of tiles in which something may happen by itself
        memories = [SparseMemory() for _ in channels]
        self.channels = {place: channel for channel, places in enumerate(channels) for place in places}
        self._others = {place: memories[channel] for place, channel in self.channels.items()}
        self._ports = self._physical_ports(channels)
        name, physical = PCIE_TILE[arch.name]
        self.host = self._others[name] = HostMemory(arch.name, link, self.tell)
        self._hosts = {name: physical}
        self._named[physical] = name
        self.network = Network(self, noc)
        # is told what reaches tiles (`RegisterTile.observer`), and what the host reads there, `read(...)`
        self.observer = None
        self._polled, self._value = None, None
        self._together = TilesTogether(self.tiles)
        self.links = {}  # by name of an Ethernet tile (`tensim.sim.register_level.link.Link`)
        self.whole = self  # what runs when the host waits: the chip, or the chips that it is linked with

    # --- places

    def tile(self, x, y):
        """The `RegisterTile` or `SparseMemory` at a place, by its name or its coordinates on NoC 0."""
        place = self.place(0, x, y)
        if place not in self._physical and place not in self._ethernet:
            return self._others.setdefault(place, SparseMemory())
        if place not in self.tiles:
            is_tensix, name = place in self._physical, self.arch.name
            l1 = np.zeros(self.arch.l1_size if is_tensix else ETHERNET_L1[name], np.uint8)
            cores = TENSIX if is_tensix else ETHERNET[name]
            tile = RegisterTile(
                self.arch, l1, place, self.physical(place), *self._numerics, cores, self._awake, self._lenient
            )
            tile.observer = self.observer
            self.tiles[place] = tile
        tile = self.tiles[place]
        if tile.rests:
            tile.now = max(tile.now, self.now)
        return tile

    def physical(self, place):
        """Coordinates on NoC 0 of a tile."""
        for known in (self._physical, self._ethernet, self._hosts, self._ports):
            if place in known:
                return known[place]
        return place

    def _physical_ports(self, channels):
        """{translated name of a DRAM tile: coordinates on NoC 0}; a channel has both in the same order."""
        width, height = self.arch["chip.noc_grid"]
        found = {}
        for places in channels:
            on_grid = [(x, y) for x, y in places if x < width and y < height]
            translated = [place for place in places if place not in on_grid]
            found |= {place: on_grid[i % len(on_grid)] for i, place in enumerate(translated)}
        return found

    def is_host(self, place):
        """Is it the PCIe tile, behind which the host's memory lies?"""
        return place in self._hosts

    @property
    def workers(self):
        """Names of the Tensix tiles."""
        return list(self._physical)

    def place(self, noc, x, y):
        """The name of the tile that coordinates mean: translated ones for both NoCs, physical ones from a NoC's own corner."""
        if any((x, y) in names for names in (self._physical, self.channels, self._ethernet, self._hosts)):
            return x, y
        width, height = self.arch["chip.noc_grid"]
        physical = (x, y) if noc == 0 else (width - 1 - x, height - 1 - y)
        return self._named.get(physical, physical)

    def rectangle(self, noc, begin, end):
        """Names of the workers in a rectangle of a NoC's coordinates, whose corners it takes in its own direction."""
        corners = (self.physical(self.place(noc, *corner)) for corner in (begin, end))
        (x0, x1), (y0, y1) = (sorted(values) for values in zip(*corners, strict=True))
        return [place for place, (x, y) in self._physical.items() if x0 <= x <= x1 and y0 <= y <= y1]

    # --- the host

    def write(self, x, y, address, content):
        """What the host writes is there at once."""
        self._polled = None
        self.tile(x, y).write(address, content)

    def read(self, x, y, address, size):
        """What the host reads after the cycles that a read takes, or more when it polls.

        Debuggers read a tile's soft resets before each access, and wait for nothing.
        """
        whole = self.whole
        whole.run(self.now + self._read_cycles)
        tile, polled = self.tile(x, y), (x, y, address, size)
        value = tile.read(address, size)
        if polled == self._polled and value == self._value and address != SOFT_RESET:
            end = self.now + POLL_CYCLES
            while value == self._value and self.now < end and whole.is_busy:
                whole.run(self.now + POLL_STEP)
                value = tile.read(address, size)
        self._polled, self._value = polled, value
        if self.observer is not None and isinstance(tile, RegisterTile):
            self.observer.read(tile, address, value, self.now)
        return value

    # --- time

    @property
    def is_busy(self):
        """Does anything happen by itself?"""
        return bool(self._awake) or self.network.is_busy

    @property
    def busy_from(self):
        """The cycle from which something happens by itself, None when nothing does."""
        return self.now if self._awake else self.network.due_at

    def run(self, until):
        """Run all tiles to a cycle.

        They go on together by as many cycles as no tile can have an effect on another.
        """
        while self.now < until:
            due = self.network.due_at
            if not self._awake and due is None:
                self.now = until
                return
            alone = len(self._awake) == 1
            horizon = self.network.lead(self.now if self._awake else min(until, due), until)
            if alone:  # it goes on until something comes, or what it sends arrives
                due = self.network.due_at
                horizon = max(horizon, until if due is None else min(until, due - 1))
            due_places = self.network.effects.places_due(horizon)
            for place in due_places:
                if place not in self.tiles:
                    self.network.effects.happen(place, horizon)
            reached = horizon
            begun = self._together.run(self._awake.difference(due_places), horizon)
            for place in sorted(begun.union(due_places)):
                if place in self.tiles:
                    end = self._run_tile(place, horizon, alone, place in begun)
                    if end < horizon:
                        self.network.effects.remain_due(place, horizon)
                    reached = min(reached, end)
            self.now = reached

    def _run_tile(self, place, horizon, alone, has_begun):
        """Run a tile to a cycle, with all that happens to it meanwhile; the cycle up to which others can follow.

        One that is `alone` stops where what it sends may arrive, any that sends where its NoC has come to, if that takes nothing of
        the past.  `has_begun`: its cores have run to that cycle, or have stopped.
        """
        network, tile = self.network, self.tile(*place)
        while True:
            due = network.effects.next_at(place)
            until = horizon if due is None else min(horizon, max(due, tile.now))
            try:
                tile.run(until, has_begun)
            except TensimError as error:
                self._report(error)
                continue
            finally:
                has_begun = False
            for cycle, request in tile.requests:
                self._send(tile, request, cycle)
                if not network.takes_past:
                    horizon = min(horizon, max(cycle, self.now))
                elif alone:
                    horizon = min(horizon, max(cycle + network.look_ahead, tile.now))
            if tile.requests and network.takes_past:  # what comes of them in the tile itself
                network.advance(horizon)
            was_asked, tile.requests = bool(tile.requests), []
            if not was_asked:
                network.effects.happen(place, until)
                if until == horizon:
                    return horizon

    def _send(self, tile, request, cycle):
        """Take what a core has asked an NIU or a transmit queue for."""
        if isinstance(request, Request):
            self.network.send(tile, request, cycle)
        elif isinstance(request, str):
            self.tell(f"tile {tile.place}: {request} is not modelled")
        elif tile.coordinates in self.links:
            self.links[tile.coordinates].send(tile, request, cycle)
        else:
            self.tell(f"tile {tile.place} sends over Ethernet, and has no link")

    def tell(self, text):
        """Report what a tile has asked for that is not modelled."""
        self._report(SimulatorError(text))
