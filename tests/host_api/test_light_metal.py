"""Light Metal: what is captured replays to the cycle and the bit.

The workloads are those of tt-metal's Light Metal tests (docs/hardware/upstream_tests.md#light-metal-tests) as programs of our own.
"""

# ruff: noqa: F403, F405
import gc
import json
import subprocess
import sys

import numpy as np
import pytest

import tensim as tt
from tensim.device import current_system
from tensim.examples import EXAMPLES
from tensim.kernel_api import *
from tensim.light_metal.binary import verified
from tensim.light_metal.comparison import compare
from tensim.light_metal.replay import ReplayOptions
from tensim.running.options import Options
from tensim.running.replay import LightMetalReplay
from tensim.running.runnable import find_program
from tensim.runtime import System
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.errors import BinaryError, UsageError
from tensim.sim.host import commands as c
from tensim.traces.flatbuffers.tables import Node
from tensim.traces.light_metal.kernels import KernelReader
from tensim.traces.light_metal.metal_traces import read_descriptor
from tensim.traces.light_metal.write import BinaryWriter

WORDS = np.arange(16, dtype=np.uint32)


@pytest.fixture
def device():
    device = tt.create_device(0, trace_region_size=4096)
    yield device
    tt.close_device(device)


def dram(device, size, page):
    return tt.create_buffer(tt.InterleavedBufferConfig(device=device, size=size, page_size=page))


def l1(device, size, page):
    config = tt.InterleavedBufferConfig(device=device, size=size, page_size=page, buffer_type=tt.BufferType.L1)
    return tt.create_buffer(config)


def final_state(device):
    """What must be the same after a replay: cycles, clock, memory."""
    return program_cycles(device.chip), device.chip.cycle, device.chip.memory.image_sha256()


def check_replay(device, binary):
    """The binary replays to the state of the device that it was captured on; returns the replay."""
    replay = LightMetalReplay(binary)
    try:
        replay.execute()
        assert final_state(replay.devices[0]) == final_state(device)
    finally:
        replay.close()
    assert all(item["passed"] for item in replay.compares)
    return replay


# --- the vendor's tests


@pytest.mark.parametrize("layout", ["INTERLEAVED", "HEIGHT_SHARDED", "WIDTH_SHARDED"])
def test_buffers_written_and_read(device, layout):
    """Five buffers of 16 KiB in L1, written, read back and compared."""
    rng, kept, queue = np.random.default_rng(0), [], device.command_queue(0)
    with tt.light_metal_capture() as captured:
        for _ in range(5):
            if layout == "INTERLEAVED":
                buffer = l1(device, 16384, 2048)
            else:
                grid = tt.CoreRangeSet([tt.CoreRange((0, 0), (1, 0))])
                high = layout == "HEIGHT_SHARDED"
                shape, tensor = ((64, 64), (4, 2)) if high else ((64, 64), (2, 4))
                spec = tt.ShardSpecBuffer(tt.ShardSpec(grid, shape, tt.ShardOrientation.ROW_MAJOR), (32, 32), tensor)
                config = tt.ShardedBufferConfig(
                    device, 16384, 2048, tt.BufferType.L1, tt.TensorMemoryLayout[layout], spec
                )
                buffer = tt.create_buffer(config)
            data = rng.integers(0, 100, 4096, dtype=np.uint32)
            tt.enqueue_write_buffer(queue, buffer, data)
            assert tt.enqueue_read_buffer(queue, buffer) == data.tobytes()
            assert tt.light_metal_compare_to_capture(queue, buffer) == data.tobytes()
            kept.append(buffer)
        for buffer in kept:
            tt.deallocate_buffer(buffer)
    replay = check_replay(device, captured.binary)
    assert len(replay.compares) == 5 and len(replay.reads) == 5


def test_buffers_that_go_out_of_scope_do_not_fill_memory(device):
    with tt.light_metal_capture() as captured:
        for _ in range(100):
            l1(device, 256 * 1024 * 64, 2048)
    check_replay(device, captured.binary)


def test_create_and_deallocate(device):
    with tt.light_metal_capture() as captured:
        for _ in range(5):
            tt.deallocate_buffer(dram(device, 64, 64))
    check_replay(device, captured.binary)


