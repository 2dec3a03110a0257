"""Compute time: rows of the compute benchmarks as kernels on one core.

`read` turns a row into the arguments of one structure of `compute_programs`; nothing here looks at a measured value.
"""

import re

from tensim.sim.arch import load_arch
from tensim.sim.cores.numerics.sfpu_functions import SFPU_API
from tensim.validation.compute.programs import AT_BOTH_LEVELS, run
from tensim.validation.compute.sources import vector_function
from tensim.validation.instruction import rows as instruction
from tensim.validation.pairs import pair_order
from tensim.validation.rows import Case, Skip

SECONDS = 3e-3  # processor time per unit of a case's work, roughly
COLUMNS = {
    "ttlang": ("benchmark", "strategy_or_variant", "dst_full_sync", "tiles_or_acc_tiles", "dst_chunk_or_subblock"),
    "llk_ops": ("ttkernel_op", "engine", "input_format", "output_format", "extra_config", "cycles"),
    "llk_points": ("test", "input_format", "output_format", "dest_sync", "loop_factor", "cycles_median_of_10"),
    "single_core": ("benchmark", "shape_or_case", "configuration", "tile_macs", "value"),
    "derived_rates": ("dataset", "phase", "probe", "unit", "active_threads", "cycles_per_instruction_or_call"),
}
FORMATS = {
    "bf16": "Float16_b", "f16": "Float16", "fp32": "Float32", "fp32(tf32)": "Float32", "bfp8": "Bfp8_b",
    "bfloat8_b": "Bfp8_b", "bfloat16": "Float16_b", "bfp4": "Bfp4_b",
}  # fmt: skip
SUM_OPS = {"add": 0, "gelu": 1, "mul": 2}
# columns in which rows of a pair may differ
DESIGNS = ("strategy_or_variant", "dst_full_sync", "dst_chunk_or_subblock")
RESULTS = ("value_us", "derived_cycles", "source_section")  # what a row says about its measurement, not its program


def simulate(spec, compute="operation", release=None):
    """What the row of `spec` = (structure, arch, settings, arguments) measures, in the row's unit.

    `compute`: the level; at that of instructions the compute kernels are built against the LLK of `release`, to which kept
    results belong.
    """
    structure, arch, settings, arguments = spec
    if compute == "operation":
        return run(*spec)
    if structure == "matmul_blocks":
        raise Skip("the kernel of tt-metal's blocked product calls what later releases have under other names")
    if structure not in AT_BOTH_LEVELS:
        raise Skip("an engine, an instruction or an initialisation alone: validate instruction re-creates it")
    return run(structure, arch, (*settings, True), arguments)


def at_level(compute):
    """Keyword arguments of `simulate` for a level; UsageError where the vendor's LLK sources are needed and not known."""
    if compute == "operation":
        return {}
    instruction.require()
    return {"compute": compute, "release": instruction.release_of_llk()}


def read(row, layout):
    """The case of a row of the file `layout`."""
    return {
        "ttlang": _ttlang, "llk_ops": _llk_op, "llk_points": _llk_point, "single_core": _single_core,
        "derived_rates": _derived_rate,
    }[layout](row)  # fmt: skip


def pairs(rows):
    """How often simulation orders two strategies, synchronisations or sub-blocks as silicon does (`ttlang` rows)."""
    alike = [row for row in rows if set(DESIGNS) <= set(row["columns"])]
    conditions = [name for name in alike[0]["columns"] if name not in (*DESIGNS, *RESULTS)] if alike else []
    return pair_order(alike, DESIGNS, conditions)


def _settings(fmt="bf16", fidelity="HiFi4", acc32=0, full_sync=0, approx=0, out=None):
    """(format, output format, fidelity, fp32 destination, full sync, approximate) of the compute kernel."""
    name = FORMATS.get(fmt, fmt)
    return (name, FORMATS.get(out, out) or name, fidelity or "HiFi4", bool(acc32), bool(full_sync), bool(approx))


def _capacity(row_settings, arch):
    _, _, _, acc32, full_sync, _ = row_settings
    tiles = load_arch(arch)["tensix.dst.tiles32" if acc32 else "tensix.dst.tiles16"]
    return tiles if full_sync else tiles // 2


# --- ttlang_microbench.csv


def _ttlang(row):
    benchmark = row["benchmark"]
    family = next((name for name in TTLANG if benchmark.startswith(name)), None)
    if family is None:
        raise Skip(f"benchmark {benchmark} has no re-creation")
    if benchmark.startswith("pipes"):
        raise Skip("a data-movement benchmark: no compute kernel takes part")
    settings = _settings(
        row["data_format"], row["math_fidelity"],
        row.integer("fp32_dest_acc", 0), row.integer("dst_full_sync", 0), "gelu" in row["expr_or_op"],
    )  # fmt: skip
    structure, arguments, work = TTLANG[family](row, settings)
    measured = (
        row.number("derived_cycles")
        if row["derived_cycles"].strip()
        else row.number("value_us") * row.number("clock_MHz")
    )
    return Case((structure, row["arch"], settings, arguments), f"{row['arch']}/{benchmark}", measured, "cycles", work)


