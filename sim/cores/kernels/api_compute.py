"""The compute calls of the kernel API (docs/hardware/kernel_api.md): what the
unpack, math and pack threads do for each.

A call acts on the threads it belongs to and is nothing on the others.  Initialisation calls charge their configuration
cost (`Op.CONFIG`) and, where it matters for the values, set a state that later calls carry.
"""

from dataclasses import replace

from tensim.sim.cores.kernels.api import (
    COMPUTE,
    MATH,
    PACK,
    UNPACK,
    Approximated,
    Call,
    Configured,
    Post,
    call,
    operation,
    post,
)
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.numerics.sfpu_functions import SFPU_API, SfpuBinary, SfpuTernary, SfpuUnary
from tensim.sim.cores.numerics.vector_codes import VECTOR_CODE_BITS, vector_code
from tensim.sim.cores.operations import FUNCTION_BITS, Bcast, Binary, Config, Op, Pool, ReduceDim, Reduction, Reuse
from tensim.sim.cores.tensix.initialisation import Setup

# Template parameters of tt-metal's configuration calls, as keywords
TEMPLATE_OPTIONS = tuple(
    "op op_type eltwise_binary_type binary_reuse_dest bcast_type bcast_dim dim pool reduce_type reduce_dim full at_start "
    "acc_to_dest transpose block_ct_dim full_ct_dim approx fast_and_approx input_clamping to_from_int8 is_fp32_dest_acc_en".split()
)
ADD, SUB, MUL = int(Binary.ADD), int(Binary.SUB), int(Binary.MUL)
NONE, ROW, COL, SCALAR = int(Bcast.NONE), int(Bcast.ROW), int(Bcast.COL), int(Bcast.SCALAR)
NO_REDUCTION, TO_SRCA = int(Reduction.NONE), int(Reuse.DEST_TO_SRCA)


def config(register, roles=COMPUTE, forms="", setup=Setup.FORMATS, packs=Setup.PACK):
    """A configuration call: any arguments, one cost.

    `forms`: names of its arguments, alternatives by their number separated by "|"; `a`, `b` and `out` are the circular buffers
    of SrcA, SrcB and the packer.  `setup`, `packs`: what it sets up the unpack and math threads and the pack thread for.
    """
    words = (
        (UNPACK, Configured(int(setup), ("a", "b") if setup != Setup.FORMAT_B else ("b",))),
        (MATH, Configured(int(setup))),
        (PACK, Configured(int(packs), ("out",))),
    )
    posts = tuple(Post(role, Op.CONFIG, (int(register), word)) for role, word in words if role & roles)
    return Call(
        {}, posts, ignores_arguments=True, forms=tuple(forms.split("|")) if forms else (), options=TEMPLATE_OPTIONS
    )


def binary(op, bcast):
    """{op}_tiles: operand tiles to SrcA and SrcB, Dst[idst] = a op b; `bcast` None: a keyword chooses."""
    params = "icb0 icb1 itile0 itile1 idst"
    dim = "dim" if bcast is None else str(bcast)
    if bcast is None:
        params += f" dim:a={NONE}"
    return call(
        params,
        post(UNPACK, Op.UNPACK_AB, f"icb0 icb1 itile0 itile1 {dim} 0 {NO_REDUCTION}"),
        post(MATH, Op.MATH_BINARY, f"{op} idst {dim} accumulate 0"),
    )


def reuse(op):
    """One operand from a circular buffer, the other from Dst; `op` None: a keyword chooses."""
    word = "eltwise_binary_type" if op is None else str(op)
    chosen = f" eltwise_binary_type:a={ADD}" if op is None else ""
    return call(
        f"icb itile idst{chosen} binary_reuse_dest:a={TO_SRCA}",
        post(UNPACK, Op.UNPACK_REUSE, "icb itile binary_reuse_dest"),
        post(MATH, Op.MATH_BINARY, f"{word} idst {NONE} 0 binary_reuse_dest"),
    )


def unary(transpose=0, bcast="0", params="icb itile idst"):
    """One tile from a circular buffer to Dst[idst]."""
    return call(
        params,
        post(UNPACK, Op.UNPACK_A, f"icb itile {transpose} 0 1 {bcast}"),
        post(MATH, Op.MATH_COPY, f"idst {bcast}"),
    )


