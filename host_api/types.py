"""Value types and configurations of the host API, with tt-metal's names and codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, Self, SupportsInt, cast

from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.errors import UsageError
from tensim.sim.host.commands import TILE_HEIGHTS, TILE_WIDTHS
from tensim.sim.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tensim.buffer import Buffer
    from tensim.device import Device


class BufferType(IntEnum):
    DRAM = 0
    L1 = 1
    SYSTEM_MEMORY = 2
    L1_SMALL = 3
    TRACE = 4


class TensorMemoryLayout(IntEnum):
    INTERLEAVED = 0
    HEIGHT_SHARDED = 2
    WIDTH_SHARDED = 3
    BLOCK_SHARDED = 4


class ShardOrientation(IntEnum):
    ROW_MAJOR = 0
    COL_MAJOR = 1


class ShardMode(IntEnum):
    """Whether the shape of a shard is what the device holds (PHYSICAL) or comes without padding (LOGICAL)."""

    PHYSICAL = 0
    LOGICAL = 1


class DataMovementProcessor(IntEnum):
    RISCV_0 = 0
    RISCV_1 = 1


class NOC(IntEnum):
    NOC_0 = 0
    NOC_1 = 1
    RISCV_0_default = 0
    RISCV_1_default = 1


class NOC_MODE(IntEnum):
    DM_DEDICATED_NOC = 0
    DM_DYNAMIC_NOC = 1


class Eth(IntEnum):
    SENDER = 0
    RECEIVER = 1
    IDLE = 2


class MathFidelity(IntEnum):
    LoFi = 0
    HiFi2 = 2
    HiFi3 = 3
    HiFi4 = 4
    Invalid = 255


class UnpackToDestMode(IntEnum):
    Default = 0
    UnpackToDestFp32 = 1


class KernelBuildOptLevel(IntEnum):
    """Optimisation level of a C++ kernel's build.  Kernels in Python have one level: it changes nothing there."""

    O1 = 0
    O2 = 1
    O3 = 2
    O0 = 3
    Os = 4
    Ofast = 5
    Oz = 6


class _BoundedId(int):
    """A whole number of `bits` bits that names something; UsageError outside."""

    bits = 0

    def __new__(cls, value: SupportsInt) -> Self:
        number = super().__new__(cls, value)
        if not 0 <= number < 1 << cls.bits:
            raise UsageError(f"{value} is not a {cls.__name__}: it has {cls.bits} bits")
        return number

    def __repr__(self) -> str:
        return f"{type(self).__name__}({int(self)})"

    __str__ = int.__repr__


class SubDeviceId(_BoundedId):
    """Number of a sub-device in its manager, from 0."""

    bits = 8


class SubDeviceManagerId(_BoundedId):
    """Id of a division into sub-devices."""

    bits = 64


class CoreCoord(NamedTuple):
    """Logical (or, from `worker_core_from_logical_core`, physical) position of a core."""

    x: int
    y: int


CoreLike = CoreCoord | tuple[int, int]  # a core, or its two numbers


def core_coord(core: CoreLike) -> CoreCoord:
    """A CoreCoord from anything with two whole numbers."""
    try:
        x, y = core
        return CoreCoord(int(x), int(y))
    except (TypeError, ValueError):
        raise UsageError(f"{core!r} is not a core coordinate", hint="use CoreCoord(x, y)") from None


@dataclass(frozen=True)
class CoreRange:
    """Rectangle of cores, both corners inclusive; UsageError when the end lies before the start."""

    start_coord: CoreCoord
    end_coord: CoreCoord = None  # type: ignore[assignment]  # that of the start

    def __post_init__(self) -> None:
        start = core_coord(self.start_coord)
        end = start if self.end_coord is None else core_coord(self.end_coord)
        if end.x < start.x or end.y < start.y:
            raise UsageError(f"core range ends at {tuple(end)}, before its start {tuple(start)}")
        object.__setattr__(self, "start_coord", start)
        object.__setattr__(self, "end_coord", end)

    def as_tuple(self) -> tuple[int, int, int, int]:
        """(x0, y0, x1, y1)."""
        return (*self.start_coord, *self.end_coord)

    def size(self) -> int:
        """Number of cores."""
        return (self.end_coord.x - self.start_coord.x + 1) * (self.end_coord.y - self.start_coord.y + 1)

    def contains(self, other: CoreLike | CoreRange) -> bool:
        """Whether a core or range lies inside."""
        inner = other if isinstance(other, CoreRange) else CoreRange(core_coord(other))
        (x0, y0, x1, y1), (a0, b0, a1, b1) = self.as_tuple(), inner.as_tuple()
        return x0 <= a0 and y0 <= b0 and a1 <= x1 and b1 <= y1

    def intersects(self, other: CoreRange) -> bool:
        """Whether two ranges share a core."""
        (x0, y0, x1, y1), (a0, b0, a1, b1) = self.as_tuple(), other.as_tuple()
        return x0 <= a1 and a0 <= x1 and y0 <= b1 and b0 <= y1

    def __iter__(self) -> Iterator[CoreCoord]:
        x0, y0, x1, y1 = self.as_tuple()
        return iter([CoreCoord(x, y) for y in range(y0, y1 + 1) for x in range(x0, x1 + 1)])


