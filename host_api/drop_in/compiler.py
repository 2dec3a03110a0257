"""The vendor's compiler by its command line: `compile(arguments, folder)`, and `python -m tensim.drop_in.compiler NAME ...`.

What it makes is kept by the content of everything that went in, as kernels are.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tensim.drop_in import command_line
from tensim.sim.errors import TensimError

VERSION = "riscv-tt-elf-g++ (tensim's stand-in for the vendor's compiler) 15.1.0\n"


def compile(arguments: Sequence[str], folder: str | Path, standard_input: bytes = b"") -> tuple[int, bytes]:
    """(exit status, messages as bytes) of a command line, without the program's name, that runs in `folder`."""
    from tensim.drop_in.translation import Failed

    try:
        command = command_line.read(arguments, folder)
        return 0, _carry_out(command, Path(folder).resolve(), standard_input)
    except Failed as error:
        return 1, str(error).encode()
    except TensimError as error:
        return 1, f"riscv-tt-elf-g++: error: {error}\n".encode()


def _carry_out(command: command_line.Command, folder: Path, text: bytes) -> bytes:
    if command.step == "version":
        return VERSION.encode()
    if command.step == "header":
        return _header(command, folder)
    content, inputs = _built(command, folder, text)
    for output, data in _outputs(command, content):
        Path(folder, output).write_bytes(data)
    if command.depends:
        file, target = command.depends
        Path(folder, file).write_text(f"{target}: {' '.join(name.replace(' ', chr(92) + ' ') for name in inputs)}\n")
    return _said(command, folder)


def _said(command: command_line.Command, folder: Path) -> bytes:
    """What the sources of a command say of their zones, where it compiles for tt-metal's profiler."""
    if command.step != "compile" or not command.is_profiled:
        return b""
    from tensim.drop_in.translation import pragma_messages

    return b"".join(pragma_messages(command, (Path(name), language), folder) for name, language in command.sources)


def _outputs(command: command_line.Command, content: bytes) -> list[tuple[str, bytes]]:
    if command.step == "preprocess":
        return [(command.output or "/dev/stdout", content)]
    if command.is_link:
        return [(command.output or "a.out", content)]
    return [(command.output or f"{Path(command.sources[0][0]).stem}.o", content)]


def _header(command: command_line.Command, folder: Path) -> bytes:
    """A precompiled header: clang reads the header itself, and passes over this file."""
    (source, _), *_ = command.sources
    Path(folder, command.output or f"{source}.gch").write_bytes(b"")
    return b""


def _built(command: command_line.Command, folder: Path, text: bytes) -> tuple[bytes, list[str]]:
    """(Content of what is made, names of files that went in), kept by what went in."""
    from tensim.drop_in.translation import tools_of
    from tensim.sim.cores.riscv import compiler as kernels

    key = (replace(command, output=None, depends=None), str(folder), text, tools_of(command).version, digest())
    return kernels.cached_files(key, lambda: _made(command, folder, text))


def digest() -> str:
    """What changes the result of a command beside its files: the pass over vector programs, and this package."""
    from tensim.sim.cores.riscv.compiler import digest as digest_of
    from tensim.sim.cores.riscv.llk.translation import LLK_INCLUDE, pass_digest

    here = Path(__file__).parent
    files = sorted([*here.glob("*.py"), *here.glob("include/*"), *LLK_INCLUDE.glob("*.h")])
    return pass_digest() + digest_of(b"".join(path.read_bytes() for path in files))


def _made(command: command_line.Command, folder: Path, text: bytes) -> tuple[bytes, list[str]]:
    from tensim.drop_in import linking, translation

    with tempfile.TemporaryDirectory(prefix="tensim-") as folder_of_parts:
        scratch = Path(folder_of_parts)
        objects: list[Path] = []
        inputs: list[str] = []
        for number, (name, language) in enumerate(command.sources):
            source = Path(folder, name)
            if name == "-":
                source = scratch / f"standard-input-{number}.cpp"
                source.write_bytes(b'#line 1 "<stdin>"\n' + text)
            if command.step == "preprocess":
                return translation.preprocessed(command, (source, language), folder), []
            objects.append(scratch / f"object-{number}.o")
            inputs += translation.to_object(command, (source, language), objects[-1], folder, scratch)
        if not command.is_link:
            return objects[0].read_bytes(), inputs
        program, others = linking.link(command, objects, folder, scratch)
        return program, inputs + others


def main(arguments: Sequence[str]) -> int:
    """Run as the program `arguments[0]`."""
    name, *rest = arguments
    name = name.rpartition("-")[2]
    if name not in ("g++", "gcc", "c++"):
        from tensim.drop_in import binary_tools

        return binary_tools.run(name, rest)
    text = sys.stdin.buffer.read() if "-" in rest else b""
    status, messages = compile(rest, os.getcwd(), text)
    stream = sys.stderr if status else sys.stdout
    stream.buffer.write(messages)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
