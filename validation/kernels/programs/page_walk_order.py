"""All pages of a tensor in another order: `page_walk_order`."""

from math import gcd

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, number_in
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL

CORE = [(0, 0)]
PAGES, SUM = 0, 1
SUM_WORDS = 8


def page_walk_order(src, *, stride=1, block=None, kernel_iters=1):
    """The sum of the first halfwords of all pages of src, visited `stride` apart; [1, 8] words, the first is the sum."""
    device, page, pages = src.device(), src.buffer_aligned_page_size(), src.buffer_num_pages()
    block = block or 2 * device.dram_grid_size().x
    out = common.output_like(src, (1, SUM_WORDS), ttnn.uint32)
    walks = gcd(stride, pages)
    words = [page, pages, stride, walks, pages // walks, block, kernel_iters]
    reader = common.kernel(
        "page_walk_order", "reader", CORE, ttnn.ReaderConfigDescriptor(),
        words + common.accessor(src) + common.accessor(out), [[src.buffer_address(), out.buffer_address()]],
    )  # fmt: skip
    cbs = [common.buffer(PAGES, block, page, src.dtype, CORE), common.buffer(SUM, 1, 4 * SUM_WORDS, ttnn.uint32, CORE)]
    return ttnn.generic_op([src, out], ttnn.ProgramDescriptor(kernels=[reader], semaphores=[], cbs=cbs))


def spec(row):
    options = (
        ("pages", number_in(row, r"read (\d+) DRAM interleaved pages")), ("page_bytes", row.integer("page_or_write_bytes")),
        ("stride", number_in(row, r"page stride (\d+)", "variant")), ("block", number_in(row, r"(\d+) reads per barrier")),
    )  # fmt: skip
    return chip(row), options, KERNEL


def _source(device, pages, page_bytes):
    return common.random(device, (pages, page_bytes // 2), layout=ttnn.ROW_MAJOR_LAYOUT)


def prepared(device, pages, page_bytes, **options):
    src = _source(device, pages, page_bytes)
    return lambda: page_walk_order(src, **options)


def check(device, pages, page_bytes, **options):
    src = _source(device, pages, page_bytes)
    halfwords = common.numbers(src)[:, 0].view(np.uint32) >> 16  # bfloat16 is the upper half of float32
    result = common.numbers(page_walk_order(src, **options)).reshape(-1)
    assert result.tolist() == [int(halfwords.sum()), *[0] * (SUM_WORDS - 1)]