@kernel
def copy_through_l1(l1_address, source, source_bank, target, target_bank, size):
    noc_async_read(get_noc_addr_from_bank_id(source_bank, source, dram=True), l1_address, size)
    noc_async_read_barrier()
    noc_async_write(l1_address, get_noc_addr_from_bank_id(target_bank, target, dram=True), size)
    noc_async_write_barrier()


def copy_program(device, source, target, scratch, per_core=False):
    program, core = tt.create_program(), tt.CoreCoord(0, 0)
    handle = tt.create_kernel(program, copy_through_l1, core, tt.WriterDataMovementConfig())
    args = [scratch, source, 0, target, 0, 64]
    if per_core:
        tt.set_runtime_args(program, handle, [core], [args])
    else:
        tt.set_runtime_args(program, handle, core, args)
    return program


@pytest.mark.parametrize("per_core", [False, True])
@pytest.mark.parametrize("replay_manages_device", [False, True])
def test_one_risc_v_copies(device, per_core, replay_manages_device):
    queue = device.command_queue(0)
    with tt.light_metal_capture() as captured:
        source, target, scratch = dram(device, 64, 64), dram(device, 64, 64), l1(device, 64, 64)
        program = copy_program(device, source, target, scratch, per_core)
        tt.enqueue_write_buffer(queue, source, WORDS)
        tt.enqueue_program(queue, program)
        tt.light_metal_compare_to_capture(queue, target)
        tt.light_metal_compare_to_golden(queue, target, WORDS)
        tt.finish(queue)
    if replay_manages_device:
        assert len(check_replay(device, captured.binary).compares) == 2
        return
    other = tt.create_device(1)
    try:
        redirected = LightMetalReplay(captured.binary, device=other)
        assert redirected.run(), redirected.error
    finally:
        tt.close_device(other)


@kernel
def read_tiles(source, first, tiles):
    generator = InterleavedAddrGen(source, page_size=2048, dram=True)
    for tile in range(first, first + tiles):
        cb_reserve_back(0, 1)
        noc_async_read_tile(tile, generator, get_write_ptr(0))
        noc_async_read_barrier()
        cb_push_back(0, 1)


@kernel
def write_tiles(target, first, tiles):
    generator = InterleavedAddrGen(target, page_size=2048, dram=True)
    for tile in range(first, first + tiles):
        cb_wait_front(16, 1)
        noc_async_write_tile(tile, generator, get_read_ptr(16))
        noc_async_write_barrier()
        cb_pop_front(16, 1)


@kernel
def exponential():
    blocks, tiles = get_compile_time_arg_val(0), get_compile_time_arg_val(1)
    init_sfpu(0, 16)
    for _ in range(blocks * tiles):
        cb_wait_front(0, 1)
        cb_reserve_back(16, 1)
        tile_regs_acquire()
        copy_tile(0, 0, 0)
        exp_tile_init()
        exp_tile(0)
        tile_regs_commit()
        tile_regs_wait()
        pack_tile(0, 16)
        tile_regs_release()
        cb_pop_front(0, 1)
        cb_push_back(16, 1)


@pytest.mark.parametrize("dynamic", ["", "dynamic", "deallocated early"])
def test_three_kernels_and_circular_buffers(device, dynamic):
    """Reader, exponential on the vector unit, writer; circular buffers by themselves or on an L1 buffer."""
    queue, core = device.command_queue(0), tt.CoreCoord(0, 0)
    with tt.light_metal_capture() as captured:
        source, target = dram(device, 2048, 2048), dram(device, 2048, 2048)
        program = tt.create_program()
        backing = [l1(device, 2048, 2048) for _ in range(2)] if dynamic else [None, None]
        for index, buffer in zip((0, 16), backing, strict=True):
            config = tt.CircularBufferConfig(2048, {index: tt.DataFormat.Float16_b}).set_page_size(index, 2048)
            if buffer is not None:
                config = config.set_globally_allocated_address(buffer)
            tt.create_circular_buffer(program, core, config)
        reader = tt.create_kernel(program, read_tiles, core, tt.ReaderDataMovementConfig())
        writer = tt.create_kernel(program, write_tiles, core, tt.WriterDataMovementConfig())
        tt.create_kernel(program, exponential, core, tt.ComputeConfig(compile_args=[1, 1]))
        tt.set_runtime_args(program, reader, core, [source, 0, 1])
        tt.set_runtime_args(program, writer, core, [target, 0, 1])
        tt.enqueue_write_buffer(queue, source, np.full(1024, 0x3F80, np.uint16))  # ones
        tt.enqueue_program(queue, program)
        result = tt.light_metal_compare_to_capture(queue, target)
        if dynamic == "deallocated early":
            for buffer in backing:
                tt.deallocate_buffer(buffer)
        tt.finish(queue)
    assert np.allclose((np.frombuffer(result, np.uint16).astype(np.uint32) << 16).view(np.float32), np.e, rtol=0.01)
    check_replay(device, captured.binary)


