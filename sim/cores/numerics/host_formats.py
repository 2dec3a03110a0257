"""Tile formats for numpy arrays: the compiled engine's own conversions, applied tile by tile.

There is one rounding behaviour: what `encode` stores is what the packer would store.
"""

import numpy as np

from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.cores.numerics.packer import DST32, pack_tile
from tensim.sim.cores.numerics.tile import TILE_DATUMS, TILE_ROWS, TILE_SIDE
from tensim.sim.cores.numerics.tile_formats import decode_tile, is_integer, value_kind
from tensim.sim.engine.compiled import compiled
from tensim.sim.errors import UsageError


def tilize(array):
    """(rows, columns) -> (tiles, 1024) in face order, tiles row-major; rows and columns are multiples of 32."""
    rows, columns = array.shape
    if rows % TILE_SIDE or columns % TILE_SIDE:
        raise UsageError(f"shape {rows}x{columns} is not a multiple of the 32x32 tile")
    faces = array.reshape(rows // 32, 2, 16, columns // 32, 2, 16)
    return faces.transpose(0, 3, 1, 4, 2, 5).reshape(-1, 1024)


def untilize(tiles, shape):
    """The inverse of `tilize`: (tiles, 1024) -> array of `shape`."""
    rows, columns = shape
    faces = np.asarray(tiles).reshape(rows // 32, columns // 32, 2, 2, 16, 16)
    return faces.transpose(0, 2, 4, 1, 3, 5).reshape(rows, columns)


@compiled()
def _encode_all(values, address, size, data_format):
    kind, words = value_kind(data_format), values.ctypes.data
    for i in range(len(values) // 1024):
        pack_tile(words + 4 * TILE_DATUMS * i, kind, data_format, DST32, TILE_ROWS, address + size * i, 0, 0, 0)


@compiled()
def _decode_all(values, address, size, data_format):
    for i in range(len(values) // 1024):
        decode_tile(address + size * i, data_format, TILE_ROWS, values, TILE_DATUMS * i)


def encode(array, data_format):
    """Bytes of a 2-D array as tiles of a format (row-major tiles, face order inside)."""
    data_format = DataFormat(data_format)
    tiles = tilize(np.asarray(array))
    if is_integer(int(data_format)):
        words = np.ascontiguousarray(tiles.astype(np.int64).astype(np.uint32)).view(np.float32).ravel()
    else:
        words = np.ascontiguousarray(tiles, dtype=np.float32).ravel().copy()
    out = np.zeros(len(tiles) * tile_size(data_format), np.uint8)
    _encode_all(words, out.ctypes.data, tile_size(data_format), int(data_format))
    return out.tobytes()


def decode(data, data_format, shape):
    """Array of `shape` from tiles of a format: float32, or int32 / uint32 for integer formats."""
    data_format = DataFormat(data_format)
    raw = np.frombuffer(data, np.uint8)
    count = shape[0] * shape[1] // 1024
    if len(raw) != count * tile_size(data_format):
        raise UsageError(f"{len(raw)} bytes are not {count} tiles of {data_format.name}")
    words = np.zeros(count * 1024, np.float32)
    _decode_all(words, raw.ctypes.data, tile_size(data_format), int(data_format))
    if is_integer(int(data_format)):
        words = words.view(np.int32 if data_format in (DataFormat.Int32, DataFormat.Int8) else np.uint32)
    return untilize(words.reshape(count, 1024), shape)
