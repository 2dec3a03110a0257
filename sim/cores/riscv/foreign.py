"""Kernels of somebody else's, of a saved file say: the compiler and the linker open nothing of the user's for them.

They run within limits of time, memory and output, confined to the compiler's files, our headers and the kernel's own folders.
clang looks only at those, so that `__has_include` tells nothing either; the kernel of the operating system keeps the assembler
and the linker to them where it can, and where it cannot, kernels that might open a file that way are refused.
"""

import contextlib
import json
import os
import re
import resource
from pathlib import Path

from tensim.sim.cores.riscv import confinement, toolchain
from tensim.sim.cores.riscv.file_access import FileAccess, refuse_file_access
from tensim.sim.errors import KernelCompileError

SECONDS, WAITED_SECONDS, MEMORY_BYTES = 120, 180, 2 << 30  # of one step: of a processor, in all
OUTPUT_BYTES = 64 << 20  # of a file that a step writes
MESSAGE_CHARACTERS = 20_000  # of its messages that are read
OUTSIDE = re.compile(r"'((?:/|[^'\n]*\.\.)[^'\n]*)' file not found|Could not find (?:incbin|include) file '([^'\n]*)'")
VARIABLES = ("PATH", "LD_LIBRARY_PATH")  # of the environment: what finds the compiler, nothing that it reads


class ForeignBuild:
    """The steps of one `Build` with a budget, in a scratch folder."""

    def __init__(self, build, tools, scratch):
        self.build, self.tools, self.scratch = build, tools, scratch
        own = [Path(build.source).parent] if build.source is not None else []
        self._folders = [*toolchain.folders(tools, build.level), *map(Path, build.include_paths), *own]
        self.where = {"file": str(build.source or build.name), "line": 1, "processor": build.processor.name}

    def flags(self):
        """Flags of the compiler beside the usual ones."""
        if not self.tools.is_clang:
            return []
        overlay = self.scratch / "folders.json"
        places = dict.fromkeys([*self._folders, *(path.resolve() for path in self._folders), self.scratch])
        roots = [
            {"type": "directory-remap", "name": os.path.abspath(place), "external-contents": str(place.resolve())}
            for place in places
            if place.is_dir()
        ]
        overlay.write_text(json.dumps({"version": 0, "redirecting-with": "redirect-only", "roots": roots}))
        return ["-ivfsoverlay", str(overlay)]

    def check(self, command, own):
        """KernelCompileError for a kernel that may have the compiler open other files, where it is not confined.

        `command`: compiles the kernel, without its outputs; `own`: assembler texts of our headers.
        """
        if confinement.is_available():
            return
        if not self.tools.is_clang:  # the preprocessor of others opens what a text names
            self._refuse_other_headers(self.run([*command, "-M", "-MG"], MESSAGE_CHARACTERS * 1000).stdout)
        text = self.run([*command, "-E"], OUTPUT_BYTES).stdout
        try:
            refuse_file_access(text, own, copies_strings=not self.tools.is_clang)
        except FileAccess as found:
            place = {"line": found.line} | ({"file": found.file} if found.file else {})
            raise KernelCompileError(
                f"the kernel may not hold {found.what}, which may open files of yours",
                where=self.where | place, hint="a kernel of a saved file opens nothing; give its text by --kernel-path",
            ) from None  # fmt: skip

    def _refuse_other_headers(self, rule):
        allowed = [place.resolve() for place in (*self._folders, self.scratch)]
        for file in toolchain.files_of(rule, self.scratch):
            if Path(file).exists() and not any(Path(file).resolve().is_relative_to(place) for place in allowed):
                raise self.outside(file)

    def outside(self, file):
        """The error of a file that the kernel may not open."""
        return KernelCompileError(
            f"the kernel includes {file!r}, which lies outside the include folders", where=self.where,
            hint="--kernel-path names folders of headers" if self.build.source else None,
        )  # fmt: skip

    def run(self, command, shown=MESSAGE_CHARACTERS):
        """The finished process of a step.  KernelCompileError beyond the limits; its time goes off the budget."""
        budget, name = self.build.budget, self.build.name
        budget.refuse_spent(name, self.where)
        environment = {name: os.environ[name] for name in VARIABLES if name in os.environ}
        environment |= {"TMPDIR": str(self.scratch), "HOME": str(self.scratch), "LC_ALL": "C"}
        limits = {
            resource.RLIMIT_CPU: SECONDS, resource.RLIMIT_AS: MEMORY_BYTES, resource.RLIMIT_FSIZE: OUTPUT_BYTES,
            resource.RLIMIT_CORE: 0,
        }  # fmt: skip
        with self._confinement() as confined:

            def enter():
                for kind, limit in limits.items():
                    resource.setrlimit(kind, (limit, limit))
                if confined is not None:
                    confined.enter()

            result, seconds = toolchain.run_counted(
                command, WAITED_SECONDS, shown, cwd=self.scratch, env=environment, preexec_fn=enter
            )
        budget.spend(seconds)
        if result.returncode < 0 or (result.returncode and "out of memory" in result.stderr):  # negative: by a signal
            most = f"{SECONDS} s, {MEMORY_BYTES >> 30} GB or {OUTPUT_BYTES >> 20} MB of output"
            hint = "a kernel of a file may take that much; make it smaller, or use it in a program of your own"
            raise KernelCompileError(f"kernel {name} takes more than {most} to compile", where=self.where, hint=hint)
        outside = OUTSIDE.search(result.stderr)
        if outside is not None:
            raise self.outside(outside[1] or outside[2])
        return result

    def _confinement(self):
        if not confinement.is_available():
            return contextlib.nullcontext()
        readable = dict.fromkeys(str(place.resolve()) for place in self._folders)
        return confinement.Confinement(readable, [str(self.scratch.resolve())])
