"""A command line of the vendor's compiler, a gcc for RISC-V, read as what is to be done.

Options that say how that compiler optimises, warns or writes files in between change nothing here and are passed over.
"""

from __future__ import annotations

import itertools
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tensim.sim.errors import UsageError

Source: TypeAlias = tuple[str, str]  # name, language
# -mcpu: (chip, whether it is a processor that has Tensix instructions)
PROCESSORS = {
    "tt-wh": ("wormhole_b0", False), "tt-wh-tensix": ("wormhole_b0", True),
    "tt-bh": ("blackhole", False), "tt-bh-tensix": ("blackhole", True),
}  # fmt: skip
WITH_VALUE = (
    "-o -x -I -D -U -include -imacros -isystem -iquote -idirafter -T -MF -MT -MQ -L -l -u -e -z -Xlinker -Xassembler "
    "-Xpreprocessor -wrapper -specs"
).split()
FOR_CLANG = ("-I", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter")
KEPT = ("-fmacro-prefix-map=", "-ffile-prefix-map=", "-fno-builtin", "-ffreestanding", "-fno-inline", "-fsigned-char")
COVERAGE = ("-fprofile-arcs", "-ftest-coverage", "--coverage")  # what they link is a library of the vendor's compiler
# A g++, to which C is C++
LANGUAGES = {
    ".c": "c++", ".S": "assembler-with-cpp", ".sx": "assembler-with-cpp", ".s": "assembler", ".h": "c++-header",
    ".hpp": "c++-header", ".cc": "c++", ".cpp": "c++", ".cxx": "c++", ".C": "c++",
}  # fmt: skip
# Firmware with the watcher's checks, or the profiler's zones, must fit into a room that clang's faster code does not fit into
FIRMWARE, PROFILED = "FW_BUILD", "PROFILE_KERNEL"
TIGHT = {"WATCHER_ENABLED": "Oz", PROFILED: "Os"}
LEVELS = {"-O": "O1", "-Og": "O1"} | {f"-{name}": name for name in ("O0", "O1", "O2", "O3", "Os", "Oz", "Ofast")}


@dataclass(frozen=True)
class Command:
    """What a command line asks for.

    `step`: "link", "compile" (-c), "preprocess" (-E), "header", or "version" for questions to the compiler.
    `sources`: ((name, language), ...), the name "-" for standard input; `objects`: what is linked beside them, in order.
    `front`: options of the language's front end; `linker`: of the linker; `scripts`: its scripts; `libraries`: names of -l.
    `whole_program`: the objects are a whole program (-flto).  `depends`: (file, target) of the make rule that is asked for.
    """

    step: str
    output: str | None
    chip: str
    is_tensix: bool
    level: str
    sources: tuple[Source, ...]
    objects: tuple[str, ...]
    front: tuple[str, ...]
    scripts: tuple[str, ...]
    linker: tuple[str, ...]
    libraries: tuple[str, ...]
    has_start: bool
    whole_program: bool
    depends: tuple[str, str] | None

    @property
    def is_link(self) -> bool:
        return self.step == "link"

    @property
    def is_profiled(self) -> bool:
        """Whether zones of tt-metal's device profiler are compiled."""
        return PROFILED in _defined(self.front)

    @property
    def is_profiled_firmware(self) -> bool:
        """Whether that is firmware, whose room is for code as short as GCC's."""
        return _defined(self.front) >= {FIRMWARE, PROFILED}


def expanded(arguments: Iterable[str], folder: str | Path) -> Iterator[str]:
    """Arguments with the content of files of arguments (@FILE) in their place."""
    for one in arguments:
        path = Path(folder, one[1:])
        if one.startswith("@") and path.is_file():
            yield from expanded(shlex.split(path.read_text()), folder)
        else:
            yield one


class _Reader:
    def __init__(self) -> None:
        self.step, self.level, self.depends = "link", "O0", False
        self.output: str | None = None
        self.language: str | None = None
        self.processor: str | None = None
        self.sources: list[Source] = []
        self.objects: list[str] = []
        self.front: list[str] = []
        self.scripts: list[str] = []
        self.linker: list[str] = []
        self.libraries: list[str] = []
        self.depends_file: str | None = None
        self.depends_target: str | None = None
        self.whole_program, self.has_start = False, True

    def file(self, name: str) -> None:
        language = self.language if self.language is not None else LANGUAGES.get(os.path.splitext(name)[1])
        if name == "-" and language is None:
            raise UsageError("-E or -x required when input is from standard input")
        if language is None:
            self.objects.append(name)
        else:
            self.sources.append((name, language))

    def valued(self, name: str, value: str) -> None:
        if name in FOR_CLANG:
            self.front += [name, value]
        elif name == "-o":
            self.output = value
        elif name == "-x":
            self.language = None if value == "none" else value
        elif name == "-T":
            self.scripts.append(value)
        elif name == "-MF":
            self.depends_file = value
        elif name in ("-MT", "-MQ"):
            self.depends_target = value
        elif name == "-l":
            self.libraries.append(value)
        elif name == "-L":
            self.linker.append(f"-L{value}")
        elif name == "-Xlinker":
            self.linker.append(value)
        elif name in ("-u", "-e", "-z"):
            self.linker += [name, value]
        elif name == "-Xpreprocessor":
            self.front.append(value)

    def option(self, one: str) -> None:
        if one in LEVELS:
            self.level = LEVELS[one]
        elif one in ("-c", "-E"):
            self.step = {"-c": "compile", "-E": "preprocess"}[one]
        elif one == "-S":
            raise UsageError("-S: programs are shown by riscv-tt-elf-objdump -d, or tensim disassemble")
        elif one.startswith("-mcpu="):
            self.processor = one[6:]
        elif one.startswith("-Wl,"):
            self.linker += one[4:].split(",")
        elif one in ("-MMD", "-MD", "-M", "-MM"):
            self.depends = True
        elif one in ("-nostdlib", "-nostartfiles"):
            self.has_start = False
        elif one.startswith("-flto"):
            self.whole_program = True
        elif one == "-fno-lto":
            self.whole_program = False
        elif one.startswith(KEPT):
            self.front.append(one)
        elif one in COVERAGE:
            raise UsageError(f"{one}: builds that count which lines run need the vendor's compiler")


def read(arguments: Sequence[str], folder: str | Path) -> Command:
    """The `Command` of a command line, without the program's name.  UsageError for one that cannot be done here."""
    reader, waiting = _Reader(), iter(expanded(arguments, folder))
    for one in waiting:
        if one in ("--version", "-v", "-dumpversion", "-dumpmachine") and len(arguments) == 1:
            return _question(one)
        if one in WITH_VALUE:
            value = next(waiting, None)
            if value is None:
                raise UsageError(f"missing argument to {one}")
            reader.valued(one, value)
        elif one == "-" or not one.startswith("-"):
            reader.file(one)
        elif one[:2] in ("-I", "-D", "-U", "-T", "-L", "-l", "-x", "-o"):
            reader.valued(one[:2], one[2:])
        else:
            reader.option(one)
    return _command(reader)


def _question(one: str) -> Command:
    return Command("version", one, "", False, "O0", (), (), (), (), (), (), False, False, None)


def _command(reader: _Reader) -> Command:
    if not reader.sources and not reader.objects:
        raise UsageError("no input files")
    if reader.processor not in PROCESSORS:
        known = ", ".join(PROCESSORS)
        raise UsageError(f"-mcpu={reader.processor or ''} is not a processor that tensim has; it has {known}")
    chip, is_tensix = PROCESSORS[reader.processor]
    step = "header" if reader.step == "link" and _is_header(reader.sources) else reader.step
    depends = None
    if reader.depends or reader.depends_file:
        first = reader.sources[0][0] if reader.sources else "output"
        target = reader.output or f"{Path(first).stem}.o"
        depends = (reader.depends_file or f"{os.path.splitext(target)[0]}.d", reader.depends_target or target)
    defined = _defined(reader.front)
    levels = [level for name, level in TIGHT.items() if {FIRMWARE, name} <= defined]
    level = next(iter(levels), reader.level)
    return Command(
        step, reader.output, chip, is_tensix, level, tuple(reader.sources), tuple(reader.objects),
        tuple(reader.front), tuple(reader.scripts), tuple(reader.linker), tuple(reader.libraries), reader.has_start,
        reader.whole_program, depends,
    )  # fmt: skip


def _defined(front: Iterable[str]) -> set[str]:
    """Names that options for clang define."""
    return {value.partition("=")[0] for name, value in itertools.pairwise(front) if name == "-D"}


def _is_header(sources: Sequence[Source]) -> bool:
    return bool(sources) and all(language.endswith("-header") for _, language in sources)
