"""What `differential.py` runs: every unary, binary, ternary, reduction and typecast operation of the library, the types that each
is tried with, and what it should give, as functions of torch (or numpy, where there is no torch) in float64 or int64.

An operation's reference is the function of the same name in torch, torch.special or torch.nn.functional, unless the table names
another one.  `arguments` are passed to both sides.
"""

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

try:
    import torch
except ImportError:
    torch = None

FLOATS, WHOLE = ("bfloat16", "float32", "bfloat8_b"), ("int32", "uint32", "uint16")
EVERY = (*FLOATS, *WHOLE)


@dataclass(frozen=True)
class Excuse:
    """Elements that need not be as torch has them, because the genuine kernel's arithmetic is another: `where` of the operands."""

    reason: str
    where: object
    types: tuple = EVERY


@dataclass(frozen=True)
class Operation:
    """One operation of ttnn: `operands` tensors, then `arguments`."""

    name: str
    operands: int
    reference: object = None  # a function of torch tensors; None: torch's own of the same name
    types: tuple = EVERY
    arguments: tuple = ()
    keywords: dict = field(default_factory=dict)
    label: str = ""
    second: str = ""  # what the second operand of integers is: "divisor" (not 0), "distance" of a shift, "exponent"
    reduces: bool = False
    tolerance: float = 0.0  # of its own, where the genuine kernel approximates
    absolute: float = 0.0  # likewise, where results cancel or are rounded to integers
    excuses: tuple = ()

    @property
    def title(self):
        return self.label or self.name

    def expected(self, held):
        """What it should give, as a numpy array."""
        if torch is None:
            return self.reference(*held)
        reference = self.reference or own(self.name)
        if reference is None:
            raise LookupError(f"torch has no {self.name}")
        found = reference(*(torch.from_numpy(array) for array in held))
        return (found.to(torch.int64) if found.dtype == torch.bool else found).numpy()

    def excused(self, held, kind):
        """Elements that are not compared."""
        nothing = np.zeros(held[0].shape, bool)
        for excuse in self.excuses:
            if kind in excuse.types:
                nothing |= excuse.where(*held)
        return nothing


def own(name):
    """torch's function of a name, None if it has none."""
    for module in (torch, torch.special, torch.nn.functional):
        if hasattr(module, name):
            return getattr(module, name)
    return None


def of_unit(where):
    """A comparison's result as the library has it: ones and zeros."""
    return lambda *operands: where(*operands).to(torch.int64)


def is_infinite(*operands):
    return np.isinf(operands).any(0)


def is_nan(*operands):
    return np.isnan(operands).any(0)


def is_extreme(*operands):
    """Sums, squares or products of such numbers overflow or are flushed, and their quotients are denormal."""
    size = np.abs(operands)
    return ~((size < 1e18) & ((size > 1e-18) | (size == 0))).all(0)


def zero_times_infinity(x, y):
    return (x == 0) & ~np.isfinite(y) | (y == 0) & ~np.isfinite(x)


