"""The words that tell a kernel's TensorAccessor, in Python or C++, where the pages of a tensor lie; tt-metal's encoding.

    config | aligned page size [| rank | banks | tensor shape | shard shape | bank coordinates, two per word]

Shapes are in pages, with neighbouring dimensions merged where that changes no page's place.  A bank's coordinate is
x << 8 | y: of the core as kernels name it, or (bank, 0) in DRAM; the first of two lies in the lower half of its word.
Shard i lies in bank i modulo banks, or, with the contiguous bit, a bank holds neighbouring shards.
"""

SHARDED_BIT, DRAM_BIT = 1, 2  # of the config word
CONTIGUOUS_BIT = 1 << 31  # of the word of banks
CONFIG, PAGE_SIZE, RANK, BANKS, SHAPES = range(5)  # positions of the words; the tensor's shape stands at SHAPES


def pack_tensor_accessor_args(
    in_dram, aligned_page_size, *, tensor_pages=(), shard_pages=(), banks=(), contiguous=False
):
    """The words of a tensor; interleaved when it has no `shard_pages`.

    `tensor_pages`, `shard_pages`: shapes of one rank; `banks`: (x, y) of each bank in the order of its first shard;
    `contiguous`: neighbouring shards share a bank.
    """
    config = DRAM_BIT if in_dram else 0
    if not shard_pages:
        return [config, aligned_page_size]
    shape, shard = merged_dimensions(tensor_pages, shard_pages)
    places = [x << 8 | y for x, y in banks]
    places += [0] * (len(places) % 2)
    packed = [low | high << 16 for low, high in zip(places[::2], places[1::2], strict=True)]
    count = len(banks) | (CONTIGUOUS_BIT if contiguous else 0)
    return [config | SHARDED_BIT, aligned_page_size, len(shape), count, *shape, *shard, *packed]


def merged_dimensions(shape, shard):
    """(tensor shape, shard shape) with dimensions merged from the innermost one outwards.

    A dimension joins the one inside it when that one is not cut, or when a shard has one slice of it and the inner one is
    cut evenly; a dimension of size 1 always does.
    """
    shapes, shards = [shape[-1]], [shard[-1]]
    for size, cut in zip(reversed(shape[:-1]), reversed(shard[:-1]), strict=True):
        if shards[0] == shapes[0] or (cut == 1 and (size == 1 or shapes[0] % shards[0] == 0)):
            shapes[0], shards[0] = shapes[0] * size, shards[0] * cut
        else:
            shapes.insert(0, size)
            shards.insert(0, cut)
    return shapes, shards
