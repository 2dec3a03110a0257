"""What the programs share: kernel sources, core sets, circular buffers, tensors."""

from pathlib import Path

import numpy as np

import tensim.ttnn as ttnn

SOURCES = Path(__file__).parent.parent / "cpp"
DTYPES = {"bf16": ttnn.bfloat16, "bfp8_b": ttnn.bfloat8_b, "fp32": ttnn.float32}


def kernel(program, name, cores, config, compile_time_args, runtime_args=(), defines=()):
    """KernelDescriptor of a program's kernel; `runtime_args`: the words of each core, in the order of `cores` [(x, y), ...]."""
    return ttnn.KernelDescriptor(
        kernel_source=str(SOURCES / program / f"{name}.cpp"), core_ranges=core_set(cores), defines=list(defines),
        compile_time_args=compile_time_args, runtime_args=_runtime_args(cores, runtime_args), config=config,
    )  # fmt: skip


def accessor(tensor):
    """The compile-time words of a tensor's accessor."""
    return ttnn.TensorAccessorArgs(tensor).get_compile_time_args()


def core_set(cores):
    """CoreRangeSet of cores [(x, y), ...], one range each."""
    return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(*core), ttnn.CoreCoord(*core)) for core in cores])


def rectangle(first, last):
    """CoreRangeSet of the rectangle between two cores (x, y), both included."""
    return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(*first), ttnn.CoreCoord(*last))])


def row_major(device, count):
    """The first `count` cores (x, y), row by row."""
    across = device.compute_with_storage_grid_size().x
    return [(i % across, i // across) for i in range(count)]


def row_major_rectangle(rows, columns):
    """The cores (x, y) of a rectangle from (0, 0) on, row by row."""
    return [(x, y) for y in range(rows) for x in range(columns)]


def split(pages, parts):
    """[(first, count)] of contiguous parts; the first ones have one page more when it does not come out even."""
    each, more = divmod(pages, parts)
    result, first = [], 0
    for part in range(parts):
        count = each + (part < more)
        result.append((first, count))
        first += count
    return result


def _runtime_args(cores, words):
    result = ttnn.RuntimeArgs()
    for (x, y), values in zip(cores, words, strict=bool(words)):
        result[x][y] = values
    return result


def placed_words(device, cores):
    """[x0, y0, x1, y1, ...] of logical cores, as kernels name them."""
    names = [device.worker_core_from_logical_core(ttnn.CoreCoord(*core)) for core in cores]
    return [word for name in names for word in (name.x, name.y)]


def sharded(cores, shape):
    """MemoryConfig of height shards of a shape in the L1 of cores [(x, y), ...]; they must form a rectangle."""
    (x0, y0), (x1, y1) = min(cores), max(cores)
    spec = ttnn.ShardSpec(rectangle((x0, y0), (x1, y1)), list(shape), ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)


def buffer(index, pages, page_bytes, dtype, cores):
    """CBDescriptor of `pages` pages on cores [(x, y), ...]."""
    form = ttnn.CBFormatDescriptor(buffer_index=index, data_format=dtype, page_size=page_bytes)
    return ttnn.CBDescriptor(total_size=pages * page_bytes, core_ranges=core_set(cores), format_descriptors=[form])


def resident(index, tensor, page_bytes=None):
    """CBDescriptor of a tensor's shard in L1; `page_bytes` in place of the tensor's page."""
    cb = ttnn.cb_descriptor_from_sharded_tensor(index, tensor)
    if page_bytes is not None:
        cb.format_descriptors[0].page_size = page_bytes
    return cb


def bits(value):
    """The bits of a float32."""
    return int(np.float32(value).view(np.uint32))


def output_like(x, shape=None, dtype=None, memory_config=None):
    """A tensor for results: as `x`, but for what is given."""
    return ttnn.allocate_tensor_on_device(
        ttnn.Shape(list(shape or x.shape)), dtype or x.dtype, x.layout, x.device(), memory_config or x.memory_config(),
    )  # fmt: skip


def in_l1(device, shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT):
    """A random tensor in the L1 of core (0, 0)."""
    return random(device, shape, dtype, layout, sharded([(0, 0)], shape))


def random(device, shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, memory_config=ttnn.DRAM_MEMORY_CONFIG):
    """A tensor of normal random numbers of a fixed seed."""
    values = np.random.default_rng(0).standard_normal(tuple(shape)).astype(np.float32)
    return ttnn.from_torch(values, dtype=dtype, layout=layout, device=device, memory_config=memory_config)


def numbers(tensor):
    """The values of a tensor, floats as float32 (numpy)."""
    values = ttnn.to_torch(tensor)
    values = np.asarray(
        values.float() if hasattr(values, "is_floating_point") and values.is_floating_point() else values
    )
    return values if values.dtype.kind in "iu" else values.astype(np.float32)
