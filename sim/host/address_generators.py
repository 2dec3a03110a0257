"""Address generators in the text of a kernel, beside the buffers at their bases: the same page size, the same memory.

What a kernel hands to the NoC are addresses, which say nothing of the generator that made them.  So its text is read: Python
and C++ alike, as far as base and page size are made of numbers, arguments, defines and locals that are assigned once.  A
generator within a condition, or in a C++ text that the preprocessor may cut, is not judged.
"""

import ast
import functools
import re

from tensim.sim.cores import tensor_accessors as accessors
from tensim.sim.cores.checks.faults import Check
from tensim.sim.cores.numerics.data_format import tile_size
from tensim.sim.cores.numerics.tile import TILE_DATUMS
from tensim.sim.errors import UsageError
from tensim.sim.host.allocator import round_up
from tensim.sim.lazy_dataclass import dataclass

FIELDS = {  # names of the parameters, of Python and as C++ members
    "InterleavedAddrGen": ("bank_base_address", "page_size", "dram"),
    "InterleavedAddrGenFast": ("bank_base_address", "page_size", "data_format", "dram"),
    "InterleavedPow2AddrGen": ("bank_base_address", "log_base_2_of_page_size", "dram"),
    "InterleavedPow2AddrGenFast": ("bank_base_address", "log_base_2_of_page_size", "dram"),
    "TensorAccessor": ("args", "bank_base_address", "page_size"),
}
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
LOCAL = re.compile(
    r"\b(?:const|constexpr)?\s*(?:std::)?(?:uint32_t|int32_t|uint64_t|int|bool|auto)\s+"
    r"(\w+)\s*=\s*([^;={}][^;{}]*);"
)
CONDITION = re.compile(r"^\s*#\s*(?:if|else|elif)", re.M)
GENERATOR = re.compile(
    r"\b(Interleaved(?:Pow2)?AddrGen(?:Fast)?)\s*<([^<>;,]*)(?:,[^<>;]*)?>\s*\w*\s*(?:=\s*)?\{|"
    r"\b(TensorAccessor)\s*\("
)
TEMPLATE_CALL = re.compile(r"\b(get_arg_val|get_common_arg_val|TensorAccessorArgs)\s*<([^<>]*)>\s*\(")
OPERATORS = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.FloorDiv: lambda a, b: a // b,
    ast.LShift: lambda a, b: a << b if 0 <= b < 32 else None, ast.RShift: lambda a, b: a >> b if 0 <= b < 32 else None,
    ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b,
}  # fmt: skip


@dataclass(frozen=True)
class Generator:
    """A call that makes a generator: its parameters as syntax trees by name."""

    name: str
    parameters: dict


@dataclass(frozen=True)
class Text:
    """What a kernel's text says: its generators; locals that are assigned once, as trees by name."""

    generators: tuple
    locals: dict


# --- reading the two languages


def python_text(tree):
    """The `Text` of a Python kernel's `ast.FunctionDef`."""
    assigned, generators = {}, []
    for node in ast.walk(tree):
        for name in _targets(node):
            assigned.setdefault(name, []).append(node)
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr) and statement.value is not None:
            calls = (node for node in ast.walk(statement.value) if isinstance(node, ast.Call))
            generators += (_call(node) for node in calls if getattr(node.func, "id", None) in FIELDS)
    once = {
        name: nodes[0].value
        for name, nodes in assigned.items()
        if len(nodes) == 1 and isinstance(nodes[0], ast.Assign) and nodes[0] in tree.body
    }
    parameters = {argument.arg for argument in tree.args.args}
    return Text(tuple(generators), {name: None if name in parameters else once.get(name) for name in assigned})


def _targets(node):
    """Names that a statement assigns."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [
        part.id for target in targets if target is not None for part in ast.walk(target) if isinstance(part, ast.Name)
    ]


def _call(node):
    """The `Generator` of a call in Python's words."""
    parameters = dict(zip(FIELDS[node.func.id], node.args, strict=False))
    return Generator(node.func.id, parameters | {word.arg: word.value for word in node.keywords})


def cpp_text(text):
    """The `Text` of a C++ kernel."""
    code = COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    if CONDITION.search(code):
        return Text((), {})
    locals_, counts = {}, {}
    for name, value in _declared(code):
        counts[name] = counts.get(name, 0) + 1
        locals_[name] = _expression(value)
    for name in locals_:
        changes = re.findall(rf"(?:\+\+|--)\s*{name}\b|\b{name}\s*(?:\+\+|--|(?:[-+*/%|&^]|<<|>>)?=(?!=))", code)
        if counts[name] > 1 or len(changes) > 1:
            locals_[name] = None
    return Text(tuple(filter(None, (_cpp_generator(code, found) for found in GENERATOR.finditer(code)))), locals_)


