"""Kernels: plain Python that reads like the tt-metal kernel it stands for, compiled to a native coroutine.

`@kernel` parses a function; `Kernel.compile` rewrites its syntax tree into a generator over the thread's context block:
each API call becomes "post an operation, yield, read the result" (`lowering.py`), and numba compiles that.  Generated
source is kept in a file of the cache directory, so that numba's disk cache applies.  Nothing of a kernel's text is ever
executed as Python: only the generated code is, and it can do integer arithmetic and post operations, nothing else.
"""

import ast
import functools
import hashlib
import importlib.util
import inspect
import linecache
import os
import sys
import textwrap
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

import numba as nb

from sim import cache
from sim.cores.lowering import Lowering, refuse
from sim.coroutine import resume_address
from sim.errors import KernelCompileError, UsageError


@dataclass(frozen=True)
class CompiledKernel:
    """A kernel ready to run: where to resume it and what its operations' numbers mean."""

    name: str
    file: str
    lines: dict  # line number -> source text, of the kernel and its helpers
    messages: list  # texts of raise and assert, by message id
    zones: list
    text_bytes: int  # estimated size of the RISC-V binary
    loaded_data_reaches_control: str | None
    uses_roles: int
    api_calls: frozenset
    function: object = field(repr=False)

    @property
    def resume_address(self):
        return resume_address(self.function)

    def instantiate(self, context_address):
        """A fresh coroutine over a context block; the object must be kept alive while it may be resumed."""
        return self.function(context_address)


class DeviceFunction:
    """A helper of kernels, inlined where it is called."""

    def __init__(self, tree, file, constants):
        self.tree, self.file, self.constants, self.name = tree, file, constants, tree.name

    def __call__(self, *args, **kwargs):
        raise UsageError(f"{self.name} is a device function: it can only be called from a kernel")


class Kernel:
    """A kernel function: parsed and checked, not compiled yet."""

    def __init__(self, tree, source, file, constants):
        self.tree, self.source, self.file, self.constants, self.name = (
            tree,
            source,
            str(file),
            constants,
            tree.name,
        )
        self._compiled = {}
        self._lower({}, {}, lenient=True)

    @property
    def digest(self):
        """Hash of the source text (hex)."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    def __call__(self, *args, **kwargs):
        raise UsageError(f"{self.name} is a kernel: pass it to create_kernel")

    def _lower(self, defines, named_args, lenient=False):
        lowering = Lowering(self.tree, self.file, self.constants, defines, named_args, lenient)
        return lowering.run()

    def compile(self, defines=None, named_compile_args=None):
        """Compile for a set of defines (text or ints) and named compile-time arguments.  Cached in memory and on disk."""
        key = (tuple(sorted((defines or {}).items())), tuple(sorted((named_compile_args or {}).items())))
        if key not in self._compiled:
            self._compiled[key] = self._compile(dict(key[0]), dict(key[1]))
        return self._compiled[key]

    def _compile(self, defines, named_args):
        lowered = self._lower(defines, named_args)
        function = load_generated(self.name, lowered.source, self.file)
        return CompiledKernel(
            name=self.name,
            file=self.file,
            lines=lowered.lines,
            messages=lowered.messages,
            zones=lowered.zones,
            text_bytes=lowered.text_bytes,
            loaded_data_reaches_control=lowered.loaded_data_reaches_control,
            uses_roles=lowered.uses_roles,
            api_calls=frozenset(lowered.api_calls),
            function=function,
        )


@functools.cache
def load_generated(name, source, file):
    """Compile generated source, kept as a file in the cache directory; returns the numba dispatcher."""
    digest = hashlib.sha256(source.encode()).hexdigest()[:20]
    directory = cache.DIRECTORY / "kernels"
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"k_{digest}.py"
    if not path.exists():
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(source)
        os.replace(temporary, path)
    spec = importlib.util.spec_from_file_location(f"tensim_kernel_{digest}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    try:
        module.generated.compile((nb.types.int64,))
    except nb.core.errors.NumbaError as error:
        raise KernelCompileError(
            f"kernel {name} cannot be compiled: {str(error).splitlines()[0]}",
            where={"file": file, "kernel": name},
        ) from error
    return module.generated


# --- front doors


def _constants_of(function):
    """Integers, enums and device functions that a Python function can see by name."""
    variables = inspect.getclosurevars(function)
    return _usable({**function.__globals__, **variables.nonlocals})


def _usable(scope):
    return {
        name: int(value) if isinstance(value, (bool, IntEnum)) else value
        for name, value in scope.items()
        if isinstance(value, (bool, int, IntEnum, DeviceFunction))
    }


def _parse_function(function):
    file = inspect.getsourcefile(function) or "<string>"
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError as error:
        raise KernelCompileError(f"the source of {function.__name__} is not available", where={"file": file}) from error
    source = textwrap.dedent("".join(lines))
    tree = ast.parse(source).body[0]
    ast.increment_lineno(tree, first - 1)
    return tree, source, file


def kernel(function):
    """Decorator: make a kernel of a function written in the kernel language; its parameters are the runtime arguments."""
    tree, source, file = _parse_function(function)
    return Kernel(tree, source, file, _constants_of(function))


def device_function(function):
    """Decorator: a helper that kernels may call; it is inlined."""
    tree, _, file = _parse_function(function)
    return DeviceFunction(tree, file, _constants_of(function))


def kernel_from_source(text, name=None, file="<string>"):
    """The kernel in a source text: parsed, never executed.

    The text may hold `@kernel` and `@device_function` definitions, integer constants and imports (which are ignored).
    `name` picks one kernel; without it there must be exactly one.  Raises KernelCompileError.
    """
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = {"file": file, "line": getattr(error, "lineno", None)}
        raise KernelCompileError(f"not valid Python: {error}", where=where) from error
    if file == "<string>":
        file = f"<kernel {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    constants, kernels = {}, {}
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            decorators = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
            if "kernel" in decorators or node.name == "kernel_main":
                kernels[node.name] = node
            elif "device_function" in decorators:
                constants[node.name] = DeviceFunction(node, file, constants)
            continue
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = _literal_int(node.value)
            if value is not None:
                constants[node.targets[0].id] = value
                continue
        if isinstance(node, (ast.Import, ast.ImportFrom)) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            continue
        refuse(
            file,
            node,
            "only kernels, device functions, integer constants and imports may stand in a kernel file",
        )
    if name is None and len(kernels) != 1:
        found = ", ".join(kernels) or "none"
        raise KernelCompileError(f"expected one kernel, found {found}", where={"file": file}, hint="name one")
    if name is not None and name not in kernels:
        raise KernelCompileError(
            f"no kernel {name!r} here", where={"file": file}, hint=f"there are {', '.join(kernels)}"
        )
    tree = kernels[name or next(iter(kernels))]
    return Kernel(tree, text, file, constants)


def kernel_from_file(path, name=None):
    """The kernel in a file, parsed without executing it; see `kernel_from_source`."""
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read kernel file {path}: {error}") from error
    return kernel_from_source(text, name, str(path))


def _literal_int(node):
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return int(value) if isinstance(value, (bool, int)) else None
