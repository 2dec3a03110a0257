"""Commands that open and close devices and divide them into sub-devices.

The functions named like commands are handlers of the executor: they take it and a record.
"""

import math
import threading
import weakref

from tensim.sim.arch.loader import Arch, load_arch
from tensim.sim.errors import UsageError
from tensim.sim.host.device import Device
from tensim.sim.host.host_device import HostDevice
from tensim.sim.host.sub_devices import create_manager, load_manager, remove_manager
from tensim.sim.host.topology import MAX_CHIPS, topology_of

MAX_SIDE, MAX_LINKS = 64, 16  # of a board
_openers = weakref.WeakKeyDictionary()  # open device -> thread that has opened it


def refuse_other_threads(number):
    """UsageError when another thread has devices open: calls of two threads have no order, and then neither have cycles."""
    for device, thread in _openers.items():
        if thread is not threading.current_thread() and thread.is_alive() and not device.closed:
            raise UsageError(
                f"device {number} cannot be opened in {threading.current_thread().name}: {thread.name} has device {device.id} "
                "open, and a process simulates the devices of one thread",
                hint="open all devices in one thread, or give each thread's work a process of its own (multiprocessing)",
            )


def create_device(executor, r):
    from tensim.sim.chip.chip import Chip

    if r.device in executor.devices:
        raise UsageError(f"device {r.device} is already open", hint="close it, or open another number")
    refuse_other_threads(r.device)
    arch = r.arch if isinstance(r.arch, Arch) else load_arch(r.arch)
    if not 1 <= r.num_hw_cqs <= arch["dispatch.max_queues"]:
        raise UsageError(f"num_hw_cqs is {r.num_hw_cqs}; a device has 1 or {arch['dispatch.max_queues']} queues")
    chip = Chip(arch, r.numerics, r.noc, r.max_cycles, r.seed, r.check)
    executor.host.use_costs(arch)
    executor.host.charge("call")
    executor.catch_up()
    if executor.system.topology is None:
        executor.system.topology = topology_of(executor.env, f"cards({MAX_CHIPS})", arch)
    device = executor.devices[r.device] = Device(r, arch, chip, executor.system)
    _openers[device] = threading.current_thread()
    return device


def close_device(executor, r):
    device = executor.devices.get(r.device)
    if device is None:
        return False
    try:
        if device.failed is None:
            for queue in device.queues:
                queue.capture = None
                executor.finish(device, queue, tuple(range(len(device.manager.sub_devices))))
    finally:
        device.close()
        del executor.devices[r.device]
    return True


def start_fabric(executor, r):
    """The `Fabric` of a mesh.  UsageError for one that its board does not hold."""
    from tensim.sim.host.fabric import Fabric
    from tensim.sim.host.wiring import Wiring

    *most, links = r.board
    if not all(1 <= mine <= whole <= MAX_SIDE for mine, whole in zip(r.shape, most, strict=True)):
        raise UsageError(f"a mesh of {r.shape[0]}x{r.shape[1]} chips on a board of {most[0]}x{most[1]}")
    if not 1 <= r.links <= links <= MAX_LINKS:
        raise UsageError(f"{r.links} links between neighbours", hint=f"the board has 1 to {links}")
    devices = [executor.device(number) for number in range(math.prod(r.shape))]
    if any(device.fabric is not None for device in devices):
        raise UsageError("the routers of these devices run already", hint="close the mesh before another one is opened")
    arch = devices[0].arch
    tiles = len(arch["ethernet.tiles"]) if "ethernet.tiles" in arch else 0
    wiring = Wiring(r.shape, r.links, r.torus, r.ring, r.board, tiles, r.line)
    closed = r.ring or (r.torus and not r.line)
    fabric = Fabric(devices, wiring, r.shape, r.configuration, closed, r.packet_bytes, r.forwarding)
    fabric.started_with = r
    return fabric


def create_host_device(executor, r):
    if r.device in executor.hosts or r.device in executor.devices:
        raise UsageError(f"device {r.device} is already open", hint="close it, or open another number")
    device = executor.hosts[r.device] = HostDevice(r.device, r.num_queues, executor.env)
    return device


def create_sub_device_manager(executor, r):
    executor.host.charge("call")
    create_manager(executor.device(r.device), r)


def load_sub_device_manager(executor, r):
    device = executor.device(r.device)
    for queue in device.queues:
        queue.refuse_capture("a change of the sub-device manager")
    for queue in device.queues:
        executor.finish(device, queue, tuple(range(len(device.manager.sub_devices))))
    load_manager(device, r.manager)


def remove_sub_device_manager(executor, r):
    executor.host.charge("call")
    remove_manager(executor.device(r.device), r.manager)


def set_stall_group(executor, r):
    device = executor.device(r.device)
    everyone = tuple(range(len(device.manager.sub_devices)))
    if r.sub_devices is not None and not r.sub_devices:
        raise UsageError("a stall group names at least one sub-device")
    device.manager.stall_group = everyone if r.sub_devices is None else device.check_sub_devices(r.sub_devices)
