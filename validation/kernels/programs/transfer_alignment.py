"""Spans of rows that are aligned alike at both ends, or not: `transfer_alignment`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, choice, number_in
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL

CORE = [(0, 0)]
SCRATCH, OUT = 0, 16
L1_ALIGNMENT = 16


def up(size, alignment):
    """`size` as a multiple of `alignment`, not less."""
    return -(-size // alignment) * alignment


def transfer_alignment(src, *, variant="aligned", span_bytes=1024, kernel_iters=1):
    """The span of each row that starts at the DRAM alignment, or half of it later."""
    alignment = ttnn.get_dram_alignment()
    residue = alignment // 2
    rows = src.shape[0]
    out = common.output_like(src, (rows, span_bytes // 2))
    kernels = [
        common.kernel(
            "transfer_alignment", "reader", CORE, ttnn.ReaderConfigDescriptor(),
            [
                alignment, span_bytes, alignment, alignment + residue, residue, src.buffer_aligned_page_size(),
                kernel_iters, int(variant == "aligned"),
            ] + common.accessor(src),
            [[src.buffer_address(), 0, rows]],
        ),
        common.kernel(
            "transfer_alignment", "writer", CORE, ttnn.WriterConfigDescriptor(),
            [span_bytes, alignment, out.buffer_aligned_page_size(), kernel_iters] + common.accessor(out),
            [[out.buffer_address(), 0, rows]],
        ),
    ]  # fmt: skip
    cbs = [
        common.buffer(OUT, 2, up(span_bytes + alignment, L1_ALIGNMENT), src.dtype, CORE),
        common.buffer(SCRATCH, 1, up(span_bytes + 2 * alignment, L1_ALIGNMENT), src.dtype, CORE),
    ]
    return ttnn.generic_op([src, out], ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=cbs))


def spec(row):
    variants = {
        "aligned direct read": "aligned",
        "misaligned (aligned over-read to scratch then memmove on NCRISC)": "misaligned",
    }
    options = (
        ("rows", number_in(row, r"spans=(\d+)")), ("variant", choice(row, "variant", variants)),
        ("span_bytes", number_in(row, r"useful span bytes=(\d+)")),
    )  # fmt: skip
    return chip(row), options, KERNEL


def _source(device, rows, span_bytes):
    alignment = ttnn.get_dram_alignment()
    row_bytes = up(alignment + alignment // 2 + span_bytes + alignment, alignment)
    return common.random(device, (rows, row_bytes // 2), layout=ttnn.ROW_MAJOR_LAYOUT)


def prepared(device, rows, **options):
    src = _source(device, rows, options["span_bytes"])
    return lambda: transfer_alignment(src, **options)


def check(device, rows, **options):
    src = _source(device, rows, options["span_bytes"])
    alignment = ttnn.get_dram_alignment()
    first = (alignment if options["variant"] == "aligned" else alignment + alignment // 2) // 2
    wanted = common.numbers(src)[:, first : first + options["span_bytes"] // 2]
    np.testing.assert_array_equal(common.numbers(transfer_alignment(src, **options)), wanted)
