"""Names for kernel modules: `from host_api.kernel_api import *`.

`kernel` and `device_function` are the decorators.  Every kernel API call exists as a function that explains itself when
it is called outside a kernel; inside one, the compiler gives it its meaning.
"""

from sim.cores.kernel_api import CALLS, CONSTANTS, POINTER_TYPES, VALUES
from sim.cores.kernel_compiler import device_function, kernel
from sim.cores.lowering import GENERATORS
from sim.errors import UsageError

SPECIAL = (
    "l1_ptr", "float_bits", "get_noc_addr", "noc_async_read_page", "noc_async_read_tile", "noc_async_write_page",
    "noc_async_write_tile", "get_named_compile_time_arg_val", "DeviceZoneScopedN", "TensorAccessor",
    "TensorAccessorArgs", "tilize_block", "untilize_block", "pack_untilize_block", "copy_block_matmul_partials",
    *GENERATORS,
)  # fmt: skip
PYTHON_BUILTINS = ("min", "max", "abs", "int", "bool")


def _placeholder(name):
    def call(*args, **kwargs):
        raise UsageError(f"{name} is a kernel API call: it has a meaning only inside a @kernel function")

    call.__name__ = name
    return call


for _name in (*CALLS, *VALUES, *SPECIAL, *POINTER_TYPES):
    if _name not in PYTHON_BUILTINS and not _name.startswith("_"):
        globals()[_name] = _placeholder(_name)
globals().update(CONSTANTS)
noc_index = 0  # inside a kernel: the kernel's default NoC

__all__ = [name for name in globals() if not name.startswith("_")] + ["device_function", "kernel"]
