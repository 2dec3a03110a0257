"""Devices: opening, closing, grids and coordinates of cores, the program cache.

A device is the one chip of a 1x1 mesh.  `configure` sets what `open_device` has no argument for: the architecture and how
the chip is simulated.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

import tensim.device as metal
from tensim.sim.arch.loader import load_arch
from tensim.sim.errors import TensimWarning
from tensim.ttnn.cores import CoreCoord, CoreGrid, pair
from tensim.ttnn.enums import Arch, BufferType, DispatchCoreAxis, DispatchCoreType
from tensim.ttnn.errors import ArgumentError, ArgumentTypeError
from tensim.ttnn.meshes import MeshShape

if TYPE_CHECKING:
    from tensim.sim.arch.loader import Arch as ChipDescription
    from tensim.ttnn.cores import CoreLike, CoreRangeSet
    from tensim.ttnn.enums import NOC
    from tensim.ttnn.programs import BuiltProgram
    from tensim.types import CoreRangeSet as HostCores
    from tensim.types import SubDeviceManagerId

MEMORY_MAP = {"l1.user_base": "ttnn.l1_base", "alignment.l1_block": "ttnn.l1_block", "dram.user_base": "ttnn.dram_base"}
ARCHES = {"wormhole_b0": Arch.WORMHOLE_B0, "blackhole": Arch.BLACKHOLE, "grayskull": Arch.GRAYSKULL}
TRACE_BLOCK = 4096  # bytes of a bank in which the trace region is taken


@dataclass(frozen=True)
class Settings:
    """How chips are simulated; see `tensim.create_device`.  `overrides`: of architecture parameters, by dotted key."""

    arch: str = "wormhole_b0"
    numerics: str = "fast"
    noc: str = "packet"
    max_cycles: int | None = None
    seed: int = 0
    check: bool = False
    overrides: dict[str, Any] = field(default_factory=dict)
    log: bool = False  # keep what every thread does, for a timeline


settings = Settings()
_open: dict[int, MeshDevice] = {}
_default: MeshDevice | None = None
_closing: list[Callable[[MeshDevice], object]] = []  # called with each device before it is closed


def configure(**changes: Any) -> Settings:
    """Change the settings of devices opened from here on (fields of `Settings`); returns the settings before."""
    global settings
    before, settings = settings, replace(settings, **changes)
    return before


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
        self.entries: dict[Hashable, BuiltProgram] = {}
        self.on = self.misses_allowed = True


class MeshDevice:
    """An open device: a mesh of one chip."""

    def __init__(self, host: metal.Device, number: int) -> None:
        self.host, self._number, self.programs = host, number, KnownPrograms()
        self.default_queue = 0

    def __repr__(self) -> str:
        return f"MeshDevice(1x1 grid, {self.host.arch.name}, device {self._number})"

    # --- the mesh

    @property
    def shape(self) -> MeshShape:
        return MeshShape(1, 1)

    def id(self) -> int:
        """Number of the mesh."""
        return self._number + 1

    def get_device_id(self, coordinate: object = None) -> int:
        """Number of the chip."""
        return self._number

    def get_device_ids(self) -> list[int]:
        """Numbers of its chips."""
        return [self._number]

    def get_num_devices(self) -> int:
        """Number of its chips."""
        return 1

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

    def create_submesh(self, shape: Iterable[int], offset: object = None) -> MeshDevice:
        """The device itself, for the shape 1x1."""
        if tuple(shape) != (1, 1):
            raise ArgumentError(f"a mesh of 1x1 has no submesh of {shape}")
        return self

    def create_submeshes(self, shape: Iterable[int]) -> list[MeshDevice]:
        """The device itself, for the shape 1x1."""
        return [self.create_submesh(shape)]

    def get_submeshes(self) -> list[MeshDevice]:
        """None were created."""
        return []

    def reshape(self, shape: Iterable[int]) -> None:
        """Only 1x1 is a shape of one chip."""
        self.create_submesh(shape)

    def get_fabric_node_id(self, coordinate: object = None) -> NoReturn:
        """One chip has no fabric."""
        raise ArgumentError("one chip has no fabric: programs over several chips cannot run here")

    def create_sub_device_manager(self, sub_devices: Iterable[SubDevice], local_l1_size: int = 0) -> SubDeviceManagerId:
        """Describe a division into sub-devices; returns the manager's id."""
        from tensim.types import SubDevice

        return self.host.create_sub_device_manager([SubDevice(device.host()) for device in sub_devices], local_l1_size)

    def load_sub_device_manager(self, manager: SubDeviceManagerId) -> None:
        """Switch to a manager."""
        self.host.load_sub_device_manager(manager)

    def clear_loaded_sub_device_manager(self) -> None:
        """Back to one sub-device with all cores."""
        self.host.clear_loaded_sub_device_manager()

    def remove_sub_device_manager(self, manager: SubDeviceManagerId) -> None:
        """Forget a manager."""
        self.host.remove_sub_device_manager(manager)

    def set_sub_device_stall_group(self, sub_device_ids: Iterable[SubDeviceId]) -> None:
        """Sub-devices that reads, writes and synchronisation wait for."""
        self.host.set_sub_device_stall_group([item.id for item in sub_device_ids])

    def reset_sub_device_stall_group(self) -> None:
        """They wait for all sub-devices again."""
        self.host.reset_sub_device_stall_group()

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
        if not self.host.is_open:
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


