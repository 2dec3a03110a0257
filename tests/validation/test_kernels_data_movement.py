"""`tensim validate kernels`, the families of data movement: rows become programs, from their columns alone."""

import csv
import json

import pytest
from click.testing import CliRunner

from tensim.cli.main import main
from tensim.validation.kernels import rows as kernels
from tensim.validation.pairs import pair_order
from tensim.validation.rows import Row, Skip

BLANK = dict.fromkeys(kernels.COLUMNS["micro"], "")
WORMHOLE = BLANK | {"arch": "wormhole_b0", "board": "8x8 grid", "clock_MHz": "1000", "metric": "device kernel duration"}
BLACKHOLE = WORMHOLE | {"arch": "blackhole", "board": "p150", "clock_MHz": "1350"}


def columns(base, example, cores, placement, variant, size, params, **more):
    named = {
        "example": example, "cores": str(cores), "core_placement": placement, "variant": variant, "data_format": "bf16",
        "page_or_write_bytes": str(size), "params": params,
    }  # fmt: skip
    return base | named | more


ROWS = {
    "dram_saturation": columns(
        WORMHOLE, "dram_saturation", 4, "spread", "copy", 2048, "DRAM->DRAM interleaved copy 256x512 (128 tiles)"
    ),
    "noc_placement": columns(
        WORMHOLE, "noc_placement", 2, "diagonal", "write only NoC1", 2048,
        "DRAM interleaved 64 tiles <-> fixed L1 scratch; 16 pages per barrier; 2 in-kernel iterations",
    ),
    "reader_placement": columns(
        WORMHOLE, "reader_placement", 2, "column", "copy reads NoC0 writes NoC1", 2048,
        "DRAM->DRAM interleaved copy; 64 tiles; 16 pages per barrier",
    ),
    "bank_placement": columns(
        WORMHOLE, "bank_placement", 2, "near logical x,y by bank: (3,7)(0,0)", "affine(core i reads/writes only bank i)",
        512, "copy; pages=48; 8 pages per barrier",
    ),
    "bank_stagger": columns(
        BLACKHOLE, "bank_stagger", 4, "full grid", "stagger=blocks", 256,
        "tilize; shape=128x1024; source=width-sharded one shard per DRAM bank; block=32 rows x 4 tiles; blocks_per_core=8",
    ),
    "double_buffer": columns(
        WORMHOLE, "double_buffer", 1, "(0,0)", "double buffered CB", 2048, "relu; tiles=16; block (tiles per barrier)=4"
    ),
    "trid_double_issue": columns(
        BLACKHOLE, "trid_double_issue", 1, "(0,0)", "best trid", 2048, "copy 64 tiles; block=4"
    ),
    "dual_noc_read": columns(
        BLACKHOLE, "dual_noc_read", 2, "2x1", "two_sem", 1024, "two operands x 16 tiles, math ablated, block=8"
    ),
    "page_walk_order": columns(
        WORMHOLE, "page_walk_order", 1, "(0,0)", "page stride 12", 512, "read 96 DRAM interleaved pages; 24 reads per barrier"
    ),
    "split_reader": columns(
        WORMHOLE, "split_reader", 1, "consumer (0,1), sources 8 cores of row 0", "split on", 512, "gather 8 tiles (16384 B)",
        metric="BRISC kernel time",
    ),
    "noc_one_packet": columns(
        BLACKHOLE, "noc_one_packet", 4, "row-major", "one_packet, spread destinations", 256, "16 pages per core; one barrier"
    ),
    "row_unicast_vs_mcast": columns(
        WORMHOLE, "row_unicast_vs_mcast", 4, "2 rows x 2 contiguous cores from x=0", "mcast", 512,
        "each core sends payload=2048 B to the other 1 cores in dispatches=4; (2 in-kernel iterations)",
    ),
    "mcast_topology": columns(
        BLACKHOLE, "mcast_topology", 4, "2x2 of 11x10", "mcast_1d_pair", 2048, "delivery only; M=2t N=4t K=2t"
    ),
    "shared_input_reuse": columns(
        BLACKHOLE, "shared_input_reuse", 4, "2 rows x 2 columns", "mcast", 2048, "stream 16 tiles in 2 chunks of 8"
    ),
    "transfer_alignment": columns(
        WORMHOLE, "transfer_alignment", 1, "(0,0)",
        "misaligned (aligned over-read to scratch then memmove on NCRISC)", 80,
        "spans=4; useful span bytes=64; residue 16 B",
    ),
    "index_staging": columns(
        WORMHOLE, "index_staging", 1, "(0,0)", "remote_per_index", 32, "rows=2 W=32 dist=sorted; per row"
    ),
}  # fmt: skip


def case(row, **changes):
    return kernels.read(Row("rows.csv:1", 2, row | changes), "micro")


def time_ns(row, **changes):
    return kernels.simulate(case(row, **changes).spec)


@pytest.mark.parametrize("example", ROWS)
def test_every_family_runs(example):
    """Small programs: longer than one DRAM access, far shorter than a millisecond."""
    assert 300 < time_ns(ROWS[example]) < 100_000


@pytest.mark.parametrize("example", ROWS)
def test_the_measured_value_does_not_reach_the_simulation(example):
    one, other = case(ROWS[example], time_ns="5"), case(ROWS[example], time_ns="7")
    assert (one.measured, other.measured) == (5.0, 7.0) and one.spec == other.spec


