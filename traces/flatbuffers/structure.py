"""The compiled walk over a FlatBuffers file: may every offset, vtable, vector, string and union in it be followed?

The schema arrives as arrays (`verifier.schema_arrays` builds them; their columns are named here).  The walk goes depth first with a
stack of frames, one per open table, so that the frames are the path of whatever is found wrong.  Nothing is read before it
is known to lie inside the file, and no file costs more than a bounded amount of work.
"""

import numba as nb

from tensim.sim.engine.compiled import compiled

# objects[index]
FIRST_FIELD, FIELD_COUNT, SIZE, ALIGNMENT, HAS_RULES = range(5)
OBJECT_COLUMNS = 5

# fields[FIRST_FIELD + number]; a vector has the size, alignment and rules of its elements
KIND, ELEMENT_SIZE, ELEMENT_ALIGNMENT, TARGET, ENUM, LOW, HIGH, PLACE, REQUIRED, SIGNED = range(10)
FIELD_COLUMNS = 10
NO_RULE = -1  # ENUM of a field that is no enumeration; LOW above HIGH: any number

# KIND: what a field holds; INLINE: a number or a struct; TARGET is the object, for UNION the row of `members`
INLINE, TEXT, TABLE, VECTOR, VECTOR_OF_STRUCTS, VECTOR_OF_TABLES, UNION_TYPE, UNION_VALUE = range(8)

# stack[depth]
POSITION, OBJECT, FIELD, ELEMENT, COUNT, FIRST_ELEMENT = range(6)
FRAME_COLUMNS = 6
NO_ELEMENT = -1
MAX_DEPTH = 64

# report
CODE, OFFSET, VALUE, BOUND, DEPTH, CHILD, CHILD_OBJECT, WORK = range(8)
REPORT_WORDS = 8

# codes of problems
OK, DESCEND = 0, -1
(
    TOO_SHORT, OUTSIDE, MISALIGNED, VTABLE_OUTSIDE, VTABLE_SIZE, TABLE_SIZE, FIELD_OUTSIDE, VECTOR_OUTSIDE, NO_TERMINATOR,
    NOT_UTF8, STRING_TOO_LONG, VALUE_WITHOUT_TYPE, TYPE_WITHOUT_VALUE, UNKNOWN_MEMBER, UNKNOWN_ENUM, OUT_OF_RANGE, MISSING,
    TOO_DEEP, TOO_MANY_TABLES, TOO_MUCH_WORK, NULL_OFFSET,
) = range(1, 22)  # fmt: skip

MAX_FILE_TABLES = 1 << 27
MAX_STRING = 1 << 24  # bytes
FREE_WORK = 1 << 27  # string bytes, checked elements and vtable slots, beside four for every byte of the file


@compiled()
def u16(data, at):
    return nb.int64(data[at]) | nb.int64(data[at + 1]) << 8


@compiled()
def u32(data, at):
    return (
        nb.int64(data[at]) | nb.int64(data[at + 1]) << 8 | nb.int64(data[at + 2]) << 16 | nb.int64(data[at + 3]) << 24
    )


@compiled()
def i32(data, at):
    value = u32(data, at)
    return value - (1 << 32) if value >= 1 << 31 else value


@compiled()
def number(data, at, size, signed):
    """The integer of `size` bytes; 64-bit ones as int64, whatever their sign."""
    if size == 8:
        return u32(data, at) | u32(data, at + 4) << 32
    value = nb.int64(data[at]) if size == 1 else u16(data, at) if size == 2 else u32(data, at)
    if signed and value >> (8 * size - 1):
        value -= 1 << (8 * size)
    return value


@compiled()
def field_at(data, table, field):
    """Position of field number `field` of a table known to be sound; 0 when it is absent."""
    vtable = table - i32(data, table)
    slot = 4 + 2 * field
    if slot >= u16(data, vtable):
        return 0
    offset = u16(data, vtable + slot)
    return table + offset if offset else 0


@compiled()
def follow(data, at):
    """Where the offset stored at `at` leads."""
    return at + u32(data, at)


@compiled()
def _problem(report, code, offset, value, bound):
    report[CODE], report[OFFSET], report[VALUE], report[BOUND] = code, offset, value, bound
    return code