def _mb1(row, settings):
    tiles = row.integer("tiles_or_acc_tiles")
    chunk = min(tiles, _capacity(settings, row["arch"]))
    return "copy_same", (tiles, chunk), tiles


def _mb2(row, settings):
    strategy = {"DST-resident": "sum_in_dst", "L1-pack": "sum_by_packer"}[row["strategy_or_variant"]]
    resident = int(row["source_residency"] == "L1")
    blocks, depth = row.integer("iters_or_transfers"), row.integer("block_count")
    arguments = (row.integer("tiles_or_acc_tiles"), blocks, resident, SUM_OPS[row["expr_or_op"]], depth)
    return strategy, arguments, arguments[0] * blocks


def subblock(mt, nt, capacity):
    """(rows, columns) of the largest subblock that divides mt x nt and fits, the widest of these."""
    fits = [
        (r * c, c, r) for r in range(1, mt + 1) for c in range(1, nt + 1)
        if mt % r == 0 and nt % c == 0 and r * c <= capacity
    ]  # fmt: skip
    _, columns, rows = max(fits)
    return rows, columns


def _shape(row):
    return tuple(row.integer(f"{name}_tiles") for name in ("mt", "nt", "kt"))


def _given_subblock(row):
    match = re.fullmatch(r"(\d+)x(\d+)", row["dst_chunk_or_subblock"])
    if not match:
        raise ValueError(f"column dst_chunk_or_subblock is {row['dst_chunk_or_subblock']!r}, not ROWSxCOLUMNS")
    return int(match[1]), int(match[2])


def _mb3(row, settings):
    mt, nt, kt = _shape(row)
    block = subblock(mt, nt, _capacity(settings, row["arch"]))
    structure = {"DST-K": "matmul_k_in_dst", "L1-K": "matmul_k_by_packer"}[row["strategy_or_variant"]]
    return structure, (mt, nt, kt, *block, int("gelu" in row["expr_or_op"])), mt * nt * kt


def _mb5c(row, settings):
    mt, nt, kt = _shape(row)
    structure = {"DST-K": "matmul_k_in_dst", "L1-K": "matmul_k_by_packer"}[row["strategy_or_variant"]]
    return structure, (mt, nt, kt, *_given_subblock(row), 0), mt * nt * kt


def _mb5d(row, settings):
    mt, nt, kt = _shape(row)
    return "matmul_scaled_accumulate", (mt, nt, kt, *_given_subblock(row), 0), mt * nt * kt


