"""Programs that can run, found by an example's name, a Python file or a function; each runs on an open device.

All have the one signature of `run` that `tensim.examples` describes.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tensim.examples import DECLARED, EXAMPLES
from tensim.running.options import (
    Options,
    parameter_values,
    parse_dtype,
    parse_fidelity,
    parse_grid,
    parse_shape,
    require_room,
)
from tensim.sim.errors import ProgramError, TensimError, UsageError
from tensim.sim.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tensim.device import Device
    from tensim.examples.result import ExampleResult
    from tensim.mesh_device import MeshDevice

DEFAULTS = ("shape", "dtype", "fidelity", "grid")  # what a program has a default for
FIXED_KEYWORDS = ("shape", "dtype", "fidelity", "grid", "rng")
SIGNATURE = "run(device, *, shape, dtype, fidelity, grid, rng)"


@dataclass(frozen=True)
class Runnable:
    """A program that can run.

    `axes`: names of the sizes in `shape`; `load`: returns its `run`, imported at first use.  `matrices`: whether it holds
    the matrices between its axes.  `file`: where a user's `run` stands, whose mistakes are reported with their line.  `mesh`:
    keywords of `tensim.open_mesh_device` where it runs on a mesh, which `run` then gets in place of a device.
    """

    name: str
    description: str
    axes: str
    defaults: Options
    load: Callable[[], Callable[..., Any]]
    matrices: bool = False
    file: str | None = None
    mesh: dict[str, Any] | None = None

    def parameters(self) -> dict[str, inspect.Parameter]:
        """Own keywords of `run`: name -> inspect.Parameter (annotated type and default)."""
        signature = inspect.signature(self.load())
        return {
            name: parameter
            for name, parameter in signature.parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY and name not in FIXED_KEYWORDS
        }

    def chosen(self, options: Options) -> Options:
        """The options with the program's defaults where they say nothing, and its parameters as values of their types."""
        defaults = {name: getattr(self.defaults, name) for name in DEFAULTS if getattr(options, name) is None}
        values = parameter_values(self.name, options.parameters, self.parameters()) if options.parameters else {}
        return dataclasses.replace(options, **defaults, parameters=values)

    def source_file(self) -> str | None:
        """The file with its `run`; None for a callable that stands in no file."""
        try:
            return inspect.getsourcefile(self.load())
        except TypeError:
            return None

    def run_on(self, device: Device | MeshDevice, options: Options | None = None) -> ExampleResult:
        """Run on an open device, or on a mesh of them; returns the `ExampleResult`.

        Text in `options` is checked first, so that a wrong option costs nothing: UsageError lists the choices.
        `ExampleResult.verified` compares with numpy; with numerics off no data moves and the comparison means nothing.
        """
        import numpy as np

        from tensim.device import devices_of

        options = self.chosen(options or Options())
        if options.seed < 0:
            raise UsageError(f"the seed is {options.seed}; it must not be negative")
        chip = devices_of(device)[0]
        grid = parse_grid(options.grid, chip)
        sizes = None if options.shape is None else parse_shape(options.shape, self.axes)
        arguments = {
            "shape": sizes,
            "dtype": parse_dtype(options.dtype),
            "fidelity": parse_fidelity(options.fidelity),
            "grid": grid,
            "rng": np.random.default_rng(options.seed),
            **options.parameters,
        }
        if self.matrices and sizes is not None:
            require_room(sizes, arguments["dtype"], chip.arch)
        return self._result(self._call(device, arguments))

    def _call(self, device: Device | MeshDevice, arguments: dict[str, Any]) -> Any:
        """What `run` returns; UsageError for sizes without room on the host, ProgramError for a mistake in a user's file."""
        try:
            return self.load()(device, **arguments)
        except TensimError:
            raise
        except MemoryError as error:
            raise UsageError(f"{self.name} at this shape needs more memory than this machine has: {error}") from error
        except Exception as error:
            if self.file is None:
                raise
            frames = traceback.extract_tb(error.__traceback__)
            own = next((i for i, frame in enumerate(frames) if frame.filename == self.file), 0)
            last = next(frame for frame in frames[::-1] if frame.filename == frames[own].filename)
            stack = "".join(traceback.format_list(frames[own:])).rstrip()
            where = {"file": last.filename, "line": last.lineno}
            raise ProgramError(f"{type(error).__name__}: {error}\n{stack}", where=where) from error

    def _result(self, result: Any) -> ExampleResult:
        """The result of `run`; UsageError when it is none."""
        from tensim.examples import ExampleResult

        if not isinstance(result, ExampleResult):
            raise UsageError(
                f"{self.name}: run returned {type(result).__name__}, not an ExampleResult",
                hint=f"{SIGNATURE} -> ExampleResult",
            )
        problem = result.problem()
        if problem:
            raise UsageError(f"{self.name}: run returned a wrong ExampleResult: {problem}")
        return result


