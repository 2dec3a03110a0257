"""From a kernel's syntax tree to the source of a generator that posts operations.

Calls that post operations are taken out of expressions in evaluation order; helper functions are inlined under new
names; plain code is charged from the cost words of the context block; every loop that may run without an operation
spends fuel, so that the machine's cycle limit ends an endless one.  The work is layered: `lowering_emit` (output and
costs), `lowering_expressions`, `lowering_calls`, and here statements and the driver.
"""

import ast
import re
from contextlib import contextmanager
from dataclasses import dataclass

from tensim.sim.cores.kernels.api import ANY_ROLE, STATES
from tensim.sim.cores.kernels.lowering_calls import Calls, returns_in_tail
from tensim.sim.cores.kernels.lowering_emit import Emitter, Facts, refuse
from tensim.sim.cores.kernels.lowering_values import Int, Loop, Record, Scope, literal
from tensim.sim.cores.kernels.names import DeviceFunction, parse_define
from tensim.sim.cores.operations import Op

MAX_PASSES = 8
INSTRUCTION_BYTES, POST_BYTES, BASE_BYTES = (
    4,
    48,
    256,
)  # estimate of the RISC-V binary: text of plain code, calls, start
SMALL_LOOP = 2048  # bytes of code that every instruction cache is taken to hold
RUNTIME = (
    "runtime_arg common_arg compile_arg cb_word word spend floor_div floor_mod noc_address own_address multicast_address "
    "bank_address aligned_page interleaved_address accessor_length accessor_address accessor_page shard_address shard_bytes "
    "dspec_word accessor_banks is_own_tile page_bank page_offset add subtract multiply await_load fetch"
).split()


@dataclass(frozen=True)
class Lowered:
    """A rewritten kernel: generated source and the tables its operations refer to."""

    source: str
    lines: dict
    messages: list
    zones: list
    text_bytes: int
    loaded_data_reaches_control: str | None
    possible_roles: int
    api_calls: frozenset


def lower(tree, file, names, defines=None, named_args=None, lenient=False):
    """Rewrite a kernel.  `lenient`: names that are not known yet are let through (check at decoration)."""
    facts = Facts()
    for _ in range(MAX_PASSES):
        before = facts.snapshot()
        result = Lowering(tree, file, names, defines or {}, named_args or {}, facts, lenient).run()
        if facts.snapshot() == before:
            return result
    refuse(file, tree.lineno, "the analysis of the kernel's data flow does not converge", kernel=tree.name)


