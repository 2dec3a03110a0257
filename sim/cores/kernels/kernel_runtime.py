"""What a generated kernel calls: posting an operation, reading arguments, address arithmetic.

Every function takes the address of the thread's context block; none of them touches the machine models.  They compile
with the first kernel and travel in its machine code, so a process that finds its kernels in the disk cache compiles and
loads nothing here.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from tensim.sim.cores import context as ctx
from tensim.sim.cores import tensor_accessors as accessors
from tensim.sim.cores.kernels.conventions import COST_WORDS, LINE_SHIFT, RaiseReason, unpack_counts
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.engine.memory import load_i64, load_u32, store_64
from tensim.sim.engine.numba_compiler import compiled_for_integers

_I64 = ir.IntType(64)


def _word_pointer(builder, block, index):
    return builder.gep(builder.inttoptr(block, _I64.as_pointer()), [ir.Constant(_I64, index)])


def _make_post(count):
    """Intrinsic `post<count>(block, head, a0, ...)`: write an operation record; the caller yields next."""

    def codegen(context, builder, signature, values):
        block, head = values[0], values[1]
        opcode = builder.and_(head, ir.Constant(_I64, (1 << LINE_SHIFT) - 1))
        line = builder.lshr(head, ir.Constant(_I64, LINE_SHIFT))
        pending = _word_pointer(builder, block, ctx.PENDING)
        words = [(ctx.OPCODE, opcode), (ctx.LINE, line), (ctx.CYCLES, builder.load(pending))]
        words += [(ctx.ARG0 + i, value) for i, value in enumerate(values[2:])]
        for word, value in words:
            builder.store(value, _word_pointer(builder, block, word))
        builder.store(ir.Constant(_I64, 0), pending)
        return context.get_dummy_value()

    names = ", ".join(["block", "head", *(f"a{i}" for i in range(count))])
    scope = {"result": (types.void(*[types.int64] * (2 + count)), codegen)}
    # numba wants a named parameter per argument
    exec(f"def post{count}(typingctx, {names}):\n    return result", scope)
    return intrinsic(scope[f"post{count}"])


POSTS = [_make_post(count) for count in range(ctx.MAX_ARGS + 1)]


@intrinsic(prefer_literal=True)
def spend(typingctx, block, counts):
    """Add the cost of plain code to the block's PENDING cycles; `counts` is a literal made by `pack_counts`."""
    if not isinstance(counts, types.IntegerLiteral):
        return None
    fields = unpack_counts(counts.literal_value)

    def codegen(context, builder, signature, values):
        pending = _word_pointer(builder, values[0], ctx.PENDING)
        total = builder.load(pending)
        for word, count in zip(COST_WORDS, fields, strict=True):
            if count:
                cost = builder.load(_word_pointer(builder, values[0], word))
                total = builder.add(total, builder.mul(cost, ir.Constant(_I64, count)))
        builder.store(total, pending)
        return context.get_dummy_value()

    return types.void(types.int64, counts), codegen


@intrinsic
def await_load(typingctx, block, ready):
    """Let plain code go on no earlier than cycle `ready`: an instruction uses what a load brings.

    Source: docs/hardware/riscv.md#pipeline.
    """

    def codegen(context, builder, signature, values):
        pending = _word_pointer(builder, values[0], ctx.PENDING)
        spent = builder.load(pending)
        wait = builder.sub(values[1], builder.load(_word_pointer(builder, values[0], ctx.TIME)))
        builder.store(builder.select(builder.icmp_signed(">", wait, spent), wait, spent), pending)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


def _make_arithmetic(operation):
    """Intrinsic of a 64-bit operation that wraps.

    numba tells LLVM that its own signed arithmetic never overflows, and what follows from that is wrong when it does.
    """

    def codegen(context, builder, signature, values):
        return getattr(builder, operation)(*values)

    @intrinsic
    def arithmetic(typingctx, left, right):
        return types.int64(types.int64, types.int64), codegen

    return arithmetic


add, subtract, multiply = _make_arithmetic("add"), _make_arithmetic("sub"), _make_arithmetic("mul")


@compiled_for_integers
def word(block, index):
    """Word `index` of the context block."""
    return load_i64(block + 8 * index)


