"""Kernels of the releases up to 0.66, which include compute_kernel_api and enter compute kernels by MAIN, give right results."""

from dataclasses import replace

import numpy as np
import pytest

import tensim.ttnn as ttnn
from tests.ttnn.library.harness import OPS, Case, Kernel, Operand, at, pages, roots, run, words
from tests.ttnn.library.rows import (
    BCAST,
    BINARY,
    ONE_SCALER,
    PER_64,
    ROWS,
    SUBTRACT,
    TILES,
    batched,
    both,
    compute,
    height,
    one_bank,
    one_core,
    partitioned,
    read_pages,
    read_pages_to,
    relu,
    same,
    sharded,
    transposed,
    width,
    write_pages,
)

ROOTS = roots("classic")
pytestmark = pytest.mark.skipif(not ROOTS, reason="TENSIM_TTNN_SOURCES names no unpacked wheel up to 0.66")
UNARY, BINARY_OP, MOVE = (
    OPS + "eltwise/unary/device/kernels/",
    OPS + "eltwise/binary/device/kernels/",
    OPS + "data_movement/",
)
PLAIN, MATMUL, REDUCE = "tt_metal/kernels/", OPS + "matmul/device/kernels/", OPS + "reduction/generic/device/kernels/"
ELTWISE = {0: ("a", 2), 2: ("out", 2)}
COPY = {0: ("a", 2), 16: ("out", 2)}


def blocks(t):
    """Compile-time arguments: blocks of one tile."""
    return [pages(t.a), 1]


def unary(name, path, expected, tolerance, defines=None, out=2, buffers=ELTWISE, args=lambda t: [], draw=None):
    a = replace(TILES, draw=draw) if draw else TILES
    kernels = (read_pages(), compute(path, blocks, args, defines=defines or {}), write_pages(out))
    return Case(name, (a,), TILES, kernels, buffers, expected, tolerance)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


UNARY_CASES = [
    unary("identity", UNARY + "compute/eltwise_identity_kernel.cpp", same, 0.0),
    unary(
        "relu", UNARY + "compute/eltwise_sfpu.cpp", relu, 0.0,
        {"SFPU_OP_RELU_FAMILY_INCLUDE": "1", "SFPU_OP_CHAIN_0": "relu_tile_init(); relu_tile(0);"},
    ),
    unary(
        "exp by the example", OPS + "examples/example/device/kernels/compute/eltwise_sfpu.cpp", np.exp, 0.01,
        {"SFPU_OP_EXP_INCLUDE": "1", "SFPU_OP_CHAIN_0": "exp_tile_init(); exp_tile(0);"},
    ),
    unary("tanhshrink", UNARY + "compute/tanhshrink_kernel.cpp", lambda x: x - np.tanh(x), 0.02),
    unary("tanhshrink on the vector unit", UNARY + "compute/tanhshrink_sfpu_kernel.cpp", lambda x: x - np.tanh(x), 0.02,
          buffers=ELTWISE),
    unary("hardswish", UNARY + "compute/hardswish_kernel.cpp", lambda x: x * np.clip(x / 6 + 0.5, 0, 1), 0.02),
    unary("hardswish on the vector unit", UNARY + "compute/hardswish_kernel_sfpu.cpp",
          lambda x: x * np.clip(x / 6 + 0.5, 0, 1), 0.02),
    unary("mish", UNARY + "compute/mish_kernel.cpp", lambda x: x * np.tanh(np.log1p(np.exp(x))), 0.03, {"INP_FLOAT": "1"}),
    unary("logsigmoid", UNARY + "compute/logsigmoid_kernel.cpp", lambda x: np.log(sigmoid(x)), 0.02),
    unary(
        "hardshrink", UNARY + "compute/hardshrink_kernel.cpp", lambda x: np.where(np.abs(x) > 0.5, x, 0), 0.0,
        buffers=ELTWISE | {1: ("a", 2)}, args=lambda t: [0x3F000000],
    ),
    unary(
        "typecast", OPS + "copy/typecast/device/kernels/compute/eltwise_typecast.cpp", same, 0.0,
        {"TYPECAST_LLK_INIT": "typecast_tile_init<5u, 5u>", "TYPECAST_LLK": "typecast_tile<5u, 5u>"},
    ),
]  # fmt: skip
UNARY_CASES[-1] = replace(
    UNARY_CASES[-1],
    kernels=(
        UNARY_CASES[-1].kernels[0],
        replace(UNARY_CASES[-1].kernels[1], words=lambda t: [pages(t.a), 1, 0, 2]),
        UNARY_CASES[-1].kernels[2],
    ),
)

