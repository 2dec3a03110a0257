"""Compute kernels given as ELF files, one for each of their three processors, made by another compiler.

A kernel of tt-metal's, linked beside its firmware (it names `__fw_export_ldm_end`), is started by a start of ours, which does what
that firmware does; it is built against the headers of the same release, and the kernel's text is moved out of L1.  Any other file
is a whole program, linked at `layout.TEXT_ADDRESSES`, with the conventions of `tensim.sim.cores.riscv.llk.build`.
"""

import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tensim.sim.cores.riscv import compiler as kernels
from tensim.sim.cores.riscv import toolchain
from tensim.sim.cores.riscv.elf import MAX_FILE, load_elf
from tensim.sim.cores.riscv.kernel import CHIPS_WITH_INSTRUCTIONS, COMPUTE_SLOTS, CppKernel, is_compute
from tensim.sim.cores.riscv.kernel_elf import PAGE, chip_of, moved, read_kernel, with_program
from tensim.sim.cores.riscv.layout import LOCAL_BASE, TEXT_ADDRESSES, local_bytes
from tensim.sim.cores.riscv.llk.build import LlkBuild, defines, flags_of
from tensim.sim.cores.riscv.llk.translation import pass_digest, tools_for, translate
from tensim.sim.cores.riscv.llk.tree import find_tree
from tensim.sim.errors import BinaryError, KernelCompileError, UsageError

THREADS = ("unpack", "math", "pack")
# The firmware's variables that it sets before it calls a kernel
VARIABLES = "rta_l1_base crta_l1_base my_logical_x_ my_logical_y_ my_relative_x_ my_relative_y_ cb_interface".split()
GLOBAL_POINTER = "__global_pointer$"
DEFAULT_GLOBAL_POINTER = LOCAL_BASE + 0x7F0  # of tt-metal's link script
ALIGNMENT = 16


class KernelOfFiles(CppKernel):
    """A compute kernel as ELF files: (path, bytes) of unpack, math and pack, in this order.  BinaryError for what is no such file.

    Like a kernel in C++ it has binaries by what they were built for, which a saved program holds.
    """

    arguments_read = None  # which of the arguments are read cannot be seen

    def __init__(self, files):
        self.files = [(str(path), bytes(raw)) for path, raw in files]
        if len(self.files) != len(THREADS):
            raise UsageError(
                f"{len(self.files)} ELF files; a compute kernel has three",
                hint="those of unpack, math and pack, in this order",
            )
        for (path, raw), thread in zip(self.files, THREADS, strict=True):
            with named(path, thread):
                read_kernel(raw)
        digests = ", ".join(kernels.digest(raw) for _, raw in self.files)
        text = f"// Compiled elsewhere to the ELF files {digests}\nvoid kernel_main();\n"
        super().__init__(self.files[0][0], text)

    def builds(self, parameters, target):
        """[`FileBuild`] of the kernel, one for each processor."""
        if not is_compute(parameters):
            raise UsageError(
                f"{self.name}: ELF files are taken of compute kernels alone", hint="give it a ComputeConfig"
            )
        if target.arch.name not in CHIPS_WITH_INSTRUCTIONS:
            raise UsageError(f"{target.arch.name} runs no ELF files: it has no instruction level")
        return [
            FileBuild(kernels.Processor(slot), target.arch, path, raw)
            for slot, (path, raw) in zip(COMPUTE_SLOTS, self.files, strict=True)
        ]

    def instruction_builds(self, builds, parameters):
        raise UsageError("ELF files are of the instruction level already")


class named:  # noqa: N801
    """What is wrong with an ELF file, with its name and thread."""

    def __init__(self, path, thread):
        self._path, self._thread = path, thread

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, BinaryError):
            where = {**(error.where or {}), "file": self._path, "thread": self._thread}
            raise BinaryError(
                f"{self._path} ({self._thread}): {error.message}", where=where, hint=error.hint
            ) from error


