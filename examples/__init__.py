"""The example programs: their names and what they run by default.  Importing this imports none of them.

An example is a module with the kernels and the host program of one program.  Its `run` function has one
signature for all programs that `tensim run` runs:

    run(device, *, shape, dtype, fidelity, grid, rng, **parameters) -> ExampleResult

`shape` is a tuple of ints (as many as the program's axes), `dtype` a `DataFormat`, `fidelity` a
`MathFidelity`, `grid` the (columns, rows) of worker cores to use, `rng` a `numpy.random.Generator`.
`parameters` are the program's own keywords.  The module may declare the axes of `shape` and what runs by
default (`DECLARED`): AXES = "MN", SHAPE = "64x64", GRID = "1x1".  `run` creates buffers, enqueues the program
once on command queue 0, reads the result back and says what numpy expects; it checks nothing itself.

`tensim.running` runs them: `find_program("add_integers").run_on(device)`.
"""

import ast
import functools
from dataclasses import dataclass
from pathlib import Path

FULL_GRID = "full"
# What a module of a program may declare, in capitals, and what holds when it does not
DECLARED = {"axes": "MKN", "shape": None, "grid": FULL_GRID, "dtype": "bf16", "fidelity": "HiFi4"}


@dataclass(frozen=True)
class Example:
    """An entry of the registry.  `axes`: names of the sizes in `shape`; the rest: what runs when nothing else is asked for."""

    name: str
    description: str

    axes = property(lambda self: self._declared["axes"])
    shape = property(lambda self: self._declared["shape"])
    grid = property(lambda self: self._declared["grid"])
    dtype = property(lambda self: self._declared["dtype"])
    fidelity = property(lambda self: self._declared["fidelity"])

    @property
    def module(self):
        """Name of the module with its `run`."""
        return f"{__name__}.{self.name}"

    @property
    def _declared(self):
        return declared(Path(__file__).with_name(f"{self.name}.py"))


@functools.cache
def declared(file):
    """{name of `DECLARED`: value} of a program's file, which is read and not imported."""
    found = {}
    for statement in ast.parse(file.read_text()).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            found |= {target.id: statement.value.value for target in statement.targets if isinstance(target, ast.Name)}
    return {name: found.get(name.upper(), default) for name, default in DECLARED.items()}


_DESCRIPTIONS = {
    "add_integers": "two integer vectors added on a data-movement core",
    "dram_loopback": "DRAM to L1 to DRAM copy",
    "eltwise_add": "element-wise sum through circular buffers",
    "sfpu_chain": "softplus as a chain of vector operations",
    "matmul_single_core": "matrix product on one core, tile by tile",
    "matmul_naive": "matrix product as one may write it first (docs/tuning.md)",
    "matmul_multi_core": "matrix product, output tiles split over cores",
    "matmul_reuse": "matrix product, an output block per core",
    "matmul_multicast": "matrix product, operands multicast along rows and columns",
    "matmul_multicast_1d": "wide matrix product, left operand multicast to all cores",
    "reduction_tree": "sum over cores along a binary tree, remote semaphores",
    "reshard": "height-sharded to block-sharded in L1",
    "stencil_halo": "five-point stencil with halo exchange",
    "ring_all_gather": "all-gather along a ring of cores, both directions",
}
EXAMPLES = {name: Example(name, text) for name, text in _DESCRIPTIONS.items()}


def __getattr__(name):
    """`ExampleResult`, which needs numpy, when it is asked for."""
    if name == "ExampleResult":
        from tensim.examples.result import ExampleResult

        return ExampleResult
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
