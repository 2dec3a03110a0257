"""`tensim validate fabric`: rows by columns, and rates, latencies and ceilings near the measured ones."""

import json

import numpy as np
import pytest

import tensim as tt
from tensim.validation.fabric import gather, mux, patterns, traffic
from tensim.validation.fabric import rows as fabric
from tensim.validation.fabric.gather_kernels import OTHER_NOC, OWN_NOC
from tensim.validation.rows import Row, Skip

RATE = {
    "chip": "blackhole p150_x4", "topology": "Linear", "pattern": "UnidirLinearMulticast|CHIP_MULTICAST|NOC_UNICAST_WRITE",
    "packet_size_B": "2048", "links": "1", "metric": "avg_bandwidth_gigabytes_per_s", "value": "14.84", "unit": "GB/s",
    "detail": "devices=[2]",
}  # fmt: skip
LATENCY = RATE | {
    "chip": "wormhole_b0 t3k", "pattern": "LatencyLinearUnicast|CHIP_UNICAST|NOC_UNICAST_WRITE", "packet_size_B": "4096",
    "metric": "net_avg_ns", "value": "2885.54", "unit": "ns",
}  # fmt: skip
RING = RATE | {
    "topology": "Ring", "pattern": "HalfRingMulticast|CHIP_MULTICAST|NOC_FUSED_UNICAST_ATOMIC_INC", "value": "4.79",
}  # fmt: skip
MESH = RATE | {
    "topology": "Mesh", "pattern": "SingleSenderMeshUnicastAllDevices|CHIP_UNICAST|NOC_FUSED_UNICAST_ATOMIC_INC", "value": "7.51",
}  # fmt: skip
CEILING = RATE | {
    "chip": "blackhole p150a x4", "topology": "FABRIC_1D 2x2 axis-0 pair", "pattern": "link_ceiling header_ring uni",
    "packet_size_B": "14336", "metric": "device_kernel_duration", "value": "1383976", "unit": "ns",
}  # fmt: skip
GATHER = CEILING | {
    "pattern": "gather_pair bank_run+copy2 placement=under_eth", "links": "2", "value": "706547",
    "detail": "shard 8192x4096 bf16 (64 MiB) per chip",
}  # fmt: skip
PAGES = GATHER | {"pattern": "gather_pair page_per_packet placement=under_eth", "value": "2645730"}


def mux_pattern(*numbers):
    """Channels with payloads, of headers alone, buffers of both, turns of the first."""
    return {
        "pattern": json.dumps(dict(zip(mux.NUMBERS.values(), map(str, numbers), strict=True)) | {"Test name": "both"})
    }


MUX = RATE | mux_pattern(2, 2, 8, 8, 1) | {
    "chip": "wormhole_b0", "topology": "mux", "packet_size_B": "4096", "links": "", "metric": mux.METRIC, "value": "7.82115",
}  # fmt: skip


def row(base, **changes):
    return Row("rows.csv:1", 2, base | {name: str(value) for name, value in changes.items()})


@pytest.mark.parametrize(
    ("base", "limit"),
    [
        (RATE, 0.08),
        (RING, 0.08),
        (MESH, 0.1),
        (LATENCY, 0.15),
        (CEILING, 0.05),
        (GATHER, 0.05),
        (PAGES, 0.05),
        (MUX, 0.15),
    ],
)
def test_rows_are_near_the_measured_ones(base, limit):
    case = fabric.read(row(base), "fabric")
    assert case.value(fabric.simulate(case.spec)) == pytest.approx(case.measured, rel=limit)


def test_rows_of_all_boards_are_read():
    case = fabric.read(row(RATE, chip="blackhole galaxy"), "fabric")
    assert case.spec[2:4] == ("bh_galaxy", (8, 4)) and case.group.startswith("blackhole/bandwidth/bh_galaxy/")


