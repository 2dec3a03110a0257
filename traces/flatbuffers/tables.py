"""Reading and writing FlatBuffers by their schema (`schema`): tables as plain Python values.

A table is a `Node`: its name and its fields, absent ones with their defaults (None for what is no number).  Vectors of
numbers are numpy views into the file (nothing is copied), vectors of structs are numpy records, unions are the node of
their member.  The reader trusts the file: `verifier` looks at it first.
"""

import functools
import math
import struct

import flatbuffers
import numpy as np

from tensim.traces.flatbuffers.schema import ARRAY, BOOL, LONG, OBJ, SCALAR_BYTES, SCALAR_DTYPES, STRING, ULONG, UNION

_U16, _I32, _U32 = struct.Struct("<H"), struct.Struct("<i"), struct.Struct("<I")
_SCALARS = {kind: struct.Struct("<" + np.dtype(dtype).char) for kind, dtype in SCALAR_DTYPES.items()}
_SCALARS |= {LONG: struct.Struct("<q"), ULONG: struct.Struct("<Q")}  # numpy's letters for these differ


ROOM = 1 << 25  # bytes set aside for a file; what is not used costs nothing, growing copies everything


class Node:
    """A table: `table` is its name, `position` its place in the file (None for one that was built); fields are attributes."""

    __slots__ = ("table", "position", "fields")

    def __init__(self, table, fields, position=None):
        self.table, self.fields, self.position = table, fields, position

    def __getattr__(self, name):
        try:
            return self.fields[name]
        except KeyError:
            raise AttributeError(f"{self.table} has no field {name!r}") from None

    def __repr__(self):
        return (
            f"{self.table}({', '.join(f'{key}={value!r}' for key, value in self.fields.items() if value is not None)})"
        )


def struct_dtype(schema, index):
    """numpy record type of a struct."""
    one = schema.objects[index]
    formats = [_member_dtype(schema, field.type) for field in one.fields]
    names, offsets = [field.name for field in one.fields], [field.offset for field in one.fields]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": one.size})


def _member_dtype(schema, kind):
    if kind.base == ARRAY:
        return (SCALAR_DTYPES[kind.element], (kind.length,))
    if kind.base == OBJ:
        return struct_dtype(schema, kind.index)
    return SCALAR_DTYPES[kind.base]


def used_bytes(dtype):
    """Which bytes of a numpy type belong to a field."""
    if dtype.subdtype is not None:
        element, shape = dtype.subdtype
        return np.tile(used_bytes(element), math.prod(shape))
    used = np.full(dtype.itemsize, dtype.names is None)
    for kind, offset in (dtype.fields[name][:2] for name in dtype.names or ()):
        used[offset : offset + kind.itemsize] = used_bytes(kind)
    return used


