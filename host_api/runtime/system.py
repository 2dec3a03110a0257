"""The system: declared devices, one simulated clock, one imperative host timeline (docs/hardware/runtime.md#time)."""

import contextlib
import hashlib
import itertools
import weakref
from collections import Counter
from collections.abc import Mapping

import tensim.device as metal
from tensim.runtime.conversion import Plans
from tensim.runtime.current_system import enter, leave, make_with
from tensim.runtime.devices import EmbeddedDevice, HostDevice, SimAccelerator
from tensim.runtime.errors import DeviceConfigConflict, DeviceNotFound
from tensim.runtime.planner import Costs
from tensim.runtime.residency import Residency
from tensim.runtime.selection import DeviceInfo, select
from tensim.runtime.specs import parse_devices
from tensim.runtime.sync import Event, Timeline, covers, merge
from tensim.runtime.systems import SystemConfig, build_topology, chip_overrides, mesh_of
from tensim.runtime.timeline import Span, chrome_trace
from tensim.sim.arch.loader import load_arch
from tensim.sim.engine.environment import FS_PER_NS
from tensim.sim.errors import TensimError, UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.executor import RecordedEvent
from tensim.sim.host.executor import System as SimSystem

FIRST_HOST = 256  # number of the first host device in command records; chips have 0, 1, ...
HAZARDS = ("auto", "manual", "check")


class HostTimeline:
    """The host's clock.  `now` in ns; `compute(ns)`: the host works."""

    def __init__(self, system):
        self._system = system

    @property
    def now(self):
        """Simulated ns."""
        return self._system.sim.host.now / FS_PER_NS

    def compute(self, ns):
        """Let the host work for `ns`; devices go on meanwhile."""
        self._system.charge("host work", "compute", ns, 0)


class DeviceMap(Mapping):
    """Name -> Device (None: an optional device that is absent), in the order declared; `default`: the default device."""

    def __init__(self, devices, default):
        self._devices, self.default = devices, devices.get(default)

    def __getitem__(self, name):
        return self._devices[name]

    def __iter__(self):
        return iter(self._devices)

    def __len__(self):
        return len(self._devices)


