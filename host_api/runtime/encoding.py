"""Arrays as the bytes of a buffer, and back: cast, padding, tiles, block floats.

    array --cast--> stored type --pad--> whole pages --tilize--> datums in page order --block floats--> bytes

The bytes are those that `write_to_buffer` and `read_from_buffer` exchange: page after page, so a distribution over banks
matters only where it pads rows.
"""

import math
from dataclasses import replace

import numba as nb
import numpy as np

from tensim.layout import tilize, untilize
from tensim.runtime.dtypes import BLOCK, cast, dtype_of
from tensim.runtime.errors import LayoutMismatch
from tensim.runtime.layouts import OOB_VALUES
from tensim.sim.cores.numerics.matrix_unit import WORD_ROW
from tensim.sim.cores.numerics.packer import DST32, block_bits, early, store_block
from tensim.sim.cores.numerics.simd_lanes import row_on_stack
from tensim.sim.cores.numerics.tile_formats import value_kind
from tensim.sim.cores.numerics.unpacker import unpack_block
from tensim.sim.engine.memory import load_u8

LARGEST_EXPONENT = 255  # of a block that becomes float32: none is cut off


def encode(array, desc, layout):
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
    padded = _pad(cast(array, layout.dtype), layout)
    if layout.tiling == "row":
        return np.ascontiguousarray(padded).reshape(-1).view(np.uint8)
    datums = tilize(padded, *_matrix(padded.shape), layout.tile)
    if layout.dtype.block_bits:
        return _pack(datums, layout)
    return datums.view(np.uint8)


def decode(data, desc, layout):
    """The logical array of bytes in `layout`: elements of the stored type, block floats as float32; without padding.

    `data`: uint8, as `encode` gives it.  LayoutMismatch for another number of bytes.
    """
    layout = layout.resolved(desc)
    if data.nbytes != layout.nbytes(desc):
        raise LayoutMismatch(
            f"the layout of {desc.dtype} {desc.shape} takes {layout.nbytes(desc)} B, the data has {data.nbytes} B",
            where={"nbytes": (layout.nbytes(desc), data.nbytes)},
        )
    padded = layout.padded_shape(desc.shape)
    data = np.ascontiguousarray(data)
    datums = _unpack(data, layout) if layout.dtype.block_bits else data.view(layout.dtype.numpy)
    if layout.tiling == "tile":
        datums = untilize(datums, *_matrix(padded), layout.tile)
    # A padded shape has more dimensions than the tensor only where it has one row.
    logical = datums.reshape(padded)[(0,) * (len(padded) - len(desc.shape))]
    return np.ascontiguousarray(logical[tuple(slice(n) for n in desc.shape)])


def convert(data, desc, before, after):
    """Bytes in layout `before` as bytes in layout `after`; the data itself where nothing changes but banks."""
    before, after = before.resolved(desc), after.resolved(desc)
    if same_bytes(desc, before, after):
        return data
    values = decode(data, desc, before)
    return encode(values, replace(desc, dtype=dtype_of(values.dtype), strides=None), after)


def same_bytes(desc, before, after):
    """Whether two resolved layouts order the same bytes, in whatever memory."""
    form = before.tiling, before.tile, before.dtype, before.padded_shape(desc.shape)
    if form != (after.tiling, after.tile, after.dtype, after.padded_shape(desc.shape)):
        return False
    return before.oob == after.oob or after.oob == "undef" or not before.pads(desc)


def _pad(values, layout):
    padded = layout.padded_shape(values.shape)
    if padded == values.shape:
        return values
    out = np.full(padded, OOB_VALUES[layout.oob], values.dtype)
    inside = out[(0,) * (len(padded) - values.ndim)]
    inside[tuple(slice(n) for n in values.shape)] = values
    return out


def _matrix(padded):
    """(height, width) of a padded shape with its leading dimensions collapsed."""
    return math.prod(padded[:-1]), padded[-1]


def _pack(datums, layout):
    dtype, tile = layout.dtype, layout.tile
    size, tiles = dtype.tile_bytes(tile), datums.size // math.prod(tile)
    out = np.zeros(tiles * size, np.uint8)
    _pack_blocks(datums, out, int(dtype.format), math.prod(tile) // BLOCK, dtype.exponent_bytes(tile), size)
    return out


def _unpack(data, layout):
    dtype, tile = layout.dtype, layout.tile
    size = dtype.tile_bytes(tile)
    out = np.empty(data.size // size * math.prod(tile), np.float32)
    _unpack_blocks(data, out, int(dtype.format), math.prod(tile) // BLOCK, dtype.exponent_bytes(tile), size)
    return out


@nb.njit(cache=True)
def _pack_blocks(datums, out, data_format, blocks, exponent_bytes, tile_bytes):
    """Float32 datums of whole tiles -> block floats, as the packer makes them; a tile is exponents first, then datums."""
    words, bits = row_on_stack(), block_bits(data_format)
    for tile in range(len(out) // tile_bytes):
        base = out.ctypes.data + tile * tile_bytes
        for block in range(blocks):
            source = datums.ctypes.data + WORD_ROW * (tile * blocks + block)
            early(source, value_kind(data_format), data_format, DST32, words)
            store_block(words, bits, base + block, base + exponent_bytes + 2 * bits * block)


@nb.njit(cache=True)
def _unpack_blocks(data, out, data_format, blocks, exponent_bytes, tile_bytes):
    """The inverse of `_pack_blocks`."""
    bits = block_bits(data_format)
    for tile in range(len(data) // tile_bytes):
        base = data.ctypes.data + tile * tile_bytes
        for block in range(blocks):
            target = out.ctypes.data + WORD_ROW * (tile * blocks + block)
            datums = base + exponent_bytes + 2 * bits * block
            unpack_block(datums, load_u8(base + block), bits, LARGEST_EXPONENT, target)
