"""Links between chips and host: routes, meshes, and transfers that wait for each other to the femtosecond."""

import random

import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st

from tensim.sim.arch import load_arch
from tensim.sim.errors import NoRouteError, UsageError
from tensim.sim.host.topology import T3000_MESH, Link, Span, Topology, topology_of
from tensim.sim.loop.environment import FS_PER_NS, Environment

FS_PER_US = 1000 * FS_PER_NS
FIGURES = {
    "pcie.write_bytes_per_ns": 10.0,
    "pcie.write_latency_ns": 3,
    "pcie.read_bytes_per_ns": 5.0,
    "pcie.read_latency_ns": 2,
    "ethernet.bytes_per_ns": 4.0,
    "ethernet.latency_ns": 7,
    "ethernet.ports_per_link": 2,
}


def both_ways(one, other, kind="eth", rate=1.0, latency=0, lanes=1):
    return [Link(one, other, kind, rate, latency, lanes), Link(other, one, kind, rate, latency, lanes)]


def system(name):
    return topology_of(Environment(), name, FIGURES)


def names(route):
    return [(hop.kind, hop.src, hop.dst) for hop in route.hops]


def run(topology, *transfers):
    """Start every transfer (src, dst, bytes) now; microseconds at the end of the last one."""
    for src, dst, n_bytes in transfers:
        topology.env.process(topology.move(topology.route(src, dst), n_bytes))
    topology.env.run()
    return topology.env.now / FS_PER_US


# --- golden schedules (docs/hardware/runtime.md#golden-schedules): links of 1 B/ns, 1000 B per microsecond


def test_uploads_share_a_direction_and_downloads_have_their_own():  # G10
    links = both_ways("host", "chip0", "pcie")
    assert run(Topology(Environment(), links), ("host", "chip0", 30_000), ("host", "chip0", 30_000)) == 60
    assert run(Topology(Environment(), links), ("host", "chip0", 30_000), ("chip0", "host", 30_000)) == 30


def test_a_fan_out_pushed_by_one_queue_or_pulled_over_three_links():  # G11
    links = [Link("chip0", f"chip{n}", "eth", 1.0, 0) for n in (1, 2, 3)]
    push, pull = (Topology(Environment(), links) for _ in range(2))

    def queue():
        for n in (1, 2, 3):
            yield from push.move(push.route("chip0", f"chip{n}"), 25_000)

    push.env.run(push.env.process(queue()))
    assert push.env.now == 75 * FS_PER_US
    assert run(pull, *(("chip0", f"chip{n}", 25_000) for n in (1, 2, 3))) == 25


@pytest.mark.parametrize("staged, total", [(False, 905), (True, 930)])
def test_and_g8_a_pipeline_of_two_chips(staged, total):  # G7
    down, up = Link("chip0", "host", "pcie", 1.25, 0), Link("host", "chip1", "pcie", 25 / 30, 0)
    links = [down, up] if staged else [Link("chip0", "chip1", "eth", 1.0, 0)]
    topology = Topology(Environment(), links)
    env, route, second = topology.env, topology.route("chip0", "chip1"), simpy.Resource(topology.env)

    def forward():
        yield from topology.move(route, 25_000)
        with second.request() as turn:
            yield turn
            yield env.timeout(80 * FS_PER_US)

    def first():
        for _ in range(8):
            yield env.timeout(100 * FS_PER_US)
            env.process(forward())

    env.process(first())
    env.run()
    assert route.kind == ("staged" if staged else "copy")
    assert round(env.now / FS_PER_US, 6) == total


# --- time of a transfer


def test_each_hop_holds_its_link_for_bytes_by_bandwidth_and_latency():
    topology = system("n300")
    route = topology.route("host", "chip1")
    topology.env.run(topology.env.process(topology.move(route, 1000, "weights")))
    pcie, eth = route.hops
    assert topology.spans == [
        Span(pcie, 0, 0, 103 * FS_PER_NS, 1000, "weights"),
        Span(eth, 0, 103 * FS_PER_NS, 360 * FS_PER_NS, 1000, "weights"),
    ]
    assert route.est_ns(1000) == 360
    assert topology.bytes_moved[pcie] == topology.bytes_moved[eth] == 1000


