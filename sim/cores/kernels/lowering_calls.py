"""Calls of the kernel language: which part lowers each."""

import ast

from tensim.sim.cores.kernels.api import REFUSED_PREFIXES, VALUES
from tensim.sim.cores.kernels.lowering_accessors import Distributions, TensorAccessors
from tensim.sim.cores.kernels.lowering_addresses import GENERATORS, PAGE_CALLS, SHARD_CALLS, Addresses
from tensim.sim.cores.kernels.lowering_compute import ComputeCalls
from tensim.sim.cores.kernels.lowering_core import CoreCalls
from tensim.sim.cores.kernels.lowering_inlining import library
from tensim.sim.cores.kernels.lowering_objects import CircularBuffers, Nocs, Pointers, Semaphores
from tensim.sim.cores.kernels.lowering_operations import OPERATIONS
from tensim.sim.cores.kernels.lowering_part import Part
from tensim.sim.cores.kernels.lowering_values import Record
from tensim.sim.cores.kernels.names import DeviceFunction, did_you_mean

# Methods of the object forms: (kind, method) -> free function that gets the object's fields first
METHODS = {
    ("circular_buffer", "reserve_back"): "cb_reserve_back",
    ("circular_buffer", "push_back"): "cb_push_back",
    ("circular_buffer", "wait_front"): "cb_wait_front",
    ("circular_buffer", "pop_front"): "cb_pop_front",
    ("circular_buffer", "pages_reservable_at_back"): "cb_pages_reservable_at_back",
    ("circular_buffer", "pages_available_at_front"): "cb_pages_available_at_front",
    ("circular_buffer", "get_write_ptr"): "get_write_ptr",
    ("circular_buffer", "get_read_ptr"): "get_read_ptr",
    ("circular_buffer", "get_tile_size"): "get_tile_size",
    ("circular_buffer", "get_entry_size"): "get_entry_size",
    ("circular_buffer", "get_tile_hw"): "get_tile_hw",
    ("circular_buffer", "get_dataformat"): "get_dataformat",
    ("semaphore", "set"): "noc_semaphore_set",
    ("semaphore", "wait"): "noc_semaphore_wait",
    ("semaphore", "wait_min"): "noc_semaphore_wait_min",
    ("semaphore", "up"): "_semaphore_up",
    ("semaphore", "set_multicast"): "_semaphore_set_multicast",
    ("noc", "async_read_barrier"): "noc_async_read_barrier",
    ("noc", "async_write_barrier"): "noc_async_write_barrier",
    ("noc", "async_writes_flushed"): "noc_async_writes_flushed",
    ("noc", "async_atomic_barrier"): "noc_async_atomic_barrier",
    ("noc", "async_full_barrier"): "noc_async_full_barrier",
    ("noc", "async_write_multicast"): "_noc_async_write_multicast",
    ("noc", "set_async_read_state"): "_noc_set_async_read_state",
    ("noc", "async_read_with_state"): "_noc_async_read_with_state",
}
HANDLERS = (
    Addresses, CircularBuffers, ComputeCalls, CoreCalls, Distributions, Nocs, Pointers, Semaphores, TensorAccessors
)  # fmt: skip


def _special(prefix):
    """{rest of its name: (handler, name)} of the handlers' methods whose names begin so."""
    return {
        name.removeprefix(prefix): (handler, name)
        for handler in HANDLERS
        for name in vars(handler)
        if name.startswith(prefix)
    }


SPECIAL_CALLS, SPECIAL_METHODS = _special("call_"), _special("method_")  # by name; by kind of object, _, name