@pytest.mark.parametrize(
    ("example", "changes"),
    [
        ("dram_saturation", {"core_placement": "around"}),
        ("noc_placement", {"variant": "write only NoC2"}),
        ("noc_placement", {"params": "some tiles"}),
        ("bank_placement", {"variant": "otherwise"}),
        ("bank_stagger", {"cores": "5"}),
        ("double_buffer", {"data_format": "bf15"}),
        ("dual_noc_read", {"params": "two operands x 16 tiles, block=8"}),
        ("split_reader", {"metric": "TRISC kernel time"}),
        ("noc_one_packet", {"variant": "generic"}),
        ("mcast_topology", {"params": "M=3t N=4t K=2t"}),
        ("index_staging", {"params": "rows=2"}),
    ],
)
def test_malformed_rows_are_refused(example, changes):
    with pytest.raises(ValueError, match="column"):
        case(ROWS[example], **changes)


def test_unknown_examples_and_chips_are_skipped():
    with pytest.raises(Skip, match="no program"):
        case(ROWS["double_buffer"], example="tea_kettle")
    with pytest.raises(Skip, match="grayskull"):
        case(ROWS["double_buffer"], arch="grayskull")


def test_rows_name_the_options_of_the_described_programs():
    cores = dict(case(ROWS["dram_saturation"], core_placement="stacked (column first)").spec[2])
    assert cores == {"shape": (256, 512), "variant": "stacked", "num_cores": 4}
    best = dict(case(ROWS["trid_double_issue"], variant="best base", params="copy 1024 tiles; block=64").spec[2])
    assert best == {"dtype": "bf16", "tiles": 1024, "block": 64, "variant": "full_barrier", "ahead": 2}


def test_designs_differ_as_they_should():
    """What each family is about, in its smallest form."""
    assert time_ns(ROWS["double_buffer"]) < time_ns(ROWS["double_buffer"], variant="single buffered CB")
    assert time_ns(ROWS["trid_double_issue"]) < time_ns(ROWS["trid_double_issue"], variant="ahead1")
    assert time_ns(ROWS["index_staging"], variant="l1_staged") < time_ns(ROWS["index_staging"])
    assert time_ns(ROWS["transfer_alignment"], variant="aligned direct read") < time_ns(ROWS["transfer_alignment"])
    assert time_ns(ROWS["bank_stagger"]) < time_ns(ROWS["bank_stagger"], variant="stagger=none")


def compared(variant, placement, measured, simulated):
    return {
        "group": "chip/family", "measured": measured, "simulated": simulated,
        "columns": {"variant": variant, "core_placement": placement, "params": "p"},
    }  # fmt: skip


def test_pairs_differ_in_one_design_column_and_by_over_five_percent():
    rows = [
        compared("a", "row", 100, 50),
        compared("b", "row", 104, 40),  # too close to a on silicon
        compared("c", "row", 120, 45),  # ordered as b is, not as a is
        compared("a", "column", 200, 60),  # against a in a row only
        compared("d", "row", None, 1),
    ]
    result = pair_order(rows, ("variant", "core_placement"), ("params",))
    assert result == {"n": 3, "agree": 2, "by_group": {"chip/family": {"n": 3, "agree": 2}}}


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def validate(path):
    return CliRunner().invoke(main, ["validate", "kernels", path, "--jobs", "1", "--json"])


def test_rows_without_times_are_simulated_and_not_counted_in_errors(tmp_path):
    row = ROWS["double_buffer"]
    ran = validate(
        write_csv(tmp_path / "rows.csv", [row, row | {"variant": "single buffered CB"}, row | {"example": "no"}])
    )
    result = json.loads(ran.stdout)
    assert ran.exit_code == 0 and result["n"] == 2 and len(result["skipped"]) == 1
    assert [(item["measured"], item["err_pct"]) for item in result["rows"]] == [(None, None)] * 2
    group = {"n": 2, "evidence": "predicted", "structure": "described"}
    assert result["groups"] == {"wormhole_b0/double_buffer": group} and "median_abs_err_pct" not in result
    assert result["pairs"] == {"n": 0, "agree": 0, "by_group": {}}


def test_pairs_are_reported(tmp_path):
    row = ROWS["double_buffer"]
    rows = [row | {"time_ns": "1000"}, row | {"variant": "single buffered CB", "time_ns": "2000"}]
    result = json.loads(validate(write_csv(tmp_path / "rows.csv", rows)).stdout)
    assert result["pairs"]["by_group"] == {"wormhole_b0/double_buffer": {"n": 1, "agree": 1}}
    assert result["rows"][0]["err_pct"] == pytest.approx(result["rows"][0]["simulated"] / 10 - 100)


def test_groups_and_rows_say_where_the_structure_comes_from(tmp_path):
    rows = [ROWS["double_buffer"] | {"time_ns": "1000"}, ROWS["bank_placement"] | {"time_ns": "2000"}]
    path = write_csv(tmp_path / "rows.csv", rows)
    result = json.loads(validate(path).stdout)
    assert [row["structure"] for row in result["rows"]] == ["described", "guessed"]
    assert result["groups"]["wormhole_b0/bank_placement"]["structure"] == "guessed"
    printed = CliRunner().invoke(main, ["validate", "kernels", path, "--jobs", "1"]).stdout
    assert "guessed" in printed
