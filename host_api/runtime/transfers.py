"""Tensors from chip to chip (docs/hardware/runtime.md#transfers-and-meshes): `transfer` and `pin`."""

from tensim.runtime.chip_copies import transfer_into
from tensim.runtime.conversion import to_layout
from tensim.runtime.errors import AffinityConflict
from tensim.runtime.placement import ANY, Affinity
from tensim.sim.errors import UsageError

ROUTES = ("auto", "eth", "pcie", "host")
SIDES = ("consumer", "producer")


def transfer(src, to, *, layout=None, route="auto", execute_on="consumer", wait=(), queue=ANY, label=""):
    """`src` on another device, asynchronously; itself when it is there in that layout.

    `route`: over ethernet, PCIe or host memory, or the best; `execute_on`: the side whose queue is busy with it (pull:
    consumer, so that fan-outs use several links; push: producer), or an Affinity.  NoRoute names both ends.
    """
    place = to if isinstance(to, Affinity) else Affinity(to)
    device = place.device
    if route not in ROUTES:
        raise UsageError(f"route is {route!r}", hint=f"one of {', '.join(ROUTES)}")
    layout = src.layout if layout is None else layout.resolved(src.desc)
    if src.device is device and layout == src.layout:
        return src
    if src.device is None or src.device is device or "host" in (src.device.scheme, device.scheme):
        return to_layout(src, layout, device, wait=wait, queue=place.queues if queue == ANY else queue, label=label)
    target = src.empty_in(src.layout, device)
    owner, mask = _executor(src, place, execute_on, queue)
    transfer_into(target, src, owner=owner, via=route, wait=wait, queue=mask, label=label)
    if layout == target.layout:
        return target
    return to_layout(target, layout, device, retain=False, queue=mask if owner is device else ANY, label=label)


def _executor(src, place, execute_on, queue):
    """(device, queue mask) that carries the transfer out."""
    if isinstance(execute_on, Affinity):
        return execute_on.device, execute_on.queues
    if execute_on not in SIDES:
        raise UsageError(f"execute_on is {execute_on!r}", hint="'consumer', 'producer' or an Affinity")
    if execute_on == "producer":
        return src.device, queue
    return place.device, place.queues if queue == ANY else queue


def pin(tensor, at):
    """Promise that a tensor is, and stays, where `at` says; nothing moves.  AffinityConflict when it is not there."""
    if tensor.device is not at.device:
        here = "host memory" if tensor.device is None else tensor.device.name
        raise AffinityConflict(
            f"{tensor.name} is on {here}, not on {at.device.name}",
            where={"found": here, "expected": at.device.name},
            hint="transfer(tensor, device) moves it",
        )
    tensor.placement = at
    return tensor
