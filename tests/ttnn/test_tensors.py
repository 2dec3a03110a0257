"""Tensors in memory: pages, padding, addresses, accessor words and round trips.

Addresses and words are those of ttnn 0.81.1 on a Wormhole N150.
"""

import numpy as np
import pytest

import tensim.ttnn as ttnn

BF, F32, B8, B4 = ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b, ttnn.bfloat4_b
TILE, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
DRAM, L1 = ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG


def grid(*boxes):
    return ttnn.CoreRangeSet([ttnn.CoreRange((x0, y0), (x1, y1)) for x0, y0, x1, y1 in boxes])


def cut(kind, cores, shape, orientation="ROW_MAJOR", buffer="L1"):
    spec = ttnn.ShardSpec(cores, shape, ttnn.ShardOrientation[orientation])
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout[f"{kind}_SHARDED"], ttnn.BufferType[buffer], spec)


def nd(shape, cores, orientation="ROW_MAJOR", strategy="ROUND_ROBIN_1D", buffer="L1"):
    strategy = ttnn.ShardDistributionStrategy[strategy]
    spec = ttnn.NdShardSpec(ttnn.Shape(shape), cores, ttnn.ShardOrientation[orientation], strategy)
    return ttnn.MemoryConfig(ttnn.BufferType[buffer], spec)


ROW4, SQUARE, ALL16 = grid((0, 0, 3, 0)), grid((0, 0, 1, 1)), grid((0, 0, 3, 3))
W4, WS = (0x13121212, 0x15121412), (0x13121212, 0x13131213)
W16 = (*W4, 0x13131213, 0x15131413, 0x13141214, 0x15141414, 0x13151215, 0x15151415)
WORDS = [  # shape, DataType, layout, memory configuration, words
    ([64, 64], BF, TILE, DRAM, (2, 2048)),
    ([64, 64], B8, TILE, DRAM, (2, 1088)),
    ([64, 64], B4, TILE, DRAM, (2, 576)),
    ([64, 64], F32, TILE, DRAM, (2, 4096)),
    ([64, 50], BF, ROWS, DRAM, (2, 128)),
    ([64, 50], BF, ROWS, L1, (0, 112)),
    ([64, 64], BF, TILE, L1, (0, 2048)),
    ([], BF, ROWS, DRAM, (2, 32)),
    ([0, 64], BF, ROWS, DRAM, (2, 32)),
    ([128, 64], BF, TILE, cut("HEIGHT", ROW4, [32, 64]), (1, 2048, 1, 4, 8, 2, *W4)),
    ([64, 128], BF, TILE, cut("WIDTH", ROW4, [64, 32]), (1, 2048, 2, 4, 2, 4, 2, 1, *W4)),
    (
        [128, 128], BF, TILE, cut("BLOCK", grid((1, 1, 2, 2)), [64, 64]),
        (1, 2048, 2, 4, 4, 4, 2, 2, 0x14131313, 0x14141314),
    ),
    (
        [128, 128], BF, TILE, cut("BLOCK", grid((1, 1, 2, 2)), [64, 64], "COL_MAJOR"),
        (1, 2048, 2, 4, 4, 4, 2, 2, 0x13141313, 0x14141413),
    ),
    ([8, 50], BF, ROWS, cut("HEIGHT", ROW4, [2, 50]), (1, 112, 1, 4, 8, 2, *W4)),
    ([8, 64], BF, ROWS, cut("WIDTH", ROW4, [8, 16]), (1, 32, 2, 4, 8, 4, 8, 1, *W4)),
    ([160, 64], BF, TILE, cut("HEIGHT", grid((0, 0, 2, 0)), [64, 64]), (1, 2048, 1, 3, 10, 4, 0x13121212, 0x1412)),
    (
        [160, 96], BF, TILE, cut("BLOCK", grid((0, 0, 1, 2)), [64, 64]),
        (1, 2048, 2, 6, 5, 3, 2, 2, 0x13121212, 0x13131213, 0x13141214),
    ),
    (
        [128, 64], BF, TILE, cut("HEIGHT", grid((0, 0, 0, 0), (3, 3, 3, 3), (5, 1, 6, 1)), [32, 64]),
        (1, 2048, 1, 4, 8, 2, 0x15151212, 0x18131713),
    ),
    ([128, 64], BF, TILE, cut("HEIGHT", SQUARE, [32, 64], "COL_MAJOR"), (1, 2048, 1, 4, 8, 2, 0x12131212, 0x13131312)),
    ([7, 60], BF, ROWS, cut("BLOCK", SQUARE, [4, 32]), (1, 64, 2, 4, 7, 2, 4, 1, *WS)),
    ([64, 128], BF, TILE, cut("WIDTH", ROW4, [64, 32], buffer="DRAM"), (3, 2048, 2, 4, 2, 4, 2, 1, 0x01000000, 0x03000200)),
    ([4, 64, 128], BF, TILE, nd([2, 32, 64], SQUARE), (1, 2048, 2, 4, 4, 8, 2, 2, *WS)),
    ([8, 32, 64], BF, TILE, nd([1, 32, 64], ROW4), (1, 2048, 1, 4, 16, 2, *W4)),
    (
        [8, 32, 64], BF, TILE, nd([1, 32, 64], ROW4, strategy="CONTIGUOUS_1D"),
        (1, 2048, 1, 0x80000004, 16, 2, *W4),
    ),
    ([128, 64], BF, TILE, nd([32, 32], ROW4), (1, 2048, 1, 4, 8, 1, *W4)),
    ([128, 64], BF, TILE, nd([64, 32], grid((0, 0, 2, 2)), strategy="GRID_2D"), (1, 2048, 2, 4, 4, 2, 2, 1, *WS)),
    ([3, 40, 70], BF, TILE, nd([2, 32, 64], SQUARE), (1, 2048, 3, 4, 3, 2, 3, 2, 1, 2, *WS)),
    ([3, 40, 70], BF, ROWS, nd([2, 8, 32], SQUARE), (1, 64, 3, 4, 3, 40, 3, 2, 8, 1, *WS)),
    ([2, 3, 4, 40, 64], BF, TILE, nd([1, 1, 2, 32, 64], ALL16), (1, 2048, 2, 16, 24, 4, 2, 2, *W16)),
    ([2, 3, 4, 64, 64], BF, TILE, nd([1, 3, 4, 64, 32], ALL16), (1, 2048, 2, 16, 48, 2, 24, 1, *W16)),
]  # fmt: skip


