"""Copies with several blocks in flight, under one barrier or with transaction ids: `trid_double_issue`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, number_in
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL

CORE = [(0, 0)]
PAGES = 0  # circular buffer
DTYPES = {1088: "bfp8_b", 2048: "bf16", 4096: "fp32"}  # by bytes of a tile
SHAPES = {256: (512, 512), 1024: (1024, 1024)}  # by tiles
BEST_TRIDS = 3  # of "best trid", whose rows do not say 2, 3 or 4


def trid_double_issue(x, *, variant="trid_double_issue", block=4, num_trids=2, cb_blocks=6, kernel_iters=1, ahead=1):
    """A copy of x by one core."""
    out, page = common.output_like(x), x.buffer_aligned_page_size()
    trids = num_trids if variant == "trid_double_issue" else 0
    pages = [0, x.buffer_num_pages()]
    kernels = [
        common.kernel(
            "trid_double_issue", "reader", CORE, ttnn.ReaderConfigDescriptor(),
            [page, kernel_iters, block, trids, cb_blocks, ahead] + common.accessor(x), [[x.buffer_address(), *pages]],
        ),
        common.kernel(
            "trid_double_issue", "writer", CORE, ttnn.WriterConfigDescriptor(),
            [page, kernel_iters, block] + common.accessor(out), [[out.buffer_address(), *pages]],
        ),
    ]  # fmt: skip
    cbs = [common.buffer(PAGES, cb_blocks * block, page, x.dtype, CORE)]
    return ttnn.generic_op([x, out], ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=cbs))


def spec(row):
    tiles, block = number_in(row, r"copy (\d+) tiles"), number_in(row, r"block=(\d+)")
    dtype = DTYPES[row.integer("page_or_write_bytes")]
    base = (("variant", "full_barrier"), ("ahead", _best_ahead(tiles, block, dtype)))
    trid = (("variant", "trid_double_issue"), ("num_trids", BEST_TRIDS))
    ways = {f"ahead{n}": (("variant", "full_barrier"), ("ahead", n)) for n in (1, 2, 3, 4)}
    ways |= {f"trid{n}": (("variant", "trid_double_issue"), ("num_trids", n)) for n in (2, 3, 4)}
    ways |= {"best base": base, "best trid": trid}
    if row["variant"] not in ways:
        raise ValueError(f"column variant is {row['variant']!r}, not one of {', '.join(ways)}")
    return chip(row), (("dtype", dtype), ("tiles", tiles), ("block", block), *ways[row["variant"]]), KERNEL


def _best_ahead(tiles, block, dtype):
    """Blocks in flight of "best base", as its report names them."""
    if tiles == 1024:
        return 2 if block == 64 else 3
    return 4 if (dtype, block) == ("bfp8_b", 1) else 3


def prepared(device, dtype, tiles, **options):
    x = common.random(device, SHAPES.get(tiles) or (32, 32 * tiles), common.DTYPES[dtype])
    return lambda: trid_double_issue(x, **options)


def check(device, dtype, tiles, **options):
    x = common.random(device, SHAPES.get(tiles) or (32, 32 * tiles), common.DTYPES[dtype])
    np.testing.assert_array_equal(common.numbers(trid_double_issue(x, **options)), common.numbers(x))
