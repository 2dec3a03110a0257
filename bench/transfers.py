"""Uploads to DRAM and reads back: gigabytes a second of processor time, once memory has been touched."""

import time

import numpy as np

import tensim as tt


def rates(size, rounds=4):
    """(of an upload, of a read back) of `size` bytes, GB/s, the fastest of some rounds."""
    with tt.create_device(0) as device:
        config = tt.InterleavedBufferConfig(device=device, size=size, page_size=2048, buffer_type=tt.BufferType.DRAM)
        buffer, queue = tt.create_buffer(config), device.command_queue(0)
        data = np.random.default_rng(0).integers(0, 256, size, np.uint8)
        works = (
            lambda: tt.enqueue_write_buffer(queue, buffer, data, blocking=True),
            lambda: tt.enqueue_read_buffer(queue, buffer, blocking=True),
        )
        seconds = [[], []]
        for _ in range(rounds):
            for work, found in zip(works, seconds, strict=True):
                begun = time.process_time()
                work()
                found.append(time.process_time() - begun)
        return tuple(size / min(found) / 1e9 for found in seconds)
