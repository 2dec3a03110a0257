"""The kernel API as a table: which operations a call posts, on which threads, with which arguments.

Names, argument order and defaults are tt-metal's (docs/hardware/kernel_api.md, both generations
of names); template parameters are keywords.  This module has the vocabulary of the table and the calls of data movement;
`api_compute` has the compute calls, `library` the calls that are several operations.  A call that is in none
of them is refused by name when a kernel is compiled.

The same rows are the calls of C++ kernels: `tensim.sim.cores.riscv.generated_calls` writes a function for each, but for those in
`CPP_BY_HAND`, which have logic of their own there (`riscv/include`).
"""

from dataclasses import field

from tensim.sim.cores import context as ctx
from tensim.sim.cores.operations import Barrier, Issue, Op, Role
from tensim.sim.lazy_dataclass import dataclass

DM, UNPACK, MATH, PACK = int(Role.DATA_MOVEMENT), int(Role.UNPACK), int(Role.MATH), int(Role.PACK)
COMPUTE = UNPACK | MATH | PACK
ANY_ROLE = DM | COMPUTE
REQUIRED = object()


def parameters(text):
    """{name: default} of "a b:u=0 noc=NOC": REQUIRED, an int, or the name of a state of the kernel (see STATES); "*c": any number.

    What stands behind a colon is for C++ alone (`riscv.generated_calls`): a type, or that it is a template parameter.
    """
    result = {}
    for part in text.split():
        name, _, default = part.partition("=")
        result[name.partition(":")[0]] = (
            REQUIRED if not default else int(default) if default.lstrip("-").isdigit() else default
        )
    return result


@dataclass(frozen=True)
class Configured:
    """A word of `Op.CONFIG` for the checker: a `tensim.sim.cores.tensix.initialisation.Setup`, and the parameters that name the
    circular buffers whose formats the call configures.
    """

    setup: int
    buffers: tuple = ()


@dataclass(frozen=True)
class Approximated:
    """A word of a vector function's call or initialisation: `code`, and from bit `shift` on the `Approximation` that the
    keywords `approx` and `input_clamping` choose.
    """

    code: int
    shift: int


@dataclass(frozen=True)
class Post:
    """One operation: the threads it belongs to, and its arguments as parameter names, states or integers."""

    roles: int
    op: Op
    arguments: tuple
    data: tuple = ()  # parameters that carry data: a loaded value there decides neither time nor place


@dataclass(frozen=True)
class Call:
    """A call that posts operations.  `result`: its type in C++, if it has one; `ignores_arguments`: they matter to hardware
    configuration at most; `forms`: their names, by how many there are, and `options` those of template parameters;
    `cpp`: the parameters in the order of C++.
    """

    parameters: dict
    posts: tuple
    result: str = ""
    cpp: str = ""
    ignores_arguments: bool = False
    forms: tuple = ()
    options: tuple = ()


@dataclass(frozen=True)
class Value:
    """A call without effect: generated text over its parameters (`{name}`) and `{line}`, its instructions by kind."""

    parameters: dict
    text: str
    cost: dict = field(default_factory=dict)
    volatile: bool = False  # changes while the kernel runs, so it is read where it stands
    control: bool = False  # an address whose content is not tensor data
    free: bool = False  # known before the kernel starts
    roles: int = ANY_ROLE


def post(roles, op, template, data=""):
    """`template`: words, each a parameter, a state or an integer."""
    words = (int(w) if w.lstrip("-").isdigit() else w for w in template.split())
    return Post(int(roles), op, tuple(words), tuple(data.split()))


def call(params, *posts, result="", cpp=None):
    """`cpp`: parameters of the C++ function, where they are not the same in the same order."""
    return Call(parameters(params), posts, result, params if cpp is None else cpp)


def operation(roles, op, params, template, result="", data="", cpp=None):
    """A call that posts one operation."""
    return call(params, post(roles, op, template, data), result=result, cpp=cpp)


def barrier(kind, params="noc=NOC", trid="-1"):
    return operation(DM, Op.NOC_BARRIER, params, f"{int(kind)} noc {trid}")


def _word(index, **options):
    return Value({}, f"word(ctx, {index})", {"load": 1}, **options)


