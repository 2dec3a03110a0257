"""SimPy environment that runs chips, which the compiled engine simulates, beside Python events.

Time is an integer count of femtoseconds.  Cycle c of a chip clocked at f MHz lies at ceil(c * 10^9 / f) fs.
At equal times the chips go first, so that a Python event at t sees everything the devices did up to t.
"""

import time

import simpy
from simpy.core import Infinity
from simpy.events import NORMAL

from tensim.sim.errors import DeadlockError, TensimError

FS_PER_NS = 10**6
FS_PER_CYCLE_MHZ = 10**9  # femtoseconds of a cycle at 1 MHz
FUEL = 200_000  # events of a chip between two looks at Ctrl-C and the progress hook
NO_LIMIT = 1 << 60  # cycles
PROGRESS_SECONDS = 0.1


class ChipClock:
    """A chip in the environment: conversion between its cycles and femtoseconds, and who waits for its
    launches.

    `chip` needs `arch.clock_mhz`, `next_time()`, `advance(limit, fuel)`.  `origin`: time of its cycle 0.
    """

    def __init__(self, chip, origin, lookahead):
        self.chip, self.origin, self.lookahead = chip, origin, lookahead
        self.clock_mhz = int(chip.arch.clock_mhz)
        self.waiting = {}  # launch id -> event

    def time_of(self, cycle):
        """Femtosecond of a cycle."""
        return self.origin - (-cycle * FS_PER_CYCLE_MHZ // self.clock_mhz)

    def cycle_from(self, fs):
        """First cycle that is not before a time."""
        return (fs - self.origin - 1) * self.clock_mhz // FS_PER_CYCLE_MHZ + 1

    def cycle_until(self, fs):
        """Last cycle that is not after a time."""
        return (fs - self.origin) * self.clock_mhz // FS_PER_CYCLE_MHZ

    def next_time(self):
        """Time of the chip's earliest event, or Infinity."""
        cycle = self.chip.next_time()
        return Infinity if cycle is None else self.time_of(cycle)


class Environment(simpy.Environment):
    """`simpy.Environment` with integer femtoseconds and chips.  Every documented SimPy feature works
    unchanged.
    """

    def __init__(self, initial_time=0):
        super().__init__(initial_time)
        self._clocks, self._hooks, self._last_report = {}, [], 0.0
        self._failure_hooks = []
        self._next_event = super().peek  # time of the next Python event
        self.failed_chip = None  # the chip that raised last

    # --- chips

    def add_chip(self, chip, lookahead=0):
        """Run `chip` in this environment from now on (its cycle 0 is now); returns its `ChipClock`.

        `lookahead`: femtoseconds after the end of a launch on another chip during which nothing can reach
        this one.
        """
        clock = ChipClock(chip, self.now, lookahead)
        self._clocks[id(chip)] = clock
        return clock

    def remove_chip(self, chip):
        """Forget a chip; its waiting events never happen."""
        self._clocks.pop(id(chip), None)

    def launch(self, clock, launch, known=None):
        """Start a program on a chip now; returns an event that succeeds, with the cycle, at the program's
        end.  `known`: as of `tensim.sim.chip.chip.Chip.launch`.
        """
        done = self.event()
        cycle = max(clock.cycle_from(self.now), clock.chip.cycle)
        clock.waiting[clock.chip.launch(launch, cycle, known)] = done
        return done

    def on_progress(self, hook):
        """Call `hook(now_fs, chips)` at most every 100 ms of wall clock while chips run."""
        self._hooks.append(hook)

    def on_failure(self, hook):
        """Call `hook(chip, error)` with what a chip raises, before anybody else sees it and while the chip is as it was."""
        self._failure_hooks.append(hook)

    # --- stepping

    def peek(self):
        """Time of the next event of Python or of a chip, Infinity if there is none."""
        return min([self._next_event(), *(clock.next_time() for clock in self._clocks.values())])

    def step(self):
        """Run the chips up to the next Python event, then that event.  Raises what a chip or a process
        raises.
        """
        next_event = self._next_event()
        while self._run_chip(next_event):
            next_event = self._next_event()
        if next_event == Infinity:
            self._raise_deadlocks()
        try:
            super().step()
        except TensimError as error:  # SimPy re-raises a copy that lost its keyword arguments
            raise error.__cause__ if isinstance(error.__cause__, TensimError) else error from None

    def run_to(self, fs):
        """Process everything up to and including `fs`; the clock then shows `fs`."""
        while True:
            if self._next_event() <= fs:
                self.step()
            elif not self._run_chip(fs):
                break
        self._now = max(self._now, fs)

    def run_until(self, event):
        """Step until `event` has been processed; DeadlockError from a chip when nothing is left to do."""
        while event.callbacks is not None:
            self.step()
        return event.value

    def _run_chip(self, limit):
        """Let the chip with the earliest event run to `limit`; False when no chip has an event by then."""
        first = second = Infinity
        for candidate in self._clocks.values():
            time = candidate.next_time()
            if time < first:
                first, second, clock = time, first, candidate
            elif time < second:
                second = time
        if first > limit or first == Infinity:
            return False
        if second != Infinity:
            limit = min(limit, second + clock.lookahead)
        self._advance(clock, NO_LIMIT if limit == Infinity else clock.cycle_until(limit))
        return True

    def _advance(self, clock, limit, last=False):
        """Advance a chip.  Waiting threads are a deadlock only when nothing else (`last`) can wake them."""
        try:
            ended = clock.chip.advance(limit, FUEL)
        except TensimError as error:
            if isinstance(error, DeadlockError) and not last:
                return
            self.failed_chip = clock.chip
            for hook in self._failure_hooks:
                hook(clock.chip, error)
            raise
        for launch_id, cycle in ended:
            event = clock.waiting.pop(launch_id, None)
            if event is not None:
                event._ok, event._value = True, cycle
                self.schedule(event, NORMAL, max(clock.time_of(cycle) - self.now, 0))
        self._report()

    def _raise_deadlocks(self):
        """Nothing is left to happen: a chip with a program that has not ended says why."""
        for clock in list(self._clocks.values()):
            if clock.waiting:
                self._advance(clock, NO_LIMIT, last=True)

    def _report(self):
        wall = time.perf_counter()
        if self._hooks and wall - self._last_report >= PROGRESS_SECONDS:
            self._last_report = wall
            chips = [clock.chip for clock in self._clocks.values()]
            for hook in self._hooks:
                hook(self.now, chips)
