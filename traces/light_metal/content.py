"""The compiled walk over the commands of a sound file: do the ids, sizes, queues and devices in them fit each other?

What a command does to which id is data: `rules` (`rule_arrays` builds them from field names; the columns are named
here).  Ids of the file are looked up in `ids`, sorted, and `things[i]` is what is known of `ids[i]` so far.
"""

from typing import NamedTuple

import numpy as np

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.traces.flatbuffers.schema import light_metal_schema
from tensim.traces.flatbuffers.structure import FIELD_COUNT, field_at, follow, i32, number, u32

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
def _add(c, code, command, table, field, value, bound, element=-1, sub=-1, offset=0, space=-1):
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


# --- ids


@compiled()
def _trace_key(c, rule, table):
    """The id of a trace among all ids: traces are numbered by device."""
    device = scalar(c.data, table, rule[B], 4) & 0xFFFF
    return TRACE_KEYS * (1 + device) + scalar(c.data, table, rule[A], 4)


@compiled()
def collect_ids(c, first, count, keys):
    """Put the ids that commands create into `keys` (one word for each command); returns how many."""
    n = 0
    for i in range(count):
        member, table = command_of(c, first, i)
        for r in range(c.first_rule[member], c.first_rule[member + 1]):
            rule = c.rules[r]
            if rule[ACTION] == CREATE or rule[ACTION] == RECORD:
                keys[n] = scalar(c.data, table, rule[A], 4)
                n += 1
                break
            if rule[ACTION] == LOAD_TRACE:
                keys[n] = _trace_key(c, rule, table)
                n += 1
                break
    return n


@compiled()
def _find(ids, key):
    """Index of `key` in sorted `ids`, or -1.  Ids mostly count up without gaps."""
    if len(ids) == 0:
        return -1
    guess = key - ids[0]
    if 0 <= guess < len(ids) and ids[guess] == key:
        return guess
    low, high = 0, len(ids)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if ids[middle] < key else (low, middle)
    return low if low < len(ids) and ids[low] == key else -1


@compiled()
def _known(c, key, space, live, command, table, field, element=-1, sub=-1, offset=0):
    """Index of a thing that an earlier command created and none deleted, or -1 with the problem noted."""
    index = _find(c.ids, key)
    code = -1
    if index < 0 or c.things[index, STATE] == NEVER:
        code = UNKNOWN_ID
    elif c.things[index, THING_SPACE] != space:
        code = WRONG_KIND
    elif c.things[index, STATE] == DELETED:
        code = USED_AFTER_DELETE
    elif live and c.things[index, STATE] == HALF:
        code = USED_AFTER_DEALLOCATION
    if code < 0:
        return index
    actual = c.things[index, THING_SPACE] if code == WRONG_KIND else -1
    _add(c, code, command, table, field, key, actual, element, sub, offset, space)
    return -1


@compiled()
def _create(c, rule, command, table):
    key = scalar(c.data, table, rule[A], 4)
    thing = c.things[_find(c.ids, key)]
    if thing[STATE] != NEVER:
        if rule[ACTION] == CREATE or thing[THING_SPACE] != rule[SPACE]:
            _add(c, CREATED_TWICE, command, table, rule[A], key, thing[THING_SPACE], space=rule[SPACE])
        return
    thing[THING_SPACE], thing[STATE] = rule[SPACE], LIVE
    if rule[B] >= 0:
        thing[OWNER] = scalar(c.data, table, rule[B], 4)


@compiled()
def _use(c, rule, command, table):
    action, key, field = rule[ACTION], scalar(c.data, table, rule[A], 4), rule[A]
    index = _known(c, key, rule[SPACE], action == USE_LIVE, command, table, field)
    if index < 0:
        return
    thing = c.things[index]
    if action == USE_OWNED:
        program = scalar(c.data, table, rule[B], 4)
        if thing[OWNER] != program:
            _add(c, WRONG_OWNER, command, table, field, key, thing[OWNER], space=rule[SPACE])
    elif action == DEALLOCATE or action == DELETE:
        if thing[STATE] == LIVE and rule[SPACE] == BUFFER:
            c.totals[LIVE_BYTES] -= thing[BYTES]
        thing[STATE] = HALF if action == DEALLOCATE else DELETED


@compiled()
def _optional(c, table, field):
    """Position of the table that holds an optional number, or 0."""
    place = field_at(c.data, table, field)
    return follow(c.data, place) if place else 0


