"""What a run of a program produced and what it should have produced."""

from dataclasses import dataclass

import numpy as np


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
    def error(self):
        """Relative error in the Frobenius norm; infinite where a value is not finite."""
        expected = np.asarray(self.expected, np.float64)
        difference = np.linalg.norm(np.asarray(self.actual, np.float64) - expected)
        scale = np.linalg.norm(expected)
        error = difference / scale if scale > 0 else difference
        return float(error) if np.isfinite(error) else float("inf")

    @property
    def pcc(self):
        """Pearson correlation coefficient of actual and expected; 1.0 when both are constant and equal."""
        expected = np.asarray(self.expected, np.float64).ravel()
        actual = np.asarray(self.actual, np.float64).ravel()
        if expected.std() == 0 or actual.std() == 0:
            return 1.0 if np.array_equal(expected, actual) else 0.0
        return float(np.corrcoef(expected, actual)[0, 1])

    @property
    def verified(self):
        """Whether the result is right.  Means nothing when numerics are off: no data moved."""
        if np.shape(self.actual) != np.shape(self.expected):
            return False
        return self.error <= self.tolerance
