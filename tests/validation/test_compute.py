"""Compute validation: rows become kernels, mechanisms show where they should, and the bounding unit is the documented one."""

import csv
import json
import os

import pytest
from click.testing import CliRunner

from tensim.cli.main import main
from tensim.examples.matmul_kernels import multiply_blocks
from tensim.sim.arch import load_arch
from tensim.sim.chip import statistics
from tensim.sim.cores.kernels.compiler import kernel_from_source
from tensim.sim.errors import KernelCompileError
from tensim.validation.compute import rows as compute
from tensim.validation.compute.programs import (
    AT_BOTH_LEVELS,
    CB_IN0,
    CB_IN1,
    CB_OUT,
    CB_PARTIALS,
    Core,
    create_circular_buffer,
    kernels,
    run,
    zone,
)
from tensim.validation.rows import Row, Skip, cases_of, read_rows

needs_tree = pytest.mark.skipif("TENSIM_LLK" not in os.environ, reason="TENSIM_LLK names no LLK sources")
BF16 = ("Float16_b", "Float16_b", "HiFi4", False, False, False)
TTLANG = dict.fromkeys(
    "benchmark arch clock_MHz strategy_or_variant data_format math_fidelity fp32_dest_acc dst_full_sync tiles_or_acc_tiles "
    "mt_tiles nt_tiles kt_tiles dst_chunk_or_subblock iters_or_transfers source_residency block_count expr_or_op metric "
    "value_us derived_cycles source_section".split(),
    "",
)


COPIES = {"benchmark": "MB1_pack_unpack", "tiles_or_acc_tiles": "4"}


def ttlang(**columns):
    """A row of ttlang_microbench.csv."""
    return Row("ttlang:1", 2, TTLANG | {"arch": "blackhole", "clock_MHz": "1350", "data_format": "bf16"} | columns)


# --- reading rows


def test_a_row_is_read_from_its_columns_and_never_from_its_value():
    columns = {
        "benchmark": "MB3_matmul_K", "strategy_or_variant": "L1-K", "math_fidelity": "HiFi2", "mt_tiles": "4",
        "nt_tiles": "8", "kt_tiles": "2", "dst_full_sync": "0", "fp32_dest_acc": "0",
    }  # fmt: skip
    slow, fast = (compute.read(ttlang(**columns, derived_cycles=value), "ttlang") for value in ("9000", "1"))
    assert slow.spec == fast.spec and (slow.measured, fast.measured) == (9000.0, 1.0)
    assert slow.spec[0] == "matmul_k_by_packer" and slow.spec[3] == (4, 8, 2, 1, 8, 0)
    assert slow.group == "blackhole/MB3_matmul_K"


@pytest.mark.parametrize(
    "mt, nt, capacity, expected",
    [(4, 4, 8, (2, 4)), (4, 8, 8, (1, 8)), (1, 1, 8, (1, 1)), (4, 4, 16, (4, 4)), (4, 4, 4, (1, 4))],
)
def test_the_subblock_is_the_widest_of_the_largest(mt, nt, capacity, expected):
    assert compute.subblock(mt, nt, capacity) == expected


def test_probes_of_risc_v_instructions_are_skipped_with_the_reason():
    row = Row("w:1", 2, {"probe": "rv_addi_dep", "unit": "RV", "active_threads": "1"})
    with pytest.raises(Skip, match="RISC-V"):
        compute.read(row, "derived_rates")


