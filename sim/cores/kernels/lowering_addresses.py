"""Where pages of address generators and tensor accessors and shards lie, and the transfers of whole ones."""

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
SHARD_CALLS = {"noc_async_read_shard": "shard_id gen dst noc=NOC", "noc_async_write_shard": "shard_id gen src noc=NOC"}


class Addresses(Part):
    """Calls that make address generators, those that take them or accessors, and methods of generators."""

    def generator(self, node, name, positional, keywords):
        values = self.arguments.integers(node, name, parameters(GENERATORS[name]), positional, keywords)
        base, page, dram = list(values.values())[0], list(values.values())[1], values["dram"]
        if "Pow2" in name:
            page = self.expressions.binary(ast.LShift(), literal(1), page, node)
        page, dram = self.variables.atom(page), self.variables.atom(dram)
        self.emitter.cost("alu", page, count=3)
        stride = merged(f"aligned_page(ctx, {page.text}, {dram.text})", page, dram)
        return Record("interleaved", (base, page, self.variables.atom(stride), dram))

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
