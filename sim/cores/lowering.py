"""From a kernel's syntax tree to the source of a generator that posts operations.

One pass over the statements.  Calls that post operations are taken out of expressions in evaluation order; helper
functions are inlined under new names; plain code is charged from the cost words of the context block, summed in `cyc` and
carried by the next operation; every loop spends fuel (`FUEL` cycles without an operation post a SPEND), so that the
machine's cycle limit ends an endless loop.
"""

import ast
import linecache
import re
from collections import Counter
from dataclasses import dataclass

from sim.cores import context as ctx
from sim.cores.kernel_api import (
    CALLS,
    COMPUTE_CALLS,
    CONSTANTS,
    DATA_MOVEMENT,
    DM,
    FREE_ARGUMENTS,
    MACROS,
    POINTER_TYPES,
    REFUSED_PREFIXES,
    VALUES,
)
from sim.cores.operations import Issue, Op
from sim.errors import KernelCompileError

FUEL = 20_000  # cycles of plain code after which a loop reports to the event loop
MAX_YIELDS = 400
MAX_INLINE_DEPTH = 16
COSTS = {
    "alu": ctx.COST_ALU,
    "branch": ctx.COST_BRANCH,
    "mul": ctx.COST_MUL,
    "div": ctx.COST_DIV,
    "load": ctx.COST_LOAD,
}
BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.LShift: "<<", ast.RShift: ">>",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not "}
COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
GENERATORS = (
    "InterleavedAddrGen",
    "InterleavedAddrGenFast",
    "InterleavedPow2AddrGen",
    "InterleavedPow2AddrGenFast",
)
INSTRUCTION_BYTES, POST_BYTES, BASE_BYTES = 4, 48, 256
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def refuse(file, node, reason, hint=None):
    """Raise the error of something that a kernel may not contain."""
    raise KernelCompileError(reason, where={"file": file, "line": getattr(node, "lineno", None)}, hint=hint)


# --- what a name stands for, when it is not an integer variable


@dataclass(frozen=True)
class Pointer:
    """A typed pointer into L1: `address` is the name of an integer variable."""

    address: str
    size: int
    signed: bool


@dataclass(frozen=True)
class AddressGenerator:
    base: str
    page: str
    stride: str
    dram: str


@dataclass(frozen=True)
class AccessorArgs:
    first: str


@dataclass(frozen=True)
class Accessor:
    first: str
    base: str
    page: str


class Scope:
    """Names of one function body: user name -> generated integer variable (text) or one of the classes above."""

    def __init__(self, prefix, constants, file, returns=None):
        self.prefix, self.names, self.constants, self.file = prefix, {}, constants, file
        self.returns = returns  # None: the kernel itself; else (result variable, flag variable or None)


