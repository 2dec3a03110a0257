"""What describes the circular buffers of a program: their formats, tiles, memory and cores."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn, Self

from tensim.ttnn.cores import CoreRangeSet
from tensim.ttnn.enums import DataType
from tensim.ttnn.errors import ArgumentError, ArgumentTypeError, check_type, unsigned
from tensim.ttnn.memory import nd_spec
from tensim.ttnn.shapes import FULL_TILE, Tile

if TYPE_CHECKING:
    from tensim.ttnn.tensors import Tensor

FORMATS = {
    DataType.BFLOAT16: 5,
    DataType.FLOAT32: 0,
    DataType.UINT32: 24,
    DataType.BFLOAT8_B: 6,
    DataType.BFLOAT4_B: 7,
    DataType.UINT8: 30,
    DataType.UINT16: 9,
    DataType.INT32: 8,
    DataType.FP8_E4M3: 26,
    DataType.INT8: 14,
}  # fmt: skip  the chip's number of each DataType


class TileDescriptor:
    """Shape of a tile: (height, width, transpose=False), a Tile, another descriptor, or 32x32."""

    def __init__(
        self, height: int | Tile | TileDescriptor | None = None, width: int | None = None, transpose: bool = False
    ) -> None:
        if isinstance(height, Tile):
            tile = height
            height, width, transpose = tile.height, tile.width, tile.transpose_of_faces
        elif isinstance(height, TileDescriptor):
            other = height
            height, width, transpose = other.height, other.width, other.transpose
        self.height: int = unsigned("TileDescriptor", "height", 32 if height is None else height)
        self.width: int = unsigned("TileDescriptor", "width", 32 if width is None else width)
        self.transpose: bool = bool(transpose)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TileDescriptor) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self.height, self.width, self.transpose))

    def __repr__(self) -> str:
        return f"TileDescriptor(height={self.height}, width={self.width}, transpose={self.transpose})"


class FaceGeometry:
    """Rows of a face and number of faces."""

    def __init__(self, face_r_dim: int = 16, num_faces: int = 4) -> None:
        self.face_r_dim, self.num_faces = face_r_dim, num_faces

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FaceGeometry) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self.face_r_dim, self.num_faces))


class CBFormatDescriptor:
    """One index of a circular buffer: its DataType, bytes of a page, and tile."""

    def __init__(
        self,
        buffer_index: int = 0,
        data_format: DataType | None = None,
        page_size: int = 0,
        tile: Tile | TileDescriptor | None = None,
    ) -> None:
        self.buffer_index = unsigned("CBFormatDescriptor", "buffer_index", buffer_index, 8)
        self.page_size = unsigned("CBFormatDescriptor", "page_size", page_size)
        self._data_format = check_type("CBFormatDescriptor", "data_format", data_format or DataType.BFLOAT16, DataType)
        if self._data_format not in FORMATS:
            raise ArgumentError(f"CBFormatDescriptor: data_format: {data_format} is no format of the chip")
        self.tile = TileDescriptor(tile) if isinstance(tile, Tile) else tile
        self.face_geometry = None

    @property
    def data_format(self) -> NoReturn:
        """Not readable, as in the library: see `data_format_as_uint8`."""
        raise ArgumentTypeError("CBFormatDescriptor: data_format cannot be read; data_format_as_uint8 can")

    @property
    def data_format_as_uint8(self) -> int:
        """The chip's number of the format."""
        return FORMATS[self._data_format]

    def __repr__(self) -> str:
        return f"CBFormatDescriptor({self.buffer_index}, {self._data_format}, {self.page_size})"


class CBDescriptor:
    """A circular buffer: bytes, cores, and the indices that share its addresses."""

    def __init__(
        self,
        total_size: int = 0,
        core_ranges: CoreRangeSet | None = None,
        format_descriptors: Iterable[CBFormatDescriptor] = (),
    ) -> None:
        self.total_size = unsigned("CBDescriptor", "total_size", total_size)
        grid = CoreRangeSet([]) if core_ranges is None else core_ranges
        self.core_ranges = check_type("CBDescriptor", "core_ranges", grid, CoreRangeSet)
        self.format_descriptors = [
            check_type("CBDescriptor", "format_descriptors", descriptor, CBFormatDescriptor)
            for descriptor in format_descriptors
        ]
        self.remote_format_descriptors: list[CBFormatDescriptor] = []
        self.address_offset = 0
        self._tensor: Tensor | None = None

    def has_buffer(self) -> bool:
        """Whether it lies on a tensor's buffer."""
        return self._tensor is not None

    def buffer_address(self) -> int | None:
        """Address of that buffer, without the offset; None when there is none."""
        return None if self._tensor is None else int(self._tensor.buffer_address())

    def set_buffer_from_cb(self, other: CBDescriptor) -> None:
        """Lay it on the buffer of another descriptor."""
        self._tensor = other._tensor

    def has_global_circular_buffer(self) -> bool:
        """Whether it lies on a global circular buffer: tensim.ttnn has none."""
        return False

    def set_global_circular_buffer(self, buffer: object) -> NoReturn:
        """Refused: tensim.ttnn has no global circular buffers."""
        raise ArgumentError("CBDescriptor: global circular buffers are not available")

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.format_descriptors = [copy.copy(descriptor) for descriptor in self.format_descriptors]
        return twin

    def __repr__(self) -> str:
        return f"CBDescriptor({self.total_size} B, {self.core_ranges}, {self.format_descriptors})"


def cb_descriptor_from_sharded_tensor(
    cb_index: int, tensor: Tensor, address_offset: int = 0, total_size: int = 0, core_ranges: CoreRangeSet | None = None
) -> CBDescriptor:
    """A circular buffer that is a tensor's shard in L1: bytes of a bank, pages and cores of the tensor unless given."""
    state = tensor.device_buffer("cb_descriptor_from_sharded_tensor")
    if state.shard is None or state.in_dram:
        raise ArgumentError("cb_descriptor_from_sharded_tensor: tensor: it needs shards in L1")
    config = tensor.memory_config()
    grid = (config.shard_spec or nd_spec(config)).grid
    tile = tensor.tile if tensor.spec.is_tiled else FULL_TILE
    size = total_size or state.size_per_bank
    if total_size and address_offset + total_size > state.size_per_bank:
        raise ArgumentError(
            f"cb_descriptor_from_sharded_tensor: total_size: {address_offset} + {total_size} B are more than the "
            f"{state.size_per_bank} B of a core's shards"
        )
    one = CBFormatDescriptor(cb_index, tensor.dtype, state.aligned_page_size, TileDescriptor(tile))
    result = CBDescriptor(size, grid if core_ranges is None else core_ranges, [one])
    result.address_offset = unsigned("cb_descriptor_from_sharded_tensor", "address_offset", address_offset)
    result._tensor = tensor
    return result


def get_cb_address(descriptor: CBDescriptor) -> int:
    """Address of a circular buffer's start: that of its buffer plus the offset, or the offset."""
    return (descriptor.buffer_address() or 0) + descriptor.address_offset
