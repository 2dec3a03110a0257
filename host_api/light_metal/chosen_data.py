"""What the user of a replay has chosen: data for buffers of the binary, and which of its programs to launch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c

if TYPE_CHECKING:
    from tensim.light_metal.replay import Replay
    from tensim.traces.flatbuffers.tables import Node

TAKING_AWAY = ("BufferDeallocateCommand", "BufferDeleteCommand", "ProgramDeleteCommand")


def _bound(replay: Replay, node: Node) -> bytes | None:
    """Bytes that the user gave in place of those a write holds, or None."""
    for name in (str(node.buffer_global_id), replay.binary.buffer_names.get(node.buffer_global_id)):
        if name in replay.options.bind:
            return _bytes_of(replay.options.bind[name])
    return None


def check_names(replay: Replay) -> None:
    """UsageError, before anything runs, for buffers that the user named and the binary does not have."""
    wanted = [("bind", name) for name in replay.options.bind] + [("save", name) for name, _ in replay.options.save]
    if not wanted:
        return
    nodes = (node for node in replay.binary.nodes() if node is not None and node.table == "BufferCreateCommand")
    names = sorted(replay.binary.buffer_names.values())
    known = {*names, *(str(node.global_id) for node in nodes)}
    for what, name in wanted:
        if name not in known:
            hint = f"its names: {', '.join(names) or 'none'}; tensim inspect --buffers lists the numbers"
            raise UsageError(f"{what}: the binary has no buffer {name!r}", hint=hint)


def with_binding(replay: Replay, node: Node, record: c.WriteBuffer) -> c.WriteBuffer:
    data = _bound(replay, node)
    if data is None:
        return record
    if len(data) != len(record.data):
        raise UsageError(
            f"buffer {node.buffer_global_id} takes {len(record.data)} B, the data bound to it has {len(data)} B"
        )
    return replace(record, data=data)


def launch_point(replay: Replay) -> int | None:
    """Command before which the programs of `options.launch` run: the first that takes a buffer or program away when
    nothing more is said about them; None: at the end.
    """
    wanted = {int(name) for name in replay.options.launch if name.isdigit()}
    if not wanted:
        return None
    last, point, kernels = -1, None, set()
    for index, node in enumerate(replay.binary.nodes()):
        fields = {} if node is None else node.fields
        mine = fields.get("program_global_id") in wanted or fields.get("kernel_global_id") in kernels
        if mine:
            last, point = index, None
            if node.table == "CreateKernelCommand":
                kernels.add(node.global_id)
        elif last >= 0 and point is None and node is not None and node.table in TAKING_AWAY:
            point = index
    return point


def _write_bound(replay: Replay) -> None:
    """Write the data that is bound to buffers which no command of the file writes."""
    executor, written = replay.system.executor, set()
    if replay.options.bind:
        writes = (node for node in replay.binary.nodes() if node is not None)
        written = {node.buffer_global_id for node in writes if node.table == "EnqueueWriteBufferCommand"}
    for name, data in replay.options.bind.items():
        buffer = executor.buffers.get(replay.wanted(name))
        if buffer is None:
            raise UsageError(f"buffer {name} is gone when the programs are launched")
        if not any(replay.names.get(number) == buffer.id for number in written):
            executor.submit(c.WriteBuffer(buffer.device, 0, buffer.id, _bytes_of(data), 0, True))


def launch(replay: Replay) -> None:
    """Launch the programs that the user asked for, for files that hold no launches."""
    if replay.options.launch:
        _write_bound(replay)
    for name in replay.options.launch:
        program = replay.names.get(int(name)) if name.isdigit() else None
        if program is None or program not in replay.system.executor.programs:
            raise UsageError(f"the binary has no program {name}", hint="tensim inspect lists them")
        device = next(iter(replay.system.executor.devices))
        replay.system.executor.submit(c.EnqueueProgram(device, 0, program, True))


def _bytes_of(data: Any) -> bytes:
    """The bytes of what a user bound to a buffer."""
    return np.ascontiguousarray(data).tobytes() if isinstance(data, np.ndarray) else bytes(data)
