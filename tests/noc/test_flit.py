"""The flit model against theory: latency without load, conservation, saturation, freedom from deadlock."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensim.sim.noc import flit, traffic
from tensim.sim.noc.flit_network import ARRIVED, CHIP, MESH, NOBODY, PACKET, PORT_VCS, TORUS, build, build_chip
from tensim.sim.noc.topology import hops

WIDTH, HEIGHT = 10, 12  # tiles of a Wormhole
NODES = WIDTH * HEIGHT
HOP, INJECT, EJECT = 9, 5, 5


def chip(width=WIDTH, height=HEIGHT, buffer=16, hop=HOP):
    return build_chip(width, height, buffer=buffer, hop=hop, inject=INJECT, eject=EJECT)


def run(network, packets, limit, static_vcs=None):
    """Cycles in which `packets` (source, target, flits, class, cycle) are delivered; all of them must be.

    `static_vcs`: of each packet, or -1 for any.
    """
    network.place_packets(np.zeros(len(packets), PACKET))
    for number, (source, target, flits, group, ready) in enumerate(packets):
        static_vc = -1 if static_vcs is None or group == 1 else static_vcs[number]
        flit.inject(network.net, number, source, target, flits, group, ready, flits, static_vc)
    done = np.full(len(packets), -1)
    assert flit.run_until_idle(network.net, limit, done)
    return done


@given(
    noc=st.integers(0, 1), source=st.integers(0, NODES - 1), target=st.integers(0, NODES - 1), flits=st.integers(1, 300)
)
def test_latency_without_load_is_exact(noc, source, target, flits):
    """Head: 5 cycles into the network, 9 per hop, 5 out of it (ISA NoC/README); one more per further flit."""
    done = run(chip(), [(noc * NODES + source, noc * NODES + target, flits, 0, 100)], 100_000)
    n = hops(WIDTH, HEIGHT, noc, source, target)
    assert done[0] - 100 == INJECT + HOP * n + EJECT + flits - 1


def test_a_buffer_smaller_than_the_credit_loop_slows_long_packets():
    """Throughput of one VC is buffer / (hop + 1) flits per cycle when that is below 1: a credit counts in the next cycle."""
    done = run(chip(buffer=5), [(0, 3, 1000, 0, 0)], 100_000)
    assert done[0] == pytest.approx(1000 * (HOP + 1) / 5, rel=0.03)


@pytest.mark.parametrize(("flits", "static_vc", "later"), [(9, 0, 2), (1, 0, 0), (9, -1, 0)])
def test_a_write_that_has_waited_gets_its_vc_some_cycles_after_the_tail(flits, static_vc, later):
    """Not what may take any VC, nor a single flit."""
    ends = []
    for cycles in (0, 2):
        network = chip()
        network.net["reallocation"] = cycles
        long = [(20, 25, 257, 0, 0)] * (1 if static_vc == 0 else 2)
        packets = [*long, (22, 24, flits, 0, 100)]
        ends.append(run(network, packets, 10_000, [0] + [1] * (len(long) - 1) + [static_vc])[-1])
    assert ends[1] - ends[0] == later


@pytest.mark.parametrize("shared", [0, 3, 7])
def test_a_vc_without_room_in_the_shared_part_sends_a_flit_per_round_trip(shared):
    """Each VC has a place of its own, and up to `buffer` with those that all VCs of a port share (ISA DRAMTile)."""
    network = build_chip(WIDTH, HEIGHT, buffer=16, shared=shared, credit=7, hop=HOP, inject=INJECT, eject=EJECT)
    done = run(network, [(0, 3, 1000, 0, 0)], 100_000)
    assert done[0] == pytest.approx(1000 * (HOP + 7) / (1 + shared), rel=0.03)


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), shared=st.integers(0, 20))
def test_the_shared_part_of_a_buffer_never_overflows(seed, shared):
    """In every cycle the VCs of a port have at most `shared` flits beside one each, none more than `buffer`."""
    rng, buffer = np.random.default_rng(seed), 6
    network = build_chip(5, 4, buffer=buffer, shared=shared, credit=3, hop=2, inject=1, eject=1)
    network.place_packets(np.zeros(200, PACKET))
    for packet in range(200):
        source, target = rng.integers(0, 20, 2)
        flit.inject(network.net, packet, source, target, rng.integers(1, 30), packet % 3, 0, 30, rng.integers(-1, 2))
    routers, ports, vcs = network.arrays["routers"], int(network.net["ports"]), PORT_VCS
    for _ in range(2000):
        flit.step(network.net)
        network.net["now"] += 1
        taken = buffer - routers["output_vcs"]["credits"][:, : ports * vcs].reshape(-1, ports, vcs).astype(int)
        beside_own = np.maximum(taken - 1, 0).sum(axis=2)
        assert (taken >= 0).all() and (taken <= buffer).all() and (beside_own <= shared).all()
        assert (beside_own == routers["outputs"]["taken"][:, :ports]).all()


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from([MESH, TORUS, CHIP]))
def test_everything_arrives_and_everything_returns(seed, kind):
    """Bursts far beyond saturation: no deadlock, each flit makes the hops of its route, all credits come back."""
    rng = np.random.default_rng(seed)
    network = chip(5, 4, buffer=3, hop=2) if kind == CHIP else build(kind, 5, 4, classes=2, buffer=3, hop=2)
    parts, packets, expected = (2 if kind == CHIP else 1), [], 0
    times = np.sort(rng.integers(0, 50, 400))
    for number, time in enumerate(times):
        (source, target), part = rng.integers(0, 20, 2), int(rng.integers(0, parts))
        flits = int(rng.integers(1, 20))
        packets.append((part * 20 + source, part * 20 + target, flits, number % (3 if kind == CHIP else 2), time))
        expected += flits * route_length(kind, part, source, target)
    done = run(network, packets, 200_000, rng.integers(-1, 2, 400))
    for _ in range(10):
        flit.step(network.net)
        network.net["now"] += 1
    routers = network.arrays["routers"]
    outputs = routers["outputs"]
    assert network.net["moved"] == expected and (done > 0).all()
    assert (
        (routers["output_vcs"]["credits"] == 3).all()
        and not outputs["held"].any()
        and not routers["input_vcs"]["count"].any()
    )
    assert not outputs["need"].any() and not outputs["request"].any() and flit.next_cycle(network.net) == -1


def crowd(seed, kind):
    """(a small network, its packets handed in): bursts of random packets."""
    rng = np.random.default_rng(seed)
    buffer, hop = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    if kind == CHIP:
        network = build_chip(5, 4, buffer=buffer, shared=int(rng.integers(0, 20)), credit=3, hop=hop, inject=2, eject=1)
        network.net["reallocation"] = rng.integers(0, 3)
    else:
        network = build(kind, 5, 4, classes=2, buffer=buffer, hop=hop)
    network.place_packets(np.zeros(300, PACKET))
    for packet, time in enumerate(np.sort(rng.integers(0, 200, 300))):
        source, target = rng.integers(0, 20, 2)
        flits, static_vc = rng.integers(1, 20), rng.integers(-1, 2) if kind == CHIP else -1
        emission = flits * rng.integers(1, 3)
        flit.inject(network.net, packet, source, target, flits, packet % 2, time, emission, static_vc)
    return network


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from([MESH, TORUS, CHIP]))
def test_routers_that_sleep_miss_nothing(seed, kind):
    """The same cycles when every router is looked at in every cycle."""
    asleep, awake = crowd(seed, kind), crowd(seed, kind)
    done = [np.full(300, -1), np.full(300, -1)]
    assert flit.run_until_idle(asleep.net, 100_000, done[0])
    nodes = awake.arrays["routers"]["node"]
    everybody = np.zeros(len(awake.arrays["active"]), np.int64)
    np.bitwise_or.at(everybody, nodes["word"], nodes["bit"])
    for now in range(int(asleep.net["now"])):
        awake.net["now"], awake.arrays["active"][:] = now, everybody
        flit.step(awake.net)
        for event in awake.arrays["events"][: int(awake.net["n_events"])]:
            if event["kind"] == ARRIVED:
                done[1][event["packet"]] = event["time"]
    assert (done[0] == done[1]).all()
    assert (asleep.arrays["links"] == awake.arrays["links"]).all()


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from([MESH, TORUS, CHIP]))
def test_sets_of_input_vcs_say_what_credits_and_buffers_say(seed, kind):
    """In every cycle: room behind the output VC that an input VC holds, and whether it has a flit for it."""
    network = crowd(seed, kind)
    routers, buffer, ports = network.arrays["routers"], int(network.net["buffer"]), int(network.net["ports"])
    for now in range(300):
        network.net["now"] = now
        flit.step(network.net)
        node, output_vc = np.nonzero(routers["output_vcs"]["holder"][:, : (ports - 1) * PORT_VCS] != NOBODY)
        outputs = routers["outputs"][node, output_vc // PORT_VCS]
        behind = routers["output_vcs"][node, output_vc]
        holder = behind["holder"].astype(np.int64)
        assert (outputs["all_room"] >> holder & 1 == (behind["credits"] == buffer)).all()
        assert (outputs["some_room"] >> holder & 1 == (behind["credits"] > 0)).all()
        assert (outputs["request"] >> holder & 1 == (routers["input_vcs"]["count"][node, holder] > 0)).all()
        for out in range(ports):
            asked = routers["outputs"]["request"][:, out] != 0
            assert (routers["node"]["asked"] >> out & 1 == asked).all()


def route_length(kind, noc, source, target):
    if kind == CHIP:
        return hops(5, 4, noc, source, target)
    dx, dy = abs(source % 5 - target % 5), abs(source // 5 - target // 5)
    return dx + dy if kind == MESH else min(dx, 5 - dx) + min(dy, 4 - dy)


@pytest.mark.parametrize(("kind", "limit"), [(MESH, 0.5), (TORUS, 1.0)])
def test_saturation_of_uniform_random_traffic(kind, limit):
    """The bisection bounds an 8x8 mesh at 4/8 and a torus at 8/8 flits per node and cycle (Dally & Towles, chapter 3); input
    queues with a few VCs reach 60 to 100 % of it, rings less, as the dateline leaves each packet half of the VCs.  Below half
    the bound all that is offered is accepted.
    """
    router = {"vcs": 4, "buffer": 8, "hop": 2, "inject": 1, "eject": 1}
    beyond = traffic.uniform_random(kind, 8, 8, 1.2 * limit, 1500, drain=10, **router)
    below = traffic.uniform_random(kind, 8, 8, 0.4 * limit, 1500, **router)
    assert (0.6 if kind == MESH else 0.45) * limit <= beyond.accepted <= limit
    assert below.accepted == pytest.approx(0.4 * limit, rel=0.06) and below.drained


def test_latency_grows_with_load_and_a_torus_beats_a_mesh():
    router = {"vcs": 4, "buffer": 8, "hop": 2, "inject": 1, "eject": 1}
    loads = (0.05, 0.2, 0.35)
    mesh, torus = (traffic.curve(kind, 8, 8, loads, 1200, **router) for kind in (MESH, TORUS))
    for points in (mesh, torus):
        assert [point.latency for point in points] == sorted(point.latency for point in points)
    assert all(t.latency < m.latency for t, m in zip(torus, mesh, strict=True))


def test_impossible_networks_are_refused():
    for wrong in ({"vcs": 3, "classes": 2}, {"vcs": 3}, {"buffer": 0}, {"hop": 0}, {"vcs": 16}):
        with pytest.raises(ValueError):
            build(TORUS, 4, 4, **wrong)


def test_the_same_traffic_gives_the_same_cycles():
    first, second = (traffic.uniform_random(TORUS, 6, 6, 0.4, 600, seed=3) for _ in range(2))
    assert first == second
