"""Element by element."""

import numpy as np
import ttnn
from case_groups.tools import case, put, sharded, values


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
