"""The kernel API as a table: which operations a call posts, on which threads, with which arguments.

Names, argument order and defaults are tt-metal's (reference sections 2.1-2.12, both generations of names); template
parameters are keywords.  A call that is not here is refused by name when a kernel is compiled.
"""

from dataclasses import dataclass

from sim.cores import context as ctx
from sim.cores.operations import Barrier, Bcast, Binary, Config, Issue, Op, Pool, ReduceDim, Reuse, Role
from sim.cores.sfpu import SFPU_API, SfpuBinary

DM, UNPACK, MATH, PACK = Role.DATA_MOVEMENT, Role.UNPACK, Role.MATH, Role.PACK
COMPUTE = UNPACK | MATH | PACK


@dataclass(frozen=True)
class Call:
    """`params`: names with defaults ("a b=0"); `posts`: (roles, operation, argument template); `result`: has a value.

    Words of a template are parameters, NOC (the kernel's NoC), ACC (accumulate-to-Dst state) or integers.
    """

    params: str
    posts: tuple
    result: bool = False
    sets_acc: str | None = None


@dataclass(frozen=True)
class Value:
    """A call without effect: an expression over its parameters, `{name}` in `text`."""

    params: str
    text: str
    cost: str = "alu"


def _one(roles, op, params, template, result=False):
    return Call(params, ((roles, op, template),), result)


def _config(register, roles=COMPUTE, params=""):
    return Call(params, ((roles, Op.CONFIG, f"{int(register)} 0"),))


def _barrier(kind, params="noc=NOC", trid="-1"):
    return _one(DM, Op.NOC_BARRIER, params, f"{int(kind)} noc {trid}")


_ANY = "*"  # parameter list of a call whose arguments only matter to hardware configuration

