"""How tensors lie in memory: shard specifications, memory configurations, and a tensor's whole description.

Pages: a tile, or a row (of a shard's width).  Sizes in bytes, shapes in elements unless they say pages.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tensim.ttnn.cores import CoreGrid, CoreRange, CoreRangeSet, pair
from tensim.ttnn.enums import (
    BufferType,
    DataType,
    Layout,
    ShardDistributionStrategy,
    ShardOrientation,
    ShardShapeAlignment,
    ShardStrategy,
    TensorMemoryLayout,
)
from tensim.ttnn.errors import ArgumentError, ArgumentTypeError, check_type, unsigned
from tensim.ttnn.shapes import BLOCK_FLOATS, FULL_TILE, Shape, Tile, element_bytes

EMPTY_PAGE = 4  # bytes of a page of a tensor without elements, in rows
ROW_BYTES = 64  # bytes to whose multiples ShardShapeAlignment.RECOMMENDED rounds the rows of shards
SHARDED = (TensorMemoryLayout.HEIGHT_SHARDED, TensorMemoryLayout.WIDTH_SHARDED, TensorMemoryLayout.BLOCK_SHARDED)


class ShardSpec:
    """Cores that hold shards, a shard's (height, width), and the order of the cores."""

    def __init__(self, grid: CoreRangeSet, shard_shape: Iterable[int], shard_orientation: ShardOrientation) -> None:
        self.grid = check_type("ShardSpec", "grid", grid, CoreRangeSet)
        self.shape = [unsigned("ShardSpec", "shard_shape", item) for item in shard_shape]
        self.orientation = check_type("ShardSpec", "shard_orientation", shard_orientation, ShardOrientation)
        if len(self.shape) != 2:
            raise ArgumentTypeError(f"ShardSpec: shard_shape is (height, width), not {self.shape}")

    def num_cores(self) -> int:
        """Number of cores of the grid."""
        return self.grid.num_cores()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShardSpec) and _shard_key(self) == _shard_key(other)

    def __hash__(self) -> int:
        return hash(_shard_key(self))

    def __repr__(self) -> str:
        return f"ShardSpec(grid={self.grid}, shape={self.shape}, orientation={self.orientation})"


def _shard_key(spec: ShardSpec) -> tuple[CoreRangeSet, tuple[int, ...], ShardOrientation]:
    return spec.grid, tuple(spec.shape), spec.orientation


@dataclass(frozen=True)
class NdShardSpec:
    """Shards of any rank, dealt to the cores of a grid."""

    shard_shape: Shape
    grid: CoreRangeSet
    orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    shard_distribution_strategy: ShardDistributionStrategy = ShardDistributionStrategy.ROUND_ROBIN_1D

    def __post_init__(self) -> None:
        object.__setattr__(self, "shard_shape", Shape(self.shard_shape))
        check_type("NdShardSpec", "grid", self.grid, CoreRangeSet)


class MemoryConfig:
    """MemoryConfig(memory_layout, buffer_type, shard_spec) or MemoryConfig(buffer_type, nd_shard_spec)."""

    def __init__(
        self,
        *args: Any,
        memory_layout: TensorMemoryLayout | None = None,
        buffer_type: BufferType | None = None,
        shard_spec: ShardSpec | None = None,
        nd_shard_spec: NdShardSpec | None = None,
    ) -> None:
        left = list(args)
        if left and isinstance(left[0], TensorMemoryLayout):
            memory_layout = left.pop(0)
        if left and isinstance(left[0], BufferType):
            buffer_type = left.pop(0)
        if left and isinstance(left[0], NdShardSpec) and memory_layout is None:
            nd_shard_spec = left.pop(0)
        if left and (left[0] is None or isinstance(left[0], ShardSpec)):
            shard_spec = left.pop(0)
        if left:
            raise ArgumentTypeError(f"MemoryConfig: takes memory_layout, buffer_type and shard_spec, not {left[0]!r}")
        if nd_shard_spec is not None and memory_layout is None:
            memory_layout = TensorMemoryLayout.ND_SHARDED
        self.memory_layout = memory_layout or TensorMemoryLayout.INTERLEAVED
        self.buffer_type = buffer_type or BufferType.DRAM
        self.shard_spec, self.nd_shard_spec = shard_spec, nd_shard_spec

    @property
    def interleaved(self) -> bool:
        return self.memory_layout == TensorMemoryLayout.INTERLEAVED

    def is_sharded(self) -> bool:
        """Whether it has shards."""
        return not self.interleaved

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemoryConfig) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[TensorMemoryLayout, BufferType, ShardSpec | None, NdShardSpec | None]:
        nd = None if self.memory_layout in SHARDED else self.nd_shard_spec
        return self.memory_layout, self.buffer_type, self.shard_spec, nd

    def __repr__(self) -> str:
        return (
            f"MemoryConfig(memory_layout={self.memory_layout}, buffer_type={self.buffer_type}, "
            f"shard_spec={self.shard_spec}, nd_shard_spec={self.nd_shard_spec})"
        )


