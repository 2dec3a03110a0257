"""`tensim validate noc`: rows of measured NoC latencies as programs.

A row is N transactions per target of a transfer size, then one barrier, on one core or on many at once; measured is the
zone from the first issue to the end of the barrier.  L1 rows of many cores: the median over the cores; DRAM rows: from
the first begin to the last end.
"""

import re
import statistics

import numpy as np

import tensim as tt
from tensim.sim.arch import load_arch
from tensim.validation.noc import kernels
from tensim.validation.rows import Case, Skip

SECONDS = 3e-6  # processor time per unit of a case's work, roughly
COLUMNS = {
    "latencies": (
        "arch", "pattern", "direction", "memory", "mechanism", "noc_index", "issuing_cores", "targets", "same_axis",
        "stateful_api", "mcast_loopback", "transactions_per_target_or_mcast", "transaction_bytes", "latency_cycles",
    )
}  # fmt: skip
BOARDS = {"wormhole_b0": "n300", "blackhole": "p150"}  # the measured cards: 8 x 7 and 11 x 10 workers
PATTERNS = {
    "ONE_FROM_ONE", "ONE_TO_ONE", "ONE_FROM_ALL", "ONE_TO_ALL", "ONE_TO_ROW", "ONE_TO_COLUMN", "ALL_FROM_ALL",
    "ALL_TO_ALL", "ROW_TO_ROW", "COLUMN_TO_COLUMN",
}  # fmt: skip
MECHANISMS = {"UNICAST", "MULTICAST", "MULTICAST_LINKED"}
MEMORIES = {"L1", "DRAM_INTERLEAVED", "DRAM_SHARDED"}
LARGEST = 65536  # bytes of a transaction: the L1 buffers are this large in every row


