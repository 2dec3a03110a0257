"""Rows of the GEMM FLOPS report for `tensim validate firmware`: the published time per run of short products from a trace."""

from dataclasses import dataclass
from math import prod
from pathlib import Path

from tensim.sim.arch import load_arch
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.errors import TensimError
from tensim.validation.firmware.device_run import begun
from tensim.validation.firmware.rounds import FIRST_PRODUCT, PRODUCTS
from tensim.validation.gemm.rows import HOST_COLUMN, is_true, spec_of
from tensim.validation.library_process import release
from tensim.validation.rows import Case, Skip

PRODUCT = Path(__file__).with_name("products.py")
LONGEST = 1 << 24  # multiply-adds of a core: longer ones take minutes here and say little of dispatch
DTYPES = {DataFormat.Float16_b: "bfloat16", DataFormat.Bfp8_b: "bfloat8_b", DataFormat.Bfp4_b: "bfloat4_b"}
BEFORE = 1  # launches before the trace
FIELDS = {  # of the library's program configuration, by the names of `tensim.validation.gemm.blocks`
    "in0_block_w": "in0_block_w", "per_core_m": "per_core_M", "per_core_n": "per_core_N", "out_block_h": "out_block_h",
    "out_block_w": "out_block_w", "subblock_h": "out_subblock_h", "subblock_w": "out_subblock_w",
}  # fmt: skip


@dataclass(frozen=True)
class Product:
    """A product as a row states it; `blocks`: pairs (field, tiles), empty where the library chooses."""

    arch: str
    board: str
    grid: tuple
    shape: tuple
    dtype: str
    fidelity: str
    in0_sharded: bool
    out_sharded: bool
    blocks: tuple


def read(row):
    """The case of a row: ns per run; `Skip` for one without a trace, or a long one."""
    (arch, board, grid, shape, dtype, fidelity, in0, out, _, blocks, is_configured), group = spec_of(row)
    if not is_true(row, "use_trace"):
        raise Skip("the host's own time is not simulated")
    work = prod(shape) / prod(grid)
    if work > LONGEST:
        raise Skip(f"more than {LONGEST:,} multiply-adds on a core take minutes and say little of dispatch")
    one = Product(arch, board, grid, shape, DTYPES[dtype], fidelity, in0, out, blocks if is_configured else ())
    return Case((release(), one), f"{group}/products", row.number(HOST_COLUMN), "ns", work=work / 1e6)


def simulate(one):
    """ns per run of a `Product` from a trace."""
    blocks = {FIELDS[name]: tiles for name, tiles in one.blocks} or None
    listed = {
        "grid": one.grid, "shape": one.shape, "dtype": one.dtype, "fidelity": one.fidelity, "blocks": blocks,
        "in0_sharded": one.in0_sharded, "out_sharded": one.out_sharded,
    }  # fmt: skip
    cycles = per_run(begun(PRODUCT, listed, one.arch, "--set", f"board={one.board}"))
    return cycles * 1000 / load_arch(one.arch).clock_mhz


def per_run(starts):
    """Cycles per run, from the cycles at which launches began."""
    if len(starts) != BEFORE + PRODUCTS:
        raise TensimError(f"{len(starts)} launches, {BEFORE + PRODUCTS} were expected")
    return (starts[-1] - starts[BEFORE + FIRST_PRODUCT]) / (PRODUCTS - 1 - FIRST_PRODUCT)