def test_metrics_of_one_run():
    rate, packets = (fabric.read(row(RATE, metric=metric), "fabric") for metric in sorted(fabric.RATES)[::2])
    assert rate.spec == packets.spec
    both = [row(RATE, metric="avg_packets_per_s", value=7.24e6), row(RATE, metric="avg_cycles", value=3.727e6)]
    both[1].file.extend(both)
    case = fabric.read(both[1], "fabric")
    assert case.value(7.24e6) == pytest.approx(3.727e6, rel=0.01)  # 20,000 packets
    hop = fabric.read(row(LATENCY, metric="per_hop_avg_ns"), "fabric")
    assert hop.value([2000.0, 3000.0]) == 1250.0


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (MUX | {"chip": "grayskull"}, "no board"),
        (MUX | {"metric": "Latency"}, "not simulated"),
        (MUX | mux_pattern(0, 2, 8, 8, 1), "no payload"),
        ({"topology": "line_size=8"}, "earlier router"),
        ({"chip": "blackhole p900"}, "not described"),
        ({"pattern": "gather_pair bank_run placement=above"}, "not described"),
        ({"pattern": "gather_pair bank_run placement=rows", "detail": "shard 8190x64 bf16"}, "whole tiles"),
        ({"pattern": "gather_pair bank_run placement=rows", "detail": "shard 64x64 fp32"}, "not described"),
        ({"pattern": "gather_pair bank_run placement=rows", "detail": "shard 64x96 bf16"}, "banks"),
        ({"pattern": "Swirl|CHIP_UNICAST|NOC_UNICAST_WRITE"}, "Swirl"),
        ({"pattern": "FullRingMulticast|CHIP_UNICAST|NOC_READ"}, "NOC_READ"),
        ({"links": 9}, "4 links"),
        ({"metric": "hops"}, "hops"),
    ],
)
def test_rows_that_are_left_out(changes, why):
    with pytest.raises(Skip, match=why):
        fabric.read(row(RATE, **changes), "fabric")


@pytest.mark.parametrize(
    "changes",
    [
        {"packet_size_B": 17},
        {"links": 0},
        {"packet_size_B": "many"},
        *(MUX | {"pattern": pattern} for pattern in ("[1]", "{", "{}")),
        *(
            MUX | mux_pattern(*numbers)
            for numbers in (
                (-2, 2, 8, 8, 1), (2, 2, 0, 8, 1), (2, 2, 8, 256, 1), (2, 2, 8, 8, 0), (40, 40, 8, 8, 1), (40, 2, 8, 8, 1),
            )
        ),
    ],
)  # fmt: skip
def test_malformed_rows(changes):
    with pytest.raises(ValueError, match="not possible|not a number|numbers|cannot have|has no cores|does not hold"):
        fabric.read(row(RATE, **changes), "fabric")


