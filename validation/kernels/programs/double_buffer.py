"""relu of a tensor through circular buffers of one block or two: `double_buffer`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, choice, number_in, one_of
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL

IN, OUT = 0, 16
DEPTH = {"single_buffered": 1, "double_buffered": 2}
SHAPES = {256: (512, 512), 1024: (1024, 1024), 4096: (2048, 2048)}  # by tiles


def double_buffer(x, *, variant="double_buffered", block=8, num_cores=1, compute_passes=1, kernel_iters=1):
    """relu(x) on the first cores; circular buffers hold one block of tiles or two."""
    out = common.output_like(x)
    cores, page = common.row_major(x.device(), num_cores), x.buffer_aligned_page_size()
    parts = common.split(x.buffer_num_pages(), num_cores)
    stream = [page, kernel_iters, block]
    kernels = [
        common.kernel(
            "page_stream", "reader", cores, ttnn.ReaderConfigDescriptor(), stream + common.accessor(x),
            [[x.buffer_address(), *part] for part in parts],
        ),
        common.kernel(
            "page_stream", "writer", cores, ttnn.WriterConfigDescriptor(), stream + common.accessor(out),
            [[out.buffer_address(), *part] for part in parts], [("OUTPUT_CB", str(OUT))],
        ),
        common.kernel(
            "double_buffer", "compute", cores, ttnn.ComputeConfigDescriptor(fp32_dest_acc_en=x.dtype == ttnn.float32),
            [kernel_iters, compute_passes], [[count] for _, count in parts],
        ),
    ]  # fmt: skip
    cbs = [common.buffer(index, DEPTH[variant] * block, page, x.dtype, cores) for index in (IN, OUT)]
    return ttnn.generic_op([x, out], ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=cbs))


def spec(row):
    variant = choice(row, "variant", {f"{name} buffered CB": f"{name}_buffered" for name in ("single", "double")})
    options = (
        ("dtype", one_of(row, "data_format", common.DTYPES)), ("tiles", number_in(row, r"tiles=(\d+)")),
        ("variant", variant), ("block", number_in(row, r"block(?: \(tiles per barrier\))?=(\d+)")),
        ("num_cores", row.integer("cores")),
    )  # fmt: skip
    return chip(row), options, KERNEL


def prepared(device, dtype, tiles, **options):
    x = common.random(device, SHAPES.get(tiles) or (32, 32 * tiles), common.DTYPES[dtype])
    return lambda: double_buffer(x, **options)


def check(device, dtype, tiles, **options):
    """Compare with relu of the same numbers; those of 32 bits pass through the 19 of SrcA."""
    x = common.random(device, SHAPES.get(tiles) or (32, 32 * tiles), common.DTYPES[dtype])
    got = common.numbers(double_buffer(x, **options))
    np.testing.assert_allclose(got, np.maximum(common.numbers(x), 0), rtol=2**-10)
