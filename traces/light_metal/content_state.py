"""What the compiled walk over a file's commands reads and writes: rules, things, devices, limits, problems.

What a command does to which id is data: `rules` (`rule_arrays` builds them from field names; the columns are named
here).  Ids of the file are looked up in `ids`, sorted, and `things[i]` is what is known of `ids[i]` so far.
"""

from typing import NamedTuple

import numpy as np

from tensim.sim.engine.compiled import compiled
from tensim.traces.flatbuffers.schema import light_metal_schema
from tensim.traces.flatbuffers.structure import field_at, follow, number, u32

# rules[first_rule[member]:first_rule[member + 1]]; A to E are field numbers, -1 for none
ACTION, SPACE, A, B, C, D, E = range(7)
RULE_COLUMNS = 7
(
    CREATE, USE, USE_LIVE, USE_OWNED, USE_OPTIONAL, DEALLOCATE, DELETE, RECORD, QUEUE, DEVICE, OPEN_DEVICE, CLOSE_DEVICE,
    BUFFER_SIZES, WRITE, READ, REFERENCES, PER_CORE, RUNTIME_ARGS, SHADOW_BUFFER, INDEX, LOAD_TRACE,
    USE_TRACE, RELEASE_TRACE, OPEN_HOST, USE_ALL, TIME, MOMENT, CORE_SPEC, RANGE_SET, RANGE_SETS, SHARDS,
) = range(31)  # fmt: skip
# SPACE: kinds of things that ids name; all but traces share one counter (docs/hardware/light_metal.md#capture-machinery)
BUFFER, PROGRAM, KERNEL, CIRCULAR_BUFFER, SEMAPHORE, GLOBAL_SEMAPHORE, EVENT, MANAGER, TRACE = range(9)
# things[index]; OWNER: id of the program a kernel or circular buffer belongs to
THING_SPACE, STATE, OWNER, BYTES = range(4)
THING_COLUMNS = 4
NEVER, LIVE, HALF, DELETED = range(4)  # HALF: a deallocated buffer
# devices[index]
DEVICE_ID, QUEUES, OPEN = range(3)
MAX_DEVICES = 256
# totals
DEVICE_COUNT, PROBLEM_COUNT, LIVE_BYTES, PAYLOAD_BYTES, ELEMENTS, SIMULATED, CORES, SETS = range(8)
# limits
LIMIT_BUFFER_BYTES, LIMIT_PAYLOAD_BYTES, LIMIT_RATIO, LIMIT_QUEUES, LIMIT_ELEMENTS, LIMIT_FS, LIMIT_CORES = range(7)
GRID = 64  # coordinates of cores have 6 bits
# problems[index]; COMMAND -1: a vector of the root.  SUB: field number inside the element or table of FIELD
CODE, COMMAND, FIELD, ELEMENT, SUB, OFFSET, VALUE, BOUND, PROBLEM_SPACE = range(9)
PROBLEM_COLUMNS = 9
(
    NO_COMMAND, UNKNOWN_ID, CREATED_TWICE, WRONG_KIND, USED_AFTER_DELETE, USED_AFTER_DEALLOCATION, WRONG_OWNER, NO_QUEUE,
    UNKNOWN_DEVICE, CLOSED_DEVICE, TOO_MANY_DEVICES, BAD_SIZE, BAD_PAGE_SIZE, TOO_MUCH_MEMORY, NO_PAYLOAD, TWO_SOURCES,
    NO_DATA, BEYOND_BUFFER, BAD_INDEX, BAD_CORE, LENGTHS_DIFFER, NO_TRACE_DATA, TRACE_NOT_READY,
    UNKNOWN_CODEC, BAD_PAYLOAD_SIZE, RATIO, TOO_MUCH_PAYLOAD, TRACE_ORDER, TOO_MANY_ELEMENTS, TOO_LONG, TOO_LATE,
    BACKWARDS, OVERLAP, TOO_MANY_CORES,
) = range(34)  # fmt: skip
_SCHEMA = light_metal_schema()


def _numbers(table, *fields):
    """Field numbers of a table or struct by the schema's names; a schema never changes them."""
    return tuple(_SCHEMA.object(table).by_name[field].number for field in fields)


def _number_of(table, field):
    return _numbers(table, field)[0]


