"""All benchmarks, with their goals; writes bench/out.json and prints a table.

Times are of this machine; what counts are the ratios, taken in this one run.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench import (
    dram,
    flit,
    gemm,
    gemm_speed,
    handoff,
    light_metal,
    noc_models,
    noc_replay,
    numerics,
    packet,
    runtime,
    simpy_reference,
    trace,
)  # fmt: skip
from bench.commands import fastest, peak_memory, tensim

OUT = Path(__file__).with_name("out.json")
MATMUL = ("run", "matmul_multicast", "--arch", "wormhole_b0", "--shape")
SMALL = ("run", "add_integers")
ROUNDS, REFERENCE_ROUNDS = 20_000, 500
CUBE = "2048x2048x2048"


def figure(name, value, unit, goal, holds, compared_with=None, ratio=None):
    return {
        "name": name, "value": value, "unit": unit, "goal": goal, "holds": bool(holds),
        "compared_with": compared_with, "ratio": ratio,
    }  # fmt: skip


def at_most(name, value, unit, limit, **comparison):
    return figure(name, value, unit, f"at most {limit}", value <= limit, **comparison)


def cold_start():
    """The first command ever: everything compiles."""
    cache = tempfile.mkdtemp(prefix="tensim-bench-")
    try:
        _, seconds = tensim(*SMALL, TENSIM_CACHE_DIR=cache)
    finally:
        shutil.rmtree(cache, ignore_errors=True)
    yield at_most("cold start, everything compiles", seconds, "s", 90)


def warm_start():
    _, seconds = fastest(3, *SMALL)
    yield at_most("warm start of add_integers", seconds, "s", 2)


def lane():
    """Operations per second of the compiled lane, and the same program as pure SimPy."""
    operations, seconds, _ = max((handoff.run(ROUNDS) for _ in range(3)), key=lambda run: run[0] / run[1])
    rate = operations / seconds
    yield figure("kernel operations, 320 threads", rate, "1/s", "at least 8e6", rate >= 8e6)
    same = handoff.run(REFERENCE_ROUNDS)
    reference = simpy_reference.run(REFERENCE_ROUNDS)
    ratio = rate / (reference[0] / reference[1])
    equal = same[0] == reference[0] and same[2] == reference[2]
    yield figure(
        "compiled lane against SimPy, same cycles", rate, "1/s", "at least 20 times", ratio >= 20 and equal,
        compared_with="bench/simpy_reference.py", ratio=ratio,
    )  # fmt: skip


def matmul():
    _, off = fastest(3, *MATMUL, CUBE, "--numerics", "off")
    yield at_most(f"matmul {CUBE}, numerics off", off, "s", 2)
    _, fast = fastest(3, *MATMUL, CUBE, "--numerics", "fast")
    yield at_most(f"matmul {CUBE}, numerics fast", fast, "s", 6)
    _, large = tensim(*MATMUL, "4096x4096x4096", "--numerics", "fast")
    ratio = large / fast
    yield figure("matmul of 4096 against 2048", large, "s", "at most 9 times", ratio <= 9, "2048, numerics fast", ratio)
    yield at_most("largest process so far", peak_memory() / 1e9, "GB", 3)


def packets():
    """Packets of uniform random traffic below saturation, without cores and memories."""
    for load in packet.LOADS:
        value = packet.rate(load)
        name = f"packet-hops, {load} flits per tile and cycle"
        yield figure(name, value, "1/s of processor time", "at least 8e6", value >= 8e6)


def exact():
    """Bit-exact arithmetic and conversions on one core."""
    for name, value, least in numerics.figures():
        yield figure(name, value, "1/s", f"at least {least:.3g}", value >= least)


def determinism():
    """Cycles and memory images of runs that differ in their hash seed only."""
    runs = [tensim(*MATMUL, "256x256x256", "--image-hash", PYTHONHASHSEED=seed)[0] for seed in ("0", "1", "2")]
    different = sum(
        run["cycles"] != runs[0]["cycles"] or run["image_sha256"] != runs[0]["image_sha256"] for run in runs
    )
    yield at_most("runs with other hash seeds that differ", different, "runs", 0)


def large_products():
    """A matrix product of 4096^3 on a full grid, timing only."""
    gemm_speed.cube(512)
    seconds = min(gemm_speed.cube(4096) for _ in range(2))
    yield at_most("matmul 4096x4096x4096, operands in DRAM, timing only", seconds, "s", gemm_speed.CUBE_SECONDS)


def silicon():
    for row in gemm.rows():
        measured, simulated = int(row["trisc1_cycles"]), gemm.simulate(row)
        ratio = simulated / measured
        name = f"n150 {row['M']}x{row['K']}x{row['N']} {row['dtype']} {row['fidelity']}"
        goal, holds = "within a factor of 1.5", 1 / 1.5 <= ratio <= 1.5
        yield figure(name, simulated, "cycles", goal, holds, f"{measured} cycles on silicon", ratio)


def saving():
    """Light Metal: capture, loading, replay."""
    time_ratio, size_ratio = light_metal.capture_overhead()
    yield at_most("captured matmul against plain, host time", time_ratio, "times", 1.1, ratio=time_ratio)
    yield at_most("binary against its data and kernel texts", size_ratio, "times", 1.1, ratio=size_ratio)
    commands, size, replayed = light_metal.rates()
    yield figure("loading and verifying commands", commands, "1/s", "at least 2e5", commands >= 2e5)
    yield figure("loading and verifying data", size / 1e6, "MB/s", "at least 200", size >= 200e6)
    yield figure("replay of small commands", replayed, "1/s", "at least 2e4", replayed >= 2e4)


def tracing():
    """100 small programs one by one and as a trace, for both published times of a traced program."""
    for published, overrides in trace.PUBLISHED.items():
        device, host = trace.run(100, overrides | trace.NO_HOST), trace.run(100, overrides)
        for who, eager, traced, measured in (
            ("device", device.eager_ns, device.traced_ns, trace.EAGER_DEVICE_NS),
            ("host", host.eager_ns, host.traced_ns, trace.EAGER_HOST_NS),
        ):
            ratio, goal = eager / traced, measured / published
            yield figure(
                f"{who} time per program, {eager / 1000:.2f} us, traced", traced / 1000, "us",
                f"{goal:.2f} times less, within 15 %", abs(ratio / goal - 1) <= 0.15,
                f"published {measured} and {published} ns", ratio,
            )  # fmt: skip
    loop = min((trace.run(1000) for _ in range(3)), key=lambda loop: loop.traced_seconds / loop.eager_seconds)
    ratio = loop.traced_seconds / loop.eager_seconds
    yield figure("1000 programs replayed", loop.traced_seconds, "s", "no slower than live", ratio <= 1, "live", ratio)


def noc_events():
    """Replay of NoC events inside a process."""
    value = noc_replay.run()
    yield figure("replay of NoC events, transfers", value, "1/s", "at least 2e5", value >= 2e5)


def above_host_api():
    """The runtime above the host API."""
    rate = max(runtime.submits(10_000) for _ in range(3))
    yield figure("submits of a program without kernels", rate, "1/s", "at least 2e4", rate >= 2e4)
    seconds = min(runtime.tilize_seconds(4096) for _ in range(3))
    yield figure("4096x4096 bf16 from rows to tiles", seconds, "s", "less than 0.1", seconds < 0.1)
    submitted, plain = runtime.matmul_cycles_submitted(512), runtime.matmul_cycles_plain(512)
    yield figure(
        "multicast matmul through submit", submitted, "cycles", "as plain", submitted == plain, f"{plain} cycles"
    )


def flits():
    """The flit model."""
    rate = max(flit.speed() for _ in range(3))
    yield figure("flit-hops on an 8x8 mesh", rate, "1/s", "at least 2e6", rate >= 2e6)
    rate = max(noc_models.lane_rate() for _ in range(2))
    yield figure("flit-hops of a program, every core writes to every core", rate, "1/s", "at least 2e6", rate >= 2e6)


def memory():
    """Bursts per second that the command-level DRAM controller serves on one core."""
    for pattern in dram.PATTERNS:
        rate = dram.rate("wormhole_b0", pattern)
        yield figure(f"DRAM bursts, {pattern}", rate, "1/s", "at least 1e6", rate >= 1e6)


GROUPS = (
    cold_start, warm_start, lane, packets, flits, memory, matmul, large_products, exact, tracing, saving, above_host_api,
    noc_events, determinism, silicon,
)  # fmt: skip


def main():
    console = Console()
    figures = []
    for group in track(GROUPS, description="benchmarks", console=Console(stderr=True)):
        figures += group()
    OUT.write_text(json.dumps(figures, indent=2) + "\n")
    table = Table(show_edge=False, pad_edge=False)
    for column in ("benchmark", "value", "goal", "ratio", "holds"):
        table.add_column(column)
    for f in figures:
        ratio = "" if f["ratio"] is None else f"{f['ratio']:.2f}"
        table.add_row(
            f["name"], f"{f['value']:.4g} {f['unit']}", f["goal"], ratio, "yes" if f["holds"] else "[red]NO[/]"
        )
    console.print(table)
    return 0 if all(f["holds"] for f in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
