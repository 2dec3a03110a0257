"""What the programs share: kernel sources, core sets, circular buffers, tensors."""

from pathlib import Path

import numpy as np

import tensim.ttnn as ttnn

SOURCES = Path(__file__).parent.parent / "cpp"
DTYPES = {"bf16": ttnn.bfloat16, "bfp8_b": ttnn.bfloat8_b, "fp32": ttnn.float32}


def source(program, name):
    """Path of a program's kernel."""
    return str(SOURCES / program / f"{name}.cpp")


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


def split(pages, parts):
    """[(first, count)] of contiguous parts; the first ones have one page more when it does not come out even."""
    each, more = divmod(pages, parts)
    result, first = [], 0
    for part in range(parts):
        count = each + (part < more)
        result.append((first, count))
        first += count
    return result


def runtime_args(cores, words):
    """RuntimeArgs of cores [(x, y), ...] and the words of each."""
    result = ttnn.RuntimeArgs()
    for (x, y), values in zip(cores, words, strict=True):
        result[x][y] = values
    return result


def buffer(index, pages, page_bytes, dtype, cores):
    """CBDescriptor of `pages` pages."""
    form = ttnn.CBFormatDescriptor(buffer_index=index, data_format=dtype, page_size=page_bytes)
    return ttnn.CBDescriptor(total_size=pages * page_bytes, core_ranges=cores, format_descriptors=[form])


def output_like(x, shape=None, dtype=None, layout=None, memory_config=None):
    """A tensor for results: as `x`, but for what is given."""
    return ttnn.allocate_tensor_on_device(
        ttnn.Shape(list(shape or x.shape)), dtype or x.dtype, layout or x.layout, x.device(),
        memory_config or x.memory_config(),
    )  # fmt: skip


def random(device, shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, memory_config=ttnn.DRAM_MEMORY_CONFIG):
    """(tensor, its values as numpy) of normal random numbers of a fixed seed."""
    values = np.random.default_rng(0).standard_normal(tuple(shape)).astype(np.float32)
    tensor = ttnn.from_torch(values, dtype=dtype, layout=layout, device=device, memory_config=memory_config)
    return tensor, numbers(tensor)


def numbers(tensor):
    """The values of a tensor as float32 (numpy)."""
    values = ttnn.to_torch(tensor)
    return np.asarray(values.float() if hasattr(values, "float") else values).astype(np.float32)
