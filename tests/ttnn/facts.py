"""Facts about cores, tensors and descriptors, printed: `python facts.py MODULE` for ttnn and for tensim.ttnn must agree."""

import importlib
import random
import sys

ttnn = importlib.import_module(sys.argv[1])
dice = random.Random(3)


def box():
    x, y = dice.randrange(8), dice.randrange(8)
    return x, y, dice.randrange(x, 8), dice.randrange(y, 8)


def cores(count):
    while True:
        boxes = [box() for _ in range(count)]
        try:
            return ttnn.CoreRangeSet([ttnn.CoreRange((x0, y0), (x1, y1)) for x0, y0, x1, y1 in boxes])
        except RuntimeError:
            pass


def told(call, *args, **named):
    """What a call gives, or that it is refused."""
    try:
        return call(*args, **named)
    except (RuntimeError, TypeError) as error:
        return "TypeError" if isinstance(error, TypeError) else "RuntimeError"


def tell(*facts):
    print(*facts, flush=True)


def about_cores():
    for number in range(60):
        one, other, by_rows = cores(1 + number % 3), cores(1 + number % 2), bool(number % 2)
        units = dice.randrange(200)
        tell("merge", one.merge(other).num_cores(), "subtract", one.subtract(other).num_cores())
        tell("split", ttnn.split_work_to_cores(one, units, by_rows))
        tell("set", told(ttnn.num_cores_to_corerangeset, units, ttnn.CoreCoord(8, 8), by_rows))
        tell("list", ttnn.corerange_to_cores(one, None, by_rows))


