"""May a Light Metal file be read?  Compiled checks of its structure and of the ids its commands use.

`verify_structure` follows every offset once, driven by the schema as tables of integers: vtables, fields, strings, vectors,
unions, all inside the file, aligned, of bounded depth and number.  `verify_content` then walks the commands and checks that
objects exist when they are used, are what the command takes them for, and are created once.  Both say where and why.
"""

import functools
import mmap
from dataclasses import dataclass

import numba as nb
import numpy as np

from sim import cache  # noqa: F401  configures numba's disk cache
from sim.errors import BinaryError
from traces.flat_schema import (
    ARRAY,
    OBJ,
    SCALAR_BYTES,
    STRING,
    UNION,
    VECTOR,
    light_metal_schema,
)

MAX_DEPTH = 64
MAX_COMMANDS = 10_000_000
MAX_FILE = 2**31 - 1
FIRST_LATE, LAST_LATE = 12, 17  # members that later releases number one lower than era E2
TABLE_ITEM, VECTOR_ITEM, STRINGS_ITEM = 0, 1, 2
STACK = 3 * MAX_DEPTH + 8

# --- what can be wrong; a: value, b: limit
(
    OK, SHORT, OFFSET, VTABLE, TABLE, FIELD, ALIGNMENT, STRING_END, VECTOR_END, UNION_HALF, UNION_MEMBER, DEPTH, TABLES, MISSING,
    NO_OBJECT, WRONG_KIND, TWICE, GONE, WRONG_PROGRAM, COMMANDS, QUEUE, PAYLOAD, DEVICE, NO_VALUE,
) = range(24)  # fmt: skip
WHY = {
    SHORT: "the file of {a} B is too short",
    OFFSET: "an offset leads to byte {a}, outside the file of {b} B",
    VTABLE: "the table's vtable at byte {a} is damaged",
    TABLE: "the table of {a} B reaches beyond the file",
    FIELD: "the field at {a} B in its table reaches beyond the table of {b} B",
    ALIGNMENT: "byte {a} is not aligned to {b} B",
    STRING_END: "the text of {a} B at the field reaches beyond the file or does not end in a zero byte",
    VECTOR_END: "the vector of {a} elements reaches beyond the file",
    UNION_HALF: "the union has a value without a type, or a type without a value",
    UNION_MEMBER: "the union has no member {a}",
    DEPTH: "tables are nested deeper than {b}",
    TABLES: "the file visits more than {b} tables; parts of it are shared too often",
    MISSING: "the required field is missing",
    NO_OBJECT: "id {a} was never created",
    WRONG_KIND: "id {a} is {kind}",
    TWICE: "id {a} is created twice",
    GONE: "id {a} was deleted before",
    WRONG_PROGRAM: "id {a} belongs to another program, {b}",
    COMMANDS: "{a} commands; at most {b} are taken",
    QUEUE: "command queue {a}; the device has {b}",
    PAYLOAD: "payload {a}; the file has {b}",
    DEVICE: "device {a} is not open",
    NO_VALUE: "the field that the command needs is missing",
}

# --- kinds of objects
BUFFER, PROGRAM, KERNEL, CIRCULAR_BUFFER, SEMAPHORE, EVENT, GLOBAL_SEMAPHORE, MANAGER = range(1, 9)
KIND_NAMES = (
    "nothing", "a buffer", "a program", "a kernel", "a circular buffer", "a semaphore", "an event", "a global semaphore",
    "a sub-device manager",
)  # fmt: skip
# --- what a command's field does
CREATE, REFER, DELETE, CREATE_OR_REFER, OPTIONAL, QUEUE_ID, PAYLOAD_ID, REFERENCES, ARGS, DEVICE_ID, REQUIRED = range(
    11
)

