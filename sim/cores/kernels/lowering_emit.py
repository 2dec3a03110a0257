"""The writing side of kernel rewriting: generated lines, plain-code costs, posted operations, what is known so far.

Generated code is one generator over the context block `ctx`.  Plain code adds its cost to the block's PENDING word
(`spend`), posting an operation carries that along, `yield` hands over to the event loop.
"""

import linecache
import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from tensim.sim.cores import context as ctx
from tensim.sim.cores.kernels.api import ANY_ROLE, STATES
from tensim.sim.cores.kernels.conventions import COUNT_BITS, LINE_SHIFT, pack_counts
from tensim.sim.cores.kernels.lowering_values import Int, ReadArguments, Record, literal
from tensim.sim.cores.operations import Op, Role
from tensim.sim.errors import KernelCompileError

ONE_INSTRUCTION = (Op.LOAD, Op.STORE, Op.TT_INSTRUCTION)
CALL_INSTRUCTIONS = 12  # estimate for every other operation
FUEL = 20_000  # cycles of plain code after which a loop reports to the event loop
# What bounds the time and the memory that a kernel's text can cost.  The largest kernels of the project visit 1,200 statements
# and expressions, of which 20 in one statement, and give 1,000 lines with 250 yields.
MAX_YIELDS = 300  # compile time grows faster than the number of yields
MAX_LINES = 3_000  # generated lines: numba takes 10 ms for a plain one
MAX_BLOCKS = 300  # branches and loops: numba takes 100 ms for one
MAX_STEPS = 20_000  # statements and expressions that are visited, those of helpers at each of their calls
MAX_TERMS = 300  # operands and operators in one statement: Python's parser takes 200 nested parentheses
MAX_LOOPS, MAX_INDENT = 18, 90  # inside each other: Python takes 20 loops, 100 levels
DEFINE_STEP = 50  # characters of a define's text that count as a step
INDENT = "    "
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def refuse(file, line, reason, hint=None, kernel=None):
    """Raise the error of something that a kernel may not contain."""
    where = {"file": file, "line": line}
    if kernel:
        where["kernel"] = kernel
    raise KernelCompileError(reason, where=where, hint=hint)


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
        self.facts, self.lenient, self.hoist_lines = facts, lenient, {}
        self.lines, self.indent, self.depth, self.pending = [], 1, 0, Counter()
        self.stable, self.guard = (
            set(),
            None,
        )  # names assigned once, before any loop; where the last role test ends
        self.hoisted, self.temporaries, self.yields, self.instructions = {}, 0, 0, 0
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
        self.steps, self.terms, self.blocks, self.open_loops = 0, 0, 0, 0  # terms: of the statement

    # --- errors and lines

    def refuse(self, node, reason, hint=None):
        scope = self.scope
        if scope is not None and scope.is_library:
            refuse(self.file, self.line, f"{reason} (in {scope.function})", hint, self.name)
        file = scope.file if scope is not None else self.file
        refuse(file, getattr(node, "lineno", self.line), reason, hint, self.name)

    def refuse_size(self, number, limit, what, hint=None):
        """Refuse a kernel that has more of something than it may."""
        if number > limit:
            refuse(self.file, self.line, f"the kernel is too large: more than {limit:,} {what}", hint, self.name)

    def step(self, count=1):
        """Count what the rewriting visits."""
        self.steps += count
        self.refuse_size(
            self.steps, MAX_STEPS, "statements and expressions after inlining", "loops instead of nested calls"
        )

    def term(self):
        """Count an expression of the statement."""
        self.terms += 1
        self.refuse_size(
            self.terms, MAX_TERMS, "operands and operators in one statement", "assign parts of it to variables"
        )
        self.step()

    def note_lines(self, tree, file):
        """Keep the source lines of a function of the kernel's own file, for reports."""
        if file == self.file:
            for number in range(tree.lineno, tree.end_lineno + 1):
                self.source_lines[number] = linecache.getline(file, number).rstrip("\n")

    # --- lines

    def emit(self, text):
        self.lines.append(INDENT * self.indent + text)
        self.refuse_size(len(self.lines), MAX_LINES, "lines of generated code")
        self.refuse_size(self.indent, MAX_INDENT, "blocks inside each other")

    def temporary(self):
        self.temporaries += 1
        return f"t{self.temporaries}"

    def atom(self, value):
        """The value under a name (names and numbers stay as they are)."""
        return value if value.is_atom else self.kept(value)

    def kept(self, value):
        """A snapshot of the value in a fresh variable."""
        return self.store(self.temporary(), value, single=True)

    def hoist(self, text):
        """Name of an expression that does not change while the kernel runs; it is evaluated once, at the start."""
        name = self.hoisted.setdefault(text, f"k{len(self.hoisted)}")
        self.stable.add(name)
        return name

    def hoist_at_line(self, template):
        """Hoist a text whose line is that of its first use."""
        if template not in self.hoist_lines:
            self.hoist_lines[template] = template.replace("{line}", str(self.line))
        return self.hoist(self.hoist_lines[template])

    def store(self, variable, value, single):
        """Assign to a generated variable; `single`: nothing else assigns it."""
        self.emit(f"{variable} = {value.number}")
        if value.taint:
            self.facts.tainted.setdefault(variable, value.taint)
        if value.text in self.products:
            self.products.add(variable)
        loads = self.loads_of(value) if value.is_atom else set()
        if loads:
            self.facts.loads.setdefault(variable, set()).update(loads)
        if not value.control:
            self.facts.uncontrolled.add(variable)
        return Int(variable, value.constant if single else None, value.free and single, value.taint, value.control)

    def read(self, value):
        """A bound value as it reads now."""
        if isinstance(value, Record):
            return replace(value, fields=tuple(self.read(item) for item in value.fields))
        if value.constant is not None:
            return literal(value.constant)
        taint = self.facts.tainted.get(value.text, value.taint)
        return replace(value, taint=taint, control=value.control and value.text not in self.facts.uncontrolled)

    def bind(self, name, value, node):
        """Assign a value to a name of the kernel."""
        scope, old = self.scope, self.scope.names.get(name)
        single = scope.stores[name] <= 1
        shape = value.shape if isinstance(value, Record) else None
        if old is not None and not self.lenient:
            was = old.shape if isinstance(old, Record) else None
            if was != shape:
                title = value.title if isinstance(value, Record) else "an integer"
                self.refuse(node, f"{name} cannot also be {title}: a name keeps its kind in a kernel")
        variable = scope.prefix + name
        self.facts.shapes[variable] = shape
        scope.assigned.add(name)
        if variable in self.facts.unsure:
            self.emit(f"u_{variable} = 1")
        if shape is None:
            scope.names[name] = self._bound(variable, value, single)
        else:
            fields = (self._bound(f"f{i}_{variable}", item, single) for i, item in enumerate(value.fields))
            scope.names[name] = replace(value, fields=tuple(fields))

    def require(self, name):
        """Stop the kernel where it uses a name that nothing has assigned; costs nothing."""
        if name in self.scope.assigned or self.scope.is_library or self.captured_uses is not None:
            return
        variable = self.scope.prefix + name
        self.facts.unsure.add(variable)
        self.stop_if(f"not u_{variable}", f"{name} is used, but nothing has been assigned to it")

    def stop_if(self, condition, message):
        """Stop the kernel with a message if a condition of generated code holds; costs nothing."""
        self.messages.append(message)
        self.emit(f"if {condition}:")
        self.emit(f"{INDENT}post1(ctx, {self.head(Op.FAIL)}, {len(self.messages) - 1})")
        self.emit(f"{INDENT}yield 0")
        self.emit(f"{INDENT}return")

    def _bound(self, variable, value, single):
        if single and self.is_stable(value):
            return value
        if single and not self.loops:
            self.stable.add(variable)
        return self.store(variable, value, single)

    def is_stable(self, value):
        """Whether the value's text means the same everywhere from here on, so that it need not be copied."""
        return value.constant is not None or value.text in self.stable

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
        self.blocks += 1
        self.open_loops += is_loop
        self.refuse_size(self.blocks, MAX_BLOCKS, "branches and loops after inlining")
        self.refuse_size(self.open_loops, MAX_LOOPS, "loops inside each other")
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
        self.open_loops -= is_loop

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
        return self.hoist(f"word(ctx, {ctx.ROLE})")

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
        if self.yields > MAX_YIELDS:
            refuse(
                self.file, self.line, f"the kernel has more than {MAX_YIELDS} operations after inlining",
                "write loops instead of repeated calls, or split the kernel", self.name,
            )  # fmt: skip

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

    # --- states and loaded data

    def state(self, name):
        """A state of the kernel, or the kernel's NoC, as a value."""
        if name == "NOC":
            return Int(self.hoist(f"word(ctx, {ctx.NOC})"), free=True)
        if name not in self.facts.states:
            return literal(int(STATES[name]))
        return Int(f"s_{name}")

    def set_state(self, name, value):
        if value.constant != int(STATES[name]):
            self.facts.states.add(name)
        if name in self.facts.states:
            self.emit(f"s_{name} = {value.number}")

    def decide(self, value, what):
        """Note that the value decides something about time or place; remembers the first one that was loaded data."""
        if value.taint and self.control_reason is None:
            self.control_reason = f"data loaded from L1 at line {value.taint} decides {what} at line {self.line}"
