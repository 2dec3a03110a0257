"""Means of rows of W tiles by six methods: `row_reduce_accumulate`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, choice, fidelity, find, number_in
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL

CORE = [(0, 0)]
IN, SCALER, ZEROS, SUM, OUT = 0, 1, 2, 3, 16
METHODS = {
    "reduce_fold": 0, "l1_accum": 1, "dest_accum": 2, "dest_accum_pairs": 3, "dest_accum_sfpu": 4, "dest_accum_pairs_sfpu": 5
}  # fmt: skip
FOLD, IN_L1, WITH_ZEROS, BY_VECTOR_UNIT = (0,), (1,), (2, 4), (4, 5)
PER_ITERATION = True


def row_reduce_accumulate(x, *, method, precision, width_tiles, kernel_iters=1, math_fidelity=ttnn.MathFidelity.HiFi4):
    """Mean of each row, fp32; `precision`: types of the input and of what is accumulated."""
    number = METHODS[method]
    accumulated = common.DTYPES[precision.partition("-")[2]]
    is_wide = accumulated == ttnn.float32 or number in IN_L1
    out = common.output_like(x, (32, 32), ttnn.float32, memory_config=common.sharded(CORE, (32, 32)))
    words = [width_tiles, number, kernel_iters, int(is_wide), common.bits(1 / (32 * width_tiles))]
    needs_scaler = number not in BY_VECTOR_UNIT
    kernels = [
        common.kernel(
            "row_reduce_accumulate", "compute", CORE,
            ttnn.ComputeConfigDescriptor(math_fidelity=math_fidelity, fp32_dest_acc_en=is_wide), words,
        ),
        common.kernel(
            "row_reduce_accumulate", "scaler", CORE, ttnn.ReaderConfigDescriptor(),
            [width_tiles, int(needs_scaler), int(number in WITH_ZEROS)],
        ),
    ]  # fmt: skip
    scaler = x.dtype if number in FOLD else accumulated
    tiles = {SCALER: (needs_scaler, scaler), ZEROS: (number in WITH_ZEROS, x.dtype)}
    tiles[SUM] = needs_scaler and number not in FOLD, accumulated
    cbs = [common.resident(IN, x), common.resident(OUT, out)]
    cbs += [
        common.buffer(index, 1, ttnn.tile_size(dtype), dtype, CORE)
        for index, (needed, dtype) in tiles.items()
        if needed
    ]
    return ttnn.generic_op([x, out], ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=cbs))


def spec(row):
    options = (
        ("method", choice(row, "variant", {name: name for name in METHODS})),
        ("precision", find(row, r"input-accum ((?:bf16|fp32)-(?:bf16|fp32))", "data_format")[1]),
        ("width_tiles", number_in(row, r"row mean over (\d+) tiles")),
        ("kernel_iters", number_in(row, r"(\d+) in-kernel iterations", default=200)),
        ("level", fidelity(row)),
    )
    return chip(row), options, KERNEL


def _input(device, precision, width_tiles):
    return common.in_l1(device, (32, 32 * width_tiles), common.DTYPES[precision.partition("-")[0]])


def prepared(device, level="HiFi4", **options):
    x = _input(device, options["precision"], options["width_tiles"])
    return lambda: row_reduce_accumulate(x, math_fidelity=getattr(ttnn.MathFidelity, level), **options)


def check(device, **options):
    """Compare with numpy: the means are the first column of the tile."""
    x = _input(device, options["precision"], options["width_tiles"])
    got, wanted = common.numbers(row_reduce_accumulate(x, **options))[:, 0], common.numbers(x).mean(axis=1)
    np.testing.assert_allclose(got, wanted, atol=1e-2 if options["precision"].endswith("bf16") else 2e-3)
