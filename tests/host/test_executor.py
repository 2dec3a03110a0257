"""The executor of command records: their order, whatever Python does in between."""

from tensim.sim.host import commands as c
from tensim.sim.host.executor import Simulation
from tensim.sim.host.handlers import HANDLERS


def test_what_python_lets_go_of_within_a_command_is_deleted_behind_it(monkeypatch):
    executor, seen = Simulation().executor, []
    executor.observers.append(lambda record, result: seen.append(type(record)))
    executor.submit(c.CreateProgram(7))
    monkeypatch.setitem(HANDLERS, c.HostWork, lambda executor, r: executor.submit(c.DeleteProgram(7)))
    executor.submit(c.HostWork(5))
    assert seen == [c.CreateProgram, c.HostWork, c.DeleteProgram]
    assert not executor.programs
