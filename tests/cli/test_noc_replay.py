"""Replay of NoC events: modes, round trips, and the command."""

import json

import numpy as np
import pytest

from tensim.sim.arch import load_arch
from tensim.sim.chip.chip import Chip
from tensim.sim.chip.noc_replay import EVENT, NO_END, START_TO_FIRST, EventKind, kept_cycles, replay
from tensim.sim.errors import UsageError
from tests.commands import tensim

ARCH = load_arch("wormhole_b0")
PAGE = 2048
DRAM = ARCH.dram_endpoints[0][0][:2]
FIGURES = {"n", "median_abs_err_pct", "mean_abs_err_pct", "p90_abs_err_pct", "max_abs_err_pct", "bias_pct"}


@pytest.fixture(scope="module")
def chip():
    return Chip(ARCH, numerics="off")


def table(*rows):
    """Events from (core, slot, kind, other end or corners, bytes, time, end)."""
    return np.array(
        [[*core, slot, kind, 0, *to, *(to[:2] if len(to) == 2 else ()), size, time, end]
         for core, slot, kind, to, size, time, end in rows], np.int64,
    ).view(EVENT)[:, 0]  # fmt: skip


def read(time, core=(1, 1), to=DRAM, size=PAGE, slot=1):
    return core, slot, EventKind.READ, to, size, time, NO_END


def barrier(time, end, core=(1, 1), slot=1, kind=EventKind.READ_BARRIER):
    return core, slot, kind, (0, 0), 0, time, end


def write(time, to, core=(1, 1), size=PAGE, slot=0, kind=EventKind.WRITE):
    return core, slot, kind, to, size, time, NO_END


def lone_read(chip):
    """Cycles from the call of a read to the completion of its data."""
    return replay(chip, table(read(0)), 0, "open") + START_TO_FIRST


def test_open_issues_every_transfer_at_its_recorded_time(chip):
    latency = lone_read(chip)
    events = table(read(0), barrier(30, 60), read(40_000), barrier(40_030, 40_060))
    assert replay(chip, events, 0, "open") - 40_000 + START_TO_FIRST == latency


def test_closed_simulates_the_waits_and_keeps_the_other_gaps(chip):
    """Whatever the barriers took in the recording, the next read comes 100 cycles behind the simulated end."""
    wait = replay(chip, table(read(0), barrier(30, 10_000)), 0) + START_TO_FIRST
    assert wait == lone_read(chip) + ARCH["riscv.issue.barrier_poll"]
    for recorded_end in (40, 3000, 200_000):
        events = table(
            read(0), barrier(30, recorded_end), read(recorded_end + 100), barrier(recorded_end + 130, recorded_end + 131)
        )  # fmt: skip
        assert replay(chip, events, 0) == 2 * wait + 100 - START_TO_FIRST


def test_what_replay_keeps_is_all_but_the_waits_of_the_thread_with_the_most(chip):
    """30 and 100 and 30 cycles of the one, 500 and 10 of the other; open, the last transfer's time."""
    for waits in (40, 90_000):
        one = read(0), barrier(30, 30 + waits), read(130 + waits), barrier(160 + waits, 500 + waits)
        assert kept_cycles(ARCH, table(*one), 0) == 160 - START_TO_FIRST
        other = read(500, core=(2, 1)), barrier(510, 510 + waits, core=(2, 1))
        assert kept_cycles(ARCH, table(*one, *other), 0) == 510 - START_TO_FIRST
        assert kept_cycles(ARCH, table(*one, *other), 0, "open") == max(130 + waits, 500) - START_TO_FIRST


@pytest.mark.parametrize("mode", ["closed", "open"])
def test_no_chip_replays_in_less_than_what_is_kept(mode):
    """Neither a slow nor a fast network moves what the recording anchors."""
    events = table(read(0), read(3000), barrier(3030, 3031), read(9000), barrier(9030, 9031))
    kept = kept_cycles(ARCH, events, 0, mode)
    fast = Chip(load_arch("wormhole_b0", {"noc.hop_cycles": 0, "dram.read_latency": 0}), numerics="off")
    slow = Chip(load_arch("wormhole_b0", {"noc.hop_cycles": 50}), numerics="off")
    assert kept < replay(fast, events, 0, mode) < kept + 500 < replay(slow, events, 0, mode)


