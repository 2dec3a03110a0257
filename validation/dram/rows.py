"""DRAM channels and congestion: `tensim validate dram CSV...`.

Rows of five layouts of published files become programs of `tensim.validation.dram.programs`.  What a file leaves out is one
assumption for all its rows: docs/validation/dram.md lists them.
"""

import re

from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.validation.dram import programs
from tensim.validation.rows import Case, Skip

SECONDS = 5e-3  # processor time per unit of a case's work, roughly
COLUMNS = {
    "isa": ("arch", "category", "case", "direction_or_condition", "vc_allocation", "noc", "unit", "value"),
    "baselines": (
        "arch",
        "benchmark",
        "shape_or_case",
        "cores",
        "data_format",
        "configuration",
        "metric",
        "value",
        "tolerance",
    ),
    "issues": ("source", "arch", "workload", "condition", "metric", "value", "unit"),
    "channel_probe": ("arm", "num_readers", "num_tx", "tx_bytes", "distinct_banks", "agg_bytes_per_cycle"),
    "flow_probe": ("run", "exp", "point", "flow", "n_flows", "mst_lx", "sub_lx", "direction", "num_tx", "cycles"),
    "read_probe": ("experiment", "num_src", "mst_x", "src0_x", "num_tx", "tx_bytes", "dst_stride", "cycles"),
    "grid_probe": ("log_x", "log_y", "noc_x", "noc_y", "phys_x", "phys_y"),
}
PROBE_CARD = ("blackhole", (("board", "p150_12x10"),))
PROBE_COLUMNS = (1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14)  # translated columns of its workers, nocbench-grid
FORMATS = {"bfloat8_b": "Bfp8_b", "bfloat16": "Float16_b", "format 2": "Bfp4_b"}
CLONE_BYTES, OPERATION_BYTES = 64 << 20, 64 << 20
SMALL_WRITE = 2048  # bytes of a write whose size is not stated


def simulate(spec):
    """Run the program of a spec: (name of a function of `tensim.validation.dram.programs`, arguments...)."""
    name, *arguments = spec
    return getattr(programs, name)(*arguments)


def read(row, layout):
    """The case of a row."""
    return {
        "isa": _isa, "baselines": _baseline, "issues": _issue, "channel_probe": _channel_probe,
        "flow_probe": _flow_probe, "read_probe": _read_probe, "grid_probe": _grid_probe,
    }[layout](row)  # fmt: skip


def measured_of(text):
    """A value or a range (low, high) of a text like "250-270", ">=260", "5 (approx)"."""
    text = text.replace("(approx)", "").strip()
    if text.startswith(">="):
        return (float(text[2:]), float("inf"))
    span = re.fullmatch(r"([\d.]+)-([\d.]+)", text)
    return tuple(map(float, span.groups())) if span else float(text)


# --- isa_doc_measured.csv


def _isa(row):
    if row["category"] != "DRAM bandwidth":
        raise Skip(f"{row['category']}: not about DRAM or congestion")
    found = re.match(r"(\d+) Tensix tiles (randomly|carefully) chosen <-> (\d+) DRAM channel", row["case"])
    if not found:
        raise ValueError(f"column case is {row['case']!r}")
    cores, banks, near = int(found[1]), int(found[3]), found[2] == "carefully"
    is_write, noc = row["direction_or_condition"] == "write", int(row["noc"][-1])
    # the column is about requests: data of reads are answers
    dynamic = not is_write or row["vc_allocation"] == "Dynamic"
    spec = ("channel_streams", row["arch"], cores, banks, near, is_write, dynamic, noc)
    place = "one channel" if banks == 1 else ("near" if near else "random")
    channels = "dynamic VC" if is_write and dynamic else "any VC"
    group = f"{row['arch']}/channels/{row['direction_or_condition']} {place}, {channels}"
    return Case(spec, group, measured_of(row["value"]), row["unit"], cores * (1 if near else programs.SEEDS))


# --- single_core_matmul_and_dram_baselines.csv


def _baseline(row):
    handler = {
        "dram_read_adjacent_cores": _adjacent, "dram_read_remote_l1_write": _forward,
        "bh_dram_read_levers": _levers, "noc_unicast_vs_multicast_to_single_core": _one_write,
    }.get(row["benchmark"])  # fmt: skip
    if handler is None:
        raise Skip(f"{row['benchmark']}: not a program that moves data, or one without a description")
    return handler(row)


def _shard(row):
    """(cores, bytes of a shard, blocks, bytes of a tile)."""
    shape = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", row["shape_or_case"])}
    cores, tile = row.integer("cores"), tile_size(DataFormat[FORMATS[row["data_format"]]])
    return cores, shape["K"] // 32 * (shape["N"] // 32) // cores * tile, shape["num_blocks"], tile


def _adjacent(row):
    cores, shard, blocks, tile = _shard(row)
    spec = ("sharded_reads", row["arch"], (), cores, True, shard, blocks, tile, "GB/s")
    return Case(spec, f"{row['arch']}/bank-adjacent readers", measured_of(row["value"]), "GB/s", shard / 1e5)


def _forward(row):
    cores, shard, blocks, tile = _shard(row)
    spec = ("read_and_forward", row["arch"], cores, shard, blocks, tile)
    floor = float(row["value"].removeprefix(">="))
    slack = float(row["tolerance"].removeprefix("floor +"))
    return Case(spec, f"{row['arch']}/read and forward", (floor, floor + slack), "GB/s", shard / 1e5)


