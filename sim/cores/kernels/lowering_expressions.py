"""Expressions of the kernel language: integer arithmetic, names, pointers; operations inside them are taken out first."""

import ast
import operator

from tensim.sim.cores.kernels.api import VALUES
from tensim.sim.cores.kernels.lowering_budget import DEFINE_STEP
from tensim.sim.cores.kernels.lowering_part import Part
from tensim.sim.cores.kernels.lowering_values import RECORDS, Int, Record, literal
from tensim.sim.cores.kernels.names import CLASSES, CONSTANTS, INT64, DeviceFunction, did_you_mean, parse_define

# Attributes of get_local_cb_interface(cb)
CB_ATTRIBUTES = {
    "fifo_page_size": "get_entry_size", "fifo_num_pages": "_num_pages", "fifo_size": "_size",
    "fifo_rd_ptr": "get_read_ptr", "fifo_wr_ptr": "get_write_ptr",
}  # fmt: skip
INT64_BITS = 64
BINARY = {
    ast.Add: ("+", operator.add), ast.Sub: ("-", operator.sub), ast.Mult: ("*", operator.mul),
    ast.FloorDiv: ("//", operator.floordiv), ast.Mod: ("%", operator.mod), ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift), ast.BitAnd: ("&", operator.and_), ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
}  # fmt: skip
WRAPPING = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply"}  # of `kernel_runtime`
COMPARE = {
    ast.Eq: ("==", operator.eq), ast.NotEq: ("!=", operator.ne), ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le), ast.Gt: (">", operator.gt), ast.GtE: (">=", operator.ge),
}  # fmt: skip


def is_power_of_two(value):
    return value is not None and value > 0 and value & (value - 1) == 0


def wrapped(value):
    """What a 64-bit signed integer keeps of a value, as arithmetic at run time does."""
    half = 1 << (INT64_BITS - 1)
    return (value + half) % (2 * half) - half


def merged(text, *values, boolean=False):
    """A value computed from others: what is known about them carries over."""
    return Int(
        text,
        free=all(value.free for value in values),
        taint=next((value.taint for value in values if value.taint), 0),
        control=any(value.control for value in values),
        boolean=boolean,
    )


