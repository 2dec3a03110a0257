"""A tensor of one value, read from DRAM or made in L1: `constant_synthesis`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, number_in, one_of
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL

ROWS = 0  # circular buffer
VARIANTS = ("synthesize", "stream_from_dram")
WIDTH = 1024  # elements of a row of the measured tensors


def constant_synthesis(src, *, variant="synthesize", value=1.0, num_cores=None, kernel_iters=1, block=8):
    """A tensor like src: its rows, or rows of `value`."""
    device, page, synthesize = src.device(), src.buffer_aligned_page_size(), int(variant == "synthesize")
    out = common.output_like(src)
    grid = device.compute_with_storage_grid_size()
    cores = common.row_major(device, num_cores or grid.x * grid.y)
    parts = common.split(src.buffer_num_pages(), len(cores))
    kernels = [
        common.kernel(
            "constant_synthesis", "reader", cores, ttnn.ReaderConfigDescriptor(),
            [page, common.bits(value) >> 16, synthesize, kernel_iters, block] + common.accessor(src),
            [[src.buffer_address(), *part] for part in parts],
        ),
        common.kernel(
            "constant_synthesis", "writer", cores, ttnn.WriterConfigDescriptor(),
            [page, synthesize, kernel_iters, block] + common.accessor(out),
            [[out.buffer_address(), *part] for part in parts],
        ),
    ]  # fmt: skip
    cbs = [common.buffer(ROWS, 2 * block, page, src.dtype, cores)]
    return ttnn.generic_op([src, out], ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=cbs))


def spec(row):
    options = (
        ("rows", (number_in(row, r"output (\d+) MB") << 20) // (2 * WIDTH)), ("variant", one_of(row, "variant", VARIANTS)),
        ("num_cores", row.integer("cores")), ("block", number_in(row, r"(\d+) pages per barrier")),
    )  # fmt: skip
    return chip(row), options, KERNEL


def _source(device, rows):
    return common.random(device, (rows, WIDTH), layout=ttnn.ROW_MAJOR_LAYOUT)


def prepared(device, rows, **options):
    src = _source(device, rows)
    return lambda: constant_synthesis(src, **options)


def check(device, rows, **options):
    src = _source(device, rows)
    wanted = common.numbers(src) if options["variant"] == "stream_from_dram" else np.ones((rows, WIDTH), np.float32)
    np.testing.assert_array_equal(common.numbers(constant_synthesis(src, **options)), wanted)
