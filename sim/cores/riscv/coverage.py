"""Which kernels below a folder compile: each is built with stand-ins for what its host program would give."""

import os
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from tensim.sim.cores.riscv import toolchain
from tensim.sim.cores.riscv.compiler import COMMENTS, MAIN, Build, Processor, compile_unit
from tensim.sim.cores.riscv.refusals import UNDECLARED
from tensim.sim.errors import KernelCompileError, TensimError

ENTRY = re.compile(r"\bvoid\s+(?:kernel_main\s*\(|MAIN\b)")
COMPUTE = re.compile(
    r"compute_kernel_api|api/compute/|\bNAMESPACE\b|\btile_regs_acquire\b|\bcompute_kernel_hw_startup\b"
)
BINDING = re.compile(r"\b(args|dfb|tensor|sem|scratch)::(?!AccessPattern\b)(\w+)")
ABSENT = re.compile(r"'([\w./]+)' file not found")
NEIGHBOURS = 5  # levels above a kernel that are searched for the headers of its host program's include paths
WORDS = 256  # stand-in compile-time arguments
VALUES = (2, 1, 32, 0, 64, 4, None)  # tried one after the other; 2 describes a tensor in DRAM, None: all are different
# Macros that the library's host code gives its kernels, where 1 would not do
MACROS = {
    "REDUCE_OP": "PoolType::SUM", "REDUCE_DIM": "ReduceDim::REDUCE_ROW", "ELTWISE_OP": "add_tiles",
    "ELTWISE_OP_INIT": "add_tiles_init", "ELTWISE_OP_TYPE": "EltwiseBinaryType::ELWADD", "SFPU_OP_CHAIN_0": "",
    "BINARY_OP": "add_tiles", "BINARY_OP_TYPE": "EltwiseBinaryType::ELWADD", "BINARY_SFPU_INIT": "",
    "BCAST_OP": "add_tiles_bcast_rows", "BCAST_LLKOP": "EltwiseBinaryType::ELWADD",
    "BCAST_DIM": "BroadcastType::ROW", "TYPECAST_LLK_INIT": "typecast_tile_init<5u, 5u>", "TYPECAST_LLK": "typecast_tile<5u, 5u>",
    "SRC_DATA_FORMAT": "DataFormat::Float16_b",
}  # fmt: skip


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


def include_roots(folder):
    """Folders from which a library's kernels name their headers: those that hold `ttnn` or `tt_metal`, and below them."""
    folder = Path(folder).resolve()
    inside = [folder / name for name in ("", "ttnn", "ttnn/ttnn", "ttnn/cpp", "ttnn/ttnn/cpp")]
    around = [place for parent in folder.parents for place in (parent, parent / "ttnn", parent / "ttnn/cpp")]
    marks = ("ttnn", "tt_metal", "cpp/ttnn")
    found = [place for place in (*inside, *around) if any((place / mark).is_dir() for mark in marks)]
    return tuple(dict.fromkeys(place for place in found if place != Path("/")))


def bindings(text):
    """Stand-ins for the names that a host program binds: arguments, buffers, tensors, semaphores, scratch memory."""
    found = {}
    for kind, name in BINDING.findall(text):
        found.setdefault(kind, {})[name] = None
    forms = {
        "args": "constexpr CtaVal<uint32_t, 2> {name}{{}};", "dfb": "constexpr uint32_t {name} = {number};",
        "tensor": "constexpr TensorBinding<0, 0> {name}{{}};", "sem": "constexpr uint32_t {name} = {number};",
        "scratch": "constexpr ScratchpadBinding {name}{{0x20000, 1024}};",
    }  # fmt: skip
    lines = []
    for kind, names in found.items():
        body = " ".join(forms[kind].format(name=name, number=number % 16) for number, name in enumerate(names))
        lines.append(f"namespace {kind} {{ {body} }}")
    return "\n".join(lines)


