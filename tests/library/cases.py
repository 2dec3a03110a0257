"""Operations of the vendor's library against numpy: run by the library's Python below `tensim ttnn --library`.

A line of JSON per case goes to the file that the first argument names: name, whether it held, the largest error relative to
the largest expected value, what was raised, and a digest of the values, by which two devices are compared.  Further arguments
are names of cases; without any all are run.
"""

import hashlib
import json
import sys

import numpy as np
import ttnn

device = ttnn.open_device(
    device_id=0, l1_small_size=32768
)  # of which convolutions and pooling take their halos' tables
CASES = {}


def case(tolerance=0.02):
    """A case: it returns a tensor of the library, or an array made of some, and the array that it should hold."""

    def add(function):
        CASES[function.__name__] = function, tolerance
        return function

    return add


def values(*shape, low=-1.0, high=1.0, seed=0):
    """Random values that bfloat16 holds exactly."""
    drawn = np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)
    return (drawn.view(np.uint32) & 0xFFFF0000).view(np.float32)


def put(array, dtype=None, layout=None, memory=None):
    """A tensor on the device."""
    flat = array.reshape(-1).tolist()
    made = ttnn.Tensor(flat, list(array.shape), dtype or ttnn.bfloat16, layout or ttnn.TILE_LAYOUT)
    return made.to(device) if memory is None else made.to(device, memory)


def get(tensor):
    """The array that a tensor holds."""
    if isinstance(tensor, np.ndarray):
        return tensor.astype(np.float64)
    tensor = tensor.cpu()
    shape = [int(size) for size in tensor.shape]
    return np.array(tensor.to(ttnn.ROW_MAJOR_LAYOUT).to_list(), np.float64).reshape(shape)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def normalised(x, epsilon=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)


def sharded(height, width, cores, strategy):
    """Memory in L1, a shard for each of `cores` (columns, rows)."""
    return ttnn.create_sharded_memory_config(
        (1, 1, height, width), ttnn.CoreGrid(x=cores[0], y=cores[1]), strategy, ttnn.ShardOrientation.ROW_MAJOR
    )


# --- element-wise


@case()
def add():
    x, y = values(1, 1, 64, 64), values(1, 1, 64, 64, seed=1)
    return ttnn.add(put(x), put(y)), x + y


@case()
def add_large():
    x, y = values(1, 1, 512, 512), values(1, 1, 512, 512, seed=1)
    return ttnn.add(put(x), put(y)), x + y


@case()
def add_l1():
    x, y = values(1, 1, 128, 128), values(1, 1, 128, 128, seed=1)
    return ttnn.add(put(x, memory=ttnn.L1_MEMORY_CONFIG), put(y, memory=ttnn.L1_MEMORY_CONFIG)), x + y


@case()
def add_sharded():
    x, y = values(1, 1, 256, 64), values(1, 1, 256, 64, seed=1)
    memory = sharded(256, 64, (4, 2), ttnn.ShardStrategy.HEIGHT)
    return ttnn.add(put(x, memory=memory), put(y, memory=memory), memory_config=memory), x + y


@case()
def add_scalar():
    x = values(1, 1, 64, 64)
    return ttnn.add(put(x), 1.5), x + 1.5


@case()
def add_broadcast():
    x, y = values(1, 1, 64, 64), values(1, 1, 1, 64, seed=1)
    return ttnn.add(put(x), put(y)), x + y


@case()
def subtract():
    x, y = values(1, 1, 64, 128), values(1, 1, 64, 128, seed=1)
    return ttnn.subtract(put(x), put(y)), x - y


@case()
def multiply():
    x, y = values(1, 1, 64, 64), values(1, 1, 64, 64, seed=1)
    return ttnn.multiply(put(x), put(y)), x * y


@case()
def multiply_float32():
    x, y = values(1, 1, 64, 64), values(1, 1, 64, 64, seed=1)
    return ttnn.multiply(put(x, ttnn.float32), put(y, ttnn.float32)), x * y


@case()
def relu():
    x = values(1, 1, 64, 64)
    return ttnn.relu(put(x)), np.maximum(x, 0)


