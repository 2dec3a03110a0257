"""Opening declared devices: each place once, with the settings of its spec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from tensim.runtime.devices import EmbeddedDevice, HostDevice, SimAccelerator
from tensim.runtime.errors import DeviceConfigConflict, DeviceNotFound
from tensim.runtime.meshes import MeshDevice
from tensim.runtime.selection import PARAMS_OF, select, with_params
from tensim.runtime.specs import parse_devices, read_params
from tensim.runtime.systems import chip_overrides, mesh_of
from tensim.sim.arch.loader import load_arch
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c

if TYPE_CHECKING:
    from tensim.runtime.devices import AnyDevice, Device, OpenDevice
    from tensim.runtime.selection import DeviceInfo
    from tensim.runtime.specs import Value
    from tensim.runtime.system import System

FIRST_HOST = 256  # number of the first host device in command records; chips have 0, 1, ...
KINDS = {"sim": SimAccelerator, "host": HostDevice, "embedded": EmbeddedDevice}


class DeviceMap(Mapping):
    """Name -> Device (None: an optional device that is absent), in the order declared; `default`: the default device."""

    def __init__(self, devices: dict[str, AnyDevice | None], default: str | None) -> None:
        self._devices, self.default = devices, None if default is None else devices.get(default)

    def __getitem__(self, name: str) -> AnyDevice | None:
        return self._devices[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._devices)

    def __len__(self) -> int:
        return len(self._devices)


class OpenDevices:
    """The devices of a system that are open, in the order of their opening."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._open: dict[int | str, Any] = {}  # place (number of a chip, or "host") -> device
        self._meshes: dict[Any, MeshDevice] = {}  # (rows, columns), places -> mesh

    def __iter__(self) -> Iterator[OpenDevice]:
        return iter(list(self._open.values()))

    def open(self, spec: str | DeviceInfo, params: Mapping[str, object]) -> AnyDevice:
        """See `System.open`."""
        text = str(spec)
        parsed = parse_devices(text)
        if len(parsed) != 1:
            raise UsageError(f"{text!r} names {len(parsed)} devices", hint="open_all opens several")
        choice = next(iter(select(parsed, self.system.inventory).values()))
        if choice.info is None:
            raise DeviceNotFound(f"{text}: the device is optional and absent", hint="open_all gives None for it")
        choice = with_params(choice, read_params(params), self.system.inventory)
        return self._device(cast("DeviceInfo", choice.info), choice.params)

    def open_all(self, specs: str | Iterable[str] | Mapping[str, str], default: str | None) -> DeviceMap:
        """See `System.open_all`."""
        if isinstance(specs, Mapping):
            specs = [f"{name}={spec}" for name, spec in specs.items()]
        text = specs if isinstance(specs, str) else ";".join(map(str, specs))
        selection = select(parse_devices(text), self.system.inventory, default=default)
        devices = {
            name: None if choice.info is None else self._device(choice.info, choice.params)
            for name, choice in selection.items()
        }
        return DeviceMap(devices, selection.default)

    def forget(self, device: Device) -> None:
        """A device was closed."""
        self._open = {place: other for place, other in self._open.items() if other is not device}
        self._meshes = {key: mesh for key, mesh in self._meshes.items() if device not in mesh.devices}

    def _device(self, info: DeviceInfo, params: Mapping[str, Value]) -> AnyDevice:
        mesh = params.get("mesh", (1, 1))
        if mesh != (1, 1):
            return self._mesh(info, params, cast(tuple[int, int], mesh))
        place = info.scheme if info.scheme == "host" else self.system.inventory.chip_of(info)
        device = self._open.get(place)
        if device is not None:
            self._check_same(device, info, params)
            return device
        number = FIRST_HOST if info.scheme == "host" else cast(int, place)
        device = self._open[place] = KINDS[info.scheme](self.system, info, params, number)
        return cast("OpenDevice", device)

    def _mesh(self, info: DeviceInfo, params: Mapping[str, Value], mesh: tuple[int, int]) -> MeshDevice:
        inventory = self.system.inventory
        rest = {key: value for key, value in params.items() if key != "mesh"}
        chips = mesh_of(self.system.config.chips, inventory.chip_of(info), mesh)
        devices, key = [self._device(inventory[chip], rest) for chip in chips], (mesh, tuple(chips))
        return self._meshes.setdefault(key, MeshDevice(mesh, cast("list[SimAccelerator]", devices)))

    def _settings(self, info: DeviceInfo, params: Mapping[str, Value]) -> dict[str, object]:
        """What a device with these params is set to: with the value of each one that is left out."""
        defaults: dict[str, object] = {
            "mesh": (1, 1), "cqs": 1 if info.scheme == "host" else info.queues, "l1_small": 0, "trace_region": 0,
            "timing": "cycle", "clock_mhz": info.clock_mhz, "harvest": None, "seed": self.system.seed, "boot_ns": 0,
        }  # fmt: skip
        return {key: defaults[key] for key in PARAMS_OF[info.scheme]} | dict(params)

    def _check_same(self, device: OpenDevice, info: DeviceInfo, params: Mapping[str, Value]) -> None:
        if device.scheme != info.scheme:
            raise DeviceConfigConflict(
                f"{device.name} is open as {device.scheme}:// but was requested as {info.scheme}://",
                hint="close it first",
            )
        settings = self._settings(info, device.params)
        for key, value in params.items():
            if settings[key] != value:
                raise DeviceConfigConflict(
                    f"{device.name} is open with {key}={settings[key]} but was requested with {key}={value}",
                    where={"key": key, "open": settings[key], "asked": value},
                    hint="open it once with all settings",
                )

    def record_of(self, info: DeviceInfo, params: Mapping[str, Any], number: int) -> c.CreateDevice:
        """The CreateDevice record of a declared chip."""
        config = self.system.config
        chip = config.chips[self.system.inventory.chip_of(info)]
        overrides = chip_overrides(config, chip.arch)
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
        seed = int(params.get("seed", self.system.seed))
        sizes = int(params.get("l1_small", 0)), int(params.get("trace_region", 0))
        return c.CreateDevice(number, queues, *sizes, arch, config.numerics, config.noc, None, seed, check=config.check)