@compiled()
def _use_optional(c, rule, command, table, inner, sub):
    """A thing named by an optional table at `inner`; `sub`: its field in the table at field A, -1 when A is it."""
    if inner:
        place = field_at(c.data, inner, OPTIONAL_VALUE)
        key = u32(c.data, place) if place else 0
        _known(c, key, rule[SPACE], False, command, table, rule[A], -1, sub, place if place else inner)


# --- devices and queues


@compiled()
def _device(c, device):
    for i in range(c.totals[DEVICE_COUNT]):
        if c.devices[i, DEVICE_ID] == device:
            return i
    return -1


@compiled()
def open_device(c, command, table, description, field, element):
    """Enter a device by its description."""
    minimal = scalar(c.data, description, DEVICE_FIELD_MINIMAL, 1)
    queues = 0 if minimal else scalar(c.data, description, DEVICE_FIELD_QUEUES, 4)
    _enter(c, command, table, description, field, element, scalar(c.data, description, DEVICE_FIELD_ID, 4), queues)


@compiled()
def open_host(c, command, table, description, field, element):
    """Enter a host device by its command's table."""
    device, queues = scalar(c.data, description, HOST_FIELD_ID, 4), scalar(c.data, description, HOST_FIELD_QUEUES, 4)
    _enter(c, command, table, description, field, element, device, queues)


@compiled()
def _enter(c, command, table, description, field, element, device, queues):
    index = _device(c, device)
    if index < 0:
        index = c.totals[DEVICE_COUNT]
        if index == len(c.devices):
            _add(c, TOO_MANY_DEVICES, command, table, field, index, len(c.devices), element, -1, description)
            return
        c.totals[DEVICE_COUNT] = index + 1
    c.devices[index, DEVICE_ID], c.devices[index, QUEUES], c.devices[index, OPEN] = device, queues, 1


@compiled()
def _open(c, command, table, field):
    """Index of the open device of a command, or -1 with the problem noted.  Files without devices mean one chip: index -2."""
    if c.totals[DEVICE_COUNT] == 0:
        return -2
    device = scalar(c.data, table, field, 4)
    index = _device(c, device)
    if index < 0:
        _add(c, UNKNOWN_DEVICE, command, table, field, device, 0)
    elif not c.devices[index, OPEN]:
        _add(c, CLOSED_DEVICE, command, table, field, device, 0)
        return -1
    return index


@compiled()
def _check_queue(c, rule, command, table):
    index = _open(c, command, table, rule[B])
    if index == -1 or rule[C] >= 0 and scalar(c.data, table, rule[C], 1):
        return
    queues = c.limits[LIMIT_QUEUES] if index < 0 else c.devices[index, QUEUES]
    queue = scalar(c.data, table, rule[A], 4)
    if queue >= queues:
        _add(c, NO_QUEUE, command, table, rule[A], queue, queues)


@compiled()
def _close(c, rule, command, table):
    index = _open(c, command, table, rule[A])
    if index >= 0:
        c.devices[index, OPEN] = 0


# --- sizes


@compiled()
def _size(c, table, small, large):
    """A size in its 32-bit field, or in the 64-bit one when that is not 0; negative when it is none."""
    value = scalar(c.data, table, large, 8)
    place = field_at(c.data, table, small)
    return value if value or place == 0 else i32(c.data, place)


@compiled()
def _buffer_sizes(c, rule, command, table):
    size, page = _size(c, table, rule[B], rule[C]), _size(c, table, rule[D], rule[E])
    if size < 0 or size > c.limits[LIMIT_BUFFER_BYTES]:
        _add(c, BAD_SIZE, command, table, rule[B], size, c.limits[LIMIT_BUFFER_BYTES])
        return
    if page < 0 or page > size or size and page == 0:
        _add(c, BAD_PAGE_SIZE, command, table, rule[D], page, size)
    c.totals[LIVE_BYTES] += size
    if c.totals[LIVE_BYTES] > c.limits[LIMIT_BUFFER_BYTES]:
        _add(c, TOO_MUCH_MEMORY, command, table, rule[B], c.totals[LIVE_BYTES], c.limits[LIMIT_BUFFER_BYTES])
    c.things[_find(c.ids, scalar(c.data, table, rule[A], 4)), BYTES] = size


