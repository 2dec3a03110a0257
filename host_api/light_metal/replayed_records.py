"""Records that a replay does not hand on as they are: references, reads, comparisons, traces, functions.

Each function takes the `Replay` and a record, and returns what the executor returned.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tensim.light_metal.comparison import compare, unfinished
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.buffer_commands import look_at_buffer
from tensim.sim.host.metal_trace import relocated
from tensim.sim.host.references import argument_lists, resolved

if TYPE_CHECKING:
    from tensim.light_metal.replay import Replay
    from tensim.sim.host.trace_descriptor import TraceDescriptor

SHOW_READS = "TT_LIGHT_METAL_SHOW_READS"  # as in tt-metal (docs/hardware/light_metal.md#replay-step-by-step)


def _set_args(replay: Replay, record: c.SetRuntimeArgs | c.SetCommonRuntimeArgs) -> Any:
    """Arguments that stand for something of the chip get their values here."""
    for core, words in enumerate(argument_lists(record)):
        known = {index: key for place, index, _, key in record.references if place == core}
        _refuse_raw_addresses(replay, record.kernel, dict(enumerate(words)), known)
    return _with_references(replay, record)


def _update_arg(replay: Replay, record: c.UpdateRuntimeArg) -> Any:
    known = replay.system.executor.program(record.program).kernel(record.kernel).references.get(record.core, ())
    others = {index: key for index, _, key in known if index != record.index}
    _refuse_raw_addresses(replay, record.kernel, {} if record.references else {record.index: record.value}, others)
    return _with_references(replay, record)


def _with_references(replay: Replay, record: Any) -> Any:
    executor = replay.system.executor
    device = next(iter(replay.devices), None) if replay.device is None else replay.device._state
    return executor.submit(resolved(record, lambda *reference: executor.value_of(device, *reference)))


def _refuse_raw_addresses(replay: Replay, kernel: object, words: Mapping[int, int], known: Mapping[int, int]) -> None:
    """A plain number that is the captured address of a buffer which has moved would be wrong on this chip.

    `words`: {index: number}; `known`: {index: what it stands for} of the words that are references.  A list that also
    holds the buffer as a reference is given the benefit of the doubt: the number may be a count.
    """
    if not replay.moved:
        return
    for index, word in words.items():
        moved = replay.moved.get(word) if index not in known else None
        if moved is not None and replay.names[moved] not in known.values():
            raise UsageError(
                f"runtime argument {index} of kernel {kernel} is the raw address {word:#x} of buffer {moved}, which "
                "lies elsewhere on this chip",
                hint="capture with the buffer itself, or its .address, as the argument",
            )


def _read(replay: Replay, record: c.ReadBuffer) -> Any:
    """Bytes beyond `options.kept_reads` would fill the host's memory: those reads take their time only."""
    if record.size == 0:  # the files of other writers read whole buffers
        record = replace(record, size=replay.system.executor.buffer(record.buffer).size)
    fetch = replay.kept + record.size <= replay.options.kept_reads
    if fetch:
        replay.kept += record.size
    elif all("are not kept" not in text for text in replay.warnings):
        replay.warn(f"reads beyond {replay.options.kept_reads:,} B are not kept: their results are None")
    item = replay.system.executor.submit(replace(record, fetch=fetch))
    replay.reads.append(item)
    if os.environ.get(SHOW_READS) and record.blocking and fetch:
        words = np.frombuffer(item.result[: min(64, len(item.result)) // 4 * 4], "<u4")
        print(f"read of buffer {record.buffer}: {words.tolist()} ...")
    return item


def _compare(replay: Replay, record: c.CompareBuffer) -> Any:
    """Golden data was compared with nothing when it was captured, so looking at the buffer takes no time here either."""
    if not replay.node.is_user_data:
        item = replay.system.executor.submit(record)
        replay.compares.append(compare(record, item.result))
        return item
    executor, place = replay.system.executor, len(replay.compares)
    replay.compares.append(unfinished(record))
    event = look_at_buffer(executor, record.buffer, record.queue)
    event.callbacks.append(lambda event: replay.compares.__setitem__(place, compare(record, event.value)))
    replay.looks.append((executor.device(record.device), event))
    return None


def _load_trace(replay: Replay, record: c.LoadTrace) -> Any:
    """The host's time for making the trace is that of the capture, unless this is another chip; then the trace is laid
    out anew.
    """
    host, executor = replay.system.host, replay.system.executor
    if not replay.retimed:
        host.now_fs = max(host.now_fs, replay.node.host_at_fs)
    if replay.elsewhere:
        descriptor = cast("TraceDescriptor", record.descriptor)
        for program in descriptor.programs:
            for kernel in program.kernels:
                known = dict(kernel.references)
                for core, words in (*kernel.args, (None, kernel.common_args)):
                    standing = {index: key for index, _, key in known.get(core, ())}
                    _refuse_raw_addresses(replay, kernel.kernel.name, dict(enumerate(words)), standing)
        device = executor.device(record.device)
        record = replace(record, descriptor=relocated(executor, device, descriptor))
    return executor.submit(record)


def _create_device(replay: Replay, record: c.CreateDevice) -> Any:
    return replay.open(record)


def _start_fabric(replay: Replay, record: c.StartFabric) -> Any:
    if replay.device is not None:
        rows, columns = record.shape
        raise UsageError(
            f"the binary was captured on a mesh of {rows}x{columns} chips, and is replayed on one device",
            hint="leave the device out: a replay opens the mesh that it needs",
        )
    if any(item["parameter"] == "name" for item in replay.differs):
        raise UsageError(
            "a mesh that was captured on other chips: their kernels know where its routers lie",
            hint="replay it without --arch and --device, or capture the program on a board of those chips",
        )
    replay.fabric = replay.system.executor.submit(record)
    return replay.fabric


def _function(replay: Replay, record: c.EnqueueFunction) -> Any:
    """Functions are in this process, by their names; without buffers of devices only their time counts."""
    executor, function = replay.system.executor, _nothing
    if record.buffers:
        buffers = [(executor.device(b.device), b) for b in map(executor.buffer, record.buffers)]
        function = replay.find_function(record.name, record.parameters, buffers)
    return executor.submit(replace(record, function=function))


def _nothing() -> None:
    """A function without buffers: only its time passes."""


HANDLERS: dict[type[c.Command], Callable[[Replay, Any], Any]] = {
    c.CreateDevice: _create_device,
    c.StartFabric: _start_fabric,
    c.SetRuntimeArgs: _set_args,
    c.SetCommonRuntimeArgs: _set_args,
    c.UpdateRuntimeArg: _update_arg,
    c.CreateKernel: _with_references,
    c.ReadBuffer: _read,
    c.CompareBuffer: _compare,
    c.LoadTrace: _load_trace,
    c.EnqueueFunction: _function,
}
