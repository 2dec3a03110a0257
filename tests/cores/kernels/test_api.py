"""The kernel API: every call of docs/hardware/kernel_api.md compiles and posts its operations, or is refused by name."""

import builtins

import numpy as np
import pytest

from tensim.sim.cores import context as ctx
from tensim.sim.cores.kernels.api import REFUSED_PREFIXES
from tensim.sim.cores.kernels.compiler import kernel_from_source
from tensim.sim.cores.kernels.lowering_calls import call_names
from tensim.sim.cores.numerics.sfpu_functions import SFPU_API, SfpuUnary
from tensim.sim.cores.operations import Barrier, Bcast, Binary, Config, Issue, Op, Pool, ReduceDim, Reuse, Role
from tensim.sim.errors import KernelCompileError
from tests.cores.kernels.driver import ARGUMENTS_AT, SEMAPHORES, Driver

OUT = 1024
NOC = 1  # the driver's noc_index
FAR = 4 << 36 | 5 << 42 | 4096  # a NoC address
RECTANGLE = 6 << 36 | 7 << 42 | 4 << 48 | 5 << 54 | 4096
ONE, PAGE = int(Issue.ONE_PACKET), int(Issue.PAGE)
U, M, P = Role.UNPACK, Role.MATH, Role.PACK


def kernel_of(lines):
    body = "\n".join(f"    {line}" for line in lines)
    return kernel_from_source(f"@kernel\ndef k():\n{body}\n", "k")


def posted(lines, role=Role.DATA_MOVEMENT, **surroundings):
    """[(operation, arguments...)] of each line of one kernel; states that a call sets hold for the lines after it."""
    driver = Driver(role=role, **surroundings)
    found = [[] for _ in lines]
    for op, args, line, _ in driver.run(kernel_of(lines).compile()):
        if op != Op.SPEND:
            found[line - 3].append((op, *args))
    return found


def assert_posts(table, role, **surroundings):
    """Each (call, operations...) of the table posts just these operations; arguments are compared as far as given."""
    lines = [call for call, *_ in table]
    for (call, *wanted), found in zip(table, posted(lines, role, **surroundings), strict=True):
        assert [one[: len(want)] for one, want in zip(found, wanted, strict=False)] == wanted, call
        assert len(found) == len(wanted), call


# --- data movement: call -> operations

