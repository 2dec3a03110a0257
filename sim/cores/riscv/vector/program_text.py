"""LLVM IR as text, as far as vector programs need it: functions, blocks, the calls that stand for vector instructions.

A vector value has a type of its own, a pointer in address space 77 (include/tensim_vector.h), so every line that handles one
is told by its text.  The rest of a function is kept as it is.
"""

import re
from dataclasses import dataclass, field

from tensim.sim.errors import KernelCompileError

PREFIX = "__tensim_sfp_"
TOKEN = "ptr addrspace(77)"
NAME = r'%(?:[\w.$-]+|"[^"]*")'
CALL = re.compile(rf"^\s*(?:({NAME}) = )?(?:\w+ )*?call [^@]*@{PREFIX}(\w+)\((.*?)\)(?: #\d+)?(?:, .*)?$")
RAW = re.compile(r'call void asm sideeffect "\.ttinsn \$0", "[^"]*"\(i32 (-?\d+)\)')
STORED = re.compile(
    r"store volatile i32 (\S+), ptr .*(?:instrn_buffer|inttoptr \(i32 (?:-1835008|4293132288) to ptr\))"
)
PHI = re.compile(rf"^\s*({NAME}) = phi {re.escape(TOKEN)} (.*?)(?:, !.*)?$")
INCOMING = re.compile(rf"\[ (\S+), ({NAME}) \]")
SELECT = re.compile(rf"^\s*({NAME}) = select i1 (\S+), {re.escape(TOKEN)} (\S+), {re.escape(TOKEN)} (\S+?)(?:, !.*)?$")
FREEZE = re.compile(rf"^\s*({NAME}) = freeze {re.escape(TOKEN)} (\S+?)(?:, !.*)?$")
LABEL = re.compile(r'^([\w.$-]+|"[^"]*"):')
TARGET = re.compile(rf"label ({NAME})")
PLACE = re.compile(r"!dbg (!\d+)")
DEFINE = re.compile(r'^define .*@("[^"]*"|[\w.$-]+)\(')
TERMINATORS = ("br ", "switch ", "ret ", "unreachable", "indirectbr ")


@dataclass
class Call:
    """A call in IR: `name` without its prefix, or `phi`, `select`, `freeze`, `raw` (a word in `arguments`), `unknown` (a word
    that is known at run time only); `line`: index in the function's lines; `place`: of its debug metadata."""

    name: str
    result: str | None
    arguments: list
    line: int
    place: str | None
    block: str = ""


@dataclass
class Block:
    """`calls` in order, phis first; `end`: the line of the terminator."""

    label: str
    calls: list = field(default_factory=list)
    successors: list = field(default_factory=list)
    predecessors: list = field(default_factory=list)
    end: int = 0


@dataclass
class Function:
    """`lines`: from `define` to the closing brace, with line numbers of the whole text from `start` on."""

    name: str
    start: int
    lines: list
    blocks: dict = field(default_factory=dict)


def functions(lines):
    """[Function] of a module's lines that have vector calls, blocks read."""
    found, start = [], None
    for number, line in enumerate(lines):
        if line.startswith("define "):
            start = number
        elif line.startswith("}") and start is not None:
            body = lines[start : number + 1]
            if any(TOKEN in one or f"@{PREFIX}" in one for one in body):
                found.append(Function(DEFINE.match(body[0])[1], start, body))
            start = None
    return found


def read_blocks(function, places):
    """Fill a function's `blocks`.  KernelCompileError for a vector that leaves the function or lies in memory."""
    named = LABEL.match(function.lines[1])
    entry = f"%{named[1]}" if named else _entry_label(function.lines[0])
    block = Block(entry)
    function.blocks = {entry: block}
    for number, line in enumerate(function.lines[1:-1], 1):
        label = LABEL.match(line)
        if label:
            block = function.blocks.setdefault(f"%{label[1]}", Block(f"%{label[1]}"))
            continue
        text = line.strip()
        call = _call(line, number, function, places)
        if call is not None:
            call.block = block.label
            block.calls.append(call)
        elif text.startswith(TERMINATORS):
            block.end = number
            block.successors = _targets(function.lines, number)
    for one in function.blocks.values():
        for target in one.successors:
            function.blocks[target].predecessors.append(one.label)
    return function


