"""Kernels: plain Python that reads like the tt-metal kernel it stands for, compiled to a native coroutine.

`@kernel` parses a function; `Kernel.compile` rewrites its syntax tree into a generator over the thread's context block:
each API call becomes "post an operation, yield, read the result" (`lowering`), and numba compiles that.  Generated
source is kept as a file of the cache directory, so that numba's disk cache applies.  Nothing of a kernel's text is ever
executed as Python: only the generated code is, and it can do integer arithmetic and post operations, nothing else.
"""

import ast
import functools
import hashlib
import inspect
import linecache
import signal
import textwrap
import threading
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from tensim.sim.cores.kernels.api import COMPUTE, DM
from tensim.sim.cores.kernels.compile_apart import compile_apart
from tensim.sim.cores.kernels.generated import compile_generated
from tensim.sim.cores.kernels.lowering import lower, reachable_helpers
from tensim.sim.cores.kernels.lowering_budget import refuse
from tensim.sim.cores.kernels.names import DeviceFunction, ParsedNames, PythonNames, as_constant
from tensim.sim.engine import machine_code
from tensim.sim.errors import KernelCompileError, UsageError
from tensim.sim.lazy_dataclass import dataclass

MAX_TEXT = 1 << 18  # characters of a kernel's text
ENUM_BASES = ("Enum", "IntEnum")


@dataclass(frozen=True, eq=False)
class CompiledKernel:
    """A kernel ready to run: where to resume it and what its operations' numbers mean."""

    name: str
    file: str
    lines: dict  # line number -> source text, of the kernel and its helpers in the same file
    messages: list  # texts of raise, assert and prints, by message id
    zones: list  # names of profiler zones, by zone id
    text_bytes: int  # estimated size of the RISC-V binary
    loaded_data_reaches_control: str | None  # why the kernel cannot run without data, None if it can
    api_calls: frozenset
    polls: frozenset  # lines whose loads wait for another's write
    arguments: object  # what it reads of them: `tensim.sim.cores.kernels.lowering_values.ReadArguments`
    code: machine_code.MachineCode = field(repr=False)  # of the generator over the address of a context block
    is_riscv = False

    @property
    def first_row(self):
        """Number of the kernel's first row in the machine's line table; a row is a line of its file."""
        return min(self.lines, default=1)

    @property
    def n_rows(self):
        return max(self.lines, default=1) - self.first_row + 1

    def on(self, slot):
        """What a thread slot runs: the same coroutine on each."""
        return self

    @property
    def entry(self):
        """Where the kernel begins."""
        return self.place(self.first_row)

    def place(self, row):
        """Where a row of the line table lies in the source."""
        return {"file": self.file, "line": row, "source": self.lines.get(row, "").strip()}

    def text_above(self, place):
        """The lines of the kernel above a place."""
        return [text for row, text in sorted(self.lines.items()) if row <= place["line"]]

    def printed_text(self, number):
        """The text of a print."""
        return self.messages[number]

    def message(self, number):
        """Text of a raise or assert, or None."""
        return self.messages[number] if number < len(self.messages) else None


