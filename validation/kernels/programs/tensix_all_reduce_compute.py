"""Sums of blocks of tiles by the vector unit or in Dst: `tensix_all_reduce_compute`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, number_in, one_of
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL

CORE = [(0, 0)]
IN, OUT = 0, 16
KERNELS = {"sfpu_serial_bf16": "sfpu", "fpu_dest_reuse_bf16": "fpu", "fpu_dest_reuse_fp32": "fpu"}
PER_ITERATION = True


def reduce_blocks(x, *, variant, num_blocks, num_tiles=6, kernel_iters=1):
    """The sum of the blocks of x, `num_tiles` tiles each."""
    shape = (32, 32 * num_tiles)
    out = common.output_like(x, shape, memory_config=common.sharded(CORE, shape))
    config = ttnn.ComputeConfigDescriptor(fp32_dest_acc_en=variant.endswith("fp32"))
    words = [IN, OUT, num_blocks, num_tiles, kernel_iters]
    kernels = [common.kernel("tensix_all_reduce_compute", KERNELS[variant], CORE, config, words)]
    cbs = [common.resident(IN, x), common.resident(OUT, out)]
    return ttnn.generic_op([x, out], ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=cbs))


def spec(row):
    options = (
        ("variant", one_of(row, "variant", KERNELS)), ("num_blocks", number_in(row, r"blocks=(\d+)")),
        ("num_tiles", number_in(row, r"(\d+) tiles per block")),
        ("kernel_iters", number_in(row, r"(\d+) in-kernel iterations")),
    )  # fmt: skip
    return chip(row), options, KERNEL


def _input(device, num_blocks, num_tiles):
    return common.in_l1(device, (32, 32 * num_blocks * num_tiles))


def prepared(device, **options):
    x = _input(device, options["num_blocks"], options["num_tiles"])
    return lambda: reduce_blocks(x, **options)


def check(device, **options):
    x = _input(device, options["num_blocks"], options["num_tiles"])
    got = common.numbers(reduce_blocks(x, **options))
    wanted = common.numbers(x).reshape(32, options["num_blocks"], -1).sum(axis=1)
    np.testing.assert_allclose(got, wanted, rtol=2**-7, atol=2**-4)
