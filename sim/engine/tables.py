"""Tables: arrays of the machine's state as compiled code sees them, a host address and the type of an element.

numba's own arrays carry a shape, strides and a reference count, and every index is tested for being negative.  The engine
looks at state by the billion: a table is one word, `table[i]` the address plus a product.  Indices are neither checked
nor wrapped; the callers know that they are in range, as they do for `tensim.sim.engine.memory`.
"""

from tensim.sim.engine.compiled import Intrinsic


def table(dtype):
    """The compiled function from a host address to the table of `dtype` elements there."""

    def table_at(typingctx, address):
        from tensim.sim.engine.table_types import type_of_table

        return type_of_table(dtype)

    return Intrinsic(table_at)