class Calls(Part):
    """Finds what a call names, and the handler or the table that lowers it."""

    def __init__(self, lowering):
        super().__init__(lowering)
        self.handlers = {handler: handler(lowering) for handler in HANDLERS}

    def special(self, method):
        """The bound method of an entry of `SPECIAL_CALLS` or `SPECIAL_METHODS`."""
        handler, name = method
        return getattr(self.handlers[handler], name)

    def call(self, node):
        """Lower a call; returns its value or None."""
        function = node.func
        if isinstance(function, ast.Name):
            return self.named_call(node, self._aliased(function))
        if isinstance(function, ast.Attribute):
            target = None if self.expressions.is_local(function) else self.emitter.scope.names_outside.resolve(function)
            if isinstance(target, DeviceFunction):
                return self.inlining.inline(node, target, *self.arguments.arguments_of(node))
            name = getattr(target, "kernel_api_name", None)
            return self.named_call(node, name) if name else self.method(node)
        self.emitter.refuse(node, "only functions can be called")

    def _aliased(self, function):
        """The called name; a define may stand for another one."""
        name = function.id
        if name in self.emitter.defines and name not in self.emitter.scope.names:
            tree = self.expressions.define_expression(function)
            if isinstance(tree, ast.Name):
                return tree.id
        return name

    def named_call(self, node, name):
        if name in self.emitter.scope.names:
            self.emitter.refuse(node, f"{name} is a variable and cannot be called")
        target = self.emitter.scope.names_outside.resolve(ast.Name(name))
        if isinstance(target, DeviceFunction):
            return self.inlining.inline(node, target, *self.arguments.arguments_of(node))
        if name.startswith("_") and not self.emitter.scope.is_library:
            self._refuse_call(node, name)
        return self.api_call(node, name, *self.arguments.arguments_of(node))

    def _refuse_call(self, node, name):
        for prefix, reason in REFUSED_PREFIXES.items():
            if name.startswith(prefix):
                self.emitter.refuse(node, f"{name}: {reason}")
        if self.emitter.scope.names_outside.is_python_function(name):
            self.emitter.refuse(node, f"{name} is a plain Python function", "decorate it with @device_function")
        if self.emitter.lenient:
            return Record("unknown", ())
        self.emitter.refuse(node, f"the kernel API has no call {name!r}", did_you_mean(name, call_names()))

    def api_call(self, node, name, positional, keywords):
        """A call of the kernel API with lowered or unlowered arguments."""
        if not self.emitter.scope.is_library:
            self.emitter.api_calls.add(name)
        if name in SPECIAL_CALLS:
            return self.special(SPECIAL_CALLS[name])(node, positional, keywords)
        if name in OPERATIONS:
            return self.operations.operation(node, name, OPERATIONS[name], positional, keywords)
        if name in VALUES:
            value = VALUES[name]
            if name in ("min", "max") and len(positional) > 2:
                positional = self._pairs(node, name, positional)
            values = self.arguments.integers(node, name, value.parameters, positional, keywords)
            return self.operations.value_call(node, value, values, name)
        if name in GENERATORS:
            return self.addresses.generator(node, name, positional, keywords)
        if name in PAGE_CALLS:
            return self.addresses.page_call(node, name, positional, keywords)
        if name in SHARD_CALLS:
            return self.addresses.shard_call(node, name, positional, keywords)
        if name in library():
            return self.inlining.inline(node, library()[name], positional, keywords)
        return self._refuse_call(node, name)

    def _pairs(self, node, name, positional):
        """min(a, b, c) as min(min(a, b), c)."""
        first = self.api_call(node, name, positional[:2], {})
        for argument in positional[2:-1]:
            first = self.api_call(node, name, [first, argument], {})
        return [first, positional[-1]]

    def method(self, node):
        """A call of the form object.method(...)."""
        owner, name = node.func.value, node.func.attr
        if not self.expressions.is_local(node.func):
            if self.emitter.lenient:
                return Record("unknown", ())
            self.emitter.refuse(node, f"the kernel API has no call {ast.unparse(node.func)!r}")
        value = self.expressions.expression(owner)
        kind = value.kind if isinstance(value, Record) else "integer"
        positional, keywords = self.arguments.arguments_of(node)
        if (special := f"{kind}_{name}") in SPECIAL_METHODS:
            return self.special(SPECIAL_METHODS[special])(node, value, positional, keywords)
        if (kind, name) in METHODS:
            fields = [value["index"]] if kind == "noc" else list(value.fields)
            return self.object_call(node, METHODS[kind, name], [*fields, *positional], keywords)
        if self.emitter.lenient:
            return Record("unknown", ())
        methods = [method for owner, method in METHODS if owner == kind]
        methods += [method.removeprefix(f"{kind}_") for method in SPECIAL_METHODS if method.startswith(f"{kind}_")]
        title = value.title if isinstance(value, Record) else "an integer"
        self.emitter.refuse(node, f"{title} has no method {name!r}", did_you_mean(name, methods))

    def object_call(self, node, name, positional, keywords):
        if name in library():
            return self.inlining.inline(node, library()[name], positional, keywords)
        return self.api_call(node, name, positional, keywords)


def call_names():
    """Names of all calls that a kernel may make."""
    names = {*SPECIAL_CALLS, *OPERATIONS, *VALUES, *GENERATORS, *PAGE_CALLS, *SHARD_CALLS, *library()}
    return sorted(name for name in names if not name.startswith("_"))
