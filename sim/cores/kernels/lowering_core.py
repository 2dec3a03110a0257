"""Calls of any kernel that no table describes: constants, profiler zones, plain instructions, assertions."""

import ast
import struct

from tensim.sim.cores.kernels.api import ANY_ROLE, parameters
from tensim.sim.cores.kernels.lowering_part import Part
from tensim.sim.cores.kernels.lowering_values import Int, literal
from tensim.sim.cores.operations import Op
from tensim.sim.cores.print_log import MAX_VALUES, check_text

MAX_NOPS, NOPS_CHARGED = 1 << 16, 2048  # of one call; at once: a count of plain code has 12 bits


class CoreCalls(Part):
    """Calls that the compiler answers, and those that cost time or end the kernel."""

    def call_get_named_compile_time_arg_val(self, node, positional, keywords):
        name = self.arguments.literal_text(node, "get_named_compile_time_arg_val", positional, keywords)
        if name in self.emitter.named_args:
            return literal(self.emitter.named_args[name])
        if self.emitter.lenient:
            return Int("0", free=True)
        given = ", ".join(self.emitter.named_args) or "none"
        self.emitter.refuse(node, f"no named compile-time argument {name!r}", f"given: {given}")

    def call_float_bits(self, node, positional, keywords):
        """Bit pattern of a float32 constant: a literal, or a number of the kernel's module."""
        argument = positional[0] if len(positional) == 1 else None
        try:
            named = isinstance(argument, (ast.Name, ast.Attribute)) and not self.expressions.is_local(argument)
            value = self.emitter.scope.names_outside.resolve(argument) if named else ast.literal_eval(argument)
            return literal(struct.unpack("<I", struct.pack("<f", value))[0])
        except (ValueError, TypeError, OverflowError, struct.error):
            if self.emitter.lenient and isinstance(argument, ast.Name):
                return Int("0", free=True)
            self.emitter.refuse(node, "float_bits takes one constant number that a float32 can hold")

    def call_DeviceZoneScopedN(self, node, positional, keywords):
        """Open a profiler zone that ends with the block it stands in."""
        name = self.arguments.literal_text(node, "DeviceZoneScopedN", positional, keywords)
        if name not in self.emitter.zones:
            self.emitter.zones.append(name)
        zone = self.emitter.zones.index(name)
        self.emitter.post([(ANY_ROLE, Op.ZONE_BEGIN, [str(zone)])])
        self.emitter.open_zones.append(zone)

    def call_DPRINT(self, node, positional, keywords):
        """Print a line: a literal text with a replacement field for each value."""
        text = getattr(positional[0], "value", None) if positional and not keywords else None
        if not isinstance(text, str):
            self.emitter.refuse(node, "DPRINT takes one literal text, and the values for its fields")
        values = [self.expressions.integer(value).text for value in positional[1:]]
        if len(values) > MAX_VALUES:
            self.emitter.refuse(node, f"DPRINT takes up to {MAX_VALUES} values")
        try:
            check_text(text, len(values))
        except (ValueError, IndexError, KeyError) as error:
            self.emitter.refuse(node, f"the text of DPRINT does not fit {len(values)} values: {error}")
        if text not in self.emitter.messages:
            self.emitter.messages.append(text)
        number = self.emitter.messages.index(text)
        self.emitter.post([(ANY_ROLE, Op.PRINT, [str(number), *values])])

    def call_riscv_nop(self, node, positional, keywords):
        """riscv_nop(count=1): that many `nop` in a row, each 4 bytes of the binary and a cycle where it runs."""
        count = self.arguments.integers(node, "riscv_nop", parameters("count=1"), positional, keywords)[
            "count"
        ].constant
        if count is None and self.emitter.lenient:
            return
        if count is None or not 0 <= count <= MAX_NOPS:
            self.emitter.refuse(
                node, f"riscv_nop takes a number up to {MAX_NOPS} that is known when the kernel is compiled"
            )
        for done in range(0, count, NOPS_CHARGED):
            self.emitter.cost("alu", count=min(NOPS_CHARGED, count - done))
            self.emitter.flush()

    def call_ASSERT(self, node, positional, keywords):
        if len(positional) != 1 or keywords:
            self.emitter.refuse(node, "ASSERT takes one condition")
        self.statements.check(node, positional[0], None)
