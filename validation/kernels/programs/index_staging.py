"""Elements by index, from a row in L1 or one by one from DRAM: `index_staging`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, find, number_in, one_of
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL

CORE = [(0, 0)]
INDEX, PIECES, ROW, OUT = 0, 1, 2, 16
ELEMENT_BYTES, PIECE_BYTES = 2, 32
NUMERICS = "fast"
VARIANTS = ("l1_staged", "remote_per_index")


def index_staging(src, idx, *, variant="l1_staged", kernel_iters=1):
    """out[r, w] = src[r, idx[r, w]]."""
    out = common.output_like(src)
    rows, width = src.shape[0], src.shape[1]
    pages = [src.buffer_aligned_page_size(), idx.buffer_aligned_page_size()]
    kernels = [
        common.kernel(
            "index_staging", "reader", CORE, ttnn.ReaderConfigDescriptor(),
            [*pages, ELEMENT_BYTES, PIECE_BYTES, width, kernel_iters, int(variant == "l1_staged")]
            + common.accessor(src) + common.accessor(idx),
            [[src.buffer_address(), idx.buffer_address(), 0, rows]],
        ),
        common.kernel(
            "index_staging", "writer", CORE, ttnn.WriterConfigDescriptor(),
            [out.buffer_aligned_page_size(), kernel_iters] + common.accessor(out), [[out.buffer_address(), 0, rows]],
        ),
    ]  # fmt: skip
    cbs = [
        common.buffer(INDEX, 1, pages[1], ttnn.uint32, CORE),
        common.buffer(PIECES, 1, PIECE_BYTES * width, src.dtype, CORE),
        common.buffer(ROW, 1, pages[0], src.dtype, CORE),
        common.buffer(OUT, 2, out.buffer_aligned_page_size(), src.dtype, CORE),
    ]
    return ttnn.generic_op([src, idx, out], ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=cbs))


def spec(row):
    options = (
        ("rows", number_in(row, r"rows=(\d+)")), ("width", number_in(row, r"W=(\d+)")),
        ("is_sorted", find(row, r"dist=(sorted|shuffled)")[1] == "sorted"), ("variant", one_of(row, "variant", VARIANTS)),
        ("kernel_iters", number_in(row, r"(\d+) in-kernel iterations", default=1)),
    )  # fmt: skip
    return chip(row), options, KERNEL


def _tensors(device, rows, width, is_sorted):
    indices = np.random.default_rng(0).integers(0, width, (rows, width)).astype(np.uint32)
    indices = np.sort(indices, axis=1) if is_sorted else indices
    src = common.random(device, (rows, width), layout=ttnn.ROW_MAJOR_LAYOUT)
    return src, ttnn.from_torch(indices, ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)


def prepared(device, rows, width, is_sorted, **options):
    src, idx = _tensors(device, rows, width, is_sorted)
    return lambda: index_staging(src, idx, **options)


def check(device, rows, width, is_sorted, **options):
    src, idx = _tensors(device, rows, width, is_sorted)
    wanted = np.take_along_axis(common.numbers(src), common.numbers(idx).astype(np.int64), axis=1)
    np.testing.assert_array_equal(common.numbers(index_staging(src, idx, **options)), wanted)
