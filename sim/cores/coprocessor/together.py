"""Tiles to which nothing comes meanwhile run to the same cycle in one call."""

import numpy as np

from tensim.sim.cores.coprocessor.cluster import ALL_DONE, ASKED, FAULT, RESTING, cluster_table
from tensim.sim.cores.coprocessor.frontend import NO_TIME
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import call_model, load_i64, store_8
from tensim.sim.engine.tables import table

FUEL = 1 << 20  # cycles between two looks at Ctrl-C

# Addresses of CLUSTER records, `n` words at `clusters_at`; the cycle; the address of `run_tile`; of `n` bytes, 1: not through
TOGETHER = np.dtype([(name, np.int64) for name in "clusters_at n until run_at left_at".split()])
together_table = table(TOGETHER)


@compiled()
def run_tiles(together_at):
    """Run tiles to a cycle, each by itself; notes which have stopped before it, or rest (`reason` of their record)."""
    t = together_table(together_at)[0]
    for i in range(t.n):
        at = load_i64(t.clusters_at + 8 * i)
        cluster = cluster_table(at)[0]
        cluster.fuel = FUEL
        call_model(t.run_at, at, t.until, NO_TIME)
        reason = cluster.reason
        stopped = reason == ASKED or reason == FAULT or reason == ALL_DONE or reason == RESTING
        store_8(t.left_at + i, 1 if stopped or cluster.at <= t.until else 0)
    return 0