# Command -> [(field, action, kind)]; a created kernel, circular buffer or semaphore belongs to `program_global_id`
_PROGRAM = ("program_global_id", REFER, PROGRAM)
_KERNEL = ("kernel_global_id", REFER, KERNEL)
_BUFFER = ("buffer_global_id", REFER, BUFFER)
_CQ = ("cq_global_id", QUEUE_ID, 0)
RULES = {
    "BufferCreateCommand": [("global_id", CREATE, BUFFER)],
    "BufferDeallocateCommand": [("global_id", REFER, BUFFER)],
    "BufferDeleteCommand": [("global_id", DELETE, BUFFER)],
    "EnqueueWriteBufferCommand": [_BUFFER, _CQ, ("payload", PAYLOAD_ID, 0)],
    "EnqueueReadBufferCommand": [_BUFFER, _CQ],
    "FinishCommand": [_CQ],
    "ProgramConstructorCommand": [("global_id", CREATE, PROGRAM)],
    "ProgramDeleteCommand": [("global_id", DELETE, PROGRAM)],
    "EnqueueProgramCommand": [_PROGRAM, _CQ],
    "CreateKernelCommand": [
        _PROGRAM, ("global_id", CREATE, KERNEL), ("core_spec", REQUIRED, 0), ("kernel_config", REQUIRED, 0)
    ],
    "SetRuntimeArgsUint32Command": [_PROGRAM, _KERNEL, ("core_spec", REQUIRED, 0), ("references", REFERENCES, 0)],
    "SetRuntimeArgsUint32VecPerCoreCommand": [_PROGRAM, _KERNEL, ("references", REFERENCES, 0)],
    "SetRuntimeArgsCommand": [_KERNEL, ("core_spec", REQUIRED, 0), ("args", ARGS, 0)],
    "SetCommonRuntimeArgsCommand": [_PROGRAM, _KERNEL, ("references", REFERENCES, 0)],
    "UpdateRuntimeArgCommand": [_PROGRAM, _KERNEL],
    "CreateCircularBufferCommand": [
        _PROGRAM, ("global_id", CREATE, CIRCULAR_BUFFER), ("core_spec", REQUIRED, 0), ("config", REQUIRED, 0)
    ],
    "UpdateCircularBufferCommand": [
        _PROGRAM, ("circular_buffer_global_id", REFER, CIRCULAR_BUFFER), ("buffer", OPTIONAL, BUFFER)
    ],
    "CreateSemaphoreCommand": [_PROGRAM, ("global_id", CREATE, SEMAPHORE), ("ranges", REQUIRED, 0)],
    "AssignBufferToProgramCommand": [_PROGRAM, _BUFFER],
    "CompileProgramCommand": [_PROGRAM],
    "WriteDirectCommand": [_BUFFER, ("payload", PAYLOAD_ID, 1)],
    "ReadDirectCommand": [_BUFFER],
    "CreateGlobalSemaphoreCommand": [("global_id", CREATE, GLOBAL_SEMAPHORE), ("ranges", REQUIRED, 0)],
    "ResetGlobalSemaphoreCommand": [("global_id", REFER, GLOBAL_SEMAPHORE)],
    "DeleteGlobalSemaphoreCommand": [("global_id", DELETE, GLOBAL_SEMAPHORE)],
    "RecordEventCommand": [("event_global_id", CREATE_OR_REFER, EVENT), ("cq_id", QUEUE_ID, 0)],
    "WaitForEventCommand": [("event_global_id", REFER, EVENT), ("cq_id", QUEUE_ID, 0)],
    "SynchronizeEventCommand": [("event_global_id", REFER, EVENT)],
    "QueryEventCommand": [("event_global_id", REFER, EVENT)],
    "CreateSubDeviceManagerCommand": [("global_id", CREATE, MANAGER)],
    "LoadSubDeviceManagerCommand": [("manager", OPTIONAL, MANAGER)],
    "RemoveSubDeviceManagerCommand": [("manager", REFER, MANAGER)],
    "LightMetalCompareCommand": [_BUFFER, _CQ, ("payload", PAYLOAD_ID, 0)],
    "CreateDeviceCommand": [("device", REQUIRED, 0)],
}  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """What is wrong with a file: where (`offset` in bytes, `field`) and why."""

    offset: int
    field: str
    why: str

    def error(self):
        """The exception that refuses the file."""
        return BinaryError(
            f"byte {self.offset}, {self.field}: {self.why}", where={"offset": self.offset, "field": self.field}
        )


