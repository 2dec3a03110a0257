"""Tensors from chip to chip (docs/hardware/runtime.md#transfers-and-meshes): `transfer` and `pin`."""

from dataclasses import replace

from tensim.runtime.arguments import device_of, layout_of, of_system, tensor_of
from tensim.runtime.chip_copies import transfer_into
from tensim.runtime.conversion import to_layout
from tensim.runtime.errors import AffinityConflict
from tensim.runtime.layouts import MemSpace
from tensim.runtime.placement import ANY, Affinity
from tensim.sim.errors import UsageError

ROUTES = ("auto", "eth", "pcie", "host")
SIDES = ("consumer", "producer")


def transfer(src, to, *, layout=None, route="auto", execute_on="consumer", wait=(), queue=ANY, label=""):
    """`src` on another device, asynchronously; itself when it is there in that layout.

    `layout`: None leaves it as it is; what comes from host memory goes to DRAM.

    `route`: over ethernet, PCIe or host memory, or the best; `execute_on`: the side whose queue is busy with it (pull:
    consumer, so that fan-outs use several links; push: producer), or an Affinity.  NoRoute names both ends.
    """
    place = to if isinstance(to, Affinity) else Affinity(to)
    tensor_of(src, "transfer")
    if route not in ROUTES:
        raise UsageError(f"route is {route!r}", hint=f"one of {', '.join(ROUTES)}")
    if not isinstance(execute_on, Affinity) and execute_on not in SIDES:
        raise UsageError(f"execute_on is {execute_on!r}", hint="'consumer', 'producer' or an Affinity")
    of_system(src.system, [device_of(place.device, "transfer")], f"the transfer of {src.name}")
    if layout is None:
        layout = replace(src.layout, space=MemSpace.DRAM) if src.device is None else src.layout
    layout, device = place.device.home_of(layout_of(layout, "transfer"))
    if src.device is device and layout.resolved(src.desc) == src.layout:
        return src
    if src.device is None or device is None or src.device is device:
        return to_layout(src, layout, device, wait=wait, queue=place.queues if queue == ANY else queue, label=label)
    wanted = layout.resolved(src.desc)
    moves = src.layout.serves(wanted)  # nothing to convert
    target = src.empty(src.desc, wanted if moves else src.layout, device, name=src.name)
    owner, mask = _executor(src, place, execute_on, queue)
    transfer_into(target, src, owner=owner, via=route, wait=wait, queue=mask, label=label)
    if moves:
        return target
    return to_layout(target, layout, device, retain=False, queue=mask if owner is device else ANY, label=label)


def _executor(src, place, execute_on, queue):
    """(device, queue mask) that carries the transfer out."""
    if isinstance(execute_on, Affinity):
        return device_of(execute_on.device, "execute_on"), execute_on.queues
    if execute_on == "producer":
        return src.device, queue
    return place.device, place.queues if queue == ANY else queue


def pin(tensor, at):
    """Promise that a tensor is, and stays, where `at` says; nothing moves.  AffinityConflict when it is not there."""
    tensor_of(tensor, "pin")
    if not isinstance(at, Affinity):
        device_of(at, "pin")
        raise UsageError("pin takes an Affinity", hint="pin(tensor, Affinity(device))")
    if tensor.device is not device_of(at.device, "pin").home_of(tensor.layout)[1]:
        here = "host memory" if tensor.device is None else tensor.device.name
        raise AffinityConflict(
            f"{tensor.name} is on {here}, not on {at.device.name}",
            where={"found": here, "expected": at.device.name},
            hint="transfer(tensor, device) moves it",
        )
    tensor.placement = at
    return tensor