def allocate(device, shape, dtype, layout, config):
    return ttnn.allocate_tensor_on_device(ttnn.Shape(shape), dtype, layout, device, config)


@pytest.mark.parametrize("shape, dtype, layout, config, words", WORDS)
def test_accessor_words(device, shape, dtype, layout, config, words):
    args = ttnn.TensorAccessorArgs(allocate(device, shape, dtype, layout, config))
    assert args.get_compile_time_args() == list(words) and args.get_common_runtime_args() == []


def test_accessor_words_of_a_blackhole_hold_its_coordinates(blackhole):
    tensor = allocate(blackhole, [128, 128], BF, TILE, cut("BLOCK", SQUARE, [64, 64]))
    assert ttnn.TensorAccessorArgs(tensor).get_compile_time_args()[-2:] == [0x02020102, 0x02030103]


@pytest.mark.parametrize(
    "shape, dtype, layout, padded, page, aligned, pages",
    [
        ([5], BF, TILE, [32, 32], 2048, 2048, 1),
        ([5], BF, ROWS, [5], 10, 32, 1),
        ([2, 3, 40, 50], BF, TILE, [2, 3, 64, 64], 2048, 2048, 24),
        ([2, 3, 40, 50], ttnn.uint16, ROWS, [2, 3, 40, 50], 100, 128, 240),
        ([3, 5], ttnn.uint8, ROWS, [3, 5], 5, 32, 3),
        ([1, 1, 7], ttnn.int32, TILE, [1, 32, 32], 4096, 4096, 1),
        ([64, 64], ttnn.int8, TILE, [64, 64], 1024, 1024, 4),
        ([0, 64], BF, TILE, [0, 64], 2048, 2048, 0),
    ],
)
def test_pages(device, shape, dtype, layout, padded, page, aligned, pages):
    tensor = allocate(device, shape, dtype, layout, DRAM)
    found = tensor.buffer_page_size(), tensor.buffer_aligned_page_size(), tensor.buffer_num_pages()
    assert list(tensor.padded_shape) == padded and found == (page, aligned, pages)


def test_addresses(fresh_device):
    """DRAM grows upwards and L1 downwards, in lock-step over all banks; blocks of L1 are multiples of 32 bytes."""
    dram = [allocate(fresh_device, [64, 64], dtype, TILE, DRAM) for dtype in (BF, B8, F32)]
    assert [item.buffer_address() for item in dram] == [1048640, 1050688, 1051776]
    small = [allocate(fresh_device, [1, bytes_], ttnn.uint8, ROWS, L1) for bytes_ in (8, 16, 40)]
    assert [item.buffer_address() for item in small] == [1499104, 1499072, 1499008]
    dram[0].deallocate()
    assert allocate(fresh_device, [32, 32], BF, TILE, DRAM).buffer_address() == 1048640