# --- the schema as tables of integers


@functools.cache
def _tables():
    """(objects, fields, union members, root, command object, command union, rules) for the compiled checks.

    objects[i]: first field, fields, is struct, size, alignment.  fields[j]: slot, base, element, index, bytes of the
    element or struct, number.  members[e, n]: object of member n of enum e, or -1.
    """
    schema = light_metal_schema()
    objects, fields = np.zeros((len(schema.objects), 5), np.int64), []
    for i, one in enumerate(schema.objects):
        objects[i] = len(fields), len(one.fields), one.is_struct, one.size, one.alignment
        for field in one.fields:
            kind = field.type
            unit = SCALAR_BYTES.get(kind.element if kind.base in (VECTOR, ARRAY) else kind.base, 4)
            base = kind.element if kind.base == VECTOR else kind.base
            if base == OBJ and schema.objects[kind.index].is_struct:
                unit = schema.objects[kind.index].size
            fields.append((field.offset, kind.base, kind.element, kind.index, unit, field.number))
    members = np.full((len(schema.enums), 256), -1, np.int64)
    for e, enum in enumerate(schema.enums):
        for number, index in enum.members.items():
            members[e, number] = index
    command_union = next(i for i, enum in enumerate(schema.enums) if enum.name == "CommandType")
    return objects, np.array(fields, np.int64), members, schema.root, schema._by_name["Command"], command_union


@functools.cache
def _members(numbering):
    """Union members with the command numbers of a file's numbering."""
    *_, command_union = _tables()
    members = _tables()[2].copy()
    if numbering == "late":
        e2 = members[command_union].copy()
        members[command_union] = -1
        members[command_union, :FIRST_LATE] = e2[:FIRST_LATE]
        members[command_union, FIRST_LATE : LAST_LATE + 1] = e2[FIRST_LATE + 1 : LAST_LATE + 2]
    return members


@functools.cache
def _rules():
    """rules[k]: slot, action, kind, number of the field; first[i], count[i] of object i; slot of its program or 0."""
    schema = light_metal_schema()
    rows, first = [], np.zeros((len(schema.objects), 3), np.int64)
    for name, rules in RULES.items():
        index, fields = schema._by_name[name], schema.object(name).by_name
        program = fields["program_global_id"].offset if "program_global_id" in fields else 0
        first[index] = len(rows), len(rules), program
        rows += [(fields[field].offset, action, kind, fields[field].number) for field, action, kind in rules]
    return np.array(rows, np.int64), first


# --- reading numbers


@nb.njit(cache=True, inline="always")
def u16(data, at):
    return np.int64(data[at]) | np.int64(data[at + 1]) << 8


@nb.njit(cache=True, inline="always")
def u32(data, at):
    return u16(data, at) | u16(data, at + 2) << 16


@nb.njit(cache=True, inline="always")
def i32(data, at):
    value = u32(data, at)
    return value - (1 << 32) if value >= 1 << 31 else value


@nb.njit(cache=True)
def refuse(out, code, offset, table, field, a, b):
    """Note the first problem; returns False."""
    out[0], out[1], out[2], out[3], out[4], out[5] = code, offset, table, field, a, b
    return False


# --- structure


