"""What a run of a program produced and what it should have produced."""

from dataclasses import dataclass
from typing import Any

import numpy as np

TILE = 32


def worst_tile(difference):
    """(index of the tile with the largest difference, that difference); what is no number counts as infinite."""
    values = np.nan_to_num(np.atleast_2d(difference), nan=np.inf)
    index = np.unravel_index(int(np.argmax(values)), values.shape)
    return [*map(int, index[:-2]), *(int(i) // TILE for i in index[-2:])], float(values[index])


@dataclass(frozen=True)
class ExampleResult:
    """What a run produced and what it should have produced.

    `tolerance`: largest allowed relative error ||actual - expected|| / ||expected||; 0 asks for equal values.
    `flops`: useful arithmetic operations (a multiply-add counts two).  `bytes_moved`: the least DRAM traffic
    in bytes (every operand read once, every result written once).
    """

    expected: np.ndarray
    actual: np.ndarray
    tolerance: float
    flops: int
    bytes_moved: int
    description: str

    @property
    def error(self) -> float:
        """Relative error in the Frobenius norm; infinite where a value is not finite."""
        expected = np.asarray(self.expected, np.float64)
        difference = np.linalg.norm(np.asarray(self.actual, np.float64) - expected)
        scale = np.linalg.norm(expected)
        error = difference / scale if scale > 0 else difference
        return float(error) if np.isfinite(error) else float("inf")

    @property
    def pcc(self) -> float:
        """Pearson correlation coefficient of actual and expected; 1.0 when both are constant and equal."""
        expected = np.asarray(self.expected, np.float64).ravel()
        actual = np.asarray(self.actual, np.float64).ravel()
        if expected.std() == 0 or actual.std() == 0:
            return 1.0 if np.array_equal(expected, actual) else 0.0
        return float(np.corrcoef(expected, actual)[0, 1])

    def problem(self) -> str | None:
        """What makes this no result, or None."""
        for name in ("expected", "actual"):
            if np.asarray(getattr(self, name)).dtype.kind not in "biuf":
                return f"{name} is no array of numbers"
        for name in ("tolerance", "flops", "bytes_moved"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
                return f"{name} is {value!r}; it must be a number from 0"
        return None

    def comparison(self) -> dict[str, Any]:
        """How a wrong result differs from what was expected: what `tensim run` shows and its JSON holds.

        A mismatch is a value that differs by more than the tolerance times the larger of its expected value and the root
        mean square of all; tiles are 32 x 32 of the last two dimensions.
        """
        expected, actual = (np.asarray(side, np.float64) for side in (self.expected, self.actual))
        if expected.shape != actual.shape:
            text = f"its shape is {list(actual.shape)}, not {list(expected.shape)}"
            return {"text": text, "expected_shape": list(expected.shape), "actual_shape": list(actual.shape)}
        with np.errstate(all="ignore"):
            difference = np.abs(actual - expected)
            allowed = self.tolerance * np.maximum(np.abs(expected), np.sqrt(np.mean(expected**2)))
        wrong = ~(difference <= allowed)  # also what is no number
        found = {
            "error": self.error, "tolerance": self.tolerance, "pcc": self.pcc, "mismatches": int(wrong.sum()),
            "total": int(wrong.size), "first": None, "worst_tile": None,
        }  # fmt: skip
        text = f"relative error {self.error:.3g}, allowed {self.tolerance:.3g}; PCC {self.pcc:.6f}"
        if wrong.any():
            index = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            first = {
                "index": list(map(int, index)), "expected": float(expected[index]), "actual": float(actual[index]),
            }  # fmt: skip
            tile, error = worst_tile(difference)
            found |= {"first": first, "worst_tile": {"index": tile, "largest_difference": error}}
            text += (
                f"; {found['mismatches']:,} of {found['total']:,} values differ, the first at {first['index']}: "
                f"{first['actual']:.6g} instead of {first['expected']:.6g}; worst tile {tile}, by up to {error:.3g}"
            )
        return {"text": text, **found}

    @property
    def verified(self) -> bool:
        """Whether the result is right.  Means nothing when numerics are off: no data moved."""
        if np.shape(self.actual) != np.shape(self.expected):
            return False
        return self.error <= self.tolerance
