"""A second host core: a generator with simulated time as its clock (docs/hardware/runtime.md#time)."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from tensim.runtime.errors import CommandFailed
from tensim.runtime.sync import Event, events_of, host_event
from tensim.sim.errors import CommandFault, UsageError
from tensim.sim.host.queue import turn
from tensim.sim.loop.environment import FS_PER_NS

if TYPE_CHECKING:
    from tensim.runtime.system import System
    from tensim.sim.host.event_commands import RecordedEvent


def spawn(system: System, generator: Generator[Any, Any, Any], label: str) -> Event:
    """Start it at the host's time; see `System.spawn`."""
    state, number = host_event(system)
    event = Event(system, state, number, label or "spawned")
    system.env.process(_run(system, generator, state, turn(system.env, system.host.now_fs)))
    return event


def _run(
    system: System, generator: Generator[Any, Any, Any], state: RecordedEvent, begin: Any
) -> Generator[Any, Any, None]:
    yield begin
    error = None
    try:
        yield from _steps(system, generator)
    except CommandFailed as failed:  # it waited for a command that failed: the same root
        error = CommandFault(failed.where["root"], where={"chain": list(failed.where["chain"])})
    except Exception as raised:
        error = CommandFault(f"a spawned host process raised {type(raised).__name__}: {raised}")
    state.happen(system.env.now, error)


def _steps(system: System, generator: Generator[Any, Any, Any]) -> Generator[Any, Any, None]:
    """Let the generator work and wait in turn; raises what it does not catch."""
    env, resume, value = system.env, generator.send, None
    while True:
        main, system.host.now_fs = system.host.now_fs, env.now
        try:
            yielded = resume(value)
        except StopIteration:
            return
        finally:
            spent, system.host.now_fs = system.host.now_fs - env.now, main
        if spent:
            yield env.timeout(spent)
        resume, value = generator.send, None
        if isinstance(yielded, int | float):
            yield env.timeout(_duration(yielded))
            continue
        events = events_of(yielded)
        yield env.all_of([event._state.done for event in events])
        failed = next((event.error for event in events if event.error is not None), None)
        resume, value = (generator.send, yielded) if failed is None else (generator.throw, failed)


def _duration(ns: float) -> int:
    if not 0 <= ns < float("inf"):
        raise UsageError(f"a host process cannot work for {ns} ns", hint="yield events, or a number of ns from 0 on")
    return round(ns * FS_PER_NS)