OPERATIONS = {
    # --- Dst sections
    "tile_regs_acquire": operation(MATH, Op.DST_ACQUIRE, "", ""),
    "tile_regs_commit": operation(MATH, Op.DST_COMMIT, "", ""),
    "tile_regs_wait": operation(PACK, Op.DST_WAIT, "", ""),
    "tile_regs_release": operation(PACK, Op.DST_RELEASE, "", ""),
    "acquire_dst": call("", post(MATH, Op.DST_ACQUIRE, ""), post(PACK, Op.DST_WAIT, "")),
    "release_dst": call("", post(MATH, Op.DST_COMMIT, ""), post(PACK, Op.DST_RELEASE, "")),
    # --- words from one compute thread to another
    "mailbox_write": operation(COMPUTE, Op.MAILBOX_WRITE, "thread data", "thread data"),
    "mailbox_read": operation(COMPUTE, Op.MAILBOX_READ, "thread", "thread", result="uint32_t"),
    # --- matrix product
    "matmul_tiles": call(
        "in0_cb in1_cb itile0 itile1 idst transpose=transposed",
        post(UNPACK, Op.UNPACK_MATMUL, "in0_cb in1_cb itile0 itile1 1 1 1 transpose"),
        post(MATH, Op.MATH_MATMUL, "idst 1 1"),
    ),
    "matmul_block": call(
        "in0_cb in1_cb itile0 itile1 idst transpose ct_dim rt_dim kt_dim",
        post(UNPACK, Op.UNPACK_MATMUL, "in0_cb in1_cb itile0 itile1 ct_dim rt_dim kt_dim transpose"),
        post(MATH, Op.MATH_MATMUL, "idst ct_dim rt_dim"),
        cpp="in0_cb in1_cb itile0 itile1 idst transpose ct_dim rt_dim kt_dim ...",
    ),
    # --- copies, broadcasts, transposes
    "copy_tile": unary(),
    "transpose_wh_tile": unary(transpose=1),
    "transpose_tile": unary(transpose=1),
    "unary_bcast": unary(bcast="bcast_type", params=f"icb itile idst bcast_type:a={ROW}"),
    "transpose_dest": operation(MATH, Op.MATH_TRANSPOSE_DST, "idst", "idst"),
    "copy_dest_values": operation(
        MATH, Op.MATH_COPY_DST, "idst_in idst_out", "idst_in idst_out", cpp="idst_in idst_out ..."
    ),
    "binary_dest_reuse_tiles": reuse(None),
    # --- reductions
    "reduce_tile": call(
        f"icb icb_scaler itile itile_scaler idst pool={int(Pool.SUM)} dim={int(ReduceDim.ROW)}",
        post(UNPACK, Op.UNPACK_AB, f"icb icb_scaler itile itile_scaler {NONE} 0 dim"),
        post(MATH, Op.MATH_REDUCE, "pool dim idst"),
    ),
    "reduce_tile_math": operation(
        MATH, Op.MATH_REDUCE, f"idst num_faces=4 pool={int(Pool.SUM)} dim={int(ReduceDim.ROW)}", "pool dim idst"
    ),
    "sfpu_reduce": operation(
        MATH,
        Op.SFPU_REDUCE,
        f"idst pool={int(Pool.SUM)} dim={int(ReduceDim.COL)} data_format={int(DataFormat.Float32)}",
        "pool dim idst data_format",
    ),
    "sfpu_reduce_init": config(Config.SFPU_INIT, MATH),
    # --- pack
    "pack_tile_block": operation(PACK, Op.PACK, "idst ocb ntiles", "idst ocb -1 ntiles 0 0"),
    "pack_block": operation(PACK, Op.PACK, "idst ocb ntiles", "idst ocb -1 ntiles 0 0"),
    "_pack": operation(PACK, Op.PACK, "idst ocb out", "idst ocb out 1 0 0"),
    "_pack_untilize": operation(
        PACK, Op.PACK, "idst ocb out tiles full_ct_dim", "idst ocb out tiles full_ct_dim tiles"
    ),
    "_pack_relu": operation(PACK, Op.CONFIG, "value", f"{int(Config.PACK_RELU)} value"),
    "pack_reconfig_l1_acc": operation(PACK, Op.CONFIG, "enable", f"{int(Config.PACK_L1_ACC)} enable"),
    "_unpack_tilize": operation(UNPACK, Op.UNPACK_A, "icb itile block tiles", f"icb itile 0 block tiles {NONE}"),
    "_math_matmul": operation(MATH, Op.MATH_MATMUL, "idst", "idst 1 1"),
    "_math_copy": operation(MATH, Op.MATH_COPY, "idst", f"idst {NONE}"),
}