DATA_MOVEMENT = {
    # --- reads
    "noc_async_read": _one(DM, Op.NOC_READ, "src dst size noc=NOC", "src dst size noc -1 0"),
    "noc_async_read_one_packet": _one(
        DM, Op.NOC_READ, "src dst size noc=NOC", f"src dst size noc -1 {int(Issue.ONE_PACKET)}"
    ),
    "noc_async_read_one_packet_set_state": _one(
        DM, Op.NOC_SET_STATE, "src size vc=-1 noc=NOC", "0 src size noc 0 vc -1"
    ),
    "noc_async_read_set_state": _one(DM, Op.NOC_SET_STATE, "src noc=NOC", "0 src 0 noc 0 -1 -1"),
    "noc_async_read_one_packet_with_state": _one(
        DM, Op.NOC_READ_WITH_STATE, "src dst noc=NOC inc_num_issued=1", "src dst 0 noc -1 inc_num_issued"
    ),
    "noc_async_read_with_state": _one(
        DM, Op.NOC_READ_WITH_STATE, "src dst size noc=NOC inc_num_issued=1", "src dst size noc -1 inc_num_issued"
    ),
    "noc_async_read_one_packet_with_state_with_trid": _one(
        DM, Op.NOC_READ_WITH_STATE, "base offset dst trid=0 noc=NOC", "base+offset dst 0 noc trid 1"
    ),
    "noc_async_read_inc_num_issued": _one(DM, Op.NOC_INC_ISSUED, "count noc=NOC", "count noc"),
    "noc_async_read_tile_dram_sharded_set_state": Call(
        "bank_base_address page_size bank_id vc=-1 noc=NOC",
        ((DM, Op.NOC_SET_STATE, "0 bank(bank_id,bank_base_address) page_size noc 0 vc -1"),),
    ),
    "noc_async_read_tile_dram_sharded_with_state": _one(
        DM, Op.NOC_READ_WITH_STATE, "src_base src_offset dst noc=NOC", "src_base+src_offset dst 0 noc -1 1"
    ),
    "noc_async_read_tile_dram_sharded_with_state_with_trid": _one(
        DM, Op.NOC_READ_WITH_STATE, "src_base src_offset dst trid=0 noc=NOC", "src_base+src_offset dst 0 noc trid 1"
    ),
    # --- writes
    "noc_async_write": _one(
        DM, Op.NOC_WRITE, "src dst size noc=NOC vc=-1 posted=0", "src dst size noc -1 0 posted vc"
    ),
    "noc_async_write_one_packet": _one(
        DM, Op.NOC_WRITE, "src dst size noc=NOC vc=-1 posted=0",
        f"src dst size noc -1 {int(Issue.ONE_PACKET)} posted vc",
    ),
    "noc_async_write_one_packet_with_trid": _one(
        DM, Op.NOC_WRITE, "src dst size trid noc=NOC vc=-1", f"src dst size noc trid {int(Issue.ONE_PACKET)} 0 vc"
    ),
    "noc_async_write_one_packet_set_state": _one(
        DM, Op.NOC_SET_STATE, "dst size noc=NOC vc=-1 posted=0", "1 dst size noc posted vc -1"
    ),
    "noc_async_write_one_packet_with_state": _one(
        DM, Op.NOC_WRITE_WITH_STATE, "src dst noc=NOC", "src dst 0 noc -1"
    ),
    "noc_async_write_one_packet_with_trid_set_state": _one(
        DM, Op.NOC_SET_STATE, "dst trid=0 size=0 noc=NOC vc=-1", "1 dst size noc 0 vc trid"
    ),
    "noc_async_write_one_packet_with_trid_with_state": _one(
        DM, Op.NOC_WRITE_WITH_STATE, "src dst size trid=0 noc=NOC", "src dst size noc trid"
    ),
    "noc_async_write_multicast": _one(
        DM, Op.NOC_MULTICAST, "src dst size num_dests linked=0 noc=NOC", "src dst size num_dests linked 0 noc"
    ),
    "noc_async_write_multicast_one_packet": _one(
        DM, Op.NOC_MULTICAST, "src dst size num_dests linked=0 noc=NOC", "src dst size num_dests linked 0 noc"
    ),
    "noc_async_write_multicast_loopback_src": _one(
        DM, Op.NOC_MULTICAST, "src dst size num_dests linked=0 noc=NOC", "src dst size num_dests linked 1 noc"
    ),
    "noc_inline_dw_write": _one(
        DM, Op.NOC_INLINE_WRITE, "addr val be=15 noc=NOC vc=-1 posted=0", "addr val be noc posted"
    ),
    # --- barriers
    "noc_async_read_barrier": _barrier(Barrier.READ),
    "noc_async_write_barrier": _barrier(Barrier.WRITE),
    "noc_async_writes_flushed": _barrier(Barrier.WRITES_FLUSHED),
    "noc_async_posted_writes_flushed": _barrier(Barrier.POSTED_WRITES_FLUSHED),
    "noc_async_atomic_barrier": _barrier(Barrier.ATOMIC),
    "noc_async_full_barrier": _barrier(Barrier.FULL),
    "noc_async_read_barrier_with_trid": _barrier(Barrier.READ_TRID, "trid noc=NOC", "trid"),
    "noc_async_write_barrier_with_trid": _barrier(Barrier.WRITE_TRID, "trid noc=NOC", "trid"),
    "noc_async_write_flushed_with_trid": _barrier(Barrier.WRITE_FLUSHED_TRID, "trid noc=NOC", "trid"),
    # --- semaphores and atomics
    "noc_semaphore_set": _one(DM, Op.STORE, "sem_addr val", "sem_addr val 4"),
    "noc_semaphore_wait": _one(DM, Op.SEM_WAIT, "sem_addr val", "sem_addr val"),
    "noc_semaphore_wait_min": _one(DM, Op.SEM_WAIT_MIN, "sem_addr val", "sem_addr val"),
    "noc_semaphore_inc": _one(DM, Op.NOC_ATOMIC_INC, "addr incr noc=NOC vc=-1 posted=0", "addr incr noc posted"),
    "noc_semaphore_set_remote": _one(DM, Op.NOC_WRITE, "src dst noc=NOC", f"src dst 4 noc -1 {int(Issue.ONE_PACKET)} 0 -1"),
    "noc_semaphore_set_multicast": _one(
        DM, Op.NOC_MULTICAST, "src dst num_dests linked=0 noc=NOC", "src dst 4 num_dests linked 0 noc"
    ),
    "noc_semaphore_set_multicast_loopback_src": _one(
        DM, Op.NOC_MULTICAST, "src dst num_dests linked=0 noc=NOC", "src dst 4 num_dests linked 1 noc"
    ),
    "noc_semaphore_inc_multicast": _one(
        DM, Op.NOC_MULTICAST_INC, "addr incr num_dests noc=NOC", "addr incr num_dests noc"
    ),
    # --- circular buffers
    "cb_reserve_back": _one(DM | PACK, Op.CB_RESERVE_BACK, "cb n", "cb n"),
    "cb_push_back": _one(DM | PACK, Op.CB_PUSH_BACK, "cb n", "cb n"),
    "cb_wait_front": _one(DM | UNPACK, Op.CB_WAIT_FRONT, "cb n", "cb n"),
    "cb_pop_front": _one(DM | UNPACK, Op.CB_POP_FRONT, "cb n", "cb n"),
    "cb_pages_reservable_at_back": _one(DM | PACK, Op.CB_PAGES_RESERVABLE, "cb n", "cb n", result=True),
    "cb_pages_available_at_front": _one(DM | UNPACK, Op.CB_PAGES_AVAILABLE, "cb n", "cb n", result=True),
    "invalidate_l1_cache": Call("", ()),
}  # fmt: skip

