"""Loops of the kernel language: their rounds, their tests, what leaves them."""

import ast
from contextlib import contextmanager

from tensim.sim.cores.kernels.lowering_part import Part
from tensim.sim.cores.kernels.lowering_values import Int, Loop, literal

INSTRUCTION_BYTES = 4  # of an estimate of the RISC-V binary
SMALL_LOOP = 2048  # bytes of code that every instruction cache is taken to hold


class Loops(Part):
    """`while`, `for` over `range`, and the statements that leave a round."""

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
            self.may_leave()

    def may_leave(self):
        if self.emitter.loops:
            self.emitter.loops[-1].skipped = True

    def while_loop(self, node):
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
                self.statements.body(node.body)
        else:
            self.emitter.polls.add(node.test.lineno)
            self.emitter.emit("while True:")
            with self._loop():
                self.emitter.replay(captured)
                self.emitter.flush()
                self.emitter.emit(f"if not {test.text}:")
                self.emitter.emit("    break")
                self.statements.body(node.body)
        self._after_loop(node)

    def for_loop(self, node):
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
        counter = self.variables.kept(start)
        stop, step = (
            bound if self.variables.is_stable(bound) else self.variables.kept(bound) for bound in (stop, step)
        )
        self.emitter.flush()
        if step.constant is None:
            self.emitter.stop_if(f"{step.text} == 0", "range() with a step of zero")
        self.emitter.emit(f"while {self._goes_on(counter.text, stop.text, step)}:")
        with self._loop():
            self.emitter.cost("alu")
            self.variables.bind(node.target.id, Int(counter.text), node)
            self.emitter.emit(f"{counter.text} = {counter.text} + {step.text}")
            self.statements.body(node.body)
        self._after_loop(node)

    @staticmethod
    def _goes_on(counter, stop, step):
        if step.constant is None:
            return f"({counter} < {stop} if {step.text} > 0 else {counter} > {stop})"
        return f"{counter} {'<' if step.constant > 0 else '>'} {stop}"

    def break_(self, node):
        self._leave_round(node)
        self.emitter.emit("break")
        self.emitter.terminated = True

    def continue_(self, node):
        self._leave_round(node)
        self.emitter.loops[-1].skipped = True
        self.emitter.emit("continue")
        self.emitter.terminated = True

    def _leave_round(self, node):
        if not self.emitter.scope.loops:
            self.emitter.refuse(node, f"{ast.unparse(node)} outside of a loop")
        self.emitter.end_zones(self.emitter.loops[-1].zones)
        self.emitter.flush()
