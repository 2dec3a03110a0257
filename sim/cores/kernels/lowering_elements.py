"""Elements behind pointers into L1: where they lie, and their loads."""

import ast

from tensim.sim.cores.kernels.api import ANY_ROLE
from tensim.sim.cores.kernels.lowering_expressions import merged
from tensim.sim.cores.kernels.lowering_part import Part
from tensim.sim.cores.kernels.lowering_values import Int, Record, literal
from tensim.sim.cores.operations import Op

IMMEDIATE = 2048  # offsets below it are part of an instruction (RV32I, 12 bits)


class Elements(Part):
    """What `p[i]` names."""

    def element(self, node):
        """(address, pointer) of p[i]."""
        return self.element_of(self.expressions.expression(node.value), node)

    def element_of(self, pointer, node):
        if isinstance(pointer, Int) or pointer.kind != "pointer":
            if self.emitter.lenient:
                return self.expressions.integer(node.slice), Record("pointer", (Int("0"),), (4, 0))
            self.emitter.refuse(node, "only an L1 pointer can be indexed", "p = l1_ptr(address, uint32)")
        offset = self.expressions.binary(
            ast.Mult(), self.expressions.integer(node.slice), literal(pointer.type[0]), node
        )
        base = pointer["address"]
        if offset.constant is not None and abs(offset.constant) < IMMEDIATE and base.constant is None:
            # part of the load or store instruction
            text = f"add({base.number}, {offset.text})" if offset.constant else base.text
            return merged(text, base, offset), pointer
        return self.expressions.binary(ast.Add(), base, offset, node), pointer

    def load(self, address, pointer, node):
        """The element at an address: a LOAD operation, because another agent may have written it."""
        self.emitter.decide(address, "an address")
        result, ready = self.variables.temporary(), self.variables.temporary()
        size, signed = pointer.type
        self.emitter.post([(ANY_ROLE, Op.LOAD, [address.number, str(size), str(signed)])], result, ready)
        self.emitter.ready.add(ready)
        self.emitter.facts.loads[result] = {ready}
        taint = 0 if address.control else self.emitter.line
        if taint:
            self.emitter.facts.tainted.setdefault(result, taint)
        return Int(result, taint=taint)
