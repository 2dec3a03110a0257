"""What a user may choose for the run of a program, as text and as the values that the program's `run` takes."""

from __future__ import annotations

import difflib
import inspect
import itertools
import os
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import click

from tensim.examples import FULL_GRID
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.errors import UsageError
from tensim.sim.lazy_dataclass import dataclass
from tensim.types import MathFidelity

if TYPE_CHECKING:
    from tensim.device import Device
    from tensim.sim.arch import Arch

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
    parameters: dict[str, Any] = field(default_factory=dict)


def parse_shape(text: str, axes: str) -> tuple[int, ...]:
    """Sizes of a shape string, e.g. "2048x2048x2048" for axes M, K, N."""
    return _sizes(text, len(axes), "shape", "x".join(axes))


def parse_grid(text: str | None, device: Device) -> tuple[int, int]:
    """(columns, rows) of worker cores; refuses a grid that the device does not have."""
    available = device.compute_with_storage_grid_size()
    if text == FULL_GRID:
        return available.x, available.y
    columns, rows = _sizes(text, 2, "grid", "COLUMNSxROWS")
    if columns > available.x or rows > available.y:
        raise UsageError(f"grid {text} is larger than the device's {available.x}x{available.y} worker cores")
    return columns, rows


def parse_dtype(text: str | None) -> DataFormat:
    """The `DataFormat` of a dtype's name."""
    return DTYPES[_choose(text, DTYPES, "dtype")]


def parse_fidelity(text: str | None) -> MathFidelity:
    """The `MathFidelity` of that name."""
    return MathFidelity[_choose(text, FIDELITIES, "math fidelity")]


class Text(str):
    """A value as a user has typed it: the parameter that it is for says what it means."""


def parameter_values(name: str, given: Mapping[str, Any], known: Mapping[str, inspect.Parameter]) -> dict[str, Any]:
    """{parameter: value} as the program's `run` annotates them; UsageError for one that it does not have, or of another type."""
    found = {}
    for parameter, value in given.items():
        if parameter not in known:
            close = difflib.get_close_matches(parameter, known, 1)
            raise UsageError(
                f"{name} has no parameter {parameter!r}{f'; did you mean {close[0]}?' if close else ''}",
                hint=f"its parameters: {', '.join(known) or 'none'}",
            )
        annotation = known[parameter].annotation
        try:
            found[parameter] = _converted(annotation, value)
        except ValueError:
            expected = getattr(annotation, "__name__", annotation)
            expected = annotation if typing.get_args(annotation) else expected
            raise UsageError(f"{name}: {parameter} must be {expected}, not {value!r}") from None
    return found


def _converted(annotation: Any, value: Any) -> Any:
    """A value as one of the types of an annotation, by click's rules for text; ValueError when it is none of them."""
    if annotation is inspect.Parameter.empty:
        return _scalar(value) if isinstance(value, Text) else value
    choices = typing.get_args(annotation)
    if typing.get_origin(annotation) is typing.Literal:
        return _of_types((*{type(choice): None for choice in choices},), value, choices)
    return _of_types(choices or (annotation,), value)


def _of_types(types: Sequence[Any], value: Any, choices: Sequence[Any] | None = None) -> Any:
    """A value as the first of some types that takes it: as it is where it has one of them."""
    for kind in () if isinstance(value, Text) else types:
        if type(value) is kind and (choices is None or value in choices):
            return value
    for kind in sorted(types, key=_TRIED.index) if set(types) <= set(_TRIED) else ():
        try:
            found = _TYPES[kind](value)
        except (click.BadParameter, ValueError):
            continue
        if choices is None or found in choices:
            return found
    raise ValueError


def _none(value: object) -> None:
    if value is not None and str(value).lower() not in ("none", "null"):
        raise ValueError
    return None


def _of(kind: click.ParamType, *taken: type) -> Callable[[Any], Any]:
    """What makes values by one of click's types of such values: click would cut fractions off, and name what is nothing."""

    def convert(value: Any) -> Any:
        if not isinstance(value, taken) or (type(value) is bool and bool not in taken):
            raise ValueError
        return kind.convert(value, None, None)

    return convert


_TYPES = {  # what a type makes of a value
    types.NoneType: _none,
    int: _of(click.INT, str, int),
    float: _of(click.FLOAT, str, int, float),
    bool: lambda value: _of(click.BOOL, str)(str(value) if isinstance(value, int) else value),
    str: lambda value: str(_of(click.STRING, str, int, float)(value)),
}
_TRIED = list(_TYPES)  # the narrow ones first: any text is a `str`


def _scalar(text: str) -> Any:
    """What a text says as a YAML scalar, for a parameter that does not say what it is."""
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return str(text)


def require_room(shape: Sequence[int], dtype: DataFormat, arch: Arch) -> None:
    """UsageError, before anything is allocated, when the matrices between the axes of a shape do not fit.

    A program holds at least those (for M, K, N: M x K, K x N and M x N) in DRAM, and as float32 on the host.
    """
    tiles = [-(-size // 32) for size in shape]
    pairs: list[tuple[float, float]] = list(itertools.combinations(tiles, 2)) or [(tiles[0], 1 / 32)]
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


def _choose(text: str | None, choices: Iterable[str], what: str) -> str:
    by_lower = {name.lower(): name for name in choices}
    name = by_lower.get(str(text).lower())
    if name is None:
        raise UsageError(f"unknown {what} {text!r}", hint=f"choose from {', '.join(choices)}")
    return name


def _sizes(text: str | None, count: int, what: str, form: str) -> tuple[int, ...]:
    """Parse "AxBxC" into `count` positive ints."""
    numbers = str(text).lower().split("x")
    if len(numbers) != count or not all(re.fullmatch(r"[1-9]\d{0,8}", number) for number in numbers):
        raise UsageError(f"{what} {text!r} is not of the form {form}", hint="positive whole numbers joined by x")
    return tuple(int(number) for number in numbers)