@pytest.mark.parametrize(
    "config, message",
    [
        (cut("HEIGHT", ROW4, [16, 64]), "ShardSpec: shape .* not made of whole 32x32 tiles"),
        (cut("HEIGHT", grid((0, 0, 2, 0)), [32, 64]), "ShardSpec: grid: 4x1 shards do not fit"),
        (cut("HEIGHT", ROW4, [32, 32]), "ShardSpec: shape: the width 32 of a height shard is not 64"),
        (cut("WIDTH", ROW4, [32, 32]), "ShardSpec: shape: the height 32 of a width shard is not 128"),
        (cut("BLOCK", grid((0, 0, 0, 3)), [64, 32]), "ShardSpec: grid: 2x2 shards do not fit"),
        (cut("BLOCK", grid((0, 0, 0, 1), (2, 0, 2, 1)), [64, 32]), "ShardSpec: grid: block shards need one rectangle"),
        (cut("HEIGHT", grid((7, 7, 9, 9)), [32, 64]), "ShardSpec: grid: core 8-7 is outside"),
        (ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG, "needs a shard_spec"),
    ],
)
def test_refused_shards(device, config, message):
    with pytest.raises(RuntimeError, match=message):
        allocate(device, [128, 64], BF, TILE, config)


def test_refused_types(device):
    with pytest.raises(RuntimeError, match="BFLOAT8_B exists in Layout.TILE only"):
        allocate(device, [64, 64], B8, ROWS, DRAM)
    with pytest.raises(RuntimeError, match="the tensor is on the host"):
        ttnn.TensorAccessorArgs(ttnn.from_torch(np.zeros((2, 2), np.float32)))
    with pytest.raises(ValueError):
        ttnn.from_torch(np.zeros((2, 2), np.float32), dtype=B8).element_size()


VALUES = np.random.default_rng(7).integers(-100, 100, (3, 40, 72)).astype(np.float32)
ROUND_TRIPS = [
    *[(dtype, TILE, DRAM) for dtype in (BF, F32, B8, B4, ttnn.int32, ttnn.uint16, ttnn.uint32, ttnn.uint8, ttnn.int8)],
    *[(dtype, ROWS, DRAM) for dtype in (BF, F32, ttnn.int32, ttnn.uint16, ttnn.uint8)],
    (BF, TILE, L1),
    (F32, ROWS, L1),
    (BF, TILE, cut("HEIGHT", grid((0, 0, 2, 0)), [64, 96])),
    (BF, TILE, cut("WIDTH", grid((0, 0, 2, 0)), [192, 32])),
    (BF, TILE, cut("BLOCK", ALL16, [64, 32])),
    (BF, ROWS, cut("HEIGHT", ROW4, [30, 72])),
    (BF, ROWS, cut("BLOCK", ALL16, [30, 24])),
    (F32, TILE, nd([2, 32, 64], SQUARE)),
    (BF, ROWS, nd([2, 8, 72], SQUARE)),
    (BF, TILE, nd([1, 64, 96], grid((0, 0, 1, 0)), strategy="CONTIGUOUS_1D")),
    (BF, TILE, cut("WIDTH", grid((0, 0, 2, 0)), [192, 32], buffer="DRAM")),
]


@pytest.mark.parametrize("dtype, layout, config", ROUND_TRIPS)
def test_round_trips(device, dtype, layout, config):
    values = np.abs(VALUES) if dtype in (ttnn.uint8, ttnn.uint16, ttnn.uint32) else VALUES
    host = ttnn.from_torch(values, dtype=dtype, layout=layout)
    found = ttnn.from_torch(values, dtype=dtype, layout=layout, device=device, memory_config=config)
    assert found.storage_type() == ttnn.StorageType.DEVICE and found.device() is device
    back = found.to_numpy().astype(np.float32)
    assert np.array_equal(back, host.to_numpy().astype(np.float32))
    if dtype not in (B8, B4):
        assert np.array_equal(back, values)
    else:
        assert np.abs(back - values).max() <= (1 if dtype == B8 else 16)
    assert found.cpu().storage_type() == ttnn.StorageType.HOST