GENERATOR = "InterleavedAddrGen(64, 96, dram=True)"  # DRAM pages of 96 bytes: three times the alignment
PAGE_5 = (9 << 42) + (1 << 36) + 64 + 96  # page 5 of 4 banks: the second one of bank 1, by its endpoint on NoC 1
PAGE_5_NOC0 = PAGE_5 - (1 << 42)
TRANSFERS = [
    (f"noc_async_read({FAR}, 64, 96)", (Op.NOC_READ, FAR, 64, 96, NOC, -1, 0, -1)),
    (f"noc_async_read({FAR}, 64, 96, noc=0, max_page_size=128)", (Op.NOC_READ, FAR, 64, 96, 0, -1, 0, -1)),
    (f"noc_async_read_one_packet({FAR}, 64, 96)", (Op.NOC_READ, FAR, 64, 96, NOC, -1, ONE, -1)),
    (f"noc_async_read_one_packet_set_state({FAR}, 96)", (Op.NOC_SET_STATE, 0, FAR, 96, NOC, 0, -1, -1)),
    ("noc_async_read_one_packet_with_state(128, 64)", (Op.NOC_READ_WITH_STATE, 128, 64, 0, NOC, -1, 1)),
    (f"noc_async_read_one_packet_set_state({FAR}, 96, vc=2)", (Op.NOC_SET_STATE, 0, FAR, 96, NOC, 0, -1, -1)),
    (f"noc_async_read_one_packet_set_state({FAR}, 96, vc=2, use_vc=True)", (Op.NOC_SET_STATE, 0, FAR, 96, NOC, 0, 2, -1)),
    (f"noc_async_read_set_state({FAR})", (Op.NOC_SET_STATE, 0, FAR, 0, NOC, 0, -1, -1)),
    ("noc_async_read_with_state(128, 64, 32)", (Op.NOC_READ_WITH_STATE, 128, 64, 32, NOC, -1, 1)),
    ("noc_async_read_with_state(128, 64, 32, inc_num_issued=False)", (Op.NOC_READ_WITH_STATE, 128, 64, 32, NOC, -1, 0)),
    ("noc_async_read_inc_num_issued(3)", (Op.NOC_INC_ISSUED, 3, NOC)),
    (f"noc_async_write(64, {FAR}, 96)", (Op.NOC_WRITE, 64, FAR, 96, NOC, -1, 0, 0, -1)),
    (f"noc_async_write(64, {FAR}, 96, posted=True)", (Op.NOC_WRITE, 64, FAR, 96, NOC, -1, 0, 1, -1)),
    (f"noc_async_write_one_packet(64, {FAR}, 96)", (Op.NOC_WRITE, 64, FAR, 96, NOC, -1, ONE, 0, -1)),
    (f"noc_async_write_one_packet_set_state({FAR}, 96)", (Op.NOC_SET_STATE, 1, FAR, 96, NOC, 0, -1, -1)),
    ("noc_async_write_one_packet_with_state(64, 128)", (Op.NOC_WRITE_WITH_STATE, 64, 128, 0, NOC, -1)),
    (f"noc_async_write_multicast(64, {RECTANGLE}, 96, 9)", (Op.NOC_MULTICAST, 64, RECTANGLE, 96, 9, 0, 0, NOC)),
    (f"noc_async_write_multicast(64, {RECTANGLE}, 96, 9, True)", (Op.NOC_MULTICAST, 64, RECTANGLE, 96, 9, 1, 0, NOC)),
    (f"noc_async_write_multicast_one_packet(64, {RECTANGLE}, 96, 9)", (Op.NOC_MULTICAST, 64, RECTANGLE, 96, 9, 0, 0, NOC)),
    (f"noc_async_write_multicast_loopback_src(64, {RECTANGLE}, 96, 9)", (Op.NOC_MULTICAST, 64, RECTANGLE, 96, 9, 0, 1, NOC)),
    (f"noc_inline_dw_write({FAR}, 7, 0xF)", (Op.NOC_INLINE_WRITE, FAR, 7, 15, NOC, 0, -1)),
    # address generators
    (f"noc_async_read_page(5, {GENERATOR}, 64)", (Op.NOC_READ, PAGE_5, 64, 96, NOC, -1, PAGE, -1)),
    (f"noc_async_read_page(5, {GENERATOR}, 64, offset=32)", (Op.NOC_READ, PAGE_5 + 32, 64, 64, NOC, -1, PAGE, -1)),
    (f"noc_async_read_tile(5, {GENERATOR}, 64)", (Op.NOC_READ, PAGE_5, 64, 96, NOC, -1, PAGE, -1)),
    (f"noc_async_write_page(5, {GENERATOR}, 64)", (Op.NOC_WRITE, 64, PAGE_5, 96, NOC, -1, PAGE)),
    (f"noc_async_write_page(5, {GENERATOR}, 64, 16, 32)", (Op.NOC_WRITE, 64, PAGE_5 + 32, 16, NOC, -1, PAGE)),
    (f"noc_async_write_tile(5, {GENERATOR}, 64)", (Op.NOC_WRITE, 64, PAGE_5, 96, NOC, -1, PAGE)),
    # barriers
    *(
        (f"{name}()", (Op.NOC_BARRIER, int(kind), NOC, -1))
        for name, kind in {
            "noc_async_read_barrier": Barrier.READ, "noc_async_write_barrier": Barrier.WRITE,
            "noc_async_writes_flushed": Barrier.WRITES_FLUSHED, "noc_async_atomic_barrier": Barrier.ATOMIC,
            "noc_async_posted_writes_flushed": Barrier.POSTED_WRITES_FLUSHED, "noc_async_full_barrier": Barrier.FULL,
        }.items()
    ),
    # semaphores
    ("noc_semaphore_set(get_semaphore(2), 5)", (Op.STORE, SEMAPHORES + 32, 5, 4)),
    ("noc_semaphore_set(l1_ptr(get_semaphore(2), uint32), 5)", (Op.STORE, SEMAPHORES + 32, 5, 4)),
    ("noc_semaphore_wait(get_semaphore(0), 5)", (Op.SEM_WAIT, SEMAPHORES, 5)),
    ("noc_semaphore_wait_min(get_semaphore(0), 5)", (Op.SEM_WAIT_MIN, SEMAPHORES, 5)),
    (f"noc_semaphore_inc({FAR}, 2)", (Op.NOC_ATOMIC_INC, FAR, 2, NOC, 0, -1)),
    (f"noc_semaphore_inc({FAR}, 2, 0, vc=3, posted=True)", (Op.NOC_ATOMIC_INC, FAR, 2, 0, 1, 3)),
    (f"noc_semaphore_set_remote(64, {FAR})", (Op.NOC_WRITE, 64, FAR, 4, NOC, -1, ONE, 0, -1)),
    (f"noc_semaphore_set_multicast(64, {RECTANGLE}, 9)", (Op.NOC_MULTICAST, 64, RECTANGLE, 4, 9, 0, 0, NOC)),
    (f"noc_semaphore_set_multicast_loopback_src(64, {RECTANGLE}, 9)", (Op.NOC_MULTICAST, 64, RECTANGLE, 4, 9, 0, 1, NOC)),
    (f"noc_semaphore_inc_multicast({RECTANGLE}, 1, 9)", (Op.NOC_MULTICAST_INC, RECTANGLE, 1, 9, NOC)),
    # circular buffers
    ("cb_reserve_back(3, 2)", (Op.CB_RESERVE_BACK, 3, 2)),
    ("cb_push_back(3, 2)", (Op.CB_PUSH_BACK, 3, 2)),
    ("cb_wait_front(3, 2)", (Op.CB_WAIT_FRONT, 3, 2)),
    ("cb_pop_front(3, 2)", (Op.CB_POP_FRONT, 3, 2)),
    ("invalidate_l1_cache()",),
    ('WAYPOINT("NRW")',),
    # objects
    ("noc = Noc(0)",),
    ("cb = CircularBuffer(3)",),
    ("sem = Semaphore(1)",),
    ("cb.reserve_back(2)", (Op.CB_RESERVE_BACK, 3, 2)),
    ("cb.push_back(2)", (Op.CB_PUSH_BACK, 3, 2)),
    ("cb.wait_front(2)", (Op.CB_WAIT_FRONT, 3, 2)),
    ("cb.pop_front(2)", (Op.CB_POP_FRONT, 3, 2)),
    ("sem.set(4)", (Op.STORE, SEMAPHORES + 16, 4, 4)),
    ("sem.wait(4)", (Op.SEM_WAIT, SEMAPHORES + 16, 4)),
    ("sem.wait_min(4)", (Op.SEM_WAIT_MIN, SEMAPHORES + 16, 4)),
    ("sem.up(noc, 4, 5, 3)", (Op.NOC_ATOMIC_INC, 4 << 36 | 5 << 42 | SEMAPHORES + 16, 3, 0, 0)),
    (
        "sem.set_multicast(noc, 4, 5, 6, 7, 9)",
        (Op.NOC_MULTICAST, SEMAPHORES + 16, RECTANGLE - 4096 + SEMAPHORES + 16, 4, 9, 0, 0, 0),
    ),
    (f"noc.async_read({GENERATOR}, cb, 96, page_id=5)", (Op.NOC_READ, PAGE_5_NOC0, 4096 + 128, 96, 0)),
    (f"noc.async_write(cb, {GENERATOR}, 96, page_id=5)", (Op.NOC_WRITE, 8192, PAGE_5_NOC0, 96, 0)),
    (f"noc.async_write(CoreLocalMem(64), {FAR}, 96)", (Op.NOC_WRITE, 64, FAR, 96, 0)),
    (f"noc.async_write_multicast(64, {RECTANGLE}, 96, 9)", (Op.NOC_MULTICAST, 64, RECTANGLE, 96, 9, 0, 0, 0)),
    (f"noc.set_async_read_state({FAR}, 96)", (Op.NOC_SET_STATE, 0, FAR, 96, 0)),
    ("noc.async_read_with_state(128, 64)", (Op.NOC_READ_WITH_STATE, 128, 64, 0, 0)),
    ("noc.async_read_barrier()", (Op.NOC_BARRIER, int(Barrier.READ), 0)),
    ("noc.async_write_barrier()", (Op.NOC_BARRIER, int(Barrier.WRITE), 0)),
    ("noc.async_writes_flushed()", (Op.NOC_BARRIER, int(Barrier.WRITES_FLUSHED), 0)),
    ("noc.async_atomic_barrier()", (Op.NOC_BARRIER, int(Barrier.ATOMIC), 0)),
    ("noc.async_full_barrier()", (Op.NOC_BARRIER, int(Barrier.FULL), 0)),
    # transaction ids; a set id stays for the calls after it
    ("noc_async_read_barrier_with_trid(3)", (Op.NOC_BARRIER, int(Barrier.READ_TRID), NOC, 3)),
    ("ncrisc_noc_read_with_transaction_id_flushed(1, 3)", (Op.NOC_READS_ENDED, 1, 3)),
    ("noc_async_write_barrier_with_trid(3)", (Op.NOC_BARRIER, int(Barrier.WRITE_TRID), NOC, 3)),
    ("noc_async_write_flushed_with_trid(3)", (Op.NOC_BARRIER, int(Barrier.WRITE_FLUSHED_TRID), NOC, 3)),
    ("noc_async_read_set_trid(4)",),
    (f"noc_async_read({FAR}, 64, 32)", (Op.NOC_READ, FAR, 64, 32, NOC, 4, 0)),
    ("noc_async_write_set_trid(5)",),
    (f"noc_async_write(64, {FAR}, 32)", (Op.NOC_WRITE, 64, FAR, 32, NOC, 5, 0, 0, -1)),
    (f"noc_async_write_one_packet_with_trid(64, {FAR}, 32, 6)", (Op.NOC_WRITE, 64, FAR, 32, NOC, 6, ONE, 0, -1)),
    (f"noc_async_write_one_packet_with_trid(64, {FAR}, 32, 6, posted=1)", (Op.NOC_WRITE, 64, FAR, 32, NOC, 6, ONE, 1, -1)),
    (f"noc_async_write_one_packet_with_trid_set_state({FAR})", (Op.NOC_SET_STATE, 1, FAR, 0, NOC, 0, -1, -1)),
    ("noc_async_write_one_packet_with_trid_with_state(64, 128, 32, 6)", (Op.NOC_WRITE_WITH_STATE, 64, 128, 32, NOC, 6)),
    ("noc_async_read_one_packet_with_state_with_trid(128, 32, 64, 7)", (Op.NOC_READ_WITH_STATE, 160, 64, 0, NOC, 7, 1)),
    ("b = noc_async_read_tile_dram_sharded_set_state(64, 96, 2)", (Op.NOC_SET_STATE, 0, (9 << 42) + (2 << 36) + 64, 96, NOC)),
    ("noc_async_read_tile_dram_sharded_with_state(b, 32, 64)", (Op.NOC_READ_WITH_STATE, 96, 64, 0, NOC, 4, 1)),
    ("noc_async_read_tile_dram_sharded_with_state_with_trid(b, 32, 64, 8)", (Op.NOC_READ_WITH_STATE, 96, 64, 0, NOC, 8, 1)),
]  # fmt: skip
CB = {3: {ctx.CB_WRITE_PTR: 4096, ctx.CB_READ_PTR: 8192, ctx.CB_PAGE_SIZE: 64, ctx.CB_TILE_SIZE: 2048, ctx.CB_FORMAT: 5,
          ctx.CB_TILE_HW: 1024, ctx.CB_FACES: 4, ctx.CB_PAGES: 8, ctx.CB_SIZE: 512}}  # fmt: skip