def _levers(row):
    if "16 KB packets" not in row["shape_or_case"]:
        raise Skip("its reads are not described")
    total, cores, near = 128 << 20, row.integer("cores"), "bank-adjacent" in row["shape_or_case"]
    unit = "GB/s" if row["metric"].startswith("GB/s") else "B/cycle"
    shard = total // cores
    spec = ("sharded_reads", row["arch"], (), cores, near, shard, shard // 16384, 16384, unit)
    return Case(spec, f"{row['arch']}/readers of one bank each", measured_of(row["value"]), unit, shard / 1e5)


def _one_write(row):
    spec = ("one_write", row["arch"], "multicast" in row["shape_or_case"], SMALL_WRITE)
    return Case(spec, f"{row['arch']}/one write", measured_of(row["value"]), "cycles")


# --- github_issue_measurements.csv


def _issue(row):
    arch, overrides = row["arch"].split()[0], ()
    if clock := re.search(r"(\d+) MHz", row["arch"]):
        scale = 1000 / int(clock[1])  # the memory keeps its rate
        overrides = (("clock.aiclk_mhz", int(clock[1])), ("dram.bank_bytes_per_cycle", 24.0 * scale))
    workload, condition, value = row["workload"], row["condition"], measured_of(row["value"])
    group = f"{arch}/{workload.split(',')[0].split(' DRAM')[0]}"
    if workload == "DRAM endpoint read requests":
        return Case(("request_period", arch, 64, 512), group, value, "cycles")
    if workload == "DRAM page reads one NoC":
        size = int(condition.split()[1])
        return Case(("channel_share", arch, size, 1024), group, value, "%", 10)
    if workload.startswith("InterleavedToSharded"):
        rows, columns, dtype = re.match(r"(\d+) x (\d+) (\w+)", condition).groups()
        name = {"FLOAT32": "Float32", "BFLOAT16": "Float16_b", "BFLOAT8_B": "Bfp8_b", "BFLOAT4_B": "Bfp4_b"}[dtype]
        tiles = int(rows) // 32 * (int(columns) // 32)
        spec = ("page_reads", arch, overrides, 64, tile_size(DataFormat[name]), tiles, 1, "ns")
        return Case(spec, group, value, "ns", tiles / 1e3)
    if workload.startswith("clone"):
        size = int(re.search(r"\((\d+) B pages\)", condition)[1])
        return Case(("page_copy", arch, size, CLONE_BYTES // size), group, value, "GB/s", CLONE_BYTES / size / 1e3)
    if workload == "neg unary op":
        size = tile_size(DataFormat[{"bfp4": "Bfp4_b", "bfp8": "Bfp8_b", "bf16": "Float16_b"}[condition]])
        spec = ("page_copy", arch, size, OPERATION_BYTES // size)
        return Case(spec, group, value, "GB/s", OPERATION_BYTES / size / 1e3)
    if workload == "DRAM read microbenchmark":
        tile = tile_size(DataFormat.Float16_b)
        spec = ("sharded_reads", arch, (), 12, True, 4096 * tile, 8, tile, "GB/s")
        return Case(spec, group, value, "GB/s", 80)
    raise Skip(f"{workload}: not about DRAM, or not described")


# --- probes


def _channel_probe(row):
    arch, board = PROBE_CARD
    readers, banks = row.integer("num_readers"), row.integer("distinct_banks")
    count, size = row.integer("num_tx"), row.integer("tx_bytes")
    spec = ("channel_readers", arch, board, readers, banks, count, size)
    place = "one channel" if banks == 1 else "many channels"
    return Case(spec, f"{arch}/probe/{place}", row.number("agg_bytes_per_cycle"), "B/cycle", readers)


def _flow_probe(row):
    arch, board = PROBE_CARD
    mine = [other for other in row.file if other["run"] == row["run"]]
    if len(mine) != row.integer("n_flows"):
        raise Skip("flows that ran beside it are not in the file")
    flows = tuple(
        (
            (flow.integer("mst_lx"), flow.integer("mst_ly")), (flow.integer("sub_lx"), flow.integer("sub_ly")),
            flow.integer("noc"), flow.integer("vc"), flow.integer("proc"), flow.integer("direction") == 1,
        )
        for flow in mine
    )  # fmt: skip
    spec = ("core_flows", arch, board, flows, row.integer("num_tx"), row.integer("tx_bytes"), mine.index(row))
    return Case(spec, f"{arch}/probe/flows {row['exp']}", row.number("cycles"), "cycles", len(flows))


def _read_probe(row):
    arch, board = PROBE_CARD
    if (row["src0_x"], row["src0_y"]) == (row["mst_node_x"], row["mst_node_y"]):
        raise ValueError("the source is the reading core")
    master, first = (row.integer("mst_x"), row.integer("mst_y")), _logical(row.integer("src0_x"), row.integer("src0_y"))
    sources = tuple((first[0] + i, first[1]) for i in range(row.integer("num_src")))
    count, size = row.integer("num_tx"), row.integer("tx_bytes")
    spec = (
        "core_reads", arch, board, master, sources, count, size, row.integer("src_stride"), row.integer("dst_stride"),
    )  # fmt: skip
    return Case(spec, f"{arch}/probe/reads {row['experiment']}", row.number("cycles"), "cycles", len(sources))


def _logical(x, y):
    """Logical core of a translated NoC coordinate of the card."""
    return PROBE_COLUMNS.index(x), y - 2


def _grid_probe(row):
    raise Skip("a map of coordinates, not a measurement")
