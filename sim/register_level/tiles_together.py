"""Tiles of a chip to which nothing comes meanwhile: their cores run to the same cycle in one call."""

import numpy as np

from tensim.sim.cores.coprocessor.together import TOGETHER
from tensim.sim.engine.entry_points import RUN_TILE, run_tiles


class TilesTogether:
    """Of `tiles`, {name: `tensim.sim.register_level.tile.RegisterTile`}."""

    def __init__(self, tiles):
        self._tiles, self._names, self._of_names = tiles, set(), []
        self._record = np.zeros(1, TOGETHER)

    def run(self, names, until):
        """Run cores of tiles to a cycle; the set of names of those that have stopped before it or rest, with which to go on."""
        if not names:
            return set()
        if names != self._names:
            self._choose(names)
        self._record["until"] = until
        run_tiles(self._record_at)
        for _, tile in self._of_names:
            tile.now = until
        return {self._of_names[i][0] for i in np.flatnonzero(self._left).tolist()}

    def _choose(self, names):
        self._names, self._of_names = set(names), [(name, self._tiles[name]) for name in names]
        self._clusters = np.array([tile.cluster_at for _, tile in self._of_names])
        self._left = np.zeros(len(names), np.uint8)
        run_at = RUN_TILE[self._of_names[0][1].arch].address
        self._record[:] = (self._clusters.ctypes.data, len(names), 0, run_at, self._left.ctypes.data)
        self._record_at = self._record.ctypes.data
