"""Small kernels, each varying one design choice: `tensim validate kernels CSV...`.

A row names its example; the example's family module re-creates it.  A family is a module of `validation.families` with
- `spec(row) -> tuple`: what decides the program (hashable, picklable), from the row's columns; `Skip` with the reason;
- `time_ns(*spec) -> float`: builds and runs the program and returns the device time that the row's metric states.
"""

import importlib

from validation.rows import Case, Skip

COLUMNS = {
    "micro": ("example", "arch", "board", "clock_MHz", "cores", "core_placement", "variant", "params", "metric"),
}
FAMILIES = {  # example: module of validation.families
    "reduce_block": "reductions",
    "row_reduce_accumulate": "reductions",
    "reduce_accumulate": "reductions",
    "compute_fusion": "expressions",
    "eltwise_l1_vs_dest_accumulate": "expressions",
    "matmul_output_subblock": "expressions",
    "sfpu_tile_scope": "expressions",
    "compute_block_size": "tilizing",
    "handshake_elision": "tilizing",
    "zero_copy_fold": "tilizing",
    "constant_synthesis": "streams",
    "distribution_gate": "streams",
    "width_split": "streams",
    "tensix_all_reduce": "all_reduce",
    "tensix_all_reduce_ring_transport": "all_reduce",
    "tensix_all_reduce_compute": "all_reduce",
}


def simulate(spec):
    """Device time in ns of a spec: (family module, chip, board, ...)."""
    family, *arguments = spec
    return importlib.import_module(f"validation.families.{family}").time_ns(*arguments)


def read(row, layout):
    """The case of a row; its group is ARCH/EXAMPLE."""
    family = FAMILIES.get(row["example"])
    if family is None:
        raise Skip(f"example {row['example']}: no program re-creates it")
    spec = importlib.import_module(f"validation.families.{family}").spec(row)
    return Case((family, *spec), f"{row['arch']}/{row['example']}", row.number("time_ns"), "ns")