def _open_device(
    number: int, queues: int, l1_small_size: int, trace_region_size: int, worker_l1_size: int = 0
) -> MeshDevice:
    if number in _open:
        raise ArgumentError(f"device {number} is already open")
    arch = chip_description()
    banks = arch.dram_banks
    region = math.ceil(trace_region_size / banks / TRACE_BLOCK) * TRACE_BLOCK
    changes: dict[str, int] = {}
    if worker_l1_size:
        changes["l1.user_base"] = arch.l1_size - worker_l1_size
    if changes:
        arch = load_arch(settings.arch, settings.overrides | {key: arch[key] for key in MEMORY_MAP} | changes)
    with warnings.catch_warnings(
        action="ignore", category=TensimWarning
    ):  # parameters of ttnn's memory map are used here
        host = metal.create_device(
            number, queues, l1_small_size, region, arch=arch, numerics=settings.numerics, noc=settings.noc,
            max_cycles=settings.max_cycles, seed=settings.seed, check=settings.check,
        )  # fmt: skip
    if settings.log:
        host.chip.recordings.enable_log()
    device = _open[number] = MeshDevice(host, number)
    return device


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
    offset: object = None,
    physical_device_ids: Sequence[int] = (),
    worker_l1_size: int = 0,
) -> MeshDevice:
    """Open the mesh of one chip; ArgumentError for a larger one."""
    if mesh_shape is not None and tuple(mesh_shape) != (1, 1):
        raise ArgumentError(f"open_mesh_device: mesh_shape {mesh_shape}: tensim.ttnn has one chip, MeshShape(1, 1)")
    number = physical_device_ids[0] if physical_device_ids else 0
    return _open_device(number, num_command_queues, l1_small_size, trace_region_size, worker_l1_size)


def close_device(device: MeshDevice) -> None:
    """Wait for what is queued and close the device; closed ones are left alone."""
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
        metal.close_device(device.host)


CloseDevice = close_mesh_device = close_device


@contextlib.contextmanager
def manage_device(device_id: int) -> Iterator[MeshDevice]:
    """An open device for a block."""
    device = open_device(device_id=device_id)
    try:
        yield device
    finally:
        close_device(device)


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


def GetNumAvailableDevices() -> int:
    """Number of chips."""
    return 1


GetNumPCIeDevices = GetNumAvailableDevices


def GetPCIeDeviceID(device_id: int) -> int:
    """The chip on PCIe through which a chip is reached: itself."""
    return metal.get_pcie_device_id(device_id)


def get_arch_name() -> str:
    """Name of the architecture of devices."""
    return load_arch(settings.arch).name


def is_wormhole_b0(device: MeshDevice | None = None) -> bool:
    """Whether devices are Wormholes."""
    return get_arch_name() == "wormhole_b0" if device is None else device.arch() == Arch.WORMHOLE_B0


def is_blackhole(device: MeshDevice | None = None) -> bool:
    """Whether devices are Blackholes."""
    return get_arch_name() == "blackhole" if device is None else device.arch() == Arch.BLACKHOLE


def has_stopped(device: MeshDevice) -> bool:
    """Whether an error has stopped the device: nothing can run on it any more."""
    return device.host.system.executor.devices[device.host.id].failed is not None


def synchronize_device(
    device: MeshDevice, cq_id: int | None = None, sub_device_ids: Iterable[SubDeviceId | int] = ()
) -> None:
    """Wait for one command queue, or for all."""
    import tensim.queue as queues

    number = None if cq_id is None else device.queue(cq_id).id
    queues.synchronize(
        device.host, number, tuple(item.id if isinstance(item, SubDeviceId) else item for item in sub_device_ids)
    )


def _arch_value(name: str) -> int:
    return chip_description()[name]


def get_dram_alignment() -> int:
    """Bytes to which pages in DRAM are aligned."""
    return _arch_value("alignment.dram_page")


def get_l1_alignment() -> int:
    """Bytes to which pages in L1 are aligned."""
    return _arch_value("alignment.l1_page")


def get_max_worker_l1_unreserved_size() -> int:
    """Bytes of L1 that programs may use."""
    return _arch_value("ttnn.l1_unreserved")


def get_memory_view(device: MeshDevice, buffer_type: BufferType) -> MemoryView:
    """MemoryView of a memory of a device."""
    if not isinstance(buffer_type, BufferType):
        raise ArgumentTypeError(f"get_memory_view: buffer_type takes BufferType, not {type(buffer_type).__name__}")
    return MemoryView(device.host._state.allocators[buffer_type.value].view())


class MemoryView:
    """What a memory's allocator holds: bytes per bank, but the totals with `total` in their names over all banks."""

    def __init__(self, view: dict[str, Any]) -> None:
        self.num_banks = view["banks"]
        self.total_bytes_per_bank = view["total"]
        self.total_bytes_allocated_per_bank = view["allocated"]
        self.total_bytes_free_per_bank = view["free"]
        self.largest_contiguous_bytes_free_per_bank = view["largest_free"]
        self.block_table = [{"address": address, "size": size, "allocated": "yes"} for address, size in view["blocks"]]


class SubDevice:
    """Cores of a sub-device: a list with a CoreRangeSet of worker cores first."""

    def __init__(self, cores: Iterable[CoreRangeSet]) -> None:
        self.cores = list(cores)

    def host(self) -> HostCores:
        """The cores as the host API takes them."""
        return self.cores[0].host()


class SubDeviceId:
    """Number of a sub-device."""

    def __init__(self, number: int) -> None:
        self.id = int(number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SubDeviceId) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"SubDeviceId({self.id})"
