"""The writing side of kernel rewriting: generated lines, plain-code costs, posted operations, what is known so far.

Generated code is one generator over the context block `ctx`.  Plain code adds its cost to the block's PENDING word
(`spend`), posting an operation carries that along, `yield` hands over to the event loop.
"""

import linecache
import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import field

from tensim.sim.cores import context as ctx
from tensim.sim.cores.kernels.api import ANY_ROLE
from tensim.sim.cores.kernels.conventions import COUNT_BITS, LINE_SHIFT, pack_counts
from tensim.sim.cores.kernels.lowering_budget import Budget, refuse
from tensim.sim.cores.kernels.lowering_values import Int, ReadArguments
from tensim.sim.cores.kernels.lowering_variables import Variables
from tensim.sim.cores.operations import Op, Role
from tensim.sim.lazy_dataclass import dataclass

ONE_INSTRUCTION = (Op.LOAD, Op.STORE, Op.TT_INSTRUCTION)
CALL_INSTRUCTIONS = 12  # estimate for every other operation
FUEL = 20_000  # cycles of plain code after which a loop reports to the event loop
INDENT = "    "
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


@dataclass
class Facts:
    """What one pass over a kernel learns for the next; passes repeat until nothing is new."""

    tainted: dict = field(default_factory=dict)  # variable -> line of the load that its value depends on
    uncontrolled: set = field(default_factory=set)  # variables that are not always a control address
    loads: dict = field(default_factory=dict)  # variable -> variables with the cycles at which its loads are there
    shapes: dict = field(default_factory=dict)  # variable -> shape of the record it holds, None for an integer
    states: set = field(default_factory=set)  # states that the kernel changes
    unsure: set = field(default_factory=set)  # variables that are used where they may have no value yet
    home: tuple | None = None  # (call, line) that decided which kind of core the kernel is for
    possible: int = ANY_ROLE  # roles that can run this kernel

    def snapshot(self):
        loads = sum(map(len, self.loads.values()))
        return (
            len(self.tainted),
            len(self.uncontrolled),
            loads,
            len(self.shapes),
            len(self.states),
            len(self.unsure),
            self.possible,
        )


class Captured:
    """Lines and costs that `Emitter.capture` kept apart."""

    lines: list
    pending: Counter
    used: set

    @property
    def is_pure(self):
        return not self.lines


