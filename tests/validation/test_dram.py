"""Rows of DRAM measurements: what they become, and why some are skipped."""

import pytest

from tensim.validation.dram import rows as dram
from tensim.validation.dram.programs import Bench, block_shape
from tensim.validation.rows import Row, Skip


def row(file=(), **columns):
    return Row("f.csv:1", 2, columns, list(file))


def isa(case, direction="read", vc="Static", noc="NoC #1", value="22.2", category="DRAM bandwidth"):
    return row(arch="wormhole_b0", category=category, case=case, direction_or_condition=direction, vc_allocation=vc,
               noc=noc, unit="GB/s", value=value)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "measured"), [("250-270", (250, 270)), (">=8", (8, float("inf"))), ("5 (approx)", 5), ("18.2", 18.2)]
)
def test_values_and_ranges(text, measured):
    assert dram.measured_of(text) == measured


def test_channel_rows_name_cores_channels_and_direction():
    case = dram.read(isa("48 Tensix tiles randomly chosen <-> 12 DRAM channel(s)", "write"), "isa")
    assert case.spec == ("channel_streams", "wormhole_b0", 48, 12, False, True, False, 1)
    assert case.group == "wormhole_b0/channels/write random, any VC"


@pytest.mark.parametrize(
    ("direction", "vc", "dynamic", "ends"),
    [
        ("write", "Dynamic", True, "write one channel, dynamic VC"),
        ("read", "Dynamic", True, "read one channel, any VC"),
        ("read", "Static", True, "read one channel, any VC"),
    ],
)
def test_the_column_of_virtual_channels_is_about_requests(direction, vc, dynamic, ends):
    """Data of writes are requests, those of reads answers, whose channels are dynamic in both cases."""
    case = dram.read(isa("12 Tensix tiles randomly chosen <-> 1 DRAM channel(s)", direction, vc), "isa")
    assert case.spec[-2] == dynamic
    assert case.group.endswith(ends)


def test_rows_about_something_else_are_skipped_with_the_reason():
    with pytest.raises(Skip, match="PCIe host-initiated: not about DRAM"):
        dram.read(isa("DMA to device", category="PCIe host-initiated"), "isa")


def test_a_malformed_channel_row_is_an_error():
    with pytest.raises(ValueError, match="column case"):
        dram.read(isa("tiles"), "isa")


def flow(number, master, other, run="3", n=2):
    return {
        "run": run, "exp": "shared", "point": "p", "flow": str(number), "n_flows": str(n), "mst_lx": str(master),
        "mst_ly": "0", "sub_lx": str(other), "sub_ly": "1", "noc": "0", "vc": "1", "proc": "0", "direction": "0", "num_tx": "64",
        "tx_bytes": "4096", "cycles": "4500",
    }  # fmt: skip


def test_flows_of_one_run_are_simulated_together():
    rows = []
    rows += [Row(f"f:{i}", i + 1, flow(i, 2 * i, 5 + i), rows) for i in range(2)]
    first, second = (dram.read(row, "flow_probe").spec for row in rows)
    assert first[:-1] == second[:-1]
    assert (first[-1], second[-1]) == (0, 1)


def test_a_flow_without_its_partner_is_skipped():
    rows = []
    rows += [Row("f:1", 2, flow(0, 0, 5), rows)]
    with pytest.raises(Skip, match="beside it"):
        dram.read(rows[0], "flow_probe")


def test_blocks_are_cut_into_the_longest_even_pages():
    assert block_shape(4096 * 1088, 8, 1088, 8192) == (4352, 128)


def test_near_cores_share_no_links_between_channels():
    with Bench("wormhole_b0") as bench:
        placed = bench.place(12, 12, 0, False, True)
        links = [set(bench.path(bench.endpoint(bank, 0), bench.tile(core), 0)) for core, bank in placed]
    assert len({core for core, _ in placed}) == 12
    assert all(not a & b for i, a in enumerate(links) for b in links[:i])


def test_one_reader_gets_the_measured_rate_of_a_channel():
    rate = dram.simulate(("channel_streams", "wormhole_b0", 1, 1, True, False, True, 0))
    assert rate == pytest.approx(22.2, rel=0.03)
