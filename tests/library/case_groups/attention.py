"""Attention and its caches."""

import numpy as np
import ttnn
from case_groups.tools import case, get, put, sharded, softmax, values, whole

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
