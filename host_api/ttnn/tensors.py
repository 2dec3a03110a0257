"""Tensors on the host and on a device.

A host tensor holds an array of its logical shape (block floats: float32 of what their blocks hold) and what its padding
shows; a device tensor holds a buffer of the host API.
"""

import math

import numpy as np

import tensim.buffer as buffers
import tensim.queue as queues
import tensim.types as metal
from tensim.sim.host.buffers import expand
from tensim.sim.output_files import write_arrays
from tensim.ttnn import arrays
from tensim.ttnn.cores import pair
from tensim.ttnn.devices import MeshDevice
from tensim.ttnn.enums import (
    BufferType,
    DataType,
    Layout,
    ShardDistributionStrategy,
    ShardOrientation,
    StorageType,
    TensorMemoryLayout,
)
from tensim.ttnn.errors import ArgumentError, ArgumentTypeError, check_type
from tensim.ttnn.memory import (
    BLOCK_FLOATS,
    DRAM_MEMORY_CONFIG,
    EMPTY_PAGE,
    FULL_TILE,
    SHARDED,
    MemoryConfig,
    Shape,
    TensorSpec,
    element_bytes,
)

_LAYOUTS = {
    TensorMemoryLayout.HEIGHT_SHARDED: metal.TensorMemoryLayout.HEIGHT_SHARDED,
    TensorMemoryLayout.WIDTH_SHARDED: metal.TensorMemoryLayout.WIDTH_SHARDED,
    TensorMemoryLayout.BLOCK_SHARDED: metal.TensorMemoryLayout.BLOCK_SHARDED,
}
SUMMARISE = 1000  # elements from which the text of a tensor shows the ends only
_ids = iter(range(1, 1 << 62))


