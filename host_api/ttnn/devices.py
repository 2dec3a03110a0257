"""Devices: opening, closing, grids and coordinates of cores, the program cache.

A device is a mesh, most often of one chip; each chip of a larger one is a mesh of its own, too.  `configure` sets what
`open_device` has no argument for: the architecture or the board, and how chips are simulated.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import tensim.device as metal
from tensim.sim.arch.loader import load_arch
from tensim.sim.errors import TensimWarning
from tensim.ttnn.cards import card_of
from tensim.ttnn.cores import CoreCoord, CoreGrid, pair
from tensim.ttnn.enums import Arch, DispatchCoreAxis, DispatchCoreType
from tensim.ttnn.errors import ArgumentError
from tensim.ttnn.fabric import FabricNodeId, MeshId, fabric_settings
from tensim.ttnn.mesh_chips import choose
from tensim.ttnn.meshes import MeshCoordinate, MeshCoordinateRange, MeshShape
from tensim.ttnn.sub_devices import SubDevice, SubDeviceId

if TYPE_CHECKING:
    from tensim.mesh_device import MeshDevice as HostMesh
    from tensim.sim.arch.loader import Arch as ChipDescription
    from tensim.sim.host.wiring import Board
    from tensim.ttnn.cores import CoreLike
    from tensim.ttnn.enums import NOC
    from tensim.ttnn.programs import Workload
    from tensim.types import SubDeviceManagerId

MEMORY_MAP = {"l1.user_base": "ttnn.l1_base", "alignment.l1_block": "ttnn.l1_block", "dram.user_base": "ttnn.dram_base"}
ARCHES = {"wormhole_b0": Arch.WORMHOLE_B0, "blackhole": Arch.BLACKHOLE, "grayskull": Arch.GRAYSKULL}
FABRIC_HINT = "ttnn.set_fabric_config before ttnn.open_mesh_device of several chips"
TRACE_BLOCK = 4096  # bytes of a bank in which the trace region is taken


@dataclass(frozen=True)
class Settings:
    """How chips are simulated; see `tensim.create_device`.  `overrides`: of architecture parameters, by dotted key; `board`: whose
    chips meshes are made of (`tensim.open_mesh_device`), None: there is one chip.
    """

    arch: str = "wormhole_b0"
    numerics: str = "fast"
    noc: str = "packet"
    max_cycles: int | None = None
    seed: int = 0
    check: bool = False
    overrides: dict[str, Any] = field(default_factory=dict)
    log: bool = False  # keep what every thread does, for a timeline
    board: str | None = None


settings = Settings()
_open: dict[int, MeshDevice] = {}
_default: MeshDevice | None = None
_closing: list[Callable[[MeshDevice], object]] = []  # called with each device before it is closed


def configure(**changes: Any) -> Settings:
    """Change the settings of devices opened from here on (fields of `Settings`); returns the settings before.

    With a board its architecture comes, unless another one is named beside it, and the parameters of its cards.
    """
    global settings
    if "board" in changes:
        own = {key: value for key, value in settings.overrides.items() if key not in card_of(settings.board)}
        changes["overrides"] = card_of(changes["board"]) | changes.get("overrides", own)
        if changes["board"] is not None:
            changes = {"arch": board_named(changes["board"]).arch} | changes
    before, settings = settings, replace(settings, **changes)
    return before


def board_named(name: str) -> Board:
    from tensim.mesh_device import board_of

    return board_of(name)


def before_closing(look: Callable[[MeshDevice], object]) -> None:
    """Call `look` with each device that is closed from here on, when its work has ended."""
    _closing.append(look)


def chip_description() -> ChipDescription:
    """The `Arch` of devices, with ttnn's memory map."""
    plain = load_arch(settings.arch, settings.overrides)
    ours = {key: plain[source] for key, source in MEMORY_MAP.items() if key not in settings.overrides}
    return load_arch(settings.arch, settings.overrides | ours)


