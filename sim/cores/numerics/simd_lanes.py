"""Sixteen 32-bit integers computed at once: expressions of `Lanes` become LLVM vector instructions.

The bit-exact arithmetic of the Tensix engine is written in these, one row of a face (16 datums) at a time.  Arithmetic
wraps at 32 bits; comparisons and `>>` are signed, `shift_right` is not.  A Python int or a scalar of the lane (any integer
type) stands for sixteen equal values.  Shift counts must lie in 0..31.
"""

from tensim.sim.engine.compiled import Intrinsic, LazyModule, cgutils, ir, types

ROW = 16
kinds = LazyModule("tensim.sim.cores.numerics.lane_types")


class Lanes:
    """A vector of sixteen int32, or of sixteen truth values (the result of a comparison)."""

    def __init__(self, builder, value):
        self.builder, self.value = builder, value

    # --- making and storing

    @classmethod
    def splat(cls, builder, value):
        """Sixteen times the same number: a Python int, a scalar of the lane or one lane's value."""
        if isinstance(value, int):
            return cls(builder, ir.Constant(kinds.WORDS, [value & 0xFFFFFFFF] * ROW))
        if value.type != kinds.WORD:
            value = builder.trunc(value, kinds.WORD)
        undefined = ir.Constant(kinds.WORDS, ir.Undefined)
        first = builder.insert_element(undefined, value, ir.Constant(kinds.WORD, 0))
        return cls(builder, builder.shuffle_vector(first, undefined, ir.Constant(kinds.WORDS, [0] * ROW)))

    @classmethod
    def constant(cls, builder, values):
        """Sixteen Python ints."""
        return cls(builder, ir.Constant(kinds.WORDS, [value & 0xFFFFFFFF for value in values]))

    @classmethod
    def load(cls, builder, address, offset=0, bits=32):
        """Sixteen integers of `bits` bits each at a host address (unaligned), zero-extended."""
        kind = ir.VectorType(ir.IntType(bits), ROW)
        value = builder.load(_pointer(builder, address, offset, kind), align=1)
        return cls(builder, value if bits == 32 else builder.zext(value, kinds.WORDS))

    @classmethod
    def load_word(cls, builder, address, offset=0):
        """The 32-bit word at a host address, sixteen times."""
        return cls.splat(builder, builder.load(_pointer(builder, address, offset, kinds.WORD), align=1))

    def store(self, address, offset=0, bits=32):
        """Store the low `bits` bits of each lane at a host address (unaligned)."""
        kind = ir.VectorType(ir.IntType(bits), ROW)
        value = self.value if bits == 32 else self.builder.trunc(self.value, kind)
        self.builder.store(value, _pointer(self.builder, address, offset, kind), align=1)

    def store_packed(self, address, bits):
        """Store lanes of 4 or 2 bits, the first in the lowest bits of the first byte."""
        per_byte = 8 // bits
        total = self.lanes(list(range(0, ROW, per_byte)) * per_byte)
        for i in range(1, per_byte):
            total = total | (self.lanes(list(range(i, ROW, per_byte)) * per_byte) << (bits * i))
        size = ir.IntType(ROW * bits)
        octets = self.builder.trunc(total.value, ir.VectorType(ir.IntType(8), ROW))
        groups = self.builder.bitcast(octets, ir.VectorType(size, 8 // bits))
        packed = self.builder.extract_element(groups, ir.Constant(kinds.WORD, 0))
        self.builder.store(packed, _pointer(self.builder, address, 0, size), align=1)

    def lanes(self, order):
        """The lanes of these numbers, in this order (sixteen lane numbers)."""
        return Lanes(self.builder, self.builder.shuffle_vector(self.value, self.value, ir.Constant(kinds.WORDS, order)))

    # --- arithmetic

    def _other(self, value):
        return value.value if isinstance(value, Lanes) else Lanes.splat(self.builder, value).value

    def _new(self, instruction, other):
        return Lanes(self.builder, instruction(self.value, self._other(other)))

    def __add__(self, other):
        return self._new(self.builder.add, other)

    def __sub__(self, other):
        return self._new(self.builder.sub, other)

    def __mul__(self, other):
        return self._new(self.builder.mul, other)

    def __and__(self, other):
        return self._new(self.builder.and_, other)

    def __or__(self, other):
        return self._new(self.builder.or_, other)

    def __xor__(self, other):
        return self._new(self.builder.xor, other)

    def __lshift__(self, other):
        return self._new(self.builder.shl, other)

    def __rshift__(self, other):
        return self._new(self.builder.ashr, other)

    def shift_right(self, other):
        """Shift in zeros."""
        return self._new(self.builder.lshr, other)

    def quotient(self, other):
        """Quotient of unsigned integers; the divisor must not be 0."""
        return self._new(self.builder.udiv, other)

    def __neg__(self):
        return Lanes.splat(self.builder, 0) - self

    # --- comparisons and choices

    def _compare(self, operator, other):
        return Lanes(self.builder, self.builder.icmp_signed(operator, self.value, self._other(other)))

    def equals(self, other):
        return self._compare("==", other)

    def __lt__(self, other):
        return self._compare("<", other)

    def __le__(self, other):
        return self._compare("<=", other)

    def __gt__(self, other):
        return self._compare(">", other)

    def __ge__(self, other):
        return self._compare(">=", other)

    def choose(self, yes, no):
        """Of truth values: `yes` where true, `no` elsewhere."""
        return Lanes(self.builder, self.builder.select(self.value, self._other(yes), self._other(no)))

    def min(self, other):
        return (self < other).choose(self, other)

    def max(self, other):
        return (self > other).choose(self, other)

    def negative_if(self, mask):
        """Negated where `mask` is -1, unchanged where it is 0."""
        return (self ^ mask) - mask

    def leading_zeros(self):
        """Number of leading zero bits, 32 for 0."""
        kind = ir.FunctionType(kinds.WORDS, [kinds.WORDS, ir.IntType(1)])
        return Lanes(self.builder, self._call("llvm.ctlz.v16i32", kind, ir.Constant(ir.IntType(1), 0)))

    def largest(self):
        """The largest lane (signed), as a 32-bit scalar."""
        return self._call("llvm.vector.reduce.smax.v16i32", ir.FunctionType(kinds.WORD, [kinds.WORDS]))

    def float_add(self, other):
        """Sums of the float32 numbers with these bits, rounded to nearest even."""
        total = self.builder.fadd(*(self.builder.bitcast(lanes.value, kinds.FLOATS) for lanes in (self, other)))
        return Lanes(self.builder, self.builder.bitcast(total, kinds.WORDS))

    def float_multiply(self, other):
        """Products of the float32 numbers with these bits, rounded to nearest even."""
        product = self.builder.fmul(*(self.builder.bitcast(lanes.value, kinds.FLOATS) for lanes in (self, other)))
        return Lanes(self.builder, self.builder.bitcast(product, kinds.WORDS))

    def _call(self, name, kind, *arguments):
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, [self.value, *arguments])


def _pointer(builder, address, offset, kind):
    return builder.inttoptr(builder.add(address, ir.Constant(kinds.ADDRESS, offset)), kind.as_pointer())


def row_operation(function):
    """An intrinsic (source, target) that applies a function of `Lanes` to 16 words at host addresses."""

    def operation(typingctx, source, target):
        def codegen(context, builder, signature, args):
            function(Lanes.load(builder, args[0])).store(args[1])
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), codegen

    operation.__doc__ = function.__doc__
    return Intrinsic(operation)


@Intrinsic
def largest_magnitude(typingctx, words):
    """The largest of 16 words at a host address without their signs."""

    def codegen(context, builder, signature, args):
        return builder.zext((Lanes.load(builder, args[0]) & 0x7FFFFFFF).largest(), kinds.ADDRESS)

    return types.int64(types.int64), codegen


@Intrinsic
def row_on_stack(typingctx):
    """Address of 16 words of the calling function's own; each place of use has other ones."""

    def codegen(context, builder, signature, args):
        return builder.ptrtoint(cgutils.alloca_once(builder, kinds.WORDS), kinds.ADDRESS)

    return types.int64(), codegen
