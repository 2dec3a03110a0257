"""Shapes of tensors, tiles, and the bytes that tiles and elements of a DataType take."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from tensim.ttnn.enums import DataType
from tensim.ttnn.errors import ArgumentError, ArgumentTypeError, unsigned
from tensim.types import TILE_HEIGHTS, TILE_WIDTHS

TILE_SIZE = 32
FACE = 16
_BITS = {
    DataType.BFLOAT16: 16, DataType.FLOAT32: 32, DataType.UINT32: 32, DataType.BFLOAT8_B: 8, DataType.BFLOAT4_B: 4,
    DataType.UINT8: 8, DataType.UINT16: 16, DataType.INT32: 32, DataType.FP8_E4M3: 8, DataType.INT8: 8,
}  # fmt: skip
BLOCK_FLOATS = (DataType.BFLOAT8_B, DataType.BFLOAT4_B)


class Shape:
    """Sizes of the dimensions; equal to lists and tuples of the same numbers; negative indices count from the end."""

    __slots__ = ("_sizes",)

    def __init__(self, sizes: Sequence[int] | Shape) -> None:
        if not isinstance(sizes, list | tuple | Shape):
            raise ArgumentTypeError(f"Shape: takes a list of sizes, not {type(sizes).__name__}")
        self._sizes = tuple(unsigned("Shape", "a size", size) for size in sizes)

    @property
    def rank(self) -> int:
        return len(self._sizes)

    def to_rank(self, rank: int) -> Shape:
        """The same shape with leading ones added or dropped."""
        sizes = (1,) * max(rank - len(self._sizes), 0) + self._sizes
        if any(size != 1 for size in sizes[: len(sizes) - rank]):
            raise ArgumentError(f"Shape: {self} has no form of rank {rank}: a leading size is not 1")
        return Shape(sizes[len(sizes) - rank :])

    def __len__(self) -> int:
        return len(self._sizes)

    def __iter__(self) -> Iterator[int]:
        return iter(self._sizes)

    def __getitem__(self, index: int) -> int:
        if not isinstance(index, int):
            raise ArgumentTypeError("Shape: takes single indices; slice list(shape)")
        if not -len(self._sizes) <= index < len(self._sizes):
            raise ArgumentError(f"Shape: {self} has no dimension {index}")
        return self._sizes[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shape | list | tuple) and self._sizes == tuple(other)

    def __hash__(self) -> int:
        return hash(self._sizes)

    def __repr__(self) -> str:
        return f"Shape({list(self._sizes)})"


class Tile:
    """A tile (height, width) of faces at most 16 by 16."""

    __slots__ = ("tile_shape", "transpose_of_faces", "transpose_within_face")

    def __init__(self, tile_shape: Iterable[int], transpose_tile: bool = False) -> None:
        self.tile_shape = [unsigned("Tile", "tile_shape", item) for item in tile_shape]
        if len(self.tile_shape) != 2 or self.height not in TILE_HEIGHTS or self.width not in TILE_WIDTHS:
            raise ArgumentError(
                f"Tile: tile_shape {self.tile_shape} is not valid for the chip",
                hint=f"heights {TILE_HEIGHTS}, widths {TILE_WIDTHS}",
            )
        self.transpose_of_faces = self.transpose_within_face = bool(transpose_tile)

    @property
    def height(self) -> int:
        return self.tile_shape[0]

    @property
    def width(self) -> int:
        return self.tile_shape[1]

    @property
    def face_shape(self) -> list[int]:
        return [min(self.height, FACE), FACE]

    @property
    def num_faces(self) -> int:
        return self.height * self.width // math.prod(self.face_shape)

    @property
    def partial_face(self) -> int:
        return int(self.height < TILE_SIZE)

    @property
    def narrow_tile(self) -> int:
        return int(self.width == FACE)

    def get_tile_size(self, dtype: DataType) -> int:
        """Bytes of a tile of a DataType, with the exponents of block floats."""
        if dtype not in _BITS:
            raise ArgumentError(f"Tile: {dtype} has no tiles")
        exponents = -(-self.height * self.width // (FACE * FACE)) * FACE if dtype in BLOCK_FLOATS else 0
        return exponents + self.height * self.width * _BITS[dtype] // 8

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tile) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[int, ...]:
        return *self.tile_shape, self.transpose_of_faces

    def __repr__(self) -> str:
        return f"Tile with shape: {self.tile_shape}"


FULL_TILE = Tile((TILE_SIZE, TILE_SIZE))


def tile_size(dtype: DataType) -> int:
    """Bytes of a 32x32 tile."""
    return FULL_TILE.get_tile_size(dtype)


def element_bytes(dtype: DataType) -> int:
    """Bytes of an element of a DataType that has rows."""
    if dtype in BLOCK_FLOATS:
        raise ValueError(f"elements of {dtype} share exponents: they have no size of their own")
    return _BITS[dtype] // 8