def read(row, layout):
    """The case of one row; ValueError for a malformed one, Skip for one outside this vocabulary."""
    arch = row["arch"]
    if arch not in BOARDS:
        raise Skip(f"measured on {arch}: only {' and '.join(BOARDS)} cards are described")
    for name, known in (("pattern", PATTERNS), ("mechanism", MECHANISMS), ("memory", MEMORIES)):
        if row[name] not in known:
            raise ValueError(f"column {name} is {row[name]!r}, not one of {', '.join(sorted(known))}")
    pattern, mechanism, memory = row["pattern"], row["mechanism"], row["memory"]
    noc = row.integer("noc_index")
    transactions, nbytes = row.integer("transactions_per_target_or_mcast"), row.integer("transaction_bytes")
    if noc not in (0, 1) or transactions < 1 or not 1 <= nbytes <= LARGEST:
        raise ValueError(f"NoC {noc}, {transactions} transactions of {nbytes} bytes are not possible")
    spec = (
        arch, pattern, row["direction"], memory, mechanism, noc, shape(row, arch), row.integer("same_axis", 0),
        row.integer("stateful_api", 0), row.integer("mcast_loopback", 0), transactions, nbytes,
    )  # fmt: skip
    packets = max(1, -(-nbytes // load_arch(arch)["noc.max_packet_bytes"])) * transactions
    work = (
        packets * len(issuers(spec)) * len(targets(spec, issuers(spec)[0])) if mechanism == "UNICAST" else packets * 50
    )
    return Case(spec, f"{arch}/{pattern}/{mechanism}/{memory}", row.number("latency_cycles"), "cycles", work + 2000.0)


def shape(row, arch):
    """(width, height) of the rectangle a row names in `targets`, in logical cores; the full grid where it names none."""
    found = re.fullmatch(r"(\d+)x(\d+)(-1)?", row["targets"].strip())
    width, height = load_arch(arch, {"board": BOARDS[arch]}).grid
    if not found:
        return width, height
    size = int(found[1]), int(found[2])
    if not (1 <= size[0] <= width and 1 <= size[1] <= height):
        raise ValueError(f"targets {row['targets']} do not fit the {width}x{height} grid")
    return size


# --- who sends to whom (logical cores)


def rectangle(spec):
    """(x0, y0, x1, y1) of the target rectangle: anchored at (0, 0), or row 0 / column 0."""
    width, height = spec[6]
    return 0, 0, width - 1, height - 1


def cells(box):
    """The cores of a rectangle in tt-metal's order: column by column."""
    x0, y0, x1, y1 = box
    return [(x, y) for x in range(x0, x1 + 1) for y in range(y0, y1 + 1)]


def issuers(spec):
    """Logical cores that issue."""
    arch, pattern, _, memory, mechanism = spec[:5]
    if pattern.startswith("ALL_") or pattern in ("ROW_TO_ROW", "COLUMN_TO_COLUMN"):
        beside = mechanism != "UNICAST" and not spec[9]  # as in ONE_TO_ROW and ONE_TO_COLUMN: row 1, column 1
        dx, dy = (beside and pattern == "COLUMN_TO_COLUMN"), (beside and pattern == "ROW_TO_ROW")
        return [(x + dx, y + dy) for x, y in cells(rectangle(spec))]
    if memory != "L1" or spec[9] or pattern in ("ONE_FROM_ONE", "ONE_TO_ONE"):
        return [(0, 0)]
    return [sender(spec)]


def sender(spec):
    """The one core of a pattern without loopback: beside the rectangle where there is room, else at its corner."""
    arch, pattern = spec[:2]
    width, full = spec[6][0], load_arch(arch, {"board": BOARDS[arch]}).grid
    if spec[4] == "UNICAST" and pattern in ("ONE_TO_ROW", "ONE_TO_COLUMN"):
        return 0, 0
    if pattern == "ONE_TO_ROW":
        return 0, 1
    if pattern == "ONE_TO_COLUMN":
        return 1, 0
    return (width, 0) if width < full[0] else (0, 0)


def targets(spec, issuer):
    """Logical cores that `issuer` reads or writes, in order (unicast, L1)."""
    pattern = spec[1]
    if spec[3] != "L1":
        return [issuer]
    if pattern in ("ONE_FROM_ONE", "ONE_TO_ONE"):
        return [(0, 1) if spec[7] else (1, 1)]
    cores = cells(rectangle(spec))
    if pattern.startswith("ONE_"):
        return [core for core in cores if core != issuer]
    return cores


# --- the program


def simulate(spec, noc="packet"):
    """Cycles of the zone of one row, with the NoC model `noc`."""
    device = open_device(spec, noc)
    try:
        return latency(spec, run(device, spec))
    finally:
        tt.close_device(device)


def open_device(spec, noc):
    """The device on which a row was measured."""
    return tt.create_device(arch=load_arch(spec[0], {"board": BOARDS[spec[0]]}), numerics="off", noc=noc)


def latency(spec, zones):
    """What a row's measurement is of the zones of all its issuing cores."""
    if spec[3] != "L1":
        return max(end for _, end in zones) - min(begin for begin, _ in zones)
    return statistics.median(end - begin for begin, end in zones)


def run(device, spec):
    """[(begin, end)] of the zones of all issuing cores."""
    _, _, direction, memory, mechanism, noc, _, _, stateful, loopback, transactions, nbytes = spec
    grid = device.compute_with_storage_grid_size()
    n_workers = grid.x * grid.y
    stamps, own, remote = (l1_buffer(device, n_workers, size) for size in (64, LARGEST, LARGEST))
    program, cores = tt.create_program(), issuers(spec)
    box = tt.CoreRange(tt.CoreCoord(*min(cores)), tt.CoreCoord(*max(cores)))
    if memory != "L1":
        banks = device.num_banks(tt.BufferType.DRAM)
        remote = tt.create_buffer(
            tt.InterleavedBufferConfig(
                device=device, size=banks * nbytes, page_size=nbytes, buffer_type=tt.BufferType.DRAM
            )
        )
    remote.allow_unordered_writes()  # all cores write to the same place, as the measured ones do
    name = kernel_name(spec)
    processor = tt.DataMovementProcessor.RISCV_0 if direction == "write" else tt.DataMovementProcessor.RISCV_1
    config = tt.DataMovementConfig(processor=processor, noc=tt.NOC.NOC_0 if noc == 0 else tt.NOC.NOC_1)
    kernel = tt.create_kernel(program, getattr(kernels, name), box, config)
    tt.set_common_runtime_args(program, kernel, turns(device, cores))
    for core in cores:
        common = [stamps.address, own.address, remote.address, nbytes, transactions]
        tt.set_runtime_args(program, kernel, tt.CoreCoord(*core), common + details(device, spec, core, grid))
    queue = device.command_queue(0)
    tt.enqueue_program(queue, program, blocking=False)
    data = np.frombuffer(bytes(tt.enqueue_read_buffer(queue, stamps, blocking=True)), np.uint32).reshape(n_workers, -1)
    pages = {stamps.page_location(page)[0]: page for page in range(n_workers)}
    return [tuple(int(v) for v in data[pages[y * grid.x + x], :2]) for x, y in cores]


def l1_buffer(device, n_workers, page):
    """One page per worker at the same address of each."""
    return tt.create_buffer(
        tt.InterleavedBufferConfig(device=device, size=n_workers * page, page_size=page, buffer_type=tt.BufferType.L1)
    )


def kernel_name(spec):
    direction, memory, mechanism, stateful, loopback = spec[2], spec[3], spec[4], spec[8], spec[9]
    if mechanism != "UNICAST":
        return "multicast_loopback" if loopback else "multicast"
    if memory != "L1":
        return f"{direction}_bank" + ("s" if memory == "DRAM_INTERLEAVED" else "")
    return f"{direction}_cores" + ("_stateful" if stateful else "")


def corners(device, box, noc):
    """Physical corners of a logical rectangle as a multicast on a NoC wants them."""
    first, last = (device.worker_core_from_logical_core(tt.CoreCoord(*c)) for c in (box[:2], box[2:]))
    return [first.x, first.y, last.x, last.y] if noc == 0 else [last.x, last.y, first.x, first.y]


def turns(device, cores):
    """Common arguments: columns of the cores, and sixteenths of a cycle from the start of one to that of the next."""
    columns = max(cores)[0] - min(cores)[0] + 1
    return [columns, round(16 * device.arch["validation.start_skew_ns"] * device.arch.clock_mhz / 1000)]


def details(device, spec, core, grid):
    """The last arguments of the row's kernel on one core."""
    _, pattern, _, memory, mechanism, noc, _, _, _, loopback, _, _ = spec
    banks = device.num_banks(tt.BufferType.DRAM)
    own_bank = (core[1] * grid.x + core[0]) % banks
    if memory == "DRAM_SHARDED":
        return [own_bank]
    if memory == "DRAM_INTERLEAVED":
        return [banks, own_bank]
    if mechanism == "UNICAST":
        places = [device.worker_core_from_logical_core(tt.CoreCoord(*t)) for t in targets(spec, core)]
        if spec[2] == "read":
            return [len(places)] + [place.x + 256 * place.y for place in places]
        return [len(places)] + [value for place in places for value in (place.x, place.y)]
    box = rectangle(spec)
    inside = core in cells(box) and not loopback
    receivers = len(cells(box)) - inside
    return [*corners(device, box, noc), receivers, int(mechanism == "MULTICAST_LINKED")]
