"""Tile arithmetic on several threads: a matrix product on 64 cores with `numerics=exact`, on one thread and on two, and what that
says of more.

Times are those for which the event loop's thread has a processor: it never sleeps, so on an idle machine that is how long the run
takes, and on a busy one it still is.
"""

import time
from typing import NamedTuple

import tensim as tt
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.sim.chip.chip import Chip
from tensim.sim.chip.numerics_threads import set_numerics_threads
from tensim.sim.chip.statistics import program_cycles

SHAPE, PHASES = "1024x1024x1024", {"LoFi": 1, "HiFi2": 2, "HiFi4": 4}
MEASURED = "HiFi2"
REPEATS = 6
PROJECTED = 16  # threads


class Run(NamedTuple):
    """`seconds` of the event loop's thread in the engine; what must not depend on threads: `cycles`, and `bits`, a hash of DRAM."""

    seconds: float
    cycles: int
    bits: str


class Projection(NamedTuple):
    """Seconds on one thread (`work`), of it what only the event loop's thread can do (`alone`), and on many threads: at least, at
    most."""

    work: float
    alone: float
    least: float
    most: float


def run(fidelity, threads):
    """The fastest `Run` of some on a device, the first one not counted: in it threads begin."""
    set_numerics_threads(threads)
    device = tt.create_device(0, numerics="exact")
    try:
        runs = [_seconds(device, fidelity) for _ in range(REPEATS)]
        return Run(min(runs[1:]), program_cycles(device.chip), device.chip.memory.image_sha256()["dram"])
    finally:
        tt.close_device(device)
        set_numerics_threads(None)


def _seconds(device, fidelity):
    spent, advance = [], Chip.advance

    def timed(chip, *arguments):
        begun = time.thread_time()
        try:
            return advance(chip, *arguments)
        finally:
            spent.append(time.thread_time() - begun)

    Chip.advance = timed
    try:
        find_program("matmul_multicast").run_on(device, Options(SHAPE, "bf16", fidelity))
    finally:
        Chip.advance = advance
    return sum(spent)


def projection():
    """A `Projection` to PROJECTED threads.

    The time on one thread grows by the same with each fidelity phase of the products; without any it would be what the event loop's
    thread alone can do.  With many threads a run takes at least that long, and at least its share of all work; it takes at most
    the former and a share of the rest (Brent, 1974), as the products of 64 cores do not wait for each other.
    """
    seconds = {name: run(name, 1).seconds for name in PHASES}
    phase = (seconds["HiFi4"] - seconds["LoFi"]) / (PHASES["HiFi4"] - PHASES["LoFi"])
    work = seconds[MEASURED]
    alone = max(work - PHASES[MEASURED] * phase, 0)
    return Projection(work, alone, max(alone, work / PROJECTED), alone + (work - alone) / PROJECTED)


def main():
    one, two, many = run(MEASURED, 1), run(MEASURED, 2), projection()
    same = (one.cycles, one.bits) == (two.cycles, two.bits)
    print(f"1 thread: {one.seconds:.3f} s, 2 threads: {two.seconds:.3f} s; same cycles and bits: {same}")
    print(f"of {many.work:.3f} s the event loop alone {many.alone:.3f} s")
    print(
        f"{PROJECTED} threads: {many.least:.3f} to {many.most:.3f} s, "
        f"{many.work / many.most:.1f} to {many.work / many.least:.1f} times as fast"
    )


if __name__ == "__main__":
    main()
