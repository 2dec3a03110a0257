"""`tensim validate fabric`: rates and latencies of packets between chips, each row as a program on a simulated mesh.

Rates are those of the busiest link in a steady state (`tensim.validation.fabric.traffic`), latencies those of a round trip between
neighbours, without what the other side's worker takes, a gather's time is that of its programs
(`tensim.validation.fabric.gather`), and a mux's rate that of its workers (`tensim.validation.fabric.mux`).  docs/fabric.md says
what the rows mean.
"""

import re

import tensim as tt
from tensim.mesh_device import DIRECTIONS
from tensim.sim.cores.fabric import layout
from tensim.sim.host.wiring import BOARDS
from tensim.validation.fabric import gather, mux, patterns
from tensim.validation.fabric.gather_kernels import OTHER_NOC, OWN_NOC
from tensim.validation.fabric.traffic import KINDS, Stream, rate, round_trips
from tensim.validation.pairs import pair_order
from tensim.validation.rows import Case, Skip

SECONDS = 2e-5
COLUMNS = {"fabric": ("chip", "topology", "pattern", "packet_size_B", "links", "metric", "value", "unit", "detail")}
CHIPS = {  # as the rows name them: board and part of it
    f"{board.arch} {name.removeprefix('bh_')}": (name, board.shape) for name, board in BOARDS.items()
} | {"blackhole p150a x4": ("p150_x4", (2, 2))}
RATES = {"avg_bandwidth_gigabytes_per_s", "avg_packets_per_s", "avg_cycles"}
LATENCIES = {"net_min_ns": min, "net_avg_ns": lambda spans: sum(spans) / len(spans), "net_max_ns": max}
LINK_BYTES = 64 * 2**20  # that each sender of the link ceiling sends
RECEIVER_COLUMNS = 4  # from a stream's worker to its first receiver
ROUNDS = 40  # of a latency
TURNS = {2: 240, 4: 160, 9: 120, 32: 20}  # a stream takes, by chips of the mesh
CEILING = re.compile(
    r"link_ceiling (?P<headers>flush_per_packet|header_ring)(?: placement=(?P<place>\w+) send=NoC(?P<noc>[01]))? (?P<ways>uni|bi)"
)
GATHER = re.compile(
    r"gather_pair (?P<blocks>page_per_packet|bank_run)(?:\+(?P<own>local_noc0|copy(?P<copies>[1-9])))? placement=(?P<place>\w+)"
)
TENSOR = re.compile(r"shard (?P<rows>\d+)x(?P<columns>\d+) bf16\b.*")  # what each chip of a gather has
TILE = 32
PLACES = ("adjacent", "rows", "under_eth")
DESIGNS = (
    "placement",
    "send",
    "links",
    "headers",
    "packet",
    "fabric",
    "blocks",
    "own",
)  # of the link ceiling and the gather
CONDITIONS = ("ways",)


def read(row, layout_name):
    """The case of one row; ValueError for a malformed one."""
    chip, metric = row["chip"].strip(), row["metric"]
    if row["topology"].startswith("line_size="):
        raise Skip("measured with an earlier router, which is not the one described")
    size, links = row.integer("packet_size_B"), row.integer("links", 1)
    if size < 16 or size % 16 or links < 1:
        raise ValueError(f"packets of {size} B on {links} links are not possible")
    if row["topology"] == "mux":
        return mux.read(row, chip, size)
    if chip not in CHIPS:
        raise Skip(f"the mesh {chip!r} is not described")
    if "ceiling" in row["pattern"]:
        return _ceiling(row, chip, size, links)
    if "gather_pair" in row["pattern"]:
        return _gather(row, chip, size, links)
    if metric in LATENCIES or metric == "per_hop_avg_ns":
        return _latency(row, chip, size)
    if metric in RATES:
        return _golden(row, chip, size, links)
    raise Skip(f"{metric} is not simulated")


def _parts(row):
    """(name, kind of packets) of a golden pattern."""
    name, _, kind = row["pattern"].split("|")
    if kind not in KINDS:
        raise Skip(f"packets of kind {kind} are not described")
    return name, kind


def _chip_of(chip):
    return f"{BOARDS[CHIPS[chip][0]].arch}"


def _golden(row, chip, size, links):
    name, kind = _parts(row)
    board, shape = CHIPS[chip]
    if links > BOARDS[board].links:
        raise Skip(f"{board} has {BOARDS[board].links} links between neighbours")
    patterns.golden(name, board, shape)
    per_packet = {"avg_bandwidth_gigabytes_per_s": size / 1e9, "avg_packets_per_s": 1.0}
    group = f"{_chip_of(chip)}/bandwidth/{board}/{name}/{kind.removeprefix('NOC_')}"
    measured = row.number("value")
    if row["metric"] == "avg_cycles":
        packets = _packets_of_link(row)
        clock = _arch(board).clock_mhz

        def value(found):
            return packets / found * clock * 1e6

    else:

        def value(found):
            return found * per_packet[row["metric"]]

    spec = ("golden", name, board, shape, KINDS[kind], size, links)
    work = 4.0**2 * shape[0] * shape[1] * links
    return Case(spec, group, measured, row["unit"], work, value)


