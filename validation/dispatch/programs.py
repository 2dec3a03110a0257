"""Programs of the dispatch benchmark, and transfers between host and chip.

Kernels are empty ones of a stated size, or run for a stated time; the same program is enqueued back to back (traced: from
one trace) and the time per program is the slope over their number, so that the first one's latency does not count.
"""

from dataclasses import dataclass

import numpy as np

import tensim as tt
from tensim.runtime import System
from tensim.runtime.systems import SystemConfig
from tensim.sim.loop.environment import FS_PER_NS
from tensim.validation.dispatch import kernels

FEW, MANY = 16, 48  # programs of the two runs: more than the launch ring and the configuration ring hold
TRACE_REGION = 1 << 26
START_BYTES, NOP_BYTES = 256, 4  # of an empty kernel's binary; of a nop
CB_BYTES = 16  # of each circular buffer (docs/hardware/dispatch.md#published-dispatch-times)
NO_HOST = {"host.enqueue_program_ns": 0}  # commands wait in the queue, as behind thousands of warm-up programs


@dataclass(frozen=True)
class Shape:
    """A program of the benchmark.

    `text_bytes`: of each processor's binary; `cycles`: run time of the kernels; `fast`: programs without run time behind
    each of those; `args`, `common_args`: words of each kernel; `kernel_groups`: 0 for one per column of the grid;
    `cb_groups`: groups of cores with circular buffers of their own.
    """

    text_bytes: int = START_BYTES
    processors: tuple = ("brisc", "ncrisc", "trisc")
    all_cores: bool = False
    cycles: int = 0
    fast: int = 0
    args: int = 0
    common_args: int = 0
    cbs: int = 0
    cb_groups: int = 1
    semaphores: int = 0
    kernel_groups: int = 1
    traced: bool = True


def groups(grid, count):
    """Core ranges of `count` groups: whole columns, then single cores of the last row.

    Source: docs/hardware/dispatch.md#published-dispatch-times.
    """
    columns = grid.x - count + 1
    first = tt.CoreRange(tt.CoreCoord(0, 0), tt.CoreCoord(columns - 1, grid.y - 1))
    last = (tt.CoreCoord(x, grid.y - 1) for x in range(columns, grid.x))
    return [first, *(tt.CoreRange(core, core) for core in last)]


def build(grid, shape, cycles):
    """The program of a shape, its kernels running for `cycles`."""
    program = tt.create_program()
    one = tt.CoreRange(tt.CoreCoord(0, 0), tt.CoreCoord(0, 0))
    parts = groups(grid, shape.kernel_groups or grid.x) if shape.all_cores else [one]
    for part in parts:
        for processor in shape.processors:
            _add_kernel(program, part, processor, shape, cycles)
    for part in groups(grid, shape.cb_groups) if shape.all_cores else [one]:
        for index in range(shape.cbs):
            config = tt.CircularBufferConfig(CB_BYTES, {index: tt.DataFormat.Float16_b}).set_page_size(index, CB_BYTES)
            tt.create_circular_buffer(program, part, config)
    for _ in range(shape.semaphores):
        tt.create_semaphore(program, groups(grid, 1)[0] if shape.all_cores else one, 0)
    return program


def _add_kernel(program, cores, processor, shape, cycles):
    nops = max(shape.text_bytes - START_BYTES, 0) // NOP_BYTES
    options = {"compile_args": [cycles, shape.args - 1], "named_compile_args": {"nops": nops}}
    config = {
        "brisc": lambda: tt.DataMovementConfig(processor=tt.DataMovementProcessor.RISCV_0, noc=tt.NOC.NOC_0, **options),
        "ncrisc": lambda: tt.DataMovementConfig(
            processor=tt.DataMovementProcessor.RISCV_1, noc=tt.NOC.NOC_1, **options
        ),
        "trisc": lambda: tt.ComputeConfig(**options),
    }[processor]()
    kernel = tt.create_kernel(program, kernels.benchmark, cores, config)
    if shape.args:
        tt.set_runtime_args(program, kernel, cores, [0] * shape.args)
    if shape.common_args:
        tt.set_common_runtime_args(program, kernel, [0] * shape.common_args)


def time_per_program(arch, shape):
    """Simulated ns per program, back to back; with `fast` ones behind it, per round."""
    overrides = {} if shape.traced else NO_HOST
    config = SystemConfig.named(arch, overrides=overrides, numerics="off")
    with System(config) as system:
        device = system.open(f"sim://{arch}?trace_region={TRACE_REGION}").metal
        queue = device.command_queue(0)
        grid = device.compute_with_storage_grid_size()
        programs = [build(grid, shape, shape.cycles)] + [build(grid, shape, 0)] * min(shape.fast, 1)
        for program in programs:
            tt.enqueue_program(queue, program, blocking=True)
        turn = programs[:1] + programs[1:] * shape.fast
        loop = _traced if shape.traced else _enqueued
        few, many = (loop(device, queue, turn * count) for count in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def _enqueued(device, queue, programs):
    return _timed(device, lambda: [tt.enqueue_program(queue, program) for program in programs])


def _traced(device, queue, programs):
    trace = tt.begin_trace_capture(device, 0)
    for program in programs:
        tt.enqueue_program(queue, program)
    tt.end_trace_capture(device, 0, trace)
    return _timed(device, lambda: tt.enqueue_trace(queue, trace))


def _timed(device, work):
    """ns of the host until `work` has ended on the device."""
    begun = device.system.host.now_fs
    work()
    tt.finish(device.command_queue(0))
    return (device.system.host.now_fs - begun) / FS_PER_NS


def transfer_time(arch, remote, direction, memory, page, size):
    """Simulated ns of one transfer of a whole interleaved buffer; `remote`: to the second chip of the card."""
    board = {"wormhole_b0": "n300"}.get(arch, arch)
    with System(SystemConfig.named(board, numerics="off")) as system:
        device = system.open(f"sim://{arch}[{remote}]").metal
        kind = tt.BufferType.L1 if memory else tt.BufferType.DRAM
        buffer = tt.create_buffer(
            tt.InterleavedBufferConfig(device=device, size=size, page_size=page, buffer_type=kind)
        )
        queue = device.command_queue(0)
        if direction == "read":
            return _timed(device, lambda: tt.enqueue_read_buffer(queue, buffer, blocking=True))
        data = np.zeros(size, np.uint8)
        return _timed(device, lambda: tt.enqueue_write_buffer(queue, buffer, data, blocking=False))
