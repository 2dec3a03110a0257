"""Rows of networks' operations: which call of the library they are, and which are left out for what reason."""

import json

import pytest

from tensim.validation.figures import summary
from tensim.validation.operations import rows as operations
from tensim.validation.rows import Case, Row, Skip
from tensim.validation.runner import Results, Selection, compare

HEADER = (
    "trace", "arch", "op", "math_fidelity", "core_count", "inputs_shape_dtype_layout_memory",
    "outputs_shape_dtype_layout_memory", "matmul_program_config", "kernel_ns_median", "brisc_ns_median", "trisc2_ns_median",
)  # fmt: skip
TILES = "1x1x2048x256:BFLOAT8_B:TILE:DRAM_INTERLEAVED"
SHARDS = "1x1x2048x256:BFLOAT8_B:TILE:L1_BLOCK_SHARDED"


def file_of(*lines):
    rows = []
    rows += (Row(f"m.csv:{n}", n + 1, dict(zip(HEADER, line, strict=True)), rows) for n, line in enumerate(lines, 1))
    return rows


def line(
    operation="UnaryDeviceOperation",
    inputs=TILES,
    outputs=TILES,
    trace="bh_p100_dlv3",
    cores=110,
    ns=4000,
    pack_ns=3900,
):
    return trace, "blackhole", operation, "HiFi4", str(cores), inputs, outputs, "", str(ns), str(ns), str(pack_ns)


def call_of(row):
    return json.loads(operations.read(row, "operations").spec[-1][0])


def test_a_row_is_a_call_with_its_tensors():
    (row,) = file_of(line("ShardedToInterleavedDeviceOperation", SHARDS, TILES, cores=64))
    case, call = operations.read(row, "operations"), call_of(row)
    assert case.group == "blackhole/to_interleaved/DRAM/bh_p100_dlv3" and case.unit == "ns" and case.measured == 4000
    assert case.spec[1:3] == ("blackhole", "p100") and call["call"] == "to_interleaved" and call["cores"] == 64
    assert call["inputs"] == [
        {"shape": [1, 1, 2048, 256], "dtype": "BFLOAT8_B", "layout": "TILE", "memory": "L1_BLOCK_SHARDED"}
    ]


def test_a_reshard_takes_its_input_from_the_cores_that_wrote_it():
    """Its own count of cores is of those that it moves the tensor to."""
    moved = "1x1x480x512:BFLOAT16:TILE:L1_HEIGHT_SHARDED"
    lines = [
        line("MoveDeviceOperation", moved, moved, cores=20),
        line("ReshardDeviceOperation", moved, moved, cores=15),
    ]
    *_, reshard = file_of(*lines)
    assert (call_of(reshard)["inputs"][0]["cores"], call_of(reshard)["cores"]) == (20, 15)
    (alone,) = file_of(lines[1])
    with pytest.raises(Skip, match="which cores"):
        operations.read(alone, "operations")


@pytest.mark.parametrize(
    ("inputs", "call", "inplace"),
    [(TILES, "scale", False), (f"{TILES} | {TILES}", "add", False), (" | ".join([TILES] * 3), "add", True)],
)
def test_a_sum_has_one_two_or_three_tensors(inputs, call, inplace):
    found = call_of(*file_of(line("BinaryNgDeviceOperation", inputs)))
    assert (found["call"], found["inplace"]) == (call, inplace)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"trace": "ops_perf_results_2025_09_18_11_39_20"}, "a release of 2025-09"),
        ({"operation": "GridSampleOperation"}, "no call"),
        ({"trace": "bh20_oft"}, "which cores"),
        ({"inputs": "1x1x2048x8:BFLOAT16:ROW_MAJOR:DRAM_INTERLEAVED"}, "narrow rows"),
        ({"inputs": "1x1x2048x256:BFLOAT16:TILE:HOST"}, "memory is not understood"),
        ({"outputs": "1x8x2048x1024:BFLOAT16:TILE:DRAM_INTERLEAVED"}, "too large"),
    ],
)
def test_rows_that_do_not_say_enough_are_skipped_with_the_reason(changed, why):
    with pytest.raises(Skip, match=why):
        operations.read(*file_of(line(**changed)), "operations")


def test_a_tensor_that_is_none_is_named():
    with pytest.raises(ValueError, match="'junk' is no tensor"):
        operations.read(*file_of(line(inputs="junk")), "operations")