@pytest.mark.parametrize("part", range(2))
def test_transfers_barriers_and_semaphores(part):
    """The second half starts with objects: what they are made of stays in the same kernel."""
    split = next(i for i, (call, *_) in enumerate(TRANSFERS) if call.startswith("noc = "))
    table = TRANSFERS[:split] if part == 0 else TRANSFERS[split:]
    assert_posts(table, Role.DATA_MOVEMENT, cbs=CB)


# --- calls with a value

L1_PAGE_4 = (1 << 42) + (2 << 36) + 64 + 64  # page 4 of 3 L1 banks, of 50 bytes aligned to 64
VALUES = {
    "get_arg_val(1)": 22, "get_arg(0)": 11, "get_common_arg_val(0)": 33, "get_compile_time_arg_val(0)": 44,
    "get_arg_addr(1)": ARGUMENTS_AT + 4, "get_absolute_logical_x()": 2, "get_absolute_logical_y()": 4,
    "get_relative_logical_x()": 1, "get_relative_logical_y()": 0, "my_x[0]": 3, "my_y[noc_index]": 5, "noc_index": NOC,
    "NOC_MAX_BURST_SIZE": 8192, "get_write_ptr(3)": 4096, "get_read_ptr(3)": 8192, "get_tile_size(3)": 2048,
    "get_entry_size(3)": 64, "get_tile_hw(3)": 1024, "get_tile_num_faces(3)": 4, "get_dataformat(3)": 5,
    "get_tile_address(3, 2)": 8192 + 128, "get_local_cb_interface(3).fifo_page_size": 64,
    "get_local_cb_interface(3).fifo_num_pages": 8, "get_local_cb_interface(3).fifo_size": 512,
    "get_local_cb_interface(3).fifo_rd_ptr": 8192, "CircularBuffer(3).get_write_ptr()": 4096,
    "CircularBuffer(3).get_tile_size()": 2048, "CircularBuffer(3).get_id()": 3,
    "cb_pages_reservable_at_back(3, 1)": 1, "cb_pages_available_at_front(3, 1)": 1,
    "get_semaphore(2)": SEMAPHORES + 32, "get_noc_addr(4, 5, 4096)": FAR, "get_noc_addr(64)": 3 << 36 | 5 << 42 | 64,
    "get_noc_multicast_addr(4, 5, 6, 7, 4096)": RECTANGLE,
    "get_noc_addr_from_bank_id(2, 64)": (9 << 42) + (2 << 36) + 64,
    "get_noc_addr_from_bank_id(2, 64, dram=False)": (1 << 42) + (3 << 36) + 64,
    f"get_noc_addr(5, {GENERATOR})": PAGE_5, f"get_noc_addr(5, {GENERATOR}, 8)": PAGE_5 + 8,
    f"{GENERATOR}.get_noc_addr(5)": PAGE_5, "get_dram_noc_addr(5, 96, 64)": PAGE_5, "get_l1_noc_addr(4, 50, 64)": L1_PAGE_4,
    "get_noc_addr(4, InterleavedAddrGen(64, 50, dram=False))": L1_PAGE_4,
    "get_noc_addr(5, InterleavedAddrGenFast(64, 96, DataFormat.Float16_b))": PAGE_5,
    "get_noc_addr(5, InterleavedPow2AddrGen(64, 7))": PAGE_5 + 32,
    "get_noc_addr(5, InterleavedPow2AddrGenFast(64, 7))": PAGE_5 + 32,
    "bf16_to_fp32(0x3F80)": 0x3F800000, "fp32_to_bf16_truncate(0x3F80FFFF)": 0x3F80, "mulsi3(6, 7)": 42,
}  # fmt: skip


