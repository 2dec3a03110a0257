"""Operations along rows: softmax, norms, sums."""

import numpy as np
import ttnn
from case_groups.tools import case, device, normalised, put, sharded, softmax, values


@case(0.04)  # its kernels take exp in the approximate form, which is up to 3 % off (docs/numerics.md); 0.01 without
def softmax_rows():
    x = values(1, 1, 64, 128)
    return ttnn.softmax(put(x), dim=-1), softmax(x)


@case(0.03)
def layer_norm():
    x = values(1, 1, 64, 128)
    return ttnn.layer_norm(put(x), epsilon=1e-5), normalised(x)


@case(0.03)
def layer_norm_weights():
    x, w, b = values(1, 1, 64, 128), values(1, 1, 1, 128, seed=1), values(1, 1, 1, 128, seed=2)
    return ttnn.layer_norm(put(x), epsilon=1e-5, weight=put(w), bias=put(b)), normalised(x) * w + b


@case(0.03)
def rms_norm():
    x = values(1, 1, 64, 128)
    return ttnn.rms_norm(put(x), epsilon=1e-5), x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)


def grouped(**keywords):
    """group_norm of shards, and what it should be."""
    rows, features, groups = 64, 128, 8
    x = values(1, 1, rows, features)
    memory = sharded(rows, features, (2, 2), ttnn.ShardStrategy.BLOCK)
    selects = np.zeros((1, groups, 32, 32), np.float32)  # of the tile in which a group lies
    for group in range(groups):
        first = features // groups * group % 32
        selects[:, group, :, first : first + features // groups] = 1
    found = ttnn.group_norm(
        put(x, memory=memory), num_groups=groups, input_mask=put(selects), memory_config=memory,
        core_grid=ttnn.CoreGrid(x=2, y=2), inplace=False, epsilon=1e-5, **keywords,
    )  # fmt: skip
    parts = x.reshape(rows, groups, -1)
    mean, variance = (of(axis=(0, 2), keepdims=True) for of in (parts.mean, parts.var))
    return found, ((parts - mean) / np.sqrt(variance + 1e-5)).reshape(x.shape)


@case(0.03)
def group_norm_sharded():
    """Its kernel packs to pages that nobody has reserved."""
    return grouped()


@case(0.03)
def group_norm_welford():
    return grouped(use_welford=True)


@case(0.03)
def layer_norm_welford():
    x = values(1, 1, 64, 128)
    config = ttnn.LayerNormDefaultProgramConfig(use_welford=True)
    return ttnn.layer_norm(put(x), epsilon=1e-5, program_config=config), normalised(x)


@case(0)
def plus_one():
    """Its kernel has no runtime arguments but common ones."""
    x = np.arange(4, dtype=np.float32)
    made = ttnn.Tensor([int(value) for value in x], [4], ttnn.int32, ttnn.ROW_MAJOR_LAYOUT).to(device)
    ttnn.plus_one(made)
    return made, x + 1


@case()
def sum_rows():
    x = values(1, 1, 64, 128)
    return ttnn.sum(put(x), dim=-1, keepdim=True), x.sum(-1, keepdims=True)


@case()
def sum_columns():
    x = values(1, 1, 64, 128)
    return ttnn.sum(put(x), dim=-2, keepdim=True), x.sum(-2, keepdims=True)


@case()
def mean_rows():
    x = values(1, 1, 64, 128, low=0)
    return ttnn.mean(put(x), dim=-1, keepdim=True), x.mean(-1, keepdims=True)


@case()
def max_rows():
    x = values(1, 1, 64, 128)
    return ttnn.max(put(x), dim=-1, keepdim=True), x.max(-1, keepdims=True)


@case()
def var():
    x = values(1, 1, 64, 64)
    return ttnn.var(put(x), dim=-1, keepdim=True), x.var(-1, keepdims=True, ddof=1)


@case()
def std():
    x = values(1, 1, 64, 64)
    return ttnn.std(put(x), dim=-1, keepdim=True), x.std(-1, keepdims=True, ddof=1)


@case()
def cumsum():
    x = values(1, 1, 64, 64, low=0)
    return ttnn.cumsum(put(x), dim=-1), x.cumsum(-1)
