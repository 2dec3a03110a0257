"""Packets between chips: data, routes, flow control, time, and what goes wrong (`tensim.sim.cores.fabric`)."""
# ruff: noqa: F403, F405

import itertools
import json

import numpy as np
import pytest

import tensim as tt
from tensim.fabric_api import *
from tensim.sim.arch import load_arch
from tensim.sim.chip.routers import slots_of
from tensim.sim.cores.fabric import layout
from tensim.sim.errors import DeadlockError, ProgramError, UsageError
from tensim.sim.host.fabric import Fabric
from tensim.sim.host.wiring import Wiring
from tensim.traces.timeline import write_timeline
from tensim.validation.fabric.traffic import header_words

SOURCE, HEADER, TARGET, COUNTER = 0x60000, 0x50000, 0x70000, 0x58000
CORE = (3, 2)  # that gets what is sent


@kernel
def send(x, y, first_slot, slot_bytes, slots, notified, credits_at, source, header, size, packets, waits):
    """Send packets with one header; `waits`: for empty slots, and for all credits at the end."""
    credits = get_semaphore(0)
    router = fabric_open(x, y, credits_at, credits)
    slot, last = first_slot, first_slot + (slots - 1) * slot_bytes
    for sent in range(packets):
        if waits:
            fabric_wait_for_empty_write_slot(slots, credits, sent)
        if size > 0:
            fabric_send_payload(router, slot, source, size)
        fabric_send_header(router, slot, header, notified)
        slot = first_slot if slot == last else slot + slot_bytes
    if waits:
        fabric_close(credits, packets)
    noc_async_write_barrier()


@kernel
def make_header(header, x, y, route):
    """A header by the calls that kernels have for it."""
    fabric_set_fused_atomic_inc(header, route, x, y, 0x70000, 64, 0x58000, 3, 1)


def address_of(device, core, offset):
    place = device.worker_core_from_logical_core(core)
    return int(place.x) << 36 | int(place.y) << 42 | offset


def start(mesh, chip, direction, header, payload=b"", packets=1, link=0, waits=True, kernel=send):
    """Start a worker of a chip that sends; returns its device."""
    device, program = mesh.devices[chip], tt.create_program()
    core = tt.CoreRange(tt.CoreCoord(0, 0), tt.CoreCoord(0, 0))
    tt.create_semaphore(program, core, 0)
    number = tt.create_kernel(program, kernel, core, tt.WriterDataMovementConfig())
    device.chip.memory.write_l1(0, SOURCE, payload)
    device.chip.memory.write_l1(0, HEADER, header)
    args = [*mesh.connection(chip, direction, link).args, SOURCE, HEADER, len(payload), packets, int(waits)]
    tt.set_runtime_args(program, number, tt.CoreCoord(0, 0), args)
    tt.enqueue_program(device.command_queue(), program, False)
    return device


def run(mesh, *args, **options):
    """The same, until all is over; cycles of the program."""
    device = start(mesh, *args, **options)
    tt.finish(device.command_queue())
    settle(mesh)
    launch = list(device.chip.launches.values())[-1]
    return launch["ended"] - launch["started"]


def settle(mesh):
    """Let packets arrive that have been acknowledged, but not yet written further on."""
    env = mesh.devices[0].system.env
    env.run_to(env.now + 20 * 10**9)


def l1(mesh, chip, offset, size):
    device = mesh.devices[chip]
    return device.chip.memory.read_l1(device._state.worker(tt.CoreCoord(*CORE)), offset, size)


def word(mesh, chip, offset=COUNTER):
    return int.from_bytes(l1(mesh, chip, offset, 4), "little")


def some_bytes(count, seed=0):
    return np.random.default_rng(seed).integers(0, 256, count, dtype=np.uint8).tobytes()


def header(mesh, kind, size, route, flush=True):
    device = mesh.devices[0]
    return header_words(kind, size, address_of(device, CORE, TARGET), route, address_of(device, CORE, COUNTER), flush)