def test_a_thread_reads_pages_of_its_own(chip):
    """Two pages fit into a row: those that follow each other are of one thread.  16 threads that take turns meet closed rows
    in each round, as their rows outnumber the banks; one after the other they find every second page in an open row.
    """
    cores, groups = ARCH.worker_coords[:16], ARCH["dram.interleaved_groups"]
    assert 2 * PAGE == ARCH["dram.row_bytes"] * groups and len(cores) > ARCH["dram.internal_banks"] // groups

    def row_hits(order):
        replay(chip, table(*[read(1000 * i, core=core) for i, core in enumerate(order)]), 0, "open")
        return int(chip.arrays["channels"]["row_hits"].sum())

    assert row_hits([*cores, *cores]) == 0
    assert row_hits([core for core in cores for _ in range(2)]) == len(cores)


def test_the_cost_of_recording_lies_between_a_time_and_its_call(chip):
    """Calls that are never nearer than 121 cycles were recorded at 121 less a call and its address each."""
    call = ARCH["noc.recorded_call_cycles"]
    dense = table(read(0), read(call, to=(2, 2)), read(40_000))
    sparse = table(read(0), read(121, to=(2, 2)), read(40_000))
    assert replay(chip, sparse, 0, "open") - replay(chip, dense, 0, "open") == 121 - call
    one_a_while = table(read(0), read(9000, to=(2, 2)), read(40_000))
    assert replay(chip, one_a_while, 0, "open") - replay(chip, dense, 0, "open") == ARCH["noc.recording_cycles"] == 99


def test_a_barrier_with_no_recorded_end_is_waited_for_at_least(chip):
    """The gap behind it may hold a wait: it is kept where the simulated wait is shorter."""
    latency = lone_read(chip)
    for gap in (10, 5000):
        mark = ((1, 1), 1, EventKind.MARK, (0, 0), 0, 30 + gap, NO_END)
        events = table(read(0), barrier(30, NO_END, kind=EventKind.FULL_BARRIER), mark)
        cycles = replay(chip, events, 0) + START_TO_FIRST
        assert cycles == max(30 + gap, latency + ARCH["riscv.issue.barrier_poll"])


def test_threads_are_independent_and_contend(chip):
    alone = replay(chip, table(read(0, size=65536), barrier(300, 400)), 0)
    both = [read(0, core, size=65536) for core in ((1, 1), (2, 2))] + [
        barrier(300, 400, core) for core in ((1, 1), (2, 2))
    ]
    events = table(*both)
    assert replay(chip, events, 0) > 1.5 * alone
    apart = events.copy()
    apart["x"][1], apart["y"][1] = (3, 3)
    assert replay(chip, apart, 0) < 1.2 * alone


def test_a_replay_does_not_depend_on_the_ones_before(chip):
    events = table(*(read(100 * i, to=ARCH.dram_endpoints[0][i % 12][:2]) for i in range(50)), barrier(5000, 5400))
    first = replay(chip, events, 0)
    replay(chip, table(read(0, to=(2, 2)), write(10, (3, 3))), 0)
    assert replay(chip, events, 0) == first == replay(Chip(ARCH, numerics="off"), events, 0)


def test_writes_of_many_threads_to_one_core_do_not_overlap(chip):
    cores = [core for core in ARCH.worker_coords if core != (1, 1)]
    writes = [write(10 * i, (1, 1), core, 16384) for i, core in enumerate(cores)]
    assert replay(chip, table(*writes), 0, "open") > len(cores) * 16384 / 32
    too_much = [write(10 * i, (1, 1), core, 65536) for i, core in enumerate(cores)]
    with pytest.raises(UsageError, match="do not fit side by side"):
        replay(chip, table(*too_much), 0)