def _declared(code):
    """(name, value) of locals; a declaration may have several."""
    for name, values in LOCAL.findall(code):
        first, *others = _parts(values + ")", 0)
        yield name, first
        yield from (
            found.groups() for found in (re.match(r"\s*(\w+)\s*=(.*)", other, re.S) for other in others) if found
        )


def _cpp_generator(code, found):
    """The `Generator` of a match, None where the kernel's own block does not hold it."""
    begin = code.find("kernel_main")
    before = code[begin : found.start()]
    if begin < 0 or before.count("{") - before.count("}") != 1 or re.search(r"\b(?:if|for|while)\s*\([^;{}]*$", before):
        return None
    name, parts = found[1] or found[3], _parts(code, found.end())
    fields = [field for field in FIELDS[name] if field != "dram"]
    parameters = {}
    for position, part in enumerate(parts):
        member = re.match(r"\s*\.(\w+)\s*=(.*)", part, re.S)
        if member:
            parameters[member[1]] = _expression(member[2])
        elif position < len(fields):
            parameters[fields[position]] = _expression(part)
    if found[1]:
        parameters["dram"] = _expression(found[2])
    return Generator(name, parameters)


def _parts(code, start):
    """The parts of a list between the bracket before `start` and its match, as texts."""
    parts, depth, begin = [], 0, start
    for at in range(start, min(len(code), start + 1000)):
        if code[at] in "([{":
            depth += 1
        elif code[at] in ")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and code[at] == ","):
            parts.append(code[begin:at])
            begin = at + 1
        if depth < 0:
            return parts
    return [""]


def _expression(text):
    """The tree of a C++ expression, as far as it reads like one of Python; None otherwise."""
    text = TEMPLATE_CALL.sub(lambda found: f"{found[1]}({found[2] if found[1] == 'TensorAccessorArgs' else ''}", text)
    text = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text.replace("/", "//"))
    try:
        return ast.parse(" ".join(text.split()), mode="eval").body
    except (SyntaxError, ValueError):
        return None


@functools.lru_cache(maxsize=256)
def read(kernel):
    """(`Text` of a kernel; what its other names stand for, by node; names of its parameters, one per argument)."""
    if not kernel.is_cpp:

        def lookup(node):
            value = kernel.names.resolve(node)
            return value if isinstance(value, int) else None

        return python_text(kernel.tree), lookup, tuple(argument.arg for argument in kernel.tree.args.args)
    try:
        return cpp_text(kernel.source), lambda node: None, ()
    except UsageError:  # a saved program on another machine: it has the binaries alone
        return Text((), {}), lambda node: None, ()


# --- values


class Values:
    """What expressions of a kernel are worth on one core.  `lookup`: of a node that is no local, an int or None."""

    def __init__(self, text, kernel, args, buffers, lookup):
        self._text, self._lookup, self._depth = text, lookup, 0
        self._named, self._formats = dict(kernel.parameters.named_compile_args), buffers
        self._defines = {name: _expression(str(value)) for name, value in kernel.parameters.defines}
        self._words = {
            "get_arg_val": args,
            "get_common_arg_val": kernel.common_args,
            "get_compile_time_arg_val": kernel.parameters.compile_args,
        }

    def of(self, node):
        """An int, or None when nothing says what it is."""
        self._depth += 1
        try:
            return self._of(node) if self._depth < 32 else None
        finally:
            self._depth -= 1

    def _of(self, node):
        if isinstance(node, ast.Constant):
            return int(node.value) if isinstance(node.value, int) else None
        if isinstance(node, ast.Name):
            return self._named_value(node)
        if isinstance(node, ast.BinOp | ast.Compare):
            return self._operation(node)
        if isinstance(node, ast.Call):
            return self._called(node)
        return self._lookup(node) if isinstance(node, ast.Attribute) else None

    def _named_value(self, node):
        if node.id in ("true", "false"):
            return int(node.id == "true")
        if node.id in self._text.locals:
            value = self._text.locals[node.id]
            return None if value is None else self.of(value)
        if node.id in self._defines:
            return self.of(self._defines[node.id])
        return self._lookup(node)

    def _operation(self, node):
        left, right, operator = (
            (node.left, node.right, node.op)
            if isinstance(node, ast.BinOp)
            else (node.left, node.comparators[0], node.ops[0])
        )
        left, right, operate = self.of(left), self.of(right), OPERATORS.get(type(operator))
        if left is None or right is None or operate is None or (isinstance(operator, ast.FloorDiv) and right == 0):
            return None
        return operate(left, right)

    def _called(self, node):
        name, first = getattr(node.func, "id", None), node.args[0] if node.args else None
        if name == "get_named_compile_time_arg_val" and isinstance(first, ast.Constant):
            return self._named.get(first.value)
        index = self.of(first) if first is not None else None
        if index is None:
            return None
        if name == "get_tile_size":
            return self._formats.get(index)
        words = self._words.get(name, ())
        return int(words[index]) if 0 <= index < len(words) else None

    def accessor(self, node, depth=0):
        """(config, page size) that compile-time words say of a tensor accessor, (None, None) when nothing does."""
        if isinstance(node, ast.Name) and depth < 4:
            return self.accessor(self._text.locals.get(node.id), depth + 1)
        if (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", None) == "TensorAccessorArgs"
            and len(node.args) == 1
        ):
            first, words = self.of(node.args[0]), self._words["get_compile_time_arg_val"]
            if first is not None and 0 <= first < len(words) - 1:
                return words[first + accessors.CONFIG], words[first + accessors.PAGE_SIZE]
        return None, None


