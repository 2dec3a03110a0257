"""What Light Metal costs: capture beside a plain run, bytes beside data and kernels, loading, replay."""

import gc
import time

import numpy as np

import tensim as tt
from tensim.light_metal.binary import verified
from tensim.running.options import Options
from tensim.running.replay import LightMetalReplay
from tensim.running.runnable import find_program

SHAPE = "2048x2048x2048"


def seconds_of(work, clock=time.perf_counter):
    gc.collect()
    begun = clock()
    result = work()
    return clock() - begun, result


def matmul(capture):
    """(processor seconds, binary or None) of the multicast matrix product on a fresh device."""
    device = tt.create_device(0)
    try:
        if capture:
            tt.light_metal_begin_capture()

        def work():
            find_program("matmul_multicast").run_on(device, Options(shape=SHAPE))
            return tt.light_metal_end_capture() if capture else None

        return seconds_of(work, time.process_time)
    finally:
        tt.close_device(device)


def capture_overhead(rounds=5):
    """(ratio of the fastest captured run to the fastest plain one, ratio of the file to its data and kernel texts)."""
    matmul(False)  # warms caches
    plain, captured = [], []
    for _ in range(rounds):
        plain.append(matmul(False)[0])
        seconds, binary = matmul(True)
        captured.append(seconds)
    needed = 0
    for node in verified(binary).nodes():
        needed += node.src.nbytes if node.table == "EnqueueWriteBufferCommand" else 0
        needed += len(node.source) if node.table == "CreateKernelCommand" else 0
    return min(captured) / min(plain), binary.size() / needed


def small_commands(count):
    """A binary of `count` writes, reads, creations and deallocations of small buffers."""
    device, data = tt.create_device(0), bytes(64)
    try:
        with tt.light_metal_capture() as captured:
            queue = device.command_queue(0)
            config = tt.InterleavedBufferConfig(device=device, size=64, page_size=64)
            target = tt.create_buffer(config)
            for _ in range(count // 4):
                tt.enqueue_write_buffer(queue, target, data)
                tt.enqueue_read_buffer(queue, target, blocking=False)
                tt.deallocate_buffer(tt.create_buffer(config))
        return captured.binary
    finally:
        tt.close_device(device)


def large_payload(size):
    """A binary that writes `size` random bytes."""
    device = tt.create_device(0)
    try:
        data = np.random.default_rng(0).integers(0, 256, size, np.uint8)
        with tt.light_metal_capture() as captured:
            buffer = tt.create_buffer(tt.InterleavedBufferConfig(device=device, size=size, page_size=2048))
            tt.enqueue_write_buffer(device.command_queue(0), buffer, data)
        return captured.binary
    finally:
        tt.close_device(device)


def rates(commands=200_000, payload=200 << 20, replayed=100_000):
    """(commands/s and bytes/s of loading and verifying, commands/s of a replay)."""
    many, large = small_commands(commands), large_payload(payload)
    verified(many)
    seconds, binary = min((seconds_of(lambda: verified(many)) for _ in range(3)), key=lambda one: one[0])
    large_seconds = min(seconds_of(lambda: verified(large))[0] for _ in range(3))
    replay = LightMetalReplay(small_commands(replayed))
    replay_seconds, _ = seconds_of(replay.execute)
    replay.close()
    return len(binary) / seconds, large.size() / large_seconds, len(replay.binary) / replay_seconds
