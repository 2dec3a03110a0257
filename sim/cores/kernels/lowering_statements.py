"""Statements of the kernel language: assignments, branches, loops, returns, assertions."""

import ast
from contextlib import contextmanager

from tensim.sim.cores.kernels.api import ANY_ROLE
from tensim.sim.cores.kernels.lowering_emit import DEFINE_STEP
from tensim.sim.cores.kernels.lowering_part import Part
from tensim.sim.cores.kernels.lowering_values import Int, Loop, Record, literal
from tensim.sim.cores.kernels.names import parse_define
from tensim.sim.cores.operations import Op

INSTRUCTION_BYTES = 4  # of an estimate of the RISC-V binary
SMALL_LOOP = 2048  # bytes of code that every instruction cache is taken to hold


class Statements(Part):
    """The bodies of a kernel and of the helpers inlined into it."""

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
        handler = getattr(self, f"_do_{type(node).__name__}", None)
        if handler is None:
            self.emitter.refuse(node, f"{type(node).__name__} is not part of the kernel language")
        self.emitter.step()
        terms, self.emitter.terms = self.emitter.terms, 0
        handler(node)
        self.emitter.terms = terms

    def _do_Pass(self, node):
        """Nothing."""

    def _do_Expr(self, node):
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
        self.emitter.step()
        names = parse_define(self.emitter.defines[node.id]).split()
        if len(names) > 1 and all(name in self.emitter.defines and name != node.id for name in names):
            for name in names:
                self._statements_of_define(ast.copy_location(ast.Name(name, ast.Load()), node))
            return
        self.emitter.step(len(self.emitter.defines[node.id]) // DEFINE_STEP)
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

    def _do_Assign(self, node):
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
            self.emitter.set_state(name.removeprefix("state_"), value)
        else:
            self.emitter.bind(name, value, node)

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
            return value if value.constant is not None else self.emitter.kept(value)
        return Record(value.kind, tuple(self._snapshot(item) for item in value.fields), value.type)

    def _assign_element(self, target, value, node):
        value = self.emitter.atom(value)
        address, pointer = self.expressions.element(target)
        self._store_element(address, pointer, value)

    def _store_element(self, address, pointer, value):
        self.emitter.decide(address, "an address")
        if address.control:
            self.emitter.decide(value, "a semaphore or an argument")
        self.emitter.post([(ANY_ROLE, Op.STORE, [address.number, value.number, str(pointer.type[0])])])

    def _do_AnnAssign(self, node):
        if node.value is not None:
            self._assign_name(node.target, self.expressions.expression(node.value), node)

    def _do_AugAssign(self, node):
        if isinstance(node.target, ast.Subscript):
            address, pointer = self.expressions.element(node.target)
            address = self.emitter.atom(address)
            old = self.expressions.load(address, pointer, node)
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

    def _do_If(self, node):
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

    def _do_With(self, node):
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

    @contextmanager
    def _loop(self):
        """Inside of a loop: its state, its cost, and the fuel check at its top if a round may pass without operation."""
        scope = self.emitter.scope
        assigned = set(scope.assigned)
        with self.emitter.block():
            loop = Loop(self.emitter.depth, len(self.emitter.open_zones), scope)
            self.emitter.loops.append(loop)
            scope.loops += 1
            top, before, calls = len(self.emitter.lines), self.emitter.plain_instructions, self.emitter.posted.copy()
            self.emitter.cost("branch")
            yield
            instructions = (
                self.emitter.plain_instructions - before + max((self.emitter.posted - calls).values(), default=0)
            )
            if not self.emitter.terminated and (size := INSTRUCTION_BYTES * instructions) > SMALL_LOOP:
                self.emitter.flush()
                self.emitter.emit(f"fetch(ctx, {size})")
            if self.emitter.facts.possible & ~loop.certain:
                self.emitter.lines[top:top] = self.emitter.fuel_check()
            scope.loops -= 1
            self.emitter.loops.pop()
        scope.assigned = assigned  # the body may not have run

    def _after_loop(self, node):
        """Leave the function's outer loop too when the loop was left by `return`."""
        if any(isinstance(child, ast.Return) for child in ast.walk(node)):
            self.emitter.emit(f"if {self.emitter.scope.prefix}out:")
            self.emitter.emit("    break")
            self._may_leave()

    def _may_leave(self):
        if self.emitter.loops:
            self.emitter.loops[-1].skipped = True

    def _do_While(self, node):
        if node.orelse:
            self.emitter.refuse(node, "while ... else is not part of the kernel language")
        self.emitter.flush()
        self.emitter.scope.loops += 1  # the test may use what an earlier round has assigned
        with self.emitter.capture() as captured:
            test = self.expressions.branch_test(node.test)
        self.emitter.scope.loops -= 1
        if test.constant == 0 and captured.is_pure:
            return
        self.emitter.decide(test, "a loop")
        if captured.is_pure:
            self.emitter.emit(f"while {test.text}:")
            with self._loop():
                self.emitter.charge(captured)
                self.body(node.body)
        else:
            self.emitter.polls.add(node.test.lineno)
            self.emitter.emit("while True:")
            with self._loop():
                self.emitter.replay(captured)
                self.emitter.flush()
                self.emitter.emit(f"if not {test.text}:")
                self.emitter.emit("    break")
                self.body(node.body)
        self._after_loop(node)

    def _do_For(self, node):
        call = node.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
            self.emitter.refuse(node, "a kernel loops over range(...) only")
        if node.orelse or not isinstance(node.target, ast.Name) or call.keywords or not 1 <= len(call.args) <= 3:
            self.emitter.refuse(node, "a for loop has the form `for name in range(start, stop, step)`")
        bounds = [self.expressions.integer(argument) for argument in call.args]
        start, stop = (literal(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) == 3 else literal(1)
        if step.constant == 0:
            self.emitter.refuse(node, "range() with a step of zero")
        for bound in (start, stop, step):
            self.emitter.decide(bound, "a loop bound")
        counter = self.emitter.kept(start)
        stop, step = (bound if self.emitter.is_stable(bound) else self.emitter.kept(bound) for bound in (stop, step))
        self.emitter.flush()
        if step.constant is None:
            self.emitter.stop_if(f"{step.text} == 0", "range() with a step of zero")
        self.emitter.emit(f"while {self._goes_on(counter.text, stop.text, step)}:")
        with self._loop():
            self.emitter.cost("alu")
            self.emitter.bind(node.target.id, Int(counter.text), node)
            self.emitter.emit(f"{counter.text} = {counter.text} + {step.text}")
            self.body(node.body)
        self._after_loop(node)

    @staticmethod
    def _goes_on(counter, stop, step):
        if step.constant is None:
            return f"({counter} < {stop} if {step.text} > 0 else {counter} > {stop})"
        return f"{counter} {'<' if step.constant > 0 else '>'} {stop}"

    def _do_Break(self, node):
        self._leave_round(node)
        self.emitter.emit("break")
        self.emitter.terminated = True

    def _do_Continue(self, node):
        self._leave_round(node)
        self.emitter.loops[-1].skipped = True
        self.emitter.emit("continue")
        self.emitter.terminated = True

    def _leave_round(self, node):
        if not self.emitter.scope.loops:
            self.emitter.refuse(node, f"{ast.unparse(node)} outside of a loop")
        self.emitter.end_zones(self.emitter.loops[-1].zones)
        self.emitter.flush()

    def _do_Return(self, node):
        scope = self.emitter.scope
        if scope.result is None and node.value is not None:
            self.emitter.refuse(node, "a kernel returns nothing")
        if node.value is not None:
            self.emitter.bind(scope.result, self._return_value(node.value), node)
        self.emitter.end_zones(scope.zones)
        self.emitter.flush()
        self.emitter.terminated = True
        if not scope.exits:
            return
        if scope.loops:
            self.emitter.emit(f"{scope.prefix}out = 1")
        self.emitter.emit("break")
        self._may_leave()

    def _return_value(self, node):
        if not isinstance(node, ast.Tuple):
            return self.expressions.expression(node)
        return Record("tuple", tuple(self.expressions.integer(item) for item in node.elts))

    def _do_Assert(self, node):
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

    def _do_Raise(self, node):
        exception = node.exc
        message = exception.args[0] if isinstance(exception, ast.Call) and exception.args else None
        self._fail(message, f"raised {ast.unparse(exception)}" if exception else "raised")

    def _fail(self, message, default):
        text = message.value if isinstance(message, ast.Constant) else ast.unparse(message) if message else default
        self.emitter.messages.append(str(text))
        self.emitter.post([(ANY_ROLE, Op.FAIL, [str(len(self.emitter.messages) - 1)])])
        self.emitter.emit("return")
        self.emitter.terminated = True
