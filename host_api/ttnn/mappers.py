"""How a tensor is spread over the chips of a mesh, and composed of their parts again.

A mesh is taken as a grid of any number of dimensions with as many places as it has chips, row after row (its own shape, or
`mesh_shape_override`).  A mapper says for each of these dimensions along which one the tensor is cut, or that all places have
the same; a composer along which one the parts are put together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from tensim.ttnn.errors import ArgumentError, ArgumentTypeError, check_type
from tensim.ttnn.meshes import MeshCoordinate, MeshShape


class Grid(Protocol):
    """What has a shape: a mesh of chips."""

    @property
    def shape(self) -> MeshShape: ...


@dataclass(frozen=True)
class PlacementShard:
    """A dimension of a mesh along which dimension `dim` of the tensor is cut."""

    dim: int

    def __repr__(self) -> str:
        return f"PlacementShard({self.dim})"


@dataclass(frozen=True)
class PlacementReplicate:
    """A dimension of a mesh along which all chips have the same."""

    def __repr__(self) -> str:
        return "PlacementReplicate()"


Placement: TypeAlias = PlacementShard | PlacementReplicate


def _placement(dim: int | None) -> Placement:
    return PlacementReplicate() if dim is None else PlacementShard(dim)


class MeshMapperConfig:
    """MeshMapperConfig(placements), or (row_dim, col_dim) of a mesh with rows and columns, None where all have the same."""

    def __init__(
        self,
        placements: Sequence[Placement] | None = None,
        mesh_shape_override: MeshShape | None = None,
        mesh_offset_override: MeshCoordinate | Sequence[int] = (),
        *,
        row_dim: int | None = None,
        col_dim: int | None = None,
    ) -> None:
        _no_offset("MeshMapperConfig", mesh_offset_override)
        self.placements = [_placement(row_dim), _placement(col_dim)] if placements is None else list(placements)
        for one in self.placements:
            check_type("MeshMapperConfig", "placements", one, (PlacementShard, PlacementReplicate))
        self.mesh_shape_override = mesh_shape_override

    def __repr__(self) -> str:
        return f"MeshMapperConfig(placements: {self.placements})"


class MeshComposerConfig:
    """MeshComposerConfig(dims): the dimension along which the parts of each dimension of the mesh are put together; or
    (row_dim, col_dim)."""

    def __init__(
        self,
        dims: Sequence[int] | None = None,
        mesh_shape_override: MeshShape | None = None,
        mesh_offset_override: MeshCoordinate | Sequence[int] = (),
        *,
        row_dim: int = 0,
        col_dim: int = 1,
    ) -> None:
        _no_offset("MeshComposerConfig", mesh_offset_override)
        self.dims = [row_dim, col_dim] if dims is None else list(dims)
        self.mesh_shape_override = mesh_shape_override

    def __repr__(self) -> str:
        return f"MeshComposerConfig(dims: {self.dims})"


def _no_offset(what: str, offset: MeshCoordinate | Sequence[int]) -> None:
    if any(offset):
        raise ArgumentError(f"{what}: mesh_offset_override: tensors lie on all chips of their mesh")


def _grid_of(what: str, mesh: Grid | MeshShape, override: MeshShape | None, entries: int) -> MeshShape:
    """As what a mesh is taken; ArgumentError unless that has as many places as the mesh has chips, and `entries` dimensions."""
    own = mesh if isinstance(mesh, MeshShape) else mesh.shape
    grid = own if override is None else override
    if grid.mesh_size() != own.mesh_size():
        raise ArgumentError(f"{what}: {grid} is no form of a mesh of {own}: tensors lie on all of its chips")
    if grid.dims() != entries:
        raise ArgumentError(f"{what}: {grid} has {grid.dims()} dimensions, the configuration {entries}")
    return grid


def _dimension(what: str, dim: int, rank: int) -> int:
    if not -rank <= dim < rank:
        raise ArgumentError(f"{what}: dim {dim}: the tensor has {rank} dimensions")
    return dim % rank


def _different(what: str, dims: Sequence[int]) -> None:
    if len(set(dims)) < len(dims):
        raise ArgumentError(f"{what}: two dimensions of the mesh use one of the tensor: {list(dims)}")


class CppTensorToMesh:
    """A mapper.  `grid`: as what the mesh is taken; `placements`: one per dimension of it."""

    def __init__(self, mesh: Grid | MeshShape, config: MeshMapperConfig) -> None:
        self._config = config
        self.grid = _grid_of("create_mesh_mapper", mesh, config.mesh_shape_override, len(config.placements))

    def config(self) -> MeshMapperConfig:
        """The configuration it was made of."""
        return self._config

    def parts(self, values: np.ndarray) -> list[np.ndarray]:
        """The part of each chip, row after row of the grid; ArgumentError for a dimension that does not divide."""
        cuts = [
            (axis, _dimension("mesh_mapper", one.dim, values.ndim))
            for axis, one in enumerate(self._config.placements)
            if isinstance(one, PlacementShard)
        ]
        _different("mesh_mapper", [dim for _, dim in cuts])
        for axis, dim in cuts:
            if values.shape[dim] % self.grid[axis]:
                raise ArgumentError(
                    f"mesh_mapper: dim {dim} of {list(values.shape)} does not divide by {self.grid[axis]} chips"
                )
        return [self._part(values, cuts, place) for place in self.grid.coordinates()]

    def _part(self, values: np.ndarray, cuts: list[tuple[int, int]], place: MeshCoordinate) -> np.ndarray:
        region = [slice(None)] * values.ndim
        for axis, dim in cuts:
            size = values.shape[dim] // self.grid[axis]
            region[dim] = slice(place[axis] * size, (place[axis] + 1) * size)
        return np.ascontiguousarray(values[tuple(region)])


class CppMeshToTensor:
    """A composer.  `grid`: as what the mesh is taken; `dims`: one per dimension of it."""

    def __init__(self, mesh: Grid | MeshShape, config: MeshComposerConfig) -> None:
        self.dims = config.dims
        self.grid = _grid_of("create_mesh_composer", mesh, config.mesh_shape_override, len(self.dims))

    def compose(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        """The tensor of the chips' parts, row after row of the grid."""
        dims = [_dimension("mesh_composer", dim, parts[0].ndim) for dim in self.dims]
        _different("mesh_composer", dims)
        if len(parts) != self.grid.mesh_size():
            raise ArgumentError(f"mesh_composer: {len(parts)} parts do not fill {self.grid}")
        together = list(parts)
        for dim, count in zip(reversed(dims), reversed(list(self.grid)), strict=True):
            together = [np.concatenate(together[i : i + count], dim) for i in range(0, len(together), count)]
        return together[0]