def test_values():
    lines = [f"out = l1_ptr({OUT}, uint32)", *(f"out[0] = {call}" for call in VALUES)]
    found = posted(lines, args=(11, 22), common=(33,), compile_args=(44,), cbs=CB)
    stored = [[args[1] for op, *args in line if op == Op.STORE] for line in found]
    assert dict(zip(VALUES, stored[1:], strict=True)) == {call: [value] for call, value in VALUES.items()}


def test_common_argument_addresses_are_words_apart():
    found = posted([f"l1_ptr({OUT})[0] = get_common_arg_addr(3) - get_common_arg_addr(1)"])
    assert found[0][0][2] == 8


def test_read_tile_value():
    """The element of a tile at the front of a circular buffer, as a 32-bit word."""
    driver = Driver(cbs={3: {ctx.CB_READ_PTR: 4096, ctx.CB_PAGE_SIZE: 64}})
    driver.l1[4096 + 64 + 8 : 4096 + 64 + 12].view(np.uint32)[0] = 0xABCDEF
    driver.run(kernel_of([f"l1_ptr({OUT})[0] = read_tile_value(3, 1, 2)"]).compile())
    assert driver.word(OUT) == 0xABCDEF


# --- compute: call -> operations of the unpack, math and pack threads

ADD, SUB, MUL = int(Binary.ADD), int(Binary.SUB), int(Binary.MUL)
ROW, COL, SCALAR = int(Bcast.ROW), int(Bcast.COL), int(Bcast.SCALAR)
A, B = int(Reuse.DEST_TO_SRCA), int(Reuse.DEST_TO_SRCB)


