"""From a kernel's syntax tree to the source of a generator that posts operations.

Calls that post operations are taken out of expressions in evaluation order; helper functions are inlined under new
names; plain code is charged from the cost words of the context block; every loop that may run without an operation
spends fuel, so that the machine's cycle limit ends an endless one.  `lowering_emit` writes lines and costs; the parts that
use it are the kernel language's statements, expressions and calls (`lowering_calls` finds the part that lowers each), the
arguments of calls, and the inlining of helpers.
"""

import ast
import re

from tensim.sim.cores.kernels.api import STATES
from tensim.sim.cores.kernels.lowering_accessors import Distributions
from tensim.sim.cores.kernels.lowering_addresses import Addresses
from tensim.sim.cores.kernels.lowering_arguments import Arguments
from tensim.sim.cores.kernels.lowering_assignments import Assignments
from tensim.sim.cores.kernels.lowering_budget import refuse
from tensim.sim.cores.kernels.lowering_calls import Calls
from tensim.sim.cores.kernels.lowering_elements import Elements
from tensim.sim.cores.kernels.lowering_emit import Emitter, Facts
from tensim.sim.cores.kernels.lowering_expressions import Expressions
from tensim.sim.cores.kernels.lowering_inlining import Inlining, count_stores, returns_in_tail, returns_of
from tensim.sim.cores.kernels.lowering_loops import INSTRUCTION_BYTES, Loops
from tensim.sim.cores.kernels.lowering_operations import Operations
from tensim.sim.cores.kernels.lowering_statements import Statements
from tensim.sim.cores.kernels.lowering_values import Int, Scope
from tensim.sim.cores.kernels.names import DeviceFunction
from tensim.sim.lazy_dataclass import dataclass

MAX_PASSES = 8
POST_BYTES, BASE_BYTES = 48, 256  # of an estimate of the RISC-V binary: a call, the start
RUNTIME = (
    "runtime_arg common_arg compile_arg cb_word word spend floor_div floor_mod noc_address own_address multicast_address "
    "bank_address aligned_page interleaved_address accessor_length accessor_address accessor_page shard_address shard_bytes "
    "accessor_rank accessor_banks accessor_volume dimension is_own_tile page_bank page_offset add subtract multiply "
    "await_load fetch"
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
    home: tuple | None
    api_calls: frozenset
    polls: frozenset
    arguments: object  # `tensim.sim.cores.kernels.lowering_values.ReadArguments`


def lower(tree, file, names, defines=None, named_args=None, lenient=False):
    """Rewrite a kernel.  `lenient`: names that are not known yet are let through (check at decoration)."""
    facts = Facts()
    for _ in range(MAX_PASSES):
        before = facts.snapshot()
        result = Lowering(tree, file, names, defines or {}, named_args or {}, facts, lenient).run()
        if facts.snapshot() == before:
            return result
    refuse(file, tree.lineno, "the analysis of the kernel's data flow does not converge", kernel=tree.name)


class Lowering:
    """One pass over one kernel: the output (`emitter`), and the parts that write to it."""

    def __init__(self, tree, file, names, defines, named_args, facts, lenient):
        self.tree, self.emitter = tree, Emitter(tree.name, file, defines, named_args, facts, lenient)
        self.expressions, self.arguments, self.operations = Expressions(self), Arguments(self), Operations(self)
        self.inlining, self.elements = Inlining(self), Elements(self)
        self.assignments, self.loops = Assignments(self), Loops(self)
        self.statements = Statements(self)
        self.calls = Calls(self)
        self.addresses, self.distributions = self.calls.handlers[Addresses], self.calls.handlers[Distributions]
        self.emitter.scope = Scope("v_", tree.name, file, names, count_stores(tree))
        self.emitter.line = tree.lineno

    def run(self):
        """The rewritten kernel."""
        emitter = self.emitter
        self.inlining.stack.append(emitter.scope)
        emitter.note_lines(self.tree, emitter.file)
        self._parameters()
        tail = returns_in_tail(self.tree.body)
        emitter.scope.exits = any(statement not in tail for statement in returns_of(self.tree))
        self.statements.function_body(self.tree)
        self._end()
        return Lowered(
            source=self._source(),
            lines=emitter.source_lines,
            messages=emitter.messages,
            zones=emitter.zones,
            text_bytes=BASE_BYTES + INSTRUCTION_BYTES * emitter.plain_instructions + POST_BYTES * emitter.yields,
            loaded_data_reaches_control=emitter.control_reason,
            possible_roles=emitter.facts.possible,
            home=emitter.facts.home,
            api_calls=frozenset(emitter.api_calls),
            polls=frozenset(emitter.polls),
            arguments=emitter.arguments,
        )

    def _parameters(self):
        """Parameters are the unique runtime arguments, loaded at the start."""
        arguments = self.tree.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults or arguments.posonlyargs:
            self.emitter.refuse(self.tree, "a kernel takes plain positional parameters: its unique runtime arguments")
        loaded = {
            node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        for i, argument in enumerate(arguments.args):
            if argument.arg in loaded or argument.arg.startswith("_"):
                self.emitter.arguments.read.add(i)
            self.emitter.arguments.names.append(argument.arg)
            self.emitter.scope.stores[argument.arg] += 1
            self.emitter.cost("load")
            self.emitter.variables.bind(argument.arg, Int(f"runtime_arg(ctx, {i}, {self.emitter.line})"), argument)

    def _end(self):
        """Plain code behind the last operation still takes its time."""
        self.emitter.flush()
        self.emitter.lines += self.emitter.fuel_check(0)

    def _source(self):
        body = "\n".join(self.emitter.lines)
        hoisted = [f"    {name} = {text}" for text, name in self.emitter.variables.hoisted.items()]
        states = [f"    s_{name} = {STATES[name]}" for name in sorted(self.emitter.facts.states)]
        ready = [f"    {name} = 0" for name in sorted(self.emitter.ready)]
        unsure = [f"    u_{name} = 0" for name in sorted(self.emitter.facts.unsure)]
        text = "\n".join(["def generated(ctx):", *hoisted, *states, *ready, *unsure, body])
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