class Emitter:
    """Output of one pass over one kernel."""

    def __init__(self, name, file, defines, named_args, facts, lenient):
        self.name, self.file, self.defines, self.named_args = name, file, defines, named_args
        self.facts, self.lenient = facts, lenient
        self.variables, self.budget = Variables(self), Budget(self)
        self.lines, self.indent, self.depth, self.pending = [], 1, 0, Counter()
        self.guard = None  # where the last role test ends
        self.yields, self.instructions = 0, 0
        self.posted = Counter()  # role -> instructions of the operations that it posts
        self.awaited = set()  # loads that have been waited for since the code last branched
        self.ready = set()  # variables with the cycles at which loads are there
        self.captured_uses = None  # loads that the captured code needs, while `capture` is open
        self.products = set()  # texts of the product of the last instruction, if that was a multiplication
        self.fused = None  # a comparison that is part of a branch instruction
        self.loops, self.open_zones, self.terminated, self.line = [], [], False, 0
        self.scope = None
        self.messages, self.zones, self.source_lines = [], [], {}
        self.api_calls, self.control_reason, self.arguments = set(), None, ReadArguments()
        self.polls = set()  # lines of loops whose tests load
        self.only = ANY_ROLE  # roles whose operations are wanted here: UNPACK(...), MATH(...), PACK(...)

    # --- errors and source lines

    def refuse(self, node, reason, hint=None):
        scope = self.scope
        if scope is not None and scope.is_library:
            refuse(self.file, self.line, f"{reason} (in {scope.function})", hint, self.name)
        file = scope.file if scope is not None else self.file
        refuse(file, getattr(node, "lineno", self.line), reason, hint, self.name)

    def note_lines(self, tree, file):
        """Keep the source lines of a function of the kernel's own file, for reports."""
        if file == self.file:
            for number in range(tree.lineno, tree.end_lineno + 1):
                self.source_lines[number] = linecache.getline(file, number).rstrip("\n")

    # --- lines

    def emit(self, text):
        self.lines.append(INDENT * self.indent + text)
        self.budget.refuse_lines(len(self.lines), self.indent)

    def stop_if(self, condition, message):
        """Stop the kernel with a message if a condition of generated code holds; costs nothing."""
        self.messages.append(message)
        self.emit(f"if {condition}:")
        self.emit(f"{INDENT}post1(ctx, {self.head(Op.FAIL)}, {len(self.messages) - 1})")
        self.emit(f"{INDENT}yield 0")
        self.emit(f"{INDENT}return")

    # --- costs

    def cost(self, kind, *values, count=1):
        """Charge plain code, unless everything it works on is known before the kernel starts."""
        if values and all(value.free for value in values):
            return
        self.use(*values)
        self.products.clear()
        self.pending[kind] += count
        if self.pending[kind] >= (1 << COUNT_BITS) - 64:
            self.flush()

    def loads_of(self, *values):
        """Loads from L1 that the values stand for: variables with the cycles at which they are there."""
        names = (name for value in values for name in IDENTIFIER.findall(value.text))
        return {ready for name in names for ready in self.facts.loads.get(name, ())}

    def use(self, *values):
        """An instruction works on the values: it waits for those that are still being loaded or multiplied."""
        self.await_loads(self.loads_of(*values))
        if any(value.text in self.products for value in values):
            self.pending["mul_use"] += 1

    def await_loads(self, loads):
        if self.captured_uses is not None:
            self.captured_uses |= loads
            return
        for ready in sorted(loads - self.awaited):
            self.flush()
            self.products.clear()
            self.emit(f"await_load(ctx, {ready})")
            self.awaited.add(ready)

    def flush(self):
        """Emit the charge of the plain code so far."""
        if self.pending:
            self.instructions += self.pending.total() - self.pending["mul_use"]
            self.emit(f"spend(ctx, {pack_counts(self.pending)})")
            self.pending.clear()

    @property
    def plain_instructions(self):
        """RISC-V instructions so far, without those of operations."""
        return self.instructions + self.pending.total() - self.pending["mul_use"]

    # --- blocks

    @contextmanager
    def block(self, conditional=True):
        """Lines one level deeper; `conditional`: they may be skipped."""
        zones, is_loop = len(self.open_zones), bool(self.lines) and self.lines[-1].lstrip().startswith("while ")
        self.budget.enter(is_loop)
        self.indent += 1
        self.depth += conditional
        self.guard = None
        self.awaited.clear()
        self.products.clear()
        start = len(self.lines)
        yield
        self.awaited.clear()
        self.products.clear()
        if not self.terminated:
            self.end_zones(zones)
            self.flush()
        self.pending.clear()
        del self.open_zones[zones:]
        if len(self.lines) == start:
            self.emit("pass")
        self.terminated, self.guard = False, None
        self.depth -= conditional
        self.indent -= 1
        self.budget.leave(is_loop)

    @contextmanager
    def capture(self):
        """Keep what is emitted apart, as the inside of a block at this place; see `Captured`."""
        captured = Captured()
        lines, pending, used, products = self.lines, self.pending, self.captured_uses, self.products
        self.captured_uses, self.products = set(), set()
        self.lines, self.pending, self.guard = [], Counter(), None
        self.indent += 1
        self.depth += 1
        yield captured
        self.guard = None
        self.indent -= 1
        self.depth -= 1
        captured.lines, captured.pending, captured.used = self.lines, self.pending, self.captured_uses
        self.lines, self.pending, self.captured_uses, self.products = lines, pending, used, products

    def replay(self, captured):
        """Emit captured lines and costs inside the block that is now open."""
        self.lines += captured.lines
        self.charge(captured)

    def charge(self, *captured):
        """Charge captured plain code here; it waits for the loads it uses before it begins."""
        for code in captured:
            self.await_loads(code.used)
        for code in captured:
            self.pending.update(code.pending)

    # --- operations

    def head(self, op):
        return int(op) | self.line << LINE_SHIFT

    def post(self, posts, result=None, ready=None):
        """Post operations [(roles, op, argument texts)]: in one place if they belong to different threads.

        `result`: variable that takes the operation's result (0 on threads that do not post); `ready`: one that takes the
        cycle from which the result can be used.
        """
        possible = self.facts.possible
        wanted = possible & self.only
        posts = [(roles & wanted, op, arguments) for roles, op, arguments in posts if roles & wanted]
        union = 0
        for roles, _, _ in posts:
            if union & roles:
                for single in posts:
                    self.post([single], result, ready)
                return
            union |= roles
        if not posts:
            return
        self.use(*(Int(text) for _, _, arguments in posts for text in arguments))
        self.flush()
        self.products.clear()
        guarded = union != possible
        if guarded:
            for name in filter(None, (result, ready)):
                self.emit(f"{name} = 0")
            if self.guard != (len(self.lines), self.indent, union):
                self.emit(f"if {self.role()} & {union}:")
            self.indent += 1
        self._write(posts)
        self.emit("yield 0")
        if result:
            self.emit(f"{result} = load_i64(ctx + {8 * ctx.RESULT})")
        if ready:
            self.emit(f"{ready} = load_i64(ctx + {8 * ctx.READY})")
            self.awaited.discard(ready)
        if guarded:
            self.indent -= 1
            self.guard = (len(self.lines), self.indent, union)
        self._count_yield(union)

    def role(self):
        return self.variables.hoist(f"word(ctx, {ctx.ROLE})")

    def _write(self, posts):
        for i, (roles, op, arguments) in enumerate(posts):
            self.posted.update(
                {role: 1 if op in ONE_INSTRUCTION else CALL_INSTRUCTIONS for role in Role if role & roles}
            )
            call = f"post{len(arguments)}({', '.join(['ctx', str(self.head(op)), *arguments])})"
            if len(posts) > 1:
                last = i == len(posts) - 1
                self.emit("else:" if last else f"{'elif' if i else 'if'} {self.role()} & {roles}:")
            self.emit(INDENT * (len(posts) > 1) + call)

    def _count_yield(self, union):
        self._yield()
        if self.loops:
            loop = self.loops[-1]
            if loop.depth == self.depth and not loop.skipped:
                loop.certain |= union

    def _yield(self):
        self.yields += 1
        self.budget.refuse_yields(self.yields)

    def end_zones(self, count):
        """Close the profiler zones that were opened since there were `count`, in code that goes on or leaves here."""
        for zone in reversed(self.open_zones[count:]):
            self.post([(ANY_ROLE, Op.ZONE_END, [str(zone)])])

    def fuel_check(self, limit=FUEL):
        """Lines that report plain code to the event loop when it has taken more than `limit` cycles."""
        pad = INDENT * self.indent
        self._yield()
        return [
            f"{pad}if load_i64(ctx + {8 * ctx.PENDING}) > {limit}:",
            f"{pad}{INDENT}post0(ctx, {self.head(Op.SPEND)})",
            f"{pad}{INDENT}yield 0",
        ]

    # --- loaded data

    def decide(self, value, what):
        """Note that the value decides something about time or place; remembers the first one that was loaded data."""
        if value.taint and self.control_reason is None:
            self.control_reason = f"data loaded from L1 at line {value.taint} decides {what} at line {self.line}"
