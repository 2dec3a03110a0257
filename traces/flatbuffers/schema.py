"""A FlatBuffers schema at run time, read from what `flatc --schema -b` writes.

The reflection file is committed next to its schema (`make schema` makes it again).  One description serves the reader, the
writer and the verifier, so none of them can disagree with the schema.
"""

import functools
from dataclasses import dataclass, field
from pathlib import Path

import flatbuffers
from flatbuffers.table import Table as RawTable

# reflection.BaseType
NONE, UTYPE, BOOL, BYTE, UBYTE, SHORT, USHORT, INT, UINT, LONG, ULONG, FLOAT, DOUBLE = range(13)
STRING, VECTOR, OBJ, UNION, ARRAY = 13, 14, 15, 16, 17
SCALAR_DTYPES = {
    UTYPE: "u1", BOOL: "u1", BYTE: "i1", UBYTE: "u1", SHORT: "<i2", USHORT: "<u2", INT: "<i4", UINT: "<u4",
    LONG: "<i8", ULONG: "<u8", FLOAT: "<f4", DOUBLE: "<f8",
}  # fmt: skip
SCALAR_BYTES = {kind: int(dtype[-1]) for kind, dtype in SCALAR_DTYPES.items()}


@dataclass(frozen=True)
class Type:
    """`base`: what a field holds; `element`: what a vector or array holds; `index`: of the table, struct, enum or union."""

    base: int
    element: int
    index: int
    length: int  # of an array


@dataclass(frozen=True)
class Field:
    """One field of a table (`offset`: its vtable slot) or of a struct (`offset`: bytes from its start)."""

    name: str
    type: Type
    number: int
    offset: int
    default: object


@dataclass
class Object:
    """A table or a struct; `fields` in the order of their numbers."""

    name: str
    is_struct: bool
    size: int  # bytes of a struct
    alignment: int
    fields: list = field(default_factory=list)

    @functools.cached_property
    def by_name(self):
        return {field.name: field for field in self.fields}


@dataclass(frozen=True)
class Enum:
    """`values`: name -> number; `members`: number -> index of the object, for a union."""

    name: str
    is_union: bool
    underlying: int
    values: dict
    members: dict


@dataclass(frozen=True)
class Schema:
    """Objects and enums by index; `root`: index of the root table."""

    objects: list
    enums: list
    root: int
    identifier: bytes

    def object(self, name):
        """The table or struct of a plain name (without its namespace)."""
        return self.objects[self._by_name[name]]

    @functools.cached_property
    def _by_name(self):
        return {one.name: index for index, one in enumerate(self.objects)}

    def enum(self, name):
        return next(enum for enum in self.enums if enum.name == name)


class _Raw:
    """Minimal access to a table of the reflection file by field number (the slots of reflection.fbs)."""

    def __init__(self, data, position):
        self.table = RawTable(data, position)

    def _offset(self, number):
        return self.table.Offset(4 + 2 * number)

    def scalar(self, number, flags, default=0):
        offset = self._offset(number)
        return self.table.Get(flags, offset + self.table.Pos) if offset else default

    def string(self, number):
        offset = self._offset(number)
        return self.table.String(offset + self.table.Pos).decode() if offset else ""

    def table_at(self, number):
        offset = self._offset(number)
        return _Raw(self.table.Bytes, self.table.Indirect(offset + self.table.Pos)) if offset else None

    def tables(self, number):
        offset = self._offset(number)
        if not offset:
            return []
        start = self.table.Vector(offset)
        return [_Raw(self.table.Bytes, self.table.Indirect(start + 4 * i)) for i in range(self.table.VectorLen(offset))]


_N = flatbuffers.number_types


def _type(raw):
    return Type(
        raw.scalar(0, _N.Int8Flags), raw.scalar(1, _N.Int8Flags), raw.scalar(2, _N.Int32Flags, -1),
        raw.scalar(3, _N.Uint16Flags),
    )  # fmt: skip


def _field(raw):
    kind = _type(raw.table_at(1))
    real = kind.base in (FLOAT, DOUBLE)
    default = raw.scalar(5, _N.Float64Flags, 0.0) if real else raw.scalar(4, _N.Int64Flags)
    return Field(raw.string(0), kind, raw.scalar(2, _N.Uint16Flags), raw.scalar(3, _N.Uint16Flags), default)


def _object(raw):
    name = raw.string(0).rpartition(".")[2]
    result = Object(name, bool(raw.scalar(2, _N.BoolFlags)), raw.scalar(4, _N.Int32Flags), raw.scalar(3, _N.Int32Flags))
    result.fields = sorted((_field(table) for table in raw.tables(1)), key=lambda one: one.number)
    return result


def _enum(raw):
    values, members = {}, {}
    for value in raw.tables(1):
        number = value.scalar(1, _N.Int64Flags)
        values[value.string(0)] = number
        kind = value.table_at(3)
        if kind is not None and _type(kind).base == OBJ:
            members[number] = _type(kind).index
    is_union = bool(raw.scalar(2, _N.BoolFlags))
    return Enum(raw.string(0).rpartition(".")[2], is_union, _type(raw.table_at(3)).base, values, members)


def parse_schema(data):
    """The `Schema` in a reflection file's bytes."""
    root = _Raw(bytearray(data), int.from_bytes(data[:4], "little"))
    objects, enums = [_object(table) for table in root.tables(0)], [_enum(table) for table in root.tables(1)]
    root_name = root.table_at(4).string(0).rpartition(".")[2]
    index = next(i for i, one in enumerate(objects) if one.name == root_name)
    return Schema(objects, enums, index, root.string(2).encode())


@functools.cache
def light_metal_schema():
    """The schema of Light Metal binaries."""
    return parse_schema(light_metal_schema_bytes())


def light_metal_schema_bytes():
    """The reflection file of the schema."""
    return (Path(__file__).parents[1] / "light_metal" / "schema" / "light_metal.bfbs").read_bytes()
