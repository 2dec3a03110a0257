"""What a generated kernel calls: posting an operation, reading arguments, address arithmetic.

Every function takes the address of the thread's context block; none of them touches the machine models.
"""

import numba as nb

from sim.cores import context as ctx
from sim.memory import load_i64, load_u32, store_64

_INT = nb.types.int64
MAX_POST = ctx.MAX_ARGS


def _make_post(count):
    names = [f"a{i}" for i in range(count)]
    lines = [f"def post{count}({', '.join(['block', 'op', 'line', 'cycles', *names])}):"]
    for word, name in [(ctx.OPCODE, "op"), (ctx.LINE, "line"), (ctx.CYCLES, "cycles")] + [
        (ctx.ARG0 + i, name) for i, name in enumerate(names)
    ]:
        lines.append(f"    store_64(block + {8 * word}, {name})")
    scope = {"store_64": store_64}
    exec("\n".join(lines), scope)  # one function per argument count, so that a kernel stores no word in vain
    return nb.njit(nb.void(*[_INT] * (4 + count)))(scope[f"post{count}"])


POSTS = [_make_post(count) for count in range(MAX_POST + 1)]


@nb.njit(_INT(_INT, _INT), cache=True)
def word(block, index):
    """Word `index` of the context block."""
    return load_i64(block + 8 * index)


@nb.njit(_INT(_INT, _INT), cache=True)
def runtime_arg(block, index):
    """Unique runtime argument (uint32)."""
    if index < 0 or index >= load_i64(block + 8 * ctx.N_ARGS):
        raise IndexError("runtime argument index out of range")
    return load_u32(load_i64(block + 8 * ctx.ARGS) + 4 * index)


@nb.njit(_INT(_INT, _INT), cache=True)
def common_arg(block, index):
    """Common runtime argument (uint32)."""
    if index < 0 or index >= load_i64(block + 8 * ctx.N_COMMON_ARGS):
        raise IndexError("common runtime argument index out of range")
    return load_u32(load_i64(block + 8 * ctx.COMMON_ARGS) + 4 * index)


@nb.njit(_INT(_INT, _INT), cache=True)
def compile_arg(block, index):
    """Compile-time argument."""
    if index < 0 or index >= load_i64(block + 8 * ctx.N_COMPILE_ARGS):
        raise IndexError("compile-time argument index out of range")
    return load_i64(load_i64(block + 8 * ctx.COMPILE_ARGS) + 8 * index)


@nb.njit(_INT(_INT, _INT, _INT), cache=True)
def cb_word(block, cb, column):
    """Column of a circular buffer's row."""
    if cb < 0 or cb > 31:
        raise IndexError("circular buffer index out of range")
    return load_i64(load_i64(block + 8 * ctx.CBS) + 8 * (cb * ctx.CB_WORDS + column))


@nb.njit(_INT(_INT, _INT, _INT), cache=True)
def noc_address(x, y, offset):
    """NoC address of a tile and an offset in it."""
    return (x << 36) | (y << 42) | offset


@nb.njit(_INT(_INT, _INT, _INT, _INT, _INT), cache=True)
def multicast_address(x0, y0, x1, y1, offset):
    """NoC address of a rectangle that starts at (x0, y0)."""
    return (x1 << 36) | (y1 << 42) | (x0 << 48) | (y0 << 54) | offset


@nb.njit(_INT(_INT, _INT, _INT, _INT), cache=True)
def bank_address(block, bank, offset, dram):
    """NoC address of an offset in a DRAM (or L1) bank."""
    table = load_i64(block + 8 * (ctx.DRAM_BANKS if dram != 0 else ctx.L1_BANKS))
    count = load_i64(block + 8 * (ctx.N_DRAM_BANKS if dram != 0 else ctx.N_L1_BANKS))
    if bank < 0 or bank >= count:
        raise IndexError("bank index out of range")
    return load_i64(table + 8 * bank) + offset


@nb.njit(_INT(_INT, _INT, _INT), cache=True)
def aligned_page(block, page_size, dram):
    """Stride of interleaved pages: the page size rounded up to the memory's alignment."""
    alignment = load_i64(block + 8 * (ctx.DRAM_ALIGNMENT if dram != 0 else ctx.L1_ALIGNMENT))
    return (page_size + alignment - 1) // alignment * alignment


@nb.njit(_INT(_INT, _INT, _INT, _INT, _INT, _INT), cache=True)
def interleaved_address(block, page, base, stride, dram, offset):
    """Page `page` of an interleaved buffer: bank = page mod banks (reference section 2.5)."""
    count = load_i64(block + 8 * (ctx.N_DRAM_BANKS if dram != 0 else ctx.N_L1_BANKS))
    return bank_address(block, page % count, page // count * stride + base + offset, dram)


# Compile-time arguments of a tensor accessor, from its first one on (host side: pack_tensor_accessor_args).
ACCESSOR_DRAM, ACCESSOR_L1, ACCESSOR_SHARDED = 0, 1, 2
_KIND, _CORES, _PAGES_WIDE, _SHARD_HIGH, _SHARD_WIDE, _SHARDS_WIDE, _FIRST_CORE = 0, 1, 2, 3, 4, 5, 6


def pack_tensor_accessor_args(kind, *, tensor_pages=(0, 0), shard_pages=(0, 0), cores=()):
    """Compile-time arguments of a tensor accessor.

    `kind`: ACCESSOR_DRAM or ACCESSOR_L1 (interleaved: one word), or ACCESSOR_SHARDED with the tensor's and the shard's
    (height, width) in pages and the physical (x, y) of the shards' cores in shard order:
    [kind, cores, tensor width, shard height, shard width, shards per row, x << 8 | y, ...].
    """
    if kind != ACCESSOR_SHARDED:
        return [kind]
    shards_wide = -(-tensor_pages[1] // shard_pages[1])
    return [kind, len(cores), tensor_pages[1], *shard_pages, shards_wide, *((x << 8) | y for x, y in cores)]


@nb.njit(_INT(_INT, _INT), cache=True)
def accessor_length(block, first):
    """Number of compile-time arguments of the accessor that starts at `first`."""
    if compile_arg(block, first) != ACCESSOR_SHARDED:
        return 1
    return _FIRST_CORE + compile_arg(block, first + _CORES)


@nb.njit(_INT(_INT, _INT, _INT, _INT, _INT, _INT), cache=True)
def accessor_address(block, page, first, base, page_size, offset):
    """NoC address of a page of the tensor that the accessor at compile-time argument `first` describes."""
    kind = compile_arg(block, first)
    if kind != ACCESSOR_SHARDED:
        dram = 1 if kind == ACCESSOR_DRAM else 0
        return interleaved_address(block, page, base, aligned_page(block, page_size, dram), dram, offset)
    wide, high = compile_arg(block, first + _SHARD_WIDE), compile_arg(block, first + _SHARD_HIGH)
    row, column = (
        page // compile_arg(block, first + _PAGES_WIDE),
        page % compile_arg(block, first + _PAGES_WIDE),
    )
    shard = row // high * compile_arg(block, first + _SHARDS_WIDE) + column // wide
    core = compile_arg(block, first + _FIRST_CORE + shard)
    inside = row % high * wide + column % wide
    return noc_address(core >> 8, core & 255, base + inside * aligned_page(block, page_size, 0) + offset)
