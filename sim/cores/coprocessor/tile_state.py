"""The state of one Tensix tile at the level of instructions: the coprocessor, its units, the cores of its three threads."""

import numpy as np

from tensim.sim.cores import context as ctx
from tensim.sim.cores.coprocessor.baby_core import ILLEGAL, MISALIGNED, OUTSIDE_TEXT, BabyCores
from tensim.sim.cores.coprocessor.costs import make_costs
from tensim.sim.cores.coprocessor.faults import Cause
from tensim.sim.cores.coprocessor.frontend import make_frontends
from tensim.sim.cores.coprocessor.instruction_table import text_of
from tensim.sim.cores.coprocessor.matrix_state import make_matrix
from tensim.sim.cores.coprocessor.memory_map import make_mailboxes, make_pc_buffers
from tensim.sim.cores.coprocessor.packers import make_packers
from tensim.sim.cores.coprocessor.state import make_coprocessor
from tensim.sim.cores.coprocessor.units import SPAN, SPANS, UNIT_NAMES, make_units
from tensim.sim.cores.coprocessor.unpackers import make_unpackers
from tensim.sim.cores.coprocessor.vector_state import add_vector_unit
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS

CORE_FAULTS = {ILLEGAL: "illegal instruction", OUTSIDE_TEXT: "jump out of the text", MISALIGNED: "misaligned access"}


# What a cause is in words, by its values
MEANINGS = {
    Cause.UNKNOWN_INSTRUCTION: "no instruction of this chip that is modelled",
    Cause.UNKNOWN_MODE: "a mode that is not modelled, {a:#x}, {b:#x}",
    Cause.L1_ADDRESS: "{b} bytes at {a:#x}, outside of L1, which ends at {l1:#x}",
    Cause.CONFIG_INDEX: "there is no configuration word {a}",
    Cause.DATA_FORMAT: "data formats {a} and {b} do not go together, or one of them is out of range",
    Cause.UNMAPPED_REGISTER: "an access to {a:#x}, where nothing is modelled",
    Cause.STACK_DEPTH: "depth {a} of the stack of flags",
    Cause.MISUSE: "what the instruction set leaves undefined, {a:#x}, {b:#x}",
}


class TileState:
    """A tile after reset, its arrays alive as long as this object.

    `arch`: a chip (`tensim.sim.arch.load_arch`), Wormhole or Blackhole, of which `self.arch` keeps the name; `l1`: its memory,
    uint8; `local_bytes`: of each core's local memory; `buffers`: the rows of its circular buffers, int64 [N_CIRCULAR_BUFFERS,
    CB_WORDS]; `data`: whether data move; `fast`: products in float32.
    """

    names = ("T0", "T1", "T2", "BRISC", "NCRISC")  # of the cores, in messages

    def __init__(self, arch, l1, local_bytes, buffers=None, data=True, fast=False, known=None):
        self.arch, self.l1 = arch.name, l1
        self.buffers = np.zeros((N_CIRCULAR_BUFFERS, ctx.CB_WORDS), np.int64) if buffers is None else buffers
        self.cores = BabyCores(local_bytes, arch["riscv.icache_bytes"])
        self._costs, self._numerics = make_costs(arch), (data, fast)
        self._known = known
        self._spans, self._told = None, []
        self.power_on()

    def power_on(self):
        """Make the coprocessor as after reset; L1 and the cores stay as they are."""
        self.arrays = make_coprocessor(self.arch, self.l1)
        self.record = self.arrays.record[0]
        self.parts = {
            "frontends": make_frontends(), "units": make_units(self.arch), "costs": self._costs, "packers": make_packers(),
            "unpackers": make_unpackers(), "matrix": make_matrix(), "mailboxes": make_mailboxes(), "pc_buffers": make_pc_buffers(),
            "buffers": self.buffers,
        }  # fmt: skip
        for name, part in self.parts.items():
            self.record[f"{name}_at"] = part.ctypes.data
        self.reset_vector_unit()
        self.record["data_on"], self.record["fast"] = self._numerics
        if self._known is not None:
            self.record["l1_known_at"] = self._known.ctypes.data
        if self._spans is not None:
            self.parts["units"]["spans_at"] = self._spans.ctypes.data

    def reset_vector_unit(self):
        """Make the vector unit as after reset."""
        self._vector = add_vector_unit(self.arrays)

    def tell_spans(self):
        """Let the units tell from now on what they do and when (`units.SPAN`)."""
        if self._spans is None:
            self._spans = np.zeros(SPANS, SPAN)
            self.parts["units"]["spans_at"] = self._spans.ctypes.data

    def keep_spans(self):
        """Put aside what the units have told, so that they have room to tell more."""
        units = self.parts["units"][0]
        if self._spans is not None and units["n_spans"]:
            self._told.append(self._spans[: units["n_spans"]].copy())
            units["n_spans"], units["newest"] = 0, -1

    @property
    def told_spans(self):
        """What the units have told so far: SPAN records."""
        self.keep_spans()
        return np.concatenate(self._told) if self._told else np.zeros(0, SPAN)

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
        units = self.parts["units"][0]
        return {
            name: (int(units["issued"][i]), int(units["worked"][i]))
            for i, name in enumerate(UNIT_NAMES)
            if units["issued"][i]
        }

    def waits(self, thread):
        """What a thread stands at, as text."""
        core, front = self.cores.records[thread], self.parts["frontends"][thread]
        gate = int(front["gate"][front["gate_head"]]) if front["gate_count"] else None
        at = text_of(self.arch, gate) if gate is not None else "nothing"
        return (
            f"T{thread} core state {core['state']} pc {core['pc']:#x} action {core['action']} {core['address']:#x}; "
            f"at the gate {at}, waits {front['wait_kind']} for {front['wait_condition']:#x} {front['wait_semaphores']:#x}"
        )

    def core_fault(self):
        """What stopped a core, as text, None for nothing."""
        for thread, core in enumerate(self.cores.records):
            if core["cause"]:
                what, pc = CORE_FAULTS[int(core["cause"])], int(core["pc"])
                word = self.cores.word_at(thread, pc) if core["cause"] == ILLEGAL else None
                found = f"word {word:#010x}" if word is not None else f"address {core['address']:#x}"
                return f"{self.names[thread]}: {what} at {pc:#x}, {found}"
        return None

    def fault(self):
        """What stopped the coprocessor, as text, None for nothing."""
        record = self.record
        if not record["fault"]:
            return None
        cause, word, name = (
            Cause(int(record["fault"])),
            int(record["fault_word"]),
            self.names[int(record["fault_thread"])],
        )
        a, b = int(record["fault_a"]), int(record["fault_b"])
        at = f", {text_of(self.arch, word)} ({word:#010x})" if word or cause == Cause.UNKNOWN_INSTRUCTION else ""
        return f"{cause.name} at {name}{at}: {MEANINGS[cause].format(a=a, b=b, l1=len(self.l1))}"