def test_numpy_and_defaults():
    tensor = ttnn.from_torch(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert (tensor.dtype, tensor.layout, list(tensor.shape)) == (F32, ROWS, [2, 3])
    assert ttnn.from_torch(np.zeros((2, 2), np.float32), dtype=B8).layout == TILE and ttnn.from_torch(None) is None
    kinds = {np.int64: "UINT32", np.int16: "UINT16", np.int32: "INT32", np.bool_: "UINT8", np.uint8: "UINT8"}
    assert all(ttnn.Tensor(np.zeros(3, kind)).dtype.name == name for kind, name in kinds.items())
    assert tensor.reshape([3, 2]).to_list() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    with pytest.raises(RuntimeError, match="has 6 elements"):
        tensor.item()


def test_a_used_tensor_that_was_deallocated(device):
    tensor = allocate(device, [32, 32], BF, TILE, DRAM)
    tensor.deallocate()
    assert not tensor.is_allocated()
    with pytest.raises(RuntimeError, match="was deallocated"):
        tensor.buffer_address()


@pytest.mark.parametrize(
    "tile, dtype, size", [([16, 32], B8, 544), ([1, 32], B8, 48), ([1, 32], B4, 32), ([1, 16], B8, 32), ([32, 32], BF, 2048)]
)  # fmt: skip
def test_tile_sizes(tile, dtype, size):
    assert ttnn.Tile(tile).get_tile_size(dtype) == size


def test_tiles_of_other_shapes(device):
    for tile, page in (([16, 32], 1024), ([1, 32], 64), ([8, 16], 256)):
        values = np.arange(64, dtype=np.float32).reshape(1, 64)
        tensor = ttnn.from_torch(values, BF, layout=TILE, tile=ttnn.Tile(tile), device=device)
        assert tensor.buffer_page_size() == page and np.array_equal(tensor.to_numpy().astype(np.float32), values)
    with pytest.raises(RuntimeError, match="not valid for the chip"):
        ttnn.Tile([3, 32])


def test_memory_configs_tell_both_kinds_of_shards(device):
    config = allocate(device, [128, 64], BF, TILE, cut("HEIGHT", ROW4, [32, 64])).memory_config()
    assert list(config.nd_shard_spec.shard_shape) == [32, 64]
    config = allocate(device, [4, 32, 32], BF, TILE, nd([3, 32, 32], grid((0, 0, 1, 0)))).memory_config()
    assert config.memory_layout.name == "HEIGHT_SHARDED" and config.shard_spec.shape == [96, 32]
    config = allocate(device, [128, 64], BF, TILE, nd([64, 32], grid((0, 0, 1, 0)), "COL_MAJOR")).memory_config()
    assert config.memory_layout.name == "ND_SHARDED" and config.shard_spec is None


def test_create_sharded_memory_config():
    make, strategy, turned = ttnn.create_sharded_memory_config, ttnn.ShardStrategy, ttnn.ShardOrientation.COL_MAJOR
    core_grid = ttnn.CoreGrid(x=2, y=4)
    assert make([1, 1, 128, 64], core_grid, strategy.BLOCK).shard_spec.shape == [32, 32]
    assert make([1, 1, 128, 64], core_grid, strategy.BLOCK, turned).shard_spec.shape == [64, 16]
    flag = {"use_height_and_width_as_shard_shape": True}
    assert make([32, 64], ROW4, strategy.HEIGHT, **flag).shard_spec.shape == [32, 64]
    assert make([32, 64], ROW4, strategy.HEIGHT, turned, **flag).shard_spec.shape == [64, 32]
    with pytest.raises(RuntimeError, match="does not divide 100x64"):
        make([100, 64], ttnn.CoreGrid(x=3, y=1), strategy.HEIGHT)
    with pytest.raises(RuntimeError, match="must be True"):
        make([32, 64], ROW4, strategy.HEIGHT)


def test_plain_operations(device):
    values = np.array([[-1.0, 2.0], [3.0, -4.0]], np.float32)
    tensor = ttnn.from_torch(values, dtype=BF, layout=TILE, device=device)
    assert ttnn.relu(tensor).to_list() == [[0.0, 2.0], [3.0, 0.0]] and ttnn.relu(tensor).device() is device
    assert ttnn.add(tensor, tensor).to_list() == (tensor * 2.0).to_list() == (2 * values).tolist()
    assert ttnn.to_layout(tensor, ROWS).layout == ROWS
    assert ttnn.to_memory_config(tensor, L1).memory_config() == L1
    assert list(ttnn.pad(tensor, [(0, 2), (0, 0)], 1.0).shape) == [4, 2]
    assert ttnn.slice(tensor, [0, 1], [2, 2]).to_list() == [[2.0], [-4.0]]
    assert ttnn.slice(tensor, [0, 0], [-1, -1]).shape == [tensor.shape[0] - 1, tensor.shape[1] - 1]
    assert ttnn.full([2], 3, ttnn.int32).to_list() == [3, 3]
    corner = ttnn.untilize_with_unpadding(tensor, [1, 0])
    assert corner.to_list() == [[-1.0], [3.0]] and corner.layout == ROWS
    with pytest.raises(RuntimeError, match="ttnn.matmul runs kernels of the vendor's library.*\n.*generic_op"):
        ttnn.matmul(tensor, tensor)
    with pytest.raises(AttributeError):
        ttnn.no_such_name  # noqa: B018


ND = [  # shape, shard, grid corner, words without those of the banks, kind
    ([64, 128], [64, 128], (0, 1), [1, 2048, 1, 2, 8, 8], "WIDTH_SHARDED"),
    ([4, 110], [64, 64], (1, 3), [1, 2048, 2, 8, 1, 4, 2, 2], "BLOCK_SHARDED"),
    ([2, 3, 64, 96], [64, 64], (3, 3), [1, 2048, 2, 16, 12, 3, 2, 2], "ND_SHARDED"),
]


@pytest.mark.parametrize("shape, shard, corner, words, kind", ND, ids=[str(item[0]) for item in ND])
def test_nd_shards_that_are_larger_or_of_a_lower_rank(fresh_device, shape, shard, corner, words, kind):
    """Leading dimensions collapse to the rank of the shard; shards of the whole height or width are said in two dimensions."""
    grid = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), corner)])
    config = ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec(ttnn.Shape(shard), grid))
    one = ttnn.allocate_tensor_on_device(ttnn.Shape(shape), ttnn.bfloat16, ttnn.TILE_LAYOUT, fresh_device, config)
    assert one.memory_config().memory_layout.name == kind
    assert ttnn.TensorAccessorArgs(one).get_compile_time_args()[: len(words)] == words


