"""`tensim validate gemm`: every row becomes one matmul; device and host time come from the same simulation."""

import csv
import json

import pytest
from click.testing import CliRunner

from tensim.cli.main import main
from tensim.sim.arch import load_arch
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.validation.gemm import blocks as gemm_blocks
from tensim.validation.gemm import rows as gemm
from tensim.validation.rows import Row, Skip

STATED = {
    "report_generation": "2026-07", "chip": "N150", "config_mode": "manual", "M": "512", "K": "512", "N": "512",
    "grid_x": "8", "grid_y": "8", "num_cores": "64", "dtype": "BFLOAT4_B", "math_fidelity": "LoFi", "use_trace": "True",
    "in0_sharded": "True", "out_sharded": "True", "in0_memory": "L1", "in1_memory": "DRAM", "out_memory": "L1",
    "in0_block_w_tiles": "2", "per_core_M_tiles": "2", "per_core_N_tiles": "2", "out_block_h_tiles": "2",
    "out_block_w_tiles": "2", "out_subblock_h_tiles": "1", "out_subblock_w_tiles": "2",
    "inference_time_avg_ns": "9992.5", "derived_trisc1_kernel_cycles": "7121",
}  # fmt: skip
NO_BLOCKS = {name: "" for name in STATED if name.endswith("_tiles")}
IN_DRAM = {"in0_sharded": "False", "out_sharded": "False", "in0_memory": "DRAM", "out_memory": "DRAM"}
OUT_OF_BOX = NO_BLOCKS | IN_DRAM | {"config_mode": "out_of_box", "in0_sharded": "", "out_sharded": ""}
OUT_OF_BOX |= {"derived_trisc1_kernel_cycles": "7077", "inference_time_avg_ns": "12259.4"}


def row(**changes):
    return Row("gemm.csv:1", 2, STATED | {name: str(value) for name, value in changes.items()})


def spec(**changes):
    return gemm.read_device(row(**changes), "gemm").spec


def blocks(case_spec):
    return dict(case_spec[9])


# --- reading rows


def test_stated_blocks_are_taken_as_they_are():
    case = gemm.read_device(row(), "gemm")
    assert case.spec[:6] == ("wormhole_b0", "n150", (8, 8), (512, 512, 512), int(DataFormat.Bfp4_b), "LoFi")
    assert tuple(blocks(case.spec).values()) == (2, 2, 2, 2, 2, 1, 2)
    assert (case.group, case.measured, case.unit) == ("wormhole_b0/manual 2026-07", 7121.0, "cycles")


def test_twins_and_metrics_share_a_simulation_and_measured_values_do_not_reach_it():
    traced, untraced = (gemm.read_host(row(use_trace=trace), "gemm") for trace in (True, False))
    assert traced.spec == untraced.spec == spec(derived_trisc1_kernel_cycles=1, inference_time_avg_ns=1)
    assert traced.group.endswith("/traced") and untraced.group.endswith("/untraced")
    assert [case.value([100.0, 1.5, 2.5, 1.2, 2.2]) for case in (traced, untraced)] == [1.5, 2.5]


@pytest.mark.parametrize("grid, board", [((13, 10), "p150_13x10"), ((11, 10), "p150")])
def test_the_part_is_the_one_whose_grid_the_row_has(grid, board):
    assert spec(chip="P150", grid_x=grid[0], grid_y=grid[1])[:2] == ("blackhole", board)


def test_a_grid_of_no_described_part_is_skipped():
    with pytest.raises(Skip, match="no N150 with a grid of 8x7"):
        spec(grid_y=7)


def test_a_row_without_device_time_is_skipped_for_the_device_only():
    without = row(derived_trisc1_kernel_cycles="")
    with pytest.raises(Skip, match="no device time"):
        gemm.read_device(without, "gemm")
    assert gemm.read_host(without, "gemm").measured == 9992.5


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"M": "many"}, "column M"),
        ({"K": 500}, "512x500x512 is not one of whole tiles"),
        ({"dtype": "INT4"}, "column dtype is 'INT4'"),
        ({"math_fidelity": "HiFi9"}, "column math_fidelity"),
        ({"config_mode": "tuned"}, "column config_mode"),
        ({"in0_memory": "DRAM"}, "contradict the sharding"),
        ({"out_block_h_tiles": ""}, "out_block_h_tiles"),
    ],
)
def test_malformed_rows_name_the_column(changes, why):
    with pytest.raises(ValueError, match=why):
        spec(**changes)


# --- the rules for rows without blocks


@pytest.mark.parametrize(
    "size, dtype, sharded, expected",
    [
        (3072, DataFormat.Float16_b, True, (3, 12, 12, 12, 12, 1, 6)),  # the K block is halved
        (4096, DataFormat.Bfp8_b, False, (16, 16, 16, 8, 8, 4, 2)),  # the out block is halved on both sides
        (16384, DataFormat.Bfp4_b, False, (16, 64, 64, 16, 16, 4, 2)),
    ],
)
def test_the_rule_for_tuned_rows_finds_what_the_report_states(size, dtype, sharded, expected):
    assert (
        tuple(gemm_blocks.tuned((size,) * 3, (8, 8), dtype, load_arch("wormhole_b0"), sharded, sharded).values())
        == expected
    )


@pytest.mark.parametrize(
    "shape, topology, expected",
    [
        ((512, 512, 512), "rows_columns", (2, 2, 2, 2, 2, 2, 2)),
        ((512, 1024, 2048), "all", (2, 16, 1, 16, 1, 8, 1)),  # one row of 16 x 16 blocks: in0 to all cores
        ((1024, 1024, 1024), "rows_columns", (4, 4, 4, 4, 4, 4, 2)),
        ((3072, 3072, 3072), "rows_columns", (12, 12, 12, 6, 12, 2, 4)),  # the K block stays, the out block is cut
    ],
)
def test_the_rule_for_out_of_box_rows(shape, topology, expected):
    found = gemm_blocks.automatic(shape, (8, 8), DataFormat.Float16_b, load_arch("wormhole_b0"))
    assert (found[0], tuple(found[1].values())) == (topology, expected)