def binary(op, bcast):
    return {U: [(Op.UNPACK_AB, 0, 1, 2, 3, bcast, 0)], M: [(Op.MATH_BINARY, op, 4, bcast, 0, 0)]}


def move(transpose, bcast):
    return {U: [(Op.UNPACK_A, 0, 2, transpose, 0, 1)], M: [(Op.MATH_COPY, 4, bcast)]}


def reused(op, reuse):
    return {U: [(Op.UNPACK_REUSE, 0, 2, reuse)], M: [(Op.MATH_BINARY, op, 4, 0, 0, reuse)]}


def product(rows, columns, inner, transpose):
    return {
        U: [(Op.UNPACK_MATMUL, 0, 1, 2, 3, columns, rows, inner, transpose)],
        M: [(Op.MATH_MATMUL, 4, columns, rows)],
    }


COMPUTE = {
    "tile_regs_acquire()": {M: [(Op.DST_ACQUIRE,)]}, "tile_regs_commit()": {M: [(Op.DST_COMMIT,)]},
    "tile_regs_wait()": {P: [(Op.DST_WAIT,)]}, "tile_regs_release()": {P: [(Op.DST_RELEASE,)]},
    "acquire_dst()": {M: [(Op.DST_ACQUIRE,)], P: [(Op.DST_WAIT,)]},
    "release_dst()": {M: [(Op.DST_COMMIT,)], P: [(Op.DST_RELEASE,)]},
    "cb_reserve_back(3, 1)": {P: [(Op.CB_RESERVE_BACK, 3, 1)]}, "cb_push_back(3, 1)": {P: [(Op.CB_PUSH_BACK, 3, 1)]},
    "cb_wait_front(3, 1)": {U: [(Op.CB_WAIT_FRONT, 3, 1)]}, "cb_pop_front(3, 1)": {U: [(Op.CB_POP_FRONT, 3, 1)]},
    "matmul_tiles(0, 1, 2, 3, 4, False)": product(1, 1, 1, 0), "matmul_tiles(0, 1, 2, 3, 4, True)": product(1, 1, 1, 1),
    "matmul_block(0, 1, 2, 3, 4, False, 2, 3, 5)": product(3, 2, 5, 0), "matmul_tiles_math(4)": {M: [(Op.MATH_MATMUL, 4, 1, 1)]},
    "add_tiles(0, 1, 2, 3, 4)": binary(ADD, 0), "sub_tiles(0, 1, 2, 3, 4)": binary(SUB, 0),
    "mul_tiles(0, 1, 2, 3, 4)": binary(MUL, 0), "add_tiles_bcast_rows(0, 1, 2, 3, 4)": binary(ADD, ROW),
    "sub_tiles_bcast_cols(0, 1, 2, 3, 4)": binary(SUB, COL), "mul_tiles_bcast_scalar(0, 1, 2, 3, 4)": binary(MUL, SCALAR),
    "mul_tiles_bcast(0, 1, 2, 3, 4, dim=BroadcastType.COL)": binary(MUL, COL),
    "add_tiles_bcast(0, 1, 2, 3, 4, dim=BCAST_ROW)": binary(ADD, ROW),
    "copy_tile(0, 2, 4)": move(0, 0), "transpose_wh_tile(0, 2, 4)": move(1, 0), "transpose_tile(0, 2, 4)": move(1, 0),
    "unary_bcast(0, 2, 4, bcast_type=BroadcastType.COL)": move(0, COL),
    "binary_dest_reuse_tiles(0, 2, 4, EltwiseBinaryType.ELWMUL, DEST_TO_SRCB)": reused(MUL, B),
    "add_reuse_dest_tiles(0, 2, 4)": reused(ADD, A),
    "reduce_tile(0, 1, 2, 3, 4, pool=PoolType.MAX, dim=REDUCE_COL)": {
        U: [(Op.UNPACK_AB, 0, 1, 2, 3, 0, 0)], M: [(Op.MATH_REDUCE, int(Pool.MAX), int(ReduceDim.COL), 4)]},
    "reduce_tile_math(4, pool=AVG, dim=REDUCE_SCALAR)": {M: [(Op.MATH_REDUCE, int(Pool.AVG), int(ReduceDim.SCALAR), 4)]},
    "sfpu_reduce(4, pool=PoolType.MAX, dim=REDUCE_ROW)": {M: [(Op.SFPU_REDUCE, int(Pool.MAX), int(ReduceDim.ROW), 4)]},
    "transpose_dest(4)": {M: [(Op.MATH_TRANSPOSE_DST, 4)]}, "copy_dest_values(4, 5)": {M: [(Op.MATH_COPY_DST, 4, 5)]},
    "pack_tile(4, 3)": {P: [(Op.PACK, 4, 3, -1, 1, 0, 0)]},
    "pack_tile(4, 3, 2, out_of_order_output=True)": {P: [(Op.PACK, 4, 3, 2, 1, 0, 0)]},
    "pack_tile_block(4, 3, 2)": {P: [(Op.PACK, 4, 3, -1, 2, 0, 0)]}, "pack_block(4, 3, 2)": {P: [(Op.PACK, 4, 3, -1, 2, 0, 0)]},
    "pack_untilize_dest(3, block_ct_dim=2, full_ct_dim=4)": {P: [(Op.PACK, 0, 3, 0, 2, 4, 2)]},
    "pack_untilize_dst(3, 2, 1, 2, 4)": {P: [(Op.PACK, 0, 3, 2, 2, 4, 2), (Op.PACK, 2, 3, 6, 2, 4, 2)]},
    "pack_reconfig_l1_acc(1)": {P: [(Op.CONFIG, int(Config.PACK_L1_ACC), 1)]},
    "pack_relu_config(ReluType.ZERO_RELU)": {P: [(Op.CONFIG, int(Config.PACK_RELU), 1)]},
    "pack_relu_config(ReluType.MIN_THRESHOLD_RELU, 6)": {P: [(Op.CONFIG, int(Config.PACK_RELU), 26)]},
    "copy_block_matmul_partials(0, 2, 4, 2)": {
        U: [(Op.UNPACK_A, 0, 2, 0), (Op.UNPACK_A, 0, 3, 0)], M: [(Op.MATH_COPY, 4, 0), (Op.MATH_COPY, 5, 0)]},
    "copy_block(0, 2, 4, 1)": {U: [(Op.UNPACK_A, 0, 2, 0)], M: [(Op.MATH_COPY, 4, 0)]},
    "tilize_block(0, 2, 3)": {
        U: [(Op.UNPACK_A, 0, 0, 0, 2, 2)],
        M: [(Op.DST_ACQUIRE,), (Op.MATH_COPY, 0, 0), (Op.DST_COMMIT,)] * 2,
        P: [(Op.DST_WAIT,), (Op.PACK, 0, 3, 0, 1, 0, 0), (Op.DST_RELEASE,),
            (Op.DST_WAIT,), (Op.PACK, 0, 3, 1, 1, 0, 0), (Op.DST_RELEASE,)],
    },
    "untilize_block(0, 1, 3)": {
        U: [(Op.UNPACK_A, 0, 0, 0)], M: [(Op.DST_ACQUIRE,), (Op.MATH_COPY, 0, 0), (Op.DST_COMMIT,)],
        P: [(Op.DST_WAIT,), (Op.PACK, 0, 3, 0, 1, 1, 1), (Op.DST_RELEASE,)],
    },
    "pack_untilize_block(0, 1, 3, block_ct_dim=1)": {
        U: [(Op.UNPACK_A, 0, 0, 0)], M: [(Op.DST_ACQUIRE,), (Op.MATH_COPY, 0, 0), (Op.DST_COMMIT,)],
        P: [(Op.DST_WAIT,), (Op.PACK, 0, 3, 0, 1, 1, 1), (Op.DST_RELEASE,)],
    },
    # an init call's accumulation holds for the calls after it, until the next init call
    "add_tiles_init(0, 1, True)": {U: [(Op.CONFIG, int(Config.SHORT_INIT))], M: [(Op.CONFIG, int(Config.SHORT_INIT))]},
    "add_tiles(1, 0, 2, 3, 4)": {U: [(Op.UNPACK_AB, 1, 0, 2, 3, 0, 0)], M: [(Op.MATH_BINARY, ADD, 4, 0, 1, 0)]},
    "mul_tiles_init(0, 1)": {U: [(Op.CONFIG, int(Config.SHORT_INIT))], M: [(Op.CONFIG, int(Config.SHORT_INIT))]},
    "mul_tiles(1, 0, 2, 3, 4)": {U: [(Op.UNPACK_AB, 1, 0, 2, 3, 0, 0)], M: [(Op.MATH_BINARY, MUL, 4, 0, 0, 0)]},
}  # fmt: skip


