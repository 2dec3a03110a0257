"""Mutation fuzzing of the Light Metal loader: `python -m tensim.running.fuzz FILE...`.

Valid files are damaged (bits flipped, words replaced, pieces moved, ends cut off, union types swapped), their content hash
made right again, and given to the verifier; what it accepts may be executed with a budget.  Nothing but tensim's own errors
may come out.  With NUMBA_DISABLE_JIT=1 every read of the verifier is checked against the file's ends.
"""

import argparse
import random
import resource
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

import numba
import numpy as np

from tensim.light_metal.replay import ReplayOptions
from tensim.running.replay import LightMetalReplay
from tensim.sim.errors import BinaryError
from tensim.traces.flatbuffers.schema import light_metal_schema
from tensim.traces.light_metal.binary import Binary
from tensim.traces.light_metal.verifier import verify_content, verify_structure
from tensim.traces.light_metal.verify import open_verified
from tensim.traces.light_metal.write import sealed

DEFECT = "DEFECT"
WORDS = (0, 1, 2, 3, 4, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFF)


class Checked(np.ndarray):
    """Bytes that refuse to be read outside their ends, where a plain array would count from its end."""

    def __getitem__(self, index):
        if isinstance(index, slice):
            return super().__getitem__(index)
        if not 0 <= index < len(self):
            raise IndexError(f"byte {index} of a file of {len(self)} B")
        return super().__getitem__(index)


def structure_of(data):
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


def mutate(rng, data, structure):
    """A damaged copy of a file."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.choice(structure) if rng.random() < 0.8 else rng.randrange(len(data))
        kind = rng.randrange(6)
        if kind == 0:
            data[min(at, len(data) - 1)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            at = min(at & ~3, len(data) - 4)
            data[at : at + 4] = rng.choice(WORDS).to_bytes(4, "little")
        elif kind == 2:
            at, length = min(at, len(data) - 1), rng.randrange(1, 64)
            source = rng.randrange(len(data))
            piece = data[source : source + length]
            data[at : at + len(piece)] = piece
        elif kind == 3 and rng.random() < 0.2:
            del data[max(at, 8) :]
        elif kind == 4:
            data[min(at, len(data) - 1)] = rng.randrange(48)  # the range of union types
        else:
            at = min(at & ~3, len(data) - 4)
            word = int.from_bytes(data[at : at + 4], "little") + rng.choice((-64, -8, -4, -1, 1, 4, 8, 64))
            data[at : at + 4] = (word & 0xFFFFFFFF).to_bytes(4, "little")
    return data


def judge(data):
    """Whether the verifier takes a file; an exception is a defect of the verifier."""
    raw = np.frombuffer(data, np.uint8)
    if numba.config.DISABLE_JIT:
        raw = raw.view(Checked)
    return verify_structure(raw) is None and not verify_content(raw)


def execute(data, max_cycles):
    """Replay a file with a budget; returns how it ended."""
    try:
        replay = LightMetalReplay(open_verified(sealed(data)), options=ReplayOptions(max_cycles=max_cycles))
    except BinaryError:
        return "refused"
    try:
        replay.run()
        return "ran" if replay.error is None else replay.error.kind
    except Exception as error:  # what the fuzzer looks for
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{DEFECT} {type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"


def fuzz(files, count, executed, seed, seconds=None, max_cycles=200_000):
    """(counts of the outcomes, mutations per second, slowest execution in seconds)."""
    rng, outcomes, slowest = random.Random(seed), Counter(), 0.0
    inputs = [(data, structure_of(data)) for data in files]
    begun, done, spent = time.perf_counter(), 0, 0.0
    for done in range(1, count + 1):  # noqa: B007  counts what was done
        data, structure = rng.choice(inputs)
        damaged = mutate(rng, data, structure)
        accepted = judge(damaged)
        outcomes["accepted" if accepted else "refused"] += 1
        if accepted and outcomes["executed"] < executed:
            started = time.perf_counter()
            outcomes["executed"] += 1
            outcomes[f"executed: {execute(damaged, max_cycles)}"] += 1
            took = time.perf_counter() - started
            slowest, spent = max(slowest, took), spent + took
        if seconds is not None and time.perf_counter() - begun > seconds:
            break
    return outcomes, done / max(time.perf_counter() - begun - spent, 1e-9), slowest


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", help="valid Light Metal binaries")
    parser.add_argument("--count", type=int, default=1_000_000, help="mutations")
    parser.add_argument("--execute", type=int, default=10_000, help="accepted files to execute")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, help="stop after this time")
    options = parser.parse_args()
    files = [bytes(Binary.open(path)) for path in options.files]
    for data in files:
        if bytes(data[4:8]) != light_metal_schema().identifier:
            parser.error("give files that tensim captured")
    outcomes, rate, slowest = fuzz(files, options.count, options.execute, options.seed, options.seconds)
    for name, number in sorted(outcomes.items()):
        print(f"{number:10,} {name}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10  # KiB on Linux
    print(f"{rate:,.0f} mutations/s; slowest execution {slowest:.2f} s; at most {memory:,.0f} MB of memory")
    sys.exit(any(DEFECT in name for name in outcomes))


if __name__ == "__main__":
    main()