@dataclass(frozen=True)
class FileBuild:
    """What makes a program of an ELF file (`raw`) for a processor of a chip."""

    processor: kernels.Processor
    arch: object
    source: str
    raw: bytes
    level = "O2"
    name = ""

    @property
    def slot(self):
        return self.processor.value

    def compile(self):
        """The `Object`.  BinaryError, KernelCompileError."""
        with named(self.source, THREADS[self.slot - COMPUTE_SLOTS[0]]):
            return kernels.Object(elf := self._program(), kernels.digest(elf), self.source, len(elf), 0)

    def _program(self):
        chip = chip_of(self.raw)
        if chip not in (None, self.arch.name):
            raise BinaryError(
                f"built for {chip}, not for {self.arch.name}", where={"offset": 0, "field": ".riscv.attributes"}
            )
        kernel, address = read_kernel(self.raw), TEXT_ADDRESSES[self.slot]
        if kernel.has_firmware:
            return with_firmware(self, kernel, address + kernel.address % PAGE)
        load_elf(self.raw, local_bytes(self.arch, self.slot), address)
        return self.raw

    @cached_property
    def llk(self):
        """The `LlkBuild` whose headers and settings the start is built with."""
        return LlkBuild(
            self.processor,
            self.arch,
            name=self.source,
            local_memory=local_bytes(self.arch, self.slot),
            tree=find_tree(),
        )


def with_firmware(build, kernel, address):
    """The ELF file of a kernel of tt-metal's, moved to an address, with our start behind it."""
    text = moved(kernel, address - kernel.address)
    place = address + -(-len(text) // ALIGNMENT) * ALIGNMENT
    start = load_elf(compiled_start(build, kernel, address, place), local_bytes(build.arch, build.slot), place)
    constant = next(at for at, _, name in start.symbols if name == "tensim_first_stream")
    whole = text.ljust(place - address, b"\0") + start.text
    if len(build.raw) + len(whole) > MAX_FILE:
        raise BinaryError(f"more than {MAX_FILE >> 20} MB", where={"offset": 0, "field": "file"})
    return with_program(build.raw, whole, address, place + start.entry, {"tensim_first_stream": constant})


def compiled_start(build, kernel, address, place):
    """The ELF file of the start, linked at `place` for a kernel whose text has been moved to `address`."""
    llk = build.llk
    tools = tools_for(build.arch.name)
    present = [name for name in VARIABLES if name in kernel.symbols]
    unit = "\n".join([
        *(f"#define {name} {value}" for name, value in defines(llk).items()), *(f"#define TENSIM_HAS_{name}" for name in present),
        '#include "tensim_firmware.h"', "",
    ])  # fmt: skip
    places = {name: kernel.symbols[name] for name in present} | {
        "tensim_kernel": address + kernel.entry - kernel.address, "tensim_launch": LOCAL_BASE,
        "tensim_stack": LOCAL_BASE + llk.local_memory,
        "tensim_global_pointer": kernel.symbols.get(GLOBAL_POINTER, DEFAULT_GLOBAL_POINTER),
    }  # fmt: skip
    script = link_script(place, places)
    flags = flags_of(llk, tools)
    return kernels.cached_build(
        (unit, flags, script, tools.version, pass_digest()), lambda: _build(llk, tools, unit, script, flags)
    )


def link_script(place, symbols):
    """The start at an address, names of the kernel and of the firmware at theirs; it has no variables of its own."""
    lines = [f"{name} = 0x{value:x};" for name, value in symbols.items()]
    return "\n".join([
        "ENTRY(tensim_start)", *lines, "PHDRS { text PT_LOAD FLAGS(5); }", "SECTIONS {",
        f"  .text 0x{place:x} : {{ *(.text.tensim_start) *(.text .text.*) . = ALIGN(4); }} :text",
        "  .rodata : { KEEP(*(.rodata.tensim_first_stream)) *(.rodata .rodata.* .srodata .srodata.*) . = ALIGN(4); } :text",
        "  .data : { *(.data .data.* .sdata .sdata.* .bss .bss.* .sbss .sbss.* COMMON) }",
        "  /DISCARD/ : { *(.comment) *(.eh_frame) *(.note*) *(.riscv.attributes) *(.init_array*) *(.device_print*) *(.tt_zone*) }",
        "}", 'ASSERT(SIZEOF(.data) == 0, "the start has variables of its own")', "",
    ])  # fmt: skip


def _build(llk, tools, unit, script, flags):
    with tempfile.TemporaryDirectory(prefix="tensim-") as folder:
        folder = Path(folder)
        source, script_file, target, elf = (
            folder / name for name in ("unit.cpp", "kernel.ld", "kernel.o", "kernel.elf")
        )
        source.write_text(unit)
        script_file.write_text(script)

        def failed(messages):
            raise KernelCompileError(
                f"the start of {llk.name} does not build against this release's headers\n{messages}",
                where={"file": llk.name, "line": 1},
            )

        inputs = translate(tools, flags, llk.level, llk.arch.name, source, target, folder, failed)
        kernels.link(llk, tools, script_file, target, elf, toolchain.run)
        return elf.read_bytes(), inputs
