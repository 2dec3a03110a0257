"""Tensor accessors: the calls that make them, their methods, and the description of their distribution."""

from tensim.sim.cores.kernels.api import VALUES, parameters
from tensim.sim.cores.kernels.lowering_expressions import merged
from tensim.sim.cores.kernels.lowering_part import Part
from tensim.sim.cores.kernels.lowering_values import Int, Record, literal


class TensorAccessors(Part):
    """Calls that make tensor accessors and their arguments, and the methods of both."""

    def call_TensorAccessorArgs(self, node, positional, keywords):
        values = self.arguments.integers(
            node, "TensorAccessorArgs", parameters("cta_base=0 crta_base=0"), positional, keywords
        )
        return Record("accessor_args", tuple(self.variables.atom(value) for value in values.values()))

    def call_TensorAccessor(self, node, positional, keywords):
        params = parameters("args bank_base_address page_size")
        values = self.arguments.values(node, "TensorAccessor", params, positional, keywords)
        args = values["args"]
        if not (isinstance(args, Record) and args.kind == "accessor_args"):
            if self.emitter.lenient:
                return Record("unknown", ())
            self.emitter.refuse(node, "TensorAccessor needs TensorAccessorArgs(first compile-time argument)")
        fields = (self.expressions.as_integer(values[key], node) for key in ("bank_base_address", "page_size"))
        return Record("accessor", (args["first"], *(self.variables.atom(value) for value in fields)))

    def method_accessor_get_shard_noc_addr(self, node, value, positional, keywords):
        bound = self.arguments.values(
            node, "get_shard_noc_addr", parameters("shard_id offset=0 noc=NOC"), positional, keywords
        )
        self.addresses.charge_page_address()
        return self.addresses.shard_address(node, value, bound["shard_id"], bound["offset"], bound["noc"])

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
        return self._is_local_tile(self.addresses.page_address(node, value, page, literal(0), literal(0)))

    def method_accessor_is_local_shard(self, node, value, positional, keywords):
        shard = self.arguments.values(node, "is_local_shard", parameters("shard_id"), positional, keywords)["shard_id"]
        return self._is_local_tile(self.addresses.shard_address(node, value, shard, literal(0), literal(0)))

    def method_accessor_get_bank_and_offset(self, node, value, positional, keywords):
        """(bank, byte offset there) of a page."""
        page = self.arguments.integers(node, "get_bank_and_offset", parameters("page"), positional, keywords)["page"]
        page = self.variables.atom(page)
        first, _, size = value.fields
        bank = merged(f"page_bank(ctx, {page.number}, {first.text}, {self.emitter.line})", page, first)
        text = f"page_offset(ctx, {page.number}, {first.text}, {size.text}, {self.emitter.line})"
        return Record("tuple", (bank, merged(text, page, first, size)))

    def method_accessor_dspec(self, node, value, positional, keywords):
        return Record("dspec", (value["first"],))

    def method_accessor_args_next_compile_time_args_offset(self, node, value, positional, keywords):
        first = value["first"]
        text = f"({first.text} + accessor_length(ctx, {first.text}, {{line}}))"
        return Int(self.variables.hoist_at_line(text), free=True) if self._is_fixed(first) else merged(text, first)

    def _is_fixed(self, value):
        """Whether a value may stand at the start of the kernel."""
        return value.constant is not None or value.text in self.variables.hoisted.values()

    def method_accessor_args_num_compile_time_args(self, node, value, positional, keywords):
        first = value["first"]
        return merged(f"accessor_length(ctx, {first.text}, {self.emitter.line})", first)

    def method_accessor_args_next_common_runtime_args_offset(self, node, value, positional, keywords):
        return value["common"]


class Distributions(Part):
    """Methods of `accessor.dspec()`."""

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
