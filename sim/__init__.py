"""The machine: environment, compiled lane, cores, NoC, DRAM.  Import order matters once: the cache comes first."""

from tensim.sim.engine import cache  # noqa: F401  configures numba's disk cache before anything compiles
