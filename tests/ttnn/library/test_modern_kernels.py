"""Kernels of release 0.81, which include api/compute and enter by kernel_main, give right results.

Many of them name their arguments; a text of ours binds the names before it includes the kernel's file.
"""

from dataclasses import replace

import numpy as np
import pytest

import tensim.ttnn as ttnn
from tests.ttnn.library.harness import OPS, Case, Kernel, Operand, at, pages, roots, run, words
from tests.ttnn.library.rows import (
    BINARY,
    ROWS,
    TILES,
    batched,
    both,
    compute,
    height,
    one_core,
    read_pages,
    read_pages_to,
    relu,
    same,
    sharded,
    transposed,
    width,
    write_pages,
)

ROOTS = roots("modern")
pytestmark = pytest.mark.skipif(not ROOTS, reason="TENSIM_TTNN_SOURCES names no unpacked wheel from 0.68 on")
UNARY, BINARY_OP, MOVE = (
    OPS + "eltwise/unary/device/kernels/",
    OPS + "eltwise/binary/device/kernels/",
    OPS + "data_movement/",
)
NEXT, TERNARY = OPS + "eltwise/binary_ng/device/kernels/", OPS + "eltwise/ternary/device/kernels/"
MATMUL, REDUCE, EXAMPLE = (
    OPS + "matmul/device/kernels/", OPS + "reduction/generic/device/kernels/", OPS + "examples/example/device/kernels/",
)  # fmt: skip
ELTWISE, COPY = {0: ("a", 2), 2: ("out", 2)}, {0: ("a", 2), 16: ("out", 2)}
RELU = {"SFPU_OP_RELU_FAMILY_INCLUDE": "1", "SFPU_OP_CHAIN_0": "relu_tile_init(); relu_tile(0);"}


def bound(kind, path, names, **more):
    return Kernel(kind, path, bound=names, **more)


# --- one operand


def unary(name, defines, expected, tolerance, draw=None):
    a = replace(TILES, draw=draw) if draw else TILES
    kernels = (
        read_pages(),
        compute(UNARY + "compute/eltwise_sfpu.cpp", args=lambda t: [pages(t.a)], defines=defines),
        write_pages(2),
    )
    return Case(name, (a,), TILES, kernels, ELTWISE, expected, tolerance)


def to_core(t):
    core = t.device.worker_core_from_logical_core(ttnn.CoreCoord(3, 3))
    return [at(t.out), core.x, core.y, pages(t.out)]


def from_core(t):
    core = t.device.worker_core_from_logical_core(ttnn.CoreCoord(3, 3))
    return [at(t.a), core.x, core.y, pages(t.a)]


ON_CORE = Operand((64, 64), config=one_core(64, 64))
UNARY_CASES = [
    unary("relu", RELU, relu, 0.0),
    unary("exp", {"SFPU_OP_EXP_INCLUDE": "1", "SFPU_OP_CHAIN_0": "exp_tile_init(); exp_tile(0);"}, np.exp, 0.01),
    unary("sqrt", {"SFPU_OP_SQRT_INCLUDE": "1", "SFPU_OP_CHAIN_0": "sqrt_tile_init(); sqrt_tile(0);"}, np.sqrt, 0.01,
          lambda rng, shape: rng.uniform(0, 4, shape)),
    Case(
        "relu from core to core", (ON_CORE,), ON_CORE,
        (
            Kernel("reader", EXAMPLE + "dataflow/reader_unary.cpp", args=from_core),
            compute(EXAMPLE + "compute/eltwise_sfpu.cpp", lambda t: [pages(t.a), 1], defines=RELU),
            Kernel("writer", EXAMPLE + "dataflow/writer_unary.cpp", args=to_core),
        ),
        ELTWISE, relu, 0.0,
    ),
    Case(
        "typecast", (TILES,), replace(TILES, dtype="fp32"),
        (
            read_pages(),
            bound("compute", OPS + "copy/typecast/device/kernels/compute/eltwise_typecast.cpp", lambda t: {
                "constants": {"per_core_block_cnt": pages(t.a), "per_core_block_dim": 1, "in_data_format": 5, "out_data_format": 0},
                "dfb": {"in": 0, "out": 2},
            }),
            write_pages(2),
        ),
        ELTWISE, same, 0.0, compute={"fp32_dest_acc_en": True},
    ),
]  # fmt: skip

