"""Block sizes of the matrix products whose row states none: one rule for tuned rows, one for out-of-box rows.

All sizes are in tiles.  `SIZES`: what a rule decides, by the names of `tensim.examples.matmul_plan.Settings`.
"""

from tensim.examples.common import ceil_div, tile_counts
from tensim.examples.matmul_plan import DOUBLE_BUFFER, SUBBLOCKS, divisors
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size

SIZES = ("in0_block_w", "per_core_m", "per_core_n", "out_block_h", "out_block_w", "subblock_h", "subblock_w")
DST_TILES = 8  # 16-bit destination, half sync
PARTIALS = DataFormat.Float16_b  # the packer accumulates in 16 bits
TUNED_DEPTH = 16  # longest K block of the report's tuned rows
LARGE_BLOCK = 16  # ttnn's largest square block of the search that tells whether one row of blocks is enough


def _sizes(depth, per_core, out_block, out_sharded=False):
    return dict(zip(SIZES, (depth, *per_core, *out_block, *subblock(*out_block, out_sharded)), strict=True))


def subblock(height, width, out_sharded):
    """The first of SUBBLOCKS that divides the out block; a sharded output is packed row-major: one row of tiles."""
    return next(
        (h, w)
        for h, w in SUBBLOCKS
        if h * w <= DST_TILES and height % h == 0 and width % w == 0 and (h == 1 or not out_sharded)
    )


def _buffers(depth, height, width, dtype):
    """Bytes of in0, in1, output and partial sums (which share the output's place when their tiles are alike)."""
    page, out = tile_size(dtype), height * width
    partials = 0 if dtype == PARTIALS else out * tile_size(PARTIALS)
    return DOUBLE_BUFFER * (height + width) * depth * page + out * page + partials


# --- tuned by hand


def tuned(shape, grid, dtype, arch, in0_sharded, out_sharded):
    """Blocks of a manual row.

    The K block is the K share of a column of cores, at most TUNED_DEPTH, and may be halved: as often as needed with
    sharded operands, whose out block is the whole output of a core, else once.  If that does not fit, both sides of the
    out block are halved.
    """
    m, k, n = (*tile_counts(shape[:2]), tile_counts(shape[1:])[1])
    per_core, share = (ceil_div(m, grid[1]), ceil_div(n, grid[0])), ceil_div(k, grid[0])
    shards = in0_sharded * per_core[0] * share * tile_size(dtype)
    limit = arch[f"validation.gemm_{'sharded' if in0_sharded or out_sharded else 'interleaved'}_l1_bytes"]
    deepest = max(d for d in range(1, min(share, TUNED_DEPTH) + 1) if share % d == 0)
    halvings = 5 if in0_sharded or out_sharded else 2
    depths = [deepest >> times for times in range(halvings) if deepest % (1 << times) == 0]
    splits = [1] if in0_sharded or out_sharded else [s for s in range(1, max(per_core) + 1) if _splits(per_core, s)]
    for split in splits:
        out_block = per_core[0] // split, per_core[1] // split
        for depth in depths:
            if shards + _buffers(depth, *out_block, dtype) <= limit:
                return _sizes(depth, per_core, out_block, out_sharded)
    return _sizes(depths[-1], per_core, out_block, out_sharded)


def _splits(per_core, parts):
    return per_core[0] % parts == 0 and per_core[1] % parts == 0


# --- chosen by ttnn


def automatic(shape, grid, dtype, arch):
    """(topology, blocks) of an out-of-box row, operands interleaved in DRAM.

    ttnn first asks how many blocks of 16 x 16 tiles the output has.  One row of several blocks, no more than the grid has
    columns: in0 goes to all cores, each with its own columns of the output and K blocks of two tiles.  Else the output
    is spread over rows and columns, with the K share of a column of cores as K block where K divides evenly, else one
    tile; when that does not fit in L1, the largest out block that fits beside this K block, of two alike the lower one.
    """
    m, k, n = (*tile_counts(shape[:2]), tile_counts(shape[1:])[1])
    free = arch.l1_size - arch.l1_user_base
    if m <= LARGE_BLOCK < n <= LARGE_BLOCK * grid[0] and k % 2 == 0:
        per_core = m, ceil_div(n, grid[0] * grid[1])
        return "all", _sizes(2, per_core, per_core)
    per_core = ceil_div(m, grid[1]), ceil_div(n, grid[0])
    share = k // grid[0] if k % grid[0] == 0 else 1
    blocks = [(h, w) for h in divisors(per_core[0]) for w in divisors(per_core[1])]
    for depth in divisors(share):
        for out_block in sorted(blocks, key=lambda b: (-b[0] * b[1], b[0] + b[1], b[0])):
            if _buffers(depth, *out_block, dtype) <= free:
                return "rows_columns", _sizes(depth, per_core, out_block)
    raise AssertionError("one tile fits")
