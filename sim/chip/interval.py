"""What a chip did in an interval, in the form in which `tensim.sim.chip.statistics` reads a chip.

The engine's counters only grow; an interval holds them as they were and gives the difference.  It changes nothing that a
program could notice.
"""

import numpy as np

from tensim.sim.chip.occupancy import OccupancyRecorder

GROWING = {  # arrays of the machine and their counters; None: the whole array
    "links": ("flits", "stall"),
    "channels": ("read_bytes", "write_bytes", "row_hits", "row_misses", "busy", "waited"),
    "lines": None,
}
LONGEST = ("links", "channels")  # arrays with the longest wait and whose it was
# of the compute cores that have ended their programs
TOTALS = ("flops", "fpu_busy", "sfpu_busy", "long_sums", "sensitive_functions", "wide_products")


class Interval:
    """A chip from now on: what it did since, for `statistics.collect`.  No program runs at either end.

    Everything that is no counter of what was done (architecture, clock, launches) is the chip's own.
    """

    def __init__(self, chip):
        self.chip = chip
        self._arrays = {name: chip.arrays[name].copy() for name in GROWING}
        self._totals = {name: getattr(chip, name) for name in TOTALS}
        self._work, self._core_cycles = chip.work.copy(), chip.core_cycles.copy()
        self._odd = chip.oddities.counts()
        self._operations, self._launches = int(chip.machine["operations"]), len(chip.launches)
        self._compute_cores, chip.compute_cores = chip.compute_cores, set()
        # A maximum has no difference: `end` puts these together again
        chip.work["longest"] = 0
        for name in LONGEST:
            chip.arrays[name]["longest"] = 0
        self._recorder = OccupancyRecorder(chip.arrays)
        chip.recorders.append(self._recorder)

    def end(self):
        """What the chip did, as it stands now; the chip's own totals are whole again."""
        chip, done = self.chip, Done(self.chip)
        done.work, done.core_cycles = _minus(chip.work, self._work), chip.core_cycles - self._core_cycles
        done.work["longest"] = chip.work["longest"]
        chip.work["longest"] = np.maximum(chip.work["longest"], self._work["longest"])
        done.compute_cores, chip.compute_cores = chip.compute_cores, chip.compute_cores | self._compute_cores
        for name, before in self._totals.items():
            setattr(done, name, getattr(chip, name) - before)
        done.machine = _Machine(chip.machine, int(chip.machine["operations"]) - self._operations)
        done.arrays = _Arrays(chip.arrays, {name: self._gained(name) for name in GROWING})
        for name in LONGEST:
            self._restore_longest(name)
        done.occupancy, done.oddities = self._recorder, _Oddities(chip.oddities, self._odd)
        chip.recorders.remove(self._recorder)
        done.launches = {number: one for number, one in chip.launches.items() if number >= self._launches}
        return done

    def _restore_longest(self, name):
        """The longest wait of the whole time, and whose it was."""
        now, before = self.chip.arrays[name], self._arrays[name]
        earlier = before["longest"] > now["longest"]
        for field in ("longest", "waiter"):
            now[field][earlier] = before[field][earlier]

    def _gained(self, name):
        now, before = self.chip.arrays[name].copy(), self._arrays[name]
        if GROWING[name] is None:
            now[: len(before)] -= before
        for counter in GROWING[name] or ():
            now[counter] -= before[counter]
        return now


class Done:
    """What an interval gives: its own counters, else the chip's."""

    def __init__(self, chip):
        self._chip = chip

    def __getattr__(self, name):
        return getattr(self._chip, name)


class _Machine:
    """The machine record with its own number of operations."""

    def __init__(self, machine, operations):
        self._machine, self._operations = machine, operations

    def __getitem__(self, name):
        return self._operations if name == "operations" else self._machine[name]


class _Oddities:
    """What was odd since the counts of `before`."""

    def __init__(self, oddities, before):
        self._oddities, self._before = oddities, before

    def rows(self):
        return self._oddities.rows(self._before)


class _Arrays:
    """The machine's arrays with some of them replaced."""

    def __init__(self, arrays, own):
        self._arrays, self._own = arrays, own

    def __getitem__(self, name):
        return self._own[name] if name in self._own else self._arrays[name]


def _minus(now, before):
    """The records of `now` less those before, field by field."""
    result = now.copy()
    for name in now.dtype.names:
        result[name] -= before[name]
    return result
