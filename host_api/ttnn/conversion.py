"""Functions that make, convert, move, copy, free, store and load tensors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tensim.sim.input_files import read_arrays
from tensim.sim.output_files import write_arrays
from tensim.ttnn import arrays
from tensim.ttnn.cores import CoreCoord
from tensim.ttnn.devices import MeshDevice, open_devices
from tensim.ttnn.enums import NOC, DataType, Layout
from tensim.ttnn.errors import ArgumentError, check_type
from tensim.ttnn.mappers import CppMeshToTensor, CppTensorToMesh
from tensim.ttnn.memory import DRAM_MEMORY_CONFIG, MemoryConfig, TensorSpec, plain_config
from tensim.ttnn.meshes import MeshShape
from tensim.ttnn.shapes import Shape, Tile
from tensim.ttnn.tensors import MeshTensor, Tensor, allocate, host_tensor


def allocate_tensor_on_device(*args: Any, **named: Any) -> Tensor:
    """allocate_tensor_on_device(tensor_spec, mesh_device) or (shape, dtype, layout, mesh_device, memory_config=None)."""
    if (args and isinstance(args[0], TensorSpec)) or "tensor_spec" in named:
        return _allocate_spec(*args, **named)
    return _allocate_shape(*args, **named)


def _allocate_spec(tensor_spec: TensorSpec, mesh_device: MeshDevice) -> Tensor:
    return allocate(tensor_spec, mesh_device)


def _allocate_shape(
    shape: Shape, dtype: DataType, layout: Layout, mesh_device: MeshDevice, memory_config: MemoryConfig | None = None
) -> Tensor:
    check_type("allocate_tensor_on_device", "shape", shape, Shape)
    return allocate(TensorSpec(shape, dtype, layout, plain_config(memory_config or DRAM_MEMORY_CONFIG)), mesh_device)


def allocate_tensor_on_host(*args: Any, **named: Any) -> Tensor:
    """A host tensor of zeros, with the arguments of `allocate_tensor_on_device`."""
    spec = args[0] if isinstance(args[0], TensorSpec) else TensorSpec(*args[:3])
    return Tensor._of(spec, np.zeros(tuple(spec.shape), arrays.NUMPY[spec.dtype]))


_mapper: CppTensorToMesh | None = None  # of a block of `distribute`, and its composer
_composer: CppMeshToTensor | None = None


@contextlib.contextmanager
def distribute(default: CppTensorToMesh | CppMeshToTensor) -> Iterator[None]:
    """A block in which `from_torch` uses a mapper, or `to_torch` a composer, where none is given."""
    global _mapper, _composer
    before = _mapper, _composer
    check_type("distribute", "default", default, (CppTensorToMesh, CppMeshToTensor))
    if isinstance(default, CppTensorToMesh):
        _mapper = default
    else:
        _composer = default
    try:
        yield
    finally:
        _mapper, _composer = before


def from_torch(
    tensor: Any,
    dtype: DataType | None = None,
    *,
    spec: TensorSpec | None = None,
    tile: Tile | None = None,
    pad_value: float | None = None,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    mesh_mapper: CppTensorToMesh | None = None,
    cq_id: int | None = None,
    preserve_nan_values: bool = False,
    col_tilize: bool = False,
    enable_bfloat_opt: bool = False,
) -> Tensor:
    """A tensor of a torch tensor or an array; None of None.  `spec` says everything that the other arguments say.

    `mesh_mapper`: how it is spread over the chips of a mesh, None: all have it.
    """
    if tensor is None:
        return None  # type: ignore[return-value]  # of None alone
    if spec is not None:
        if not (dtype is layout is memory_config is tile is None):
            raise ArgumentError("from_torch: spec comes without dtype, layout, memory_config and tile")
        dtype, layout, tile, memory_config = spec.dtype, spec.layout, spec.tile, plain_config(spec.memory_config)
    if col_tilize:
        raise ArgumentError("from_torch: col_tilize is not available")
    if memory_config is not None and memory_config.is_sharded() and memory_config.shard_spec is None:
        if memory_config.nd_shard_spec is None:
            raise ArgumentError("from_torch: memory_config: a sharded configuration needs a shard_spec")
    values, mapper = arrays.as_numpy(tensor), mesh_mapper or _mapper
    config = None if memory_config is None or device is not None else plain_config(memory_config)
    parts = [
        host_tensor(part, dtype, layout, tile, config, pad_value)
        for part in ([values] if mapper is None else mapper.parts(values))
    ]
    host = parts[0] if len(parts) == 1 else MeshTensor.of_parts(parts, None)
    return host if device is None else host.to(device, memory_config or DRAM_MEMORY_CONFIG, cq_id=cq_id)


def to_torch(
    tensor: Any,
    dtype: Any = None,
    *,
    torch_rank: int | None = None,
    mesh_composer: CppMeshToTensor | None = None,
    device: MeshDevice | None = None,
    cq_id: int | None = None,
) -> Any:
    """Its values as a torch tensor, or as a numpy array where torch is not installed.

    `torch_rank`: leading sizes of 1 are dropped down to this rank; `mesh_composer`: how the parts of the chips of a mesh are put
    together.
    """
    if arrays.is_torch(tensor) or isinstance(tensor, np.ndarray):
        return tensor
    check_type("to_torch", "tensor", tensor, Tensor)
    composer = mesh_composer or _composer
    values = tensor.values() if composer is None else _composed(tensor, composer)
    while torch_rank is not None and values.ndim > torch_rank:
        if values.shape[0] != 1:
            raise ArgumentError(f"to_torch: torch_rank {torch_rank}: {tensor.shape} has a leading size that is not 1")
        values = values[0]
    result = arrays.as_given(values)
    if dtype is None:
        return result
    return result.to(dtype) if arrays.is_torch(result) else result.astype(dtype)


def _composed(tensor: Tensor, composer: CppMeshToTensor) -> np.ndarray:
    """The values of all parts, put together; those of a tensor without parts as they are."""
    parts = [part.values() for part in tensor.parts()]
    return parts[0] if len(parts) == 1 else composer.compose(parts)


def to_device(
    tensor: Tensor, device: MeshDevice, memory_config: MemoryConfig | None = None, cq_id: int | None = None
) -> Tensor:
    """A host tensor on a device."""
    return tensor.to(device, memory_config, cq_id=cq_id) if memory_config else tensor.to(device, cq_id=cq_id)


def from_device(tensor: Tensor, blocking: bool = True, cq_id: int | None = None) -> Tensor:
    """A device tensor on the host."""
    return tensor.cpu(blocking, cq_id)


def copy_host_to_device_tensor(host_tensor: Tensor, device_tensor: Tensor, cq_id: int | None = None) -> None:
    """Write a host tensor into the memory of a device tensor of the same shape, DataType and layout."""
    check_same(host_tensor, device_tensor, "copy_host_to_device_tensor")
    device_tensor.device_buffer("copy_host_to_device_tensor")
    device_tensor.write(host_tensor, cq_id)


def copy_device_to_host_tensor(
    device_tensor: Tensor, host_tensor: Tensor, blocking: bool = True, cq_id: int | None = None
) -> None:
    """Read a device tensor into a host tensor of the same shape, DataType and layout."""
    check_same(host_tensor, device_tensor, "copy_device_to_host_tensor")
    for host, part in zip(host_tensor.parts(), device_tensor.parts(), strict=True):
        host._values = part.cpu(blocking, cq_id)._values


def check_same(one: Tensor, other: Tensor, what: str) -> None:
    """ArgumentError unless two tensors agree in shape, DataType and layout."""
    for name in ("shape", "dtype", "layout"):
        if getattr(one, name) != getattr(other, name):
            raise ArgumentError(f"{what}: {name} {getattr(one, name)} is not {getattr(other, name)}")


def deallocate(tensor: Tensor, force: bool = True) -> None:
    """Free a tensor's memory."""
    check_type("deallocate", "tensor", tensor, Tensor).deallocate(force)


