"""Operations of the vendor's library against numpy: run by the library's Python below `tensim ttnn --library`.

A line of JSON per case goes to the file that the first argument names: name, whether it held, the largest error relative to
the largest expected value, and what was raised.  Further arguments are names of cases; without any all are run.
"""

import json
import sys

import numpy as np
import ttnn

device = ttnn.open_device(device_id=0)
CASES = {}


def case(tolerance=0.02):
    """A case: it returns a tensor of the library and the array that it should hold."""

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


@case(0.03)
def group_norm_sharded():
    """Its kernel packs to pages that nobody has reserved."""
    rows, features, groups = 64, 128, 8
    x = values(1, 1, rows, features)
    memory = sharded(rows, features, (2, 2), ttnn.ShardStrategy.BLOCK)
    selects = np.zeros((1, groups, 32, 32), np.float32)  # of the tile in which a group lies
    for group in range(groups):
        first = features // groups * group % 32
        selects[:, group, :, first : first + features // groups] = 1
    found = ttnn.group_norm(
        put(x, memory=memory), num_groups=groups, input_mask=put(selects), memory_config=memory,
        core_grid=ttnn.CoreGrid(x=2, y=2), inplace=False, epsilon=1e-5,
    )  # fmt: skip
    parts = x.reshape(rows, groups, -1)
    mean, variance = (of(axis=(0, 2), keepdims=True) for of in (parts.mean, parts.var))
    return found, ((parts - mean) / np.sqrt(variance + 1e-5)).reshape(x.shape)


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
        return {"held": error <= tolerance, "error": error, "raised": None}
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