# --- a whole validation


def validate(path, *options):
    result = CliRunner().invoke(main, ["validate", "gemm", str(path), "--jobs", "1", "--json", *options])
    return result, json.loads(result.stdout)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "gemm.csv"
    with path.open("w", newline="") as text:
        writer = csv.DictWriter(text, STATED)
        writer.writeheader()
        writer.writerows([STATED, STATED | {"use_trace": "False"}, STATED | OUT_OF_BOX])
    return path


def test_small_rows_come_out_near_silicon(file):
    result, device = validate(file)
    assert result.exit_code == 0 and device["n"] == 3
    assert set(device["groups"]) == {"wormhole_b0/manual 2026-07", "wormhole_b0/out_of_box"}
    assert all(abs(row["err_pct"]) < 15 for row in device["rows"])
    _, host = validate(file, "--metric", "host")
    traced, untraced = (row["simulated"] for row in host["rows"][:2])
    assert device["rows"][0]["simulated"] < traced < untraced


def test_untraced_runs_wait_for_the_host_and_longer_for_a_configured_operation(file):
    """Out-of-box calls come 50 us apart from Wormhole's host, those with block sizes 140; traced runs do not wait.

    Of a loop of 100 the last program begins with its call: a hundredth of the run comes on top.
    """
    arch = load_arch("wormhole_b0")
    with file.open("a", newline="") as text:
        csv.DictWriter(text, STATED).writerow(STATED | OUT_OF_BOX | {"use_trace": "False"})
    _, host = validate(file, "--metric", "host")
    traced, untraced, traced_automatic, automatic = (row["simulated"] for row in host["rows"])
    operation, configuration = arch["host.ttnn_operation_ns"], arch["host.ttnn_configuration_ns"]
    assert untraced == pytest.approx(operation + configuration + traced / 100)
    assert automatic == pytest.approx(operation + traced_automatic / 100)


def test_the_first_of_many_long_runs_waits_for_its_call():
    """bf16 rows of 0.1 to 3 ms on the p150 take 1 us more untraced than traced, whatever their length."""
    arch = load_arch("blackhole")
    columns = IN_DRAM | NO_BLOCKS | dict.fromkeys("MKN", "4160") | {"chip": "P150", "grid_x": "13", "grid_y": "10"}
    _, traced, untraced, *_ = gemm.simulate(spec(**columns, dtype="BFLOAT16", report_generation="2025-12"))
    call_ns = arch["host.ttnn_operation_ns"] + arch["host.ttnn_configuration_ns"]
    assert traced > 4 * call_ns and untraced - traced == pytest.approx(call_ns / 100)


def test_a_metric_that_a_kind_has_not_is_refused(file):
    _, error = validate(file, "--metric", "power")
    assert error["error"]["message"].startswith("--metric power") and "device, host" in error["error"]["hint"]
    result = CliRunner().invoke(main, ["validate", "noc", str(file), "--metric", "host", "--json"])
    assert result.exit_code == 2 and "have one measurement" in json.loads(result.stdout)["error"]["message"]


@pytest.mark.parametrize(
    "chip, size, grid, dtype, fidelity, tail_us",
    [
        ("P150", (2560, 3328, 3328), (13, 10), "BFLOAT16", "HiFi2", 53.4),
        ("P150", (2560, 2816, 2816), (11, 10), "BFLOAT8_B", "LoFi", 22.8),
        ("N150", (1024, 1024, 1024), (8, 8), "BFLOAT16", "HiFi2", 27.6),
    ],
)
def test_the_output_leaves_over_both_nocs(chip, size, grid, dtype, fidelity, tail_us):
    """From the last product to the last written tile as on silicon: host time of traced runs less gap and TRISC1 cycles.

    Over one NoC it is 1.4 to 1.7 times as long.
    """
    columns = OUT_OF_BOX | dict(zip("MKN", map(str, size), strict=True)) | {"chip": chip, "dtype": dtype}
    columns |= {"grid_x": str(grid[0]), "grid_y": str(grid[1]), "math_fidelity": fidelity}
    products = gemm.read_device(row(**columns), "gemm").spec
    arch = load_arch(products[0])
    trisc1, traced_ns, *_ = gemm.simulate(products)
    tail_ns = traced_ns - arch["dispatch.op_gap_ns"] - trisc1 * 1000 / arch.clock_mhz
    assert tail_ns / 1000 == pytest.approx(tail_us, rel=0.12)


@pytest.mark.parametrize(
    "places, size, dtype, fidelity, measured_us",
    [({}, 2048, "BFLOAT16", "HiFi4", 332.5), (IN_DRAM, 4096, "BFLOAT8_B", "HiFi2", 1451.4)],
    ids=["in L1", "in DRAM"],
)
def test_one_clock_for_operands_in_l1_and_in_dram(places, size, dtype, fidelity, measured_us):
    """Traced loops of 35 and 150 ms on the n150: within 5 % under load, over 5 % fast at the full clock."""
    columns = places | NO_BLOCKS | dict.fromkeys("MKN", str(size)) | {"dtype": dtype, "math_fidelity": fidelity}
    _, traced, _, at_full_clock, _ = gemm.simulate(spec(**columns, report_generation="2025-12"))
    assert traced / 1000 == pytest.approx(measured_us, rel=0.05) and at_full_clock / 1000 < 0.95 * measured_us