def _cb(column, **options):
    return Value(parameters("cb"), f"cb_word(ctx, {{cb}}, {column}, {{line}})", {"load": 1}, **options)


def _pointer(offset):
    """The thread's own write (0) or read (1) pointer."""
    column = f"word(ctx, {ctx.POINTERS}) + {offset}"
    return Value(parameters("cb"), f"cb_word(ctx, {{cb}}, {column}, {{line}})", {"load": 1}, volatile=True)


# What calls set for later calls of the same thread: name -> value at the kernel's start.  No call sets math_approx_mode, -1:
# the machine knows what the kernel's configuration says.
STATES = {"accumulate": "0", "transposed": "0", "read_trid": "-1", "write_trid": "-1", "math_approx_mode": "-1"}

_ONE_PACKET, _PAGE = int(Issue.ONE_PACKET), int(Issue.PAGE)

OPERATIONS = {
    # --- reads
    "noc_async_read": operation(
        DM, Op.NOC_READ, "src dst size noc=NOC read_req_vc=-1 max_page_size=0", "src dst size noc read_trid 0 read_req_vc"
    ),
    "noc_async_read_one_packet": operation(
        DM, Op.NOC_READ, "src dst size noc=NOC read_req_vc=-1", f"src dst size noc read_trid {_ONE_PACKET} read_req_vc",
        cpp="tracing:t=1 src dst size noc=NOC read_req_vc:u=-1",
    ),
    "_read_set_state": operation(DM, Op.NOC_SET_STATE, "src size noc vc", "0 src size noc 0 vc read_trid"),
    "noc_async_read_set_state": operation(DM, Op.NOC_SET_STATE, "src noc=NOC", "0 src 0 noc 0 -1 read_trid"),
    "noc_async_read_one_packet_with_state": operation(
        DM, Op.NOC_READ_WITH_STATE, "src dst noc=NOC inc_num_issued=1", "src dst 0 noc read_trid inc_num_issued",
        cpp="inc_num_issued:t=1 use_vc:t=0 src:u dst _:u=0 noc=NOC",
    ),
    "noc_async_read_with_state": operation(
        DM, Op.NOC_READ_WITH_STATE, "src:u dst size noc=NOC inc_num_issued:t=1",
        "src dst size noc read_trid inc_num_issued",
    ),
    "_read_with_trid": operation(DM, Op.NOC_READ_WITH_STATE, "src dst trid noc", "src dst 0 noc trid 1"),
    "noc_async_read_inc_num_issued": operation(DM, Op.NOC_INC_ISSUED, "count noc=NOC", "count noc"),
    "_read_page": operation(DM, Op.NOC_READ, "src dst size noc", f"src dst size noc read_trid {_PAGE} -1"),
    # --- writes
    "noc_async_write": operation(
        DM, Op.NOC_WRITE, "src dst size noc=NOC vc=-1 max_page_size=0 posted=0",
        "src dst size noc write_trid 0 posted vc",
    ),
    "noc_async_write_one_packet": operation(
        DM, Op.NOC_WRITE, "src dst size noc=NOC vc=-1 posted=0",
        f"src dst size noc write_trid {_ONE_PACKET} posted vc",
        cpp="tracing:t=1 posted:t=0 src dst size noc=NOC vc:u=-1",
    ),
    "noc_async_write_one_packet_with_trid": operation(
        DM, Op.NOC_WRITE, "src dst size trid noc=NOC vc=-1 posted=0", f"src dst size noc trid {_ONE_PACKET} posted vc",
        cpp="update_counter:t=1 posted:t=0 src dst size trid:u _:b=write_cmd_buf noc=NOC vc:b=-1",
    ),
    "noc_async_write_one_packet_set_state": operation(
        DM, Op.NOC_SET_STATE, "dst size noc=NOC vc:b=-1 posted:t=0", "1 dst size noc posted vc write_trid"
    ),
    "noc_async_write_one_packet_with_state": operation(
        DM, Op.NOC_WRITE_WITH_STATE, "src dst noc=NOC posted:t=0", "src dst 0 noc write_trid"
    ),
    "noc_async_write_one_packet_with_trid_set_state": operation(
        DM, Op.NOC_SET_STATE, "dst noc=NOC vc=-1 posted=0", "1 dst 0 noc posted vc -1",
        cpp="posted:t=0 dst _:b=write_cmd_buf noc=NOC vc:b=-1",
    ),
    "noc_async_write_one_packet_with_trid_with_state": operation(
        DM, Op.NOC_WRITE_WITH_STATE, "src dst size trid noc=NOC", "src dst size noc trid",
        cpp="update_counter:t=1 posted:t=0 src dst size trid:u _:b=write_cmd_buf noc=NOC",
    ),
    "_write_page": operation(DM, Op.NOC_WRITE, "src dst size noc", f"src dst size noc write_trid {_PAGE} 0 -1"),
    "noc_async_write_multicast": operation(
        DM, Op.NOC_MULTICAST, "src dst size num_dests linked=0 noc=NOC", "src dst size num_dests linked 0 noc",
        cpp="max_page_size:a=0 src dst size num_dests linked:f=0 noc=NOC",
    ),
    "noc_async_write_multicast_one_packet": operation(
        DM, Op.NOC_MULTICAST, "src dst size num_dests linked:f=0 noc=NOC", "src dst size num_dests linked 0 noc"
    ),
    "noc_async_write_multicast_loopback_src": operation(
        DM, Op.NOC_MULTICAST, "src dst size num_dests linked:f=0 noc=NOC", "src dst size num_dests linked 1 noc"
    ),
    "noc_inline_dw_write": operation(
        DM, Op.NOC_INLINE_WRITE, "addr val be=15 noc=NOC vc=-1 posted=0", "addr val be noc posted vc", data="val"
    ),
    # --- barriers
    "noc_async_read_barrier": barrier(Barrier.READ),
    "noc_async_write_barrier": barrier(Barrier.WRITE),
    "noc_async_writes_flushed": barrier(Barrier.WRITES_FLUSHED),
    "noc_async_posted_writes_flushed": barrier(Barrier.POSTED_WRITES_FLUSHED),
    "noc_async_atomic_barrier": barrier(Barrier.ATOMIC),
    "noc_async_full_barrier": barrier(Barrier.FULL),
    "noc_async_read_barrier_with_trid": barrier(Barrier.READ_TRID, "trid:u noc=NOC", "trid"),
    "noc_async_write_barrier_with_trid": barrier(Barrier.WRITE_TRID, "trid:u noc=NOC", "trid"),
    "noc_async_write_flushed_with_trid": barrier(Barrier.WRITE_FLUSHED_TRID, "trid:u noc=NOC", "trid"),
    # --- semaphores and atomics
    "noc_semaphore_set": operation(DM, Op.STORE, "sem_addr val", "sem_addr val 4"),
    "noc_semaphore_wait": operation(DM, Op.SEM_WAIT, "sem_addr:p val", "sem_addr val"),
    "noc_semaphore_wait_min": operation(DM, Op.SEM_WAIT_MIN, "sem_addr:p val", "sem_addr val"),
    "noc_semaphore_inc": operation(
        DM, Op.NOC_ATOMIC_INC, "addr incr noc=NOC vc:b=-1 posted:t=0", "addr incr noc posted vc"
    ),
    "noc_semaphore_set_remote": operation(
        DM, Op.NOC_WRITE, "src dst noc=NOC", f"src dst 4 noc -1 {_ONE_PACKET} 0 -1"
    ),
    "noc_semaphore_set_multicast": operation(
        DM, Op.NOC_MULTICAST, "src dst num_dests linked:f=0 noc=NOC", "src dst 4 num_dests linked 0 noc"
    ),
    "noc_semaphore_set_multicast_loopback_src": operation(
        DM, Op.NOC_MULTICAST, "src dst num_dests linked:f=0 noc=NOC", "src dst 4 num_dests linked 1 noc"
    ),
    "noc_semaphore_inc_multicast": operation(
        DM, Op.NOC_MULTICAST_INC, "addr incr num_dests noc=NOC", "addr incr num_dests noc",
        cpp="posted:t=0 addr incr num_dests noc=NOC _:b=0",
    ),
    # --- circular buffers: in a compute kernel the unpack thread waits and pops, the pack thread reserves and pushes
    "cb_reserve_back": operation(DM | PACK, Op.CB_RESERVE_BACK, "cb:s n:s", "cb n"),
    "cb_push_back": operation(DM | PACK, Op.CB_PUSH_BACK, "cb:s n:s", "cb n"),
    "cb_wait_front": operation(DM | UNPACK, Op.CB_WAIT_FRONT, "cb:s n:s", "cb n"),
    "cb_pop_front": operation(DM | UNPACK, Op.CB_POP_FRONT, "cb:s n:s", "cb n"),
    "cb_pages_reservable_at_back": operation(DM | PACK, Op.CB_PAGES_RESERVABLE, "cb:s n:s", "cb n", result="bool"),
    "cb_pages_available_at_front": operation(DM | UNPACK, Op.CB_PAGES_AVAILABLE, "cb:s n:s", "cb n", result="bool"),
    "ncrisc_noc_read_with_transaction_id_flushed": operation(
        DM, Op.NOC_READS_ENDED, "noc transaction_id", "noc transaction_id", result="bool"
    ),
    "get_timestamp": operation(ANY_ROLE, Op.TIMESTAMP, "", "", result="uint64_t"),
    "riscv_wait": operation(ANY_ROLE, Op.RISCV_WAIT, "cycles", "cycles"),
    # --- no effect here: L1 is coherent in the model, waypoints only speak to a debugger
    "invalidate_l1_cache": call(""),
    "WAYPOINT": Call({}, (), ignores_arguments=True),
    # --- tiles in print, with tt-metal's names (api/debug/dprint_pages.h, dprint_tensix.h)
    "print_full_tile": operation(DM | UNPACK | PACK, Op.PRINT_TILE, "cb tile_id=0 untilize=0", "cb tile_id 0 32 0 32 untilize"),
    "print_tile_rows": operation(
        DM | UNPACK | PACK, Op.PRINT_TILE, "cb tile_id untilize=0 start_row=0 end_row=32 start_col=0 end_col=32",
        "cb tile_id start_row end_row start_col end_col untilize",
    ),
    "dprint_tensix_dest_reg": operation(MATH, Op.PRINT_DST, "tile_id=0", "tile_id"),
}  # fmt: skip

