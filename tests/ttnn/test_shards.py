"""Sharded tensors: how specifications are named, cut and laid; the values are those of ttnn 0.81.1 on a Wormhole N150.

`specifications.py` compares thousands of them with the library itself, where it is installed.
"""

import math
import random

import pytest

import tensim.ttnn as ttnn
from tests.ttnn.specifications import Case
from tests.ttnn.test_tensors import BF, F32, ROW4, ROWS, SQUARE, TILE, W4, WS, allocate, cut, grid, nd

U8 = ttnn.uint8
COLUMN, ROW = grid((0, 0, 0, 1)), grid((0, 0, 1, 0))
NINE = (0x12131212, 0x13121214, 0x13141313, 0x14131412, 0x1414)
SIXTEEN = (0x14121312, 0x16121512, 0x14131313, 0x16131513, 0x14141314, 0x16141514, 0x14151315, 0x16151515)
SPECIFICATIONS = [  # what it shows, shape, DataType, layout, configuration; name, 2D shard, words
    ("dealt shards that fill the columns of a turned grid are blocks", [32, 32], F32, TILE,
     nd([64, 64], COLUMN, "COL_MAJOR"), "BLOCK", [64, 64], (1, 4096, 2, 2, 1, 1, 2, 2, 0x12131212)),
    ("those that do not are none", [32, 32], F32, TILE, nd([64, 64], ROW, "COL_MAJOR"), "ND", None,
     (1, 4096, 2, 2, 1, 1, 2, 2, 0x13121212)),
    ("dealt blocks keep the order of dealing: all cores are banks", [96, 64], BF, TILE,
     nd([32, 32], grid((0, 0, 2, 2)), "COL_MAJOR"), "BLOCK", [32, 32], (1, 2048, 1, 9, 6, 1, *NINE)),
    ("also those without a shard", [96, 128], BF, TILE, nd([32, 32], grid((1, 0, 4, 3))), "BLOCK", [32, 32],
     (1, 2048, 1, 16, 12, 1, *SIXTEEN)),
    ("of blocks only cores with shards are banks", [64, 64], BF, TILE, cut("BLOCK", grid((0, 0, 0, 3)), [64, 64]),
     "BLOCK", [64, 64], (1, 2048, 1, 1, 4, 4, 0x1212)),
    ("of several rows of cores, too", [64, 64], BF, TILE, cut("BLOCK", grid((0, 0, 1, 3)), [32, 32]), "BLOCK",
     [32, 32], (1, 2048, 1, 4, 4, 1, *WS)),
    ("shards that would cross from one matrix to the next have no 2D form", [2, 96, 64], BF, TILE,
     nd([1, 64, 64], ROW4), "ND", None, (1, 2048, 2, 4, 2, 6, 1, 4, *W4)),
    ("of one matrix they have one", [1, 96, 64], BF, TILE, nd([1, 64, 64], ROW4), "HEIGHT", [64, 64],
     (1, 2048, 1, 4, 6, 4, *W4)),
    ("a tensor of one dimension has shards of one", [96], BF, ROWS, cut("HEIGHT", SQUARE, [1, 96]), "HEIGHT", [1, 96],
     (1, 192, 1, 4, 1, 1, *WS)),
    ("in blocks, too", [130], F32, ROWS, cut("BLOCK", ROW, [1, 65]), "BLOCK", [1, 65], (1, 272, 1, 2, 2, 1, 0x13121212)),
    ("shards of one dimension are runs of pages", [6, 6], BF, ROWS, nd([2], SQUARE), "ND", None,
     (1, 16, 1, 4, 18, 1, *WS)),
    ("an empty tensor has pages of four bytes", [64, 0], U8, ROWS, nd([64, 4], SQUARE, "COL_MAJOR", "GRID_2D"), "BLOCK",
     [64, 4], (1, 16, 2, 1, 64, 0, 64, 1, 0x1212)),
]  # fmt: skip


@pytest.mark.parametrize(
    "shape, dtype, layout, config, name, shard, words", [pytest.param(*row[1:], id=row[0]) for row in SPECIFICATIONS]
)
def test_names_and_words(device, shape, dtype, layout, config, name, shard, words):
    tensor = allocate(device, shape, dtype, layout, config)
    found = tensor.memory_config()
    assert found.memory_layout.name == f"{name}_SHARDED"
    assert (found.shard_spec and list(found.shard_spec.shape)) == shard
    assert ttnn.TensorAccessorArgs(tensor).get_compile_time_args() == list(words)


def test_specifications_of_one_dimension(device):
    assert list(
        allocate(device, [96], BF, ROWS, cut("WIDTH", ROW4, [1, 24])).memory_config().nd_shard_spec.shard_shape
    ) == [24]


