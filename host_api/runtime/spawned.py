"""A second host core: a generator with simulated time as its clock (docs/hardware/runtime.md#time)."""

from tensim.runtime.sync import Event, events_of, host_event
from tensim.sim.engine.environment import FS_PER_NS
from tensim.sim.errors import CommandFault, TensimError, UsageError


def spawn(system, generator, label):
    """Start it at the host's time; see `System.spawn`."""
    state, number = host_event(system)
    event = Event(system, state, number, label or "spawned")
    system.env.process(_run(system, generator, state, system.host.now_fs))
    return event


def _run(system, generator, state, begin):
    env = system.env
    yield env.timeout(begin - env.now)
    value = None
    while True:
        main, system.host.now_fs = system.host.now_fs, env.now
        try:
            value = generator.send(value)
        except StopIteration:
            state.happen(env.now)
            return
        except TensimError as error:
            state.happen(env.now, CommandFault(f"a spawned host process failed: {error.message}"))
            return
        finally:
            spent, system.host.now_fs = system.host.now_fs - env.now, main
        if spent:
            yield env.timeout(spent)
        value = yield from _pause(env, value)


def _pause(env, what):
    """Let the process wait for what it yielded; returns what the yield gives back."""
    if isinstance(what, int | float):
        if what < 0:
            raise UsageError(f"a host process cannot work for {what} ns")
        yield env.timeout(round(what * FS_PER_NS))
        return None
    events = events_of(what)
    yield env.all_of([event._state.done for event in events])
    return what