class Kernel:
    """A kernel function: parsed and checked, not compiled yet.

    `names`: what the function can see outside itself; `text`: the whole text it was parsed from, None for a Python
    function; `budget`: the `CompileBudget` of a file that somebody else wrote, from which it is compiled.  Raises
    KernelCompileError for what no kernel may contain.
    """

    is_cpp = False

    def __init__(self, tree, file, names, text=None, budget=None):
        self.tree, self.file, self.names, self.name = tree, str(file), names, tree.name
        self.budget, self._text, self._lowered, self._compiled = budget, text, {}, {}
        self._lower({}, {}, lenient=True)

    def __call__(self, *args, **kwargs):
        raise UsageError(f"{self.name} is a kernel: pass it to create_kernel")

    @functools.cached_property
    def source(self):
        """A text that stands for itself: `kernel_from_source(source, name)` gives an equal kernel."""
        return self._text if self._text is not None else self_contained_source(self.tree, self.names)

    @property
    def digest(self):
        """Hash of the source text (hex)."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    def _lower(self, defines, named_args, lenient=False):
        try:
            return lower(self.tree, self.file, self.names, defines, named_args, lenient)
        except RecursionError as error:
            where = {"file": self.file, "line": self.tree.lineno, "kernel": self.name}
            raise KernelCompileError("the kernel's expressions are nested too deeply", where=where) from error

    def _variant(self, defines, named_compile_args):
        """(key, rewritten kernel) for a set of defines and named compile-time arguments."""
        defines = {name: str(value) for name, value in (defines or {}).items()}
        key = (tuple(sorted(defines.items())), tuple(sorted((named_compile_args or {}).items())))
        if key not in self._lowered:
            self._lowered[key] = self._lower(defines, dict(key[1]))
        return key, self._lowered[key]

    def home(self, defines=None, named_compile_args=None):
        """Kind of processor that the kernel's calls belong to: "compute", "data-movement", or None for either."""
        roles = self._variant(defines, named_compile_args)[1].possible_roles
        return {COMPUTE: "compute", DM: "data-movement"}.get(roles)

    def home_call(self, defines=None, named_compile_args=None):
        """(name, place) of the call that decides on the kind of processor, or None."""
        found = self._variant(defines, named_compile_args)[1].home
        return found and (found[0], {"file": self.file, "line": found[1], "kernel": self.name})

    def compile(self, defines=None, named_compile_args=None):
        """Compile for a set of defines (text or ints) and named compile-time arguments; cached in memory and on disk."""
        key, lowered = self._variant(defines, named_compile_args)
        if key not in self._compiled:
            self._compiled[key] = self._compile(lowered)
        return self._compiled[key]

    def build(self, parameters, target):
        """Compile for the parameters of a command; the generated code is the same on every chip (`target`)."""
        return self.compile(dict(parameters.defines), dict(parameters.named_compile_args))

    def _compile(self, lowered):
        return CompiledKernel(
            name=self.name,
            file=self.file,
            lines=lowered.lines,
            messages=lowered.messages,
            zones=lowered.zones,
            text_bytes=lowered.text_bytes,
            loaded_data_reaches_control=lowered.loaded_data_reaches_control,
            api_calls=lowered.api_calls,
            polls=lowered.polls,
            arguments=lowered.arguments,
            code=load_generated(self.name, lowered.source, self.file, self.budget),
        )


@contextmanager
def late_interrupts():
    """Keep Ctrl-C until the end of the block: one that comes while LLVM calls back into Python would be lost."""
    mine = threading.current_thread() is threading.main_thread()  # other threads get none
    if not mine or signal.getsignal(signal.SIGINT) is None:  # nor does Python, when a host program handles it
        yield
        return
    came = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


_generated = {}


def load_generated(name, source, file, budget=None):
    """`tensim.sim.engine.machine_code.MachineCode` of generated source; compiled unless memory or the disk cache holds it."""
    if (name, source, file) not in _generated:
        _generated[name, source, file] = _load_generated(name, source, file, budget)
    return _generated[name, source, file]


def _load_generated(name, source, file, budget):
    key = f"kernel_{hashlib.sha256(source.encode()).hexdigest()[:20]}"
    if budget is not None:  # Ctrl-C ends the process that compiles
        return machine_code.load_or_compile(key, lambda: compile_apart(name, source, file, budget))
    with late_interrupts():
        return machine_code.load_or_compile(key, lambda: compile_generated(name, source, file))


# --- decorators