@pytest.mark.parametrize("role", [U, M, P])
def test_compute_calls_act_on_their_threads(role):
    assert_posts([(call, *threads.get(role, [])) for call, threads in COMPUTE.items()], role, cbs={0: {}, 3: {}})


# --- configuration: any arguments, one cost on the threads it configures

CONFIGURATION = """mm_init mm_init_short mm_init_short_with_dt mm_block_init mm_block_init_short mm_block_init_short_with_dt
    matmul_init matmul_block_init binary_op_init_common add_tiles_init sub_tiles_init mul_tiles_init add_init sub_init mul_init
    binary_tiles_init binary_dest_reuse_tiles_init add_reuse_dest_init mul_reuse_dest_init init_bcast bcast_init
    add_bcast_rows_init_short mul_bcast_cols_init_short sub_tiles_bcast_scalar_init_short add_bcast_rows_init mul_bcast_scalar_init
    unary_bcast_init reconfigure_unary_bcast reduce_init reduce_init_short reduce_init_delta reduce_revert_delta reduce_uninit
    transpose_wh_init transpose_wh_init_short transpose_init transpose_dest_init copy_tile_init copy_init
    copy_tile_to_dst_init_short copy_tile_to_dst_init_short_with_dt copy_dest_values_init pack_reconfig_data_format
    reconfig_data_format reconfig_data_format_srca reconfig_data_format_srcb tilize_init tilize_init_short
    tilize_init_short_with_dt tilize_uninit tilize_uninit_with_dt fast_tilize_init fast_tilize_uninit untilize_init
    untilize_init_short untilize_uninit pack_untilize_init pack_untilize_dest_init pack_untilize_dst_init_short
    pack_untilize_uninit init_sfpu unary_op_init_common compute_kernel_hw_startup binop_with_scalar_tile_init pack_init
    max_tile_init mask_tile_init""".split()