STICKS = "1x1x4096x256:BFLOAT16:ROW_MAJOR:DRAM_INTERLEAVED"


@pytest.mark.parametrize(
    ("changed", "evidence"),
    [
        ({"operation": "TilizeDeviceOperation", "inputs": STICKS, "pack_ns": 1400}, "another release"),  # 325 ns a tile
        ({"operation": "TilizeDeviceOperation", "inputs": STICKS, "pack_ns": 3600}, ""),
        (
            {"operation": "InterleavedToShardedDeviceOperation", "inputs": STICKS, "cores": 64, "ns": 28000},
            "another release",
        ),
        ({"operation": "InterleavedToShardedDeviceOperation", "inputs": STICKS, "cores": 64}, ""),
        ({"pack_ns": 100}, ""),  # functions have no last row of tiles
    ],
)
def test_threads_that_wait_for_each_page_are_of_another_release(changed, evidence):
    outputs = (
        STICKS.replace("DRAM_INTERLEAVED", "L1_HEIGHT_SHARDED") if "Sharded" in changed.get("operation", "") else TILES
    )
    outputs = outputs.replace("2048", "4096")
    assert operations.read(*file_of(line(**{"outputs": outputs, **changed})), "operations").evidence == evidence


@pytest.mark.parametrize(("trace", "evidence"), [("bh20_oft", "another release"), ("bh_p100_dlv3", "")])
@pytest.mark.parametrize("layout", ["TILE", "ROW_MAJOR"])
def test_rows_that_an_earlier_packer_makes_of_tiles_are_of_another_release(trace, evidence, layout):
    shards = f"1x1x640x64:BFLOAT16:{layout}:L1_HEIGHT_SHARDED"
    call = line(
        "UntilizeDeviceOperation" if layout == "TILE" else "MoveDeviceOperation", shards, shards, trace, cores=20
    )
    halo = line("HaloDeviceOperation", "1x1x640x64:BFLOAT16:TILE:DRAM_INTERLEAVED", shards, trace, cores=20)
    *_, row = file_of(halo, call)
    assert operations.read(row, "operations").evidence == (evidence if layout == "TILE" else "")


@pytest.mark.parametrize(("trace", "evidence"), [("bh20_oft", "another release"), ("bh_p100_dlv3", "")])
def test_group_norms_of_an_earlier_kernel_are_of_another_release(trace, evidence):
    shards = "1x1x640x64:BFLOAT16:TILE:L1_HEIGHT_SHARDED"
    (row,) = file_of(line("GroupNormDeviceOperation", shards, shards, trace, cores=20))
    assert operations.read(row, "operations").evidence == evidence


def test_calls_of_a_board_share_processes():
    some = file_of(*[line(ns=1000 + n) for n in range(operations.BATCH + 1)], line("MoveDeviceOperation"), line())
    cases = [operations.read(row, "operations") for row in some if "Move" not in row["op"]]
    assert len({case.spec for case in cases[: operations.BATCH]}) == 1 and len(cases[-1].spec[-1]) == 2
    results = [{"ns": float(n), "cores": 110} for n in range(operations.BATCH)]
    assert [case.value(results) for case in cases[: operations.BATCH]] == list(range(operations.BATCH))


@pytest.mark.parametrize(
    ("result", "why"), [({"why": "TT_FATAL"}, "TT_FATAL"), ({"ns": 5.0, "cores": 64}, "64 cores here, 110 on the card")]
)
def test_a_call_that_did_not_run_as_on_the_card_is_skipped(result, why):
    (row,) = file_of(line())
    selection = Selection("operations", operations.__name__, [(row, operations.read(row, "operations"))])
    results = Results(selection.store, enabled=False)
    results.known[repr(selection.cases[0][1].spec)] = {"value": [result]}
    rows, skipped, failures = compare(selection, {selection.store: results})
    assert not rows and not failures and why in skipped[0]["why"]


def test_a_case_may_take_any_result_of_a_batch():
    case = Case(("a",), "blackhole/x", 2.0, "ns", value=lambda results: results[1])
    selection = Selection("operations", operations.__name__, [(file_of(line())[0], case)])
    results = Results(selection.store, enabled=False)
    results.known[repr(case.spec)] = {"value": [1.0, 3.0]}
    rows, *_ = compare(selection, {selection.store: results})
    assert summary(rows, [], [], 0.0)["median_abs_err_pct"] == pytest.approx(50)