# --- element-wise operations: plain, broadcast in both generations of names, operand reused from Dst
for _name, _op in (("add", ADD), ("sub", SUB), ("mul", MUL)):
    OPERATIONS[f"{_name}_tiles"] = binary(_op, NONE)
    OPERATIONS[f"{_name}_tiles_bcast"] = binary(_op, None)
    OPERATIONS[f"{_name}_reuse_dest_tiles"] = reuse(_op)
    for _dim, _bcast in (("rows", ROW), ("cols", COL), ("scalar", SCALAR)):
        OPERATIONS[f"{_name}_tiles_bcast_{_dim}"] = binary(_op, _bcast)

# --- configuration: the arguments of each call, what it sets up
_SUBBLOCK = "transpose ct_dim rt_dim kt_dim"
_FULL = {
    Setup.MATMUL: {"mm_init": "b a out transpose", "mm_block_init": f"b a out {_SUBBLOCK}"},
    Setup.PAIR: {"binary_op_init_common": "a b out"},
    Setup.ANYTHING: {"init_bcast": "a b out"},
    Setup.COPY: {"init_sfpu unary_op_init_common": "a out"},
    Setup.TRANSPOSE: {"transpose_wh_init": "a out"},
    # No whole configuration, but more than one initialisation: that of plain tilize before its own, a format and the rows of Dst
    Setup.TILIZE: {"fast_tilize_init": "a block out"},
}
_SHORT = {
    Setup.MATMUL: {
        "matmul_init": "b a transpose",
        "matmul_block_init": f"b a {_SUBBLOCK}",
        "mm_init_short": "in0_cb in1_cb transpose",
        "mm_init_short_with_dt": "in0_cb a old_a transpose",
        "mm_block_init_short": f"in0_cb in1_cb {_SUBBLOCK}",
        "mm_block_init_short_with_dt": f"in0_cb a old_a {_SUBBLOCK}",
    },
    Setup.ANYTHING: {
        "binary_tiles_init": "icb0 icb1 acc_to_dest", "binary_dest_reuse_tiles_init": "icb", "bcast_init": "a b out",
    },
    Setup.REUSE + ADD: {"add_reuse_dest_init": "icb"},
    Setup.REUSE + SUB: {"sub_reuse_dest_init": "icb"},
    Setup.REUSE + MUL: {"mul_reuse_dest_init": "icb"},
    Setup.REDUCE: {"reduce_init_short reduce_init_delta": "icb icb_scaler ocb"},
    Setup.TRANSPOSE: {"transpose_wh_init_short": "icb", "transpose_init": "a out"},
    Setup.COPY: {
        "copy_tile_init copy_init copy_tile_to_dst_init_short": "icb transpose",
        "copy_tile_to_dst_init_short_with_dt": "old_a a transpose",
    },
    Setup.TILIZE: {"tilize_init_short": "icb block ocb", "tilize_init_short_with_dt": "old_a a block ocb"},
    Setup.UNTILIZE: {"untilize_init_short": "icb", "untilize_init": "a"},
    Setup.UNARY_BCAST: {"reconfigure_unary_bcast": "old_icb icb old_ocb ocb", "unary_bcast_init": "a out"},
    Setup.FORMATS: {
        "reduce_revert_delta reduce_uninit": "ocb", "tilize_uninit": "icb ocb", "tilize_uninit_with_dt": "old_icb icb ocb",
        "fast_tilize_uninit": "icb ocb", "untilize_uninit": "icb", "unary_bcast_uninit": "icb",
    },
}  # fmt: skip
_SHORT_OF_ALL = {  # of the pack thread as well
    Setup.REDUCE: {"reduce_init": "a b out"},
    Setup.TILIZE: {"tilize_init": "a block out"},
}
_RECONFIGURE = {
    Setup.FORMATS: {"reconfig_data_format": "a b|old_a a old_b b", "reconfig_full_operand": "a b|old_a a old_b b"},
    Setup.FORMAT_A: {"reconfig_data_format_srca": "a|old_a a"},
    Setup.FORMAT_B: {"reconfig_data_format_srcb": "b|old_b b"},
}
_MATH_ONLY = "copy_dest_values_init transpose_dest_init"
for _register, _roles, _table in (
    (Config.INIT, COMPUTE, _FULL),
    (Config.SHORT_INIT, UNPACK | MATH, _SHORT),
    (Config.SHORT_INIT, COMPUTE, _SHORT_OF_ALL),
    (Config.RECONFIG, UNPACK | MATH, _RECONFIGURE),
):
    for _setup, _calls in _table.items():
        for _names, _forms in _calls.items():
            OPERATIONS |= dict.fromkeys(_names.split(), config(_register, _roles, _forms, _setup))
