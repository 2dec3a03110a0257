"""A chip without events whose program waits for a program that starts later is not in deadlock."""

from types import SimpleNamespace

import pytest

from tensim.sim.errors import DeadlockError
from tensim.sim.loop.environment import FS_PER_NS, Environment


class WaitingChip:
    """A chip at 1 GHz: launch "waits" parks until a launch "frees" ends it, 10 cycles after its start."""

    def __init__(self):
        self.arch, self.cycle = SimpleNamespace(clock_mhz=1000), 0
        self.events, self.parked, self.count = [], [], 0

    def next_time(self):
        return min((time for time, _ in self.events), default=None)

    def launch(self, launch, cycle, known=None):
        self.count += 1
        if launch == "waits":
            self.parked.append(self.count)
            self.events.append((cycle + 5, []))
        else:
            self.events.append((cycle + 10, [self.count, *self.parked]))
            self.parked = []
        return self.count

    def advance(self, limit, fuel):
        while self.events and self.next_time() <= limit:
            self.events.sort()
            self.cycle, ended = self.events.pop(0)
            if ended:
                return [(launch, self.cycle) for launch in ended]
        if self.parked and not self.events:
            raise DeadlockError("deadlock")
        return []


def run(*starts):
    """Times (ns) at which launches, started as (ns, kind), end."""
    env, ends = Environment(), {}
    clock = env.add_chip(WaitingChip())

    def start(ns, kind):
        yield env.timeout(ns * FS_PER_NS)
        yield env.launch(clock, kind)
        ends[kind] = env.now // FS_PER_NS

    for item in starts:
        env.process(start(*item))
    env.run()
    return ends


def test_a_later_program_frees_the_waiting_one():
    assert run((0, "waits"), (100, "frees")) == {"frees": 110, "waits": 110}


def test_nothing_left_is_a_deadlock():
    with pytest.raises(DeadlockError):
        run((0, "waits"))
