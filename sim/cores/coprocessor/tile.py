"""One Tensix tile's coprocessor with the cores of its three threads, run by itself: for tests and for measuring low-level kernels.

Nothing else acts on the tile's L1 meanwhile; the counters of circular buffers are what the program and its caller write.
"""

import numpy as np

from tensim.sim.arch import load_arch
from tensim.sim.cores import context as ctx
from tensim.sim.cores.coprocessor.baby_core import BabyText
from tensim.sim.cores.coprocessor.cluster import ALL_DONE, CLUSTER, COUNTER, FAULT, RESTING
from tensim.sim.cores.coprocessor.frontend import NO_TIME
from tensim.sim.cores.coprocessor.state import N_THREADS
from tensim.sim.cores.coprocessor.tile_state import TileState
from tensim.sim.engine.entry_points import RUN_TILE
from tensim.sim.errors import SimulatorError

L1_BYTES = {"wormhole_b0": 1464 * 1024, "blackhole": 1536 * 1024}
LOCAL_BYTES = {"wormhole_b0": 2048, "blackhole": 4096}  # of a thread's core (ISA: BabyRISCV/README.md; dev_mem_map.h)
FUEL = 1 << 22


class Tile(TileState):
    """A tile after reset.  `arch`: "wormhole_b0" or "blackhole"; `data`: whether data move; `fast`: float32 products."""

    def __init__(self, arch, data=True, fast=False):
        l1 = np.zeros(L1_BYTES[arch] + 64, np.uint8)[: L1_BYTES[arch]]
        super().__init__(load_arch(arch), l1, (LOCAL_BYTES[arch],) * N_THREADS, data=data, fast=fast)

    def set_mop(self, thread, words):
        """Write the nine words of a MOP expander's configuration."""
        self.parts["frontends"][thread]["mop"][: len(words)] = words

    def load(self, thread, text, base, entry):
        """Give a core its text (bytes at address `base`); it starts at address `entry` with all registers 0."""
        self.cores.load(thread, BabyText(text, base, self.arch), entry)

    def execute(self, thread, words, limit=1_000_000):
        """Push words of a thread one a cycle and run until all are through; the cycle at which they are."""
        words, cluster = np.array(words, np.uint32), np.zeros(1, CLUSTER)
        if not len(words):
            return self.cycle
        cluster["coprocessor_at"], cluster["fuel"] = self.address, limit
        cluster["words_at"], cluster["words"], cluster["words_thread"] = words.ctypes.data, len(words), thread
        RUN_TILE[self.arch](cluster.ctypes.data, 0, NO_TIME)
        self._check(int(cluster["reason"][0]))
        taken, end = int(cluster["words_taken"][0]), int(cluster["at"][0])
        if taken < len(words) or end < 0:
            raise SimulatorError(
                f"stuck behind {taken} of {len(words)} words at cycle {self.cycle}: {self.waits(thread)}"
            )
        return end

    def run(self, limit=10_000_000):
        """Run the cores' programs to their end; the cycle of that.  SimulatorError for a fault, a deadlock or the limit."""
        cluster = np.zeros(1, CLUSTER)
        cluster["coprocessor_at"], cluster["cores_at"], now = self.address, self.cores.address, 0
        while True:
            cluster["fuel"] = FUEL
            RUN_TILE[self.arch](cluster.ctypes.data, now, NO_TIME)
            reason, cycle = int(cluster["reason"][0]), int(cluster["at"][0])
            if reason == ALL_DONE:
                return cycle
            if reason == FAULT:
                self._check(reason)
            elif reason == RESTING or cycle > limit:
                what = "deadlock" if reason == RESTING else "limit"
                raise SimulatorError(f"{what} at cycle {cycle}: {'; '.join(map(self.waits, range(3)))}")
            elif reason == COUNTER:
                self._take_counter()
            self.record["l1_stored"] = self.record["printed"] = 0
            now = max(now, cycle)

    def _take_counter(self):
        record = self.record
        column = ctx.CB_RECEIVED if record["counter_received"] else ctx.CB_ACKED
        self.buffers[record["counter_buffer"], column] = record["counter_value"]
        record["counter_written"] = 0

    def _check(self, reason):
        fault = self.fault() or self.core_fault()
        if fault is not None or reason == FAULT:
            raise SimulatorError(fault or "the model of the coprocessor has not come back from a step")
