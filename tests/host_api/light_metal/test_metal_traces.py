"""Metal traces inside Light Metal binaries."""

# ruff: noqa: F403, F405
import subprocess
import sys

import numpy as np
import pytest

import tensim as tt
from tensim.kernel_api import *
from tensim.light_metal.binary import verified
from tensim.running.replay import LightMetalReplay
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.errors import BinaryError, UsageError
from tensim.traces.flatbuffers.tables import Node
from tensim.traces.light_metal.kernels import KernelReader
from tensim.traces.light_metal.metal_traces import read_descriptor
from tensim.traces.light_metal.write import BinaryWriter
from tests.host_api.light_metal.capture import WORDS, copy_program, copy_through_l1, dram, exponential, l1


@pytest.mark.parametrize("programs", [1, 2])
def test_a_trace_is_embedded_and_replayed(device, programs):
    """Eager run, output overwritten, traced run: the binary replays both (one copy, or two by way of a third buffer)."""
    queue = device.command_queue(0)
    with tt.light_metal_capture() as captured:
        buffers, scratch = [dram(device, 64, 64) for _ in range(programs + 1)], l1(device, 64, 64)
        copies = [copy_program(device, *pair, scratch) for pair in zip(buffers, buffers[1:], strict=False)]
        tt.enqueue_write_buffer(queue, buffers[0], WORDS)
        for program in copies:
            tt.enqueue_program(queue, program)
        eager = tt.light_metal_compare_to_capture(queue, buffers[-1])
        tt.enqueue_write_buffer(queue, buffers[-1], np.full(16, 0xDEADBEEF, np.uint32))
        tid = tt.begin_trace_capture(device, 0)
        for program in copies:
            tt.enqueue_program(queue, program)
        tt.end_trace_capture(device, 0, tid)
        tt.replay_trace(device, 0, tid, blocking=True)
        tt.light_metal_compare_to_golden(queue, buffers[-1], eager)
        assert tt.enqueue_read_buffer(queue, buffers[-1]) == eager == WORDS.tobytes()
        tt.finish(queue)
        tt.release_trace(device, tid)
    names = [node.table for node in verified(captured.binary).nodes()]
    assert names.count("EnqueueProgramCommand") == programs and names.count("LoadTraceCommand") == 1
    replay = LightMetalReplay(captured.binary)
    try:
        replay.execute()
        assert all(item["passed"] for item in replay.compares) and len(replay.compares) == 2
        assert program_cycles(replay.devices[0].chip) == program_cycles(device.chip)
    finally:
        replay.close()


LOAD = """
import sys
import numpy as np
import tensim as tt
device = tt.create_device(0, trace_region_size=4096)
queue = device.command_queue(0)
config = tt.InterleavedBufferConfig(device=device, size=64, page_size=64)
source, target = tt.create_buffer(config), tt.create_buffer(config)
tt.enqueue_write_buffer(queue, source, np.arange(16, dtype=np.uint32) + 5)
tid = tt.load_trace(device, 0, open(sys.argv[1], "rb").read())
tt.replay_trace(device, 0, tid)
assert tt.enqueue_read_buffer(queue, target) == (np.arange(16, dtype=np.uint32) + 5).tobytes()
tt.close_device(device)
"""


def test_a_trace_is_stored_and_loaded_by_another_process(device, tmp_path):
    queue = device.command_queue(0)
    source, target, scratch = dram(device, 64, 64), dram(device, 64, 64), l1(device, 64, 64)
    program = copy_program(device, source, target, scratch)
    tt.enqueue_program(queue, program)
    tid = tt.begin_trace_capture(device, 0)
    tt.enqueue_program(queue, program)
    tt.end_trace_capture(device, 0, tid)
    path = tmp_path / "trace.bin"
    path.write_bytes(tt.collect_trace(device, tid))
    done = subprocess.run([sys.executable, "-c", LOAD, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("other", [None, "trace.bin", 7])
def test_what_is_no_trace_is_not_loaded(device, other):
    with pytest.raises(UsageError, match=f"{type(other).__name__} is not a trace"):
        tt.load_trace(device, 0, other)


def test_a_trace_of_a_whole_program_is_not_loaded_by_itself(device):
    """Its regions and arguments stand for buffers that commands of the file make."""
    queue = device.command_queue(0)
    with tt.light_metal_capture() as captured:
        source, target, scratch = dram(device, 64, 64), dram(device, 64, 64), l1(device, 64, 64)
        program = copy_program(device, source, target, scratch)
        tt.enqueue_program(queue, program)
        trace = tt.begin_trace_capture(device, 0)
        tt.enqueue_program(queue, program)
        tt.end_trace_capture(device, 0, trace)
    with pytest.raises(UsageError, match="holds commands"):
        tt.load_trace(device, 0, captured.binary.get_data())
    root = verified(captured.binary).reader.root("trace_descriptors", "kernel_binaries")
    with pytest.raises(BinaryError, match="refers to object") as refused:
        read_descriptor(root.trace_descriptors[0].desc, KernelReader(root.kernel_binaries), {})
    assert refused.value.where["offset"] > 0


def test_descriptors_survive_the_format(device):
    queue, core = device.command_queue(0), tt.CoreCoord(2, 3)
    program = tt.create_program()
    config = tt.CircularBufferConfig(4096, {3: tt.DataFormat.Bfp8_b}).set_page_size(3, 2048)
    tt.create_circular_buffer(program, core, config)
    tt.create_semaphore(program, core, 5)
    handle = tt.create_kernel(program, copy_through_l1, core, tt.ReaderDataMovementConfig(compile_args=[9]))
    tt.create_kernel(program, exponential, core, tt.ComputeConfig(compile_args=[0, 0]))
    buffer = dram(device, 64, 64)
    tt.set_runtime_args(program, handle, core, [600_000, buffer, 0, buffer, 0, 64])
    tt.enqueue_program(queue, program)
    tid = tt.begin_trace_capture(device, 0)
    tt.enqueue_program(queue, program)
    tt.end_trace_capture(device, 0, tid)
    descriptor = tt.trace_descriptor(device, tid)
    again = tt.trace_descriptor(device, tt.load_trace(device, 0, tt.collect_trace(device, tid)))
    for one, other in zip(descriptor.programs, again.programs, strict=True):
        assert (one.circular_buffers, one.semaphores, one.sub_device) == (
            other.circular_buffers, other.semaphores, other.sub_device
        )  # fmt: skip
        for kernel, copy in zip(one.kernels, other.kernels, strict=True):
            assert kernel.kernel.source == copy.kernel.source and kernel.parameters == copy.parameters
            assert (kernel.cores, kernel.args, kernel.common_args) == (copy.cores, copy.args, copy.common_args)
    assert (descriptor.counters, descriptor.trace_bytes) == (again.counters, again.trace_bytes)


def test_foreign_dispatch_words_are_refused_by_name(device):
    writer = BinaryWriter()
    words = Node("TraceDescriptor", {"trace_data": np.arange(100, dtype=np.uint32)})
    writer.descriptors[0] = writer.writer.node(Node("TraceDescriptorByTraceId", {"trace_id": 0, "desc": words}))
    with pytest.raises(UsageError, match="100 dispatch words of tt-metal"):
        tt.load_trace(device, 0, bytes(writer.finish(0, 0, "test")))