def _ladder(row, settings):
    mt, nt, kt = _shape(row)
    blocks = int(row["iters_or_transfers"].removeprefix("num_blocks="))
    style = row["strategy_or_variant"].split("_")[0]
    if style == "mm1":
        return "matmul_tile_loop", (mt, nt, kt // blocks, blocks), mt * nt * kt
    l1_acc = int(style not in ("mm2", "mm3"))
    return "matmul_blocks", (mt, nt, kt // blocks, blocks, 4, 2, l1_acc), mt * nt * kt


def _mb4_sfpu(row, settings):
    words = row["expr_or_op"].split()
    name = vector_function(words[0])
    return "vector_marginal", (name, row.integer("tiles_or_acc_tiles"), int("fast" in words[1:])), 4


COMPOSED = {
    "copy": "copy", "add": "add", "sub_bcast_cols": "sub_bcast_cols", "mul (HiFi4 default)": "mul",
    "mul_bcast_cols": "mul_bcast_cols", "reduce_max row (per input tile)": "reduce_max_row",
    "reduce_sum row (per input tile)": "reduce_sum_row",
}  # fmt: skip


def _mb4_op(row, settings):
    return "operation_per_tile", (COMPOSED[row["expr_or_op"]], row.integer("tiles_or_acc_tiles")), 4


def _mb5a(row, settings):
    tiles, chunk = row.integer("tiles_or_acc_tiles"), row.integer("dst_chunk_or_subblock")
    variant = row["strategy_or_variant"]
    two = "twocb" in variant or "two CB" in variant
    return "copy_two" if two else "copy_same", (tiles, chunk), tiles


def _mb5b(row, settings):
    rows, columns = _given_subblock(row)
    tiles = row.integer("tiles_or_acc_tiles")
    return "operation_per_round", (row["expr_or_op"], tiles, rows * columns), tiles


def _mb5e(row, settings):
    return "fused_chain", (row.integer("tiles_or_acc_tiles"), row.integer("dst_chunk_or_subblock")), 100


def _mb5_exp(row, settings):
    return "vector_stream", ("exp", row.integer("tiles_or_acc_tiles"), row.integer("dst_chunk_or_subblock")), 100


TTLANG = {
    "MB1_": _mb1, "MB2_": _mb2, "MB3_matmul_K": _mb3, "MB3_compute_feed_ladder": _ladder,
    "MB4_sfpu_unary": _mb4_sfpu, "MB4_composed_op": _mb4_op, "MB5A_": _mb5a, "MB5B_": _mb5b, "MB5C_": _mb5c,
    "MB5D_": _mb5d, "MB5E_": _mb5e, "MB5_exp": _mb5_exp, "pipes_": None,
}  # fmt: skip


# --- llk_blackhole_op_costs.csv: one engine alone


def _llk_op(row):
    name, engine, extra = row["ttkernel_op"], row["engine"], row["extra_config"]
    settings = _settings(
        row["input_format"], _fidelity(extra), row.integer("fp32_dest_acc", 0), out=row["output_format"]
    )
    settings = (*settings[:5], "approx_mode=true" in extra)
    thread = engine.split()[0]
    if name.endswith("_init") or name == "compute_kernel_hw_startup":
        structure, arguments = _initialisation(name, extra, thread)
    elif engine == "math (SFPU)":
        structure, arguments = "vector_part", (vector_function(name),)
    else:
        structure, arguments = f"{thread}_call", (_llk_operation(name, extra),)
    group = f"{row['arch']}/LLK {GROUPS.get(structure, engine)}"
    return Case((structure, row["arch"], settings, arguments), group, row.number("cycles"), "cycles")


def _fidelity(extra):
    match = re.search(r"LoFi|HiFi\d", extra)
    return match[0] if match else None


GROUPS = {"init_call": "init", "vector_init": "SFPU init", "vector_part": "SFPU"}  # of structures; of others the engine


def _initialisation(name, extra, thread):
    """(structure, arguments) of an initialisation: a vector function's, or the one of its kind that stands for it."""
    function = name.removesuffix("_tile_init")
    if function in SFPU_API:
        clamping = ", input_clamping=0" if "input_clamping=false" in extra else ""
        return "vector_init", (function, f"approx=1{clamping}" if "approx_mode=true" in extra else "approx=0")
    if name in ("mul_tiles_init", "copy_tile_init", "compute_kernel_hw_startup"):
        return "init_call", (name, thread)
    return "init_call", (
        "copy_tile_init" if name.startswith(("copy", "unary", "transpose")) else "mul_tiles_init",
        thread,
    )


def _llk_operation(name, extra):
    simple = {
        "mul_tiles": "mul", "add_tiles": "add", "sub_tiles": "add", "copy_tile": "copy", "pack_tile": "copy",
        "transpose_wh_tile": "transpose", "transpose_tile": "transpose",
    }  # fmt: skip
    if name in simple:
        return simple[name]
    if name == "reduce_tile":
        pool = "max" if "Max" in extra else "sum"
        dim = next(text for word, text in REDUCTIONS.items() if word in extra)
        return f"reduce_{pool}_{dim}"
    raise Skip(f"operation {name} has no re-creation")


REDUCTIONS = {"ReduceColumn": "column", "ReduceRow": "row", "ReduceScalar": "scalar"}


# --- llk_wormhole_l1_to_l1_points.csv


def _llk_point(row):
    settings = _settings(
        row["input_format"], row["math_fidelity"], row["fp32_dest_acc"] == "Yes", row["dest_sync"] == "Full",
        out=row["output_format"],
    )  # fmt: skip
    tiles, loops = row.integer("tiles"), row.integer("loop_factor")
    rows = min(row.integer("in0_tile_rows"), 32)
    case = ("matmul_packed", row["arch"], settings, (tiles, loops, rows))
    return Case(case, f"{row['arch']}/{row['test']}", row.number("cycles_median_of_10"), "cycles", 50)


# --- single_core_matmul_and_dram_baselines.csv


def _single_core(row):
    if row["benchmark"] != "single_core_matmul_L1":
        raise Skip("not a single-core product: DRAM and NoC rows are the business of other kinds")
    m, n, k_block, blocks = (int(row_number) for row_number in re.findall(r"=(\d+)", row["shape_or_case"]))
    flags = dict(re.findall(r"(packer_l1_acc|fp32_dest_acc)=(\d)", row["configuration"]))
    shape = re.search(r"subblock (\d+)x(\d+)", row["configuration"])
    settings = _settings(row["data_format"].split()[0], row["fidelity"], int(flags["fp32_dest_acc"]))
    arguments = (m // 32, n // 32, k_block // 32, blocks, int(shape[1]), int(shape[2]), int(flags["packer_l1_acc"]))
    case = ("matmul_blocks", row["arch"], settings, arguments)
    return Case(case, f"{row['arch']}/{row['benchmark']}", row.number("value"), "cycles", row.number("tile_macs"))


# --- wolfpine_derived_rates.csv


def _derived_rate(row):
    probe, unit, threads = row["probe"], row["unit"], row.integer("active_threads")
    if unit.startswith("RV") or unit == "TTINSN":
        raise Skip("a probe of RISC-V instructions, not of the Tensix engine: validate issue re-creates it")
    group, measured = f"blackhole/wolfpine {unit}", row.number("cycles_per_instruction_or_call")
    if probe == "matmul_tiles":
        settings = _settings("bf16", row["variant"])
        return Case(("matmul_call", "blackhole", settings, ()), "blackhole/wolfpine matmul_tiles", measured, "cycles")
    name = probe.removeprefix("tt_").upper()
    return Case(("instruction", "blackhole", _settings(), (name, threads)), group, measured, "cycles")
