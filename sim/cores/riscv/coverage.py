"""Which kernels below a folder compile: each is built with stand-ins for what its host program would give.

At the instruction level compute kernels are built against the LLK sources that belong to the folder, and no others are counted.
"""

import os
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from tensim.sim.cores.riscv import stand_ins, toolchain
from tensim.sim.cores.riscv.compiler import COMMENTS, MAIN, Build, Processor, compile_unit
from tensim.sim.cores.riscv.kernel import include_roots
from tensim.sim.cores.riscv.refusals import UNDECLARED
from tensim.sim.errors import KernelCompileError, TensimError

ENTRY = re.compile(r"\bvoid\s+(?:kernel_main\s*\(|MAIN\b)")
COMPUTE = re.compile(
    r"compute_kernel_api|include\s*[<\"][^>\"]*/compute/|\bNAMESPACE\b|\btile_regs_acquire\b|\bcompute_kernel_hw_startup\b"
)
ABSENT = re.compile(r"'([\w./]+)' file not found")
ROUNDS = 4  # of adding what the compiler misses
REPAIRS = 6  # arguments of one kernel that are changed because an assertion refuses them
COMPUTE_PROCESSORS = [Processor.TRISC0, Processor.TRISC1, Processor.TRISC2]
NEIGHBOURS = 5  # levels above a kernel that are searched for the headers of its host program's include paths


@dataclass(frozen=True)
class Outcome:
    """What became of a kernel: `refused` a reason, `error` what the compiler said, `missing` undeclared names."""

    file: str
    refused: str | None = None
    error: str | None = None
    missing: tuple = ()

    @property
    def built(self):
        return self.refused is None and self.error is None


def kernels_below(folder):
    """(C++ files, those of them that have an entry function) below a folder."""
    files = sorted(path for path in Path(folder).rglob("*") if path.suffix in (".cpp", ".cc") and path.is_file())
    kernels, entries = [], []
    for path in files:
        text = path.read_text(errors="replace")
        if "kernel" in str(path) or ENTRY.search(text):
            kernels.append(path)
        if ENTRY.search(COMMENTS.sub("", text)):
            entries.append(path)
    return kernels, entries


def _text(path):
    """A file without its comments."""
    return COMMENTS.sub("", path.read_text(errors="replace"))


def _with_headers(path, roots, seen):
    """The text of a kernel and of the headers that it includes and that are its library's own."""
    if path in seen or len(seen) > 64:
        return ""
    seen.add(path)
    text = _text(path)
    parts = [text]
    for name in re.findall(r'#\s*include\s*"([^"]+)"', text):
        for root in (path.parent, *roots):
            if (root / name).is_file() and "tt_metal" not in name:
                parts.append(_with_headers((root / name).resolve(), roots, seen))
                break
    return "\n".join(parts)


def is_compute(path, text):
    """Whether a kernel runs on the compute processors; `text`: its own and its library's headers'."""
    return bool(COMPUTE.search(path.read_text(errors="replace")) or MAIN.search(text)) or "/compute/" in str(path)


