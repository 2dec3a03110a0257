"""What a tensor is (`TensorDesc`) and how its bytes lie (`Layout`): memory, rows or tiles, stored type, banks, padding.

    logical shape --padded_shape--> whole pages --pages--> page order --distribution--> banks

A page is a tile, or a row of the tensor (of a shard's width, if sharded).  Pages are numbered row-major over the tensor;
`buffer_config` says how `create_buffer` spreads them (tensor-sharding rules of tt-metal;
docs/hardware/runtime.md#layouts-and-tensors).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar, cast

from tensim.buffer import shard_record
from tensim.runtime.dtypes import DType
from tensim.runtime.errors import LayoutUnsupported
from tensim.sim.errors import UsageError
from tensim.sim.host.buffers import expand, shard_cores, shard_geometry
from tensim.types import (
    TILE_HEIGHTS,
    TILE_WIDTHS,
    BufferDistributionSpec,
    BufferType,
    CoreCoord,
    CoreRangeSet,
    InterleavedBufferConfig,
    ShardedBufferConfig,
    ShardOrientation,
    ShardSpec,
    ShardSpecBuffer,
    TensorMemoryLayout,
    core_ranges,
    range_tuples,
)

if TYPE_CHECKING:
    from tensim.device import Device as MetalDevice

OOB_VALUES = {"undef": 0, "zero": 0, "one": 1, "inf": math.inf, "-inf": -math.inf}
DEFAULT_TILE = (32, 32)


class MemSpace(Enum):
    """HOST_MMIO: host memory that a device reads and writes by itself."""

    HOST = "host"
    HOST_MMIO = "host_mmio"
    DRAM = "dram"
    L1 = "l1"

    @property
    def on_host(self) -> bool:
        return self in (MemSpace.HOST, MemSpace.HOST_MMIO)


E = TypeVar("E", bound=Enum)


def _member(kind: type[E], value: object, what: str) -> E:
    """The member of an enum, given itself or its name; LayoutUnsupported for anything else."""
    try:
        return kind(value)
    except ValueError:
        members = ", ".join(str(member) for member in kind)
        raise LayoutUnsupported(f"there is no {what} {value!r}", hint=f"one of {members}") from None


@dataclass(frozen=True)
class TensorDesc:
    """A tensor as its user sees it.

    `shape`: at least one dimension, each at least 1; `dtype`: DType; `strides`: of the host array, in elements (None: row
    after row, no gaps).  LayoutUnsupported for anything else.
    """

    shape: tuple[int, ...]
    dtype: DType
    strides: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        shape = tuple(int(n) for n in self.shape)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "dtype", _member(DType, self.dtype, "element type"))
        if not shape:
            raise LayoutUnsupported("a tensor has at least one dimension", hint="give a scalar the shape (1,)")
        if min(shape) < 1:
            raise LayoutUnsupported(
                f"every dimension of a tensor must be at least 1; the shape is {shape}", hint="leave empty tensors out"
            )
        if self.strides is None:
            return
        strides = tuple(int(n) for n in self.strides)
        object.__setattr__(self, "strides", strides)
        if len(strides) != len(shape) or min(strides) < 0:
            raise LayoutUnsupported(
                f"strides {strides} do not fit the shape {shape}: one non-negative stride per dimension",
                hint="strides count elements; None means row after row",
            )

    @property
    def volume(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes from the first element of the host array to the end of its last."""
        if self.strides is None:
            return self.volume * self.dtype.itemsize
        last = sum((n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True))
        return (last + 1) * self.dtype.itemsize


@dataclass(frozen=True)
class Interleaved:
    """Pages dealt round-robin over all banks."""


_KINDS = {
    "height": TensorMemoryLayout.HEIGHT_SHARDED,
    "width": TensorMemoryLayout.WIDTH_SHARDED,
    "block": TensorMemoryLayout.BLOCK_SHARDED,
    "nd": TensorMemoryLayout.BLOCK_SHARDED,  # what tt-metal says of a BufferDistributionSpec
}