class KnownPrograms:
    """The program cache: `entries` by what decides whether a program is known; off, it keeps none."""

    def __init__(self) -> None:
        self.entries: dict[Hashable, Workload] = {}
        self.on = self.misses_allowed = True


_mesh_ids = itertools.count(1)


class MeshDevice:
    """An open device: one chip, or a mesh of several.

    `chips`: its chips, row after row, each a MeshDevice of one; `host`: the first one for the host API; `joined`: the mesh of the
    host API that they were opened as, None of a chip opened alone.
    """

    def __init__(
        self,
        host: metal.Device,
        number: int,
        joined: HostMesh | None = None,
        chips: list[MeshDevice] | None = None,
        shape: Iterable[int] = (1, 1),
    ) -> None:
        self.host, self._number, self.programs = host, number, KnownPrograms()
        self.joined, self.chips, self._shape = joined, chips or [self], MeshShape(list(shape))
        self.default_queue, self._id, self._submeshes = 0, next(_mesh_ids), list[MeshDevice]()
        # Of sub-devices: the manager of each chip by that of the first
        self._managers: dict[SubDeviceManagerId, list[SubDeviceManagerId]] = {}

    @classmethod
    def of_chips(cls, chips: list[MeshDevice], shape: Iterable[int]) -> MeshDevice:
        """A mesh of chips that were opened together."""
        return cls(chips[0].host, chips[0]._number, chips[0].joined, chips, shape)

    def __repr__(self) -> str:
        chips = f"{len(self.chips)} devices" if len(self.chips) > 1 else f"device {self._number}"
        return f"MeshDevice({self.shape[0]}x{self.shape[1]} grid, {self.host.arch.name}, {chips})"

    # --- the mesh

    @property
    def shape(self) -> MeshShape:
        return self._shape

    def id(self) -> int:
        """Number of the mesh."""
        return self._id

    def get_system_mesh_id(self) -> int:
        """Number of the mesh on the fabric: there is one."""
        return 0

    def chip(self, coordinate: Iterable[int] | None = None) -> MeshDevice:
        """The chip at a place, None: the first one; ArgumentError outside the mesh."""
        place = tuple(coordinate or (0,) * len(self.shape))
        if len(place) != len(self.shape) or not all(0 <= a < b for a, b in zip(place, self.shape, strict=True)):
            raise ArgumentError(f"{coordinate} lies outside the mesh of {self.shape}")
        return self.chips[self.shape.coordinates().index(MeshCoordinate(place))]

    def get_device_id(self, coordinate: Iterable[int] | None = None) -> int:
        """Number of the chip at a place."""
        return self.chip(coordinate)._number

    def get_device_ids(self) -> list[int]:
        """Numbers of its chips, row after row."""
        return [chip._number for chip in self.chips]

    def get_num_devices(self) -> int:
        """Number of its chips."""
        return len(self.chips)

    def arch(self) -> Arch:
        """The Arch."""
        return ARCHES.get(self.host.arch.name, Arch.WORMHOLE_B0)

    # --- cores

    def compute_with_storage_grid_size(self) -> CoreCoord:
        """Columns and rows of the worker cores."""
        return CoreCoord(*self.host.arch.grid)

    @property
    def core_grid(self) -> CoreGrid:
        return CoreGrid(x=self.host.arch.grid[0], y=self.host.arch.grid[1])

    def dram_grid_size(self) -> CoreCoord:
        """(banks, 1)."""
        return CoreCoord(self.host.arch.dram_banks, 1)

    def kernel_coordinate(self, core: CoreLike) -> tuple[int, int]:
        """(x, y) by which kernels name a logical worker core; ArgumentError outside the grid."""
        (x, y), (columns, rows) = pair(core), self.host.arch.grid
        if not (0 <= x < columns and 0 <= y < rows):
            raise ArgumentError(f"worker core {x}-{y} lies outside the {columns}x{rows} grid")
        return self.host.arch.kernel_coords[y * columns + x]

    def worker_core_from_logical_core(self, logical_core: CoreLike) -> CoreCoord:
        """The coordinate by which kernels name a worker core."""
        return CoreCoord(*self.kernel_coordinate(logical_core))

    def logical_core_from_worker_core(self, worker_core: CoreLike) -> CoreCoord:
        """The logical core of such a coordinate."""
        names = self.host.arch.kernel_coords
        if pair(worker_core) not in names:
            raise ArgumentError(f"{worker_core} names no worker core")
        y, x = divmod(names.index(pair(worker_core)), self.host.arch.grid[0])
        return CoreCoord(x, y)

    def dram_core_from_logical_core(self, logical_core: CoreLike) -> CoreCoord:
        """The coordinate of the endpoint on NoC 0 of DRAM bank x of a logical core (x, 0)."""
        bank, y = pair(logical_core)
        if y or not 0 <= bank < self.host.arch.dram_banks:
            raise ArgumentError(f"DRAM core {bank}-{y} is not one of 0-0 to {self.host.arch.dram_banks - 1}-0")
        return CoreCoord(*self.host.arch.dram_endpoints[0][bank][:2])

    def get_optimal_dram_bank_to_logical_worker_assignment(
        self, noc: NOC | None = None, coordinate: object = None
    ) -> list[CoreCoord]:
        """For each DRAM bank the worker core nearest to it, each core once."""
        from tensim.ttnn.placement import workers_of_banks

        return [CoreCoord(*core) for core in workers_of_banks(self.host.arch, 0 if noc is None else noc.value)]

    # --- program cache

    def num_program_cache_entries(self) -> int:
        """Number of programs in the cache."""
        return len(self.programs.entries)

    def enable_program_cache(self) -> None:
        """The cache is on from the start; this changes nothing."""
        self.programs.on = True

    def clear_program_cache(self) -> None:
        """Forget the programs."""
        self.programs.entries.clear()

    def disable_and_clear_program_cache(self) -> None:
        """Forget the programs and build every one anew from here on."""
        self.programs.on = False
        self.programs.entries.clear()

    def set_program_cache_misses_allowed(self, allowed: bool) -> None:
        """Whether a program that is not in the cache may be built; RuntimeError at the next one if not."""
        self.programs.misses_allowed = bool(allowed)

    # --- submeshes and sub-devices

    def get_view(self) -> MeshDevice:
        """The device itself: its only view."""
        return self

    def create_submesh(self, shape: Iterable[int], offset: Iterable[int] | None = None) -> MeshDevice:
        """A rectangle of its chips, from a place on (None: the first chip)."""
        size, begin = MeshShape(list(shape)), tuple(offset or (0, 0))
        if len(size) != 2 or min(size) < 1 or any(a + b > c for a, b, c in zip(begin, size, self.shape, strict=True)):
            raise ArgumentError(f"a mesh of {self.shape} has no submesh of {size} from {list(begin)} on")
        last = [a + b - 1 for a, b in zip(begin, size, strict=True)]
        chips = [self.chip(place) for place in MeshCoordinateRange(MeshCoordinate(begin), MeshCoordinate(last))]
        submesh = chips[0] if len(chips) == 1 else MeshDevice.of_chips(chips, size)
        if submesh is not self and submesh not in self._submeshes:
            self._submeshes.append(submesh)
        return submesh

    def create_submeshes(self, shape: Iterable[int]) -> list[MeshDevice]:
        """All its chips in rectangles of one shape; ArgumentError when they do not fill it."""
        size = MeshShape(list(shape))
        if len(size) != 2 or min(size) < 1 or any(b % a for a, b in zip(size, self.shape, strict=True)):
            raise ArgumentError(f"submeshes of {size} do not fill a mesh of {self.shape}")
        corners = itertools.product(*(range(0, b, a) for a, b in zip(size, self.shape, strict=True)))
        return [self.create_submesh(size, corner) for corner in corners]

    def get_submeshes(self) -> list[MeshDevice]:
        """Those that were created."""
        return list(self._submeshes)

    def reshape(self, shape: Iterable[int]) -> None:
        """A row may become a column, and a column a row; ArgumentError for other shapes."""
        size = MeshShape(list(shape))
        line = 1 in size and 1 in self.shape and size.mesh_size() == len(self.chips)
        if size != self.shape and not (line and len(size) == 2):
            raise ArgumentError(f"a mesh of {self.shape} cannot become {size}", hint="open it in that shape")
        self._shape = size

    def get_fabric_node_id(self, coordinate: Iterable[int] | None = None) -> FabricNodeId:
        """The name of the chip at a place on the fabric; ArgumentError without one."""
        if self.joined is None or not self.joined.has_fabric:
            raise ArgumentError("get_fabric_node_id: the device has no fabric", hint=FABRIC_HINT)
        return FabricNodeId(MeshId(0), self.get_device_id(coordinate))

    def create_sub_device_manager(self, sub_devices: Iterable[SubDevice], local_l1_size: int = 0) -> SubDeviceManagerId:
        """Describe a division of each chip into sub-devices; returns the manager's id."""
        from tensim.types import SubDevice as HostSubDevice

        groups = [HostSubDevice(one.host()) for one in sub_devices]
        managers = [chip.host.create_sub_device_manager(groups, local_l1_size) for chip in self.chips]
        self._managers[managers[0]] = managers
        return managers[0]

    def _managed(self, manager: SubDeviceManagerId) -> list[tuple[metal.Device, SubDeviceManagerId]]:
        """[(chip, manager of it)] of a manager of all."""
        managers = self._managers.get(manager, [manager] * len(self.chips))
        return [(chip.host, one) for chip, one in zip(self.chips, managers, strict=True)]

    def load_sub_device_manager(self, manager: SubDeviceManagerId) -> None:
        """Switch to a manager."""
        for chip, one in self._managed(manager):
            chip.load_sub_device_manager(one)

    def clear_loaded_sub_device_manager(self) -> None:
        """Back to one sub-device with all cores."""
        for chip in self.chips:
            chip.host.clear_loaded_sub_device_manager()

    def remove_sub_device_manager(self, manager: SubDeviceManagerId) -> None:
        """Forget a manager."""
        for chip, one in self._managed(manager):
            chip.remove_sub_device_manager(one)

    def set_sub_device_stall_group(self, sub_device_ids: Iterable[SubDeviceId]) -> None:
        """Sub-devices that reads, writes and synchronisation wait for."""
        numbers = [item.id for item in sub_device_ids]
        for chip in self.chips:
            chip.host.set_sub_device_stall_group(numbers)

    def reset_sub_device_stall_group(self) -> None:
        """They wait for all sub-devices again."""
        for chip in self.chips:
            chip.host.reset_sub_device_stall_group()

    def quiesce_devices(self) -> None:
        """Wait for everything."""
        synchronize_device(self)

    # --- constants of the vector unit

    def sfpu_eps(self) -> float:
        """Step from 1 to the next float32."""
        return 2.0**-23 if self.arch() != Arch.GRAYSKULL else 2.0**-10

    def sfpu_inf(self) -> float:
        """Bits that the vector unit takes for infinity, as a float."""
        return 1.7014118346046923e38

    def sfpu_nan(self) -> float:
        """A float32 that is none."""
        return float("nan")

    # --- queues

    def queue(self, cq_id: int | None = None) -> metal.CommandQueue:
        """A command queue; ArgumentError for one that is not there."""
        number = getattr(cq_id, "value", cq_id)
        number = self.default_queue if number is None else int(number)
        if not 0 <= number < self.host.num_hw_cqs():
            raise ArgumentError(f"cq_id {number}: the device has {self.host.num_hw_cqs()} command queues")
        return self.host.command_queue(number)

    def check_open(self) -> None:
        """ArgumentError when it was closed."""
        if not all(chip.host.is_open for chip in self.chips):
            raise ArgumentError(f"device {self._number} is closed")


