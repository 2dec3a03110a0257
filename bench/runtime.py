"""`tensim.runtime`: what it costs the host, and that it costs the device nothing."""

import time

import ml_dtypes
import numpy as np

import tensim as tt
from tensim.examples.blocked_matmul import Operands, build_program, free_l1_bytes
from tensim.examples.matmul_plan import Settings, Topology, make_plan
from tensim.runtime import (
    Binary,
    DType,
    Layout,
    MemSpace,
    ProgramInfo,
    System,
    SystemConfig,
    Tensor,
    TensorDesc,
    TensorInfo,
    Variant,
    submit,
    to_layout,
)
from tensim.runtime.encoding import encode
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.cores.numerics.data_format import DataFormat

DRAM, TILES = Layout(MemSpace.DRAM), Layout(MemSpace.DRAM, "tile")
GRID = (8, 8)
MATMUL = Settings(Topology.ROWS_COLUMNS, DataFormat.Float16_b, fp32_dest_acc_en=False)


def one_to_one(desc, layout, variant):
    """A binary of one program with one input and one output alike."""
    return Binary([ProgramInfo("p", (TensorInfo("x", desc, layout),), (TensorInfo("y", desc, layout),), (variant,))])


def submits(count):
    """Submits per second of a program without kernels on two resident tensors."""
    with System() as system:
        device, desc = system.open("sim://wormhole_b0"), TensorDesc((32, 32), DType.F32)
        bound = one_to_one(desc, DRAM, Variant("sim")).bind(device)
        x, y = Tensor.empty(desc, DRAM, device), Tensor.empty(desc, DRAM, device)
        begun = time.perf_counter()
        for _ in range(count):
            bound.submit(0, [x], outputs=[y])
        system.drain()
        return count / (time.perf_counter() - begun)


def tilize_seconds(size):
    """Seconds to convert a square bf16 tensor in host memory from rows to tiles."""
    with System():
        x = Tensor.from_numpy(np.ones((size, size), ml_dtypes.bfloat16))
        begun = time.perf_counter()
        to_layout(x, Layout(MemSpace.HOST, "tile"))
        return time.perf_counter() - begun


def encode_seconds(size, source):
    """Seconds to turn a square array of a type into the bytes of bf16 tiles."""
    desc, layout = TensorDesc((size, size), source), Layout(MemSpace.DRAM, "tile", dtype=DType.BF16)
    values = np.random.default_rng(0).standard_normal((size, size), np.float32).astype(source.numpy)
    begun = time.perf_counter()
    encode(values, desc, layout)
    return time.perf_counter() - begun


def multicast_matmul(device, inputs, outputs, size):
    """The program of `tensim.examples.matmul_multicast` over three square buffers of `size` elements a side."""
    plan = make_plan((size,) * 3, GRID, MATMUL, free_l1_bytes(device))
    return build_program(device, plan, MATMUL, Operands(*inputs, *outputs), tt.MathFidelity.HiFi2)


def matmul_cycles_plain(size):
    """Cycles of a product through the plain host API."""
    with System(SystemConfig(numerics="off")) as system:
        device, desc = system.open("sim://wormhole_b0"), TensorDesc((size, size), DType.BF16)
        config = TILES.resolved(desc).buffer_config(desc, device.metal)
        buffers = [tt.create_buffer(config) for _ in range(3)]
        queue = device.metal.command_queue(0)
        tt.enqueue_program(queue, multicast_matmul(device.metal, buffers[:2], buffers[2:], size))
        tt.finish(queue)
        return program_cycles(device.chip)


def matmul_cycles_submitted(size):
    """Cycles of the same product as a binary on tensors."""
    with System(SystemConfig(numerics="off")) as system:
        device, desc = system.open("sim://wormhole_b0"), TensorDesc((size, size), DType.BF16)
        info = [TensorInfo(name, desc, TILES) for name in "abc"]
        variant = Variant("sim", lambda metal, inputs, outputs: multicast_matmul(metal, inputs, outputs, size))
        binary = Binary([ProgramInfo("matmul", tuple(info[:2]), (info[2],), (variant,))])
        a, b, c = (Tensor.empty(desc, TILES, device) for _ in range(3))
        submit(device, binary, "matmul", [a, b], outputs=[c], queue=1)
        system.drain()
        return program_cycles(device.chip)
