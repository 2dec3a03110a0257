"""Arrays as the bytes of a buffer, and back: cast, padding, tiles, block floats.

    array --cast--> stored type --pad--> whole pages --tilize--> datums in page order --block floats--> bytes

The bytes are those that `write_to_buffer` and `read_from_buffer` exchange: page after page, so a distribution over banks
matters only where it pads rows.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tensim.runtime.dtypes import cast, dtype_of
from tensim.runtime.errors import LayoutMismatch
from tensim.runtime.layouts import OOB_VALUES
from tensim.sim.cores.numerics.data_format import BLOCK
from tensim.sim.cores.numerics.host_formats import pack_blocks, unpack_blocks
from tensim.sim.cores.numerics.tile_order import tilize, untilize

if TYPE_CHECKING:
    from tensim.runtime.dtypes import DType
    from tensim.runtime.layouts import Layout, TensorDesc


def encode(array: np.ndarray, desc: TensorDesc, layout: Layout) -> np.ndarray:
    """Bytes (uint8) of a logical array of `desc.shape` in `layout`.

    `array`: elements of `desc.dtype` (float32 for block floats), of any strides.  Padding holds the layout's `oob`, zero for
    undef.  LayoutMismatch for another shape or type.
    """
    layout = layout.resolved(desc)
    if array.shape != desc.shape or array.dtype != desc.dtype.numpy:
        raise LayoutMismatch(
            f"the tensor is {desc.dtype} {desc.shape}, the array {array.dtype} {array.shape}",
            where={"shape": (desc.shape, array.shape), "dtype": (str(desc.dtype), str(array.dtype))},
            hint=f"cast it to {desc.dtype.numpy} or describe it by its own shape and type",
        )
    padded = _pad(cast(array, _stored(layout)), layout)
    if layout.tiling == "row":
        return np.ascontiguousarray(padded).reshape(-1).view(np.uint8)
    datums = tilize(padded, *_matrix(padded.shape), layout.tile)
    if _stored(layout).block_bits:
        return pack_blocks(datums, *_blocks(layout))
    return datums.view(np.uint8)


def decode(data: np.ndarray, desc: TensorDesc, layout: Layout) -> np.ndarray:
    """The logical array of bytes in `layout`: elements of the stored type, block floats as float32; without padding.

    `data`: uint8, as `encode` gives it.  LayoutMismatch for another number of bytes.
    """
    layout = layout.resolved(desc)
    if data.nbytes != layout.nbytes(desc):
        raise LayoutMismatch(
            f"the layout of {desc.dtype} {desc.shape} takes {layout.nbytes(desc)} B, the data has {data.nbytes} B",
            hint="give the bytes of the whole padded tensor, page after page",
            where={"nbytes": (layout.nbytes(desc), data.nbytes)},
        )
    padded = layout.padded_shape(desc.shape)
    data = np.ascontiguousarray(data)
    datums = unpack_blocks(data, *_blocks(layout)) if _stored(layout).block_bits else data.view(_stored(layout).numpy)
    if layout.tiling == "tile":
        datums = untilize(datums, *_matrix(padded), layout.tile)
    # A padded shape has more dimensions than the tensor only where it has one row.
    logical = datums.reshape(padded)[(0,) * (len(padded) - len(desc.shape))]
    return np.ascontiguousarray(logical[tuple(slice(n) for n in desc.shape)])


def convert(data: np.ndarray, desc: TensorDesc, before: Layout, after: Layout) -> np.ndarray:
    """Bytes in layout `before` as bytes in layout `after`; the data itself where nothing changes but banks."""
    before, after = before.resolved(desc), after.resolved(desc)
    if same_bytes(desc, before, after):
        return data
    values = decode(data, desc, before)
    return encode(values, replace(desc, dtype=dtype_of(values.dtype), strides=None), after)


def same_bytes(desc: TensorDesc, before: Layout, after: Layout) -> bool:
    """Whether two resolved layouts order the same bytes, in whatever memory."""
    form = before.tiling, before.tile, before.dtype, before.padded_shape(desc.shape)
    if form != (after.tiling, after.tile, after.dtype, after.padded_shape(desc.shape)):
        return False
    return before.oob == after.oob or after.oob == "undef" or not before.pads(desc)


def _pad(values: np.ndarray, layout: Layout) -> np.ndarray:
    padded = layout.padded_shape(values.shape)
    if padded == values.shape:
        return values
    out = np.full(padded, OOB_VALUES[layout.oob], values.dtype)
    inside = out[(0,) * (len(padded) - values.ndim)]
    inside[tuple(slice(n) for n in values.shape)] = values
    return out


def _stored(layout: Layout) -> DType:
    """The stored type of a resolved layout."""
    return typing.cast("DType", layout.dtype)


def _blocks(layout: Layout) -> tuple[int, int, int, int]:
    """(data format, blocks of a tile, bytes of its exponents, bytes) of a layout of block floats."""
    dtype, tile = _stored(layout), layout.tile
    return int(dtype.format), math.prod(tile) // BLOCK, dtype.exponent_bytes(tile), dtype.tile_bytes(tile)


def _matrix(padded: Sequence[int]) -> tuple[int, int]:
    """(height, width) of a padded shape with its leading dimensions collapsed."""
    return math.prod(padded[:-1]), padded[-1]
