"""The environment: SimPy's features unchanged, and chips beside them in exact order."""

from types import SimpleNamespace

import pytest
import simpy
from simpy.core import Infinity

from tensim.sim.errors import DeadlockError, ProgramError
from tensim.sim.loop import environment
from tensim.sim.loop.environment import Environment


class Clockwork:
    """A chip whose launches end after given cycles; `events`: cycles at which it has something to do."""

    def __init__(self, clock_mhz=1000, events=()):
        self.arch, self.cycle, self.events = SimpleNamespace(clock_mhz=clock_mhz), 0, sorted(events)
        self.ends, self.visited, self.limits = {}, [], []

    def launch(self, cycles, cycle, known=None):
        assert cycle >= self.cycle
        number = len(self.ends)
        self.ends[number] = None if cycles is None else cycle + cycles
        if cycles is not None:
            self.events = sorted([*self.events, cycle + cycles])
        return number

    def next_time(self):
        return self.events[0] if self.events else None

    def advance(self, limit, fuel):
        self.limits.append(limit)
        if not self.events and None in self.ends.values():
            raise DeadlockError("hangs")
        while self.events and self.events[0] <= limit:
            self.cycle = self.events.pop(0)
            self.visited.append(self.cycle)
            done = [(number, end) for number, end in self.ends.items() if end == self.cycle]
            if done:
                return done
        return []


# --- plain SimPy


def test_a_car_wash_serves_in_order():
    env, log = Environment(), []
    machines = simpy.Resource(env, capacity=2)

    def car(name):
        with machines.request() as turn:
            yield turn
            log.append((name, env.now))
            yield env.timeout(5)

    for name in "abcde":
        env.process(car(name))
    env.run()
    assert log == [("a", 0), ("b", 0), ("c", 5), ("d", 5), ("e", 10)]
    assert env.now == 15


def test_a_customer_who_loses_patience_leaves_the_queue():
    env, log = Environment(), []
    counter = simpy.Resource(env, capacity=1)

    def customer(name, patience, service):
        with counter.request() as turn:
            result = yield turn | env.timeout(patience)
            log.append((name, turn in result, env.now))
            if turn in result:
                yield env.timeout(service)

    env.process(customer("first", 1, 10))
    env.process(customer("hasty", 3, 1))
    env.process(customer("calm", 20, 1))
    env.run()
    assert log == [("first", True, 0), ("hasty", False, 3), ("calm", True, 10)]


def test_interrupt_store_container_and_conditions():
    env, log = Environment(), []
    store, tank = simpy.Store(env, capacity=1), simpy.Container(env, capacity=10, init=0)

    def sleeper():
        try:
            yield env.timeout(100)
        except simpy.Interrupt as interrupt:
            log.append((interrupt.cause, env.now))

    def producer(victim):
        yield store.put("item")
        yield tank.put(4) & env.timeout(7)
        victim.interrupt("wake")

    def consumer():
        item = yield store.get()
        yield tank.get(3)
        log.append((item, env.now, tank.level))

    env.process(producer(env.process(sleeper())))
    env.process(consumer())
    env.run(until=50)
    assert log == [("item", 0, 1), ("wake", 7)]
    assert env.now == 50


def test_a_failing_process_raises_the_error_itself():
    env = Environment()

    def fails():
        yield env.timeout(1)
        raise ProgramError("broken", where={"core": "(0,0)"}, hint="mend it")

    env.process(fails())
    with pytest.raises(ProgramError) as caught:
        env.run()
    assert caught.value.where == {"core": "(0,0)"} and caught.value.hint == "mend it"


def test_run_until_returns_the_value_of_an_event():
    env = Environment()
    assert env.run_until(env.timeout(5, "value")) == "value"
    assert env.now == 5


# --- chips


@pytest.mark.parametrize("clock, cycle, fs", [(1000, 7, 7_000_000), (1350, 1, 740_741), (1350, 27, 20_000_000)])
def test_a_cycle_lies_at_the_rounded_up_femtosecond(clock, cycle, fs):
    clock = Environment().add_chip(Clockwork(clock))
    assert clock.time_of(cycle) == fs
    assert clock.cycle_from(fs) == clock.cycle_until(fs) == cycle
    assert clock.cycle_until(fs - 1) == cycle - 1
    assert clock.cycle_from(fs - 1) == cycle


def test_a_launch_ends_at_its_exact_time():
    env, chip = Environment(), Clockwork()
    clock = env.add_chip(chip)
    log = []

    def host():
        yield env.timeout(1_500_000)
        cycle = yield env.launch(clock, 100)
        log.append((cycle, env.now))

    env.process(host())
    env.run()
    assert log == [(102, 102_000_000)]


def test_lanes_go_first_at_equal_times_and_never_ahead_of_a_python_event():
    env, chip = Environment(), Clockwork(events=[1, 2, 3, 5])
    env.add_chip(chip)
    seen = []

    def watcher():
        for _ in range(4):
            yield env.timeout(1_000_000)
            seen.append(list(chip.visited))

    env.process(watcher())
    env.run()
    assert seen == [[1], [1, 2], [1, 2, 3], [1, 2, 3]]


def test_a_lane_does_not_pass_the_next_event_of_another():
    env, fast, slow = Environment(), Clockwork(events=[1, 50]), Clockwork(500, events=[2, 30])
    env.add_chip(fast)
    env.add_chip(slow)
    env.run_to(100_000_000)
    assert fast.visited == [1, 50] and slow.visited == [2, 30]
    assert fast.limits[0] == 4  # cycle 2 of the slow chip


def test_a_lane_starts_when_it_is_added():
    env = Environment()
    env.run_to(10_000_000)
    clock = env.add_chip(Clockwork(events=[3]))
    assert env.peek() == clock.time_of(3) == 13_000_000
    env.remove_chip(clock.chip)
    assert env.peek() == Infinity


def test_run_to_stops_exactly_there():
    env, chip = Environment(), Clockwork(events=[5, 10, 11])
    env.add_chip(chip)
    env.run_to(10_000_000)
    assert (env.now, chip.visited) == (10_000_000, [5, 10])


def test_nothing_left_to_do_is_the_deadlock_of_the_lane():
    env, chip = Environment(), Clockwork()
    clock = env.add_chip(chip)
    done = env.launch(clock, None)
    with pytest.raises(DeadlockError, match="hangs"):
        env.run_until(done)
    assert env.failed_chip is chip


def test_threads_that_wait_for_a_later_launch_are_no_deadlock():
    env, chip = Environment(), Clockwork(events=[1])
    clock = env.add_chip(chip)
    hanging = env.launch(clock, None)

    def later():
        yield env.timeout(10_000_000)
        chip.ends[0] = 12
        chip.events = [12]

    env.process(later())
    assert env.run_until(hanging) == 12


def test_progress_is_reported_every_tenth_of_a_second_at_most(monkeypatch):
    clock = iter([10.0, 10.05, 10.11, 10.2, 10.9])
    monkeypatch.setattr(environment, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    env, chip, reports = Environment(), Clockwork(events=range(5)), []
    env.add_chip(chip)
    env.on_progress(lambda now, chips: reports.append((chips, chip.cycle)))
    for ns in range(5):
        env.run_to(ns * 1_000_000)
    assert reports == [([chip], 0), ([chip], 2), ([chip], 4)]