_AB = "icb0 icb1 itile0 itile1 idst"


def _binary(op, bcast=Bcast.NONE):
    bcast_text = str(int(bcast)) if isinstance(bcast, int) else bcast
    params = _AB if isinstance(bcast, int) else f"{_AB} bcast={int(Bcast.ROW)}"
    return Call(
        params,
        (
            (UNPACK, Op.UNPACK_AB, f"icb0 icb1 itile0 itile1 {bcast_text} 0"),
            (MATH, Op.MATH_BINARY, f"{int(op)} idst {bcast_text} ACC 0"),
        ),
    )


_INIT, _SHORT, _RECONFIG = _config(Config.INIT), _config(Config.SHORT_INIT), _config(Config.RECONFIG)
_MATMUL_POSTS = (
    (UNPACK, Op.UNPACK_MATMUL, "in0_cb in1_cb itile0 itile1 ct_dim rt_dim kt_dim transpose"),
    (MATH, Op.MATH_MATMUL, "idst ct_dim rt_dim"),
)
_COPY = Call("icb itile idst", ((UNPACK, Op.UNPACK_A, "icb itile 0 0 1"), (MATH, Op.MATH_COPY, "idst 0")))
_TRANSPOSE = Call("icb itile idst", ((UNPACK, Op.UNPACK_A, "icb itile 1 0 1"), (MATH, Op.MATH_COPY, "idst 0")))
_REUSE = Call(
    f"icb itile idst op={int(Binary.ADD)} reuse={int(Reuse.DEST_TO_SRCA)}",
    ((UNPACK, Op.UNPACK_REUSE, "icb itile reuse"), (MATH, Op.MATH_BINARY, "op idst 0 0 reuse")),
)