Device = MeshDevice


class DispatchCoreConfig:
    """Which cores dispatch; the chip's grid is fixed, so it changes nothing."""

    def __init__(
        self,
        type: DispatchCoreType | None = None,
        axis: DispatchCoreAxis | None = None,
        fabric_tensix_config: object = None,
    ) -> None:
        self.type, self.axis = type or DispatchCoreType.WORKER, axis or DispatchCoreAxis.ROW
        self.fabric_tensix_config = fabric_tensix_config


def _described(trace_region_size: int, worker_l1_size: int) -> tuple[ChipDescription, int]:
    """(`Arch` of a device, bytes of a DRAM bank for traces)."""
    arch = chip_description()
    region = math.ceil(trace_region_size / arch.dram_banks / TRACE_BLOCK) * TRACE_BLOCK
    if worker_l1_size:
        changes = {"l1.user_base": arch.l1_size - worker_l1_size}
        arch = load_arch(settings.arch, settings.overrides | {key: arch[key] for key in MEMORY_MAP} | changes)
    return arch, region


def _check_closed(numbers: Iterable[int]) -> None:
    taken = {number for device in _open.values() for number in device.get_device_ids()}
    for number in numbers:
        if number in taken:
            raise ArgumentError(f"device {number} is already open")


def _opened(device: MeshDevice) -> MeshDevice:
    for chip in device.chips if settings.log else ():
        chip.host.chip.recordings.enable_log()
    _open[device._number] = device
    return device