@nb.njit(cache=True)
def table_header(data, at, index, out):
    """Whether a table's vtable and extent lie inside the file."""
    n = len(data)
    if at < 0 or at + 4 > n:
        return refuse(out, OFFSET, at, index, -1, at, n)
    if at % 4 != 0:
        return refuse(out, ALIGNMENT, at, index, -1, at, 4)
    vtable = at - i32(data, at)
    if vtable < 0 or vtable + 4 > n or vtable % 2 != 0:
        return refuse(out, VTABLE, at, index, -1, vtable, 0)
    size, extent = u16(data, vtable), u16(data, vtable + 2)
    if size < 4 or size % 2 != 0 or vtable + size > n:
        return refuse(out, VTABLE, at, index, -1, vtable, 0)
    if extent < 4 or at + extent > n:
        return refuse(out, TABLE, at, index, -1, extent, n)
    return True


@nb.njit(cache=True, inline="always")
def slot_offset(data, at, slot):
    """Offset of a field in a sound table, 0 when it is absent."""
    vtable = at - i32(data, at)
    return u16(data, vtable + slot) if slot < u16(data, vtable) else 0


@nb.njit(cache=True)
def target(data, place, table, field, out):
    """Where the offset at `place` leads, or -1 after a problem."""
    step = u32(data, place)
    end = place + step
    if step == 0 or end + 4 > len(data):
        refuse(out, OFFSET, place, table, field, end, len(data))
        return -1
    return end


@nb.njit(cache=True)
def check_string(data, place, table, field, out):
    at = target(data, place, table, field, out)
    if at < 0:
        return False
    length = u32(data, at)
    if at % 4 != 0:
        return refuse(out, ALIGNMENT, at, table, field, at, 4)
    if at + 4 + length + 1 > len(data) or data[at + 4 + length] != 0:
        return refuse(out, STRING_END, at, table, field, length, len(data))
    return True


@nb.njit(cache=True)
def push(stack, size, kind, at, count, index, depth):
    """Put a table or the rest of a vector of tables on the stack; returns the new size."""
    stack[size, 0], stack[size, 1], stack[size, 2], stack[size, 3], stack[size, 4] = kind, at, count, index, depth
    return size + 1


@nb.njit(cache=True)
def check_vector(data, place, f, fields, objects, table, stack, size, depth, out):
    """A vector field; tables in it go on the stack.  Returns the stack's size, or -1 after a problem."""
    number, element, index, unit = fields[f, 5], fields[f, 2], fields[f, 3], fields[f, 4]
    at = target(data, place, table, number, out)
    if at < 0:
        return -1
    if at % 4 != 0:
        refuse(out, ALIGNMENT, at, table, number, at, 4)
        return -1
    count = u32(data, at)
    is_struct = element == OBJ and objects[index, 2] != 0
    step = 4 if element == STRING or (element == OBJ and not is_struct) else unit
    if at + 4 + count * step > len(data):
        refuse(out, VECTOR_END, at, table, number, count, len(data))
        return -1
    if step == 8 and element != OBJ and (at + 4) % 8 != 0 and count > 0:
        refuse(out, ALIGNMENT, at, table, number, at + 4, 8)
        return -1
    if element == STRING:
        return push(stack, size, STRINGS_ITEM, at + 4, count, table, depth)
    if element == OBJ and not is_struct:
        return push(stack, size, VECTOR_ITEM, at + 4, count, index, depth)
    return size


@nb.njit(cache=True)
def check_union(data, at, f, fields, objects, members, table, stack, size, depth, out):
    """A union field and its type.  Returns the stack's size, or -1 after a problem."""
    slot, number = fields[f, 0], fields[f, 5]
    kind_offset, offset = slot_offset(data, at, slot - 2), slot_offset(data, at, slot)
    kind = np.int64(data[at + kind_offset]) if kind_offset != 0 else 0
    if (kind == 0) != (offset == 0):
        refuse(out, UNION_HALF, at, table, number, kind, 0)
        return -1
    if kind == 0:
        return size
    index = members[fields[f, 3], kind]
    if index < 0:
        refuse(out, UNION_MEMBER, at + kind_offset, table, number, kind, 0)
        return -1
    end = target(data, at + offset, table, number, out)
    if end < 0:
        return -1
    if objects[index, 2] != 0:
        if end + objects[index, 3] > len(data) or end % objects[index, 4] != 0:
            refuse(out, OFFSET, at + offset, table, number, end, len(data))
            return -1
        return size
    return push(stack, size, TABLE_ITEM, end, 1, index, depth + 1)