COMPUTE_CALLS = {
    # --- Dst sections
    "tile_regs_acquire": _one(MATH, Op.DST_ACQUIRE, "", ""),
    "tile_regs_commit": _one(MATH, Op.DST_COMMIT, "", ""),
    "tile_regs_wait": _one(PACK, Op.DST_WAIT, "", ""),
    "tile_regs_release": _one(PACK, Op.DST_RELEASE, "", ""),
    "acquire_dst": Call("", ((MATH, Op.DST_ACQUIRE, ""),)),
    # the deprecated pair: math commits and pack waits where the section is released
    "release_dst": Call("", ((MATH, Op.DST_COMMIT, ""), (PACK, Op.DST_WAIT, ""), (PACK, Op.DST_RELEASE, ""))),
    # --- matrix product
    "matmul_tiles": Call(
        "in0_cb in1_cb itile0 itile1 idst transpose=0",
        (
            (UNPACK, Op.UNPACK_MATMUL, "in0_cb in1_cb itile0 itile1 1 1 1 transpose"),
            (MATH, Op.MATH_MATMUL, "idst 1 1"),
        ),
    ),
    "matmul_block": Call("in0_cb in1_cb itile0 itile1 idst transpose ct_dim rt_dim kt_dim", _MATMUL_POSTS),
    # --- element-wise and broadcast
    "add_tiles": _binary(Binary.ADD),
    "sub_tiles": _binary(Binary.SUB),
    "mul_tiles": _binary(Binary.MUL),
    "binary_dest_reuse_tiles": _REUSE,
    "copy_tile": _COPY,
    "transpose_wh_tile": _TRANSPOSE,
    "transpose_tile": _TRANSPOSE,
    "transpose_dest": _one(MATH, Op.MATH_TRANSPOSE_DST, "idst", "idst"),
    "copy_dest_values": _one(MATH, Op.MATH_COPY_DST, "idst_in idst_out", "idst_in idst_out"),
    "unary_bcast": Call(
        f"icb itile idst bcast={int(Bcast.ROW)}",
        ((UNPACK, Op.UNPACK_A, "icb itile 0 0 1"), (MATH, Op.MATH_COPY, "idst bcast")),
    ),
    "reduce_tile": Call(
        f"icb icb_scaler itile itile_scaler idst pool={int(Pool.SUM)} dim={int(ReduceDim.ROW)}",
        (
            (UNPACK, Op.UNPACK_AB, "icb icb_scaler itile itile_scaler 0 0"),
            (MATH, Op.MATH_REDUCE, "pool dim idst"),
        ),
    ),
    # --- pack
    "pack_tile": _one(
        PACK, Op.PACK, "idst ocb out_idx=0 out_of_order=0", "idst ocb (out_idx|if|out_of_order|else|-1) 1 0 0"
    ),
    "pack_tile_block": _one(PACK, Op.PACK, "idst ocb n", "idst ocb -1 n 0 0"),
    "pack_block": _one(PACK, Op.PACK, "idst ocb n", "idst ocb -1 n 0 0"),
    "pack_untilize_dest": _one(
        PACK, Op.PACK, "ocb block_rt_dim=1 block_c_index=0 block_ct_dim=8 full_ct_dim=8",
        "0 ocb block_c_index*block_ct_dim block_ct_dim full_ct_dim block_ct_dim",
    ),
    "pack_relu_config": _one(PACK, Op.CONFIG, "config", f"{int(Config.PACK_RELU)} config"),
    "pack_reconfig_l1_acc": _one(PACK, Op.CONFIG, "enable", f"{int(Config.PACK_L1_ACC)} enable"),
    "_unpack_tilize": _one(UNPACK, Op.UNPACK_A, "icb block tile", "icb tile 0 block 1"),
    "_math_copy": _one(MATH, Op.MATH_COPY, "idst", "idst 0"),
    "_pack_untilize": _one(PACK, Op.PACK, "ocb tile block", "0 ocb tile 1 block 1"),
}  # fmt: skip

for _name, _op in (("add", Binary.ADD), ("sub", Binary.SUB), ("mul", Binary.MUL)):
    for _dim, _bcast in (("rows", Bcast.ROW), ("cols", Bcast.COL), ("scalar", Bcast.SCALAR)):
        COMPUTE_CALLS[f"{_name}_tiles_bcast_{_dim}"] = _binary(_op, _bcast)
        for _form in (f"{_name}_bcast_{_dim}_init_short", f"{_name}_bcast_{_dim}_init",
                      f"{_name}_tiles_bcast_{_dim}_init_short"):  # fmt: skip
            COMPUTE_CALLS[_form] = _SHORT
    COMPUTE_CALLS[f"{_name}_tiles_bcast"] = _binary(_op, "bcast")
    COMPUTE_CALLS[f"{_name}_reuse_dest_tiles"] = Call(
        f"icb itile idst reuse={int(Reuse.DEST_TO_SRCA)}",
        ((UNPACK, Op.UNPACK_REUSE, "icb itile reuse"), (MATH, Op.MATH_BINARY, f"{int(_op)} idst 0 0 reuse")),
    )
    COMPUTE_CALLS[f"{_name}_reuse_dest_init"] = _SHORT
    COMPUTE_CALLS[f"{_name}_tiles_init"] = COMPUTE_CALLS[f"{_name}_init"] = Call(
        "icb0=0 icb1=0 acc_to_dest=0",
        ((COMPUTE, Op.CONFIG, f"{int(Config.SHORT_INIT)} 0"),),
        sets_acc="acc_to_dest",
    )

for _name in (
    "mm_init mm_block_init matmul_init matmul_block_init binary_op_init_common init_bcast bcast_init reduce_init init_sfpu "
    "unary_op_init_common transpose_wh_init transpose_init tilize_init untilize_init pack_untilize_init "
    "compute_kernel_hw_startup unary_bcast_init"
).split():
    COMPUTE_CALLS[_name] = _INIT
