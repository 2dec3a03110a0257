"""Light Metal: the vendor's tests, programs beyond them, and every example, captured and replayed."""

# ruff: noqa: F403, F405
import json
import subprocess
import sys

import numpy as np
import pytest

import tensim as tt
from tensim.examples import EXAMPLES
from tensim.kernel_api import *
from tensim.running.options import Options
from tensim.running.replay import LightMetalReplay
from tensim.running.runnable import find_program
from tests.host_api.light_metal.capture import WORDS, check_replay, copy_program, dram, exponential, final_state, l1


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


REPLAYS = """
import json, sys
from tensim.running.replay import LightMetalReplay
from tensim.sim.chip.statistics import program_cycles
for path in sys.argv[1:]:
    replay = LightMetalReplay(path)
    replay.execute()
    chip = replay.chips[0]
    print(json.dumps([program_cycles(chip), chip.cycle, chip.memory.image_sha256()]))
    replay.close()
assert "tensim.examples" not in sys.modules
"""
SHAPES = {"matmul_multicast": "256x256x256", "matmul_reuse": "256x256x256", "matmul_multicast_1d": "64x128x256"}


def captured_example(name, path):
    """Capture an example into a file; what it left: [cycles, cycle of the chip, hash of its memories]."""
    device = tt.create_device(0)
    try:
        with tt.light_metal_capture() as captured:
            find_program(name).run_on(device, Options(shape=SHAPES.get(name)))
        captured.binary.save_to_file(path)
        return list(final_state(device))
    finally:
        tt.close_device(device)


def test_examples_replay_in_a_fresh_process_without_their_source(tmp_path):
    """One process for all: the start of each would take longer than its replay."""
    paths = {name: tmp_path / f"{name}.bin" for name in EXAMPLES}
    expected = {name: captured_example(name, path) for name, path in paths.items()}
    command = [sys.executable, "-c", REPLAYS, *map(str, paths.values())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert dict(zip(paths, map(json.loads, done.stdout.splitlines()), strict=True)) == expected
