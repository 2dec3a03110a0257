"""Squares of tiles whose circular buffers have room for `depth` pages: with one, reader and compute take turns."""
# ruff: noqa: F403, F405

import numpy as np

from tensim.kernel_api import *
from tests.analysis.programs.uneven_work import IN, OUT, function_of_tiles

AXES, SHAPE = "N", None


@kernel
def squares(count):
    """As long for a tile as its read takes, so that taking turns doubles the time."""
    init_sfpu(IN, OUT)
    square_tile_init()
    for _ in range(count):
        cb_wait_front(IN, 1)
        tile_regs_acquire()
        copy_tile(IN, 0, 0)
        square_tile(0)
        tile_regs_commit()
        tile_regs_wait()
        cb_reserve_back(OUT, 1)
        pack_tile(0, OUT)
        cb_push_back(OUT, 1)
        tile_regs_release()
        cb_pop_front(IN, 1)


def run(device, *, shape, dtype, fidelity, grid, rng, depth: int = 1):
    return function_of_tiles(device, dtype, fidelity, (2, 1), rng, [64, 64], squares, np.square, depth)
