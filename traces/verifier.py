"""May a Light Metal binary be used?  Its structure, its references and its sizes, before anything of it is decoded.

The walks are compiled (`verifier_structure`, `verifier_content`); this module gives them the schema as arrays and turns the
codes they return into text.  `data` is bytes, a bytearray, a memoryview, a memory map or an array of uint8.
"""

import functools
from dataclasses import dataclass

import numpy as np

from sim.errors import BinaryError
from traces import verifier_structure as walk
from traces.flat_schema import (
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

NUMBERINGS = ("e2", "late")
ENQUEUE_PROGRAM, LAST_E2 = (
    12,
    18,
)  # members of CommandType; the later releases have no EnqueueProgram (reference section 3.6)
MAX_COORDINATE = 63  # a NoC coordinate has 6 bits (reference section 2.5)
MAX_CIRCULAR_BUFFER = 31  # 32 circular buffers a core (reference section 1.5)
MAX_DEVICE = 65535

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
    ("TraceDescriptorByTraceId", "desc"), ("TracedKernel", "kernel_config"),
}  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """Something wrong with a file.  `offset`: byte in the file; `field`: path such as `commands[3].cmd.args[0].values`."""

    offset: int
    field: str
    why: str

    def error(self):
        """The problem as an error to raise."""
        message = f"byte {self.offset}, {self.field or 'the file'}: {self.why}"
        return BinaryError(message, where={"offset": self.offset, "field": self.field})


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


def _field_columns(schema, one, field):
    """The row of a field, as {column: value}."""
    kind, low_high = field.type, RANGES.get((one.name, field.name))
    row = {
        walk.TARGET: kind.index,
        walk.ENUM: walk.NO_RULE,
        walk.HIGH: -1,
        walk.REQUIRED: (one.name, field.name) in REQUIRED,
    }
    if one.is_struct:
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
    return row | _object_columns(schema, one, field)


def _object_columns(schema, one, field):
    """The row of a field that holds a table, a struct or a vector of either."""
    kind = field.type
    if one.is_struct:  # a struct or an array in a struct: part of its bytes
        return {walk.KIND: walk.INLINE}
    if OBJ not in (kind.base, kind.element):
        raise ValueError(f"{one.name}.{field.name}: the verifier knows no vectors of this kind")
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
    for index, one in enumerate(schema.objects):
        objects[index, [walk.FIRST_FIELD, walk.FIELD_COUNT]] = len(rows), len(one.fields)
        objects[index, [walk.SIZE, walk.ALIGNMENT]] = one.size if one.is_struct else 0, one.alignment
        for field in one.fields:
            row = np.zeros(walk.FIELD_COLUMNS, np.int64)
            for column, value in _field_columns(schema, one, field).items():
                row[column] = value
            rows.append(row)
            objects[index, walk.HAS_RULES] |= _has_rules(row)
    enums = np.zeros((len(schema.enums), 256), np.uint8)
    for index, enum in enumerate(schema.enums):
        enums[index, list(enum.values.values())] = 1
    members = {numbering: _members(schema, numbering) for numbering in NUMBERINGS}
    return SchemaArrays(schema.root, objects, np.array(rows), members, enums)


# --- structure

_WHY = {
    walk.TOO_SHORT: "the file has {value} B; the smallest has {bound}",
    walk.OUTSIDE: "an offset leads to byte {value}; the file has {bound} B",
    walk.MISALIGNED: "byte {value} is not aligned to {bound} B",
    walk.VTABLE_OUTSIDE: "its vtable would stand at byte {value} of {bound}",
    walk.VTABLE_SIZE: "a vtable of {value} B; even, at least 4 and at most {bound} are possible",
    walk.TABLE_SIZE: "a table of {value} B; at least 4 and at most {bound} are possible",
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
    walk.TOO_DEEP: "tables stand in tables more than {bound} deep",
    walk.TOO_MANY_TABLES: "more than {bound} tables: too many of them are shared",
    walk.TOO_MUCH_WORK: "parts are shared so often that they count as {value} B; at most {bound}",
}


def as_bytes(data):
    """The file as a contiguous array of uint8; nothing is copied."""
    return np.frombuffer(data, np.uint8) if len(data) else np.zeros(0, np.uint8)


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