def _entry_label(line):
    """The implicit name of a function's first block: the number behind those of its unnamed parameters."""
    inside = line[line.index("(") : line.rindex(")")]
    numbers = [int(number) for number in re.findall(r"%(\d+)\b", inside)]
    return f"%{max(numbers) + 1 if numbers else 0}"


def _targets(lines, number):
    """Labels that a terminator leads to; a switch has several lines."""
    text = lines[number]
    if text.strip().startswith("switch"):
        while "]" not in lines[number]:
            number += 1
            text += lines[number]
    return list(dict.fromkeys(TARGET.findall(text)))


def _call(line, number, function, places):
    place = PLACE.search(line)
    place = place[1] if place else None
    if "#dbg_" in line:
        return None
    if f"@{PREFIX}" in line and (found := CALL.match(line)):
        arguments = [_value(one) for one in _split(found[3])]
        return Call(found[2], found[1], arguments, number, place)
    if "asm sideeffect" in line and (found := RAW.search(line)):
        return Call("raw", None, [int(found[1]) & 0xFFFFFFFF], number, place)
    if "store volatile" in line and (found := STORED.search(line)):
        known = re.fullmatch(r"-?\d+", found[1])
        return (
            Call("raw", None, [int(found[1]) & 0xFFFFFFFF], number, place)
            if known
            else Call("unknown", None, [], number, place)
        )
    if TOKEN not in line:
        return None
    if found := PHI.match(line):
        return Call("phi", found[1], INCOMING.findall(found[2]), number, place)
    if found := SELECT.match(line):
        return Call("select", found[1], [found[2], found[3], found[4]], number, place)
    if found := FREEZE.match(line):
        return Call("freeze", found[1], [found[2]], number, place)
    raise places.error(
        place, "a vector leaves its function, lies in memory or is chosen by an address: the vector unit's registers have none",
        hint=f"let the compiler inline {function.name}, and index arrays of vectors with constants",
    )  # fmt: skip


def _split(text):
    """Arguments of a call, at the commas outside of brackets."""
    parts, depth, current = [], 0, ""
    for letter in text:
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += letter
    return [*parts, current.strip()] if current.strip() else parts


def _value(argument):
    return argument.rsplit(" ", 1)[-1]


class Places:
    """Source lines of a module's debug metadata."""

    LOCATION = re.compile(r"^(!\d+) = (?:distinct )?!DILocation\((.*)\)$")
    FIELD = re.compile(r"(\w+): (!?\w+|\"[^\"]*\")")

    def __init__(self, lines):
        self._nodes = {}
        for line in lines:
            if line.startswith("!") and " = " in line:
                name, _, text = line.partition(" = ")
                self._nodes[name] = text

    def _fields(self, node):
        return dict(self.FIELD.findall(self._nodes.get(node, "")))

    def _file(self, scope):
        for _ in range(64):
            fields = self._fields(scope)
            if "file" in fields:
                described = self._fields(fields["file"])
                return described.get("filename", '""').strip('"')
            scope = fields.get("scope", "")
        return ""

    def frames(self, place):
        """[(file, line)] of a place, the innermost call first."""
        found = []
        while place and len(found) < 64:
            fields = self._fields(place)
            found.append((self._file(fields.get("scope", "")), int(fields.get("line", 0))))
            place = fields.get("inlinedAt")
        return found

    def error(self, place, message, hint=None):
        """A KernelCompileError that names the innermost line outside of the front end's own headers."""
        frames = self.frames(place)
        outside = [frame for frame in frames if "/llk/include/" not in frame[0]] or frames
        where = {"file": outside[0][0], "line": outside[0][1]} if outside else {}
        return KernelCompileError(message, where=where, hint=hint)
