"""All benchmarks, or groups of them by name, with their goals; writes bench/out.json, adds a line to bench/history.jsonl and prints
a table, with the change against the last run on this machine.

Times and speeds are of this machine and shown with their goals. The exit status depends on the rest: correctness, and ratios
of figures of this one run.
"""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench import (
    checks,
    collecting,
    dram,
    flit,
    gemm,
    gemm_speed,
    handoff,
    history,
    instruction_level,
    interrupts,
    kernel_builds,
    launches,
    library,
    light_metal,
    noc_models,
    noc_replay,
    numerics,
    numerics_threads,
    packet,
    register_level,
    riscv,
    runtime,
    simpy_reference,
    start_up,
    sweep,
    trace,
    transfers,
    ttnn,
)  # fmt: skip
from bench.commands import fastest, in_turn, peak_memory, seconds_and_memory, tensim
from tensim.runtime import DType
from tensim.sim.output_files import write_output

OUT = Path(__file__).with_name("out.json")
MATMUL = ("run", "matmul_multicast", "--no-check", "--arch", "wormhole_b0", "--shape")
SMALL = ("run", "add_integers", "--no-check")
IN_CPP = ("--param", "kernels=cpp")
ROUNDS, REFERENCE_ROUNDS = 20_000, 500
CUBE = "2048x2048x2048"


def figure(name, value, unit, goal, holds, decides, compared_with=None, ratio=None):
    return {
        "name": name, "value": value, "unit": unit, "goal": goal, "holds": bool(holds), "decides": decides,
        "compared_with": compared_with, "ratio": ratio,
    }  # fmt: skip


def fact(name, value, unit, goal, holds, compared_with=None, ratio=None):
    """What has to hold on every machine: correctness, sizes, and ratios of what this one run measured."""
    return figure(name, value, unit, goal, holds, True, compared_with, ratio)


def at_least(name, value, limit, unit="1/s"):
    """A speed of this machine, shown with its goal."""
    return figure(name, value, unit, f"at least {limit:.3g}", value >= limit, False)


def at_most(name, seconds, limit):
    """A time on this machine, shown with its goal."""
    return figure(name, seconds, "s", f"at most {limit:.3g}", seconds <= limit, False)


def commands():
    """Whole processes: the first one ever, in which everything compiles, later ones, and their memory."""
    cache = tempfile.mkdtemp(prefix="tensim-bench-")
    try:
        _, seconds = tensim(*SMALL, TENSIM_CACHE_DIR=cache)
    finally:
        shutil.rmtree(cache, ignore_errors=True)
    yield at_most("command: first start, everything compiles", seconds, 90)
    without_data = ("--numerics", "off")
    seconds, n_bytes = seconds_and_memory(*MATMUL, "8192x8192x8192", *without_data)
    gigabytes = n_bytes / 1e9
    yield at_most("command: matmul 8192x8192x8192, numerics off", seconds, 4)
    yield fact("command: memory of it", gigabytes, "GB", "at most 0.5", gigabytes <= 0.5)
    _, seconds = fastest(3, *MATMUL, "4096x4096x4096", *without_data)
    yield at_most("command: matmul 4096x4096x4096, numerics off", seconds, 0.8)
    _, off = fastest(3, *MATMUL, CUBE, *without_data)
    yield at_most(f"command: matmul {CUBE}, numerics off", off, 2)
    _, fast = fastest(3, *MATMUL, CUBE, "--numerics", "fast")
    yield at_most(f"command: matmul {CUBE}, numerics fast", fast, 6)
    _, large = tensim(*MATMUL, "4096x4096x4096", "--numerics", "fast")
    ratio = large / fast
    yield fact(
        "command: matmul of 4096 against 2048", large, "s", "at most 9 times", ratio <= 9, f"{fast:.3g} s", ratio
    )
    gigabytes = peak_memory() / 1e9
    yield fact("command: memory of the largest", gigabytes, "GB", "at most 3", gigabytes <= 3)


def starts():
    """Commands that do little: what they cost is what they import and load."""
    alone = start_up.numba_seconds()
    for name, seconds, goal in start_up.rows():
        row = at_most(f"start-up: {name}", seconds, goal)
        yield row | {"compared_with": f"import numba {alone:.3g} s", "ratio": seconds / alone}


def builds():
    """C++ kernels: what a user waits for after a change, and what they cost beside Python ones."""
    for name, seconds, goal in kernel_builds.rows():
        yield at_most(name, seconds, goal)
    python, cpp = in_turn(3, SMALL, (*SMALL, *IN_CPP))
    row = at_most("C++ kernels: processor time they add to a warm start of add_integers", cpp - python, 0.1)
    yield row | {"compared_with": f"{python:.3g} s", "ratio": cpp / python}
    program = (*MATMUL, CUBE, "--numerics", "off")
    python, cpp = in_turn(3, program, (*program, *IN_CPP))
    yield fact(
        f"C++ kernels: matmul {CUBE}, numerics off, processor time", cpp, "s", "at most 1.5 times", cpp <= 1.5 * python,
        f"{python:.3g} s with Python kernels", cpp / python,
    )  # fmt: skip


