"""NoC event traces: what a file may hold, what becomes of it, and what is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensim.sim.arch import load_arch
from tensim.sim.chip.noc_replay import NO_END, EventKind
from tensim.sim.errors import UsageError
from tensim.traces.noc_events import TYPES, read_recordings

ARCH = load_arch("wormhole_b0")
DRAM = (0, 11)  # bank 0
T0 = 4_350_919_135_689  # times of real files need 64 bits


def event(kind, time, proc="NCRISC", core=(1, 1), to=(-1, -1), size=0, **more):
    (sx, sy), (dx, dy) = core, to
    return {
        "proc": proc, "noc": "NOC_0" if proc == "NCRISC" else "NOC_1", "vc": -1, "sx": sx, "sy": sy, "dx": dx, "dy": dy,
        "num_bytes": size, "type": kind, "timestamp": T0 + time,
    } | more  # fmt: skip


def zone(time, phase="begin", proc="NCRISC", core=(1, 1)):
    return {
        "proc": proc, "zone": f"{proc}-KERNEL", "zone_phase": phase, "sx": core[0], "sy": core[1], "timestamp": T0 + time,
    }  # fmt: skip


def read(path, items):
    path = path / "trace.json"
    path.write_text(items if isinstance(items, str) else json.dumps(items))
    return read_recordings(path, ARCH)


def one(path, items):
    (recording,) = read(path, items)
    return recording


def kinds(recording):
    return [EventKind(kind) for kind in recording.events["kind"]]


READS = [
    zone(0),
    event("READ", 244, to=DRAM, size=2048),
    event("READ", 373, to=(2, 2), size=4096),
    event("READ_BARRIER_START", 500),
    event("READ_BARRIER_END", 900),
]


def test_golden_cycles_run_from_the_first_zone_or_event_to_the_last_event_less_20(tmp_path):
    recording = one(tmp_path, [*READS, zone(1500, "ZONE_END")])
    assert (recording.id, recording.origin, recording.cycles) == ("trace.json", T0, 900 - 20)
    assert recording.transfers() == 2 and recording.memories() == "dram+l1" and recording.not_simulated == {}


def test_the_end_of_a_barrier_belongs_to_its_start(tmp_path):
    events = one(tmp_path, READS).events
    assert [EventKind(kind) for kind in events["kind"]] == [EventKind.READ, EventKind.READ, EventKind.READ_BARRIER]
    assert list(events["end"]) == [NO_END, NO_END, T0 + 900] and list(events["time"] - T0) == [244, 373, 500]
    assert [tuple(e) for e in events[["x", "y", "bytes"]][:2].tolist()] == [(*DRAM, 2048), (2, 2, 4096)]


def test_events_of_a_thread_are_ordered_by_time_whatever_their_order_in_the_file(tmp_path):
    assert (one(tmp_path, READS[::-1]).events == one(tmp_path, READS).events).all()


def test_threads_are_told_by_core_and_processor(tmp_path):
    items = [event("READ", 10 * i, proc, core, DRAM, 64) for i, (proc, core) in enumerate(
        [("BRISC", (1, 1)), ("NCRISC", (1, 1)), ("BRISC", (2, 1))])]  # fmt: skip
    assert one(tmp_path, items).events[["sx", "slot", "noc"]].tolist() == [(1, 0, 1), (1, 1, 0), (2, 0, 1)]


def test_calls_with_state_go_where_the_state_was_set(tmp_path):
    items = [
        event("READ_SET_STATE", 0, to=(4, 4), size=512),
        event("WRITE_SET_STATE", 5, to=(6, 7), size=64),
        event("READ_WITH_STATE", 10),
        event("WRITE_WITH_STATE", 20, size=128),
    ]
    recording = one(tmp_path, items)
    assert kinds(recording) == [EventKind.MARK, EventKind.MARK, EventKind.READ, EventKind.WRITE]
    assert recording.events[["x", "y", "bytes"]][2:].tolist() == [(4, 4, 512), (6, 7, 128)]


@pytest.mark.parametrize("proc, first, last", [("NCRISC", (1, 2), (4, 5)), ("BRISC", (4, 5), (1, 2))])
def test_a_multicast_begins_at_the_corner_its_noc_comes_from(tmp_path, proc, first, last):
    corners = {"mcast_start_x": 4, "mcast_start_y": 2, "mcast_end_x": 1, "mcast_end_y": 5}
    recording = one(tmp_path, [event("WRITE_MULTICAST", 0, proc, size=256, **corners)])
    assert recording.events[["x", "y", "x1", "y1"]].tolist() == [(*first, *last)]


def test_what_the_model_has_nothing_for_is_counted_and_keeps_its_time(tmp_path):
    items = [
        *READS,
        event("SEMAPHORE_WAIT", 910),
        event("WRITE_", 920, to=(0, 10), size=64),  # the ARC tile
        event("WRITE_INLINE", 930, to=DRAM, size=4),
        event("READ", 935, to=DRAM, size=0),
        event("READ", 940, proc="ERISC", core=(1, 0), to=DRAM, size=64),
    ]
    recording = one(tmp_path, items)
    assert kinds(recording)[3:] == [EventKind.MARK] * 4
    assert recording.not_simulated == {
        "semaphore waits: their recorded duration is kept": 1,
        "transfers to tiles that are neither worker cores nor DRAM": 1,
        "inline writes and increments in DRAM": 1,
        "transfers of no bytes": 1,
        "events of ERISC processors": 1,
    }


def test_devices_of_a_file_are_recordings_of_their_own(tmp_path):
    fabric = {"fabric_send": {"eth_chan": 1, "hops": 1, "path": []}, "dst_device_id": 4}
    items = [item | {"src_device_id": device} for device in (0, 4) for item in READS]
    items.append(event("FABRIC_UNICAST_WRITE", 1000, to=(9, 9), size=4096, src_device_id=0, **fabric))
    items.append(event("WRITE_", 1000, to=(9, 9), size=4096, src_device_id=0, dst_device_id=4))
    first, second = read(tmp_path, items)
    assert (first.id, second.id) == ("trace.json:device 0", "trace.json:device 4")
    assert first.not_simulated == {"transfers to other devices": 2} and second.not_simulated == {}
    assert first.cycles == 980 and second.cycles == 880


def test_the_cores_that_ran_kernels_are_workers_whatever_part_the_file_is_from(tmp_path):
    recording = one(tmp_path, [event("READ", 0, core=(3, 11), to=DRAM, size=64), event("READ", 0, to=(4, 11), size=64)])
    assert (3, 11) in recording.arch.worker_coords and (3, 11) not in ARCH.worker_coords
    assert recording.transfers() == 2 and recording.arch.dram_endpoints == ARCH.dram_endpoints
    assert one(tmp_path, READS).arch is ARCH


def test_every_type_of_the_format_is_known(tmp_path):
    corners = {"mcast_start_x": 1, "mcast_start_y": 1, "mcast_end_x": 2, "mcast_end_y": 2}
    start = [event(name, 0, to=(2, 2), size=64) for name in ("READ_SET_STATE", "WRITE_SET_STATE")]
    start += [event(f"{name}_BARRIER_START", 1) for name in ("READ", "WRITE")]
    items = [event(name, 2, to=(2, 2), size=64, **corners) for name in sorted(TYPES) if "BARRIER_START" not in name]
    recording = one(tmp_path, start + items)
    assert set(kinds(recording)) == set(EventKind)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"type": "REED"}, "type is 'REED', not one of"),
        ({"dx": 10}, "dx is 10, not a whole number from -1 to 9"),
        ({"sy": 12}, "sy is 12, not a whole number from 0 to 11"),
        ({"sx": 5, "sy": 1}, "5-1, which is not a worker core of wormhole_b0"),
        ({"dx": -1}, "READ without the coordinates of its other end"),
        ({"num_bytes": -4}, "num_bytes is -4"),
        ({"num_bytes": 1 << 40}, "num_bytes is 1099511627776"),
        ({"timestamp": 1.5}, "timestamp is 1.5, not a whole number"),
        ({"timestamp": True}, "timestamp is True, not a whole number"),
        ({"timestamp": 1 << 63}, "timestamp is 9223372036854775808"),
        ({"noc": "NOC_2"}, "noc is 'NOC_2', not one of NOC_0, NOC_1"),
        ({"noc": ["NOC_0"]}, "noc is "),
        ({"proc": "ARC"}, "proc is 'ARC', not one of"),
        ({"type": "READ_WITH_STATE", "dx": -1, "dy": -1}, "READ_WITH_STATE without a target, and none was set before"),
        ({"type": "READ_BARRIER_END"}, "READ_BARRIER_END of core 1-1 before its start"),
        ({"zone": "BRISC-KERNEL"}, "zone_phase is None, not one of"),
    ],
)
def test_a_malformed_event_is_refused_by_its_index(tmp_path, change, why):
    items = [*READS, event("READ", 1000, to=DRAM, size=64) | change]
    with pytest.raises(UsageError) as error:
        read(tmp_path, items)
    assert "trace.json: event 5: " in str(error.value) and why in str(error.value) and error.value.exit_code == 2


def test_a_barrier_that_ends_before_it_starts_is_refused(tmp_path):
    items = [*READS[:3], event("READ_BARRIER_START", 500), event("READ_BARRIER_END", 499)]
    with pytest.raises(UsageError, match="event 4: READ_BARRIER_END of core 1-1 before its start"):
        read(tmp_path, items)


ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.lists(st.integers(), max_size=2),
    st.integers(-2, 12), st.sampled_from(sorted(TYPES)),
)  # fmt: skip


@given(
    st.lists(st.tuples(st.integers(0, len(READS) - 1), st.sampled_from([*READS[1], "src_device_id", "zone"]), ANYTHING))
)
def test_damaged_events_are_read_or_refused(tmp_path_factory, damage):
    items = [dict(item) for item in READS]
    for index, name, value in damage:
        items[index][name] = value
    try:
        recordings = read(tmp_path_factory.getbasetemp(), items)
    except UsageError:
        return
    assert all(len(recording.events) <= len(items) for recording in recordings)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ('[{"timestamp": 1', "not JSON"),
        ("\udcff".encode("utf-8", "surrogateescape").decode("latin-1"), "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("{}", "not an array"),
        ("[]", "no events"),
        ("[3]", "event 0: not an object"),
        ("[{}]", "event 0: no timestamp"),
    ],
)
def test_a_file_that_is_no_trace_is_refused(tmp_path, text, why):
    with pytest.raises(UsageError, match=why):
        read(tmp_path, text)


def test_a_recording_longer_than_any_run_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cycles apart; the limit is"):
        read(tmp_path, [*READS, event("READ", 10**11, to=DRAM, size=64)])