@compiled()
def _spend(data, report, amount, at):
    """Count work; a file that shares its parts too often is refused."""
    report[WORK] += amount
    if report[WORK] > FREE_WORK + 4 * len(data):
        return _problem(report, TOO_MUCH_WORK, at, report[WORK], FREE_WORK + 4 * len(data))
    return OK


@compiled()
def _check_table(data, at, report):
    """Whether a table may stand at `at`: its vtable and all offsets in it, known fields or not."""
    if at < 4 or at > len(data) - 4:
        return _problem(report, OUTSIDE, at, at, len(data))
    if at % 4:
        return _problem(report, MISALIGNED, at, at, 4)
    vtable = at - i32(data, at)
    if vtable < 4 or vtable > len(data) - 4:
        return _problem(report, VTABLE_OUTSIDE, at, vtable, len(data))
    if vtable % 2:
        return _problem(report, MISALIGNED, at, vtable, 2)
    vtable_size, table_size = u16(data, vtable), u16(data, vtable + 2)
    if vtable_size < 4 or vtable_size % 2 or vtable + vtable_size > len(data):
        return _problem(report, VTABLE_SIZE, vtable, vtable_size, len(data) - vtable)
    if table_size < 4 or at + table_size > len(data):
        return _problem(report, TABLE_SIZE, vtable + 2, table_size, len(data) - at)
    for slot in range(vtable + 4, vtable + vtable_size, 2):
        offset = u16(data, slot)
        if offset and (offset < 4 or offset >= table_size):
            return _problem(report, FIELD_OUTSIDE, slot, offset, table_size)
    return _spend(data, report, (vtable_size - 4) // 2, at)


@compiled()
def _sequence_end(data, at):
    """End of the well-formed UTF-8 sequence at `at` (RFC 3629: shortest form, no surrogates); 0 when there is none."""
    first = nb.int64(data[at])
    if first < 0x80:
        return at + 1
    if first < 0xC2 or first > 0xF4:
        return 0
    more = 1 if first < 0xE0 else 2 if first < 0xF0 else 3
    if at + more >= len(data):
        return 0
    low = 0xA0 if first == 0xE0 else 0x90 if first == 0xF0 else 0x80
    high = 0x9F if first == 0xED else 0x8F if first == 0xF4 else 0xBF
    if data[at + 1] < low or data[at + 1] > high:
        return 0
    for i in range(at + 2, at + 1 + more):
        if data[i] < 0x80 or data[i] > 0xBF:
            return 0
    return at + 1 + more


@compiled()
def _first_non_utf8(data, at, end):
    """Position of the first byte in [at, end) that starts no UTF-8 sequence inside; -1 when all is well."""
    while at < end:
        if at + 64 <= end:  # plain ASCII, a block at a time
            bits = 0
            for i in range(at, at + 64):
                bits |= data[i]
            if bits < 0x80:
                at += 64
                continue
        after = _sequence_end(data, at)
        if after == 0 or after > end:
            return at
        at = after
    return -1


@compiled()
def _check_string(data, at, report):
    if at > len(data) - 4:
        return _problem(report, OUTSIDE, at, at, len(data))
    if at % 4:
        return _problem(report, MISALIGNED, at, at, 4)
    length = u32(data, at)
    end = at + 4 + length
    if end > len(data):
        return _problem(report, VECTOR_OUTSIDE, at, length, len(data))
    if length > MAX_STRING:
        return _problem(report, STRING_TOO_LONG, at, length, MAX_STRING)
    if end == len(data) or data[end] != 0:
        return _problem(report, NO_TERMINATOR, end, length, 0)
    if _spend(data, report, length, at) != OK:
        return report[CODE]
    wrong = _first_non_utf8(data, at + 4, end)
    return OK if wrong < 0 else _problem(report, NOT_UTF8, wrong, nb.int64(data[wrong]), 0)


@compiled()
def _check_number(data, at, fields, field, enums, report):
    """The rules of a number: a member of its enumeration, within its range."""
    enum, low, high = fields[field, ENUM], fields[field, LOW], fields[field, HIGH]
    if enum == NO_RULE and low > high:
        return OK
    value = number(data, at, fields[field, ELEMENT_SIZE], fields[field, SIGNED])
    if enum != NO_RULE and (value < 0 or value > 255 or enums[enum, value] == 0):
        return _problem(report, UNKNOWN_ENUM, at, value, enum)
    if low <= high and (value < low or value > high):
        return _problem(report, OUT_OF_RANGE, at, value, high)
    return OK


@compiled()
def _check_struct(data, at, objects, fields, target, enums, report):
    first = objects[target, FIRST_FIELD]
    for field in range(first, first + objects[target, FIELD_COUNT]):
        if _check_number(data, at + fields[field, PLACE], fields, field, enums, report) != OK:
            return report[CODE]
    return OK


@compiled()
def _check_elements(data, at, count, objects, fields, field, enums, report):
    """The rules of the elements of a vector of numbers or structs."""
    target = fields[field, TARGET]
    structs = fields[field, KIND] == VECTOR_OF_STRUCTS
    if structs and not objects[target, HAS_RULES]:
        return OK
    if not structs and fields[field, ENUM] == NO_RULE and fields[field, LOW] > fields[field, HIGH]:
        return OK
    if _spend(data, report, count, at) != OK:
        return report[CODE]
    for element in range(count):
        place = at + element * fields[field, ELEMENT_SIZE]
        if structs:
            code = _check_struct(data, place, objects, fields, target, enums, report)
        else:
            code = _check_number(data, place, fields, field, enums, report)
        if code != OK:
            return code
    return OK


@compiled()
def _check_vector(data, at, size, alignment, report):
    """Whether a vector of `size`-byte elements may stand at `at`."""
    if at > len(data) - 4:
        return _problem(report, OUTSIDE, at, at, len(data))
    if at % 4 or (at + 4) % alignment:
        return _problem(report, MISALIGNED, at, at, alignment)
    count = u32(data, at)
    if count * size > len(data) - 4 - at:
        return _problem(report, VECTOR_OUTSIDE, at, count, len(data))
    return OK


@compiled()
def _descend(report, at, target):
    report[CHILD], report[CHILD_OBJECT] = at, target
    return DESCEND


@compiled()
def _check_union(data, table, place, number_in_table, field, objects, fields, members, enums, report):
    """A union's value beside its type, which is the field before it."""
    kind_place = field_at(data, table, number_in_table - 1)
    kind = nb.int64(data[kind_place]) if kind_place else 0
    if kind == 0:
        return OK if place == 0 else _problem(report, VALUE_WITHOUT_TYPE, place, 0, 0)
    target = members[fields[field, TARGET], kind]
    if target < 0:
        return _problem(report, UNKNOWN_MEMBER, kind_place, kind, 0)
    if place == 0:
        return _problem(report, TYPE_WITHOUT_VALUE, kind_place, kind, 0)
    at = follow(data, place)
    if objects[target, SIZE] == 0:
        return _descend(report, at, target)
    if at > len(data) - objects[target, SIZE]:
        return _problem(report, OUTSIDE, at, at, len(data))
    if at % objects[target, ALIGNMENT]:
        return _problem(report, MISALIGNED, at, at, objects[target, ALIGNMENT])
    return _check_struct(data, at, objects, fields, target, enums, report)


@compiled()
def _fits(data, table, place, size, alignment, report):
    """Whether the part of a field that lies in the table itself does so, aligned."""
    table_size = u16(data, table - i32(data, table) + 2)
    if place - table + size > table_size:
        return _problem(report, FIELD_OUTSIDE, place, place - table, table_size)
    return OK if place % alignment == 0 else _problem(report, MISALIGNED, place, place, alignment)


@compiled()
def _visit_tables(data, at, target, frame, report):
    """Check a vector of tables and leave it in the frame, whose elements are visited next."""
    code = _check_vector(data, at, 4, 4, report)
    if code == OK:
        frame[COUNT], frame[FIRST_ELEMENT], frame[ELEMENT] = u32(data, at), at + 4, NO_ELEMENT
        report[CHILD_OBJECT] = target
    return code


@compiled()
def _check_field(data, frame, objects, fields, members, enums, report):
    """One field of the table in `frame`: OK, DESCEND (CHILD is the table to visit) or the code of a problem."""
    table = frame[POSITION]
    field = objects[frame[OBJECT], FIRST_FIELD] + frame[FIELD]
    kind, target = fields[field, KIND], fields[field, TARGET]
    place = field_at(data, table, frame[FIELD])
    if place == 0 and fields[field, REQUIRED] != 0:
        return _problem(report, MISSING, table, 0, 0)
    if place != 0 and (kind == INLINE or kind == UNION_TYPE):
        code = _fits(data, table, place, fields[field, ELEMENT_SIZE], fields[field, ELEMENT_ALIGNMENT], report)
        return code if code != OK else _check_number(data, place, fields, field, enums, report)
    if place != 0:
        code = _fits(data, table, place, 4, 4, report)
        if code != OK:
            return code
        if u32(data, place) == 0:
            return _problem(report, NULL_OFFSET, place, 0, 0)
    if kind == UNION_VALUE:
        return _check_union(data, table, place, frame[FIELD], field, objects, fields, members, enums, report)
    if place == 0:
        return OK
    at = follow(data, place)
    if kind == TABLE:
        return _descend(report, at, target)
    if kind == TEXT:
        return _check_string(data, at, report)
    if kind == VECTOR_OF_TABLES:
        return _visit_tables(data, at, target, frame, report)
    code = _check_vector(data, at, fields[field, ELEMENT_SIZE], fields[field, ELEMENT_ALIGNMENT], report)
    if code != OK:
        return code
    return _check_elements(data, at + 4, u32(data, at), objects, fields, field, enums, report)


@compiled()
def _next(data, frame, objects, fields, members, enums, report):
    """The next step in the table of `frame`: as `_check_field`, or OK when the table is done."""
    while True:
        if frame[ELEMENT] + 1 < frame[COUNT]:
            frame[ELEMENT] += 1
            place = frame[FIRST_ELEMENT] + 4 * frame[ELEMENT]
            field = objects[frame[OBJECT], FIRST_FIELD] + frame[FIELD]
            if u32(data, place) == 0:
                return _problem(report, NULL_OFFSET, place, 0, 0)
            return _descend(report, follow(data, place), fields[field, TARGET])
        frame[COUNT], frame[ELEMENT] = 0, NO_ELEMENT
        frame[FIELD] += 1
        if frame[FIELD] >= objects[frame[OBJECT], FIELD_COUNT]:
            return OK
        code = _check_field(data, frame, objects, fields, members, enums, report)
        if code != OK:
            return code


@compiled()
def _enter(frame, at, target):
    frame[POSITION], frame[OBJECT], frame[FIELD] = at, target, -1
    frame[ELEMENT], frame[COUNT], frame[FIRST_ELEMENT] = NO_ELEMENT, 0, 0


@compiled()
def verify(data, root, objects, fields, members, enums, stack, report):
    """Walk the file in `data` (uint8).  Returns OK or the code of the first problem; then `report` has its OFFSET, VALUE and
    BOUND, and the first `report[DEPTH]` frames of `stack` are the way to it.

    `root`: object of the root table; `members[union, number]`: object or -1; `enums[enum, value]`: 1 for its values.
    """
    report[:] = 0
    if len(data) < 12:  # the root's offset, the smallest vtable, the smallest table
        return _problem(report, TOO_SHORT, 0, len(data), 12)
    tables, depth = 0, 0
    most = min(4 + len(data) // 4, MAX_FILE_TABLES)
    _descend(report, u32(data, 0), root)
    code = DESCEND
    while True:
        if code == DESCEND:
            at, target = report[CHILD], report[CHILD_OBJECT]
            tables += 1
            if depth == MAX_DEPTH:
                return _problem(report, TOO_DEEP, at, depth, MAX_DEPTH)
            if tables > most:
                return _problem(report, TOO_MANY_TABLES, at, tables, most)
            code = _check_table(data, at, report)
            if code != OK:
                return code
            _enter(stack[depth], at, target)
            depth += 1
        elif code == OK:
            depth -= 1
        else:
            return code
        report[DEPTH] = depth
        if depth == 0:
            return OK
        code = _next(data, stack[depth - 1], objects, fields, members, enums, report)
