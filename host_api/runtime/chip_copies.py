"""The bytes of a tensor from chip to chip (docs/hardware/runtime.md#transfers-and-meshes)."""

from tensim.runtime.errors import EmbeddedTransfer
from tensim.runtime.placement import ANY
from tensim.sim.host import commands as c


def transfer_into(target, src, *, owner=None, via="auto", wait=(), queue=ANY, label=""):
    """Copy a tensor's bytes into one of the same layout on another chip; returns the Event."""
    owner = target.device if owner is None else owner
    for tensor in (src, target):
        if tensor.device.scheme == "embedded":
            raise EmbeddedTransfer(
                f"{tensor.name} cannot be moved to or from {tensor.device.name}", hint="use sim:// devices"
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