@compiled()
def _check_write(c, rule, command, table):
    """Data of a transfer: words or a payload, within the buffer."""
    index = _known(c, scalar(c.data, table, rule[A], 4), BUFFER, True, command, table, rule[A])
    payload, words = scalar(c.data, table, rule[C], 4), 0
    field, data = rule[C], False
    if rule[B] >= 0:
        data = field_at(c.data, table, rule[B]) != 0
        words, _ = vector(c.data, table, rule[B])
        field = rule[C] if payload else rule[B]
    if payload > len(c.payloads):
        _add(c, NO_PAYLOAD, command, table, rule[C], payload, len(c.payloads))
        return
    if payload and data or not payload and not data:
        _add(c, TWO_SOURCES if data else NO_DATA, command, table, rule[C], payload, 0)
        return
    size = c.payloads[payload - 1] if payload else 4 * words
    offset = scalar(c.data, table, rule[D], 8) if rule[D] >= 0 else 0
    if index >= 0 and (offset < 0 or offset > c.things[index, BYTES] or size > c.things[index, BYTES] - offset):
        _add(c, BEYOND_BUFFER, command, table, rule[D] if offset else field, offset + size, c.things[index, BYTES])


@compiled()
def _check_read(c, rule, command, table):
    """The region of a read: B offset, C size, 0 for the whole buffer."""
    index = _known(c, scalar(c.data, table, rule[A], 4), BUFFER, True, command, table, rule[A])
    if index < 0 or rule[B] < 0:
        return
    offset, size = scalar(c.data, table, rule[B], 8), scalar(c.data, table, rule[C], 8)
    room = c.things[index, BYTES]
    if offset < 0 or offset > room:
        _add(c, BEYOND_BUFFER, command, table, rule[B], offset, room)
    elif size < 0 or size > room - offset:
        _add(c, BEYOND_BUFFER, command, table, rule[C], offset + size, room)


@compiled()
def _spend(c, amount, command, table, field):
    """Whether `amount` more elements may be looked at; shared vectors could make a small file cost hours."""
    before = c.totals[ELEMENTS]
    c.totals[ELEMENTS] = before + amount
    within = c.totals[ELEMENTS] <= c.limits[LIMIT_ELEMENTS]
    if not within and before <= c.limits[LIMIT_ELEMENTS]:
        _add(c, TOO_MANY_ELEMENTS, command, table, field, c.totals[ELEMENTS], c.limits[LIMIT_ELEMENTS])
    return within


@compiled()
def _use_all(c, rule, command, table):
    """Every element of a vector names a thing; buffers are still allocated."""
    count, first = vector(c.data, table, rule[A])
    if not _spend(c, count, command, table, rule[A]):
        return
    for i in range(count):
        place = first + 4 * i
        _known(c, u32(c.data, place), rule[SPACE], rule[SPACE] == BUFFER, command, table, rule[A], i, -1, place)


@compiled()
def _check_time(c, rule, command, table):
    """Simulated time that the command asks for, alone and in sum."""
    fs, bound = scalar(c.data, table, rule[A], 8), c.limits[LIMIT_FS]
    if fs < 0 or fs > bound - c.totals[SIMULATED]:
        _add(c, TOO_LONG, command, table, rule[A], fs, bound)
        return
    c.totals[SIMULATED] += fs


@compiled()
def check_moment(c, field, command, table):
    """Simulated host time at which something happened: one that the clock can reach."""
    fs, bound = scalar(c.data, table, field, 8), c.limits[LIMIT_FS]
    if fs < 0 or fs > bound:
        _add(c, TOO_LATE, command, table, field, fs, bound)


@compiled()
def check_start(c):
    """The host time at which the recording began."""
    check_moment(c, ROOT_START, -1, u32(c.data, 0))


# --- arguments


@compiled()
def _args_of_core(c, table, rule, core):
    """Number of arguments of a core: of field B, a list of words, or with field C a list of lists."""
    count, first = vector(c.data, table, rule[B])
    if rule[C] < 0:
        return count
    words, _ = vector(c.data, follow(c.data, first + 4 * core), WORDS)
    return words