class Lowering(Calls):
    """One pass over one kernel."""

    def __init__(self, tree, file, names, defines, named_args, facts, lenient):
        Emitter.__init__(self, tree.name, file, facts, lenient)
        self.tree, self.defines, self.named_args = tree, defines, named_args
        self.stack, self.inlined, self.hoist_lines = [], 0, {}
        self.scope = Scope("v_", tree.name, file, names, self.count_stores(tree))
        self.line = tree.lineno

    def run(self):
        self.stack.append(self.scope)
        self.note_lines(self.tree, self.file)
        self._parameters()
        tail = returns_in_tail(self.tree.body)
        self.scope.exits = any(statement not in tail for statement in self._returns(self.tree))
        self.function_body(self.tree)
        self._end()
        return Lowered(
            source=self._source(),
            lines=self.source_lines,
            messages=self.messages,
            zones=self.zones,
            text_bytes=BASE_BYTES + INSTRUCTION_BYTES * self.plain_instructions + POST_BYTES * self.yields,
            loaded_data_reaches_control=self.control_reason,
            possible_roles=self.facts.possible,
            api_calls=frozenset(self.api_calls),
        )

    @property
    def plain_instructions(self):
        """RISC-V instructions so far, without those of operations."""
        return self.instructions + self.pending.total() - self.pending["mul_use"]

    def _parameters(self):
        """Parameters are the unique runtime arguments, loaded at the start."""
        arguments = self.tree.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults or arguments.posonlyargs:
            self.refuse(self.tree, "a kernel takes plain positional parameters: its unique runtime arguments")
        for i, argument in enumerate(arguments.args):
            self.scope.stores[argument.arg] += 1
            self.cost("load")
            self.bind(argument.arg, Int(f"runtime_arg(ctx, {i}, {self.line})"), argument)

    def _end(self):
        """Plain code behind the last operation still takes its time."""
        self.flush()
        self.lines += self.fuel_check(0)

    def _source(self):
        body = "\n".join(self.lines)
        hoisted = [f"    {name} = {text}" for text, name in self.hoisted.items()]
        states = [f"    s_{name} = {STATES[name]}" for name in sorted(self.facts.states)]
        ready = [f"    {name} = 0" for name in sorted(self.ready)]
        text = "\n".join(["def generated(ctx):", *hoisted, *states, *ready, body])
        used = set(re.findall(r"\b([a-z_]+)\(", text))
        posts = sorted({int(count) for count in re.findall(r"\bpost(\d+)\(", text)})
        head = [
            "from tensim.sim.cores.kernels import kernel_runtime as rt",
            "from tensim.sim.engine.memory import load_i64",
            "",
        ]
        head += [f"{name} = rt.{name}" for name in RUNTIME if name in used]
        head += [f"post{count} = rt.POSTS[{count}]" for count in posts]
        return "\n".join([*head, "", "", text, ""])

    # --- bodies

    def function_body(self, tree):
        """A function's statements; with early returns they stand in a loop of one round that `return` leaves."""
        scope = self.scope
        if not scope.exits:
            self.body(tree.body)
            self.terminated = False
            return
        if self._returns_from_loop(tree.body):
            self.emit(f"{scope.prefix}out = 0")
        self.flush()
        self.emit("while True:")
        with self.block(conditional=False):
            self.body(tree.body)
            if not self.terminated:
                self.end_zones(scope.zones)
                self.flush()
                self.emit("break")
                self.terminated = True

    @staticmethod
    def _returns_from_loop(body):
        loops = (node for statement in body for node in ast.walk(statement) if isinstance(node, (ast.For, ast.While)))
        return any(isinstance(node, ast.Return) for loop in loops for node in ast.walk(loop))

    def body(self, statements):
        for statement in statements:
            if self.terminated:
                return
            self.statement(statement)

    def statement(self, node):
        scope = self.scope
        self.line = node.lineno if scope.line is None else scope.line
        handler = getattr(self, f"_do_{type(node).__name__}", None)
        if handler is None:
            self.refuse(node, f"{type(node).__name__} is not part of the kernel language")
        handler(node)

    def _do_Pass(self, node):
        """Nothing."""

    def _do_Expr(self, node):
        value = node.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return
        if isinstance(value, ast.Name) and value.id in self.defines and value.id not in self.scope.names:
            self._statements_of_define(value)
            return
        if not isinstance(value, ast.Call):
            if self.lenient and isinstance(value, ast.Name):
                return
            self.refuse(node, "this expression has no effect")
        self.call(value)

    def _statements_of_define(self, node):
        """A define that stands for statements, such as SFPU_OP_CHAIN_0; it may name further defines."""
        names = parse_define(self.defines[node.id]).split()
        if len(names) > 1 and all(name in self.defines and name != node.id for name in names):
            for name in names:
                self._statements_of_define(ast.copy_location(ast.Name(name, ast.Load()), node))
            return
        try:
            statements = ast.parse(parse_define(self.defines[node.id])).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.refuse(node, f"define {node.id}={self.defines[node.id]!r} is not a list of calls")
        for statement in statements:
            for child in ast.walk(statement):
                ast.copy_location(child, node)
                if isinstance(child, ast.Name) and child.id == node.id:
                    self.refuse(node, f"define {node.id} refers to itself")
            self.statement(statement)

    # --- assignments

    def _do_Assign(self, node):
        if len(node.targets) != 1:
            self.refuse(node, "a chained assignment is not part of the kernel language")
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            self._assign_tuple(target, node)
        elif isinstance(target, ast.Subscript):
            self._assign_element(target, self.integer(node.value), node)
        else:
            self._assign_name(target, self.expression(node.value), node)

    def _assign_name(self, target, value, node):
        if not isinstance(target, ast.Name):
            self.refuse(node, f"{ast.unparse(target)} cannot be assigned")
        name = target.id
        if self.scope.is_library and name.startswith("state_"):
            self.set_state(name.removeprefix("state_"), value)
        else:
            self.bind(name, value, node)

    def _assign_tuple(self, target, node):
        if isinstance(node.value, ast.Tuple):
            items = [self._snapshot(self.expression(item)) for item in node.value.elts]
        else:
            value = self.expression(node.value)
            if not (isinstance(value, Record) and value.kind == "tuple"):
                self.refuse(node, "several names need several values")
            items = list(value.fields)
        if len(items) != len(target.elts):
            self.refuse(node, f"{len(target.elts)} names for {len(items)} values")
        for name, item in zip(target.elts, items, strict=True):
            if isinstance(name, ast.Subscript):
                self._assign_element(name, self.as_integer(item, node), node)
            else:
                self._assign_name(name, item, node)

    def _snapshot(self, value):
        """The value as it is now, whatever is assigned afterwards."""
        if isinstance(value, Int):
            return value if value.constant is not None else self.kept(value)
        return Record(value.kind, tuple(self._snapshot(item) for item in value.fields), value.type)

    def _assign_element(self, target, value, node):
        value = self.atom(value)
        address, pointer = self.element(target)
        self._store_element(address, pointer, value)

    def _store_element(self, address, pointer, value):
        self.decide(address, "an address")
        if address.control:
            self.decide(value, "a semaphore or an argument")
        self.post([(ANY_ROLE, Op.STORE, [address.number, value.number, str(pointer.type[0])])])

    def _do_AnnAssign(self, node):
        if node.value is not None:
            self._assign_name(node.target, self.expression(node.value), node)

    def _do_AugAssign(self, node):
        if isinstance(node.target, ast.Subscript):
            address, pointer = self.element(node.target)
            address = self.atom(address)
            old = self.load(address, pointer, node)
            self._store_element(address, pointer, self.binary(node.op, old, self.integer(node.value), node))
            return
        if not isinstance(node.target, ast.Name):
            self.refuse(node, f"{ast.unparse(node.target)} cannot be assigned")
        tree = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        for child in (tree, tree.left):
            ast.copy_location(child, node)
        self._assign_name(node.target, self.expression(tree), node)

    # --- branches

    def _do_If(self, node):
        test = self.branch_test(node.test)
        if test.constant is not None:
            self.body(node.body if test.constant else node.orelse)
            return
        self.decide(test, "a branch")
        self.cost("branch", test)
        self.flush()
        self.emit(f"if {test.text}:")
        ends = []
        for statements in (node.body, node.orelse):
            if not statements:
                ends.append(False)
                continue
            if statements is node.orelse:
                self.emit("else:")
            with self.block():
                self.body(statements)
                ends.append(self.terminated)
        self.terminated = all(ends)

    def _do_With(self, node):
        """`with DeviceZoneScopedN("name"):` is the one context manager of the language."""
        call = node.items[0].context_expr
        is_zone = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "DeviceZoneScopedN"
        if not is_zone or len(node.items) > 1 or node.items[0].optional_vars:
            self.refuse(node, "with is not part of the kernel language", 'except `with DeviceZoneScopedN("name"):`')
        zones = len(self.open_zones)
        self.call(call)
        self.body(node.body)
        if not self.terminated:
            self.end_zones(zones)
        del self.open_zones[zones:]

    # --- loops

    @contextmanager
    def _loop(self):
        """Inside of a loop: its state, its cost, and the fuel check at its top if a round may pass without operation."""
        scope = self.scope
        with self.block():
            loop = Loop(self.depth, len(self.open_zones), scope)
            self.loops.append(loop)
            scope.loops += 1
            top, before, calls = len(self.lines), self.plain_instructions, self.calls.copy()
            self.cost("branch")
            yield
            instructions = self.plain_instructions - before + max((self.calls - calls).values(), default=0)
            if not self.terminated and (size := INSTRUCTION_BYTES * instructions) > SMALL_LOOP:
                self.flush()
                self.emit(f"fetch(ctx, {size})")
            if self.facts.possible & ~loop.certain:
                self.lines[top:top] = self.fuel_check()
            scope.loops -= 1
            self.loops.pop()

    def _after_loop(self, node):
        """Leave the function's outer loop too when the loop was left by `return`."""
        if any(isinstance(child, ast.Return) for child in ast.walk(node)):
            self.emit(f"if {self.scope.prefix}out:")
            self.emit("    break")
            self._may_leave()

    def _may_leave(self):
        if self.loops:
            self.loops[-1].skipped = True

    def _do_While(self, node):
        if node.orelse:
            self.refuse(node, "while ... else is not part of the kernel language")
        self.flush()
        self.scope.loops += 1  # the test may use what an earlier round has assigned
        with self.capture() as captured:
            test = self.branch_test(node.test)
        self.scope.loops -= 1
        if test.constant == 0 and captured.is_pure:
            return
        self.decide(test, "a loop")
        if captured.is_pure:
            self.emit(f"while {test.text}:")
            with self._loop():
                self.charge(captured)
                self.body(node.body)
        else:
            self.emit("while True:")
            with self._loop():
                self.replay(captured)
                self.flush()
                self.emit(f"if not {test.text}:")
                self.emit("    break")
                self.body(node.body)
        self._after_loop(node)

    def _do_For(self, node):
        call = node.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
            self.refuse(node, "a kernel loops over range(...) only")
        if node.orelse or not isinstance(node.target, ast.Name) or call.keywords or not 1 <= len(call.args) <= 3:
            self.refuse(node, "a for loop has the form `for name in range(start, stop, step)`")
        bounds = [self.integer(argument) for argument in call.args]
        start, stop = (literal(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) == 3 else literal(1)
        if step.constant == 0:
            self.refuse(node, "range() with a step of zero")
        for bound in (start, stop, step):
            self.decide(bound, "a loop bound")
        counter = self.kept(start)
        stop, step = (bound if self.is_stable(bound) else self.kept(bound) for bound in (stop, step))
        self.flush()
        self.emit(f"while {self._goes_on(counter.text, stop.text, step)}:")
        with self._loop():
            self.cost("alu")
            self.bind(node.target.id, Int(counter.text), node)
            self.emit(f"{counter.text} = {counter.text} + {step.text}")
            self.body(node.body)
        self._after_loop(node)

    @staticmethod
    def _goes_on(counter, stop, step):
        if step.constant is None:
            return f"({counter} < {stop} if {step.text} > 0 else {counter} > {stop})"
        return f"{counter} {'<' if step.constant > 0 else '>'} {stop}"

    def _do_Break(self, node):
        self._leave_round(node)
        self.emit("break")
        self.terminated = True

    def _do_Continue(self, node):
        self._leave_round(node)
        self.loops[-1].skipped = True
        self.emit("continue")
        self.terminated = True

    def _leave_round(self, node):
        if not self.scope.loops:
            self.refuse(node, f"{ast.unparse(node)} outside of a loop")
        self.end_zones(self.loops[-1].zones)
        self.flush()

    # --- leaving

    def _do_Return(self, node):
        scope = self.scope
        if scope.result is None and node.value is not None:
            self.refuse(node, "a kernel returns nothing")
        if node.value is not None:
            self.bind(scope.result, self._return_value(node.value), node)
        self.end_zones(scope.zones)
        self.flush()
        self.terminated = True
        if not scope.exits:
            return
        if scope.loops:
            self.emit(f"{scope.prefix}out = 1")
        self.emit("break")
        self._may_leave()

    def _return_value(self, node):
        if not isinstance(node, ast.Tuple):
            return self.expression(node)
        return Record("tuple", tuple(self.integer(item) for item in node.elts))

    def _do_Assert(self, node):
        self.check(node, node.test, node.msg)

    def check(self, node, test, message):
        """Stop the program unless `test` holds."""
        value = self.integer(test)
        if value.constant:
            return
        self.decide(value, "an assertion")
        self.cost("branch", value)
        self.flush()
        self.emit(f"if not {value.text}:")
        with self.block():
            self._fail(message, f"assertion failed: {ast.unparse(test)}")

    def _do_Raise(self, node):
        exception = node.exc
        message = exception.args[0] if isinstance(exception, ast.Call) and exception.args else None
        self._fail(message, f"raised {ast.unparse(exception)}" if exception else "raised")

    def _fail(self, message, default):
        text = message.value if isinstance(message, ast.Constant) else ast.unparse(message) if message else default
        self.messages.append(str(text))
        self.post([(ANY_ROLE, Op.FAIL, [str(len(self.messages) - 1)])])
        self.emit("return")
        self.terminated = True


def reachable_helpers(tree, names):
    """Device functions that a function calls, directly or through others."""
    found, open_trees = {}, [(tree, names)]
    while open_trees:
        tree, names = open_trees.pop()
        for node in ast.walk(tree):
            target = names.resolve(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
            if not isinstance(target, DeviceFunction) or found.get(target.name) is target:
                continue
            if target.name in found:
                refuse(target.file, target.tree.lineno, f"two device functions are called {target.name}")
            found[target.name] = target
            open_trees.append((target.tree, target.names))
    return list(found.values())