@compiled_for_integers
def fetch(block, size):
    """Charge one round through a loop of `size` bytes of code: the lines that the instruction cache does not keep.

    A cache of two ways that drops the least recently used line keeps no line of a set that three lines of the loop share.
    This gives what loops of 1024 to 2048 instructions take on Blackhole (docs/hardware/riscv.md#instruction-fetch: 1.00 to 1.25).
    """
    lines, kept = size // 16, load_i64(block + 8 * ctx.ICACHE_LINES)
    missed = min(lines, 3 * max(lines - kept, 0))
    store_64(block + 8 * ctx.PENDING, load_i64(block + 8 * ctx.PENDING) + missed * load_i64(block + 8 * ctx.FETCH_MISS))


@compiled_for_integers
def stop(block, line, reason):
    """Leave line and reason for the event loop and raise: the thread is not resumed any more."""
    store_64(block + 8 * ctx.LINE, line)
    store_64(block + 8 * ctx.ARG0, reason)
    raise RuntimeError


_BAD_ARGUMENT, _BAD_COMMON = int(RaiseReason.ARGUMENT_INDEX), int(RaiseReason.COMMON_ARGUMENT_INDEX)
_BAD_COMPILE, _BAD_CB = int(RaiseReason.COMPILE_ARGUMENT_INDEX), int(RaiseReason.CIRCULAR_BUFFER_INDEX)
_BAD_BANK, _BAD_DIVISOR = int(RaiseReason.BANK_INDEX), int(RaiseReason.DIVISION_BY_ZERO)
_BAD_PAGE, _NOT_SHARDED = int(RaiseReason.PAGE_INDEX), int(RaiseReason.NOT_SHARDED)
_BAD_DIMENSION = int(RaiseReason.DIMENSION_INDEX)


@compiled_for_integers
def unset_arg(block, first, index, line, reason):
    """A runtime argument that was not set, of those from L1 address `first` on: as on the chip, the word that L1 holds there.

    Refused with checks on and outside L1.
    """
    address = first + 4 * index
    outside = not 0 <= address <= load_i64(block + 8 * ctx.L1_SIZE) - 4
    if outside or load_i64(block + 8 * ctx.CHECKED) != 0:
        stop(block, line, reason)
    reads = load_i64(block + 8 * ctx.UNSET_READS)
    if reads == 0:
        store_64(block + 8 * ctx.UNSET_LINE, line)
        store_64(block + 8 * ctx.UNSET_INDEX, index)
    store_64(block + 8 * ctx.UNSET_READS, reads + 1)
    return load_u32(load_i64(block + 8 * ctx.L1) + address)


@compiled_for_integers
def runtime_arg(block, index, line):
    """Unique runtime argument (uint32)."""
    if index < 0 or index >= load_i64(block + 8 * ctx.N_ARGS):
        return unset_arg(block, load_i64(block + 8 * ctx.L1_ARGS), index, line, _BAD_ARGUMENT)
    return load_u32(load_i64(block + 8 * ctx.ARGS) + 4 * index)


@compiled_for_integers
def common_arg(block, index, line):
    """Common runtime argument (uint32)."""
    if index < 0 or index >= load_i64(block + 8 * ctx.N_COMMON_ARGS):
        return unset_arg(block, load_i64(block + 8 * ctx.L1_COMMON_ARGS), index, line, _BAD_COMMON)
    return load_u32(load_i64(block + 8 * ctx.COMMON_ARGS) + 4 * index)


@compiled_for_integers
def compile_arg(block, index, line):
    """Compile-time argument."""
    if index < 0 or index >= load_i64(block + 8 * ctx.N_COMPILE_ARGS):
        stop(block, line, _BAD_COMPILE)
    return load_i64(load_i64(block + 8 * ctx.COMPILE_ARGS) + 8 * index)


@compiled_for_integers
def cb_word(block, cb, column, line):
    """Column of a circular buffer's row."""
    if not 0 <= cb < N_CIRCULAR_BUFFERS:
        stop(block, line, _BAD_CB)
    return load_i64(load_i64(block + 8 * ctx.CBS) + 8 * (cb * ctx.CB_WORDS + column))


@compiled_for_integers
def floor_div(block, a, b, line):
    """a // b, with a zero divisor reported."""
    if b == 0:
        stop(block, line, _BAD_DIVISOR)
    return a // b


@compiled_for_integers
def floor_mod(block, a, b, line):
    """a % b, with a zero divisor reported."""
    if b == 0:
        stop(block, line, _BAD_DIVISOR)
    return a % b


@compiled_for_integers
def noc_address(x, y, offset):
    """NoC address of a tile and an offset in it."""
    return (x << 36) | (y << 42) | offset


