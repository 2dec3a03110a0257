"""Random host programs, captured and replayed: the same cycles, bytes and commands."""

# ruff: noqa: F403, F405
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tensim as tt
from tensim.kernel_api import *
from tensim.light_metal.binary import verified
from tensim.running.differences import differences
from tensim.running.replay import LightMetalReplay
from tensim.sim.chip.statistics import program_cycles

PAGE, PAGES = 64, 8
SIZE = PAGE * PAGES


@kernel
def copy_pages(source, target, first, count, wait):
    generator = InterleavedAddrGen(source, page_size=64, dram=True)
    output = InterleavedAddrGen(target, page_size=64, dram=True)
    for page in range(first, first + count):
        noc_async_read_page(page, generator, 600_000)
        noc_async_read_barrier()
        riscv_wait(wait)
        noc_async_write_page(page, output, 600_000)
        noc_async_write_barrier()


class Host:
    """A host program with two queues that does what it is told, step by step."""

    def __init__(self):
        self.device = tt.create_device(0, num_hw_cqs=2)
        self.queues = [self.device.command_queue(i) for i in range(2)]
        self.buffers, self.programs, self.events = [], [], []

    def buffer(self, index):
        if not self.buffers:
            self.create(0, 0, 0)
        return self.buffers[index % len(self.buffers)]

    def create(self, a, b, c):
        config = tt.InterleavedBufferConfig(device=self.device, size=SIZE, page_size=PAGE)
        self.buffers.append(tt.create_buffer(config))

    def deallocate(self, a, b, c):
        if len(self.buffers) > 1:
            tt.finish(self.queues[0])
            tt.finish(self.queues[1])
            self.programs.clear()
            tt.deallocate_buffer(self.buffers.pop(a % len(self.buffers)))

    def write(self, a, b, c):
        data = np.random.default_rng(c).integers(0, 256, SIZE, np.uint8)
        tt.enqueue_write_buffer(self.queues[b % 2], self.buffer(a), data, blocking=c % 2 == 0)

    def write_region(self, a, b, c):
        region = tt.BufferRegion(PAGE * (c % PAGES), PAGE)
        tt.enqueue_write_sub_buffer(self.queues[b % 2], self.buffer(a), bytes([c % 256]) * PAGE, region)

    def read(self, a, b, c):
        tt.enqueue_read_buffer(self.queues[b % 2], self.buffer(a), blocking=c % 3 == 0)

    def program(self, a, b, c):
        program, core = tt.create_program(), tt.CoreCoord(a % 8, b % 8)
        handle = tt.create_kernel(program, copy_pages, core, tt.ReaderDataMovementConfig())
        args = [self.buffer(a), self.buffer(b).address, c % PAGES, 1 + c % (PAGES - c % PAGES), c % 500]
        tt.set_runtime_args(program, handle, core, args)
        self.programs.append((program, handle, core))

    def launch(self, a, b, c):
        if self.programs:
            tt.enqueue_program(self.queues[b % 2], self.programs[a % len(self.programs)][0], blocking=c % 4 == 0)

    def change_argument(self, a, b, c):
        if self.programs:
            program, handle, core = self.programs[a % len(self.programs)]
            tt.get_runtime_args(program, handle, core)[4] = c % 300

    def record(self, a, b, c):
        self.events.append(tt.enqueue_record_event(self.queues[b % 2]))

    def wait(self, a, b, c):
        if self.events:
            tt.enqueue_wait_for_event(self.queues[b % 2], self.events[a % len(self.events)])

    def synchronize(self, a, b, c):
        if self.events:
            tt.event_synchronize(self.events[a % len(self.events)])

    def compare(self, a, b, c):
        tt.light_metal_compare_to_capture(self.queues[b % 2], self.buffer(a))


STEPS = [name for name in vars(Host) if not name.startswith("_") and name != "buffer"]
steps = st.lists(st.tuples(st.sampled_from(STEPS), *[st.integers(0, 1000)] * 3), min_size=3, max_size=25)


def run(steps):
    """(binary, what the device was left in) of a program."""
    host = Host()
    try:
        with tt.light_metal_capture() as captured:
            for name, *numbers in steps:
                getattr(host, name)(*numbers)
            tt.synchronize(host.device)
        chip = host.device.chip
        return captured.binary, (program_cycles(chip), chip.cycle, chip.memory.image_sha256())
    finally:
        tt.close_device(host.device)


@settings(max_examples=40)
@given(steps)
def test_a_replay_is_the_run(steps):
    binary, state = run(steps)
    replay = LightMetalReplay(binary)
    try:
        replay.execute()
        chip = replay.devices[0].chip
        assert (program_cycles(chip), chip.cycle, chip.memory.image_sha256()) == state
        assert all(item["passed"] for item in replay.compares)
    finally:
        replay.close()


@settings(max_examples=10)
@given(steps)
def test_the_same_program_gives_the_same_binary(steps):
    (first, _), (second, _) = run(steps), run(steps)
    found = differences(verified(first), verified(second))
    assert found["differences"] == [] and found["cycles"][0] == found["cycles"][1]
    assert first.get_data() == second.get_data()