@case()
def relu_sharded():
    x = values(1, 1, 64, 256)
    memory = sharded(64, 256, (4, 1), ttnn.ShardStrategy.WIDTH)
    return ttnn.relu(put(x, memory=memory)), np.maximum(x, 0)


@case()
def exp():
    x = values(1, 1, 64, 64)
    return ttnn.exp(put(x)), np.exp(x)


@case()
def sqrt():
    x = values(1, 1, 64, 64, low=0.1)
    return ttnn.sqrt(put(x)), np.sqrt(x)


@case(0.03)
def gelu():
    from math import erf

    x = values(1, 1, 64, 64)
    return ttnn.gelu(put(x)), x * 0.5 * (1 + np.vectorize(erf)(x / np.sqrt(2)))


@case()
def where():
    c, x, y = (values(1, 1, 64, 64) > 0).astype(np.float32), values(1, 1, 64, 64, seed=1), values(1, 1, 64, 64, seed=2)
    return ttnn.where(put(c), put(x), put(y)), np.where(c > 0, x, y)


@case(0)
def floor():
    x = values(1, 1, 64, 64, low=-9, high=9)
    return ttnn.floor(put(x)), np.floor(x)


@case(0)
def rounded():
    x = values(1, 1, 64, 64, low=-9, high=9)
    return ttnn.round(put(x)), np.round(x)


@case()
def remainder():
    x = values(1, 1, 64, 64, low=-9, high=9)
    return ttnn.remainder(put(x), 2.5), np.mod(x, 2.5)


@case()
def power():
    x = values(1, 1, 64, 64, low=0.1, high=4)
    return ttnn.pow(put(x), 1.5), x**1.5


@case()
def mish():
    x = values(1, 1, 64, 64, low=-4, high=4)
    return ttnn.mish(put(x)), x * np.tanh(np.log1p(np.exp(x)))


@case(0.002)
def lgamma():
    """float32: its kernel chooses between x and 1 - x in macros of the vector unit."""
    from math import lgamma as exact

    x = values(1, 1, 64, 64, low=-1.75, high=-1.25)
    return ttnn.lgamma(put(x, ttnn.float32)), np.vectorize(exact)(x)


# --- products


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


# --- rows


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


# --- places


@case(0)
def transpose():
    x = values(1, 1, 64, 128)
    return ttnn.transpose(put(x), -2, -1), np.swapaxes(x, -2, -1)


@case(0)
def transpose_outer():
    x = values(1, 2, 64, 32)
    return ttnn.transpose(put(x), 1, 2), np.swapaxes(x, 1, 2)


@case(0)
def permute():
    x = values(1, 2, 64, 32)
    return ttnn.permute(put(x), (0, 2, 1, 3)), x.transpose(0, 2, 1, 3)


@case(0)
def permute_rows():
    x = values(1, 2, 64, 32)
    return ttnn.permute(put(x, layout=ttnn.ROW_MAJOR_LAYOUT), (0, 2, 1, 3)), x.transpose(0, 2, 1, 3)


@case(0)
def reshape():
    x = values(1, 1, 64, 128)
    return ttnn.reshape(put(x), (1, 2, 32, 128)), x.reshape(1, 2, 32, 128)


@case(0)
def reshape_across_tiles():
    x = values(1, 1, 64, 128)
    return ttnn.reshape(put(x), (1, 1, 128, 64)), x.reshape(1, 1, 128, 64)


@case(0)
def concat():
    x, y = values(1, 1, 64, 64), values(1, 1, 64, 64, seed=1)
    return ttnn.concat([put(x), put(y)], dim=-1), np.concatenate([x, y], -1)


@case(0)
def concat_rows():
    x, y = values(1, 1, 64, 64), values(1, 1, 32, 64, seed=1)
    return ttnn.concat([put(x), put(y)], dim=2), np.concatenate([x, y], 2)


@case(0)
def slice_tiles():
    x = values(1, 1, 128, 128)
    return ttnn.slice(put(x), (0, 0, 32, 32), (1, 1, 96, 128)), x[:, :, 32:96, 32:128]


