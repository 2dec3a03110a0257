"""May a Light Metal binary be used?  Its structure, its references and its sizes, before anything of it is decoded.

The walks are compiled (`flatbuffers.structure`, `content`); this module gives them the schema as arrays and turns the
codes they return into text.  `data` is bytes, a bytearray, a memoryview, a memory map or an array of uint8.
"""

import functools
from dataclasses import dataclass

import numpy as np

from tensim.sim.errors import BinaryError
from tensim.traces.flatbuffers import structure as walk
from tensim.traces.flatbuffers.schema import (
    BYTE,
    INT,
    LONG,
    OBJ,
    SCALAR_BYTES,
    SHORT,
    STRING,
    UNION,
    UTYPE,
    VECTOR,
    light_metal_schema,
)
from tensim.traces.light_metal import content, content_sizes, content_things
from tensim.traces.light_metal import content_state as state
from tensim.traces.light_metal.rules import SPACE_NAMES, rule_arrays

NUMBERINGS = ("e2", "late")
# Members of CommandType; the later releases have no EnqueueProgram (docs/hardware/light_metal.md#schema-commands).
ENQUEUE_PROGRAM, LAST_E2 = 12, 18
MAX_COORDINATE = 63  # a NoC coordinate has 6 bits (docs/hardware/kernel_api.md#address-helpers)
MAX_CIRCULAR_BUFFER = 31  # 32 circular buffers a core (docs/hardware/host_api.md#circular-buffers)
MAX_DEVICE = 65535
MAX_HOST_QUEUES = 64  # a queue mask has as many bits (docs/hardware/runtime.md#events-queues-affinity)

# (table, field): smallest and largest value of the field, or of each element of a vector
RANGES = {
    ("CoreCoord", "x"): (0, MAX_COORDINATE),
    ("CoreCoord", "y"): (0, MAX_COORDINATE),
    ("CBConfigPageSize", "index"): (0, MAX_CIRCULAR_BUFFER),
    ("CBConfigDataFormat", "index"): (0, MAX_CIRCULAR_BUFFER),
    ("CBConfigTile", "index"): (0, MAX_CIRCULAR_BUFFER),
    ("CircularBufferConfig", "buffer_indices"): (0, MAX_CIRCULAR_BUFFER),
    ("CircularBufferConfig", "local_buffer_indices"): (0, MAX_CIRCULAR_BUFFER),
    ("CircularBufferConfig", "remote_buffer_indices"): (0, MAX_CIRCULAR_BUFFER),
    ("DeviceDescription", "device_id"): (0, MAX_DEVICE),
    ("CreateHostDeviceCommand", "device_id"): (0, MAX_DEVICE),
    ("CreateHostDeviceCommand", "num_queues"): (1, MAX_HOST_QUEUES),
}

# References without which a table means nothing; every known writer stores them.
REQUIRED = {
    ("LightMetalBinary", "commands"),
    ("CoreRange", "start"), ("CoreRange", "end"), ("RuntimeArg", "value"),
    ("CreateKernelCommand", "core_spec"), ("CreateKernelCommand", "kernel_config"),
    ("SetRuntimeArgsUint32Command", "core_spec"), ("SetRuntimeArgsUint32VecPerCoreCommand", "core_spec"),
    ("SetRuntimeArgsUint32VecPerCoreCommand", "args"), ("SetRuntimeArgsCommand", "core_spec"),
    ("CreateCircularBufferCommand", "core_spec"), ("CreateCircularBufferCommand", "config"),
    ("ShardSpecBuffer", "tensor_shard_spec"), ("ShardSpec", "grid"), ("CreateDeviceCommand", "device"),
    ("CreateSemaphoreCommand", "ranges"), ("CreateGlobalSemaphoreCommand", "ranges"),
    ("TraceDescriptorByTraceId", "desc"), ("TracedKernel", "kernel_config"), ("TracedArguments", "core"),
}  # fmt: skip

CODECS = ("none", "zlib")  # of payloads: stored plainly, packed


@dataclass(frozen=True)
class Limits:
    """What a file may ask for.  `queues`: of the device of a file that describes none.

    Source: docs/hardware/dispatch.md#dispatch-sizes.
    """

    commands: int = 10_000_000
    buffer_bytes: int = 64 << 30  # of all buffers that live at once
    payload_bytes: int = 4 << 30  # of all payloads, unpacked
    payload_ratio: int = 1032  # the most that zlib's format can pack (zlib's technical details)
    queues: int = 2
    simulated_fs: int = 1 << 62  # that commands ask for: half of what the clock can hold
    elements: int = 1 << 26  # of the vectors of references and arguments, counted for every command that names them
    cores: int = 1 << 22  # of all commands
    problems: int = 100  # listed at most


