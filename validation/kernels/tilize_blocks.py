"""`bank_stagger`: rows in DRAM to tiles in DRAM by all cores, whose first reads meet at one bank unless they are staggered.

Blocks are 32 rows high.  Cores take runs of blocks, tile rows first; `stagger=read` begins the 32 row reads of a block, and
`stagger=blocks` the blocks of a core, at a place that differs from core to core.
"""

from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.validation.dram.programs import Bench
from tensim.validation.kernels import tilize_kernels as kernels
from tensim.validation.kernels.columns import chip, choice, number_in

DATUM_BYTES, TILE_BYTES, TILE = 2, 2048, 32
BLOCKS_BUFFERED = 2


def spec(row):
    """(chip, cores, rows, columns, tiles of a block, sharded by width?, stagger)."""
    height, width = number_in(row, r"shape=(\d+)x"), number_in(row, r"shape=\d+x(\d+)")
    tiles, per_core = number_in(row, r"32 rows x (\d+) tiles"), number_in(row, r"blocks_per_core=(\d+)")
    cores = row.integer("cores")
    if height * width != cores * per_core * tiles * TILE * TILE:
        raise ValueError(f"column params: {height}x{width} is not {per_core} blocks of {tiles} tiles on {cores} cores")
    sharded = "source=width-sharded" in row["params"]
    stagger = choice(row, "variant", {"stagger=none": "none", "stagger=read": "read", "stagger=blocks": "blocks"})
    return chip(row), cores, height, width, tiles, sharded, stagger


def time_ns(arch, cores, height, width, tiles, sharded, stagger):
    """A width-sharded source has one shard per bank, so many blocks wide."""
    with Bench(arch) as bench:
        piece, across = tiles * TILE * DATUM_BYTES, width // TILE // tiles
        blocks = height // TILE * across // cores
        if sharded and across % bench.arch.dram_banks:
            raise ValueError(f"{across} blocks across on {bench.arch.dram_banks} banks")
        source = bench.pages(piece, height * across) if sharded else bench.pages(width * DATUM_BYTES, height)
        target = bench.pages(TILE_BYTES, height * width // TILE**2)
        for i, core in enumerate(bench.cores(cores)):
            for index in (kernels.IN, kernels.OUT):
                bench.buffer(core, BLOCKS_BUFFERED * tiles, TILE_BYTES, index, DataFormat.Float16_b)
            turn = i % blocks if stagger == "blocks" else 0
            first_row = i % TILE if stagger == "read" else 0
            walk = (i * blocks, blocks, turn, across)
            if sharded:
                reader, page = kernels.read_sharded_blocks, bench.arch.dram_banks
            else:
                reader, page = kernels.read_interleaved_blocks, width * DATUM_BYTES
            bench.add(core, reader, (source, page, piece, tiles, first_row, *walk), 0, 1)
            bench.compute(core, kernels.tilize_blocks, (tiles, blocks))
            bench.add(core, kernels.write_tiles, (target, TILE_BYTES, tiles, *walk), 1, 0)
        return bench.run_ns()
