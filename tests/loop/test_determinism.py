"""The same host program takes the same cycles and leaves the same bytes, in whichever order its objects are built."""

import random

import pytest

import tensim as tt
from bench.handoff import build
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.sim.chip.statistics import program_cycles


def build_unrelated(device, order):
    """Objects that no program of the test uses, in the order given by a random generator."""

    def buffer():
        config = tt.InterleavedBufferConfig(device=device, size=1 << 16, page_size=2048, buffer_type=tt.BufferType.L1)
        return tt.create_buffer(config)

    makers = [
        tt.create_program,
        buffer,
        lambda: build(device, 3),
        lambda: tt.create_semaphore(tt.create_program(), tt.CoreCoord(1, 1), 0),
    ]
    order.shuffle(makers)
    for make in makers:
        made = make()
        if isinstance(made, tt.Buffer):
            tt.deallocate_buffer(made)


@pytest.mark.parametrize("name", ["reduction_tree", "ring_all_gather", "matmul_multicast"])
def test_the_order_of_unrelated_objects_changes_nothing(name):
    """(Their number does: host calls take host time, and DRAM refreshes at fixed times.)"""
    options = Options(shape="128x128x128" if name == "matmul_multicast" else None)
    results = set()
    for seed in range(4):
        device = tt.create_device(0)
        try:
            build_unrelated(device, random.Random(seed))
            find_program(name).run_on(device, options)
            results.add((program_cycles(device.chip), device.chip.memory.image_sha256()["dram"]))
        finally:
            tt.close_device(device)
    assert len(results) == 1


def test_two_devices_beside_each_other_change_nothing():
    """A device's time does not depend on what another one does meanwhile."""
    cycles = []
    for others in (0, 1):
        devices = [tt.create_device(i) for i in range(1 + others)]
        try:
            for device in reversed(devices):
                tt.enqueue_program(device.command_queue(0), build(device, 50), blocking=False)
            for device in devices:
                tt.finish(device.command_queue(0))
            cycles.append(program_cycles(devices[0].chip))
        finally:
            for device in devices:
                tt.close_device(device)
    assert cycles[0] == cycles[1]
