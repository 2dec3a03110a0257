"""The vector unit's functions of numbers, by mathematical definition (docs/numerics.md#the-vector-unit).

Its instructions order numbers by sign and magnitude, zeros and NaN too (docs/hardware/numerics.md#vector-unit), so maximum
and minimum do.
"""

import math

import numpy as np

from tensim.sim.cores.numerics.number_order import larger, smaller
from tensim.sim.cores.numerics.sfpu_functions import SfpuBinary, SfpuUnary
from tensim.sim.engine.compiled import compiled

LOG_2 = math.log(2.0)
BESSEL_TERMS = 400  # more than any result below the largest float32 needs


@compiled()
def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


@compiled()
def log_or_limit(x):
    """Natural logarithm with the limits -inf at 0 and NaN below."""
    if x > 0:
        return math.log(x)
    return -math.inf if x == 0 else math.nan


@compiled()
def erfinv(x):
    """Inverse error function: Winitzki's start, two Newton steps."""
    if abs(x) >= 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    log_term = math.log(1 - x * x)
    half = 2 / (math.pi * 0.147) + log_term / 2
    y = math.copysign(math.sqrt(math.sqrt(half * half - log_term / 0.147) - half), x)
    for _ in range(2):
        y -= (math.erf(y) - x) * math.sqrt(math.pi) / 2 * math.exp(y * y)
    return y


@compiled()
def bessel(order, x):
    """Modified Bessel function of the first kind, order 0 or 1, by its power series."""
    quarter = x * x / 4
    term = 1.0 if order == 0 else x / 2
    total = term
    for k in range(1, BESSEL_TERMS):
        term *= quarter / (k * (k + order))
        total += term
        if abs(term) <= abs(total) * 1e-17:
            break
    return total


@compiled()
def divided(x, y):
    return x / y if y != 0 else x * math.copysign(math.inf, y)


@compiled()
def power(x, y):
    if x < 0 and y != np.floor(y):
        return math.nan
    if x == 0 and y < 0:
        return math.inf
    return math.pow(x, y)


@compiled()
def modulo(x, y, floored):
    """fmod (sign of x) or, floored, remainder (sign of y)."""
    if y == 0:
        return math.nan
    rest = np.fmod(x, y)
    return rest + y if floored and rest != 0 and (rest < 0) != (y < 0) else rest


@compiled()
def round_to(x, decimals):
    """Round half to even at a number of decimals."""
    if not math.isfinite(x):
        return x
    scale = 10.0**decimals
    scaled = x * scale
    low = np.floor(scaled)
    rest = scaled - low
    if rest > 0.5 or (rest == 0.5 and np.fmod(low, 2.0) != 0):
        low += 1
    return low / scale


@compiled()
def log_of_sum(x, y):
    """log(exp(x) + exp(y))."""
    if x != x or y != y:
        return math.nan
    return max(x, y) if math.isinf(x) or math.isinf(y) else max(x, y) + math.log1p(math.exp(-abs(x - y)))


@compiled()
def elementary(f, x, a):
    """An exponential, logarithm, root, power or sign."""
    if f == SfpuUnary.EXP:
        return math.exp(min(x, 709.0))
    if f == SfpuUnary.EXP2:
        return 2.0 ** min(x, 1023.0)
    if f == SfpuUnary.EXPM1:
        return math.expm1(min(x, 709.0))
    if f == SfpuUnary.LOG:
        return log_or_limit(x)
    if f == SfpuUnary.LOG_WITH_BASE:
        return log_or_limit(x) * a
    if f == SfpuUnary.LOG1P:
        return math.log1p(x) if x > -1 else log_or_limit(1.0 + x)
    if f == SfpuUnary.SQRT:
        return math.sqrt(x) if x >= 0 else math.nan
    if f == SfpuUnary.RSQRT:
        return 1.0 / math.sqrt(x) if x > 0 else (math.inf if x == 0 else math.nan)
    if f == SfpuUnary.RECIP:
        return 1.0 / x if x != 0 else math.copysign(math.inf, x)
    if f == SfpuUnary.CBRT:
        return math.copysign(abs(x) ** (1.0 / 3.0), x)
    if f == SfpuUnary.SQUARE:
        return x * x
    if f == SfpuUnary.POWER:
        return power(x, a)
    if f == SfpuUnary.RPOW:
        return power(a, x)
    if f == SfpuUnary.ABS:
        return abs(x)
    if f == SfpuUnary.SIGN:
        return 1.0 if x > 0 else (-1.0 if x < 0 else 0.0)
    if f == SfpuUnary.SIGNBIT:
        return 1.0 if math.copysign(1.0, x) < 0 else 0.0
    if f == SfpuUnary.NEGATIVE:
        return -x
    return math.nan  # no such function: `check_complete`


