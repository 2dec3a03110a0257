"""The bytes of a tensor from chip to chip (docs/hardware/runtime.md#transfers-and-meshes)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tensim.runtime.errors import EmbeddedTransfer
from tensim.runtime.placement import ANY
from tensim.runtime.storage import buffers_of
from tensim.sim.host import commands as c

if TYPE_CHECKING:
    from tensim.runtime.devices import SimAccelerator
    from tensim.runtime.placement import Queues
    from tensim.runtime.sync import Event, Waitable
    from tensim.runtime.tensors import Tensor


def transfer_into(
    target: Tensor,
    src: Tensor,
    *,
    owner: SimAccelerator | None = None,
    via: str = "auto",
    wait: Waitable = (),
    queue: Queues = ANY,
    label: str = "",
) -> Event:
    """Copy a tensor's bytes into one of the same layout on another chip; returns the Event."""
    ends = cast("SimAccelerator", src.device), cast("SimAccelerator", target.device)
    owner = ends[1] if owner is None else owner
    for tensor, device in zip((src, target), ends, strict=True):
        if device.scheme == "embedded":
            raise EmbeddedTransfer(f"{tensor.name} cannot be moved to or from {device.name}", hint="use sim:// devices")
    system, carrier = src.system, owner.queue_for(queue)
    system.topology.route(ends[0].state.place, ends[1].state.place, via)  # NoRoute now, before anything is issued
    read, written = buffers_of([src.storage, target.storage])
    record = c.TransferBuffer(owner.number, carrier.id, read, written, via)
    event = carrier.issue(
        "transfer", label or f"transfer {src.name}", lambda: system.executor.submit(record), wait=wait,
        reads=[src.storage], writes=[target.storage], nbytes=src.nbytes,
    )  # fmt: skip
    target.written()
    return event