def test_streams_of_all_chips_begin_together():
    with tt.open_mesh_device("p150_x4", links=1, numerics="off") as mesh:
        setup = patterns.neighbours("p150_x4", (2, 2), True)
        streams = list(fabric._streams(mesh, setup, 1))
        start = traffic._begin(mesh, 4)
        for stream in streams:
            traffic._launch(mesh, stream.chip, [stream], traffic.layout.UNICAST_WRITE, 2048, 20, True, start)
        env, clock = mesh.devices[0].system.env, mesh.devices[0]._state.clock
        env.run_to(clock.origin + start * 10**9 // clock.clock_mhz)
        assert not any(row["packets"] for row in mesh.link_utilization())
        env.run_to(env.now + 10**9)
        assert all(row["packets"] for row in mesh.link_utilization())


def test_one_sender_sends_as_many_packets_to_each_chip():
    setup = patterns.single_sender_mesh("p150_x4", (2, 2))
    assert {way: len(routes) for _, way, routes in setup.flows} == {"east": 1, "south": 2}


def test_pairs_of_designs():
    columns = {"topology": CEILING["topology"], "packet_size_B": "14336", "links": "2"}
    rows = [
        {"group": "link ceiling", "measured": time, "simulated": 1.1 * time, "columns": columns | {"pattern": pattern}}
        for pattern, time in (
            ("link_ceiling header_ring placement=under_eth send=NoC1 uni", 399),
            ("link_ceiling header_ring placement=adjacent send=NoC1 uni", 476),
            ("link_ceiling header_ring placement=adjacent send=NoC1 bi", 634),
        )
    ]
    assert fabric.pairs(rows) == {"n": 1, "agree": 1, "by_group": {"link ceiling": {"n": 1, "agree": 1}}}


def test_patterns_load_links_as_rows_say():
    """Packets of the busiest link over those of a sender: `packets x hops` of the rows."""
    assert _busiest(patterns.linear_multicast("t3k", (2, 4), False)) == 2
    assert _busiest(patterns.linear_multicast("galaxy", (1, 8), False)) == 4
    assert _busiest(patterns.linear_multicast("galaxy", (1, 8), True)) == 7
    assert _busiest(patterns.ring_multicast("p150_x4", (2, 2), False), 4) == 3
    assert _busiest(patterns.ring_multicast("p150_x4", (2, 2), True), 4) == 2


def _busiest(setup, ring=0):
    """Most flows on a link of a row, or of a ring of so many chips."""
    loads = {}
    order = patterns._ring_order(setup.shape) if ring else list(range(max(setup.shape)))
    for chip, way, (route,) in setup.flows:
        step = 1 if way == "east" else -1
        for hop in range((route & 255) + (route >> 8) - 1):
            place = (order.index(chip) + step * hop) % len(order)
            loads[place, step] = loads.get((place, step), 0) + 1
    return max(loads.values())


@pytest.mark.parametrize("runs", [True, False])
@pytest.mark.parametrize(("own", "copies"), [(OWN_NOC, 0), (OTHER_NOC, 0), (0, 2)])
def test_a_gather_leaves_the_whole_tensor_on_both_chips(runs, own, copies):
    pages = 8 * 7 * 3 + 8  # whole rows of runs over eight banks, and a row of runs of one page
    parts = [np.random.default_rng(chip).integers(0, 256, pages * gather.PAGE, np.uint8).tobytes() for chip in range(2)]
    with tt.open_mesh_device("p150_x4", (2, 1), links=2, packet_bytes=14336) as mesh:
        held = gather.tensors(mesh, pages)
        for device, (part, _), data in zip(mesh.devices, held, parts, strict=True):
            tt.enqueue_write_buffer(device.command_queue(), part, data)
        cores = [[(0, 0), (1, 0)]] * 2
        gather.duration(mesh, held, cores, [mesh.line_route(1)] * 2, 14336, runs, own, copies)
        for device, (_, whole) in zip(mesh.devices, held, strict=True):
            found = np.zeros(2 * pages * gather.PAGE, np.uint8)
            tt.enqueue_read_buffer(device.command_queue(), whole, found, True)
            assert found.tobytes() == b"".join(parts)


@pytest.mark.parametrize("arch", sorted(mux.BOARDS))
def test_a_mux_hands_on_the_packets_of_all_its_workers_in_turn(arch):
    """The sink's slots hold the last packets of both workers, one of each in turn."""
    size, packets = 1024, 12
    with tt.open_mesh_device(mux.BOARDS[arch], (1, 2), links=1) as mesh:
        memory, state = mesh.devices[0].chip.memory, mesh.devices[0]._state
        texts = [bytes([number + 1]) * size for number in range(2)]
        for number, text in enumerate(texts):
            memory.write_l1(state.worker(tt.CoreCoord(number, mux.WORKERS_ROW)), mux.SOURCE, text)
        assert mux.bytes_per_cycle(mesh, 2, 0, 4, 1, size, packets, 1) > 0
        sink, slot = state.worker(tt.CoreCoord(*mux.SINK)), size + mux.HEADER_BYTES
        held = [
            memory.read_l1(sink, mux.SLOTS + number * slot + mux.HEADER_BYTES, size) for number in range(mux.SINK_SLOTS)
        ]
        assert held in (texts * (mux.SINK_SLOTS // 2), texts[::-1] * (mux.SINK_SLOTS // 2))


def test_headers_of_a_mux_take_less_than_payloads():
    with tt.open_mesh_device("n300", (1, 2), links=1) as mesh:
        alone = mux.bytes_per_cycle(mesh, 4, 0, 8, 8, 4096, 20, 1)
        both = mux.bytes_per_cycle(mesh, 4, 4, 8, 8, 4096, 20, 1)
    assert alone / 2 < both < alone
