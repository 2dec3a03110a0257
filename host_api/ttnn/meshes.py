"""Shapes and coordinates of meshes, and mappers over a mesh of one chip."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tensim.ttnn.errors import ArgumentError


class _Numbers:
    """A tuple of numbers under a name of its own."""

    __slots__ = ("_numbers",)

    def __init__(self, *numbers: Any) -> None:
        if len(numbers) == 1 and not isinstance(numbers[0], int):
            numbers = numbers[0]
        self._numbers = tuple(int(number) for number in numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    def __getitem__(self, index: int) -> int:
        return self._numbers[index]

    def __eq__(self, other: object) -> bool:
        return self._numbers == tuple(other) if isinstance(other, _Numbers | tuple | list) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._numbers)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self._numbers)})"


class MeshShape(_Numbers):
    """Rows and columns of a mesh."""

    def dims(self) -> int:
        """Number of dimensions."""
        return len(self)

    def mesh_size(self) -> int:
        """Number of chips."""
        size = 1
        for item in self:
            size *= item
        return size


class MeshCoordinate(_Numbers):
    """A place in a mesh."""

    def dims(self) -> int:
        """Number of dimensions."""
        return len(self)


class MeshCoordinateRange:
    """A rectangle of places, both corners inclusive: (start, end), or all of a MeshShape."""

    def __init__(self, start: Any, end: Any = None) -> None:
        if isinstance(start, MeshShape):
            start, end = MeshCoordinate([0] * len(start)), MeshCoordinate([item - 1 for item in start])
        self.start, self.end = start, start if end is None else end

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeshCoordinateRange) and (self.start, self.end) == (other.start, other.end)

    def __hash__(self) -> int:
        return hash((self.start, self.end))

    def __iter__(self) -> Iterator[MeshCoordinate]:
        return iter([self.start])

    def shape(self) -> MeshShape:
        """Sizes of the rectangle."""
        return MeshShape([b - a + 1 for a, b in zip(self.start, self.end, strict=True)])

    def __repr__(self) -> str:
        return f"MeshCoordinateRange(start={self.start}, end={self.end})"


class _OneChip:
    """Any way to spread a tensor over a mesh, or to compose it again: with one chip all do nothing."""

    def __init__(self, *args: object, **settings: object) -> None:
        self.args = args


class ReplicateTensorToMesh(_OneChip):
    """The tensor on every chip."""


class ShardTensorToMesh(_OneChip):
    """A slice of the tensor on every chip."""


class ShardTensor2dMesh(_OneChip):
    """A slice of the tensor on every chip, by rows and columns."""


class ConcatMeshToTensor(_OneChip):
    """The chips' tensors, one after the other."""


class ConcatMesh2dToTensor(_OneChip):
    """The chips' tensors, by rows and columns."""


class MeshMapperConfig(_OneChip):
    """How dimensions of a mesh place a tensor."""


class MeshComposerConfig(_OneChip):
    """How dimensions of a mesh compose a tensor."""


class PlacementShard(_OneChip):
    """A dimension that is cut."""


class PlacementReplicate(_OneChip):
    """A dimension that is replicated."""


def _one_chip(what: str, mesh_device: Any) -> _OneChip:
    if mesh_device.get_num_devices() != 1:
        raise ArgumentError(f"{what}: tensim.ttnn has one chip")
    return _OneChip(mesh_device)


def create_mesh_mapper(mesh_device: Any, config: object = None) -> _OneChip:
    """A mapper of a mesh of one chip."""
    return _one_chip("create_mesh_mapper", mesh_device)


def create_mesh_composer(mesh_device: Any, config: object = None) -> _OneChip:
    """A composer of a mesh of one chip."""
    return _one_chip("create_mesh_composer", mesh_device)
