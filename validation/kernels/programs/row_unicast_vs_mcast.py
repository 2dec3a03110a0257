"""All-gathers within rows of cores by unicasts or by multicasts: `row_unicast_vs_mcast`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, number_in, one_of
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL
from tensim.validation.rows import Skip

DATA_READY, CONSUMER_READY = 0, 1  # semaphores; unicasts use the first
TILE_BYTES = 2048
PER_ITERATION = True


def row_all_gather(state, *, variant="mcast", num_rows=8, row_width, num_tiles, num_writes, kernel_iters=1):
    """In place: each core's own slot of state comes to all cores of its row, `num_writes` pieces each."""
    device, payload = state.device(), num_tiles * TILE_BYTES
    cores = [(x, y) for y in range(num_rows) for x in range(row_width)]
    arguments = []
    for me, y in cores:
        row = common.placed_words(device, [(x, y) for x in range(row_width)])
        rectangle = [*row[:2], *row[-2:]] if variant == "mcast" else []
        arguments.append([state.buffer_address(), me, *rectangle, *row])
    words = [row_width, payload, num_writes, kernel_iters, DATA_READY]
    if variant == "mcast":
        words = [row_width, DATA_READY, CONSUMER_READY, payload, num_writes, kernel_iters]
    kernels = [common.kernel("row_unicast_vs_mcast", variant, cores, ttnn.ReaderConfigDescriptor(), words, arguments)]
    where = common.rectangle((0, 0), (row_width - 1, num_rows - 1))
    semaphores = [
        ttnn.SemaphoreDescriptor(id=index, core_ranges=where, initial_value=0)
        for index in range(2 if variant == "mcast" else 1)
    ]
    program = ttnn.ProgramDescriptor(kernels=kernels, semaphores=semaphores, cbs=[])
    return ttnn.generic_op([state, state], program)


def spec(row):
    payload, writes = number_in(row, r"payload=(\d+) B"), number_in(row, r"dispatches=(\d+)")
    if payload % writes or payload % TILE_BYTES:
        raise Skip(f"{payload} B are no tiles in {writes} equal pieces")
    options = (
        ("variant", one_of(row, "variant", ("unicast", "mcast"))),
        ("num_rows", number_in(row, r"(\d+) rows", "core_placement")),
        ("row_width", number_in(row, r"x (\d+) contiguous", "core_placement")), ("num_tiles", payload // TILE_BYTES),
        ("num_writes", writes), ("kernel_iters", number_in(row, r"(\d+) in-kernel iterations", default=100)),
    )  # fmt: skip
    return chip(row), options, KERNEL


def _state(device, num_rows, row_width, num_tiles, **ignored):
    cores = [(x, y) for y in range(num_rows) for x in range(row_width)]
    width = row_width * num_tiles * 32
    return common.random(device, (len(cores) * 32, width), memory_config=common.sharded(cores, (32, width)))


def prepared(device, **options):
    state = _state(device, **options)
    return lambda: row_all_gather(state, **options)


def check(device, **options):
    rows, width = options["num_rows"], options["row_width"]
    state = _state(device, **options)
    before = common.numbers(state).reshape(rows, width, 32, width, -1)
    after = common.numbers(row_all_gather(state, **options)).reshape(before.shape)
    for sender in range(width):
        wanted = np.broadcast_to(before[:, sender : sender + 1, :, sender], after[:, :, :, sender].shape)
        np.testing.assert_array_equal(after[:, :, :, sender], wanted)