class CoreRangeSet:
    """Non-overlapping core ranges; UsageError when two overlap."""

    def __init__(self, ranges: CoreRange | Iterable[CoreRange | CoreLike] = ()) -> None:
        if isinstance(ranges, CoreRange):
            ranges = [ranges]
        self.ranges = tuple(item if isinstance(item, CoreRange) else CoreRange(core_coord(item)) for item in ranges)
        for i, a in enumerate(self.ranges):
            for b in self.ranges[:i]:
                if a.intersects(b):
                    raise UsageError(f"core ranges {b.as_tuple()} and {a.as_tuple()} overlap")

    def num_cores(self) -> int:
        """Number of cores."""
        return sum(rectangle.size() for rectangle in self.ranges)

    def contains(self, other: CoreSpec) -> bool:
        """Whether every core of a core, range or range set is in the set."""
        return set(core_ranges(other)) <= set(self)

    def merge(self, other: CoreSpec) -> CoreRangeSet:
        """A set with the cores of both; overlapping cores are kept once."""
        mine = set(self)
        extra = [CoreRange(core) for core in core_ranges(other) if core not in mine]
        return CoreRangeSet([*self.ranges, *extra])

    def bounding_box(self) -> CoreRange:
        """Smallest CoreRange around the set; UsageError for an empty set."""
        if not self.ranges:
            raise UsageError("an empty core range set has no bounding box")
        corners = list(zip(*(rectangle.as_tuple() for rectangle in self.ranges), strict=True))
        return CoreRange(CoreCoord(min(corners[0]), min(corners[1])), CoreCoord(max(corners[2]), max(corners[3])))

    def __iter__(self) -> Iterator[CoreCoord]:
        return iter([core for rectangle in self.ranges for core in rectangle])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CoreRangeSet) and set(self) == set(other)

    def __hash__(self) -> int:
        return hash(frozenset(self))

    def __repr__(self) -> str:
        return f"CoreRangeSet({list(self.ranges)})"


CoreSpec = CoreLike | CoreRange | CoreRangeSet | Sequence[CoreLike | CoreRange]  # some cores


def core_ranges(spec: CoreSpec) -> CoreRangeSet:
    """CoreRangeSet of a CoreCoord, CoreRange, CoreRangeSet or a list of these."""
    if isinstance(spec, CoreRangeSet):
        return spec
    if isinstance(spec, CoreRange):
        return CoreRangeSet([spec])
    if isinstance(spec, list | set | frozenset) or (isinstance(spec, tuple) and not _is_coordinate(spec)):
        return CoreRangeSet([item if isinstance(item, CoreRange) else CoreRange(core_coord(item)) for item in spec])  # type: ignore[arg-type, union-attr]
    return CoreRangeSet([CoreRange(core_coord(spec))])  # type: ignore[arg-type]  # what it is no core of is told there


def _is_coordinate(spec: CoreSpec) -> bool:
    if isinstance(spec, CoreCoord):
        return True
    return isinstance(spec, Sequence) and len(spec) == 2 and all(isinstance(part, int) for part in spec)


def range_tuples(spec: CoreSpec) -> tuple[tuple[int, int, int, int], ...]:
    """Ranges of a core specification as records hold them."""
    return tuple(rectangle.as_tuple() for rectangle in core_ranges(spec).ranges)


# --- buffers


@dataclass(frozen=True)
class BufferRegion:
    """Bytes [offset, offset + size) of a buffer."""

    offset: int
    size: int


@dataclass(frozen=True)
class ShardSpec:
    """Which cores hold shards and how large a shard is; shapes are (height, width) in elements.

    `physical_shard_shape`: what a shard of LOGICAL mode takes on the device, with its padding.
    """

    grid: CoreRangeSet
    shape: tuple[int, int]
    orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    mode: ShardMode = ShardMode.PHYSICAL
    physical_shard_shape: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if self.physical_shard_shape is not None and self.mode != ShardMode.LOGICAL:
            raise UsageError("physical_shard_shape belongs to ShardMode.LOGICAL")

    @property
    def device_shape(self) -> tuple[int, int]:
        """Shape of a shard on the device."""
        return self.shape if self.physical_shard_shape is None else self.physical_shard_shape


