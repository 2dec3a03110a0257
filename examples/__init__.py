"""Example programs, each runnable by name: `run_example(get_example(name), device, options)`.

An example is a module with the kernels and the host program of one program.  Its `run` function has one
signature for all examples:

    run(device, *, shape, dtype, fidelity, grid, rng, **parameters) -> ExampleResult

`shape` is a tuple of ints (as many as the example's `axes`), `dtype` a `DataFormat`, `fidelity` a
`MathFidelity`, `grid` the (columns, rows) of worker cores to use, `rng` a `numpy.random.Generator`.
`parameters` are the example's own keywords (`Example.parameters()` lists them with their defaults).  `run`
creates buffers, enqueues the program once on command queue 0, reads the result back and says what numpy
expects; it checks nothing itself.

`run_example` turns text ("2048x2048x2048", "bf16", "HiFi2", "8x8") into these values, fills in the example's
defaults and refuses bad input with a `UsageError` that lists the choices.
"""

import importlib
import inspect
import re
import typing
from dataclasses import dataclass, field

import numpy as np

from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.errors import UsageError

DTYPES = {
    "bf16": DataFormat.Float16_b,
    "bfp8": DataFormat.Bfp8_b,
    "bfp4": DataFormat.Bfp4_b,
    "fp32": DataFormat.Float32,
}
FIDELITIES = ("LoFi", "HiFi2", "HiFi3", "HiFi4")
FULL_GRID = "full"
FIXED_KEYWORDS = ("shape", "dtype", "fidelity", "grid", "rng")


@dataclass(frozen=True)
class Options:
    """What a user may choose; None means the example's default.

    `shape`: sizes joined by "x".  `grid`: columns x rows of worker cores, or "full".  `parameters`: keywords
    of the example's `run`.
    """

    shape: str | None = None
    dtype: str | None = None
    fidelity: str | None = None
    grid: str | None = None
    seed: int = 0
    parameters: dict = field(default_factory=dict)


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


@dataclass(frozen=True)
class Example:
    """An entry of the registry; the module is imported when the example is first used."""

    description: str
    module: str
    axes: tuple[str, ...]  # names of the sizes in `shape`
    defaults: Options
    loaded: object = None  # the module itself, when it is a file of the user's that cannot be imported by name

    @property
    def name(self):
        return self.module.rpartition(".")[2]

    def load(self):
        return self.loaded or importlib.import_module(self.module)

    def parameters(self):
        """Own keywords of the example's `run`: name -> inspect.Parameter (annotated type and default)."""
        signature = inspect.signature(self.load().run)
        return {
            name: parameter
            for name, parameter in signature.parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY and name not in FIXED_KEYWORDS
        }


def _example(name, description, axes, shape, grid="1x1", dtype="bf16", fidelity="HiFi4"):
    options = Options(shape=shape, dtype=dtype, fidelity=fidelity, grid=grid)
    return Example(description, f"tensim.examples.{name}", tuple(axes), options)


EXAMPLES = {
    "add_integers": _example("add_integers", "two integer vectors added on a data-movement core", ("N",), "16"),
    "dram_loopback": _example("dram_loopback", "DRAM to L1 to DRAM copy", "MN", "320x160"),
    "eltwise_add": _example("eltwise_add", "element-wise sum through circular buffers", "MN", "512x512"),
    "sfpu_chain": _example("sfpu_chain", "softplus as a chain of vector operations", "MN", "512x512"),
    "matmul_single_core": _example(
        "matmul_single_core", "matrix product on one core, tile by tile", "MKN", "320x320x320"
    ),
    "matmul_multi_core": _example(
        "matmul_multi_core", "matrix product, output tiles split over cores", "MKN", "640x640x640", FULL_GRID
    ),
    "matmul_reuse": _example(
        "matmul_reuse", "matrix product, an output block per core", "MKN", "640x640x640", FULL_GRID
    ),
    "matmul_multicast": _example(
        "matmul_multicast",
        "matrix product, operands multicast along rows and columns",
        "MKN",
        "2048x2048x2048",
        FULL_GRID,
        fidelity="HiFi2",
    ),
    "matmul_multicast_1d": _example(
        "matmul_multicast_1d",
        "wide matrix product, left operand multicast to all cores",
        "MKN",
        "128x1024x4096",
        FULL_GRID,
    ),
    "reduction_tree": _example(
        "reduction_tree", "sum over cores along a binary tree, remote semaphores", "MN", "64x64", FULL_GRID
    ),
    "reshard": _example("reshard", "height-sharded to block-sharded in L1", "MN", None, FULL_GRID),
    "stencil_halo": _example("stencil_halo", "five-point stencil with halo exchange", "MN", None, FULL_GRID),
    "ring_all_gather": _example(
        "ring_all_gather", "all-gather along a ring of cores, both directions", "MN", "32x64", FULL_GRID
    ),
}


