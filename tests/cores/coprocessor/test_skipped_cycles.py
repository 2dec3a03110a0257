"""What is not looked at does nothing: gates, expanders and cores that wait, asked in every cycle, do what they do otherwise."""

import os

import numpy as np
import pytest

from tensim.sim.cores.coprocessor.cluster import ALL_DONE, CLUSTER, FAULT, RESTING
from tensim.sim.cores.coprocessor.frontend import NO_TIME
from tensim.sim.cores.coprocessor.instruction_table import CHIPS
from tensim.sim.engine.entry_points import RUN_TILE
from tensim.sim.errors import SimulatorError
from tests.cores.coprocessor.thread_programs import loaded, outcome

PROGRAMS = int(os.environ.get("TENSIM_EXAMPLES", 0)) or 60
LIMIT = 20_000  # cycles


def run_looking(tile):
    """As `Tile.run`, but a cycle at a time, and everything is looked at in each."""
    cluster, cycle = np.zeros(1, CLUSTER), 0
    cluster["coprocessor_at"], cluster["cores_at"] = tile.address, tile.cores.address
    while cycle <= LIMIT:
        tile.parts["frontends"]["look_at"] = tile.parts["frontends"]["move_at"] = 0
        cluster["fuel"] = 1
        RUN_TILE[tile.arch](cluster.ctypes.data, cycle, NO_TIME)
        reason, cycle = int(cluster["reason"][0]), max(cycle, int(cluster["at"][0]))
        if reason == ALL_DONE:
            return int(cluster["at"][0])
        if reason == FAULT:
            raise SimulatorError(tile.fault() or tile.core_fault())
        if reason == RESTING:
            raise SimulatorError(f"deadlock at cycle {int(cluster['at'][0])}: {'; '.join(map(tile.waits, range(3)))}")
    raise AssertionError("it goes on and on")


@pytest.mark.parametrize("chip", CHIPS)
def test_threads_that_wait_for_each_other_take_the_same_time(chip):
    passed = 0
    for seed in range(PROGRAMS):
        plain, looking = loaded(chip, seed), loaded(chip, seed)
        assert outcome(plain, lambda tile=plain: tile.run(LIMIT)) == outcome(
            looking, lambda tile=looking: run_looking(tile)
        )
        passed += int(plain.parts["frontends"]["passed"].sum())
    assert passed > 50 * PROGRAMS