def _with_headers(path, roots, seen):
    """The text of a kernel and of the headers that it includes and that are its library's own."""
    if path in seen or len(seen) > 64:
        return ""
    seen.add(path)
    text = COMMENTS.sub("", path.read_text(errors="replace"))
    parts = [text]
    for name in re.findall(r'#\s*include\s*"([^"]+)"', text):
        for root in (path.parent, *roots):
            if (root / name).is_file() and "tt_metal" not in name:
                parts.append(_with_headers((root / name).resolve(), roots, seen))
                break
    return "\n".join(parts)


class Coverage:
    """Builds kernels with stand-ins."""

    def __init__(self, arch, roots):
        self.arch, self.roots = arch, roots

    def outcome(self, path):
        """The `Outcome` of one kernel."""
        text = _with_headers(path, self.roots, set())
        processors = [Processor.NCRISC]
        if COMPUTE.search(path.read_text(errors="replace")) or MAIN.search(text) or "/compute/" in str(path):
            processors = [Processor.TRISC0, Processor.TRISC1, Processor.TRISC2]
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
        shown = None
        for value in [known["value"]] if "value" in known else VALUES:
            build = self._request(path, processor, text, value)
            macros, folders = known.get("macros", {}), known.get("folders", ())
            if "BCAST_INPUT" in text:
                macros = {"BCAST_INPUT": "1"} | macros
            for _ in range(4):
                build = replace(build, include_paths=(*self.roots, *folders))
                try:
                    compile_unit(replace(build, defines=(("TENSIM_STAND_IN", "1"), *macros.items())))
                    known |= {"value": value, "macros": macros, "folders": folders}
                    return
                except KernelCompileError as error:
                    if "refused" in error.where:
                        raise
                    shown = error if value == VALUES[0] else shown or error
                    found = self._folder(error, path)
                    if found is not None and found not in folders:
                        folders = (*folders, found)
                        continue
                    wanted = self._macros(error, text)
                    if wanted.keys() <= macros.keys():
                        break
                    macros = wanted | macros
        raise shown

    def _folder(self, error, path):
        """A folder beside the kernel's own that has the header which was not found, as its host program would name it."""
        absent = ABSENT.search(error.message)
        if absent is None:
            return None
        for parent in list(path.parents)[1:NEIGHBOURS]:
            for found in sorted(parent.rglob(absent[1])):
                return Path(str(found).removesuffix(absent[1]))
        return None

    def _macros(self, error, text):
        """Stand-ins for the undeclared names that look like macros of a host program."""
        names = {name for name in UNDECLARED.findall(error.message) if re.fullmatch(r"[A-Z][A-Z0-9_]{2,}", name)}
        macros = {}
        for name in sorted(names):
            called = re.search(rf"\b{name}\s*\(", text) or name.startswith("PROCESS_")
            if called and name not in MACROS:
                macros[f"{name}(...)"] = ""
            else:
                macros[name] = MACROS.get(name, "0" if name.startswith("LOG2_") else "1")
        return macros

    def _request(self, path, processor, text, value):
        arguments = tuple(range(WORDS) if value is None else [value] * WORDS)
        stand_in = bindings(text)
        buffers = tuple((index, 5, 32, 32) for index in range(32))
        return Build(
            processor, self.arch, source=path, circular_buffers=buffers, compile_args=arguments,
            include_paths=self.roots, stand_in=stand_in, local_memory=8192,
        )  # fmt: skip


def coverage(folders, arch, progress=None):
    """[Outcome] of all kernels with an entry function below folders, and the number of kernel files."""
    tools = toolchain.toolchain()
    toolchain.include_folder()
    for level in ("O2", "O3"):
        toolchain.prepared(tools, level)
    toolchain.arithmetic_library(tools)
    jobs, count = [], 0
    for folder in folders:
        kernels, entries = kernels_below(folder)
        count += len(kernels)
        builder = Coverage(arch, include_roots(folder))
        jobs += [(builder, path) for path in entries]
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