# Calls whose C++ function has logic of its own, in riscv/include
CPP_BY_HAND = frozenset(
    "noc_async_read noc_async_write noc_inline_dw_write noc_semaphore_set get_timestamp WAYPOINT print_full_tile print_tile_rows "
    "dprint_tensix_dest_reg".split()
)

_ALU = {"alu": 1}
_BANK = {"alu": 4, "mul": 1, "load": 1}

VALUES = {
    # --- arguments and position
    "get_arg_val": Value(parameters("i"), "runtime_arg(ctx, {i}, {line})", {"load": 1}),
    "get_arg": Value(parameters("i"), "runtime_arg(ctx, {i}, {line})", {"load": 1}),
    "get_common_arg_val": Value(parameters("i"), "common_arg(ctx, {i}, {line})", {"load": 1}),
    "get_compile_time_arg_val": Value(parameters("i"), "compile_arg(ctx, {i}, {line})", free=True),
    "get_arg_addr": Value(parameters("i"), f"(word(ctx, {ctx.L1_ARGS}) + 4 * {{i}})", _ALU, control=True),
    "get_common_arg_addr": Value(
        parameters("i"), f"(word(ctx, {ctx.L1_COMMON_ARGS}) + 4 * {{i}})", _ALU, control=True
    ),
    "get_absolute_logical_x": _word(ctx.LOGICAL_X),
    "get_absolute_logical_y": _word(ctx.LOGICAL_Y),
    "get_relative_logical_x": _word(ctx.RELATIVE_X),
    "get_relative_logical_y": _word(ctx.RELATIVE_Y),
    "noc_index": Value({}, f"word(ctx, {ctx.NOC})", free=True),
    "my_x": Value(parameters("noc"), f"word(ctx, {ctx.MY_X})", {"load": 1}),
    "my_y": Value(parameters("noc"), f"word(ctx, {ctx.MY_Y})", {"load": 1}),
    "NOC_MAX_BURST_SIZE": Value({}, f"word(ctx, {ctx.MAX_BURST})", free=True),
    # --- circular buffers
    "get_write_ptr": _pointer(0),
    "get_read_ptr": _pointer(1),
    "get_tile_size": _cb(ctx.CB_TILE_SIZE, free=True),
    "get_entry_size": _cb(ctx.CB_PAGE_SIZE, free=True),
    "get_tile_hw": _cb(ctx.CB_TILE_HW, free=True),
    "get_tile_num_faces": _cb(ctx.CB_FACES, free=True),
    "get_dataformat": _cb(ctx.CB_FORMAT, free=True),
    "_num_pages": _cb(ctx.CB_PAGES, free=True),
    "_size": _cb(ctx.CB_SIZE, free=True),
    # --- addresses
    "get_semaphore": Value(
        parameters("id"), f"(word(ctx, {ctx.SEMAPHORE_BASE}) + 16 * {{id}})", _ALU, control=True
    ),
    "get_noc_multicast_addr": Value(
        parameters("x0 y0 x1 y1 addr noc=NOC"), "multicast_address({x0}, {y0}, {x1}, {y1}, {addr})", {"alu": 6}, roles=DM
    ),
    "get_noc_addr_from_bank_id": Value(
        parameters("bank offset noc=NOC dram=1"), "bank_address(ctx, {bank}, {offset}, {dram}, {noc}, {line})", _BANK, roles=DM
    ),
    "_own_address": Value(parameters("addr"), "own_address(ctx, {addr})", {"alu": 3}),
    "_tile_address": Value(parameters("x y addr"), "noc_address({x}, {y}, {addr})", {"alu": 4}),
    # --- integers of C
    "uint32": Value(parameters("v"), "({v} & 0xFFFFFFFF)"),
    "uint16": Value(parameters("v"), "({v} & 0xFFFF)", _ALU),
    "uint8": Value(parameters("v"), "({v} & 0xFF)", _ALU),
    "int32": Value(parameters("v"), "((({v} & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000)"),
    "min": Value(parameters("a b"), "min({a}, {b})", {"alu": 1, "branch": 1}),
    "max": Value(parameters("a b"), "max({a}, {b})", {"alu": 1, "branch": 1}),
    "abs": Value(parameters("a"), "abs({a})", {"alu": 2}),
    "int": Value(parameters("a"), "{a}"),
    "bool": Value(parameters("a"), "(1 if {a} else 0)", _ALU),
}  # fmt: skip

