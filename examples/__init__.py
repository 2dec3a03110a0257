"""The example programs: their names and what they run by default.  Importing this imports none of them.

An example is a module with the kernels and the host program of one program.  Its `run` function has one
signature for all programs that `tensim run` runs:

    run(device, *, shape, dtype, fidelity, grid, rng, **parameters) -> ExampleResult

`shape` is a tuple of ints (as many as the program's axes), `dtype` a `DataFormat`, `fidelity` a
`MathFidelity`, `grid` the (columns, rows) of worker cores to use, `rng` a `numpy.random.Generator`.
`parameters` are the program's own keywords.  `run` creates buffers, enqueues the program once on command
queue 0, reads the result back and says what numpy expects; it checks nothing itself.

`tensim.running` runs them: `find_program("add_integers").run_on(device)`.
"""

from dataclasses import dataclass

FULL_GRID = "full"


@dataclass(frozen=True)
class Example:
    """An entry of the registry.  `axes`: names of the sizes in `shape`; the rest: what runs when nothing else is asked for."""

    name: str
    description: str
    axes: str
    shape: str | None
    grid: str = "1x1"
    dtype: str = "bf16"
    fidelity: str = "HiFi4"

    @property
    def module(self):
        """Name of the module with its `run`."""
        return f"{__name__}.{self.name}"


_ENTRIES = (
    Example("add_integers", "two integer vectors added on a data-movement core", "N", "16"),
    Example("dram_loopback", "DRAM to L1 to DRAM copy", "MN", "320x160"),
    Example("eltwise_add", "element-wise sum through circular buffers", "MN", "512x512"),
    Example("sfpu_chain", "softplus as a chain of vector operations", "MN", "512x512"),
    Example("matmul_single_core", "matrix product on one core, tile by tile", "MKN", "320x320x320"),
    Example(
        "matmul_naive",
        "matrix product as one may write it first (docs/tuning.md)",
        "MKN",
        "256x256x256",
        grid=FULL_GRID,
    ),
    Example("matmul_multi_core", "matrix product, output tiles split over cores", "MKN", "640x640x640", grid=FULL_GRID),
    Example("matmul_reuse", "matrix product, an output block per core", "MKN", "640x640x640", grid=FULL_GRID),
    Example(
        "matmul_multicast",
        "matrix product, operands multicast along rows and columns",
        "MKN",
        "2048x2048x2048",
        grid=FULL_GRID,
        fidelity="HiFi2",
    ),
    Example(
        "matmul_multicast_1d",
        "wide matrix product, left operand multicast to all cores",
        "MKN",
        "128x1024x4096",
        grid=FULL_GRID,
    ),
    Example("reduction_tree", "sum over cores along a binary tree, remote semaphores", "MN", "64x64", grid=FULL_GRID),
    Example("reshard", "height-sharded to block-sharded in L1", "MN", None, grid=FULL_GRID),
    Example("stencil_halo", "five-point stencil with halo exchange", "MN", None, grid=FULL_GRID),
    Example("ring_all_gather", "all-gather along a ring of cores, both directions", "MN", "32x64", grid=FULL_GRID),
)
EXAMPLES = {example.name: example for example in _ENTRIES}


def __getattr__(name):
    """`ExampleResult`, which needs numpy, when it is asked for."""
    if name == "ExampleResult":
        from tensim.examples.result import ExampleResult

        return ExampleResult
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
