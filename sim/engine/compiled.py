"""Functions of the compiled engine as Python sees them before numba does.

To import numba and to make a dispatcher of each of these five hundred functions takes longer than a small run.  The
decorators keep the function only; `tensim.sim.engine.numba_compiler` makes of it what numba needs when something must be
compiled, or when Python calls a compiled function that is no entry point (`tensim.sim.engine.entry_points`).
"""

import functools
import importlib


class Compiled:
    """A function that numba compiles for each set of types it is called with.

    `targetoptions`, `py_func`: numba's inliner looks for them, as it does at its own dispatchers.
    """

    def __init__(self, function, options):
        self.py_func, self.targetoptions = function, options
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__

    @functools.cached_property
    def dispatcher(self):
        """numba's dispatcher of the function for compiled code that calls it, with its disk cache."""
        from tensim.sim.engine.numba_compiler import cached_dispatcher

        return cached_dispatcher(self)

    @functools.cached_property
    def _python_dispatcher(self):
        """The same for Python that calls it."""
        from tensim.sim.engine.numba_compiler import cached_dispatcher

        return cached_dispatcher(self, for_python=True)

    @property
    def _numba_type_(self):
        """What numba asks an object for that it meets in a compiled function."""
        return types.Dispatcher(self.dispatcher)

    def __call__(self, *arguments):
        return self._python_dispatcher(*arguments)


def compiled(*, inline="never", forceinline=False):
    """Decorator; `inline`: "always" puts the function's code into its callers before they are compiled, `forceinline` after."""
    return lambda function: Compiled(function, {"inline": inline, "forceinline": forceinline})


class Intrinsic:
    """A function that writes the LLVM code of its call; see `numba.extending.intrinsic`."""

    def __init__(self, function):
        self._function, self.__doc__ = function, function.__doc__

    @functools.cached_property
    def _numba_type_(self):
        """What numba asks an object for that it meets in a compiled function."""
        from tensim.sim.engine.numba_compiler import type_of_intrinsic

        return type_of_intrinsic(self._function)


class LazyModule:
    """A module that is imported when one of its names is first used."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        return getattr(importlib.import_module(self._name), name)


ir, types, cgutils = LazyModule("llvmlite.ir"), LazyModule("numba.core.types"), LazyModule("numba.core.cgutils")
arrayobj = LazyModule("numba.np.arrayobj")