# --- two and three operands

HALF = Operand((32, 64))
TWO = {0: ("a", 2), 1: ("b", 2), 2: ("out", 2)}


def whole(tensor):
    """Arguments of a reader or writer of up to five dimensions: all tiles of a matrix."""
    ht, wt = height(tensor), width(tensor)
    return [1, 1, 1, ht, wt, 1]


def next_reader(t):
    """Of the newer binary operations: address, first tile, tiles of `a` and the result, strides, sizes; `b` alike; widths."""
    n = height(t.a) * width(t.a)
    return [at(t.a), 0, n, n, 0, n, n, n, n, *whole(t.a), at(t.b), n, n, n, n, n, width(t.a), width(t.b)]


def next_writer(t):
    return [at(t.out), 0, pages(t.out), 0, *whole(t.out)]


NO_ACTIVATIONS = {
    "PROCESS_LHS_ACTIVATIONS(i)": "", "PROCESS_RHS_ACTIVATIONS(i)": "", "PROCESS_POST_ACTIVATIONS(i)": "",
    "SRC_SHARDED": "0", "SRC_SHARDED_B": "0", "DST_SHARDED": "0",
}  # fmt: skip
BINARY_CASES = [
    Case(
        name, (HALF, HALF), HALF,
        (
            Kernel("reader", BINARY_OP + "dataflow/reader_binary_interleaved_start_id.cpp",
                   lambda t: [0, *both(t)], lambda t: [at(t.a), at(t.b), pages(t.a), 0, 0, 0, 0]),
            compute(BINARY_OP + "compute/eltwise_binary_kernel.cpp", args=lambda t: [pages(t.a), 1],
                    defines={"ELTWISE_OP_TYPE": kind, "ELTWISE_OP": call}),
            write_pages(2),
        ),
        TWO, function, 0.01, golden,
    )
    for name, (kind, call, function, golden) in BINARY.items()
] + [
    Case(
        f"{name}, the newer operation", (HALF, HALF), HALF,
        (
            Kernel("reader", OPS + "eltwise/binary_ng/device/kernels_ng/dataflow/reader_interleaved_no_bcast.cpp",
                   lambda t: [*both(t), 0], next_reader, NO_ACTIVATIONS),
            compute(NEXT + "compute/eltwise_binary_no_bcast.cpp", lambda t: [1], lambda t: [pages(t.a)],
                    defines=NO_ACTIVATIONS | {"BINARY_OP_TYPE": kind, "BINARY_OP": call}),
            Kernel("writer", OPS + "eltwise/binary_ng/device/kernels_ng/dataflow/writer_interleaved_no_bcast.cpp",
                   lambda t: [*words(t.out), 0], next_writer, NO_ACTIVATIONS),
        ),
        TWO, function, 0.01, golden,
    )
    for name, (kind, call, function, golden) in BINARY.items()
] + [
    Case(
        "add of cores", (ON_CORE, ON_CORE), ON_CORE,
        (
            Kernel("reader", EXAMPLE + "dataflow/reader_binary_diff_lengths.cpp",
                   args=lambda t: [*from_core(t), at(t.b), *from_core(t)[1:]]),
            compute(BINARY_OP + "compute/eltwise_binary_kernel.cpp", args=lambda t: [pages(t.a), 1],
                    defines={"ELTWISE_OP_TYPE": BINARY["add"][0], "ELTWISE_OP": BINARY["add"][1]}),
            Kernel("writer", EXAMPLE + "dataflow/writer_unary.cpp", args=to_core),
        ),
        TWO, np.add, 0.01,
    ),
]  # fmt: skip


def three(t):
    return [*words(t.a), *words(t.b), *words(t.c)]


def ternary(name, path, defines, expected, tolerance, first=None, compute_words=lambda t: [1], args=None):
    a = replace(HALF, draw=first) if first else HALF
    kernels = (
        Kernel("reader", TERNARY + "dataflow/ternary_reader_nobcast_ttt.cpp", lambda t: [0, 1, 2, *three(t)],
               lambda t: [at(t.a), at(t.b), at(t.c), pages(t.a), 0]),
        compute(TERNARY + path, compute_words, args or (lambda t: [pages(t.a), 0, 0, 0x3F800000]), defines=defines),
        Kernel("writer", TERNARY + "dataflow/ternary_writer_nobcast.cpp", lambda t: [3, *words(t.out), 0],
               lambda t: [at(t.out), pages(t.out), 0, 0, *whole(t.out)], {"DST_SHARDED": "0"}),
    )  # fmt: skip
    buffers = {0: ("a", 2), 1: ("b", 2), 2: ("c", 2), 3: ("out", 2)}
    return Case(name, (a, HALF, HALF), HALF, kernels, buffers, expected, tolerance)


