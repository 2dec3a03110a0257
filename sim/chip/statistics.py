"""What a chip did: shares of busy and stalled time by reason, links, DRAM channels, source lines.

All figures come from counters that the engine keeps; nothing here runs during a simulation.
"""

import functools
import itertools

import numpy as np

from tensim.sim.chip.deadlock import reason_name
from tensim.sim.chip.occupancy import shares
from tensim.sim.chip.oddities import odd_warnings
from tensim.sim.cores.slots import THREAD_NAMES, THREADS_PER_CORE, TRISC0, TRISC2
from tensim.sim.dram.channel import TICKS

FIDELITY_PHASES = {"LoFi": 1, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}
DIRECTIONS = ("inject", "x", "y", "eject")
MAX_LINES = 200  # source lines that a summary has


def program_cycles(chip):
    """Cycles from the first kernel start to the last kernel end, summed over the programs that have run."""
    return sum(launch["ended"] - launch["started"] for launch in chip.launches.values() if "ended" in launch)


def thread_totals(chip, slot):
    """One `state.WORK` record of all threads of a kind (`tensim.sim.chip.launch`: BRISC, NCRISC, ...) together."""
    work = chip.work[slot::THREADS_PER_CORE]
    totals = {name: work[name].sum(axis=0) for name in ("busy", "issue", "time", "operations", "stalls")}
    return totals | {"longest": work["longest"].max()}


def core_cycles(chip, core):
    """Cycles from start to end of the slowest thread of worker `core` in the last program that ran there."""
    threads = chip.arrays["threads"][core * len(THREAD_NAMES) : (core + 1) * len(THREAD_NAMES)]
    return int((threads["ended"] - threads["started"]).max())


def risc_cycles(chip, core):
    """{kind of thread: cycles from its start until its RISC-V core came to the end of the kernel} in the last program that ran
    on worker `core`: what a profiler zone around the kernel says.

    The core of a compute thread does not wait for its coprocessor, which may still have calls in its instruction FIFO.
    """
    threads = chip.arrays["threads"][core * THREADS_PER_CORE : (core + 1) * THREADS_PER_CORE]
    ran = {name: thread for name, thread in zip(THREAD_NAMES, threads, strict=True) if thread["ended"] > 0}
    return {
        name: int((thread["issued"] if name in THREAD_NAMES[TRISC0:] else thread["ended"]) - thread["started"])
        for name, thread in ran.items()
    }


def core_cycles_by_core(chip):
    """{"(x,y)": cycles from the start of each program to its end there, summed} of the worker cores that ran one."""
    columns = chip.arch.grid[0]
    return {
        f"({core % columns},{core // columns})": int(cycles) for core, cycles in enumerate(chip.core_cycles) if cycles
    }


def breakdown(chip):
    """{kind of core: {"busy": share, "thread_cycles", "longest_cycles", "stalled": {reason: share}, "other", "operations"}}.

    Shares are of "thread_cycles", the time from start to end of its threads, summed over cores and programs.
    """
    result = {}
    for slot, name in enumerate(THREAD_NAMES):
        totals = thread_totals(chip, slot)
        if totals["time"] == 0:
            continue
        stalls = {
            reason_name(reason): int(cycles) / int(totals["time"])
            for reason, cycles in enumerate(totals["stalls"])
            if cycles > 0
        }
        stalls = dict(sorted(stalls.items(), key=lambda item: -item[1]))
        busy = int(totals["busy"]) / int(totals["time"])
        result[name] = {
            "busy": busy,
            "thread_cycles": int(totals["time"]),
            "longest_cycles": int(totals["longest"]),
            "stalled": stalls,
            "other": max(0.0, 1 - busy - sum(stalls.values())),
            "operations": int(totals["operations"]),
        }
    return result


def _neighbour(size, noc, x, y, direction):
    """Tile at the far end of a link; both NoCs are unidirectional tori (NoC 0: +x, +y; NoC 1: -x, -y)."""
    width, height = size
    step = 1 if noc == 0 else -1
    if direction == 1:
        return (x + step) % width, y
    if direction == 2:
        return x, (y + step) % height
    return x, y


def _link_name(chip, link):
    """{"noc", "from", "to", "kind"} of a link."""
    return _link_names(tuple(chip.arch.noc_size))[link]


@functools.lru_cache(maxsize=8)
def _link_names(size):
    """The names of all links of a grid of tiles, (width, height)."""
    names = []
    for noc, y, x, direction in itertools.product((0, 1), range(size[1]), range(size[0]), range(len(DIRECTIONS))):
        to = _neighbour(size, noc, x, y, direction)
        names.append({"noc": noc, "from": f"{x}-{y}", "to": f"{to[0]}-{to[1]}", "kind": DIRECTIONS[direction]})
    return names