def test_every_kind_of_event_is_simulated(chip):
    core, slot = (1, 1), 0
    events = table(
        write(0, (2, 2)), write(50, DRAM), write(100, (2, 2), size=4, kind=EventKind.INLINE_WRITE),
        write(150, (2, 2), size=4, kind=EventKind.ATOMIC_INC),
        (core, slot, EventKind.MULTICAST, (1, 1, 4, 3), 512, 200, NO_END),
        *(barrier(1000 + 10 * kind, 2000, slot=0, kind=kind) for kind in range(EventKind.READ_BARRIER, EventKind.MARK)),
    )  # fmt: skip
    assert replay(chip, events, 0) > 1000
    links = chip.arrays["links"]
    ejected = links["packets"].reshape(2, 12, 10, 4)[0, 1:4, 1:5, 3]
    assert (ejected > 0).all()  # the multicast reached its rectangle


def test_an_issuer_that_is_no_worker_is_refused(chip):
    with pytest.raises(UsageError, match="0-1 is not a worker core"):
        replay(chip, table(read(0, core=(0, 1))), 0)


# --- the command


# A recording has no addresses, so rows of DRAM are met in another order.  Refreshes, whose phase is another, are too rare here
# to meet any.
CALM = ("--set", "dram.t_refi_ns=1000000000")


@pytest.mark.parametrize(
    ("program", "bound"), [("reshard", 0.5), ("dram_loopback", 1.5), ("stencil_halo", 0.5), ("matmul_multicast", 0.5)]
)
def test_a_run_replays_to_its_own_cycles(capsys, tmp_path, program, bound):
    trace = tmp_path / "trace.json"
    shape = ("--shape", "256x256x256", "--grid", "2x2") if program == "matmul_multicast" else ()
    code, out, _ = tensim(capsys, "run", program, *shape, "--numerics", "off", "--noc-trace", trace, "--json", *CALM)
    summary = json.loads(out)
    assert code == 0 and summary["noc_trace_events"] == len(json.loads(trace.read_text()))
    code, out, _ = tensim(capsys, "replay-noc", trace, "--json", *CALM)
    (row,) = json.loads(out)["rows"]
    assert code == 0 and row["measured"] <= summary["cycles"] and abs(row["err_pct"]) <= bound
    # headers aside, the same bytes; a semaphore's word of either kind is one flit
    assert sum(row["noc"]["bytes"].values()) == sum(summary["noc"]["bytes"].values())
    assert row["dram"]["read_bytes"] == summary["dram"]["read_bytes"]


def trace_file(path, shift=0):
    """A recording of a few reads, as the vendor writes it."""
    common = {"proc": "NCRISC", "noc": "NOC_0", "vc": -1, "sx": 1, "sy": 1}
    items = [
        common | {"dx": 0, "dy": 11, "num_bytes": 2048, "type": "READ", "timestamp": 10**12 + 130 * i} for i in range(8)
    ]
    for kind, time in (("START", 1100), ("END", 1500 + shift)):
        items.append(
            common | {"dx": -1, "dy": -1, "num_bytes": 0, "type": f"READ_BARRIER_{kind}", "timestamp": 10**12 + time}
        )
    path.write_text(json.dumps(items))
    return path


def test_json_has_the_keys_of_a_validation_and_congestion_and_dram_utilisation(capsys, tmp_path):
    files = [trace_file(tmp_path / f"{name}.json", 10 * i) for i, name in enumerate("ab")]
    for mode in ("open", "closed"):
        code, out, _ = tensim(capsys, "replay-noc", *files, "--mode", mode, "--json")
        result = json.loads(out)
        assert code == 0 and set(result) >= FIGURES | {"skipped", "groups", "rows", "host_seconds"}
        assert result["mode"] == mode and list(result["groups"]) == ["wormhole_b0/dram"] and result["n"] == 2
        first, second = result["rows"]
        assert (first["id"], first["measured"], second["measured"]) == ("a.json", 1480, 1490)
        assert first["simulated"] == second["simulated"] and first["unit"] == "cycles"
        assert first["err_pct"] == pytest.approx(100 * (first["simulated"] - 1480) / 1480)
        kept = {"open": 910 - START_TO_FIRST, "closed": 1100 - START_TO_FIRST}[mode]
        assert [row["kept_gap_share"] for row in result["rows"]] == pytest.approx([kept / 1480, kept / 1490])
        assert result["kept_gaps"]["mean"] == pytest.approx(kept * (1 / 1480 + 1 / 1490) / 2)
        wrong, rest = sum(abs(row["simulated"] - row["measured"]) for row in result["rows"]), 1480 + 1490 - 2 * kept
        assert result["kept_gaps"]["rest_abs_err_pct"] == pytest.approx(100 * wrong / rest)
        assert first["noc"]["links"][0]["stall_cycles"] >= 0 and first["dram"]["channels"][0]["utilization"] > 0