def engine():
    """Operations per second of the compiled engine, the same program as pure SimPy, and how long Ctrl-C may wait."""
    operations, seconds, _ = max((handoff.run(ROUNDS) for _ in range(3)), key=lambda run: run[0] / run[1])
    rate = operations / seconds
    yield at_least("engine: operations of 320 threads", rate, 8e6)
    same = handoff.run(REFERENCE_ROUNDS)
    reference = simpy_reference.run(REFERENCE_ROUNDS)
    ratio = rate / (reference[0] / reference[1])
    equal = same[0] == reference[0] and same[2] == reference[2]
    yield fact(
        "engine: against SimPy, same cycles", rate, "1/s", "at least 20 times", ratio >= 20 and equal,
        "bench/simpy_reference.py", ratio,
    )  # fmt: skip
    yield at_most("engine: longest time between two looks at Ctrl-C", interrupts.longest_turn(), 0.1)


def kernel_checks():
    """What --check, which `tensim run` has on, costs beside the same program without."""
    for name, ratio in checks.ratios().items():
        name = f"checks: {name}, times as long with them"
        yield figure(name, ratio, "", "at most 1.5", ratio <= 1.5, False, "without checks")
    ratio = checks.engine_ratio()
    name = "checks: matmul of 1024 without data, compiled code, times as long with them"
    yield figure(name, ratio, "", "at most 1.6", ratio <= 1.6, False, "without checks")


def verdicts():
    """What every run keeps for its verdict."""
    for name, share in collecting.shares().items():
        value = 100 * share
        yield figure(f"verdict: processor time of its figures, {name}", value, "%", "at most 5", value <= 5, False)


def riscv_cores():
    """Instructions of C++ kernels with timing, and their operations, on 64 busy cores."""
    instructions, operations, between = riscv.rates()
    yield at_least("RISC-V: instructions of 64 cores", instructions, 150e6, "1/s of processor time")
    yield at_least(f"RISC-V: operations, {between:.0f} instructions each", operations, 2e6, "1/s of processor time")


INSTRUCTION_RATIOS = {"HiFi4 product, exact bits": 3, "64 cores, time only": 12}  # goals


def instructions_of_the_coprocessor():
    """Compute kernels against the vendor's LLK, where its sources are named."""
    for name, value in instruction_level.measured().items():
        title = f"instruction level: {name}"
        if name.startswith("cycles"):
            yield at_least(title, value, 10e6, "1/s of processor time")
        else:
            goal = INSTRUCTION_RATIOS[name]
            yield figure(title, value, "", f"at most {goal}", value <= goal, False, "the operation level")


def idle_tiles():
    """A chip at register level whose tiles wait but for one."""
    ratio = register_level.idle_cost()
    name = f"register level: time beside {register_level.IDLE - 1} tiles that wait"
    yield figure(name, ratio, "", "at most 2", ratio <= 2, False, "alone")


def packet_model():
    """Packets of uniform random traffic below saturation, without cores and memories."""
    for load in packet.LOADS:
        name = f"packet model: hops, {load} flits per tile and cycle"
        yield at_least(name, packet.rate(load), 8e6, "1/s of processor time")


def cached_launches():
    """Launches of a program on 64 cores that does nothing: host time and memory."""
    seconds, n_bytes = launches.costs(200)
    yield at_most("launch: cached program on 64 cores, processor time", seconds, 0.0003)
    yield fact("launch: memory that stays of one", n_bytes, "B", "at most 500", n_bytes <= 500)


def host_transfers():
    """A quarter of a gigabyte to DRAM and back."""
    for way, rate in zip(("upload to DRAM", "read back"), transfers.rates(1 << 28), strict=True):
        yield at_least(f"transfers: {way}", rate, 1.2, "GB/s of processor time")


def flit_model():
    """Flits of synthetic traffic, and of a program."""
    rate = max(flit.speed() for _ in range(3))
    yield at_least("flit model: hops on an 8x8 mesh", rate, 12e6)
    rate = max(noc_models.engine_rate() for _ in range(2))
    yield at_least("flit model: hops of a program, every core writes to every core", rate, 16e6)


def dram_controller():
    """Bursts per second that the command-level DRAM controller serves on one core."""
    for pattern in dram.PATTERNS:
        yield at_least(f"DRAM controller: bursts, {pattern}", dram.rate("wormhole_b0", pattern), 1e6)


