"""What people type for places: cores, threads, kernel lines, operations of the machine, addresses."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tensim.sim.cores.kernels.lowering_operations import OPERATIONS
from tensim.sim.cores.operations import Op
from tensim.sim.cores.riscv.decode import INSTRUCTION_BYTES, Code
from tensim.sim.cores.riscv.program import ThreadProgram
from tensim.sim.cores.slots import THREAD_NAMES, THREADS_PER_CORE
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tensim.sim.chip.chip import Chip

Programs: TypeAlias = Mapping[
    int, Any
]  # by base in the line table; a program is a `ThreadProgram`, or of a Python kernel
CORE = re.compile(r"\(?\s*(\d+)\s*[,-]\s*(\d+)\s*\)?")
LINE = re.compile(r"(.+):(\d+)")
ADDRESS = re.compile(r"(.+)@(0[xX][0-9a-fA-F]+|\d+)")
CALL = re.compile(r"\b(\w+)\s*[(\[]")


def core_index(chip: Chip, text: str) -> int:
    """Worker index of a core typed as X,Y: its logical coordinates."""
    found = CORE.fullmatch(text)
    columns, rows = chip.arch.grid
    if found is None:
        raise UsageError(f"{text!r} is not a core", hint="a core is X,Y: its logical coordinates, as 0,0")
    x, y = int(found[1]), int(found[2])
    if x >= columns or y >= rows:
        raise UsageError(f"there is no core {x},{y}; the chip has {columns}x{rows}")
    return y * columns + x


def thread_index(chip: Chip, text: str, core: int | None = None) -> int:
    """Index of a thread typed as X,Y:THREAD, or as THREAD of the worker `core`."""
    place, found, name = text.rpartition(":")
    worker = core_index(chip, place) if found else core
    if worker is None:
        raise UsageError(f"{text!r} is not a thread", hint="a thread is X,Y:NAME, as 0,0:BRISC")
    names = [one.lower() for one in THREAD_NAMES]
    if name.lower() not in names:
        raise UsageError(f"there is no thread {name!r}", hint=f"threads are {', '.join(THREAD_NAMES)}")
    return worker * THREADS_PER_CORE + names.index(name.lower())


def number(text: str, what: str = "a number") -> int:
    """A whole number, in decimal or with 0x."""
    try:
        return int(text, 0)
    except ValueError:
        raise UsageError(f"{text!r} is not {what}") from None


@dataclass(frozen=True)
class Location:
    """Where to stop: rows of programs {(base, program): row numbers}, or operations {Op: kind of barrier or None}.

    `text`: in words.  Both empty: no kernel of that name is loaded yet.
    """

    text: str
    rows: dict[tuple[int, Any], set[int]]
    operations: dict[Op, int | None]


def find(text: str, programs: Programs) -> Location:
    """The `Location` of FILE:LINE, KERNEL@ADDRESS, or the name of an operation or of a call of the kernel API.

    `programs`: {base in the line table: program}.  UsageError for what is none of these, or a line without code.
    """
    if found := LINE.fullmatch(text):
        return _line(text, found[1], int(found[2]), programs)
    if found := ADDRESS.fullmatch(text):
        return _address(text, found[1], int(found[2], 0), programs)
    return Location(text, {}, operations_of(text))


def operations_of(name: str) -> dict[Op, int | None]:
    """{Op: kind of barrier or None} that an operation's or a call's name stands for."""
    known: dict[str, dict[Op, int | None]] = {op.name.lower(): {op: None} for op in Op}
    known |= _calls()
    if name.lower() in known:
        return known[name.lower()]
    longest = max((one for one in known if name.startswith(one)), key=len, default=None)
    if longest is None:
        close = difflib.get_close_matches(name, known, 3)
        hint = (
            f"did you mean {', '.join(close)}?"
            if close
            else "FILE:LINE, KERNEL@ADDRESS or an operation, as cb_wait_front"
        )
        raise UsageError(f"{name!r} is no place to stop at", hint=hint)
    return known[longest]


@functools.cache
def _calls() -> dict[str, dict[Op, int | None]]:
    """{call of the kernel API: {Op: kind of barrier or None}}."""
    found = {}
    for name, call in OPERATIONS.items():
        found[name] = {one.op: one.arguments[0] if one.op == Op.NOC_BARRIER else None for one in call.posts}
    return {name: operations for name, operations in found.items() if operations}


def is_file(program: Any, name: str) -> bool:
    """Whether `name` is a kernel's name, its file's name, or the end of its path."""
    parts = Path(name).parts
    return name == program.name or Path(program.file).parts[-len(parts) :] == parts


def kernels_named(name: str, programs: Programs) -> list[tuple[int, Any]]:
    """{(base, program)} of the programs that are called so."""
    return [(base, program) for base, program in programs.items() if is_file(program, name)]


def _line(text: str, name: str, line: int, programs: Programs) -> Location:
    """Rows of a line of a kernel's file, or of headers of it; of the next line with code where that one has none."""
    rows, lines = {}, set()
    for base, program in programs.items():
        known = line_starts(program)
        for file, at in known:
            if Path(file).parts[-len(Path(name).parts) :] == Path(name).parts or (
                program.name == name and file == program.file
            ):
                lines.add(at)
                rows.setdefault(at, {}).setdefault((base, program), set()).update(known[file, at])
    if not lines:
        if kernels_named(name, programs):
            raise UsageError(f"{name} has no line with code", hint="kernels at the instruction level cannot be stopped")
        return Location(text, {}, {})
    below = [one for one in lines if one >= line]
    if not below:
        raise UsageError(f"{name} has no code at line {line} or below; its last is line {max(lines)}")
    at = min(below)
    return Location(f"{name}:{at}", rows[at], {})