# --- judging


def _tile_sizes(program, core):
    """{index: bytes of a tile} of a core's circular buffers."""
    found = {}
    for cb in program.circular_buffers:
        if core in cb.cores:
            datums = {index: height * width for index, height, width in cb.tiles}
            for index, code in cb.formats:
                found[index] = tile_size(code) * datums.get(index, TILE_DATUMS) // TILE_DATUMS
    return found


def suspects(kernel, program, device):
    """{core: [suspect]} of a `FrozenKernel`: generators whose page size or memory is not that of the buffer at their base.

    A suspect: a row of `tensim.sim.cores.checks.shadow.SUSPECT`.  Whether the kernel uses the generator, its transfers tell.
    """
    text, lookup, names = read(kernel.kernel)
    if not text.generators:
        return {}
    places, found = {}, {}
    for buffer in device.buffers.values():
        if buffer.size:
            places.setdefault((buffer.address, buffer.in_dram), []).append(buffer)
    given = dict(kernel.args)
    for core in kernel.cores:
        args = given.get(core, ())
        own = dict(zip(names, args, strict=False))
        values = Values(
            text,
            kernel,
            args,
            _tile_sizes(program, core),
            lambda node, own=own: own.get(getattr(node, "id", None), lookup(node)),
        )
        judged = (judge(generator, values, places, device.arch) for generator in text.generators)
        found[core] = [suspect for suspect in judged if suspect is not None]
    return found


def judge(generator, values, places, arch):
    """The suspect of one generator, or None.  `places`: buffers by (address, whether in DRAM)."""
    base, page, dram = parameters_of(generator, values)
    if base is None or dram is None:
        return None
    dram = bool(dram)
    here, there = places.get((base, dram), ()), places.get((base, not dram), ())
    stride = None if page is None else round_up(page, arch.dram_alignment if dram else arch.l1_alignment)
    if not here and there:
        end = base + there[0].size_per_bank
        return int(dram), base, end, stride or 1, int(Check.GENERATOR_MEMORY), int(dram), int(not dram)
    interleaved = [buffer for buffer in here if buffer.shard is None and buffer.num_pages > 1]
    if (
        page
        and interleaved
        and len(interleaved) == len(here)
        and stride not in {b.aligned_page_size for b in interleaved}
    ):
        buffer = interleaved[0]
        end = base + buffer.size_per_bank
        return int(dram), base, end, 1, int(Check.GENERATOR_PAGE), page, buffer.page_size
    return None


def parameters_of(generator, values):
    """(base, page size, whether in DRAM) of a generator, None for what nothing says; of a sharded accessor no page size."""
    parameters = generator.parameters
    base = values.of(parameters.get("bank_base_address"))
    page = values.of(parameters.get("page_size"))
    if generator.name == "TensorAccessor":
        config, words = values.accessor(parameters.get("args"))
        if config is None or config & ~(accessors.DRAM_BIT | accessors.SHARDED_BIT):
            return base, None, None
        page = words if "page_size" not in parameters else page
        return base, None if config & accessors.SHARDED_BIT else page, config & accessors.DRAM_BIT
    if "log_base_2_of_page_size" in parameters:
        power = values.of(parameters["log_base_2_of_page_size"])
        page = 1 << power if power is not None and 0 <= power < 32 else None
    return base, page, values.of(parameters["dram"]) if "dram" in parameters else 1