def test_a_write_reaches_the_neighbour():
    data, cycles = some_bytes(4096), []
    for _ in range(2):
        with tt.open_mesh_device("n300", links=1) as mesh:
            text = header(mesh, layout.UNICAST_WRITE, 4096, mesh.line_route(1))
            cycles.append(run(mesh, 0, "east", text, data, packets=20))
            assert l1(mesh, 1, TARGET, 4096) == data
            used = {(row["chip"], row["direction"]): row for row in mesh.link_utilization()}
            assert used[0, "east"]["packets"] == 20 and used[0, "east"]["bytes"] == 20 * 4096
            assert used[1, "west"]["packets"] == 0 and used[1, "west"]["busy_cycles"] > 0  # completions
    assert cycles[0] == cycles[1]


@kernel
def overwrites(x, y, first_slot, slot_bytes, slots, notified, credits_at, source, header, size, packets, waits):
    """Change a payload that may still be on its way into the router's slot."""
    router = fabric_open(x, y, credits_at, get_semaphore(0))
    for slot in range(packets * waits):
        place = first_slot + slot % slots * slot_bytes
        fabric_send_payload(router, place, source, size)
        l1_ptr(source)[0] = slot
        fabric_send_header(router, place, header, notified)
    noc_async_write_barrier()


def test_checks_change_no_cycle_and_find_a_payload_that_is_changed_on_its_way():
    data, cycles = some_bytes(2048), []
    for check in (False, True):
        with tt.open_mesh_device("p150_x2", links=1, check=check) as mesh:
            text = header(mesh, layout.FUSED_ATOMIC_INC, 2048, mesh.line_route(1))
            cycles.append(run(mesh, 0, "east", text, data, packets=30))
    assert cycles[0] == cycles[1]
    mesh = tt.open_mesh_device("p150_x2", links=1, check=True)
    try:
        text = header(mesh, layout.UNICAST_WRITE, 2048, mesh.line_route(1))
        with pytest.raises(ProgramError, match="is overwritten while a NoC write may still read it"):
            run(mesh, 0, "east", text, data, kernel=overwrites)
    finally:
        closed(mesh)


def test_a_fabric_takes_the_place_of_another_on_chips_that_have_run():
    """Packets, routes and times are those of a fabric of its own; what the tables have no rows for is refused."""
    data = some_bytes(2048)
    with tt.open_mesh_device("p150_x2", links=1) as mesh:
        text = header(mesh, layout.FUSED_ATOMIC_INC, 2048, mesh.line_route(1))
        _, alone = (run(mesh, 0, "east", text, data, packets=30) for _ in range(2))
    with tt.open_mesh_device("p150_x2", links=2, fabric="2d") as mesh:
        other = header(mesh, layout.FUSED_ATOMIC_INC, 2048, mesh.mesh_route(east=1))
        run(mesh, 0, "east", other, data, packets=30, link=1)
        states = [device._state for device in mesh.devices]
        kept = Wiring((1, 2), 1, False, False, (1, 2, 4), len(states[0].arch["ethernet.tiles"]))
        mesh._fabric = Fabric(states, kept, (1, 2))
        first, later = (
            run(mesh, 0, "east", text, data, packets=30) for _ in range(2)
        )  # routers poll in other phases at first
        assert later == alone and first == pytest.approx(alone, rel=0.005)
        assert l1(mesh, 1, TARGET, 2048) == data and word(mesh, 1) == 90
        carried = {(row["chip"], row["direction"], row["link"]): row["packets"] for row in mesh.link_utilization()}
        assert carried == {(0, "east", 0): 60, (0, "east", 1): 30, (1, "west", 0): 0, (1, "west", 1): 0}
        more = Wiring((1, 2), 3, False, False, (1, 2, 4), len(states[0].arch["ethernet.tiles"]))
        with pytest.raises(UsageError, match="3 routers take the place of 2"):
            Fabric(states, more, (1, 2))


