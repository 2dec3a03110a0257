"""From C++ with vector programs to an object: to LLVM IR, through the pass over it, to machine code.

Both builds against the vendor's LLK take these steps: kernels of tensim's own builds (`tensim.sim.cores.riscv.llk.build`) and the
command lines of the vendor's (`tensim.drop_in`).
"""

import functools
import re
from dataclasses import replace
from pathlib import Path

from tensim.sim.cores.riscv import toolchain
from tensim.sim.cores.riscv.llk import dialect, functions_to_call, functions_to_inline, memory_regions
from tensim.sim.cores.riscv.vector.lowering import lowered

LLK_INCLUDE = Path(__file__).resolve().parent / "include"
EXTENSIONS = {"wormhole_b0": "", "blackhole": "_zba_zbb"}  # docs/hardware/riscv.md#pipeline
# Macros that the vendor's compiler defines for processors with Tensix instructions
GUARDS = {"wormhole_b0": "__riscv_xtttensixwh", "blackhole": "__riscv_xtttensixbh"}
# A loop over tiles counts its tiles, not each of their addresses: an unrolled one would have more of those than registers.  What is
# called is inlined, as the vendor's compiler does; an LLK function that is not has the shape of a tile as an argument.  Of compute
# kernels, which tt-metal compiles with -O3: firmware has little room.
OF_O3 = ("-mllvm", "-disable-lsr", "-mllvm", "-inline-threshold=1000")
TO_IR = ("-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes")
# Clang writes template arguments of class type into debug information in a form that it does not read.
STRUCTURE_ARGUMENT = re.compile(r"^(!\d+ = !DITemplateValueParameter\(.*, value: )(?:%|\{).*\)$", re.M)
VARIABLE = re.compile(r"^(@[\w.$]+ = )dso_local (global .*)$", re.M)


def tools_for(chip):
    """The compiler, told which instructions the cores of a chip have beside RV32IM."""
    tools = toolchain.toolchain()
    flags = ("-march=rv32im" + EXTENSIONS[chip] if flag.startswith("-march=") else flag for flag in tools.flags)
    return replace(tools, flags=tuple(flags))


def optimising(tools, level, is_short):
    """Flags that compile LLVM IR."""
    kept = (flag for flag in tools.flags if flag.startswith(("-m", "--target", "-f", "-g")))
    return [*kept, f"-{level}", *(OF_O3 if is_short and level == "O3" else ()), "-x", "ir"]


def _readable(text):
    return STRUCTURE_ARGUMENT.sub(r"\1i32 0)", text)


def closed(text):
    """A module's text in which only its own functions write to its variables: a pointer that nobody changes is a constant."""
    return VARIABLE.sub(lambda found: found[0] if 'section "' in found[0] else f"{found[1]}internal {found[2]}", text)


def translate(tools, flags, level, chip, source, target, folder, failed, prepare=None, finish=None, is_short=False):
    """Compile the file `source` into the object `target`; the names of files that went in, as a make rule names them.

    `flags`: of C++; `folder`: where files in between go; `failed(messages)` raises; `prepare`: what is done to the text of the
    module before any optimisation; `finish`: to that of the optimised one; `is_short`: as short in time as the vendor's
    compiler makes kernels, which takes more room than firmware has.
    """
    first, second, depends = (folder / f"{source.stem}{end}" for end in ("-first.ll", "-second.ll", ".d"))

    def messages_of(*command):
        result = toolchain.run([*tools.compile, *command], cwd=folder)
        return result.stderr if result.returncode else None

    def run(*command):
        if (messages := messages_of(*command)) is not None:
            failed(messages)

    to_ir = [*flags, *TO_IR, "-MD", "-MF", str(depends), "-x", "c++", str(source), "-o", str(first)]
    unread = dialect.known()
    while (messages := messages_of(*dialect.overlay(unread, folder), *to_ir)) is not None:
        more = dialect.unread(messages) - unread
        if not dialect.overlay(more, folder):
            failed(messages)
        unread |= more
        dialect.remember(messages)
    text = _readable(first.read_text())
    text = prepare(text) if prepare else text
    text = functions_to_inline.marked(text)
    first.write_text(memory_regions.statements_apart(functions_to_call.marked(text)) if is_short else text)
    run(*optimising(tools, level, is_short), "-S", "-emit-llvm", str(first), "-o", str(second))
    text = lowered(_readable(second.read_text()), chip)
    text = memory_regions.registers_apart(text) if is_short else text
    second.write_text(finish(text) if finish else text)
    run(*optimising(tools, level, is_short), "-c", str(second), "-o", str(target))
    known = (str(folder), str(tools.zig))
    return [name for name in toolchain.files_of(depends.read_text(), folder) if not name.startswith(known)]


@functools.cache
def pass_digest():
    """What changes the words of a program beside the program: the pass over its vectors, and these steps."""
    from tensim.sim.cores.riscv import vector
    from tensim.sim.cores.riscv.compiler import digest

    folders = Path(vector.__file__).parent, Path(__file__).parent
    return digest(b"".join(path.read_bytes() for folder in folders for path in sorted(folder.glob("*.py"))))
