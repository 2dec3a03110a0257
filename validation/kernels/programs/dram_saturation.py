"""A tensor copied from DRAM to DRAM by more and more cores: `dram_saturation`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, choice, find
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL

PAGES = 0  # circular buffer


def dram_saturation(x, *, variant="spread", num_cores=None, kernel_iters=1, block=4):
    """A copy of x; cores are taken row by row ("spread") or column by column ("stacked")."""
    out = common.output_like(x)
    grid = x.device().compute_with_storage_grid_size()
    count = num_cores or grid.x * grid.y
    cores = [divmod(i, grid.y) for i in range(count)] if variant == "stacked" else common.row_major(x.device(), count)
    page, parts = x.buffer_aligned_page_size(), common.split(x.buffer_num_pages(), count)
    kernels = copies(x, out, cores, parts, [page, kernel_iters, block])
    cbs = [common.buffer(PAGES, 2 * block, page, x.dtype, cores)]
    return ttnn.generic_op([x, out], ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=cbs))


def copies(x, out, cores, parts, stream, configs=None):
    """Reader and writer of a copy; `configs`: theirs."""
    reader, writer = configs or (ttnn.ReaderConfigDescriptor(), ttnn.WriterConfigDescriptor())
    return [
        common.kernel(
            "page_stream", "reader", cores, reader, stream + common.accessor(x),
            [[x.buffer_address(), *part] for part in parts],
        ),
        common.kernel(
            "page_stream", "writer", cores, writer, stream + common.accessor(out),
            [[out.buffer_address(), *part] for part in parts], [("OUTPUT_CB", str(PAGES))],
        ),
    ]  # fmt: skip


def spec(row):
    height, width = map(int, find(row, r"copy (\d+)x(\d+)").groups())
    variant = choice(row, "core_placement", {"spread": "spread", "stacked (column first)": "stacked"})
    return chip(row), (("shape", (height, width)), ("variant", variant), ("num_cores", row.integer("cores"))), KERNEL


def prepared(device, shape, **options):
    x = common.random(device, shape)
    return lambda: dram_saturation(x, **options)


def check(device, shape, **options):
    x = common.random(device, shape)
    np.testing.assert_array_equal(common.numbers(dram_saturation(x, **options)), common.numbers(x))