def test_data_do_not_change_the_time():
    """Without arithmetic the host's data cross the link, and are known on the other side."""
    cycles, data = [], some_bytes(2048)
    for numerics in ("fast", "off"):
        with tt.open_mesh_device("p150_x2", links=1, numerics=numerics) as mesh:
            text = header(mesh, layout.FUSED_ATOMIC_INC, 2048, mesh.line_route(1))
            cycles.append(run(mesh, 0, "east", text, data, packets=30))
            assert word(mesh, 1) == 30 and l1(mesh, 1, TARGET, 2048) == data
            known = mesh.devices[1].chip.arrays.l1_known
    assert cycles[0] == cycles[1] and known[:, TARGET // 4 : (TARGET + 2048) // 4].all(1).any()


@pytest.mark.parametrize("receivers", [1, 2])
def test_a_line_counts_chips(receivers):
    data = some_bytes(512)
    with tt.open_mesh_device("t3k", (1, 4), links=1) as mesh:
        text = header(mesh, layout.UNICAST_WRITE, 512, mesh.line_route(2, receivers))
        run(mesh, 0, "east", text, data)
        got = [l1(mesh, chip, TARGET, 512) == data for chip in range(4)]
        assert got == [False, False, True, receivers == 2]


def test_a_mesh_turns_from_columns_into_rows():
    data = some_bytes(256)
    with tt.open_mesh_device("t3k", links=1, fabric="2d") as mesh:
        text = header(mesh, layout.UNICAST_WRITE, 256, mesh.mesh_route(south=1, east=2))
        run(mesh, 0, "south", text, data)
        assert [l1(mesh, chip, TARGET, 256) == data for chip in range(8)] == [chip == 6 for chip in range(8)]


def test_everyone_in_a_mesh():
    data = some_bytes(256)
    with tt.open_mesh_device("t3k", links=1, fabric="2d") as mesh:
        text = header(mesh, layout.UNICAST_WRITE, 256, mesh.mesh_route(True, south=1, east=2, west=1))
        run(mesh, 1, "south", text, data)
        assert [l1(mesh, chip, TARGET, 256) == data for chip in range(8)] == [chip >= 4 for chip in range(8)]


def test_a_ring_goes_round():
    data = some_bytes(1024)
    with tt.open_mesh_device("p150_x4", links=1, ring=True) as mesh:
        text = header(mesh, layout.FUSED_ATOMIC_INC, 1024, mesh.line_route(1, 3))
        for chip in range(4):
            start(mesh, chip, "east", text, data, packets=60)
        for device in mesh.devices:
            tt.finish(device.command_queue())
        settle(mesh)
        assert [word(mesh, chip) for chip in range(4)] == [180] * 4


def test_words_and_halves():
    data = some_bytes(1024)
    with tt.open_mesh_device("n300", links=2) as mesh:
        route = mesh.line_route(1)
        run(mesh, 0, "east", header(mesh, layout.ATOMIC_INC, 0, route), packets=5)
        assert word(mesh, 1, TARGET) == 5
        run(mesh, 0, "east", header(mesh, layout.INLINE_WRITE, 0, route), link=1)
        assert word(mesh, 1, TARGET) == 1
        halves = header(mesh, layout.SCATTER_WRITE, 1024, route)
        run(mesh, 0, "east", halves, data)
        assert l1(mesh, 1, TARGET, 1024) == data


@kernel
def send_both(x, y, first_slot, slot_bytes, slots, notified, credits_at, source, header, size, packets, waits):
    """A packet with payload, and one of the next header behind it."""
    router = fabric_open(x, y, credits_at, get_semaphore(0))
    fabric_send_payload(router, first_slot, source, size)
    fabric_send_header(router, first_slot, header, notified)
    fabric_send_header(router, first_slot + slot_bytes, header + 48, notified)
    fabric_close(get_semaphore(0), 2)


@kernel
def wait_for_count():
    noc_semaphore_wait_min(0x58000, 1)


@pytest.mark.parametrize("board", ["n300", "p150_x2"])
def test_an_increment_may_wait_for_the_payloads_before_it(board):
    ended = {}
    for flush in (False, True):
        with tt.open_mesh_device(board, links=1) as mesh:
            receiver, program, route = mesh.devices[1], tt.create_program(), mesh.line_route(1)
            tt.create_kernel(program, wait_for_count, tt.CoreCoord(*CORE), tt.WriterDataMovementConfig())
            tt.enqueue_program(receiver.command_queue(), program, False)
            count = header_words(layout.ATOMIC_INC, 0, address_of(mesh.devices[0], CORE, COUNTER), route, flush=flush)
            text = header(mesh, layout.UNICAST_WRITE, 4096, route) + count
            start(mesh, 0, "east", text, some_bytes(4096), kernel=send_both)
            tt.finish(receiver.command_queue())
            settle(mesh)
            assert l1(mesh, 1, TARGET, 4096) == some_bytes(4096) and word(mesh, 1) == 1
            ended[flush] = list(receiver.chip.launches.values())[-1]["ended"]
    assert ended[True] > ended[False] + 50  # the payload needs 64 to 128 cycles, and is acknowledged


def test_looks_for_what_is_not_written_may_take_no_time():
    """A step of 0 cycles, at which the router sleeps until a payload has been written."""
    arch = load_arch("wormhole_b0", {"board": "n300", "ethernet.router.flush_look": 0})
    with tt.open_mesh_device("n300", links=1, arch=arch) as mesh:
        run(mesh, 0, "east", header(mesh, layout.FUSED_ATOMIC_INC, 4096, mesh.line_route(1)), bytes(4096), packets=9)
        assert word(mesh, 1) == 9


def test_headers_that_kernels_fill():
    with tt.open_mesh_device("n300", links=1) as mesh:
        device, program = mesh.devices[0], tt.create_program()
        core = tt.CoreRange(tt.CoreCoord(0, 0), tt.CoreCoord(0, 0))
        number = tt.create_kernel(program, make_header, core, tt.WriterDataMovementConfig())
        place = device.worker_core_from_logical_core(CORE)
        tt.set_runtime_args(
            program, number, tt.CoreCoord(0, 0), [HEADER, int(place.x), int(place.y), mesh.line_route(1)]
        )
        tt.enqueue_program(device.command_queue(), program, True)
        text = device.chip.memory.read_l1(0, HEADER, layout.HEADER_BYTES)
        run(mesh, 0, "east", text, some_bytes(64))
        assert l1(mesh, 1, TARGET, 64) == some_bytes(64) and word(mesh, 1) == 3


@pytest.mark.parametrize("board", ["n300", "p150_x2"])
def test_packets_arrive_a_latency_later_at_least(board):
    with tt.open_mesh_device(board, links=1) as mesh:
        arch = mesh.devices[0].arch
        cycles = run(mesh, 0, "east", header(mesh, layout.ATOMIC_INC, 0, mesh.line_route(1)))
        assert cycles > arch["ethernet.line_latency"] + arch["ethernet.signal_latency"]  # there, and the credit back


def test_idle_chips_do_nothing():
    with tt.open_mesh_device("t3k", links=2) as mesh:
        run(mesh, 0, "east", header(mesh, layout.ATOMIC_INC, 0, mesh.line_route(1)))
        assert [int(device.chip.machine["now"]) > 0 for device in mesh.devices] == [True, True] + 6 * [False]


def test_a_timeline_has_routers_and_what_is_on_their_links(tmp_path):
    with tt.open_mesh_device("n300", links=1) as mesh:
        mesh.devices[0].chip.recordings.enable_log()
        for _ in range(3):
            run(mesh, 0, "east", header(mesh, layout.UNICAST_WRITE, 64, mesh.line_route(1)), some_bytes(64))
        write_timeline(mesh.devices[0].chip, tmp_path / "trace.json")
        (used,) = (row for row in mesh.link_utilization() if row["chip"] == 0 and row["packets"])
        mhz = mesh.devices[0].arch.clock_mhz
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert any(event["name"] == "write Ethernet tile 9-0" for event in events)
    packets = [event for event in events if event.get("cat") == "link"]
    tracks = {event["args"]["name"] for event in events if event["ph"] == "M" and event.get("tid") == packets[0]["tid"]}
    assert tracks == {"link"}
    assert len(packets) == used["packets"] == 3 and sum(event["args"]["bytes"] for event in packets) == used["bytes"]
    assert 0 < sum(event["dur"] for event in packets) <= used["busy_cycles"] / mhz
    assert all(after["ts"] >= before["ts"] + before["dur"] for before, after in itertools.pairwise(packets))


# --- what goes wrong


def fails(mesh, text, match, **options):
    with pytest.raises(ProgramError, match=match):
        run(mesh, 0, "east", text, **options)


def opened(*args, **options):
    """A mesh whose chips fail and are not closed in order."""
    return tt.open_mesh_device(*args, **options)


def closed(mesh):
    for device in mesh.devices:
        device._state.failed = device._state.failed or ProgramError("stopped by the test")
        tt.close_device(device)


@pytest.mark.parametrize(
    ("kind", "size", "route", "match"),
    [
        (17, 64, 1 | 1 << 8, "wrong header of a fabric packet: send type 17"),
        (layout.UNICAST_WRITE, 65000, 1 | 1 << 8, "send type 1, 65000 bytes of payload; .* at most 4352"),
        (layout.UNICAST_WRITE, 64, 2 | 1 << 8, "route .* leads from here"),
        (layout.UNICAST_WRITE, 64, 0, "route .* leads from here"),
        (layout.UNICAST_WRITE, 64, 1, "route 0x1 .* ends at no chip"),
        (layout.FUSED_ATOMIC_INC, 0, 1 | 1 << 8, "a write of 0 bytes asked of a router"),
    ],
)
def test_wrong_packets(kind, size, route, match):
    mesh = opened("n300", links=1)
    try:
        fails(mesh, header(mesh, kind, size, route), match, payload=bytes(64))
    finally:
        closed(mesh)


# what the library (ttnn 0.81.1) tells its router: chip, sender channels, payload; slots of workers, another sender, the receiver
TOLD = [
    ("blackhole", 2, 4352, 16, 16, 32), ("blackhole", 2, 7168, 16, 16, 16), ("blackhole", 2, 11264, 8, 8, 16),
    ("blackhole", 2, 14336, 8, 8, 8), ("blackhole", 2, 15232, 4, 4, 8), ("blackhole", 4, 3072, 35, 16, 32),
    ("blackhole", 4, 4352, 17, 16, 16), ("blackhole", 4, 5120, 29, 8, 16), ("blackhole", 4, 8704, 9, 8, 8),
    ("blackhole", 4, 9216, 19, 4, 8), ("blackhole", 4, 14336, 5, 4, 8), ("blackhole", 4, 15232, 7, 4, 4),
    ("wormhole_b0", 2, 3072, 16, 16, 16), ("wormhole_b0", 2, 4352, 8, 8, 16), ("wormhole_b0", 2, 5120, 8, 8, 8),
    ("wormhole_b0", 4, 1024, 104, 7, 11), ("wormhole_b0", 4, 4352, 14, 4, 8), ("wormhole_b0", 4, 5120, 9, 4, 8),
]  # fmt: skip


@pytest.mark.parametrize(("name", "channels", "payload", "worker", "sender", "receiver"), TOLD)
def test_a_buffer_is_divided_as_the_library_does(name, channels, payload, worker, sender, receiver):
    arch = load_arch(name)
    assert channels in (2, arch["ethernet.router.mesh_channels"])
    found = slots_of(arch, channels, channels > 2, payload)
    assert (found.worker, found.sender, found.receiver) == (worker, sender, receiver)


def test_slots_that_overrun():
    mesh = opened("n300", links=1)
    try:
        text = header(mesh, layout.UNICAST_WRITE, 4096, mesh.line_route(1))
        fails(mesh, text, "over-run of sender channel 0", payload=bytes(4096), packets=60, waits=False)
    finally:
        closed(mesh)


def test_a_payload_that_is_to_lie_otherwise_than_in_its_slot():
    mesh = opened("p150_x2", links=1)
    try:
        text = header_words(layout.UNICAST_WRITE, 64, address_of(mesh.devices[0], CORE, TARGET + 4), mesh.line_route(1))
        fails(mesh, text, "misaligned NoC transfer", payload=bytes(64))
    finally:
        closed(mesh)


def test_links_keep_what_they_carried_before_a_failure():
    mesh = opened("n300", links=1)
    try:
        run(mesh, 0, "east", header(mesh, layout.UNICAST_WRITE, 64, mesh.line_route(1)), bytes(64), packets=5)
        fails(mesh, header(mesh, 17, 64, mesh.line_route(1)), "send type 17", payload=bytes(64))
        for device in mesh.devices:
            device._state.restart()
        used = next(row for row in mesh.link_utilization() if row["chip"] == 0)
        assert used["packets"] >= 5 and used["bytes"] >= 5 * 64 and used["router_cycles"] > used["busy_cycles"] > 0
    finally:
        closed(mesh)


def test_a_target_that_is_not_there():
    mesh = opened("n300", links=1)
    try:
        text = header_words(layout.UNICAST_WRITE, 64, 1 << 36 | 60 << 42, mesh.line_route(1))
        fails(mesh, text, "names tile", payload=bytes(64))
    finally:
        closed(mesh)


def test_waiting_for_nobody_is_a_deadlock():
    mesh = opened("n300", links=1)
    try:
        device, program = mesh.devices[1], tt.create_program()
        core = tt.CoreRange(tt.CoreCoord(0, 0), tt.CoreCoord(0, 0))
        tt.create_semaphore(program, core, 0)
        tt.create_kernel(program, wait_for_it, core, tt.WriterDataMovementConfig())
        tt.enqueue_program(device.command_queue(), program, False)
        with pytest.raises(DeadlockError, match="waits"):
            run(mesh, 0, "east", header(mesh, layout.ATOMIC_INC, 0, mesh.line_route(1)))
            tt.finish(device.command_queue())
    finally:
        closed(mesh)


@kernel
def wait_for_it():
    noc_semaphore_wait(get_semaphore(0), 1)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"board": "x9"}, "no board"),
        ({"board": "n300", "shape": (2, 2)}, "has 1x2 chips"),
        ({"board": "n300", "links": 3}, "3 links"),
        ({"board": "n300", "fabric": "3d"}, "none of 1d, 2d"),
        ({"board": "n300", "packet_bytes": 60000}, "do not fit"),
        ({"board": "n300", "ring": True}, "at least three chips"),
    ],
)
def test_what_cannot_be_opened(options, match):
    with pytest.raises(UsageError, match=match):
        tt.open_mesh_device(**options)