TERNARY_CASES = [
    ternary(
        "where", "compute/ternary_sfpu_no_bcast_ttt.cpp",
        {"TERNARY_SFPU_OP_INIT": "where_tile_init", "TERNARY_SFPU_OP_FUNC": "where_tile<DataFormat::Float16_b>"},
        lambda a, b, c: np.where(a != 0, b, c), 0.0, lambda rng, shape: rng.integers(0, 2, shape),
    ),
    ternary("addcmul", "compute/ternary_addc_ops_fpu.cpp", {}, lambda a, b, c: a + b * c, 0.02,
            args=lambda t: [pages(t.a), 0, 0, 1]),
    ternary(
        "addcmul on the vector unit", "compute/ternary_addc_ops_sfpu.cpp",
        {"TERNARY_SFPU_OP_INIT": "addcmul_tile_init", "TERNARY_SFPU_OP_FUNC": "addcmul_tile<DataFormat::Float16_b>"},
        lambda a, b, c: a + b * c, 0.02,
    ),
]  # fmt: skip

# --- broadcasts

CHAIN = {"CHAIN_BCAST_OP": "compute_kernel_lib::BinaryFpuOp::Sub"}
DIMS = {"row": ("Row", (1, 64)), "col": ("Col", (64, 1)), "scalar": ("Scalar", (1, 1))}


def in_tiles(t):
    return {"args": {"B": 1, "Ht": height(t.a), "Wt": width(t.a)}, "dfb": {"in0": 0, "in1": 1, "out": 16}}


def broadcast(kind, reader, calculation, defines=None):
    dim, shape = DIMS[kind]
    given = CHAIN | {"CHAIN_BCAST_DIM": f"compute_kernel_lib::BroadcastDim::{dim}"} | (defines or {})
    kernels = (
        Kernel("reader", MOVE + f"bcast/device/kernels/dataflow/{reader}.cpp", both, batched, defines or {}),
        replace(calculation, defines=given),
        write_pages(16),
    )
    golden = f"subtract_bf16_bf16_None_64x64_wide_{kind}"
    buffers = {0: ("a", 2), 1: ("b", 2), 16: ("out", 2)}
    return Case(f"a {kind} subtracted", (TILES, Operand(shape)), TILES, kernels, buffers, np.subtract, 0.01, golden)


BCAST = MOVE + "bcast/device/kernels/compute/bcast_"
BROADCAST_CASES = [
    broadcast("row", "reader_bcast_h_interleaved", bound("compute", BCAST + "h.cpp", in_tiles)),
    broadcast("col", "reader_bcast_w_interleaved", bound("compute", BCAST + "w.cpp", in_tiles)),
    broadcast("scalar", "reader_bcast_hw_interleaved",
              compute(BCAST + "hw.cpp", args=lambda t: [1, height(t.a), width(t.a)]), {"BCAST_SCALAR": "1"}),
    Case(
        "a number subtracted", (TILES,), TILES,
        (
            Kernel("reader", MOVE + "bcast/device/kernels/dataflow/reader_bcast_scalar_interleaved_partitioned.cpp",
                   lambda t: words(t.a), lambda t: [at(t.a), 0x40004000, pages(t.a), pages(t.a), 0, 0, 0]),
            compute(BCAST + "hw.cpp", args=lambda t: [1, height(t.a), width(t.a)],
                    defines=CHAIN | {"CHAIN_BCAST_DIM": "compute_kernel_lib::BroadcastDim::Scalar", "BCAST_SCALAR": "1"}),
            write_pages(16),
        ),
        {0: ("a", 2), 1: ("a", 1), 16: ("out", 2)}, lambda a: a - 2, 0.01,
    ),
]  # fmt: skip

# --- reductions