OTHER_FILES = "tensim run takes programs, tensim compare results (JSON), tensim replay-noc NoC event traces"


@dataclass(frozen=True)
class Problem:
    """Something wrong with a file.  `offset`: byte in the file; `field`: path such as `commands[3].cmd.args[0].values`."""

    offset: int
    field: str
    why: str

    def error(self):
        """The problem as an error to raise."""
        where = {"offset": self.offset, "field": self.field}
        if self.field:
            return BinaryError(f"byte {self.offset}, {self.field}: {self.why}", where=where)
        return BinaryError(
            f"this is no Light Metal binary, or a damaged one: {self.why}", where=where, hint=OTHER_FILES
        )


# --- the schema as arrays


@dataclass(frozen=True)
class SchemaArrays:
    """What the compiled walk reads of a schema; columns as `verifier_structure` names them."""

    root: int
    objects: np.ndarray
    fields: np.ndarray
    members: dict  # numbering -> (enums, 256): object of a union's member, or -1
    enums: np.ndarray  # (enums, 256): 1 for the values of an enumeration


def _scalar_columns(schema, base, enum, low_high):
    """ELEMENT_SIZE, ELEMENT_ALIGNMENT, ENUM, LOW, HIGH, SIGNED of a number."""
    size, (low, high) = SCALAR_BYTES[base], low_high or (0, -1)
    named = enum if enum >= 0 and base != UTYPE else walk.NO_RULE
    return {
        walk.ELEMENT_SIZE: size, walk.ELEMENT_ALIGNMENT: size, walk.ENUM: named, walk.LOW: low, walk.HIGH: high,
        walk.SIGNED: int(base in (BYTE, SHORT, INT, LONG)),
    }  # fmt: skip


def _field_columns(schema, table, field):
    """The row of a field, as {column: value}."""
    kind, low_high = field.type, RANGES.get((table.name, field.name))
    row = {
        walk.TARGET: kind.index,
        walk.ENUM: walk.NO_RULE,
        walk.HIGH: -1,
        walk.REQUIRED: (table.name, field.name) in REQUIRED,
    }
    if table.is_struct:
        row[walk.PLACE] = field.offset
    if kind.base == STRING:
        return row | {walk.KIND: walk.TEXT}
    if kind.base == UNION:
        return row | {walk.KIND: walk.UNION_VALUE}
    if kind.base in SCALAR_BYTES:
        what = walk.UNION_TYPE if kind.base == UTYPE else walk.INLINE
        return row | {walk.KIND: what} | _scalar_columns(schema, kind.base, kind.index, low_high)
    if kind.base == VECTOR and kind.element in SCALAR_BYTES:
        return row | {walk.KIND: walk.VECTOR} | _scalar_columns(schema, kind.element, kind.index, low_high)
    return row | _object_columns(schema, table, field)


def _object_columns(schema, table, field):
    """The row of a field that holds a table, a struct or a vector of either."""
    kind = field.type
    if table.is_struct:  # a struct or an array in a struct: part of its bytes
        return {walk.KIND: walk.INLINE}
    if OBJ not in (kind.base, kind.element):
        raise ValueError(f"{table.name}.{field.name}: the verifier knows no vectors of this kind")
    target, vector = schema.objects[kind.index], kind.base == VECTOR
    if not target.is_struct:
        return {walk.KIND: walk.VECTOR_OF_TABLES if vector else walk.TABLE}
    columns = {walk.ELEMENT_SIZE: target.size, walk.ELEMENT_ALIGNMENT: target.alignment}
    return columns | {walk.KIND: walk.VECTOR_OF_STRUCTS if vector else walk.INLINE}


def _has_rules(row):
    return row[walk.ENUM] != walk.NO_RULE or row[walk.LOW] <= row[walk.HIGH]


def _members(schema, numbering):
    """(enums, 256): the object of each member of each union, by its number in the file."""
    result = np.full((len(schema.enums), 256), -1)
    for index, enum in enumerate(schema.enums):
        for number, target in enum.members.items():
            late = numbering == "late" and enum.name == "CommandType"
            if late and (number == ENQUEUE_PROGRAM or number > LAST_E2):
                continue
            result[index, number - (late and number > ENQUEUE_PROGRAM)] = target
    return result


