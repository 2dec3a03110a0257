"""relu of a tensor through circular buffers of one block or two: `double_buffer`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, choice, number_in, one_of
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import duration_ns, profiled_device

IN, OUT = 0, 16
DEPTH = {"single_buffered": 1, "double_buffered": 2}
SHAPES = {256: (512, 512), 1024: (1024, 1024), 4096: (2048, 2048)}  # by tiles


def double_buffer(x, *, variant="double_buffered", block=8, num_cores=1, compute_passes=1, kernel_iters=1):
    """relu(x) on the first cores; circular buffers hold one block of tiles or two."""
    device = x.device()
    out = common.output_like(x)
    cores = common.row_major(device, num_cores)
    where, page = common.core_set(cores), x.buffer_aligned_page_size()
    parts = common.split(x.buffer_num_pages(), num_cores)
    stream = [page, kernel_iters, block]

    def arguments(tensor):
        return common.runtime_args(cores, [[tensor.buffer_address(), first, count] for first, count in parts])

    kernels = [
        ttnn.KernelDescriptor(
            kernel_source=common.source("page_stream", "reader"), core_ranges=where,
            compile_time_args=stream + ttnn.TensorAccessorArgs(x).get_compile_time_args(), runtime_args=arguments(x),
            config=ttnn.ReaderConfigDescriptor(),
        ),
        ttnn.KernelDescriptor(
            kernel_source=common.source("page_stream", "writer"), core_ranges=where, defines=[("OUTPUT_CB", str(OUT))],
            compile_time_args=stream + ttnn.TensorAccessorArgs(out).get_compile_time_args(),
            runtime_args=arguments(out), config=ttnn.WriterConfigDescriptor(),
        ),
        ttnn.KernelDescriptor(
            kernel_source=common.source("double_buffer", "compute"), core_ranges=where,
            compile_time_args=[kernel_iters, compute_passes],
            runtime_args=common.runtime_args(cores, [[count] for _, count in parts]),
            config=ttnn.ComputeConfigDescriptor(fp32_dest_acc_en=x.dtype == ttnn.float32),
        ),
    ]  # fmt: skip
    cbs = [common.buffer(index, DEPTH[variant] * block, page, x.dtype, where) for index in (IN, OUT)]
    return ttnn.generic_op([x, out], ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=cbs))


def spec(row):
    """(arch, options)."""
    variant = choice(row, "variant", {f"{name} buffered CB": f"{name}_buffered" for name in ("single", "double")})
    return chip(row), (
        ("dtype", one_of(row, "data_format", common.DTYPES)), ("tiles", number_in(row, r"tiles=(\d+)")),
        ("variant", variant), ("block", number_in(row, r"block(?: \(tiles per barrier\))?=(\d+)")),
        ("num_cores", row.integer("cores")),
    )  # fmt: skip


def time_ns(arch, options):
    """ns of a launch."""
    with profiled_device(arch) as device:
        x, launch = _prepared(device, **dict(options))
        return duration_ns(device, launch)


def check(device, **options):
    """Compare with relu of the same numbers; those of 32 bits pass through the 19 of SrcA."""
    x, launch = _prepared(device, **options)
    np.testing.assert_allclose(common.numbers(launch()), np.maximum(common.numbers(x), 0), rtol=2**-10)


def _prepared(device, dtype, tiles, **options):
    x, _ = common.random(device, SHAPES.get(tiles) or (32, 32 * tiles), common.DTYPES[dtype])
    return x, lambda: double_buffer(x, **options)
