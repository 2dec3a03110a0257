"""Programs that can run, found by an example's name, a Python file or a function; each runs on an open device.

All have the one signature of `run` that `tensim.examples` describes.
"""

import importlib
import importlib.util
import inspect
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tensim.examples import EXAMPLES, FULL_GRID
from tensim.running.options import Options, check_parameters, parse_dtype, parse_fidelity, parse_grid, parse_shape
from tensim.sim.errors import TensimError, UsageError

FIXED_KEYWORDS = ("shape", "dtype", "fidelity", "grid", "rng")
SIGNATURE = "run(device, *, shape, dtype, fidelity, grid, rng)"


@dataclass(frozen=True)
class Runnable:
    """A program that can run.  `axes`: names of the sizes in `shape`; `load`: returns its `run`, imported at first use."""

    name: str
    description: str
    axes: str
    defaults: Options
    load: Callable[[], Callable]

    def parameters(self):
        """Own keywords of `run`: name -> inspect.Parameter (annotated type and default)."""
        signature = inspect.signature(self.load())
        return {
            name: parameter
            for name, parameter in signature.parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY and name not in FIXED_KEYWORDS
        }

    def run_on(self, device, options=None):
        """Run on an open device; returns the `ExampleResult`.

        Text in `options` is checked first, so that a wrong option costs nothing: UsageError lists the choices.
        `ExampleResult.verified` compares with numpy; with numerics off no data moves and the comparison means nothing.
        """
        import numpy as np

        options, defaults = options or Options(), self.defaults
        check_parameters(self.name, options.parameters, self.parameters())
        grid = parse_grid(options.grid or defaults.grid, device)
        shape = options.shape or defaults.shape
        fidelity = parse_fidelity(options.fidelity or defaults.fidelity)
        return self.load()(
            device,
            shape=None if shape is None else parse_shape(shape, self.axes),
            dtype=parse_dtype(options.dtype or defaults.dtype),
            fidelity=fidelity,
            grid=grid,
            rng=np.random.default_rng(options.seed),
            **options.parameters,
        )


def find_program(program):
    """The `Runnable` of an example's name, the path of a Python file with a `run` function, or such a function.

    UsageError for a name that no example has and for a file that cannot be loaded.
    """
    if callable(program):
        return of_function(program)
    if isinstance(program, Path) or str(program).endswith(".py"):
        return of_file(program)
    return of_example(program)


def of_example(name):
    """The `Runnable` of an example."""
    if name not in EXAMPLES:
        raise UsageError(f"unknown example {name!r}", hint=f"choose from {', '.join(EXAMPLES)}")
    entry = EXAMPLES[name]
    defaults = Options(shape=entry.shape, dtype=entry.dtype, fidelity=entry.fidelity, grid=entry.grid)
    return Runnable(name, entry.description, entry.axes, defaults, lambda: importlib.import_module(entry.module).run)


def of_function(function):
    """The `Runnable` of a function; its module may name the axes (AXES) and default (SHAPE) of `shape`."""
    module, name = inspect.getmodule(function), getattr(function, "__name__", type(function).__name__)
    return _of_module(function, module, name, (function.__doc__ or name).strip().split("\n")[0])


def of_file(path):
    """The `Runnable` of a Python file with a `run` function."""
    file = Path(path)
    if not file.is_file():
        raise UsageError(f"no such program file: {path}", hint="give an example's name (tensim examples) or a .py file")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except TensimError:
        raise
    except Exception as error:
        line = next(
            (f.lineno for f in traceback.extract_tb(error.__traceback__)[::-1] if f.filename == str(file)), None
        )
        where = {"file": str(file), "line": getattr(error, "lineno", None) or line}
        raise UsageError(f"{path} cannot be loaded: {type(error).__name__}: {error}", where=where) from error
    if not callable(getattr(module, "run", None)):
        raise UsageError(f"{path} has no function {SIGNATURE}")
    return _of_module(module.run, module, file.stem, (module.__doc__ or file.stem).strip().split("\n")[0])


def _of_module(function, module, name, description):
    """A program of the user's own; its module says what shape it has."""
    defaults = Options(shape=getattr(module, "SHAPE", None), dtype="bf16", fidelity="HiFi4", grid=FULL_GRID)
    return Runnable(name, description, getattr(module, "AXES", "MKN"), defaults, lambda: function)
