"""Small kernels, each varying one design choice: `tensim validate kernels CSV...`.

A row names its example; the example's family module re-creates it.  Rows of a file without the column `time_ns` are
simulated only.  A family is a module of `tensim.validation.kernels`: of `programs`, where the structure of the measured
program is described and C++ kernels follow it, or else a Python re-creation whose structure is guessed.  It has
- `spec(row) -> tuple`: what decides the program (hashable, picklable), from the row's columns; `Skip` with the reason;
- `time_ns(*spec) -> float`: builds and runs the program and returns the device time that the row's metric states.
"""

import importlib

from tensim.validation.pairs import pair_order
from tensim.validation.rows import Case, Skip

SECONDS = 0.1  # processor time per unit of a case's work, roughly
COLUMNS = {
    "micro": (
        "example",
        "arch",
        "board",
        "clock_MHz",
        "cores",
        "core_placement",
        "variant",
        "data_format",
        "page_or_write_bytes",
        "params",
        "metric",
    ),
}
FAMILIES = {  # example: module of tensim.validation.kernels
    "bank_placement": "dram_copies", "dram_saturation": "dram_copies", "noc_placement": "dram_copies",
    "reader_placement": "dram_copies",
    "double_buffer": "programs.double_buffer",
    "dual_noc_read": "streams", "trid_double_issue": "streams",
    "index_staging": "scalar_copies", "transfer_alignment": "scalar_copies",
    "page_walk_order": "page_walks",
    "bank_stagger": "tilize_blocks",
    "mcast_topology": "shared_inputs", "shared_input_reuse": "shared_inputs",
    "noc_one_packet": "core_transfers", "row_unicast_vs_mcast": "core_transfers", "split_reader": "core_transfers",
    "reduce_accumulate": "reductions", "reduce_block": "reductions", "row_reduce_accumulate": "reductions",
    "compute_fusion": "expressions", "eltwise_l1_vs_dest_accumulate": "expressions",
    "matmul_output_subblock": "expressions", "sfpu_tile_scope": "expressions",
    "compute_block_size": "tilizing", "handshake_elision": "tilizing", "zero_copy_fold": "tilizing",
    "constant_synthesis": "launches", "distribution_gate": "launches", "width_split": "launches",
    "tensix_all_reduce": "all_reduce", "tensix_all_reduce_compute": "all_reduce",
    "tensix_all_reduce_ring_transport": "all_reduce",
}  # fmt: skip
DESIGNS = ("variant", "core_placement")  # columns in which the two rows of a pair may differ: one of them
CONDITIONS = (
    "example",
    "arch",
    "board",
    "clock_MHz",
    "cores",
    "data_format",
    "page_or_write_bytes",
    "params",
    "metric",
)


def simulate(spec):
    """Device time in ns of a spec: (family module, chip, board, ...)."""
    family, *arguments = spec
    return importlib.import_module(f"tensim.validation.kernels.{family}").time_ns(*arguments)


def read(row, layout):
    """The case of a row; its group is ARCH/EXAMPLE."""
    family = FAMILIES.get(row["example"])
    if family is None:
        raise Skip(f"example {row['example']}: no program re-creates it")
    spec = importlib.import_module(f"tensim.validation.kernels.{family}").spec(row)
    measured = row.number("time_ns") if "time_ns" in row.columns else None
    return Case((family, *spec), f"{row['arch']}/{row['example']}", measured, "ns")


def pairs(rows):
    """How often simulation orders two designs of a family as silicon does."""
    return pair_order(rows, DESIGNS, CONDITIONS)
