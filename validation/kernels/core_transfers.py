"""Transfers between the L1s of cores: `split_reader`, `noc_one_packet`, `row_unicast_vs_mcast`."""

from tensim.sim.chip import statistics
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.validation.dram.programs import Bench
from tensim.validation.kernels import core_transfer_kernels as kernels
from tensim.validation.kernels.columns import chip, choice, coordinates, number_in
from tensim.validation.rows import Skip

TILE_BYTES = 2048
GATHER_BUFFER = 4  # tiles of each circular buffer of split_reader, whose rows do not say it
EXCHANGES = 10  # of the 100 of a launch that the rows report one of
NCRISC, BRISC = 1, 0


def spec(row):
    """(structure, chip, arguments...)."""
    return READERS[row["example"]](row)


def time_ns(structure, arch, *arguments):
    return STRUCTURES[structure](arch, *arguments)


# --- split_reader


def _gather(row):
    consumer = coordinates(row["core_placement"])[0]
    sources = tuple((x, 0) for x in range(number_in(row, r"sources (\d+) cores of row 0", "core_placement")))
    split = choice(row, "variant", {"split off": False, "split on": True})
    metric = choice(
        row,
        "metric",
        {"device kernel duration": None, "NCRISC kernel time": "NCRISC", "BRISC kernel time": "BRISC"},
    )
    tiles = number_in(row, r"gather (\d+) tiles")
    return "gather", chip(row), consumer, sources, tiles, row.integer("page_or_write_bytes"), split, metric


def gather(arch, consumer, sources, tiles, piece, split, thread):
    """ns of a core that gathers tiles from others by one RISC-V core or two; of the whole program or of one thread."""
    with Bench(arch) as bench:
        target = bench.pages(TILE_BYTES, tiles)
        where = [value for core in sources for value in bench.noc_xy(core)]
        for index in (kernels.MINE, kernels.OTHERS)[: 1 + split]:
            bench.buffer(consumer, GATHER_BUFFER, TILE_BYTES, index, DataFormat.Float16_b)
        source = (TILE_BYTES, piece, bench.scratch, len(sources), *where)
        if split:
            bench.add(consumer, kernels.gather_tiles, (kernels.MINE, 0, 2, tiles // 2, *source), 0, NCRISC)
            bench.add(consumer, kernels.gather_and_write, (target, tiles // 2, *source), 1, BRISC)
        else:
            bench.add(consumer, kernels.gather_tiles, (kernels.MINE, 0, 1, tiles, *source), 0, NCRISC)
            bench.add(consumer, kernels.write_tiles, (target, tiles, TILE_BYTES), 1, BRISC)
        whole = bench.run_ns()
        if thread is None:
            return whole
        cycles = statistics.breakdown(bench.device.chip)[thread]["longest_cycles"]
        return cycles * 1000 / bench.arch.clock_mhz


# --- noc_one_packet


def _burst(row):
    way, _, destinations = row["variant"].partition(", ")
    one_packet = {"generic": 0, "generic_runtime_size": 0, "one_packet": 1}.get(way)
    spread = {"single destination": False, "spread destinations": True}.get(destinations)
    if one_packet is None or spread is None:
        raise ValueError(f"column variant is {row['variant']!r}, not CALL, single|spread destination(s)")
    pages = number_in(row, r"(\d+) pages")
    return "burst", chip(row), row.integer("cores"), pages, row.integer("page_or_write_bytes"), one_packet, spread


def burst(arch, cores, pages, size, one_packet, spread):
    """ns of `cores` cores in a row that write pages to one core behind the row, or to the others of the row in turn."""
    with Bench(arch) as bench:
        senders = [(x, 0) for x in range(cores)]
        for i, core in enumerate(senders):
            others = senders[i + 1 :] + senders[:i] if spread else [(cores, 0)]
            where = [value for other in others for value in bench.noc_xy(other)]
            target = bench.scratch + pages * size
            args = (pages, size, bench.scratch, target, one_packet, len(others), 0, *where)
            bench.add(core, kernels.write_burst, args, 0, BRISC)
        return bench.run_ns()


# --- row_unicast_vs_mcast


def _exchange(row):
    rows, width = (
        number_in(row, r"(\d+) rows", "core_placement"),
        number_in(row, r"x (\d+) contiguous", "core_placement"),
    )
    payload, dispatches = number_in(row, r"payload=(\d+) B"), number_in(row, r"dispatches=(\d+)")
    if payload % dispatches:
        raise Skip(f"{payload} B cannot be sent in {dispatches} equal pieces")
    is_multicast = choice(row, "variant", {"unicast": False, "mcast": True})
    return "exchange", chip(row), rows, width, payload // dispatches, dispatches, is_multicast


def exchange(arch, rows, width, size, dispatches, is_multicast):
    """ns of one exchange in every row: each core sends its payload to the others of its row, one core after the other."""
    kernel = kernels.exchange_multicast if is_multicast else kernels.exchange_unicast
    with Bench(arch) as bench:
        for y in range(rows):
            line = [(x, y) for x in range(width)]
            where = [value for core in line for value in bench.noc_xy(core)]
            for me, core in enumerate(line):
                ready, done = bench.semaphore(core), bench.semaphore(core)
                args = (EXCHANGES, width, me, size, dispatches, bench.scratch, ready, done, *where)
                bench.add(core, kernel, args, 0, BRISC)
        return bench.run_ns() / EXCHANGES


READERS = {"split_reader": _gather, "noc_one_packet": _burst, "row_unicast_vs_mcast": _exchange}
STRUCTURES = {"gather": gather, "burst": burst, "exchange": exchange}