@compiled()
def _check_references(c, rule, command, table):
    """Arguments that stand for something: `core` and `index` inside the lists, `id` a thing that was created."""
    count, first = vector(c.data, table, rule[A])
    if not _spend(c, count, command, table, rule[A]):
        return
    cores = 1
    if rule[C] >= 0:
        cores, _ = vector(c.data, table, rule[B])
    for i in range(count):
        at = first + REFERENCE_BYTES * i
        core, index, key = u32(c.data, at), u32(c.data, at + REFERENCE_INDEX), u32(c.data, at + REFERENCE_ID)
        kind = c.data[at + REFERENCE_KIND]
        if core >= cores:
            _add(c, BAD_CORE, command, table, rule[A], core, cores, i, REFERENCE_CORE_NUMBER, at)
            continue
        args = _args_of_core(c, table, rule, core)
        if index >= args:
            place = at + REFERENCE_INDEX
            _add(c, BAD_INDEX, command, table, rule[A], index, args, i, REFERENCE_INDEX_NUMBER, place)
        if kind == REFERS_BUFFER or kind == REFERS_GLOBAL_SEMAPHORE:
            space = BUFFER if kind == REFERS_BUFFER else GLOBAL_SEMAPHORE
            place = at + REFERENCE_ID
            _known(c, key, space, False, command, table, rule[A], i, REFERENCE_ID_NUMBER, place)


@compiled()
def _check_per_core(c, rule, command, table):
    cores, _ = vector(c.data, table, rule[A])
    lists, _ = vector(c.data, table, rule[B])
    if cores != lists:
        _add(c, LENGTHS_DIFFER, command, table, rule[B], lists, cores)


@compiled()
def _check_runtime_args(c, rule, command, table):
    """Arguments that are buffers (member BufferGlobalId of RuntimeArgValue)."""
    count, first = vector(c.data, table, rule[A])
    if not _spend(c, count, command, table, rule[A]):
        return
    for i in range(count):
        arg = follow(c.data, first + 4 * i)
        if scalar(c.data, arg, ARG_KIND, 1) == RUNTIME_ARG_BUFFER:
            place = follow(c.data, field_at(c.data, arg, ARG_VALUE))
            _known(c, u32(c.data, place), BUFFER, False, command, table, rule[A], i, ARG_VALUE, place)


@compiled()
def _check_index(c, rule, command, table):
    inner = _optional(c, table, rule[A])
    index = scalar(c.data, inner, OPTIONAL_VALUE, 4) if inner else 0
    if index >= N_CIRCULAR_BUFFERS:
        place = field_at(c.data, inner, OPTIONAL_VALUE)
        _add(c, BAD_INDEX, command, table, rule[A], index, N_CIRCULAR_BUFFERS, -1, -1, place)


# --- cores


@compiled()
def _coordinate(c, core_range, end, axis):
    return scalar(c.data, follow(c.data, field_at(c.data, core_range, end)), axis, 4)


@compiled()
def _add_range(c, at, command, table, field):
    """Whether the range at `at` goes forward and holds no core that the current set of ranges has already."""
    x0, y0 = _coordinate(c, at, RANGE_START, COORD_X), _coordinate(c, at, RANGE_START, COORD_Y)
    x1, y1 = _coordinate(c, at, RANGE_END, COORD_X), _coordinate(c, at, RANGE_END, COORD_Y)
    if x1 < x0 or y1 < y0:
        _add(c, BACKWARDS, command, table, field, x1 if x1 < x0 else y1, x0 if x1 < x0 else y0, offset=at)
        return False
    for y in range(y0, y1 + 1):
        for x in range(x0, x1 + 1):
            if c.grid[y, x] == c.totals[SETS]:
                _add(c, OVERLAP, command, table, field, x, y, offset=at)
                return False
            c.grid[y, x] = c.totals[SETS]
    before = c.totals[CORES]
    c.totals[CORES] = before + (x1 - x0 + 1) * (y1 - y0 + 1)
    if before <= c.limits[LIMIT_CORES] < c.totals[CORES]:
        _add(c, TOO_MANY_CORES, command, table, field, c.totals[CORES], c.limits[LIMIT_CORES], offset=at)
    return c.totals[CORES] <= c.limits[LIMIT_CORES]


@compiled()
def _check_range_set(c, at, command, table, field):
    """Ranges of one set do not overlap, so that they hold no more cores than a grid has."""
    c.totals[SETS] += 1
    count, first = vector(c.data, at, RANGES)
    for i in range(count):
        if not _add_range(c, follow(c.data, first + 4 * i), command, table, field):
            return


@compiled()
def _check_core_spec(c, rule, command, table):
    """The cores of a command: a core, a range or a set of ranges."""
    kind = scalar(c.data, table, rule[A] - 1, 1)
    at = _optional(c, table, rule[A])
    if at == 0:
        return
    if kind == MANY_RANGES:
        _check_range_set(c, at, command, table, rule[A])
    elif kind == ONE_RANGE:
        c.totals[SETS] += 1
        _add_range(c, at, command, table, rule[A])