@nb.njit(cache=True)
def check_table(data, at, index, depth, objects, fields, members, stack, size, out):
    """Every field of a table.  Returns the stack's size, or -1 after a problem."""
    if not table_header(data, at, index, out):
        return -1
    extent = u16(data, at - i32(data, at) + 2)
    for f in range(objects[index, 0], objects[index, 0] + objects[index, 1]):
        base, number = fields[f, 1], fields[f, 5]
        offset = slot_offset(data, at, fields[f, 0])
        if base == UNION:
            if offset != 0 and (offset < 4 or offset + 4 > extent):
                refuse(out, FIELD, at, index, number, offset, extent)
                return -1
            size = check_union(data, at, f, fields, objects, members, index, stack, size, depth, out)
            if size < 0:
                return -1
            continue
        if offset == 0:
            continue
        is_struct = base == OBJ and objects[fields[f, 3], 2] != 0
        width = fields[f, 4] if base < STRING or is_struct else 4
        if offset < 4 or offset + width > extent:
            refuse(out, FIELD, at, index, number, offset, extent)
            return -1
        unit = objects[fields[f, 3], 4] if is_struct else width
        if (at + offset) % unit != 0:
            refuse(out, ALIGNMENT, at + offset, index, number, at + offset, unit)
            return -1
        if base == STRING:
            if not check_string(data, at + offset, index, number, out):
                return -1
        elif base == VECTOR:
            size = check_vector(data, at + offset, f, fields, objects, index, stack, size, depth, out)
            if size < 0:
                return -1
        elif base == OBJ and not is_struct:
            end = target(data, at + offset, index, number, out)
            if end < 0:
                return -1
            size = push(stack, size, TABLE_ITEM, end, 1, fields[f, 3], depth + 1)
    return size


@nb.njit(cache=True)
def check_structure(data, root, objects, fields, members, max_tables, out):
    """Follow every offset of the file; the first problem goes to `out`, out[6] counts the elements of the first vector."""
    if len(data) < 8:
        return refuse(out, SHORT, 0, root, -1, len(data), 8)
    stack = np.zeros((STACK + 32, 5), np.int64)
    size, visited = push(stack, 0, TABLE_ITEM, u32(data, 0), 1, root, 0), 0
    while size > 0:
        top = size - 1
        kind, at, count = stack[top, 0], stack[top, 1], stack[top, 2]
        index, depth = stack[top, 3], stack[top, 4]
        if kind == TABLE_ITEM or count == 0:
            size = top
        if count == 0:
            continue
        if kind != TABLE_ITEM:
            stack[top, 1], stack[top, 2] = at + 4, count - 1
            if kind == STRINGS_ITEM:
                if not check_string(data, at, index, -1, out):
                    return False
                continue
            at = target(data, at, index, -1, out)
            if at < 0:
                return False
            depth += 1
        visited += 1
        if depth > MAX_DEPTH or size + 32 > len(stack):
            return refuse(out, DEPTH, at, index, -1, depth, MAX_DEPTH)
        if visited > max_tables:
            return refuse(out, TABLES, at, index, -1, visited, max_tables)
        size = check_table(data, at, index, depth, objects, fields, members, stack, size, out)
        if size < 0:
            return False
    return True


# --- content


@nb.njit(cache=True)
def number_in(data, at, slot):
    """The uint32 in a slot of a sound table; absent: 0."""
    offset = slot_offset(data, at, slot)
    return u32(data, at + offset) if offset != 0 else 0