def configurations(shape, tiled):
    layouts = ttnn.TensorMemoryLayout
    step = 32 if tiled else 1
    for kind in (layouts.HEIGHT_SHARDED, layouts.WIDTH_SHARDED, layouts.BLOCK_SHARDED):
        shard = [step * dice.randrange(1, 5), step * dice.randrange(1, 5)]
        if kind == layouts.HEIGHT_SHARDED:
            shard[1] = -(-shape[-1] // step) * step
        turned = ttnn.ShardOrientation.COL_MAJOR if dice.randrange(2) else ttnn.ShardOrientation.ROW_MAJOR
        yield ttnn.MemoryConfig(kind, ttnn.BufferType.L1, ttnn.ShardSpec(cores(1), shard, turned))
    sizes = [dice.randrange(1, 3) for _ in shape[:-2]] + [step * dice.randrange(1, 3), step * dice.randrange(1, 3)]
    strategy = ttnn.ShardDistributionStrategy.ROUND_ROBIN_1D
    spec = ttnn.NdShardSpec(ttnn.Shape(sizes), cores(1), ttnn.ShardOrientation.ROW_MAJOR, strategy)
    yield ttnn.MemoryConfig(ttnn.BufferType.L1, spec)
    yield ttnn.DRAM_MEMORY_CONFIG
    yield ttnn.L1_MEMORY_CONFIG


def about_tensors():
    device = ttnn.open_device(device_id=0)
    dtypes = ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b, ttnn.uint8, ttnn.uint16
    for _ in range(40):
        shape = [dice.randrange(1, 4) for _ in range(dice.randrange(3))] + [
            dice.randrange(1, 200),
            dice.randrange(1, 200),
        ]
        layout = ttnn.TILE_LAYOUT if dice.randrange(2) else ttnn.ROW_MAJOR_LAYOUT
        for config in configurations(shape, layout == ttnn.TILE_LAYOUT):
            dtype = dice.choice(dtypes)
            tensor = told(ttnn.allocate_tensor_on_device, ttnn.Shape(shape), dtype, layout, device, config)
            tell(shape, dtype, layout, tensor if isinstance(tensor, str) else described(tensor))
    ttnn.close_device(device)


def described(tensor):
    words = ttnn.TensorAccessorArgs(tensor).get_compile_time_args()
    pages = tensor.buffer_page_size(), tensor.buffer_aligned_page_size(), tensor.buffer_num_pages()
    return tensor.padded_shape, pages, tensor.buffer_address(), words, tensor.memory_config().memory_layout


def about_descriptors():
    grid, reader = cores(1), ttnn.ReaderConfigDescriptor()
    fields = "compile_time_args", "common_runtime_args", "runtime_args", "defines", "named_compile_time_args"
    values = (
        [[1]],
        [[-1]],
        [[1 << 32]],
        [1.5],
        3,
        {"a": 1},
        [("a", 1)],
        [("a", "b")],
        [((0, 0), [1])],
        [1],
        (2, 3),
        None,
    )
    for field in fields:
        for value in values:
            given = {"kernel_source": "k.cpp", "core_ranges": grid, "config": reader, field: value}
            tell(field, value, type(told(ttnn.KernelDescriptor, **given)).__name__)


def about_sharded_configurations():
    for shape in ((64, 64), (1, 1, 128, 64), (2, 4, 64, 128), (96, 96)):
        for x, y in ((2, 2), (4, 1), (1, 4), (8, 8)):
            for strategy in (ttnn.ShardStrategy.HEIGHT, ttnn.ShardStrategy.WIDTH, ttnn.ShardStrategy.BLOCK):
                for turned in (None, ttnn.ShardOrientation.COL_MAJOR, ttnn.ShardOrientation.ROW_MAJOR):
                    for as_shard in (False, True):
                        given = shape, ttnn.CoreGrid(x=x, y=y), strategy, turned, as_shard
                        config = told(ttnn.create_sharded_memory_config, *given)
                        tell("sharded", shape, x, y, strategy.name, turned, as_shard, _shards(config))


def _shards(config):
    if isinstance(config, str):
        return config
    spec = config.shard_spec
    return config.memory_layout, config.buffer_type, spec.shape, spec.grid, spec.orientation


def about_ranges_that_touch():
    sets = (
        [(7, 4, 7, 5), (7, 6, 7, 7), (0, 0, 6, 0)], [(0, 0, 3, 0), (0, 1, 3, 1), (0, 2, 3, 3)],
        [(0, 0, 0, 3), (1, 0, 1, 3), (2, 0, 3, 3)], [(0, 0, 1, 1), (0, 2, 1, 3), (4, 0, 5, 1)],
    )  # fmt: skip
    for corners in sets:
        grid = ttnn.CoreRangeSet([ttnn.CoreRange((x0, y0), (x1, y1)) for x0, y0, x1, y1 in corners])
        for by_rows in (False, True):
            for number in range(1, grid.num_cores() + 1):
                start = grid.ranges()[0].start
                tell("taken", ttnn.num_cores_to_corerangeset_in_subcoregrids(start, number, grid, by_rows))
                tell("split", ttnn.split_work_to_cores(grid, 2 * number + 1, by_rows))


def about_circular_buffers_on_tensors():
    device, layouts = ttnn.open_device(device_id=0), ttnn.TensorMemoryLayout
    kinds = (
        ((64, 64), (0, 1), layouts.HEIGHT_SHARDED, [32, 64]), ((64, 128), (3, 0), layouts.WIDTH_SHARDED, [64, 32]),
        ((128, 128), (1, 1), layouts.BLOCK_SHARDED, [64, 64]), ((160, 64), (2, 0), layouts.HEIGHT_SHARDED, [64, 64]),
    )  # fmt: skip
    for shape, corner, kind, shard in kinds:
        grid = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), corner)])
        for dtype in (ttnn.bfloat16, ttnn.bfloat8_b, ttnn.float32):
            for tile in ([32, 32], [16, 32], [1, 32]):
                given = ttnn.ShardSpec(grid, shard, ttnn.ShardOrientation.ROW_MAJOR), ttnn.BufferType.L1
                spec = ttnn.TensorSpec(
                    ttnn.Shape(list(shape)), dtype, ttnn.TILE_LAYOUT, kind, *given, tile=ttnn.Tile(tile)
                )
                tensor = ttnn.allocate_tensor_on_device(spec, device)
                tell("words", ttnn.TensorAccessorArgs(tensor).get_compile_time_args())
                for size, offset in ((0, 0), (1024, 512), (1 << 20, 0), (2048, 1 << 20)):
                    found = told(
                        ttnn.cb_descriptor_from_sharded_tensor, 3, tensor, total_size=size, address_offset=offset
                    )
                    tell("circular buffer", found if isinstance(found, str) else _buffer(found))
    ttnn.close_device(device)


def _buffer(one):
    (index,) = one.format_descriptors
    tile = index.tile.height, index.tile.width, index.tile.transpose
    return one.total_size, one.core_ranges, index.page_size, index.data_format_as_uint8, tile, one.address_offset


def about_tiles():
    for height in (1, 2, 4, 8, 16, 32, 3, 64):
        for width in (16, 32):
            tile = told(ttnn.Tile, [height, width])
            if not isinstance(tile, str):
                sizes = [
                    tile.get_tile_size(dtype) for dtype in (ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b, ttnn.bfloat4_b)
                ]
                tile = tile.face_shape, tile.num_faces, tile.partial_face, tile.narrow_tile, sizes
            tell("tile", height, width, tile)


about_sharded_configurations()
about_ranges_that_touch()
about_circular_buffers_on_tensors()
about_tiles()
about_cores()
about_tensors()
about_descriptors()
