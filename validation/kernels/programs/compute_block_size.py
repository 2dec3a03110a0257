"""(A + B) x C in blocks of rows of tiles: `compute_block_size`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, choice, number_in
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL

CORE = [(0, 0)]
A, B, C, A_TILED, B_TILED, SUM, PRODUCT, OUT = 0, 1, 2, 3, 4, 5, 6, 16
M_TILES, K_TILES, N_TILES = 8, 4, 4
PER_ITERATION = True


def compute_block_size(tensors, *, block_rows, kernel_iters=1, reconfig=True):
    """(A + B) x C of row-major A and B and tiled C, row-major."""
    a, b, c = tensors
    tile = ttnn.tile_size(ttnn.bfloat16)
    shape = (32 * M_TILES, 32 * N_TILES)
    out = common.output_like(a, shape, memory_config=common.sharded(CORE, shape))
    words = [block_rows, M_TILES // block_rows, K_TILES, N_TILES, N_TILES, 1, kernel_iters, int(reconfig)]
    config = ttnn.ComputeConfigDescriptor(math_fidelity=ttnn.MathFidelity.HiFi2, fp32_dest_acc_en=True)
    cbs = [
        common.resident(A, a, tile),
        common.resident(B, b, tile),
        common.resident(C, c),
        common.resident(OUT, out, tile),
    ]
    cbs += [
        common.buffer(index, block_rows * tiles, tile, a.dtype, CORE)
        for index, tiles in ((A_TILED, K_TILES), (B_TILED, K_TILES), (SUM, K_TILES), (PRODUCT, N_TILES))
    ]
    kernels = [common.kernel("compute_block_size", "compute", CORE, config, words)]
    return ttnn.generic_op([a, b, c, out], ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=cbs))


def spec(row):
    reconfig = choice(row, "variant", {"reconfig_on": True, "reconfig_off": False, "reconfig_on (repeat run)": True})
    options = (
        ("block_rows", number_in(row, r"block_rows=(\d+)")),
        ("kernel_iters", number_in(row, r"(\d+) in-kernel iterations", default=100)),
        ("reconfig", reconfig),
    )
    return chip(row), options, KERNEL


def _tensors(device):
    rows = [common.in_l1(device, (32 * M_TILES, 32 * K_TILES), layout=ttnn.ROW_MAJOR_LAYOUT) for _ in "ab"]
    return [*rows, common.in_l1(device, (32 * K_TILES, 32 * N_TILES))]


def prepared(device, **options):
    tensors = _tensors(device)
    return lambda: compute_block_size(tensors, **options)


def check(device, **options):
    tensors = _tensors(device)
    a, b, c = map(common.numbers, tensors)
    got = common.numbers(compute_block_size(tensors, **options))
    np.testing.assert_allclose(got, (a + b) @ c, rtol=2**-7, atol=0.5)
