"""Matrix products on a simulated n150 beside their silicon times.

`gemm_silicon.csv`: rows typed up from the GEMM FLOPS report of tt-metal (2026-07, n150, 8 x 8 cores, traced, manual
configurations): shape, format, fidelity, block sizes in tiles, and the cycles of the TRISC1 kernel.
"""

import csv
from pathlib import Path

from tensim.running.programs import Settings, run_program

ROWS = Path(__file__).with_name("gemm_silicon.csv")
# |error| of cycles: of one product (1024x1024x1024 bf16 is 15 % fast, docs/validation.md, GEMM), and of all on average
WORST, MEAN = 0.16, 0.05
SIZES = ("in0_block_w", "out_block_h", "out_block_w")


def rows():
    with ROWS.open() as file:
        return list(csv.DictReader(file))


def simulate(row):
    """Cycles of the longest TRISC1 kernel of a row's program."""
    sharded = row["sharded"] == "1"
    parameters = {size: int(row[size]) for size in SIZES}
    parameters |= {f"out_{size}": int(row[size]) for size in ("subblock_h", "subblock_w")}
    settings = Settings(
        program="matmul_multicast", numerics="off", shape="x".join(row[axis] for axis in "MKN"), dtype=row["dtype"],
        fidelity=row["fidelity"], parameters=parameters | {"in0_sharded": sharded, "out_sharded": sharded},
    )  # fmt: skip
    return run_program(settings)["breakdown"]["TRISC1"]["longest_cycles"]
