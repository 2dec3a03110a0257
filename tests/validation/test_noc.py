"""`tensim validate noc`: every kind of row becomes a program; bad rows are refused with the column at fault."""

import csv
import json

import pytest

import tensim as tt
from tensim.sim.arch import load_arch
from tensim.validation.noc import rows as noc
from tensim.validation.rows import Row, Skip, read_rows
from tests.commands import exit_code

ONE = {
    "arch": "wormhole_b0", "pattern": "ONE_TO_ONE", "direction": "write", "memory": "L1", "mechanism": "UNICAST",
    "noc_index": "0", "issuing_cores": "1 core", "targets": "logical (0,0)<->(1,1)", "same_axis": "0",
    "stateful_api": "0", "mcast_loopback": "0", "transactions_per_target_or_mcast": "4", "transaction_bytes": "512",
    "latency_cycles": "377",
}  # fmt: skip


def row(**changes):
    return Row("rows.csv:1", 2, ONE | {name: str(value) for name, value in changes.items()})


def zone(model="packet", **changes):
    return noc.simulate(noc.read(row(**changes), "latencies").spec, model)


def rows_file(path, *rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ONE)
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_file_is_recognised_by_its_columns(tmp_path):
    rows, layout = read_rows(rows_file(tmp_path / "rows.csv", ONE), noc.COLUMNS)
    case = noc.read(rows[0], layout)
    assert (case.group, case.measured, case.unit) == ("wormhole_b0/ONE_TO_ONE/UNICAST/L1", 377.0, "cycles")


def test_the_measured_value_does_not_reach_the_simulation():
    assert noc.read(row(latency_cycles=1), "latencies").spec == noc.read(row(), "latencies").spec


@pytest.mark.parametrize(
    "changes", [{"pattern": "ONE_TO_FEW"}, {"noc_index": 2}, {"transaction_bytes": "many"}, {"targets": "99x1"}]
)
def test_malformed_rows_are_refused(changes):
    with pytest.raises(ValueError):
        noc.read(row(**changes), "latencies")


def test_other_chips_are_skipped():
    with pytest.raises(Skip):
        noc.read(row(arch="grayskull"), "latencies")


def test_who_sends_to_whom():
    """2x2 in an ALL pattern is four targets, the issuer among them; a lone sender stands beside its rectangle."""
    spec = noc.read(row(pattern="ALL_TO_ALL", targets="2x2"), "latencies").spec
    assert noc.issuers(spec) == [(0, 0), (0, 1), (1, 0), (1, 1)] == noc.targets(spec, (1, 0))
    spec = noc.read(row(pattern="ONE_TO_ALL", targets="2x2", mechanism="MULTICAST"), "latencies").spec
    assert noc.issuers(spec) == [(2, 0)]
    spec = noc.read(row(pattern="ONE_FROM_ALL", direction="read", targets="8x7-1"), "latencies").spec
    assert noc.issuers(spec) == [(0, 0)] and len(noc.targets(spec, (0, 0))) == 55
    spec = noc.read(row(pattern="ROW_TO_ROW", targets="8x1", mechanism="MULTICAST"), "latencies").spec
    assert noc.issuers(spec) == [(x, 1) for x in range(8)]
    spec = noc.read(row(pattern="ROW_TO_ROW", targets="8x1", mechanism="MULTICAST", mcast_loopback=1), "latencies").spec
    assert noc.issuers(spec) == [(x, 0) for x in range(8)]


def zones(seed, **changes):
    """(begin, end) of every sender's zone with a seed of the back-off."""
    spec = noc.read(row(**changes), "latencies").spec
    arch = load_arch(spec[0], {"board": noc.BOARDS[spec[0]], "noc.backoff_seed": seed})
    device = tt.create_device(arch=arch, numerics="off")
    try:
        return noc.run(device, spec)
    finally:
        tt.close_device(device)


def test_senders_of_linked_multicasts_have_the_path_one_after_the_other():
    """Eight senders of a row: whoever has reserved it sends all packets; the others back off, by the seed."""
    changes = {"pattern": "ROW_TO_ROW", "targets": "8x1", "mechanism": "MULTICAST_LINKED", "mcast_loopback": 1}
    changes |= {"transactions_per_target_or_mcast": 16, "transaction_bytes": 4096}
    one = zones(1, **changes)
    ends = sorted(end for _, end in one)
    assert all(later - sooner >= 15 * 129 for sooner, later in zip(ends, ends[1:], strict=False))
    assert zones(1, **changes) == one != zones(2, **changes)


def test_cores_of_an_all_to_all_row_on_dram_start_one_after_the_other():
    """In the order of their numbers, row by row: silicon's rows of one transaction take so much longer than one core's."""
    changes = {
        "pattern": "ALL_FROM_ALL",
        "direction": "read",
        "memory": "DRAM_INTERLEAVED",
        "targets": "all banks round-robin",
    }
    changes |= {"issuing_cores": "full grid (8x7)", "transactions_per_target_or_mcast": 1}
    skew = load_arch("wormhole_b0")["validation.start_skew_ns"]  # at 1 GHz as many cycles
    issuers = noc.issuers(noc.read(row(**changes), "latencies").spec)
    begins = {core: begin for core, (begin, _) in zip(issuers, zones(1, **changes), strict=True)}
    for x, y in issuers:
        assert begins[x, y] - begins[0, 0] == pytest.approx((8 * y + x) * skew, abs=8)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"stateful_api": 1},
        {"pattern": "ONE_FROM_ONE", "direction": "read", "same_axis": 1, "noc_index": 1},
        {"pattern": "ONE_TO_ALL", "targets": "2x2", "mechanism": "MULTICAST"},
        {"pattern": "ONE_TO_ROW", "targets": "8x1", "mechanism": "MULTICAST_LINKED", "mcast_loopback": 1},
        {"pattern": "COLUMN_TO_COLUMN", "targets": "1x7", "mechanism": "MULTICAST"},
        {"pattern": "ALL_FROM_ALL", "direction": "read", "targets": "2x2"},
        {"pattern": "ONE_TO_ONE", "memory": "DRAM_SHARDED", "targets": "1 bank", "arch": "blackhole"},
        {"pattern": "ONE_FROM_ALL", "direction": "read", "memory": "DRAM_INTERLEAVED", "targets": "all banks"},
    ],
)
def test_every_kind_of_row_runs(changes):
    """Four transfers of 512 bytes take longer than their issue and less than that of a congested grid."""
    assert 100 < zone(**changes) < 10_000


def test_more_bytes_take_longer():
    assert zone(transaction_bytes=64) < zone(transaction_bytes=8192) < zone(transaction_bytes=65536)


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
def test_a_lone_transfer_takes_as_long_in_the_flit_model(arch):
    assert zone("flit", arch=arch) == zone(arch=arch)


def test_the_command_compares_with_either_model(capsys, tmp_path):
    file = rows_file(tmp_path / "rows.csv", ONE)
    for model in ("packet", "flit"):
        code = exit_code("validate", "noc", str(file), "--noc", model, "--jobs", "1", "--fresh", "--json")
        result = json.loads(capsys.readouterr().out)
        assert code == 0 and result["noc_model"] == model
        assert result["rows"][0]["simulated"] == zone(model)


def test_only_noc_rows_have_a_choice_of_model(capsys, tmp_path):
    file = rows_file(tmp_path / "rows.csv", ONE)
    assert exit_code("validate", "dram", str(file), "--noc", "flit") == 2
    assert "packet model only" in capsys.readouterr().err