# --- operands in one bank or on one core


def from_bank(cb):
    return Kernel("reader", PLAIN + "dataflow/reader_unary.cpp", args=lambda t: [at(t.a), 0, pages(t.a)])


def to_core(t):
    core = t.device.worker_core_from_logical_core(ttnn.CoreCoord(3, 3))
    return [at(t.out), core.x, core.y, pages(t.out)]


BANK = Operand((64, 64), config=one_bank(64, 64))
PLAIN_CASES = [
    Case(
        "sqrt from bank to bank", (replace(BANK, draw=lambda rng, shape: rng.uniform(0, 4, shape)),), BANK,
        (
            from_bank(0),
            compute(PLAIN + "compute/eltwise_sfpu.cpp", blocks, defines={
                "SFPU_OP_SQRT_INCLUDE": "1", "SFPU_OP_CHAIN_0": "sqrt_tile_init(); sqrt_tile(0);",
            }),
            Kernel("writer", PLAIN + "dataflow/writer_unary.cpp", args=lambda t: [at(t.out), 0, pages(t.out)]),
        ),
        COPY, np.sqrt, 0.01,
    ),
    *(
        Case(
            f"{name} from banks to a core", (BANK, BANK), Operand((64, 64), config=one_core(64, 64)),
            (
                Kernel("reader", PLAIN + "dataflow/reader_binary_diff_lengths.cpp",
                       args=lambda t: [at(t.a), 0, pages(t.a), at(t.b), 0, pages(t.b)]),
                compute(PLAIN + "compute/eltwise_binary.cpp", args=lambda t: [pages(t.a), 1, 0],
                        defines={"ELTWISE_OP_TYPE": kind, "ELTWISE_OP": call, "FULL_INIT": "1"}),
                Kernel("writer", PLAIN + "dataflow/writer_unary_1.cpp", args=to_core),
            ),
            {0: ("a", 2), 1: ("b", 2), 16: ("out", 2)}, function, 0.01,
        )
        for name, (kind, call, function, _) in BINARY.items()
    ),
]  # fmt: skip

# --- two operands

HALF = Operand((32, 64))
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
        {0: ("a", 2), 1: ("b", 2), 2: ("out", 2)}, function, 0.01, golden,
    )
    for name, (kind, call, function, golden) in BINARY.items()
]  # fmt: skip


def broadcast(name, kind, reader, path, out, arguments=batched, reader_words=both, defines=None, more=None):
    shape, extra = BCAST[kind][1], defines or {}
    kernels = (
        Kernel("reader", reader, reader_words, arguments, extra),
        compute(path, args=lambda t: [1, height(t.a), width(t.a)], defines=SUBTRACT | BCAST[kind][0] | extra),
        write_pages(out),
    )
    buffers = {0: ("a", 2), 1: ("b", 2), out: ("out", 2)}
    golden = f"subtract_bf16_bf16_None_64x64_wide_{kind}"
    return Case(name, (TILES, Operand(shape)), TILES, kernels, buffers, np.subtract, 0.01, golden)


def in_columns(t):
    return [*batched(t), 0, height(t.a) * width(t.a), 0]


