"""Helper functions put in place of their calls, under new names."""

import ast
import functools
from collections import Counter
from pathlib import Path

from tensim.sim.cores.kernels.api import REQUIRED
from tensim.sim.cores.kernels.lowering_part import Part
from tensim.sim.cores.kernels.lowering_values import Record, Scope
from tensim.sim.cores.kernels.names import DeviceFunction, ParsedNames

MAX_INLINE_DEPTH = 24
NODES_OF_A_STEP = 50  # of a helper, which is walked at each of its calls


@functools.cache
def library():
    """{name: DeviceFunction} of `library.py`."""
    path = Path(__file__).with_name("library.py")
    text = path.read_text()
    trees = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    names = ParsedNames()
    return {tree.name: DeviceFunction(tree, str(path), names) for tree in trees}


def own_nodes(tree):
    """Nodes of a function's body, without those of nested functions (which are refused anyway)."""
    for statement in tree.body:
        yield from ast.walk(statement)


def count_stores(tree):
    """How often a function's body assigns each name."""
    return Counter(
        node.id for node in own_nodes(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )


def returns_of(tree):
    """A function's return statements."""
    return [node for node in own_nodes(tree) if isinstance(node, ast.Return)]


def returns_in_tail(body):
    """Return statements that end the function without anything left to run behind them."""
    if not body:
        return set()
    last = body[-1]
    if isinstance(last, ast.Return):
        return {last}
    if isinstance(last, ast.If):
        return returns_in_tail(last.body) | returns_in_tail(last.orelse)
    return set()


def always_returns(body):
    """Whether control cannot reach the end of the body."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return always_returns(last.body) and always_returns(last.orelse)
    if isinstance(last, ast.While):
        endless = isinstance(last.test, ast.Constant) and bool(last.test.value)
        return endless and not any(isinstance(node, ast.Break) for node in ast.walk(last))
    return isinstance(last, (ast.Return, ast.Raise))


class Inlining(Part):
    """Helpers that are being inlined (`stack`: their scopes, the kernel's first), and how many have been."""

    def __init__(self, lowering):
        super().__init__(lowering)
        self.stack, self.inlined = [], 0

    def inline(self, node, function, positional, keywords):
        """Put a helper's body in place of its call, under new names; returns its value or None."""
        tree = function.tree
        self.emitter.budget.step(1 + function.size // NODES_OF_A_STEP)
        stack = [scope.function for scope in self.stack]
        if tree.name in stack or len(stack) >= MAX_INLINE_DEPTH:
            self.emitter.refuse(node, f"recursion is not possible in a kernel: {' -> '.join([*stack, tree.name])}")
        inner = self._helper_scope(function)
        self._bind_parameters(node, tree, inner, positional, keywords)
        tail, returns = returns_in_tail(tree.body), returns_of(tree)
        inner.exits = any(statement not in tail for statement in returns)
        outer, line = self.emitter.scope, self.emitter.line
        self.emitter.scope = inner
        self.stack.append(inner)
        inner.stores["return"] = len(returns)
        self.emitter.note_lines(tree, function.file)
        self.statements.function_body(tree)
        self.stack.pop()
        self.emitter.scope, self.emitter.line = outer, line
        return self._returned(node, tree, inner, returns)

    def _helper_scope(self, function):
        self.inlined += 1
        tree, is_library = function.tree, function.name in library() and function is library()[function.name]
        foreign = is_library or self.emitter.scope.is_library or function.file != self.emitter.file
        return Scope(
            prefix=f"h{self.inlined}_", function=tree.name, file=function.file, names_outside=function.names,
            stores=count_stores(tree), line=self.emitter.line if foreign else None, is_library=is_library,
            result="return", zones=len(self.emitter.open_zones),
        )  # fmt: skip

    def _bind_parameters(self, node, tree, inner, positional, keywords):
        """Evaluate the arguments in the caller, bind them in the helper; unchanged names and constants are not copied."""
        arguments = tree.args
        if arguments.vararg or arguments.kwarg or arguments.posonlyargs or arguments.kwonlyargs:
            self.emitter.refuse(node, f"{tree.name}: a device function takes plain parameters")
        names = [argument.arg for argument in arguments.args]
        defaults = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True))
        params = {name: defaults.get(name, REQUIRED) for name in names}
        bound = self.arguments.bind_arguments(node, tree.name, params, positional, keywords)
        values = {name: self.arguments.value_of(argument) for name, argument in bound.items()}
        caller, self.emitter.scope = self.emitter.scope, inner
        for name in names:
            value = values[name] if name in values else self.expressions.expression(defaults[name])
            fields = value.fields if isinstance(value, Record) else (value,)
            if inner.stores[name] == 0 and all(item.is_atom for item in fields):
                inner.names[name] = value
                inner.assigned.add(name)
            else:
                inner.stores[name] += 1
                self.variables.bind(name, value, node)
        self.emitter.scope = caller

    def _returned(self, node, tree, inner, returns):
        """The value of an inlined helper, None if it has none."""
        if all(statement.value is None for statement in returns):
            return None
        if not always_returns(tree.body):
            self.emitter.refuse(node, f"{tree.name} may end without returning a value")
        value = inner.names.get("return")
        return None if value is None else self.variables.read(value)
