"""Objects of a kernel besides accessors: L1 pointers, circular buffers, semaphores, NoCs.

Most of their methods are free calls that get the object's fields first (`lowering_calls.METHODS`).
"""

import ast

from tensim.sim.cores.kernels.api import POINTER_TYPES, REQUIRED, VALUES, parameters
from tensim.sim.cores.kernels.lowering_part import Part
from tensim.sim.cores.kernels.lowering_values import Record


class Pointers(Part):
    """Typed pointers into the core's own L1."""

    def call_l1_ptr(self, node, positional, keywords):
        bound = self.arguments.bind_arguments(node, "l1_ptr", {"address": REQUIRED, "type": None}, positional, keywords)
        kind = bound.get("type", ast.Name("uint32"))
        name = kind.id if isinstance(kind, ast.Name) else None
        if name not in POINTER_TYPES:
            self.emitter.refuse(
                node, f"{ast.unparse(kind)} is not an element type", f"one of {', '.join(POINTER_TYPES)}"
            )
        address = self.expressions.as_integer(self.arguments.value_of(bound["address"]), node)
        return Record("pointer", (self.variables.atom(address),), POINTER_TYPES[name])

    call_CoreLocalMem = call_l1_ptr

    def method_pointer_get_address(self, node, value, positional, keywords):
        return value["address"]


class CircularBuffers(Part):
    """A circular buffer as an object, and what kernels read of its interface."""

    def call_CircularBuffer(self, node, positional, keywords):
        values = self.arguments.integers(node, "CircularBuffer", parameters("id"), positional, keywords)
        return Record("circular_buffer", tuple(self.variables.atom(value) for value in values.values()))

    call_get_local_cb_interface = call_CircularBuffer

    def method_circular_buffer_get_id(self, node, value, positional, keywords):
        return value["id"]


class Semaphores(Part):
    """A semaphore as an object."""

    def call_Semaphore(self, node, positional, keywords):
        values = self.arguments.integers(node, "Semaphore", parameters("id"), positional, keywords)
        return Record(
            "semaphore", (self.variables.atom(self.operations.value_call(node, VALUES["get_semaphore"], values)),)
        )


class Nocs(Part):
    """A NoC as an object, and its transfers between things of any kind."""

    def call_Noc(self, node, positional, keywords):
        return Record(
            "noc", tuple(self.arguments.integers(node, "Noc", parameters("noc=NOC"), positional, keywords).values())
        )

    def method_noc_async_read(self, node, value, positional, keywords):
        return self._transfer(node, value, positional, keywords, "read")

    def method_noc_async_write(self, node, value, positional, keywords):
        return self._transfer(node, value, positional, keywords, "write")

    def _transfer(self, node, noc, positional, keywords, name):
        params = parameters("src dst size page_id=0 src_offset=0 dst_offset=0")
        bound = self.arguments.values(node, f"Noc.async_{name}", params, positional, keywords)
        source = self._endpoint(node, bound["src"], bound["page_id"], bound["src_offset"], noc["index"], False)
        target = self._endpoint(node, bound["dst"], bound["page_id"], bound["dst_offset"], noc["index"], True)
        return self.operations.api_operation(node, f"noc_async_{name}", source, target, bound["size"], noc["index"])

    def _endpoint(self, node, value, page, offset, noc, write_side):
        """Address of one end of an object-style transfer: L1 address, NoC address, or page of a tensor."""
        if isinstance(value, Record) and value.kind in ("interleaved", "accessor"):
            self.addresses.charge_page_address()
            return self.addresses.page_address(node, value, page, offset, noc)
        if isinstance(value, Record) and value.kind == "circular_buffer":
            call = VALUES["get_write_ptr" if write_side else "get_read_ptr"]
            value = self.operations.value_call(node, call, {"cb": value["id"]})
        value, offset = (self.expressions.as_integer(item, node) for item in (value, offset))
        return self.expressions.binary(ast.Add(), value, offset, node)
