"""Calls of the kernel language: operations, values, address generators, pointers, objects, inlined helpers."""

import ast
import functools
import struct
from collections import Counter
from pathlib import Path

from tensim.sim.cores.kernels import api as kernel_api
from tensim.sim.cores.kernels import api_compute as kernel_api_compute
from tensim.sim.cores.kernels.api import (
    ANY_ROLE,
    COMPUTE,
    DM,
    MATH,
    PACK,
    POINTER_TYPES,
    REFUSED_PREFIXES,
    REQUIRED,
    UNPACK,
    VALUES,
    parameters,
)
from tensim.sim.cores.kernels.kernel_runtime import DSPEC_WORDS
from tensim.sim.cores.kernels.lowering_expressions import Expressions, merged
from tensim.sim.cores.kernels.lowering_values import Int, Record, Scope, literal
from tensim.sim.cores.kernels.names import DeviceFunction, ParsedNames
from tensim.sim.cores.operations import Op
from tensim.sim.cores.tensix.instructions import Instruction

OPERATIONS = kernel_api.OPERATIONS | kernel_api_compute.OPERATIONS
MAX_INLINE_DEPTH = 24
MAX_NOPS, NOPS_CHARGED = 1 << 16, 2048  # of one call; at once: a count of plain code has 12 bits
PAGE_ADDRESS = {"alu": 4, "mul": 1, "load": 2}  # instructions of one page-to-bank calculation
# Instructions of a NoC call whose NoC or virtual channel is known only at run time: base of the registers and places of
# two counters (shift, three additions); mask, shift and or into the command word.  Constants cost none of them.
RUN_TIME_CHOICE = {"noc": 4, "vc": 3, "read_req_vc": 3}
C_INTEGERS = {
    "uint32": lambda v: v & 0xFFFFFFFF,
    "uint16": lambda v: v & 0xFFFF,
    "uint8": lambda v: v & 0xFF,
    "int32": lambda v: ((v & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000,
    "abs": abs,
    "int": int,
    "bool": lambda v: int(bool(v)),
    "min": min,
    "max": max,
}
# Parameters of the calls that make records, and of those that take them
GENERATORS = {
    "InterleavedAddrGen": "bank_base_address page_size dram=1",
    "InterleavedAddrGenFast": "bank_base_address page_size data_format=0 dram=1 tile_hw=1024",
    "InterleavedPow2AddrGen": "bank_base_address log_base_2_of_page_size dram=1",
    "InterleavedPow2AddrGenFast": "bank_base_address log_base_2_of_page_size dram=1",
}
PAGE_CALLS = {
    "noc_async_read_page": "id gen dst offset=0 noc=NOC",
    "noc_async_read_tile": "id gen dst offset=0 noc=NOC",
    "noc_async_write_page": "id gen src size=0 offset=0 noc=NOC",
    "noc_async_write_tile": "id gen src noc=NOC",
}
SHARD_CALLS = {
    "noc_async_read_shard": "shard_id gen dst noc=NOC",
    "noc_async_write_shard": "shard_id gen src noc=NOC",
}
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


@functools.cache
def library():
    """{name: DeviceFunction} of `library.py`."""
    path = Path(__file__).with_name("library.py")
    text = path.read_text()
    trees = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    names = ParsedNames()
    return {tree.name: DeviceFunction(tree, str(path), names) for tree in trees}


def own_nodes(tree):
    """Nodes of a function's body, without those of nested functions (which are refused anyway)."""
    for statement in tree.body:
        yield from ast.walk(statement)


def returns_in_tail(body):
    """Return statements that end the function without anything left to run behind them."""
    if not body:
        return set()
    last = body[-1]
    if isinstance(last, ast.Return):
        return {last}
    if isinstance(last, ast.If):
        return returns_in_tail(last.body) | returns_in_tail(last.orelse)
    return set()


def always_returns(body):
    """Whether control cannot reach the end of the body."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return always_returns(last.body) and always_returns(last.orelse)
    if isinstance(last, ast.While):
        endless = isinstance(last.test, ast.Constant) and bool(last.test.value)
        return endless and not any(isinstance(node, ast.Break) for node in ast.walk(last))
    return isinstance(last, (ast.Return, ast.Raise))


class Calls(Expressions):
    """Adds calls to expressions."""

    def _expr_Call(self, node):
        value = self.call(node)
        if value is None:
            self.refuse(node, f"{ast.unparse(node.func)} has no value")
        return value

    def call(self, node):
        """Lower a call; returns its value or None."""
        function = node.func
        if isinstance(function, ast.Name):
            return self.named_call(node, self._aliased(function))
        if isinstance(function, ast.Attribute):
            target = None if self._is_local(function) else self.scope.names_outside.resolve(function)
            if isinstance(target, DeviceFunction):
                return self.inline(node, target, *self.arguments_of(node))
            name = getattr(target, "kernel_api_name", None)
            return self.named_call(node, name) if name else self.method(node)
        self.refuse(node, "only functions can be called")

    def _is_local(self, node):
        """Whether name.attribute... starts at a variable of the kernel."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return not isinstance(node, ast.Name) or node.id in self.scope.names or node.id in self.scope.stores

    def _aliased(self, function):
        """The called name; a define may stand for another one."""
        name = function.id
        if name in self.defines and name not in self.scope.names:
            tree = self.define_expression(function)
            if isinstance(tree, ast.Name):
                return tree.id
        return name

    def named_call(self, node, name):
        if name in self.scope.names:
            self.refuse(node, f"{name} is a variable and cannot be called")
        target = self.scope.names_outside.resolve(ast.Name(name))
        if isinstance(target, DeviceFunction):
            return self.inline(node, target, *self.arguments_of(node))
        if name.startswith("_") and not self.scope.is_library:
            self._refuse_call(node, name)
        return self.api_call(node, name, *self.arguments_of(node))

    def _refuse_call(self, node, name):
        for prefix, reason in REFUSED_PREFIXES.items():
            if name.startswith(prefix):
                self.refuse(node, f"{name}: {reason}")
        if self.scope.names_outside.is_python_function(name):
            self.refuse(node, f"{name} is a plain Python function", "decorate it with @device_function")
        if self.lenient:
            return Record("unknown", ())
        self.refuse(node, f"the kernel API has no call {name!r}")

    def api_call(self, node, name, positional, keywords):
        """A call of the kernel API with lowered or unlowered arguments."""
        if not self.scope.is_library:
            self.api_calls.add(name)
        special = getattr(self, f"_call_{name}", None)
        if special is not None:
            return special(node, positional, keywords)
        if name in OPERATIONS:
            return self.operation(node, name, OPERATIONS[name], positional, keywords)
        if name in VALUES:
            value = VALUES[name]
            if name in ("min", "max") and len(positional) > 2:
                positional = self._pairs(node, name, positional)
            return self.value_call(node, value, self.integers(node, name, value.parameters, positional, keywords), name)
        if name in GENERATORS:
            return self._generator(node, name, positional, keywords)
        if name in PAGE_CALLS:
            return self._page_call(node, name, positional, keywords)
        if name in SHARD_CALLS:
            return self._shard_call(node, name, positional, keywords)
        if name in library():
            return self.inline(node, library()[name], positional, keywords)
        return self._refuse_call(node, name)

    # --- arguments

    def arguments_of(self, node):
        """(positional, keywords) of a call as syntax trees."""
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                self.refuse(node, "* arguments are not part of the kernel language")
        if any(keyword.arg is None for keyword in node.keywords):
            self.refuse(node, "** arguments are not part of the kernel language")
        return list(node.args), {keyword.arg: keyword.value for keyword in node.keywords}

    def value_of(self, argument):
        """The value of an argument that may be lowered already."""
        return self.expression(argument) if isinstance(argument, ast.AST) else argument

    def bind_arguments(self, node, name, params, positional, keywords):
        """{parameter: syntax tree or value}, in evaluation order, defaults last."""
        names = list(params)
        if len(positional) > len(names):
            self.refuse(node, f"{name} takes {len(names)} arguments, not {len(positional)}")
        bound = dict(zip(names, positional, strict=False))
        for key, value in keywords.items():
            if key not in params:
                self.refuse(node, f"{name} has no parameter {key!r}", f"its parameters: {', '.join(names) or 'none'}")
            if key in bound:
                self.refuse(node, f"{name} got {key!r} twice")
            bound[key] = value
        missing = [key for key in names if key not in bound and params[key] is REQUIRED]
        if missing:
            self.refuse(node, f"{name} needs the argument {missing[0]!r}", f"its parameters: {', '.join(names)}")
        return bound

    def values(self, node, name, params, positional, keywords):
        """{parameter: value}, evaluated in the order of the call."""
        bound = self.bind_arguments(node, name, params, positional, keywords)
        result = {key: self.value_of(argument) for key, argument in bound.items()}
        for key, default in params.items():
            if key not in result:
                result[key] = literal(default) if isinstance(default, int) else self.state(default)
        return result

    def integers(self, node, name, params, positional, keywords):
        values = self.values(node, name, params, positional, keywords)
        return {key: self.as_integer(value, node) for key, value in values.items()}

    def _pairs(self, node, name, positional):
        """min(a, b, c) as min(min(a, b), c)."""
        first = self.api_call(node, name, positional[:2], {})
        for argument in positional[2:-1]:
            first = self.api_call(node, name, [first, argument], {})
        return [first, positional[-1]]

    # --- table calls

    def value_call(self, node, value, arguments, name=""):
        """A call without effect."""
        self._belongs(node, name, value.roles)
        if name in C_INTEGERS and all(argument.constant is not None for argument in arguments.values()):
            return literal(C_INTEGERS[name](*(argument.constant for argument in arguments.values())))
        known = [argument for argument in arguments.values()]
        if not value.free:
            for kind, count in value.cost.items():
                self.cost(kind, *(known if kind != "load" else ()), count=count)
        text = value.text.format(**{key: argument.number for key, argument in arguments.items()}, line=self.line)
        free = value.free and all(argument.free for argument in known)
        result = merged(text, *known) if known else Int(text)
        taint = result.taint
        if free and all(argument.constant is not None for argument in known):
            neutral = value.text.format(**{key: argument.text for key, argument in arguments.items()}, line="{line}")
            return Int(self.hoist_at_line(neutral), free=True)
        result = Int(text, free=free, taint=taint, control=value.control or (result.control and bool(known)))
        return self.kept(result) if value.volatile else result

    def hoist_at_line(self, template):
        """Hoist a text whose line is that of its first use."""
        if template not in self.hoist_lines:
            self.hoist_lines[template] = template.replace("{line}", str(self.line))
        return self.hoist(self.hoist_lines[template])

    def operation(self, node, name, call, positional, keywords):
        """A call that posts operations."""
        self._belongs(node, name, functools.reduce(lambda roles, post: roles | post.roles, call.posts, 0) or ANY_ROLE)
        if call.ignores_arguments:
            for argument in [*positional, *keywords.values()]:
                if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                    self.value_of(argument)
            arguments = {}
        else:
            arguments = self.integers(node, name, call.parameters, positional, keywords)
        for choice in RUN_TIME_CHOICE.keys() & arguments.keys():
            self.cost("alu", arguments[choice], count=RUN_TIME_CHOICE[choice])
        posts = [(post.roles, post.op, self._words(name, post, arguments)) for post in call.posts]
        result = self.temporary() if call.result else None
        self.post(posts, result)
        return Int(result) if result else None

    def _words(self, name, post, arguments):
        """Generated texts of a post's arguments."""
        words = []
        for word in post.arguments:
            if isinstance(word, int):
                value = literal(word)
            elif word in arguments:
                value = arguments[word]
            else:
                value = self.state(word)
            if word not in post.data:
                self.decide(value, f"an argument of {name.lstrip('_')}")
            words.append(value.number)
        return words

    def _belongs(self, node, name, roles):
        """Note on which kind of core the call lives; one kernel cannot live on both."""
        allowed = (DM if roles & DM else 0) | (COMPUTE if roles & COMPUTE else 0)
        if self.facts.possible & allowed == 0:
            if self.lenient:
                return
            home = "compute" if allowed == COMPUTE else "data-movement"
            self.refuse(node, f"{name} belongs to {home} kernels, but this kernel also makes calls of the other kind")
        self.facts.possible &= allowed

    # --- records

    def _call_l1_ptr(self, node, positional, keywords):
        bound = self.bind_arguments(node, "l1_ptr", {"address": REQUIRED, "type": None}, positional, keywords)
        kind = bound.get("type", ast.Name("uint32"))
        name = kind.id if isinstance(kind, ast.Name) else None
        if name not in POINTER_TYPES:
            self.refuse(node, f"{ast.unparse(kind)} is not an element type", f"one of {', '.join(POINTER_TYPES)}")
        address = self.as_integer(self.value_of(bound["address"]), node)
        return Record("pointer", (self.atom(address),), POINTER_TYPES[name])

    _call_CoreLocalMem = _call_l1_ptr

    def _generator(self, node, name, positional, keywords):
        values = self.integers(node, name, parameters(GENERATORS[name]), positional, keywords)
        base, page, dram = list(values.values())[0], list(values.values())[1], values["dram"]
        if "Pow2" in name:
            page = self.binary(ast.LShift(), literal(1), page, node)
        page, dram = self.atom(page), self.atom(dram)
        self.cost("alu", page, count=3)
        stride = merged(f"aligned_page(ctx, {page.text}, {dram.text})", page, dram)
        return Record("interleaved", (base, page, self.atom(stride), dram))

    def _call_TensorAccessorArgs(self, node, positional, keywords):
        values = self.integers(node, "TensorAccessorArgs", parameters("cta_base=0 crta_base=0"), positional, keywords)
        return Record("accessor_args", tuple(self.atom(value) for value in values.values()))

    def _call_TensorAccessor(self, node, positional, keywords):
        params = parameters("args bank_base_address page_size")
        values = self.values(node, "TensorAccessor", params, positional, keywords)
        args = values["args"]
        if not (isinstance(args, Record) and args.kind == "accessor_args"):
            if self.lenient:
                return Record("unknown", ())
            self.refuse(node, "TensorAccessor needs TensorAccessorArgs(first compile-time argument)")
        fields = (self.as_integer(values[key], node) for key in ("bank_base_address", "page_size"))
        return Record("accessor", (args["first"], *(self.atom(value) for value in fields)))

    def _call_Noc(self, node, positional, keywords):
        return Record("noc", tuple(self.integers(node, "Noc", parameters("noc=NOC"), positional, keywords).values()))

    def _call_CircularBuffer(self, node, positional, keywords):
        values = self.integers(node, "CircularBuffer", parameters("id"), positional, keywords)
        return Record("circular_buffer", tuple(self.atom(value) for value in values.values()))

    _call_get_local_cb_interface = _call_CircularBuffer

    def _call_Semaphore(self, node, positional, keywords):
        values = self.integers(node, "Semaphore", parameters("id"), positional, keywords)
        return Record("semaphore", (self.atom(self.value_call(node, VALUES["get_semaphore"], values)),))

    # --- pages and shards

    def page_address(self, node, generator, page, offset):
        """NoC address of a page of an address generator or tensor accessor."""
        page, offset = self.as_integer(page, node), self.as_integer(offset, node)
        if isinstance(generator, Record) and generator.kind == "interleaved":
            base, _, stride, dram = generator.fields
            parts = [page, base, stride, dram, offset]
            name = "interleaved_address"
        elif isinstance(generator, Record) and generator.kind == "accessor":
            parts = [page, *generator.fields, offset]
            name = "accessor_address"
        elif isinstance(generator, Record) and generator.kind == "unknown":
            return Int("0")
        else:
            self.refuse(node, "this call needs an address generator or a tensor accessor")
        texts = ", ".join(part.number for part in parts)
        return merged(f"{name}(ctx, {texts}, {self.line})", *parts)

    def _call_get_noc_addr(self, node, positional, keywords):
        """get_noc_addr(x, y, addr, noc), (addr, noc) or (page, generator, offset, noc)."""
        values = [self.value_of(argument) for argument in positional]
        generator = len(values) > 1 and isinstance(values[1], Record)
        if generator or "gen" in keywords:
            bound = self.values(node, "get_noc_addr", parameters("id gen offset=0 noc=NOC"), values, keywords)
            self._charge(PAGE_ADDRESS)
            return self.page_address(node, bound["gen"], bound["id"], bound["offset"])
        if len(values) + len(keywords) < 3:
            bound = self.integers(node, "get_noc_addr", parameters("addr noc=NOC"), values, keywords)
            return self.value_call(node, VALUES["_own_address"], {"addr": bound["addr"]})
        bound = self.integers(node, "get_noc_addr", parameters("x y addr noc=NOC"), values, keywords)
        return self.value_call(node, VALUES["_tile_address"], {key: bound[key] for key in ("x", "y", "addr")})

    def _charge(self, costs):
        for kind, count in costs.items():
            self.cost(kind, count=count)

    def _page_call(self, node, name, positional, keywords):
        """noc_async_{read,write}_{page,tile}: the issue cost of the operation includes the address arithmetic."""
        bound = self.values(node, name, parameters(PAGE_CALLS[name]), positional, keywords)
        generator = bound["gen"]
        offset = self.as_integer(bound.get("offset", literal(0)), node)
        address = self.page_address(node, generator, bound["id"], offset)
        size = self.as_integer(bound.get("size", literal(0)), node)
        if size.constant == 0:
            page = Int("0") if generator.kind == "unknown" else generator["page_size"]
            size = page if offset.constant == 0 else self.binary(ast.Sub(), page, offset, node)
        if "dst" in bound:
            return self.api_operation(node, "_read_page", address, bound["dst"], size, bound["noc"])
        return self.api_operation(node, "_write_page", bound["src"], address, size, bound["noc"])

    def _shard_call(self, node, name, positional, keywords):
        """noc_async_{read,write}_shard: one contiguous transfer of a whole shard."""
        bound = self.values(node, name, parameters(SHARD_CALLS[name]), positional, keywords)
        accessor = bound["gen"]
        if isinstance(accessor, Record) and accessor.kind == "unknown":
            return None
        address = self.shard_address(node, accessor, bound["shard_id"], literal(0))
        first, _, page = accessor.fields
        size = merged(f"shard_bytes(ctx, {first.text}, {page.text}, {self.line})", first, page)
        if "dst" in bound:
            return self.api_operation(node, "_read_page", address, bound["dst"], size, bound["noc"])
        return self.api_operation(node, "_write_page", bound["src"], address, size, bound["noc"])

    def shard_address(self, node, accessor, shard, offset):
        if not (isinstance(accessor, Record) and accessor.kind == "accessor"):
            self.refuse(node, "this call needs a tensor accessor")
        shard, (first, base, _) = self.as_integer(shard, node), accessor.fields
        inside = self.binary(ast.Add(), base, self.as_integer(offset, node), node)
        text = f"shard_address(ctx, {shard.number}, {first.text}, {inside.number}, {self.line})"
        return merged(text, shard, first, inside)

    def api_operation(self, node, name, *values):
        """Post a call of the table with values that are at hand."""
        return self.operation(node, name, OPERATIONS[name], list(values), {})

    # --- methods

    def method(self, node):
        """A call of the form object.method(...)."""
        owner, name = node.func.value, node.func.attr
        if not self._is_local(node.func):
            if self.lenient:
                return Record("unknown", ())
            self.refuse(node, f"the kernel API has no call {ast.unparse(node.func)!r}")
        value = self.expression(owner)
        kind = value.kind if isinstance(value, Record) else "integer"
        positional, keywords = self.arguments_of(node)
        special = getattr(self, f"_method_{kind}_{name}", None)
        if special is not None:
            return special(node, value, positional, keywords)
        if (kind, name) in METHODS:
            fields = [value["index"]] if kind == "noc" else list(value.fields)
            return self.object_call(node, METHODS[kind, name], [*fields, *positional], keywords)
        if self.lenient:
            return Record("unknown", ())
        self.refuse(node, f"{value.title if isinstance(value, Record) else 'an integer'} has no method {name!r}")

    def object_call(self, node, name, positional, keywords):
        if name in library():
            return self.inline(node, library()[name], positional, keywords)
        return self.api_call(node, name, positional, keywords)

    def _method_interleaved_get_noc_addr(self, node, value, positional, keywords):
        bound = self.values(node, "get_noc_addr", parameters("id offset=0 noc=NOC"), positional, keywords)
        self._charge(PAGE_ADDRESS)
        return self.page_address(node, value, bound["id"], bound["offset"])

    _method_accessor_get_noc_addr = _method_interleaved_get_noc_addr

    def _method_accessor_get_shard_noc_addr(self, node, value, positional, keywords):
        bound = self.values(node, "get_shard_noc_addr", parameters("shard_id offset=0 noc=NOC"), positional, keywords)
        self._charge(PAGE_ADDRESS)
        return self.shard_address(node, value, bound["shard_id"], bound["offset"])

    def _method_accessor_get_aligned_page_size(self, node, value, positional, keywords):
        first, _, page = value.fields
        return merged(f"accessor_page(ctx, {first.text}, {page.text}, {self.line})", first, page)

    def _method_accessor_get_bank_base_address(self, node, value, positional, keywords):
        return value["base"]

    def _is_local_tile(self, address):
        """1 when a NoC address names this core."""
        return merged(f"is_own_tile(ctx, {address.number})", address)

    def _method_accessor_is_local_addr(self, node, value, positional, keywords):
        return self._is_local_tile(
            self.integers(node, "is_local_addr", parameters("addr"), positional, keywords)["addr"]
        )

    def _method_accessor_is_local_bank(self, node, value, positional, keywords):
        bound = self.integers(node, "is_local_bank", parameters("x y"), positional, keywords)
        return self._is_local_tile(self.value_call(node, VALUES["_tile_address"], {**bound, "addr": literal(0)}))

    def _method_accessor_is_local_page(self, node, value, positional, keywords):
        page = self.values(node, "is_local_page", parameters("page"), positional, keywords)["page"]
        return self._is_local_tile(self.page_address(node, value, page, literal(0)))

    def _method_accessor_is_local_shard(self, node, value, positional, keywords):
        shard = self.values(node, "is_local_shard", parameters("shard_id"), positional, keywords)["shard_id"]
        return self._is_local_tile(self.shard_address(node, value, shard, literal(0)))

    def _method_accessor_get_bank_and_offset(self, node, value, positional, keywords):
        """(bank or shard, byte offset there) of a page."""
        page = self.atom(self.integers(node, "get_bank_and_offset", parameters("page"), positional, keywords)["page"])
        first, _, size = value.fields
        bank = merged(f"page_bank(ctx, {page.number}, {first.text}, {self.line})", page, first)
        text = f"page_offset(ctx, {page.number}, {first.text}, {size.text}, {self.line})"
        return Record("tuple", (bank, merged(text, page, first, size)))

    def _method_accessor_dspec(self, node, value, positional, keywords):
        return Record("dspec", (value["first"],))

    def _dspec_words(self, value, name):
        first = value["first"]
        return [merged(f"dspec_word(ctx, {first.text}, {word}, {self.line})", first) for word in DSPEC_WORDS[name]]

    def _method_dspec_rank(self, node, value, positional, keywords):
        return literal(2)

    def _method_dspec_num_banks(self, node, value, positional, keywords):
        return merged(f"accessor_banks(ctx, {value['first'].text}, {self.line})", value["first"])

    def _method_dspec_tensor_shape(self, node, value, positional, keywords):
        return Record("tuple", tuple(self._dspec_words(value, "tensor_shape")))

    def _method_dspec_shard_shape(self, node, value, positional, keywords):
        return Record("tuple", tuple(self._dspec_words(value, "shard_shape")))

    def _method_dspec_tensor_volume(self, node, value, positional, keywords):
        return self.binary(ast.Mult(), *self._dspec_words(value, "tensor_shape"), node)

    def _method_dspec_shard_volume(self, node, value, positional, keywords):
        return self.binary(ast.Mult(), *self._dspec_words(value, "shard_shape"), node)

    def _method_accessor_args_next_compile_time_args_offset(self, node, value, positional, keywords):
        first = value["first"]
        text = f"({first.text} + accessor_length(ctx, {first.text}, {{line}}))"
        return Int(self.hoist_at_line(text), free=True) if self._is_fixed(first) else merged(text, first)

    def _is_fixed(self, value):
        """Whether a value may stand at the start of the kernel."""
        return value.constant is not None or value.text in self.hoisted.values()

    def _method_accessor_args_num_compile_time_args(self, node, value, positional, keywords):
        first = value["first"]
        return merged(f"accessor_length(ctx, {first.text}, {self.line})", first)

    def _method_accessor_args_next_common_runtime_args_offset(self, node, value, positional, keywords):
        return value["common"]

    def _method_circular_buffer_get_id(self, node, value, positional, keywords):
        return value["id"]

    def _method_pointer_get_address(self, node, value, positional, keywords):
        return value["address"]

    def _endpoint(self, node, value, page, offset, write_side):
        """Address of one end of an object-style transfer: L1 address, NoC address, or page of a tensor."""
        if isinstance(value, Record) and value.kind in ("interleaved", "accessor"):
            self._charge(PAGE_ADDRESS)
            return self.page_address(node, value, page, offset)
        if isinstance(value, Record) and value.kind == "circular_buffer":
            call = VALUES["get_write_ptr" if write_side else "get_read_ptr"]
            value = self.value_call(node, call, {"cb": value["id"]})
        return self.binary(ast.Add(), self.as_integer(value, node), self.as_integer(offset, node), node)

    def _transfer(self, node, noc, positional, keywords, name):
        params = parameters("src dst size page_id=0 src_offset=0 dst_offset=0")
        bound = self.values(node, f"Noc.async_{name}", params, positional, keywords)
        source = self._endpoint(node, bound["src"], bound["page_id"], bound["src_offset"], False)
        target = self._endpoint(node, bound["dst"], bound["page_id"], bound["dst_offset"], True)
        return self.api_operation(node, f"noc_async_{name}", source, target, bound["size"], noc["index"])

    def _method_noc_async_read(self, node, value, positional, keywords):
        return self._transfer(node, value, positional, keywords, "read")

    def _method_noc_async_write(self, node, value, positional, keywords):
        return self._transfer(node, value, positional, keywords, "write")

    # --- compile-time calls

    def _literal_text(self, node, name, positional, keywords):
        if len(positional) != 1 or keywords or not isinstance(getattr(positional[0], "value", None), str):
            self.refuse(node, f"{name} takes one literal text")
        return positional[0].value

    def _call_get_named_compile_time_arg_val(self, node, positional, keywords):
        name = self._literal_text(node, "get_named_compile_time_arg_val", positional, keywords)
        if name in self.named_args:
            return literal(self.named_args[name])
        if self.lenient:
            return Int("0", free=True)
        given = ", ".join(self.named_args) or "none"
        self.refuse(node, f"no named compile-time argument {name!r}", f"given: {given}")

    def _call_float_bits(self, node, positional, keywords):
        """Bit pattern of a float32 constant: a literal, or a number of the kernel's module."""
        argument = positional[0] if len(positional) == 1 else None
        try:
            named = isinstance(argument, (ast.Name, ast.Attribute)) and not self._is_local(argument)
            value = self.scope.names_outside.resolve(argument) if named else ast.literal_eval(argument)
            return literal(struct.unpack("<I", struct.pack("<f", value))[0])
        except (ValueError, TypeError, OverflowError, struct.error):
            if self.lenient and isinstance(argument, ast.Name):
                return Int("0", free=True)
            self.refuse(node, "float_bits takes one constant number that a float32 can hold")

    def _call_DeviceZoneScopedN(self, node, positional, keywords):
        """Open a profiler zone that ends with the block it stands in."""
        name = self._literal_text(node, "DeviceZoneScopedN", positional, keywords)
        if name not in self.zones:
            self.zones.append(name)
        zone = self.zones.index(name)
        self.post([(ANY_ROLE, Op.ZONE_BEGIN, [str(zone)])])
        self.open_zones.append(zone)

    def _only(self, node, name, role, positional, keywords):
        if len(positional) != 1 or keywords or not isinstance(positional[0], ast.Call):
            self.refuse(node, f"{name} takes one call, the one that the {name.lower()} thread alone makes")
        self._belongs(node, name, COMPUTE)
        outer, self.only = self.only, self.only & role
        value = self.call(positional[0])
        self.only = outer
        return value

    def _call_UNPACK(self, node, positional, keywords):
        return self._only(node, "UNPACK", UNPACK, positional, keywords)

    def _call_MATH(self, node, positional, keywords):
        return self._only(node, "MATH", MATH, positional, keywords)

    def _call_PACK(self, node, positional, keywords):
        return self._only(node, "PACK", PACK, positional, keywords)

    def _call_tt_instruction(self, node, positional, keywords):
        """tt_instruction(NAME, count=1): one instruction of the coprocessor (`Instruction`), `count` times."""
        name = self._literal_text(node, "tt_instruction", positional[:1], {})
        if name not in Instruction.__members__:
            self.refuse(node, f"tt_instruction does not know {name}", f"known: {', '.join(Instruction.__members__)}")
        values = self.integers(node, "tt_instruction", parameters("count=1"), positional[1:], keywords)
        self._belongs(node, "tt_instruction", COMPUTE)
        self.decide(values["count"], "an argument of tt_instruction")
        self.post([(COMPUTE, Op.TT_INSTRUCTION, [str(int(Instruction[name])), values["count"].number])])

    def _call_riscv_nop(self, node, positional, keywords):
        """riscv_nop(count=1): that many `nop` in a row, each 4 bytes of the binary and a cycle where it runs."""
        count = self.integers(node, "riscv_nop", parameters("count=1"), positional, keywords)["count"].constant
        if count is None and self.lenient:
            return
        if count is None or not 0 <= count <= MAX_NOPS:
            self.refuse(node, f"riscv_nop takes a number up to {MAX_NOPS} that is known when the kernel is compiled")
        for done in range(0, count, NOPS_CHARGED):
            self.cost("alu", count=min(NOPS_CHARGED, count - done))
            self.flush()

    def _call_ASSERT(self, node, positional, keywords):
        if len(positional) != 1 or keywords:
            self.refuse(node, "ASSERT takes one condition")
        self.check(node, positional[0], None)

    # --- helpers

    def inline(self, node, function, positional, keywords):
        """Put a helper's body in place of its call, under new names; returns its value or None."""
        tree = function.tree
        stack = [scope.function for scope in self.stack]
        if tree.name in stack or len(stack) >= MAX_INLINE_DEPTH:
            self.refuse(node, f"recursion is not possible in a kernel: {' -> '.join([*stack, tree.name])}")
        inner = self._helper_scope(function)
        self._bind_parameters(node, tree, inner, positional, keywords)
        tail, returns = returns_in_tail(tree.body), self._returns(tree)
        inner.exits = any(statement not in tail for statement in returns)
        outer, line = self.scope, self.line
        self.scope = inner
        self.stack.append(inner)
        inner.stores["return"] = len(returns)
        self.note_lines(tree, function.file)
        self.function_body(tree)
        self.stack.pop()
        self.scope, self.line = outer, line
        return self._returned(node, tree, inner, returns)

    def _helper_scope(self, function):
        self.inlined += 1
        tree, is_library = function.tree, function.name in library() and function is library()[function.name]
        foreign = is_library or self.scope.is_library or function.file != self.file
        return Scope(
            prefix=f"h{self.inlined}_", function=tree.name, file=function.file, names_outside=function.names,
            stores=self.count_stores(tree), line=self.line if foreign else None, is_library=is_library,
            result="return", zones=len(self.open_zones),
        )  # fmt: skip

    @staticmethod
    def count_stores(tree):
        """How often a function's body assigns each name."""
        return Counter(
            node.id for node in own_nodes(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )

    @staticmethod
    def _returns(tree):
        return [node for node in own_nodes(tree) if isinstance(node, ast.Return)]

    def _bind_parameters(self, node, tree, inner, positional, keywords):
        """Evaluate the arguments in the caller, bind them in the helper; unchanged names and constants are not copied."""
        arguments = tree.args
        if arguments.vararg or arguments.kwarg or arguments.posonlyargs or arguments.kwonlyargs:
            self.refuse(node, f"{tree.name}: a device function takes plain parameters")
        names = [argument.arg for argument in arguments.args]
        defaults = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True))
        params = {name: defaults.get(name, REQUIRED) for name in names}
        bound = self.bind_arguments(node, tree.name, params, positional, keywords)
        values = {name: self.value_of(argument) for name, argument in bound.items()}
        caller, self.scope = self.scope, inner
        for name in names:
            value = values[name] if name in values else self.expression(defaults[name])
            fields = value.fields if isinstance(value, Record) else (value,)
            if inner.stores[name] == 0 and all(item.is_atom for item in fields):
                inner.names[name] = value
            else:
                inner.stores[name] += 1
                self.bind(name, value, node)
        self.scope = caller

    def _returned(self, node, tree, inner, returns):
        """The value of an inlined helper, None if it has none."""
        if all(statement.value is None for statement in returns):
            return None
        if not always_returns(tree.body):
            self.refuse(node, f"{tree.name} may end without returning a value")
        value = inner.names.get("return")
        return None if value is None else self.read(value)


def call_names():
    """Names of all calls that a kernel may make."""
    special = (name.removeprefix("_call_") for name in dir(Calls) if name.startswith("_call_"))
    names = {*special, *OPERATIONS, *VALUES, *GENERATORS, *PAGE_CALLS, *SHARD_CALLS, *library()}
    return sorted(name for name in names if not name.startswith("_"))