def _parse_function(function):
    """(syntax tree with the file's line numbers, file) of a Python function."""
    if not inspect.isfunction(function):
        raise UsageError("@kernel and @device_function decorate plain functions")
    file = inspect.getsourcefile(function) or "<string>"
    linecache.checkcache(file)
    tree = _definitions(file, "".join(linecache.getlines(file))).get(
        (function.__name__, function.__code__.co_firstlineno)
    )
    return tree or _parse_alone(function, file), file


@functools.lru_cache(maxsize=1)
def _definitions(file, text):
    """{(name, line of the first decorator): syntax tree} of the functions in a file, parsed once for all of its kernels."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError):
        return {}
    functions = (node for node in ast.walk(module) if isinstance(node, ast.FunctionDef))
    return {(node.name, min([node.lineno, *(one.lineno for one in node.decorator_list)])): node for node in functions}


def _parse_alone(function, file):
    """The syntax tree of a function that Python finds otherwise: its text was changed, or lies in no file."""
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError as error:
        where = {"file": file}
        message = f"the source of {function.__name__} is not available"
        raise KernelCompileError(message, where=where, hint="define kernels in a file") from error
    tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    ast.increment_lineno(tree, first - 1)
    if not isinstance(tree, ast.FunctionDef):
        refuse(file, first, "a kernel is a plain function")
    return tree


def kernel(function):
    """Decorator: make a kernel of a function in the kernel language; its parameters are the unique runtime arguments."""
    tree, file = _parse_function(function)
    return Kernel(tree, file, PythonNames(function))


def device_function(function):
    """Decorator: a helper that kernels may call; it is inlined there."""
    tree, file = _parse_function(function)
    return DeviceFunction(tree, file, PythonNames(function))


# --- kernels as text


def kernel_from_source(text, name=None, file=None, budget=None):
    """The kernel in a source text: parsed, never executed.

    The text may hold `@kernel` and `@device_function` definitions, integer constants, enumerations of integers and
    imports (which are ignored).  `name` picks one kernel; without it there must be exactly one.  `budget`: see `Kernel`.
    Raises KernelCompileError with file and line.
    """
    if file is None:
        file = f"<kernel {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    if len(text) > MAX_TEXT:
        raise KernelCompileError(f"a text of {len(text):,} characters; at most {MAX_TEXT:,}", where={"file": file})
    try:
        return _parsed(ast.parse(text), text, name, file, budget)
    except (SyntaxError, ValueError, MemoryError) as error:
        where = {"file": file, "line": getattr(error, "lineno", None)}
        raise KernelCompileError(f"not valid Python: {error}", where=where) from error
    except RecursionError as error:
        raise KernelCompileError("the text's expressions are nested too deeply", where={"file": file}) from error


def _parsed(module, text, name, file, budget):
    names, kernels = ParsedNames(), {}
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            _read_function(node, file, names, kernels)
        elif isinstance(node, ast.ClassDef):
            names.table[node.name] = _read_enumeration(node, file, names)
        elif isinstance(node, ast.Assign):
            _read_constant(node, file, names)
        elif not isinstance(node, (ast.Import, ast.ImportFrom)) and not _is_docstring(node):
            _refuse_statement(node, file)
    return Kernel(_choose(kernels, name, file), file, names, text, budget)


def kernel_from_file(path, name=None):
    """The kernel in a file, parsed without executing it; see `kernel_from_source`."""
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read kernel file {path}: {error}") from error
    return kernel_from_source(text, name, str(path))


def _refuse_statement(node, file):
    allowed = "kernels, device functions, integer constants, enumerations and imports"
    refuse(file, node.lineno, f"{type(node).__name__} is not allowed in a kernel file", f"it holds {allowed}")


def _is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _read_function(node, file, names, kernels):
    decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    if "device_function" in decorators:
        names.table[node.name] = DeviceFunction(node, file, names)
    elif "kernel" in decorators or node.name == "kernel_main":
        kernels[node.name] = node
    else:
        refuse(file, node.lineno, f"{node.name} is neither a kernel nor a device function", "decorate it")


def _read_constant(node, file, names):
    value = _constant_expression(node.value, names)
    if isinstance(getattr(node.value, "value", None), float):
        value = node.value.value
    targets = [target for target in node.targets if isinstance(target, ast.Name)]
    if value is None or len(targets) != len(node.targets):
        refuse(file, node.lineno, f"{ast.unparse(node)[:60]!r} is not a constant number")
    for target in targets:
        names.table[target.id] = value


def _read_enumeration(node, file, names):
    """{member: value} of an Enum or IntEnum class."""
    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    if not bases & set(ENUM_BASES):
        _refuse_statement(node, file)
    members = {}
    for statement in node.body:
        if _is_docstring(statement):
            continue
        value = _constant_expression(statement.value, names) if isinstance(statement, ast.Assign) else None
        if value is None or not isinstance(statement.targets[0], ast.Name):
            refuse(file, statement.lineno, "an enumeration of a kernel file holds integer constants only")
        members[statement.targets[0].id] = value
    return members


def _constant_expression(node, names):
    """Value of an integer expression over literals and constants read before, or None."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        value = names.resolve(node)
        return value if isinstance(value, int) else None
    if isinstance(node, ast.BinOp):
        left, right = _constant_expression(node.left, names), _constant_expression(node.right, names)
        return None if left is None or right is None else _arithmetic(node.op, left, right)
    try:
        return as_constant(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _arithmetic(op, left, right):
    functions = {
        ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
        ast.FloorDiv: lambda a, b: a // b if b else None, ast.Mod: lambda a, b: a % b if b else None,
        ast.LShift: lambda a, b: a << b if 0 <= b < 63 else None, ast.RShift: lambda a, b: a >> b if b >= 0 else None,
        ast.BitOr: lambda a, b: a | b, ast.BitAnd: lambda a, b: a & b,
    }  # fmt: skip
    function = functions.get(type(op))
    return as_constant(function(left, right)) if function else None


def _choose(kernels, name, file):
    if name is None and len(kernels) != 1:
        found = ", ".join(kernels) or "none"
        raise KernelCompileError(f"expected one kernel, found {found}", where={"file": file}, hint="name one")
    if name is not None and name not in kernels:
        hint = f"there are {', '.join(kernels)}" if kernels else "there is none"
        raise KernelCompileError(f"no kernel {name!r} here", where={"file": file}, hint=hint)
    return kernels[name or next(iter(kernels))]


# --- text of a decorated kernel


class _Constants(ast.NodeTransformer):
    """Puts the values of outside constants, and the plain names of outside functions, in place of their names."""

    def __init__(self, names, local):
        self.names, self.local = names, local

    def _replace(self, node):
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in self.local:
            return None
        value = self.names.resolve(node)
        if isinstance(value, (int, float)):
            return ast.copy_location(ast.Constant(value), node)
        name = value.name if isinstance(value, DeviceFunction) else getattr(value, "kernel_api_name", None)
        return ast.copy_location(ast.Name(name, ast.Load()), node) if name else None

    def visit_Name(self, node):
        return node if isinstance(node.ctx, ast.Store) else self._replace(node) or node

    def visit_Attribute(self, node):
        return self._replace(node) or self.generic_visit(node)


def self_contained_source(tree, names):
    """Text of a decorated kernel and the helpers it calls, with the constants it sees put in."""
    helpers = [(function.tree, function.names) for function in reachable_helpers(tree, names)]
    parts = []
    for function, outside in [*helpers, (tree, names)]:
        stored = (
            node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        local = {*stored, *(argument.arg for argument in function.args.args)}
        copy = ast.parse(ast.unparse(function)).body[0]
        decorator = "kernel" if function is tree else "device_function"
        copy.decorator_list = [ast.Name(decorator, ast.Load())]
        parts.append(ast.unparse(ast.fix_missing_locations(_Constants(outside, local).visit(copy))))
    return "\n\n\n".join(parts) + "\n"