@compiled()
def circular(f, x):
    """A circular or hyperbolic function."""
    if f == SfpuUnary.SIN:
        return math.sin(x)
    if f == SfpuUnary.COS:
        return math.cos(x)
    if f == SfpuUnary.TAN:
        return math.tan(x)
    if f == SfpuUnary.ASIN:
        return math.asin(x) if abs(x) <= 1 else math.nan
    if f == SfpuUnary.ACOS:
        return math.acos(x) if abs(x) <= 1 else math.nan
    if f == SfpuUnary.ATAN:
        return math.atan(x)
    if f == SfpuUnary.SINH:
        return math.sinh(x)
    if f == SfpuUnary.COSH:
        return math.cosh(x)
    if f == SfpuUnary.TANH:
        return math.tanh(x)
    if f == SfpuUnary.ASINH:
        return math.asinh(x)
    if f == SfpuUnary.ACOSH:
        return math.acosh(x) if x >= 1 else math.nan
    if f == SfpuUnary.ATANH:
        return math.atanh(x) if abs(x) < 1 else (math.copysign(math.inf, x) if abs(x) == 1 else math.nan)
    return math.nan  # no such function: `check_complete`


@compiled()
def activation(f, x, a, b, c):
    """An activation function of networks; a, b, c: its parameters."""
    if f == SfpuUnary.SIGMOID:
        return sigmoid(x)
    if f == SfpuUnary.LOGSIGMOID:
        return min(x, 0.0) - math.log1p(math.exp(-abs(x)))
    if f == SfpuUnary.GELU:
        return 0.5 * x * (1.0 + math.erf(x / math.sqrt(2.0)))
    if f == SfpuUnary.QUICKGELU:
        return x * sigmoid(1.702 * x)
    if f == SfpuUnary.SILU:
        return x * sigmoid(x)
    if f == SfpuUnary.RELU:
        return max(x, 0.0)
    if f == SfpuUnary.RELU_MAX:
        return min(max(x, 0.0), a)
    if f == SfpuUnary.RELU_MIN:
        return max(x, a)
    if f == SfpuUnary.LEAKY_RELU:
        return x if x >= 0 else a * x
    if f == SfpuUnary.PRELU:
        return x if x >= 0 else a * x
    if f == SfpuUnary.ELU:
        return x if x >= 0 else a * math.expm1(x)
    if f == SfpuUnary.SELU:
        return a * x if x >= 0 else a * b * math.expm1(x)
    if f == SfpuUnary.CELU:
        return max(x, 0.0) + min(0.0, a * math.expm1(min(x, 0.0) / a))
    if f == SfpuUnary.SOFTPLUS:
        return x if a * x > c else math.log1p(math.exp(a * x)) * b
    if f == SfpuUnary.SOFTSIGN:
        return x / (1.0 + abs(x))
    if f == SfpuUnary.SOFTSHRINK:
        return x - a if x > a else (x + a if x < -a else (0.0 if x == x else x))
    if f == SfpuUnary.HARDSHRINK:
        return 0.0 if abs(x) <= a else x
    if f == SfpuUnary.HARDSWISH:
        return x * min(max(x / 6.0 + 0.5, 0.0), 1.0)
    if f == SfpuUnary.MISH:
        return x * math.tanh(math.log1p(math.exp(-abs(x))) + max(x, 0.0))
    if f == SfpuUnary.HARDTANH:
        return min(max(x, a), b)
    if f == SfpuUnary.HARDSIGMOID:
        return min(max(x / 6.0 + 0.5, 0.0), 1.0)
    if f == SfpuUnary.HARDMISH:
        return x * min(max(x / 2.0 + 1.0, 0.0), 1.0)
    if f == SfpuUnary.HARDGELU:
        return x * min(max(x / 2.0 + 0.5, 0.0), 1.0)
    if f == SfpuUnary.CLAMP:
        return min(max(x, a), b)
    if f == SfpuUnary.THRESHOLD:
        return x if x > a else b
    if f == SfpuUnary.HEAVISIDE:
        return 0.0 if x < 0 else (1.0 if x > 0 else a)
    if f == SfpuUnary.TANHSHRINK:
        return x - math.tanh(x)
    return math.nan  # no such function: `check_complete`