COARSE = Excuse(
    "an intermediate result is a bfloat8_b, coarse beside a large neighbour",
    lambda *x: np.isfinite(x[0]),
    ("bfloat8_b",),
)
OVERFLOW = Excuse("the library's own steps overflow, or flush a denormal", is_extreme, FLOATS)
MATRIX = Excuse(
    "the matrix unit has neither infinity nor NaN", lambda *x: ~np.isfinite(x).all(0), ("bfloat16", "float32")
)
ORDERED = Excuse("SFPSWAP orders NaN beyond infinity", is_nan, FLOATS)
# What the library's own composition of kernels, or a kernel's arithmetic, makes of special numbers; ranges as the library's
# documentation of a function, or the fit in its kernel, has them
EXCUSES = {
    "digamma": (Excuse("for numbers from 0.01 on", lambda x: ~((x >= 0.01) & np.isfinite(x)), FLOATS), COARSE),
    "lgamma": (
        Excuse("has no reflection for -infinity and NaN", lambda x: ~np.isfinite(x), FLOATS),
        Excuse("sin(pi x) of a product in a 16-bit Dst, near integers", lambda x: x < 0, ("bfloat16",)),
        OVERFLOW,
    ),
    "multigammaln": (Excuse("from 1.6 on", lambda x: ~((x >= 1.6) & np.isfinite(x)), FLOATS), OVERFLOW),
    "polygamma": (Excuse("from 1 to 10", lambda x: ~((x >= 1) & (x <= 10)), FLOATS), COARSE),
    "i0": (Excuse("torch has NaN where the function is infinite", is_infinite),),
    "i1": (Excuse("torch has NaN where the function is infinite", is_infinite),),
    "add": (MATRIX,),
    "subtract": (MATRIX,),
    "rsub": (MATRIX,),
    "squared_difference": (MATRIX,),
    "multiply": (
        MATRIX,
        Excuse("a product in a 16-bit Dst: 0 times infinity is 0", zero_times_infinity, ("bfloat16",)),
    ),
    "minimum": (ORDERED,),
    "minimum 3": (ORDERED,),
    "minimum -2": (ORDERED,),
    "maximum 3": (ORDERED,),
    "maximum -2": (ORDERED,),
    "softcap": (Excuse("Blackhole's kernel has no NaN", is_nan, ("bfloat16",)),),
    "heaviside": (Excuse("SFPSETCC takes NaN for a number with its sign", is_nan, FLOATS),),
    "atan2": (Excuse("MOVA2D makes +0 of -0", lambda x, y: (x == 0) | (y == 0), ("bfloat16", "bfloat8_b")),),
    "signbit": (Excuse("MOVA2D makes +0 of -0", lambda x: x == 0, ("bfloat16", "bfloat8_b")),),
    "hardswish": (
        Excuse("a product in a 16-bit Dst: 0 times infinity is 0", lambda x: ~np.isfinite(x), ("bfloat16",)),
    ),
    "tril": (Excuse("the library multiplies with a mask", lambda x: ~np.isfinite(x), FLOATS),),
    "triu": (Excuse("the library multiplies with a mask", lambda x: ~np.isfinite(x), FLOATS),),
    "hypot": (OVERFLOW, COARSE),
    "div_no_nan": (COARSE,),
    "xlogy": (
        Excuse(
            "the kernel multiplies with the logarithm, of 0 and below, too",
            lambda x, y: (x == 0) & ~((y > 0) & (y < np.inf)),
            FLOATS,
        ),
    ),
    "pow": (Excuse("exp(y log x) of -infinity", lambda x, y: np.isinf(x), FLOATS),),
    "ldexp": (
        OVERFLOW,
        Excuse("2 ** y overflows, or is flushed, before the product", lambda x, y: ~(np.abs(y) < 126), FLOATS),
    ),
    "floor_div": (OVERFLOW, COARSE),
    "div floor": (OVERFLOW, COARSE),
    "div trunc": (OVERFLOW, COARSE),
    "bias_gelu": (OVERFLOW,),
    "addalpha": (OVERFLOW,),
    "subalpha": (OVERFLOW,),
    "addcmul": (OVERFLOW,),
    "addcdiv": (OVERFLOW,),
    "lerp": (OVERFLOW,),
}
# Results that cancel, in layer_norm of operands cut to tf32 or bf16, or are rounded to an integer after the quotient was rounded
# to bf16; factors 1/n and scalers in bf16, an approximate exponential in softmax
# (docs/hardware/numerics.md#approximate-exponential)
ABSOLUTE = {
    "cumsum": 1e-5,
    "lgamma": 0.06,  # Stirling's series near 1/2
    "multigammaln": 0.12,
    "logit": 0.03,
    "tanhshrink": 1e-6,
    "logaddexp": 1e-6,
    "logaddexp2": 1e-6,
    "div floor": 1.0,
    "div trunc": 1.0,
    "floor_div": 1.0,
    "bias_gelu": 1e-3,
    "layer_norm": 1e-3,
}
# Several steps, each cut to the 8 bits of a 16-bit Dst (docs/numerics.md#where-fast-is-too-optimistic)
TOLERANCE = dict.fromkeys(
    ("squared_difference", "hypot", "ldexp", "hardswish", "bias_gelu", "layer_norm", "rms_norm"), 0.02
) | {
    "softmax": 0.065,
    "digamma": 0.008,  # a logarithm for bf16 above 102, in float32, too
    "multigammaln": 0.02,
    "prod over -1": 0.15,  # of 42 and of 64 factors, each cut by the fidelity's phases
    "prod over -2": 0.15,
}


