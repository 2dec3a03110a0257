"""Layouts of every kind that fit a given tensor, and data for it."""

import math

import numpy as np
from hypothesis import strategies as st

import tensim as tt
from tensim.runtime.dtypes import DType
from tensim.runtime.layouts import Interleaved, Layout, MemSpace, Sharded, TensorDesc

GRID = tt.CoreRangeSet([tt.CoreRange((0, 0), (7, 7))])
BANKS = tt.CoreRangeSet([tt.CoreRange((0, 0), (11, 0))])
SHAPES = [(1,), (31,), (33,), (1, 1), (31, 33), (33, 70), (2, 31, 33), (2, 3, 1, 33)]
DTYPES = [DType.F32, DType.BF16, DType.U32, DType.I32, DType.U16, DType.BFP8]
DISTRIBUTIONS = ["interleaved", "height", "width", "block", "nd"]


def distribution(kind, shape, tiling, tile=(32, 32), grid=GRID):
    """A distribution of `kind` that cuts a tensor of `shape` into a few shards where it can."""
    if kind == "interleaved":
        return Interleaved()
    height, width = Layout(MemSpace.DRAM, tiling, tile).padded_shape((1, *shape) if len(shape) == 1 else shape)[-2:]
    rows = math.prod(shape[:-2]) * height
    unit = tile if tiling == "tile" else (1, 1)
    part_h, part_w = (-(-n // (3 * u)) * u for n, u in ((rows, unit[0]), (width, unit[1])))
    whole_w, whole_h = -(-width // unit[1]) * unit[1], -(-rows // unit[0]) * unit[0]
    if kind == "nd":
        rank = max(len(shape), 2) if tiling == "tile" else len(shape)
        last = (min(part_h, height), part_w)
        return Sharded("nd", grid, ((1,) * (rank - 2) + last)[-rank:], axes=tuple(f"axis{i}" for i in range(rank)))
    shard = {"height": (part_h, whole_w), "width": (whole_h, part_w), "block": (part_h, part_w)}[kind]
    return Sharded(kind, grid, shard)


def device_layouts(shape, dtypes=DTYPES, tiles=((32, 32),)):
    """Every combination of memory, distribution, tiling and stored type."""
    for space in (MemSpace.DRAM, MemSpace.L1):
        for kind in DISTRIBUTIONS if space == MemSpace.L1 else DISTRIBUTIONS[:2]:
            grid = BANKS if space == MemSpace.DRAM else GRID
            for dtype in dtypes:
                if dtype.has_rows:
                    yield Layout(space, "row", dtype=dtype, distribution=distribution(kind, shape, "row", grid=grid))
                for tile in tiles:
                    spread = distribution(kind, shape, "tile", tile, grid)
                    yield Layout(space, "tile", tile, dtype, spread)


def host_layouts(dtypes=DTYPES, tiles=((32, 32),)):
    """Rows and tiles in host memory."""
    for dtype in dtypes:
        if dtype.has_rows:
            yield Layout(MemSpace.HOST, "row", dtype=dtype)
        for tile in tiles:
            yield Layout(MemSpace.HOST, "tile", tile, dtype)


def small_integers(desc, seed=0):
    """An array of whole numbers 0..7: every stored type but bfp2 and bfp4 holds them exactly."""
    values = np.random.default_rng(seed).integers(0, 8, desc.shape)
    return values.astype(desc.dtype.numpy)


def noise(desc, seed=0):
    """An array over the whole range of small magnitudes, with fractions for floats."""
    values = np.random.default_rng(seed).standard_normal(desc.shape) * 100
    return (np.abs(values) if desc.dtype.numpy.kind == "u" else values).astype(desc.dtype.numpy)


shapes = st.lists(st.integers(1, 40), min_size=1, max_size=2).flatmap(
    lambda last: st.lists(st.integers(1, 3), max_size=2).map(lambda first: (*first, *last))
)
tiles = st.tuples(st.sampled_from(tt.types.TILE_HEIGHTS), st.sampled_from(tt.types.TILE_WIDTHS))


@st.composite
def descs(draw, dtypes=DTYPES):
    return TensorDesc(draw(shapes), draw(st.sampled_from(dtypes)))


@st.composite
def layouts(draw, desc, dtypes=DTYPES, spaces=tuple(MemSpace)):
    """A layout that can hold `desc`."""
    dtype, space = draw(st.sampled_from(dtypes)), draw(st.sampled_from(spaces))
    tiling = draw(st.sampled_from(("row", "tile"))) if dtype.has_rows else "tile"
    tile = draw(tiles)
    paddings = ["undef", "zero"]
    if not dtype.block_bits:
        paddings += ["one"] if dtype.is_integer else ["one", "inf", "-inf"]
    kinds = ["interleaved"] if space.on_host else DISTRIBUTIONS
    # banks form a row
    kind = draw(st.sampled_from([item for item in kinds if space == MemSpace.L1 or item != "block"]))
    grid = BANKS if space == MemSpace.DRAM else GRID
    spread = distribution(kind, desc.shape, tiling, tile, grid)
    return Layout(space, tiling, tile, dtype, spread, draw(st.sampled_from(paddings)))