ROOT_COMMANDS, ROOT_TRACES, ROOT_DEVICES, ROOT_PAYLOADS, ROOT_START, ROOT_NAMES, ROOT_HOSTS = _numbers(
    "LightMetalBinary", "commands", "trace_descriptors", "devices", "payloads", "host_start_fs", "buffer_names", "host_devices",
)  # fmt: skip
COMMAND_KIND, COMMAND_TABLE = _numbers("Command", "cmd_type", "cmd")
DEVICE_FIELD_ID, DEVICE_FIELD_QUEUES, DEVICE_FIELD_MINIMAL = _numbers(
    "DeviceDescription", "device_id", "num_hw_cqs", "minimal"
)
HOST_FIELD_ID, HOST_FIELD_QUEUES = _numbers("CreateHostDeviceCommand", "device_id", "num_queues")
PAYLOAD_DATA, PAYLOAD_CODEC, PAYLOAD_SIZE = _numbers("Payload", "data", "codec", "size")
TRACE_ID, NAMED_ID = _number_of("TraceDescriptorByTraceId", "trace_id"), _number_of("BufferName", "global_id")
SHADOW_FIELD = _number_of("CircularBufferConfig", "shadow_buf_global_id")
OPTIONAL_VALUE, WORDS = _number_of("Uint32Optional", "value"), _number_of("UInt32Vector", "values")
ARG_KIND, ARG_VALUE = _numbers("RuntimeArg", "value_type", "value")
REFERENCE_CORE_NUMBER, REFERENCE_INDEX_NUMBER, REFERENCE_ID_NUMBER = _numbers(
    "ArgumentReference", "core", "index", "id"
)
# Places inside the struct, and its size
REFERENCE_INDEX, REFERENCE_ID, REFERENCE_KIND = (
    _SCHEMA.object("ArgumentReference").by_name[field].offset for field in ("index", "id", "kind")
)
REFERENCE_BYTES = _SCHEMA.object("ArgumentReference").size
REFERS_BUFFER, REFERS_GLOBAL_SEMAPHORE = map(
    _SCHEMA.enum("ReferenceKind").values.get, ("BufferAddress", "GlobalSemaphoreAddress")
)
RANGE_START, RANGE_END = _numbers("CoreRange", "start", "end")
COORD_X, COORD_Y = _numbers("CoreCoord", "x", "y")
RANGES, SHARD_SPEC, SHARD_GRID = (
    _number_of("CoreRangeSet", "ranges"), _number_of("ShardSpecBuffer", "tensor_shard_spec"), _number_of("ShardSpec", "grid"),
)  # fmt: skip
ONE_RANGE, MANY_RANGES = map(_SCHEMA.enum("CoreSpec").values.get, ("CoreRange", "CoreRangeSet"))
RUNTIME_ARG_BUFFER = _SCHEMA.enum("RuntimeArgValue").values["BufferGlobalId"]
TRACE_KEYS = 1 << 32  # keys of traces stand above all 32-bit ids
PLAIN, PACKED, UNKNOWN = range(3)


class Content(NamedTuple):
    """Everything the walk reads and writes; int64 arrays but for `data`."""

    data: np.ndarray  # uint8
    members: np.ndarray  # number of a command in the file -> member of CommandType in the schema
    first_rule: np.ndarray
    rules: np.ndarray
    ids: np.ndarray
    things: np.ndarray
    devices: np.ndarray
    payloads: np.ndarray  # bytes of each when unpacked
    traces: np.ndarray  # ids of the trace descriptors, sorted
    totals: np.ndarray
    limits: np.ndarray
    problems: np.ndarray
    grid: np.ndarray  # GRID x GRID: number of the set of ranges that last held the core


@compiled()
def scalar(data, table, field, size):
    """A number field of a table, 0 when absent; 32-bit ones unsigned."""
    place = field_at(data, table, field)
    return number(data, place, size, False) if place else 0


@compiled()
def vector(data, table, field):
    """(number of elements, position of the first) of a vector field; (0, 0) when absent."""
    place = field_at(data, table, field)
    if place == 0:
        return 0, 0
    at = follow(data, place)
    return u32(data, at), at + 4


@compiled()
def root_vector(data, field):
    """As `vector`, of a field of the root table."""
    return vector(data, u32(data, 0), field)


@compiled()
def command_of(c, first, i):
    """(member of CommandType in the schema, position of the command's table) of command i; member 0: none."""
    outer = follow(c.data, first + 4 * i)
    kind = scalar(c.data, outer, COMMAND_KIND, 1)
    return (c.members[kind], follow(c.data, field_at(c.data, outer, COMMAND_TABLE))) if kind else (0, outer)


@compiled()
def add_problem(c, code, command, table, field, value, bound, element=-1, sub=-1, offset=0, space=-1):
    """Note a problem at a field of the table at `table` (or at `offset`); those beyond the room are dropped."""
    n = c.totals[PROBLEM_COUNT]
    if n == len(c.problems):
        return
    c.totals[PROBLEM_COUNT] = n + 1
    if offset == 0:
        place = field_at(c.data, table, field) if field >= 0 else 0
        offset = place if place else table
    row = c.problems[n]
    row[CODE], row[COMMAND], row[FIELD], row[ELEMENT], row[SUB] = code, command, field, element, sub
    row[OFFSET], row[VALUE], row[BOUND], row[PROBLEM_SPACE] = offset, value, bound, space