def nd_spec(config: MemoryConfig) -> NdShardSpec:
    """How a sharded configuration deals its shards."""
    assert config.nd_shard_spec is not None
    return config.nd_shard_spec


def flat_spec(config: MemoryConfig) -> ShardSpec:
    """The two-dimensional shards of a configuration that has them."""
    assert config.shard_spec is not None
    return config.shard_spec


DRAM_MEMORY_CONFIG = MemoryConfig()
L1_MEMORY_CONFIG = MemoryConfig(buffer_type=BufferType.L1)
L1_BLOCK_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.BLOCK_SHARDED, BufferType.L1)
L1_HEIGHT_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, BufferType.L1)
L1_WIDTH_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.WIDTH_SHARDED, BufferType.L1)


def create_sharded_memory_config(
    shape: Iterable[int],
    core_grid: CoreGrid | CoreRangeSet,
    strategy: ShardStrategy,
    orientation: ShardOrientation | None = None,
    use_height_and_width_as_shard_shape: bool = False,
) -> MemoryConfig:
    """An L1 configuration that cuts `shape` over a CoreGrid, which must divide it, or takes its last two sizes for a shard."""
    what = "create_sharded_memory_config"
    layouts = dict(zip(ShardStrategy, SHARDED, strict=True))
    if strategy not in layouts:
        raise ArgumentError(f"{what}: {strategy!r} is not a ShardStrategy")
    orientation, turned = orientation or ShardOrientation.ROW_MAJOR, orientation == ShardOrientation.COL_MAJOR
    *outer, height, width = shape
    if isinstance(core_grid, CoreGrid):
        grid = CoreRangeSet([CoreRange((0, 0), (core_grid.x - 1, core_grid.y - 1))])
    elif isinstance(core_grid, CoreRangeSet):
        grid = core_grid
    else:
        raise ArgumentError(f"{what}: core_grid is a CoreGrid or a CoreRangeSet, not {type(core_grid).__name__}")
    if use_height_and_width_as_shard_shape:
        shard = (width, height) if turned else (height, width)
    elif not isinstance(core_grid, CoreGrid):
        raise ArgumentError(f"{what}: with a CoreRangeSet use_height_and_width_as_shard_shape must be True")
    else:
        shard = _even_shard(what, math.prod(outer) * height, width, core_grid, strategy, turned)
    return MemoryConfig(layouts[strategy], BufferType.L1, ShardSpec(grid, shard, orientation))


def _even_shard(
    what: str, height: int, width: int, grid: CoreGrid, strategy: ShardStrategy, turned: bool
) -> tuple[int, int]:
    rows, columns = (grid.x, grid.y) if turned else (grid.y, grid.x)
    cuts = {
        ShardStrategy.HEIGHT: (grid.num_cores, 1), ShardStrategy.WIDTH: (1, grid.num_cores),
        ShardStrategy.BLOCK: (rows, columns),
    }[strategy]  # fmt: skip
    if height % cuts[0] or width % cuts[1]:
        raise ArgumentError(f"{what}: core_grid {grid} does not divide {height}x{width} into even shards")
    return height // cuts[0], width // cuts[1]