@functools.cache
def schema_arrays():
    """The schema of Light Metal binaries as arrays."""
    schema = light_metal_schema()
    objects = np.zeros((len(schema.objects), walk.OBJECT_COLUMNS), np.int64)
    rows = []
    for index, table in enumerate(schema.objects):
        objects[index, [walk.FIRST_FIELD, walk.FIELD_COUNT]] = len(rows), len(table.fields)
        objects[index, [walk.SIZE, walk.ALIGNMENT]] = table.size if table.is_struct else 0, table.alignment
        for field in table.fields:
            row = np.zeros(walk.FIELD_COLUMNS, np.int64)
            for column, value in _field_columns(schema, table, field).items():
                row[column] = value
            rows.append(row)
            objects[index, walk.HAS_RULES] |= _has_rules(row)
    enums = np.zeros((len(schema.enums), 256), np.uint8)
    for index, enum in enumerate(schema.enums):
        enums[index, list(enum.values.values())] = 1
    members = {numbering: _members(schema, numbering) for numbering in NUMBERINGS}
    return SchemaArrays(schema.root, objects, np.array(rows), members, enums)


# --- structure

_EMPTY = np.zeros(0, np.uint8)
_WHY = {
    walk.TOO_SHORT: "the file has {value} B; the smallest valid file has {bound}",
    walk.OUTSIDE: "an offset points to byte {value}; the file has {bound} B",
    walk.NULL_OFFSET: "an offset of 0 points nowhere",
    walk.MISALIGNED: "byte {value} is not aligned to {bound} B",
    walk.VTABLE_OUTSIDE: "its vtable would lie at byte {value} of {bound}",
    walk.VTABLE_SIZE: "a vtable of {value} B; its size must be even and from 4 to {bound}",
    walk.TABLE_SIZE: "a table of {value} B; its size must be from 4 to {bound}",
    walk.FIELD_OUTSIDE: "a field at byte {value} of a table of {bound} B does not lie inside",
    walk.VECTOR_OUTSIDE: "{value} elements reach beyond the {bound} B of the file",
    walk.NO_TERMINATOR: "the zero byte after a string of {value} B is missing",
    walk.NOT_UTF8: "byte {value:#04x} is not UTF-8",
    walk.STRING_TOO_LONG: "a string of {value} B; at most {bound}",
    walk.VALUE_WITHOUT_TYPE: "the union has a value and no type",
    walk.TYPE_WITHOUT_VALUE: "the union has type {value} and no value",
    walk.UNKNOWN_MEMBER: "the union has no member {value}",
    walk.UNKNOWN_ENUM: "{enum} has no value {value}",
    walk.OUT_OF_RANGE: "{value} is out of range; the largest is {bound}",
    walk.MISSING: "the field is missing",
    walk.TOO_DEEP: "tables are nested more than {bound} deep",
    walk.TOO_MANY_TABLES: "more than {bound} tables: too many of them are shared",
    walk.TOO_MUCH_WORK: "parts are shared so often that they count as {value} B; at most {bound}",
}


def as_bytes(data):
    """The file as an array of uint8, read-only so that the walks are compiled for one type; nothing is copied."""
    raw = data.view() if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8) if len(data) else _EMPTY.view()
    raw.flags.writeable = False
    return raw


def _path(stack):
    """Path of a field from the frames that lead to it."""
    schema, parts = light_metal_schema(), []
    for frame in stack:
        if frame[walk.FIELD] < 0:
            break
        name = schema.objects[frame[walk.OBJECT]].fields[frame[walk.FIELD]].name
        parts.append(name if frame[walk.ELEMENT] < 0 else f"{name}[{frame[walk.ELEMENT]}]")
    return ".".join(parts)


def _structure_problem(report, stack):
    code, value, bound = report[walk.CODE], report[walk.VALUE], report[walk.BOUND]
    enum = light_metal_schema().enums[bound].name if code == walk.UNKNOWN_ENUM else ""
    why = _WHY[code].format(value=value, bound=bound, enum=enum)
    return Problem(int(report[walk.OFFSET]), _path(stack[: report[walk.DEPTH]]), why)


def _walk(data, numbering):
    """(code, report, stack) of the compiled walk."""
    schema = schema_arrays()
    stack = np.zeros((walk.MAX_DEPTH, walk.FRAME_COLUMNS), np.int64)
    report = np.zeros(walk.REPORT_WORDS, np.int64)
    members = schema.members[numbering]
    code = walk.verify(as_bytes(data), schema.root, schema.objects, schema.fields, members, schema.enums, stack, report)
    return code, report, stack


def verify_structure(data, numbering="e2"):
    """The first reason why the tables of a file cannot be read, or None.  `numbering`: of the commands, "e2" or "late"."""
    code, report, stack = _walk(data, numbering)
    return None if code == walk.OK else _structure_problem(report, stack)


