"""Host arrays: torch tensors where torch is installed, numpy otherwise; conversions between DataTypes and to bytes.

torch is used where a program has it; nothing here needs it.
"""

from __future__ import annotations

import functools
import importlib.util
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from tensim.layout import tilize, untilize
from tensim.ttnn.enums import DataType
from tensim.ttnn.errors import ArgumentError
from tensim.ttnn.shapes import BLOCK_FLOATS

if TYPE_CHECKING:
    from tensim.runtime.layouts import Layout, TensorDesc
    from tensim.ttnn.memory import TensorSpec

NUMPY = {
    DataType.BFLOAT16: np.dtype(ml_dtypes.bfloat16), DataType.FLOAT32: np.dtype(np.float32),
    DataType.UINT32: np.dtype(np.uint32), DataType.BFLOAT8_B: np.dtype(np.float32),
    DataType.BFLOAT4_B: np.dtype(np.float32), DataType.UINT8: np.dtype(np.uint8), DataType.UINT16: np.dtype(np.uint16),
    DataType.INT32: np.dtype(np.int32), DataType.FP8_E4M3: np.dtype(ml_dtypes.float8_e4m3fn),
    DataType.INT8: np.dtype(np.int8),
}  # fmt: skip
# What a host array becomes when no DataType is asked for
OF_ARRAY = {dtype: name for name, dtype in NUMPY.items() if name not in BLOCK_FLOATS} | {
    np.dtype(np.float16): DataType.BFLOAT16, np.dtype(np.float64): DataType.FLOAT32,
    np.dtype(np.int64): DataType.UINT32, np.dtype(np.uint64): DataType.UINT32, np.dtype(np.int16): DataType.UINT16,
    np.dtype(np.bool_): DataType.UINT8,
}  # fmt: skip


# --- torch


def is_torch(value: Any) -> bool:
    """Whether a value is a torch tensor."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, getattr(torch, "Tensor", ()))


@functools.cache
def torch_or_none() -> Any:
    """The torch module, or None where it is not installed."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    return torch


def _bit_views(torch: Any) -> dict[Any, tuple[Any, Any]]:
    """{torch dtype: (torch integer of its size, numpy dtype)} of the dtypes that torch's numpy bridge does not know."""
    views = {torch.bfloat16: (torch.int16, ml_dtypes.bfloat16)}
    if hasattr(torch, "float8_e4m3fn"):
        views[torch.float8_e4m3fn] = (torch.uint8, ml_dtypes.float8_e4m3fn)
    return views


def as_numpy(value: Any) -> np.ndarray:
    """A numpy array of a torch tensor, an array or nested numbers."""
    if not is_torch(value):
        return np.asarray(value)
    value = value.detach().cpu().contiguous()
    bits, numpy_dtype = _bit_views(torch_or_none()).get(value.dtype, (None, None))
    return value.numpy() if bits is None else value.view(bits).numpy().view(numpy_dtype)


def as_given(array: np.ndarray) -> Any:
    """The array as a torch tensor where torch is installed, else as it is."""
    torch = torch_or_none()
    return array if torch is None else as_torch(array, torch)


def as_torch(array: np.ndarray, torch: Any) -> Any:
    """A torch tensor that owns the array's values."""
    array = np.array(array, order="C")
    for dtype, (bits, numpy_dtype) in _bit_views(torch).items():
        if array.dtype == numpy_dtype:
            size = np.int16 if bits == torch.int16 else np.uint8
            return torch.from_numpy(array.reshape(-1).view(size)).view(dtype).reshape(array.shape)
    return torch.from_numpy(array)


# --- values


def dtype_of(array: np.ndarray) -> DataType:
    """The DataType of a host array; ArgumentError for one that has none."""
    if array.dtype not in OF_ARRAY:
        raise ArgumentError(f"Tensor: an array of {array.dtype} has no DataType")
    return OF_ARRAY[array.dtype]