class Expressions(Part):
    """`expression`: the value of a syntax tree, with the lines it needs emitted before."""

    def expression(self, node):
        """An Int or a Record."""
        handler = getattr(self, f"_expr_{type(node).__name__}", None)
        if handler is None:
            self.emitter.refuse(node, f"{type(node).__name__} is not part of the kernel language")
        self.emitter.budget.term()
        return handler(node)

    def integer(self, node):
        """The value of an expression that must be an integer; pointers and the like give their address or index."""
        return self.as_integer(self.expression(node), node)

    def as_integer(self, value, node):
        if isinstance(value, Int):
            return value
        if value.kind in ("pointer", "circular_buffer", "semaphore", "noc"):
            return value.fields[0]
        if value.kind == "unknown":
            return Int("0")
        self.emitter.refuse(node, f"{value.title} cannot be used as an integer")

    def _expr_Constant(self, node):
        if not isinstance(node.value, (bool, int)):
            hint = "float_bits(1.5) gives the bits of a float32" if isinstance(node.value, float) else None
            self.emitter.refuse(node, f"a {type(node.value).__name__} is not part of the kernel language", hint)
        if node.value not in INT64:
            self.emitter.refuse(node, f"{node.value} does not fit in 64 bits")
        return literal(node.value)

    # --- names

    def _expr_Name(self, node):
        name, scope = node.id, self.emitter.scope
        if name in scope.names:
            self.variables.require(name)
            return self.variables.read(scope.names[name])
        if scope.is_library and name.startswith("state_"):
            return self.variables.state(name.removeprefix("state_"))
        if name in scope.stores:
            return self._assigned_later(node)
        if name in self.emitter.defines:
            return self.expression(self.define_expression(node))
        value = scope.names_outside.resolve(node)
        if isinstance(value, int):
            return literal(value)
        if name in CONSTANTS:
            return literal(CONSTANTS[name])
        if name in VALUES and not VALUES[name].parameters:
            return self.operations.value_call(node, VALUES[name], {})
        if isinstance(value, DeviceFunction):
            self.emitter.refuse(node, f"{name} is a device function: it can only be called")
        if self.emitter.lenient:
            return Record("unknown", ())
        hint = "a kernel sees its parameters and variables, integer constants of its module, and defines"
        self.emitter.refuse(node, f"unknown name {name!r}", did_you_mean(name, [*scope.names, *CONSTANTS]) or hint)

    def _assigned_later(self, node):
        """A name that the body assigns further down: fine in a loop, where an earlier round may have assigned it."""
        variable = self.emitter.scope.prefix + node.id
        if not self.emitter.scope.loops:
            self.emitter.refuse(node, f"{node.id} is used before it is assigned")
        self.variables.require(node.id)
        shape = self.emitter.facts.shapes.get(variable)
        if shape is None:
            self.emitter.facts.uncontrolled.add(variable)
            return self.variables.read(Int(variable))
        kind, types, count = shape
        return self.variables.read(Record(kind, tuple(Int(f"f{i}_{variable}") for i in range(count)), types))

    def define_expression(self, node):
        """The syntax tree of a define's text, placed at `node`."""
        text = parse_define(self.emitter.defines[node.id])
        self.emitter.budget.step(len(text) // DEFINE_STEP)
        try:
            tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.emitter.refuse(node, f"define {node.id}={text!r} is not an expression")
        for child in ast.walk(tree):
            ast.copy_location(child, node)
            if isinstance(child, ast.Name) and child.id == node.id:
                self.emitter.refuse(node, f"define {node.id} refers to itself")
        return tree

    def _expr_Attribute(self, node):
        if (
            isinstance(node.value, ast.Call)
            or isinstance(node.value, ast.Name)
            and node.value.id in self.emitter.scope.names
        ):
            return self._attribute(self.expression(node.value), node)
        value = self.emitter.scope.names_outside.resolve(node)
        if isinstance(value, int):
            return literal(value)
        if isinstance(node.value, ast.Name) and node.attr in CLASSES.get(node.value.id, {}):
            return literal(CLASSES[node.value.id][node.attr])
        if self.emitter.lenient:
            return Record("unknown", ())
        self.emitter.refuse(node, f"{ast.unparse(node)} is not an integer constant")

    def _attribute(self, owner, node):
        """A field of a record, or a property of a circular buffer."""
        if isinstance(owner, Record):
            if node.attr in RECORDS.get(owner.kind, ()):
                return owner[node.attr]
            if owner.kind == "circular_buffer" and node.attr in CB_ATTRIBUTES:
                return self.operations.value_call(node, VALUES[CB_ATTRIBUTES[node.attr]], {"cb": owner["id"]})
            if owner.kind == "unknown":
                return owner
        self.emitter.refuse(node, f"{ast.unparse(node.value)} has no attribute {node.attr!r}")

    # --- arithmetic

    def _expr_BinOp(self, node):
        left, right = self.expression(node.left), self.expression(node.right)
        if isinstance(left, Record) and left.kind == "pointer" and isinstance(node.op, (ast.Add, ast.Sub)):
            return self._move_pointer(left, node.op, self.as_integer(right, node), node)
        return self.binary(node.op, self.as_integer(left, node), self.as_integer(right, node), node)

    def _move_pointer(self, pointer, op, count, node):
        """Pointer arithmetic counts in elements, as in C."""
        offset = self.binary(ast.Mult(), count, literal(pointer.type[0]), node)
        return Record("pointer", (self.binary(op, pointer["address"], offset, node),), pointer.type)

    def binary(self, op, left, right, node):
        """left op right, folded when both are constants."""
        if isinstance(op, ast.Pow):
            return self._power(left, right, node)
        if type(op) not in BINARY:
            hint = "// divides integers" if isinstance(op, ast.Div) else None
            self.emitter.refuse(node, f"the operator {type(op).__name__} is not part of the kernel language", hint)
        text, function = BINARY[type(op)]
        divides = isinstance(op, (ast.FloorDiv, ast.Mod))
        if divides and right.constant == 0:
            self.emitter.refuse(node, "division by zero")
        if isinstance(op, (ast.LShift, ast.RShift)) and not 0 <= (right.constant or 0) < INT64_BITS:
            self.emitter.refuse(node, f"a shift by {right.constant}: integers of a kernel have {INT64_BITS} bits")
        if left.constant is not None and right.constant is not None:
            return literal(wrapped(function(left.constant, right.constant)))
        multiplies = self._cost_of(op, left, right) == "mul" and not divides
        if divides and right.constant is None:
            helper = "floor_div" if isinstance(op, ast.FloorDiv) else "floor_mod"
            return merged(f"{helper}(ctx, {left.number}, {right.number}, {self.emitter.line})", left, right)
        if type(op) in WRAPPING:
            result = merged(f"{WRAPPING[type(op)]}({left.number}, {right.number})", left, right)
            if multiplies and not result.free:
                self.emitter.products.add(result.text)
            return result
        return merged(f"({left.number} {text} {right.number})", left, right)

    def _power(self, left, right, node):
        base, exponent = left.constant, right.constant
        if base is None or exponent is None or exponent < 0 or base.bit_length() * exponent > 64:
            self.emitter.refuse(node, "** needs small constants", "x * x, or << for powers of two")
        if base**exponent not in INT64:
            self.emitter.refuse(node, f"{base} ** {exponent} does not fit in 64 bits")
        return literal(base**exponent)

    def _cost_of(self, op, left, right):
        """Charge what an RV32IM core needs: shifts and masks for powers of two, the multiplier for other constants."""
        simple, kind = is_power_of_two(right.constant), "alu"
        if isinstance(op, (ast.FloorDiv, ast.Mod)) and not simple:
            kind = "div" if right.constant is None else "mul"
        elif isinstance(op, ast.Mult) and not (simple or is_power_of_two(left.constant)):
            kind = "mul"
        self.emitter.cost(kind, left, right)
        return kind

    def _expr_UnaryOp(self, node):
        value = self.integer(node.operand)
        if isinstance(node.op, ast.Not):
            if value.constant is not None:
                return literal(not value.constant)
            self.emitter.cost("alu", value)
            return merged(f"(not {value.text})", value, boolean=True)
        if isinstance(node.op, ast.UAdd):
            return value
        if value.constant is not None:
            return literal(wrapped(-value.constant if isinstance(node.op, ast.USub) else ~value.constant))
        self.emitter.cost("alu", value)
        text = f"subtract(0, {value.number})" if isinstance(node.op, ast.USub) else f"(-1 ^ {value.number})"
        return merged(text, value)

    def _expr_Compare(self, node):
        values = [self.integer(node.left)]
        for comparator in node.comparators:
            before = self.emitter.yields
            values.append(self.integer(comparator))
            if len(values) > 2 and self.emitter.yields > before:
                self.emitter.refuse(
                    node, "a chained comparison cannot contain an operation", "write it as two comparisons"
                )
            if comparator is not node.comparators[-1]:
                values[-1] = self.variables.atom(values[-1])
        results = []
        for op, left, right in zip(node.ops, values, values[1:], strict=False):
            if type(op) not in COMPARE:
                self.emitter.refuse(node, f"the comparison {type(op).__name__} is not part of the kernel language")
            text, function = COMPARE[type(op)]
            if left.constant is not None and right.constant is not None:
                results.append(literal(function(left.constant, right.constant)))
            else:
                if node is self.emitter.fused:
                    self.emitter.use(left, right)
                else:
                    self.emitter.cost("alu", left, right)
                results.append(merged(f"({left.number} {text} {right.number})", left, right, boolean=True))
        return self._all_of(results)

    def branch_test(self, node):
        """The value a branch or a loop depends on.  One comparison is part of the branch instruction, as RV32I has it."""
        self.emitter.fused = node if isinstance(node, ast.Compare) and len(node.ops) == 1 else None
        test = self.integer(node)
        self.emitter.use(test)
        return test

    def _all_of(self, values):
        if any(value.constant == 0 for value in values):
            return literal(0)
        rest = [value for value in values if value.constant is None]
        if len(rest) <= 1:
            return rest[0] if rest else literal(1)
        return merged(f"({' and '.join(value.text for value in rest)})", *rest, boolean=True)

    # --- expressions with branches

    def _expr_BoolOp(self, node):
        """`and` / `or` with Python's short circuit; a plain expression when no operand contains an operation."""
        is_and = isinstance(node.op, ast.And)
        value = self.integer(node.values[0])
        for operand in node.values[1:]:
            if value.constant is not None:
                if bool(value.constant) != is_and:
                    return value
                value = self.integer(operand)
            else:
                value = self._short_circuit(is_and, value, operand)
        return value

    def _short_circuit(self, is_and, left, operand):
        with self.emitter.capture() as captured:
            right = self.integer(operand)
        self.emitter.cost("branch", left)
        self.emitter.decide(left, "a branch")
        if captured.is_pure:
            self.emitter.charge(captured)
            if right.constant is not None and bool(right.constant) == is_and and left.boolean:
                return left
            boolean = left.boolean and right.boolean
            left_text, right_text = (v.text if boolean else v.number for v in (left, right))
            return merged(f"({left_text} {'and' if is_and else 'or'} {right_text})", left, right, boolean=boolean)
        result = self.variables.kept(left)
        self.emitter.flush()
        self.emitter.emit(f"if {result.text}:" if is_and else f"if not {result.text}:")
        with self.emitter.block():
            self.emitter.replay(captured)
            self.variables.store(result.text, right, single=False)
        return merged(result.text, left, right)

    def _expr_IfExp(self, node):
        test = self.integer(node.test)
        if test.constant is not None:
            return self.expression(node.body if test.constant else node.orelse)
        self.emitter.decide(test, "a branch")
        with self.emitter.capture() as first:
            yes = self.integer(node.body)
        with self.emitter.capture() as second:
            no = self.integer(node.orelse)
        self.emitter.cost("branch", test)
        if first.is_pure and second.is_pure:
            self.emitter.await_loads(first.used | second.used)
            self.emitter.pending.update(first.pending | second.pending)
            return merged(f"({yes.number} if {test.text} else {no.number})", test, yes, no)
        result = self.variables.temporary()
        self.emitter.flush()
        self.emitter.emit(f"if {test.text}:")
        for captured, value in ((first, yes), (second, no)):
            with self.emitter.block():
                self.emitter.replay(captured)
                self.variables.store(result, value, single=False)
            if captured is first:
                self.emitter.emit("else:")
        return merged(result, test, yes, no)

    # --- memory

    def _expr_Subscript(self, node):
        if isinstance(node.value, ast.Name) and node.value.id in ("my_x", "my_y"):
            return self.operations.value_call(node, VALUES[node.value.id], {"noc": self.integer(node.slice)})
        value = self.expression(node.value)
        if isinstance(value, Record) and value.kind == "shape":
            return self.distributions.dimension(value, self.integer(node.slice))
        return self.elements.load(*self.elements.element_of(value, node), node)

    # --- calls

    def _expr_Call(self, node):
        value = self.calls.call(node)
        if value is None:
            self.emitter.refuse(node, f"{ast.unparse(node.func)} has no value")
        return value

    def is_local(self, node):
        """Whether name.attribute... starts at a variable of the kernel."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return (
            not isinstance(node, ast.Name)
            or node.id in self.emitter.scope.names
            or node.id in self.emitter.scope.stores
        )