@compiled()
def _check_range_sets(c, rule, command, table):
    count, first = vector(c.data, table, rule[A])
    for i in range(count):
        _check_range_set(c, follow(c.data, first + 4 * i), command, table, rule[A])


@compiled()
def _check_shards(c, rule, command, table):
    """The grid of a sharded buffer."""
    shards = _optional(c, table, rule[A])
    if shards:
        grid = _optional(c, _optional(c, shards, SHARD_SPEC), SHARD_GRID)
        _check_range_set(c, grid, command, table, rule[A])


# --- traces


@compiled()
def _trace(c, rule, command, table):
    """A trace is loaded, used and released; then its id is free again."""
    action, name = rule[ACTION], scalar(c.data, table, rule[A], 4)
    index = _find(c.ids, _trace_key(c, rule, table))
    live = index >= 0 and c.things[index, STATE] == LIVE
    if action == LOAD_TRACE:
        if live:
            _add(c, CREATED_TWICE, command, table, rule[A], name, TRACE, space=TRACE)
        elif _find(c.traces, name) < 0:
            _add(c, NO_TRACE_DATA, command, table, rule[A], name, 0)
        c.things[index, THING_SPACE], c.things[index, STATE] = TRACE, LIVE
    elif not live:
        _add(c, TRACE_NOT_READY, command, table, rule[A], name, 0)
    elif action == RELEASE_TRACE:
        c.things[index, STATE] = DELETED


# --- the walk


@compiled()
def _apply(c, rule, command, table):
    """Carry out one rule on the command whose table stands at `table`."""
    action = rule[ACTION]
    if action == CREATE or action == RECORD:
        _create(c, rule, command, table)
    elif action in (USE, USE_LIVE, USE_OWNED, DEALLOCATE, DELETE):
        _use(c, rule, command, table)
    elif action == USE_OPTIONAL:
        _use_optional(c, rule, command, table, _optional(c, table, rule[A]), -1)
    elif action == SHADOW_BUFFER:
        config = follow(c.data, field_at(c.data, table, rule[A]))
        _use_optional(c, rule, command, table, _optional(c, config, SHADOW_FIELD), SHADOW_FIELD)
    elif action == QUEUE:
        _check_queue(c, rule, command, table)
    elif action == DEVICE:
        _open(c, command, table, rule[A])
    elif action == OPEN_DEVICE:
        open_device(c, command, table, _optional(c, table, rule[A]), rule[A], -1)
    elif action == CLOSE_DEVICE:
        _close(c, rule, command, table)
    elif action == BUFFER_SIZES:
        _buffer_sizes(c, rule, command, table)
    elif action == WRITE:
        _check_write(c, rule, command, table)
    elif action == READ:
        _check_read(c, rule, command, table)
    elif action == REFERENCES:
        _check_references(c, rule, command, table)
    elif action == PER_CORE:
        _check_per_core(c, rule, command, table)
    elif action == RUNTIME_ARGS:
        _check_runtime_args(c, rule, command, table)
    elif action == INDEX:
        _check_index(c, rule, command, table)
    elif action == OPEN_HOST:
        open_host(c, command, table, table, HOST_FIELD_ID, -1)
    elif action == USE_ALL:
        _use_all(c, rule, command, table)
    elif action == TIME:
        _check_time(c, rule, command, table)
    elif action == MOMENT:
        check_moment(c, rule[A], command, table)
    elif action == CORE_SPEC:
        _check_core_spec(c, rule, command, table)
    elif action == RANGE_SET:
        _check_range_set(c, _optional(c, table, rule[A]), command, table, rule[A])
    elif action == RANGE_SETS:
        _check_range_sets(c, rule, command, table)
    elif action == SHARDS:
        _check_shards(c, rule, command, table)
    else:
        _trace(c, rule, command, table)


@compiled()
def check_commands(c, first, count):
    """Apply the rules of every command in order."""
    for i in range(count):
        member, table = command_of(c, first, i)
        if member == 0:
            _add(c, NO_COMMAND, i, table, -1, 0, 0)
        for r in range(c.first_rule[member], c.first_rule[member + 1]):
            _apply(c, c.rules[r], i, table)
        if c.totals[PROBLEM_COUNT] == len(c.problems):
            return


