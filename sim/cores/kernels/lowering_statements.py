"""Statements of the kernel language: assignments, branches, loops, returns, assertions."""

import ast

from tensim.sim.cores.kernels.api import ANY_ROLE
from tensim.sim.cores.kernels.lowering_budget import DEFINE_STEP
from tensim.sim.cores.kernels.lowering_part import Part
from tensim.sim.cores.kernels.lowering_values import Record
from tensim.sim.cores.kernels.names import parse_define
from tensim.sim.cores.operations import Op


class Statements(Part):
    """The bodies of a kernel and of the helpers inlined into it."""

    def __init__(self, lowering):
        super().__init__(lowering)
        assignments, loops = lowering.assignments, lowering.loops
        self._handlers = {
            ast.Pass: self._pass, ast.Expr: self._expression, ast.If: self._if, ast.With: self._with, ast.Return: self._return,
            ast.Assert: self._assert, ast.Raise: self._raise,
            ast.Assign: assignments.assign, ast.AnnAssign: assignments.annotated, ast.AugAssign: assignments.augmented,
            ast.While: loops.while_loop, ast.For: loops.for_loop, ast.Break: loops.break_, ast.Continue: loops.continue_,
        }  # fmt: skip

    def function_body(self, tree):
        """A function's statements; with early returns they stand in a loop of one round that `return` leaves."""
        scope = self.emitter.scope
        if not scope.exits:
            self.body(tree.body)
            self.emitter.terminated = False
            return
        if self._returns_from_loop(tree.body):
            self.emitter.emit(f"{scope.prefix}out = 0")
        self.emitter.flush()
        self.emitter.emit("while True:")
        with self.emitter.block(conditional=False):
            self.body(tree.body)
            if not self.emitter.terminated:
                self.emitter.end_zones(scope.zones)
                self.emitter.flush()
                self.emitter.emit("break")
                self.emitter.terminated = True

    @staticmethod
    def _returns_from_loop(body):
        loops = (node for statement in body for node in ast.walk(statement) if isinstance(node, (ast.For, ast.While)))
        return any(isinstance(node, ast.Return) for loop in loops for node in ast.walk(loop))

    def body(self, statements):
        for statement in statements:
            if self.emitter.terminated:
                return
            self.statement(statement)

    def statement(self, node):
        scope = self.emitter.scope
        self.emitter.line = node.lineno if scope.line is None else scope.line
        handler = self._handlers.get(type(node))
        if handler is None:
            self.emitter.refuse(node, f"{type(node).__name__} is not part of the kernel language")
        self.emitter.budget.step()
        terms, self.emitter.budget.terms = self.emitter.budget.terms, 0
        handler(node)
        self.emitter.budget.terms = terms

    def _pass(self, node):
        """Nothing."""

    def _expression(self, node):
        value = node.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return
        if (
            isinstance(value, ast.Name)
            and value.id in self.emitter.defines
            and value.id not in self.emitter.scope.names
        ):
            self._statements_of_define(value)
            return
        if not isinstance(value, ast.Call):
            if self.emitter.lenient and isinstance(value, ast.Name):
                return
            self.emitter.refuse(node, "this expression has no effect")
        self.calls.call(value)

    def _statements_of_define(self, node):
        """A define that stands for statements, such as SFPU_OP_CHAIN_0; it may name further defines."""
        self.emitter.budget.step()
        names = parse_define(self.emitter.defines[node.id]).split()
        if len(names) > 1 and all(name in self.emitter.defines and name != node.id for name in names):
            for name in names:
                self._statements_of_define(ast.copy_location(ast.Name(name, ast.Load()), node))
            return
        self.emitter.budget.step(len(self.emitter.defines[node.id]) // DEFINE_STEP)
        try:
            statements = ast.parse(parse_define(self.emitter.defines[node.id])).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.emitter.refuse(node, f"define {node.id}={self.emitter.defines[node.id]!r} is not a list of calls")
        for statement in statements:
            for child in ast.walk(statement):
                ast.copy_location(child, node)
                if isinstance(child, ast.Name) and child.id == node.id:
                    self.emitter.refuse(node, f"define {node.id} refers to itself")
            self.statement(statement)

    def _if(self, node):
        test = self.expressions.branch_test(node.test)
        if test.constant is not None:
            self.body(node.body if test.constant else node.orelse)
            return
        self.emitter.decide(test, "a branch")
        self.emitter.cost("branch", test)
        self.emitter.flush()
        self.emitter.emit(f"if {test.text}:")
        ends, scope, before, after = [], self.emitter.scope, self.emitter.scope.assigned, []
        for statements in (node.body, node.orelse):
            scope.assigned = set(before)
            if not statements:
                ends.append(False)
                after.append(scope.assigned)
                continue
            if statements is node.orelse:
                self.emitter.emit("else:")
            with self.emitter.block():
                self.body(statements)
                ends.append(self.emitter.terminated)
            if not ends[-1]:
                after.append(scope.assigned)
        scope.assigned = set.intersection(*after) if after else set(before)
        self.emitter.terminated = all(ends)

    def _with(self, node):
        """`with DeviceZoneScopedN("name"):` is the one context manager of the language."""
        call = node.items[0].context_expr
        is_zone = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "DeviceZoneScopedN"
        if not is_zone or len(node.items) > 1 or node.items[0].optional_vars:
            self.emitter.refuse(
                node, "with is not part of the kernel language", 'except `with DeviceZoneScopedN("name"):`'
            )
        zones = len(self.emitter.open_zones)
        self.calls.call(call)
        self.body(node.body)
        if not self.emitter.terminated:
            self.emitter.end_zones(zones)
        del self.emitter.open_zones[zones:]

    def _return(self, node):
        scope = self.emitter.scope
        if scope.result is None and node.value is not None:
            self.emitter.refuse(node, "a kernel returns nothing")
        if node.value is not None:
            self.variables.bind(scope.result, self._return_value(node.value), node)
        self.emitter.end_zones(scope.zones)
        self.emitter.flush()
        self.emitter.terminated = True
        if not scope.exits:
            return
        if scope.loops:
            self.emitter.emit(f"{scope.prefix}out = 1")
        self.emitter.emit("break")
        self.loops.may_leave()

    def _return_value(self, node):
        if not isinstance(node, ast.Tuple):
            return self.expressions.expression(node)
        return Record("tuple", tuple(self.expressions.integer(item) for item in node.elts))

    def _assert(self, node):
        self.check(node, node.test, node.msg)

    def check(self, node, test, message):
        """Stop the program unless `test` holds."""
        value = self.expressions.integer(test)
        if value.constant:
            return
        self.emitter.decide(value, "an assertion")
        self.emitter.cost("branch", value)
        self.emitter.flush()
        self.emitter.emit(f"if not {value.text}:")
        with self.emitter.block():
            self._fail(message, f"assertion failed: {ast.unparse(test)}")

    def _raise(self, node):
        exception = node.exc
        message = exception.args[0] if isinstance(exception, ast.Call) and exception.args else None
        self._fail(message, f"raised {ast.unparse(exception)}" if exception else "raised")

    def _fail(self, message, default):
        text = message.value if isinstance(message, ast.Constant) else ast.unparse(message) if message else default
        self.emitter.messages.append(str(text))
        self.emitter.post([(ANY_ROLE, Op.FAIL, [str(len(self.emitter.messages) - 1)])])
        self.emitter.emit("return")
        self.emitter.terminated = True