class Reader:
    """Decodes tables of a file.  `members`: {number of a union member in the file: number in the schema} by enum name."""

    def __init__(self, schema, data, members=None):
        self.schema, self.data, self.members = schema, memoryview(data), members or {}
        self._plans = {}

    def root(self, *names):
        """The root table; with names only those fields."""
        return self.table(_U32.unpack_from(self.data, 0)[0], self.schema.root, names)

    def vector_of_tables(self, position, field_name):
        """(number of elements, function from i to the position of the table i) of a field of the table at `position`."""
        field = self._object_at(position, field_name)
        start = self._field_position(position, field.offset)
        if start is None:
            return 0, None
        start += _U32.unpack_from(self.data, start)[0]
        count = _U32.unpack_from(self.data, start)[0]
        return count, lambda i: start + 4 + 4 * i + _U32.unpack_from(self.data, start + 4 + 4 * i)[0]

    def _object_at(self, position, field_name):
        return self.schema.objects[self.schema.root].by_name[field_name]

    @property
    def root_position(self):
        return _U32.unpack_from(self.data, 0)[0]

    def _field_position(self, position, slot):
        vtable = position - _I32.unpack_from(self.data, position)[0]
        if slot >= _U16.unpack_from(self.data, vtable)[0]:
            return None
        offset = _U16.unpack_from(self.data, vtable + slot)[0]
        return position + offset if offset else None

    def _plan(self, index):
        """[(name, slot, function from a field's position to its value, default)] of a table."""
        if index not in self._plans:
            one = self.schema.objects[index]
            unions = {f"{field.name}_type" for field in one.fields if field.type.base == UNION}
            self._plans[index] = [
                (field.name, field.offset, self._decoder(field), self._default(field))
                for field in one.fields
                if field.name not in unions
            ]
        return self._plans[index]

    @staticmethod
    def _default(field):
        base = field.type.base
        return bool(field.default) if base == BOOL else field.default if base in _SCALARS else None

    def _decoder(self, field):
        kind, data = field.type, self.data
        if kind.base == BOOL:
            return lambda at: data[at] != 0
        if kind.base in _SCALARS:
            unpack = _SCALARS[kind.base].unpack_from
            return lambda at: unpack(data, at)[0]
        if kind.base == STRING:
            return lambda at: self.string(at + _U32.unpack_from(data, at)[0])
        if kind.base == OBJ:
            return lambda at: self.table(at + _U32.unpack_from(data, at)[0], kind.index)
        if kind.base == UNION:
            return None
        return self._vector_decoder(kind)

    def _vector_decoder(self, kind):
        data = self.data
        if kind.element in SCALAR_DTYPES or self.schema.objects[kind.index].is_struct and kind.element == OBJ:
            dtype = np.dtype(SCALAR_DTYPES.get(kind.element) or struct_dtype(self.schema, kind.index))

            def numbers(at):
                at += _U32.unpack_from(data, at)[0]
                count = _U32.unpack_from(data, at)[0]
                return np.frombuffer(data, dtype, count, at + 4)

            return numbers

        def tables(at):
            at += _U32.unpack_from(data, at)[0]
            places = range(at + 4, at + 4 + 4 * _U32.unpack_from(data, at)[0], 4)
            if kind.element == STRING:
                return [self.string(place + _U32.unpack_from(data, place)[0]) for place in places]
            return self._tables([place + _U32.unpack_from(data, place)[0] for place in places], kind.index)

        return tables

    def _tables(self, positions, index):
        """The tables of a vector.  One that stands in it again is the same Node."""
        nodes = {position: self.table(position, index) for position in set(positions)}
        return [nodes[position] for position in positions]

    def string(self, position):
        """The text at a position."""
        length = _U32.unpack_from(self.data, position)[0]
        return str(self.data[position + 4 : position + 4 + length], "utf-8", "replace")

    def table(self, position, index, names=()):
        """The table at a position, as a Node."""
        data = self.data
        vtable = position - _I32.unpack_from(data, position)[0]
        size, fields = _U16.unpack_from(data, vtable)[0], {}
        for name, slot, decode, default in self._plan(index):
            if names and name not in names:
                continue
            offset = _U16.unpack_from(data, vtable + slot)[0] if slot < size else 0
            if offset == 0:
                fields[name] = default
            elif decode is None:
                kind = data[position + _U16.unpack_from(data, vtable + slot - 2)[0]]
                fields[name] = self._member(
                    self.schema.objects[index].by_name[name].type.index, kind, position + offset
                )
            else:
                fields[name] = decode(position + offset)
        return Node(self.schema.objects[index].name, fields, position)

    def _member(self, enum_index, kind, at):
        """The member of a union."""
        enum = self.schema.enums[enum_index]
        index = enum.members[self.members.get(enum.name, {}).get(kind, kind)]
        at += _U32.unpack_from(self.data, at)[0]
        one = self.schema.objects[index]
        if not one.is_struct:
            return self.table(at, index)
        record = np.frombuffer(self.data, struct_dtype(self.schema, index), 1, at)[0]
        return Node(one.name, {field.name: record[field.name].item() for field in one.fields}, at)


