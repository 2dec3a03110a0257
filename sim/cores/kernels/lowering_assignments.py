"""Assignments of the kernel language: to names, to several at once, to elements behind a pointer."""

import ast

from tensim.sim.cores.kernels.api import ANY_ROLE
from tensim.sim.cores.kernels.lowering_part import Part
from tensim.sim.cores.kernels.lowering_values import Int, Record
from tensim.sim.cores.operations import Op


class Assignments(Part):
    """Statements that assign."""

    def assign(self, node):
        if len(node.targets) != 1:
            self.emitter.refuse(node, "a chained assignment is not part of the kernel language")
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            self._assign_tuple(target, node)
        elif isinstance(target, ast.Subscript):
            self._assign_element(target, self.expressions.integer(node.value), node)
        else:
            self._assign_name(target, self.expressions.expression(node.value), node)

    def _assign_name(self, target, value, node):
        if not isinstance(target, ast.Name):
            self.emitter.refuse(node, f"{ast.unparse(target)} cannot be assigned")
        name = target.id
        if self.emitter.scope.is_library and name.startswith("state_"):
            self.variables.set_state(name.removeprefix("state_"), value)
        else:
            self.variables.bind(name, value, node)

    def _assign_tuple(self, target, node):
        if isinstance(node.value, ast.Tuple):
            items = [self._snapshot(self.expressions.expression(item)) for item in node.value.elts]
        else:
            value = self.expressions.expression(node.value)
            if not (isinstance(value, Record) and value.kind == "tuple"):
                self.emitter.refuse(node, "several names need several values")
            items = list(value.fields)
        if len(items) != len(target.elts):
            self.emitter.refuse(node, f"{len(target.elts)} names for {len(items)} values")
        for name, item in zip(target.elts, items, strict=True):
            if isinstance(name, ast.Subscript):
                self._assign_element(name, self.expressions.as_integer(item, node), node)
            else:
                self._assign_name(name, item, node)

    def _snapshot(self, value):
        """The value as it is now, whatever is assigned afterwards."""
        if isinstance(value, Int):
            return value if value.constant is not None else self.variables.kept(value)
        return Record(value.kind, tuple(self._snapshot(item) for item in value.fields), value.type)

    def _assign_element(self, target, value, node):
        value = self.variables.atom(value)
        address, pointer = self.elements.element(target)
        self._store_element(address, pointer, value)

    def _store_element(self, address, pointer, value):
        self.emitter.decide(address, "an address")
        if address.control:
            self.emitter.decide(value, "a semaphore or an argument")
        self.emitter.post([(ANY_ROLE, Op.STORE, [address.number, value.number, str(pointer.type[0])])])

    def annotated(self, node):
        if node.value is not None:
            self._assign_name(node.target, self.expressions.expression(node.value), node)

    def augmented(self, node):
        if isinstance(node.target, ast.Subscript):
            address, pointer = self.elements.element(node.target)
            address = self.variables.atom(address)
            old = self.elements.load(address, pointer, node)
            self._store_element(
                address, pointer, self.expressions.binary(node.op, old, self.expressions.integer(node.value), node)
            )
            return
        if not isinstance(node.target, ast.Name):
            self.emitter.refuse(node, f"{ast.unparse(node.target)} cannot be assigned")
        tree = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        for child in (tree, tree.left):
            ast.copy_location(child, node)
        self._assign_name(node.target, self.expressions.expression(tree), node)