FLOAT_BITS = {1.0: 0x3F800000, 1 / 64: 0x3C800000}
POOLS = {"sum": ("SUM", np.sum), "mean": ("AVG", np.mean), "max": ("MAX", np.max)}
DIRECTIONS = {-1: ("ROW", (64, 1)), -2: ("COL", (1, 64)), None: ("SCALAR", (1, 1))}


def reduction(op, dim, golden):
    pool, function = POOLS[op]
    direction, shape = DIRECTIONS[dim]
    defines = {"REDUCE_OP": f"PoolType::{pool}", "REDUCE_DIM": f"ReduceDim::REDUCE_{direction}"}
    scaler = FLOAT_BITS[1 / 64 if op == "mean" else 1.0]

    def reader(t):
        names = {"dfb": {"in0": 0, "scaler": 2}, "tensor": {"src": t.a}}
        if dim != -2:
            args = {"num_tiles": pages(t.a), "start_id": 0, "scaler_bits": scaler}
            return names | {"args": args, "constants": {"tiles_per_batch": 1}}
        sizes = {"Ht": height(t.a), "Wt": width(t.a), "HtWt": height(t.a) * width(t.a)}
        flags = {
            "use_welford": 0,
            "enable_fp32_sfpu": 0,
            "tiles_per_batch": 1,
            "num_h_slices": 1,
            "slice_Ht": height(t.a),
        }
        args = {"col_start_tile_id": 0, "curr_col_in_batch": 0, "num_cols": width(t.a), "scaler_bits": scaler}
        return names | {"args": args, "constants": sizes | flags}

    def calculation(t):
        return {
            "args": {"Ht": height(t.a), "Wt": width(t.a), "NC": 1}, "constants": {"enable_fp32_sfpu": 0},
            "dfb": {"in0": 0, "scaler": 2, "out": 3},
        }  # fmt: skip

    path = (
        "reader_unary_transpose_wh_universal_input_cols_partitioned"
        if dim == -2
        else "reader_unary_reduce_universal_start_id"
    )
    width_of_dst = {"ENABLE_FP32_DEST_ACC": "0", "DST_SYNC_FULL": "0"}
    kernels = (
        bound("reader", REDUCE + f"dataflow/{path}.cpp", reader, defines=defines | width_of_dst),
        bound("compute", REDUCE + "compute/reduce.cpp", calculation, defines=defines),
        write_pages(3),
    )
    axes = (-1, -2) if dim is None else dim
    return Case(
        f"{op} {dim}", (TILES,), Operand(shape), kernels, {0: ("a", 4), 2: (ttnn.bfloat16, 1), 3: ("out", 2)},
        lambda a: function(a, axis=axes, keepdims=True), 0.02, golden,
    )  # fmt: skip


REDUCE_CASES = [
    reduction("sum", -1, "sum_bf16_None_64x64_-1_HiFi4_0_normal"),
    reduction("mean", -1, "mean_bf16_None_64x64_-1_HiFi4_0_normal"),
    reduction("max", -1, "max_bf16_None_64x64_-1_HiFi4_0_normal"),
    reduction("sum", -2, "sum_bf16_None_64x64_-2_HiFi4_0_normal"),
    reduction("max", -2, "max_bf16_None_64x64_-2_HiFi4_0_normal"),
    reduction("max", None, None),
]

# --- layouts

WIDE, TALL = Operand((64, 96)), Operand((96, 64))
ROWS_IN = Operand((64, 96), layout=ROWS)
TRANSPOSE, UNTILIZE = MOVE + "transpose/device/kernels/", MOVE + "untilize/device/kernels/"


def transpose(name, reader):
    calculation = compute(TRANSPOSE + "compute/transpose_wh.cpp", args=lambda t: [pages(t.a)])
    golden = "transpose_bf16_None_64x96_normal"
    return Case(name, (WIDE,), TALL, (reader, calculation, write_pages(16)), COPY, transposed, 0.0, golden)


def columns(t):
    return {
        "args": {
            "num_tiles": pages(t.a), "start_id": 0, "start_ht": 0, "start_wt": 0, "Ht": height(t.a), "Wt": width(t.a),
            "HtWt": height(t.a) * width(t.a),
        },
        "dfb": {"in0": 0}, "tensor": {"src": t.a},
    }  # fmt: skip


