"""Kernels of a few lines, lowered and run."""

import pytest

from tensim.sim.cores import context as ctx
from tensim.sim.cores.kernels.compiler import kernel_from_source
from tensim.sim.cores.operations import Op
from tensim.sim.errors import KernelCompileError
from tests.cores.kernels.driver import COSTS, Driver

OUT = 1024  # L1 address of what kernels store
LOCAL = 7  # a module constant that kernels see
ALU, BRANCH, MUL, DIV, LOAD, MUL_USE = (
    COSTS[word] for word in (ctx.COST_ALU, ctx.COST_BRANCH, ctx.COST_MUL, ctx.COST_DIV, ctx.COST_LOAD, ctx.COST_MUL_USE)
)


def compiled(body, parameters="a, b", before="", **options):
    """A kernel with this body, compiled."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    return kernel_from_source(f"{before}\n@kernel\ndef k({parameters}):\n{lines}\n").compile(**options)


def stored(records):
    """Values of the STORE operations."""
    return [args[1] for op, args, *_ in records if op == Op.STORE]


def outputs(body, *args, parameters="a, b", **options):
    """What `out(value)` was called with while the kernel ran; `out` stores 32 bits."""
    before = f"@device_function\ndef out(value):\n    p = l1_ptr({OUT}, uint32)\n    p[0] = value\n" + options.pop(
        "before", ""
    )
    return stored(Driver(args).run(compiled(body, parameters, before, **options)))


def refusal(body, parameters="a, b", before="", **options):
    with pytest.raises(KernelCompileError) as error:
        compiled(body, parameters, before, **options)
    return error.value