for _name in (
    "mm_init_short mm_init_short_with_dt mm_block_init_short mm_block_init_short_with_dt binary_tiles_init "
    "binary_dest_reuse_tiles_init reduce_init_short reduce_init_delta reduce_revert_delta reduce_uninit "
    "transpose_wh_init_short copy_tile_init copy_init copy_tile_to_dst_init_short copy_tile_to_dst_init_short_with_dt "
    "copy_dest_values_init tilize_init_short tilize_init_short_with_dt tilize_uninit tilize_uninit_with_dt "
    "untilize_init_short untilize_uninit pack_untilize_dest_init pack_untilize_dst_init_short pack_untilize_uninit "
    "binop_with_scalar_tile_init transpose_dest_init pack_init reconfigure_unary_bcast unary_bcast_uninit"
).split():
    COMPUTE_CALLS[_name] = _SHORT
for _name in (
    "pack_reconfig_data_format reconfig_data_format reconfig_data_format_srca reconfig_data_format_srcb"
).split():
    COMPUTE_CALLS[_name] = _RECONFIG
FREE_ARGUMENTS = {name for name, call in COMPUTE_CALLS.items() if call in (_INIT, _SHORT, _RECONFIG)}

for _name, (_function, _extra) in SFPU_API.items():
    _values = [f"p{i}" for i in range(_extra)]
    _padded = " ".join([*_values, *["0"] * (3 - _extra)])
    if isinstance(_function, SfpuBinary):
        COMPUTE_CALLS[f"{_name}_tile"] = _one(
            MATH, Op.SFPU_BINARY, " ".join(["idst0 idst1 odst", *_values]),
            f"{int(_function)} idst0 idst1 odst {_values[0] if _values else 0}",
        )  # fmt: skip
    else:
        COMPUTE_CALLS[f"{_name}_tile"] = _one(
            MATH, Op.SFPU_UNARY, " ".join(["idst", *_values]), f"{int(_function)} idst {_padded}"
        )
    COMPUTE_CALLS[f"{_name}_tile_init"] = _SHORT
    FREE_ARGUMENTS.add(f"{_name}_tile_init")

VALUES = {
    "get_arg_val": Value("i", "runtime_arg(ctx, {i})", "load"),
    "get_arg": Value("i", "runtime_arg(ctx, {i})", "load"),
    "get_common_arg_val": Value("i", "common_arg(ctx, {i})", "load"),
    "get_compile_time_arg_val": Value("i", "compile_arg(ctx, {i})"),
    "get_arg_addr": Value("i", f"(word(ctx, {ctx.L1_ARGS}) + 4 * ({{i}}))"),
    "get_common_arg_addr": Value("i", f"(word(ctx, {ctx.L1_COMMON_ARGS}) + 4 * ({{i}}))"),
    "get_absolute_logical_x": Value("", f"word(ctx, {ctx.LOGICAL_X})"),
    "get_absolute_logical_y": Value("", f"word(ctx, {ctx.LOGICAL_Y})"),
    "get_relative_logical_x": Value("", f"word(ctx, {ctx.RELATIVE_X})"),
    "get_relative_logical_y": Value("", f"word(ctx, {ctx.RELATIVE_Y})"),
    "get_write_ptr": Value("cb", f"cb_word(ctx, {{cb}}, {ctx.CB_WRITE_PTR})", "load"),
    "get_read_ptr": Value("cb", f"cb_word(ctx, {{cb}}, {ctx.CB_READ_PTR})", "load"),
    "get_tile_size": Value("cb", f"cb_word(ctx, {{cb}}, {ctx.CB_TILE_SIZE})", "load"),
    "get_entry_size": Value("cb", f"cb_word(ctx, {{cb}}, {ctx.CB_PAGE_SIZE})", "load"),
    "get_tile_hw": Value("cb", f"cb_word(ctx, {{cb}}, {ctx.CB_TILE_HW})", "load"),
    "get_tile_num_faces": Value("cb", f"cb_word(ctx, {{cb}}, {ctx.CB_FACES})", "load"),
    "get_dataformat": Value("cb", f"cb_word(ctx, {{cb}}, {ctx.CB_FORMAT})", "load"),
    "get_semaphore": Value("id", f"(word(ctx, {ctx.SEMAPHORE_BASE}) + 16 * ({{id}}))"),
    "get_noc_multicast_addr": Value("x0 y0 x1 y1 addr noc=0", "multicast_address({x0}, {y0}, {x1}, {y1}, {addr})"),
    "get_noc_addr_from_bank_id": Value("bank offset dram=1 noc=0", "bank_address(ctx, {bank}, {offset}, {dram})"),
    "my_x": Value("noc=0", f"word(ctx, {ctx.MY_X})"),
    "my_y": Value("noc=0", f"word(ctx, {ctx.MY_Y})"),
    "uint32": Value("v", "(({v}) & 0xFFFFFFFF)"),
    "uint16": Value("v", "(({v}) & 0xFFFF)"),
    "uint8": Value("v", "(({v}) & 0xFF)"),
    "int32": Value("v", "(((({v}) & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000)"),
    "min": Value("a b", "min({a}, {b})"),
    "max": Value("a b", "max({a}, {b})"),
    "abs": Value("a", "abs({a})"),
    "int": Value("a", "int({a})"),
    "bool": Value("a", "(1 if ({a}) else 0)"),
}

