"""Comparisons and small helpers under the names of models.common.utility_functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import ttnn

if TYPE_CHECKING:
    from numpy.typing import NDArray


def values(data: Any) -> NDArray[np.float64]:
    """A float64 array of a tensor of any kind."""
    if isinstance(data, ttnn.Tensor):
        data = ttnn.to_torch(data)
    if hasattr(data, "detach"):  # of torch, which has types that numpy has not
        data = data.detach().cpu().double().numpy()
    return np.asarray(data).astype(np.float64)


def pearson(golden: Any, calculated: Any) -> float:
    """Correlation of two arrays; NaN and infinities must stand at the same places, constants must be equal."""
    golden, calculated = values(golden).reshape(-1), values(calculated).reshape(-1)
    if golden.size != calculated.size:
        return 0.0
    if not np.array_equal(np.isnan(golden), np.isnan(calculated)):
        return 0.0
    golden, calculated = (np.nan_to_num(item, nan=0.0, posinf=0.0, neginf=0.0) for item in (golden, calculated))
    if np.array_equal(golden, calculated):
        return 1.0
    if golden.size < 2 or golden.std() == 0 or calculated.std() == 0:
        return float(np.allclose(golden, calculated, rtol=1e-2, atol=1e-2))
    return float(np.corrcoef(golden, calculated)[0, 1])


def comp_pcc(golden: Any, calculated: Any, pcc: float = 0.99) -> tuple[bool, float]:
    """(whether the correlation is at least `pcc`, the correlation)."""
    found = pearson(golden, calculated)
    return found >= pcc, found


def comp_equal(golden: Any, calculated: Any) -> tuple[bool, str]:
    """(whether two tensors are equal, the largest differences)."""
    golden, calculated = values(golden), values(calculated)
    return bool(np.array_equal(golden, calculated)), _differences(golden, calculated)


def comp_allclose(golden: Any, calculated: Any, rtol: float = 1e-5, atol: float = 1e-8) -> tuple[bool, str]:
    """(whether two tensors are close, the largest differences)."""
    golden, calculated = values(golden), values(calculated)
    return bool(np.allclose(calculated, golden, rtol, atol, equal_nan=True)), _differences(golden, calculated)


def comp_allclose_and_pcc(
    golden: Any, calculated: Any, rtol: float = 1e-5, atol: float = 1e-8, pcc: float = 0.99
) -> tuple[bool, str]:
    """Both comparisons."""
    close, text = comp_allclose(golden, calculated, rtol, atol)
    correlated, found = comp_pcc(golden, calculated, pcc)
    return close and correlated, f"{text}, PCC {found}"


def _differences(golden: NDArray[np.float64], calculated: NDArray[np.float64]) -> str:
    with np.errstate(all="ignore"):
        absolute = np.abs(golden - calculated)
        relative = absolute / np.abs(golden)
    largest = np.nanmax(absolute, initial=0), np.nanmax(relative, initial=0)
    return f"Max ATOL Delta: {largest[0]}, Max RTOL Delta: {largest[1]}"


def divup(a: int, b: int) -> int:
    """a / b, rounded up."""
    return -(-a // b)


def roundup(a: int, b: int) -> int:
    """a rounded up to a multiple of b."""
    return divup(a, b) * b


def roundup32(a: int) -> int:
    """a rounded up to a multiple of 32."""
    return roundup(a, 32)


nearest_32 = roundup32


def nearest_y(x: float, y: int) -> int:
    """x rounded up to a multiple of y."""
    return math.ceil(x / y) * y


def torch_random(shape: Sequence[int], low: float, high: float, dtype: Any) -> Any:
    """Uniform random numbers of a torch dtype."""
    import torch

    if dtype in (torch.bool, torch.uint8, torch.int16, torch.int32, torch.int64):
        return torch.randint(low, high, shape, dtype=dtype)
    return torch.zeros(shape, dtype=dtype).uniform_(low, high)


def is_wormhole_b0(device: Any = None) -> bool:
    """Whether devices are Wormholes."""
    return ttnn.device.is_wormhole_b0(device)


def is_blackhole(device: Any = None) -> bool:
    """Whether devices are Blackholes."""
    return ttnn.device.is_blackhole(device)


def is_grayskull(device: object = None) -> bool:
    """Whether devices are Grayskulls."""
    return ttnn.get_arch_name() == "grayskull"


def _skip(condition: bool, reason: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(condition, reason=reason)


def skip_for_wormhole_b0(reason_str: str = "not on Wormhole") -> pytest.MarkDecorator:
    """Mark of tests that do not run on Wormhole."""
    return _skip(is_wormhole_b0(), reason_str)


def skip_for_blackhole(reason_str: str = "not on Blackhole") -> pytest.MarkDecorator:
    """Mark of tests that do not run on Blackhole."""
    return _skip(is_blackhole(), reason_str)


def skip_for_grayskull(reason_str: str = "not on Grayskull") -> pytest.MarkDecorator:
    """Mark of tests that do not run on Grayskull."""
    return _skip(is_grayskull(), reason_str)


def run_for_wormhole_b0(reason_str: str = "only on Wormhole") -> pytest.MarkDecorator:
    """Mark of tests that run on Wormhole only."""
    return _skip(not is_wormhole_b0(), reason_str)


def run_for_blackhole(reason_str: str = "only on Blackhole") -> pytest.MarkDecorator:
    """Mark of tests that run on Blackhole only."""
    return _skip(not is_blackhole(), reason_str)


def skip_for_slow_dispatch(reason_str: str = "") -> pytest.MarkDecorator:
    """Mark of tests that need fast dispatch: they run."""
    return _skip(False, reason_str)