# --- more than the vendor's format holds


@kernel
def wait_and_count(local, other_x, other_y, rounds):
    semaphore, mine = get_semaphore(0), l1_ptr(local, uint32)
    other = get_noc_addr(other_x, other_y, semaphore)
    for i in range(rounds):
        noc_semaphore_inc(other, 1)
        noc_semaphore_wait_min(semaphore, i + 1)
    mine[0] = get_common_arg_val(0) + rounds
    noc_async_atomic_barrier()


def test_semaphores_common_arguments_events_and_two_queues():
    device = tt.create_device(0, num_hw_cqs=2)
    try:
        queues = [device.command_queue(i) for i in range(2)]
        with tt.light_metal_capture() as captured:
            out = l1(device, 64 * 64, 64)
            cores = [tt.CoreCoord(0, 0), tt.CoreCoord(1, 0)]
            program = tt.create_program()
            tt.create_semaphore(program, tt.CoreRange((0, 0), (1, 0)), 0)
            handle = tt.create_kernel(
                program, wait_and_count, tt.CoreRange((0, 0), (1, 0)), tt.ReaderDataMovementConfig()
            )
            for core, other in (cores, cores[::-1]):
                place = device.worker_core_from_logical_core(other)
                tt.set_runtime_args(program, handle, core, [out, place.x, place.y, 5])
            tt.set_common_runtime_args(program, handle, [100])
            tt.enqueue_program(queues[0], program)
            event = tt.enqueue_record_event(queues[0])
            tt.enqueue_wait_for_event(queues[1], event)
            tt.get_common_runtime_args(program, handle)[0] = 200
            tt.enqueue_program(queues[1], program)
            tt.event_synchronize(event)
            semaphore = tt.create_global_semaphore(device, tt.CoreRange((0, 0), (3, 3)), 7)
            semaphore.reset_semaphore_value(9)
            tt.synchronize(device)
        check_replay(device, captured.binary)
    finally:
        tt.close_device(device)


def test_updates_of_circular_buffers_sub_regions_and_sub_devices(device):
    queue = device.command_queue(0)
    with tt.light_metal_capture() as captured:
        halves = [tt.SubDevice(tt.CoreRange((0, 0), (3, 7))), tt.SubDevice(tt.CoreRange((4, 0), (7, 7)))]
        manager = device.create_sub_device_manager(halves)
        device.load_sub_device_manager(manager)
        buffer = dram(device, 4096, 1024)
        tt.enqueue_write_buffer(queue, buffer, bytes(range(256)) * 16)
        tt.enqueue_write_sub_buffer(queue, buffer, b"x" * 1024, tt.BufferRegion(1024, 1024))
        assert tt.enqueue_read_sub_buffer(queue, buffer, tt.BufferRegion(1024, 1024)) == b"x" * 1024
        program = tt.create_program()
        config = tt.CircularBufferConfig(4096, {0: tt.DataFormat.Float16_b}).set_page_size(0, 2048)
        cb = tt.create_circular_buffer(program, tt.CoreCoord(0, 0), config)
        tt.update_circular_buffer_total_size(program, cb, 8192)
        tt.update_circular_buffer_page_size(program, cb, 0, 4096)
        device.clear_loaded_sub_device_manager()
        device.remove_sub_device_manager(manager)
    check_replay(device, captured.binary)