@dataclass(frozen=True)
class Sharded:
    """Shards of `shard_shape` elements on the cores of `grid` (DRAM: bank x as core (x, 0)).

    `kind`: height, width, block (the shard is (height, width) of the tensor with its leading dimensions collapsed) or nd
    (one size per dimension of the tensor, shard i on core i modulo their number); `grid`: anything `core_ranges` takes;
    `axes`: names of the shard's dimensions, a label only.
    """

    kind: Literal["height", "width", "block", "nd"]
    grid: CoreRangeSet = field(compare=False)
    shard_shape: tuple[int, ...]
    orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    axes: tuple[str, ...] | None = field(default=None, compare=False)
    # the grid in its order, which decides who holds which shard
    ranges: tuple[tuple[int, int, int, int], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "grid", core_ranges(self.grid))
        object.__setattr__(self, "ranges", range_tuples(self.grid))
        object.__setattr__(self, "shard_shape", tuple(int(n) for n in self.shard_shape))
        if self.kind not in _KINDS:
            raise LayoutUnsupported(f"there is no {self.kind!r} sharding", hint=f"one of {', '.join(_KINDS)}")
        if not self.ranges:
            raise LayoutUnsupported(
                "a sharding needs at least one core", hint="CoreRangeSet([CoreRange(first, last)]) names cores"
            )
        if not self.shard_shape or min(self.shard_shape) < 1:
            raise LayoutUnsupported(
                f"every dimension of a shard must be at least 1; the shape is {self.shard_shape}",
                hint="a shard is (height, width) in elements",
            )
        if self.kind != "nd" and len(self.shard_shape) != 2:
            raise LayoutUnsupported(
                f"a shard of {self.kind} sharding is (height, width), not {self.shard_shape}",
                hint="kind='nd' has one size per dimension",
            )
        if self.axes is not None and not len(set(self.axes)) == len(self.axes) == len(self.shard_shape):
            raise LayoutUnsupported(
                f"axes {self.axes} do not name the {len(self.shard_shape)} dimensions of a shard",
                hint="one name per dimension, each another one",
            )

    @property
    def memory_layout(self) -> TensorMemoryLayout:
        """tt-metal's name of the sharding."""
        return _KINDS[self.kind]


class Pages(NamedTuple):
    """`shape`: a page in elements, `size`: in bytes; `tensor`: the padded tensor in pages, two-dimensional unless ND."""

    shape: tuple[int, int]
    size: int
    tensor: tuple[int, ...]

    @property
    def count(self) -> int:  # type: ignore[override]
        return math.prod(self.tensor)


