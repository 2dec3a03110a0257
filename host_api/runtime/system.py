"""The system: declared devices, one simulated clock, one imperative host timeline (docs/hardware/runtime.md#time)."""

from __future__ import annotations

import contextlib
import itertools
import weakref
from collections import Counter
from collections.abc import Generator, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import tensim.device as metal
from tensim.runtime.conversion import Plans
from tensim.runtime.current_system import enter, leave, make_with
from tensim.runtime.description import describe
from tensim.runtime.hooks import ActiveHooks
from tensim.runtime.host_timeline import HostTimeline
from tensim.runtime.inventory import Inventory
from tensim.runtime.opening import OpenDevices
from tensim.runtime.profiling import profile
from tensim.runtime.rates import Rates
from tensim.runtime.recording import record
from tensim.runtime.residency import Residency
from tensim.runtime.selection import select
from tensim.runtime.spawned import spawn
from tensim.runtime.specs import parse_devices
from tensim.runtime.sync import Event, Timeline
from tensim.runtime.systems import SystemConfig, build_topology, chip_overrides
from tensim.runtime.timeline import SpanLog, Spans
from tensim.sim.arch.loader import load_arch
from tensim.sim.errors import TensimError, UsageError
from tensim.sim.host.event_commands import RecordedEvent
from tensim.sim.host.executor import Simulation

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tensim.runtime.devices import AnyDevice, OpenDevice, TraceCapture
    from tensim.runtime.opening import DeviceMap
    from tensim.runtime.profiling import Profile
    from tensim.runtime.recording import Recorder
    from tensim.runtime.selection import DeviceInfo, Selection
    from tensim.runtime.specs import Value

HAZARDS = ("auto", "manual", "check")


@make_with
class System:
    """Declared devices and their common time.

    `config`: a SystemConfig, a list of boards as text, or None for one Wormhole chip.  Nothing is opened before `open`.
    `archs`: the chips' parameters; `inventory`: what is declared; `stats`: counters of the runtime; `spans`: every command
    issued.
    """

    def __init__(self, config: SystemConfig | str | None = None, *, seed: int = 0, hazards: str | None = None) -> None:
        config = SystemConfig() if config is None else config
        self.config = SystemConfig.named(config) if isinstance(config, str) else config
        self.seed, self.hazards = seed, hazards or self.config.hazards
        if self.hazards not in HAZARDS:
            raise UsageError(f"hazards is {self.hazards!r}", hint=f"one of {', '.join(HAZARDS)}")
        self.archs = [load_arch(chip.arch, chip_overrides(self.config, chip.arch)) for chip in self.config.chips]
        self.sim = Simulation(metal.current_system().executor.programs)
        self.host, self.env, self.executor = self.sim.host, self.sim.env, self.sim.executor
        self.executor.orders_itself = True  # `hazards`
        self.timeline_host = HostTimeline(self)
        self.tensors = weakref.WeakValueDictionary()  # id -> Tensor, as long as someone holds it
        self.next_tensor_id = itertools.count(1).__next__
        self.rates, self.plans, self.residency = Rates(self), Plans(self), Residency(self)
        self.stats, self.spans, self.hooks, self.signalled = Counter(), SpanLog(), ActiveHooks(), set()
        self.capturing: TraceCapture | None = None
        self.recorder: Recorder | None = None
        self.inventory, self.opened = Inventory(self.config, self.archs), OpenDevices(self)
        self.topology = self.sim.topology = build_topology(self.env, self.config, self.archs)
        self.host.use_costs(self.archs[0])
        self.origin = self._origin()
        enter(self)
        self.activate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def activate(self) -> None:
        """Make this the system to which new programs and events of the plain host API belong."""
        metal.use_system(self.sim)

    def close(self) -> None:
        """Wait for everything and close all devices; what failed stays failed."""
        with contextlib.suppress(TensimError):
            self.drain()
        for device in self.opened:
            with contextlib.suppress(TensimError):
                device.close(force=True)
        leave(self)
        metal.leave_system(self.sim)

    def _origin(self) -> Event:
        state = RecordedEvent()
        state.done = self.env.event()
        state.happen(0)
        event = Event(self, state, 0, "start", {})
        self.env.run_until(state.done)
        return event

    # --- devices

    def list_devices(self, pattern: str = "*") -> list[DeviceInfo]:
        """Declared devices whose spec matches a shell pattern; their `.spec` opens them."""
        return self.inventory.matching(pattern)

    def describe(self) -> dict[str, Any]:
        """What there is, as plain data: no device is opened."""
        return describe(self)

    def explain(self, spec: str) -> Selection:
        """The Selection that `open_all` would come to, with a verdict on every term; raises what it would raise."""
        return select(parse_devices(spec), self.inventory)

    def open(self, spec: str | DeviceInfo, **params: Value) -> AnyDevice:
        """The device of one spec; further params as keywords.  DeviceNotFound, DeviceConfigConflict, SpecSyntax."""
        return self.opened.open(spec, params)

    def open_all(self, specs: str | Iterable[str] | Mapping[str, str], *, default: str | None = None) -> DeviceMap:
        """The devices of several specs: text with ';', a list, or {name: spec}; returns a DeviceMap."""
        return self.opened.open_all(specs, default)

    def open_devices(self) -> list[OpenDevice]:
        """Devices that are open, in the order of their opening."""
        return list(self.opened)

    # --- time

    @property
    def host_ns(self) -> float:
        """The host's clock in ns."""
        return self.timeline_host.now_ns

    def spawn(self, generator: Generator[Any, Any, Any], *, label: str = "") -> Event:
        """Run a generator as a second host core: it yields Events, and ns (a number) that it works; returns the Event of its end.

        Its clock is the simulated time; what it issues is stamped with it.
        """
        if self.recorder is not None:
            raise UsageError(
                "a recording supports one host process, no spawned ones", hint="spawn outside of record(...)"
            )
        return spawn(self, generator, label)

    def run_until(self, ns: float) -> None:
        """Let simulated time, and the host's, come to `ns`."""
        self.timeline_host.charge("run until", "idle", max(ns - self.host_ns, 0), 0)
        self.executor.catch_up()

    def drain(self) -> None:
        """The host waits for everything on every device."""
        for device in self.opened:
            device.synchronize()

    def new_timeline(self, label: str = "timeline") -> Timeline:
        """A counter whose values are events."""
        return Timeline(self, label)

    # --- what happened

    def timeline(self) -> Spans:
        """Every command issued so far: `Spans` with start and end in ns, `.to_chrome_trace(path)`."""
        return Spans(self.spans)

    def scope(self, name: str) -> AbstractContextManager[None]:
        """Context manager that names a part of the timeline: `scope` of the spans of its commands."""
        return self.spans.scope(name)

    def digest(self) -> str:
        """Hash of the timeline: equal runs have equal ones."""
        return self.spans.digest()

    def profile(
        self, *, families: str | Iterable[str] = ("queue_events", "host"), filters: Mapping[str, Any] | None = None
    ) -> AbstractContextManager[Profile]:
        """Context manager that gives a `Profile`, filled at the end of the block.

        `families`: of queue_events, host, dispatch, memory, counters; `filters`: {"function": glob over labels, "device": a
        device or a glob over specs, "queue": number}, which choose spans.  UsageError for others.
        """
        return profile(self, families, filters)

    def record(self, path: str | PathLike[str]) -> AbstractContextManager[None]:
        """Record the commands of the `with` block in a file; see `tensim.runtime.recording`."""
        return record(self, path)
