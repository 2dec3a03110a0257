"""The machine: environment, compiled engine, cores, NoC, DRAM."""

from tensim.sim.cache_folder import choose

choose()
