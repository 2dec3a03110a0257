"""Writes host_api/kernel_api.pyi, from which type checkers and editors know the names of `tensim.kernel_api`.

    python -m docs.write_kernel_stub

Those names are made at run time.  A value in a kernel is a machine word or an object of the API, which the kernel compiler
checks; the stub says `Any` for it, and names, parameters and texts of the calls.
"""

import inspect
from pathlib import Path

import tensim.kernel_api as api
from tensim.kernel_api import KernelCall
from tensim.sim.cores.kernels.api import VALUES

STUB = Path(__file__).parents[1] / "host_api" / "kernel_api.pyi"
HEADER = '''"""Written by docs/write_kernel_stub.py: do not edit."""

from collections.abc import Callable
from typing import Any

from tensim.sim.cores.kernels.compiler import Kernel

def kernel(function: Callable[..., Any]) -> Kernel: ...
def device_function(function: Callable[..., Any]) -> Callable[..., Any]: ...
'''
VALUE = "Any"


def stub():
    """The text of the stub."""
    parts = [HEADER]
    for name in api.__all__:
        value = getattr(api, name)
        if name in VALUES:
            parts.append(f"{name}: {VALUE}")
        elif isinstance(value, KernelCall):
            parts.append(_call(name, value))
        elif name not in ("kernel", "device_function"):
            parts.append(_constant(name, value))
    return "\n".join(parts) + "\n"


def _constant(name, value):
    if not hasattr(value, "__dict__"):
        return f"{name}: {type(value).__name__}"
    members = [f"    {member}: {type(number).__name__}" for member, number in vars(value).items()]
    return "\n".join([f"class {name}:", *(members or ["    ..."])])


def _call(name, call):
    lines = (call.__doc__ or "").strip().split("\n")
    text = lines[0].replace("\\", "\\\\").replace('"""', "'''")
    several = any(line.startswith("Forms:") for line in lines)  # of which a signature is one
    parameters = f"*args: {VALUE}, **kwargs: {VALUE}" if several else _parameters(inspect.signature(call))
    return f'def {name}({parameters}) -> {VALUE}:\n    """{text}"""'


def _parameters(signature):
    found = []
    for one in signature.parameters.values():
        star = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        default = "" if one.default is one.empty else " = ..."
        found.append(f"{star}{one.name}: {VALUE}{default}")
    kinds = [one.kind for one in signature.parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        found.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    return ", ".join(found)


if __name__ == "__main__":
    STUB.write_text(stub())