def _unary():
    plain = (
        "abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc erfinv exp exp2 expm1 floor frac hardsigmoid "
        "hardswish i0 i1 isfinite isinf isnan isneginf isposinf lgamma log log10 log1p log2 logical_not mish neg reciprocal "
        "relu relu6 round rsqrt sigmoid sign signbit silu sin sinh softplus softsign sqrt square tan tanh tanhshrink trunc "
        "deg2rad rad2deg tril triu hardshrink hardtanh softshrink gelu selu celu elu leaky_relu logit multigammaln polygamma"
    ).split()
    given = {"logit", "multigammaln", "polygamma"}
    for name in plain:
        if name == "multigammaln":
            yield Operation(name, 1, lambda x: torch.special.multigammaln(x, 4))
        elif name == "polygamma":
            yield Operation(name, 1, lambda x: torch.special.polygamma(1, x), arguments=(1,))
        elif name == "logit":
            yield Operation(name, 1, lambda x: torch.logit(x, 0.1), keywords={"eps": 0.1}, types=FLOATS)
        elif name == "leaky_relu":
            yield Operation(name, 1, lambda x: torch.nn.functional.leaky_relu(x, 0.25), arguments=(0.25,))
        elif name == "elu":
            yield Operation(name, 1, lambda x: torch.nn.functional.elu(x, 0.5), arguments=(0.5,))
        elif name not in given:
            yield Operation(name, 1)
    yield Operation("bitwise_not", 1, types=WHOLE)
    yield Operation("log_sigmoid", 1, lambda x: torch.nn.functional.logsigmoid(x))
    yield Operation("cbrt", 1, lambda x: torch.sign(x) * torch.abs(x.double()) ** (1 / 3))
    yield Operation("swish", 1, lambda x: torch.nn.functional.silu(x))
    yield Operation("identity", 1, lambda x: x)
    yield Operation("clone", 1, lambda x: x)
    yield Operation("eqz", 1, of_unit(lambda x: x == 0))
    yield Operation("nez", 1, of_unit(lambda x: x != 0))
    yield Operation("gtz", 1, of_unit(lambda x: x > 0))
    yield Operation("ltz", 1, of_unit(lambda x: x < 0))
    yield Operation("gez", 1, of_unit(lambda x: x >= 0))
    yield Operation("lez", 1, of_unit(lambda x: x <= 0))
    yield Operation("hardmish", 1, lambda x: x * torch.clamp(x + 2, 0, 2) / 2)
    yield Operation("heaviside", 1, lambda x: torch.heaviside(x, torch.tensor(2, dtype=x.dtype)), arguments=(2.0,))
    yield Operation("relu_max", 1, lambda x: torch.clamp(x, 0, 3), arguments=(3.0,), label="relu_max 3")
    yield Operation("relu_min", 1, lambda x: torch.clamp(x, min=3), arguments=(3.0,), label="relu_min 3")
    yield Operation("threshold", 1, lambda x: torch.where(x > 2, x, 7), arguments=(2.0, 7.0))
    yield Operation("clamp", 1, lambda x: torch.clamp(x, -2, 5), arguments=(-2.0, 5.0), types=FLOATS)
    yield Operation("clamp", 1, lambda x: torch.clamp(x, -2, 5), arguments=(-2, 5), types=("int32",))
    yield Operation("prelu", 1, lambda x: torch.where(x >= 0, x, 0.25 * x), arguments=(0.25,), types=FLOATS)
    yield Operation("pow", 1, lambda x: torch.pow(x, 2), arguments=(2,), label="pow 2")
    yield Operation("pow", 1, lambda x: torch.pow(x.double(), 0.5), arguments=(0.5,), label="pow 0.5", types=FLOATS)
    yield Operation("rpow", 1, lambda x: torch.pow(2.0, x.double()), arguments=(2.0,), types=FLOATS)
    yield Operation("rdiv", 1, lambda x: 3.0 / x, arguments=(3.0,), types=FLOATS)
    yield Operation("fill", 1, lambda x: torch.full_like(x, 3), arguments=(3.0,))
    yield Operation("softcap", 1, lambda x: 2 * torch.tanh(x / 2), arguments=(2.0,), types=FLOATS)
    for name in ("logical_left_shift", "bitwise_left_shift"):
        yield Operation(name, 1, lambda x: x << 3, arguments=(3,), types=WHOLE, label=f"{name} 3")
    yield Operation(
        "bitwise_right_shift", 1, lambda x: x >> 3, arguments=(3,), types=WHOLE, label="bitwise_right_shift 3"
    )