def reallocate(tensor: Tensor, memory_config: MemoryConfig | None = None) -> Tensor:
    """The tensor in new memory, its old memory freed first."""
    host, device = tensor.cpu(), tensor.device()
    config = memory_config or tensor.memory_config()
    tensor.deallocate()
    return host.to(device, config)


move = reallocate


def get_device_tensors(tensor: Tensor) -> list[Tensor]:
    """The tensors of the chips, row after row."""
    return tensor.parts()


def combine_device_tensors(*, tensors: Sequence[Tensor]) -> Tensor:
    """The tensor of a mesh whose parts, row after row, these are; they lie at one address."""
    devices = [one.device() for one in tensors]
    opened = [mesh for device in open_devices().values() for mesh in (device, *device.get_submeshes())]
    mesh = next((mesh for mesh in opened if mesh.chips == devices), None)
    if mesh is None:
        raise ArgumentError("combine_device_tensors: tensors: one of each chip of an open mesh, row after row")
    return tensors[0] if len(tensors) == 1 else MeshTensor.of_parts(tensors, mesh)


def from_host_shards(tensors: Sequence[Tensor], mesh_shape: MeshShape) -> Tensor:
    """A host tensor with a part for each chip of a mesh, row after row."""
    if len(tensors) != mesh_shape.mesh_size() or any(one.device() is not None for one in tensors):
        raise ArgumentError(
            f"from_host_shards: tensors: a mesh of {mesh_shape} takes {mesh_shape.mesh_size()} host tensors"
        )
    return tensors[0] if len(tensors) == 1 else MeshTensor.of_parts(tensors, None)


