"""What the timeline of a run shows besides the spans of threads: zones, transfers, circular buffers, flows, the host."""

import json
from collections import Counter

import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.traces.timeline import HOST_PROCESS, write_timeline

TILES, TILE = 8, 2048


@kernel  # noqa: F405
def fetch(address, count):
    source = InterleavedAddrGen(address, page_size=2048, dram=True)  # noqa: F405
    for tile in range(count):
        with DeviceZoneScopedN("FETCH"):  # noqa: F405
            cb_reserve_back(0, 1)  # noqa: F405
            noc_async_read_tile(tile, source, get_write_ptr(0))  # noqa: F405
            noc_async_read_barrier()  # noqa: F405
            cb_push_back(0, 1)  # noqa: F405


@kernel  # noqa: F405
def drop(count):
    for _ in range(count):
        cb_wait_front(0, 1)  # noqa: F405
        cb_pop_front(0, 1)  # noqa: F405


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    """The trace events of a program that reads tiles on one core and drops them."""
    path = tmp_path_factory.mktemp("timeline") / "t.json"
    with tt.create_device(0, numerics="off") as device:
        device.chip.recordings.enable_log()
        queue, core, program = device.command_queue(), tt.CoreCoord(1, 2), tt.create_program()
        buffer = tt.create_buffer(tt.InterleavedBufferConfig(device=device, size=TILES * TILE, page_size=TILE))
        config = tt.CircularBufferConfig(2 * TILE, {0: tt.DataFormat.Float16_b}).set_page_size(0, TILE)
        tt.create_circular_buffer(program, core, config)
        reader = tt.create_kernel(program, fetch, core, tt.ReaderDataMovementConfig())
        writer = tt.create_kernel(program, drop, core, tt.WriterDataMovementConfig())
        tt.set_runtime_args(program, reader, core, [buffer, TILES])
        tt.set_runtime_args(program, writer, core, [TILES])
        with tt.zone_scoped("all of it"):
            tt.enqueue_program(queue, program)
            tt.finish(queue)
        count = write_timeline(device.chip, path)
    events = json.loads(path.read_text())["traceEvents"]
    assert len(events) == count
    return events


def test_every_asynchronous_event_ends(events):
    opened = Counter((one["cat"], one["id"], one["name"]) for one in events if one["ph"] == "b")
    assert opened and opened == Counter((one["cat"], one["id"], one["name"]) for one in events if one["ph"] == "e")
    assert set(opened.values()) == {1}


def test_zones_have_names_and_enclose_their_transfers(events):
    zones = [one for one in events if one.get("cat") == "zone" and one["ph"] == "b"]
    assert {one["name"] for one in zones} == {"NCRISC FETCH"} and len(zones) == TILES


def test_transfers_have_bytes_and_destination(events):
    found = [one for one in events if one.get("cat") == "transfer" and one["ph"] == "b"]
    assert sum(one["args"]["bytes"] for one in found) == TILES * TILE
    assert Counter(one["name"] for one in found) == {f"read DRAM bank {bank}": 1 for bank in range(TILES)}


def test_the_pages_of_a_circular_buffer_are_counted(events):
    levels = [one["args"]["pages"] for one in events if one["name"] == "CB 0 pages"]
    assert len(levels) == 2 * TILES and set(levels) <= {0, 1, 2} and levels[-1] == 0


def test_flows_lead_from_a_push_to_the_wait_it_ends(events):
    begun = {one["id"]: one for one in events if one["ph"] == "s"}
    waits = [one for one in events if one["name"] == "wait: cb_wait_front[0]"]
    ended = [one for one in events if one["ph"] == "f"]
    assert len(ended) == len(begun) == len(waits) > 0
    for one, wait in zip(ended, waits, strict=True):
        source = begun[one["id"]]
        assert (source["tid"], one["tid"]) == (1, 0) and source["ts"] <= one["ts"]
        assert wait["ts"] <= one["ts"] <= wait["ts"] + wait["dur"]


def test_spans_name_kernel_and_place(events):
    spans = [one for one in events if one["ph"] == "X"]
    assert {one["args"]["kernel"] for one in spans} == {"fetch", "drop"}
    assert {one["args"]["at"].split(":")[0] for one in spans} == {"test_timeline.py"}


def test_the_host_its_queue_and_the_program_are_shown(events):
    shown = [one for one in events if one["pid"] == HOST_PROCESS and one["ph"] == "b"]
    names = {one["name"] for one in shown}
    assert {"host: EnqueueProgram", "queue 0: EnqueueProgram", "queue 0: Finish"} <= names
    (program,) = [one for one in shown if one["cat"] == "program"]
    (command,) = [one for one in shown if one["name"] == "queue 0: EnqueueProgram"]
    assert command["args"]["begun_us"] == pytest.approx(program["ts"], abs=0.01) and command["ts"] < program["ts"]


def test_a_zone_of_the_host_spans_its_calls(events):
    mine = {one["ph"]: one["ts"] for one in events if one.get("cat") == "host zone"}
    calls = [one["ts"] for one in events if one["name"] in ("host: EnqueueProgram", "host: Finish")]
    assert len(calls) == 4 and mine["b"] <= min(calls) and max(calls) <= mine["e"]
