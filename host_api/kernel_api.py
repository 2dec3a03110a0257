"""Names for kernel modules: `from tensim.kernel_api import *`.

`kernel` and `device_function` are the decorators.  Every kernel API call exists as a function that explains itself when
it is called outside a kernel; inside one, the compiler gives it its meaning.  Enumerations and constants have the values
that kernels see.
"""

import builtins
from types import SimpleNamespace

from tensim.sim.cores.kernels.api import VALUES
from tensim.sim.cores.kernels.compiler import device_function, kernel
from tensim.sim.cores.kernels.lowering_calls import call_names
from tensim.sim.cores.kernels.names import CLASSES, CONSTANTS
from tensim.sim.errors import UsageError


def _placeholder(name):
    def call(*args, **kwargs):
        raise UsageError(f"{name} is a kernel API call: it has a meaning only inside a @kernel function")

    call.__name__ = call.kernel_api_name = name
    return call


_names = {name: _placeholder(name) for name in call_names() if not hasattr(builtins, name)}
_names |= {name: SimpleNamespace(**members) for name, members in CLASSES.items()}
_names |= CONSTANTS
_names |= {name: _placeholder(name) for name, value in VALUES.items() if not value.parameters}
globals().update(_names)

__all__ = [*_names, "device_function", "kernel"]
