"""Sums of single-tile blocks, accumulated in L1 or in Dst: `eltwise_l1_vs_dest_accumulate`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, number_in, one_of
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL

CORE = [(0, 0)]
IN, SUM = 0, 16
METHODS = {"rmw": 0, "pack_l1_acc": 1, "dest_acc": 2}


def eltwise_l1_vs_dest_accumulate(x, out, *, variant="pack_l1_acc", num_blocks, kernel_iters=1):
    """The sum of the tiles of x, in out."""
    config = ttnn.ComputeConfigDescriptor(fp32_dest_acc_en=True)
    words = [num_blocks, METHODS[variant], kernel_iters]
    kernels = [common.kernel("eltwise_l1_vs_dest_accumulate", "compute", CORE, config, words)]
    cbs = [common.resident(IN, x), common.resident(SUM, out)]
    return ttnn.generic_op([x, out], ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=cbs))


def spec(row):
    options = (
        ("variant", one_of(row, "variant", METHODS)), ("num_blocks", number_in(row, r"sum of (\d+) single-tile blocks")),
        ("kernel_iters", number_in(row, r"(\d+) in-kernel iterations")),
    )  # fmt: skip
    return chip(row), options, KERNEL


def _tensors(device, num_blocks):
    x = common.in_l1(device, (32 * num_blocks, 32), ttnn.float32)
    return x, common.output_like(x, (32, 32), memory_config=common.sharded(CORE, (32, 32)))


def prepared(device, **options):
    x, out = _tensors(device, options["num_blocks"])
    return lambda: eltwise_l1_vs_dest_accumulate(x, out, **options)


def check(device, **options):
    x, out = _tensors(device, options["num_blocks"])
    got = common.numbers(eltwise_l1_vs_dest_accumulate(x, out, **options))
    np.testing.assert_allclose(got, common.numbers(x).reshape(-1, 32, 32).sum(axis=0), atol=5e-2)