def test_what_specifications_refuse(device):
    with pytest.raises(RuntimeError, match="TensorSpec: tile: Layout.ROW_MAJOR takes no tile of its own"):
        ttnn.TensorSpec(ttnn.Shape([32, 32]), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, tile=ttnn.Tile([16, 32]))
    with pytest.raises(RuntimeError, match="FP8_E4M3 is no format of wormhole_b0"):
        ttnn.allocate_tensor_on_device(ttnn.Shape([32, 32]), ttnn.fp8_e4m3, ttnn.ROW_MAJOR_LAYOUT, device)
    strategy = ttnn.ShardDistributionStrategy.GRID_2D
    grid = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (3, 3))])
    spec = ttnn.NdShardSpec(ttnn.Shape([1, 32, 32]), grid, ttnn.ShardOrientation.ROW_MAJOR, strategy)
    config = ttnn.MemoryConfig(ttnn.BufferType.L1, spec)
    with pytest.raises(RuntimeError, match="NdShardSpec: shard_distribution_strategy: GRID_2D lays no such shards"):
        ttnn.allocate_tensor_on_device(ttnn.Shape([2, 64, 64]), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, config)


def test_partial_faces():
    """Tiles that are lower than 32 rows have them."""
    shapes = {(32, 32): 0, (32, 16): 0, (16, 32): 1, (16, 16): 1, (1, 32): 1}
    assert {shape: ttnn.Tile(shape).partial_face for shape in shapes} == shapes


def test_only_tensors_are_deallocated():
    with pytest.raises(TypeError, match="deallocate: tensor takes Tensor, not int"):
        ttnn.deallocate(3)


def zeros_of(*shape):
    return ttnn.zeros(shape, dtype=BF, layout=TILE)


WRONG = {
    "sizes that differ": lambda: ttnn.add(zeros_of(32, 32), zeros_of(64, 32)),
    "a dimension twice": lambda: ttnn.permute(zeros_of(32, 32), (0, 0)),
    "nothing to join": lambda: ttnn.concat([], dim=0),
    "other rows": lambda: ttnn.concat([zeros_of(32, 32), zeros_of(16, 32)], dim=1),
    "less than nothing around": lambda: ttnn.pad(zeros_of(32, 32), [(0, -1), (0, 0)], 0),
    "behind the end": lambda: ttnn.slice(zeros_of(32, 32), [0, 0], [64, 64]),
    "a corner of another rank": lambda: ttnn.slice(zeros_of(32, 32), [0], [16]),
    "nothing to put together": lambda: ttnn.concat([], 0),
    "an end before its begin": lambda: ttnn.slice(zeros_of(32, 32), [5, 0], [2, 32]),
    "no step": lambda: ttnn.arange(0, 10, 0),
    "more than memory": lambda: ttnn.zeros((1 << 30, 1 << 30)),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_operations_on_the_host_refuse_is_a_runtime_error(what):
    """As in the library, whatever numpy raises."""
    with pytest.raises(RuntimeError):
        WRONG[what]()
