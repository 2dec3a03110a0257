"""Mappers and composers over meshes of 1x2, 2x2 and 2x4 chips, against numpy: no chip is opened."""

from types import SimpleNamespace

import numpy as np
import pytest

import tensim.ttnn as ttnn

SHAPES = [(1, 2), (2, 2), (2, 4)]
VALUES = np.arange(8 * 16 * 24).reshape(8, 16, 24).astype(np.float32) % 251


def mesh_of(shape):
    return SimpleNamespace(shape=ttnn.MeshShape(*shape))


def spread(mapper, values=VALUES):
    """The parts of a tensor that a mapper makes."""
    tensor = ttnn.from_torch(values, dtype=ttnn.float32, mesh_mapper=mapper)
    return [one.to_numpy() for one in ttnn.get_device_tensors(tensor)], tensor


@pytest.mark.parametrize("shape", SHAPES)
def test_one_dimension_is_cut_row_after_row(shape):
    mesh, chips = mesh_of(shape), shape[0] * shape[1]
    for dim in (0, 1, -1):
        parts, tensor = spread(ttnn.ShardTensorToMesh(mesh, dim=dim))
        assert all(np.array_equal(a, b) for a, b in zip(parts, np.split(VALUES, chips, dim), strict=True))
        back = ttnn.to_torch(tensor, mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=dim))
        assert np.array_equal(np.asarray(back), VALUES)


@pytest.mark.parametrize("shape", SHAPES)
def test_all_chips_have_the_same(shape):
    mesh, chips = mesh_of(shape), shape[0] * shape[1]
    parts, tensor = spread(ttnn.ReplicateTensorToMesh(mesh))
    assert len(parts) == chips and all(np.array_equal(one, VALUES) for one in parts)
    together = ttnn.to_torch(tensor, mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=1))
    assert np.array_equal(np.asarray(together), np.tile(VALUES, (1, chips, 1)))


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_and_columns_are_cut_each_along_one(shape):
    (rows, columns), mesh = shape, mesh_of(shape)
    parts, tensor = spread(ttnn.ShardTensor2dMesh(mesh, mesh_shape=shape, dims=(0, 2)))
    cut = [part for row in np.split(VALUES, rows, 0) for part in np.split(row, columns, 2)]
    assert all(np.array_equal(a, b) for a, b in zip(parts, cut, strict=True))
    composer = ttnn.ConcatMesh2dToTensor(mesh, mesh_shape=shape, dims=(0, 2))
    assert np.array_equal(np.asarray(ttnn.to_torch(tensor, mesh_composer=composer)), VALUES)
    parts, _ = spread(ttnn.ShardTensor2dMesh(mesh, mesh_shape=shape, dims=(None, 1)))
    assert all(np.array_equal(a, b) for a, b in zip(parts, np.split(VALUES, columns, 1) * rows, strict=True))


def test_configurations_say_the_same():
    mesh = mesh_of((2, 4))
    config = ttnn.MeshMapperConfig([ttnn.PlacementShard(1), ttnn.PlacementReplicate()])
    assert (
        repr(config)
        == repr(ttnn.MeshMapperConfig(row_dim=1))
        == ("MeshMapperConfig(placements: [PlacementShard(1), PlacementReplicate()])")
    )
    mapper = ttnn.create_mesh_mapper(mesh, config)
    assert mapper.config() is config
    parts, tensor = spread(mapper)
    upper, lower = np.split(VALUES, 2, 1)
    assert all(np.array_equal(one, upper if i < 4 else lower) for i, one in enumerate(parts))
    composer = ttnn.create_mesh_composer(mesh, ttnn.MeshComposerConfig(dims=[1, 0]))
    assert np.array_equal(np.asarray(ttnn.to_torch(tensor, mesh_composer=composer)), np.tile(VALUES, (4, 1, 1)))
    with ttnn.distribute(mapper), ttnn.distribute(composer):
        assert np.array_equal(
            np.asarray(ttnn.to_torch(ttnn.from_torch(VALUES, dtype=ttnn.float32))), np.tile(VALUES, (4, 1, 1))
        )
    whole = ttnn.aggregate_tensor(tensor, composer)
    assert whole.shape == (32, 16, 24)
    again = ttnn.distribute_tensor(ttnn.from_torch(VALUES, dtype=ttnn.float32), mapper)
    assert np.array_equal(ttnn.get_device_tensors(again)[7].to_numpy(), lower)


MESH = mesh_of((2, 4))
SHARD = ttnn.PlacementShard
WRONG = {
    "dim 0 of .* does not divide by 8 chips": lambda: spread(ttnn.ShardTensorToMesh(MESH, 0), VALUES[:4]),
    "dim 3: the tensor has 3 dimensions": lambda: spread(ttnn.ShardTensorToMesh(MESH, 3)),
    r"MeshShape\(\[3, 2\]\) is no form of a mesh of MeshShape\(\[2, 4\]\)": lambda: ttnn.ShardTensor2dMesh(
        MESH, mesh_shape=(3, 2), dims=(0, 1)
    ),
    "has 2 dimensions, the configuration 1": lambda: ttnn.create_mesh_mapper(MESH, ttnn.MeshMapperConfig([SHARD(0)])),
    r"two dimensions of the mesh use one of the tensor: \[1, 1\]": lambda: spread(
        ttnn.ShardTensor2dMesh(MESH, mesh_shape=(2, 4), dims=(1, -2))
    ),
    "mesh_offset_override": lambda: ttnn.MeshComposerConfig([0, 1], None, ttnn.MeshCoordinate(0, 1)),
    "dims takes two": lambda: ttnn.ConcatMesh2dToTensor(MESH, mesh_shape=(2, 4), dims=(0,)),
    "2 parts do not fill": lambda: ttnn.to_torch(
        spread(ttnn.ShardTensorToMesh(mesh_of((1, 2)), 0))[1], mesh_composer=ttnn.ConcatMeshToTensor(MESH, 0)
    ),
    "has a part on each of 8 chips": lambda: ttnn.to_torch(spread(ttnn.ShardTensorToMesh(MESH, 0))[1]),
    "takes 8 host tensors": lambda: ttnn.from_host_shards([ttnn.from_torch(VALUES)], ttnn.MeshShape(2, 4)),
    "the parts of a mesh differ": lambda: ttnn.from_host_shards(
        [ttnn.from_torch(VALUES), ttnn.from_torch(VALUES[:1])], ttnn.MeshShape(1, 2)
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_ones_are_refused(message):
    with pytest.raises((RuntimeError, TypeError), match=message):
        WRONG[message]()
