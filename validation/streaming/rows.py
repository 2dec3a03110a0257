"""`tensim validate streaming`: exp over interleaved tensors, and height-sharded matmuls, by size.

Statistical: besides the errors, the rank correlation says whether simulation puts the sizes in the order of silicon.
See `tensim.validation.streaming.programs`.
"""

from tensim.validation.rows import Case, Skip
from tensim.validation.streaming.programs import GRID, exp_time, fits_l1, matmul_time

SECONDS = 2.5e-4  # processor time per unit of a case's work, roughly
COLUMNS = {
    "exp": ("chip", "dim0", "dim1", "dim2", "dim3", "tiles", "dtype", "input_memory", "median_ns"),
    "matmul": ("arch", "M", "K", "N", "num_cores", "per_core_M_tiles", "device_kernel_duration_ns"),
}
RANKED = True  # the rank correlation belongs to the figures
DTYPES = {
    "bfloat16": "Float16_b", "bfloat8": "Bfp8_b", "bfloat8_b": "Bfp8_b", "float32": "Float32", "uint16": "UInt16",
    "uint32": "UInt32",
}  # fmt: skip
SMALL, LARGE = 512, 8192  # tiles: bounds of the groups by size
CORES, TILE = GRID[0] * GRID[1], 32


def read(row, layout):
    """The case of one row; ValueError for a malformed one."""
    return _exp(row) if layout == "exp" else _matmul(row)


def _exp(row):
    tiles, dtype, memory = row.integer("tiles"), DTYPES.get(row["dtype"]), row["input_memory"]
    if not row["chip"].startswith("wormhole_b0"):
        raise Skip(f"measured on {row['chip']}: only Wormhole is described")
    if dtype is None or memory not in ("DRAM", "L1") or tiles < 1:
        raise ValueError(f"{tiles} tiles of {row['dtype']} in {memory} are not possible")
    if memory == "L1" and not fits_l1(tiles, dtype, 1):
        raise Skip(f"{tiles} tiles of {dtype} cannot lie in the L1 of {CORES} cores, as the row says")
    size = "small" if tiles < SMALL else "medium" if tiles < LARGE else "large"
    group = f"wormhole_b0/exp/{row['dtype']}/{memory}/{size}"
    return Case(("exp", tiles, dtype, memory == "L1"), group, row.number("median_ns"), "ns", tiles / 30 + 100.0)


def _matmul(row):
    m, k, n, cores = (row.integer(name) for name in ("M", "K", "N", "num_cores"))
    if row["arch"] != "wormhole_b0":
        raise Skip(f"measured on {row['arch']}: only Wormhole is described")
    if min(m, k, n) < TILE or any(value % TILE for value in (m, k, n)) or not 1 <= cores <= CORES:
        raise ValueError(f"a product of {m} x {k} x {n} on {cores} cores is not possible")
    m, k, n = m // TILE, k // TILE, n // TILE
    size = "small" if k * n * m < SMALL else "medium" if k * n * m < LARGE else "large"
    group = f"wormhole_b0/matmul/{size}"
    return Case(
        ("matmul", m, k, n, cores), group, row.number("device_kernel_duration_ns"), "ns", 100.0 + m * k * n / 50
    )


def simulate(spec):
    """ns of a spec."""
    kind, *arguments = spec
    return exp_time(*arguments) if kind == "exp" else matmul_time(*arguments)