@pytest.mark.parametrize(
    "rate, latency, n_bytes, fs",
    [
        (12.5, 0, 25, 2_000_000),
        (3.0, 0, 1, 333_334),  # rounded up
        (11.8, 0, 118, 10_000_000),  # as written, not the binary fraction nearest to it
        (11.8, 0.5, 59, 5_500_000),
        (1.0, 789, 0, 789_000_000),
    ],
)
def test_durations_are_whole_femtoseconds_rounded_up(rate, latency, n_bytes, fs):
    assert Link("chip0", "chip1", "eth", rate, latency).duration_fs(n_bytes) == fs


def test_a_transfer_within_one_place_takes_no_time():
    topology = system("single")
    assert run(topology, ("chip0", "chip0", 1000)) == 0
    assert topology.spans == [] and topology.route("chip0", "chip0").est_ns(1000) == 0


def test_two_lanes_carry_two_transfers_and_the_third_waits_for_the_lane_that_is_free_first():
    link = Link("chip0", "chip1", "eth", 1.0, 0, lanes=2)
    topology = Topology(Environment(), [link])
    run(topology, ("chip0", "chip1", 30), ("chip0", "chip1", 20), ("chip0", "chip1", 10), ("chip0", "chip1", 5))
    spans = sorted((s.start_fs // FS_PER_NS, s.end_fs // FS_PER_NS, s.lane, s.n_bytes) for s in topology.spans)
    assert spans == [(0, 20, 1, 20), (0, 30, 0, 30), (20, 30, 1, 10), (30, 35, 0, 5)]


def test_transfers_are_served_first_come_first_served():
    topology = Topology(Environment(), [Link("chip0", "chip1", "eth", 1.0, 0)])
    run(topology, *(("chip0", "chip1", n_bytes) for n_bytes in (3, 9, 1, 5)))
    assert [span.n_bytes for span in topology.spans] == [3, 9, 1, 5]


def test_a_caller_with_a_duration_of_its_own_shares_the_lanes():
    topology = Topology(Environment(), [Link("host", "chip0", "pcie", 1.0, 0)])
    topology.env.process(topology.occupy(topology.links[0], 50 * FS_PER_US, 8))
    assert run(topology, ("host", "chip0", 30_000)) == 80
    assert topology.bytes_moved[topology.links[0]] == 30_008


def test_an_interrupted_transfer_gives_its_lane_back_and_leaves_no_span():
    topology = Topology(Environment(), [Link("chip0", "chip1", "eth", 1.0, 0)])
    env, route = topology.env, topology.route("chip0", "chip1")

    def stoppable(n_bytes):
        try:
            yield from topology.move(route, n_bytes)
        except simpy.Interrupt:
            pass

    holder, waiter = env.process(stoppable(100)), env.process(stoppable(70))
    env.process(stoppable(5))
    env.run(until=10 * FS_PER_NS)
    waiter.interrupt()
    holder.interrupt()
    env.run()
    assert topology.spans == [Span(route.hops[0], 0, 10 * FS_PER_NS, 15 * FS_PER_NS, 5, "")]


def test_statistics_are_cleared_together():
    topology = system("single")
    run(topology, ("host", "chip0", 100))
    topology.clear_statistics()
    assert topology.spans == [] and set(topology.bytes_moved.values()) == {0}


PLACES = ["host", *(f"chip{n}" for n in range(8))]
transfers = st.tuples(
    st.sampled_from(PLACES), st.sampled_from(PLACES), st.integers(0, 5000), st.integers(0, 3000 * FS_PER_NS)
)


@given(st.lists(transfers, max_size=40), st.sampled_from([1, 2, 3]))
def test_busy_intervals_of_a_lane_never_overlap_and_bytes_are_the_sum_of_the_spans(transfers, ports):  # I5
    env = Environment()
    topology = topology_of(env, "t3000", FIGURES | {"ethernet.ports_per_link": ports})
    expected = dict.fromkeys(topology.links, 0)

    def start(src, dst, n_bytes, at):
        yield env.timeout(at)
        yield from topology.move(topology.route(src, dst), n_bytes)

    for src, dst, n_bytes, at in transfers:
        env.process(start(src, dst, n_bytes, at))
        for hop in topology.route(src, dst).hops:
            expected[hop] += n_bytes
    env.run()
    lanes = {}
    for span in topology.spans:
        assert span.end_fs - span.start_fs == span.link.duration_fs(span.n_bytes)
        assert 0 <= span.lane < span.link.lanes
        lanes.setdefault((span.link, span.lane), []).append((span.start_fs, span.end_fs))
    for busy in lanes.values():
        busy.sort()
        assert all(end <= start for (_, end), (start, _) in zip(busy, busy[1:], strict=False))
    for link in topology.links:
        assert topology.bytes_moved[link] == expected[link]
        assert topology.bytes_moved[link] == sum(span.n_bytes for span in topology.spans if span.link == link)


# --- routes


def test_the_second_chip_of_an_n300_reaches_the_host_through_the_first():
    topology = system("n300")
    assert names(topology.route("host", "chip1")) == [("pcie", "host", "chip0"), ("eth", "chip0", "chip1")]
    assert names(topology.route("chip1", "host")) == [("eth", "chip1", "chip0"), ("pcie", "chip0", "host")]
    assert topology.mode("chip0", "chip1") == topology.mode("host", "chip1") == "copy"


def test_ethernet_is_preferred_to_host_memory_however_fast_that_is():
    links = both_ways("chip0", "chip1", "eth", 0.001) + [
        *both_ways("host", "chip0", "pcie", 1000.0), *both_ways("host", "chip1", "pcie", 1000.0)
    ]  # fmt: skip
    topology = Topology(Environment(), links)
    assert names(topology.route("chip0", "chip1")) == [("eth", "chip0", "chip1")]
    staged = [("pcie", "chip0", "host"), ("pcie", "host", "chip1")]
    assert names(topology.route("chip0", "chip1", via="host")) == staged


def test_chips_without_ethernet_are_staged_through_the_host():
    route = system("cards(3)").route("chip2", "chip1")
    assert names(route) == [("pcie", "chip2", "host"), ("pcie", "host", "chip1")]
    assert route.kind == "staged" and route.est_ns(1000) == 202 + 103


def test_a_pcie_link_between_chips_comes_before_host_memory():
    cards = [link for n in (0, 1) for link in both_ways("host", f"chip{n}", "pcie", 9.0)]
    topology = Topology(Environment(), cards + both_ways("chip0", "chip1", "pcie"))
    assert names(topology.route("chip0", "chip1")) == [("pcie", "chip0", "chip1")]


def test_chips_joined_by_the_noc_share_a_memory():
    topology = Topology(Environment(), both_ways("chip0", "chip1", "noc") + both_ways("chip1", "chip2"))
    assert topology.mode("chip0", "chip0") == topology.mode("chip0", "chip1") == "native"
    assert topology.mode("chip0", "chip2") == "copy"


def test_the_fastest_of_several_ways_is_taken():
    slow, fast = both_ways("chip0", "chip1", rate=0.1), both_ways("chip0", "chip2") + both_ways("chip2", "chip1")
    topology = Topology(Environment(), slow + fast)
    assert [hop.dst for hop in topology.route("chip0", "chip1").hops] == ["chip2", "chip1"]


def test_ties_go_to_fewer_hops_then_to_the_first_by_number():
    corners = [pair for n in (10, 9, 2) for pair in (("chip0", f"chip{n}"), (f"chip{n}", "chip1"))]
    links = [link for pair in corners for link in both_ways(*pair)]
    assert [hop.dst for hop in Topology(Environment(), links).route("chip0", "chip1").hops] == ["chip2", "chip1"]
    without = [link for link in links if "chip2" not in (link.src, link.dst)]
    assert [hop.dst for hop in Topology(Environment(), without).route("chip0", "chip1").hops] == ["chip9", "chip1"]
    direct = links + both_ways("chip0", "chip1", rate=0.5)
    assert [hop.dst for hop in Topology(Environment(), direct).route("chip0", "chip1").hops] == ["chip1"]


def test_the_order_of_construction_does_not_matter():
    def outcome(links):
        topology = Topology(Environment(), links)
        ends = [(src, dst) for src in topology.places for dst in topology.places]
        run(topology, *((src, dst, 1000 + 7 * n) for n, (src, dst) in enumerate(ends)))
        return topology.links, [topology.route(*pair) for pair in ends], topology.spans, topology.bytes_moved

    links = list(system("t3000").links)
    expected = outcome(links)
    for seed in range(5):
        random.Random(seed).shuffle(links)
        assert outcome(links) == expected


@pytest.mark.parametrize(
    "name, src, dst, via",
    [
        ("isolated(2)", "chip0", "chip1", "auto"),
        ("isolated(2)", "host", "chip1", "auto"),
        ("cards(2)", "chip0", "chip1", "eth"),
        ("cards(2)", "chip0", "chip1", "pcie"),
        ("n300", "host", "chip1", "pcie"),
        ("n300", "host", "chip0", "eth"),
    ],
)
def test_no_route_names_both_ends(name, src, dst, via):
    with pytest.raises(NoRouteError, match=f"no route from {src} to {dst}") as caught:
        system(name).route(src, dst, via)
    assert isinstance(caught.value, UsageError) and caught.value.kind == "no_route"
    assert caught.value.where == {"src": src, "dst": dst, "via": via}
    assert f"leave {src}" in caught.value.hint and f"reach {dst}" in caught.value.hint


def test_no_way_to_stage_without_the_host():
    topology = Topology(Environment(), both_ways("chip0", "chip1"))
    with pytest.raises(NoRouteError, match="from chip0 to chip1 via host"):
        topology.route("chip0", "chip1", via="host")


def test_links_of_one_direction_lead_one_way():
    topology = Topology(Environment(), [Link("chip0", "chip1", "eth", 1.0, 0)])
    assert (topology.mode("chip0", "chip1"), topology.mode("chip1", "chip0")) == ("copy", "none")


# --- meshes


def ring(n):
    return [link for k in range(n) for link in both_ways(f"chip{k}", f"chip{(k + 1) % n}")]


def test_a_line_and_a_ring():
    chips = [f"chip{n}" for n in range(4)]
    assert system("line(4)").classify((4,), chips) == ["line"]
    assert Topology(Environment(), ring(4)).classify((4,), chips) == ["ring"]
    assert Topology(Environment(), ring(4)).classify((3,), chips[:3]) == ["line"]


def test_two_chips_are_a_line():
    assert system("n300").classify((2,), ["chip0", "chip1"]) == ["line"]
    assert system("n300").classify((1, 2), ["chip0", "chip1"]) == ["line", "line"]


def test_a_missing_direction_disables_the_axis():
    links = ring(4)
    assert Topology(Environment(), links[1:]).classify((4,), [f"chip{n}" for n in range(4)]) == ["disabled"]
    assert Topology(Environment(), links[:-1]).classify((4,), [f"chip{n}" for n in range(4)]) == ["line"]


def test_the_axes_of_a_t3000():
    topology = system("t3000")
    mesh = [chip for row in T3000_MESH for chip in row]
    assert topology.classify((2, 4), mesh) == ["line", "line"]
    assert topology.classify((2, 4), [f"chip{n}" for n in range(8)]) == ["line", "disabled"]
    around = ["chip0", "chip4", "chip5", "chip1", "chip2", "chip6", "chip7", "chip3"]
    assert topology.classify((8,), around) == ["ring"]
    broken = [link for link in topology.links if {link.src, link.dst} != {"chip1", "chip2"}]
    assert Topology(Environment(), broken).classify((2, 4), mesh) == ["line", "disabled"]


def test_pcie_makes_no_mesh():
    assert system("cards(2)").classify((2,), ["chip0", "chip1"]) == ["disabled"]


@pytest.mark.parametrize("shape, chips", [((3,), ["chip0", "chip1"]), ((2,), ["chip0", "chip0"])])
def test_a_mesh_names_each_of_its_chips_once(shape, chips):
    with pytest.raises(UsageError, match="a mesh of"):
        system("n300").classify(shape, chips)


# --- systems


@pytest.mark.parametrize(
    "name, chips, on_pcie, eth",
    [
        ("single", 1, 1, 0),
        ("n300", 2, 1, 1),
        ("t3000", 8, 4, 10),
        ("line(3)", 3, 3, 2),
        ("cards(3)", 3, 3, 0),
        ("isolated(3)", 3, 0, 0),
    ],
)
def test_systems(name, chips, on_pcie, eth):
    topology = system(name)
    assert topology.places == ("host", *(f"chip{n}" for n in range(chips)))
    kinds = [link.kind for link in topology.links]
    assert (kinds.count("pcie"), kinds.count("eth"), len(kinds)) == (2 * on_pcie, 2 * eth, 2 * (on_pcie + eth))
    assert all(link.lanes == (2 if link.kind == "eth" else 1) for link in topology.links)


def test_every_second_chip_of_a_t3000_reaches_the_host_through_its_own_card():
    topology = system("t3000")
    for n in range(4):
        via = [("pcie", "host", f"chip{n}"), ("eth", f"chip{n}", f"chip{n + 4}")]
        assert names(topology.route("host", f"chip{n + 4}")) == via


def test_a_system_from_links_of_ones_own():
    links = both_ways("chip0", "chip1", rate=2.0)
    assert topology_of(Environment(), links, {}).route("chip0", "chip1").hops == (links[0],)


@pytest.mark.parametrize("arch, port", [("wormhole_b0", 11.8), ("blackhole", 33.3)])
def test_the_figures_of_an_architecture(arch, port):
    arch = load_arch(arch)
    topology = topology_of(Environment(), "n300", arch)
    down, eth = topology.route("host", "chip1").hops
    assert (down.bytes_per_ns, down.latency_ns) == (arch["pcie.write_bytes_per_ns"], arch["pcie.write_latency_ns"])
    assert (eth.bytes_per_ns, eth.latency_ns) == (port, arch["ethernet.latency_ns"])
    up = topology.route("chip0", "host").hops[0]
    assert (up.bytes_per_ns, up.latency_ns) == (arch["pcie.read_bytes_per_ns"], arch["pcie.read_latency_ns"])
    assert topology_of(Environment(), "n300", arch.values()).links == topology.links


def test_grayskulls_have_no_ethernet():
    arch = load_arch("grayskull")
    assert topology_of(Environment(), "cards(2)", arch).mode("chip0", "chip1") == "staged"
    with pytest.raises(UsageError, match="these chips have no ethernet"):
        topology_of(Environment(), "n300", arch)


# --- wrong calls


@pytest.mark.parametrize("name", ["n150", "line", "n300(2)", "line(x)", "line(-1)", ""])
def test_unknown_systems(name):
    with pytest.raises(UsageError, match="unknown system") as caught:
        system(name)
    assert "t3000" in caught.value.hint


@pytest.mark.parametrize("name", ["line(0)", "isolated(33)", "cards(99999999999)"])
def test_systems_of_too_few_or_too_many_chips(name):
    with pytest.raises(UsageError, match="1 to 32 chips"):
        system(name)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"kind": "wifi"}, "kind 'wifi'"),
        ({"dst": "chip0"}, "joins two places"),
        ({"bytes_per_ns": 0}, "0 B/ns"),
        ({"bytes_per_ns": float("nan")}, "nan B/ns"),
        ({"latency_ns": -1}, "-1 ns"),
        ({"lanes": 0}, "0 lanes"),
    ],
)
def test_impossible_links(change, message):
    with pytest.raises(UsageError, match=message):
        Link(**({"src": "chip0", "dst": "chip1", "kind": "eth", "bytes_per_ns": 1.0, "latency_ns": 0} | change))


def test_parallel_links_are_lanes():
    with pytest.raises(UsageError, match="eth link chip0 -> chip1 is there twice"):
        Topology(Environment(), 2 * [Link("chip0", "chip1", "eth", 1.0, 0)])


def test_unknown_places_ways_and_negative_sizes():
    topology = system("n300")
    with pytest.raises(UsageError, match="no place 'chip7'") as caught:
        topology.route("host", "chip7")
    assert "host, chip0, chip1" in caught.value.hint
    with pytest.raises(UsageError, match="via 'usb'"):
        topology.route("host", "chip0", via="usb")
    with pytest.raises(UsageError, match="-1 B from host to chip0"):
        next(topology.move(topology.route("host", "chip0"), -1))