def cast(values: np.ndarray, dtype: DataType, tile: Sequence[int] = (32, 32)) -> np.ndarray:
    """Values as elements of a DataType: floats round to nearest even, floats to integers are cut and saturate, integers wrap.

    Block floats are float32 of the values that their blocks hold.
    """
    target = NUMPY[dtype]
    if dtype in BLOCK_FLOATS:
        return _quantised(np.asarray(values, np.float32), dtype, tile)
    if values.dtype == target:
        return values
    if target.kind in "iu" and values.dtype.kind not in "iub":
        limits = np.iinfo(target)
        whole = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=limits.max, neginf=limits.min)
        return np.clip(whole, limits.min, limits.max).astype(target)
    if values.dtype.kind in "iub" and target.kind not in "iub":
        values = values.astype(np.float32)
    with np.errstate(over="ignore"):
        return values.astype(target)


def _quantised(values: np.ndarray, dtype: DataType, tile: Sequence[int]) -> np.ndarray:
    if not values.size:
        return values
    from tensim.ttnn.enums import Layout
    from tensim.ttnn.memory import TensorSpec
    from tensim.ttnn.shapes import FULL_TILE, Tile

    shape = values.shape or (1,)
    spec = TensorSpec(shape, dtype, Layout.TILE, FULL_TILE if tuple(tile) == (32, 32) else Tile(tile))
    return decode(encode(values.reshape(shape), spec), spec).reshape(values.shape)


# --- bytes


def pad(values: np.ndarray, spec: TensorSpec, pad_value: float = 0) -> np.ndarray:
    """Values in the padded shape of their description."""
    padded = tuple(spec.padded_shape)
    if padded == values.shape:
        return values
    out = np.full(padded, pad_value, values.dtype)
    inside = out[(0,) * (len(padded) - values.ndim)]
    inside[tuple(slice(n) for n in values.shape)] = values
    return out


def encode(values: np.ndarray, spec: TensorSpec, pad_value: float = 0) -> np.ndarray:
    """Values of the logical shape as bytes (uint8), page after page."""
    return encode_padded(pad(values, spec, pad_value), spec)


def encode_padded(padded: np.ndarray, spec: TensorSpec) -> np.ndarray:
    """Values of the padded shape as bytes (uint8), page after page."""
    if not padded.size:
        return np.zeros(0, np.uint8)
    if not spec.is_tiled:
        return np.ascontiguousarray(padded).reshape(-1).view(np.uint8)
    height, width = math.prod(padded.shape[:-1]), padded.shape[-1]
    if spec.dtype not in BLOCK_FLOATS:
        return np.ascontiguousarray(tilize(padded, height, width, spec.page_shape)).view(np.uint8)
    from tensim.runtime.encoding import encode as encode_blocks

    return encode_blocks(np.ascontiguousarray(padded.reshape(height, width)), *_runtime(spec, height, width))


def decode(data: bytes | np.ndarray, spec: TensorSpec) -> np.ndarray:
    """Values of the logical shape from bytes, page after page."""
    padded = decode_padded(data, spec)
    logical = padded[(0,) * (padded.ndim - spec.shape.rank)]
    return np.ascontiguousarray(logical[tuple(slice(n) for n in spec.shape)])


def decode_padded(data: bytes | np.ndarray, spec: TensorSpec) -> np.ndarray:
    """Values of the padded shape from bytes, page after page."""
    padded, data = tuple(spec.padded_shape), np.frombuffer(data, np.uint8)
    if not data.size:
        return np.zeros(padded, NUMPY[spec.dtype])
    if not spec.is_tiled:
        return data.view(NUMPY[spec.dtype]).reshape(padded)
    height, width = math.prod(padded[:-1]), padded[-1]
    if spec.dtype not in BLOCK_FLOATS:
        values = untilize(data.view(NUMPY[spec.dtype]), height, width, spec.page_shape)
        return values.reshape(padded)
    from tensim.runtime.encoding import decode as decode_blocks

    return decode_blocks(data, *_runtime(spec, height, width)).reshape(padded)


def _runtime(spec: TensorSpec, height: int, width: int) -> tuple[TensorDesc, Layout]:
    """The same matrix of tiles as the runtime describes it: (TensorDesc, Layout)."""
    from tensim.runtime.dtypes import DType
    from tensim.runtime.layouts import Layout, MemSpace, TensorDesc

    blocks = {DataType.BFLOAT8_B: DType.BFP8, DataType.BFLOAT4_B: DType.BFP4}[spec.dtype]
    desc = TensorDesc((height, width), DType.F32)
    return desc, Layout(MemSpace.HOST, "tile", spec.page_shape, blocks)
