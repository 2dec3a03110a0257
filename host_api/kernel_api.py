"""Names for kernel modules: `from tensim.kernel_api import *`.

`kernel` and `device_function` are the decorators.  Every kernel API call exists as an object that explains itself, in
`help(noc_async_read)` and when it is called outside a kernel; inside one, the compiler gives it its meaning.  Enumerations
and constants have the values that kernels see.  docs/kernel_api.md lists them all.
"""

from __future__ import annotations

import builtins
from types import SimpleNamespace
from typing import TYPE_CHECKING, NoReturn, Self

from tensim.sim.cores.kernels.api import VALUES
from tensim.sim.cores.kernels.compiler import device_function, kernel
from tensim.sim.cores.kernels.lowering_calls import call_names
from tensim.sim.cores.kernels.names import CLASSES, CONSTANTS
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    import inspect

    from tensim.sim.cores.kernels.call_descriptions import Description


class KernelCall:
    """A call of the kernel API outside a kernel.  Its text and signature are made when somebody looks at them."""

    __slots__ = ("__name__", "__qualname__", "kernel_api_name")
    __module__ = "tensim.kernel_api"

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = self.kernel_api_name = name

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise UsageError(f"{self.__name__} is a kernel API call; call it inside a @kernel function")

    def __get__(self, instance: object, owner: type | None = None) -> Self:
        """Makes the call a routine to `inspect` and `help`, which then show its signature."""
        return self

    def __repr__(self) -> str:
        return f"<kernel API call {self.__name__}>"

    @property
    def _description(self) -> Description:
        from tensim.sim.cores.kernels.call_descriptions import describe  # not needed to run a program

        return describe(self.__name__)

    @property
    def __doc__(self) -> str:
        return self._description.help

    @property
    def __signature__(self) -> inspect.Signature:
        return self._description.signature


_names = {name: KernelCall(name) for name in call_names() if not hasattr(builtins, name)}
_names |= {name: SimpleNamespace(**members) for name, members in CLASSES.items()}
_names |= CONSTANTS
_names |= {name: KernelCall(name) for name, value in VALUES.items() if not value.parameters}
globals().update(_names)

__all__ = [*_names, "device_function", "kernel"]
