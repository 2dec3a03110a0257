"""The machine: environment, compiled engine, cores, NoC, DRAM."""