def _choose(text, choices, what):
    by_lower = {name.lower(): name for name in choices}
    name = by_lower.get(str(text).lower())
    if name is None:
        raise UsageError(f"unknown {what} {text!r}", hint=f"choose from {', '.join(choices)}")
    return name


def _sizes(text, count, what, form):
    """Parse "AxBxC" into `count` positive ints."""
    numbers = str(text).lower().split("x")
    if len(numbers) != count or not all(re.fullmatch(r"[1-9]\d{0,8}", number) for number in numbers):
        raise UsageError(f"{what} {text!r} is not of the form {form}", hint="positive whole numbers joined by x")
    return tuple(int(number) for number in numbers)


def parse_shape(text, axes):
    """Sizes of a shape string, e.g. "2048x2048x2048" for axes M, K, N."""
    return _sizes(text, len(axes), "shape", "x".join(axes))


def parse_grid(text, device):
    """(columns, rows) of worker cores; refuses a grid that the device does not have."""
    available = device.compute_with_storage_grid_size()
    if text == FULL_GRID:
        return available.x, available.y
    columns, rows = _sizes(text, 2, "grid", "COLUMNSxROWS")
    if columns > available.x or rows > available.y:
        raise UsageError(f"grid {text} is larger than the device's {available.x}x{available.y} worker cores")
    return columns, rows


def _accepts(annotation, value):
    """Whether a parameter with this annotation takes `value`; numbers are counts, hence positive."""
    types = typing.get_args(annotation) or (annotation,)
    if inspect.Parameter.empty in types:
        return True
    return type(value) in types and (type(value) is not int or value > 0)


def check_parameters(name, given, known):
    """UsageError for a parameter that the example does not have or that has another type."""
    for parameter, value in given.items():
        if parameter not in known:
            raise UsageError(
                f"{name} has no parameter {parameter!r}", hint=f"its parameters: {', '.join(known) or 'none'}"
            )
        annotation = known[parameter].annotation
        if not _accepts(annotation, value):
            expected = getattr(annotation, "__name__", annotation)
            raise UsageError(f"{name}: {parameter} must be {expected} (counts: positive), not {value!r}")


def get_example(name):
    """The registry entry of an example; UsageError for an unknown name."""
    if name not in EXAMPLES:
        raise UsageError(f"unknown example {name!r}", hint=f"choose from {', '.join(EXAMPLES)}")
    return EXAMPLES[name]


def run_example(example, device, options=None):
    """Run an `Example` on an open device; returns its `ExampleResult`.

    Text in `options` is checked first, so that a wrong option costs nothing.  `ExampleResult.verified`
    compares with numpy; with numerics off no data moves and the comparison means nothing.
    """
    options = options or Options()
    check_parameters(example.name, options.parameters, example.parameters())
    defaults = example.defaults
    grid = parse_grid(options.grid or defaults.grid, device)
    shape = options.shape or defaults.shape
    fidelity = _choose(options.fidelity or defaults.fidelity, FIDELITIES, "math fidelity")
    import tensim as tt

    return example.load().run(
        device,
        shape=None if shape is None else parse_shape(shape, example.axes),
        dtype=DTYPES[_choose(options.dtype or defaults.dtype, DTYPES, "dtype")],
        fidelity=tt.MathFidelity[fidelity],
        grid=grid,
        rng=np.random.default_rng(options.seed),
        **options.parameters,
    )
