"""The order that the chip's units have float32 numbers in: by sign and magnitude, -0 below +0, NaN beyond the infinity of its
sign (docs/hardware/numerics.md#pools-and-moves and #vector-unit).
"""

import numpy as np

from tensim.sim.cores.numerics.tile_formats import signed_word
from tensim.sim.engine.compiled import compiled


@compiled()
def ordered(x):
    """An integer that orders as the float32 x does."""
    word = signed_word(np.float32(x))
    return word ^ ((word >> 31) & 0x7FFFFFFF)


@compiled()
def larger(x, y):
    return x if ordered(x) > ordered(y) else y


@compiled()
def smaller(x, y):
    return y if ordered(x) > ordered(y) else x