@case(0)
def pad():
    x = values(1, 1, 64, 64)
    padded = ttnn.pad(put(x), [(0, 0), (0, 0), (0, 32), (0, 32)], 0.0)
    return padded, np.pad(x, [(0, 0), (0, 0), (0, 32), (0, 32)])


@case(0)
def tilize():
    x = values(1, 1, 64, 128)
    return ttnn.tilize(put(x, layout=ttnn.ROW_MAJOR_LAYOUT)), x


@case(0)
def untilize():
    x = values(1, 1, 64, 128)
    return ttnn.untilize(put(x)), x


@case(0)
def to_layout_padded():
    x = values(1, 1, 50, 60)
    return ttnn.to_layout(put(x, layout=ttnn.ROW_MAJOR_LAYOUT), ttnn.TILE_LAYOUT), x


@case(0)
def typecast_float32():
    x = values(1, 1, 64, 64)
    return ttnn.typecast(put(x), ttnn.float32), x


@case(0)
def typecast_bfloat16():
    x = values(1, 1, 64, 64)
    return ttnn.typecast(put(x, ttnn.float32), ttnn.bfloat16), x


@case(0.02)
def typecast_bfloat8():
    x = values(1, 1, 64, 64)
    return ttnn.typecast(ttnn.typecast(put(x), ttnn.bfloat8_b), ttnn.bfloat16), x


@case(0)
def embedding():
    table = values(128, 64)
    places = np.arange(32, dtype=np.uint32).reshape(1, 32) * 3 % 128
    rows = put(places, ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT)
    return ttnn.embedding(rows, put(table, layout=ttnn.ROW_MAJOR_LAYOUT)), table[places]


@case(0)
def clone():
    x = values(1, 1, 64, 64)
    return ttnn.clone(put(x)), x


@case(0)
def interleaved_to_sharded():
    x = values(1, 1, 256, 64)
    return ttnn.to_memory_config(put(x), sharded(256, 64, (4, 2), ttnn.ShardStrategy.HEIGHT)), x


@case(0)
def sharded_to_interleaved():
    x = values(1, 1, 128, 256)
    memory = sharded(128, 256, (4, 2), ttnn.ShardStrategy.BLOCK)
    return ttnn.to_memory_config(put(x, memory=memory), ttnn.DRAM_MEMORY_CONFIG), x


@case(0)
def full():
    return ttnn.full((1, 1, 64, 64), 2.5, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device), np.full(
        (1, 1, 64, 64), 2.5
    )


# --- attention

ATTENTION = 0.07  # of the largest: an approximate exponential, as in softmax_rows, of scores and of their sums


def heads(*shape, seed):
    """Values of queries, keys or values."""
    return values(*shape, low=-2.0, high=2.0, seed=seed)


def attention(q, k, v, mask=0.0):
    """What attention gives; each of k and v serves as many neighbouring heads of q as there are."""
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], 1) for x in (k, v))
    return softmax(q @ np.swapaxes(k, -2, -1) / np.sqrt(q.shape[-1]) + mask) @ v


def later(size):
    """A mask that hides what comes later."""
    return np.triu(np.full((size, size), -np.inf), 1)


def decoded(q, k, v, positions):
    """[users, heads, size] of one query each, [1, users, heads, size], over what the caches hold up to its position."""
    return np.stack(
        [
            attention(q[0, i, None, :, None], k[i : i + 1, :, : at + 1], v[i : i + 1, :, : at + 1])[0, :, 0]
            for i, at in enumerate(positions)
        ]
    )


def whole(array):
    """A tensor of integers in rows."""
    return put(np.asarray(array), ttnn.int32, ttnn.ROW_MAJOR_LAYOUT)


@case(ATTENTION)
def attention_causal():
    q, k, v = heads(1, 4, 64, 64, seed=0), heads(1, 2, 64, 64, seed=1), heads(1, 2, 64, 64, seed=2)
    found = ttnn.transformer.scaled_dot_product_attention(put(q), put(k), put(v), is_causal=True)
    return found, attention(q, k, v, later(64))


