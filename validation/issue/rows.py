"""Rates of RISC-V and instruction issue: `tensim validate issue CSV...`.

A probe is a loop of one kind of instruction on one, two or three compute threads of a core, those of the row: its cost is the
slope over the rounds, less that of an empty loop, over the unrolled statements.  What a RISC-V core does alone is measured
twice: with Python kernels, and with the same instructions in C++ (`Case.cpp`).  Series of single coprocessor instructions
and products of tiles are re-created as `tensim validate compute` does.
"""

import re
from pathlib import Path

import numpy as np

import tensim as tt
from tensim.sim.arch import load_arch
from tensim.validation.compute import rows as compute
from tensim.validation.compute.programs import FEW, MANY, Core
from tensim.validation.dram.rows import measured_of
from tensim.validation.issue.kernels import (
    CPP_PROBES,
    CPP_SOURCE,
    PLAIN,
    PROBES,
    code_source,
    cpp_defines,
    empty_source,
    probe_source,
)
from tensim.validation.rows import Case, Skip

SECONDS = 5e-3  # processor time per unit of a case's work, roughly
COLUMNS = {
    "probes": ("dataset", "phase", "variant", "probe", "unit", "active_threads", "cycles_per_instruction_or_call"),
    "isa": ("arch", "category", "case", "direction_or_condition", "vc_allocation", "noc", "unit", "value"),
}
SETTINGS = ("Float16_b", "Float16_b", "LoFi", False, False, False)
THREADS = {1: (1,), 2: (0, 1), 3: (0, 1, 2)}  # of the probes, by their number: a lone one is TRISC1
LOADED = 3 * 4096  # bytes of L1 that the probes of the three threads load
STATED = {  # of the ISA pages: case -> probe
    "core-local data RAM": "rv_load_stack",
    "L1 scratchpad": "rv_load_chase",
    "store to L1 sustained": "rv_store_spread",
    "multiply": "rv_mul_dep",
    "divide general": "rv_div",
}


def simulate(spec):
    """Cycles per statement of a spec ("statement" | "code" | "cpp", arch, ...), or what a spec of `validate compute` measures."""
    if spec[0] == "compute":
        return compute.simulate(spec[1:])
    if spec[0] == "code":
        _, arch, count = spec
        return (_python_slope(arch, code_source(count)) - _python_slope(arch, empty_source("rv_addi_dep"))) / count
    if spec[0] == "cpp":
        _, arch, name, count, threads, thread = spec
        loop, empty = (_slope(arch, CPP_SOURCE, thread, cpp_defines(name, n, threads)) for n in (count, 0))
        return (loop - empty) / count
    _, arch, name, threads, thread = spec
    loop = _python_slope(arch, probe_source(name, threads), thread)
    return (loop - _python_slope(arch, empty_source(name), thread)) / PROBES[name].count


def _python_slope(arch, source, thread=1):
    return _slope(arch, source, thread, {})


def _slope(arch, source, thread, defines):
    """Cycles per round of a loop on compute thread `thread`; `source`: a Python kernel's text, or a file."""
    is_cpp, base = isinstance(source, Path), load_arch(arch).l1_user_base
    create = tt.create_kernel if is_cpp else tt.create_kernel_from_string
    pointers = np.arange(base, base + LOADED, 4, dtype=np.uint32)  # to themselves: loads find what was written
    cycles = []
    for rounds in (FEW, MANY):
        with Core(arch, SETTINGS, "fast") as core:  # addresses that are loaded need data
            at = tt.CoreCoord(0, 0)
            kernel = create(core.program, source, at, tt.ComputeConfig(defines=defines))
            tt.set_runtime_args(core.program, kernel, at, [rounds, base] if is_cpp else [rounds, base, 1])
            core.device.chip.memory.write_l1(0, base, pointers.tobytes())
            cycles.append(core.run().ended[f"TRISC{thread}"])
    return (cycles[1] - cycles[0]) / (MANY - FEW)


def read(row, layout):
    """The case of a row."""
    return _probe(row) if layout == "probes" else _stated(row)


def _probe(row):
    probe, threads = row["probe"], row.integer("active_threads")
    if row["phase"] in ("A", "B") or (row["phase"] == "t" and row["unit"] != "TTINSN"):
        case = compute.read(row, "derived_rates")
        return Case(("compute", *case.spec), f"blackhole/{probe}", case.measured, case.unit)
    arch = "wormhole_b0" if "wormhole" in row["dataset"] else "blackhole"
    measured = row.number("cycles_per_instruction_or_call")
    if code := re.fullmatch(r"[fg]_(\d+)", probe):
        count = int(code[1])
        cpp = _cpp(arch, "rv_addi_dep", (1,), 1, count)
        return Case(("code", arch, count), f"{arch}/code footprint", measured, "cycles", count / 64, cpp=cpp)
    if probe not in PROBES and probe not in CPP_PROBES:
        raise Skip(f"no statement of the kernel language is known for {probe}")
    if threads not in THREADS:
        raise ValueError(f"column active_threads is {threads}, not 1, 2 or 3")
    thread = row.integer("thread")
    if thread not in THREADS[threads]:
        raise ValueError(f"column thread is {thread}: not one of the {threads} active ones")
    return _case(arch, probe, THREADS[threads], thread, f"{arch}/{probe}", measured, "cycles")


def _case(arch, probe, threads, thread, group, measured, unit):
    """A probe's case: with Python kernels, where the kernel language has a statement for it, and in C++."""
    cpp = _cpp(arch, probe, threads, thread)
    return Case(("statement", arch, probe, threads, thread) if probe in PROBES else cpp, group, measured, unit, cpp=cpp)


def _cpp(arch, probe, threads, thread, count=PLAIN):
    """The spec of a probe in C++, None where it has none."""
    return ("cpp", arch, probe, count, threads, thread) if probe in CPP_PROBES else None


def _stated(row):
    if row["case"] not in STATED:
        raise Skip(
            f"{row['category']}, {row['case']}: not an issue rate of a RISC-V core, or without a statement for it"
        )
    measured = measured_of(row["value"].replace("per store", ""))
    probe = STATED[row["case"]]
    return _case(row["arch"], probe, (1,), 1, f"{row['arch']}/stated {probe}", measured, row["unit"])