def test_bytes_that_are_no_words_survive(device):
    data = np.arange(30, dtype=np.uint16)
    with tt.light_metal_capture() as captured:
        buffer = dram(device, 60, 20)
        tt.enqueue_write_buffer(device.command_queue(0), buffer, data[:30])
        odd = dram(device, 30, 10)
        tt.enqueue_write_buffer(device.command_queue(0), odd, data.view(np.uint8)[:30])
        tt.finish(device.command_queue(0))
    check_replay(device, captured.binary)


def test_equal_data_is_stored_once(device):
    data = np.random.default_rng(0).integers(0, 256, 1 << 20, np.uint8).tobytes()
    with tt.light_metal_capture() as captured:
        buffer = dram(device, len(data), 2048)
        for _ in range(10):
            tt.enqueue_write_buffer(device.command_queue(0), buffer, data)
    assert captured.binary.size() < 1.01 * len(data)


def test_packed_data_unpacks(device):
    data = np.repeat(np.arange(64, dtype=np.uint8), 1024)
    with tt.light_metal_capture(compress=True) as captured:
        buffer = dram(device, data.size, 2048)
        tt.enqueue_write_buffer(device.command_queue(0), buffer, data)
        tt.light_metal_compare_to_capture(device.command_queue(0), buffer)
    assert captured.binary.size() < data.size // 4
    check_replay(device, captured.binary)


def test_capture_can_be_switched_off(device, monkeypatch):
    monkeypatch.setenv("TENSIM_LIGHT_METAL", "0")
    with pytest.warns(UserWarning, match="switched off"), tt.light_metal_capture() as captured:
        dram(device, 64, 64)
    assert captured.binary.is_empty() and not device.system.executor.observers


# --- metal traces inside


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


# --- comparisons


def test_a_comparison_that_fails_tells_where(device):
    queue = device.command_queue(0)
    with tt.light_metal_capture() as captured:
        buffer = dram(device, 64, 64)
        tt.enqueue_write_buffer(queue, buffer, WORDS)
        golden = WORDS.copy()
        golden[[3, 9]] = 77
        tt.light_metal_compare_to_golden(queue, buffer, golden, name="words")
    replay = LightMetalReplay(captured.binary)
    assert replay.run() is False and replay.error is None
    (found,) = replay.compares
    assert found["name"] == "words" and found["mismatches"] == 2 and found["total"] == 16
    assert found["first"] == [[3, 77, 3], [9, 77, 9]]
    assert LightMetalReplay(captured.binary, options=ReplayOptions(check=False)).run()


def test_checking_can_be_switched_off_by_the_environment(device, monkeypatch):
    with tt.light_metal_capture() as captured:
        buffer = dram(device, 64, 64)
        tt.light_metal_compare_to_golden(device.command_queue(0), buffer, b"\1" * 64)
    assert LightMetalReplay(captured.binary).run() is False
    monkeypatch.setenv("TT_LIGHT_METAL_DISABLE_CHECKING", "1")
    assert LightMetalReplay(captured.binary).run() is True


def test_tolerances_and_figures_of_a_comparison():
    want = np.linspace(1, 2, 1024, dtype=np.float32)
    got = want.copy()
    got[5] += 0.5
    got[6] = np.nextafter(got[6], np.float32(9))
    record = c.CompareBuffer(0, 0, 0, want.tobytes(), "t", 0.01, 0.0, int(tt.DataFormat.Float32))
    found = compare(record, got.tobytes())
    assert found["mismatches"] == 1 and found["max_abs_error"] == pytest.approx(0.5)
    assert found["ulp_histogram"]["0"] == 1022 and found["ulp_histogram"]["1"] == 1 and 0.9 < found["pcc"] < 1


@pytest.mark.parametrize(
    "size, settings, says",
    [
        (4096, {"data_format": tt.DataFormat.Float32, "rtol": -1}, "rtol is -1"),
        (4096, {"data_format": tt.DataFormat.Float32, "rtol": float("nan")}, "rtol is nan"),
        (4096, {"data_format": tt.DataFormat.Float32, "atol": float("inf")}, "atol is inf"),
        (4096, {"rtol": 0.1}, "needs a data_format"),
        (3072, {"data_format": tt.DataFormat.Float16_b, "rtol": 0.1}, "3072 B are not whole tiles of Float16_b"),
    ],
)
def test_a_comparison_that_could_not_be_made_is_refused_in_the_capture(device, size, settings, says):
    with tt.light_metal_capture():
        buffer = dram(device, size, 1024)
        with pytest.raises(UsageError, match=says):
            tt.light_metal_compare_to_golden(device.command_queue(0), buffer, bytes(size), **settings)


