"""One source of a command to one object: flags, front end, the pass over vector programs, messages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from tensim.drop_in import naked
from tensim.sim.cores.riscv import toolchain
from tensim.sim.cores.riscv.llk import translation
from tensim.sim.errors import KernelCompileError

if TYPE_CHECKING:
    from tensim.drop_in.command_line import Command
    from tensim.sim.cores.riscv.toolchain import Toolchain

HERE = Path(__file__).resolve().parent / "include"
Source: TypeAlias = tuple[Path, str]  # file, language
# warnings of the vendor's compiler are others
OF_OWN_BUILDS = ("-Werror=uninitialized", "-Werror=sometimes-uninitialized")


class Failed(Exception):
    """A step that the compiler or linker refused; the argument is its messages."""


# constant expressions may name references whose objects are unknown, as with the vendor's compiler
STANDARD = "-std=c++23"


def tools_of(command: Command) -> Toolchain:
    """The compiler of a command's chip, Blackhole's with atomic instructions.

    Its objects leave nothing for the linker to shorten, which keeps their labels out, but for firmware that has little room.
    """
    tools = translation.tools_for(command.chip)
    flags = (STANDARD if flag.startswith("-std=") else flag for flag in tools.flags)
    if command.chip == "blackhole":
        flags = (flag.replace("rv32im", "rv32ima", 1) if flag.startswith("-march=") else flag for flag in flags)
    return replace(tools, flags=(*flags, "-mrelax" if command.is_profiled_firmware else "-mno-relax"))


def flags_of(command: Command, tools: Toolchain, folder: Path) -> list[str]:
    """Flags of a source in C++."""
    include, _ = toolchain.prepared(tools, command.level)
    flags = [flag for flag in tools.flags if flag not in OF_OWN_BUILDS]
    flags += ["-fno-finite-loops", f"-{command.level}", *include, f"-iquote{folder}"]
    flags += [f"-D{translation.GUARDS[command.chip]}=1"] if command.is_tensix else []
    flags += [naked.MACRO, "-include", str(HERE / "tensim_drop_in.h")]
    return [*flags, f"-I{HERE}", f"-I{translation.LLK_INCLUDE}", *placed(command.front, folder)]


def placed(options: Iterable[str], folder: Path) -> list[str]:
    """Options of the front end with folders and files that do not depend on where the compiler runs."""
    options, result = iter(options), []
    for one in options:
        value = next(options) if one in ("-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros") else None
        if value is None:
            result.append(one)
        elif one in ("-include", "-imacros"):
            inside = Path(folder, value)
            result += [one, str(inside) if inside.exists() else value]
        else:
            result += [one, str(Path(folder, value))]
    return result


def to_object(command: Command, source: Source, target: Path, folder: Path, scratch: Path) -> list[str]:
    """Compile one source; names of the files that went in.  `source`: (file, language); Failed with the messages."""
    path, language = source
    tools = tools_of(command)
    toolchain.mend_prepared(tools, command.level)
    if language not in ("c++", "c++-header"):
        return _plain(command, tools, path, language, target, folder, scratch)
    flags = [*flags_of(command, tools, folder), *reproducible(folder, scratch)]

    def failed(messages: str) -> NoReturn:
        raise Failed(messages)

    def prepare(text: str) -> str:
        text = closed_program(text) if command.whole_program else kept_whole(text)
        return naked.apart(aligned(with_own_functions(text)))

    try:
        return translation.translate(
            tools, flags, command.level, command.chip, path, target, scratch, failed, prepare, naked.naked
        )
    except KernelCompileError as error:
        place = f"{error.where.get('file', path)}:{error.where.get('line', 1)}"
        raise Failed(f"{place}: error: {error.message}\n{error.hint or ''}\n") from error


def reproducible(folder: Path, scratch: Path) -> tuple[str, str]:
    """Flags by which debug information names the folder where the command runs, and none of files in between."""
    return f"-ffile-compilation-dir={folder}", f"-fdebug-prefix-map={scratch}=."


def preprocessed(command: Command, source: Source, folder: Path) -> bytes:
    """The text of a source after its preprocessor, as bytes.  Failed with the messages."""
    path, language = source
    tools = tools_of(command)
    result = toolchain.run(
        [*tools.compile, *flags_of(command, tools, folder), "-x", language, "-E", str(path)], cwd=folder
    )
    if result.returncode:
        raise Failed(result.stderr)
    return result.stdout.encode()


PRAGMA_MESSAGE = re.compile(rb'^# (?P<line>\d+) (?P<file>"[^"]*")|^#pragma message\("(?P<text>.*)"\)$', re.M)


def pragma_messages(command: Command, source: Source, folder: Path) -> bytes:
    """What `#pragma message` says in a source, as GCC prints it: tt-metal reads the names of its profiler's zones from there."""
    text, lines, marker = preprocessed(command, source, folder), [], None
    for found in PRAGMA_MESSAGE.finditer(text):
        if found["file"]:
            marker = found
        elif marker:
            line = int(marker["line"]) + text.count(b"\n", marker.end() + 1, found.start())
            said = found["text"].replace(b'\\"', b'"')
            lines.append(b"%s:%d:1: note: '#pragma message: %s'\n" % (marker["file"].strip(b'"'), line, said))
    return b"".join(lines)


