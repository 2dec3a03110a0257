"""Cycles of the units around L1 (`costs.yaml`): a record per chip that the coprocessor keeps beside its state."""

from importlib import resources

import numpy as np
import yaml

from tensim.sim.engine.tables import table

_TABLE = yaml.safe_load((resources.files(__package__) / "costs.yaml").read_text())
COSTS = np.dtype([(name, np.int64) for name in _TABLE])
costs_table = table(COSTS)


def make_costs(arch):
    """COSTS[1] of a chip."""
    costs = np.zeros(1, COSTS)
    for name, entry in _TABLE.items():
        costs[name] = entry["value"][arch] if isinstance(entry["value"], dict) else entry["value"]
    return costs