def test_calls_for_a_buffer_reach_its_own_system(device):
    """A system of the runtime that opens meanwhile is the current one; the buffer stays where it is."""
    with tt.light_metal_capture() as captured:
        with System() as other:
            other.open("#0")
        buffer = dram(device, 64, 64)
        tt.write_to_buffer(buffer, WORDS)
        assert tt.read_from_buffer(buffer) == WORDS.tobytes()
        assert tt.light_metal_compare_to_capture(device.command_queue(0), buffer) == WORDS.tobytes()
    replay = LightMetalReplay(captured.binary)
    assert replay.run() and [found["passed"] for found in replay.compares] == [True]


def test_what_dies_of_an_older_system_is_not_captured():
    """Its host may be far ahead; Python lets go of its buffers whenever it likes."""
    older = tt.create_device(0)
    kept = dram(older, 64, 64)
    current_system().host.work(10**12)
    tt.finish(older.command_queue())
    tt.close_device(older)
    device = tt.create_device(0)
    try:
        queue = device.command_queue()
        with tt.light_metal_capture() as captured:
            source, target, scratch = dram(device, 64, 64), dram(device, 64, 64), l1(device, 64, 64)
            del kept
            gc.collect()
            program = copy_program(device, source.address, target.address, scratch.address)
            tt.enqueue_write_buffer(queue, source, WORDS)
            tt.enqueue_program(queue, program)
            tt.finish(queue)
        check_replay(device, captured.binary)
    finally:
        tt.close_device(device)


def test_a_binary_is_not_saved_as_a_folder(device, tmp_path):
    with tt.light_metal_capture() as captured:
        dram(device, 64, 64)
    for folder in (tmp_path, "."):
        with pytest.raises(UsageError, match="it is a directory"):
            captured.binary.save_to_file(folder)


# --- replay in other ways


def test_every_number_that_is_an_address_follows_its_buffer(device):
    """Replayed where other memory lies below, the buffers have other addresses and the result is the same."""
    queue = device.command_queue(0)
    with tt.light_metal_capture() as captured:
        source, target, scratch = dram(device, 64, 64), dram(device, 64, 64), l1(device, 64, 64)
        program = copy_program(device, source.address, target.address, scratch.address)
        tt.enqueue_write_buffer(queue, source, WORDS)
        tt.enqueue_program(queue, program)
        tt.light_metal_compare_to_golden(queue, target, WORDS)
    replay = LightMetalReplay(captured.binary, options=ReplayOptions(arch="blackhole"))
    assert replay.run(), replay.error
    assert {row["parameter"] for row in replay.differs} >= {"name", "clock.aiclk_mhz"}


def test_a_raw_address_is_refused_on_another_chip(device):
    queue = device.command_queue(0)
    with tt.light_metal_capture() as captured:
        source, target, scratch = dram(device, 64, 64), dram(device, 64, 64), l1(device, 64, 64)
        program = copy_program(device, int(source.address), target, scratch)
        tt.enqueue_program(queue, program)
    assert LightMetalReplay(captured.binary).run()
    replay = LightMetalReplay(captured.binary, options=ReplayOptions(arch="blackhole"))
    assert replay.run() is False
    assert "raw address 0x20 of buffer 0" in str(replay.error)


def test_other_inputs_and_kept_outputs(device, tmp_path):
    queue = device.command_queue(0)
    with tt.light_metal_capture() as captured:
        source, target, scratch = dram(device, 64, 64), dram(device, 64, 64), l1(device, 64, 64)
        tt.light_metal_name_buffer(target, "result")
        with pytest.raises(UsageError, match="cannot be a buffer's name"):
            tt.light_metal_name_buffer(source, "result")
        program = copy_program(device, source, target, scratch)
        tt.enqueue_write_buffer(queue, source, WORDS)
        tt.enqueue_program(queue, program)
        tt.finish(queue)
        del source, target, scratch, program
    out = tmp_path / "out.npy"
    options = ReplayOptions(bind={"0": (WORDS + 50).tobytes()}, save=(("result", str(out)),))
    replay = LightMetalReplay(captured.binary, options=options)
    replay.execute()
    replay.save_buffers()
    replay.close()
    assert np.array_equal(np.load(out).view(np.uint32), WORDS + 50)
    wrong = LightMetalReplay(captured.binary, options=ReplayOptions(bind={"0": b"abc"}))
    assert wrong.run() is False and "takes 64 B" in str(wrong.error)