@nb.njit(cache=True)
def check_id(number, kind, kinds, gone, at, table, field, out):
    """Whether an object exists and is of a kind."""
    if number >= len(kinds) or kinds[number] == 0:
        return refuse(out, NO_OBJECT, at, table, field, number, 0)
    if kinds[number] != kind:
        return refuse(out, WRONG_KIND, at, table, field, number, kinds[number])
    if gone[number] != 0:
        return refuse(out, GONE, at, table, field, number, 0)
    return True


@nb.njit(cache=True)
def check_references(data, place, kinds, gone, at, table, field, out):
    """Structs (core, index, id, kind): buffers and global semaphores exist."""
    start = place + u32(data, place)
    for i in range(u32(data, start)):
        one = start + 4 + 16 * i
        kind = np.int64(data[one + 12])
        if kind == 0 or kind == 3:
            wanted = BUFFER if kind == 0 else GLOBAL_SEMAPHORE
            if not check_id(u32(data, one + 8), wanted, kinds, gone, at, table, field, out):
                return False
    return True


@nb.njit(cache=True)
def check_args(data, place, kinds, gone, at, table, field, out):
    """Tables with a union of a word (1) or a buffer's id (2)."""
    start = place + u32(data, place)
    for i in range(u32(data, start)):
        entry = start + 4 + 4 * i
        one = entry + u32(data, entry)
        kind_offset, offset = slot_offset(data, one, 4), slot_offset(data, one, 6)
        if kind_offset != 0 and data[one + kind_offset] == 2:
            value = one + offset + u32(data, one + offset)
            if not check_id(u32(data, value), BUFFER, kinds, gone, at, table, field, out):
                return False
    return True


@nb.njit(cache=True)
def check_command(data, at, index, rules, first, kinds, gone, parents, queues, payloads, out):
    """One command's ids, queue and payload."""
    owner = number_in(data, at, first[index, 2]) if first[index, 2] != 0 else -1
    for k in range(first[index, 0], first[index, 0] + first[index, 1]):
        slot, action, kind, field = rules[k, 0], rules[k, 1], rules[k, 2], rules[k, 3]
        offset = slot_offset(data, at, slot)
        place = at + offset
        if action == REQUIRED or (action == PAYLOAD_ID and kind == 1):
            if offset == 0:
                return refuse(out, NO_VALUE, at, index, field, 0, 0)
        if action == REQUIRED:
            continue
        if action == REFERENCES or action == ARGS:
            if offset == 0:
                continue
            if action == REFERENCES and not check_references(data, place, kinds, gone, at, index, field, out):
                return False
            if action == ARGS and not check_args(data, place, kinds, gone, at, index, field, out):
                return False
            continue
        number = u32(data, place) if offset != 0 else 0
        if action == OPTIONAL:
            if offset == 0:
                continue
            number = number_in(data, place + number, 4)
        if action == QUEUE_ID:
            if number >= queues:
                return refuse(out, QUEUE, at, index, field, number, queues)
        elif action == PAYLOAD_ID:
            if number > payloads:
                return refuse(out, PAYLOAD, at, index, field, number, payloads)
        elif action == CREATE or (action == CREATE_OR_REFER and number < len(kinds) and kinds[number] == 0):
            if number >= len(kinds):
                return refuse(out, NO_OBJECT, at, index, field, number, 0)
            if kinds[number] != 0:
                return refuse(out, TWICE, at, index, field, number, 0)
            kinds[number], parents[number] = kind, owner
        else:
            if not check_id(number, kind, kinds, gone, at, index, field, out):
                return False
            if owner >= 0 and (kind == KERNEL or kind == CIRCULAR_BUFFER) and parents[number] != owner:
                return refuse(out, WRONG_PROGRAM, at, index, field, number, parents[number])
            if action == DELETE:
                gone[number] = 1
    return True