class Lowering:
    """One kernel being rewritten; `run` returns itself with `source` and the tables filled."""

    def __init__(self, tree, file, constants, defines, named_args, lenient):
        self.tree, self.file, self.lenient = tree, file, lenient
        self.defines = {name: self._define(value) for name, value in defines.items()}
        self.named_args, self.constants = named_args, constants
        self.is_compute = self._calls_compute(tree, constants, set())
        self.tainted = set()
        self.macros = {node.name: node for node in ast.parse(MACROS).body}

    @staticmethod
    def _define(value):
        try:
            return int(str(value), 0)
        except ValueError:
            return str(value)

    def _calls_compute(self, tree, constants, seen):
        """Whether the kernel or one of its helpers calls something that only compute threads do."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                name = node.func.id
                if name in COMPUTE_CALLS and name not in DATA_MOVEMENT or name in ("tilize_block", "untilize_block"):
                    return True
                helper = constants.get(name)
                if hasattr(helper, "tree") and name not in seen:
                    seen.add(name)
                    if self._calls_compute(helper.tree, helper.constants, seen):
                        return True
        return False

    # --- driver

    def run(self):
        for _ in range(4):  # loaded data may flow round a loop: repeat until no new variable is tainted
            before = len(self.tainted)
            self._pass()
            if len(self.tainted) == before:
                break
        return self

    def _pass(self):
        self.out, self.indent, self.pending = [], 1, Counter()
        self.temporaries = self.yields = self.inlined = 0
        self.messages, self.zones, self.api_calls = [], [], set()
        self.loaded_data_reaches_control, self.uses_roles, self.statements = None, 0, 0
        self.loops, self.inline_stack, self.line, self.lines = [], [], self.tree.lineno, {}
        self._note_lines(self.tree, self.file)
        self.scope = Scope("v_", self.constants, self.file)
        self._parameters()
        self._body(self.tree.body)
        self._end_kernel()
        self._assemble()

    def _note_lines(self, tree, file):
        if file != self.file:
            return
        for number in range(tree.lineno, tree.end_lineno + 1):
            self.lines[number] = linecache.getline(file, number).rstrip("\n")

    def _parameters(self):
        arguments = self.tree.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults or arguments.posonlyargs:
            self._refuse(self.tree, "a kernel takes plain positional parameters: its unique runtime arguments")
        for i, argument in enumerate(arguments.args):
            name = self._variable(argument.arg)
            self._emit(f"{name} = runtime_arg(ctx, {i})")
            self.pending["load"] += 1

    def _assemble(self):
        text = "\n".join(self.out)
        used = sorted({int(n) for n in re.findall(r"\bpost(\d+)\(", text)})
        head = [
            "import numba as nb",
            "from sim.cores import kernel_runtime as rt",
            "from sim.memory import load_i64",
        ]
        names = sorted(set(re.findall(r"\b(runtime_arg|common_arg|compile_arg|cb_word|word|noc_address|multicast_address|"
                                      r"bank_address|aligned_page|interleaved_address|accessor_length|accessor_address)\(",
                                      text)) | {"word"})  # fmt: skip
        head += [f"{name} = rt.{name}" for name in names]
        head += [f"post{count} = rt.POSTS[{count}]" for count in used]
        body = ["", "", "@nb.njit(cache=True)", "def generated(ctx):"]
        body += [f"    c_{kind} = word(ctx, {index})" for kind, index in COSTS.items()]
        body += ["    cyc = 0"]
        if self.is_compute:
            body += [f"    role = word(ctx, {ctx.ROLE})", "    acc = 0"]
        body += [f"    noc_index = word(ctx, {ctx.NOC})"]
        self.source = "\n".join(head + body) + "\n" + text + "\n"
        self.text_bytes = BASE_BYTES + INSTRUCTION_BYTES * self.statements + POST_BYTES * self.yields

    # --- emission

    def _emit(self, line):
        self.out.append("    " * self.indent + line)
        self.statements += 1

    def _flush(self):
        """Add the pending cost of plain code to `cyc`."""
        if self.pending:
            terms = [f"c_{kind}" if n == 1 else f"{n} * c_{kind}" for kind, n in sorted(self.pending.items())]
            self._emit(f"cyc += {' + '.join(terms)}")
            self.pending.clear()

    def _temporary(self):
        self.temporaries += 1
        return f"t{self.temporaries}"

    def _variable(self, name):
        known = self.scope.names.get(name)
        if not isinstance(known, str):
            known = self.scope.names[name] = f"{self.scope.prefix}{name}"
        return known

    def _refuse(self, node, reason, hint=None):
        refuse(self.scope.file if hasattr(self, "scope") else self.file, node, reason, hint)

    def _post(self, op, arguments, roles, node):
        """Post one operation on the threads of `roles` and yield."""
        self.yields += 1
        if self.yields > MAX_YIELDS:
            self._refuse(node, f"the kernel has more than {MAX_YIELDS} operations after inlining")
        self._flush()
        self.uses_roles |= int(roles or 0)
        values = "".join(f", {argument}" for argument in arguments)
        masked = self.is_compute and roles is not None and int(roles) & 14 != 14
        if masked:
            self._emit(f"if role & {int(roles) & 14}:")
            self.indent += 1
        self._emit(f"post{len(arguments)}(ctx, {int(op)}, {self.line}, cyc{values})")
        self._emit("yield 0")
        self._emit("cyc = 0")
        if masked:
            self.indent -= 1
        if not masked:
            for loop in self.loops:
                loop["posts"] = True

    def _end_kernel(self):
        self._flush()
        self._emit("if cyc > 0:")
        self.indent += 1
        self._emit(f"post0(ctx, {int(Op.SPEND)}, {self.line}, cyc)")
        self._emit("yield 0")
        self._emit("return")
        self.indent -= 1
        self._emit("return")

    # --- data that was loaded from memory

    def _is_tainted(self, text):
        return any(name in self.tainted for name in IDENTIFIER.findall(text))

    def _sink(self, text, what, node):
        if self.loaded_data_reaches_control is None and self._is_tainted(text):
            self.loaded_data_reaches_control = f"line {node.lineno}: data loaded from L1 decides {what}"

    # --- statements

    def _body(self, statements):
        for statement in statements:
            self._statement(statement)

    def _statement(self, node):
        if not self.inline_stack or self.scope.file == self.file and self.inline_stack[-1] not in self.macros:
            self.line = node.lineno
        handler = getattr(self, f"_do_{type(node).__name__}", None)
        if handler is None:
            self._refuse(node, f"{type(node).__name__} is not part of the kernel language")
        handler(node)

    def _do_Pass(self, node):
        self._emit("pass")

    def _do_Expr(self, node):
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return
        if not isinstance(node.value, ast.Call):
            self._refuse(node, "an expression without effect")
        self._call(node.value, wants_value=False)

    def _do_Assign(self, node):
        if len(node.targets) != 1:
            self._refuse(node, "chained assignment is not part of the kernel language")
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            self._assign_tuple(target, node)
        else:
            self._assign(target, node.value, node)

    def _assign_tuple(self, target, node):
        if not isinstance(node.value, ast.Tuple) or len(node.value.elts) != len(target.elts):
            self._refuse(node, "a tuple assignment needs as many values as names")
        values = []
        for value in node.value.elts:
            name = self._temporary()
            text = self._expression(value)
            self._emit(f"{name} = {text}")
            self._mark(name, text)
            values.append(name)
        for name, value in zip(target.elts, values, strict=True):
            self._store(name, value, node)

    def _assign(self, target, value, node):
        if isinstance(target, ast.Name):
            symbol = self._symbol(value, target.id)
            if symbol is not None:
                self.scope.names[target.id] = symbol
                return
        self._store(target, self._expression(value), node)

    def _mark(self, name, text):
        if self._is_tainted(text):
            self.tainted.add(name)

    def _store(self, target, text, node):
        """Assign the value of a generated expression to a name or through a pointer."""
        if isinstance(target, ast.Name):
            if isinstance(self.scope.names.get(target.id), (Pointer, AddressGenerator, Accessor, AccessorArgs)):
                del self.scope.names[target.id]
            name = self._variable(target.id)
            self._emit(f"{name} = {text}")
            self._mark(name, text)
            self.pending["alu"] += 1
        elif isinstance(target, ast.Subscript):
            address, pointer = self._element(target)
            self._sink(address, "an address", node)
            self._post(Op.STORE, [address, text, pointer.size], None, node)
        else:
            self._refuse(node, "assignment to this target is not part of the kernel language")

    def _do_AnnAssign(self, node):
        if node.value is None:
            self._refuse(node, "a declaration without a value")
        self._assign(node.target, node.value, node)

    def _do_AugAssign(self, node):
        operator = BINARY.get(type(node.op))
        if operator is None:
            self._refuse(node, "this operator is not part of the kernel language")
        self._cost_of(node.op, node.value)
        if isinstance(node.target, ast.Subscript):
            old = self._load(node.target)
            self._store(node.target, f"({old} {operator} ({self._expression(node.value)}))", node)
            return
        old = self._expression(node.target)
        self._store(node.target, f"({old} {operator} ({self._expression(node.value)}))", node)

    def _do_If(self, node):
        constant = self._constant(node.test)
        if constant is not None:
            self._body(node.body if constant else node.orelse)
            if not (node.body if constant else node.orelse):
                self._emit("pass")
            return
        test = self._expression(node.test)
        self._sink(test, "a branch", node)
        self.pending["branch"] += 1
        self._flush()
        self._emit(f"if {test}:")
        self._block(node.body)
        if node.orelse:
            self._emit("else:")
            self._block(node.orelse)

    def _block(self, statements):
        self.indent += 1
        outer = self.loops
        self.loops = []  # what a branch posts does not count as "this loop posts in every round"
        self._body(statements)
        self._flush()
        self._emit("pass")
        self.loops = outer
        self.indent -= 1

    def _loop_body(self, node, statements, prelude=None):
        """Body of a loop, with its cost and the fuel check at its top."""
        self.indent += 1
        self.loops.append({"posts": False, "node": node})
        mark = len(self.out)
        self.pending["alu"] += 1
        self.pending["branch"] += 1
        self._flush()
        fuel = len(self.out)
        if prelude is not None:
            prelude()
        self._body(statements)
        self._flush()
        if len(self.out) == mark:
            self._emit("pass")
        loop = self.loops.pop()
        if not loop["posts"]:
            pad = "    " * self.indent
            self.out[fuel:fuel] = [
                f"{pad}if cyc > {FUEL}:",
                f"{pad}    post0(ctx, {int(Op.SPEND)}, {node.lineno}, cyc)",
                f"{pad}    yield 0",
                f"{pad}    cyc = 0",
            ]
            self.yields += 1
        self.indent -= 1

    def _do_While(self, node):
        if node.orelse:
            self._refuse(node, "while ... else is not part of the kernel language")
        self._flush()
        self._emit("while True:")

        def test():
            text = self._expression(node.test)
            self._sink(text, "a loop", node)
            self._flush()
            self._emit(f"if not ({text}):")
            self._emit("    break")

        self._loop_body(node, node.body, test)
        self._after_loop()

    def _do_For(self, node):
        call = node.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
            self._refuse(node, "a kernel loops over range(...) only")
        if node.orelse or not isinstance(node.target, ast.Name) or call.keywords or not 1 <= len(call.args) <= 3:
            self._refuse(node, "a for loop is `for name in range(start, stop, step)`")
        bounds = [self._expression(argument) for argument in call.args]
        for bound in bounds:
            self._sink(bound, "a loop", node)
        self._flush()
        name = self._variable(node.target.id)
        self._emit(f"for {name} in range({', '.join(bounds)}):")
        self._loop_body(node, node.body)
        self._after_loop()

    def _after_loop(self):
        """Leave the enclosing loop too when an inlined helper has returned from inside this one."""
        if self.scope.returns and self.scope.returns[1]:
            self._emit(f"if {self.scope.returns[1]}:")
            self._emit("    break")

    def _do_Break(self, node):
        self._flush()
        self._emit("break")

    def _do_Continue(self, node):
        self._flush()
        self._emit("continue")

    def _do_Return(self, node):
        if self.scope.returns is None:
            if node.value is not None:
                self._refuse(node, "a kernel returns nothing")
            self._end_kernel()
            return
        result, flag = self.scope.returns
        if node.value is not None:
            text = self._expression(node.value)
            self._emit(f"{result} = {text}")
            self._mark(result, text)
        self._flush()
        if flag:
            self._emit(f"{flag} = True")
            self._emit("break")

    def _do_Assert(self, node):
        test = self._expression(node.test)
        self._sink(test, "an assertion", node)
        self.pending["branch"] += 1
        self._flush()
        self._emit(f"if not ({test}):")
        self.indent += 1
        self._fail(node, node.msg, f"assertion failed: {ast.unparse(node.test)}")
        self.indent -= 1

    def _do_Raise(self, node):
        message = node.exc.args[0] if isinstance(node.exc, ast.Call) and node.exc.args else None
        self._fail(node, message, "raise")

    def _fail(self, node, message, default):
        text = message.value if isinstance(message, ast.Constant) else default
        self.messages.append(str(text))
        self._emit(f"post1(ctx, {int(Op.FAIL)}, {self.line}, cyc, {len(self.messages) - 1})")
        self._emit("yield 0")

    # --- constants

    def _named_constant(self, name):
        """Value of a name that is a compile-time constant, or None."""
        if name in self.scope.names:
            return None
        if name in self.defines:
            return self.defines[name]
        value = self.scope.constants.get(name)
        if isinstance(value, int):
            return value
        return CONSTANTS.get(name)

    def _constant(self, node):
        """Integer value of a constant expression, or None."""
        if isinstance(node, ast.Constant):
            return int(node.value) if isinstance(node.value, (bool, int)) else None
        if isinstance(node, ast.Name):
            value = self._named_constant(node.id)
            return value if isinstance(value, int) else None
        if isinstance(node, ast.UnaryOp):
            value = self._constant(node.operand)
            if value is None:
                return None
            return {"-": -value, "+": value, "~": ~value, "not ": int(not value)}[UNARY[type(node.op)]]
        if isinstance(node, ast.BoolOp):
            values = [self._constant(value) for value in node.values]
            if isinstance(node.op, ast.And) and 0 in values:
                return 0
            if isinstance(node.op, ast.Or) and any(values):
                return 1
            return None if None in values else int(isinstance(node.op, ast.And))
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARE:
            left, right = self._constant(node.left), self._constant(node.comparators[0])
            if left is None or right is None:
                return None
            operator = COMPARE[type(node.ops[0])]
            return int({"==": left == right, "!=": left != right, "<": left < right, "<=": left <= right,
                        ">": left > right, ">=": left >= right}[operator])  # fmt: skip
        return None

    # --- expressions

    def _expression(self, node):
        """Generated text of an integer expression; operations inside it are posted first, in evaluation order."""
        handler = getattr(self, f"_eval_{type(node).__name__}", None)
        if handler is None:
            self._refuse(node, f"{type(node).__name__} is not part of the kernel language")
        return handler(node)

    def _eval_Constant(self, node):
        if isinstance(node.value, (bool, int)):
            return str(int(node.value))
        self._refuse(node, f"{type(node.value).__name__} values are not part of the kernel language")

    def _eval_Name(self, node):
        known = self.scope.names.get(node.id)
        if isinstance(known, str):
            return known
        if isinstance(known, Pointer):
            return known.address
        if known is not None:
            self._refuse(node, f"{node.id} is not an integer here")
        value = self._named_constant(node.id)
        if isinstance(value, int):
            return str(value) if value >= 0 else f"({value})"
        if isinstance(value, str):
            return self._expression(self._parse_define(node, value))
        if node.id == "noc_index":
            return "noc_index"
        if node.id in self.named_args:
            return str(self.named_args[node.id])
        if self.lenient and node.id.isupper():
            return "0"  # may come as a define; checked again when the kernel is compiled
        self._refuse(
            node,
            f"unknown name {node.id!r}",
            "kernels see parameters, local variables, integer constants and defines",
        )

    def _parse_define(self, node, text):
        try:
            return ast.copy_location(ast.parse(text, mode="eval").body, node)
        except SyntaxError:
            self._refuse(node, f"define {node.id}={text!r} is not an expression")

    def _cost_of(self, operator, right):
        if isinstance(operator, (ast.FloorDiv, ast.Mod)):
            value = self._constant(right)
            self.pending["alu" if value and value & (value - 1) == 0 else "div"] += 1
        elif isinstance(operator, ast.Mult):
            self.pending["mul"] += 1
        else:
            self.pending["alu"] += 1

    def _eval_BinOp(self, node):
        operator = BINARY.get(type(node.op))
        if operator is None:
            hint = "use // for integer division" if isinstance(node.op, ast.Div) else None
            self._refuse(node, f"operator {type(node.op).__name__} is not part of the kernel language", hint)
        self._cost_of(node.op, node.right)
        left = self._expression(node.left)
        return f"({left} {operator} {self._expression(node.right)})"

    def _eval_UnaryOp(self, node):
        self.pending["alu"] += 1
        return f"({UNARY[type(node.op)]}({self._expression(node.operand)}))"

    def _eval_Compare(self, node):
        parts, left = [], self._expression(node.left)
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if type(operator) not in COMPARE:
                self._refuse(node, f"comparison {type(operator).__name__} is not part of the kernel language")
            right = self._expression(right)
            parts.append(f"({left} {COMPARE[type(operator)]} {right})")
            left = right
            self.pending["alu"] += 1
        return parts[0] if len(parts) == 1 else f"({' and '.join(parts)})"

    def _branch_value(self, emit_branches):
        """Value of a conditional expression whose branches contain operations: an if statement with a temporary."""
        name = self._temporary()
        emit_branches(name)
        return name

    def _assign_block(self, name, node):
        self.indent += 1
        text = self._expression(node)
        self._flush()
        self._emit(f"{name} = {text}")
        self._mark(name, text)
        self.indent -= 1

    def _eval_BoolOp(self, node):
        is_and = isinstance(node.op, ast.And)

        def emit(name):
            text = self._expression(node.values[0])
            self._emit(f"{name} = 1 if ({text}) else 0")
            self._mark(name, text)
            for value in node.values[1:]:
                self.pending["branch"] += 1
                self._flush()
                self._emit(f"if {name}:" if is_and else f"if not {name}:")
                self.indent += 1
                text = self._expression(value)
                self._flush()
                self._emit(f"{name} = 1 if ({text}) else 0")
                self._mark(name, text)
                self.indent -= 1

        return self._branch_value(emit)

    def _eval_IfExp(self, node):
        constant = self._constant(node.test)
        if constant is not None:
            return self._expression(node.body if constant else node.orelse)

        def emit(name):
            test = self._expression(node.test)
            self._sink(test, "a branch", node)
            self.pending["branch"] += 1
            self._flush()
            self._emit(f"if {test}:")
            self._assign_block(name, node.body)
            self._emit("else:")
            self._assign_block(name, node.orelse)

        return self._branch_value(emit)

    def _eval_Subscript(self, node):
        if isinstance(node.value, ast.Name) and node.value.id in ("my_x", "my_y"):
            return f"word(ctx, {ctx.MY_X if node.value.id == 'my_x' else ctx.MY_Y})"
        return self._load(node)

    def _eval_Attribute(self, node):
        if isinstance(node.value, ast.Name):
            known = self.scope.names.get(node.value.id)
            if isinstance(known, (AddressGenerator, Accessor)) and node.attr == "page_size":
                return known.page
        self._refuse(node, f"attribute {node.attr!r} is not part of the kernel language")

    def _eval_Call(self, node):
        return self._call(node, wants_value=True)

    # --- L1 pointers

    def _element(self, node):
        """(address text, Pointer) of `pointer[index]`."""
        known = self.scope.names.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if not isinstance(known, Pointer):
            self._refuse(node, "only L1 pointers can be indexed", "p = l1_ptr(address, uint32)")
        self.pending["alu"] += 1
        return f"({known.address} + {known.size} * ({self._expression(node.slice)}))", known

    def _load(self, node):
        address, pointer = self._element(node)
        self._sink(address, "an address", node)
        self._post(Op.LOAD, [address, pointer.size, int(pointer.signed)], None, node)
        name = self._temporary()
        value = f"load_i64(ctx + {8 * ctx.RESULT})"
        if pointer.signed:
            half = 1 << (8 * pointer.size - 1)
            value = f"(({value} ^ {half}) - {half})"
        self._emit(f"{name} = {value}")
        self.tainted.add(name)
        return name

    # --- names that stand for something else than an integer

    def _bind(self, node, params, call):
        """Arguments of an API call: {parameter: syntax node or default text}, by tt-metal's order and names."""
        names = [part.partition("=") for part in params.split()]
        bound = dict(zip([name for name, _, _ in names], call.args, strict=False))
        if len(call.args) > len(names):
            self._refuse(node, f"{call.func.id} takes at most {len(names)} arguments, not {len(call.args)}")
        for keyword in call.keywords:
            if keyword.arg not in {name for name, _, _ in names} or keyword.arg in bound:
                self._refuse(node, f"{call.func.id} has no parameter {keyword.arg!r}", f"its parameters: {params}")
            bound[keyword.arg] = keyword.value
        for name, has_default, default in names:
            if name not in bound:
                if not has_default:
                    self._refuse(node, f"{call.func.id} needs the argument {name!r}", f"its parameters: {params}")
                bound[name] = default
        return bound

    def _bound_text(self, value):
        if isinstance(value, str):
            return "noc_index" if value == "NOC" else value
        return self._expression(value)

    def _keep(self, text):
        """A name for the value of an expression (names and numbers are kept as they are)."""
        if IDENTIFIER.fullmatch(text) or text.isdigit():
            return text
        name = self._temporary()
        self._emit(f"{name} = {text}")
        self._mark(name, text)
        return name

    def _symbol(self, node, target):
        """What `target = node` makes of target when the value is a pointer, generator or accessor; else None."""
        if isinstance(node, ast.Name):
            known = self.scope.names.get(node.id)
            return known if known is not None and not isinstance(known, str) else None
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            return None
        name = node.func.id
        if name == "l1_ptr":
            bound = self._bind(node, "address type=uint32", node)
            kind = bound["type"]
            kind = kind.id if isinstance(kind, ast.Name) else kind
            if kind not in POINTER_TYPES:
                self._refuse(node, f"unknown element type {kind!r}", f"one of {', '.join(POINTER_TYPES)}")
            address = self._variable_for(target, "address", self._bound_text(bound["address"]))
            return Pointer(address, *POINTER_TYPES[kind])
        if name in GENERATORS:
            return self._generator(node, target)
        if name == "TensorAccessorArgs":
            bound = self._bind(node, "cta_base=0 crta_base=0", node)
            return AccessorArgs(self._keep(self._bound_text(bound["cta_base"])))
        if name == "TensorAccessor":
            return self._accessor(node, target)
        return None

    def _variable_for(self, target, part, text):
        name = f"{self.scope.prefix}{target}__{part}"
        self._emit(f"{name} = {text}")
        self._mark(name, text)
        self.pending["alu"] += 1
        return name

    def _generator(self, node, target):
        params = "bank_base_address page_size dram=1"
        if node.func.id == "InterleavedAddrGenFast":
            params = "bank_base_address page_size data_format=0 dram=1"
        bound = self._bind(node, params, node)
        base = self._variable_for(target, "base", self._bound_text(bound["bank_base_address"]))
        page = self._bound_text(bound["page_size"])
        page = self._variable_for(target, "page", f"(1 << ({page}))" if "Pow2" in node.func.id else page)
        dram = self._variable_for(target, "dram", f"(1 if ({self._bound_text(bound['dram'])}) else 0)")
        stride = self._variable_for(target, "stride", f"aligned_page(ctx, {page}, {dram})")
        return AddressGenerator(base, page, stride, dram)

    def _accessor(self, node, target):
        bound = self._bind(node, "args bank_base_address page_size", node)
        args = self._symbol(bound["args"], target) if not isinstance(bound["args"], str) else None
        if not isinstance(args, AccessorArgs):
            self._refuse(node, "TensorAccessor needs TensorAccessorArgs(first compile-time argument)")
        base = self._variable_for(target, "base", self._bound_text(bound["bank_base_address"]))
        page = self._variable_for(target, "page", self._bound_text(bound["page_size"]))
        return Accessor(args.first, base, page)

    def _page_address(self, node, generator, page, offset):
        """Generated text of the NoC address of a page of a generator or accessor."""
        known = self._symbol(generator, "page") if not isinstance(generator, str) else None
        self.pending["mul"] += 1
        self.pending["alu"] += 4
        if isinstance(known, AddressGenerator):
            return (
                known,
                f"interleaved_address(ctx, {page}, {known.base}, {known.stride}, {known.dram}, {offset})",
            )
        if isinstance(known, Accessor):
            return (
                known,
                f"accessor_address(ctx, {page}, {known.first}, {known.base}, {known.page}, {offset})",
            )
        self._refuse(node, "this call needs an address generator or a tensor accessor")

    # --- calls

    def _call(self, node, wants_value):
        if isinstance(node.func, ast.Attribute):
            return self._method(node)
        if not isinstance(node.func, ast.Name):
            self._refuse(node, "only functions can be called")
        name = node.func.id
        self.api_calls.add(name)
        special = getattr(self, f"_call_{name}", None)
        if special is not None:
            return special(node)
        if name in VALUES:
            value = VALUES[name]
            bound = self._bind(node, value.params, node)
            self.pending[value.cost] += 1
            return value.text.format(**{key: self._bound_text(argument) for key, argument in bound.items()})
        helper = self.macros.get(name) or self.scope.constants.get(name) or self.constants.get(name)
        if hasattr(helper, "tree"):
            return self._inline(node, helper.tree, helper.file, helper.constants, wants_value)
        if isinstance(helper, ast.FunctionDef):
            return self._inline(node, helper, self.file, {}, wants_value)
        if name in CALLS:
            return self._api(node, CALLS[name], wants_value)
        reason = f"the kernel API has no call {name!r}"
        if name.startswith(REFUSED_PREFIXES):
            reason = f"{name} is not modelled by tensim"
        self._refuse(node, reason)

    def _api(self, node, call, wants_value):
        name = node.func.id
        if name in FREE_ARGUMENTS:
            for argument in [*node.args, *[keyword.value for keyword in node.keywords]]:
                self._expression(argument)
            bound = {}
        else:
            bound = {key: self._bound_text(value) for key, value in self._bind(node, call.params, node).items()}
        if call.sets_acc:
            self._emit(f"acc = {bound[call.sets_acc]}")
        for roles, op, template in call.posts:
            if not self.is_compute and not int(roles) & int(DM):
                self._refuse(node, f"{name} belongs to compute kernels")
            if self.is_compute and not int(roles) & 14:
                self._refuse(node, f"{name} belongs to data-movement kernels")
            arguments = [self._fill(word, bound) for word in template.split()]
            values = arguments[:1] + arguments[2:] if op == Op.STORE else arguments
            for argument in values:
                self._sink(argument, f"an argument of {name}", node)
            self._post(op, arguments, roles, node)
        if not wants_value:
            return None
        if not call.result:
            self._refuse(node, f"{name} has no value")
        result = self._temporary()
        self._emit(f"{result} = load_i64(ctx + {8 * ctx.RESULT})")
        return result

    def _fill(self, word, bound):
        """One word of an argument template with parameters put in."""
        if word.startswith("bank("):
            bank, offset = word[5:-1].split(",")
            return f"bank_address(ctx, {bound[bank]}, {bound[offset]}, 1)"
        text = IDENTIFIER.sub(lambda match: f"({bound[match[0]]})" if match[0] in bound else match[0], word)
        return {"ACC": "acc", "NOC": "noc_index"}.get(text, text.replace("|", " "))

    def _method(self, node):
        owner = self._symbol(node.func.value, "owner") if isinstance(node.func.value, ast.Name) else None
        if isinstance(owner, (AddressGenerator, Accessor)) and node.func.attr == "get_noc_addr":
            if not 1 <= len(node.args) <= 3:
                self._refuse(node, "get_noc_addr(page, offset=0)")
            page = self._expression(node.args[0])
            offset = self._expression(node.args[1]) if len(node.args) > 1 else "0"
            return self._page_address(node, node.func.value, page, offset)[1]
        if isinstance(owner, AccessorArgs) and node.func.attr == "next_compile_time_args_offset":
            return f"({owner.first} + accessor_length(ctx, {owner.first}))"
        self._refuse(node, f"method {node.func.attr!r} is not part of the kernel language")

    def _call_get_noc_addr(self, node):
        generator = node.args[1] if len(node.args) > 1 else None
        if isinstance(generator, ast.Name) and isinstance(
            self.scope.names.get(generator.id), (AddressGenerator, Accessor)
        ):
            bound = self._bind(node, "page gen offset=0 noc=0", node)
            page, offset = self._bound_text(bound["page"]), self._bound_text(bound["offset"])
            return self._page_address(node, generator, page, offset)[1]
        self.pending["alu"] += 3
        if len(node.args) + len(node.keywords) < 3:
            address = self._bound_text(self._bind(node, "addr noc=0", node)["addr"])
            return f"noc_address(word(ctx, {ctx.MY_X}), word(ctx, {ctx.MY_Y}), {address})"
        bound = self._bind(node, "x y addr noc=0", node)
        x, y, address = (self._bound_text(bound[key]) for key in ("x", "y", "addr"))
        return f"noc_address({x}, {y}, {address})"

    def _page_transfer(self, node, params, op, is_read):
        bound = self._bind(node, params, node)
        page = self._keep(self._bound_text(bound["id"]))
        local = self._keep(self._bound_text(bound["l1"]))
        offset, noc = self._keep(self._bound_text(bound["offset"])), self._bound_text(bound["noc"])
        known, address = self._page_address(node, bound["gen"], page, offset)
        size = self._bound_text(bound["size"]) if "size" in bound else "0"
        if size == "0":
            size = known.page if offset == "0" else f"({known.page} - {offset})"
        for text in (address, local, size):
            self._sink(text, "an address or size", node)
        if is_read:
            self._post(op, [address, local, size, noc, "-1", int(Issue.PAGE)], DM, node)
        else:
            self._post(op, [local, address, size, noc, "-1", int(Issue.PAGE), "0", "-1"], DM, node)

    def _call_noc_async_read_page(self, node):
        self._page_transfer(node, "id gen l1 offset=0 noc=NOC", Op.NOC_READ, True)

    _call_noc_async_read_tile = _call_noc_async_read_page

    def _call_noc_async_write_page(self, node):
        self._page_transfer(node, "id gen l1 size=0 offset=0 noc=NOC", Op.NOC_WRITE, False)

    def _call_noc_async_write_tile(self, node):
        self._page_transfer(node, "id gen l1 offset=0 noc=NOC", Op.NOC_WRITE, False)

    def _call_noc_async_read_set_trid(self, node):
        self._refuse(node, "noc_async_read_set_trid: name the transaction id in the read call (…_with_trid)")

    def _call_get_named_compile_time_arg_val(self, node):
        if len(node.args) != 1 or not isinstance(node.args[0], ast.Constant) or not isinstance(node.args[0].value, str):
            self._refuse(node, "get_named_compile_time_arg_val takes a literal name")
        name = node.args[0].value
        if name not in self.named_args:
            if self.lenient:
                return "0"
            self._refuse(
                node,
                f"no named compile-time argument {name!r}",
                f"given: {', '.join(self.named_args) or 'none'}",
            )
        return str(int(self.named_args[name]))

    def _call_float_bits(self, node):
        import struct

        try:
            value = ast.literal_eval(node.args[0])
            return str(struct.unpack("<I", struct.pack("<f", float(value)))[0])
        except (ValueError, IndexError, TypeError, OverflowError, struct.error):
            self._refuse(node, "float_bits takes one literal number")

    def _call_l1_ptr(self, node):
        self._refuse(node, "assign an L1 pointer to a name before using it: p = l1_ptr(address, uint32)")

    def _call_DeviceZoneScopedN(self, node):
        self.zones.append(str(node.args[0].value) if node.args and isinstance(node.args[0], ast.Constant) else "zone")
        self._post(Op.ZONE_BEGIN, [len(self.zones) - 1], None, node)

    # --- helpers

    def _inline(self, node, tree, file, constants, wants_value):
        """Put a helper's body in place of its call, under new names."""
        if tree.name in self.inline_stack or len(self.inline_stack) >= MAX_INLINE_DEPTH:
            self._refuse(
                node,
                f"recursion ({' -> '.join([*self.inline_stack, tree.name])}) is not possible in a kernel",
            )
        arguments = tree.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
            self._refuse(node, f"{tree.name}: a device function takes plain parameters")
        names = [argument.arg for argument in arguments.args]
        values = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True))
        if len(node.args) > len(names):
            self._refuse(node, f"{tree.name} takes {len(names)} arguments, not {len(node.args)}")
        values |= dict(zip(names, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg not in names:
                self._refuse(node, f"{tree.name} has no parameter {keyword.arg!r}")
            values[keyword.arg] = keyword.value
        missing = [name for name in names if name not in values]
        if missing:
            self._refuse(node, f"{tree.name} needs the argument {missing[0]!r}")
        self.inlined += 1
        prefix = f"h{self.inlined}_"
        result, flag = f"{prefix}result", f"{prefix}returned" if _returns_early(tree) else None
        inner = Scope(prefix, constants or self.scope.constants, file, (result, flag))
        for name in names:
            symbol = self._symbol(values[name], name)
            if symbol is not None:
                inner.names[name] = symbol
                continue
            text = self._expression(values[name])
            inner.names[name] = f"{prefix}{name}"
            self._emit(f"{prefix}{name} = {text}")
            self._mark(f"{prefix}{name}", text)
            self.pending["alu"] += 1
        self._inline_body(tree, inner, result, flag)
        if wants_value:
            return result
        return None

    def _inline_body(self, tree, inner, result, flag):
        outer, self.scope = self.scope, inner
        self.inline_stack.append(tree.name)
        if tree.name not in self.macros:
            self._note_lines(tree, inner.file)
        line = self.line
        self._emit(f"{result} = 0")
        if flag:
            self._flush()
            self._emit(f"{flag} = False")
            self._emit("while True:")
            self.indent += 1
            self._body(tree.body)
            self._flush()
            self._emit("break")
            self.indent -= 1
        else:
            self._body(tree.body)
        self.inline_stack.pop()
        self.scope, self.line = outer, line
        if flag and outer.returns and outer.returns[1]:
            self._emit("pass")


def _returns_early(tree):
    """Whether a helper returns from anywhere but its last statement."""
    returns = [node for node in ast.walk(tree) if isinstance(node, ast.Return)]
    return bool(returns) and not (len(returns) == 1 and tree.body[-1] is returns[0])