@dataclass(frozen=True)
class ShardSpecBuffer:
    """A ShardSpec with the page shape (elements) and the tensor's (height, width) in pages."""

    tensor_shard_spec: ShardSpec
    page_shape: tuple[int, int]
    tensor2d_shape_in_pages: tuple[int, int]


@dataclass(frozen=True)
class BufferDistributionSpec:
    """Shards of any number of dimensions, shard i on core i modulo the number of cores; shapes in pages.

    `contiguous`: a core's shards follow one another instead, as many as fill the cores from the first on.
    """

    tensor_shape_in_pages: tuple[int, ...]
    shard_shape_in_pages: tuple[int, ...]
    cores: tuple[CoreCoord, ...]
    contiguous: bool = False


@dataclass(frozen=True)
class InterleavedBufferConfig:
    """Pages dealt round-robin over the banks; sizes in bytes."""

    device: Device
    size: int
    page_size: int
    buffer_type: BufferType = BufferType.DRAM
    buffer_layout: TensorMemoryLayout = TensorMemoryLayout.INTERLEAVED


@dataclass(frozen=True)
class ShardedBufferConfig:
    """Pages cut into shards, one shard per core or as a BufferDistributionSpec says; sizes in bytes."""

    device: Device
    size: int
    page_size: int
    buffer_type: BufferType = BufferType.L1
    buffer_layout: TensorMemoryLayout = TensorMemoryLayout.HEIGHT_SHARDED
    shard_parameters: ShardSpecBuffer | BufferDistributionSpec | None = None


# --- kernels


@dataclass(frozen=True)
class Tile:
    """Shape of a tile, (height, width) in elements; UsageError for one that the chip cannot hold."""

    tile_shape: tuple[int, int] = (32, 32)
    transpose_tile: bool = False

    def __post_init__(self) -> None:
        height, width = self.tile_shape
        if height not in TILE_HEIGHTS or width not in TILE_WIDTHS:
            raise UsageError(
                f"there are no tiles of {height}x{width}", hint=f"heights {TILE_HEIGHTS}, widths {TILE_WIDTHS}"
            )
        if self.transpose_tile:
            raise UsageError("transposed tiles (transpose_tile) are not available")
        object.__setattr__(self, "tile_shape", (int(height), int(width)))


@dataclass
class DataMovementConfig:
    """A kernel on one of the two data-movement processors of each core."""

    processor: DataMovementProcessor = DataMovementProcessor.RISCV_0
    noc: NOC = NOC.NOC_0
    noc_mode: NOC_MODE = NOC_MODE.DM_DEDICATED_NOC
    compile_args: list[int] = field(default_factory=list)
    defines: Mapping[str, str | int] = field(default_factory=dict)
    named_compile_args: Mapping[str, int] = field(default_factory=dict)
    include_paths: Sequence[str] = ()  # folders of headers of a C++ kernel, behind its own
    opt_level: KernelBuildOptLevel = KernelBuildOptLevel.O2


@dataclass
class ReaderDataMovementConfig(DataMovementConfig):
    """RISCV_1 on the NoC preferred for DRAM reads."""

    processor: DataMovementProcessor = DataMovementProcessor.RISCV_1
    noc: NOC = NOC.NOC_0


@dataclass
class WriterDataMovementConfig(DataMovementConfig):
    """RISCV_0 on the NoC preferred for DRAM writes."""

    processor: DataMovementProcessor = DataMovementProcessor.RISCV_0
    noc: NOC = NOC.NOC_1


@dataclass
class ComputeConfig:
    """A kernel on the three compute processors (unpack, math, pack) of each core."""

    math_fidelity: MathFidelity = MathFidelity.HiFi4
    fp32_dest_acc_en: bool = False
    dst_full_sync_en: bool = False
    unpack_to_dest_mode: list[UnpackToDestMode] = field(default_factory=list)
    bfp8_pack_precise: bool = False
    math_approx_mode: bool = False
    compile_args: list[int] = field(default_factory=list)
    defines: Mapping[str, str | int] = field(default_factory=dict)
    named_compile_args: Mapping[str, int] = field(default_factory=dict)
    include_paths: Sequence[str] = ()  # folders of headers of a C++ kernel, behind its own
    opt_level: KernelBuildOptLevel = KernelBuildOptLevel.O3


@dataclass
class EthernetConfig:
    """A kernel on an ethernet core.  No chip of tensim has ethernet cores yet: create_kernel refuses it."""

    eth_mode: Eth = Eth.SENDER
    noc: NOC = NOC.NOC_0
    processor: DataMovementProcessor = DataMovementProcessor.RISCV_0
    compile_args: list[int] = field(default_factory=list)
    defines: Mapping[str, str | int] = field(default_factory=dict)
    named_compile_args: Mapping[str, int] = field(default_factory=dict)
    include_paths: Sequence[str] = ()  # folders of headers of a C++ kernel, behind its own
    opt_level: KernelBuildOptLevel = KernelBuildOptLevel.Os