@nb.njit(cache=True)
def check_content(data, start, count, members, command_union, rules, first, queues, payloads, out):
    """All commands of a sound file, in order; out[6]: the command of the problem."""
    kinds, gone = np.zeros(count + 1, np.int8), np.zeros(count + 1, np.int8)
    parents = np.full(count + 1, -1, np.int64)
    for i in range(count):
        out[6] = i
        entry = start + 4 + 4 * i
        command = entry + u32(data, entry)
        kind_offset, offset = slot_offset(data, command, 4), slot_offset(data, command, 6)
        if kind_offset == 0 or offset == 0:
            continue
        index = members[command_union, data[command + kind_offset]]
        at = command + offset + u32(data, command + offset)
        if not check_command(data, at, index, rules, first, kinds, gone, parents, queues, payloads, out):
            return False
    return True


# --- for users


def _array(data):
    """The file as an array of bytes; anything that is no buffer stands for itself (the fuzzer's checked bytes)."""
    return np.frombuffer(data, np.uint8) if isinstance(data, bytes | bytearray | memoryview | mmap.mmap) else data


def _problem(out, command=None):
    """The Problem that a compiled check left."""
    code, offset, table, number, a, b = (int(value) for value in out[:6])
    schema = light_metal_schema()
    one = schema.objects[table]
    field = next((f.name for f in one.fields if f.number == number), None)
    path = one.name if field is None else f"{one.name}.{field}"
    if command is not None:
        path = f"commands[{command}].{path}"
    kind = KIND_NAMES[b] if code == WRONG_KIND else ""
    return Problem(offset, path, WHY[code].format(a=a, b=b, kind=kind))


def verify_structure(data, numbering="e2"):
    """The first structural problem of a file, or None."""
    data = _array(data)
    if len(data) > MAX_FILE:
        return Problem(0, "LightMetalBinary", f"the file of {len(data)} B is larger than {MAX_FILE} B")
    objects, fields, _, root, _, _ = _tables()
    out = np.zeros(8, np.int64)
    limit = 64 + len(data) // 4
    if not check_structure(data, root, objects, fields, _members(numbering), limit, out):
        return _problem(out)
    if _vector_of(data, "commands") is None:
        return Problem(int(u32(data, 0)), "LightMetalBinary.commands", WHY[MISSING])
    return None


def _vector_of(data, name):
    """(position, length) of a vector of the root table, or None."""
    root = int(u32(data, 0))
    offset = int(slot_offset(data, root, light_metal_schema().object("LightMetalBinary").by_name[name].offset))
    if offset == 0:
        return None
    at = root + offset + int(u32(data, root + offset))
    return at, int(u32(data, at))


def verify_content(data, numbering="e2"):
    """Problems of a structurally sound file's commands: a list with the first one, or empty."""
    data = _array(data)
    start, count = _vector_of(data, "commands")
    if count > MAX_COMMANDS:
        return [Problem(start, "LightMetalBinary.commands", WHY[COMMANDS].format(a=count, b=MAX_COMMANDS))]
    payloads = (_vector_of(data, "payloads") or (0, 0))[1]
    *_, command_union = _tables()
    rules, first = _rules()
    out = np.zeros(8, np.int64)
    good = check_content(
        data, start, count, _members(numbering), command_union, rules, first, _queues(data), payloads, out
    )
    return [] if good else [_problem(out, int(out[6]))]


def _queues(data):
    """Command queues of the device with most of them; files that describe no device may use two."""
    from traces.flat import Reader

    devices = Reader(light_metal_schema(), data).root("devices").devices or ()
    return max([device.num_hw_cqs for device in devices], default=2) or 1


def detect_numbering(data):
    """ "e2" or "late": our own files and those that fit era E2 are "e2".  BinaryError when the file fits neither."""
    data = _array(data)
    if bytes(data[4:8]) == light_metal_schema().identifier:
        return "e2"
    problems = {}
    for numbering in ("e2", "late"):
        problem = verify_structure(data, numbering)
        problems[numbering] = problem or next(iter(verify_content(data, numbering)), None)
        if problems[numbering] is None:
            return numbering
    raise max(problems.values(), key=lambda problem: problem.offset).error()