def test_chips_without_routers():
    with tt.open_mesh_device("n300", fabric=None, num_hw_cqs=2, trace_region_size=4096) as mesh:
        assert not mesh.has_fabric and [device.num_hw_cqs() for device in mesh.devices] == [2, 2]
        with pytest.raises(UsageError, match="opened without its fabric"):
            mesh.connection(0, "east")


def test_links_that_are_not_there():
    with tt.open_mesh_device("n300", links=1) as mesh:
        with pytest.raises(UsageError, match="no link 0 to the west"):
            mesh.connection(0, "west")
        with pytest.raises(UsageError, match="direction 'up'"):
            mesh.connection(0, "up")
        with pytest.raises(UsageError, match="a route of 0 hops"):
            mesh.line_route(0)


def test_a_closed_chip_keeps_its_memory_while_others_may_send_to_it():
    with tt.open_mesh_device("p150_x2", links=1) as mesh:
        gone = mesh.devices[0]._state.chip
        text = header(mesh, layout.FUSED_ATOMIC_INC, 2048, mesh.line_route(1))
        sender = start(mesh, 1, "west", text, some_bytes(2048), packets=4, waits=False)
        tt.close_device(mesh.devices[0])
        tt.finish(sender.command_queue())
        settle(mesh)
        assert gone.machine["event_heap_size"] > 0, "what has arrived and nobody takes"
        assert gone.arrays.l1 is not None
    assert gone.arrays.l1 is None


def test_who_waits_for_a_closed_chip_waits_for_ever():
    with (
        tt.open_mesh_device("p150_x2", links=1) as mesh,
        pytest.raises(DeadlockError, match="waits .* for semaphore 0"),
    ):
        text = header(mesh, layout.UNICAST_WRITE, 2048, mesh.line_route(1))
        sender = start(mesh, 1, "west", text, some_bytes(2048), packets=100)
        tt.close_device(mesh.devices[0])
        tt.finish(sender.command_queue())


def test_a_mesh_that_cannot_be_opened_leaves_nothing_open():
    with pytest.raises(UsageError, match="a largest payload of -5 bytes"):
        opened("n300", packet_bytes=-5)
    with tt.open_mesh_device("n300", links=1) as mesh:
        for chip in (-1, 2):
            with pytest.raises(UsageError, match="the mesh has no chip"):
                mesh.connection(chip, "east")
