"""Hops around rings of cores: `tensix_all_reduce_ring_transport`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, choice, find, number_in
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL

SLOTS = 0  # circular buffer
TILE_BYTES = 2048
PER_ITERATION = True


def ring(x0, y0, rows, cols):
    """The cores of a group from (x0, y0) on, in the order of the ring: a serpentine."""
    return [(x0 + (x if y % 2 == 0 else cols - 1 - x), y0 + y) for y in range(rows) for x in range(cols)]


def ring_transport(x, *, variant, group_shape, num_groups, num_tiles, kernel_iters=1):
    """A copy of x after group_size - 1 hops of every core's shard; `variant`: "semaphore_only" or "payload_ring", "_noc1" added."""
    device = x.device()
    out = common.output_like(x)
    (rows, cols), payload = group_shape, num_tiles * TILE_BYTES
    across = device.compute_with_storage_grid_size().x // cols
    cores, arguments = [], []
    for group in range(num_groups):
        members = ring(group % across * cols, group // across * rows, rows, cols)
        for core, following in zip(members, members[1:] + members[:1], strict=True):
            cores.append(core)
            arguments.append([x.buffer_address(), out.buffer_address(), *common.placed_words(device, [following])])
    moves = int(variant.startswith("payload_ring"))
    config = ttnn.WriterConfigDescriptor() if variant.endswith("_noc1") else ttnn.ReaderConfigDescriptor()
    words = [rows * cols, num_tiles, kernel_iters, 0, payload, moves]
    kernels = [common.kernel("ring_transport", "ring", cores, config, words, arguments)]
    grid = device.compute_with_storage_grid_size()
    where = common.rectangle((0, 0), (grid.x - 1, grid.y - 1))
    semaphores = [ttnn.SemaphoreDescriptor(id=0, core_ranges=where, initial_value=0)]
    cbs = [common.buffer(SLOTS, rows * cols * num_tiles, TILE_BYTES, x.dtype, cores)] if moves else []
    return ttnn.generic_op([x, out], ttnn.ProgramDescriptor(kernels=kernels, semaphores=semaphores, cbs=cbs))


def spec(row):
    variants = {f"NoC{noc} {text}": name + "_noc1" * noc for noc in (0, 1)
                for text, name in (("semaphore only", "semaphore_only"), ("payload", "payload_ring"))}  # fmt: skip
    rows, cols = map(int, find(row, r"group=(\d+)x(\d+)").groups())
    options = (
        ("variant", choice(row, "variant", variants)), ("group_shape", (rows, cols)),
        ("num_groups", number_in(row, r"groups=(\d+)")), ("num_tiles", number_in(row, r"tiles=(\d+)")),
        ("kernel_iters", number_in(row, r"(\d+) in-kernel iterations")),
    )  # fmt: skip
    return chip(row), options, KERNEL


def _input(device, num_tiles):
    grid = device.compute_with_storage_grid_size()
    cores = [(x, y) for y in range(grid.y) for x in range(grid.x)]
    shape = (32, 32 * num_tiles)
    return common.random(device, (len(cores) * 32, shape[1]), memory_config=common.sharded(cores, shape))


def prepared(device, **options):
    x = _input(device, options["num_tiles"])
    return lambda: ring_transport(x, **options)


def check(device, **options):
    x = _input(device, options["num_tiles"])
    np.testing.assert_array_equal(common.numbers(ring_transport(x, **options)), common.numbers(x))