class TensorSpec:
    """A tensor's shape, DataType, layout, tile and memory configuration.

    TensorSpec(shape, dtype, layout, buffer_type=DRAM, tile=None), (shape, dtype, layout, memory_layout, shard_spec,
    buffer_type, tile), or (shape, dtype, layout, nd_shard_spec, buffer_type, tile).
    """

    def __init__(
        self,
        shape: Sequence[int] | Shape,
        dtype: DataType,
        layout: Layout,
        *args: Any,
        memory_layout: TensorMemoryLayout | None = None,
        shard_spec: ShardSpec | None = None,
        nd_shard_spec: NdShardSpec | None = None,
        buffer_type: BufferType | None = None,
        tile: Tile | None = None,
        memory_config: MemoryConfig | None = None,
    ) -> None:
        self.shape, self.dtype, self.layout = Shape(shape), dtype, layout
        for arg in args:
            if isinstance(arg, BufferType):
                buffer_type = arg
            elif isinstance(arg, TensorMemoryLayout):
                memory_layout = arg
            elif isinstance(arg, NdShardSpec):
                nd_shard_spec = arg
            elif isinstance(arg, ShardSpec):
                shard_spec = arg
            elif isinstance(arg, Tile):
                tile = arg
            elif isinstance(arg, MemoryConfig):
                memory_config = arg
            elif arg is not None:
                raise ArgumentTypeError(f"TensorSpec: {arg!r} is no part of a tensor's description")
        check_type("TensorSpec", "dtype", dtype, DataType)
        check_type("TensorSpec", "layout", layout, Layout)
        self.tile = tile or FULL_TILE
        self._check_dtype()
        given = memory_config or MemoryConfig(
            memory_layout=memory_layout, buffer_type=buffer_type, shard_spec=shard_spec, nd_shard_spec=nd_shard_spec
        )
        self.memory_config = _complete(given, self)
        self._check_tiles()
        self._check_2d()

    def _check_dtype(self) -> None:
        if self.dtype in BLOCK_FLOATS and self.layout != Layout.TILE:
            raise ArgumentError(f"TensorSpec: {self.dtype} exists in Layout.TILE only")
        if self.layout == Layout.ROW_MAJOR and self.tile != FULL_TILE:
            raise ArgumentError(f"TensorSpec: tile: {self.layout} takes no tile of its own, not {self.tile}")
        if self.dtype == DataType.FP8_E4M3 and self.layout == Layout.TILE:
            raise ArgumentError(f"TensorSpec: {self.dtype} exists in Layout.ROW_MAJOR only")

    # --- pages

    @property
    def shard_shape(self) -> tuple[int, ...] | None:
        """Shape of a shard, of the tensor's rank or two-dimensional; None without shards."""
        config = self.memory_config
        if config.memory_layout == TensorMemoryLayout.ND_SHARDED:
            return tuple(nd_spec(config).shard_shape)
        return None if config.shard_spec is None else tuple(config.shard_spec.shape)

    def _shard(self) -> tuple[int, ...]:
        shape = self.shard_shape
        assert shape is not None  # for tensors in shards alone
        return shape

    @property
    def padded_shape(self) -> Shape:
        """The shape in memory: tiles, or rows of whole shards."""
        sizes = tuple(self.shape)
        if self.layout == Layout.TILE:
            *outer, height, width = (1,) * (2 - len(sizes)) + sizes
            shape = [*outer, _round_up(height, self.tile.height), _round_up(width, self.tile.width)]
            return Shape(shape)
        shard = self.shard_shape
        return Shape((*sizes[:-1], _round_up(sizes[-1], shard[-1])) if shard and sizes else sizes or (1,))

    @property
    def page_shape(self) -> tuple[int, int]:
        """(height, width) of a page."""
        if self.layout == Layout.TILE:
            return self.tile.height, self.tile.width
        if not math.prod(self.shape):
            return 1, EMPTY_PAGE // element_bytes(self.dtype)
        return 1, (self.shard_shape or tuple(self.padded_shape))[-1]

    @property
    def page_size(self) -> int:
        if self.layout == Layout.TILE:
            return self.tile.get_tile_size(self.dtype)
        return self.page_shape[1] * element_bytes(self.dtype)

    @property
    def pages(self) -> tuple[int, ...]:
        """The padded shape in pages, of the tensor's rank (at least 2)."""
        sizes, (height, width) = (1, *self.padded_shape)[-max(len(self.padded_shape), 2) :], self.page_shape
        if not width:
            return (*sizes[:-1], 0)
        return (*sizes[:-2], sizes[-2] // height, sizes[-1] // width)

    @property
    def num_pages(self) -> int:
        return math.prod(self.pages)

    @property
    def pages_2d(self) -> tuple[int, int]:
        """(height, width) in pages with the leading dimensions collapsed."""
        return math.prod(self.pages[:-1]), self.pages[-1]

    @property
    def distributed_pages(self) -> tuple[int, ...]:
        """`pages` with leading dimensions collapsed to the rank of a shard."""
        extra = len(self.pages) - len(self._shard())
        return self.pages if extra <= 0 else (math.prod(self.pages[: extra + 1]), *self.pages[extra + 1 :])

    def shard_pages(self, rank: int) -> tuple[int, ...]:
        """Shape of a shard in pages, with leading ones up to a rank."""
        shard, (height, width) = self._shard(), self.page_shape
        *outer, tall, wide = shard if len(shard) > 1 else (height, *shard)
        pages = (*outer, -(-tall // height), -(-wide // width))[-len(shard) :]
        return (1,) * (rank - len(pages)) + pages

    # --- shards

    def _check_tiles(self) -> None:
        shard, (height, width) = self.shard_shape, self.page_shape
        if shard and self.is_tiled and (shard[-1] % width or (1, *shard)[-2] % height):
            raise ArgumentError(f"ShardSpec: shape {list(shard)} is not made of whole {height}x{width} tiles")

    def _check_2d(self) -> None:
        config, spec = self.memory_config, self.memory_config.shard_spec
        if config.memory_layout not in SHARDED or spec is None:
            return
        if not all(spec.shape):
            raise ArgumentError(f"ShardSpec: shape {spec.shape} has no elements")
        if len(self.padded_shape) == 1 and spec.shape[0] != 1:
            raise ArgumentError(f"ShardSpec: shape: the height {spec.shape[0]} of a shard of one row is not 1")
        height, width = math.prod(tuple(self.padded_shape)[:-1]), self.padded_shape[-1]
        down, across = -(-height // spec.shape[0]), -(-width // spec.shape[1])
        if config.memory_layout == TensorMemoryLayout.HEIGHT_SHARDED:
            if spec.shape[1] != width:
                raise ArgumentError(f"ShardSpec: shape: the width {spec.shape[1]} of a height shard is not {width}")
            fits = down <= spec.num_cores()
        elif config.memory_layout == TensorMemoryLayout.WIDTH_SHARDED:
            if spec.shape[0] != height:
                raise ArgumentError(f"ShardSpec: shape: the height {spec.shape[0]} of a width shard is not {height}")
            fits = across <= spec.num_cores()
        else:
            if spec.grid.size() != 1:
                raise ArgumentError(f"ShardSpec: grid: block shards need one rectangle, not {spec.grid}")
            columns, rows = self.block_grid
            fits = across <= columns and down <= rows
        if not fits:
            raise ArgumentError(f"ShardSpec: grid: {down}x{across} shards do not fit {spec.grid}")

    @property
    def block_grid(self) -> tuple[int, int]:
        """(places for shards across, down) of block shards: columns and rows of the grid, or rows and columns."""
        spec = flat_spec(self.memory_config)
        columns, rows = pair(spec.grid.ranges()[0].grid_size())
        turned = spec.orientation == ShardOrientation.COL_MAJOR
        return (rows, columns) if turned else (columns, rows)

    @property
    def is_tiled(self) -> bool:
        return self.layout == Layout.TILE

    # --- the same tensor, sharded

    def _aligned(
        self,
        sizes: list[int],
        grid: CoreRangeSet,
        orientation: ShardOrientation,
        alignment: ShardShapeAlignment = ShardShapeAlignment.RECOMMENDED,
        strategy: ShardDistributionStrategy = ShardDistributionStrategy.ROUND_ROBIN_1D,
    ) -> TensorSpec:
        """The tensor in shards of sizes rounded up: to whole tiles, rows to ROW_BYTES where that is recommended."""
        steps = {
            ShardShapeAlignment.NONE: (1, 1),
            ShardShapeAlignment.REQUIRED: self.tile.tile_shape if self.is_tiled else (1, 1),
            ShardShapeAlignment.RECOMMENDED: self.tile.tile_shape if self.is_tiled else (1, self._row_elements()),
        }[alignment]
        last = zip(sizes[-2:], steps[-len(sizes[-2:]) :], strict=True)
        shape = Shape([*sizes[:-2], *(_round_up(size, step) for size, step in last)])
        nd = NdShardSpec(shape, grid, orientation, strategy)
        twin = copy.copy(self)
        twin.memory_config = _complete(MemoryConfig(self.memory_config.buffer_type, nd), self)
        if alignment == ShardShapeAlignment.NONE:
            twin._check_tiles()
        twin._check_2d()
        return twin

    def _row_elements(self) -> int:
        return ROW_BYTES // element_bytes(self.dtype)

    def _matrix(self) -> tuple[int, int]:
        return math.prod(tuple(self.padded_shape)[:-1]), self.padded_shape[-1]

    def height_sharded(
        self, grid: CoreRangeSet, orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    ) -> TensorSpec:
        """Cut in its height over the cores of a grid."""
        height, width = self._matrix()
        return self._aligned([-(-height // grid.num_cores()), width], grid, orientation, ShardShapeAlignment.REQUIRED)

    def width_sharded(
        self, grid: CoreRangeSet, orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    ) -> TensorSpec:
        """Cut in its width over the cores of a grid."""
        height, width = self._matrix()
        return self._aligned([height, -(-width // grid.num_cores())], grid, orientation, ShardShapeAlignment.REQUIRED)

    def block_sharded(
        self, grid: CoreRange | CoreRangeSet, orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    ) -> TensorSpec:
        """Cut in both over a rectangle of cores (CoreRange, or a set of one)."""
        grid = CoreRangeSet([grid]) if isinstance(grid, CoreRange) else grid
        if grid.size() != 1:
            raise ArgumentError(f"TensorSpec.block_sharded: grid: block shards need one rectangle, not {grid}")
        (height, width), (columns, rows) = self._matrix(), pair(grid.ranges()[0].grid_size())
        if orientation == ShardOrientation.COL_MAJOR:
            columns, rows = rows, columns
        shape, strategy = [-(-height // rows), -(-width // columns)], ShardDistributionStrategy.GRID_2D
        return self._aligned(shape, grid, orientation, strategy=strategy)

    def sharded(
        self,
        shard_shape: Iterable[int],
        grid: CoreRangeSet,
        shard_alignment: ShardShapeAlignment,
        orientation: ShardOrientation = ShardOrientation.ROW_MAJOR,
    ) -> TensorSpec:
        """Cut into shards of a shape, rounded up as `shard_alignment` says: REQUIRED to whole tiles, RECOMMENDED also rows."""
        return self._aligned(list(shard_shape), grid, orientation, shard_alignment)

    def sharded_across_dims(
        self, dims: Iterable[int], grid: CoreRangeSet, orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    ) -> TensorSpec:
        """One slice of each of these dimensions a shard (a tile in the last two), the others whole."""
        sizes = list(self.padded_shape)
        for dim in dims:
            sizes[dim] = 1
        return self._aligned(sizes, grid, orientation)

    def sharded_across_dims_except(
        self, dims: Iterable[int], grid: CoreRangeSet, orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    ) -> TensorSpec:
        """`sharded_across_dims` of all dimensions but these."""
        rank = len(self.padded_shape)
        kept = {dim % rank for dim in dims}
        return self.sharded_across_dims([dim for dim in range(rank) if dim not in kept], grid, orientation)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Shape, DataType, Layout, MemoryConfig, Tile]:
        return self.shape, self.dtype, self.layout, self.memory_config, self.tile

    def __repr__(self) -> str:
        return f"TensorSpec({self.shape}, {self.dtype}, {self.layout}, {self.memory_config}, {self.tile})"


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple if multiple else value


def _complete(config: MemoryConfig, spec: TensorSpec) -> MemoryConfig:
    """The configuration with both kinds of shard specification, as far as each can say it."""
    if config.interleaved:
        return config
    if config.memory_layout in SHARDED and config.shard_spec is not None:
        strategy = (
            ShardDistributionStrategy.GRID_2D
            if config.memory_layout == TensorMemoryLayout.BLOCK_SHARDED
            else ShardDistributionStrategy.ROUND_ROBIN_1D
        )
        one = config.shard_spec
        shape = one.shape[1:] if len(spec.shape) < 2 and not spec.is_tiled else one.shape
        nd = NdShardSpec(Shape(shape), one.grid, one.orientation, strategy)
        return MemoryConfig(
            memory_layout=config.memory_layout, buffer_type=config.buffer_type, shard_spec=one, nd_shard_spec=nd
        )
    if config.nd_shard_spec is None:
        return config
    two = _as_2d(config, spec)
    if two is None:
        return MemoryConfig(config.buffer_type, config.nd_shard_spec)
    layout, flat = two
    nd = nd_spec(config)
    legacy = ShardSpec(nd.grid, flat, nd.orientation)
    return MemoryConfig(memory_layout=layout, buffer_type=config.buffer_type, shard_spec=legacy, nd_shard_spec=nd)


def _as_2d(config: MemoryConfig, spec: TensorSpec) -> tuple[TensorMemoryLayout, tuple[int, int]] | None:
    """(memory layout, (height, width)) that says the same as an ND specification, or None."""
    nd = nd_spec(config)
    plain = TensorSpec(spec.shape, spec.dtype, spec.layout, spec.tile)
    shard, sizes = list(nd.shard_shape), list(plain.padded_shape)
    if not all(shard):
        return None
    sizes[-1] = sizes[-1] if spec.is_tiled else _round_up(sizes[-1], shard[-1])
    rank = max(len(sizes), len(shard))
    sizes, shard = [1] * (rank - len(sizes)) + sizes, [1] * (rank - len(shard)) + shard
    if len(nd.shard_shape) == 2 and len(sizes) > 2:
        sizes = [math.prod(sizes[:-1]), sizes[-1]]
        shard = shard[-2:]
    height = _flat_height(shard[:-1], sizes[:-1])
    if height is None:
        return None
    rows, columns = math.prod(sizes[:-1]), sizes[-1]
    down, across = -(-rows // height), -(-columns // shard[-1])
    shape, cores = (height, shard[-1]), nd.grid.num_cores()
    one_rank = nd.shard_distribution_strategy == ShardDistributionStrategy.ROUND_ROBIN_1D
    if one_rank and down * across <= cores and (shard[-1] == columns or height == rows):
        kind = TensorMemoryLayout.WIDTH_SHARDED if height == rows else TensorMemoryLayout.HEIGHT_SHARDED
        return kind, shape
    if nd.grid.size() != 1 or nd.shard_distribution_strategy == ShardDistributionStrategy.CONTIGUOUS_1D:
        return None
    columns, grid_rows = pair(nd.grid.ranges()[0].grid_size())
    on_columns, on_rows = (down, across) if nd.orientation == ShardOrientation.COL_MAJOR else (across, down)
    fits = on_columns <= columns and on_rows <= grid_rows
    if fits and (not one_rank or on_columns == columns):  # dealt shards are blocks when they fill rows of cores
        return TensorMemoryLayout.BLOCK_SHARDED, shape
    return None


def _flat_height(shard: Sequence[int], sizes: Sequence[int]) -> int | None:
    """Height of a shard with its leading dimensions collapsed, or None where it is no run of rows in every place."""
    height, open_ended, crosses = 1, False, False
    for cut, size in zip(reversed(shard), reversed(sizes), strict=True):
        if open_ended and (cut != 1 or (crosses and size != 1)):
            return None
        height *= cut
        open_ended, crosses = open_ended or cut != size, crosses or bool(size % cut)
    return height


def with_config(spec: TensorSpec, config: MemoryConfig) -> TensorSpec:
    """A description with another memory configuration."""
    return TensorSpec(spec.shape, spec.dtype, spec.layout, plain_config(config), spec.tile)


def plain_config(config: MemoryConfig) -> MemoryConfig:
    """A configuration as a user gives it, without the specification that was derived from the other one."""
    if config.memory_layout in SHARDED and config.shard_spec is not None:
        return MemoryConfig(config.memory_layout, config.buffer_type, config.shard_spec)
    return config