@compiled_for_integers
def own_address(block, offset):
    """NoC address of an offset in this core's L1."""
    return noc_address(load_i64(block + 8 * ctx.MY_X), load_i64(block + 8 * ctx.MY_Y), offset)


@compiled_for_integers
def multicast_address(x0, y0, x1, y1, offset):
    """NoC address of a rectangle that starts at (x0, y0)."""
    return (x1 << 36) | (y1 << 42) | (x0 << 48) | (y0 << 54) | offset


@compiled_for_integers
def bank_address(block, bank, offset, dram, noc, line):
    """NoC address of an offset in a DRAM (or L1) bank, for requests on a NoC."""
    table = load_i64(block + 8 * (ctx.DRAM_BANKS if dram != 0 else ctx.L1_BANKS))
    count = load_i64(block + 8 * (ctx.N_DRAM_BANKS if dram != 0 else ctx.N_L1_BANKS))
    if bank < 0 or bank >= count:
        stop(block, line, _BAD_BANK)
    if dram != 0 and noc == 1:
        bank += count
    return load_i64(table + 8 * bank) + offset


@compiled_for_integers
def aligned_page(block, page_size, dram):
    """Stride of interleaved pages: the page size rounded up to the memory's alignment."""
    alignment = load_i64(block + 8 * (ctx.DRAM_ALIGNMENT if dram != 0 else ctx.L1_ALIGNMENT))
    return (page_size + alignment - 1) // alignment * alignment


