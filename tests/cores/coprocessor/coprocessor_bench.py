"""A coprocessor for tests of its units: words in, state out."""

import numpy as np

from tensim.sim.arch import load_arch
from tensim.sim.cores.coprocessor.costs import make_costs
from tensim.sim.cores.coprocessor.frontend import make_frontends
from tensim.sim.cores.coprocessor.instruction_table import instruction_of, instructions
from tensim.sim.cores.coprocessor.matrix_state import make_matrix
from tensim.sim.cores.coprocessor.matrix_unit import execute_matrix
from tensim.sim.cores.coprocessor.registers import field_positions, register
from tensim.sim.cores.coprocessor.state import BY_MATRIX_UNIT, make_coprocessor
from tensim.sim.cores.coprocessor.units import make_units
from tensim.sim.cores.coprocessor.unpackers import make_unpackers
from tensim.sim.cores.coprocessor.vector_state import add_vector_unit
from tensim.sim.cores.coprocessor.vector_unit import execute_vector

CHIPS = ("wormhole_b0", "blackhole")


class Bench:
    """One coprocessor.  `arrays`: `CoprocessorArrays`; `vector`: `VectorArrays`."""

    def __init__(self, chip):
        self.chip = chip
        self.table = instructions(chip)
        self.l1 = np.zeros(1 << 12, np.uint8)
        self.arrays = make_coprocessor(chip, self.l1)
        self.vector = add_vector_unit(self.arrays)
        self.parts = {
            "frontends": make_frontends(),
            "units": make_units(chip),
            "costs": make_costs(load_arch(chip)),
            "unpackers": make_unpackers(),
            "matrix": make_matrix(),
        }
        for name, part in self.parts.items():
            self.arrays.record[f"{name}_at"] = part.ctypes.data
        self.arrays.src_a_owner[:] = self.arrays.src_b_owner[:] = BY_MATRIX_UNIT

    @property
    def fault(self):
        """(cause, a, b)"""
        return tuple(int(self.arrays.record[name][0]) for name in ("fault", "fault_a", "fault_b"))

    def word(self, name, **values):
        return self.table[name].word(**values)

    def run(self, word, thread=1):
        """Execute a word as a thread's."""
        instruction = instruction_of(self.chip, word)
        execute = execute_matrix if instruction and instruction.unit == "MATH" else execute_vector
        execute(self.arrays.record[0], thread, word)

    def do(self, name, thread=1, **values):
        self.run(self.word(name, **values), thread)

    def _set(self, words, name, value, further):
        position = int(field_positions(self.chip)[register(name)])
        index, bit, width = (position & 0xFFFF) + further, position >> 16 & 0xFF, position >> 24
        mask = ((1 << width) - 1) << bit
        words[index] = (int(words[index]) & ~mask) | (value << bit & mask)

    def configure(self, thread=1, further=0, **values):
        """Set fields of the configuration (bank 0)."""
        for name, value in values.items():
            self._set(self.arrays.config[0], name, value, further)

    def configure_thread(self, thread=1, further=0, **values):
        """Set fields of a thread's configuration, or those of the section `further`."""
        for name, value in values.items():
            words = 2 if name.startswith("ADDR_MOD_AB_") and self.chip == "wormhole_b0" else 1  # of a section
            self._set(self.arrays.thread_config[thread], name, value, words * further)