def find_program(program: str | Path | Callable[..., Any] | Runnable) -> Runnable:
    """The `Runnable` of an example's name, the path of a Python file with a `run` function, or such a function.

    A `Runnable` is one already.  UsageError for a name that no example has and for a file that cannot be loaded.
    """
    if isinstance(program, Runnable):
        return program
    if callable(program):
        return of_function(program)
    if isinstance(program, Path) or str(program).endswith(".py"):
        return of_file(program)
    return of_example(program)


def of_example(name: str) -> Runnable:
    """The `Runnable` of an example."""
    if name not in EXAMPLES:
        close = difflib.get_close_matches(str(name), EXAMPLES, 1)
        raise UsageError(
            f"unknown example {name!r}{f'; did you mean {close[0]}?' if close else ''}",
            hint=f"choose from {', '.join(EXAMPLES)}",
        )
    entry = EXAMPLES[name]
    defaults = Options(shape=entry.shape, dtype=entry.dtype, fidelity=entry.fidelity, grid=entry.grid)
    load = lambda: importlib.import_module(entry.module).run  # noqa: E731
    return Runnable(name, entry.description, entry.axes, defaults, load, matrices=True)


def of_function(function: Callable[..., Any]) -> Runnable:
    """The `Runnable` of a function; its module may name the axes of `shape` (AXES), and defaults (`tensim.examples.DECLARED`)."""
    module, name = inspect.getmodule(function), getattr(function, "__name__", type(function).__name__)
    return _of_module(function, module, name, (function.__doc__ or name).strip().split("\n")[0])


def of_file(path: str | Path) -> Runnable:
    """The `Runnable` of a Python file with a `run` function."""
    file = Path(path).resolve()
    if not file.is_file():
        raise UsageError(f"no such program file: {path}", hint="give an example's name (tensim examples) or a .py file")
    _let_siblings_be_imported(file)
    name = file.stem if file.stem not in sys.modules or file.stem in _LOADED else f"{file.stem}_program"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None  # of a file with Python's suffix
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # where dataclasses look for it
    _LOADED.add(name)
    try:
        spec.loader.exec_module(module)
    except TensimError:
        raise
    except (Exception, SystemExit) as error:
        line = next(
            (f.lineno for f in traceback.extract_tb(error.__traceback__)[::-1] if f.filename == str(file)), None
        )
        where = {"file": str(file), "line": getattr(error, "lineno", None) or line}
        raise UsageError(f"{path} cannot be loaded: {type(error).__name__}: {error}", where=where) from error
    if not callable(getattr(module, "run", None)):
        raise UsageError(f"{path} has no function {SIGNATURE}")
    _check_signature(module.run, path)
    description = (module.__doc__ or file.stem).strip().split("\n")[0]
    return dataclasses.replace(_of_module(module.run, module, file.stem, description), file=str(file))


_LOADED: set[str] = set()  # names of modules that are program files


def _let_siblings_be_imported(file: Path) -> None:
    """As `python FILE` does: modules beside a program file can be imported by name, also while it runs."""
    folder = str(file.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)


def _check_signature(function: Callable[..., Any], path: str | Path) -> None:
    """UsageError when `run` cannot be called as programs are."""
    try:
        inspect.signature(function).bind(None, **dict.fromkeys(FIXED_KEYWORDS))
    except TypeError as error:
        line = getattr(getattr(function, "__code__", None), "co_firstlineno", None)
        raise UsageError(
            f"run cannot be called: {error}", where={"file": str(path), "line": line}, hint=f"it is {SIGNATURE}"
        ) from error


def _of_module(function: Callable[..., Any], module: ModuleType | None, name: str, description: str) -> Runnable:
    """A program of the user's own; its module says what shape it has and what else it runs with by default."""
    declared: dict[str, Any] = {key: getattr(module, key.upper(), default) for key, default in DECLARED.items()}
    for key, value in declared.items():
        if not (isinstance(value, str) and value or (key == "shape" and value is None)):
            raise UsageError(
                f"{name}: {key.upper()} is {value!r}; it is a text", hint='as AXES = "MN", SHAPE = "64x64"'
            )
    axes = declared.pop("axes")
    return Runnable(name, description, axes, Options(**declared), lambda: function, mesh=_mesh_of(module, name))


def _mesh_of(module: ModuleType | None, name: str) -> dict[str, Any] | None:
    """The mesh that a module declares (MESH), None: one device."""
    mesh = getattr(module, "MESH", None)
    if mesh is not None and not (isinstance(mesh, dict) and all(isinstance(key, str) for key in mesh)):
        raise UsageError(f"{name}: MESH is {mesh!r}", hint='keywords of open_mesh_device, as MESH = {"board": "t3k"}')
    return mesh
