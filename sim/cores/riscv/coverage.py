"""Which kernels below a folder compile: each is built with stand-ins for what its host program would give."""

import os
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from tensim.sim.cores.numerics.data_format import DataFormat
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
CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|elif)\b(.*)$", re.M)
SWITCH = re.compile(r"\b([A-Z][A-Z0-9_]{2,})\b(?:\s*==\s*(\d+))?")
ROUNDS = 4  # of adding what the compiler misses
NEIGHBOURS = 5  # levels above a kernel that are searched for the headers of its host program's include paths
WORDS = 256  # stand-in compile-time arguments
SWITCHES = 8  # macros of a kernel's conditions that are tried


@dataclass(frozen=True)
class Guess:
    """What a host program might give: compile-time arguments, named ones, the format of all circular buffers."""

    arguments: tuple
    named: int = 1
    data_format: DataFormat = DataFormat.Float16_b


# Tried one after the other.  A 2 describes a tensor in DRAM, 1 and 3 one in shards.
GUESSES = (
    Guess((2,) * WORDS), Guess((1,) * WORDS), Guess((32,) * WORDS), Guess((0,) * WORDS, named=0),
    Guess((64,) * WORDS), Guess((4,) * WORDS, named=4), Guess(tuple(range(WORDS))), Guess(tuple(range(1, WORDS + 1))),
    Guess((3,) * WORDS), Guess((2,) * WORDS, data_format=DataFormat.Bfp4_b),
)  # fmt: skip
# Macros that the library's host code gives its kernels, where 1 would not do
MACROS = {
    "REDUCE_OP": "PoolType::SUM", "REDUCE_DIM": "ReduceDim::REDUCE_ROW", "ELTWISE_OP": "add_tiles",
    "ELTWISE_OP_INIT": "add_tiles_init", "ELTWISE_OP_TYPE": "EltwiseBinaryType::ELWADD", "SFPU_OP_CHAIN_0": "",
    "BINARY_OP": "add_tiles", "BINARY_OP_TYPE": "EltwiseBinaryType::ELWADD", "BINARY_SFPU_INIT": "",
    "BCAST_OP": "add_tiles_bcast_rows", "BCAST_LLKOP": "EltwiseBinaryType::ELWADD",
    "BCAST_DIM": "BroadcastType::ROW", "TYPECAST_LLK_INIT": "typecast_tile_init<5u, 5u>", "TYPECAST_LLK": "typecast_tile<5u, 5u>",
    "SRC_DATA_FORMAT": "DataFormat::Float16_b", "WHERE_DATA_FORMAT": "Float16_b",
    "CHAIN_BCAST_OP": "compute_kernel_lib::BinaryFpuOp::Add", "CHAIN_BCAST_DIM": "compute_kernel_lib::BroadcastDim::Row",
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


def bindings(text, guess):
    """Stand-ins for the names that a host program binds: arguments, buffers, tensors, semaphores, scratch memory."""
    found = {}
    for kind, name in BINDING.findall(text):
        found.setdefault(kind, {})[name] = None
    forms = {
        "args": "constexpr CtaVal<uint32_t, {value}> {name}{{}};", "dfb": "constexpr uint32_t {name} = {number};",
        "tensor": "constexpr TensorBinding<0, 0> {name}{{}};", "sem": "constexpr SemaphoreBindingToken {name}{{{number}}};",
        "tensors": "constexpr std::tuple<TensorBinding<0, 0>, TensorBinding<0, 0>> {name}{{}};",
        "scratch": "constexpr ScratchpadBinding {name}{{0x20000, 1024}};",
    }  # fmt: skip
    lines = []
    for kind, names in found.items():
        body = []
        for number, name in enumerate(names):
            form = "tensors" if kind == "tensor" and f"decltype(tensor::{name})" in text else kind
            body.append(forms[form].format(name=name, number=number % 16, value=guess.arguments[number]))
        lines.append(f"namespace {kind} {{ {' '.join(body)} }}")
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
        given = known.get("macros", {})
        guesses = [(known["guess"], given)] if known else [(guess, given) for guess in GUESSES]
        guesses += [] if known else [(GUESSES[0], switch) for switch in self._switches(path)]
        shown = None
        for guess, macros in guesses:
            error = self._attempt(path, processor, text, guess, dict(macros), known)
            if error is None:
                return
            shown = shown or error
        raise shown

    def _attempt(self, path, processor, text, guess, macros, known):
        """Build with one guess, adding macros and folders that the compiler misses; the last error, None if it built."""
        build, folders = self._request(path, processor, text, guess), known.get("folders", ())
        if "BCAST_INPUT" in text:
            macros = {"BCAST_INPUT": "1"} | macros
        for _ in range(ROUNDS):
            defines = (("TENSIM_STAND_IN", str(guess.named)), *macros.items())
            try:
                compile_unit(replace(build, include_paths=(*self.roots, *folders), defines=defines))
                known |= {"guess": guess, "macros": macros, "folders": folders}
                return None
            except KernelCompileError as error:
                if "refused" in error.where:
                    raise
                last = error
            found = self._folder(last, path)
            if found is not None and found not in folders:
                folders = (*folders, found)
                continue
            wanted = self._macros(last, text)
            if wanted.keys() <= macros.keys():
                break
            macros = wanted | macros
        return last

    def _switches(self, path):
        """Macros that a kernel's own conditions ask for, one at a time, as its host program would choose."""
        text = COMMENTS.sub("", path.read_text(errors="replace"))
        found = {}
        for condition in CONDITION.findall(text):
            for name, number in SWITCH.findall(condition):
                found.setdefault((name, number or "1"))
        return [{name: number} for name, number in list(found)[:SWITCHES]]

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
            elif re.search(rf"\]\s*=\s*{name}\s*;", text):
                macros[name] = "{}"
            else:
                macros[name] = MACROS.get(name, "0" if name.startswith("LOG2_") else "1")
        return macros

    def _request(self, path, processor, text, guess):
        buffers = tuple((index, int(guess.data_format), 32, 32) for index in range(32))
        return Build(
            processor, self.arch, source=path, circular_buffers=buffers, compile_args=guess.arguments,
            include_paths=self.roots, stand_in=bindings(text, guess), local_memory=8192,
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
