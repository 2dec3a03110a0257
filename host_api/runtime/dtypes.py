"""Element types of tensors, and what a cast from one to another does.

There is one rounding per pair, the same on every route (invariant I7 of docs/hardware/runtime.md#invariants):

- to f32: integers round to nearest even; all others are exact;
- to bf16: f32 rounds to nearest even, integers go through f32;
- to an integer: floats are cut towards zero and saturate, NaN gives 0; integers wrap modulo 2^bits;
- to a block float: through f32; infinities become the largest finite f32 and NaN becomes 0, for the format has neither;
  then each block of 16 rounds as the packer does (`tensim.sim.cores.numerics.packer.store_block`).
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Self

import ml_dtypes
import numpy as np

from tensim.runtime.errors import LayoutUnsupported
from tensim.sim.cores.numerics.data_format import BLOCK, DataFormat

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

EXPONENT_ALIGNMENT = 16  # bytes to which the exponents of a tile are padded (the same)


class DType(Enum):
    """`numpy`: the dtype of host arrays (f32 for block floats); `format`: tt-metal's code; `block_bits`: bits per datum
    of a block float, which exists in tiles only, 0 for the others.
    """

    numpy: np.dtype[Any]
    format: DataFormat
    block_bits: int

    F32 = ("f32", np.float32, DataFormat.Float32, 0)
    BF16 = ("bf16", ml_dtypes.bfloat16, DataFormat.Float16_b, 0)
    I32 = ("i32", np.int32, DataFormat.Int32, 0)
    U32 = ("u32", np.uint32, DataFormat.UInt32, 0)
    U16 = ("u16", np.uint16, DataFormat.UInt16, 0)
    U8 = ("u8", np.uint8, DataFormat.UInt8, 0)
    BFP8 = ("bfp8", np.float32, DataFormat.Bfp8_b, 8)
    BFP4 = ("bfp4", np.float32, DataFormat.Bfp4_b, 4)
    BFP2 = ("bfp2", np.float32, DataFormat.Bfp2_b, 2)

    def __new__(cls, name: str, numpy: DTypeLike, data_format: DataFormat, block_bits: int) -> Self:
        member = object.__new__(cls)
        member._value_ = name
        member.numpy, member.format, member.block_bits = np.dtype(numpy), data_format, block_bits
        return member

    def __str__(self) -> str:
        return self.value

    @property
    def itemsize(self) -> int:
        """Bytes of one element of a host array."""
        return self.numpy.itemsize

    @property
    def has_rows(self) -> bool:
        """Whether a row-major form exists."""
        return not self.block_bits

    @property
    def is_integer(self) -> bool:
        return self.numpy.kind in "iu"

    def exponent_bytes(self, tile: tuple[int, int]) -> int:
        """Bytes before the datums of a (height, width) tile: one exponent per block, padded; 0 if no block float."""
        blocks = tile[0] * tile[1] // BLOCK if self.block_bits else 0
        return -(-blocks // EXPONENT_ALIGNMENT) * EXPONENT_ALIGNMENT

    def tile_bytes(self, tile: tuple[int, int] = (32, 32)) -> int:
        """Bytes of a (height, width) tile."""
        bits = self.block_bits or 8 * self.itemsize
        return self.exponent_bytes(tile) + tile[0] * tile[1] * bits // 8


_NATIVE = {dtype.numpy: dtype for dtype in DType if dtype.has_rows}
# What a host array of a foreign type becomes (docs/hardware/runtime.md#features-of-tt-mlir, createOwnedHostTensor).
ALIASES = {
    np.dtype(np.float64): DType.F32,
    np.dtype(np.int64): DType.I32,
    np.dtype(np.uint64): DType.U32,
    np.dtype(np.int16): DType.U16,
    np.dtype(np.int8): DType.U8,
    np.dtype(np.bool_): DType.BF16,
    np.dtype(np.float16): DType.BF16,
}


def dtype_of(numpy_dtype: DTypeLike, *, allow_cast: bool = False) -> DType:
    """DType of host arrays of `numpy_dtype`; with `allow_cast` also of the foreign types in `ALIASES`.

    LayoutUnsupported for a type that no device holds.
    """
    numpy_dtype = np.dtype(numpy_dtype)
    if numpy_dtype in _NATIVE:
        return _NATIVE[numpy_dtype]
    alias = ALIASES.get(numpy_dtype)
    if alias is not None and allow_cast:
        return alias
    if alias is not None:
        raise LayoutUnsupported(
            f"no device has a format for elements of {numpy_dtype}", hint=f"allow_cast=True casts them to {alias}"
        )
    raise LayoutUnsupported(
        f"no device has a format for elements of {numpy_dtype}",
        hint=f"cast to one of {', '.join(map(str, _NATIVE.values()))} first",
    )


LARGEST_BLOCK = np.float32(127 / 64 * 2.0**127)  # the largest finite value of a block float with 8-bit exponents


def cast(values: NDArray[Any], target: DType) -> NDArray[Any]:
    """A host array as elements of the DType `target`, rounded as this module says (block floats: before their blocks)."""
    if target.is_integer and values.dtype.kind not in "iub":
        return _saturated(values, target.numpy)
    if target.block_bits:
        return np.clip(np.nan_to_num(values.astype(np.float32), nan=0.0), -LARGEST_BLOCK, LARGEST_BLOCK)
    if values.dtype == np.float64 or values.dtype == np.float32:
        with np.errstate(over="ignore"):  # beyond the largest value: infinity, as IEEE 754 rounds
            return values.astype(target.numpy, copy=False)
    if target is DType.BF16 and values.dtype != target.numpy:
        return values.astype(np.float32).astype(target.numpy)
    return values.astype(target.numpy, copy=False)


def _saturated(values: NDArray[Any], numpy_dtype: np.dtype[Any]) -> NDArray[Any]:
    limits = np.iinfo(numpy_dtype)
    exact = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=limits.max, neginf=limits.min)
    return np.clip(exact, limits.min, limits.max).astype(numpy_dtype)
