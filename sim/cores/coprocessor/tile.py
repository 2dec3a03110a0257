"""One Tensix tile's coprocessor with the cores of its three threads, run by itself: for tests and for measuring low-level kernels.

Nothing else acts on the tile's L1 meanwhile; the counters of circular buffers are what the program and its caller write.
"""

import numpy as np

from tensim.sim.cores.coprocessor.baby_core import BabyCores
from tensim.sim.cores.coprocessor.cluster import ALL_DONE, COUNTERS, DEADLOCK, FAULT, FUEL_SPENT, OUTSIDE
from tensim.sim.cores.coprocessor.costs import make_costs
from tensim.sim.cores.coprocessor.faults import Cause
from tensim.sim.cores.coprocessor.frontend import make_frontends
from tensim.sim.cores.coprocessor.instruction_table import text_of
from tensim.sim.cores.coprocessor.matrix_state import make_matrix
from tensim.sim.cores.coprocessor.memory_map import make_mailboxes
from tensim.sim.cores.coprocessor.packers import make_packers
from tensim.sim.cores.coprocessor.state import make_coprocessor
from tensim.sim.cores.coprocessor.units import UNIT_NAMES, make_units
from tensim.sim.cores.coprocessor.unpackers import make_unpackers
from tensim.sim.cores.coprocessor.vector_state import add_vector_unit
from tensim.sim.engine.entry_points import run_tile, run_words
from tensim.sim.errors import SimulatorError

L1_BYTES = {"wormhole_b0": 1464 * 1024, "blackhole": 1536 * 1024}
LOCAL_BYTES = {"wormhole_b0": 2048, "blackhole": 4096}  # of a thread's core (ISA: BabyRISCV/README.md; dev_mem_map.h)
FUEL = 1 << 22


class Tile:
    """A tile after reset.  `arch`: "wormhole_b0" or "blackhole"; `data`: whether data move; `fast`: float32 products."""

    def __init__(self, arch, data=True, fast=False):
        self.arch = arch
        self.l1 = np.zeros(L1_BYTES[arch] + 64, np.uint8)[: L1_BYTES[arch]]
        self.arrays = make_coprocessor(arch, self.l1)
        self.record = self.arrays.record[0]
        parts = {
            "frontends": make_frontends(), "units": make_units(arch), "costs": make_costs(arch), "packers": make_packers(),
            "unpackers": make_unpackers(), "matrix": make_matrix(), "mailboxes": make_mailboxes(),
        }  # fmt: skip
        self._parts = parts
        for name, part in parts.items():
            self.record[f"{name}_at"] = part.ctypes.data
        self._vector = add_vector_unit(self.arrays)
        self.record["data_on"], self.record["fast"] = data, fast
        self.cores = BabyCores(LOCAL_BYTES[arch])

    @property
    def address(self):
        """Host address of the coprocessor's record."""
        return self.arrays.record.ctypes.data

    @property
    def cycle(self):
        """Cycle up to which the coprocessor has run."""
        return int(self.record["cycle"])

    @property
    def units(self):
        """{unit: (instructions, cycles of work)}."""
        units = self._parts["units"][0]
        return {
            name: (int(units["issued"][i]), int(units["worked"][i]))
            for i, name in enumerate(UNIT_NAMES)
            if units["issued"][i]
        }

    def set_mop(self, thread, words):
        """Write the nine words of a MOP expander's configuration."""
        self._parts["frontends"][thread]["mop"][: len(words)] = words

    def execute(self, thread, words, limit=1_000_000):
        """Push words of a thread one a cycle and run until all are through; the cycle at which they are."""
        words, result = np.array(words, np.uint32), np.zeros(2, np.int64)
        run_words(self.address, thread, words.ctypes.data, len(words), limit, result.ctypes.data)
        self._check()
        taken, end = result.tolist()
        if taken < len(words) or end < 0:
            raise SimulatorError(f"stuck behind {taken} of {len(words)} words at cycle {self.cycle}: {self.waits()}")
        return end

    def run(self, limit=10_000_000):
        """Run the cores' programs to their end; the cycle of that.  SimulatorError for a fault, a deadlock or the limit."""
        now, result = 0, np.zeros(2, np.int64)
        while True:
            run_tile(self.address, self.cores.address, now, FUEL, result.ctypes.data)
            reason, cycle = result.tolist()
            if reason == ALL_DONE:
                return cycle
            if reason == COUNTERS:
                self.record["streams_written"] = 0
            elif reason == FAULT:
                self._check()
                self._refuse_core()
            elif reason == DEADLOCK or cycle > limit:
                raise SimulatorError(
                    f"{'deadlock' if reason == DEADLOCK else 'limit'} at cycle {cycle}: {self.waits()}"
                )
            elif reason not in (OUTSIDE, FUEL_SPENT):
                raise SimulatorError(f"the cluster left for {reason}")
            now = max(now, cycle)

    def waits(self):
        """What each thread stands at, as text."""
        parts = []
        for thread in range(3):
            core, front = self.cores.records[thread], self._parts["frontends"][thread]
            gate = int(front["gate"][front["gate_head"]]) if front["gate_count"] else None
            at = text_of(self.arch, gate) if gate is not None else "nothing"
            parts.append(
                f"T{thread} core state {core['state']} pc {core['pc']:#x} action {core['action']} {core['address']:#x}; "
                f"at the gate {at}, waits {front['wait_kind']} for {front['wait_condition']:#x} {front['wait_semaphores']:#x}"
            )
        return "; ".join(parts)

    def _check(self):
        record = self.record
        if record["fault"]:
            word = int(record["fault_word"])
            raise SimulatorError(
                f"{Cause(int(record['fault'])).name} at T{record['fault_thread']}, {text_of(self.arch, word)} ({word:#010x}): "
                f"{record['fault_a']:#x}, {record['fault_b']:#x}"
            )

    def _refuse_core(self):
        for thread, core in enumerate(self.cores.records):
            if core["cause"]:
                raise SimulatorError(
                    f"core T{thread}: cause {core['cause']} at pc {core['pc']:#x}, address {core['address']:#x}"
                )