BROADCAST_CASES = []
for folder, out in ((BINARY_OP, 2), (MOVE + "bcast/device/kernels/", 16)):
    label, read, calculate = folder.split("/")[4], folder + "dataflow/reader_bcast_", folder + "compute/bcast_"
    BROADCAST_CASES += [
        broadcast(f"{label}, a row", "row", read + "h_interleaved.cpp", calculate + "h.cpp", out),
        broadcast(f"{label}, a column", "col", read + "w_interleaved.cpp", calculate + "w.cpp", out),
        broadcast(f"{label}, a scalar", "scalar", read + "hw_interleaved.cpp".replace(
            "hw_interleaved", "hw_interleaved_partitioned" if folder == BINARY_OP else "hw_interleaved"),
            calculate + "hw.cpp", out, partitioned if folder == BINARY_OP else batched, defines={"BCAST_SCALAR": "1"}),
        broadcast(f"{label}, a part of the rows", "row", read + "h_interleaved_input_rows_partitioned.cpp",
                  calculate + "h.cpp", out, in_columns),
        broadcast(f"{label}, a part of the columns", "col", read + "w_interleaved_input_cols_partitioned.cpp",
                  calculate + "w.cpp", out, in_columns),
    ]  # fmt: skip

# --- reductions

REDUCE_OP = {"sum": "PoolType::SUM", "mean": "PoolType::SUM", "max": "PoolType::MAX"}
NUMPY = {"sum": np.sum, "mean": np.mean, "max": np.max}


def reduction(op, dim, golden, via_matmul=False, read=None):
    defines = {
        "REDUCE_OP": REDUCE_OP[op],
        "REDUCE_DIM": "ReduceDim::REDUCE_" + {-1: "ROW", -2: "COL", None: "SCALAR"}[dim],
    }
    if via_matmul:
        defines["REDUCE_ROW_SUM_VIA_MM"] = "1"
    scaler = PER_64 if op == "mean" else ONE_SCALER
    if dim == -2:
        reader = Kernel(
            "reader", REDUCE + "dataflow/reader_unary_transpose_wh_universal_input_cols_partitioned.cpp",
            lambda t: [height(t.a), width(t.a), height(t.a) * width(t.a), 2, scaler, *words(t.a)],
            lambda t: [at(t.a), 0, 0, width(t.a)], defines,
        )  # fmt: skip
    else:
        reader = Kernel(
            "reader", REDUCE + "dataflow/reader_unary_reduce_universal_start_id.cpp",
            lambda t: [scaler, *words(t.a)], lambda t: [at(t.a), pages(t.a), 0], defines,
        )  # fmt: skip
    path = REDUCE + "compute/reduce_" + {-1: "w", -2: "h", None: "hw"}[dim] + ".cpp"
    kernels = (reader, compute(path, lambda t: [height(t.a), width(t.a), 1, 2], defines=defines), write_pages(3))
    shape = {-1: (64, 1), -2: (1, 64), None: (1, 1)}[dim]
    axes = (-1, -2) if dim is None else dim
    expected = lambda a: NUMPY[op](a, axis=axes, keepdims=True)  # noqa: E731
    scaler_buffer = {2: (ttnn.bfloat16, 1)}
    return Case(
        f"{op} {dim}",
        (TILES,),
        Operand(shape),
        kernels,
        {0: ("a", 2), 3: ("out", 2)} | scaler_buffer,
        expected,
        0.02,
        golden,
    )


REDUCE_CASES = [
    reduction("sum", -1, "sum_bf16_None_64x64_-1_HiFi4_0_normal", via_matmul=True),
    reduction("mean", -1, "mean_bf16_None_64x64_-1_HiFi4_0_normal", via_matmul=True),
    reduction("max", -1, "max_bf16_None_64x64_-1_HiFi4_0_normal"),
    reduction("sum", -2, "sum_bf16_None_64x64_-2_HiFi4_0_normal"),
    reduction("mean", -2, "mean_bf16_None_64x64_-2_HiFi4_0_normal"),
    reduction("max", -2, "max_bf16_None_64x64_-2_HiFi4_0_normal"),
    reduction("max", None, None),
]

