"""What a user may choose for the run of a program, as text and as the values that the program's `run` takes."""

import inspect
import itertools
import os
import re
import typing
from dataclasses import dataclass, field

from tensim.examples import FULL_GRID
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.errors import UsageError
from tensim.types import MathFidelity

DTYPES = {
    "bf16": DataFormat.Float16_b,
    "bfp8": DataFormat.Bfp8_b,
    "bfp4": DataFormat.Bfp4_b,
    "fp32": DataFormat.Float32,
}
FIDELITIES = ("LoFi", "HiFi2", "HiFi3", "HiFi4")


@dataclass(frozen=True)
class Options:
    """What a user may choose; None means the program's default.

    `shape`: sizes joined by "x".  `grid`: columns x rows of worker cores, or "full".  `parameters`: keywords
    of the program's `run`.
    """

    shape: str | None = None
    dtype: str | None = None
    fidelity: str | None = None
    grid: str | None = None
    seed: int = 0
    parameters: dict = field(default_factory=dict)


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


def parse_dtype(text):
    """The `DataFormat` of a dtype's name."""
    return DTYPES[_choose(text, DTYPES, "dtype")]


def parse_fidelity(text):
    """The `MathFidelity` of that name."""
    return MathFidelity[_choose(text, FIDELITIES, "math fidelity")]


def check_parameters(name, given, known):
    """UsageError for a parameter that the program does not have or that has another type."""
    for parameter, value in given.items():
        if parameter not in known:
            raise UsageError(
                f"{name} has no parameter {parameter!r}", hint=f"its parameters: {', '.join(known) or 'none'}"
            )
        annotation = known[parameter].annotation
        if not _accepts(annotation, value):
            expected = getattr(annotation, "__name__", annotation)
            raise UsageError(f"{name}: {parameter} must be {expected} (counts: positive), not {value!r}")


def require_room(shape, dtype, arch):
    """UsageError, before anything is allocated, when the matrices between the axes of a shape do not fit.

    A program holds at least those (for M, K, N: M x K, K x N and M x N) in DRAM, and as float32 on the host.
    """
    tiles = [-(-size // 32) for size in shape]
    pairs = list(itertools.combinations(tiles, 2)) or [(tiles[0], 1 / 32)]
    count = sum(rows * columns for rows, columns in pairs)
    needed, held = int(count * tile_size(dtype)), arch.dram_banks * arch.dram_bank_bytes
    text = "x".join(map(str, shape))
    if needed > held:
        raise UsageError(
            f"shape {text} needs {needed / 1e9:,.1f} GB of DRAM or more; {arch.name} has {held / 1e9:,.1f} GB"
        )
    needed, held = int(count * 4096), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > held:
        raise UsageError(
            f"shape {text} needs {needed / 1e9:,.1f} GB of this machine's memory or more; it has {held / 1e9:,.1f} GB"
        )


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


def _accepts(annotation, value):
    """Whether a parameter with this annotation takes `value`; numbers are counts, hence positive."""
    types = typing.get_args(annotation) or (annotation,)
    if inspect.Parameter.empty in types:
        return True
    return type(value) in types and (type(value) is not int or value > 0)
