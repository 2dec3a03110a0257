"""Kernels, operands and results that the cases of both generations share."""

import numpy as np

import tensim.ttnn as ttnn
from tests.ttnn.library.harness import OPS, Kernel, Operand, at, pages, words

TWO_CORES = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 0))])
ROWS = ttnn.ROW_MAJOR_LAYOUT
ONE_SCALER = 0x3F803F80  # two bf16 ones
PER_64 = 0x3C803C80  # two bf16 numbers 1/64


def sharded(height, width, cores=TWO_CORES, kind=ttnn.TensorMemoryLayout.HEIGHT_SHARDED, buffer=ttnn.BufferType.L1):
    """Height-sharded over two cores, unless something else is said."""
    spec = ttnn.ShardSpec(cores, [height, width], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(kind, buffer, spec)


def one_bank(height, width):
    """The whole tensor in DRAM bank 0."""
    core = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 0))])
    return sharded(height, width, core, buffer=ttnn.BufferType.DRAM)


def one_core(height, width):
    """The whole tensor in the L1 of core (3, 3)."""
    return sharded(height, width, ttnn.CoreRangeSet([ttnn.CoreRange((3, 3), (3, 3))]))


def read_pages(path=OPS + "eltwise/unary/device/kernels/dataflow/reader_unary_interleaved_start_id.cpp"):
    """Reader of all pages of `a` into circular buffer 0: address, pages, first page."""
    return Kernel("reader", path, lambda t: words(t.a), lambda t: [at(t.a), pages(t.a), 0])


def read_pages_to(path):
    """The same, the circular buffer a compile-time argument."""
    return Kernel("reader", path, lambda t: [0, *words(t.a)], lambda t: [at(t.a), pages(t.a), 0])


def write_pages(cb, path=OPS + "eltwise/unary/device/kernels/dataflow/writer_unary_interleaved_start_id.cpp"):
    """Writer of all pages of the result."""
    return Kernel("writer", path, lambda t: [cb, *words(t.out)], lambda t: [at(t.out), pages(t.out), 0])


def compute(path, words=lambda t: [], args=lambda t: [], **more):
    return Kernel("compute", path, words, args, **more)


def height(tensor):
    return tensor.padded_shape[-2] // 32


def width(tensor):
    return tensor.padded_shape[-1] // 32


def both(t):
    """Accessor words of `a` and `b`."""
    return [*words(t.a), *words(t.b)]


def batched(t):
    """Arguments of the readers of a broadcast: `a` by tiles, `b` repeated."""
    ht, wt = height(t.a), width(t.a)
    return [at(t.a), 0, 0, ht * wt, at(t.b), 0, 0, pages(t.b), ht * wt, 1, ht, wt, 1]


def partitioned(t):
    """Arguments of the readers of a broadcast that take a part of the tiles."""
    ht, wt = height(t.a), width(t.a)
    return [at(t.a), at(t.b), ht * wt, ht * wt, 0, 0, 0]


BCAST = {
    "row": ({"BCAST_DIM": "BroadcastType::ROW"}, (1, 64)),
    "col": ({"BCAST_DIM": "BroadcastType::COL"}, (64, 1)),
    "scalar": ({"BCAST_DIM": "BroadcastType::SCALAR"}, (1, 1)),
}
SUBTRACT = {"BCAST_LLKOP": "EltwiseBinaryType::ELWSUB", "BCAST_OP": "sub_tiles_bcast"}
TILES = Operand((64, 64))


def transposed(a):
    return np.swapaxes(a, -1, -2)


def same(a):
    return a


def relu(a):
    return np.maximum(a, 0)


BINARY = {
    "add": ("EltwiseBinaryType::ELWADD", "add_tiles", np.add, "add_bf16_bf16_None_32x64_wide"),
    "subtract": ("EltwiseBinaryType::ELWSUB", "sub_tiles", np.subtract, "subtract_bf16_bf16_None_32x64_wide"),
    "multiply": ("EltwiseBinaryType::ELWMUL", "mul_tiles", np.multiply, "multiply_bf16_bf16_None_32x64_wide_1"),
}
