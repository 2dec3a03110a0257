"""Tiles in print: numbers from the bytes that `tensim.sim.cores.print_tiles` has copied, as text."""

import numpy as np

from tensim.sim.cores import print_tiles as at
from tensim.sim.cores.numerics.data_format import BLOCK, DataFormat, tile_size
from tensim.sim.cores.numerics.matrix_unit import INTEGER, NARROW, WIDE
from tensim.sim.cores.numerics.tile import FACE_SIDE, TILE_DATUMS, TILE_SIDE
from tensim.sim.cores.numerics.tile_order import tilize, untilize

WHY = {
    at.NO_DATA: "no data move with numerics=off",
    at.NO_BUFFER: "the circular buffer is not configured on this core",
    at.OUTSIDE: "the tile lies outside L1",
    at.NO_POINTER: "this thread has none: the unpack and the pack thread have tiles of circular buffers, math those of Dst",
    at.NO_TILE: "Dst has no tile of this index",
    at.NOT_ACQUIRED: "the math thread has no section of Dst: print between tile_regs_acquire and tile_regs_commit",
}
PLAIN = {
    DataFormat.Float32: np.float32, DataFormat.Float16: np.float16, DataFormat.UInt16: np.uint16, DataFormat.UInt32: np.uint32,
    DataFormat.UInt8: np.uint8, DataFormat.RawUInt8: np.uint8, DataFormat.RawUInt16: np.uint16, DataFormat.RawUInt32: np.uint32,
}  # fmt: skip
BLOCK_FORMATS = [one for one in DataFormat if one.name.startswith("Bfp")]
DIGITS = 6


def shown_tile(entry, content, value, extra):
    """Text of a SLICE record of a tile: its record and bytes, and the two words of the slice; rows end in `\\n`."""
    found, flags = int(entry["value"]), extra >> 16
    if found < 0:
        return f"(no tile: {WHY[found]})"
    values = _dst_values if int(entry["kind"]) == at.DST_TILE else _buffer_values
    rows = values(content[:found], int(entry["extra"]), flags & at.IN_FACES)
    first, end, step = value & 255, value >> 8 & 255, max(value >> 16 & 255, 1)
    columns = slice(value >> 24 & 255, extra & 255, max(extra >> 8 & 255, 1))
    lines = [" ".join(f"{number:.{DIGITS}g}" for number in row[columns].tolist()) for row in rows[first:end:step]]
    if flags & at.NUMBERED:
        lines = [f"{row}: {line}" for row, line in zip(range(first, end, step), lines, strict=False)]
    return ("\n" if flags & (at.ON_LINES | at.NUMBERED) else " ").join(lines)


def _buffer_values(content, about, in_faces):
    """Numbers (height, width) of a tile in a circular buffer's format."""
    data_format, datums, width = DataFormat(about & 255), about >> 8 & 0xFFFF, about >> 24
    width = width or (TILE_SIDE if datums > FACE_SIDE * FACE_SIDE else FACE_SIDE)
    numbers = _datums(np.frombuffer(content, np.uint8), data_format, datums)
    shape = datums // width, width
    return untilize(numbers, *shape, tile=shape).reshape(shape) if in_faces else numbers.reshape(shape)


def _datums(data, data_format, datums):
    """Numbers of a tile's bytes in the order of memory."""
    from tensim.sim.cores.numerics.host_formats import decode

    if data_format in PLAIN:
        return data.view(PLAIN[data_format])
    whole, exponents = np.zeros(tile_size(data_format), np.uint8), 0  # as the first rows of a tile of 32 x 32
    if data_format in BLOCK_FORMATS:
        exponents = datums // BLOCK
        whole[:exponents] = data[:exponents]
    start = TILE_DATUMS // BLOCK if exponents else 0
    whole[start : start + data.size - exponents] = data[exponents:]
    return tilize(decode(whole.tobytes(), data_format, (TILE_SIDE, TILE_SIDE)), TILE_SIDE, TILE_SIDE)[:datums]


def _dst_values(content, kind, in_faces):
    """Numbers (32, 32) of the words of Dst, by what they mean (`tensim.sim.cores.numerics.matrix_unit`)."""
    words = np.frombuffer(content, np.uint32)
    negative = words >> 31 == 1
    if kind == WIDE:
        numbers = words.view(np.float32)
    elif kind == NARROW:  # an exponent of 5 bits in the place of 8
        exponent, mantissa = (words >> 23 & 0xFF).astype(np.int32), (words & 0x7FFFFF) / np.float32(1 << 23)
        magnitude = np.ldexp(mantissa + (exponent > 0), np.maximum(exponent, 1) - 15)
        numbers = np.where(negative, -magnitude, magnitude)
    elif kind == INTEGER:  # sign and magnitude
        numbers = np.where(negative, -(words & 0x7FFFFFFF).astype(np.int64), words.astype(np.int64))
    else:
        numbers = words.view(np.int32)
    return untilize(numbers, TILE_SIDE, TILE_SIDE).reshape(TILE_SIDE, TILE_SIDE)
