"""Divisions of a device's worker cores into sub-devices: made, loaded, removed, and looked up."""

from dataclasses import field

from tensim.sim.errors import ProgramError, UsageError
from tensim.sim.host.allocator import Allocator
from tensim.sim.host.buffers import L1, expand, round_up
from tensim.sim.lazy_dataclass import dataclass


@dataclass
class SubDeviceManager:
    """A division of the worker cores.  `allocators`: local L1 allocator of each sub-device, or none."""

    id: int | None
    sub_devices: list  # sets of logical cores
    local_l1_size: int = 0
    allocators: list = field(default_factory=list)
    stall_group: tuple = ()
    origins: tuple = ()  # logical (x, y) of the first column and row of each sub-device

    def __post_init__(self):
        self.stall_group = tuple(range(len(self.sub_devices)))
        self.origins = tuple((min(x for x, _ in cores), min(y for _, y in cores)) for cores in self.sub_devices)


def create_manager(device, command):
    """Check and remember a sub-device manager."""
    limit = device.arch["dispatch.max_sub_devices"]
    if not 1 <= len(command.sub_devices) <= limit:
        raise UsageError(f"{len(command.sub_devices)} sub-devices; a manager has 1 to {limit}")
    seen, groups = set(), []
    for ranges in command.sub_devices:
        cores = set(expand(ranges))
        device.check_cores(cores, "sub-device")
        if not cores:
            raise UsageError("a sub-device has at least one core")
        if seen & cores:
            raise UsageError(f"sub-devices overlap at core {min(seen & cores)}")
        seen |= cores
        groups.append(cores)
    size = round_up(command.local_l1_size, device.arch.l1_alignment)
    device.managers[command.manager] = SubDeviceManager(command.manager, groups, size)


def load_manager(device, number):
    """Switch to a manager (None: the default one).  ProgramError while local buffers are allocated."""
    if number is not None and number not in device.managers:
        raise UsageError(f"device {device.id} has no sub-device manager {number}")
    for allocator in device.manager.allocators:
        if allocator.lowest() is not None:
            raise ProgramError(f"{allocator.name} still holds {allocator.allocated} B; free its buffers first")
    manager = device.default_manager if number is None else device.managers[number]
    base, l1 = device.arch.l1_user_base, device.allocators[L1]
    l1.move_base(base + manager.local_l1_size)
    manager.allocators = [
        Allocator(f"L1 of sub-device {i}", len(cores), base, base + manager.local_l1_size, l1.alignment, False)
        for i, cores in enumerate(manager.sub_devices)
        if manager.local_l1_size
    ]
    manager.stall_group = tuple(range(len(manager.sub_devices)))
    for queue in device.queues:
        queue.programs.clear()
    device.activate(manager)


def remove_manager(device, number):
    """Forget a manager that is not active."""
    if number not in device.managers:
        raise UsageError(f"device {device.id} has no sub-device manager {number}")
    if device.manager.id == number:
        raise UsageError(f"sub-device manager {number} is active; clear it before it is removed")
    del device.managers[number]


def sub_device_of(device, cores):
    """The one sub-device that holds all these cores; UsageError when they span several or none."""
    touched = [i for i, group in enumerate(device.manager.sub_devices) if group & cores]
    if len(touched) != 1 or not cores <= device.manager.sub_devices[touched[0]]:
        raise UsageError(
            f"a program must run on one sub-device; its cores are in sub-devices {touched or 'none'}"
            f" of {len(device.manager.sub_devices)}"
        )
    return touched[0]
