"""Tables: arrays of the machine's state as compiled code sees them, a host address and the type of an element.

numba's own arrays carry a shape, strides and a reference count, and every index is tested for being negative.  The engine
looks at state by the billion: a table is one word, `table[i]` the address plus a product.  Indices are neither checked
nor wrapped; the callers know that they are in range, as they do for `tensim.sim.engine.memory`.
"""

import operator

import numba as nb
from llvmlite import ir
from numba import types
from numba.core import datamodel
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, register_model


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


def table(dtype):
    """The compiled function from a host address to the table of `dtype` elements there."""
    table_type = Table(nb.from_dtype(dtype))

    @intrinsic
    def table_at(typingctx, address):
        def codegen(context, builder, signature, args):
            return args[0]

        return table_type(types.int64), codegen

    return table_at


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
