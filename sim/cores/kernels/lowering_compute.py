"""Calls of compute kernels that no table describes: for one thread alone, and single instructions."""

import ast

from tensim.sim.cores.kernels.api import COMPUTE, DM, MATH, PACK, UNPACK, parameters
from tensim.sim.cores.kernels.lowering_expressions import merged
from tensim.sim.cores.kernels.lowering_inlining import library
from tensim.sim.cores.kernels.lowering_part import Part
from tensim.sim.cores.operations import Mailbox, Op
from tensim.sim.cores.tensix.instructions import Instruction


class ComputeCalls(Part):
    """Calls that narrow the threads an operation is for, or name an instruction."""

    def call_UNPACK(self, node, positional, keywords):
        return self._only(node, "UNPACK", UNPACK, positional, keywords)

    def call_MATH(self, node, positional, keywords):
        return self._only(node, "MATH", MATH, positional, keywords)

    def call_PACK(self, node, positional, keywords):
        return self._only(node, "PACK", PACK, positional, keywords)

    def _only(self, node, name, role, positional, keywords):
        if len(positional) != 1 or keywords or not isinstance(positional[0], ast.Call):
            self.emitter.refuse(node, f"{name} takes one call, the one that the {name.lower()} thread alone makes")
        self.operations.belongs(node, name, COMPUTE)
        outer, self.emitter.only = self.emitter.only, self.emitter.only & role
        value = self.calls.call(positional[0])
        self.emitter.only = outer
        return value

    def call_get_tile_address(self, node, positional, keywords):
        return self._of_unpack_thread(node, "_address_of_tile", positional, keywords)

    def call_read_tile_value(self, node, positional, keywords):
        return self._of_unpack_thread(node, "_value_of_tile", positional, keywords)

    def _of_unpack_thread(self, node, name, positional, keywords):
        """What a function of the library finds: in a compute kernel on the unpack thread, which tells it the others."""
        outer, self.emitter.only = self.emitter.only, self.emitter.only & (DM | UNPACK)
        found = self.inlining.inline(node, library()[name], positional, keywords)
        self.emitter.only = outer
        if not self.emitter.facts.possible & COMPUTE:
            return found
        for receiver in (Mailbox.MATH, Mailbox.PACK):
            self.emitter.post([(UNPACK, Op.MAILBOX_WRITE, [str(int(receiver)), found.number])])
        told = self.variables.temporary()
        self.emitter.post([(MATH | PACK, Op.MAILBOX_READ, [str(int(Mailbox.UNPACK))])], told)
        return merged(f"({told} if {self.emitter.role()} & {MATH | PACK} else {found.number})", found)

    def call_tt_instruction(self, node, positional, keywords):
        """tt_instruction(NAME, count=1): one instruction of the coprocessor (`Instruction`), `count` times."""
        name = self.arguments.literal_text(node, "tt_instruction", positional[:1], {})
        if name not in Instruction.__members__:
            self.emitter.refuse(
                node, f"tt_instruction does not know {name}", f"known: {', '.join(Instruction.__members__)}"
            )
        values = self.arguments.integers(node, "tt_instruction", parameters("count=1"), positional[1:], keywords)
        self.operations.belongs(node, "tt_instruction", COMPUTE)
        self.emitter.decide(values["count"], "an argument of tt_instruction")
        self.emitter.post([(COMPUTE, Op.TT_INSTRUCTION, [str(int(Instruction[name])), values["count"].number])])