# Element types of L1 pointers: bytes and whether a load sign-extends
POINTER_TYPES = {
    "uint8": (1, 0), "uint16": (2, 0), "uint32": (4, 0), "int8": (1, 1), "int16": (2, 1), "int32": (4, 1),
}  # fmt: skip

# Known names that tensim does not model, with the reason
REFUSED_PREFIXES = {
    "rand_": "random numbers are not modelled",
    "dropout_": "random numbers are not modelled",
    "cumsum_": "sums that run from tile to tile are not modelled",
    "tiled_prod_": "products that run from tile to tile are not modelled",
    "alt_complex_rotate90": "complex numbers in pairs of columns are not modelled",
    "topk_": "sorting networks on the vector unit are not modelled",
    "max_reduce_with_indices": "index reductions are not modelled",
    "quant_": "quantised arithmetic is not modelled",
    "requant_": "quantised arithmetic is not modelled",
    "dequant_": "quantised arithmetic is not modelled",
    "welford_": "Welford statistics are not modelled",
    "two_pass_stats_": "two-pass statistics are not modelled",
    "remote_cb_": "remote circular buffers are not modelled",
    "resize_remote_": "remote circular buffers are not modelled",
    "update_remote_cb": "remote circular buffers are not modelled",
    "align_local_cbs": "remote circular buffers are not modelled",
    "unpack_tilizeA_B": "the fused tilize of two operands is not modelled",
    "tilizeA_B_": "the fused tilize of two operands is not modelled",
    "print": "kernels print with DPRINT(text, values...)",
    "dbg_": "the debugger's calls are not modelled",
}
