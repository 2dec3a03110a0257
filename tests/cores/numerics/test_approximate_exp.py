"""The approximate exponential against the same arithmetic in fractions, and against what is known of its error."""

from fractions import Fraction

import numpy as np
import pytest

from tensim.sim.cores.numerics.sfpu import sfpu_unary
from tensim.sim.cores.numerics.sfpu_functions import SfpuUnary
from tensim.sim.cores.operations import Approximation

TILE = 1024
PER_ONE, OF_ZERO = np.float32(369.329925537109375), Fraction(32500.818359375)
CLAMPED, UNCLAMPED = Approximation.APPROXIMATE, Approximation.UNCLAMPED


def bits(value):
    return int(np.float32(value).view(np.uint32))


def approximate(x, form=CLAMPED, scale=0):
    """The function of every value of `x`, an array of float32; `scale`: bits of a float."""
    padded = np.zeros(-(-len(x) // TILE) * TILE, np.float32)
    padded[: len(x)] = x
    for first in range(0, len(padded), TILE):
        sfpu_unary(SfpuUnary.EXP, form, padded, first, scale, 0, 0)
    return padded[: len(x)]


def nearest_float(value):
    """A Fraction as the nearest float32, ties to even, of normal numbers."""
    if value == 0:
        return Fraction(0)
    exponent = 0
    while abs(value) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    step = Fraction(2) ** (exponent - 23)
    return round(value / step) * step


def word_of(x, form, scale):
    """Bits of the result for a finite `x`."""
    clamped = form == CLAMPED
    if clamped:
        x = max(x, np.float32(-88.5) / scale)
    upper = nearest_float(Fraction(float(PER_ONE * scale)) * Fraction(float(x)) + OF_ZERO)
    magnitude = min(int(abs(upper) + Fraction(1, 2)), 0xFFFF if clamped else 0x7FFF) << 15
    if magnitude < 1 << 23 or (clamped and upper < 0):
        return 0
    return magnitude | (1 << 31 if upper < 0 else 0)


@pytest.mark.parametrize("form", [CLAMPED, UNCLAMPED])
@pytest.mark.parametrize("scale", [1.0, 0.125, 0.0883883461356163])
def test_every_bit_of_finite_inputs(form, scale):
    rng = np.random.default_rng(int(1000 * scale) + form)
    patterns = rng.integers(0, 1 << 32, 1500, np.uint64).astype(np.uint32).view(np.float32)
    x = np.concatenate(
        [
            patterns,
            rng.uniform(-100, 100, 3000) / scale,
            rng.uniform(-2, 2, 1500),
            [0, -0.0, 1e-40, -88.5, -88, 88.7, 90],
        ]
    ).astype(np.float32)
    x = x[np.isfinite(x)]
    found = approximate(x, form, bits(scale)).view(np.uint32)
    wanted = np.array([word_of(one, form, np.float32(scale)) for one in x], np.uint32)
    different = np.flatnonzero(found != wanted)
    assert not len(different), [(x[i], hex(found[i]), hex(wanted[i])) for i in different[:5]]


def test_its_error_and_its_order():
    """The line between powers of two is at most 3 % from the exponential; nothing overtakes, nothing is negative."""
    x = np.linspace(-87, 88, 200_000).astype(np.float32)
    result = approximate(x).astype(np.float64)
    error = result / np.exp(x.astype(np.float64)) - 1
    assert 0.028 < error.max() < 0.0315 and -0.0315 < error.min() < -0.028
    assert (np.diff(result) >= 0).all() and (result > 0).all()


def test_sixteen_bits_are_all_there_are():
    """Between two powers of two there are 256 results, an 8-bit mantissa."""
    result = approximate(np.linspace(0, 0.75, 50_000).astype(np.float32))
    between = np.unique(result[(result >= 1) & (result < 2)])
    assert len(between) == 256 and not (between.view(np.uint32) & 0x7FFF).any()


def test_what_lies_outside():
    x = np.array([-88.0, -88.5, -1e30, -np.inf, 88.8, 1e30, np.inf, np.nan], np.float32)
    assert (approximate(x[:4]) == 0).all()
    above = approximate(x[4:]).view(np.uint32)
    assert (above & 0x7F800000 == 0x7F800000).all(), "infinity or NaN, both of which the packer makes infinity"
    assert approximate(-x[7:]).view(np.uint32) == 0, "a NaN with a sign lies below every number"


def test_without_clamping_results_turn_negative_and_end_at_two():
    x = np.array([-90, -100, -176, 0.7, 0.8, 5, np.inf], np.float32)
    result = approximate(x, UNCLAMPED)
    assert (result[:3] < 0).all() and result[2] == pytest.approx(-1, rel=0.03)
    assert (result[3:] < 2).all() and len(np.unique(result[4:])) == 1
    inside = np.linspace(-87, 0.69, 10_000).astype(np.float32)
    assert (approximate(inside, UNCLAMPED) == approximate(inside)).all()