def test_the_table_says_what_replay_keeps(capsys, tmp_path):
    code, out, _ = tensim(capsys, "replay-noc", trace_file(tmp_path / "a.json"))
    assert code == 0 and "kept gaps" in out and "73%" in out
    assert "of the recorded time 73% (73% to 73%) are gaps that replay keeps; errors are" in out


def test_the_noc_model_is_chosen_and_named(capsys, tmp_path):
    """A lone thread's reads meet nobody on the links: both models take the same cycles."""
    file, simulated = trace_file(tmp_path / "a.json"), {}
    for model in ("packet", "flit"):
        code, out, _ = tensim(capsys, "replay-noc", file, "--noc", model, "--json")
        result = json.loads(out)
        assert code == 0 and result["noc_model"] == model
        simulated[model] = result["rows"][0]["simulated"]
    assert simulated["packet"] == simulated["flit"]


def test_a_bad_file_is_reported_and_the_others_are_replayed(capsys, tmp_path):
    good, bad = trace_file(tmp_path / "good.json"), tmp_path / "bad.json"
    bad.write_text('[{"type": "READ", "timestamp": 1, "sx": 1, "sy": 77}]')
    code, out, err = tensim(capsys, "replay-noc", bad, tmp_path / "absent.json", good, "--json")
    result = json.loads(out)
    assert code == 2 and result["n"] == 1 and result["failed"] == 2
    assert [item["id"] for item in result["skipped"]] == ["bad.json", "absent.json"]
    assert "bad.json: event 0: sy is 77" in err and "absent.json: No such file" in err


def test_a_recording_without_transfers_is_skipped_in_words(capsys, tmp_path):
    path = tmp_path / "waits.json"
    waits = [
        {"proc": "BRISC", "noc": "NOC_0", "sx": 1, "sy": 1, "type": "SEMAPHORE_WAIT", "timestamp": t} for t in (1, 99)
    ]
    path.write_text(json.dumps(waits))
    code, out, _ = tensim(capsys, "replay-noc", path)
    assert code == 0 and "skipped waits.json: no transfer to simulate; not simulated: 2 semaphore waits" in out


def test_the_timeline_shows_one_recording(capsys, tmp_path):
    timeline = tmp_path / "timeline.json"
    files = [trace_file(tmp_path / f"{name}.json") for name in "ab"]
    code, _, err = tensim(capsys, "replay-noc", *files, "--timeline", timeline)
    assert code == 2 and "--timeline shows one recording, not 2" in err
    code, _, _ = tensim(capsys, "replay-noc", files[0], "--timeline", timeline)
    names = {event["name"] for event in json.loads(timeline.read_text())["traceEvents"]}
    assert code == 0 and {"noc_read", "wait: noc_read_barrier", "DRAM channel 0", "NoC 0"} <= names


def test_parameters_of_the_chip_can_be_changed(capsys, tmp_path):
    path = trace_file(tmp_path / "a.json")
    cycles = []
    for hop in (9, 90):
        _, out, _ = tensim(capsys, "replay-noc", path, "--set", f"noc.hop_cycles={hop}", "--json")
        cycles.append(json.loads(out)["rows"][0]["simulated"])
    assert cycles[1] > cycles[0] + 3 * 80
