"""C++ kernels as programs hold them: a source, and a binary per thread as soon as a program is bound to a chip.

A kernel's text is known when it is created; what it is compiled with, its processor, the chip and the circular buffers on its
cores, only when its program is complete.  Binaries are kept by what they were built for, so that a capture can hold them and a
replay needs no compiler.
"""

import hashlib
import json
import os
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from tensim.sim.cores.operations import FIRST_NOC_CALL, LAST_NOC_CALL, OPERATION_TILES
from tensim.sim.cores.riscv.cpp_texts import LIBRARY
from tensim.sim.cores.riscv.layout import local_bytes
from tensim.sim.cores.riscv.line_table import OWN_FOLDERS
from tensim.sim.cores.riscv.program import RiscvKernel
from tensim.sim.cores.riscv.read_arguments import read_arguments
from tensim.sim.cores.slots import THREAD_NAMES
from tensim.sim.errors import KernelCompileError, UsageError

DATA_MOVEMENT_SLOTS, COMPUTE_SLOTS = (0, 1), (2, 3, 4)


def include_roots(folder):
    """Folders from which a library's kernels name their headers: those that hold `ttnn` or `tt_metal`, and below them."""
    folder = Path(folder).resolve()
    inside = [folder / name for name in ("", "ttnn", "ttnn/ttnn", "ttnn/cpp", "ttnn/ttnn/cpp")]
    around = [place for parent in folder.parents for place in (parent, parent / "ttnn", parent / "ttnn/cpp")]
    marks = ("ttnn", "tt_metal", "cpp/ttnn")
    found = [place for place in (*inside, *around) if any((place / mark).is_dir() for mark in marks)]
    return tuple(dict.fromkeys(place for place in found if place != Path("/")))


INSTRUCTION_LEVEL = "tensix.instruction_level"  # key of a chip's parameters
CHIPS_WITH_INSTRUCTIONS = ("wormhole_b0", "blackhole")


class CppKernel:
    """A C++ kernel.

    `file`: its path, or a name for a text that lies nowhere; `text`: the source, None to read the file; `include_paths`:
    folders behind the kernel's own; `binaries`: {build key: {thread slot: ELF}} of a saved file, taken before the compiler;
    `defines`: pairs beside those of a command, for our headers; `budget`: see `Build`;
    `preamble`: text in front of the kernel, the names that a host program has bound; `descriptors`: see `LlkBuild`;
    `strict_headers`: see `Build`.
    """

    is_cpp = True

    def __init__(
        self, file, text=None, include_paths=(), binaries=None, defines=(), budget=None, preamble="", descriptors=None,
        strict_headers=True,
    ):  # fmt: skip
        self.file, self.name, self.budget = str(file), Path(file).stem, budget
        self.preamble, self.descriptors = preamble, descriptors
        # a release that we do not know may have built a saved one
        self.strict_headers = strict_headers and budget is None
        self.include_paths, self.defines = tuple(map(str, include_paths)), tuple(defines)
        self.binaries = {} if binaries is None else binaries
        self._on_disk, self._built, self._keys = text is None, {}, {}
        if text is not None:
            self.source = text

    @cached_property
    def source(self):
        """The text of the kernel's own file."""
        try:
            return Path(self.file).read_text(errors="replace")
        except OSError as error:
            raise UsageError(f"cannot read kernel file {self.file}: {error.strerror}") from error

    @cached_property
    def arguments_read(self):
        """Indices of the unique runtime arguments that the text reads, None if that may be any."""
        try:
            return read_arguments(self.source)
        except UsageError:  # a saved program on another machine: it has the binaries alone
            return None

    @property
    def digest(self):
        """Hash of the source text and what stands in front of it (hex)."""
        return hashlib.sha256((self.preamble + self.source).encode()).hexdigest()

    def home(self, defines, named_compile_args):
        """Kind of processor that the kernel's calls belong to: the compiler finds out, so None."""
        return None

    def build(self, parameters, target):
        """The `RiscvKernel` for the parameters of a command and a `BuildTarget`.  Raises KernelCompileError."""
        key = self._keys.get((parameters, target))
        if key is None:
            key = self._keys[parameters, target] = build_key(parameters, target)
        if key not in self._built:
            if key not in self.binaries:
                compile_missing([(self, parameters, target)])
            text = None if self._on_disk else self.source
            elves, folders = self.binaries[key], self._quoted_folders
            built = RiscvKernel(self.name, self.file, elves, target.arch, text, folders)
            if found := built.misplaced():
                raise _misplaced(*found)
            self._built[key] = built
        return self._built[key]

    @property
    def _quoted_folders(self):
        """Folders of the sources that reports may quote: of a kernel of somebody else's, those that its build may read."""
        if self.budget is None:
            return None
        own = (str(Path(self.file).parent),) if self._on_disk else ()
        return (*own, *self.include_paths, *OWN_FOLDERS)

    def builds(self, parameters, target):
        """[`Build`] of the kernel, one per thread slot."""
        from tensim.sim.cores.riscv.compiler import Build, Processor

        source = {"source": Path(self.file)} if self._on_disk else {"text": self.source, "name": self.file}
        library = [root for name in LIBRARY if name in os.environ for root in include_roots(os.environ[name])]
        paths = (*self.include_paths, *map(str, library))
        common = {
            "arch": target.arch, "circular_buffers": target.circular_buffers, "include_paths": paths,
            "compile_args": parameters.compile_args, "named_args": parameters.named_compile_args,
            "defines": (*parameters.defines, *self.defines), "optimization": parameters.opt_level,
            "budget": self.budget, "stand_in": self.preamble, "strict_headers": self.strict_headers, **source,
        }  # fmt: skip
        if is_compute(parameters):
            common |= {
                "math_fidelity": parameters.math_fidelity, "approximate": parameters.math_approx_mode,
                "fp32_dest": parameters.fp32_dest_acc_en, "full_sync": parameters.dst_full_sync_en,
            }  # fmt: skip
        else:
            common |= {"noc": parameters.noc, "noc_mode": parameters.noc_mode}
        builds = [
            Build(processor=Processor(slot), local_memory=local_bytes(target.arch, slot), **common)
            for slot in slots_of(parameters)
        ]
        if is_compute(parameters) and target.arch[INSTRUCTION_LEVEL]:
            return self.instruction_builds(builds, parameters)
        return builds

    def instruction_builds(self, builds, parameters):
        """The same for a compute kernel against the vendor's LLK, of its builds at the operation level.

        UsageError where the sources or the chip's instructions are not known.
        """
        from tensim.sim.cores.riscv.llk import build as llk
        from tensim.sim.cores.riscv.llk.tree import find_tree

        chip = builds[0].arch.name
        if chip not in CHIPS_WITH_INSTRUCTIONS:
            raise UsageError(
                f"{chip} has no instruction level", hint=f"chips that have: {', '.join(CHIPS_WITH_INSTRUCTIONS)}"
            )
        folders = () if self.budget is not None else self.include_paths
        return llk.builds(builds, parameters, find_tree(folders), self.descriptors)


