"""Tensors from chip to chip (docs/hardware/runtime.md#transfers-and-meshes): `transfer` and `pin`."""

from tensim.runtime.conversion import to_layout
from tensim.runtime.errors import AffinityConflict, EmbeddedTransfer
from tensim.runtime.placement import ANY, Affinity
from tensim.runtime.tensors import Tensor
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c

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
    target = Tensor.empty(src.desc, src.layout, device, name=src.name)
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


def transfer_into(target, src, *, owner=None, via="auto", wait=(), queue=ANY, label=""):
    """Copy a tensor's bytes into one of the same layout on another chip; returns the Event."""
    owner = target.device if owner is None else owner
    for one in (src, target):
        if one.device.scheme == "embedded":
            raise EmbeddedTransfer(
                f"{one.name} cannot be moved to or from {one.device.name}", hint="use sim:// devices"
            )
    system, queue = src.system, owner.queue_for(queue)
    ends = src.device.state.place, target.device.state.place
    system.topology.route(*ends, via)  # NoRoute now, before anything is issued
    record = c.TransferBuffer(
        owner.number, queue.id, src.storage.buffer.unique_id, target.storage.buffer.unique_id, via
    )
    event = queue.issue(
        "transfer", label or f"transfer {src.name}", lambda: system.executor.submit(record), wait=wait,
        reads=[src.storage], writes=[target.storage], nbytes=src.nbytes,
    )  # fmt: skip
    target.written()
    return event


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