@make_with
class System:
    """Declared devices and their common time.

    `config`: a SystemConfig, a list of boards as text, or None for one Wormhole chip.  Nothing is opened before `open`.
    `archs`: the chips' parameters; `stats`: counters of the runtime; `spans`: every command issued.
    """

    def __init__(self, config=None, *, seed=0, hazards=None):
        config = SystemConfig() if config is None else config
        self.config = SystemConfig.named(config) if isinstance(config, str) else config
        self.seed, self.hazards = seed, hazards or self.config.hazards
        if self.hazards not in HAZARDS:
            raise UsageError(f"hazards is {self.hazards!r}", hint=f"one of {', '.join(HAZARDS)}")
        self.archs = [load_arch(chip.arch, chip_overrides(self.config, chip.arch)) for chip in self.config.chips]
        self.sim = SimSystem(metal.current_system().executor.programs)
        self.host, self.env, self.executor = self.sim.host, self.sim.env, self.sim.executor
        self.timeline_host = HostTimeline(self)
        self.tensors = weakref.WeakValueDictionary()  # id -> Tensor, as long as someone holds it
        self.next_tensor_id = itertools.count(1).__next__
        self.plans, self.residency = Plans(self), Residency(self)
        self.stats, self.spans, self.signalled, self.clock = Counter(), [], set(), {}
        self.in_callback, self.capturing, self.recorder, self.hooks = False, None, None, []
        self._open, self._costs, self._scopes = {}, {}, []
        self.inventory = self._declare()
        self.topology = self.sim.topology = build_topology(self.env, self.config, self.archs)
        self.host.use_costs(self.archs[0])
        self.origin = self._origin()
        enter(self)
        self.activate()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def activate(self):
        """Make this the system to which new programs and events of the plain host API belong."""
        metal.use_system(self.sim)

    def close(self):
        """Wait for everything and close all devices; what failed stays failed."""
        with contextlib.suppress(TensimError):
            self.drain()
        for device in self.open_devices():
            device.close(force=True)
        leave(self)

    def _origin(self):
        state = RecordedEvent()
        state.done = self.env.event()
        state.happen(0)
        event = Event(self, state, 0, "start", {})
        self.env.run_until(state.done)
        return event

    # --- declared devices

    def _declare(self):
        """DeviceInfos: the chips, the host, and the chips once more as embedded targets."""
        infos, matches = [], Counter()

        def add(scheme, arch, **details):
            spec = f"{scheme}://{arch}[{matches[scheme, arch]}]"
            infos.append(DeviceInfo(len(infos), spec, scheme, arch, matches[scheme, arch], **details))
            matches[scheme, arch] += 1

        for chip, arch in zip(self.config.chips, self.archs, strict=True):
            self._declare_chip(add, "sim", chip, arch)
        add("host", "local", mmio=True, remote_of=None, mesh_shape=(1, 1), queues=64, clock_mhz=0, grid=(0, 0))
        for chip, arch in zip(self.config.chips, self.archs, strict=True):
            self._declare_chip(add, "embedded", chip, arch)
        return infos

    @staticmethod
    def _declare_chip(add, scheme, chip, arch):
        add(
            scheme, chip.arch, mmio=chip.remote_of is None, remote_of=chip.remote_of, mesh_shape=chip.group_shape,
            queues=int(arch["dispatch.max_queues"]), clock_mhz=arch.clock_mhz, grid=tuple(arch.grid),
        )  # fmt: skip

    def chip_of(self, info):
        """Position of the chip behind a declared device."""
        return info.id if info.scheme == "sim" else info.id - len(self.config.chips) - 1

    def list_devices(self, pattern="*"):
        """Declared devices whose spec matches a shell pattern; their `.spec` opens them."""
        import fnmatch

        return [info for info in self.inventory if pattern == "*" or fnmatch.fnmatch(info.spec, pattern)]

    def describe(self):
        """What there is, as plain data: no device is opened."""
        from tensim.runtime.description import describe

        return describe(self)

    def explain(self, spec):
        """The Selection that `open_all` would come to, with a verdict on every term; raises what it would raise."""
        return select(parse_devices(spec), self.inventory)

    # --- opening

    def open(self, spec, **params):
        """The device of one spec; further params as keywords.  DeviceNotFound, DeviceConfigConflict, SpecSyntax."""
        text = str(spec)
        parsed = parse_devices(text)
        if len(parsed) != 1:
            raise UsageError(f"{text!r} names {len(parsed)} devices", hint="open_all opens several")
        choice = next(iter(select(parsed, self.inventory).values()))
        if choice.info is None:
            raise DeviceNotFound(f"{text}: the device is optional and absent")
        return self._device(choice.info, {**choice.params, **{key: value for key, value in params.items()}})

    def open_all(self, specs, *, default=None):
        """The devices of several specs: text with ';', a list, or {name: spec}; returns a DeviceMap."""
        if isinstance(specs, Mapping):
            specs = [f"{name}={spec}" for name, spec in specs.items()]
        text = specs if isinstance(specs, str) else ";".join(map(str, specs))
        selection = select(parse_devices(text), self.inventory, default=default)
        devices = {
            name: None if choice.info is None else self._device(choice.info, choice.params)
            for name, choice in selection.items()
        }
        return DeviceMap(devices, selection.default)

    def _device(self, info, params):
        place = info.scheme if info.scheme == "host" else self.chip_of(info)
        device = self._open.get(place)
        if device is not None:
            self._check_same(device, info, params)
            return device
        mesh = params.get("mesh")
        if mesh not in (None, (1, 1), "1x1"):
            return self._mesh(info, params, mesh)
        kind = {"sim": SimAccelerator, "host": HostDevice, "embedded": EmbeddedDevice}[info.scheme]
        number = FIRST_HOST if info.scheme == "host" else place
        device = self._open[place] = kind(self, info, params, number)
        return device

    def _mesh(self, info, params, mesh):
        from tensim.runtime.meshes import MeshDevice

        rows, columns = mesh if isinstance(mesh, tuple) else map(int, mesh.split("x"))
        rest = {key: value for key, value in params.items() if key != "mesh"}
        chips = mesh_of(self.config.chips, self.chip_of(info), (rows, columns))
        return MeshDevice((rows, columns), [self._device(self.inventory[chip], rest) for chip in chips])

    @staticmethod
    def _check_same(device, info, params):
        if device.scheme != info.scheme:
            raise DeviceConfigConflict(
                f"{device.name} is open as {device.scheme}:// but was requested as {info.scheme}://",
                hint="close it first",
            )
        for key, value in params.items():
            if str(device.params.get(key, value)) != str(value) or key not in device.params:
                raise DeviceConfigConflict(
                    f"{device.name} is open with {key}={device.params.get(key, 'its default')} "
                    f"but was requested with {key}={value}",
                    where={"key": key, "open": device.params.get(key), "asked": value},
                    hint="open it once with all settings",
                )

    def open_devices(self):
        """Devices that are open, in the order of their opening."""
        return list(self._open.values())

    def forget(self, device):
        """A device was closed."""
        for place, open_device in list(self._open.items()):
            if open_device is device:
                del self._open[place]

    def open_record(self, info, params, number):
        """The CreateDevice record of a declared chip."""
        chip = self.config.chips[self.chip_of(info)]
        overrides = chip_overrides(self.config, chip.arch)
        if "harvest" in params:
            raise UsageError(
                f"{info.spec}: harvest={params['harvest']} is not modelled by number",
                hint="describe the card's rows and columns in a YAML file and use that file as the arch",
            )
        queues = int(params.get("cqs", info.queues))
        if queues > info.queues:
            overrides["dispatch.max_queues"] = queues
        if "clock_mhz" in params:
            overrides["clock.aiclk_mhz"] = params["clock_mhz"]
        arch = load_arch(chip.arch, overrides)
        seed = int(params.get("seed", self.seed))
        sizes = int(params.get("l1_small", 0)), int(params.get("trace_region", 0))
        return c.CreateDevice(number, queues, *sizes, arch, self.config.numerics, self.config.noc, None, seed)

    # --- time

    @property
    def host_ns(self):
        """The host's clock in ns."""
        return self.host.now / FS_PER_NS

    def charge(self, label, op, ns, nbytes):
        """The host works for `ns` on something that the timeline shows."""
        begun = self.host.now
        self.executor.submit(c.HostWork(round(ns * FS_PER_NS)))
        if op != "idle":
            self.stats["host.prep_ns"] += ns
        self.spans.append(Span(op, "host", None, label, nbytes, (), begun, self.host.now, None))

    def spawn(self, generator, *, label=""):
        """Run a generator as a second host core: it yields Events, and ns (a number) that it works; returns the Event of its end.

        Its clock is the simulated time; what it issues is stamped with it.
        """
        from tensim.runtime.spawned import spawn

        if self.recorder is not None:
            raise UsageError(
                "a recording supports one host process, no spawned ones", hint="spawn outside of record(...)"
            )
        return spawn(self, generator, label)

    def run_until(self, ns):
        """Let simulated time, and the host's, come to `ns`."""
        self.charge("run until", "idle", max(ns - self.host_ns, 0), 0)
        self.executor.catch_up()

    def drain(self):
        """The host waits for everything on every device."""
        for device in self.open_devices():
            device.synchronize()

    def timeline(self):
        """Every command issued so far: `Timeline` of spans with start and end in ns, `.to_chrome_trace(path)`."""
        return chrome_trace(self.spans)

    def profile(self, *, families=("queue_events", "host"), filters=None):
        """Context manager that gives a `Profile`, filled at the end of the block.

        `families`: of queue_events, host, dispatch, memory, counters; `filters`: {"function": glob over labels, "device": a
        device or a glob over specs, "queue": number}, which choose spans.  UsageError for others.
        """
        from tensim.runtime.profiling import profile

        return profile(self, families, filters)

    def new_timeline(self, label="timeline"):
        """A counter whose values are events."""
        return Timeline(self, label)

    def record(self, path, *, files="all"):
        """Record the commands of the `with` block in a file; see `tensim.runtime.recording`."""
        from tensim.runtime.recording import record

        return record(self, path, files)

    # --- what commands need

    def add_span(self, kind, queue, event, nbytes, deps):
        """Remember a command for the timeline."""
        self.spans.append(
            Span(
                kind, queue.device.name, queue.id, event.label, nbytes, tuple(d.label for d in deps), None, None, event
            )
        )

    def host_saw(self, event):
        """Whether the host has waited for an event, so that what it issues now comes later."""
        return bool(event.clock) and covers(self.clock, event.clock)

    def saw(self, event):
        """The host has waited for an event."""
        self.clock = merge(self.clock, event.clock)

    def check_not_in_callback(self):
        """UsageError inside a host call: it may not use queues."""
        if self.in_callback:
            raise UsageError("a host call must not use queues", hint="issue it behind the host call's event")

    def costs(self, source, target):
        """Rates of conversions between two devices (None: host memory)."""
        key = tuple(None if one is None or one.scheme == "host" else one.number for one in (source, target))
        if key not in self._costs:
            self._costs[key] = self._rates(source, target)
        return self._costs[key]

    def _rates(self, source, target):
        chip = next((one for one in (target, source) if one is not None and one.scheme != "host"), None)
        arch = self.archs[0] if chip is None else chip.arch
        memory = (
            arch.dram_banks * arch["dram.bank_bytes_per_cycle"] * arch.clock_mhz / 2000
        )  # read and written once: B/ns
        peer = None
        if None not in (source, target) and source is not target and "host" not in (source.scheme, target.scheme):
            peer = self.peer_rate(source, target)
        host = arch["host.copy_bytes_per_ns"]
        return Costs(
            host_copy=host, host_tilize=host, host_cast=host, upload=arch["pcie.write_bytes_per_ns"],
            download=arch["pcie.read_bytes_per_ns"], device_convert=memory, device_copy=memory, peer=peer,
            launch_ns=arch["dispatch.program_ns"], transfer_ns=arch["host.enqueue_transfer_ns"],
        )  # fmt: skip

    def peer_rate(self, source, target):
        """Bytes per ns from chip to chip; None without a link."""
        if self.topology.mode(source.state.place, target.state.place) == "none":
            return None
        hops = self.topology.route(source.state.place, target.state.place).hops
        return 1 / sum(1 / hop.bytes_per_ns for hop in hops)  # one hop after the other

    def run_hooks(self, name, *args):
        """Call the hooks of commands."""
        for hook in self.hooks:
            hook.call(name, *args)

    def program_hooks(self, own, info, inputs, outputs):
        """(before, after) that call the program hooks of the system and of one submit; None when there are none."""
        mine = [
            hook for hook in (*self.hooks, *(() if own is None else (own,))) if hook.pre_program or hook.post_program
        ]
        if not mine:
            return None

        def call(name):
            for hook in mine:
                hook.call(name, info, inputs, outputs)

        return lambda: call("pre_program"), lambda: call("post_program")

    # --- scopes

    @contextlib.contextmanager
    def scope(self, name):
        """Name a part of the timeline: the labels of its commands begin with it."""
        self._scopes.append(name)
        first = len(self.spans)
        try:
            yield
        finally:
            self._scopes.pop()
            for span in self.spans[first:]:
                span.scope = span.scope or name

    def digest(self):
        """Hash of the timeline: equal runs have equal ones."""
        text = "\n".join(map(str, (span.key() for span in self.spans)))
        return hashlib.sha256(text.encode()).hexdigest()