def _open_device(
    number: int, queues: int, l1_small_size: int, trace_region_size: int, worker_l1_size: int = 0
) -> MeshDevice:
    _check_closed([number])
    arch, region = _described(trace_region_size, worker_l1_size)
    with warnings.catch_warnings(
        action="ignore", category=TensimWarning
    ):  # parameters of ttnn's memory map are used here
        host = metal.create_device(
            number, queues, l1_small_size, region, arch=arch, numerics=settings.numerics, noc=settings.noc,
            max_cycles=settings.max_cycles, seed=settings.seed, check=settings.check,
        )  # fmt: skip
    return _opened(MeshDevice(host, number))


def open_device(
    *,
    device_id: int = 0,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    dispatch_core_config: DispatchCoreConfig | None = None,
    worker_l1_size: int = 0,
) -> MeshDevice:
    """Open a device with one command queue.  `trace_region_size`: bytes over all DRAM banks."""
    return _open_device(device_id, 1, l1_small_size, trace_region_size, worker_l1_size)


def CreateDevice(
    device_id: int = 0,
    num_command_queues: int = 1,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    dispatch_core_config: DispatchCoreConfig | None = None,
    *,
    worker_l1_size: int = 0,
) -> MeshDevice:
    """Open a device with several command queues."""
    return _open_device(device_id, num_command_queues, l1_small_size, trace_region_size, worker_l1_size)


