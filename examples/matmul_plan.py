"""How a blocked matrix product is cut into blocks; see `blocked_matmul` for what the blocks are."""

from dataclasses import dataclass
from enum import Enum

from tensim.examples.common import ceil_div, tile_counts
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.errors import UsageError

DOUBLE_BUFFER = 2
MAX_IN0_BLOCK_W = 8  # tiles; longer K blocks only lengthen the first, unoverlapped reads
# Subblocks (height, width) in tiles by preference: most reuse of the source registers first.
SUBBLOCKS = (
    (4, 2), (2, 4), (1, 8), (8, 1), (1, 7), (7, 1), (2, 3), (3, 2), (1, 6), (6, 1),
    (1, 5), (5, 1), (2, 2), (1, 4), (4, 1), (1, 3), (3, 1), (1, 2), (2, 1), (1, 1),
)  # fmt: skip


class Topology(Enum):
    """Which cores share what they read."""

    NONE = "every core reads its own blocks"
    ROWS_COLUMNS = "in0 multicast along rows, in1 along columns"
    ALL = "in0 multicast to all cores"


@dataclass(frozen=True)
class Plan:
    """How a product is cut; all sizes in tiles.  `columns` x `rows` cores take part."""

    m: int
    k: int
    n: int
    columns: int
    rows: int
    per_core_m: int
    per_core_n: int
    out_block_h: int
    out_block_w: int
    in0_block_w: int
    subblock_h: int
    subblock_w: int

    @property
    def k_blocks(self):
        return self.k // self.in0_block_w

    @property
    def out_blocks_h(self):
        return self.per_core_m // self.out_block_h

    @property
    def out_blocks_w(self):
        return self.per_core_n // self.out_block_w

    @property
    def out_block_tiles(self):
        return self.out_block_h * self.out_block_w

    @property
    def in0_block_tiles(self):
        return self.out_block_h * self.in0_block_w

    @property
    def in1_block_tiles(self):
        return self.in0_block_w * self.out_block_w


@dataclass(frozen=True)
class Settings:
    """What besides the shape decides a plan.  Sizes in tiles; None: chosen by the rules of `make_plan`."""

    topology: Topology
    dtype: DataFormat
    fp32_dest_acc_en: bool
    in0_noc: int = 1
    packer_l1_acc: bool = True
    in0_sharded: bool = False
    out_sharded: bool = False
    in0_block_w: int | None = None
    per_core_m: int | None = None
    per_core_n: int | None = None
    out_block_h: int | None = None
    out_block_w: int | None = None
    subblock_h: int | None = None
    subblock_w: int | None = None

    def __post_init__(self):
        for name in (
            "in0_block_w",
            "per_core_m",
            "per_core_n",
            "out_block_h",
            "out_block_w",
            "subblock_h",
            "subblock_w",
        ):
            size = getattr(self, name)
            _require(size is None or size > 0, f"{name} is {size}; a block has at least one tile")

    @property
    def partials_format(self):
        """Format of partial sums: that of the destination under L1 accumulation, else that of the output."""
        if self.fp32_dest_acc_en:
            return DataFormat.Float32
        return DataFormat.Float16_b if self.packer_l1_acc else self.dtype

    @property
    def shares_partials(self):
        """Whether output and partials share one L1 range (possible when their tiles have one size)."""
        return self.partials_format == self.dtype

    @property
    def dst_tiles(self):
        """Tiles of the destination register in half-sync mode."""
        return 4 if self.fp32_dest_acc_en else 8


def divisors(n):
    """Divisors of n, largest first."""
    return [d for d in range(n, 0, -1) if n % d == 0]


def buffer_bytes(plan, settings):
    """L1 bytes per core that the plan's circular buffers take (a sharded output lies in its own buffer)."""
    page, out_tiles = tile_size(settings.dtype), plan.out_block_tiles
    total = DOUBLE_BUFFER * (plan.in0_block_tiles + plan.in1_block_tiles) * page
    if not settings.out_sharded:
        total += out_tiles * page
    if not settings.shares_partials:
        total += out_tiles * tile_size(settings.partials_format)
    return total


def _require(condition, message):
    if not condition:
        raise UsageError(message)


def _choose_subblock(plan_h, plan_w, settings):
    """The first of SUBBLOCKS that divides the out block and fits in the destination; one row when sharded."""
    for height, width in SUBBLOCKS:
        fits = height * width <= settings.dst_tiles and plan_h % height == 0 and plan_w % width == 0
        if fits and (height == 1 or not settings.out_sharded):
            return height, width
    return 1, 1