def file_of(path, *rows):
    """The path of a file with these rows."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, TTLANG)
        writer.writeheader()
        writer.writerows(row.columns for row in rows)
    return path


def test_a_file_is_known_by_its_columns(tmp_path):
    good, bad = (
        ttlang(**COPIES, derived_cycles="340.2"),
        ttlang(**COPIES | {"tiles_or_acc_tiles": "four"}, derived_cycles="1"),
    )
    path = file_of(tmp_path / "anything.csv", good, bad)
    rows, layout = read_rows(path, compute.COLUMNS)
    cases, skipped, bad = cases_of(rows, layout, compute.read)
    assert layout == "ttlang" and [case.spec[3] for _, case in cases] == [(4, 4)] and not skipped
    assert bad[0]["line"] == 3 and "tiles_or_acc_tiles" in bad[0]["why"]


# --- mechanisms


def test_fidelity_phases_of_a_product_of_tiles_wait_for_dst():
    """Each phase adds 4 faces x 6 cycles (mul_tiles rows of llk_blackhole_op_costs.csv)."""
    times = [run("math_call", "blackhole", (*BF16[:2], f, *BF16[3:]), ("mul",)) for f in ("HiFi2", "HiFi3", "HiFi4")]
    assert times[1] - times[0] == times[2] - times[1] == 24


def test_a_math_call_costs_its_risc_v_time_when_the_unit_is_faster():
    lofi = run("math_call", "blackhole", (*BF16[:2], "LoFi", *BF16[3:]), ("mul",))
    assert lofi > 8 + 4.4  # instructions and overhead alone
    assert lofi == pytest.approx(run("math_call", "blackhole", BF16, ("reduce_max_column",)), rel=0.01)


def test_full_sync_makes_math_and_pack_take_turns():
    half, full = (run("copy_two", "blackhole", (*BF16[:4], sync, False), (64, 8)) for sync in (False, True))
    assert full > 1.15 * half


def test_larger_chunks_share_one_handover():
    times = [run("copy_two", "blackhole", BF16, (64, chunk)) for chunk in (1, 2, 4, 8)]
    assert times == sorted(times, reverse=True)


def test_threads_share_the_units_of_the_coprocessor():
    alone, three = (run("instruction", "blackhole", BF16, ("SFPMAD", threads)) for threads in (1, 3))
    assert three == pytest.approx(3 * alone, rel=0.05)
    own = run("instruction", "blackhole", BF16, ("NOP", 3))
    assert own == pytest.approx(run("instruction", "blackhole", BF16, ("NOP", 1)))


def test_tiles_with_few_rows_need_fewer_matrix_instructions():
    times = [run("matmul_packed", "wormhole_b0", (*BF16[:4], True, False), (1, 64, rows)) for rows in (8, 16, 32)]
    assert times[0] < times[1] < times[2]


# --- the kernel language


def test_an_unknown_coprocessor_instruction_is_refused():
    with pytest.raises(KernelCompileError, match="tt_instruction does not know SFPWHAT"):
        kernel_from_source('@kernel\ndef k():\n    tt_instruction("SFPWHAT", 3)\n').compile()


def test_unpack_math_and_pack_take_one_call():
    with pytest.raises(KernelCompileError, match="UNPACK takes one call"):
        kernel_from_source("@kernel\ndef k():\n    UNPACK(3)\n").compile()


# --- what bounds a product (docs/hardware/tensix.md#matmul-limits)


def bound(arch, data_format, fidelity, rt, ct):
    """`bounded_by` of a block of 8x8 tiles, 16 deep, in L1."""
    settings = (data_format, data_format, fidelity, False, False, False)
    with Core(arch, settings) as core:
        sizes = ((CB_IN0, 8 * 16), (CB_IN1, 8 * 16), (CB_PARTIALS, 64), (CB_OUT, 64))
        for index, tiles in sizes:
            create_circular_buffer(core.program, core.cores, index, tiles, core.dtype)
        core.mover(kernels.feed, (CB_IN0, 8 * 16, 2))
        core.mover(kernels.feed, (CB_IN1, 8 * 16, 2), writer=True)
        core.compute(multiply_blocks, 1, 2, 8, 8, 16, rt, ct, 1, 0)
        core.run()
        chip = core.device.chip
        return statistics.bounded_by(chip, statistics.program_cycles(chip))


@pytest.mark.parametrize(
    "arch, data_format, fidelity, rt, ct, unit",
    [
        ("wormhole_b0", "Float16_b", "HiFi4", 1, 8, "fpu"),
        ("wormhole_b0", "Float16_b", "HiFi2", 1, 8, "unpack"),
        ("wormhole_b0", "Float16_b", "HiFi2", 4, 2, "unpack"),
        ("wormhole_b0", "Bfp8_b", "HiFi2", 1, 8, "fpu"),
        ("wormhole_b0", "Bfp8_b", "LoFi", 1, 8, "unpack"),
        ("wormhole_b0", "Bfp4_b", "LoFi", 1, 8, "fpu"),
        ("blackhole", "Float16_b", "HiFi4", 1, 8, "fpu"),
        ("blackhole", "Float16_b", "HiFi2", 1, 8, "fpu"),
        ("blackhole", "Bfp8_b", "HiFi2", 1, 8, "fpu"),
        ("blackhole", "Bfp8_b", "LoFi", 1, 8, "fpu"),
        ("blackhole", "Bfp4_b", "LoFi", 1, 8, "fpu"),
    ],
)
def test_the_unit_that_bounds_a_product_is_the_documented_one(arch, data_format, fidelity, rt, ct, unit):
    assert bound(arch, data_format, fidelity, rt, ct) == unit


def test_pairs_of_compute_differ_in_strategy_synchronisation_or_subblock():
    """Rows of equal conditions; where the measurement is described does not matter."""
    columns = {"benchmark": "MB2_accumulate", "tiles_or_acc_tiles": "4", "dst_chunk_or_subblock": ""}

    def row(strategy, full_sync, section, measured, simulated):
        mine = {"strategy_or_variant": strategy, "dst_full_sync": full_sync, "source_section": section}
        text = {"value_us": str(measured), "derived_cycles": str(1000 * measured)}
        return {
            "group": "wormhole_b0/MB2",
            "measured": measured,
            "simulated": simulated,
            "columns": columns | mine | text,
        }

    rows = [row("DST", "0", "MB2", 1.0, 1.0), row("L1", "0", "MB2", 2.0, 3.0), row("DST", "1", "MB2 sync", 1.5, 0.9)]
    assert compute.pairs(rows) == {"n": 2, "agree": 1, "by_group": {"wormhole_b0/MB2": {"n": 2, "agree": 1}}}
    other = {"group": "blackhole/LLK math", "measured": 1.0, "simulated": 1.0, "columns": {"engine": "math"}}
    assert compute.pairs([other])["n"] == 0


# --- sums: the RISC-V cores run ahead of their coprocessor, the packer shares L1


def sum_time(strategy, tiles, blocks, resident=1, arch="wormhole_b0", full_sync=False):
    return run(strategy, arch, (*BF16[:4], full_sync, False), (tiles, blocks, resident, 0, 2))


def test_a_zone_ends_before_the_packer_does():
    with Core("wormhole_b0", BF16) as core:
        core.buffers(A=2, SUM=1, OUT=1)
        core.reader("read_sum_operands", (1, 1), [core.tensor(2)])
        core.compute(kernels.sum_by_packer, 1, 1, 1, 0)
        times = core.run()
    assert all(times.issued[name] <= cycles for name, cycles in times.ended.items())
    assert zone(times) == times.issued["TRISC0"] < times.ended["TRISC2"] - 100


def test_few_blocks_of_a_tile_cost_issue_time_until_the_instruction_fifos_are_full():
    one, two, eight, sixteen = (sum_time("sum_by_packer", 1, blocks) for blocks in (1, 2, 8, 16))
    assert two - one < 40 < (sixteen - eight) / 8


def test_a_sum_of_blocks_in_dst_leaves_one_call_in_the_instruction_fifo(monkeypatch):
    """With data from DRAM only the last block's work is left.  Two tiles a block leave one more call than one tile: 43 cycles and
    its waits.  Refreshes, which meet one program and not the other, are too rare here to meet any.
    """
    rare = {"dram.t_refi_ns": 1e9}
    monkeypatch.setattr("tensim.validation.compute.programs.load_arch", lambda name, _=None: load_arch(name, rare))
    one, two = (sum_time("sum_in_dst", tiles, 8, 0) - sum_time("sum_by_packer", tiles, 8, 0) for tiles in (1, 2))
    assert one == 0 and 43 <= two < 2 * 43


@pytest.mark.parametrize("full_sync, low, high", [(False, 56, 63), (True, 78, 84)])
def test_the_packer_is_slowed_by_unpackers_that_read_beside_it(full_sync, low, high):
    """Half sync unpacks the next block meanwhile; full sync copies and packs by turns, 43 and 41 cycles a tile,
    less what the first tiles of a block save, which wait in the source banks."""
    few, many = (sum_time("sum_by_packer", 4, blocks, full_sync=full_sync) for blocks in (4, 12))
    assert low < (many - few) / 32 < high


# --- the same kernels at the level of instructions

ROWS = {  # arguments of each structure, of a small program
    "copy_same": (8, 4), "copy_two": (8, 2), "vector_stream": ("exp", 4, 2), "operation_per_round": ("transpose", 8, 4),
    "operation_per_tile": ("mul", 4), "vector_marginal": ("rsqrt", 4, 0), "fused_chain": (4, 2), "sum_in_dst": (2, 8, 1, 0, 2),
    "sum_by_packer": (2, 8, 0, 0, 2), "matmul_k_in_dst": (2, 2, 4, 2, 2, 1), "matmul_k_by_packer": (2, 2, 4, 2, 2, 0),
    "matmul_scaled_accumulate": (2, 2, 4, 2, 2, 0), "matmul_tile_loop": (2, 2, 4, 2), "matmul_packed": (4, 64, 32),
}  # fmt: skip


def test_structures_at_both_levels_are_those_of_the_rows():
    assert set(ROWS) == set(AT_BOTH_LEVELS)


@needs_tree
@pytest.mark.parametrize("structure", ROWS)
def test_both_levels_tell_the_same_story(structure):
    """The C++ text of each structure is built against the LLK and takes what the Python kernel does, to a quarter or a third."""
    spec = (structure, "blackhole", (*BF16[:5], "matmul_k_in_dst" == structure), ROWS[structure])
    operation, instruction = compute.simulate(spec), compute.simulate(spec, "instruction")
    assert instruction == pytest.approx(operation, rel=0.35)


@needs_tree
def test_a_pack_thread_runs_ahead_as_far_as_its_instruction_fifo_holds():
    """In a whole Dst each further tile takes some 45 cycles up to six of them, and 65 beyond (MB5A); RISC-V time is 40."""
    full = (*BF16[:4], True, False)
    one, four, eight, sixteen = (
        compute.simulate(("copy_two", "blackhole", full, (64, chunk)), "instruction") * chunk / 64
        for chunk in (1, 4, 8, 16)
    )
    assert (four - one) / 3 < 52 and (sixteen - eight) / 8 > 58
    half = [compute.simulate(("copy_two", "blackhole", BF16, (64, n)), "instruction") * n / 64 for n in (2, 4, 8)]
    assert (half[2] - half[1]) / 4 == pytest.approx((half[1] - half[0]) / 2, rel=0.05) == pytest.approx(40, rel=0.1)


@needs_tree
def test_blocks_are_packed_at_the_packers_rate():
    """A block is one call: 25 cycles a tile, which are its 16 words and the nine that set its address (MB5B)."""
    times = [
        compute.simulate(("operation_per_round", "blackhole", BF16, ("add", 64, n)), "instruction") * n / 64
        for n in (2, 4, 8)
    ]
    assert (
        (times[2] - times[1]) / 4 == pytest.approx(25.5, abs=1.5) == pytest.approx((times[1] - times[0]) / 2, rel=0.1)
    )


@needs_tree
def test_a_zone_of_instructions_ends_before_the_packer_does():
    with Core("wormhole_b0", (*BF16, True)) as core:
        core.buffers(A=2, SUM=1, OUT=1)
        core.reader("read_sum_operands", (1, 1), [core.tensor(2)])
        core.compute(kernels.sum_by_packer, 1, 1, 1, 0)
        times = core.run()
    assert all(0 < times.issued[name] <= cycles for name, cycles in times.ended.items())
    assert zone(times) < times.ended["TRISC2"]


@needs_tree
def test_the_command_says_its_level_and_leaves_out_what_an_engine_does_alone(tmp_path):
    blocks = ttlang(
        benchmark="MB3_compute_feed_ladder", strategy_or_variant="mm3", mt_tiles="8", nt_tiles="8", kt_tiles="8",
        iters_or_transfers="num_blocks=2", derived_cycles="1",
    )  # fmt: skip
    path = file_of(tmp_path / "rows.csv", ttlang(**COPIES, derived_cycles="340.2"), blocks)
    engine = tmp_path / "engine.csv"
    engine.write_text(
        "arch,ttkernel_op,engine,input_format,output_format,fp32_dest_acc,extra_config,cycles\n"
        "blackhole,mul_tiles,math (FPU),Float16_b,Float16_b,0,math_fidelity=LoFi,18.9\n"
    )
    options = ["--compute", "instruction", "--jobs", "1", "--json"]
    ran = CliRunner().invoke(main, ["validate", "compute", str(path), str(engine), *options])
    result = json.loads(ran.stdout)
    assert ran.exit_code == 0 and result["compute_level"] == "instruction" and result["n"] == 1
    other_names, engine_alone = (one["why"] for one in result["skipped"])
    assert "other names" in other_names and "validate instruction" in engine_alone


def test_other_kinds_have_one_level(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a\n")
    ran = CliRunner().invoke(main, ["validate", "gemm", str(path), "--compute", "instruction"])
    assert ran.exit_code != 0 and "validate gemm has one level only" in ran.output
