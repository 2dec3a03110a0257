"""The points of a sweep: what varies, checked before anything runs, and the settings of each run.

What can vary: settings of a run (shape, dtype, arch, ...), `program` itself, keywords of the program's `run`, every parameter of
the architecture, and kernels' arguments (`tensim.running.kernel_changes`).
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tensim.running.kernel_changes import PREFIX, check_key
from tensim.running.programs import settings_of
from tensim.running.runnable import find_program
from tensim.sim.arch import load_arch
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.running.runnable import Runnable
    from tensim.sim.arch import Arch

Program: TypeAlias = "str | Path | Callable[..., Any]"  # an example's name, a file or a function
Over: TypeAlias = "Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]]"  # what varies, see `points_of`
TEXTS = ("program", "arch", "device", "shape", "grid", "dtype", "fidelity", "numerics", "noc")
SETTINGS = (*TEXTS, "check", "seed", "loops", "max_cycles")  # of a run, which may vary
FIXED = (*SETTINGS, "overrides", "parameters", "kernel_changes")  # which may be given for all points
BOARD = "board"  # an override that is no parameter
KEY_DIGITS = 16


@dataclass(frozen=True)
class Point:
    """One run: `values`: {what varies: value}; `settings`: of the run, program included."""

    number: int
    values: dict[str, Any]
    settings: dict[str, Any]

    @functools.cached_property
    def key(self) -> str:
        """Hash of all that is chosen for the run, and of the chip's file; not of sources, which change under it."""
        settings = self.settings | {"program": program_name(self.settings["program"])}
        if settings.get("device") is None:
            settings["arch"] = _chip_digest(settings.get("arch") or "wormhole_b0")
        text = json.dumps(settings, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]


@functools.cache
def _chip_digest(arch: str | Path) -> str:
    """Hash of all parameters of a chip, before overrides."""
    return load_arch(arch).digest


def program_name(program: Program) -> str:
    """The text that names a program: an example's name, a file's whole path, a function's module and name."""
    if callable(program):
        return f"{getattr(program, '__module__', '?')}.{getattr(program, '__qualname__', type(program).__name__)}"
    text = str(program)
    return str(Path(text).resolve()) if isinstance(program, Path) or text.endswith(".py") else text


def points_of(program: Program | None, over: Over, settings: Mapping[str, Any]) -> list[Point]:
    """The points of a sweep, in order; UsageError for what cannot vary, or has no value.

    `over`: {name: values}, of which all combinations are points, the last name's values varying fastest; or a list of dicts,
    the points.  `settings`: of all runs, by their names in `tensim.running.programs.Settings`.
    """
    for name in settings:
        if name not in FIXED:
            hint = f"one of {', '.join(FIXED)}"
            raise UsageError(f"a sweep has no setting {name!r}: its points write no files of their own", hint=hint)
    combinations = _combinations(over)
    names = list(dict.fromkeys(name for values in combinations for name in values))
    _refuse_both(names, settings)
    programs = dict.fromkeys(values.get("program", program) for values in combinations)
    chips = dict.fromkeys(str(values.get("arch", settings.get("arch", "wormhole_b0"))) for values in combinations)
    known_programs = [one for one in programs if one is not None]
    if len(known_programs) < len(programs):
        raise UsageError("no program is given", hint="name one, or let it vary: program=a.py,b.py")
    known = _Known([find_program(one) for one in known_programs], [load_arch(one) for one in chips])
    places = {name: known.place(name) for name in names}
    return [
        Point(number, values, _settings(program, settings, values, places))
        for number, values in enumerate(combinations)
    ]


def _refuse_both(names: Iterable[str], settings: Mapping[str, Any]) -> None:
    """UsageError for what varies and is given for all points, too."""
    given = {
        *settings,
        *(key for table in ("overrides", "parameters", "kernel_changes") for key in settings.get(table, ())),
    }
    both = [name for name in names if name in given]
    if both:
        raise UsageError(f"{both[0]} varies and is given for all points, too", hint="leave one of them out")


def _combinations(over: Over) -> list[dict[str, Any]]:
    """[{name: value}] of what varies."""
    if not isinstance(over, Mapping):
        points = [dict(point) for point in over]
        if not points:
            raise UsageError("a sweep needs a point at least")
        return points
    if not over:
        raise UsageError("nothing varies", hint="as noc.hop_cycles=3,5,9")
    for name, values in over.items():
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise UsageError(f"{name} is {values!r}: what varies is a list of values", hint=f"[{values!r}] for one")
    listed = {name: list(values) for name, values in over.items()}
    for name, values in listed.items():
        if not values:
            raise UsageError(f"{name} has no values")
        twice = next((value for i, value in enumerate(values) if value in values[:i]), None)
        if twice is not None:
            raise UsageError(f"{name} has the value {twice!r} twice")
    return [dict(zip(listed, values, strict=True)) for values in itertools.product(*listed.values())]


class _Known:
    """What names mean for some programs and chips."""

    def __init__(self, programs: list[Runnable], chips: list[Arch]) -> None:
        self.programs, self.chips = programs, chips

    def place(self, name: str) -> str:
        """Which setting a name varies: itself, or "parameters", "overrides", "kernel_changes".  UsageError for no place."""
        if name in SETTINGS:
            return name
        if name.startswith(PREFIX):
            check_key(name)
            return "kernel_changes"
        if name == BOARD or any(name in chip for chip in self.chips):
            for chip in self.chips:
                if name != BOARD:
                    chip[name]  # UsageError that names the chip
            return "overrides"
        parameters = [program.parameters() for program in self.programs]
        having = [name in known for known in parameters]
        if all(having):
            return "parameters"
        if any(having):
            without = self.programs[having.index(False)].name
            raise UsageError(f"program {without} has no parameter {name!r}, which varies")
        raise self._unknown(name, parameters)

    def _unknown(self, name: str, parameters: Iterable[Iterable[str]]) -> UsageError:
        mine = list(dict.fromkeys(itertools.chain(*parameters)))
        everything = [*SETTINGS, *mine, *self.chips[0].values()]
        close = difflib.get_close_matches(name, everything, 3, 0.5)
        hint = f"did you mean {', '.join(close)}?" if close else None
        hint = (
            hint
            or f"settings: {', '.join(SETTINGS)}; of the program: {', '.join(mine) or 'none'}; or a chip's parameter"
        )
        return UsageError(f"nothing called {name!r} can vary", hint=hint)


def _settings(
    program: Program | None, settings: Mapping[str, Any], values: Mapping[str, Any], places: Mapping[str, str]
) -> dict[str, Any]:
    """The settings of a point: those of all, and its own values at their places."""
    found = {"program": program, **settings}
    for name, value in values.items():
        place = places[name]
        if place == name:
            found[name] = "x".join(map(str, value)) if isinstance(value, tuple) else value
        else:
            found[place] = {**found.get(place, {}), name: value}
    found["program"] = _anywhere(found["program"])
    if "arch" in found:
        found["arch"] = _anywhere(found["arch"])
    settings_of(found["program"], {name: value for name, value in found.items() if name != "program"})
    return found


def _anywhere(file: Any) -> Any:
    """The name of a file as it is in every folder; other names and functions stay what they are."""
    is_file = isinstance(file, Path) or (isinstance(file, str) and file.endswith((".py", ".yaml", ".yml")))
    return str(Path(file).resolve()) if is_file else file
