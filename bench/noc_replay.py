"""Transfers per second of a replay of NoC events inside a process, reading the files left out.

`python -m bench.noc_replay TRACE.json...` prints the rate of the files together, in each mode.
"""

import time

import click
import numpy as np

from tensim.sim.arch import load_arch
from tensim.sim.chip.chip import Chip
from tensim.sim.chip.noc_replay import EVENT, MODES, NO_END, EventKind, replay
from tensim.traces.noc_events import read_recordings

REPEATS = 10
READS, GAP, PAGE = 32, 124, 2048  # per core: as in recordings of interleaved reads on silicon


def interleaved_reads(arch):
    """Events of every core reading pages from all DRAM banks in turn, with one barrier each."""
    banks, rows = arch.dram_endpoints[0], []
    for core, (x, y) in enumerate(arch.worker_coords):
        for i in range(READS):
            bx, by, _ = banks[(core + i) % len(banks)]
            rows.append([x, y, 1, EventKind.READ, 0, bx, by, bx, by, PAGE, i * GAP, NO_END])
        rows.append([x, y, 1, EventKind.READ_BARRIER, 0, 0, 0, 0, 0, 0, READS * GAP, READS * GAP + 500])
    return np.array(rows, np.int64).view(EVENT)[:, 0]


def rate(chip, recordings, mode):
    """Transfers per second of the fastest of some rounds over `recordings`: [(events, origin)]."""
    transfers = sum(np.count_nonzero(events["kind"] < EventKind.READ_BARRIER) for events, _ in recordings)
    best = np.inf
    for _ in range(REPEATS):
        begun = time.perf_counter()
        for events, origin in recordings:
            replay(chip, events, origin, mode)
        best = min(best, time.perf_counter() - begun)
    return transfers / best


def run(mode="closed"):
    """The rate of `interleaved_reads` on a Wormhole."""
    arch = load_arch("wormhole_b0")
    return rate(Chip(arch, numerics="off"), [(interleaved_reads(arch), 0)], mode)


@click.command(help=__doc__)
@click.argument("files", metavar="TRACE.json...", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
def main(files):
    arch = load_arch("wormhole_b0")
    recordings = [(recording.events, recording.origin) for file in files for recording in read_recordings(file, arch)]
    chip = Chip(arch, numerics="off")
    for mode in MODES:
        rate(chip, recordings[:1], mode)  # loads compiled code
        print(f"{mode}: {rate(chip, recordings, mode):,.0f} transfers/s, {len(recordings)} recordings")


if __name__ == "__main__":
    main()