def _scalars():
    """Binary operations with a number as the second operand."""
    for scalar in (3, -2):
        for name in ("add", "subtract", "multiply", "remainder", "fmod", "maximum", "minimum"):
            made = own(name) or own({"subtract": "sub"}.get(name, name))
            signed = EVERY if scalar > 0 else (*FLOATS, "int32")
            yield Operation(
                name, 1, lambda x, made=made, s=scalar: made(x, torch.tensor(s, dtype=x.dtype)), arguments=(scalar,),
                label=f"{name} {scalar}", types=signed,
            )  # fmt: skip
        for name in ("eq", "ne", "lt", "gt", "le", "ge"):
            made = own(name)
            yield Operation(
                name, 1, of_unit(lambda x, made=made, s=scalar: made(x, s)), arguments=(scalar,),
                label=f"{name} {scalar}", types=EVERY if scalar > 0 else (*FLOATS, "int32"),
            )  # fmt: skip
    yield Operation("div", 1, lambda x: x / 3, arguments=(3,), label="div 3")
    yield Operation("rsub", 1, lambda x: 3 - x, arguments=(3,), label="rsub 3")
    for name, made in (
        ("bitwise_and", lambda x: x & 6),
        ("bitwise_or", lambda x: x | 6),
        ("bitwise_xor", lambda x: x ^ 6),
    ):
        yield Operation(name, 1, made, arguments=(6,), label=f"{name} 6", types=WHOLE)


def _binary():
    for name in (
        "add subtract multiply div maximum minimum eq ne lt gt le ge logical_and logical_or logical_xor atan2 fmod remainder "
        "hypot logaddexp logaddexp2 xlogy nextafter ldexp gcd lcm bitwise_and bitwise_or bitwise_xor pow"
    ).split():
        yield Operation(name, 2, second={"fmod": "divisor", "remainder": "divisor", "pow": "exponent"}.get(name, ""))
    yield Operation("rsub", 2, lambda x, y: y - x)
    yield Operation("squared_difference", 2, lambda x, y: (x - y) ** 2)
    others = tuple(form for form in EVERY if form != "int32")
    yield Operation("floor_div", 2, lambda x, y: torch.floor_divide(x, y), types=others, second="divisor")
    # The library makes a float32 tensor of it and has div_int32_floor write integers there, with no cast between
    as_words = lambda x, y: torch.floor_divide(x, y).to(torch.int32).view(torch.float32).double()  # noqa: E731
    yield Operation("floor_div", 2, as_words, types=("int32",), label="floor_div of integers", second="divisor")
    yield Operation("div_no_nan", 2, lambda x, y: torch.where(y == 0, 0, x / y))
    for mode in ("floor", "trunc"):
        given = {"rounding_mode": mode}
        yield Operation(
            "div",
            2,
            lambda x, y, given=given: torch.div(x, y, **given),
            keywords=given,
            label=f"div {mode}",
            second="divisor",
        )
    yield Operation("bias_gelu", 2, lambda x, y: torch.nn.functional.gelu(x + y), types=FLOATS)
    yield Operation("isclose", 2, of_unit(torch.isclose))
    yield Operation("addalpha", 2, lambda x, y: x + 2 * y, arguments=(2.0,), types=FLOATS)
    yield Operation("subalpha", 2, lambda x, y: x - 2 * y, arguments=(2.0,), types=FLOATS)
    for name in ("logical_left_shift", "bitwise_left_shift"):
        yield Operation(name, 2, lambda x, y: x << y, types=WHOLE, label=f"{name} by", second="distance")
    yield Operation(
        "bitwise_right_shift", 2, lambda x, y: x >> y, types=WHOLE, label="bitwise_right_shift by", second="distance"
    )
    yield Operation(
        "logical_right_shift", 2, lambda x, y: (x & 0xFFFFFFFF) >> y, types=WHOLE, label="logical_right_shift by"
    )