@pytest.mark.parametrize(
    "shape, dtype, layout, config, message",
    [
        ([96], BF, ROWS, cut("HEIGHT", SQUARE, [2, 96]), "ShardSpec: shape: the height 2 of a shard of one row is not 1"),
        ([64, 64], BF, TILE, cut("HEIGHT", SQUARE, [32, 0]), r"ShardSpec: shape \[32, 0\] has no elements"),
        ([4, 4], BF, ROWS, nd([0, 4], SQUARE), r"NdShardSpec: shard_shape \[0, 4\] has no elements"),
        ([4, 4], BF, ROWS, nd([1, 4, 2], SQUARE), "NdShardSpec: shard_shape .* has more dimensions than the tensor's 2"),
        ([1, 64, 64], BF, TILE, nd([1, 32, 64], SQUARE, strategy="GRID_2D"), "GRID_2D lays no such shards"),
        ([64, 64], BF, TILE, nd([64], SQUARE), "ShardSpec: shape .* not made of whole 32x32 tiles"),
        ([0, 3], U8, ROWS, nd([1, 1], SQUARE), "NdShardSpec: an empty tensor's rows are a multiple of 4 B"),
        ([64, 64], BF, TILE, nd([32, 64], COLUMN, buffer="DRAM"), "ShardSpec: grid: DRAM bank 0-1 is outside the device's 12x1"),
        ([64, 64], BF, TILE, nd([32, 64], grid((7, 7, 8, 7))), "ShardSpec: grid: core 8-7 is outside the device's 8x8"),
    ],
)  # fmt: skip
def test_refused(device, shape, dtype, layout, config, message):
    with pytest.raises(RuntimeError, match=message):
        allocate(device, shape, dtype, layout, config)


LINE, ALIGNMENT = grid((0, 0, 2, 0)), ttnn.ShardShapeAlignment
BUILT = [  # shape, DataType, layout, what is asked of the TensorSpec, name, shard
    ([10, 50], BF, ROWS, lambda spec: spec.height_sharded(LINE), "HEIGHT", [4, 50]),
    ([10, 50], BF, ROWS, lambda spec: spec.width_sharded(LINE), "WIDTH", [10, 17]),
    ([10, 50], BF, ROWS, lambda spec: spec.block_sharded(LINE), "BLOCK", [10, 32]),
    ([2, 10, 50], BF, ROWS, lambda spec: spec.sharded_across_dims([-1], LINE), "WIDTH", [2, 10, 32]),
    ([2, 10, 50], BF, ROWS, lambda spec: spec.sharded_across_dims_except([1], LINE), "ND", [1, 10, 32]),
    ([10, 50], BF, ROWS, lambda spec: spec.sharded([3, 7], LINE, ALIGNMENT.NONE), "ND", [3, 7]),
    ([10, 50], BF, ROWS, lambda spec: spec.sharded([3, 7], LINE, ALIGNMENT.REQUIRED), "ND", [3, 7]),
    ([10, 50], BF, ROWS, lambda spec: spec.sharded([3, 7], LINE, ALIGNMENT.RECOMMENDED), "ND", [3, 32]),
    ([10, 50], U8, ROWS, lambda spec: spec.sharded([3, 7], LINE, ALIGNMENT.RECOMMENDED), "ND", [3, 64]),
    ([10, 50], BF, TILE, lambda spec: spec.sharded([3, 7], LINE, ALIGNMENT.REQUIRED), "WIDTH", [32, 32]),
    ([10, 50], BF, TILE, lambda spec: spec.sharded([7], LINE, ALIGNMENT.REQUIRED), "ND", [32]),
]  # fmt: skip


@pytest.mark.parametrize("shape, dtype, layout, build, name, shard", BUILT)
def test_built_specifications(shape, dtype, layout, build, name, shard):
    """Rows are rounded to 64 bytes where that is recommended: by `block_sharded` and `sharded_across_dims`, too."""
    config = build(ttnn.TensorSpec(ttnn.Shape(shape), dtype, layout, ttnn.BufferType.L1)).memory_config
    assert (config.memory_layout.name, list(config.nd_shard_spec.shard_shape)) == (f"{name}_SHARDED", shard)


def place_by_words(words, page):
    """(bank coordinates, offset) at which a kernel's TensorAccessor looks for a page of a sharded tensor."""
    _, size, rank, banks, *rest = words
    contiguous, banks = banks >> 31, banks & ~(1 << 31)
    shape, shard, packed = rest[:rank], rest[rank : 2 * rank], rest[2 * rank :]
    numbers = []
    for extent in reversed(shape):
        page, number = divmod(page, extent)
        numbers.insert(0, number)
    index = offset = 0
    for number, extent, cut_ in zip(numbers, shape, shard, strict=True):
        index, offset = index * -(-extent // cut_) + number // cut_, offset * cut_ + number % cut_
    shards = math.prod(-(-extent // cut_) for extent, cut_ in zip(shape, shard, strict=True))
    bank, slot = divmod(index, max(-(-shards // banks), 1)) if contiguous else (index % banks, index // banks)
    coordinates = packed[bank // 2] >> 16 * (bank % 2) & 0xFFFF
    return divmod(coordinates, 256), (slot * math.prod(shard) + offset) * size


def test_the_host_writes_pages_where_kernels_look_for_them(device):
    """Random specifications: words of the accessor and the buffer's own map say the same of every page."""
    dice, checked = random.Random(5), 0
    for _ in range(250):
        case = Case(dice, 8, 8, 12)
        try:
            tensor = ttnn.allocate_tensor_on_device(case.spec(ttnn), device)
        except RuntimeError:
            continue
        if tensor.is_sharded():
            words, buffer = ttnn.TensorAccessorArgs(tensor).get_compile_time_args(), tensor.host_buffer_handle()
            for page in range(0, tensor.buffer_num_pages(), max(tensor.buffer_num_pages() // 20, 1)):
                bank, address = buffer.page_location(page)
                where = (bank, 0) if case.in_dram else device.kernel_coordinate((bank % 8, bank // 8))
                found = where, address - tensor.buffer_address()
                assert found == place_by_words(words, page), f"{case}, page {page}"
            checked += 1
        tensor.deallocate()
    assert checked > 80