def _address(text: str, name: str, address: int, programs: Programs) -> Location:
    found = [
        (base, program) for base, program in kernels_named(name, programs)
        if isinstance(program, ThreadProgram) and program.decoded is not None
    ]  # fmt: skip
    if programs and not found:
        raise UsageError(f"no C++ kernel {name} is loaded", hint="`threads` lists the kernels")
    for _, program in found:
        if address % INSTRUCTION_BYTES or address >= len(program.image.text):
            raise UsageError(f"{name} has no instruction at {address:#x}; it ends at {len(program.image.text):#x}")
    return Location(text, {key: {address // INSTRUCTION_BYTES} for key in found}, {})


@functools.lru_cache(maxsize=256)
def line_starts(program: Any) -> dict[tuple[str, int], set[int]]:
    """{(file, line): rows at which it begins} of a program; without those at the instruction level.

    A line begins where the one before it is another one, and where a jump from another line leads into it.  Compilers mix the
    instructions of lines: it does not begin again in the same stretch of code without a jump, unless it has had an operation.
    """
    if not isinstance(program, ThreadProgram):
        return {(program.file, line): {line} for line, text in program.lines.items() if _may_act(text)}
    if program.decoded is None:
        return {}
    places, jumps = _places(program), _jumps(program.decoded.records)
    targets = {target for _, target in jumps}
    found, begun, before = {}, set(), None
    for row, place in places.items():
        if row in targets:
            begun = set()
        if place != before and place not in begun and place[1]:
            found.setdefault(place, set()).add(row)
            begun.add(place)
        code = int(program.decoded.records[row]) & 0xFF
        if Code.BEQ <= code <= Code.JALR:
            begun = set()
        elif code == Code.OPERATION:
            begun.discard(place)
        before = place
    for source, target in jumps:
        if target in places and places[source] != places[target] and places[target][1]:
            found.setdefault(places[target], set()).add(target)
    return found


def _places(program: ThreadProgram) -> dict[int, tuple[str, int]]:
    """{row: (file, line)} of the rows that a core comes to: the first of an operation's."""
    places, following, decoded = {}, 0, program.decoded
    assert decoded is not None  # the interpreter executes it
    for row, word in enumerate(decoded.records.tolist()):
        if row >= following:
            place = program.place(row)
            places[row] = place["file"], place["line"]
            is_operation = word & 0xFF == Code.OPERATION
            following = row + (int(decoded.operands[(word >> 32) + 1]) // INSTRUCTION_BYTES if is_operation else 1)
    return places


def _jumps(records: NDArray[np.int64]) -> list[tuple[int, int]]:
    """[(row, row that it may lead to)] of branches and jumps."""
    return [
        (row, row + (word >> 32) // INSTRUCTION_BYTES)
        for row, word in enumerate(records.tolist())
        if Code.BEQ <= word & 0xFF <= Code.JAL
    ]


def _may_act(text: str) -> bool:
    """Whether a line of a Python kernel may have an operation: it calls the API or helpers, or looks at memory."""
    stripped = text.strip()
    return not stripped.startswith(("@", "def ", "#")) and CALL.search(stripped) is not None