def _arch(board):
    from tensim.sim.arch import load_arch

    return load_arch(BOARDS[board].arch)


def _packets_of_link(row):
    """Packets that the busiest link carried: what the row's cycles are the time of, from the rate beside them."""
    same = ("chip", "topology", "pattern", "packet_size_B", "links")
    for other in row.file:
        if other["metric"] == "avg_packets_per_s" and all(other[name] == row[name] for name in same):
            seconds = row.number("value") / (_arch(CHIPS[row["chip"].strip()][0]).clock_mhz * 1e6)
            return round(other.number("value") * seconds / 1000) * 1000
    raise Skip("no rate beside the cycles says how many packets there were")


def _latency(row, chip, size):
    name, kind = _parts(row)
    board, _ = CHIPS[chip]
    topology = row["topology"]
    if topology not in ("Linear", "Ring", "Mesh"):
        raise Skip(f"latencies of the topology {topology} are not described")
    group = f"{_chip_of(chip)}/latency/{board}/{topology}/{kind.removeprefix('NOC_')}"
    if row["metric"] == "per_hop_avg_ns":

        def value(spans):
            return LATENCIES["net_avg_ns"](spans) / 2

    else:
        value = LATENCIES[row["metric"]]
    return Case(("latency", board, topology, KINDS[kind], size), group, row.number("value"), row["unit"], 50.0, value)


def _ceiling(row, chip, size, links):
    found = CEILING.fullmatch(row["pattern"])
    if found is None:
        raise Skip(f"the pattern {row['pattern']!r} is not described")
    place, noc = _placement(found, links)
    if place not in PLACES:
        raise Skip(f"the placement {place} is not described")
    board, _ = CHIPS[chip]
    fabric = _ceiling_fabric(row["topology"])
    flush = found["headers"] == "flush_per_packet"
    spec = ("ceiling", board, fabric, size, links, flush, place, noc, found["ways"] == "bi")
    group = f"{_chip_of(chip)}/link ceiling/{fabric}/{found['ways']}/{links} links"
    packets = LINK_BYTES / size

    def value(found):
        return packets / found * 1e9

    return Case(spec, group, row.number("value"), row["unit"], 100.0, value)


def _gather(row, chip, size, links):
    found, tensor = GATHER.fullmatch(row["pattern"]), TENSOR.fullmatch(row["detail"])
    if found is None or tensor is None or found["place"] not in PLACES:
        raise Skip(f"the pattern {row['pattern']!r} with {row['detail']!r} is not described")
    tiles = [int(tensor[axis]) / TILE for axis in ("rows", "columns")]
    if size % gather.PAGE or any(count != int(count) for count in tiles):
        raise Skip("a tensor or a packet is not of whole tiles")
    board, _ = CHIPS[chip]
    runs, copies = found["blocks"] == "bank_run", int(found["copies"] or 0)
    own = 0 if copies else OTHER_NOC if found["own"] else OWN_NOC
    fabric, pages = _ceiling_fabric(row["topology"]), int(tiles[0] * tiles[1])
    if runs and pages % _arch(board).dram_banks:
        raise Skip("the banks do not hold as many pages each")
    spec = ("gather", board, fabric, size, links, found["place"], pages, runs, own, copies)
    group = f"{_chip_of(chip)}/gather/{found['blocks']}/{links} links"
    return Case(spec, group, row.number("value"), row["unit"], pages / 100, float)


def _placement(found, links):
    """(where senders stand, the NoC on which they send) of a pattern of the link ceiling."""
    return found["place"] or ("under_eth" if links == 1 else "adjacent"), int(found["noc"] or 1)


def _ceiling_fabric(topology):
    return "2d" if topology.startswith("FABRIC_2D") else "1d"


def pairs(rows):
    """`pair_order` of the rows of the link ceiling and the gather, whose designs are told by their patterns."""
    told = [row | {"columns": designs} for row in rows if (designs := _designs(row["columns"])) is not None]
    return pair_order(told, DESIGNS, CONDITIONS)