# --- layouts

WIDE, TALL = Operand((64, 96)), Operand((96, 64))
ROWS_IN = Operand((64, 96), layout=ROWS)
TRANSPOSE = MOVE + "transpose/device/kernels/"
UNTILIZE = MOVE + "untilize/device/kernels/"


def shape_in_tiles(t):
    return [at(t.a), 1, height(t.a), width(t.a), height(t.a) * width(t.a)]


def write_sticks(t):
    return [16, 192, 32, 2, 1, 1, 3, 192, *words(t.out)]


def untilized(name, path, reader):
    return Case(
        name, (WIDE,), ROWS_IN,
        (
            reader,
            compute(path, lambda t: [2, 3, 0, 16]),
            Kernel("writer", UNTILIZE + "dataflow/writer_unary_stick_layout_split_rows_single_core.cpp", write_sticks,
                   lambda t: [at(t.out)]),
        ),
        {0: ("a", 6), 16: (ttnn.bfloat16, 6)}, same, 0.0, "untilize_bf16_None_64x96_normal",
    )  # fmt: skip


LAYOUT_CASES = [
    Case(
        "transpose", (WIDE,), TALL,
        (
            Kernel("reader", TRANSPOSE + "dataflow/reader_unary_transpose_wh_interleaved.cpp",
                   lambda t: words(t.a), shape_in_tiles),
            compute(TRANSPOSE + "compute/transpose_wh.cpp", args=lambda t: [pages(t.a)]),
            write_pages(16),
        ),
        COPY, transposed, 0.0, "transpose_bf16_None_64x96_normal",
    ),
    Case(
        "transpose from a tile on", (WIDE,), TALL,
        (
            Kernel("reader", TRANSPOSE + "dataflow/reader_unary_transpose_wh_interleaved_start_id.cpp", lambda t: words(t.a),
                   lambda t: [at(t.a), pages(t.a), 0, 0, 0, height(t.a), width(t.a), height(t.a) * width(t.a)]),
            compute(TRANSPOSE + "compute/transpose_wh.cpp", args=lambda t: [pages(t.a)]),
            write_pages(16),
        ),
        COPY, transposed, 0.0, "transpose_bf16_None_64x96_normal",
    ),
    Case(
        "transpose of batch and channel", (Operand((2, 3, 32, 64)),), Operand((3, 2, 32, 64)),
        (
            Kernel("reader", TRANSPOSE + "dataflow/reader_unary_transpose_cn_interleaved_start_id.cpp", lambda t: [0, *words(t.a)],
                   lambda t: [at(t.a), 2, 3, 2, 3 * 2 - 2, 2 * 3 * 2 - 2, 12, 0, 0, 0]),
            write_pages(0),
        ),
        {0: ("a", 2)}, lambda a: np.swapaxes(a, 0, 1), 0.0,
    ),
    Case(
        "tilize", (ROWS_IN,), WIDE,
        (
            Kernel("reader", MOVE + "tilize/device/kernels/dataflow/reader_unary_stick_layout_split_rows_interleaved.cpp",
                   lambda t: [192, *words(t.a)], lambda t: [at(t.a), 64, 192, 3, 192, 1, 0, 0, 0]),
            compute(MOVE + "tilize/device/kernels/compute/tilize.cpp", lambda t: [0, 16, 2, 3]),
            write_pages(16),
        ),
        {0: (ttnn.bfloat16, 6), 16: ("out", 6)}, same, 0.0,
    ),
    untilized("untilize", UNTILIZE + "compute/untilize.cpp", read_pages_to(UNTILIZE + "dataflow/reader_unary_start_id.cpp")),
    untilized("pack_untilize", UNTILIZE + "compute/pack_untilize.cpp", read_pages()),
]  # fmt: skip

# --- products

KMN = lambda t: (height(t.a), width(t.a), width(t.b))  # noqa: E731


