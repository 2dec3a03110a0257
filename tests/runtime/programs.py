"""Binaries of small real kernels over vectors of integers, with numpy variants, and systems without overheads."""
# ruff: noqa: F403, F405

import numpy as np

import tensim as tt
from tensim.kernel_api import *
from tensim.runtime import (
    Binary,
    DType,
    Layout,
    MemSpace,
    ProgramInfo,
    System,
    SystemConfig,
    TensorDesc,
    TensorInfo,
    Variant,
)
from tensim.sim.cores.numerics.data_format import DataFormat

COUNT = 64
DESC = TensorDesc((COUNT,), DType.U32)
DRAM = Layout(MemSpace.DRAM)
CORE = tt.CoreCoord(0, 0)


@kernel
def combine(a_address, b_address, out_address, count, subtract, cycles):
    """Word by word out = a + b or a - b, then busy for some cycles."""
    page = 4 * count
    a_source = InterleavedAddrGen(a_address, page_size=page, dram=True)
    b_source = InterleavedAddrGen(b_address, page_size=page, dram=True)
    target = InterleavedAddrGen(out_address, page_size=page, dram=True)
    a_l1, b_l1, out_l1 = get_write_ptr(0), get_write_ptr(1), get_write_ptr(2)
    noc_async_read_page(0, a_source, a_l1)
    noc_async_read_page(0, b_source, b_l1)
    noc_async_read_barrier()
    a = l1_ptr(a_l1, uint32)
    b = l1_ptr(b_l1, uint32)
    out = l1_ptr(out_l1, uint32)
    for i in range(count):
        if subtract:
            out[i] = a[i] - b[i]
        else:
            out[i] = a[i] + b[i]
    riscv_wait(cycles)
    noc_async_write_page(0, target, out_l1)
    noc_async_write_barrier()


def build(subtract, cycles=1):
    """A Variant.build of `combine`."""

    def make(device, inputs, outputs):
        program, room = tt.create_program(), 4 * COUNT
        for index in range(3):
            config = tt.CircularBufferConfig(room, {index: DataFormat.UInt32}).set_page_size(index, room)
            tt.create_circular_buffer(program, CORE, config)
        worker = tt.create_kernel(program, combine, CORE, tt.ReaderDataMovementConfig())
        set_buffers(subtract, cycles)(program, inputs, outputs, worker)
        return program

    return make


def set_buffers(subtract, cycles=1):
    """A Variant.rebind of `combine`."""

    def rebind(program, inputs, outputs, worker=0):
        addresses = [buffer.address for buffer in (*inputs, *outputs)]
        tt.set_runtime_args(program, worker, CORE, [*addresses, COUNT, int(subtract), cycles])

    return rebind


def info(name, desc=DESC, layout=DRAM, **settings):
    return TensorInfo(name, desc, layout, **settings)


def pair_program(name="add", subtract=False, cycles=1, host_ns=500.0, **settings):
    """A program of two inputs and one output, for chips and for the host."""
    operation = np.subtract if subtract else np.add
    variants = (
        Variant("sim", build(subtract, cycles), set_buffers(subtract, cycles)),
        Variant("host", function=operation, cost_ns=host_ns),
    )
    inputs = settings.pop("inputs", (info("a"), info("b")))
    return ProgramInfo(name, inputs, (info("out"),), settings.pop("variants", variants), **settings)


def adder(**settings):
    return Binary([pair_program("add", **settings)])


def subtracter(**settings):
    return Binary([pair_program("sub", subtract=True, **settings)])


def vector(seed):
    return np.random.default_rng(seed).integers(0, 1000, COUNT, dtype=np.uint32)


def ideal(chips="wormhole_b0", **settings):
    """A system without overheads of host, dispatch and PCIe."""
    return System(SystemConfig.named(chips, ideal=True, **settings))
