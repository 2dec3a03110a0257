"""What each command does to which id, queue, device and size: the rules that `content` carries out.

Field names are those of the schema; `rule_arrays` turns them into the field numbers that the compiled walk uses.
"""

import functools

import numpy as np

from tensim.traces.flatbuffers.schema import light_metal_schema
from tensim.traces.light_metal import content_state as walk

BUFFER, PROGRAM, KERNEL, CIRCULAR_BUFFER = walk.BUFFER, walk.PROGRAM, walk.KERNEL, walk.CIRCULAR_BUFFER
SEMAPHORE, GLOBAL_SEMAPHORE, EVENT, MANAGER, TRACE = (
    walk.SEMAPHORE, walk.GLOBAL_SEMAPHORE, walk.EVENT, walk.MANAGER, walk.TRACE,
)  # fmt: skip
SPACE_NAMES = (
    "buffer", "program", "kernel", "circular buffer", "semaphore", "global semaphore", "event", "sub-device manager", "trace",
)  # fmt: skip
NONE = -1


def _rule(action, *fields, space=NONE):
    return action, space, fields


def _creates(space, owner=None):
    return _rule(walk.CREATE, "global_id", owner, space=space)


def _uses(space, field, action=walk.USE):
    return _rule(action, field, space=space)


def _of_program(space, field):
    return _rule(walk.USE_OWNED, field, "program_global_id", space=space)


_USES_PROGRAM = _uses(PROGRAM, "program_global_id")
_USES_KERNEL = _of_program(KERNEL, "kernel_global_id")
_ON_QUEUE = _rule(walk.QUEUE, "cq_global_id", "device_id", None)
_ON_TRACE_QUEUE = _rule(walk.QUEUE, "cq_id", "device_id", None)
_ON_DEVICE = _rule(walk.DEVICE, "device_id")
_USES_EVENT = _uses(EVENT, "event_global_id")
_CORES = _rule(walk.CORE_SPEC, "core_spec")
_RANGES = _rule(walk.RANGE_SET, "ranges")
_SIZES = _rule(walk.BUFFER_SIZES, "global_id", "size", "large_size", "page_size", "large_page_size")


def _takes_time(field):
    return _rule(walk.TIME, field)


def _references(lists=None):
    """`lists`: the field with the cores when there is a list of arguments for each."""
    return _rule(walk.REFERENCES, "references", "args", lists)