def _ternary():
    yield Operation("where", 3, lambda x, y, z: torch.where(x != 0, y, z))
    yield Operation("addcmul", 3, lambda x, y, z: x + 0.5 * y * z, keywords={"value": 0.5}, types=FLOATS)
    yield Operation("addcmul", 3, lambda x, y, z: x + y * z, keywords={"value": 1}, types=("int32",))
    yield Operation("addcdiv", 3, lambda x, y, z: x + 0.5 * y / z, keywords={"value": 0.5}, types=FLOATS)
    yield Operation("lerp", 3, lambda x, y, z: x + z * (y - x), types=FLOATS)
    yield Operation("mac", 3, lambda x, y, z: x * y + z, types=FLOATS)


def _reductions():
    made = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin, "prod": torch.prod}
    for name, function in made.items():
        for dim in (-1, -2, None):
            if name == "prod" and dim is None:
                continue

            def reference(x, function=function, dim=dim, name=name):
                x = x.double() if name == "mean" else x
                return function(x) if dim is None else function(x, dim=dim)

            given, types = {} if dim is None else {"dim": dim}, EVERY
            if name == "prod":  # rounded at every step: a bfloat8_b loses what is small beside its neighbours
                types = tuple(form for form in EVERY if form != "bfloat8_b")
            label = f"{name} over {'all' if dim is None else dim}"
            yield Operation(name, 1, reference, keywords=given, label=label, types=types)
    for name in ("std", "var"):
        function = getattr(torch, name)
        yield Operation(name, 1, lambda x, f=function: f(x, dim=-1), keywords={"dim": -1}, types=FLOATS)
    yield Operation("argmax", 1, lambda x: torch.argmax(x, dim=-1), keywords={"dim": -1})
    yield Operation("cumsum", 1, lambda x: torch.cumsum(x, dim=-2), keywords={"dim": -2})
    yield Operation("softmax", 1, lambda x: torch.softmax(x, dim=-1), keywords={"dim": -1}, types=FLOATS)
    yield Operation("layer_norm", 1, lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]), types=FLOATS)
    yield Operation("rms_norm", 1, lambda x: x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-12), types=FLOATS)


def _casts():
    """A uint16 is rounded, halves away from zero; of NaN it makes the largest (docs/hardware/numerics.md#casts)."""
    for target in EVERY:

        def reference(x, rounds=target == "uint16"):
            if not x.is_floating_point():
                return x.clamp(0, 65535) if rounds else x
            x = torch.where(x.isnan(), torch.inf, x)
            return torch.floor(x + 0.5) if rounds else x

        excuse = Excuse("NaN stays NaN, or becomes infinity", is_nan, FLOATS)
        excuses = (excuse,) if target in FLOATS else ()
        yield Operation("typecast", 1, reference, arguments=(target,), label=f"typecast to {target}", excuses=excuses)


def _small():
    """Without torch: some of each kind, as numpy knows them."""
    for name, function in SMALL["unary"].items():
        yield "unary", Operation(name, 1, function, types=("bfloat16", "float32"))
    for name, function in SMALL["binary"].items():
        excuses = EXCUSES.get(name, ())
        yield "binary", Operation(name, 2, function, types=("bfloat16", "float32", "int32"), excuses=excuses)
    for name, function in SMALL["reduction"].items():
        for dim in (-1, -2):
            reference = partial(function, axis=dim)
            given = {"keywords": {"dim": dim}, "label": f"{name} over {dim}", "reduces": True}
            yield "reduction", Operation(name, 1, reference, types=("bfloat16",), **given)