# --- numbering


def detect_numbering(data):
    """Whether the commands of a file are numbered as in era E2 or as in later releases, "e2" or "late".

    Files with our identifier are E2; nothing in others says it, so both are tried.  Where both fit, the one that leaves fewer
    commands with unknown fields is taken (a later CreateKernel under E2's EnqueueProgram has many), and E2 when that is even.
    BinaryError when neither fits, with the reason that lies further into the commands.
    """
    if bytes(data[4:8]) == light_metal_schema().identifier:
        return "e2"
    problems = {numbering: verify_structure(data, numbering) for numbering in NUMBERINGS}
    fitting = [numbering for numbering, problem in problems.items() if problem is None]
    if not fitting:
        raise max(problems.values(), key=_command_number).error()
    return min(fitting, key=lambda numbering: _unknown_fields(data, numbering)) if len(fitting) == 2 else fitting[0]


def _command_number(problem):
    """Number of the command a problem lies in; -1 for none."""
    head, _, rest = problem.field.partition("commands[")
    return int(rest.partition("]")[0]) if not head and rest else -1


def _unknown_fields(data, numbering):
    raw, schema = as_bytes(data), schema_arrays()
    count, first = state.root_vector(raw, state.ROOT_COMMANDS)
    return content.tables_with_unknown_fields(
        raw, schema.members[numbering][_command_type()], schema.objects, first, count
    )


def _command_type():
    """Index of the union of commands."""
    schema = light_metal_schema()
    return schema.enums.index(schema.enum("CommandType"))


# --- content

_CONTENT_WHY = {
    state.NO_COMMAND: "the command is empty",
    state.UNKNOWN_ID: "no earlier command created {kind} {value}",
    state.CREATED_TWICE: "id {value} already names a {actual}",
    state.WRONG_KIND: "id {value} names a {actual}, not a {kind}",
    state.USED_AFTER_DELETE: "{kind} {value} was deleted before",
    state.USED_AFTER_DEALLOCATION: "{kind} {value} was deallocated before",
    state.WRONG_OWNER: "{kind} {value} belongs to program {bound}",
    state.NO_QUEUE: "there is no command queue {value}; the device has {bound}",
    state.UNKNOWN_DEVICE: "the file describes no device {value}",
    state.CLOSED_DEVICE: "device {value} was closed before",
    state.TOO_MANY_DEVICES: "more than {bound} devices",
    state.BAD_SIZE: "a buffer of {value} B; at most {bound}",
    state.BAD_PAGE_SIZE: "pages of {value} B in a buffer of {bound} B",
    state.TOO_MUCH_MEMORY: "the buffers alive at this point take {value} B; at most {bound}",
    state.NO_PAYLOAD: "there is no payload {value}; the file has {bound}",
    state.TWO_SOURCES: "the data is both in the command and in payload {value}",
    state.NO_DATA: "the command holds no data",
    state.BEYOND_BUFFER: "the transfer ends at byte {value} of a buffer of {bound} B",
    state.BAD_INDEX: "index {value}; there are {bound}",
    state.BAD_CORE: "core number {value}; there are {bound}",
    state.LENGTHS_DIFFER: "{value} lists of arguments for {bound} cores",
    state.NO_TRACE_DATA: "the file holds no trace {value}",
    state.TRACE_NOT_READY: "trace {value} is not loaded",
    state.UNKNOWN_CODEC: "payloads are packed with one of: " + ", ".join(CODECS),
    state.BAD_PAYLOAD_SIZE: "the payload states {value} B and holds {bound} B",
    state.RATIO: "{bound} B cannot unpack to {value} B",
    state.TOO_MUCH_PAYLOAD: "with this payload of {value} B the payloads take more than {bound} B in all",
    state.TRACE_ORDER: "trace {value} after trace {bound}; ids must ascend",
    state.TOO_LATE: "host time {value} fs; at most {bound}",
    state.TOO_LONG: "{value} fs; all commands together may ask for {bound}",
    state.BACKWARDS: "a range of cores ends at {value}, before its start at {bound}",
    state.OVERLAP: "core ({value},{bound}) is in two ranges",
    state.TOO_MANY_CORES: "all commands together name {value} cores; at most {bound}",
    state.TOO_MANY_ELEMENTS: "vectors are shared so often that they count {value} elements; at most {bound}",
}


