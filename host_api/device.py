"""Opening and closing devices; the device handle; queues and sub-devices."""

from host_api.types import BufferType, CoreCoord, core_coord
from sim import commands as c
from sim.errors import UsageError
from sim.executor import System, new_id

_current = System()


def current_system():
    """The system that holds the open devices and takes the next record."""
    return _current


def submit(record):
    """Hand a record to the current executor."""
    return _current.executor.submit(record)


def _system_for_new_device():
    """The current system while it has devices; otherwise a fresh one that keeps the programs."""
    global _current
    if not _current.executor.devices and _current.env.now:
        observers = _current.executor.observers
        _current = System(_current.executor.programs)
        _current.executor.observers = observers
    return _current


class CommandQueue:
    """Handle of one command queue of a device."""

    def __init__(self, device, cq_id):
        self.device, self.id = device, cq_id

    def __repr__(self):
        return f"CommandQueue(device={self.device.id}, id={self.id})"


class Device:
    """Handle of an open device."""

    def __init__(self, device_id, state, system):
        self.id, self.system, self._state = device_id, system, state
        self.chip, self.arch = state.chip, state.arch
        self._queues = [CommandQueue(self, index) for index in range(state.num_hw_cqs)]

    def __repr__(self):
        return f"Device({self.id}, {self.arch.name})"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        close_device(self)

    # --- queues and cores

    @property
    def is_open(self):
        """Whether the device has not been closed."""
        return self.system.executor.devices.get(self.id) is self._state

    def command_queue(self, cq_id=0):
        """A command queue; UsageError when the device has fewer."""
        if not 0 <= cq_id < len(self._queues):
            raise UsageError(f"device {self.id} has no command queue {cq_id}; it has {len(self._queues)}")
        return self._queues[cq_id]

    def num_hw_cqs(self):
        """Number of hardware command queues."""
        return len(self._queues)

    def compute_with_storage_grid_size(self):
        """(columns, rows) of the logical grid of worker cores."""
        return CoreCoord(*self.arch.grid)

    logical_grid_size = compute_with_storage_grid_size

    def dram_grid_size(self):
        """(banks, 1): the logical grid of DRAM banks."""
        return CoreCoord(self.arch.dram_banks, 1)

    def worker_core_from_logical_core(self, core):
        """NoC coordinate that kernels use for a logical worker core."""
        core = core_coord(core)
        self._state.check_cores([core], "worker core")
        return CoreCoord(*self.arch.worker_coords[self._state.worker(core)])

    def num_banks(self, buffer_type):
        """Banks of a memory: DRAM banks, or worker cores for L1."""
        return self._state.allocators[self._memory(buffer_type)].banks

    def allocated_bytes_per_bank(self, buffer_type):
        """Bytes in use in each bank of a memory."""
        return self._state.allocators[self._memory(buffer_type)].allocated

    def _memory(self, buffer_type):
        if buffer_type not in self._state.allocators:
            raise UsageError(f"{BufferType(buffer_type).name} has no banks on a device")
        return buffer_type

    # --- sub-devices

    def create_sub_device_manager(self, sub_devices, local_l1_size=0):
        """Describe a division into sub-devices, each with `local_l1_size` bytes of own L1; returns the
        manager's id.
        """
        manager = new_id()
        ranges = tuple(one.ranges() for one in sub_devices)
        self._submit(c.CreateSubDeviceManager(self.id, manager, ranges, int(local_l1_size)))
        return manager

    def load_sub_device_manager(self, manager):
        """Wait for all programs and switch to a manager."""
        self._submit(c.LoadSubDeviceManager(self.id, manager))

    def clear_loaded_sub_device_manager(self):
        """Back to one sub-device with all worker cores."""
        self._submit(c.LoadSubDeviceManager(self.id, None))

    def remove_sub_device_manager(self, manager):
        """Forget a manager that is not loaded."""
        self._submit(c.RemoveSubDeviceManager(self.id, manager))

    def get_sub_device_ids(self):
        """Ids of the sub-devices of the loaded manager."""
        return list(range(len(self._state.manager.sub_devices)))

    def set_sub_device_stall_group(self, sub_devices):
        """Sub-devices that reads, writes and finish wait for."""
        self._submit(c.SetStallGroup(self.id, tuple(sub_devices)))

    def reset_sub_device_stall_group(self):
        """Reads, writes and finish wait for all sub-devices again."""
        self._submit(c.SetStallGroup(self.id, None))

    def _submit(self, record):
        if not self.is_open:
            raise UsageError(f"device {self.id} is closed")
        return self.system.executor.submit(record)


def create_device(
    device_id=0,
    num_hw_cqs=1,
    l1_small_size=0,
    trace_region_size=0,
    arch="wormhole_b0",
    numerics="fast",
    noc="packet",
    max_cycles=None,
    seed=0,
):
    """Open a device.

    `arch`: name, YAML path or `sim.arch.Arch`; `l1_small_size`, `trace_region_size`: bytes per bank set
    aside; `numerics`, `noc`, `max_cycles`, `seed`: see `sim.chip.Chip`.  UsageError when it is open or an
    option is wrong.
    """
    system = _system_for_new_device()
    record = c.CreateDevice(
        int(device_id), num_hw_cqs, l1_small_size, trace_region_size, arch, numerics, noc, max_cycles, seed
    )
    return Device(record.device, system.executor.submit(record), system)


def close_device(device):
    """Wait for what is queued (unless the device failed) and close it; False when it is closed already."""
    return device.is_open and device.system.executor.submit(c.CloseDevice(device.id))
