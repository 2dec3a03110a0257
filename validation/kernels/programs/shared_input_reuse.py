"""One stream of tiles for many cores, read by each or multicast by one: `shared_input_reuse`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, find, number_in, one_of
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL

IN, ZERO, OUT = 0, 2, 16
DATA_READY, CONSUMER_READY = 0, 1
ROW_TILES = 4  # of the stream


def shared_input_reuse(x, out, *, variant="mcast", rows=2, columns=11, chunk_tiles=64):
    """The sum of all tiles of x, once per core: tile i of out."""
    tile = x.buffer_aligned_page_size()
    cores = common.row_major_rectangle(rows, columns)
    chunks = x.buffer_num_pages() // chunk_tiles
    kernels = [
        common.kernel(
            "shared_input_reuse", "compute", cores,
            ttnn.ComputeConfigDescriptor(math_fidelity=ttnn.MathFidelity.HiFi2, fp32_dest_acc_en=True), [chunk_tiles, chunks],
        ),
        common.kernel(
            "shared_input_reuse", "writer", cores, ttnn.WriterConfigDescriptor(), common.accessor(out),
            [[out.buffer_address(), i] for i in range(len(cores))],
        ),
    ]  # fmt: skip
    semaphores = []
    if variant == "per_core_dram":
        kernels.append(
            common.kernel(
                "shared_input_reuse",
                "reader",
                cores,
                ttnn.ReaderConfigDescriptor(),
                [chunk_tiles, chunks] + common.accessor(x),
                [[x.buffer_address()]] * len(cores),
            )  # fmt: skip
        )
    else:
        kernels += _multicast(x, cores, [IN, DATA_READY, CONSUMER_READY], chunk_tiles, chunks)
        semaphores = [
            ttnn.SemaphoreDescriptor(id=index, core_ranges=common.core_set(cores), initial_value=0)
            for index in (DATA_READY, CONSUMER_READY)
        ]
    cbs = [
        common.buffer(index, tiles, tile, x.dtype, cores)
        for index, tiles in ((IN, 2 * chunk_tiles), (ZERO, 1), (OUT, 1))
    ]
    program = ttnn.ProgramDescriptor(kernels=kernels, semaphores=semaphores, cbs=cbs)
    return ttnn.generic_op([x, out], program)


def _multicast(x, cores, pipe, chunk_tiles, chunks):
    """Kernels of the core that reads, the first one, and of those that receive."""
    names = common.placed_words(x.device(), cores)
    injector = common.kernel(
        "shared_input_reuse", "injector", cores[:1], ttnn.ReaderConfigDescriptor(),
        [*pipe, len(cores) - 1, chunk_tiles, x.buffer_aligned_page_size(), chunks] + common.accessor(x),
        [[x.buffer_address(), *names[:2], *names[-2:]]],
    )  # fmt: skip
    receiver = common.kernel(
        "shared_input_reuse", "receiver", cores[1:], ttnn.ReaderConfigDescriptor(), [*pipe, chunk_tiles, chunks],
        [names[:2]] * (len(cores) - 1),
    )  # fmt: skip
    return [injector, receiver]


def spec(row):
    rows, columns = map(int, find(row, r"(\d+) rows x (\d+) columns", "core_placement").groups())
    options = (
        ("variant", one_of(row, "variant", ("mcast", "per_core_dram"))), ("rows", rows), ("columns", columns),
        ("tiles", number_in(row, r"stream (\d+) tiles")), ("chunk_tiles", number_in(row, r"chunks of (\d+)")),
    )  # fmt: skip
    return chip(row), options, KERNEL


def _tensors(device, rows, columns, tiles, **ignored):
    x = common.random(device, (32 * tiles // ROW_TILES, 32 * ROW_TILES))
    return x, common.output_like(x, (32 * rows * columns, 32))


def prepared(device, tiles, **options):
    x, out = _tensors(device, tiles=tiles, **options)
    return lambda: shared_input_reuse(x, out, **options)


def check(device, tiles, **options):
    x, out = _tensors(device, tiles=tiles, **options)
    got = common.numbers(shared_input_reuse(x, out, **options)).reshape(-1, 32, 32)
    wanted = common.numbers(x).reshape(-1, 32, ROW_TILES, 32).sum(axis=(0, 2))
    np.testing.assert_allclose(got, np.broadcast_to(wanted, got.shape), rtol=2**-7, atol=0.1)
