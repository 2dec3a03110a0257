"""Products of matrices."""

import numpy as np
import ttnn
from case_groups.tools import case, put, values


@case()
def matmul_small():
    x, y = values(1, 1, 64, 64), values(1, 1, 64, 64, seed=1)
    return ttnn.matmul(put(x), put(y)), x @ y


@case()
def matmul_one_core():
    x, y = values(1, 1, 96, 128), values(1, 1, 128, 64, seed=1)
    return ttnn.matmul(put(x), put(y), core_grid=ttnn.CoreGrid(x=1, y=1)), x @ y


@case()
def matmul_square():
    x, y = values(1, 1, 512, 512), values(1, 1, 512, 512, seed=1)
    return ttnn.matmul(put(x), put(y)), x @ y


@case()
def matmul_batched():
    x, y = values(1, 4, 64, 64), values(1, 4, 64, 64, seed=1)
    return ttnn.matmul(put(x), put(y)), x @ y


@case()
def matmul_multicast_1d():
    x, y = values(1, 1, 32, 256), values(1, 1, 256, 512, seed=1)
    config = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=(8, 2), in0_block_w=2, out_subblock_h=1, out_subblock_w=1, per_core_M=1, per_core_N=1,
        fuse_batch=True, fused_activation=None, mcast_in0=True,
    )  # fmt: skip
    return ttnn.matmul(put(x), put(y), program_config=config), x @ y


@case()
def matmul_multicast_2d():
    x, y = values(1, 1, 256, 256), values(1, 1, 256, 256, seed=1)
    config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(4, 4), in0_block_w=2, out_subblock_h=1, out_subblock_w=2, per_core_M=2, per_core_N=2,
        transpose_mcast=False, fused_activation=None,
    )  # fmt: skip
    return ttnn.matmul(put(x), put(y), program_config=config), x @ y


@case()
def linear_bias():
    x, y, b = values(1, 1, 64, 128), values(1, 1, 128, 96, seed=1), values(1, 1, 1, 96, seed=2)
    return ttnn.linear(put(x), put(y), bias=put(b)), x @ y + b


@case()
def minimal_matmul():
    x, y = values(1, 1, 64, 256), values(1, 1, 256, 128, seed=1)
    return ttnn.experimental.minimal_matmul(put(x), put(y)), x @ y


@case(0.03)
def linear_gelu():
    from math import erf

    x, y = values(1, 1, 64, 128), values(1, 1, 128, 96, seed=1) / 4
    z = x @ y
    return ttnn.linear(put(x), put(y), activation="gelu"), z * 0.5 * (1 + np.vectorize(erf)(z / np.sqrt(2)))


@case(0.03)
def linear_silu():
    x, y = values(1, 1, 64, 128), values(1, 1, 128, 96, seed=1) / 4
    z = x @ y
    return ttnn.linear(put(x), put(y), activation="silu"), z / (1 + np.exp(-z))
