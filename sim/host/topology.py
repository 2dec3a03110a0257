"""The links between chips and their host: routes, and how long transfers take.

Places are names: "host", "chip0", "chip1", ...  A `Link` is one direction between two places; its lanes are contended
SimPy resources.  A transfer goes store-and-forward: each hop holds one lane for bytes / bandwidth + latency, in whole
femtoseconds (docs/hardware/runtime.md#links-and-routes and docs/hardware/runtime.md#transfers-and-meshes).
"""

import heapq
import itertools
import math
import re
from collections import defaultdict

import simpy

from tensim.sim.errors import NoRouteError, UsageError
from tensim.sim.lazy_dataclass import dataclass
from tensim.sim.loop.environment import FS_PER_NS

HOST = "host"
KINDS = ("noc", "eth", "pcie", "host")
CHIP_TO_CHIP = ("noc", "eth")
ROUTING_BYTES = 4096  # routes are static, as the chips' routing tables are: the fastest for a packet of the fabric
MAX_LANES = 1024  # of a link
MAX_CHIPS = 32  # of one system (docs/hardware/runtime.md#topology-in-iree)
# A T3000 as tt-metal's cluster description numbers it: chips 0 to 3 are on PCIe, chip c + 4 is on the card of chip c.
T3000_MESH = (("chip4", "chip0", "chip3", "chip7"), ("chip5", "chip1", "chip2", "chip6"))


