"""Memory that threads of the host share: atomic words by host address, and how a thread waits for another one.

Words are int64 on addresses divisible by 8.  All accesses are sequentially consistent, but `publish` and `observe`, which order
what lies before the one with what lies behind the other (release and acquire).
"""

from tensim.sim.engine.compiled import Intrinsic, cgutils, ir, types

WORD_BYTES = 8


def _pointer(builder, address):
    return builder.inttoptr(address, ir.IntType(64).as_pointer())


@Intrinsic
def observe(typingctx, address):
    """Load a word: what its writer did before `publish` is visible afterwards."""

    def codegen(context, builder, signature, args):
        return builder.load_atomic(_pointer(builder, args[0]), "acquire", WORD_BYTES)

    return types.int64(types.int64), codegen


@Intrinsic
def publish(typingctx, address, value):
    """Store a word: whoever observes it sees all that was done before."""

    def codegen(context, builder, signature, args):
        builder.store_atomic(args[1], _pointer(builder, args[0]), "release", WORD_BYTES)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@Intrinsic
def load_word(typingctx, address):
    """Load a word."""

    def codegen(context, builder, signature, args):
        return builder.load_atomic(_pointer(builder, args[0]), "seq_cst", WORD_BYTES)

    return types.int64(types.int64), codegen


@Intrinsic
def fence(typingctx):
    """What lies before it is visible to others before anything behind it is looked at."""

    def codegen(context, builder, signature, args):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen


def _exchange(operation):
    def change(typingctx, address, value):
        def codegen(context, builder, signature, args):
            return builder.atomic_rmw(operation, _pointer(builder, args[0]), args[1], "seq_cst")

        return types.int64(types.int64, types.int64), codegen

    return Intrinsic(change)


# word at an address = value, word + value, word | value, word & value; they return what it was before
exchange, add_to_word, set_bits, keep_bits = (_exchange(operation) for operation in ("xchg", "add", "or", "and"))


@Intrinsic
def replace(typingctx, address, old, new):
    """Store `new` if the word is `old`; returns whether it was."""

    def codegen(context, builder, signature, args):
        result = builder.cmpxchg(_pointer(builder, args[0]), args[1], args[2], "seq_cst", "seq_cst")
        return builder.extract_value(result, 1)

    return types.boolean(types.int64, types.int64, types.int64), codegen


def _c_call(builder, name, arguments):
    prototype = ir.FunctionType(ir.IntType(32), [argument.type for argument in arguments])
    builder.call(cgutils.get_or_insert_function(builder.module, prototype, name), arguments)


@Intrinsic
def yield_processor(typingctx):
    """Let another thread that waits for this processor run."""

    def codegen(context, builder, signature, args):
        _c_call(builder, "sched_yield", [])
        return context.get_dummy_value()

    return types.void(), codegen


@Intrinsic
def nap(typingctx, microseconds):
    """Sleep for at least so long."""

    def codegen(context, builder, signature, args):
        _c_call(builder, "usleep", [builder.trunc(args[0], ir.IntType(32))])
        return context.get_dummy_value()

    return types.void(types.int64), codegen