class Writer:
    """Builds a file from nodes.  Equal strings, and equal vectors written with `shared`, are stored once."""

    def __init__(self, schema):
        self.schema, self.builder = schema, flatbuffers.Builder(ROOM)
        self._strings, self._vectors = {}, {}

    def string(self, text):
        """Offset of a text."""
        if text not in self._strings:
            self._strings[text] = self.builder.CreateString(text)
        return self._strings[text]

    def shared(self, values, key):
        """Offset of a vector of numbers that equal `key`s share."""
        if key not in self._vectors:
            self._vectors[key] = self.builder.CreateNumpyVector(np.ascontiguousarray(values))
        return self._vectors[key]

    def structs(self, records):
        """Offset of a vector of numpy records.  What lies between their fields is zero, whatever lay in memory."""
        size, builder = records.dtype.itemsize, self.builder
        rows = np.frombuffer(records.tobytes(), np.uint8).reshape(len(records), size)
        builder.StartVector(size, len(records), 4)
        self._raw(np.where(used_bytes(records.dtype), rows, 0).astype(np.uint8).tobytes())
        return builder.EndVector()

    def _raw(self, data):
        builder = self.builder
        builder.head -= len(data)
        builder.Bytes[builder.head : builder.head + len(data)] = data

    def node(self, node):
        """Offset of a table (of a struct: as a member of a union)."""
        one = self.schema.object(node.table)
        if one.is_struct:
            record = np.zeros(1, self._struct(node.table))
            for name, value in node.fields.items():
                record[name] = value
            self.builder.Prep(one.alignment, one.size)
            self._raw(record.tobytes())
            return self.builder.Offset()
        offsets = {
            field.name: self._reference(field, node.fields[field.name])
            for field in one.fields
            if field.type.base not in _SCALARS and node.fields.get(field.name) is not None
        }
        builder = self.builder
        builder.StartObject(len(one.fields))
        for field in one.fields:
            value = node.fields.get(field.name)
            if value is None:
                continue
            if field.type.base in _SCALARS:
                self._scalar(field, value)
            else:
                builder.PrependUOffsetTRelativeSlot(field.number, offsets[field.name], 0)
                if field.type.base == UNION:
                    kind = self._union_number(field.type.index, value.table)
                    builder.PrependUint8Slot(field.number - 1, kind, 0)
        return builder.EndObject()

    @functools.cache  # noqa: B019  one writer a file
    def _struct(self, name):
        return struct_dtype(self.schema, self.schema._by_name[name])

    def _union_number(self, enum_index, table):
        members = self.schema.enums[enum_index].members
        return next(number for number, index in members.items() if self.schema.objects[index].name == table)

    def _scalar(self, field, value):
        builder, size = self.builder, SCALAR_BYTES[field.type.base]
        if value == field.default:
            return
        builder.Prep(size, 0)
        self._raw(np.array(value, SCALAR_DTYPES[field.type.base]).tobytes())
        builder.Slot(field.number)

    def _reference(self, field, value):
        kind = field.type
        if kind.base == STRING:
            return self.string(value)
        if kind.base in (OBJ, UNION):
            return self.node(value)
        if isinstance(value, int):  # the offset of a vector that was written with `shared` or `tables`
            return value
        if kind.element in SCALAR_DTYPES:
            return self.builder.CreateNumpyVector(np.ascontiguousarray(value, SCALAR_DTYPES[kind.element]))
        if kind.element == OBJ and self.schema.objects[kind.index].is_struct:
            return self.structs(np.array(value, struct_dtype(self.schema, kind.index)))
        return self.tables([self.node(item) for item in value])

    def tables(self, offsets):
        """Offset of a vector of tables."""
        self.builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.builder.PrependUOffsetTRelative(offset)
        return self.builder.EndVector()

    def finish(self, root):
        """The bytes of the file whose root table stands at an offset."""
        self.builder.Finish(root, file_identifier=self.schema.identifier)
        return self.builder.Output()