@compiled()
def _packing(data, payload, codec_names):
    """PLAIN, PACKED or UNKNOWN.  `codec_names`: plain, packed; as words, for both have four letters."""
    place = field_at(data, payload, PAYLOAD_CODEC)
    if place == 0:
        return PLAIN
    at = follow(data, place)
    if u32(data, at) != 4:
        return UNKNOWN
    for which in range(2):
        if u32(data, at + 4) == codec_names[which]:
            return which
    return UNKNOWN


@compiled()
def check_payloads(c, first, codec_names):
    """Sizes of the payloads when unpacked, one by one and in sum; fills `payloads`."""
    for i in range(len(c.payloads)):
        table = follow(c.data, first + 4 * i)
        stored, _ = vector(c.data, table, PAYLOAD_DATA)
        size, packing = scalar(c.data, table, PAYLOAD_SIZE, 8), _packing(c.data, table, codec_names)
        size_place = field_at(c.data, table, PAYLOAD_SIZE)
        place = size_place if size_place else table
        if packing == UNKNOWN:
            place = follow(c.data, field_at(c.data, table, PAYLOAD_CODEC))
            _add(c, UNKNOWN_CODEC, -1, table, ROOT_PAYLOADS, 0, 0, i, PAYLOAD_CODEC, place)
        elif size < 0 or packing == PLAIN and size_place and size != stored:
            _add(c, BAD_PAYLOAD_SIZE, -1, table, ROOT_PAYLOADS, size, stored, i, PAYLOAD_SIZE, place)
        elif packing == PACKED and size > c.limits[LIMIT_RATIO] * stored:
            _add(c, RATIO, -1, table, ROOT_PAYLOADS, size, stored, i, PAYLOAD_SIZE, place)
        c.payloads[i] = stored if packing == PLAIN else max(size, 0)
        before, bound = c.totals[PAYLOAD_BYTES], c.limits[LIMIT_PAYLOAD_BYTES]
        c.totals[PAYLOAD_BYTES] = before + min(c.payloads[i], bound + 1)
        if before <= bound < c.totals[PAYLOAD_BYTES]:
            _add(c, TOO_MUCH_PAYLOAD, -1, table, ROOT_PAYLOADS, c.payloads[i], bound, i, PAYLOAD_SIZE, place)


@compiled()
def read_traces(c, first):
    """Ids of the trace descriptors, which stand in ascending order; fills `traces`."""
    for i in range(len(c.traces)):
        table = follow(c.data, first + 4 * i)
        c.traces[i] = scalar(c.data, table, TRACE_ID, 4)
        if i and c.traces[i] <= c.traces[i - 1]:
            place = field_at(c.data, table, TRACE_ID)
            place = place if place else table
            _add(c, TRACE_ORDER, -1, table, ROOT_TRACES, c.traces[i], c.traces[i - 1], i, TRACE_ID, place)


@compiled()
def check_names(c, first, count):
    """The named buffers were created; that one is gone by now takes nothing from its name."""
    for i in range(count):
        table = follow(c.data, first + 4 * i)
        key, place = scalar(c.data, table, NAMED_ID, 4), field_at(c.data, table, NAMED_ID)
        index = _find(c.ids, key)
        space = c.things[index, THING_SPACE] if index >= 0 and c.things[index, STATE] != NEVER else -1
        if space != BUFFER:
            code = UNKNOWN_ID if space < 0 else WRONG_KIND
            _add(c, code, -1, table, ROOT_NAMES, key, space, i, NAMED_ID, place if place else table, BUFFER)


@compiled()
def open_devices(c, first, count):
    """Enter the devices that were open when the capture began."""
    for i in range(count):
        description = follow(c.data, first + 4 * i)
        open_device(c, -1, description, description, ROOT_DEVICES, i)


@compiled()
def open_hosts(c, first, count):
    """Enter the host devices that were open when the recording began."""
    for i in range(count):
        description = follow(c.data, first + 4 * i)
        open_host(c, -1, description, description, ROOT_HOSTS, i)


@compiled()
def tables_with_unknown_fields(data, members, objects, first, count):
    """How many commands have a field that the schema's table of their member has not.  `members`: number -> object."""
    wide = 0
    for i in range(count):
        outer = follow(data, first + 4 * i)
        kind = scalar(data, outer, COMMAND_KIND, 1)
        if kind == 0:
            continue
        table = follow(data, field_at(data, outer, COMMAND_TABLE))
        vtable = table - i32(data, table)
        fields = (number(data, vtable, 2, False) - 4) // 2
        for field in range(objects[members[kind], FIELD_COUNT], fields):
            if field_at(data, table, field):
                wide += 1
                break
    return wide