def open_mesh_device(
    mesh_shape: Iterable[int] | None = None,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    num_command_queues: int = 1,
    dispatch_core_config: DispatchCoreConfig | None = None,
    offset: Iterable[int] | None = None,
    physical_device_ids: Sequence[int] = (),
    worker_l1_size: int = 0,
) -> MeshDevice:
    """Open a mesh of chips of the board (`configure(board=...)`), None: all, with the fabric of `set_fabric_config`.

    ArgumentError for a mesh that the board does not have.
    """
    shape = None if mesh_shape is None else MeshShape(list(mesh_shape))
    if shape is not None and (len(shape) != 2 or min(shape) < 1):
        raise ArgumentError(f"open_mesh_device: mesh_shape {shape}: it takes rows and columns")
    if any(offset or ()):
        hint = "open a larger mesh, and take a part of it with create_submesh"
        raise ArgumentError("open_mesh_device: offset: meshes begin at the first chip of a board", hint=hint)
    if shape == (1, 1) or (shape is None and settings.board is None):
        number = physical_device_ids[0] if physical_device_ids else 0
        return _open_device(number, num_command_queues, l1_small_size, trace_region_size, worker_l1_size)
    if settings.board is None:
        raise ArgumentError(
            f"open_mesh_device: mesh_shape {shape}: there is one chip",
            hint="choose a board: `tensim ttnn --mesh NAME`, or tensim.ttnn.devices.configure(board=NAME)",
        )
    return _open_mesh(shape, physical_device_ids, num_command_queues, l1_small_size, trace_region_size, worker_l1_size)


