"""What numba must know of tables (`tensim.sim.engine.tables`): their type, how one is indexed, and the code for it."""

import functools
import operator

import numba as nb
from llvmlite import ir
from numba import types
from numba.core import datamodel
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, register_model


class Table(types.Type):
    """The numba type of a table whose elements are records or numbers (`element`, a numba type)."""

    def __init__(self, element):
        self.element = element
        super().__init__(f"Table({element})")

    @property
    def mangling_args(self):
        """For the names of compiled functions: a record's own name lists all its fields."""
        return "Table", (self.element,)


@register_model(Table)
class TableModel(datamodel.PrimitiveModel):
    """A table is the host address of its first element."""

    def __init__(self, manager, table_type):
        super().__init__(manager, table_type, ir.IntType(64))


@functools.cache
def type_of_table(dtype):
    """(signature, code) of the intrinsic that takes a host address for the table of `dtype` elements there."""

    def codegen(context, builder, signature, args):
        return args[0]

    return Table(nb.from_dtype(dtype))(types.int64), codegen


@infer_global(operator.getitem)
class GetItem(AbstractTemplate):
    """table[i]: a record, by reference, or a number."""

    def generic(self, args, kws):
        if isinstance(args[0], Table) and isinstance(args[1], types.Integer):
            return signature(args[0].element, args[0], types.int64)
        return None


@infer_global(operator.setitem)
class SetItem(AbstractTemplate):
    """table[i] = number."""

    def generic(self, args, kws):
        if isinstance(args[0], Table) and isinstance(args[1], types.Integer):
            return signature(types.none, args[0], types.int64, args[0].element)
        return None


def _pointer(context, builder, table_type, address, index):
    """Pointer to an element."""
    size = context.get_abi_sizeof(context.get_data_type(table_type.element))
    offset = builder.mul(index, ir.Constant(ir.IntType(64), size), flags=["nsw"])
    target = context.get_data_type(table_type.element).as_pointer()
    return builder.inttoptr(builder.add(address, offset, flags=["nsw"]), target)


@lower_builtin(operator.getitem, Table, types.Integer)
def _get(context, builder, sig, args):
    pointer = _pointer(context, builder, sig.args[0], *args)
    if isinstance(sig.return_type, types.Record):
        return pointer
    return context.unpack_value(builder, sig.return_type, pointer)


@lower_builtin(operator.setitem, Table, types.Integer, types.Any)
def _set(context, builder, sig, args):
    context.pack_value(builder, sig.args[2], args[2], _pointer(context, builder, sig.args[0], *args[:2]))
    return context.get_dummy_value()
