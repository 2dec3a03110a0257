"""The vector unit's functions as mathematics: definitions in float64 and the range on which each is examined."""

import math

A, B, C = 0.75, 1.5, 20.0  # parameters of the functions that take some


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def bessel(order, x):
    return sum((x / 2) ** (2 * k + order) / (math.factorial(k) * math.factorial(k + order)) for k in range(60))


def inverse_erf(y):
    low, high = -6.0, 6.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < y else (low, middle)
    return middle


# name -> (definition, smallest x, largest x)
UNARY = {
    "exp": (math.exp, -10, 10), "exp2": (lambda x: 2.0**x, -10, 10), "expm1": (math.expm1, -5, 5),
    "log": (math.log, 0.01, 50), "log_with_base": (lambda x: math.log(x) * A, 0.01, 50), "log1p": (math.log1p, -0.9, 50),
    "sqrt": (math.sqrt, 0, 50), "rsqrt": (lambda x: 1 / math.sqrt(x), 0.01, 50), "recip": (lambda x: 1 / x, 0.1, 50),
    "cbrt": (lambda x: math.copysign(abs(x) ** (1 / 3), x), -50, 50), "square": (lambda x: x * x, -50, 50),
    "power": (lambda x: x**A, 0.1, 50), "rpow": (lambda x: A**x, -5, 5), "abs": (abs, -5, 5),
    "sign": (lambda x: math.copysign(x != 0, x), -5, 5), "signbit": (lambda x: x < 0, -5, 5),
    "negative": (lambda x: -x, -5, 5), "sin": (math.sin, -7, 7), "cos": (math.cos, -7, 7), "tan": (math.tan, -1.4, 1.4),
    "asin": (math.asin, -1, 1), "acos": (math.acos, -1, 1), "atan": (math.atan, -9, 9), "sinh": (math.sinh, -5, 5),
    "cosh": (math.cosh, -5, 5), "tanh": (math.tanh, -5, 5), "asinh": (math.asinh, -50, 50), "acosh": (math.acosh, 1, 50),
    "atanh": (math.atanh, -0.99, 0.99), "sigmoid": (sigmoid, -9, 9), "logsigmoid": (lambda x: math.log(sigmoid(x)), -9, 9),
    "gelu": (lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2, -5, 5), "quickgelu": (lambda x: x * sigmoid(1.702 * x), -5, 5),
    "silu": (lambda x: x * sigmoid(x), -9, 9), "relu": (lambda x: max(x, 0), -5, 5),
    "relu_max": (lambda x: min(max(x, 0), A), -5, 5), "relu_min": (lambda x: max(x, A), -5, 5),
    "leaky_relu": (lambda x: x if x >= 0 else A * x, -5, 5), "prelu": (lambda x: x if x >= 0 else A * x, -5, 5),
    "elu": (lambda x: x if x >= 0 else A * math.expm1(x), -5, 5),
    "selu": (lambda x: A * x if x >= 0 else A * B * math.expm1(x), -5, 5),
    "celu": (lambda x: max(x, 0) + min(0, A * math.expm1(x / A)), -5, 5),
    "softplus": (lambda x: math.log1p(math.exp(A * x)) * B, -5, 5), "softsign": (lambda x: x / (1 + abs(x)), -5, 5),
    "softshrink": (lambda x: math.copysign(max(abs(x) - A, 0), x), -5, 5), "hardtanh": (lambda x: min(max(x, A), B), -5, 5),
    "hardsigmoid": (lambda x: min(max(x / 6 + 0.5, 0), 1), -5, 5), "clamp": (lambda x: min(max(x, A), B), -5, 5),
    "hardmish": (lambda x: x * min(max(x / 2 + 1, 0), 1), -5, 5),
    "hardgelu": (lambda x: x * min(max(x / 2 + 0.5, 0), 1), -5, 5), "threshold": (lambda x: x if x > A else B, -5, 5),
    "heaviside": (lambda x: (x > 0) if x != 0 else A, -5, 5), "erf": (math.erf, -3, 3), "erfc": (math.erfc, -3, 3),
    "erfinv": (inverse_erf, -0.99, 0.99), "i0": (lambda x: bessel(0, x), -5, 5), "i1": (lambda x: bessel(1, x), -5, 5),
    "floor": (math.floor, -9, 9), "ceil": (math.ceil, -9, 9), "trunc": (math.trunc, -9, 9),
    "frac": (lambda x: x - math.trunc(x), -9, 9), "eqz": (lambda x: x == 0, -2, 2), "nez": (lambda x: x != 0, -2, 2),
    "ltz": (lambda x: x < 0, -2, 2), "gtz": (lambda x: x > 0, -2, 2), "lez": (lambda x: x <= 0, -2, 2),
    "gez": (lambda x: x >= 0, -2, 2), "unary_eq": (lambda x: x == A, -2, 2), "unary_ne": (lambda x: x != A, -2, 2),
    "unary_gt": (lambda x: x > A, -2, 2), "unary_lt": (lambda x: x < A, -2, 2), "unary_ge": (lambda x: x >= A, -2, 2),
    "unary_le": (lambda x: x <= A, -2, 2), "isinf": (math.isinf, -2, 2), "isposinf": (lambda x: x == math.inf, -2, 2),
    "isneginf": (lambda x: x == -math.inf, -2, 2), "isnan": (math.isnan, -2, 2), "isfinite": (math.isfinite, -2, 2),
    "logical_not_unary": (lambda x: x == 0, -2, 2), "fill": (lambda x: A, -2, 2), "identity": (lambda x: x, -2, 2),
    "add_unary": (lambda x: x + A, -2, 2), "sub_unary": (lambda x: x - A, -2, 2), "mul_unary": (lambda x: x * A, -2, 2),
    "div_unary": (lambda x: x * A, -2, 2),  # the host passes the reciprocal
    "rsub_unary": (lambda x: A - x, -2, 2), "rsub": (lambda x: A - x, -2, 2),
    "rdiv": (lambda x: A / x, 0.1, 2), "remainder": (lambda x: x - math.floor(x / A) * A, -2, 2),
    "fmod": (lambda x: math.fmod(x, A), -2, 2), "unary_max": (lambda x: max(x, A), -2, 2),
    "unary_min": (lambda x: min(x, A), -2, 2), "tanhshrink": (lambda x: x - math.tanh(x), -5, 5),
    "hardshrink": (lambda x: x if abs(x) > A else 0, -5, 5), "hardswish": (lambda x: x * min(max(x / 6 + 0.5, 0), 1), -5, 5),
    "mish": (lambda x: x * math.tanh(math.log1p(math.exp(x))), -9, 9), "rdiv_trunc": (lambda x: math.trunc(A / x), 0.1, 2),
    "rdiv_floor": (lambda x: math.floor(A / x), -2, -0.1),
}  # fmt: skip
BINARY = {
    "add_binary": lambda x, y: x + y, "sub_binary": lambda x, y: x - y, "mul_binary": lambda x, y: x * y,
    "div_binary": lambda x, y: x / y, "rsub_binary": lambda x, y: y - x, "power_binary": lambda x, y: x**y,
    "eq_binary": lambda x, y: x == y, "ne_binary": lambda x, y: x != y, "lt_binary": lambda x, y: x < y,
    "gt_binary": lambda x, y: x > y, "le_binary": lambda x, y: x <= y, "ge_binary": lambda x, y: x >= y,
    "binary_max": max, "binary_min": min, "xlogy_binary": lambda x, y: x * math.log(y),
    "mask_binary": lambda x, y: x if y != 0 else 0, "fmod_binary": math.fmod, "remainder_binary": lambda x, y: x % y,
    "atan2_binary": math.atan2, "logaddexp_binary": lambda x, y: math.log(math.exp(x) + math.exp(y)),
    "logaddexp2_binary": lambda x, y: math.log2(2**x + 2**y),
}  # fmt: skip