def _all():
    """(kind, operation) of all that is compared with torch."""
    made = {
        "unary": _unary,
        "scalar": _scalars,
        "binary": _binary,
        "ternary": _ternary,
        "reduction": _reductions,
        "cast": _casts,
    }
    for kind, operations in made.items():
        for operation in operations():
            title = operation.title
            yield (
                kind,
                replace(
                    operation,
                    reduces=kind == "reduction",
                    excuses=operation.excuses + EXCUSES.get(title, ()),
                    absolute=ABSOLUTE.get(title, 0.0),
                    tolerance=TOLERANCE.get(title, 0.0),
                ),
            )


def cases(names=()):
    """[(operation, type)] of the kinds or operations named, of all without any."""
    return [
        (operation, form)
        for kind, operation in (_all() if torch is not None else _small())
        if not names or {kind, operation.name, operation.title} & set(names)
        for form in operation.types
    ]


# --- values: a tile or two of each type, ordinary numbers first and then what is special

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    1e30,
    -1e30,
    3e38,
    -3e38,
    1e-30,
    -1e-30,
    89.0,
    -89.0,
    300.0,
    -300.0,
]
NOT_FINITE = [float("inf"), float("-inf"), float("nan")]
ENDS = {
    "int32": [
        0,
        1,
        -1,
        2,
        -2,
        7,
        -7,
        65535,
        65536,
        (1 << 24) + 1,
        -(1 << 24) - 1,
        (1 << 31) - 1,
        -(1 << 31),
        -(1 << 31) + 1,
    ],
    "uint32": [0, 1, 2, 7, 65535, 65536, (1 << 24) + 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1],
    "uint16": [0, 1, 2, 7, 255, 256, 32767, 32768, 65534, 65535],
}
RANGES = {"int32": (-(1 << 31), 1 << 31), "uint32": (0, 1 << 32), "uint16": (0, 1 << 16)}


def ordinary(kind, count, generator):
    """`count` ordinary numbers: of several sizes and both signs, for integers half of them small."""
    if kind in RANGES:
        low, high = RANGES[kind]
        small = generator.integers(max(low, -100), 100, count)
        return np.where(generator.random(count) < 0.5, small, generator.integers(low, high, count))
    values = generator.normal(size=count) * generator.choice([0.25, 1.0, 4.0], count)
    return np.where(np.arange(count) % 32 == 5, 0.0, values) if kind == "bfloat8_b" else values


def special(kind):
    if kind in ENDS:
        return ENDS[kind]
    return [] if kind == "bfloat8_b" else [*SPECIAL, *NOT_FINITE]


def elements(kind, seed, operands, second=""):
    """`operands` arrays of 32 x 32 numbers; every pair of special ones meets in the first two.  `second`: as `Operation` has it."""
    generator = np.random.default_rng(seed)
    arrays = [ordinary(kind, 1024, generator) for _ in range(operands)]
    ends = special(kind)
    count = len(ends)
    for place, array in enumerate(arrays):
        for i in range(count * count):
            array[i] = ends[(i // count if place == 1 else i + i // count * (place == 2)) % count]
    if second and kind in RANGES:
        last = arrays[-1]
        arrays[-1] = np.where(last == 0, 3, last) if second == "divisor" else last % (32 if second == "distance" else 4)
    return [array.reshape(32, 32) for array in arrays]


def columns(kind, seed):
    """A 64 x 42 array for reductions, whose last tiles are part padding; sums of integers stay within their type."""
    generator = np.random.default_rng(seed)
    if kind in RANGES:
        low, high = RANGES[kind]
        small = generator.integers(max(low, -1000), 1000, (64, 42))
        return np.where(small % 17 == 0, small * 30, small) if kind != "uint16" else np.abs(small)
    # A padding of infinity leaves nothing of the numbers that share its block of a bfloat8_b: there it has blocks of its own
    return generator.normal(size=(64, 48 if kind == "bfloat8_b" else 42)) * 2 + 0.3


SMALL = {
    "unary": {name: getattr(np, name) for name in ("abs", "sqrt", "exp", "tanh", "floor", "square")},
    "binary": {name: getattr(np, name) for name in ("add", "subtract", "multiply", "maximum", "minimum")},
    "reduction": {"sum": np.sum, "max": np.max, "min": np.min, "mean": np.mean},
}
