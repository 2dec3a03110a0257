"""TensorAccessorArgs: the words that tell a C++ kernel's TensorAccessor how a tensor lies.

    config | aligned page size [| rank | banks | tensor shape | shard shape | bank coordinates, two per word]

Shapes are in pages, with neighbouring dimensions merged where that changes no page's place.  A bank's coordinate is
x << 8 | y: of the core as kernels name it, or (bank, 0) in DRAM.
"""

from tensim.ttnn.errors import ArgumentError
from tensim.ttnn.memory import SHARDED

SHARDED_BIT, DRAM_BIT = 1, 2  # of the config word
CONTIGUOUS_BIT = 1 << 31  # of the word of banks


class TensorAccessorArgs:
    """Compile-time words of a device tensor; its common runtime words are none."""

    def __init__(self, tensor):
        self._words = accessor_words(tensor)

    def get_compile_time_args(self):
        """The words, for KernelDescriptor.compile_time_args."""
        return list(self._words)

    def get_common_runtime_args(self):
        """The words, for KernelDescriptor.common_runtime_args: everything is known at compile time."""
        return []


def accessor_words(tensor):
    """The compile-time words of a device tensor; ArgumentError for a host tensor."""
    buffer = tensor.device_buffer("TensorAccessorArgs")
    config, aligned = DRAM_BIT if buffer.in_dram else 0, buffer.aligned_page_size
    if buffer.shard is None:
        return [config, aligned]
    spec = tensor.spec
    pages = spec.pages_2d if spec.memory_config.memory_layout in SHARDED else spec.pages
    shape, shard = merged(pages, spec.shard_pages(len(pages)))
    banks = bank_cores(tensor)
    contiguous = CONTIGUOUS_BIT if buffer.shard.contiguous else 0
    places = [x << 8 | y for x, y in _coordinates(tensor, banks)]
    places += [0] * (len(places) % 2)
    packed = [low | high << 16 for low, high in zip(places[::2], places[1::2], strict=True)]
    return [config | SHARDED_BIT, aligned, len(shape), len(banks) | contiguous, *shape, *shard, *packed]


def bank_cores(tensor):
    """Logical cores of a sharded tensor's banks, in the order of its shards."""
    return tensor.spec_cores()


def _coordinates(tensor, cores):
    if tensor.device_buffer("TensorAccessorArgs").in_dram:
        return cores
    return [tensor.device().kernel_coordinate(core) for core in cores]


def merged(shape, shard):
    """(tensor shape, shard shape) with dimensions merged from the innermost one outwards.

    A dimension joins the one inside it when that one is not cut, or when a shard has one slice of it and the inner one is
    cut evenly; a dimension of size 1 always does.
    """
    if len(shape) != len(shard):
        raise ArgumentError(f"a shard of rank {len(shard)} does not cut a tensor of rank {len(shape)}")
    shapes, shards = [shape[-1]], [shard[-1]]
    for size, cut in zip(reversed(shape[:-1]), reversed(shard[:-1]), strict=True):
        if shards[0] == shapes[0] or (cut == 1 and (size == 1 or shapes[0] % shards[0] == 0)):
            shapes[0], shards[0] = shapes[0] * size, shards[0] * cut
        else:
            shapes.insert(0, size)
            shards.insert(0, cut)
    return shapes, shards