@functools.lru_cache(maxsize=8)
def _link_ranks(size):
    """int64 per link of a grid: its place in the order of NoC, tile and kind."""
    names = _link_names(size)
    ranks = np.empty(len(names), np.int64)
    ranks[sorted(range(len(names)), key=lambda i: (names[i]["noc"], names[i]["from"], names[i]["kind"]))] = range(
        len(names)
    )
    return ranks


def _tile(chip, link):
    """The tile of a link, as links are named."""
    y, x = divmod(link // len(DIRECTIONS) % len(chip.arrays["tiles"]), chip.arch.noc_size[0])
    return f"{x}-{y}"


def _thread(chip, thread):
    """Core and processor of a thread."""
    core, slot = divmod(thread, THREADS_PER_CORE)
    width = chip.arch.grid[0]
    return f"core ({core % width},{core // width}) {THREAD_NAMES[slot]}"


def _longest_wait(cycles, of):
    """The entries for the longest wait at a link or channel."""
    return {"longest_wait_cycles": cycles, "longest_wait_of": of if cycles else None}


def links(chip, cycles):
    """Every used link, busiest first: {"noc", "from", "to", "kind", "utilization", "stall_cycles", "longest_wait_cycles",
    "longest_wait_of" (the tile that sent the packet, null if none waited), "bytes"}."""
    records, size = chip.arrays["links"], tuple(chip.arch.noc_size)
    used = np.flatnonzero(records["flits"] > 0)
    used = used[np.lexsort((_link_ranks(size)[used], -records["flits"][used]))]
    columns = (records[name][used].tolist() for name in ("flits", "stall", "longest", "waiter"))
    cycles, flit_bytes, names = max(cycles, 1), int(chip.machine["flit_bytes"]), _link_names(size)
    return [
        {
            **names[index],
            "utilization": flits / cycles,
            "stall_cycles": stall,
            "longest_wait_cycles": longest,
            "longest_wait_of": _tile(chip, waiter) if longest else None,
            "bytes": flits * flit_bytes,
        }
        for index, flits, stall, longest, waiter in zip(used.tolist(), *columns, strict=True)
    ]


def peak_link_utilization(chip, cycles):
    """Share of the cycles for which the busiest link between two tiles carries flits."""
    flits = chip.arrays["links"]["flits"].reshape(-1, len(DIRECTIONS))
    return int(flits[:, DIRECTIONS.index("x") : DIRECTIONS.index("eject")].max()) / max(cycles, 1)


def injected_bytes(chip):
    """{"noc0", "noc1"}: bytes put on each NoC, headers included."""
    flits = chip.arrays["links"]["flits"].reshape(2, -1, len(DIRECTIONS))[:, :, DIRECTIONS.index("inject")].sum(axis=1)
    return {f"noc{n}": int(flits[n]) * int(chip.machine["flit_bytes"]) for n in (0, 1)}


def noc(chip, cycles):
    """NoC summary: bytes put on each NoC (headers included), mean and peak link utilisation, links busiest first."""
    table = links(chip, cycles)
    wires = [link["utilization"] for link in table if link["kind"] in ("x", "y")]
    return {
        "bytes": injected_bytes(chip),
        "peak_link_utilization": max(wires, default=0.0),
        "mean_link_utilization": sum(wires) / (4 * len(chip.arrays["tiles"])) if wires else 0.0,
        "links": table,
    }


def dram_utilization(chip, cycles):
    """Share of the peak bandwidth of all DRAM channels."""
    peak = chip.arch["dram.bank_bytes_per_cycle"] * max(cycles, 1) * len(chip.arrays["channels"])
    return dram_bytes(chip) / peak


def dram_bytes(chip):
    """Bytes read and written."""
    channels = chip.arrays["channels"]
    return int(channels["read_bytes"].sum()) + int(channels["write_bytes"].sum())


def dram(chip, cycles):
    """DRAM summary: bytes, row hits and misses, and the same per channel with its share of peak bandwidth and its waits."""
    peak = chip.arch["dram.bank_bytes_per_cycle"] * max(cycles, 1)
    channels = [
        {
            "channel": index,
            "read_bytes": int(record["read_bytes"]),
            "write_bytes": int(record["write_bytes"]),
            "row_hits": int(record["row_hits"]),
            "row_misses": int(record["row_misses"]),
            "utilization": (int(record["read_bytes"]) + int(record["write_bytes"])) / peak,
            "waited_cycles": int(record["waited"]) // TICKS,
            **_longest_wait(int(record["longest"]) // TICKS, _thread(chip, int(record["waiter"]))),
        }
        for index, record in enumerate(chip.arrays["channels"])
    ]
    total = {name: sum(c[name] for c in channels) for name in ("read_bytes", "write_bytes", "row_hits", "row_misses")}
    total["utilization"] = dram_utilization(chip, cycles)
    return total | {"channels": channels}


def occupancy(chip, links_shown=12):
    """{"start_cycle", "window_cycles", "links", "channels"}: how busy they were over time; None if nothing ran.

    "links": the busiest ones, "channels": all; each with its name and, per window, "busy_shares" and "waiting", the mean
    number of packets or requests that waited.  The last window may be shorter.
    """
    launches = [launch for launch in chip.launches.values() if "ended" in launch]
    if not launches:
        return None
    edges, moved = chip.occupancy.windows(chip.cycle)
    widths = np.diff(edges)
    span = slice(0, np.searchsorted(edges, max(launch["ended"] for launch in launches), "left"))
    flits = moved["links", "flits"]
    busiest = np.argsort(-flits.sum(axis=0), kind="stable")[:links_shown]
    busiest = busiest[flits[:, busiest].any(axis=0)]
    links_busy = shares(flits[:, busiest], widths)[span]
    links_waiting = (moved["links", "stall"][:, busiest] / widths[:, None])[span]
    channels_busy = shares(moved["channels", "busy"] / TICKS, widths)[span]
    channels_waiting = (moved["channels", "waited"] / TICKS / widths[:, None])[span]
    return {
        "start_cycle": int(edges[0]),
        "window_cycles": chip.occupancy.width,
        "links": [
            _link_name(chip, int(index)) | _over_time(links_busy[:, place], links_waiting[:, place])
            for place, index in enumerate(busiest)
        ],
        "channels": [
            {"channel": index} | _over_time(channels_busy[:, index], channels_waiting[:, index])
            for index in range(channels_busy.shape[1])
        ],
    }


def _over_time(busy, waiting):
    return {"busy_shares": np.round(busy, 4).tolist(), "waiting": np.round(waiting, 2).tolist()}


def slowest_lines(chip):
    """Kernel source lines by cycles: {"file", "line", "source", "kernel", "busy", "stalled", "operations"}."""
    table, found = chip.arrays["lines"], {}
    for base, program in chip.line_programs.items():
        rows = table[base : base + program.n_rows]
        for row in np.flatnonzero(rows.any(axis=1)):
            place = program.place(program.first_row + int(row))
            line = {"file": place["file"], "line": place["line"], "kernel": program.name, "source": place["source"]}
            totals = found.setdefault((base, place["file"], place["line"]), (line, np.zeros(3, np.int64)))
            totals[1][:] += rows[row]
    result = [
        line | {"busy": int(busy), "stalled": int(stalled), "operations": int(operations)}
        for line, (busy, stalled, operations) in found.values()
    ]
    result.sort(key=lambda row: (-(row["busy"] + row["stalled"]), row["file"], row["line"]))
    return result[:MAX_LINES]


def unit_utilization(chip, cycles):
    """Share of the run for which each unit was busy: compute units averaged over their cores, the busiest link.

    `fpu`: the math thread's coprocessor time without that of the vector unit, hazards and bank hand-over included.
    `issue`: the compute thread whose RISC-V core keeps its coprocessor waiting the longest.
    """
    core_cycles = max(cycles * len(chip.compute_cores), 1)
    unpack, math, pack = (thread_totals(chip, slot) for slot in range(TRISC0, TRISC2 + 1))
    return {
        "fpu": (math["busy"] - math["issue"] - chip.sfpu_busy) / core_cycles,
        "sfpu": chip.sfpu_busy / core_cycles,
        "unpack": (unpack["busy"] - unpack["issue"]) / core_cycles,
        "pack": (pack["busy"] - pack["issue"]) / core_cycles,
        "issue": max(part["issue"] for part in (unpack, math, pack)) / core_cycles,
        "dram": dram_utilization(chip, cycles),
        "noc": peak_link_utilization(chip, cycles),
    }


def bounded_by(chip, cycles):
    """What bounds a run: a unit that is busy for at least half of it, else what its threads wait for.

    Units are those of `unit_utilization`.  Below half, "dispatch" when the chip runs no kernel for more than half of the
    time between its first and last; otherwise the largest share of any kind of thread among: waits for the NoC ("dram" when
    most bytes on the NoCs are DRAM's, else "noc"), waits for a semaphore ("semaphore") and work of a data-movement core
    ("issue").  Waits for another thread of the same core are consequences; where there is nothing else, "circular_buffer".
    """
    busy = unit_utilization(chip, cycles)
    unit = max(busy, key=busy.get)
    if busy[unit] >= 0.5:
        return unit
    if cycles < 0.5 * active_span(chip):
        return "dispatch"
    memory = "dram" if 2 * dram_bytes(chip) > sum(injected_bytes(chip).values()) else "noc"
    causes = {"circular_buffer": 0.0}
    for thread, part in breakdown(chip).items():
        stalled = part["stalled"]
        waits = sum(share for reason, share in stalled.items() if reason.startswith("noc_"))
        causes[memory] = max(causes.get(memory, 0.0), waits)
        causes["semaphore"] = max(causes.get("semaphore", 0.0), stalled.get("semaphore", 0.0))
        if not thread.startswith("TRISC"):
            causes["issue"] = max(causes.get("issue", 0.0), part["busy"])
    return max(causes, key=causes.get)


def active_span(chip):
    """Cycles from the first start to the last end of any program."""
    launches = [launch for launch in chip.launches.values() if "ended" in launch]
    return (
        max(launch["ended"] for launch in launches) - min(launch["started"] for launch in launches) if launches else 0
    )


def peak_flops_per_cycle(chip):
    """Floating-point operations per cycle of one core at LoFi (a multiply-add counts two)."""
    return 2 * 32 * 32 * 32 / chip.arch["tensix.math.mvmuls_per_tile"]


def roofline(chip, cycles):
    """Where a run stands: {"flops_per_second", "flops_per_byte" (None without DRAM traffic), "roofs": {name: flops per second},
    "dram_bytes_per_second"}.  Roofs are those of the cores used at each fidelity, and of all DRAM banks.
    """
    seconds = max(cycles, 1) / (chip.arch.clock_mhz * 1e6)
    traffic = dram(chip, cycles)
    moved = traffic["read_bytes"] + traffic["write_bytes"]
    clock = chip.arch.clock_mhz * 1e6
    peak = peak_flops_per_cycle(chip) * max(len(chip.compute_cores), 1) * clock
    return {
        "flops_per_second": chip.flops / seconds,
        "flops_per_byte": chip.flops / moved if moved else None,
        "roofs": {name: peak / phases for name, phases in FIDELITY_PHASES.items()},
        "dram_bytes_per_second": chip.arch["dram.bank_bytes_per_cycle"] * chip.arch.dram_banks * clock,
    }


def better_than_the_chip(chip):
    """Warnings of what was computed better than the chip does it: by `numerics=fast`
    (docs/numerics.md#where-fast-is-too-optimistic), and where a fault of the chip is not modelled
    (docs/numerics.md#faults-of-chips-that-are-not-modelled).
    """
    advice = "numerics=exact shows it, fp32_dest_acc_en avoids it"
    found = []
    if chip.sensitive_functions:
        found.append(
            f"numerics=fast is too exact here: {chip.sensitive_functions:,} tiles of exponentials or logarithms of numbers "
            f"computed in a 16-bit Dst, whose rounding single results of the chip may show by several percent; {advice}"
        )
    if chip.long_sums:
        found.append(
            f"numerics=fast is too exact here: sums of more than 15 tiles in a 16-bit Dst ({chip.long_sums:,} tiles beyond these), "
            f"which the chip rounds at every step, 1 % and more in all; {advice}"
        )
    if chip.wide_products and chip.arch["tensix.math.wide_hifi4_fault"]:
        found.append(
            f"{chip.arch.name} has a hardware fault that is not modelled: of products with HiFi4 into a 32-bit Dst "
            f"({chip.wide_products:,} tiles here) the chip gets single elements wrong by powers of two, here all are right; "
            "HiFi3, or a 16-bit Dst, avoids it"
        )
    return found


def collect(chip):
    """The machine-readable summary of a chip's work (keys: docs/design.md#9-machine-readable-output)."""
    cycles = program_cycles(chip)
    cores = len(chip.compute_cores)
    peak, odd = peak_flops_per_cycle(chip) * cores * cycles, chip.oddities.rows()
    return {
        "arch": chip.arch.name,
        "cycles": cycles,
        "device_seconds": cycles / (chip.arch.clock_mhz * 1e6),
        "numerics": chip.numerics,
        "noc_model": chip.noc,
        "seed": chip.seed,
        "units": unit_utilization(chip, cycles),
        "roofline": roofline(chip, cycles),
        "breakdown": breakdown(chip),
        "noc": noc(chip, cycles),
        "dram": dram(chip, cycles),
        "occupancy": occupancy(chip),
        "flops": chip.flops,
        "flops_utilization": chip.flops / peak if peak else 0.0,
        "fpu_utilization": chip.fpu_busy / (cores * cycles) if cores and cycles else 0.0,
        "operations": int(chip.machine["operations"]),
        "core_cycles": core_cycles_by_core(chip),
        "lines": slowest_lines(chip),
        "oddities": odd,
        "warnings": better_than_the_chip(chip) + odd_warnings(odd),
    }