def _misplaced(operation, slot, place):
    """The error of an operation that its thread has not."""
    if FIRST_NOC_CALL <= operation <= LAST_NOC_CALL:
        why = f"{operation.name} in a compute kernel: only data-movement kernels have the calls that move data over the NoC"
        return KernelCompileError(why, where=place, hint="move the call to the reader or writer kernel")
    return KernelCompileError(f"{operation.name} on {THREAD_NAMES[slot]}, which has no such operation", where=place)


def compile_missing(kernels):
    """Compile the binaries that some kernels, [(CppKernel, parameters, BuildTarget)], do not have, together on all cores.

    A compute kernel that the operation level cannot build, or whose tiles it does not know, is built for the instruction level,
    where the vendor's LLK is there.
    """
    missing = {}
    for kernel, parameters, target in kernels:
        key = build_key(parameters, target)
        if key not in kernel.binaries:
            missing[kernel, key] = Missing(kernel, parameters, target, kernel.builds(parameters, target))
    if not missing:
        return
    from tensim.sim.cores.riscv.compiler import compile_each

    built, again = compile_each([one.builds for one in missing.values()]), {}
    for (place, one), (objects, error) in zip(missing.items(), built, strict=True):
        error = error or one.of_other_tiles()
        if error is None:
            one.kernel.binaries[place[1]] = one.elves(objects)
            error = one.not_modelled(objects)
        if error is not None and (builds := one.instruction_builds()) is not None:
            again[place] = one._replace(builds=builds), error
        elif place[1] not in one.kernel.binaries:
            raise error
    built = compile_each([one.builds for one, _ in again.values()])
    for ((kernel, key), (one, first)), (objects, error) in zip(again.items(), built, strict=True):
        if error is None:
            kernel.binaries[key] = one.elves(objects)
        elif key not in kernel.binaries:
            raise first.with_note(f"at the instruction level: {error.message}")


class Missing(NamedTuple):
    """What a kernel lacks for its parameters and a `BuildTarget`: the `Build`s of its processors."""

    kernel: CppKernel
    parameters: object
    target: object
    builds: list

    def elves(self, objects):
        """{thread slot: ELF}."""
        return {slot: one.elf for slot, one in zip(slots_of(self.parameters), objects, strict=True)}

    def of_other_tiles(self):
        """The error of a compute kernel at the operation level beside tiles that operations do not know, or None."""
        if not is_compute(self.parameters) or self.target.arch[INSTRUCTION_LEVEL]:
            return None
        others = [buffer for buffer in self.target.circular_buffers if buffer[2:] not in OPERATION_TILES]
        if not others:
            return None
        index, _, height, width = others[0]
        text = f"circular buffer {index} has tiles of {height}x{width}: operations know those of 32x32 and 16x32"
        return KernelCompileError(text, where={"file": self.kernel.file}, kind="kernel_refused")

    def not_modelled(self, objects):
        """The error of calls in a compute kernel that would stop it, or None."""
        if not is_compute(self.parameters) or self.target.arch[INSTRUCTION_LEVEL]:
            return None
        found = RiscvKernel(self.kernel.name, self.kernel.file, self.elves(objects), self.target.arch).not_modelled()
        return KernelCompileError(found[0][0], kind="kernel_refused") if found else None

    def instruction_builds(self):
        """The builds at the instruction level, None where there is none: a chip without it, no LLK, no compute kernel."""
        if not is_compute(self.parameters) or self.target.arch[INSTRUCTION_LEVEL]:
            return None
        try:
            return self.kernel.instruction_builds(self.builds, self.parameters)
        except UsageError:
            return None


def is_compute(parameters):
    """Whether a command's parameters are those of a compute kernel."""
    return hasattr(parameters, "math_fidelity")


def slots_of(parameters):
    """Thread slots that a kernel runs on."""
    return COMPUTE_SLOTS if is_compute(parameters) else (DATA_MOVEMENT_SLOTS[parameters.processor],)


def build_key(parameters, target):
    """What a binary was built for (hex): the same parameters, chip and circular buffers give the same key anywhere."""
    settings = json.dumps(asdict(parameters), sort_keys=True, default=str)
    return hashlib.sha256(repr((settings, target.arch.digest, target.circular_buffers)).encode()).hexdigest()
