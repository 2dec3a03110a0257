"""Small kernels, each varying one design choice: `tensim validate kernels CSV...`.

A row names its example; the example's family module re-creates it.  Rows of a file without the column `time_ns` are
simulated only.  A family is a module of `tensim.validation.kernels`: of `programs`, where the structure of the measured
program is described and C++ kernels follow it, or else a Python re-creation whose structure is guessed.  It has
- `spec(row) -> tuple`: what decides the program (hashable, picklable), from the row's columns; `Skip` with the reason;
- `time_ns(*spec) -> float`: builds and runs the program and returns the device time that the row's metric states.
"""

import importlib

from tensim.validation.kernels.programs.measuring import time_ns
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
DESCRIBED = {  # example: module of tensim.validation.kernels.programs
    **{
        name: name
        for name in (
            "compute_block_size", "constant_synthesis", "double_buffer", "dram_saturation", "eltwise_l1_vs_dest_accumulate",
            "index_staging", "noc_one_packet", "noc_placement", "page_walk_order", "reduce_block", "row_reduce_accumulate",
            "row_unicast_vs_mcast", "shared_input_reuse", "split_reader", "tensix_all_reduce_compute", "transfer_alignment",
            "trid_double_issue",
        )
    },
    "tensix_all_reduce_ring_transport": "ring_transport",
}  # fmt: skip
GUESSED = {  # example: module of tensim.validation.kernels
    "bank_placement": "dram_copies", "reader_placement": "dram_copies",
    "dual_noc_read": "streams", "bank_stagger": "tilize_blocks", "mcast_topology": "shared_inputs",
    "reduce_accumulate": "reductions",
    "compute_fusion": "expressions", "matmul_output_subblock": "expressions", "sfpu_tile_scope": "expressions",
    "handshake_elision": "tilizing", "zero_copy_fold": "tilizing",
    "distribution_gate": "launches", "width_split": "launches",
    "tensix_all_reduce": "all_reduce",
}  # fmt: skip
FAMILIES = GUESSED | {example: f"programs.{name}" for example, name in DESCRIBED.items()}
DESIGNS = ("variant", "core_placement")  # columns in which the two rows of a pair may differ: one of them
CONDITIONS = (
    "example", "arch", "board", "clock_MHz", "cores", "data_format", "page_or_write_bytes", "params", "metric",
)  # fmt: skip


def simulate(spec):
    """Device time in ns of a spec: (family module, what its `spec` gives)."""
    family, *arguments = spec
    if family.startswith("programs."):
        return time_ns(family, *arguments)
    return importlib.import_module(f"tensim.validation.kernels.{family}").time_ns(*arguments)


def read(row, layout):
    """The case of a row; its group is ARCH/EXAMPLE."""
    family = FAMILIES.get(row["example"])
    if family is None:
        raise Skip(f"example {row['example']}: no program re-creates it")
    spec = importlib.import_module(f"tensim.validation.kernels.{family}").spec(row)
    measured = row.number("time_ns") if "time_ns" in row.columns else None
    return Case((family, *spec), f"{row['arch']}/{row['example']}", measured, "ns")


def structure(row):
    """ "described" or "guessed": where the structure of a compared row's program comes from."""
    return "described" if row["group"].rpartition("/")[2] in DESCRIBED else "guessed"


def pairs(rows):
    """How often simulation orders two designs of a family as silicon does."""
    return pair_order(rows, DESIGNS, CONDITIONS)