@case(ATTENTION)
def attention_mask():
    q, k, v = heads(1, 2, 64, 64, seed=0), heads(1, 2, 96, 64, seed=1), heads(1, 2, 96, 64, seed=2)
    mask = np.where(values(1, 1, 64, 96, seed=3) < -0.4, np.float32(-1e9), np.float32(0))
    found = ttnn.transformer.scaled_dot_product_attention(put(q), put(k), put(v), attn_mask=put(mask), is_causal=False)
    return found, attention(q, k, v, mask)


@case(ATTENTION)
def attention_decode():
    q, k, v = heads(1, 2, 8, 64, seed=0), heads(2, 2, 128, 64, seed=1), heads(2, 2, 128, 64, seed=2)
    found = ttnn.transformer.scaled_dot_product_attention_decode(put(q), put(k), put(v), cur_pos=[40, 100])
    return get(found)[0, :, :8], decoded(q, k, v, (40, 100))


@case(ATTENTION)
def attention_decode_paged():
    """Pages of 32 positions, the second user's first."""
    q, k, v = heads(1, 2, 8, 64, seed=0), heads(2, 2, 64, 64, seed=1), heads(2, 2, 64, 64, seed=2)
    table = np.array([[2, 3], [0, 1]], np.int32)

    def pages(x):
        cut = x.reshape(2, 2, 2, 32, 64).transpose(0, 2, 1, 3, 4).reshape(4, 2, 32, 64)
        return put(cut[np.argsort(table.ravel())])

    found = ttnn.transformer.paged_scaled_dot_product_attention_decode(
        put(q), pages(k), pages(v), whole(table), cur_pos_tensor=whole(np.array([20, 50], np.int32))
    )
    return get(found)[0, :, :8], decoded(q, k, v, (20, 50))


@case(0)
def paged_update_cache():
    users, x = 4, values(1, 4, 1, 64)
    memory = sharded(32 * users, 64, (users, 1), ttnn.ShardStrategy.HEIGHT)
    cache = put(np.zeros((users, 1, 64, 64), np.float32))
    rows = put(np.pad(x, [(0, 0), (0, 0), (0, 31), (0, 0)]), memory=memory)
    ttnn.experimental.paged_update_cache(cache, rows, update_idxs=[3, 17, 33, 63])
    expected = np.zeros((users, 1, 64, 64))
    expected[range(users), 0, [3, 17, 33, 63]] = x[0, :, 0]
    return cache, expected


@case(0)
def paged_fill_cache():
    x = values(1, 2, 64, 64)
    cache = put(np.zeros((4, 2, 32, 64), np.float32))
    ttnn.experimental.paged_fill_cache(cache, put(x), whole(np.array([[2, 0, 1, 3]], np.int32)), batch_idx=0)
    expected = np.zeros((4, 2, 32, 64))
    expected[2], expected[0] = x[0, :, :32], x[0, :, 32:]
    return cache, expected


# --- order and chance


def permutations(rows, count):
    """Rows of the first numbers, each once."""
    drawn = np.random.default_rng(0).permuted(np.tile(np.arange(count), (rows, 1)), axis=1)
    return drawn.reshape(1, 1, rows, count).astype(np.float32)


@case(0)
def topk():
    x = permutations(32, 128)
    found, places = ttnn.topk(put(x), 32)
    expected = np.argsort(-x, -1)[..., :32]
    return np.concatenate([get(found), get(places)]), np.concatenate([np.take_along_axis(x, expected, -1), expected])


@case(0)
def sort():
    """Four tiles: pairs of tiles are merged in an order of stages."""
    x = permutations(32, 128)
    found, places = ttnn.sort(put(x), dim=-1)
    return np.concatenate([get(found), get(places)]), np.concatenate([np.sort(x, -1), np.argsort(x, -1)])


@case(0)
def argmax():
    x = permutations(32, 256)
    return ttnn.argmax(put(x, layout=ttnn.ROW_MAJOR_LAYOUT), dim=-1), x.argmax(-1)


@case(0.05)
def rand():
    """Mean, deviation and bounds of even chance."""
    x = get(ttnn.rand([1, 1, 64, 64], device=device, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, seed=7))
    return np.array([x.mean(), x.std(), x.min(), x.max()]), np.array([0.5, 12**-0.5, 0.0, 1.0])


