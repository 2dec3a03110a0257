"""Two operands through the circular buffers of a core: `dual_noc_read`.  A block is what one barrier covers."""

from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.validation.dram.programs import Bench
from tensim.validation.kernels import copy_kernels
from tensim.validation.kernels import stream_kernels as kernels
from tensim.validation.kernels.columns import chip, choice, find, number_in

IN, IN_B, OUT = copy_kernels.IN, copy_kernels.IN_B, copy_kernels.OUT
TILE_BYTES = 2048


def whole_blocks(row, tiles, block):
    """Number of blocks; ValueError when the tiles do not fill them."""
    if tiles % block:
        raise ValueError(f"column params is {row['params']!r}: {tiles} tiles are not whole blocks of {block}")
    return tiles // block


def spec(row):
    """(chip, arguments...)."""
    variants = {
        "one_riscv": "one0", "one_riscv NoC0": "one0", "one_riscv on BRISC NoC1": "one1", "two_riscv": "two",
        "two_sem": "signal",
    }  # fmt: skip
    params = row["params"]
    block = number_in(row, r"block=(\d+)")
    blocks = whole_blocks(row, number_in(row, r"(\d+) tiles"), block)
    is_full = "full C=A*B" in params
    if not is_full and "math ablated" not in params:
        raise ValueError(f"column params is {params!r}: neither the full product nor math ablated")
    size = row.integer("page_or_write_bytes")
    return (
        chip(row), _cores(row), blocks, block, size, choice(row, "variant", variants), is_full,
    )  # fmt: skip


def _cores(row):
    """Width and height of the cores' rectangle."""
    if row["core_placement"].strip() in ("(0,0)", "1"):
        return 1, 1
    match = find(row, r"^\s*(\d+)x(\d+)\s*$", "core_placement")
    return int(match[1]), int(match[2])


def time_ns(arch, grid, blocks, block, size, way, is_full):
    """ns of C = A * B on each core, its operands read in transactions of `size` bytes by one RISC-V core or by two."""
    tiles = blocks * block
    with Bench(arch) as bench:
        cores = [(x, y) for y in range(grid[1]) for x in range(grid[0])]
        a, b = (bench.pages(TILE_BYTES, tiles * len(cores)) for _ in range(2))
        for i, core in enumerate(cores):
            for index in (IN, IN_B):
                bench.buffer(core, 2 * block, TILE_BYTES, index, DataFormat.Float16_b)
            bench.buffer(core, tiles, TILE_BYTES, OUT, DataFormat.Float16_b)
            bench.compute(core, kernels.multiply_blocks, (tiles, block, int(is_full)))
            walk = (TILE_BYTES, size, i * tiles, blocks, block)
            if way in ("one0", "one1"):
                noc = int(way[-1])
                bench.add(core, kernels.read_both, (a, b, *walk), noc, 1 - noc)
            elif way == "two":
                bench.add(core, kernels.read_one, (a, *walk, IN), 0, 1)
                bench.add(core, kernels.read_one, (b, *walk, IN_B), 1, 0)
            else:
                ready, done = bench.semaphore(core), bench.semaphore(core)
                bench.add(core, kernels.read_and_push_both, (a, *walk, ready, done), 0, 1)
                bench.add(core, kernels.read_when_told, (b, *walk, ready, done), 1, 0)
        return bench.run_ns()