@compiled()
def special(f, x, p):
    """An error function, Bessel function or rounding; p: the digits to round to."""
    if f == SfpuUnary.ERF:
        return math.erf(x)
    if f == SfpuUnary.ERFC:
        return math.erfc(x)
    if f == SfpuUnary.ERFINV:
        return erfinv(x)
    if f == SfpuUnary.I0:
        return bessel(0, x)
    if f == SfpuUnary.I1:
        return bessel(1, x)
    if f == SfpuUnary.FLOOR:
        return np.floor(x)
    if f == SfpuUnary.CEIL:
        return np.ceil(x)
    if f == SfpuUnary.TRUNC:
        return np.trunc(x)
    if f == SfpuUnary.ROUND:
        return round_to(x, p)
    if f == SfpuUnary.FRAC:
        return x - np.trunc(x)
    return math.nan  # no such function: `check_complete`


@compiled()
def compared(f, x, a):
    """1 when a condition holds, else 0; a: what a datum is compared with."""
    if f == SfpuUnary.EQZ:
        return 1.0 if x == 0 else 0.0
    if f == SfpuUnary.NEZ:
        return 1.0 if x != 0 else 0.0
    if f == SfpuUnary.LTZ:
        return 1.0 if x < 0 else 0.0
    if f == SfpuUnary.GTZ:
        return 1.0 if x > 0 else 0.0
    if f == SfpuUnary.LEZ:
        return 1.0 if x <= 0 else 0.0
    if f == SfpuUnary.GEZ:
        return 1.0 if x >= 0 else 0.0
    if f == SfpuUnary.UNARY_EQ:
        return 1.0 if x == a else 0.0
    if f == SfpuUnary.UNARY_NE:
        return 1.0 if x != a else 0.0
    if f == SfpuUnary.UNARY_GT:
        return 1.0 if x > a else 0.0
    if f == SfpuUnary.UNARY_LT:
        return 1.0 if x < a else 0.0
    if f == SfpuUnary.UNARY_GE:
        return 1.0 if x >= a else 0.0
    if f == SfpuUnary.UNARY_LE:
        return 1.0 if x <= a else 0.0
    if f == SfpuUnary.ISINF:
        return 1.0 if math.isinf(x) else 0.0
    if f == SfpuUnary.ISPOSINF:
        return 1.0 if x == math.inf else 0.0
    if f == SfpuUnary.ISNEGINF:
        return 1.0 if x == -math.inf else 0.0
    if f == SfpuUnary.ISNAN:
        return 1.0 if math.isnan(x) else 0.0
    if f == SfpuUnary.ISFINITE:
        return 1.0 if math.isfinite(x) else 0.0
    if f == SfpuUnary.LOGICAL_NOT_UNARY:
        return 1.0 if x == 0 else 0.0
    return math.nan  # no such function: `check_complete`


