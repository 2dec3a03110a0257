"""Mutation fuzzing of Light Metal files: `python -m tensim.running.fuzz FILE...`.

Valid files are damaged: their bytes (bits flipped, words replaced, pieces moved, ends cut off, union types swapped), their
tables (fields changed, elements dropped, doubled and exchanged, members of unions replaced) or the texts of their kernels.  The
content hash is made right again, and the verifier judges.  What it accepts is executed as what it is, a captured run, a
recording or a saved binary, in processes that may take so much time and memory.  Nothing but tensim's own errors may come out,
and none that blames tensim.  With NUMBA_DISABLE_JIT=1 every read of the verifier is checked against the file's ends.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import signal
import struct
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numba
import numpy as np
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress

from tensim.light_metal.replay import ReplayOptions
from tensim.running.execution import LogFiles
from tensim.running.replay import LightMetalReplay
from tensim.running.saved_programs import run_saved
from tensim.runtime.replaying import replay
from tensim.sim.errors import SimulatorError, TensimError
from tensim.sim.output_files import write_output
from tensim.traces.flatbuffers.schema import light_metal_schema
from tensim.traces.flatbuffers.tables import Node, Reader, Writer
from tensim.traces.light_metal.binary import Binary
from tensim.traces.light_metal.inspect import describe, draw_program
from tensim.traces.light_metal.kernels import kernel_fields_of_text
from tensim.traces.light_metal.verifier import verify_content, verify_structure
from tensim.traces.light_metal.verify import fit_problems, open_verified
from tensim.traces.light_metal.write import sealed

DEFECT = "DEFECT"
WORDS = (0, 1, 2, 3, 4, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFF)
MAX_CYCLES = 200_000
BATCH = 25  # mutants that a process executes
SECONDS, BYTES = 20, 6 << 30  # of processor time and of memory that one execution may take
KINDS = ("bytes", "tables", "kernels")
TOKEN = re.compile(r"[A-Za-z_]\w*|\d+|[^\w\s]")


class Checked(np.ndarray):
    """Bytes that refuse to be read outside their ends, where a plain array would count from its end."""

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return super().__getitem__(index)
        if not 0 <= index < len(self):
            raise IndexError(f"byte {index} of a file of {len(self)} B")
        return super().__getitem__(index)


# --- damaged bytes


def structure_of(data: bytes) -> list[int]:
    """Offsets of the bytes that are structure rather than payload: near the tables of commands and the root."""
    binary = Binary(data)
    places = {binary.root.position}
    for node in binary.nodes():
        stack = [node]
        while stack:
            one = stack.pop()
            if one is not None and one.position is not None:
                places.add(one.position)
                stack += [child for child in one.fields.values() if hasattr(child, "position")]
    near = {place + step for place in places for step in range(-32, 40)}
    return sorted(at for at in near if 0 <= at < len(data)) or list(range(len(data)))


def mutate(rng: random.Random, data: bytes, structure: Sequence[int]) -> bytearray:
    """A damaged copy of a file."""
    damaged = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.choice(structure) if rng.random() < 0.8 else rng.randrange(len(damaged))
        kind = rng.randrange(6)
        if kind == 0:
            damaged[min(at, len(damaged) - 1)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            at = min(at & ~3, len(damaged) - 4)
            damaged[at : at + 4] = rng.choice(WORDS).to_bytes(4, "little")
        elif kind == 2:
            at, length = min(at, len(damaged) - 1), rng.randrange(1, 64)
            source = rng.randrange(len(damaged))
            piece = damaged[source : source + length]
            damaged[at : at + len(piece)] = piece
        elif kind == 3 and rng.random() < 0.2:
            del damaged[max(at, 8) :]
        elif kind == 4:
            damaged[min(at, len(damaged) - 1)] = rng.randrange(48)  # the range of union types
        else:
            at = min(at & ~3, len(damaged) - 4)
            word = int.from_bytes(damaged[at : at + 4], "little") + rng.choice((-64, -8, -4, -1, 1, 4, 8, 64))
            damaged[at : at + 4] = (word & 0xFFFFFFFF).to_bytes(4, "little")
    return damaged


# --- damaged tables and texts


class Tables:
    """A file as nodes, each of which can be changed before it is written again."""

    def __init__(self, data: bytes) -> None:
        self.root = Reader(light_metal_schema(), data).root()
        self.nodes = []
        self._collect(self.root)

    def _collect(self, value: object) -> None:
        if isinstance(value, Node):
            self.nodes.append(value)
            for child in value.fields.values():
                self._collect(child)
        elif isinstance(value, list):
            for child in value:
                self._collect(child)

    def kernels(self) -> list[Node]:
        """The nodes that hold a kernel's text."""
        return [node for node in self.nodes if node.fields.get("source")]

    def written(self) -> bytes | bytearray | None:
        """The bytes of the file as it is now; None when the tables cannot be written."""
        self.root.fields["content_hash"] = np.zeros(32, np.uint8)
        writer = Writer(light_metal_schema())
        try:
            return sealed(writer.finish(writer.node(self.root)))
        except (ValueError, TypeError, OverflowError, StopIteration, KeyError, struct.error):
            return None

    def damage(self, rng: random.Random) -> None:
        """Change some fields."""
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            node = rng.choice(self.nodes)
            names = [name for name, value in node.fields.items() if value is not None]
            if not names:
                continue
            name = rng.choice(names)
            node.fields[name] = self._other(rng, node, name)

    def _other(self, rng: random.Random, node: Node, name: str) -> Any:
        value = node.fields[name]
        if rng.random() < 0.05:
            return None
        same = [other.fields[name] for other in self.nodes if type(other.fields.get(name)) is type(value)]
        if rng.random() < 0.3:
            return rng.choice(same)
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return rng.choice((value + rng.choice((-1, 1, 64)), rng.choice(WORDS), -1))
        if isinstance(value, float):
            return rng.choice((0.0, -1.0, 1e300, float("nan"), float("inf"), value * 2))
        if isinstance(value, str):
            return rng.choice(
                ("", value[: len(value) // 2], value * 2, "\x1b[31m", "../" + value, "/etc/passwd", "1", "-1e300")
            )
        if isinstance(value, Node):
            return rng.choice([other for other in self.nodes if other.table == value.table])
        return self._other_vector(rng, value)

    @staticmethod
    def _other_vector(rng: random.Random, value: Any) -> Any:
        items = list(value)
        if not items:
            return value
        kind, at = rng.randrange(5), rng.randrange(len(items))
        if kind == 0:
            del items[at]
        elif kind == 1:
            items.insert(rng.randrange(len(items) + 1), items[at])
        elif kind == 2:
            other = rng.randrange(len(items))
            items[at], items[other] = items[other], items[at]
        elif kind == 3:
            del items[at:]
        elif isinstance(value, np.ndarray) and value.dtype.names is None:
            items[at] = np.array(rng.choice(WORDS)).astype(value.dtype)
        return np.array(items, value.dtype) if isinstance(value, np.ndarray) else items

    def damage_kernel(self, rng: random.Random) -> None:
        """Change the text of a kernel; its hash stays right."""
        node = rng.choice(self.kernels())
        text = node.fields["source"]
        for _ in range(rng.choice((1, 1, 2, 3))):
            text = damaged_text(rng, text)
        node.fields |= {name: value for name, value in kernel_fields_of_text(text).items() if name in node.fields}


def damaged_text(rng: random.Random, text: str) -> str:
    """A kernel's text with other numbers, names, signs or lines."""
    lines, tokens = text.split("\n"), list(TOKEN.finditer(text))
    kind = rng.randrange(6)
    if kind < 3 and tokens:
        token = rng.choice(tokens)
        found = token[0]
        if found.isdigit():
            other = rng.choice(("0", "1", "-1", str(int(found) + 1), str(rng.choice(WORDS)), str(1 << 62), "1 << 70"))
        elif found[0].isalpha() or found[0] == "_":
            other = rng.choice([t[0] for t in tokens if t[0][0].isalpha() or t[0][0] == "_"])
        else:
            other = rng.choice("+ - * // % << >> & | ^ < > == , ( ) :".split())
        return text[: token.start()] + other + text[token.end() :]
    at = rng.randrange(len(lines))
    if kind == 3:
        del lines[at]
    elif kind == 4:
        lines[at:at] = [lines[rng.randrange(len(lines))]] * rng.choice((1, 1, 10, 300))
    else:
        deeper = " " * rng.choice((2, 4, 8)) + lines[at]
        lines[at] = deeper if rng.random() < 0.5 else lines[at].replace("range(", "range(1000000 * ", 1)
    return "\n".join(lines)


# --- judging and executing


def judge(data: bytes | bytearray) -> bool:
    """Whether the verifier takes a file; an exception is a defect of the verifier."""
    raw = np.frombuffer(data, np.uint8)
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # numba sets it by name
        raw = raw.view(Checked)
    return verify_structure(raw) is None and not verify_content(raw)


def execute(data: bytes, max_cycles: int = MAX_CYCLES) -> str:
    """Look at a file and carry it out with a budget; returns how that ended.  Raises what the fuzzer looks for."""
    try:
        binary = open_verified(data)
        fit_problems(binary)
        for program in describe(binary, "mutant")["programs"]:
            draw_program(program)
        _carry_out(binary, ReplayOptions(max_cycles=max_cycles, kept_reads=1 << 24))
    except SimulatorError:
        raise
    except TensimError as error:
        return error.kind
    return "ran"


def _carry_out(binary: Binary, options: ReplayOptions) -> None:
    """Execute a file as what it is."""
    root = binary.reader.root("binary", "spans")
    if root.binary is not None:
        run_saved("mutant", binary, options, None, 1, LogFiles(), lambda text: None)
    elif root.spans is not None:
        replay(binary)
    else:
        one = LightMetalReplay(binary, options=options)
        if not one.run() and one.error is not None:
            raise one.error


def _outcome(data: bytes, max_cycles: int) -> str:
    try:
        return execute(data, max_cycles)
    except Exception as error:  # what the fuzzer looks for
        inner = error.__cause__ or error
        place = traceback.extract_tb(inner.__traceback__)[-1]
        return f"{DEFECT} {type(inner).__name__}: {str(inner)[:80]} ({Path(place.filename).name}:{place.lineno})"


def execute_apart(
    mutants: Sequence[bytes], max_cycles: int = MAX_CYCLES, seconds: float = SECONDS
) -> list[tuple[str, float]]:
    """How each of some files ended, executed one after the other in a process of limited time and memory.

    When it dies, that is the outcome of the file it was at, and another process goes on behind that.
    """
    outcomes = []
    while len(outcomes) < len(mutants):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _execute_all(mutants[len(outcomes) :], writing, max_cycles, seconds)
        os.close(writing)
        with os.fdopen(reading) as lines:
            outcomes += [json.loads(line) for line in lines if line.endswith("\n")]
        status = os.waitpid(child, 0)[1]
        if len(outcomes) < len(mutants) and status:
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else -os.WEXITSTATUS(status)
            ends: dict[int, str] = {signal.SIGPROF: f"more than {seconds} s", signal.SIGKILL: "killed"}
            why = ends.get(number, f"signal {number}")
            outcomes.append((f"{DEFECT} the process ended: {why}", float(seconds)))
    return outcomes


def _execute_all(mutants: Sequence[bytes], writing: int, max_cycles: int, seconds: float) -> NoReturn:
    """What the process does: a line per file, and then an end."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, used + BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    try:
        for data in mutants:
            signal.setitimer(signal.ITIMER_PROF, seconds)
            begun = time.process_time()
            outcome = _outcome(data, max_cycles)
            os.write(writing, (json.dumps((outcome, time.process_time() - begun)) + "\n").encode())
    finally:
        os._exit(0)


# --- the whole


@dataclass
class Found:
    """What a run of the fuzzer saw.  `defects`: (outcome, file) of what should not have happened."""

    outcomes: Counter = field(default_factory=Counter)
    defects: list = field(default_factory=list)
    slowest: float = 0.0


class Fuzzer:
    """Damages files, judges them and executes what is accepted.

    `shares`: of the mutants with damaged bytes, tables and kernels; `executed`: at most so many of each kind.
    """

    def __init__(
        self,
        files: Iterable[bytes],
        seed: int,
        executed: Any,
        shares: Sequence[float] = (0.98, 0.015, 0.005),
    ) -> None:
        self.rng, self.files, self.found = random.Random(seed), [bytes(data) for data in files], Found()
        self.structures = [structure_of(data) for data in self.files]
        self.with_kernels = [n for n, data in enumerate(self.files) if Tables(data).kernels()]
        self.executed, self.shares = dict(executed), shares
        self.waiting = []  # (kind, mutant) to be executed

    def run(
        self, count: int, seconds: float | None = None, on_progress: Callable[[int], object] = lambda judged: None
    ) -> Found:
        """Judge `count` mutants, or as many as fit into `seconds` or until Ctrl-C; returns `Found`.

        `on_progress` is called with the number of mutants judged.
        """
        begun = time.perf_counter()
        try:
            for number in range(count):
                if seconds is not None and time.perf_counter() - begun > seconds:
                    break
                self._one(self.rng.choices(KINDS, self.shares)[0])
                on_progress(number + 1)
            self._execute_waiting()
        except KeyboardInterrupt:
            print("interrupted; what was found so far:", file=sys.stderr)
        return self.found

    def _one(self, kind: str) -> None:
        damaged = self._mutant(kind)
        if damaged is None:
            self.found.outcomes[f"{kind}: cannot be written"] += 1
            return
        try:
            accepted = judge(damaged)
        except Exception as error:
            self.found.defects.append((f"{DEFECT} of the verifier: {type(error).__name__}: {error}", damaged))
            accepted = False
        self.found.outcomes[f"{kind}: {'accepted' if accepted else 'refused'}"] += 1
        if accepted and self.executed.get(kind, 0) > 0:
            self.executed[kind] -= 1
            self.waiting.append((kind, bytes(sealed(damaged))))
            if len(self.waiting) >= BATCH:
                self._execute_waiting()

    def _mutant(self, kind: str) -> bytes | bytearray | None:
        if kind == "bytes":
            number = self.rng.randrange(len(self.files))
            return mutate(self.rng, self.files[number], self.structures[number])
        with_text = kind == "kernels" and self.with_kernels
        tables = Tables(self.files[self.rng.choice(with_text or range(len(self.files)))])
        if with_text:
            tables.damage_kernel(self.rng)
        else:
            tables.damage(self.rng)
        return tables.written()

    def _execute_waiting(self) -> None:
        waiting, self.waiting = self.waiting, []
        outcomes = execute_apart([data for _, data in waiting])
        for (kind, data), (outcome, took) in zip(waiting, outcomes, strict=True):
            self.found.outcomes[f"{kind}: executed: {outcome}"] += 1
            self.found.slowest = max(self.found.slowest, took)
            if outcome.startswith(DEFECT):
                self.found.defects.append((outcome, data))


def main() -> NoReturn:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", help="valid Light Metal binaries")
    parser.add_argument("--count", type=int, default=1_000_000, help="mutants")
    parser.add_argument("--execute", type=int, nargs=3, default=(14_000, 4_000, 2_000), help="accepted ones to execute: "
                        "with damaged bytes, tables, kernels")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, help="stop after this time")
    parser.add_argument("--defects", type=Path, help="folder for files that ended otherwise than they may")
    options = parser.parse_args()
    files = [Binary.open(path) for path in options.files]
    for data in files:
        if data[4:8] != light_metal_schema().identifier:
            parser.error("give files that tensim captured")
    begun = time.perf_counter()
    fuzzer = Fuzzer(files, options.seed, zip(KINDS, options.execute, strict=True))
    with Progress(*Progress.get_default_columns(), MofNCompleteColumn(), console=Console(stderr=True)) as progress:
        task = progress.add_task("mutants", total=options.count)
        found = fuzzer.run(options.count, options.seconds, lambda judged: progress.update(task, completed=judged))
    for name, number in sorted(found.outcomes.items()):
        print(f"{number:10,} {name}")
    print(f"{time.perf_counter() - begun:,.0f} s; slowest execution {found.slowest:.2f} s of processor time")
    for number, (outcome, data) in enumerate(found.defects):
        print(outcome)
        if options.defects is not None:
            options.defects.mkdir(parents=True, exist_ok=True)
            write_output(options.defects / f"{number}.bin", data)
    sys.exit(bool(found.defects))


if __name__ == "__main__":
    main()