RULES = {
    "ReplayTraceCommand": [_ON_TRACE_QUEUE, _rule(walk.USE_TRACE, "tid", "device_id")],
    "EnqueueTraceCommand": [_ON_TRACE_QUEUE, _rule(walk.USE_TRACE, "tid", "device_id")],
    "LoadTraceCommand": [
        _ON_TRACE_QUEUE, _rule(walk.LOAD_TRACE, "tid", "device_id"), _rule(walk.MOMENT, "host_at_fs"),
    ],
    "ReleaseTraceCommand": [_ON_DEVICE, _rule(walk.RELEASE_TRACE, "tid", "device_id")],
    "BufferCreateCommand": [_creates(BUFFER), _ON_DEVICE, _SIZES, _rule(walk.SHARDS, "shard_parameters")],
    "BufferDeallocateCommand": [_uses(BUFFER, "global_id", walk.DEALLOCATE)],
    "BufferDeleteCommand": [_uses(BUFFER, "global_id", walk.DELETE)],
    "EnqueueWriteBufferCommand": [_ON_QUEUE, _rule(walk.WRITE, "buffer_global_id", "src", "payload", "offset")],
    "EnqueueReadBufferCommand": [_ON_QUEUE, _rule(walk.READ, "buffer_global_id", "offset", "size")],
    "WriteDirectCommand": [_rule(walk.WRITE, "buffer_global_id", None, "payload", None)],
    "ReadDirectCommand": [_uses(BUFFER, "buffer_global_id", walk.USE_LIVE)],
    "LightMetalCompareCommand": [_ON_QUEUE, _rule(walk.WRITE, "buffer_global_id", "golden_data", "payload", None)],
    "FinishCommand": [_rule(walk.QUEUE, "cq_global_id", "device_id", "all_queues")],
    "ProgramConstructorCommand": [_creates(PROGRAM)],
    "ProgramDeleteCommand": [_uses(PROGRAM, "global_id", walk.DELETE)],
    "EnqueueProgramCommand": [_ON_QUEUE, _USES_PROGRAM],
    "CompileProgramCommand": [_ON_DEVICE, _USES_PROGRAM],
    "AssignBufferToProgramCommand": [_USES_PROGRAM, _uses(BUFFER, "buffer_global_id")],
    "CreateKernelCommand": [_creates(KERNEL, "program_global_id"), _USES_PROGRAM, _CORES],
    "SetRuntimeArgsUint32Command": [_USES_PROGRAM, _USES_KERNEL, _CORES, _references()],
    "SetRuntimeArgsUint32VecPerCoreCommand": [
        _USES_PROGRAM, _USES_KERNEL, _rule(walk.PER_CORE, "core_spec", "args"), _references("core_spec"),
    ],
    "SetRuntimeArgsCommand": [_uses(KERNEL, "kernel_global_id"), _CORES, _rule(walk.RUNTIME_ARGS, "args")],
    "UpdateRuntimeArgCommand": [_USES_PROGRAM, _USES_KERNEL],
    "SetCommonRuntimeArgsCommand": [_USES_PROGRAM, _USES_KERNEL, _references()],
    "CreateCircularBufferCommand": [
        _creates(CIRCULAR_BUFFER, "program_global_id"), _USES_PROGRAM, _CORES,
        _rule(walk.SHADOW_BUFFER, "config", space=BUFFER),
    ],
    "UpdateCircularBufferCommand": [
        _USES_PROGRAM, _of_program(CIRCULAR_BUFFER, "circular_buffer_global_id"), _rule(walk.INDEX, "index"),
        _uses(BUFFER, "buffer", walk.USE_OPTIONAL),
    ],
    "CreateSemaphoreCommand": [_creates(SEMAPHORE, "program_global_id"), _USES_PROGRAM, _RANGES],
    "CreateGlobalSemaphoreCommand": [_creates(GLOBAL_SEMAPHORE), _ON_DEVICE, _RANGES],
    "ResetGlobalSemaphoreCommand": [_uses(GLOBAL_SEMAPHORE, "global_id")],
    "DeleteGlobalSemaphoreCommand": [_uses(GLOBAL_SEMAPHORE, "global_id", walk.DELETE)],
    "RecordEventCommand": [_rule(walk.RECORD, "event_global_id", None, space=EVENT), _ON_TRACE_QUEUE],
    "WaitForEventCommand": [_ON_TRACE_QUEUE, _USES_EVENT],
    "SynchronizeEventCommand": [_USES_EVENT],
    "QueryEventCommand": [_USES_EVENT],
    "CreateSubDeviceManagerCommand": [_creates(MANAGER), _ON_DEVICE, _rule(walk.RANGE_SETS, "sub_devices")],
    "LoadSubDeviceManagerCommand": [_ON_DEVICE, _uses(MANAGER, "manager", walk.USE_OPTIONAL)],
    "RemoveSubDeviceManagerCommand": [_ON_DEVICE, _uses(MANAGER, "manager", walk.DELETE)],
    "SetStallGroupCommand": [_ON_DEVICE],
    "CreateDeviceCommand": [_rule(walk.OPEN_DEVICE, "device")],
    "CloseDeviceCommand": [_rule(walk.CLOSE_DEVICE, "device_id")],
    "StartFabricCommand": [],
    "CreateHostDeviceCommand": [_rule(walk.OPEN_HOST)],
    "CreateEventCommand": [_rule(walk.USE_ALL, "of", space=EVENT), _creates(EVENT)],
    "SignalEventCommand": [_USES_EVENT],
    "WaitEventsCommand": [_rule(walk.USE_ALL, "event_global_ids", space=EVENT), _takes_time("timeout_fs")],
    "HostWorkCommand": [_takes_time("duration_fs")],
    "EnqueueFunctionCommand": [
        _ON_TRACE_QUEUE, _rule(walk.USE_ALL, "buffer_global_ids", space=BUFFER), _takes_time("duration_fs"),
    ],
    "TransferBufferCommand": [
        _ON_TRACE_QUEUE, _uses(BUFFER, "source_global_id", walk.USE_LIVE), _uses(BUFFER, "target_global_id", walk.USE_LIVE),
    ],
}  # fmt: skip


@functools.cache
def rule_arrays():
    """(first_rule, rules): the rules of member m of CommandType are rules[first_rule[m]:first_rule[m + 1]]."""
    schema = light_metal_schema()
    members = schema.enum("CommandType").members
    first, rows = [0], []
    for member in range(max(members) + 1):
        if member in members:
            table = schema.objects[members[member]]
            rows += [_row(table, *rule) for rule in RULES[table.name]]
        first.append(len(rows))
    return np.array(first, np.int64), np.array(rows, np.int64)


def _row(table, action, space, fields):
    """A rule with field numbers in place of names."""
    numbers = [NONE if name is None else table.by_name[name].number for name in fields]
    padding = [NONE] * (walk.RULE_COLUMNS - 2 - len(numbers))
    return [action, space, *numbers, *padding]
