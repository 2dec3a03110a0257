"""Random tensor specifications and what becomes of them: `python specifications.py MODULE ARCH SEED COUNT [START]`.

ttnn and tensim.ttnn must print the same.  ARCH: a name or a file for tensim, whose grid is that of the library's device.  A
refused specification says "refused" whether its TensorSpec or its allocation is.
"""

import importlib
import math
import random
import sys

TILES = (None,) * 5 + ((16, 32), (1, 32), (32, 16), (16, 16), (8, 32), (4, 16))
DTYPES = ("bfloat16", "bfloat16", "float32", "bfloat8_b", "bfloat4_b", "uint8", "uint16", "int32", "uint32")
STRATEGIES = ("ROUND_ROBIN_1D", "ROUND_ROBIN_1D", "ROUND_ROBIN_1D", "GRID_2D", "CONTIGUOUS_1D")
SIZES = 1, 2, 3, 4, 5, 6, 8, 12, 16, 17, 31, 32, 33, 50, 64, 96, 100, 128, 130, 160, 192, 256
EMPTY, OUTSIDE, UNEVEN = 0.02, 0.05, 0.07  # shares of specifications that are odd in these ways


def rounded(size, step):
    return -(-size // step) * step


class Case:
    """One random specification: a tensor, cores, and how it is cut."""

    def __init__(self, dice, columns, rows, banks):
        self.tiled, self.in_dram, self.turned = dice.random() < 0.6, dice.random() < 0.3, dice.random() < 0.4
        self.tile = dice.choice(TILES) if self.tiled else None
        self.dtype, self.strategy = dice.choice(DTYPES), dice.choice(STRATEGIES)
        self.kind = dice.choice(("interleaved", "HEIGHT", "WIDTH", "BLOCK", "nd", "nd", "nd", "builder"))
        self.builder, self.alignment = dice.randrange(7), dice.choice(("NONE", "REQUIRED", "RECOMMENDED"))
        self.shape = _shape(dice)
        self.dims = [dice.randrange(-len(self.shape), len(self.shape)) for _ in range(2)]
        self.boxes = _boxes(dice, *((banks, 1) if self.in_dram else (columns, rows)))
        self.step = (self.tile or (32, 32)) if self.tiled else (1, 1)
        self.shard = self._shard_2d(dice) if self.kind.isupper() else self._shard(dice)

    def _shard_2d(self, dice):
        *outer, tall, wide = (1, *self.shape)
        height, width = math.prod(outer) * rounded(tall, self.step[0]), rounded(wide, self.step[1])
        x0, y0, x1, y1 = self.boxes[0]
        cores = sum((c - a + 1) * (d - b + 1) for a, b, c, d in self.boxes)
        across, down = (y1 - y0 + 1, x1 - x0 + 1) if self.turned else (x1 - x0 + 1, y1 - y0 + 1)
        down, across = {"HEIGHT": (cores, 1), "WIDTH": (1, cores), "BLOCK": (down, across)}[self.kind]
        sizes = -(-height // down), -(-width // across)
        return [self._near(dice, size, step) for size, step in zip(sizes, self.step, strict=True)]

    def _near(self, dice, size, step):
        if dice.random() < UNEVEN:
            return dice.randrange(1, 70)
        return step * dice.randrange(1, 6) if dice.random() < 0.2 else max(rounded(size, step), step)

    def _shard(self, dice):
        rank = len(self.shape)
        rank = dice.choice((rank, rank, rank, 2, 2, max(rank - 1, 1), rank + 1, 1))
        near = ([1] * 5 + self.shape)[-rank:]
        shard = [dice.choice((1, size, size, size // 2, -(-size // 3), dice.randrange(1, 5))) or 1 for size in near]
        for place, step in zip((-1, -2)[:rank], self.step[::-1], strict=False):
            if dice.random() > UNEVEN:
                shard[place] = rounded(dice.choice((shard[place], step, 2 * step)), step)
        return shard

    def __str__(self):
        return " ".join(str(value) for value in self.__dict__.values())

    def spec(self, ttnn):
        """The TensorSpec; RuntimeError when the library refuses it."""
        cores = ttnn.CoreRangeSet(
            [ttnn.CoreRange(ttnn.CoreCoord(a, b), ttnn.CoreCoord(c, d)) for a, b, c, d in self.boxes]
        )
        orientation = ttnn.ShardOrientation.COL_MAJOR if self.turned else ttnn.ShardOrientation.ROW_MAJOR
        layout = ttnn.TILE_LAYOUT if self.tiled else ttnn.ROW_MAJOR_LAYOUT
        buffer = ttnn.BufferType.DRAM if self.in_dram else ttnn.BufferType.L1
        named = {"tile": ttnn.Tile(list(self.tile))} if self.tile else {}
        what = ttnn.Shape(self.shape), getattr(ttnn, self.dtype), layout
        if self.kind.isupper():
            kind = getattr(ttnn.TensorMemoryLayout, f"{self.kind}_SHARDED")
            return ttnn.TensorSpec(*what, kind, ttnn.ShardSpec(cores, self.shard, orientation), buffer, **named)
        if self.kind == "nd":
            strategy = getattr(ttnn.ShardDistributionStrategy, self.strategy)
            shards = ttnn.NdShardSpec(ttnn.Shape(self.shard), cores, orientation, strategy)
            return ttnn.TensorSpec(*what, shards, buffer, **named)
        plain = ttnn.TensorSpec(*what, buffer, **named)
        return plain if self.kind == "interleaved" else self._built(ttnn, plain, cores, orientation)

    def _built(self, ttnn, plain, cores, orientation):
        alignment = getattr(ttnn.ShardShapeAlignment, self.alignment)
        return (
            lambda: plain.height_sharded(cores, orientation),
            lambda: plain.width_sharded(cores, orientation),
            lambda: plain.block_sharded(cores if len(self.boxes) > 1 else cores.ranges()[0], orientation),
            lambda: plain.sharded(ttnn.Shape(self.shard), cores, alignment, orientation),
            lambda: plain.sharded(ttnn.Shape(self.shard), cores, alignment, orientation),
            lambda: plain.sharded_across_dims(self.dims, cores, orientation),
            lambda: plain.sharded_across_dims_except(self.dims, cores, orientation),
        )[self.builder]()


def _shape(dice):
    rank = dice.choice((1, 2, 2, 2, 3, 3, 4, 4, 5))
    inner = [dice.choice((*SIZES, dice.randrange(1, 400))) for _ in range(min(rank, 2))]
    shape = [dice.choice((1, 1, 2, 3, 4, 5, 8)) for _ in range(rank - 2)] + inner
    if dice.random() < EMPTY:
        shape[dice.randrange(rank)] = 0
    return shape


def _boxes(dice, columns, rows):
    """One to three rectangles that do not overlap, a few of them beyond the device."""
    beyond = dice.random() < OUTSIDE
    columns, rows, count = columns + beyond, rows + beyond, dice.choice((1, 1, 1, 2, 3))
    while True:
        boxes = []
        for _ in range(count):
            x, y = dice.randrange(columns), dice.randrange(rows)
            width, height = dice.choice((1, 2, 3, 4, columns)), dice.choice((1, 2, 3, 4, rows))
            boxes.append((x, y, min(x + width, columns) - 1, min(y + height, rows) - 1))
        pairs = [(a, b) for number, a in enumerate(boxes) for b in boxes[:number]]
        if all(a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1] for a, b in pairs):
            return boxes


def described(config):
    """A memory configuration in words that do not depend on how a library prints its objects."""
    one, many = config.shard_spec, config.nd_shard_spec
    flat = one and (list(one.shape), str(one.grid), one.orientation.name)
    deep = many and (
        list(many.shard_shape), str(many.grid), many.orientation.name, many.shard_distribution_strategy.name,
    )  # fmt: skip
    return config.memory_layout.name, config.buffer_type.name, flat, deep


def outcome(ttnn, case, device):
    """Everything about the tensor of a case, or "refused"."""
    try:
        tensor = ttnn.allocate_tensor_on_device(case.spec(ttnn), device)
    except (RuntimeError, TypeError, IndexError):
        return "refused"
    probe = ttnn.TensorSpec(ttnn.Shape([1, 8]), ttnn.uint8, ttnn.ROW_MAJOR_LAYOUT, tensor.memory_config().buffer_type)
    after = ttnn.allocate_tensor_on_device(probe, device)
    pages = tensor.buffer_page_size(), tensor.buffer_aligned_page_size(), tensor.buffer_num_pages()
    words, buffer = ttnn.TensorAccessorArgs(tensor).get_compile_time_args(), None
    if 0 in case.shape:  # words about pages that do not exist
        words = words[:2]
    if tensor.memory_config().shard_spec is not None and not case.in_dram:
        found = ttnn.cb_descriptor_from_sharded_tensor(3, tensor)
        buffer = found.total_size, str(found.core_ranges), found.format_descriptors[0].page_size
    addresses = tensor.buffer_address(), after.buffer_address()
    shape, config = list(tensor.padded_shape), described(tensor.memory_config())
    ttnn.deallocate(tensor)
    ttnn.deallocate(after)
    return config, shape, pages, addresses, words, buffer


def main(module, arch, seed, count, start=0):
    ttnn = importlib.import_module(module)
    if module == "tensim.ttnn":
        importlib.import_module("tensim.ttnn.devices").configure(arch=arch)
    device, dice = ttnn.open_device(device_id=0), random.Random(int(seed))
    grid, banks = device.compute_with_storage_grid_size(), device.dram_grid_size().x
    for number in range(int(count)):
        case = Case(dice, grid.x, grid.y, banks)
        if number >= int(start):
            print("case", number, case, "gives", outcome(ttnn, case, device), flush=True)
    ttnn.close_device(device)


if __name__ == "__main__":
    main(*sys.argv[1:])