@dataclass(frozen=True)
class Layout:
    """How a tensor's bytes lie.

    `dtype`: the stored type (None: the tensor's); `tile`: (height, width), of tiled layouts only; `oob`: what the padding
    holds (undef: anything).  LayoutUnsupported, naming the rule, for what no memory can hold.
    """

    space: MemSpace
    tiling: Literal["row", "tile"] = "row"
    tile: tuple[int, int] = DEFAULT_TILE
    dtype: DType | None = None
    distribution: Interleaved | Sharded = Interleaved()
    oob: Literal["undef", "zero", "one", "inf", "-inf"] = "zero"

    def __post_init__(self) -> None:
        object.__setattr__(self, "space", _member(MemSpace, self.space, "memory"))
        object.__setattr__(self, "tile", DEFAULT_TILE if self.tiling == "row" else tuple(self.tile))
        if self.dtype is not None:
            object.__setattr__(self, "dtype", _member(DType, self.dtype, "element type"))
        for rule in (self._check_words, self._check_tile, self._check_dtype, self._check_distribution):
            rule()

    def _check_words(self) -> None:
        if self.tiling not in ("row", "tile"):
            raise LayoutUnsupported(f"there is no tiling {self.tiling!r}", hint="row or tile")
        if self.oob not in OOB_VALUES:
            raise LayoutUnsupported(f"padding cannot hold {self.oob!r}", hint=f"one of {', '.join(OOB_VALUES)}")

    def _check_tile(self) -> None:
        if len(self.tile) != 2 or self.tile[0] not in TILE_HEIGHTS or self.tile[1] not in TILE_WIDTHS:
            raise LayoutUnsupported(
                f"there are no tiles of {_by(self.tile)}", hint=f"heights {TILE_HEIGHTS}, widths {TILE_WIDTHS}"
            )

    def _check_dtype(self) -> None:
        if self.dtype is None:
            return
        if self.tiling == "row" and not self.dtype.has_rows:
            raise LayoutUnsupported(f"{self.dtype} exists in tiles only, not in rows", hint="tiling='tile'")
        if self.dtype.block_bits and self.oob not in ("undef", "zero"):
            raise LayoutUnsupported(
                f"padding of {self.dtype} shares exponents with data, so it cannot hold {self.oob}", hint="oob='zero'"
            )
        if self.dtype.is_integer and self.oob.endswith("inf"):
            raise LayoutUnsupported(f"{self.dtype} has no infinity to pad with", hint="oob='zero' or a float type")

    def _check_distribution(self) -> None:
        sharded = self.distribution
        if not isinstance(sharded, Sharded):
            return
        if self.space.on_host:
            raise LayoutUnsupported("host memory has no banks: it cannot be sharded", hint="Interleaved()")
        if self.space == MemSpace.DRAM and any(y1 for _, _, _, y1 in sharded.ranges):
            raise LayoutUnsupported(
                f"shards in DRAM lie on cores (bank, 0), the grid is {sharded.ranges}",
                hint="a grid of one row: CoreRange((0, 0), (banks - 1, 0))",
            )
        if self.tiling == "row":
            return
        if len(sharded.shard_shape) < 2 or any(n % t for n, t in zip(sharded.shard_shape[-2:], self.tile, strict=True)):
            raise LayoutUnsupported(
                f"a shard of {_by(sharded.shard_shape)} is not made of whole {_by(self.tile)} tiles",
                hint="multiples of the tile's height and width",
            )

    def resolved(self, desc: TensorDesc) -> Layout:
        """This layout with its stored type named, checked for the tensor `desc`; where nothing is padded, `oob` is zero.
        LayoutUnsupported if it cannot be.
        """
        layout = self if self.dtype is not None else replace(self, dtype=desc.dtype)
        if isinstance(layout.distribution, Sharded):
            layout._check_shards(desc)
        return layout if layout.oob == "zero" or layout.pads(desc) else replace(layout, oob="zero")

    def serves(self, wanted: Layout) -> bool:
        """Whether a tensor that lies like this lies as `wanted` says, too: padding that may hold anything may hold something."""
        return not self.diff(wanted).keys() - ({"oob"} if wanted.oob == "undef" else set())

    def _check_shards(self, desc: TensorDesc) -> None:
        config = self._sharded_config(desc, cast("MetalDevice", None))  # geometry needs no device
        request = _ShardRequest(config.buffer_layout, shard_record(config.shard_parameters))
        try:
            _, shards = shard_geometry(request, self.pages(desc).count)
            shard_cores(request, shards)
        except UsageError as error:
            raise LayoutUnsupported(
                f"{cast(Sharded, self.distribution).kind} sharding of {desc.shape}: {error.message}",
                hint="larger shards, or more cores",
            ) from error

    def padded_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape in memory: dimensions rounded up to tiles (at least two then), or rows to the width of a shard."""
        if self.tiling == "tile":
            *outer, height, width = shape if len(shape) > 1 else (1, *shape)
            return (*outer, _round_up(height, self.tile[0]), _round_up(width, self.tile[1]))
        if isinstance(self.distribution, Sharded):
            return (*shape[:-1], _round_up(shape[-1], self.distribution.shard_shape[-1]))
        return tuple(shape)

    def pads(self, desc: TensorDesc) -> bool:
        """Whether there is padding around the tensor."""
        return math.prod(self.padded_shape(desc.shape)) != desc.volume

    def pages(self, desc: TensorDesc) -> Pages:
        """`Pages` of the tensor in this layout."""
        padded, dtype = self.padded_shape(desc.shape), self.dtype or desc.dtype
        sharded = self.distribution if isinstance(self.distribution, Sharded) else None
        if self.tiling == "tile":
            page, size = self.tile, dtype.tile_bytes(self.tile)
        else:
            width = sharded.shard_shape[-1] if sharded else padded[-1]
            page, size = (1, width), width * dtype.itemsize
        if sharded and sharded.kind == "nd":
            return Pages(page, size, _in_pages(padded, page))
        return Pages(page, size, (math.prod(padded[:-1]) // page[0], padded[-1] // page[1]))

    def nbytes(self, desc: TensorDesc) -> int:
        """Bytes of all pages, as the host sees them (banks may align each page further)."""
        pages = self.pages(desc)
        return pages.count * pages.size

    def buffer_config(self, desc: TensorDesc, device: MetalDevice) -> InterleavedBufferConfig | ShardedBufferConfig:
        """What `create_buffer` takes for the tensor on `device`.  LayoutUnsupported for a layout of host memory."""
        layout = self.resolved(desc)
        if layout.space.on_host:
            raise LayoutUnsupported(
                "a layout of host memory needs no device buffer", hint="MemSpace.DRAM or MemSpace.L1"
            )
        if isinstance(layout.distribution, Sharded):
            return layout._sharded_config(desc, device)
        return InterleavedBufferConfig(device, layout.nbytes(desc), layout.pages(desc).size, layout._buffer_type())

    def _buffer_type(self) -> BufferType:
        return BufferType.DRAM if self.space == MemSpace.DRAM else BufferType.L1

    def _sharded_config(self, desc: TensorDesc, device: MetalDevice) -> ShardedBufferConfig:
        sharded, pages = cast(Sharded, self.distribution), self.pages(desc)
        parameters = self._distribution_spec(pages) if sharded.kind == "nd" else self._shard_spec(pages)
        return ShardedBufferConfig(
            device, self.nbytes(desc), pages.size, self._buffer_type(), sharded.memory_layout, parameters
        )

    def _shard_spec(self, pages: Pages) -> ShardSpecBuffer:
        sharded = cast(Sharded, self.distribution)
        spec = ShardSpec(sharded.grid, cast("tuple[int, int]", sharded.shard_shape), sharded.orientation)
        return ShardSpecBuffer(spec, pages.shape, cast("tuple[int, int]", pages.tensor))

    def _distribution_spec(self, pages: Pages) -> BufferDistributionSpec:
        sharded = cast(Sharded, self.distribution)
        cores = expand(sharded.ranges, sharded.orientation == ShardOrientation.ROW_MAJOR)
        shard = _in_pages(sharded.shard_shape, pages.shape)
        return BufferDistributionSpec(pages.tensor, shard, tuple(CoreCoord(*core) for core in cores))

    def on_host(self) -> Layout:
        """The layout in host memory of the same tensor: rows or tiles, type and padding as here, without banks."""
        space = self.space if self.space.on_host else MemSpace.HOST
        return Layout(space, self.tiling, self.tile, self.dtype, oob=self.oob)

    def diff(self, other: Layout) -> dict[str, tuple[object, object]]:
        """{field: (this layout's, the other's)} of the fields that differ."""
        pairs = {f.name: (getattr(self, f.name), getattr(other, f.name)) for f in fields(self)}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


class _ShardRequest(NamedTuple):
    """What the geometry of `tensim.sim.host.buffers` reads of a command that creates a sharded buffer."""

    layout: int
    shard: object


def _in_pages(shape: tuple[int, ...], page: tuple[int, ...]) -> tuple[int, ...]:
    """A shape of elements in pages; rows are pages one element high."""
    if page[0] == 1:
        return (*shape[:-1], shape[-1] // page[1])
    return (*shape[:-2], shape[-2] // page[0], shape[-1] // page[1])


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def _by(shape: Iterable[int]) -> str:
    return "x".join(map(str, shape))
