"""Tiles gathered from eight cores by one data-movement processor or by both: `split_reader`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, choice, number_in
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL

CONSUMER = [(0, 1)]
FIRST, SECOND = 0, 1
TILES_PER_CORE = 8
TILE_BYTES = 2048


def row_gather_copy(x, *, split_reader=True, num_cores=8, block_tiles=8, transaction_bytes=64):
    """A copy of x, which lies in shards on row 0, to DRAM by one core."""
    device, tiles = x.device(), num_cores * TILES_PER_CORE
    out = common.output_like(x, memory_config=ttnn.DRAM_MEMORY_CONFIG)
    names = common.placed_words(device, [(i, 0) for i in range(num_cores)])
    where = [x.buffer_address(), *names[0::2], *names[1::2]]
    words = [
        FIRST, SECOND, TILES_PER_CORE, TILE_BYTES, transaction_bytes, num_cores, block_tiles, tiles // block_tiles,
    ]  # fmt: skip
    kernels = [
        common.kernel(
            "split_reader", "reader", CONSUMER, ttnn.ReaderConfigDescriptor(), [*words, 0, 1 if split_reader else 2], [where]
        ),
        common.kernel(
            "split_reader", "writer", CONSUMER, ttnn.WriterConfigDescriptor(),
            [*words, int(split_reader)] + common.accessor(out), [[out.buffer_address(), *where]],
        ),
    ]  # fmt: skip
    cbs = [common.buffer(index, block_tiles, TILE_BYTES, x.dtype, CONSUMER) for index in (FIRST, SECOND)]
    return ttnn.generic_op([x, out], ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=cbs))


def spec(row):
    metrics = {f"{name} kernel time": f"DEVICE {name} KERNEL DURATION [ns]" for name in ("NCRISC", "BRISC")}
    metric = choice(row, "metric", metrics | {"device kernel duration": KERNEL})
    options = (
        ("num_cores", number_in(row, r"sources (\d+) cores of row 0", "core_placement")),
        ("split_reader", choice(row, "variant", {"split off": False, "split on": True})),
        ("transaction_bytes", row.integer("page_or_write_bytes")),
    )
    return chip(row), options, metric


def _source(device, num_cores):
    rows = 32 * TILES_PER_CORE
    config = common.sharded([(i, 0) for i in range(num_cores)], (rows, 32))
    return common.random(device, (num_cores * rows, 32), memory_config=config)


def prepared(device, num_cores, **options):
    x = _source(device, num_cores)
    return lambda: row_gather_copy(x, num_cores=num_cores, **options)


def check(device, num_cores, **options):
    x = _source(device, num_cores)
    np.testing.assert_array_equal(common.numbers(row_gather_copy(x, num_cores=num_cores, **options)), common.numbers(x))
