"""Address generators and tensor accessors: where pages and shards lie, and the transfers of whole ones."""

import ast

from tensim.sim.cores.kernels.api import VALUES, parameters
from tensim.sim.cores.kernels.lowering_expressions import merged
from tensim.sim.cores.kernels.lowering_part import Part
from tensim.sim.cores.kernels.lowering_values import Int, Record, literal

PAGE_ADDRESS = {"alu": 4, "mul": 1, "load": 2}  # instructions of one page-to-bank calculation
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


class Addresses(Part):
    """Calls that make address generators and accessors or take them, and their methods."""

    def generator(self, node, name, positional, keywords):
        values = self.arguments.integers(node, name, parameters(GENERATORS[name]), positional, keywords)
        base, page, dram = list(values.values())[0], list(values.values())[1], values["dram"]
        if "Pow2" in name:
            page = self.expressions.binary(ast.LShift(), literal(1), page, node)
        page, dram = self.emitter.atom(page), self.emitter.atom(dram)
        self.emitter.cost("alu", page, count=3)
        stride = merged(f"aligned_page(ctx, {page.text}, {dram.text})", page, dram)
        return Record("interleaved", (base, page, self.emitter.atom(stride), dram))

    def call_TensorAccessorArgs(self, node, positional, keywords):
        values = self.arguments.integers(
            node, "TensorAccessorArgs", parameters("cta_base=0 crta_base=0"), positional, keywords
        )
        return Record("accessor_args", tuple(self.emitter.atom(value) for value in values.values()))

    def call_TensorAccessor(self, node, positional, keywords):
        params = parameters("args bank_base_address page_size")
        values = self.arguments.values(node, "TensorAccessor", params, positional, keywords)
        args = values["args"]
        if not (isinstance(args, Record) and args.kind == "accessor_args"):
            if self.emitter.lenient:
                return Record("unknown", ())
            self.emitter.refuse(node, "TensorAccessor needs TensorAccessorArgs(first compile-time argument)")
        fields = (self.expressions.as_integer(values[key], node) for key in ("bank_base_address", "page_size"))
        return Record("accessor", (args["first"], *(self.emitter.atom(value) for value in fields)))

    def page_address(self, node, generator, page, offset, noc):
        """Address of a page of an address generator or tensor accessor on a NoC."""
        page, offset, noc = (self.expressions.as_integer(value, node) for value in (page, offset, noc))
        if isinstance(generator, Record) and generator.kind == "interleaved":
            base, _, stride, dram = generator.fields
            parts = [page, base, stride, dram, offset, noc]
            name = "interleaved_address"
        elif isinstance(generator, Record) and generator.kind == "accessor":
            parts = [page, *generator.fields, offset, noc]
            name = "accessor_address"
        elif isinstance(generator, Record) and generator.kind == "unknown":
            return Int("0")
        else:
            self.emitter.refuse(node, "this call needs an address generator or a tensor accessor")
        texts = ", ".join(part.number for part in parts)
        return merged(f"{name}(ctx, {texts}, {self.emitter.line})", *parts)

    def call_get_noc_addr(self, node, positional, keywords):
        """get_noc_addr(x, y, addr, noc), (addr, noc) or (page, generator, offset, noc)."""
        values = [self.arguments.value_of(argument) for argument in positional]
        generator = len(values) > 1 and isinstance(values[1], Record)
        if generator or "gen" in keywords:
            bound = self.arguments.values(node, "get_noc_addr", parameters("id gen offset=0 noc=NOC"), values, keywords)
            self.charge_page_address()
            return self.page_address(node, bound["gen"], bound["id"], bound["offset"], bound["noc"])
        if len(values) + len(keywords) < 3:
            bound = self.arguments.integers(node, "get_noc_addr", parameters("addr noc=NOC"), values, keywords)
            return self.operations.value_call(node, VALUES["_own_address"], {"addr": bound["addr"]})
        bound = self.arguments.integers(node, "get_noc_addr", parameters("x y addr noc=NOC"), values, keywords)
        return self.operations.value_call(
            node, VALUES["_tile_address"], {key: bound[key] for key in ("x", "y", "addr")}
        )

    def charge_page_address(self):
        """Charge the calculation of one page's place."""
        for kind, count in PAGE_ADDRESS.items():
            self.emitter.cost(kind, count=count)

    def page_call(self, node, name, positional, keywords):
        """noc_async_{read,write}_{page,tile}: the issue cost of the operation includes the address arithmetic."""
        bound = self.arguments.values(node, name, parameters(PAGE_CALLS[name]), positional, keywords)
        generator = bound["gen"]
        offset = self.expressions.as_integer(bound.get("offset", literal(0)), node)
        address = self.page_address(node, generator, bound["id"], offset, bound["noc"])
        size = self.expressions.as_integer(bound.get("size", literal(0)), node)
        if size.constant == 0:
            page = Int("0") if generator.kind == "unknown" else generator["page_size"]
            size = page if offset.constant == 0 else self.expressions.binary(ast.Sub(), page, offset, node)
        if "dst" in bound:
            return self.operations.api_operation(node, "_read_page", address, bound["dst"], size, bound["noc"])
        return self.operations.api_operation(node, "_write_page", bound["src"], address, size, bound["noc"])

    def shard_call(self, node, name, positional, keywords):
        """noc_async_{read,write}_shard: one contiguous transfer of a whole shard."""
        bound = self.arguments.values(node, name, parameters(SHARD_CALLS[name]), positional, keywords)
        accessor = bound["gen"]
        if isinstance(accessor, Record) and accessor.kind == "unknown":
            return None
        address = self.shard_address(node, accessor, bound["shard_id"], literal(0), bound["noc"])
        first, _, page = accessor.fields
        size = merged(f"shard_bytes(ctx, {first.text}, {page.text}, {self.emitter.line})", first, page)
        if "dst" in bound:
            return self.operations.api_operation(node, "_read_page", address, bound["dst"], size, bound["noc"])
        return self.operations.api_operation(node, "_write_page", bound["src"], address, size, bound["noc"])

    def shard_address(self, node, accessor, shard, offset, noc):
        """Address of a shard of a tensor accessor on a NoC."""
        if not (isinstance(accessor, Record) and accessor.kind == "accessor"):
            self.emitter.refuse(node, "this call needs a tensor accessor")
        shard, noc = self.expressions.as_integer(shard, node), self.expressions.as_integer(noc, node)
        first, base, page = accessor.fields
        start = self.expressions.binary(ast.Add(), base, self.expressions.as_integer(offset, node), node)
        texts = f"{shard.number}, {first.text}, {page.text}, {start.number}, {noc.number}"
        return merged(f"shard_address(ctx, {texts}, {self.emitter.line})", shard, first, page, start, noc)

    def method_interleaved_get_noc_addr(self, node, value, positional, keywords):
        bound = self.arguments.values(node, "get_noc_addr", parameters("id offset=0 noc=NOC"), positional, keywords)
        self.charge_page_address()
        return self.page_address(node, value, bound["id"], bound["offset"], bound["noc"])

    method_accessor_get_noc_addr = method_interleaved_get_noc_addr

    def method_accessor_get_shard_noc_addr(self, node, value, positional, keywords):
        bound = self.arguments.values(
            node, "get_shard_noc_addr", parameters("shard_id offset=0 noc=NOC"), positional, keywords
        )
        self.charge_page_address()
        return self.shard_address(node, value, bound["shard_id"], bound["offset"], bound["noc"])

    def method_accessor_get_aligned_page_size(self, node, value, positional, keywords):
        first, _, page = value.fields
        return merged(f"accessor_page(ctx, {first.text}, {page.text}, {self.emitter.line})", first, page)

    def method_accessor_get_bank_base_address(self, node, value, positional, keywords):
        return value["base"]

    def _is_local_tile(self, address):
        """1 when a NoC address names this core."""
        return merged(f"is_own_tile(ctx, {address.number})", address)

    def method_accessor_is_local_addr(self, node, value, positional, keywords):
        return self._is_local_tile(
            self.arguments.integers(node, "is_local_addr", parameters("addr"), positional, keywords)["addr"]
        )

    def method_accessor_is_local_bank(self, node, value, positional, keywords):
        bound = self.arguments.integers(node, "is_local_bank", parameters("x y"), positional, keywords)
        return self._is_local_tile(
            self.operations.value_call(node, VALUES["_tile_address"], {**bound, "addr": literal(0)})
        )

    def method_accessor_is_local_page(self, node, value, positional, keywords):
        page = self.arguments.values(node, "is_local_page", parameters("page"), positional, keywords)["page"]
        return self._is_local_tile(self.page_address(node, value, page, literal(0), literal(0)))

    def method_accessor_is_local_shard(self, node, value, positional, keywords):
        shard = self.arguments.values(node, "is_local_shard", parameters("shard_id"), positional, keywords)["shard_id"]
        return self._is_local_tile(self.shard_address(node, value, shard, literal(0), literal(0)))

    def method_accessor_get_bank_and_offset(self, node, value, positional, keywords):
        """(bank, byte offset there) of a page."""
        page = self.arguments.integers(node, "get_bank_and_offset", parameters("page"), positional, keywords)["page"]
        page = self.emitter.atom(page)
        first, _, size = value.fields
        bank = merged(f"page_bank(ctx, {page.number}, {first.text}, {self.emitter.line})", page, first)
        text = f"page_offset(ctx, {page.number}, {first.text}, {size.text}, {self.emitter.line})"
        return Record("tuple", (bank, merged(text, page, first, size)))

    def method_accessor_dspec(self, node, value, positional, keywords):
        return Record("dspec", (value["first"],))

    def _described(self, value, function, *arguments):
        """What a compiled function tells of a sharded accessor's words."""
        first = value["first"]
        texts = ", ".join([first.text, *map(str, arguments), str(self.emitter.line)])
        return merged(f"{function}(ctx, {texts})", first)

    def method_dspec_rank(self, node, value, positional, keywords):
        return self._described(value, "accessor_rank")

    def method_dspec_num_banks(self, node, value, positional, keywords):
        return self._described(value, "accessor_banks")

    def method_dspec_tensor_shape(self, node, value, positional, keywords):
        return Record("shape", (value["first"], literal(0)))

    def method_dspec_shard_shape(self, node, value, positional, keywords):
        return Record("shape", (value["first"], literal(1)))

    def dimension(self, value, index):
        """Size in pages of a dimension of a shape."""
        first, of_shard = value.fields
        text = f"dimension(ctx, {first.text}, {of_shard.number}, {index.number}, {self.emitter.line})"
        return merged(text, first, index)

    def method_dspec_tensor_volume(self, node, value, positional, keywords):
        return self._described(value, "accessor_volume", 0)

    def method_dspec_shard_volume(self, node, value, positional, keywords):
        return self._described(value, "accessor_volume", 1)

    def method_accessor_args_next_compile_time_args_offset(self, node, value, positional, keywords):
        first = value["first"]
        text = f"({first.text} + accessor_length(ctx, {first.text}, {{line}}))"
        return Int(self.emitter.hoist_at_line(text), free=True) if self._is_fixed(first) else merged(text, first)

    def _is_fixed(self, value):
        """Whether a value may stand at the start of the kernel."""
        return value.constant is not None or value.text in self.emitter.hoisted.values()

    def method_accessor_args_num_compile_time_args(self, node, value, positional, keywords):
        first = value["first"]
        return merged(f"accessor_length(ctx, {first.text}, {self.emitter.line})", first)

    def method_accessor_args_next_common_runtime_args_offset(self, node, value, positional, keywords):
        return value["common"]