class Tensor:
    """A tensor: Tensor(array[, data_type, device, layout, mem_config, tile, cq_id, pad_value, ...]), or
    Tensor(list, shape, data_type, layout[, device, memory_config, tile, pad_value]).
    """

    def __init__(self, data, *args, tensor=None, shape=None, data_type=None, dtype=None, layout=None, device=None,
                 mem_config=None, memory_config=None, tile=None, cq_id=None, pad_value=None, mesh_mapper=None,
                 preserve_nan_values=False, col_tilize=False, enable_bfloat_opt=False):  # fmt: skip
        if col_tilize:
            raise ArgumentError("Tensor: col_tilize is not available")
        kinds = {DataType: "dtype", MeshDevice: "device", Layout: "layout", MemoryConfig: "memory", Shape: "shape"}
        found = {"dtype": data_type or dtype, "device": device, "layout": layout, "memory": mem_config or memory_config}
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
            placed = host.to(found["device"], found["memory"])
            self._buffer, self._device, self._values = placed._buffer, placed._device, None
            self.spec = placed.spec

    @classmethod
    def _of(cls, spec, values=None, pad=0, buffer=None, device=None):
        self = object.__new__(cls)
        self.spec, self._values, self._pad, self._buffer, self._device = spec, values, pad, buffer, device
        self._alive, self._id = True, next(_ids)
        return self

    # --- what it is

    @property
    def shape(self):
        return self.spec.shape

    @property
    def padded_shape(self):
        return self.spec.padded_shape

    @property
    def dtype(self):
        return self.spec.dtype

    @property
    def layout(self):
        return self.spec.layout

    @property
    def tile(self):
        return self.spec.tile

    @property
    def tensor_id(self):
        return self._id

    def get_dtype(self):
        """The DataType."""
        return self.dtype

    def get_layout(self):
        """The Layout."""
        return self.layout

    def get_tile(self):
        """The Tile."""
        return self.tile

    def memory_config(self):
        """The MemoryConfig, with both kinds of shard specification as far as each can say it."""
        return self.spec.memory_config

    def storage_type(self):
        """Where it is."""
        return StorageType.HOST if self._device is None else StorageType.DEVICE

    def device(self):
        """Its device, None on the host."""
        return self._device

    def devices(self):
        """Its devices."""
        return [] if self._device is None else [self._device]

    def is_sharded(self):
        """Whether it has shards."""
        return self.memory_config().is_sharded()

    def is_allocated(self):
        """Whether it has its memory."""
        return self._alive and (self._buffer is None or self._buffer.is_allocated)

    def volume(self):
        """Number of elements with padding."""
        return math.prod(self.padded_shape)

    def logical_volume(self):
        """Number of elements."""
        return math.prod(self.shape)

    def element_size(self):
        """Bytes of an element; ValueError for block floats."""
        return element_bytes(self.dtype)

    def tensor_topology(self):
        """How it is spread over the mesh of one chip."""
        return None

    # --- its buffer

    def device_buffer(self, what):
        """State of its buffer; ArgumentError on the host and when it was deallocated."""
        if self._buffer is None:
            raise ArgumentError(f"{what}: the tensor is on the host; it needs a device")
        if not self.is_allocated():
            raise ArgumentError(f"{what}: the tensor was deallocated")
        return self._buffer._state

    def host_buffer_handle(self):
        """The buffer as the host API knows it."""
        self.device_buffer("buffer")
        return self._buffer

    def buffer_address(self):
        """Address in every bank."""
        self.device_buffer("Tensor.buffer_address")
        return self._buffer.address

    def buffer_page_size(self):
        """Bytes of a page."""
        return self.device_buffer("Tensor.buffer_page_size").page_size

    def buffer_aligned_page_size(self):
        """Bytes from one page of a bank to the next."""
        return self.device_buffer("Tensor.buffer_aligned_page_size").aligned_page_size

    def buffer_num_pages(self):
        """Number of pages."""
        return self.device_buffer("Tensor.buffer_num_pages").num_pages

    def buffer_unique_id(self):
        """Number of its buffer."""
        self.device_buffer("Tensor.buffer_unique_id")
        return self._buffer.unique_id

    def spec_cores(self):
        """(x, y) of the cores or banks of its shards, in shard order; all of the grid unless shards lie on a rectangle."""
        return _spec_cores(self.spec)

    def deallocate(self, force=False):
        """Free its memory; further uses raise RuntimeError."""
        self._alive = False
        if self._buffer is not None and self._buffer.device.is_open:
            buffers.deallocate_buffer(self._buffer)

    # --- moving

    def to(self, *args, mem_config=None, memory_config=None, cq_id=None, layout=None, device=None, **ignored):
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

    def cpu(self, blocking=True, cq_id=None):
        """A copy on the host."""
        if self._device is None:
            return self
        return Tensor._of(self.spec, arrays.decode(self.read(cq_id), self.spec))

    def write(self, source, cq_id=None):
        """Write a host tensor of the same description's bytes into its buffer."""
        data = source.bytes() if source.spec.padded_shape == self.spec.padded_shape else self._encoded(source)
        if data.size:
            queue = self._device.queue(cq_id)
            queues.enqueue_write_buffer(queue, self._buffer, data)

    def _encoded(self, source):
        return arrays.encode(source._values, self.spec, source._pad)

    def read(self, cq_id=None):
        """Its bytes, page after page, once everything queued before has ended."""
        self.device_buffer("Tensor.cpu")
        if not self._buffer.size:
            return b""
        return queues.enqueue_read_buffer(self._device.queue(cq_id), self._buffer)

    def bytes(self):
        """Bytes of a host tensor, page after page."""
        return arrays.encode(self._values, self.spec, self._pad)

    def _in_layout(self, layout):
        if self._device is not None:
            return self.cpu()._in_layout(layout).to(self._device, self.memory_config())
        if layout == Layout.ROW_MAJOR and self.dtype in BLOCK_FLOATS:
            raise ArgumentError(f"Tensor.to: {self.dtype} exists in Layout.TILE only")
        spec = TensorSpec(self.shape, self.dtype, layout, self.memory_config(), self.tile)
        return Tensor._of(spec, self._values)

    # --- values

    def values(self):
        """Its values as a numpy array of the logical shape."""
        if not self.is_allocated():
            raise ArgumentError("the tensor was deallocated")
        return self._values if self._device is None else self.cpu()._values

    def to_numpy(self):
        """Its values as a numpy array; bfloat16 as ml_dtypes has it."""
        return np.array(self.values())

    def to_torch(self):
        """Its values as a torch tensor, or as a numpy array where torch is not installed."""
        return arrays.as_given(self.values())

    def to_torch_with_padded_shape(self):
        """Its values with the padding."""
        if self._device is None:
            return arrays.as_given(arrays.pad(self._values, self.spec, self._pad))
        return arrays.as_given(arrays.decode_padded(self.read(), self.spec))

    def to_list(self):
        """Its values as nested lists."""
        return self.values().tolist()

    def item(self):
        """The value of a tensor with one element."""
        if self.logical_volume() != 1:
            raise ArgumentError(f"Tensor.item: the tensor has {self.logical_volume()} elements")
        return self.values().reshape(-1)[0].item()

    def host_buffer(self):
        """Its bytes on the host."""
        return self.bytes()

    def extract_shard(self, core):
        """The shard on a core, (x, y) or its number, as a host tensor."""
        index = core if isinstance(core, int) else self.spec_cores().index(pair(core))
        height, width = self.spec.shard_shape[-2:]
        values = self.values().reshape(-1, self.shape[-1])
        across = -(-self.padded_shape[-1] // width)
        row, column = divmod(index, across)
        part = values[row * height : (row + 1) * height, column * width : (column + 1) * width]
        return host_tensor(part, self.dtype, self.layout, self.tile)

    # --- host operations on shapes

    def _rebuilt(self, values):
        return host_tensor(values, self.dtype, self.layout, self.tile, DRAM_MEMORY_CONFIG)

    def reshape(self, *shape):
        """The same values in another shape (one size may be -1), where the tensor is."""
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        try:
            result = self._rebuilt(self.values().reshape(tuple(sizes)))
        except ValueError:
            raise ArgumentError(f"Tensor.reshape: {self.shape} has no form {list(sizes)}") from None
        return result if self._device is None else result.to(self._device, _interleaved(self.memory_config()))

    def pad(self, output_tensor_shape, input_tensor_start, pad_value):
        """The values inside a larger host tensor."""
        out = np.full(tuple(output_tensor_shape), pad_value, self.values().dtype)
        out[tuple(slice(a, a + n) for a, n in zip(input_tensor_start, self.shape, strict=True))] = self.values()
        return self._rebuilt(out)

    def unpad(self, output_tensor_start, output_tensor_end):
        """The values between two corners, the second exclusive."""
        region = tuple(slice(a, b) for a, b in zip(output_tensor_start, output_tensor_end, strict=True))
        return self._rebuilt(self.values()[region])

    def pad_to_tile(self, pad_value):
        """The tensor with its padding to whole tiles."""
        spec = TensorSpec(self.shape, self.dtype, Layout.TILE, tile=self.tile)
        return Tensor._of(spec, self.values(), pad_value)

    def unpad_from_tile(self, output_tensor_shape):
        """The values of a smaller shape, from the start of every dimension."""
        return self._rebuilt(self.values()[tuple(slice(n) for n in output_tensor_shape)])

    def __getitem__(self, index):
        if self._device is None:
            return self._rebuilt(np.array(self.values()[index]))
        return self._rebuilt(np.array(self.values()[index])).to(self._device, _interleaved(self.memory_config()))

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        with np.printoptions(threshold=SUMMARISE, edgeitems=2):
            text = (
                "deallocated"
                if not self.is_allocated()
                else np.array2string(self.values().astype(float), separator=", ")
            )
        return f"ttnn.Tensor({text}, shape={self.shape}, dtype={self.dtype}, layout={self.layout})"


def _interleaved(config):
    return MemoryConfig(buffer_type=config.buffer_type)


def host_tensor(values, dtype=None, layout=None, tile=None, memory_config=None, pad_value=None):
    """A host tensor of a numpy array."""
    dtype = dtype or arrays.dtype_of(values)
    layout = layout or (Layout.TILE if dtype in BLOCK_FLOATS else Layout.ROW_MAJOR)
    spec = TensorSpec(values.shape, dtype, layout, memory_config or DRAM_MEMORY_CONFIG, tile or FULL_TILE)
    return Tensor._of(spec, arrays.cast(values, dtype, spec.tile.tile_shape), pad_value or 0)


def with_config(spec, config):
    """A description with another memory configuration."""
    return TensorSpec(spec.shape, spec.dtype, spec.layout, _plain(config), spec.tile)


def _plain(config):
    """A configuration as a user gives it, without the specification that was derived from the other one."""
    if config.memory_layout in SHARDED and config.shard_spec is not None:
        return MemoryConfig(config.memory_layout, config.buffer_type, config.shard_spec)
    return config


# --- buffers


def _in_blocks(spec):
    """Whether rows and columns of shards lie on those of cores; otherwise shards are dealt to the cores of the grid."""
    return spec.memory_config.nd_shard_spec.shard_distribution_strategy == ShardDistributionStrategy.GRID_2D


def _spec_cores(spec):
    nd = spec.memory_config.nd_shard_spec
    turned = nd.orientation == ShardOrientation.COL_MAJOR
    if _in_blocks(spec):
        return _block_cores(nd.grid.ranges()[0].corners, spec, turned)
    return expand([item.corners for item in nd.grid.ranges()], not turned)


def _block_counts(spec):
    """(down, across): shards of a tensor in blocks; an empty tensor keeps one of a row, and one row of what has no width."""
    shard = spec.shard_pages(len(spec.pages))
    down, across = (-(-a // b) for a, b in zip(spec.pages_2d, (math.prod(shard[:-1]), shard[-1]), strict=True))
    return max(down, 1) if across else 1, max(across, 1)


def _block_cores(corners, spec, turned):
    """Cores of block shards: rows of shards on rows of cores, or on columns."""
    (x0, y0, *_), (down, across) = corners, _block_counts(spec)
    places = [(row, column) for row in range(down) for column in range(across)]
    return [(x0 + row, y0 + column) if turned else (x0 + column, y0 + row) for row, column in places]


def _blocks_fit(spec, nd):
    (down, across), (columns, rows) = _block_counts(spec), pair(nd.grid.ranges()[0].grid_size())
    on_columns, on_rows = (down, across) if nd.orientation == ShardOrientation.COL_MAJOR else (across, down)
    return on_columns <= columns and on_rows <= rows


def _buffer_config(spec, host):
    config = spec.memory_config
    kind = metal.BufferType(config.buffer_type.value)
    size = spec.num_pages * spec.page_size
    if config.interleaved:
        return metal.InterleavedBufferConfig(host, size, spec.page_size, kind)
    if config.nd_shard_spec is None:
        raise ArgumentError(f"MemoryConfig: {config.memory_layout} needs a shard_spec")
    blocks = config.memory_layout == TensorMemoryLayout.BLOCK_SHARDED
    if size and config.memory_layout in SHARDED and blocks == _in_blocks(spec):
        one = config.shard_spec
        shard = metal.ShardSpec(one.grid.host(), tuple(one.shape), metal.ShardOrientation(one.orientation.value))
        parameters = metal.ShardSpecBuffer(shard, spec.page_shape, spec.pages_2d)
        layout = _LAYOUTS[config.memory_layout]
    else:
        nd = config.nd_shard_spec
        cores = [metal.CoreCoord(*core) for core in _spec_cores(spec)]
        contiguous = nd.shard_distribution_strategy == ShardDistributionStrategy.CONTIGUOUS_1D
        pages = spec.distributed_pages
        parameters = metal.BufferDistributionSpec(pages, spec.shard_pages(len(pages)), cores, contiguous)
        layout = metal.TensorMemoryLayout.BLOCK_SHARDED
    return metal.ShardedBufferConfig(host, size, spec.page_size, kind, layout, parameters)


def _check_shards(spec, device):
    """ArgumentError for shards without elements, of more dimensions than the tensor in memory, or outside the device."""
    nd, rank = spec.memory_config.nd_shard_spec, len(spec.padded_shape)
    if nd is None:
        return
    if not all(nd.shard_shape):
        raise ArgumentError(f"NdShardSpec: shard_shape {list(nd.shard_shape)} has no elements")
    if len(nd.shard_shape) > rank:
        raise ArgumentError(
            f"NdShardSpec: shard_shape {list(nd.shard_shape)} has more dimensions than the tensor's {rank}"
        )
    if _in_blocks(spec) and (len(nd.shard_shape) > 2 or nd.grid.size() != 1 or not _blocks_fit(spec, nd)):
        raise ArgumentError(f"NdShardSpec: shard_distribution_strategy: GRID_2D lays no such shards on {nd.grid}")
    if spec.padded_shape[-1] % spec.page_shape[1]:
        raise ArgumentError(
            f"NdShardSpec: an empty tensor's rows are a multiple of {EMPTY_PAGE} B, not {spec.padded_shape}"
        )
    in_dram = spec.memory_config.buffer_type == BufferType.DRAM
    columns, rows = pair(device.dram_grid_size() if in_dram else device.compute_with_storage_grid_size())
    for x, y in _spec_cores(spec):
        if x >= columns or y >= rows:
            place = "DRAM bank" if in_dram else "core"
            raise ArgumentError(f"ShardSpec: grid: {place} {x}-{y} is outside the device's {columns}x{rows}")


def allocate(spec, device):
    """A device tensor of undefined contents."""
    check_type("allocate_tensor_on_device", "mesh_device", device, MeshDevice)
    device.check_open()
    if spec.dtype == DataType.FP8_E4M3 and device.host.arch.name != "blackhole":
        raise ArgumentError(f"Tensor: dtype: {spec.dtype} is no format of {device.host.arch.name}")
    _check_shards(spec, device)
    buffer = buffers.create_buffer(_buffer_config(spec, device.host))
    if 0 < spec.shape.rank == spec.padded_shape.rank and 0 not in tuple(spec.shape):
        buffer.describe(map(int, spec.shape), map(int, spec.padded_shape))
    return Tensor._of(spec, buffer=buffer, device=device)


def allocate_tensor_on_device(*args, **named):
    """allocate_tensor_on_device(tensor_spec, mesh_device) or (shape, dtype, layout, mesh_device, memory_config=None)."""
    if (args and isinstance(args[0], TensorSpec)) or "tensor_spec" in named:
        return _allocate_spec(*args, **named)
    return _allocate_shape(*args, **named)


def _allocate_spec(tensor_spec, mesh_device):
    return allocate(tensor_spec, mesh_device)


def _allocate_shape(shape, dtype, layout, mesh_device, memory_config=None):
    check_type("allocate_tensor_on_device", "shape", shape, Shape)
    return allocate(TensorSpec(shape, dtype, layout, _plain(memory_config or DRAM_MEMORY_CONFIG)), mesh_device)


def allocate_tensor_on_host(*args, **named):
    """A host tensor of zeros, with the arguments of `allocate_tensor_on_device`."""
    spec = args[0] if isinstance(args[0], TensorSpec) else TensorSpec(*args[:3])
    return Tensor._of(spec, np.zeros(tuple(spec.shape), arrays.NUMPY[spec.dtype]))


# --- conversion functions


def from_torch(tensor, dtype=None, *, spec=None, tile=None, pad_value=None, layout=None, device=None,
               memory_config=None, mesh_mapper=None, cq_id=None, preserve_nan_values=False, col_tilize=False,
               enable_bfloat_opt=False):  # fmt: skip
    """A tensor of a torch tensor or an array; None of None.  `spec` says everything that the other arguments say."""
    if tensor is None:
        return None
    if spec is not None:
        if not (dtype is layout is memory_config is tile is None):
            raise ArgumentError("from_torch: spec comes without dtype, layout, memory_config and tile")
        dtype, layout, tile, memory_config = spec.dtype, spec.layout, spec.tile, _plain(spec.memory_config)
    if col_tilize:
        raise ArgumentError("from_torch: col_tilize is not available")
    if memory_config is not None and memory_config.is_sharded() and memory_config.shard_spec is None:
        if memory_config.nd_shard_spec is None:
            raise ArgumentError("from_torch: memory_config: a sharded configuration needs a shard_spec")
    host = host_tensor(arrays.as_numpy(tensor), dtype, layout, tile, None, pad_value)
    if device is None:
        return (
            host
            if memory_config is None
            else Tensor._of(with_config(host.spec, memory_config), host._values, host._pad)
        )
    return host.to(device, memory_config or DRAM_MEMORY_CONFIG, cq_id=cq_id)


def to_torch(tensor, dtype=None, *, torch_rank=None, mesh_composer=None, device=None, cq_id=None):
    """Its values as a torch tensor, or as a numpy array where torch is not installed.

    `torch_rank`: leading sizes of 1 are dropped down to this rank.
    """
    if arrays.is_torch(tensor) or isinstance(tensor, np.ndarray):
        return tensor
    values = check_type("to_torch", "tensor", tensor, Tensor).values()
    while torch_rank is not None and values.ndim > torch_rank:
        if values.shape[0] != 1:
            raise ArgumentError(f"to_torch: torch_rank {torch_rank}: {tensor.shape} has a leading size that is not 1")
        values = values[0]
    result = arrays.as_given(values)
    if dtype is None:
        return result
    return result.to(dtype) if arrays.is_torch(result) else result.astype(dtype)


def to_device(tensor, device, memory_config=None, cq_id=None):
    """A host tensor on a device."""
    return tensor.to(device, memory_config, cq_id=cq_id) if memory_config else tensor.to(device, cq_id=cq_id)


def from_device(tensor, blocking=True, cq_id=None):
    """A device tensor on the host."""
    return tensor.cpu(blocking, cq_id)


def copy_host_to_device_tensor(host_tensor, device_tensor, cq_id=None):
    """Write a host tensor into the memory of a device tensor of the same shape, DataType and layout."""
    check_same(host_tensor, device_tensor, "copy_host_to_device_tensor")
    device_tensor.device_buffer("copy_host_to_device_tensor")
    device_tensor.write(host_tensor, cq_id)


def copy_device_to_host_tensor(device_tensor, host_tensor, blocking=True, cq_id=None):
    """Read a device tensor into a host tensor of the same shape, DataType and layout."""
    check_same(host_tensor, device_tensor, "copy_device_to_host_tensor")
    host_tensor._values = device_tensor.cpu(blocking, cq_id)._values


def check_same(one, other, what):
    """ArgumentError unless two tensors agree in shape, DataType and layout."""
    for name in ("shape", "dtype", "layout"):
        if getattr(one, name) != getattr(other, name):
            raise ArgumentError(f"{what}: {name} {getattr(one, name)} is not {getattr(other, name)}")


def deallocate(tensor, force=True):
    """Free a tensor's memory."""
    check_type("deallocate", "tensor", tensor, Tensor).deallocate(force)


def reallocate(tensor, memory_config=None):
    """The tensor in new memory, its old memory freed first."""
    host, device = tensor.cpu(), tensor.device()
    config = memory_config or tensor.memory_config()
    tensor.deallocate()
    return host.to(device, config)


move = reallocate


def get_device_tensors(tensor):
    """The tensors of the chips: itself."""
    return [tensor]


def aggregate_as_tensor(tensors):
    """The one tensor of a list."""
    if len(tensors) != 1:
        raise ArgumentTypeError("aggregate_as_tensor: one chip has one tensor")
    return tensors[0]


def get_optimal_worker_cores_for_sharded_tensor(tensor, noc=None):
    """Cores that hold the shards, or the cores nearest to their DRAM banks."""
    from tensim.ttnn.cores import CoreCoord
    from tensim.ttnn.placement import workers_of_banks

    state = tensor.device_buffer("get_optimal_worker_cores_for_sharded_tensor")
    if not state.in_dram:
        return [CoreCoord(*core) for core in tensor.spec_cores()]
    workers = workers_of_banks(tensor.device().host.arch, 0 if noc is None else noc.value)
    return [CoreCoord(*workers[bank]) for bank, _ in tensor.spec_cores()]


def dump_tensor(file_name, tensor):
    """Write a tensor to a file (numpy's .npz) that `load_tensor` reads."""
    values = tensor.values()
    plain = values if values.dtype.kind in "fiu" else values.astype(np.float32)
    described = {"dtype": tensor.dtype.name, "layout": tensor.layout.name, "tile": tensor.tile.tile_shape}
    write_arrays(file_name, values=plain, **described)


def load_tensor(file_name, device=None):
    """Read a tensor that `dump_tensor` wrote."""
    from tensim.ttnn.memory import Tile

    with np.load(file_name, allow_pickle=False) as file:
        dtype, layout = DataType[str(file["dtype"])], Layout[str(file["layout"])]
        host = host_tensor(file["values"], dtype, layout, Tile(file["tile"].tolist()))
    return host if device is None else host.to(device)