def product_tiles(t):
    m, k, n = KMN(t)
    return [at(t.a), at(t.b), m, k, n, m * k, k * n, 1, 1, 0, m * n, m * n]


def read_blocks(t):
    """Blocks of one tile of the inner dimension at a time, all rows and columns at once."""
    m, k, n = KMN(t)
    w = BLOCK_W
    return [at(t.a), 0, 1, k, w, w, m, m * w, at(t.b), 0, 1, n, w * n, n, w, w * n, k // w, m * k, k * n, 1, 1]


def multiply_blocks(t):
    m, k, n = KMN(t)
    w = BLOCK_W
    return [w, m, m * w, w, n, w * n, n, k // w, 1, 1, 1, 1]


def write_blocks(t):
    m, _, n = KMN(t)
    return [at(t.out), 0, 1, n, 1, n, 1, 1, 1, n, m, m * n, 1]


BLOCK_W = 1
MATMUL_CASES = [
    Case(
        "matmul", (Operand((64, 64)), Operand((64, 96))), Operand((64, 96)),
        (
            Kernel("reader", MATMUL + "dataflow/reader_bmm_8bank_output_tiles_partitioned.cpp",
                   lambda t: [0, *both(t)], product_tiles),
            compute(MATMUL + "compute/bmm.cpp", lambda t: [1, *KMN(t)]),
            write_pages(16),
        ),
        {0: ("a", 2), 1: ("b", 2), 16: ("out", 2)}, np.matmul, 0.02,
        "matmul_bf16_bf16_bf16_64x64x96_HiFi4_1_0_2_normal", {"fp32_dest_acc_en": True},
    ),
    Case(
        "matmul of blocks with spilled partial sums", (Operand((32, 128)), Operand((128, 32))), Operand((32, 32)),
        (
            Kernel("reader", MATMUL + "dataflow/reader_bmm_tile_layout.cpp", both, read_blocks),
            compute(MATMUL + "compute/bmm_large_block_zm.cpp", multiply_blocks),
            Kernel("writer", MATMUL + "dataflow/writer_bmm_tile_layout.cpp", lambda t: words(t.out), write_blocks),
        ),
        {0: ("a", 4), 1: ("b", 4), 16: ("out", 2), 24: ("out", 2)}, np.matmul, 0.02,
        "matmul_bf16_bf16_bf16_32x128x32_HiFi4_0_0_1_normal",
    ),
]  # fmt: skip

# --- copies

CLONE = MOVE + "clone/device/kernels/"
SHARDS = MOVE + "sharded/device/kernels/"
STICKS = Operand((10, 96), layout=ROWS)
SHARDED = Operand((64, 64), config=sharded(32, 64))


def sticks(tensor):
    return lambda t: [at(getattr(t, tensor)), 192, 10, 0]


COPY_CASES = [
    Case(
        "clone", (TILES,), TILES,
        (read_pages_to(CLONE + "read_kernel.cpp"), write_pages(0, CLONE + "write_kernel.cpp")),
        {0: ("a", 2)}, same, 0.0, "clone_bf16_None_64x64_bits",
    ),
    Case(
        "clone through Dst", (TILES,), TILES,
        (
            read_pages_to(CLONE + "read_kernel.cpp"),
            compute(CLONE + "compute_kernel.cpp", lambda t: [0, 16, pages(t.a)]),
            write_pages(16, CLONE + "write_kernel.cpp"),
        ),
        COPY, same, 0.0,
    ),
    Case(
        "clone of rows", (STICKS,), STICKS,
        (
            Kernel("reader", CLONE + "read_kernel_rm.cpp", lambda t: [0, 192, *words(t.a)], sticks("a")),
            Kernel("writer", CLONE + "write_kernel_rm.cpp", lambda t: [0, 192, *words(t.out)], sticks("out")),
        ),
        {0: ("a", 2, 192)}, same, 0.0,
    ),
    Case(
        "clone of shards", (SHARDED,), SHARDED,
        (
            Kernel("reader", CLONE + "read_kernel_sharded.cpp", lambda t: [0], lambda t: [at(t.a), 2]),
            Kernel("writer", CLONE + "write_kernel_sharded.cpp", lambda t: [0], lambda t: [at(t.out), 2]),
        ),
        {0: ("a", 2)}, same, 0.0, cores=(2, 1),
    ),
    Case(
        "copy of shards in place", (SHARDED,), SHARDED,
        (
            Kernel("reader", SHARDS + "dataflow/reader_unary_sharded.cpp", lambda t: [0], lambda t: [2]),
            compute(SHARDS + "compute/eltwise_copy.cpp", args=lambda t: [2]),
            Kernel("writer", SHARDS + "dataflow/writer_unary_sharded.cpp", lambda t: [16], lambda t: [2]),
        ),
        {0: "a", 16: "out"}, same, 0.0, cores=(2, 1),
    ),
    Case(
        "relu of shards", (SHARDED,), SHARDED,
        (
            Kernel("reader", UNARY + "dataflow/reader_unary_sharded.cpp", lambda t: [0], lambda t: [2]),
            compute(UNARY + "compute/eltwise_sfpu.cpp", lambda t: [2, 1], defines={
                "SFPU_OP_RELU_FAMILY_INCLUDE": "1", "SFPU_OP_CHAIN_0": "relu_tile_init(); relu_tile(0);",
            }),
            Kernel("writer", SHARDS + "dataflow/writer_unary_sharded.cpp", lambda t: [2], lambda t: [2]),
        ),
        {0: "a", 2: "out"}, relu, 0.0, cores=(2, 1),
    ),
    Case(
        "copy between interleaved tensors", (TILES,), TILES,
        (read_pages(MOVE + "copy/device/kernels/reader_unary_start_id.cpp"),
         write_pages(0, MOVE + "copy/device/kernels/writer_unary_start_id.cpp")),
        {0: ("a", 2)}, same, 0.0,
    ),
    Case(
        "a block by rows and columns", (TILES,), TILES,
        (
            Kernel("reader", UNARY + "dataflow/reader_unary_interleaved_wh_multicore.cpp",
                   lambda t: [4, 1, 2, *words(t.a)], lambda t: [at(t.a), 0, 2, 2]),
            Kernel("writer", UNARY + "dataflow/writer_unary_interleaved_start_id_wh.cpp",
                   lambda t: [0, 4, 1, 2, *words(t.out)], lambda t: [at(t.out), 0, 2, 2]),
        ),
        {0: ("a", 2)}, same, 0.0,
    ),
    Case(
        "full", (STICKS,), STICKS,
        (Kernel("writer", OPS + "full/device/kernels/writer_full.cpp", lambda t: [0, 96, 192, *words(t.out)],
                lambda t: [at(t.out), 0x3FC00000, 10, 0], {"OUTPUT_DTYPE_BFLOAT16": "1"}),),
        {0: ("out", 1, 192)}, lambda a: np.full_like(a, 1.5), 0.0,
    ),
    Case(
        "fill_rm", (STICKS,), STICKS,
        (Kernel("reader", MOVE + "fill_rm/device/kernels/dataflow/fill_rm_interleaved.cpp", lambda t: words(t.out),
                lambda t: [at(t.out), 1, 10, 96, 4, 32, 0x3FC0, 0x4000]),),
        {0: ("out", 16), 1: ("out", 16)},
        lambda a: np.where((np.arange(10) < 4)[:, None] & (np.arange(96) < 32), 1.5, 2.0), 0.0,
    ),
]  # fmt: skip

CASES = [
    *UNARY_CASES,
    *PLAIN_CASES,
    *BINARY_CASES,
    *BROADCAST_CASES,
    *REDUCE_CASES,
    *LAYOUT_CASES,
    *MATMUL_CASES,
    *COPY_CASES,
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.parent.name)
def test_kernels(case, root, device):
    run(case, root, device)