def _limit_words(limits):
    words = np.zeros(7, np.int64)
    words[state.LIMIT_BUFFER_BYTES], words[state.LIMIT_PAYLOAD_BYTES] = limits.buffer_bytes, limits.payload_bytes
    words[state.LIMIT_RATIO], words[state.LIMIT_QUEUES] = limits.payload_ratio, limits.queues
    words[state.LIMIT_ELEMENTS], words[state.LIMIT_FS] = limits.elements, limits.simulated_fs
    words[state.LIMIT_CORES] = limits.cores
    return words


@functools.cache
def _command_members(numbering):
    """Number of a command in the file -> member of CommandType in the schema."""
    schema = light_metal_schema()
    by_object = {target: number for number, target in schema.enum("CommandType").members.items()}
    return np.array([by_object.get(target, 0) for target in schema_arrays().members[numbering][_command_type()]])


def _content(raw, numbering, limits):
    """The state of the walk before the first command, without the ids."""
    payloads, _ = state.root_vector(raw, state.ROOT_PAYLOADS)
    traces, _ = state.root_vector(raw, state.ROOT_TRACES)
    empty, (first_rule, rules) = np.zeros(0, np.int64), rule_arrays()
    return state.Content(
        data=raw, members=_command_members(numbering), first_rule=first_rule, rules=rules,
        ids=empty, things=np.zeros((0, state.THING_COLUMNS), np.int64),
        devices=np.zeros((state.MAX_DEVICES, 3), np.int64), payloads=np.zeros(payloads, np.int64),
        traces=np.zeros(traces, np.int64), totals=np.zeros(8, np.int64), limits=_limit_words(limits),
        problems=np.zeros((limits.problems, state.PROBLEM_COLUMNS), np.int64),
        grid=np.zeros((state.GRID, state.GRID), np.int64),
    )  # fmt: skip


def verify_content(data, numbering="e2", limits=None):
    """What is wrong with ids, sizes, queues, devices and payloads of a file whose structure is sound: a list of Problem."""
    raw, limits = as_bytes(data), limits or Limits()
    count, first = state.root_vector(raw, state.ROOT_COMMANDS)
    if count > limits.commands:
        return [Problem(first - 4, "commands", f"{count} commands; at most {limits.commands}")]
    c = _content(raw, numbering, limits)
    content_sizes.check_start(c)
    content.check_payloads(c, state.root_vector(raw, state.ROOT_PAYLOADS)[1], _codec_words())
    content.read_traces(c, state.root_vector(raw, state.ROOT_TRACES)[1])
    devices, first_device = state.root_vector(raw, state.ROOT_DEVICES)
    content.open_devices(c, first_device, devices)
    hosts, first_host = state.root_vector(raw, state.ROOT_HOSTS)
    content.open_hosts(c, first_host, hosts)
    keys = np.zeros(count, np.int64)
    ids = np.unique(keys[: content_things.collect_ids(c, first, count, keys)])
    c = c._replace(ids=ids, things=np.zeros((len(ids), state.THING_COLUMNS), np.int64))
    content.check_commands(c, first, count)
    names, first_name = state.root_vector(raw, state.ROOT_NAMES)
    content.check_names(c, first_name, names)
    return [_content_problem(raw, c, first, row) for row in c.problems[: c.totals[state.PROBLEM_COUNT]].tolist()]


def _codec_words():
    return np.array([int.from_bytes(name.encode(), "little") for name in CODECS])


def _content_problem(raw, c, first, row):
    space, bound = row[state.PROBLEM_SPACE], row[state.BOUND]
    kind = SPACE_NAMES[space] if space >= 0 else ""
    actual = SPACE_NAMES[bound] if row[state.CODE] in (state.WRONG_KIND, state.CREATED_TWICE) else ""
    why = _CONTENT_WHY[row[state.CODE]].format(value=row[state.VALUE], bound=bound, kind=kind, actual=actual)
    return Problem(row[state.OFFSET], _content_path(raw, c, first, row), why)


def _content_path(raw, c, first, row):
    """Path of the field that a problem of the content lies in."""
    schema, command = light_metal_schema(), row[state.COMMAND]
    table, path = schema.objects[schema.root], ""
    if command >= 0:
        member = state.command_of(c, first, command)[0]
        path = f"commands[{command}].cmd"
        if member == 0:
            return path
        table, path = schema.objects[schema.enum("CommandType").members[member]], path + "."
    field = table.fields[row[state.FIELD]]
    path += field.name if row[state.ELEMENT] < 0 else f"{field.name}[{row[state.ELEMENT]}]"
    if row[state.SUB] >= 0:
        path += f".{schema.objects[field.type.index].fields[row[state.SUB]].name}"
    return path
