"""Data formats by tt-metal's codes, and what a 32x32 tile of each weighs."""

from enum import IntEnum

BLOCK = 16  # datums of a block float that share an exponent (docs/hardware/numerics.md#formats-and-storage)


class DataFormat(IntEnum):
    """tt-metal's DataFormat codes (`_b`: 8-bit exponent family)."""

    Float32 = 0
    Float16 = 1
    Bfp8 = 2
    Bfp4 = 3
    Tf32 = 4
    Float16_b = 5
    Bfp8_b = 6
    Bfp4_b = 7
    Int32 = 8
    UInt16 = 9
    Lf8 = 10
    Bfp2 = 11
    Int8 = 14
    Bfp2_b = 15
    UInt32 = 24
    Fp8_e4m3 = 26
    UInt8 = 30
    RawUInt8 = 240
    RawUInt16 = 241
    RawUInt32 = 242
    Invalid = 255


_BYTES = {
    DataFormat.Bfp8: 1088, DataFormat.Bfp8_b: 1088,
    DataFormat.Bfp4: 576, DataFormat.Bfp4_b: 576,
    DataFormat.Bfp2: 320, DataFormat.Bfp2_b: 320,
}  # fmt: skip
_FOUR = (0, 4, 8, 24, 242)
_TWO = (1, 5, 9, 241)


def tile_size(data_format):
    """Bytes of a 32x32 tile in L1 (source: ISA FloatBitPatterns; block floats carry one exponent per 16 datums)."""
    code = DataFormat(data_format)
    return _BYTES.get(code) or (4096 if code in _FOUR else 2048 if code in _TWO else 1024)
