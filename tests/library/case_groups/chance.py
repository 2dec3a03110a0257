"""Order and chance."""

import numpy as np
import ttnn
from case_groups.tools import case, device, get, put, softmax, values, whole


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