# Element types of L1 pointers: bytes and whether a load sign-extends
POINTER_TYPES = {
    "uint8": (1, False), "uint16": (2, False), "uint32": (4, False),
    "int8": (1, True), "int16": (2, True), "int32": (4, True),
}  # fmt: skip

# Calls that are several operations in a loop, written in the kernel language itself.
MACROS = """
def tilize_block(icb, block, ocb):
    for tile in range(block):
        tile_regs_acquire()
        _unpack_tilize(icb, block, tile)
        _math_copy(0)
        tile_regs_commit()
        tile_regs_wait()
        pack_tile(0, ocb)
        tile_regs_release()

def untilize_block(icb, block, ocb):
    for tile in range(block):
        tile_regs_acquire()
        copy_tile(icb, tile, 0)
        tile_regs_commit()
        tile_regs_wait()
        _pack_untilize(ocb, tile, block)
        tile_regs_release()

def pack_untilize_block(icb, block_rt_dim, ocb, block_ct_dim=8):
    for tile in range(block_ct_dim * block_rt_dim):
        tile_regs_acquire()
        copy_tile(icb, tile, 0)
        tile_regs_commit()
        tile_regs_wait()
        _pack_untilize(ocb, tile, block_ct_dim)
        tile_regs_release()

def copy_block_matmul_partials(icb, start, idst, ntiles):
    for tile in range(ntiles):
        copy_tile(icb, start + tile, idst + tile)
"""

CALLS = DATA_MOVEMENT | COMPUTE_CALLS

# Constants every kernel may use by name
CONSTANTS = {
    "SUM": int(Pool.SUM), "AVG": int(Pool.AVG), "MAX": int(Pool.MAX),
    "REDUCE_ROW": int(ReduceDim.ROW), "REDUCE_COL": int(ReduceDim.COL), "REDUCE_SCALAR": int(ReduceDim.SCALAR),
    "BCAST_NONE": int(Bcast.NONE), "BCAST_COL": int(Bcast.COL), "BCAST_ROW": int(Bcast.ROW),
    "BCAST_SCALAR": int(Bcast.SCALAR), "ELWADD": int(Binary.ADD), "ELWSUB": int(Binary.SUB), "ELWMUL": int(Binary.MUL),
    "DEST_TO_SRCA": int(Reuse.DEST_TO_SRCA), "DEST_TO_SRCB": int(Reuse.DEST_TO_SRCB),
    "NOC_0": 0, "NOC_1": 1, "RELU_OFF": 0, "RELU_ZERO": 1,
}  # fmt: skip

# Known names that tensim does not model: refused with a reason instead of "unknown".
REFUSED_PREFIXES = (
    "topk_", "max_reduce_with_indices", "quant_", "requant_", "dequant_", "welford_", "two_pass_stats_", "remote_cb_",
    "fast_tilize", "unpack_tilizeA_B", "tilizeA_B_", "resize_remote_", "align_local_cbs", "update_remote_cb",
)  # fmt: skip