def sticks_in(t):
    return {
        "args": {
            "num_sticks": 64, "num_tiles_per_block": 3, "block_width_size": 192, "num_full_blocks_in_row": 1,
            "start_stick_id": 0,
        },
        "constants": {"tile_height": 32}, "dfb": {"in": 0}, "tensor": {"src": t.a},
    }  # fmt: skip


def sticks_out(t):
    return {
        "constants": {
            "tile_height": 32, "num_blocks_across_height": 2, "num_output_columns_of_blocks": 1,
            "num_blocks_per_output_column_row": 1, "num_tiles_per_output_block": 3, "output_single_block_width_size": 192,
        },
        "dfb": {"out": 16}, "tensor": {"dst": t.out},
    }  # fmt: skip


def untilized(name, calculation):
    kernels = (
        read_pages_to(UNTILIZE + "dataflow/reader_unary_start_id.cpp"),
        calculation,
        bound("writer", UNTILIZE + "dataflow/writer_unary_stick_layout_split_rows_single_core.cpp", sticks_out),
    )
    buffers = {0: ("a", 6), 16: (ttnn.bfloat16, 6)}
    return Case(name, (WIDE,), ROWS_IN, kernels, buffers, same, 0.0, "untilize_bf16_None_64x96_normal")


LAYOUT_CASES = [
    transpose("transpose", Kernel(
        "reader", TRANSPOSE + "dataflow/reader_unary_transpose_wh_interleaved.cpp", lambda t: words(t.a),
        lambda t: [at(t.a), 1, height(t.a), width(t.a), height(t.a) * width(t.a)])),
    transpose("transpose from a tile on", bound(
        "reader", TRANSPOSE + "dataflow/reader_unary_transpose_wh_interleaved_start_id.cpp", columns)),
    Case(
        "transpose of batch and channel", (Operand((2, 3, 32, 64)),), Operand((3, 2, 32, 64)),
        (
            bound("reader", TRANSPOSE + "dataflow/reader_unary_transpose_cn_interleaved_start_id.cpp", lambda t: {
                "args": {"N": 2, "C": 3, "HtWt": 2, "batch_step": 4, "channel_step": 10, "num_pages": 12, "start_id": 0,
                         "hw": 0, "n": 0},
                "constants": {"page_size": 2048, "read_size": 2048}, "dfb": {"in0": 0}, "tensor": {"src": t.a},
            }),
            bound("writer", TRANSPOSE + "dataflow/writer_unary_transpose_cn_interleaved_start_id.cpp", lambda t: {
                "args": {"num_pages": 12, "start_id": 0}, "constants": {"page_size": 2048, "write_size": 2048},
                "dfb": {"in0": 0}, "tensor": {"dst": t.out},
            }),
        ),
        {0: ("a", 2)}, lambda a: np.swapaxes(a, 0, 1), 0.0,
    ),
    Case(
        "tilize", (ROWS_IN,), WIDE,
        (
            bound("reader", MOVE + "tilize/device/kernels/dataflow/reader_unary_stick_layout_split_rows_singlecore.cpp", sticks_in),
            compute(MOVE + "tilize/device/kernels/compute/tilize.cpp", lambda t: [0, 16, 2, 3]),
            write_pages(16),
        ),
        {0: (ttnn.bfloat16, 6), 16: ("out", 6)}, same, 0.0,
    ),
    untilized("untilize", compute(UNTILIZE + "compute/untilize.cpp", lambda t: [2, 3, 0, 16])),
    untilized("untilize of a number of blocks", compute(
        UNTILIZE + "compute/untilize_variable_num_blocks.cpp", lambda t: [3, 0, 16], lambda t: [2])),
    untilized("untilize by the packer", compute(
        MOVE + "untilize/codegen/kernels/compute_untilize.cpp", lambda t: [2, 3, 0, 16, 8])),
]  # fmt: skip

# --- products

NAMES = {"cb_in0": 0, "cb_in1": 1, "cb_out": 16, "cb_intermed0": 24}
SIZES = lambda t: (height(t.a), width(t.a), width(t.b))  # noqa: E731


def product_tiles(t):
    m, k, n = SIZES(t)
    return [at(t.a), at(t.b), m, k, n, m * k, k * n, 1, 1, 0, m * n, m * n]