class Coverage:
    """Builds kernels below a folder with stand-ins."""

    def __init__(self, arch, roots, folder):
        self.arch, self.roots, self.folder = arch, roots, folder

    def counts(self, path):
        """Whether a kernel is one of those that are counted."""
        return True

    def is_compute(self, path):
        return is_compute(path, _with_headers(path, self.roots, set()))

    def outcome(self, path):
        """The `Outcome` of one kernel."""
        text = _with_headers(path, self.roots, set())
        processors = COMPUTE_PROCESSORS if is_compute(path, text) else [Processor.NCRISC]
        known = {}
        try:
            for processor in processors:
                self._build(path, processor, text, known)
        except KernelCompileError as error:
            return self._failure(path, error)
        except TensimError as error:
            return Outcome(str(path), error=error.message)
        return Outcome(str(path))

    def _failure(self, path, error):
        missing = tuple(dict.fromkeys(UNDECLARED.findall(error.message)))
        refused = error.where.get("refused")
        return Outcome(str(path), refused, None if refused else f"{error}"[:4000], missing)

    def _build(self, path, processor, text, known):
        """Build for one processor; `known`: what a successful build of another one needed."""
        guesses = [known["guess"]] if known else [stand_ins.with_names(text, guess) for guess in stand_ins.GUESSES]
        shown, arguments_matter = None, True
        for tried, guess in enumerate(guesses):
            if not arguments_matter and guess.differs_in_arguments_only(guesses[0]):
                continue
            error = self._attempt(path, processor, text, guess, known.get("macros", {}), known)
            if error is None:
                return
            if "refused" in error.where or ABSENT.search(error.message):
                raise error
            shown = shown or error
            arguments_matter = arguments_matter and (tried != 1 or error.message != shown.message)
        for macros in [] if known else stand_ins.switches(_text(path)):
            if self._attempt(path, processor, text, guesses[0], macros, known) is None:
                return
        for place in () if known else stand_ins.REPAIRED:
            if self._repair(path, processor, text, guesses[place], known):
                return
        raise shown

    def _repair(self, path, processor, text, guess, known):
        """Change arguments that assertions refuse, one after the other, until the kernel builds; whether it does."""
        error = self._attempt(path, processor, text, guess, {}, known)
        for _ in range(REPAIRS):
            if error is None:
                return True
            refused = stand_ins.REQUIREMENT.search(error.message)
            for changed in stand_ins.repaired(error.message, text, guess):
                following = self._attempt(path, processor, text, changed, {}, known)
                others = following and stand_ins.REQUIREMENT.search(following.message)
                if following is None or (others and others[1] != refused[1]):
                    guess, error = changed, following
                    break
            else:
                return False
        return error is None

    def _attempt(self, path, processor, text, guess, macros, known):
        """Build with one guess, adding macros and folders that the compiler misses; the last error, None if it built."""
        build, folders = self._request(path, processor, text, guess), known.get("folders", ())
        if "BCAST_INPUT" in text:
            macros = {"BCAST_INPUT": "1"} | macros
        for _ in range(ROUNDS):
            defines = (("TENSIM_STAND_IN", guess.named), *macros.items())
            try:
                self._compile(replace(build, include_paths=(*self.roots, *folders), defines=defines))
                known |= {"guess": guess, "macros": macros, "folders": folders}
                return None
            except KernelCompileError as error:
                last = error
            if "refused" in last.where:
                break
            found = self._folder(last, path)
            if found is not None and found not in folders:
                folders = (*folders, found)
                continue
            wanted = stand_ins.macros(last.message, text, guess)
            if wanted.keys() <= macros.keys():
                break
            macros = wanted | macros
        return last

    def _compile(self, build):
        compile_unit(build)

    def _folder(self, error, path):
        """A folder beside the kernel's own that has the header which was not found, as its host program would name it."""
        absent = ABSENT.search(error.message)
        if absent is None:
            return None
        for parent in list(path.parents)[1:NEIGHBOURS]:
            for found in sorted(parent.rglob(absent[1])):
                return Path(str(found).removesuffix(absent[1]))
        return None

    def _request(self, path, processor, text, guess):
        buffers = tuple((index, int(guess.data_format), 32, 32) for index in range(32))
        return Build(
            processor, self.arch, source=path, circular_buffers=buffers, compile_args=guess.arguments,
            include_paths=self.roots, stand_in=stand_ins.bindings(text, guess), local_memory=8192,
            strict_headers=True,
        )  # fmt: skip


def coverage(folders, arch, progress=None, kind=Coverage):
    """[Outcome] of all kernels with an entry function below folders, and the number of kernel files.

    `kind`: what builds the kernels of a folder, made of (architecture, include folders, folder).
    """
    tools = toolchain.toolchain()
    toolchain.include_folder()
    for level in ("O2", "O3"):
        toolchain.prepared(tools, level)
    toolchain.arithmetic_library(tools)
    jobs, count = [], 0
    for folder in folders:
        kernels, entries = kernels_below(folder)
        count += len(kernels)
        roots = include_roots(folder)
        builder = kind(arch, roots, folder)
        jobs += [(builder, path) for path in entries if builder.counts(path)]
    outcomes = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for outcome in pool.map(lambda job: job[0].outcome(job[1]), jobs):
            outcomes.append(outcome)
            if progress is not None:
                progress(len(outcomes), len(jobs))
    return outcomes, count


def report(outcomes, count):
    """The result as plain data."""
    refused = Counter(outcome.refused for outcome in outcomes if outcome.refused)
    waiting = Counter(name for outcome in outcomes if outcome.error for name in outcome.missing)
    return {
        "kernels": count,
        "entry": len(outcomes),
        "built": sum(outcome.built for outcome in outcomes),
        "refused": dict(refused.most_common()),
        "failed": [{"file": outcome.file, "why": outcome.error} for outcome in outcomes if outcome.error],
        "missing": dict(waiting.most_common()),
    }