TensorToMesh, MeshToTensor = CppTensorToMesh, CppMeshToTensor


def create_mesh_mapper(mesh_device: Grid | MeshShape, config: MeshMapperConfig) -> CppTensorToMesh:
    """A mapper over a mesh, or over a shape."""
    return CppTensorToMesh(mesh_device, check_type("create_mesh_mapper", "config", config, MeshMapperConfig))


def create_mesh_composer(mesh_device: Grid | MeshShape, config: MeshComposerConfig) -> CppMeshToTensor:
    """A composer of the parts of a mesh."""
    return CppMeshToTensor(mesh_device, check_type("create_mesh_composer", "config", config, MeshComposerConfig))


def ReplicateTensorToMesh(mesh_device: Grid) -> CppTensorToMesh:
    """The tensor on every chip."""
    return create_mesh_mapper(mesh_device, MeshMapperConfig([PlacementReplicate()] * len(mesh_device.shape)))


def ShardTensorToMesh(mesh_device: Grid, dim: int) -> CppTensorToMesh:
    """A slice along one dimension on every chip, row after row."""
    return create_mesh_mapper(mesh_device, MeshMapperConfig([PlacementShard(dim)], _line(mesh_device)))


def ShardTensor2dMesh(mesh_device: Grid, mesh_shape: Sequence[int], dims: Sequence[int | None]) -> CppTensorToMesh:
    """A slice by rows and columns on every chip: (dimension cut for rows, for columns), None where all have the same."""
    row, column = _pair("ShardTensor2dMesh", dims)
    config = MeshMapperConfig([_placement(row), _placement(column)], MeshShape(list(mesh_shape)))
    return create_mesh_mapper(mesh_device, config)


def ConcatMeshToTensor(mesh_device: Grid, dim: int) -> CppMeshToTensor:
    """The chips' parts one after the other along a dimension, row after row."""
    return create_mesh_composer(mesh_device, MeshComposerConfig([dim], _line(mesh_device)))


def ConcatMesh2dToTensor(mesh_device: Grid, mesh_shape: Sequence[int], dims: Sequence[int]) -> CppMeshToTensor:
    """The chips' parts by rows and columns: (dimension along which rows are put together, columns)."""
    config = MeshComposerConfig(list(_pair("ConcatMesh2dToTensor", dims)), MeshShape(list(mesh_shape)))
    return create_mesh_composer(mesh_device, config)


def _line(mesh: Grid) -> MeshShape:
    return MeshShape([mesh.shape.mesh_size()])


def _pair(what: str, dims: Sequence[Any]) -> tuple[Any, Any]:
    if len(dims) != 2:
        raise ArgumentTypeError(f"{what}: dims takes two, one for rows and one for columns, not {dims!r}")
    return dims[0], dims[1]
