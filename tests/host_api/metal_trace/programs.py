"""Programs and buffers for the tests of metal traces."""

import dataclasses

import tensim as tt
from tests.host_api.fake_chip import FakeKernel

PAGE = 1024
REGION = 65536
ONE_CORE = ((0, 0), (0, 0))


def program_of(cycles=1000, cores=ONE_CORE, args=(), **kernel):
    program = tt.create_program()
    handle = tt.create_kernel(
        program, FakeKernel(cycles, **kernel), tt.CoreRange(*cores), tt.ReaderDataMovementConfig()
    )
    if args:
        tt.set_runtime_args(program, handle, tt.CoreRange(*cores), list(args))
    return program


def warm(device, *programs):
    """Run programs once, so that their binaries are on the device."""
    for program in programs:
        tt.enqueue_program(device.command_queue(0), program)
    tt.finish(device.command_queue(0))


def capture(device, *programs, cq_id=0):
    trace = tt.begin_trace_capture(device, cq_id)
    for program in programs:
        tt.enqueue_program(device.command_queue(cq_id), program)
    tt.end_trace_capture(device, cq_id, trace)
    return trace


def traced(device, *programs):
    """A trace of programs that this runs first."""
    warm(device, *programs)
    return capture(device, *programs)


def dram_buffer(device, pages=1, **options):
    return tt.create_buffer(tt.InterleavedBufferConfig(device, pages * PAGE, PAGE), **options)


def l1_buffer(device, per_bank, **options):
    size = per_bank * device.num_banks(tt.BufferType.L1)
    return tt.create_buffer(tt.InterleavedBufferConfig(device, size, per_bank, tt.BufferType.L1), **options)


def with_circular_buffer(program, size=2048, buffer=None):
    config = tt.CircularBufferConfig(size, {0: tt.DataFormat.UInt32}).set_page_size(0, size)
    if buffer is not None:
        config.set_globally_allocated_address(buffer)
    tt.create_circular_buffer(program, tt.CoreCoord(0, 0), config)
    return program


def as_data(launches):
    """What the chip was given, comparable."""
    return [dataclasses.asdict(dataclasses.replace(launch, kernels=[])) for launch in launches], [
        [(kernel.compiled, kernel.cores, kernel.args, kernel.common_args) for kernel in launch.kernels]
        for launch in launches
    ]
