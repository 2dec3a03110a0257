"""Tensors from chip to chip (docs/hardware/runtime.md#transfers-and-meshes): `transfer` and `pin`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from tensim.runtime.arguments import device_of, layout_of, of_system, tensor_of
from tensim.runtime.chip_copies import transfer_into
from tensim.runtime.conversion import to_layout
from tensim.runtime.errors import AffinityConflict
from tensim.runtime.layouts import MemSpace
from tensim.runtime.placement import ANY, Affinity
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.runtime.devices import AnyDevice, SimAccelerator
    from tensim.runtime.layouts import Layout
    from tensim.runtime.placement import Queues
    from tensim.runtime.sync import Waitable
    from tensim.runtime.tensors import Tensor

ROUTES = ("auto", "eth", "pcie", "host")
SIDES = ("consumer", "producer")


def transfer(
    src: Tensor,
    to: AnyDevice | Affinity,
    *,
    layout: Layout | None = None,
    route: str = "auto",
    execute_on: str | Affinity = "consumer",
    wait: Waitable = (),
    queue: Queues = ANY,
    label: str = "",
) -> Tensor:
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
    goal = device_of(place.device, "transfer")
    of_system(src.system, [goal], f"the transfer of {src.name}")
    if layout is None:
        layout = replace(src.layout, space=MemSpace.DRAM) if src.device is None else src.layout
    layout, device = goal.home_of(layout_of(layout, "transfer"))
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


def _executor(src: Tensor, place: Affinity, execute_on: str | Affinity, queue: Queues) -> tuple[SimAccelerator, Queues]:
    """(device, queue mask) that carries the transfer out."""
    if isinstance(execute_on, Affinity):
        return cast("SimAccelerator", device_of(execute_on.device, "execute_on")), execute_on.queues
    if execute_on == "producer":
        return cast("SimAccelerator", src.device), queue
    return cast("SimAccelerator", place.device), place.queues if queue == ANY else queue


def pin(tensor: Tensor, at: Affinity) -> Tensor:
    """Promise that a tensor is, and stays, where `at` says; nothing moves.  AffinityConflict when it is not there."""
    tensor_of(tensor, "pin")
    if not isinstance(at, Affinity):
        device_of(at, "pin")
        raise UsageError("pin takes an Affinity", hint="pin(tensor, Affinity(device))")
    wanted = device_of(at.device, "pin")
    if tensor.device is not wanted.home_of(tensor.layout)[1]:
        here = "host memory" if tensor.device is None else tensor.device.name
        raise AffinityConflict(
            f"{tensor.name} is on {here}, not on {wanted.name}",
            where={"found": here, "expected": wanted.name},
            hint="transfer(tensor, device) moves it",
        )
    tensor.placement = at
    return tensor