def read_blocks(t):
    """Blocks of one tile of the inner dimension at a time, all rows and columns at once."""
    m, k, n = SIZES(t)
    return [at(t.a), 0, 1, k, 1, 1, m, m, at(t.b), 0, 1, n, n, n, 1, n, k, m * k, k * n, 1, 1]


def multiply_blocks(t):
    m, k, n = SIZES(t)
    return [1, m, m, 1, n, n, n, k, 1, 1, 1, 1]


def write_blocks(t):
    m, _, n = SIZES(t)
    return [at(t.out), 0, 1, n, 1, n, 1, 1, 1, n, m, m * n, 1]


MATMUL_CASES = [
    Case(
        "matmul", (Operand((64, 64)), Operand((64, 96))), Operand((64, 96)),
        (
            Kernel("reader", MATMUL + "dataflow/reader_bmm_8bank_output_tiles_partitioned.cpp", lambda t: [0, 0, *both(t)],
                   product_tiles, named=NAMES),
            compute(MATMUL + "compute/bmm.cpp", lambda t: [1, *SIZES(t)], named=NAMES),
            write_pages(16),
        ),
        {0: ("a", 2), 1: ("b", 2), 16: ("out", 2)}, np.matmul, 0.02,
        "matmul_bf16_bf16_bf16_64x64x96_HiFi4_1_0_2_normal", {"fp32_dest_acc_en": True},
    ),
    Case(
        "matmul of blocks with spilled partial sums", (Operand((32, 128)), Operand((128, 32))), Operand((32, 32)),
        (
            Kernel("reader", MATMUL + "dataflow/reader_bmm_tile_layout.cpp", both, read_blocks, named=NAMES),
            compute(MATMUL + "compute/bmm_large_block_zm.cpp", multiply_blocks, named=NAMES),
            Kernel("writer", MATMUL + "dataflow/writer_bmm_tile_layout.cpp", lambda t: words(t.out), write_blocks, named=NAMES),
        ),
        {0: ("a", 4), 1: ("b", 4), 16: ("out", 2), 24: ("out", 2)}, np.matmul, 0.02,
        "matmul_bf16_bf16_bf16_32x128x32_HiFi4_0_0_1_normal",
    ),
]  # fmt: skip

# --- copies

CLONE, SHARDS, COPIES = MOVE + "clone/device/kernels/", MOVE + "sharded/device/kernels/", MOVE + "copy/device/kernels/"
STICKS = Operand((10, 96), layout=ROWS)
SHARDED = Operand((64, 64), config=sharded(32, 64))


def copied(tensor, name, buffer):
    """Names of the kernels that clone tiles."""
    return lambda t: {
        "args": {"num_tiles": pages(t.a), "start_id": 0}, "dfb": buffer, "tensor": {name: getattr(t, tensor)},
    }  # fmt: skip


def rows_copied(tensor, name, buffer):
    return lambda t: {
        "args": {"stick_size": 192, "num_sticks": 10, "start_id": 0}, "dfb": {buffer: 0}, "tensor": {name: getattr(t, tensor)},
    }  # fmt: skip


def shard_places(t):
    """First tile of the shard on each core."""
    return {(core, 0): [at(t.a), 1, 2, 0, 2, 2, 0, 2 * core] for core in (0, 1)}