def large_products():
    """A matrix product of 4096^3 on a full grid, timing only, inside a process."""
    gemm_speed.cube(512)
    seconds = min(gemm_speed.cube(4096) for _ in range(2))
    yield at_most("matmul 4096x4096x4096, operands in DRAM, timing only", seconds, gemm_speed.CUBE_SECONDS)


def exact():
    """Bit-exact arithmetic and conversions on one core."""
    for name, value, least in numerics.figures():
        yield at_least(name, value, least)


def threads_of_numerics():
    """An exact matrix product on two threads, and what its parts say of 16."""
    one, two = (numerics_threads.run(numerics_threads.MEASURED, threads) for threads in (1, 2))
    ratio, same = two.seconds / one.seconds, one[1:] == two[1:]
    title = f"numerics threads: exact matmul of {numerics_threads.SHAPE} on two, same bits and cycles"
    yield fact(
        title, two.seconds, "s", "at most 0.6 times", ratio <= 0.6 and same, f"{one.seconds:.3g} s on one", ratio
    )
    many = numerics_threads.projection()
    title = f"numerics threads: the same on {numerics_threads.PROJECTED}, projected, at most"
    yield figure(
        title, many.most, "s", "at most 0.2 times", many.most <= 0.2 * many.work, False, f"{many.work:.3g} s",
        many.most / many.work,
    )  # fmt: skip


def metal_traces():
    """100 small programs one by one and as a trace, beside the published times."""
    device, host = trace.run(100, trace.NO_HOST), trace.run(100)
    for who, eager, traced, measured in (
        ("device", device.eager_ns, device.traced_ns, trace.EAGER_DEVICE_NS),
        ("host", host.eager_ns, host.traced_ns, trace.EAGER_HOST_NS),
    ):
        ratio, goal = eager / traced, measured / trace.TRACED_NS
        yield fact(
            f"metal trace: {who} time of a program, {measured} ns live, {trace.TRACED_NS} traced", traced / 1000, "us",
            f"{goal:.2f} times less, within 5 %", abs(ratio / goal - 1) <= 0.05, f"{eager / 1000:.3g} us live", ratio,
        )  # fmt: skip
    loop = min((trace.run(1000) for _ in range(3)), key=lambda loop: loop.traced_seconds / loop.eager_seconds)
    ratio = loop.traced_seconds / loop.eager_seconds
    yield fact(
        "metal trace: replay of 1000 programs",
        loop.traced_seconds,
        "s",
        "no slower than live",
        ratio <= 1,
        "live",
        ratio,
    )


def saved_binaries():
    """Light Metal: capture, loading, replay."""
    time_ratio, size_ratio = light_metal.capture_overhead()
    for name, ratio in (
        ("Light Metal: captured matmul against plain, processor time", time_ratio),
        ("Light Metal: binary against its data and kernel texts", size_ratio),
    ):
        yield fact(name, ratio, "times", "at most 1.1", ratio <= 1.1, ratio=ratio)
    commands, size, replayed = light_metal.rates()
    yield at_least("Light Metal: commands loaded and verified", commands, 2e5)
    yield at_least("Light Metal: data loaded and verified", size / 1e6, 200, "MB/s")
    yield at_least("Light Metal: small commands replayed", replayed, 2e4)


def runtimes():
    """`tensim.runtime`."""
    yield at_least("runtime: submits of a program without kernels", max(runtime.submits(10_000) for _ in range(3)), 2e4)
    seconds = min(runtime.tilize_seconds(4096) for _ in range(3))
    yield at_most("runtime: 4096x4096 bf16 from rows to tiles", seconds, 0.1)
    for dtype in (DType.BF16, DType.F32):
        seconds = min(runtime.encode_seconds(4096, dtype) for _ in range(5))
        yield at_most(f"runtime: 4096x4096 {dtype} array to bf16 tiles", seconds, 0.1)
    submitted, plain = runtime.matmul_cycles_submitted(512), runtime.matmul_cycles_plain(512)
    yield fact(
        "runtime: multicast matmul through submit",
        submitted,
        "cycles",
        "as plain",
        submitted == plain,
        f"{plain} cycles",
    )


def ttnn_programs():
    """`tensim.ttnn`: what it adds to the host API."""
    ours, plain = ttnn.process_seconds()
    row = at_most("ttnn: what `tensim ttnn` adds to a program on the host API", ours - plain, 0.3)
    yield row | {"compared_with": f"{plain:.3g} s", "ratio": ours / plain}
    seconds = min(ttnn.call_seconds(1000) for _ in range(3))
    yield at_most("ttnn: 1000 cached calls of generic_op with new arguments", seconds, 1)