def _open_mesh(
    shape: MeshShape | None,
    ids: Sequence[int],
    queues: int,
    l1_small_size: int,
    trace_region_size: int,
    worker_l1_size: int,
) -> MeshDevice:
    from tensim.mesh_device import open_mesh_device as open_host_mesh

    assert settings.board is not None
    board, fabric = board_named(settings.board), fabric_settings()
    chosen = choose(settings.board, board, shape, fabric.config)
    if ids and list(ids) != chosen.order:
        raise ArgumentError(f"open_mesh_device: physical_device_ids: the mesh has the chips {chosen.order}")
    _check_closed(chosen.order)
    arch, region = _described(trace_region_size, worker_l1_size)
    joined = open_host_mesh(
        settings.board, chosen.shape, arch=arch, numerics=settings.numerics, noc=settings.noc,
        max_cycles=settings.max_cycles, check=settings.check, num_hw_cqs=queues, l1_small_size=l1_small_size,
        trace_region_size=region, seed=settings.seed, **fabric.opening() | {"ring": chosen.ring, "line": chosen.line},
    )  # fmt: skip
    chips = [MeshDevice(joined.devices[number], number, joined) for number in chosen.order]
    return _opened(MeshDevice.of_chips(chips, shape or board.shape))


def close_device(device: MeshDevice) -> None:
    """Wait for what is queued and close the device with all its chips; closed ones, and parts of a mesh, are left alone."""
    global _default
    number = device._number
    if _open.get(number) is device:
        del _open[number]
        device.programs.entries.clear()
        if _default is device:
            _default = None
        if _closing:
            synchronize_device(device)
        for look in _closing:
            look(device)
        if device.joined is None:
            metal.close_device(device.host)
        else:
            from tensim.mesh_device import close_mesh_device

            close_mesh_device(device.joined)


CloseDevice = close_mesh_device = close_device


@contextlib.contextmanager
def manage_device(device_id: int) -> Iterator[MeshDevice]:
    """An open device for a block."""
    device = open_device(device_id=device_id)
    try:
        yield device
    finally:
        close_device(device)


@contextlib.contextmanager
def create_mesh_device(*args: Any, **named: Any) -> Iterator[MeshDevice]:
    """An open mesh for a block; arguments of `open_mesh_device`."""
    device = open_mesh_device(*args, **named)
    try:
        yield device
    finally:
        close_mesh_device(device)


def open_devices() -> dict[int, MeshDevice]:
    """The open devices, by number."""
    return dict(_open)


def SetDefaultDevice(device: MeshDevice | None) -> None:
    """Make a device the one that calls without a device use."""
    global _default
    _default = device


def GetDefaultDevice() -> MeshDevice | None:
    """The default device, or None."""
    return _default


def has_stopped(device: MeshDevice) -> bool:
    """Whether an error has stopped the device, or a chip of it: nothing can run on it any more."""
    return any(chip.host.system.executor.devices[chip.host.id].failed is not None for chip in device.chips)


def synchronize_device(
    device: MeshDevice, cq_id: int | None = None, sub_device_ids: Iterable[SubDeviceId | int] = ()
) -> None:
    """Wait for one command queue, or for all."""
    import tensim.queue as queues

    number = None if cq_id is None else device.queue(cq_id).id
    groups = tuple(item.id if isinstance(item, SubDeviceId) else item for item in sub_device_ids)
    for chip in device.chips:
        queues.synchronize(chip.host, number, groups)