def _designs(columns):
    """The columns of `DESIGNS` and `CONDITIONS` of a row, None of one that has none."""
    ceiling, gathered = CEILING.fullmatch(columns["pattern"]), GATHER.fullmatch(columns["pattern"])
    designs = dict.fromkeys(DESIGNS) | {
        "links": columns["links"], "packet": columns["packet_size_B"], "fabric": _ceiling_fabric(columns["topology"]),
    }  # fmt: skip
    if ceiling is not None:
        place, noc = _placement(ceiling, int(columns["links"]))
        return designs | {"placement": place, "send": noc, "headers": ceiling["headers"], "ways": ceiling["ways"]}
    if gathered is not None:
        own = gathered["own"]
        return designs | {"placement": gathered["place"], "blocks": gathered["blocks"], "own": own, "ways": "gather"}
    return None


def simulate(spec):
    """Packets a second of the busiest link, [ns] of round trips, ns of a gather, or bytes a cycle of a mux."""
    kind, *arguments = spec
    return {
        "golden": _simulate_golden, "latency": _simulate_latency, "ceiling": _simulate_ceiling, "gather": _simulate_gather,
        "mux": mux.simulate,
    }[kind](*arguments)  # fmt: skip


def _simulate_golden(name, board, shape, kind, size, links):
    setup = patterns.golden(name, board, shape)
    options = dict(setup.options) | {"links": links, "numerics": "off"}
    payload = max(size, 4352) if not name.startswith("Custom") or size <= 4352 else size
    with tt.open_mesh_device(setup.board, setup.shape, packet_bytes=payload, **options) as mesh:
        chips = setup.shape[0] * setup.shape[1]
        turns = TURNS[min(n for n in TURNS if n >= chips)]
        return rate(mesh, list(_streams(mesh, setup, links)), kind, size, turns, flush=False)


def _streams(mesh, setup, links):
    """A worker for each chip and link, on a diagonal.

    Receivers stand in the row below, from some columns to the east on, side by side for the directions from which packets come.
    """
    columns, ways = mesh.devices[0].arch.grid[0], list(DIRECTIONS)
    for chip in sorted({chip for chip, *_ in setup.flows}):
        flows = tuple(flow[1:] for flow in setup.flows if flow[0] == chip)
        for link in range(links):
            receivers = ((link + RECEIVER_COLUMNS + ways.index(way)) % columns for way, _ in flows)
            yield Stream(chip, link, flows, (link, 2 * link), tuple((x, 2 * link + 1) for x in receivers))


def _simulate_latency(board, topology, kind, size):
    whole = BOARDS[board].shape
    options = {"Linear": {}, "Ring": {"ring": True}, "Mesh": {"fabric": "2d"}}[topology]
    shape = whole if topology == "Ring" else (1, 2)
    with tt.open_mesh_device(board, shape, links=1, numerics="fast", **options) as mesh:
        if topology == "Mesh":
            routes = mesh.mesh_route(east=1), mesh.mesh_route(west=1)
        else:
            routes = mesh.line_route(1), mesh.line_route(1)
        return [float(span) for span in round_trips(mesh, 0, "east", 1, "west", routes, kind, size, ROUNDS)]


def _simulate_ceiling(board, fabric, size, links, flush, place, noc, both):
    with tt.open_mesh_device(board, (2, 1), fabric, links, packet_bytes=size, numerics="off") as mesh:
        streams = []
        for chip, direction in enumerate(gather.WAYS if both else gather.WAYS[:1]):
            route = _to_neighbour(mesh, fabric, direction)
            for link in range(links):
                core = _place(mesh, chip, direction, link, place)
                streams.append(Stream(chip, link, ((direction, (route,)),), core, (core,), noc))
        return rate(mesh, streams, layout.UNICAST_WRITE, size, TURNS[2], flush)


def _simulate_gather(board, fabric, size, links, place, pages, runs, own, copies):
    with tt.open_mesh_device(board, (2, 1), fabric, links, packet_bytes=size, numerics="off") as mesh:
        cores = [
            [_place(mesh, chip, direction, link, place) for link in range(links)]
            for chip, direction in enumerate(gather.WAYS)
        ]
        routes = [_to_neighbour(mesh, fabric, direction) for direction in gather.WAYS]
        return gather.duration(mesh, gather.tensors(mesh, pages), cores, routes, size, runs, own, copies)


def _to_neighbour(mesh, fabric, direction):
    return mesh.mesh_route(**{direction: 1}) if fabric == "2d" else mesh.line_route(1)


def _place(mesh, chip, direction, link, place):
    """Logical core of a sender: side by side, one below the other, or in the column of its Ethernet tile."""
    if place == "adjacent":
        return (link, 0)
    if place == "rows":
        return (0, link)
    x = mesh.connection(chip, direction, link).x
    columns = sorted({x for x, _ in mesh.devices[chip].arch.worker_coords})
    return (min(range(len(columns)), key=lambda number: abs(columns[number] - x)), 0)