def test_two_binaries_side_by_side(device):
    binaries = []
    for value in (3, 4):
        with tt.light_metal_capture() as captured:
            buffer = dram(device, 64, 64)
            tt.enqueue_write_buffer(device.command_queue(0), buffer, WORDS * value)
            tt.light_metal_compare_to_capture(device.command_queue(0), buffer)
            tt.deallocate_buffer(buffer)
        binaries.append(captured.binary)
    replays = [LightMetalReplay(binary) for binary in binaries]
    for replay in replays:
        replay.execute()
    assert [item["passed"] for replay in replays for item in replay.compares] == [True, True]
    for replay in replays:
        replay.close()


# --- wrong use


def test_begin_twice_end_without_begin_and_foreign_objects(device):
    early = dram(device, 64, 64)
    with pytest.raises(UsageError, match="no Light Metal capture"):
        tt.light_metal_end_capture()
    tt.light_metal_begin_capture()
    with pytest.raises(UsageError, match="already in progress"):
        tt.light_metal_begin_capture()
    with pytest.raises(UsageError, match="created before the capture began"):
        tt.enqueue_write_buffer(device.command_queue(0), early, bytes(64))
    assert tt.light_metal_end_capture().size() > 0


def test_an_error_in_the_block_ends_the_capture(device):
    with pytest.raises(ZeroDivisionError), tt.light_metal_capture():
        raise ZeroDivisionError
    tt.light_metal_begin_capture()
    tt.light_metal_end_capture()


def test_files(device, tmp_path):
    with tt.light_metal_capture() as captured:
        dram(device, 64, 64)
    path = tmp_path / "one.bin"
    captured.binary.save_to_file(path)
    assert LightMetalReplay(str(path)).run()
    empty = tmp_path / "empty.bin"
    empty.write_bytes(b"")
    for wrong in (empty, tmp_path / "missing.bin"):
        with pytest.raises(UsageError):
            LightMetalReplay(str(wrong))
    with pytest.raises(UsageError, match="empty"):
        tt.LightMetalBinary().save_to_file(path)


def test_a_buffer_that_lies_elsewhere_is_noticed(device, monkeypatch):
    with tt.light_metal_capture() as captured:
        dram(device, 64, 64)
    monkeypatch.setattr(LightMetalReplay, "_open_devices", _with_a_buffer_first(LightMetalReplay._open_devices))
    replay = LightMetalReplay(captured.binary)
    assert replay.run() is False
    assert replay.error.kind == "placement" and "when it was captured it lay at" in str(replay.error)


def _with_a_buffer_first(open_devices):
    def opened(replay):
        open_devices(replay)
        replay.system.executor.submit(c.CreateBuffer(0, 10**9, 64, 64, 0, 0))

    return opened


# --- every example, replayed where its source is not

REPLAY = """
import json, sys
from tensim.running.replay import LightMetalReplay
from tensim.sim.chip.statistics import program_cycles
replay = LightMetalReplay(sys.argv[1])
replay.execute()
chip = replay.chips[0]
assert "tensim.examples" not in sys.modules
print(json.dumps([program_cycles(chip), chip.cycle, chip.memory.image_sha256()]))
"""
SHAPES = {"matmul_multicast": "256x256x256", "matmul_reuse": "256x256x256", "matmul_multicast_1d": "64x128x256"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_replay_in_a_fresh_process_without_their_source(name, tmp_path):
    device = tt.create_device(0)
    try:
        with tt.light_metal_capture() as captured:
            find_program(name).run_on(device, Options(shape=SHAPES.get(name)))
        path = tmp_path / f"{name}.bin"
        captured.binary.save_to_file(path)
        cycles, now, image = final_state(device)
    finally:
        tt.close_device(device)
    command = [sys.executable, "-c", REPLAY, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [cycles, now, image]
