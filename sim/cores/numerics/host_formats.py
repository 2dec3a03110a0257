"""Tile formats for numpy arrays: the compiled engine's own conversions, applied tile by tile.

There is one rounding behaviour: what `encode` stores is what the packer would store.
"""

import numpy as np

from tensim.sim.cores.numerics.data_format import BLOCK, DataFormat, tile_size
from tensim.sim.cores.numerics.matrix_unit import INTEGER, WORD_ROW
from tensim.sim.cores.numerics.packer import DST32, block_bits, early, pack_tile, store_block
from tensim.sim.cores.numerics.simd_lanes import row_on_stack
from tensim.sim.cores.numerics.tile import TILE_DATUMS, TILE_ROWS
from tensim.sim.cores.numerics.tile_formats import decode_tile, value_kind
from tensim.sim.cores.numerics.tile_order import tilize, untilize
from tensim.sim.cores.numerics.unpacker import format_kind, unpack_block
from tensim.sim.engine import entry_points
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import floats_at, load_u8
from tensim.sim.errors import UsageError

WORD = 4  # bytes
LARGEST_EXPONENT = 255  # of a block that becomes float32: none is cut off


@compiled()
def encode_tiles(words, tiles, address, size, data_format):
    """The entry point behind `encode`: `words`, `address`: of float32 datums and of tiles of `size` bytes."""
    kind = value_kind(data_format)
    for i in range(tiles):
        pack_tile(words + WORD * TILE_DATUMS * i, kind, data_format, DST32, TILE_ROWS, address + size * i, 0, 0, 0)


@compiled()
def decode_tiles(words, tiles, address, size, data_format):
    """The entry point behind `decode`; arguments as those of `encode_tiles`."""
    values = floats_at(words, tiles * TILE_DATUMS)
    for i in range(tiles):
        decode_tile(address + size * i, data_format, TILE_ROWS, values, TILE_DATUMS * i)


def encode(array, data_format):
    """Bytes of a 2-D array as tiles of a format (row-major tiles, face order inside)."""
    data_format = DataFormat(data_format)
    array = np.asarray(array)
    datums = tilize(array, *array.shape)
    if format_kind.py_func(int(data_format)) >= INTEGER:
        words = np.ascontiguousarray(datums.astype(np.int64).astype(np.uint32)).view(np.float32)
    else:
        words = np.array(datums, dtype=np.float32)
    out = np.zeros(len(datums) // 1024 * tile_size(data_format), np.uint8)
    tiles = len(datums) // TILE_DATUMS
    entry_points.encode_tiles(words.ctypes.data, tiles, out.ctypes.data, tile_size(data_format), int(data_format))
    return out.tobytes()


def decode(data, data_format, shape):
    """Array of `shape` from tiles of a format: float32, or int32 / uint32 for integer formats."""
    data_format = DataFormat(data_format)
    raw = np.frombuffer(data, np.uint8)
    count = shape[0] * shape[1] // 1024
    if len(raw) != count * tile_size(data_format):
        raise UsageError(f"{len(raw)} bytes are not {count} tiles of {data_format.name}")
    words = np.empty(count * TILE_DATUMS, np.float32)
    entry_points.decode_tiles(words.ctypes.data, count, raw.ctypes.data, tile_size(data_format), int(data_format))
    if format_kind.py_func(int(data_format)) >= INTEGER:
        words = words.view(np.int32 if data_format in (DataFormat.Int32, DataFormat.Int8) else np.uint32)
    return untilize(words, *shape).reshape(shape)


# --- block floats in tiles of any height


def pack_blocks(datums, data_format, blocks, exponent_bytes, tile_bytes):
    """Bytes (uint8) of float32 datums of whole tiles as block floats, as the packer makes them.

    `blocks`: of a tile of `tile_bytes`, whose exponents stand in front.
    """
    out = np.zeros(datums.size // (blocks * BLOCK) * tile_bytes, np.uint8)
    addresses = datums.ctypes.data, out.ctypes.data
    entry_points.store_blocks(*addresses, len(out) // tile_bytes, data_format, blocks, exponent_bytes, tile_bytes)
    return out


def unpack_blocks(data, data_format, blocks, exponent_bytes, tile_bytes):
    """The inverse of `pack_blocks`."""
    out = np.empty(data.size // tile_bytes * blocks * BLOCK, np.float32)
    addresses = data.ctypes.data, out.ctypes.data
    entry_points.load_blocks(*addresses, data.size // tile_bytes, data_format, blocks, exponent_bytes, tile_bytes)
    return out


@compiled()
def store_blocks(datums, out, tiles, data_format, blocks, exponent_bytes, tile_bytes):
    """The entry point behind `pack_blocks`; `datums`, `out`: addresses."""
    words, bits = row_on_stack(), block_bits(data_format)
    for tile in range(tiles):
        base = out + tile * tile_bytes
        for block in range(blocks):
            source = datums + WORD_ROW * (tile * blocks + block)
            early(source, value_kind(data_format), data_format, DST32, words)
            store_block(words, bits, base + block, base + exponent_bytes + 2 * bits * block)


@compiled()
def load_blocks(data, out, tiles, data_format, blocks, exponent_bytes, tile_bytes):
    """The entry point behind `unpack_blocks`; `data`, `out`: addresses."""
    bits = block_bits(data_format)
    for tile in range(tiles):
        base = data + tile * tile_bytes
        for block in range(blocks):
            target = out + WORD_ROW * (tile * blocks + block)
            datums = base + exponent_bytes + 2 * bits * block
            unpack_block(datums, load_u8(base + block), bits, LARGEST_EXPONENT, target)
