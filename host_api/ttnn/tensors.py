"""Tensors on the host and on a device.

A host tensor holds an array of its logical shape (block floats: float32 of what their blocks hold) and what its padding
shows; a device tensor holds a buffer of the host API.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

import tensim.buffer as buffers
import tensim.queue as queues
from tensim.buffer import Buffer
from tensim.ttnn import arrays
from tensim.ttnn.cores import CoreLike, Place, pair
from tensim.ttnn.devices import MeshDevice
from tensim.ttnn.enums import DataType, Layout, StorageType
from tensim.ttnn.errors import ArgumentError, check_type
from tensim.ttnn.memory import DRAM_MEMORY_CONFIG, MemoryConfig, TensorSpec, with_config
from tensim.ttnn.meshes import MeshCoordinate
from tensim.ttnn.shapes import BLOCK_FLOATS, FULL_TILE, Shape, Tile, element_bytes
from tensim.ttnn.tensor_buffers import buffer_of, cores_of_shards

if TYPE_CHECKING:
    from tensim.sim.host.buffers import Buffer as BufferState

Operand: TypeAlias = "Tensor | float"  # of arithmetic
SUMMARISE = 1000  # elements from which the text of a tensor shows the ends only
_ids = iter(range(1, 1 << 62))


def _operator(function: Callable[..., Any], turned: bool = False) -> Callable[[Tensor, Operand], Tensor]:
    """A method that computes a function of a tensor and another operand; `turned`: of the other operand and the tensor."""

    def method(self: Tensor, other: Operand) -> Tensor:
        return _result(function, other, self) if turned else _result(function, self, other)

    return method


class Tensor:
    """A tensor: Tensor(array[, data_type, device, layout, mem_config, tile, cq_id, pad_value, ...]), or
    Tensor(list, shape, data_type, layout[, device, memory_config, tile, pad_value]).
    """

    spec: TensorSpec
    _values: np.ndarray  # None on a device
    _pad: float
    _buffer: Buffer | None  # None on the host, as its device
    _device: MeshDevice | None
    _place = MeshCoordinate(0, 0)  # of its chip in the mesh that it is a part of

    def __init__(
        self,
        data: Any,
        *args: Any,
        tensor: object = None,
        shape: Any = None,
        data_type: DataType | None = None,
        dtype: DataType | None = None,
        layout: Layout | None = None,
        device: MeshDevice | None = None,
        mem_config: MemoryConfig | None = None,
        memory_config: MemoryConfig | None = None,
        tile: Tile | None = None,
        cq_id: int | None = None,
        pad_value: float | None = None,
        mesh_mapper: object = None,
        preserve_nan_values: bool = False,
        col_tilize: bool = False,
        enable_bfloat_opt: bool = False,
    ) -> None:
        if col_tilize:
            raise ArgumentError("Tensor: col_tilize is not available")
        kinds = {DataType: "dtype", MeshDevice: "device", Layout: "layout", MemoryConfig: "memory", Shape: "shape"}
        found: dict[str, Any] = {
            "dtype": data_type or dtype,
            "device": device,
            "layout": layout,
            "memory": mem_config or memory_config,
        }
        found["shape"] = shape
        for arg in args:
            name = kinds.get(type(arg), "tile" if hasattr(arg, "tile_shape") else "shape")
            if arg is not None and name == "tile":
                tile = arg
            elif arg is not None and isinstance(arg, int | float):
                pad_value = arg
            elif arg is not None:
                found[name] = arg
        values = arrays.as_numpy(data)
        if found["shape"] is not None:
            values = values.reshape(tuple(found["shape"]))
        host = host_tensor(values, found["dtype"], found["layout"], tile, found["memory"], pad_value)
        self.spec, self._values, self._pad = host.spec, host._values, host._pad
        self._buffer = self._device = None
        self._alive, self._id = True, next(_ids)
        if found["device"] is not None:
            if len(found["device"].chips) > 1:
                raise ArgumentError("Tensor: device: from_torch spreads a tensor over the chips of a mesh")
            placed = host.to(found["device"], found["memory"])
            self._buffer, self._device, self._values = placed._buffer, placed._device, placed._values
            self.spec = placed.spec

    @classmethod
    def _of(
        cls,
        spec: TensorSpec,
        values: np.ndarray | None = None,
        pad: float = 0,
        buffer: Buffer | None = None,
        device: MeshDevice | None = None,
    ) -> Self:
        self = object.__new__(cls)
        self.spec, self._pad, self._buffer, self._device = spec, pad, buffer, device
        self._values = values  # type: ignore[assignment]
        self._alive, self._id = True, next(_ids)
        return self

    # --- what it is

    @property
    def shape(self) -> Shape:
        return self.spec.shape

    @property
    def padded_shape(self) -> Shape:
        return self.spec.padded_shape

    @property
    def dtype(self) -> DataType:
        return self.spec.dtype

    @property
    def layout(self) -> Layout:
        return self.spec.layout

    @property
    def tile(self) -> Tile:
        return self.spec.tile

    @property
    def tensor_id(self) -> int:
        return self._id

    def get_dtype(self) -> DataType:
        """The DataType."""
        return self.dtype

    def get_layout(self) -> Layout:
        """The Layout."""
        return self.layout

    def get_tile(self) -> Tile:
        """The Tile."""
        return self.tile

    def memory_config(self) -> MemoryConfig:
        """The MemoryConfig, with both kinds of shard specification as far as each can say it."""
        return self.spec.memory_config

    def storage_type(self) -> StorageType:
        """Where it is."""
        return StorageType.HOST if self._device is None else StorageType.DEVICE

    def device(self) -> MeshDevice | None:
        """Its device, None on the host."""
        return self._device

    def devices(self) -> list[MeshDevice]:
        """Its devices."""
        return [] if self._device is None else [self._device]

    def is_sharded(self) -> bool:
        """Whether it has shards."""
        return self.memory_config().is_sharded()

    def is_allocated(self) -> bool:
        """Whether it has its memory."""
        return self._alive and (self._buffer is None or self._buffer.is_allocated)

    def volume(self) -> int:
        """Number of elements with padding."""
        return math.prod(self.padded_shape)

    def logical_volume(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def element_size(self) -> int:
        """Bytes of an element; ValueError for block floats."""
        return element_bytes(self.dtype)

    def device_coords(self) -> list[MeshCoordinate]:
        """The places of its chips in the mesh that it was made for; ArgumentError on the host."""
        if self._device is None:
            raise ArgumentError("Tensor.device_coords: the tensor is on the host; it needs a device")
        return [part._place for part in self.parts()]

    def tensor_topology(self) -> None:
        """How it is spread over its mesh; nobody keeps that here."""
        return None

    def parts(self) -> list[Tensor]:
        """The tensors of its chips, row after row: itself."""
        return [self]

    # --- its buffer

    def device_buffer(self, what: str) -> BufferState:
        """State of its buffer; ArgumentError on the host and when it was deallocated."""
        if self._buffer is None:
            raise ArgumentError(f"{what}: the tensor is on the host; it needs a device")
        if not self.is_allocated():
            raise ArgumentError(f"{what}: the tensor was deallocated")
        return self._buffer._state

    def host_buffer_handle(self) -> Buffer:
        """The buffer as the host API knows it."""
        self.device_buffer("buffer")
        return _placed(self)[1]

    def buffer_address(self) -> int:
        """Address in every bank."""
        self.device_buffer("Tensor.buffer_address")
        return _placed(self)[1].address

    def buffer_page_size(self) -> int:
        """Bytes of a page."""
        return self.device_buffer("Tensor.buffer_page_size").page_size

    def buffer_aligned_page_size(self) -> int:
        """Bytes from one page of a bank to the next."""
        return self.device_buffer("Tensor.buffer_aligned_page_size").aligned_page_size

    def buffer_num_pages(self) -> int:
        """Number of pages."""
        return self.device_buffer("Tensor.buffer_num_pages").num_pages

    def buffer_unique_id(self) -> int:
        """Number of its buffer."""
        self.device_buffer("Tensor.buffer_unique_id")
        return _placed(self)[1].unique_id

    def spec_cores(self) -> list[Place]:
        """(x, y) of the cores or banks of its shards, in shard order; all of the grid unless shards lie on a rectangle."""
        return cores_of_shards(self.spec)

    def deallocate(self, force: bool = False) -> None:
        """Free its memory; further uses raise RuntimeError."""
        self._alive = False
        if self._buffer is not None and self._buffer.device.is_open:
            buffers.deallocate_buffer(self._buffer)

    # --- moving

    def to(
        self,
        *args: Any,
        mem_config: MemoryConfig | None = None,
        memory_config: MemoryConfig | None = None,
        cq_id: int | None = None,
        layout: Layout | None = None,
        device: MeshDevice | None = None,
        **ignored: Any,
    ) -> Tensor:
        """The tensor on a device, `to(device[, memory_config])`, or on the host in another layout, `to(layout)`."""
        config = mem_config or memory_config
        for arg in args:
            if isinstance(arg, Layout):
                layout = arg
            elif isinstance(arg, MemoryConfig):
                config = arg
            elif isinstance(arg, MeshDevice):
                device = arg
            elif isinstance(arg, int):
                cq_id = arg
        tensor = self if layout is None or layout == self.layout else self._in_layout(layout)
        if device is None or tensor._device is device:
            return tensor
        if tensor._device is not None:
            raise ArgumentError("Tensor.to: the tensor is on another device; fetch it with cpu() first")
        spec = tensor.spec if config is None else with_config(tensor.spec, config)
        target = allocate(spec, device)
        target.write(tensor, cq_id)
        return target

    def cpu(self, blocking: bool = True, cq_id: int | None = None) -> Tensor:
        """A copy on the host."""
        if self._device is None:
            return self
        return Tensor._of(self.spec, arrays.decode(self.read(cq_id), self.spec))

    def write(self, source: Tensor, cq_id: int | None = None) -> None:
        """Write a host tensor of the same description's bytes into its buffer."""
        data = source.bytes() if source.spec.padded_shape == self.spec.padded_shape else self._encoded(source)
        if data.size:
            device, buffer = _placed(self)
            queues.enqueue_write_buffer(device.queue(cq_id), buffer, data)

    def _encoded(self, source: Tensor) -> np.ndarray:
        return arrays.encode(source._values, self.spec, source._pad)

    def read(self, cq_id: int | None = None) -> bytes:
        """Its bytes, page after page, once everything queued before has ended."""
        self.device_buffer("Tensor.cpu")
        device, buffer = _placed(self)
        if not buffer.size:
            return b""
        return queues.enqueue_read_buffer(device.queue(cq_id), buffer)  # type: ignore[return-value]  # it blocks

    def bytes(self) -> np.ndarray:
        """Bytes of a host tensor, page after page."""
        return arrays.encode(self._values, self.spec, self._pad)

    def _in_layout(self, layout: Layout) -> Tensor:
        if self._device is not None:
            return self.cpu()._in_layout(layout).to(self._device, self.memory_config())
        if layout == Layout.ROW_MAJOR and self.dtype in BLOCK_FLOATS:
            raise ArgumentError(f"Tensor.to: {self.dtype} exists in Layout.TILE only")
        spec = TensorSpec(self.shape, self.dtype, layout, self.memory_config(), self.tile)
        return Tensor._of(spec, self._values)

    # --- values

    def values(self) -> np.ndarray:
        """Its values as a numpy array of the logical shape."""
        if not self.is_allocated():
            raise ArgumentError("the tensor was deallocated")
        return self._values if self._device is None else self.cpu()._values

    def to_numpy(self) -> np.ndarray:
        """Its values as a numpy array; bfloat16 as ml_dtypes has it."""
        return np.array(self.values())

    def to_torch(self) -> Any:
        """Its values as a torch tensor, or as a numpy array where torch is not installed."""
        return arrays.as_given(self.values())

    def to_torch_with_padded_shape(self) -> Any:
        """Its values with the padding."""
        if self._device is None:
            return arrays.as_given(arrays.pad(self._values, self.spec, self._pad))
        return arrays.as_given(arrays.decode_padded(self.read(), self.spec))

    def to_list(self) -> list:
        """Its values as nested lists."""
        return self.values().tolist()

    def item(self) -> float:
        """The value of a tensor with one element."""
        if self.logical_volume() != 1:
            raise ArgumentError(f"Tensor.item: the tensor has {self.logical_volume()} elements")
        return self.values().reshape(-1)[0].item()

    def host_buffer(self) -> np.ndarray:
        """Its bytes on the host."""
        return self.bytes()

    def extract_shard(self, core: int | CoreLike) -> Tensor:
        """The shard on a core, (x, y) or its number, as a host tensor."""
        index = core if isinstance(core, int) else self.spec_cores().index(pair(core))
        shard = self.spec.shard_shape
        assert shard is not None  # of a tensor in shards alone
        height, width = shard[-2:]
        values = self.values().reshape(-1, self.shape[-1])
        across = -(-self.padded_shape[-1] // width)
        row, column = divmod(index, across)
        part = values[row * height : (row + 1) * height, column * width : (column + 1) * width]
        return host_tensor(part, self.dtype, self.layout, self.tile)

    # --- arithmetic

    __add__ = __radd__ = _operator(np.add)
    __mul__ = __rmul__ = _operator(np.multiply)
    __sub__, __rsub__ = _operator(np.subtract), _operator(np.subtract, turned=True)
    __truediv__, __rtruediv__ = _operator(np.divide), _operator(np.divide, turned=True)

    def __neg__(self) -> Tensor:
        return _result(np.negative, self)

    # --- host operations on shapes

    def _rebuilt(self, values: np.ndarray) -> Tensor:
        return host_tensor(values, self.dtype, self.layout, self.tile, DRAM_MEMORY_CONFIG)

    def reshape(self, *shape: Any) -> Tensor:
        """The same values in another shape (one size may be -1), where the tensor is."""
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        try:
            result = self._rebuilt(self.values().reshape(tuple(sizes)))
        except ValueError:
            raise ArgumentError(f"Tensor.reshape: {self.shape} has no form {list(sizes)}") from None
        return result if self._device is None else result.to(self._device, _interleaved(self.memory_config()))

    def pad(self, output_tensor_shape: Sequence[int], input_tensor_start: Sequence[int], pad_value: float) -> Tensor:
        """The values inside a larger host tensor."""
        out = np.full(tuple(output_tensor_shape), pad_value, self.values().dtype)
        out[tuple(slice(a, a + n) for a, n in zip(input_tensor_start, self.shape, strict=True))] = self.values()
        return self._rebuilt(out)

    def unpad(self, output_tensor_start: Sequence[int], output_tensor_end: Sequence[int]) -> Tensor:
        """The values between two corners, the second exclusive."""
        region = tuple(slice(a, b) for a, b in zip(output_tensor_start, output_tensor_end, strict=True))
        return self._rebuilt(self.values()[region])

    def pad_to_tile(self, pad_value: float) -> Tensor:
        """The tensor with its padding to whole tiles."""
        spec = TensorSpec(self.shape, self.dtype, Layout.TILE, tile=self.tile)
        return Tensor._of(spec, self.values(), pad_value)

    def unpad_from_tile(self, output_tensor_shape: Sequence[int]) -> Tensor:
        """The values of a smaller shape, from the start of every dimension."""
        return self._rebuilt(self.values()[tuple(slice(n) for n in output_tensor_shape)])

    def __getitem__(self, index: Any) -> Tensor:
        if self._device is None:
            return self._rebuilt(np.array(self.values()[index]))
        return self._rebuilt(np.array(self.values()[index])).to(self._device, _interleaved(self.memory_config()))

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        with np.printoptions(threshold=SUMMARISE, edgeitems=2):
            text = (
                "deallocated"
                if not self.is_allocated()
                else np.array2string(self.values().astype(float), separator=", ")
            )
        return f"ttnn.Tensor({text}, shape={self.shape}, dtype={self.dtype}, layout={self.layout})"


def _by_part(name: str) -> Callable[..., Tensor]:
    """The method of this name of each part, as one of their mesh."""

    def method(self: MeshTensor, *arguments: Any) -> Tensor:
        return each_chip(lambda part: getattr(part, name)(*arguments), self)

    method.__name__, method.__doc__ = name, getattr(Tensor, name).__doc__
    return method


class MeshTensor(Tensor):
    """A tensor on several chips of a mesh, or the parts of one on the host: all are described alike.

    On a mesh its parts lie at one address of all chips.
    """

    _parts: list[Tensor]

    @classmethod
    def of_parts(cls, parts: Sequence[Tensor], mesh: MeshDevice | None) -> Self:
        """The tensor of its parts, row after row; ArgumentError for parts of several kinds, or at several addresses."""
        first = parts[0]
        if any(part.spec != first.spec for part in parts):
            raise ArgumentError("Tensor: the parts of a mesh differ in shape, DataType, layout or memory")
        if mesh is not None and len({part.buffer_address() for part in parts}) > 1:
            raise ArgumentError(
                "Tensor: its parts would lie at different addresses of the chips of a mesh",
                hint="free what was allocated on a part of the mesh alone",
            )
        self = cls._of(first.spec, None, first._pad, first._buffer, mesh)
        self._parts = list(parts)
        for part, place in zip(parts, [] if mesh is None else mesh.shape.coordinates(), strict=mesh is not None):
            part._place = place
        return self

    def parts(self) -> list[Tensor]:
        """The tensors of its chips, row after row."""
        return list(self._parts)

    def is_allocated(self) -> bool:
        """Whether all have their memory."""
        return all(part.is_allocated() for part in self._parts)

    def deallocate(self, force: bool = False) -> None:
        """Free the memory of all."""
        for part in self._parts:
            part.deallocate(force)

    def cpu(self, blocking: bool = True, cq_id: int | None = None) -> Tensor:
        """A copy of the parts on the host."""
        if self._device is None:
            return self
        return MeshTensor.of_parts([part.cpu(blocking, cq_id) for part in self._parts], None)

    def write(self, source: Tensor, cq_id: int | None = None) -> None:
        """Write each part of a host tensor to its chip, or a tensor without parts to all."""
        given = source.parts()
        if len(given) not in (1, len(self._parts)):
            raise ArgumentError(f"Tensor: {len(given)} parts do not fit the {len(self._parts)} chips of the mesh")
        for index, part in enumerate(self._parts):
            part.write(given[index % len(given)], cq_id)

    def values(self) -> np.ndarray:
        """ArgumentError: there are several."""
        raise ArgumentError(
            f"the tensor has a part on each of {len(self._parts)} chips",
            hint="ttnn.to_torch(..., mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim)), or ttnn.get_device_tensors",
        )

    def read(self, cq_id: int | None = None) -> bytes:
        """ArgumentError: there are several."""
        return self.values().tobytes()

    bytes = values
    reshape, pad, unpad = _by_part("reshape"), _by_part("pad"), _by_part("unpad")
    pad_to_tile, unpad_from_tile = _by_part("pad_to_tile"), _by_part("unpad_from_tile")
    _in_layout, __getitem__ = _by_part("_in_layout"), _by_part("__getitem__")

    def __repr__(self) -> str:
        return f"ttnn.Tensor({self._parts}, shape={self.shape}, dtype={self.dtype}, layout={self.layout})"


def _placed(tensor: Tensor) -> tuple[MeshDevice, Buffer]:
    """Device and buffer of a device tensor."""
    assert tensor._device is not None and tensor._buffer is not None
    return tensor._device, tensor._buffer


def _interleaved(config: MemoryConfig) -> MemoryConfig:
    return MemoryConfig(buffer_type=config.buffer_type)


def host_tensor(
    values: np.ndarray,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    tile: Tile | None = None,
    memory_config: MemoryConfig | None = None,
    pad_value: float | None = None,
) -> Tensor:
    """A host tensor of a numpy array."""
    dtype = dtype or arrays.dtype_of(values)
    layout = layout or (Layout.TILE if dtype in BLOCK_FLOATS else Layout.ROW_MAJOR)
    spec = TensorSpec(values.shape, dtype, layout, memory_config or DRAM_MEMORY_CONFIG, tile or FULL_TILE)
    return Tensor._of(spec, arrays.cast(values, dtype, spec.tile.tile_shape), pad_value or 0)


def allocate(spec: TensorSpec, device: MeshDevice) -> Tensor:
    """A device tensor of undefined contents."""
    chips = check_type("allocate_tensor_on_device", "mesh_device", device, MeshDevice).chips
    parts = [Tensor._of(spec, buffer=buffer_of(spec, chip), device=chip) for chip in chips]
    return parts[0] if len(parts) == 1 else MeshTensor.of_parts(parts, device)


# --- arithmetic, on the host: in float32 and rounded once


def each_chip(call: Callable[..., Tensor], *operands: Operand) -> Tensor:
    """What a call gives for the operands; with parts on several chips among them, chip by chip."""
    several = next((one for one in operands if isinstance(one, MeshTensor)), None)
    if several is None:
        return call(*operands)
    spread = [one.parts() if isinstance(one, MeshTensor) else [one] * len(several.parts()) for one in operands]
    results = [call(*given) for given in zip(*spread, strict=True)]
    return MeshTensor.of_parts(results, None if results[0].device() is None else several.device())


def computed(
    function: Callable[..., Any], operands: Sequence[Operand], dtype: DataType | None = None
) -> tuple[Tensor, Tensor]:
    """A function of numpy on tensors and numbers, as a host tensor, and the first tensor among the operands."""
    like = next(operand for operand in operands if isinstance(operand, Tensor))
    with np.errstate(all="ignore"):
        values = np.asarray(function(*map(_wide, operands)))
    kind = dtype or like.dtype
    return host_tensor(arrays.cast(values, kind, like.tile.tile_shape), kind, like.layout, like.tile), like


def _wide(operand: Operand) -> np.ndarray | float:
    if not isinstance(operand, Tensor):
        return operand
    values = operand.values()
    return values if values.dtype.kind in "iu" else values.astype(np.float32)


def placed_like(host: Tensor, like: Tensor, memory_config: MemoryConfig | None = None) -> Tensor:
    """A host tensor where another one is."""
    device = like.device()
    if device is None:
        return host
    kept = like.memory_config()
    same = kept.interleaved or host.shape == like.shape
    return host.to(device, memory_config or (kept if same else MemoryConfig(buffer_type=kept.buffer_type)))


def _result(function: Callable[..., Any], *operands: Operand) -> Tensor:
    return each_chip(lambda *given: placed_like(*computed(function, given)), *operands)