@dataclass(frozen=True)
class Link:
    """One direction of a connection.

    `kind`: one of `KINDS`; `bytes_per_ns`: of one lane; `lanes`: ports side by side, a transfer uses one.  UsageError for
    figures no link can have.
    """

    src: str
    dst: str
    kind: str
    bytes_per_ns: float
    latency_ns: float
    lanes: int = 1

    def __post_init__(self):
        if self.kind not in KINDS:
            raise UsageError(f"{self}: kind {self.kind!r}", hint=f"one of {', '.join(KINDS)}")
        if self.src == self.dst:
            raise UsageError(f"{self}: a link joins two places")
        if (
            not 0 < self.bytes_per_ns < math.inf
            or not 0 <= self.latency_ns < math.inf
            or not 1 <= self.lanes <= MAX_LANES
        ):
            raise UsageError(
                f"{self}: {self.bytes_per_ns} B/ns, {self.latency_ns} ns, {self.lanes} lanes",
                hint=f"a link needs a positive bandwidth, a latency from 0 on and 1 to {MAX_LANES} lanes",
            )

    def __str__(self):
        return f"{self.kind} link {self.src} -> {self.dst}"

    def duration_fs(self, n_bytes):
        """Femtoseconds a transfer holds a lane, rounded up.  The figures count as written: 11.8 is 118 / 10."""
        (rate, rate_parts), (latency, latency_parts) = map(_as_written, (self.bytes_per_ns, self.latency_ns))
        parts = rate * latency_parts
        return -(-(n_bytes * rate_parts * latency_parts + latency * rate) * FS_PER_NS // parts)


def _as_written(number):
    """(numerator, denominator) of a number in decimals."""
    digits, _, exponent = str(number).partition("e")
    whole, _, decimals = digits.partition(".")
    shift = int(exponent or 0) - len(decimals)
    return int(whole + decimals) * 10 ** max(shift, 0), 10 ** max(-shift, 0)


@dataclass(frozen=True)
class Route:
    """A way between two places.  `kind`: native (one memory, or the NoC alone), copy, or staged (through host memory)."""

    src: str
    dst: str
    hops: tuple[Link, ...]
    kind: str

    def est_ns(self, n_bytes):
        """Nanoseconds of a transfer that finds every hop free."""
        return sum(hop.duration_fs(n_bytes) for hop in self.hops) / FS_PER_NS


@dataclass(frozen=True)
class Span:
    """One lane of one link, busy with one transfer; femtoseconds."""

    link: Link
    lane: int
    start_fs: int
    end_fs: int
    n_bytes: int
    label: str


class _Lanes:
    """The lanes of a link: a FIFO of transfers that want one, and the numbers of those that are free."""

    def __init__(self, env, count):
        self.turns = simpy.Resource(env, count)
        self.free = list(range(count))


class Topology:
    """The links of a system in an environment.

    `places`: further places, which no link reaches.  `spans`: the transfers that ended, in the order of their ends;
    `bytes_moved`: bytes per link, the sum over its spans.  UsageError for two links of a kind in one direction.
    """

    def __init__(self, env, links, places=()):
        self.env = env
        self.links = tuple(sorted(links, key=_link_order))
        for link, other in itertools.pairwise(self.links):
            if _link_order(link) == _link_order(other):
                raise UsageError(f"{link} is there twice", hint="give one link more lanes")
        ends = {place for link in self.links for place in (link.src, link.dst)}
        self.places = tuple(sorted(ends | set(places), key=_place_order))
        self._lanes = {link: _Lanes(env, link.lanes) for link in self.links}
        self._leaving = defaultdict(list)
        for link in self.links:
            self._leaving[link.src].append(link)
        self._joined = {(link.src, link.dst) for link in self.links if link.kind in CHIP_TO_CHIP}
        self._table = {}  # routing table, filled when asked: (src, dst, via) -> hops, None where no way leads
        self.clear_statistics()

    def clear_statistics(self):
        """Forget spans and byte counts; transfers under way are recorded when they end."""
        self.spans = []
        self.bytes_moved = dict.fromkeys(self.links, 0)

    # --- routes

    def route(self, src, dst, via="auto"):
        """The way from one place to another.

        `via`: "eth" or "pcie" (links of that kind only), "host" (between chips: through host memory) or "auto": within
        one place, else over ethernet, else over any links, else through the host.  A chip that is not on PCIe reaches
        the host over the ethernet of one that is.  NoRouteError when there is no such way, UsageError for an unknown
        place or `via`.
        """
        for place in (src, dst):
            if place not in self.places:
                raise UsageError(f"there is no place {place!r}", hint=f"the system has {', '.join(self.places)}")
        if via not in ("auto", "eth", "pcie", "host"):
            raise UsageError(f"via {via!r}", hint="one of auto, eth, pcie, host")
        if (src, dst, via) not in self._table:
            self._table[src, dst, via] = () if src == dst else self._hops(src, dst, via)
        hops = self._table[src, dst, via]
        if hops is None:
            raise NoRouteError(
                f"no route from {src} to {dst}" + ("" if via == "auto" else f" via {via}"),
                hint=f"links leave {src} to {self._neighbours(src)}; links reach {dst} from {self._sources(dst)}",
                where={"src": src, "dst": dst, "via": via},
            )
        if any(hop.dst == HOST for hop in hops[:-1]):
            return Route(src, dst, hops, "staged")
        return Route(src, dst, hops, "native" if all(hop.kind == "noc" for hop in hops) else "copy")

    def mode(self, src, dst):
        """How a place reaches another one: "native", "copy", "staged" or "none"."""
        try:
            return self.route(src, dst).kind
        except NoRouteError:
            return "none"

    def _hops(self, src, dst, via):
        between_chips = HOST not in (src, dst)
        if via == "eth":
            return self._fastest(src, dst, CHIP_TO_CHIP)
        if via == "pcie":
            return self._fastest(src, dst, ("pcie",))
        if via == "host" and between_chips:
            return self._staged(src, dst)
        direct = self._fastest(src, dst, CHIP_TO_CHIP) or self._fastest(src, dst, KINDS)
        return direct or (self._staged(src, dst) if between_chips else None)

    def _staged(self, src, dst):
        up, down = self._fastest(src, HOST, KINDS), self._fastest(HOST, dst, KINDS)
        return up + down if up and down else None

    def _fastest(self, src, dst, kinds):
        """Links of the fastest way that does not pass the host, or None.  Ties: fewer hops, then the first by name."""
        paths, reached = [(0, 0, (), src, ())], set()
        while paths:
            fs, _, order, place, hops = heapq.heappop(paths)
            if place == dst:
                return hops
            if place in reached or (place == HOST and hops):
                continue
            reached.add(place)
            for link in self._leaving[place]:
                if link.kind in kinds:
                    total, names = fs + link.duration_fs(ROUTING_BYTES), (*order, _link_order(link))
                    heapq.heappush(paths, (total, len(names), names, link.dst, (*hops, link)))
        return None

    def _neighbours(self, place):
        return ", ".join(dict.fromkeys(link.dst for link in self._leaving[place])) or "nowhere"

    def _sources(self, place):
        return ", ".join(dict.fromkeys(link.src for link in self.links if link.dst == place)) or "nowhere"

    # --- meshes

    def classify(self, shape, chips):
        """What every axis of a mesh can be used as: "disabled", "line" or "ring".

        `shape`: chips per axis; `chips`: their names, row-major.  One missing ethernet link disables the axis; a ring
        needs the link from last to first on every line of three chips or more.
        """
        if math.prod(shape) != len(chips) or len(set(chips)) != len(chips):
            raise UsageError(f"a mesh of {'x'.join(map(str, shape))} needs {math.prod(shape)} chips, got {list(chips)}")
        return [self._classify_lines(_lines(shape, chips, axis)) for axis in range(len(shape))]

    def _classify_lines(self, lines):
        if not all(self._linked(*pair) for line in lines for pair in itertools.pairwise(line)):
            return "disabled"
        return "ring" if all(len(line) > 2 and self._linked(line[-1], line[0]) for line in lines) else "line"

    def _linked(self, one, other):
        return {(one, other), (other, one)} <= self._joined

    # --- transfers

    def move(self, route, n_bytes, label="", begin=None):
        """SimPy process body: move bytes over the hops of a route, one after the other; `begin()` is called at the start."""
        if n_bytes < 0:
            raise UsageError(f"a transfer of {n_bytes} B from {route.src} to {route.dst}")
        for hop in route.hops:
            yield from self.occupy(hop, hop.duration_fs(n_bytes), n_bytes, label, begin)

    def occupy(self, link, duration_fs, n_bytes, label="", begin=None):
        """SimPy process body: hold a lane of a link, the lowest that is free, first come first served.

        `begin()`, if given, is called when the lane is there.

        A transfer that is interrupted gives its lane back and leaves no span.
        """
        lanes = self._lanes[link]
        with lanes.turns.request() as turn:
            yield turn
            lane, start = heapq.heappop(lanes.free), self.env.now
            if begin is not None:
                begin()
            try:
                yield self.env.timeout(duration_fs)
            finally:
                heapq.heappush(lanes.free, lane)
            self.spans.append(Span(link, lane, start, self.env.now, n_bytes, label))
            self.bytes_moved[link] += n_bytes


def _place_order(place):
    """The host first, chip10 behind chip9."""
    digits = re.search(r"\d*$", place)[0]
    return (place != HOST, place.removesuffix(digits), int(digits or 0), place)


def _link_order(link):
    return (_place_order(link.src), _place_order(link.dst), KINDS.index(link.kind))


def _lines(shape, chips, axis):
    """The lines of chips along one axis of a row-major mesh."""
    stride, lines = math.prod(shape[axis + 1 :]), defaultdict(list)
    for index, chip in enumerate(chips):
        lines[index // (stride * shape[axis]), index % stride].append(chip)
    return list(lines.values())


# --- systems


def topology_of(env, system, parameters):
    """The `Topology` of a system.

    `system`: "single" (one chip on PCIe), "n300", "t3000", "line(n)" (n cards, each cabled to the next), "cards(n)" (n
    cards without cables), "isolated(n)" (n chips that nothing reaches), or a sequence of `Link`.  `parameters`: values
    by dotted key, of the sections `pcie` and `ethernet` (`tensim.sim.arch.Arch`, or a dict).  UsageError for an unknown
    system and for ethernet between chips that have none.
    """
    if not isinstance(system, str):
        return Topology(env, system)
    match = re.fullmatch(r"(\w+)(?:\((\d+)\))?", system)
    name, count = match.groups() if match else (system, None)
    fixed, counted = {"single": _single, "n300": _n300, "t3000": _t3000}, {"line": _line, "cards": _cards}
    if name in fixed and count is None:
        return Topology(env, fixed[name](parameters))
    if count is None or name not in (*counted, "isolated"):
        known = [*fixed, *(f"{name}(n)" for name in (*counted, "isolated"))]
        raise UsageError(f"unknown system {system!r}", hint=f"one of {', '.join(known)}")
    if not 1 <= int(count) <= MAX_CHIPS:
        raise UsageError(f"{system}: a system has 1 to {MAX_CHIPS} chips")
    chips = [f"chip{number}" for number in range(int(count))]
    if name == "isolated":
        return Topology(env, (), [HOST, *chips])
    return Topology(env, counted[name](chips, parameters))


def _single(parameters):
    return _cards(["chip0"], parameters)


def _n300(parameters):
    """A card of two chips, the first on PCIe (docs/hardware/runtime.md#tt-metal-and-boards)."""
    return _cards(["chip0"], parameters) + _ethernet([("chip0", "chip1")], parameters)


def _t3000(parameters):
    """Four n300 in a mesh of 2 x 4; a row of the mesh is cabled, a card is a column."""
    rows = [pair for row in T3000_MESH for pair in itertools.pairwise(row)]
    cards = [f"chip{number}" for number in range(4)]
    return _cards(cards, parameters) + _ethernet([*rows, *zip(*T3000_MESH, strict=True)], parameters)


def _line(chips, parameters):
    return _cards(chips, parameters) + _ethernet(itertools.pairwise(chips), parameters)


def _cards(chips, parameters):
    """Both directions of PCIe for every chip."""
    down = parameters["pcie.write_bytes_per_ns"], parameters["pcie.write_latency_ns"]
    up = parameters["pcie.read_bytes_per_ns"], parameters["pcie.read_latency_ns"]
    return [link for chip in chips for link in (Link(HOST, chip, "pcie", *down), Link(chip, HOST, "pcie", *up))]


def _ethernet(pairs, parameters):
    """Both directions of ethernet for every pair of chips."""
    if "ethernet.bytes_per_ns" not in parameters:
        raise UsageError("these chips have no ethernet", hint="single and cards(n) need PCIe only")
    keys = ("bytes_per_ns", "latency_ns", "ports_per_link")
    figures = [parameters[f"ethernet.{key}"] for key in keys]
    return [Link(*ends, "eth", *figures) for one, other in pairs for ends in ((one, other), (other, one))]
