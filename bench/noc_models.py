"""The packet model of the NoC against the flit model on programs of measured rows.

`python -m bench.noc_models noc_latencies.csv [ROWS]` takes up to ROWS rows (6) of every chip, pattern, mechanism and memory,
evenly over the rows of up to about 1e8 flit-hops in the order of their traffic, runs each with both models, and prints by
group how far the packet model's cycles are from the flit model's.

A row is below saturation when its packets take, on average, less than twice as long as without load (the usual mark is the
bend of a latency-load curve).  Beyond it the question is whether both models put configurations in the same order: of all
pairs of rows of a group that the flit model tells apart by 5 % or more, the share that the packet model orders alike.
"""

import itertools
import multiprocessing
import time
from dataclasses import dataclass

import click
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import tensim as tt
from tensim.sim.arch import load_arch
from tensim.sim.noc.topology import EJECT, INJECT, LINKS_PER_TILE
from tensim.validation.noc import rows as noc
from tensim.validation.rows import cases_of, read_rows

MOST_FLIT_HOPS, TYPICAL_HOPS = 1e8, 11
SATURATED = 2.0  # times the latency without load
APART = 0.05
CROWD = ("wormhole_b0", "ALL_TO_ALL", "write", "L1", "UNICAST", 0, (8, 7), 0, 0, 0, 1, 8192)  # 8 million flit-hops


@dataclass(frozen=True)
class Run:
    """One row with one model: its cycles, flits carried between routers, latency over that without load, processor seconds."""

    cycles: float
    flit_hops: int
    slowdown: float
    seconds: float


def run(spec, model):
    """A row's program with one NoC model."""
    device = noc.open_device(spec, model)
    try:
        begun = time.process_time()
        cycles = noc.latency(spec, noc.run(device, spec))
        seconds, links = time.process_time() - begun, device.chip.arrays["links"].copy()
        head = device.chip.arch["noc.niu_to_router_cycles"] + device.chip.arch["noc.router_to_niu_cycles"]
        hop = device.chip.arch["noc.hop_cycles"]
    finally:
        tt.close_device(device)
    kind = np.arange(len(links)) % LINKS_PER_TILE
    sent, between = links[kind == INJECT], links[(kind != INJECT) & (kind != EJECT)]
    alone = head + (hop * between["packets"].sum() + sent["flits"].sum()) / sent["packets"].sum()
    waited = links["stall"].sum() / sent["packets"].sum()
    return Run(float(cycles), int(between["flits"].sum()), float(1 + waited / alone), seconds)


def traffic(case):
    """About how many flit-hops a row makes."""
    arch, nbytes = load_arch(case.spec[0]), case.spec[-1]
    flits = 2 + min(nbytes, arch["noc.max_packet_bytes"]) / arch["noc.flit_bytes"]
    return (case.work - 2000) * flits * TYPICAL_HOPS


def subset(path, rows):
    """{group: cases}: up to `rows` of each group, evenly over its traffic."""
    table, layout = read_rows(path, noc.COLUMNS)
    groups = {}
    for case in {case.spec: case for _, case in cases_of(table, layout, noc.read)[0]}.values():
        if traffic(case) <= MOST_FLIT_HOPS:
            groups.setdefault(case.group, []).append(case)
    chosen = {}
    for group, cases in sorted(groups.items()):
        cases.sort(key=lambda case: (traffic(case), case.spec))
        places = np.unique(np.linspace(0, len(cases) - 1, rows).round().astype(int))
        chosen[group] = [cases[i] for i in places]
    return chosen


def difference(packet, flit):
    """Percent by which the packet model is off."""
    return 100 * (packet.cycles - flit.cycles) / flit.cycles


def same_order(pairs):
    """(pairs of runs that the flit model tells apart, those of them that the packet model orders alike)."""
    apart = alike = 0
    for (packet, flit), (other_packet, other_flit) in itertools.combinations(pairs, 2):
        if abs(flit.cycles - other_flit.cycles) >= APART * max(flit.cycles, other_flit.cycles):
            apart += 1
            alike += (packet.cycles < other_packet.cycles) == (flit.cycles < other_flit.cycles)
    return apart, alike


def run_both(task):
    """In a worker process: (group, (packet, flit)) of (group, spec)."""
    group, spec = task
    return group, (run(spec, "packet"), run(spec, "flit"))


def compare(path, rows):
    """{group: [(packet, flit)]} of the subset, on all cores, the most traffic first."""
    chosen = subset(path, rows)
    work = [(group, case) for group, cases in chosen.items() for case in cases]
    work.sort(key=lambda task: -traffic(task[1]))
    results = {group: [] for group in chosen}
    with multiprocessing.get_context("spawn").Pool() as pool:
        done = pool.imap_unordered(run_both, [(group, case.spec) for group, case in work])
        for group, pair in track(
            done, total=len(work), description="rows with both models", console=Console(stderr=True)
        ):
            results[group].append(pair)
    return results


def split(pairs):
    """(below saturation, beyond)."""
    below = [pair for pair in pairs if pair[1].slowdown < SATURATED]
    return below, [pair for pair in pairs if pair[1].slowdown >= SATURATED]


def engine_rate():
    """Flit-hops per second of processor time of a crowded grid."""
    flit = run(CROWD, "flit")
    return flit.flit_hops / flit.seconds


def row_of(name, pairs):
    below, beyond = split(pairs)
    errors = [abs(difference(*pair)) for pair in below]
    cells = (f"{np.mean(errors):.2f}", f"{max(errors):.1f}") if errors else ("-", "-")
    off = f"{np.mean([difference(*pair) for pair in beyond]):+.1f}" if beyond else "-"
    return name, str(len(below)), *cells, str(len(beyond)), off


@click.command(help=__doc__)
@click.argument("path", metavar="noc_latencies.csv", type=click.Path(exists=True, dir_okay=False))
@click.argument("rows", type=click.IntRange(1), default=6)
def main(path, rows):
    results = compare(path, rows)
    table = Table(title="packet model less flit model, % of cycles")
    for column in ("group", "below saturation", "mean |diff|", "worst", "beyond", "mean diff"):
        table.add_column(column, overflow="fold")
    everything = [pair for pairs in results.values() for pair in pairs]
    for name, pairs in [*results.items(), ("all", everything)]:
        table.add_row(*row_of(name, pairs))
    console = Console(width=110)
    console.print(table)
    orders = [same_order(split(pairs)[1]) for pairs in results.values()]
    apart, alike = (sum(column) for column in zip(*orders, strict=True))
    console.print(f"beyond saturation: {alike} of {apart} pairs of rows of a group in the same order")
    seconds = sum(flit.seconds for _, flit in everything)
    rate = sum(flit.flit_hops for _, flit in everything) / seconds
    console.print(f"flit model: {rate:,.0f} flit-hops/s of processor time over all {len(everything)} rows")


if __name__ == "__main__":
    main()
