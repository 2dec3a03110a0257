"""Assertions under the names of tests.ttnn.utils_for_testing."""

from __future__ import annotations

from typing import Any

import numpy as np

from .utility_functions import comp_allclose, comp_equal, comp_pcc, pearson, torch_random, values  # noqa: TID251

__all__ = ["assert_allclose", "assert_equal", "assert_with_pcc", "assert_with_ulp", "check_with_pcc", "torch_random"]


def _same_shape(expected: Any, actual: Any) -> None:
    mine, theirs = tuple(expected.shape), tuple(actual.shape)
    assert mine == theirs, f"list(expected.shape)={list(mine)} vs list(actual.shape)={list(theirs)}"


def assert_with_pcc(
    expected_pytorch_result: Any, actual_pytorch_result: Any, pcc: float = 0.9999
) -> tuple[bool, float]:
    """Shapes are equal and the correlation is at least `pcc`; returns (True, the correlation)."""
    _same_shape(expected_pytorch_result, actual_pytorch_result)
    passed, found = comp_pcc(expected_pytorch_result, actual_pytorch_result, pcc)
    assert passed, f"PCC {found} is below {pcc}"
    return passed, found


def check_with_pcc(expected_pytorch_result: Any, actual_pytorch_result: Any, pcc: float = 0.9999) -> tuple[bool, str]:
    """(whether `assert_with_pcc` would pass, a message)."""
    if tuple(expected_pytorch_result.shape) != tuple(actual_pytorch_result.shape):
        return False, f"{tuple(expected_pytorch_result.shape)} vs {tuple(actual_pytorch_result.shape)}"
    found = pearson(expected_pytorch_result, actual_pytorch_result)
    return found >= pcc, f"PCC {found}"


check_with_pcc_without_tensor_printout = check_with_pcc


def assert_equal(expected_pytorch_result: Any, actual_pytorch_result: Any) -> tuple[bool, str]:
    """Shapes and values are equal."""
    _same_shape(expected_pytorch_result, actual_pytorch_result)
    passed, text = comp_equal(expected_pytorch_result, actual_pytorch_result)
    assert passed, text
    return passed, text


def assert_allclose(
    expected_result: Any, actual_result: Any, rtol: float = 1e-05, atol: float = 1e-08
) -> tuple[bool, str]:
    """Shapes are equal and values close."""
    _same_shape(expected_result, actual_result)
    passed, text = comp_allclose(expected_result, actual_result, rtol, atol)
    assert passed, text
    return passed, text


def assert_with_ulp(
    expected_result: Any, actual_result: Any, ulp_threshold: float = 10, allow_nonfinite: bool = False
) -> tuple[bool, str]:
    """No value is further away than a number of steps of bfloat16 (or of float32, where it is that)."""
    _same_shape(expected_result, actual_result)
    golden, found = values(expected_result), values(actual_result)
    bits = 23 if "float32" in str(getattr(expected_result, "dtype", "")) else 7
    with np.errstate(all="ignore"):
        step = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(golden), 2.0**-126))) - bits)
        worst = np.nanmax(np.abs(golden - found) / step, initial=0)
    assert worst <= ulp_threshold, f"largest difference: {worst} ULP, allowed are {ulp_threshold}"
    return True, f"{worst} ULP"