def vendor_library():
    """The vendor's own ttnn, where an interpreter has it: host times of its device."""
    if (found := library.host_seconds(library.by_launches)) is not None:
        opened, cached, on_all = found
        yield at_most("library: open_device", opened, 3)
        yield at_most("library: cached add", cached, 0.03)
        yield at_most("library: cached add on 64 cores", on_all, 0.004)


def vendor_firmware():
    """The same on its own firmware, executed."""
    if (found := library.host_seconds(library.by_registers)) is not None:
        opened, cached, _ = found
        yield at_most("device: open_device of ttnn", opened, 3)
        yield at_most("device: cached add", cached, 1)


def noc_events():
    """Replay of NoC events inside a process."""
    yield at_least("NoC events: transfers replayed", noc_replay.run(), 2e5)


def sweeps():
    """Many points: start-up, distribution and the table against the runs themselves."""
    seconds, runs = sweep.run()
    yield fact(
        f"sweep: {sweep.POINTS} points of matmul {sweep.SHAPE}", seconds, "s", "at most 1.2 times", seconds <= 1.2 * runs,
        f"{runs:.3g} s of runs divided by processes", seconds / runs,
    )  # fmt: skip


def determinism():
    """Cycles and memory images of runs that differ in their hash seed only."""
    runs = [tensim(*MATMUL, "256x256x256", "--image-hash", PYTHONHASHSEED=seed)[0] for seed in ("0", "1", "2")]
    different = sum(
        run["cycles"] != runs[0]["cycles"] or run["image_sha256"] != runs[0]["image_sha256"] for run in runs
    )
    yield fact("runs with other hash seeds that differ", different, "runs", "none", different == 0)


def silicon():
    """Matrix products beside their published times."""
    errors = []
    for row in gemm.rows():
        measured, simulated = int(row["trisc1_cycles"]), gemm.simulate(row)
        ratio = simulated / measured
        errors.append(abs(ratio - 1))
        name = f"n150 matmul {row['M']}x{row['K']}x{row['N']} {row['dtype']} {row['fidelity']}"
        goal, holds = f"within {gemm.WORST:.0%}", errors[-1] <= gemm.WORST
        yield fact(name, simulated, "cycles", goal, holds, f"{measured} cycles on silicon", ratio)
    mean = sum(errors) / len(errors)
    yield fact("n150 matmuls: mean |error|", 100 * mean, "%", f"at most {gemm.MEAN:.0%}", mean <= gemm.MEAN)


GROUPS = (
    commands, starts, builds, engine, kernel_checks, verdicts, riscv_cores, instructions_of_the_coprocessor, idle_tiles,
    cached_launches, host_transfers, packet_model, flit_model, dram_controller,
    large_products, exact, threads_of_numerics, metal_traces, saved_binaries, runtimes, ttnn_programs, vendor_library,
    vendor_firmware, noc_events, sweeps, determinism, silicon,
)  # fmt: skip


def table(figures, values):
    """The figures with their goals, whether these hold, and their change against `values` ({name: value})."""
    result = Table(show_edge=False, pad_edge=False)
    for column in ("benchmark", "value", "goal", "ratio", "holds", "change"):
        result.add_column(column)
    for f in figures:
        ratio = "" if f["ratio"] is None else f"{f['ratio']:.2f}"
        missed = "[red]NO[/]" if f["decides"] else "no, a speed"
        result.add_row(
            f["name"], f"{f['value']:.4g} {f['unit']}", f["goal"], ratio, "yes" if f["holds"] else missed,
            history.change(f, values),
        )  # fmt: skip
    return result


def verdict(figures):
    """(exit status, sentence): only what does not depend on this machine's speed decides."""
    held = [f["holds"] for f in figures if f["decides"]], [f["holds"] for f in figures if not f["decides"]]
    facts, speeds = (f"{sum(holds)} of {len(holds)}" for holds in held)
    text = f"{facts} goals of correctness and ratios hold; {speeds} goals of speed hold on this machine, now"
    return (0 if all(held[0]) else 1), text


def main():
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.splitlines()[0])
    groups = {group.__name__: group for group in GROUPS}
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"all without one: {', '.join(groups)}")
    names = parser.parse_args().groups
    if unknown := [name for name in names if name not in groups]:
        parser.error(f"no group {unknown[0]!r}: there are {', '.join(groups)}")
    console = Console()
    figures = []
    for group in track(
        [groups[name] for name in names or groups], description="benchmarks", console=Console(stderr=True)
    ):
        figures += group()
    write_output(OUT, json.dumps(figures, indent=2) + "\n")
    here = history.machine()
    values = history.before(history.HISTORY, here)
    history.keep(history.HISTORY, figures, here)
    console.print(table(figures, values))
    status, text = verdict(figures)
    console.print(text)
    return status


if __name__ == "__main__":
    sys.exit(main())
