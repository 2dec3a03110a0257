"""Objects to a program, by ld.lld with the command's scripts."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tensim.drop_in import library_objects
from tensim.drop_in.link_scripts import readable
from tensim.drop_in.program_file import finished
from tensim.drop_in.translation import Failed, to_object, tools_of
from tensim.sim.cores.riscv import toolchain
from tensim.sim.engine.sealed_files import write_atomically

if TYPE_CHECKING:
    from tensim.drop_in.command_line import Command
    from tensim.sim.cores.riscv.toolchain import Toolchain

# Options that name no files, and those of GNU's linker that change nothing here
IGNORED = re.compile(
    r"--?(trace|start-group|end-group|no-warn.*|warn-.*|print-memory-usage|gc-sections|Map.*|relax|no-relax|plugin.*)$"
)
# Program headers and optimisations of ld.lld that GNU's linker does not have; functions and variables that nothing reaches go
ALWAYS = "-z norelro -z nognustack --no-dependent-libraries --gc-sections -m elf32lriscv".split()
OF_FIRMWARE = "firmware"  # begins names of its scripts; kernels are moved, which shortened calls do not survive


def link(command: Command, objects: Iterable[Path], folder: Path, scratch: Path) -> tuple[bytes, list[str]]:
    """(The program's bytes, names of the other files that went in).  Failed with the messages."""
    tools, target = tools_of(command), scratch / "program.elf"
    scripts, inputs, outside = [], [], []
    for number, name in enumerate(command.scripts):
        path = Path(folder, name)
        inputs.append(str(path))
        try:
            text = path.read_text()
        except OSError as error:
            raise Failed(f"cannot open linker script file {path}: {error.strerror}\n") from error
        scripts.append(scratch / f"script-{number}.ld")
        text, names = readable(text)
        scripts[-1].write_text(text)
        outside += names
    options = [_option(one, folder, inputs) for one in command.linker if not IGNORED.match(one)]
    others = [_with_code(Path(folder, name), command, scratch, inputs) for name in command.objects]
    libraries = ["--start-lib", support_object(tools), "--end-lib", toolchain.arithmetic_library(tools)]
    if not any(Path(name).name.startswith(OF_FIRMWARE) for name in command.scripts):
        options.append("--no-relax")
    lines = [*tools.link, *ALWAYS, *options, *(f"-T{script}" for script in scripts), *map(str, objects), *others]
    result = toolchain.run([*lines, *libraries, "-o", str(target)], cwd=folder)
    if result.returncode:
        raise Failed(result.stderr)
    return finished(target.read_bytes(), outside), inputs


def _with_code(path: Path, command: Command, scratch: Path, inputs: list[str]) -> str:
    """An object that can be linked: itself, or what is compiled in its place."""
    inputs.append(str(path))
    try:
        if not library_objects.is_slim(path):
            return str(path)
        root, source = library_objects.source_of(path, command.chip)
    except OSError as error:
        raise Failed(f"cannot link {path}: {error}\n") from error
    made = scratch / path.name
    inner = library_objects.command_for(root, source, command.chip)
    inputs += to_object(inner, (source, "c++"), made, root, scratch)
    return str(made)


def _option(one: str, folder: Path, inputs: list[str]) -> str:
    """An option whose file does not depend on where the linker runs."""
    found = re.fullmatch(r"--?(just-symbols|R)=(.*)", one)
    if found is None:
        return one
    inputs.append(os.path.join(folder, found[2]))
    return f"--just-symbols={inputs[-1]}"


def support_object(tools: Toolchain) -> str:
    """The object of memory functions and hooks of the language, made once."""
    source = toolchain.PACKAGE / "runtime.cpp"
    key = hashlib.sha256(repr(tools).encode() + source.read_bytes()).hexdigest()[:16]
    path = toolchain.cache_folder() / f"support-{key}" / "support.o"
    if not path.exists():
        made = path.with_name(f"made-{os.getpid()}.o")
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = [*tools.flags, "-O2", "-fno-builtin", "-DTENSIM_NO_START"]
        result = toolchain.run([*tools.compile, *flags, "-c", str(source), "-o", str(made)])
        if result.returncode:
            raise Failed(result.stderr)
        write_atomically(path, made.read_bytes())
        made.unlink()
    return str(path)