COPY_CASES = [
    Case(
        "clone", (TILES,), TILES,
        (
            bound("reader", CLONE + "read_kernel.cpp", copied("a", "input", {"src": 0})),
            bound("writer", CLONE + "write_kernel.cpp", copied("out", "output", {"dst": 0})),
        ),
        {0: ("a", 2)}, same, 0.0, "clone_bf16_None_64x64_bits",
    ),
    Case(
        "clone through Dst", (TILES,), TILES,
        (
            bound("reader", CLONE + "read_kernel.cpp", copied("a", "input", {"src": 0})),
            bound("compute", CLONE + "compute_kernel.cpp",
                  lambda t: {"constants": {"num_tiles": pages(t.a)}, "dfb": {"src": 0, "dst": 16}}),
            bound("writer", CLONE + "write_kernel.cpp", copied("out", "output", {"dst": 16})),
        ),
        COPY, same, 0.0,
    ),
    Case(
        "clone of rows", (STICKS,), STICKS,
        (
            bound("reader", CLONE + "read_kernel_rm.cpp", rows_copied("a", "input", "src")),
            bound("writer", CLONE + "write_kernel_rm.cpp", rows_copied("out", "output", "dst")),
        ),
        {0: ("a", 2, 192)}, same, 0.0,
    ),
    Case(
        "copy of tiles", (TILES,), TILES,
        (read_pages(COPIES + "reader_unary_start_id.cpp"), write_pages(0, COPIES + "writer_unary_start_id.cpp")),
        {0: ("a", 2)}, same, 0.0,
    ),
    Case(
        "copy of rows", (STICKS,), STICKS,
        (
            Kernel("reader", COPIES + "reader_unary_stick_start_id.cpp", lambda t: [0, 192, *words(t.a)],
                   lambda t: [at(t.a), 192, 10, 0, 1]),
            Kernel("writer", COPIES + "writer_unary_stick_start_id.cpp", lambda t: [0, 192, *words(t.out)],
                   lambda t: [at(t.out), 192, 10, 0, 1]),
        ),
        {0: ("a", 2, 192)}, same, 0.0,
    ),
    Case(
        "copy to shards", (TILES,), SHARDED,
        (
            Kernel("reader", SHARDS + "dataflow/reader_unary_sharded_blocks_interleaved_start_id.cpp",
                   lambda t: [0, 2, *words(t.a)], shard_places),
            compute(SHARDS + "compute/eltwise_copy.cpp", args=lambda t: [2]),
            Kernel("writer", SHARDS + "dataflow/writer_unary_sharded.cpp", lambda t: [16], lambda t: [2]),
        ),
        {0: ("a", 2), 16: "out"}, same, 0.0, cores=(2, 1),
    ),
    Case(
        "copy from shards", (SHARDED,), TILES,
        (
            Kernel("reader", SHARDS + "dataflow/reader_unary_sharded.cpp", lambda t: [0], lambda t: [2]),
            Kernel("writer", SHARDS + "dataflow/writer_unary_sharded_blocks_interleaved_start_id.cpp",
                   lambda t: [0, *words(t.out)],
                   lambda t: {(core, 0): [at(t.out), 1, 2, 1, 2, 2, 2, 0, 2 * core] for core in (0, 1)}),
        ),
        {0: "a"}, same, 0.0, cores=(2, 1),
    ),
    Case(
        "relu of shards", (SHARDED,), SHARDED,
        (
            Kernel("reader", UNARY + "dataflow/reader_unary_sharded.cpp", lambda t: [0], lambda t: [2]),
            compute(UNARY + "compute/eltwise_sfpu.cpp", args=lambda t: [2], defines=RELU),
            Kernel("writer", SHARDS + "dataflow/writer_unary_sharded.cpp", lambda t: [2], lambda t: [2]),
        ),
        {0: "a", 2: "out"}, relu, 0.0, cores=(2, 1),
    ),
    Case(
        "full", (STICKS,), STICKS,
        (
            bound("writer", OPS + "full/device/kernels/writer_full.cpp", lambda t: {
                "args": {"fill_value": 0x3FC00000, "num_pages_per_core": 10, "start_id": 0},
                "constants": {"elems_per_page": 96, "page_size": 192}, "dfb": {"value": 0}, "tensor": {"output": t.out},
            }, defines={"OUTPUT_DTYPE_BFLOAT16": "1"}),
        ),
        {0: ("out", 1, 192)}, lambda a: np.full_like(a, 1.5), 0.0,
    ),
    Case(
        "the same result twice", (TILES,), TILES,
        (
            read_pages(),
            compute(UNARY + "compute/eltwise_sfpu.cpp", args=lambda t: [pages(t.a)], defines=RELU),
            Kernel("writer", OPS + "examples/example_multiple_return/device/kernels/writer_multiple.cpp",
                   lambda t: [2, *words(t.out), *words(t.out)], lambda t: [at(t.out), 0, pages(t.out), 0]),
        ),
        ELTWISE, relu, 0.0,
    ),
]  # fmt: skip

CASES = [
    *UNARY_CASES, *BINARY_CASES, *TERNARY_CASES, *BROADCAST_CASES, *REDUCE_CASES, *LAYOUT_CASES, *MATMUL_CASES, *COPY_CASES,
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.parent.name)
def test_kernels(case, root, device):
    run(case, root, device)
