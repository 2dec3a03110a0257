"""Names for kernel modules: `from host_api.kernel_api import *`.

`kernel` and `device_function` are the decorators.  Every kernel API call exists as a function that explains itself when
it is called outside a kernel; inside one, the compiler gives it its meaning.  Enumerations and constants have the values
that kernels see.
"""

import builtins
from types import SimpleNamespace

from sim.cores.kernel_api import VALUES
from sim.cores.kernel_compiler import device_function, kernel
from sim.cores.kernel_names import CLASSES, CONSTANTS
from sim.cores.lowering_calls import call_names
from sim.errors import UsageError


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
