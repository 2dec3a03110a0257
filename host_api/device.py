"""Opening and closing devices; the device handle; queues and sub-devices."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tensim.references import ReferenceInt
from tensim.sim.chip.numerics_threads import set_numerics_threads as set_numerics_threads
from tensim.sim.errors import TensimWarning, UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.executor import Simulation, new_id
from tensim.types import BufferType, CoreCoord, CoreLike, SubDevice, SubDeviceId, SubDeviceManagerId, core_coord

if TYPE_CHECKING:
    from tensim.mesh_device import MeshDevice
    from tensim.sim.arch import Arch
    from tensim.sim.host.allocator import Allocator
    from tensim.sim.host.device import Device as DeviceState

NUM_DEVICES = 32  # as many chips as the largest board has, all on PCIe

_current = Simulation()
_thread = threading.local()  # `queue_ids`: stack of command queue ids


def current_system() -> Simulation:
    """The system that holds the open devices and takes the next record."""
    return _current


def use_system(system: Simulation) -> None:
    """Make a `tensim.sim.host.executor.Simulation` the one that takes the next records of programs and events."""
    global _current
    _current = system


def leave_system(system: Simulation) -> None:
    """If `system` takes the next records, let a fresh one do so, which keeps the programs."""
    global _current
    if _current is system:
        _current = _fresh_system()


def _fresh_system() -> Simulation:
    before = _current.executor
    fresh = Simulation(before.programs)
    fresh.executor.observers, fresh.executor.captures = before.observers, before.captures
    for capture in before.captures:
        capture.system = fresh
    return fresh


def submit(record: c.Command) -> Any:
    """Hand a record to the current executor."""
    return _current.executor.submit(record)


def _system_for_new_device() -> Simulation:
    """The current system while it has devices; otherwise a fresh one that keeps the programs."""
    global _current
    if not _current.executor.devices and _current.env.now:
        _current = _fresh_system()
    return _current


@contextlib.contextmanager
def zone_scoped(name: str) -> Iterator[None]:
    """`with zone_scoped("load weights"):` marks what the host does meanwhile in timelines, as kernels' zones mark theirs.

    The zone lies on the host's simulated timeline; it costs no time.
    """
    begun = _current.host.now_fs
    try:
        yield
    finally:
        _current.executor.log_zone(name, min(begun, _current.host.now_fs))


class CommandQueue:
    """Handle of one command queue of a device."""

    def __init__(self, device: Device, cq_id: int) -> None:
        self.device, self.id = device, cq_id

    def __repr__(self) -> str:
        return f"CommandQueue(device={self.device.id}, id={self.id})"


class Device:
    """Handle of an open device."""

    def __init__(self, device_id: int, state: DeviceState, system: Simulation) -> None:
        self.id, self.system, self._state = device_id, system, state
        self.chip, self.arch = state.chip, state.arch
        self._queues = [CommandQueue(self, index) for index in range(len(state.queues))]

    def __repr__(self) -> str:
        return f"Device({self.id}, {self.arch.name})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        close_device(self)

    # --- queues and cores

    @property
    def is_open(self) -> bool:
        """Whether the device has not been closed."""
        return self.system.executor.devices.get(self.id) is self._state

    def command_queue(self, cq_id: int | None = None) -> CommandQueue:
        """A command queue (None: the thread's current one); UsageError when the device has fewer."""
        cq_id = get_current_command_queue_id_for_thread() if cq_id is None else cq_id
        if not 0 <= cq_id < len(self._queues):
            raise UsageError(f"device {self.id} has no command queue {cq_id}; it has {len(self._queues)}")
        return self._queues[cq_id]

    def num_hw_cqs(self) -> int:
        """Number of hardware command queues."""
        return len(self._queues)

    def compute_with_storage_grid_size(self) -> CoreCoord:
        """(columns, rows) of the logical grid of worker cores."""
        return CoreCoord(*self.arch.grid)

    logical_grid_size = compute_with_storage_grid_size

    def dram_grid_size(self) -> CoreCoord:
        """(banks, 1): the logical grid of DRAM banks."""
        return CoreCoord(self.arch.dram_banks, 1)

    def worker_core_from_logical_core(self, core: CoreLike) -> CoreCoord:
        """NoC coordinate that kernels use for a logical worker core."""
        core = core_coord(core)
        self._state.check_cores([core], "worker core")
        x, y = self.arch.worker_coords[self._state.worker(core)]
        key = core.x | core.y << 16
        return CoreCoord(ReferenceInt(x, c.Reference.WORKER_X, key), ReferenceInt(y, c.Reference.WORKER_Y, key))

    def ethernet_core_from_logical_core(self, core: CoreLike) -> CoreCoord:
        """UsageError: no kernel of a program runs on an Ethernet tile; its router does (`tensim.open_mesh_device`)."""
        raise UsageError(
            f"device {self.id} has no ethernet core {tuple(core_coord(core))}: programs run on worker cores"
        )

    def num_banks(self, buffer_type: BufferType) -> int:
        """Banks of a memory: DRAM banks, or worker cores for L1."""
        return _allocator(self._state, buffer_type).banks

    def allocated_bytes_per_bank(self, buffer_type: BufferType) -> int:
        """Bytes in use in each bank of a memory."""
        return _allocator(self._state, buffer_type).allocated

    # --- program cache

    def enable_program_cache(self) -> None:
        """Remember from now on which programs are finalised on the device."""
        self._state.enable_program_cache()

    def clear_program_cache(self) -> None:
        """Forget the remembered programs."""
        self._state.cached_programs.clear()

    def disable_and_clear_program_cache(self) -> None:
        """Forget the remembered programs and remember no others."""
        self._state.disable_program_cache()

    def num_program_cache_entries(self) -> int:
        """Number of remembered programs that still exist."""
        return len(self._state.cached_programs)

    # --- sub-devices

    def create_sub_device_manager(self, sub_devices: Iterable[SubDevice], local_l1_size: int = 0) -> SubDeviceManagerId:
        """Describe a division into sub-devices, each with `local_l1_size` bytes of own L1; returns the
        manager's id.
        """
        manager = SubDeviceManagerId(new_id())
        ranges = tuple(sub_device.ranges() for sub_device in sub_devices)
        self._submit(c.CreateSubDeviceManager(self.id, manager, ranges, int(local_l1_size)))
        return manager

    def load_sub_device_manager(self, manager: SubDeviceManagerId) -> None:
        """Wait for all programs and switch to a manager."""
        self._submit(c.LoadSubDeviceManager(self.id, manager))

    def clear_loaded_sub_device_manager(self) -> None:
        """Back to one sub-device with all worker cores."""
        self._submit(c.LoadSubDeviceManager(self.id, None))

    def remove_sub_device_manager(self, manager: SubDeviceManagerId) -> None:
        """Forget a manager that is not loaded."""
        self._submit(c.RemoveSubDeviceManager(self.id, manager))

    def get_sub_device_ids(self) -> list[SubDeviceId]:
        """Ids of the sub-devices of the loaded manager."""
        return [SubDeviceId(number) for number in range(len(self._state.manager.sub_devices))]

    def set_sub_device_stall_group(self, sub_devices: Iterable[int]) -> None:
        """Sub-devices that reads, writes and finish wait for."""
        self._submit(c.SetStallGroup(self.id, tuple(sub_devices)))

    def reset_sub_device_stall_group(self) -> None:
        """Reads, writes and finish wait for all sub-devices again."""
        self._submit(c.SetStallGroup(self.id, None))

    def _submit(self, record: c.Command) -> Any:
        if not self.is_open:
            raise UsageError(f"device {self.id} is closed")
        return self.system.executor.submit(record)


def _allocator(state: DeviceState, buffer_type: BufferType) -> Allocator:
    if buffer_type not in state.allocators:
        raise UsageError(f"{BufferType(buffer_type).name} has no banks on a device")
    return state.allocators[buffer_type]


def get_num_available_devices() -> int:
    """Number of devices that can be open at a time."""
    return NUM_DEVICES


def get_num_pcie_devices() -> int:
    """Number of devices on PCIe: all."""
    return NUM_DEVICES


def get_pcie_device_id(device_id: int) -> int:
    """The device on PCIe through which a device is reached: itself.  UsageError for an unknown id."""
    if not 0 <= device_id < NUM_DEVICES:
        raise UsageError(f"there is no device {device_id}; ids are 0 to {NUM_DEVICES - 1}")
    return device_id


def is_galaxy_cluster() -> bool:
    """Whether the devices form a Galaxy: they do not."""
    return False


def push_current_command_queue_id_for_thread(cq_id: int) -> None:
    """Make a queue the one that `Device.command_queue()` gives in this thread."""
    _queue_ids().append(int(cq_id))


def pop_current_command_queue_id_for_thread() -> int:
    """Undo the last push of this thread and return its id; UsageError when there is none."""
    if not _queue_ids():
        raise UsageError("no command queue id was pushed in this thread")
    return _queue_ids().pop()


def get_current_command_queue_id_for_thread() -> int:
    """Id of this thread's queue: the last one pushed, otherwise 0."""
    return _queue_ids()[-1] if _queue_ids() else 0


def _queue_ids() -> list[int]:
    if not hasattr(_thread, "queue_ids"):
        _thread.queue_ids = []
    return _thread.queue_ids


def create_device(
    device_id: int = 0,
    num_hw_cqs: int = 1,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    arch: str | Path | Arch = "wormhole_b0",
    numerics: str = "fast",
    noc: str = "packet",
    max_cycles: int | None = None,
    seed: int = 0,
    check: bool = False,
) -> Device:
    """Open a device.

    `arch`: name, YAML path or `tensim.sim.arch.Arch`; `l1_small_size`, `trace_region_size`: bytes per bank set
    aside; `numerics`, `noc`, `max_cycles`, `seed`, `check`: see `tensim.sim.chip.chip.Chip`.  UsageError when it is open or
    an option is wrong; a `TensimWarning` for each parameter of the chip that was changed although nothing uses it here.
    """
    device = _open(
        c.CreateDevice(
            get_pcie_device_id(device_id),
            num_hw_cqs,
            l1_small_size,
            trace_region_size,
            arch,
            numerics,
            noc,
            max_cycles,
            seed,
            check=check,
        )
    )
    for text in device.arch.without_effect(numerics):
        warnings.warn(text, TensimWarning, stacklevel=2)
    return device


def create_device_minimal(device_id: int = 0, num_hw_cqs: int = 1, arch: str | Path | Arch = "wormhole_b0") -> Device:
    """Open a device without command queues: memory can be read and written at once, nothing can be enqueued."""
    number = get_pcie_device_id(device_id)
    return _open(c.CreateDevice(number, num_hw_cqs, 0, 0, arch, "fast", "packet", None, 0, minimal=True))


def open_devices(records: Iterable[c.CreateDevice]) -> list[Device]:
    """Open several devices, one after the other, by their `CreateDevice` records."""
    return [_open(record) for record in records]


def _open(record: c.CreateDevice) -> Device:
    system = _system_for_new_device()
    return Device(record.device, system.executor.submit(record), system)


def devices_of(opened: Device | MeshDevice) -> list[Device]:
    """The devices of a mesh, or one device."""
    return [opened] if isinstance(opened, Device) else opened.devices


def close_device(device: Device) -> bool:
    """Wait for what is queued (unless the device failed) and close it; False when it is closed already.

    Warns (TensimWarning) of what programs did that the chip lets pass, though it is hardly meant, where no report has said so.
    """
    if not device.is_open:
        return False
    oddities = device.chip.oddities
    closed = device.system.executor.submit(c.CloseDevice(device.id))
    for text in oddities.untold():
        warnings.warn(text, TensimWarning, stacklevel=2)
    return closed
