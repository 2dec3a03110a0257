"""Metal traces and arguments in a binary, replayed where buffers lie elsewhere: they follow, or are refused."""

# ruff: noqa: F403, F405
import pytest

import tensim as tt
from tensim.kernel_api import *
from tensim.light_metal.replay import ReplayOptions
from tensim.running.replay import LightMetalReplay
from tests.light_metal.programs import CORE, WORDS, copied, copier, dram, l1, opened, traced

ELSEWHERE = {
    "another alignment": ReplayOptions(overrides={"alignment.dram_page": 64}),
    "blackhole": ReplayOptions(arch="blackhole"),
    "grayskull": ReplayOptions(arch="grayskull"),
    "the same chip": ReplayOptions(),
}


def replayed(binary, options):
    replay = LightMetalReplay(binary, options=options)
    assert replay.run(), replay.error or replay.compares
    assert len(replay.compares) == 1
    return replay


@pytest.mark.parametrize("options", ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_trace_follows_its_buffers(options):
    with opened(trace_region_size=65536) as device, tt.light_metal_capture() as captured:
        queue = device.command_queue(0)
        source, target, program = copied(device)
        trace = traced(device, program)
        tt.enqueue_write_buffer(queue, source, WORDS + 5)
        tt.replay_trace(device, 0, trace)
        tt.light_metal_compare_to_golden(queue, target, WORDS + 5)
        tt.finish(queue)
        del source, target, program
    replayed(captured.binary, options)


@kernel
def copy_by_every_kind_of_argument(pages):
    """The source stands in a compile-time argument, the target in a common one."""
    source = InterleavedAddrGen(get_compile_time_arg_val(0), page_size=2048, dram=True)
    target = InterleavedAddrGen(get_common_arg_val(0), page_size=2048, dram=True)
    for page in range(pages):
        noc_async_read_page(page, source, get_write_ptr(0))
        noc_async_read_barrier()
        noc_async_write_page(page, target, get_write_ptr(0))
        noc_async_write_barrier()


@pytest.mark.parametrize("options", ELSEWHERE.values(), ids=ELSEWHERE)
@pytest.mark.parametrize("in_trace", [False, True])
def test_every_kind_of_argument_follows(options, in_trace):
    """Compile-time, common and changed arguments, and a circular buffer that lies on an L1 buffer."""
    with opened(trace_region_size=65536) as device, tt.light_metal_capture() as captured:
        queue, backing = device.command_queue(0), l1(device, 8 * 8 * 4096, 2048)
        pad, source, middle, target = (dram(device) for _ in range(4))
        program = tt.create_program()
        config = tt.CircularBufferConfig(2048, {0: tt.DataFormat.UInt32}).set_page_size(0, 2048)
        tt.create_circular_buffer(program, CORE, config.set_globally_allocated_address(backing))
        settings = tt.ReaderDataMovementConfig(compile_args=[source.address])
        handle = tt.create_kernel(program, copy_by_every_kind_of_argument, CORE, settings)
        tt.set_runtime_args(program, handle, CORE, [8])
        tt.set_common_runtime_args(program, handle, [middle])
        second = copier(pad, pad)
        tt.get_runtime_args(second, second.handle, CORE)[:2] = [middle, target]
        tt.enqueue_write_buffer(queue, source, WORDS)
        for one in (program, second):
            tt.enqueue_program(queue, one)
        if in_trace:
            trace = traced(device, program, second)
            tt.enqueue_write_buffer(queue, source, WORDS + 3)
            tt.replay_trace(device, 0, trace)
        tt.light_metal_compare_to_capture(queue, target)
        del pad, source, middle, target, backing, program, second
    replayed(captured.binary, options)


@pytest.mark.parametrize("in_trace", [False, True])
def test_a_raw_address_is_refused_elsewhere(in_trace):
    with opened(trace_region_size=65536) as device, tt.light_metal_capture() as captured:
        queue, source, target = device.command_queue(0), dram(device), dram(device)
        program = copier(source, target)
        tt.get_runtime_args(program, program.handle, CORE)[1] = int(target.address)
        tt.enqueue_program(queue, program)
        if in_trace:
            tt.replay_trace(device, 0, traced(device, program))
        tt.finish(queue)
        del source, target, program
    assert LightMetalReplay(captured.binary).run()
    replay = LightMetalReplay(captured.binary, options=ELSEWHERE["another alignment"])
    assert not replay.run() and "raw address 0x820" in str(replay.error)


def test_a_circular_buffer_stays_at_its_place_on_its_buffer():
    """Its offset on the buffer is in the file."""
    with opened() as device, tt.light_metal_capture() as captured:
        queue, backing = device.command_queue(0), l1(device, 72 * 8192, 2048)
        source, target = dram(device), dram(device)
        program = tt.create_program()
        config = tt.CircularBufferConfig(2048, {0: tt.DataFormat.UInt32}).set_page_size(0, 2048)
        config = config.set_globally_allocated_address(backing)
        config.offset = 4096
        tt.create_circular_buffer(program, CORE, config)
        other = copier(source, target)
        handle = tt.create_kernel(
            program, copy_by_every_kind_of_argument, CORE, tt.ReaderDataMovementConfig(compile_args=[source.address])
        )
        tt.set_runtime_args(program, handle, CORE, [1])
        tt.set_common_runtime_args(program, handle, [target])
        tt.enqueue_write_buffer(queue, source, WORDS + 9)
        tt.enqueue_program(queue, program)
        tt.light_metal_compare_to_capture(queue, backing)
        del backing, source, target, program, other
    replayed(captured.binary, ReplayOptions())