@case(0.01)
def dropout():
    """What stays is doubled; about half of it does."""
    x = values(1, 1, 64, 64, low=0.5)
    found = get(ttnn.experimental.dropout(put(x), probability=0.5, scale=2.0, seed=124))
    assert 0.4 < (found != 0).mean() < 0.6
    return found, 2 * x * (found != 0)


@case(0)
def sampling():
    """The largest, where chance has no say."""
    x = permutations(32, 64)
    places = np.tile(np.arange(64, dtype=np.int32), (32, 1)).reshape(1, 1, 32, 64)
    rows = ttnn.ROW_MAJOR_LAYOUT
    found = ttnn.sampling(
        put(x), whole(places), k=put(np.full(32, 8), ttnn.uint32, rows), p=put(np.zeros(32), layout=rows),
        temp=put(np.ones(32), layout=rows), seed=1,
    )  # fmt: skip
    return get(found).ravel(), x.argmax(-1).ravel()


@case(0.03)
def moe():
    """The share of expert 0 among the best two of eight."""
    x, rest = values(1, 1, 32, 64, low=-2, high=2), np.float32(-np.inf)
    experts = np.where(np.arange(64) < 8, np.float32(0), rest).reshape(1, 1, 1, 64)
    best = np.where(np.arange(32) < 2, np.float32(0), rest).reshape(1, 1, 1, 32)
    found = get(ttnn.moe(put(x), put(experts), put(best), 32))[..., :1]
    places = np.argsort(-(x + experts), -1)[..., :2]
    shares = softmax(np.take_along_axis(x, places, -1))
    return found, (shares * (places == 0)).sum(-1, keepdims=True)


# --- images: batch, height, width, channels


def image(size, channels):
    return values(1, size, size, channels)


def rows_of(x):
    """An image as the library wants it: a row of channels for each place."""
    return put(x.reshape(1, 1, -1, x.shape[-1]), layout=ttnn.ROW_MAJOR_LAYOUT)


def windows(x, size, step, padding, filler=0.0):
    """[height, width, size, size, channels] of the first image."""
    padded = np.pad(x[0], [(padding, padding)] * 2 + [(0, 0)], constant_values=filler)
    cut = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (0, 1))
    return cut[::step, ::step].transpose(0, 1, 3, 4, 2)


@case()
def conv2d():
    x, weights = image(14, 32), values(32, 32, 3, 3, seed=1) / 16
    made = ttnn.Tensor(weights.ravel().tolist(), [32, 32, 3, 3], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)
    found = ttnn.conv2d(
        input_tensor=rows_of(x), weight_tensor=made, in_channels=32, out_channels=32, device=device, kernel_size=(3, 3),
        stride=(1, 1), padding=(1, 1), dilation=(1, 1), groups=1, batch_size=1, input_height=14, input_width=14,
    )  # fmt: skip
    return get(found).reshape(14, 14, 32), np.einsum("yxijc,ocij->yxo", windows(x, 3, 1, 1), weights)


@case(0)
def max_pool2d():
    x = image(16, 32)
    found = ttnn.max_pool2d(rows_of(x), 1, 16, 16, 32, [3, 3], [2, 2], [1, 1], [1, 1])
    return get(found).reshape(8, 8, 32), windows(x, 3, 2, 1, -np.inf).max((2, 3))


@case()
def avg_pool2d():
    x = image(16, 32)
    found = ttnn.avg_pool2d(
        input_tensor=rows_of(x), batch_size=1, input_h=16, input_w=16, channels=32, kernel_size=[2, 2], stride=[2, 2],
        padding=[0, 0],
    )  # fmt: skip
    return get(found).reshape(8, 8, 32), windows(x, 2, 2, 0).mean((2, 3))


def between(x, at_y, at_x):
    """Bilinear values of an image at places [height, width]; outside it is 0."""
    padded, y, z = np.pad(x[0], [(1, 1)] * 2 + [(0, 0)]), at_y + 1, at_x + 1
    low_y, low_x = np.floor(y).astype(int), np.floor(z).astype(int)
    part_y, part_x = (y - low_y)[..., None], (z - low_x)[..., None]
    upper = padded[low_y, low_x] * (1 - part_x) + padded[low_y, low_x + 1] * part_x
    lower = padded[low_y + 1, low_x] * (1 - part_x) + padded[low_y + 1, low_x + 1] * part_x
    return upper * (1 - part_y) + lower * part_y