OPERATIONS |= dict.fromkeys(_MATH_ONLY.split(), config(Config.SHORT_INIT, MATH))
OPERATIONS |= {
    "pack_untilize_init": config(Config.INIT, COMPUTE, "a out", Setup.COPY, Setup.PACK_UNTILIZE),
    "pack_untilize_dest_init": config(Config.SHORT_INIT, PACK, "out", packs=Setup.PACK_UNTILIZE),
    "pack_untilize_dst_init_short": config(Config.SHORT_INIT, PACK, "out", packs=Setup.PACK_UNTILIZE),
    "pack_untilize_uninit": config(Config.SHORT_INIT, PACK, "out"),
    "pack_init": config(Config.SHORT_INIT, PACK, "out"),
    "pack_reconfig_data_format": config(Config.RECONFIG, PACK, "out|old_out out", packs=Setup.FORMATS),
    "compute_kernel_hw_startup": config(Config.HW_STARTUP, COMPUTE, "a out|a b out"),
}
for _name, _op in (("add", ADD), ("sub", SUB), ("mul", MUL)):
    OPERATIONS[f"_{_name}_init"] = config(Config.SHORT_INIT, UNPACK | MATH, setup=Setup.BINARY + 4 * _op)
    for _dim, _bcast in (("rows", ROW), ("cols", COL), ("scalar", SCALAR)):
        for _form in ("{}_bcast_{}_init_short", "{}_bcast_{}_init", "{}_tiles_bcast_{}_init_short"):
            OPERATIONS[_form.format(_name, _dim)] = config(
                Config.SHORT_INIT, UNPACK | MATH, "icb0 icb1", Setup.BINARY + 4 * _op + _bcast
            )


# Further names that C++ kernels have: of calls above, and of halves of an initialisation, which kernels of the library call inside
# MATH(...), UNPACK(...) and PACK(...)
CPP_NAMES = {
    "fast_tilize_init": "fast_tilize_init_skip_remap fast_tilize_init_with_dt fast_tilize_init_with_dt_skip_remap",
    "mm_init_short": "llk_unpack_AB_matmul_init",
    "mm_init_short_with_dt": "matmul_init_with_dt",
    "mm_block_init_short_with_dt": "matmul_block_init_with_dt",
    "copy_tile_to_dst_init_short_with_dt": "copy_init_with_dt",
    "reduce_init_short": "llk_unpack_AB_reduce_init",
    "binary_dest_reuse_tiles_init": "binary_op_specific_init llk_unpack_AB_init llk_unpack_A_init",
    "transpose_dest": "transpose_wh_dest",
    "transpose_dest_init": "transpose_wh_dest_init_short",
    "pack_untilize_init": "pack_untilize_init_skip_remap fast_untilize_init fast_untilize_init_skip_remap",
    "pack_init": "fast_untilize_uninit init_sfpu_pack llk_pack_init",
    "pack_reconfig_l1_acc": "llk_pack_reconfig_l1_acc",
    **{
        f"{name}_bcast_{dim}_init_short": f"{name}_bcast_{dim}_init_short_with_dt"
        for name in ("add", "sub", "mul") for dim in ("rows", "cols", "scalar")
    },
}  # fmt: skip
_RECONFIGURED = "llk_{}_reconfig_data_format llk_{}_reconfig_data_format_srca llk_{}_reconfig_data_format_srcb"
CPP_ONLY = (
    ("mm_init_short_with_both_dt mm_block_init_short_with_both_dt",
     config(Config.SHORT_INIT, UNPACK | MATH, "in0_cb a old_b old_a transpose", Setup.MATMUL)),
    ("llk_math_eltwise_binary_init llk_math_eltwise_unary_datacopy_init llk_math_reduce_init llk_math_matmul_init",
     config(Config.SHORT_INIT, MATH, setup=Setup.ANYTHING)),
    (f"reconfig_full_operand_srca reconfig_full_operand_srcb {_RECONFIGURED.replace('{}', 'unpack')}",
     config(Config.RECONFIG, UNPACK | MATH)),
    (f"{_RECONFIGURED.replace('{}', 'math')} llk_math_reconfig_remap", config(Config.RECONFIG, MATH)),
    ("llk_pack_reconfig_data_format", config(Config.RECONFIG, PACK, packs=Setup.FORMATS)),
    ("llk_pack_reduce_mask_config llk_pack_reduce_mask_clear", config(Config.SHORT_INIT, PACK, packs=Setup.FORMATS)),
)  # fmt: skip
# Calls whose C++ function has logic of its own, in riscv/include.  Three differ from their rows: there `reduce_uninit` costs
# nothing; `reconfig_full_operand`, and `compute_kernel_hw_startup` of two circular buffers, tell the checker of fewer formats.
CPP_BY_HAND = frozenset(
    [
        "binary_dest_reuse_tiles", "binary_tiles_init", "compute_kernel_hw_startup", "mailbox_read", "mailbox_write",
        "reduce_uninit", "reconfig_full_operand", "reduce_tile", "reduce_tile_math", "sfpu_reduce",
        *(f"{name}_tiles_bcast_{dim}" for name in ("add", "sub", "mul") for dim in ("rows", "cols", "scalar")),
    ]
)  # fmt: skip


