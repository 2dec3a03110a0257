"""Rates of RISC-V and instruction issue: `tensim validate issue CSV...`.

A probe is a loop of one kind of instruction on one core: its cost is the slope over the rounds, less that of an empty
loop, over the unrolled statements.  The published probes ran on the compute RISC-Vs; here they run on a data-movement core,
which is of the same kind.  Kernels are Python: what has no counterpart in them (single Tensix instructions, the stack,
taken branches to the next instruction) is skipped.
"""

import re

import host_api as tt
from validation.dram import measured_of
from validation.dram_programs import Bench
from validation.issue_kernels import PRODUCTS, STATEMENTS, UNROLL, loop_source
from validation.rows import Case, Skip

COLUMNS = {
    "probes": ("dataset", "phase", "variant", "probe", "unit", "active_threads", "cycles_per_instruction_or_call"),
    "isa": ("arch", "category", "case", "direction_or_condition", "vc_allocation", "noc", "unit", "value"),
}
FEW, MANY = 4, 12  # rounds between which a slope is taken
STATED = {  # of the ISA pages: case -> probe
    "core-local data RAM": "rv_load_stack",
    "L1 scratchpad": "rv_load_chase",
    "store to L1 sustained": "rv_store_spread",
    "multiply": "rv_mul_dep",
    "divide general": "rv_div",
}
UNEXPRESSED = {
    "t": "single Tensix instructions: tensim's kernels issue tile operations",
    "A": "single Tensix instructions: tensim's kernels issue tile operations",
}


def simulate(spec):
    """Cycles per statement or call of a spec: ("statement" | "code" | "product", arch, ...)."""
    kind, arch, what = spec
    if kind == "product":
        few, many = 8 * FEW, 8 * MANY
        return (_products(arch, what, many) - _products(arch, what, few)) / (many - few)
    if kind == "code":
        return _slope(arch, "x = 1", "x = x" + " + 1" * UNROLL, what // UNROLL) / what
    setup, statement = STATEMENTS[what]
    return (_slope(arch, setup, statement, UNROLL) - _slope(arch, setup, statement, 0)) / UNROLL


def _slope(arch, setup, statement, count):
    """Cycles per round of a loop."""
    cycles = []
    for rounds in (FEW, MANY):
        with Bench(arch) as bench:
            core, source = tt.CoreCoord(0, 0), loop_source(setup, statement, count)
            kernel = tt.create_kernel_from_string(bench.program, source, core, tt.DataMovementConfig())
            tt.set_runtime_args(bench.program, kernel, core, [rounds, bench.scratch])
            cycles.append(bench.run())
    return (cycles[1] - cycles[0]) / (MANY - FEW)


def _products(arch, fidelity, rounds):
    """Cycles of a compute kernel with that many `matmul_tiles` calls."""
    with Bench(arch) as bench:
        core = tt.CoreCoord(0, 0)
        for index in (0, 1, 16):
            config = tt.CircularBufferConfig(2048, {index: tt.DataFormat.Float16_b}).set_page_size(index, 2048)
            tt.create_circular_buffer(bench.program, core, config)
        config = tt.ComputeConfig(math_fidelity=tt.MathFidelity[fidelity])
        kernel = tt.create_kernel_from_string(bench.program, PRODUCTS, core, config)
        tt.set_runtime_args(bench.program, kernel, core, [rounds])
        return bench.run()


def read(row, layout):
    """The case of a row."""
    return _probe(row) if layout == "probes" else _stated(row)


def _probe(row):
    arch = "wormhole_b0" if "wormhole" in row["dataset"] else "blackhole"
    probe, phase = row["probe"], row["phase"]
    measured = row.number("cycles_per_instruction_or_call")
    group = f"{arch}/{probe if phase in 'rc' else 'code footprint'}"
    if phase in UNEXPRESSED:
        raise Skip(UNEXPRESSED[phase])
    if probe == "matmul_tiles":
        return Case(("product", arch, row["variant"]), f"{arch}/matmul_tiles", measured, "cycles", 2)
    if code := re.fullmatch(r"[fg]_(\d+)", probe):
        return Case(("code", arch, int(code[1])), group, measured, "cycles", int(code[1]) / 64)
    if probe not in STATEMENTS:
        raise Skip(f"{probe}: Python kernels have no statement for it")
    return Case(("statement", arch, probe), group, measured, "cycles")


def _stated(row):
    if row["case"] not in STATED:
        raise Skip(
            f"{row['category']}, {row['case']}: not an issue rate of a RISC-V core, or without a statement for it"
        )
    measured = measured_of(row["value"].replace("per store", ""))
    probe = STATED[row["case"]]
    return Case(("statement", row["arch"], probe), f"{row['arch']}/stated {probe}", measured, row["unit"])