@case()
def grid_sample():
    x, grid = image(8, 32), values(1, 4, 4, 2, seed=1)
    rows = ttnn.ROW_MAJOR_LAYOUT
    found = ttnn.grid_sample(put(x, layout=rows), put(grid, layout=rows))
    at = (grid[0].astype(np.float64) + 1) * 4 - 0.5
    return found, between(x, at[..., 1], at[..., 0])[None]


@case()
def upsample_bilinear():
    x = image(8, 32)
    at = ((np.arange(16) + 0.5) / 2 - 0.5).clip(0, 7)
    found = ttnn.upsample(put(x, layout=ttnn.ROW_MAJOR_LAYOUT), 2, mode="bilinear")
    return found, between(x, *np.meshgrid(at, at, indexing="ij"))[None]


# --- models


@case(0.05)
def mlp():
    x, w1, w2 = values(1, 1, 64, 128), values(1, 1, 128, 256, seed=1) / 8, values(1, 1, 256, 128, seed=2) / 8
    hidden = ttnn.relu(ttnn.linear(put(x), put(w1)))
    return ttnn.linear(hidden, put(w2)), np.maximum(x @ w1, 0) @ w2


@case(0.08)
def transformer_block():
    """Attention of 4 heads and an MLP, 128 tokens of 128 features, with residuals and norms."""
    tokens, features, heads = 128, 128, 4
    size = features // heads
    x = values(1, 1, tokens, features)
    wq, wk, wv, wo = (values(1, 1, features, features, seed=i) / 8 for i in range(1, 5))
    w1, w2 = values(1, 1, features, 2 * features, seed=5) / 8, values(1, 1, 2 * features, features, seed=6) / 8

    def split(t):
        return ttnn.permute(ttnn.reshape(t, (1, tokens, heads, size)), (0, 2, 1, 3))

    h = put(x)
    n = ttnn.layer_norm(h, epsilon=1e-5)
    q, k, v = (split(ttnn.linear(n, put(w))) for w in (wq, wk, wv))
    scores = ttnn.softmax(ttnn.multiply(ttnn.matmul(q, ttnn.permute(k, (0, 1, 3, 2))), size**-0.5), dim=-1)
    joined = ttnn.reshape(ttnn.permute(ttnn.matmul(scores, v), (0, 2, 1, 3)), (1, 1, tokens, features))
    h = ttnn.add(h, ttnn.linear(joined, put(wo)))
    h = ttnn.add(h, ttnn.linear(ttnn.relu(ttnn.linear(ttnn.layer_norm(h, epsilon=1e-5), put(w1))), put(w2)))

    def cut(t):
        return t.reshape(1, tokens, heads, size).transpose(0, 2, 1, 3)

    m = normalised(x)
    eq, ek, ev = (cut(m @ w) for w in (wq, wk, wv))
    weights = softmax(eq @ ek.transpose(0, 1, 3, 2) * size**-0.5)
    e = x + (weights @ ev).transpose(0, 2, 1, 3).reshape(1, 1, tokens, features) @ wo
    return h, e + np.maximum(normalised(e) @ w1, 0) @ w2


def run(name):
    """What became of a case."""
    function, tolerance = CASES[name]
    try:
        tensor, expected = function()
        found, expected = get(tensor), np.asarray(expected, np.float64)
        if found.shape != expected.shape:
            return {"held": False, "error": None, "raised": f"shape {found.shape} instead of {expected.shape}"}
        error = float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-9))
        digest = hashlib.sha256(found.tobytes()).hexdigest()[:16]
        return {"held": error <= tolerance, "error": error, "raised": None, "digest": digest}
    except Exception as error:
        return {"held": False, "error": None, "raised": f"{type(error).__name__}: {error}"[:4000]}


def main(report, *names):
    with open(report, "w") as file:
        for name in names or CASES:
            file.write(json.dumps({"name": name} | run(name)) + "\n")
            file.flush()
    ttnn.close_device(device)


if __name__ == "__main__":
    main(*sys.argv[1:])