@compiled_for_integers
def interleaved_address(block, page, base, stride, dram, offset, noc, line):
    """Page `page` of an interleaved buffer: bank = page mod banks (docs/hardware/kernel_api.md#address-helpers)."""
    if page < 0:
        stop(block, line, _BAD_PAGE)
    count = load_i64(block + 8 * (ctx.N_DRAM_BANKS if dram != 0 else ctx.N_L1_BANKS))
    return bank_address(block, page % count, page // count * stride + base + offset, dram, noc, line)


# A tensor accessor's words: tensor_accessors.py.  `first` is the compile-time argument that holds the first of them.
_CONFIG, _PAGE_SIZE, _RANK, _BANKS, _SHAPES = (
    accessors.CONFIG, accessors.PAGE_SIZE, accessors.RANK, accessors.BANKS, accessors.SHAPES,
)  # fmt: skip
_SHARDED, _DRAM, _CONTIGUOUS = accessors.SHARDED_BIT, accessors.DRAM_BIT, accessors.CONTIGUOUS_BIT


@compiled_for_integers
def is_sharded(block, first, line):
    """Whether an accessor's tensor is cut into shards."""
    return compile_arg(block, first + _CONFIG, line) & _SHARDED


@compiled_for_integers
def is_in_dram(block, first, line):
    """1 when an accessor's tensor lies in DRAM, 0 in L1."""
    return 1 if compile_arg(block, first + _CONFIG, line) & _DRAM else 0


@compiled_for_integers
def accessor_banks(block, first, line):
    """Number of banks that hold an accessor's pages."""
    if is_sharded(block, first, line):
        return compile_arg(block, first + _BANKS, line) & ~_CONTIGUOUS
    return load_i64(block + 8 * (ctx.N_DRAM_BANKS if is_in_dram(block, first, line) else ctx.N_L1_BANKS))


@compiled_for_integers
def accessor_rank(block, first, line):
    """Dimensions of a sharded accessor's shapes."""
    if not is_sharded(block, first, line):
        stop(block, line, _NOT_SHARDED)
    return compile_arg(block, first + _RANK, line)


@compiled_for_integers
def accessor_coordinates(block, first, line):
    """The compile-time argument that holds the first bank's coordinate."""
    return first + _SHAPES + 2 * accessor_rank(block, first, line)


@compiled_for_integers
def accessor_length(block, first, line):
    """Number of compile-time arguments of an accessor."""
    if not is_sharded(block, first, line):
        return _RANK
    return accessor_coordinates(block, first, line) - first + (accessor_banks(block, first, line) + 1) // 2


@compiled_for_integers
def accessor_page(block, first, page_size, line):
    """Stride of the pages of an accessor's tensor."""
    return aligned_page(block, page_size, is_in_dram(block, first, line))


@compiled_for_integers
def dimension(block, first, of_shard, index, line):
    """Size in pages of a dimension of the tensor, or of a shard."""
    rank = accessor_rank(block, first, line)
    if index < 0 or index >= rank:
        stop(block, line, _BAD_DIMENSION)
    return compile_arg(block, first + _SHAPES + of_shard * rank + index, line)


@compiled_for_integers
def accessor_volume(block, first, of_shard, line):
    """Pages of the tensor, or of a shard."""
    volume = 1
    for index in range(accessor_rank(block, first, line)):
        volume *= dimension(block, first, of_shard, index, line)
    return volume


@compiled_for_integers
def shard_count(block, first, line):
    """Number of shards, with those that the tensor fills in part."""
    shards = 1
    for index in range(accessor_rank(block, first, line)):
        shards *= -(-dimension(block, first, 0, index, line) // dimension(block, first, 1, index, line))
    return shards


@compiled_for_integers
def page_place(block, page, first, line):
    """(shard, page in the shard) of a page of a sharded tensor."""
    shard = inside = 0
    shards = volume = 1  # strides: shards and pages of the dimensions further in
    for index in range(accessor_rank(block, first, line) - 1, -1, -1):
        size, cut = dimension(block, first, 0, index, line), dimension(block, first, 1, index, line)
        at = page % size if index else page
        shard, inside = shard + at // cut * shards, inside + at % cut * volume
        page, shards, volume = page // size, shards * -(-size // cut), volume * cut
    return shard, inside


@compiled_for_integers
def shard_place(block, shard, first, line):
    """(bank, number of shards before it in the bank) of a shard."""
    banks = accessor_banks(block, first, line)
    if compile_arg(block, first + _BANKS, line) & _CONTIGUOUS:
        in_a_bank = -(-shard_count(block, first, line) // banks)
        return shard // in_a_bank, shard % in_a_bank
    return shard % banks, shard // banks


@compiled_for_integers
def page_bank(block, page, first, line):
    """Bank that holds a page; banks of a sharded tensor are counted in the order of their shards."""
    if not is_sharded(block, first, line):
        return page % accessor_banks(block, first, line)
    shard, _ = page_place(block, page, first, line)
    bank, _ = shard_place(block, shard, first, line)
    return bank


@compiled_for_integers
def page_offset(block, page, first, page_size, line):
    """Byte offset of a page in its bank."""
    stride = accessor_page(block, first, page_size, line)
    if not is_sharded(block, first, line):
        return page // accessor_banks(block, first, line) * stride
    shard, inside = page_place(block, page, first, line)
    _, before = shard_place(block, shard, first, line)
    return (before * accessor_volume(block, first, 1, line) + inside) * stride


@compiled_for_integers
def shard_bytes(block, first, page_size, line):
    """Bytes of a whole shard."""
    return accessor_volume(block, first, 1, line) * accessor_page(block, first, page_size, line)


@compiled_for_integers
def shard_address(block, shard, first, page_size, offset, noc, line):
    """NoC address of shard `shard`, whose tensor begins at `offset` in every bank."""
    if shard < 0 or shard >= shard_count(block, first, line):
        stop(block, line, _BAD_PAGE)
    bank, before = shard_place(block, shard, first, line)
    offset += before * shard_bytes(block, first, page_size, line)
    pair = compile_arg(block, accessor_coordinates(block, first, line) + bank // 2, line)
    place = pair >> 16 * (bank % 2) & 0xFFFF
    if is_in_dram(block, first, line):
        return bank_address(block, place >> 8, offset, 1, noc, line)
    return noc_address(place >> 8, place & 255, offset)


@compiled_for_integers
def is_own_tile(block, address):
    """1 when a NoC address names this core, by physical coordinates or as accessors' words do, else 0."""
    for x, y in ((ctx.MY_X, ctx.MY_Y), (ctx.KERNEL_X, ctx.KERNEL_Y)):
        if address >> 36 == noc_address(load_i64(block + 8 * x), load_i64(block + 8 * y), 0) >> 36:
            return 1
    return 0


@compiled_for_integers
def accessor_address(block, page, first, base, page_size, offset, noc, line):
    """NoC address of a page of the tensor that the accessor at compile-time argument `first` describes."""
    if not is_sharded(block, first, line):
        dram = is_in_dram(block, first, line)
        return interleaved_address(block, page, base, aligned_page(block, page_size, dram), dram, offset, noc, line)
    if page < 0:
        stop(block, line, _BAD_PAGE)
    shard, inside = page_place(block, page, first, line)
    offset += base + inside * accessor_page(block, first, page_size, line)
    return shard_address(block, shard, first, page_size, offset, noc, line)