def _candidates(per_core_m, per_core_n, k_share, settings):
    """(out_block_h, out_block_w, in0_block_w) in order of preference; fixed settings leave one choice.

    Largest out block first (fewest repeated reads of the operands), then the squarer one, then the widest K
    block: the largest divisor of `k_share` up to MAX_IN0_BLOCK_W tiles.
    """
    heights = [settings.out_block_h] if settings.out_block_h else divisors(per_core_m)
    widths = [settings.out_block_w] if settings.out_block_w else divisors(per_core_n)
    if settings.out_sharded:
        heights, widths = [per_core_m], [per_core_n]
    depths = [settings.in0_block_w] if settings.in0_block_w else []
    depths = depths or [d for d in divisors(k_share) if d <= MAX_IN0_BLOCK_W]
    blocks = sorted(((h, w) for h in heights for w in widths), key=lambda b: (-b[0] * b[1], b[0] + b[1]))
    return [(h, w, depth) for h, w in blocks for depth in depths]


def _cores_used(m, n, per_core_m, per_core_n, grid, topology):
    """(columns, rows) of cores that take part; with ALL the whole grid does."""
    if topology is Topology.ALL:
        return grid
    return ceil_div(n, per_core_n), ceil_div(m, per_core_m)


def _check_plan(plan, settings, grid):
    """UsageError for block sizes that do not go together."""
    _require(
        plan.columns <= grid[0] and plan.rows <= grid[1],
        f"blocks of {plan.per_core_m}x{plan.per_core_n} tiles need {plan.columns}x{plan.rows} cores, "
        f"the grid has {grid[0]}x{grid[1]}",
    )
    _require(plan.k % plan.in0_block_w == 0, f"in0_block_w {plan.in0_block_w} does not divide K = {plan.k} tiles")
    for whole, part, what in (
        (plan.per_core_m, plan.out_block_h, "out_block_h"),
        (plan.per_core_n, plan.out_block_w, "out_block_w"),
        (plan.out_block_h, plan.subblock_h, "out_subblock_h"),
        (plan.out_block_w, plan.subblock_w, "out_subblock_w"),
    ):
        _require(whole % part == 0, f"{what} {part} does not divide {whole} tiles")
    tiles = plan.subblock_h * plan.subblock_w
    _require(tiles <= settings.dst_tiles, f"a subblock of {tiles} tiles exceeds Dst ({settings.dst_tiles} tiles)")
    if settings.in0_sharded:
        shard_w = ceil_div(plan.k, plan.columns)
        _require(plan.k % plan.columns == 0, f"K = {plan.k} tiles cannot be sharded over {plan.columns} columns")
        _require(
            shard_w % plan.in0_block_w == 0,
            f"in0_block_w {plan.in0_block_w} does not divide a shard of {shard_w}",
        )
    if settings.out_sharded:
        _require(
            plan.out_block_h == plan.per_core_m and plan.out_block_w == plan.per_core_n,
            "a sharded output needs one out block per core",
        )
        _require(
            plan.subblock_h == 1 or plan.subblock_w == plan.per_core_n,
            "a sharded output needs subblocks of one row or of full width: tiles are packed row-major",
        )


def make_plan(shape, grid, settings, l1_bytes):
    """Cut an (M, K, N) product, in elements, over `grid` (columns, rows), with `l1_bytes` of L1 per core.

    Rules where `settings` leaves a choice: per-core blocks spread M over the rows and N over the columns
    evenly (over all cores with topology ALL); `in0_block_w` is the largest divisor of the K tiles per column
    (of all K tiles where they do not divide evenly) up to MAX_IN0_BLOCK_W that fits; the out block is the
    largest that fits with it.
    """
    (m, k), (_, n) = tile_counts(shape[:2]), tile_counts(shape[1:])
    spread = settings.topology is Topology.ALL
    per_core_m = settings.per_core_m or (m if spread else ceil_div(m, grid[1]))
    per_core_n = settings.per_core_n or ceil_div(n, grid[0] * grid[1] if spread else grid[0])
    columns, rows = _cores_used(m, n, per_core_m, per_core_n, grid, settings.topology)
    k_share = k // columns if k % columns == 0 else k
    l1_bytes -= settings.in0_sharded * per_core_m * ceil_div(k, columns) * tile_size(settings.dtype)
    l1_bytes -= settings.out_sharded * per_core_m * per_core_n * tile_size(settings.dtype)
    for height, width, depth in _candidates(per_core_m, per_core_n, k_share, settings):
        subblock = _choose_subblock(height, width, settings)
        plan = Plan(
            m, k, n, columns, rows, per_core_m, per_core_n, height, width, depth,
            settings.subblock_h or subblock[0], settings.subblock_w or subblock[1],
        )  # fmt: skip
        _check_plan(plan, settings, grid)
        if buffer_bytes(plan, settings) <= l1_bytes:
            return plan
    raise UsageError(
        f"no block of the {m}x{k}x{n}-tile product fits in {l1_bytes} bytes of L1 per core",
        hint="use more cores, smaller blocks or a narrower dtype",
    )