def _plain(
    command: Command, tools: Toolchain, path: Path, language: str, target: Path, folder: Path, scratch: Path
) -> list[str]:
    """A source in C or assembler."""
    kept = [flag for flag in tools.flags if not flag.startswith("-std=") and flag not in OF_OWN_BUILDS]
    depends = scratch / f"{path.stem}.d"
    flags = [
        *kept,
        f"-{command.level}",
        f"-I{HERE}",
        f"-I{translation.LLK_INCLUDE}",
        *placed(command.front, folder),
        *reproducible(folder, scratch),
    ]
    result = toolchain.run(
        [*tools.compile, *flags, "-x", language, "-MD", "-MF", str(depends), "-c", str(path), "-o", str(target)],
        cwd=folder,
    )
    if result.returncode:
        raise Failed(result.stderr)
    names = toolchain.files_of(depends.read_text(), folder) if depends.exists() else [str(path)]
    return [name for name in names if not name.startswith((str(scratch), str(tools.zig)))]


# Arrays and structures that may lie at any byte, in memory and on the stack
LOOSE = re.compile(r"^(@[\w.$]+ = .*?(?:global|constant) [\[{%<].*|  %[\w.]+ = alloca [\[{%<].*), align [12]\b", re.M)


def aligned(text: str) -> str:
    """A module's text whose arrays and structures lie at words, as GCC for RISC-V has it: firmware copies them word by word."""
    return LOOSE.sub(r"\1, align 4", text)


# --- what of a module stays in the program

USED = re.compile(r"^@llvm\.(?:compiler\.)?used = appending global \[\d+ x ptr\] \[(.*)\], section .*\n", re.M)
SYMBOL = re.compile(r"@([\w.$]+)")


def kept_whole(text: str) -> str:
    """A module's text whose variables and functions that are marked as used stay, though nothing refers to them."""
    marked = ", ".join(dict.fromkeys(one for found in USED.findall(text) for one in found.split(", ")))
    used = f'@llvm.used = appending global [{marked.count("@")} x ptr] [{marked}], section "llvm.metadata"\n'
    lists = iter([used])
    return USED.sub(lambda _: next(lists, ""), text)


def closed_program(text: str) -> str:
    """A module's text in which variables that nothing else can name are its own."""
    used = {name for found in USED.findall(text) for name in SYMBOL.findall(found)}

    def closed(found: re.Match[str]) -> str:
        is_kept = found[1].split(" ")[0].removeprefix("@") in used or 'section "' in found[0]
        return found[0] if is_kept else f"{found[1]}internal {found[2]}"

    return kept_whole(translation.VARIABLE.sub(closed, text))


INLINE = re.compile(r"^define linkonce_odr (?:dso_local |hidden )*(.*\{)$", re.M)
GROUP = re.compile(r" comdat(?:\(\$[^)]*\))?(?= )")  # of equal functions, of which the linker keeps one


def with_own_functions(text: str) -> str:
    """A module's text whose inline functions are its own: one that is called once goes into its caller, however long it is, and
    what all calls say alike need not be asked.

    GCC, the vendor's compiler, does both with functions that other objects may have, too (-finline-functions-called-once and
    -fipa-cp of its manual, on from -O1 and -O2).
    """
    return INLINE.sub(lambda found: f"define internal {GROUP.sub('', found[1])}", text)