# --- the vector unit

# Template parameters: of functions that have an approximate form, and of the others, for which they change nothing
_APPROXIMABLE = "approx=math_approx_mode vector_mode=0"
_OPTIONS = "approx=0 vector_mode=0"
_CLAMPING = " input_clamping=1"  # the exponential's


_FORMS = {  # kind of function -> operation, its tiles, room for parameters
    SfpuUnary: (Op.SFPU_UNARY, "idst", 3),
    SfpuBinary: (Op.SFPU_BINARY, "idst0 idst1 odst", 1),
    SfpuTernary: (Op.SFPU_TERNARY, "idst0 idst1 idst2 odst", 1),
}


def _vector(function, n_parameters):
    """A vector-unit call on one tile in place (idst, ...), or on two or three tiles to another (idst0, ..., odst, ...)."""
    extra = ["in_dtype", "out_dtype"] if function is SfpuUnary.TYPECAST else [f"param{i}" for i in range(n_parameters)]
    op, tiles, room = _FORMS[type(function)]
    words = " ".join([tiles, *[*extra, "0", "0", "0"][:room]])
    if type(function) is not SfpuUnary:
        return operation(
            MATH, op, f"{tiles} {' '.join(extra)} {_OPTIONS}", f"{int(function)} {words}", data=" ".join(extra)
        )
    options = _APPROXIMABLE + (_CLAMPING if function is SfpuUnary.EXP else "")
    posted = post(MATH, op, words, " ".join(extra))
    word = Approximated(int(function), FUNCTION_BITS)
    return call(f"{tiles} {' '.join(extra)} {options}", replace(posted, arguments=(word, *posted.arguments)))


def _vector_init(function):
    """The initialisation of a vector function: it costs the math thread time."""
    word = Approximated(vector_code(function), VECTOR_CODE_BITS)
    posts = (Post(MATH, Op.CONFIG, (int(Config.SFPU_INIT), word)),)
    return Call({}, posts, ignores_arguments=True, forms=("approx",), options=TEMPLATE_OPTIONS)


def vector_names(name):
    """The spellings of a vector-unit call: X_tile, and for typed forms X_tile_type as well."""
    if name in SPELLINGS:
        return SPELLINGS[name]
    names = [f"{name}_tile"]
    for suffix in ("_int32", "_uint32", "_uint16", "_int", "_bitcast"):
        if name.endswith(suffix):
            names.append(f"{name.removesuffix(suffix)}_tile{suffix}")
    return names


SPELLINGS = {"remainder_unary_uint32": ["remainder_tile_uint32"]}


# Initialisations that have a name of their own, or are those of several functions, and the function that they set up
SHARED_INITIALISATIONS = {
    "binop_with_scalar_tile_init": SfpuUnary.ADD_UNARY,
    "max_tile_init": SfpuBinary.BINARY_MAX,
    "mask_tile_init": SfpuBinary.MASK_BINARY,
    "binary_bitwise_tile_init": SfpuBinary.BITWISE_AND_BINARY,
    "binary_shift_tile_init": SfpuBinary.BINARY_LEFT_SHIFT,
    "rounding_op_tile_init": SfpuUnary.FLOOR,
}
VECTOR_OPERATIONS = {name: _vector_init(function) for name, function in SHARED_INITIALISATIONS.items()}
for _name, (_function, _count) in SFPU_API.items():
    for _spelling in vector_names(_name):
        VECTOR_OPERATIONS[_spelling] = _vector(_function, _count)
    VECTOR_OPERATIONS[f"{_name}_tile_init"] = _vector_init(_function)
