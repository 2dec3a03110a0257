"""Small networks."""

import numpy as np
import ttnn
from case_groups.tools import case, normalised, put, softmax, values


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