@compiled()
def with_number(f, x, a):
    """Arithmetic with the number a."""
    if f == SfpuUnary.FILL:
        return a
    if f == SfpuUnary.ADD_UNARY:
        return x + a
    if f == SfpuUnary.SUB_UNARY:
        return x - a
    if f == SfpuUnary.MUL_UNARY:
        return x * a
    if f == SfpuUnary.DIV_UNARY:
        return x * a
    if f == SfpuUnary.RSUB_UNARY:
        return a - x
    if f == SfpuUnary.RSUB:
        return a - x
    if f == SfpuUnary.RDIV:
        return divided(a, x)
    if f == SfpuUnary.RDIV_TRUNC:
        return np.trunc(divided(a, x))
    if f == SfpuUnary.RDIV_FLOOR:
        return np.floor(divided(a, x))
    if f == SfpuUnary.REMAINDER:
        return modulo(x, a, True)
    if f == SfpuUnary.FMOD:
        return modulo(x, a, False)
    if f == SfpuUnary.UNARY_MAX:
        return larger(x, a)
    if f == SfpuUnary.UNARY_MIN:
        return smaller(x, a)
    if f == SfpuUnary.IDENTITY:
        return x
    return math.nan  # no such function: `check_complete`


@compiled()
def float_unary(f, x, a, b, c, p):
    """A unary function of one datum; a, b, c: its parameters as floats, p: the first one as an integer."""
    if f <= SfpuUnary.NEGATIVE:
        return elementary(f, x, a)
    if f <= SfpuUnary.ATANH:
        return circular(f, x)
    if f <= SfpuUnary.HEAVISIDE or SfpuUnary.TANHSHRINK <= f <= SfpuUnary.MISH:
        return activation(f, x, a, b, c)
    if f <= SfpuUnary.FRAC:
        return special(f, x, p)
    if f <= SfpuUnary.LOGICAL_NOT_UNARY:
        return compared(f, x, a)
    return with_number(f, x, a)


@compiled()
def float_binary(f, x, y):
    """A binary function of two datums."""
    if f == SfpuBinary.ADD_BINARY:
        return x + y
    if f == SfpuBinary.SUB_BINARY:
        return x - y
    if f == SfpuBinary.MUL_BINARY:
        return x * y
    if f == SfpuBinary.DIV_BINARY:
        return divided(x, y)
    if f == SfpuBinary.RSUB_BINARY:
        return y - x
    if f == SfpuBinary.POWER_BINARY:
        return power(x, y)
    if f == SfpuBinary.EQ_BINARY:
        return 1.0 if x == y else 0.0
    if f == SfpuBinary.NE_BINARY:
        return 1.0 if x != y else 0.0
    if f == SfpuBinary.LT_BINARY:
        return 1.0 if x < y else 0.0
    if f == SfpuBinary.GT_BINARY:
        return 1.0 if x > y else 0.0
    if f == SfpuBinary.LE_BINARY:
        return 1.0 if x <= y else 0.0
    if f == SfpuBinary.GE_BINARY:
        return 1.0 if x >= y else 0.0
    if f == SfpuBinary.BINARY_MAX:
        return larger(x, y)
    if f == SfpuBinary.BINARY_MIN:
        return smaller(x, y)
    if f == SfpuBinary.FMOD_BINARY:
        return modulo(x, y, False)
    if f == SfpuBinary.REMAINDER_BINARY:
        return modulo(x, y, True)
    if f == SfpuBinary.ATAN2_BINARY:
        return math.atan2(x, y)
    if f == SfpuBinary.LOGADDEXP_BINARY:
        return log_of_sum(x, y)
    if f == SfpuBinary.LOGADDEXP2_BINARY:
        return log_of_sum(x * LOG_2, y * LOG_2) / LOG_2
    if f == SfpuBinary.XLOGY_BINARY:
        return x * log_or_limit(y)
    if f == SfpuBinary.MASK_BINARY:
        return 0.0 if y == 0 else x
    return math.nan