class CircularBufferConfig:
    """Circular buffer of `total_size` bytes; several indices of `formats` ({index: DataFormat}) share its
    addresses.
    """

    def __init__(
        self, total_size: int, formats: Mapping[int, DataFormat] | None = None, buffer: Buffer | None = None
    ) -> None:
        self.total_size = int(total_size)
        self.formats = {int(index): DataFormat(code) for index, code in (formats or {}).items()}
        self.page_sizes, self.tiles, self.offset = {}, {}, 0
        self.buffer: Buffer | None = None
        if buffer is not None:
            self.set_globally_allocated_address(buffer)

    def _declared(self, index: int) -> int:
        if index not in self.formats:
            raise UsageError(f"circular buffer index {index} is not declared; declared: {sorted(self.formats)}")
        return index

    def set_page_size(self, index: int, page_size: int) -> Self:
        """Bytes of a page of an index; the total size must be a multiple of it."""
        if page_size <= 0 or self.total_size % page_size:
            raise UsageError(f"total size {self.total_size} B is not a multiple of the page size {page_size} B")
        self.page_sizes[self._declared(index)] = int(page_size)
        return self

    def set_total_size(self, total_size: int) -> Self:
        """Bytes of the whole circular buffer."""
        self.total_size = int(total_size)
        return self

    def set_tile_dims(self, index: int, tile: Tile | tuple[int, int]) -> Self:
        """`Tile`, or (height, width), of the tiles of an index."""
        tile = tile if isinstance(tile, Tile) else Tile(tile)
        self.tiles[self._declared(index)] = tile.tile_shape
        return self

    def set_globally_allocated_address(self, buffer: Buffer, offset: int = 0) -> Self:
        """Lay the circular buffer on an L1 buffer, `offset` bytes from its start, which must hold it in each bank."""
        if buffer.buffer_type not in (BufferType.L1, BufferType.L1_SMALL):
            raise UsageError(f"a circular buffer needs an L1 buffer, not one in {buffer.buffer_type.name}")
        if offset + self.total_size > buffer.aligned_size_per_bank:
            raise UsageError(
                f"circular buffer of {self.total_size} B{f' at offset {offset}' if offset else ''} is larger than the "
                f"{buffer.aligned_size_per_bank} B per bank of its buffer"
            )
        self.buffer, self.offset = buffer, offset
        return self

    def set_globally_allocated_address_and_total_size(self, buffer: Buffer, total_size: int) -> Self:
        """Both at once."""
        return self.set_total_size(total_size).set_globally_allocated_address(buffer)

    def index(self, index: int, data_format: DataFormat | None = None) -> CircularBufferIndex:
        """Builder of one index: `.set_page_size(bytes)`, `.set_data_format(code)`, `.set_tile_dims(tile)`."""
        if data_format is not None or index not in self.formats:
            self.formats[int(index)] = DataFormat(DataFormat.Invalid if data_format is None else data_format)
        return CircularBufferIndex(self, int(index))


class CircularBufferIndex:
    """One index of a CircularBufferConfig."""

    def __init__(self, config: CircularBufferConfig, index: int) -> None:
        self._config, self._index = config, index

    def set_page_size(self, page_size: int) -> Self:
        self._config.set_page_size(self._index, page_size)
        return self

    def set_data_format(self, data_format: DataFormat) -> Self:
        self._config.formats[self._index] = DataFormat(data_format)
        return self

    def set_tile_dims(self, tile: Tile | tuple[int, int]) -> Self:
        self._config.set_tile_dims(self._index, tile)
        return self


@dataclass(frozen=True)
class SubDevice:
    """Cores of a sub-device: a CoreRangeSet, or a list of them by core type (Tensix, ethernet).

    UsageError for ethernet cores: which tensim does not model.
    """

    cores: CoreSpec | Sequence[CoreRangeSet]

    def __post_init__(self) -> None:
        if self._types and any(group.num_cores() for group in self._types[1:]):
            raise UsageError("a sub-device cannot have ethernet cores: tensim models none")

    @property
    def _types(self) -> Sequence[CoreRangeSet]:
        """The cores of each type, where they are told type by type; else nothing."""
        cores = self.cores
        by_type = isinstance(cores, list | tuple) and bool(cores) and isinstance(cores[0], CoreRangeSet)
        return cast(Sequence[CoreRangeSet], cores) if by_type else ()

    def ranges(self) -> tuple[tuple[int, int, int, int], ...]:
        """Ranges of the worker cores as records hold them."""
        return range_tuples(self._types[0] if self._types else cast(CoreSpec, self.cores))