def aggregate_as_tensor(tensors: list[Tensor]) -> Tensor:
    """The tensor of a mesh, or of the host, of the tensors of its chips."""
    if tensors[0].device() is None:
        return from_host_shards(tensors, MeshShape(1, len(tensors)))
    return combine_device_tensors(tensors=tensors)


def distribute_tensor(tensor: Tensor, mapper: CppTensorToMesh, mesh_device: MeshDevice | None = None) -> Tensor:
    """A host tensor spread over the chips of a mesh."""
    spec, config = tensor.spec, None if mesh_device is None else tensor.memory_config()
    return from_torch(
        tensor.values(), spec.dtype, layout=spec.layout, tile=spec.tile, device=mesh_device, memory_config=config,
        mesh_mapper=mapper,
    )  # fmt: skip


def aggregate_tensor(tensor: Tensor, composer: CppMeshToTensor) -> Tensor:
    """The host tensor of the parts of a mesh."""
    return host_tensor(_composed(tensor, composer), tensor.dtype, tensor.layout, tensor.tile)


def get_optimal_worker_cores_for_sharded_tensor(tensor: Tensor, noc: NOC | None = None) -> list[CoreCoord]:
    """Cores that hold the shards, or the cores nearest to their DRAM banks."""
    from tensim.ttnn.placement import workers_of_banks

    state = tensor.device_buffer("get_optimal_worker_cores_for_sharded_tensor")
    if not state.in_dram:
        return [CoreCoord(*core) for core in tensor.spec_cores()]
    device = tensor.device()
    assert device is not None  # it has a buffer
    workers = workers_of_banks(device.host.arch, 0 if noc is None else noc.value)
    return [CoreCoord(*workers[bank]) for bank, _ in tensor.spec_cores()]


def dump_tensor(file_name: str | Path, tensor: Tensor) -> None:
    """Write a tensor to a file (numpy's .npz) that `load_tensor` reads."""
    values = tensor.values()
    plain = values if values.dtype.kind in "fiu" else values.astype(np.float32)
    described = {"dtype": tensor.dtype.name, "layout": tensor.layout.name, "tile": tensor.tile.tile_shape}
    write_arrays(file_name, values=plain, **described)


def load_tensor(file_name: str | Path, device: MeshDevice | None = None) -> Tensor:
    """Read a tensor that `dump_tensor` wrote."""
    values, dtype, layout, tile = read_arrays(file_name, "values", "dtype", "layout", "tile")
    host = host_tensor(values, DataType[str(dtype)], Layout[str(layout)], Tile(tile.tolist()))
    return host if device is None else host.to(device)
