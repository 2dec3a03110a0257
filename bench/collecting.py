"""What verdicts cost that nobody asked for: the share of a run's processor time that goes into keeping and summarising figures.

The engine's counters are not in it: they cannot be switched off.  Measured once against the engine without them, they take
up to 4 % of a run without data (docs/verdicts.md).
"""

import time
from contextlib import ExitStack
from unittest.mock import patch

import tensim as tt
from tensim.analysis import summary
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.sim.chip import statistics
from tensim.sim.chip.launch_work import WorkCollector

# A large launch, and many small ones: (program, shape, launches)
RUNS = (("matmul_multicast", "2048x2048x2048", 1), ("matmul_multi_core", "256x256x256", 50))


class Stopwatch:
    """Processor time spent in a function that it stands in for."""

    def __init__(self):
        self.seconds = 0.0

    def around(self, function):
        def timed(*arguments):
            begun = time.process_time()
            try:
                return function(*arguments)
            finally:
                self.seconds += time.process_time() - begun

        return timed


def seconds(function, chip):
    """Processor time of one call."""
    begun = time.process_time()
    function(chip)
    return time.process_time() - begun


def share(name, shape, launches):
    """The share of the processor time of `launches` runs of a program, without data, that collecting takes."""
    watch = Stopwatch()
    with tt.create_device(0, numerics="off") as device, ExitStack() as stack:
        program = find_program(name)
        program.run_on(device, Options(shape))
        stack.enter_context(patch.object(WorkCollector, "collect", watch.around(WorkCollector.collect)))
        begun = time.process_time()
        for _ in range(launches):
            program.run_on(device, Options(shape))
        total = time.process_time() - begun
        summaries = min(seconds(summary.collect, device.chip) for _ in range(3))
        without = min(seconds(statistics.collect, device.chip) for _ in range(3))
    return (watch.seconds + summaries - without) / (total + summaries)


def shares():
    """{"program, launches": share}."""
    return {f"{name}, {launches} launches": share(name, shape, launches) for name, shape, launches in RUNS}