@pytest.mark.parametrize("role", [U, M, P])
def test_configuration_calls_cost_and_do_nothing_else(role):
    found = posted([f"{name}(0, 1)" if name != "mask_tile_init" else f"{name}()" for name in CONFIGURATION], role)
    for name, ops in zip(CONFIGURATION, found, strict=True):
        assert [op for op, *_ in ops] in ([], [Op.CONFIG]), name


SHORT = """matmul_init matmul_block_init bcast_init unary_bcast_init transpose_init reduce_init tilize_init untilize_init
    copy_init add_init""".split()


@pytest.mark.parametrize("role", [U, M, P])
def test_only_the_start_writes_a_whole_configuration(role):
    """Behind compute_kernel_hw_startup, calls of release 0.81.1 set up an operation alone; the packer hardly ever needs it."""
    found = posted([f"{name}(0, 1)" for name in SHORT], role)
    of_all = {"reduce_init", "tilize_init"}
    for name, ops in zip(SHORT, found, strict=True):
        wanted = [Config.SHORT_INIT] if role != P or name in of_all else []
        assert [register for _, register, *_ in ops] == wanted, name


def test_every_configuration_call_configures_some_thread():
    code = kernel_of([f"{name}(0, 1)" if name != "mask_tile_init" else f"{name}()" for name in CONFIGURATION]).compile()
    lines = {line for role in (U, M, P) for op, _, line, _ in Driver(role=role).run(code) if op == Op.CONFIG}
    assert lines == set(range(3, 3 + len(CONFIGURATION)))


# --- the vector unit

SFPU_NAMES = """exp exp2 expm1 log log_with_base log1p sqrt rsqrt recip cbrt square power rpow abs abs_int32 sign signbit
    signbit_int32 negative negative_int32 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid logsigmoid gelu
    quickgelu silu relu relu_max relu_min leaky_relu prelu elu selu celu softplus softsign softshrink hardtanh hardsigmoid
    hardmish hardgelu clamp threshold heaviside erf erfc erfinv i0 i1 floor ceil trunc round frac eqz nez ltz gtz lez gez
    unary_eq unary_ne unary_gt unary_lt unary_ge unary_le isinf isposinf isneginf isnan isfinite logical_not_unary bitwise_not
    bitwise_and bitwise_or bitwise_xor left_shift right_shift typecast fill fill_bitcast identity add_unary sub_unary mul_unary
    div_unary rsub_unary rsub rdiv remainder fmod where unary_max unary_min unary_max_int32 unary_min_int32 add_binary sub_binary
    mul_binary div_binary rsub_binary power_binary eq_binary binary_max binary_min binary_max_int32 binary_min_int32 add_int32
    sub_int32 mul_int32 add_uint16 add_uint32 bitwise_and_binary bitwise_or_binary bitwise_xor_binary binary_left_shift
    binary_right_shift binary_logical_right_shift lt_binary gt_binary le_binary ge_binary gcd lcm div_int32 div_int32_floor addcmul
    addcdiv xlogy_binary""".split()
FORMS = {"SfpuUnary": (Op.SFPU_UNARY, 1), "SfpuBinary": (Op.SFPU_BINARY, 3), "SfpuTernary": (Op.SFPU_TERNARY, 4)}


@pytest.mark.parametrize("part", range(3))
def test_vector_functions_carry_their_tiles_and_parameters(part):
    """All of docs/hardware/kernel_api.md#unary-sfpu-calls, each with its init call; only the math thread acts."""
    table = []
    for name in SFPU_NAMES[part::3]:
        function, extra = SFPU_API[name]
        op, tiles = FORMS[type(function).__name__]
        words = [*range(1, 1 + tiles), *range(50, 50 + extra)]
        table.append((f"{name}_tile_init()", (Op.CONFIG, int(Config.SFPU_INIT))))
        table.append((f"{name}_tile({', '.join(map(str, words))})", (op, int(function), *words)))
    assert_posts(table, M)
    assert [ops for ops in posted([call for call, *_ in table], U) if ops] == []


def test_other_spellings_of_vector_functions():
    spellings = {
        "abs_tile_int32(1)": (Op.SFPU_UNARY, int(SfpuUnary.ABS_INT32), 1),
        "fill_tile_bitcast(1, 9)": (Op.SFPU_UNARY, int(SfpuUnary.FILL_BITCAST), 1, 9),
        "fill_tile_int(1, 9)": (Op.SFPU_UNARY, int(SfpuUnary.FILL_INT), 1, 9),
        "add_int_tile(0, 1, 2)": (Op.SFPU_BINARY, int(SFPU_API["add_int"][0]), 0, 1, 2),
        "max_tile(0, 1)": (Op.SFPU_BINARY, int(SFPU_API["binary_max"][0]), 0, 1, 0),
        "mask_tile(0, 1)": (Op.SFPU_BINARY, int(SFPU_API["mask_binary"][0]), 0, 1, 0),
    }
    assert_posts(list(spellings.items()), M)


# --- refusals

REFUSED = """topk_tile_init topk_local_sort topk_merge topk_rebuild max_reduce_with_indices quant_tile requant_tile_init
    dequant_tile welford_init welford_update two_pass_stats_update_rows rand_tile rand_tile_init dropout_tile cumsum_tile
    tiled_prod_tile alt_complex_rotate90_tile remote_cb_wait_front remote_cb_pop_front remote_cb_reserve_back
    remote_cb_push_back_and_write_pages resize_remote_sender_cb_interface update_remote_cb_config_in_l1
    align_local_cbs_to_remote_cb unpack_tilizeA_B_block tilizeA_B_reduce_init dbg_pause""".split()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_modelled_is_refused_with_its_reason(name):
    reason = next(reason for prefix, reason in REFUSED_PREFIXES.items() if name.startswith(prefix))
    with pytest.raises(KernelCompileError, match=f"{name}: {reason}"):
        kernel_of([f"{name}(0)"])


@pytest.mark.parametrize("name", ["get_system_memory_noc_addr", "noc_async_teleport", "exp_tiles"])
def test_other_names_are_refused_by_name(name):
    with pytest.raises(KernelCompileError, match=f"the kernel API has no call '{name}'"):
        kernel_of([f"x = {name}(0)"]).compile()


def test_editors_see_every_call():
    """`from tensim.kernel_api import *` has every name that a kernel may call."""
    import tensim.kernel_api as names

    assert [name for name in call_names() if not hasattr(names, name) and not hasattr(builtins, name)] == []
