"""Metal traces on the simulated chip: the bits of live enqueues."""

import numpy as np
import pytest

import tensim as tt
from tests.host_api.metal_trace.programs import capture, l1_buffer

ADD = """
@kernel
def add(source, destination, pages, page):
    pages_in = InterleavedAddrGen(source, page_size=page, dram=True)
    pages_out = InterleavedAddrGen(destination, page_size=page, dram=True)
    scratch = get_write_ptr(0)
    words = l1_ptr(scratch, uint32)
    for i in range(pages):
        noc_async_read_page(i, pages_in, scratch)
        noc_async_read_barrier()
        for j in range(page // 4):
            words[j] = words[j] * 3 + get_common_arg_val(0)
        noc_async_write_page(i, pages_out, scratch)
        noc_async_write_barrier()
"""
CHECK = """
@kernel
def check(out):
    words = l1_ptr(out, uint32)
    semaphore = l1_ptr(get_semaphore(0), uint32)
    words[0] = semaphore[0]
    words[1] = get_write_ptr(1) - get_write_ptr(0)
    words[2] += 1
    semaphore[0] = 99
"""
PAGES = 8


@pytest.fixture(scope="module")
def chip():
    with tt.create_device(0, num_hw_cqs=2, trace_region_size=6144) as device:
        yield device


def stage(source, destination, addend):
    """A program that stores 3 x + addend for every word of a buffer."""
    program, core = tt.create_program(), tt.CoreCoord(0, 0)
    tt.create_circular_buffer(
        program, core, tt.CircularBufferConfig(64, {0: tt.DataFormat.UInt32}).set_page_size(0, 64)
    )
    kernel = tt.create_kernel_from_string(program, ADD, core, tt.ReaderDataMovementConfig())
    tt.set_runtime_args(program, kernel, core, [source, destination, PAGES, 64])
    tt.set_common_runtime_args(program, kernel, [addend])
    return program


def small_buffers(device, count):
    return [tt.create_buffer(tt.InterleavedBufferConfig(device, PAGES * 64, 64)) for _ in range(count)]


def random_words(seed):
    return np.random.default_rng(seed).integers(0, 1 << 32, PAGES * 16, np.uint32)


@pytest.mark.filterwarnings("ignore::tensim.sim.errors.TensimWarning")
def test_traced_equals_eager_bits_and_loops(chip):
    source, middle, eager, target = small_buffers(chip, 4)
    queue = chip.command_queue(0)
    programs = [stage(source, middle, 5), stage(middle, target, 7)]
    for program in (stage(source, middle, 5), stage(middle, eager, 7), *programs):
        tt.enqueue_write_buffer(queue, source, random_words(1))
        tt.enqueue_program(queue, program, blocking=True)
    expected = tt.enqueue_read_buffer(queue, eager)
    assert np.array_equal(np.frombuffer(expected, np.uint32), (random_words(1) * 3 + 5) * 3 + 7)
    trace = capture(chip, *programs)
    for _ in range(10):
        tt.enqueue_write_buffer(queue, target, bytes(PAGES * 64))
        tt.enqueue_trace(queue, trace)
        assert tt.enqueue_read_buffer(queue, target) == expected
    for seed in range(2, 5):
        tt.enqueue_write_buffer(chip.command_queue(1), source, random_words(seed), blocking=True)
        tt.replay_trace(chip, seed % 2, trace, blocking=True)
        words = np.frombuffer(tt.enqueue_read_buffer(queue, target), np.uint32)
        assert np.array_equal(words, (random_words(seed) * 3 + 5) * 3 + 7)
    tt.release_trace(chip, trace)


@pytest.mark.filterwarnings("ignore::tensim.sim.errors.TensimWarning")
def test_every_replay_writes_semaphores_and_circular_buffers_anew(chip):
    queue, core = chip.command_queue(0), tt.CoreCoord(1, 1)
    out = l1_buffer(chip, 64)
    programs = []
    for size, initial in ((64, 5), (128, 6)):
        program = tt.create_program()
        for index in range(2):
            config = tt.CircularBufferConfig(size, {index: tt.DataFormat.UInt32}).set_page_size(index, 64)
            tt.create_circular_buffer(program, core, config)
        tt.create_semaphore(program, core, initial)
        kernel = tt.create_kernel_from_string(program, CHECK, core, tt.ReaderDataMovementConfig())
        tt.set_runtime_args(program, kernel, core, [out])
        programs.append(program)
        tt.enqueue_program(queue, program, blocking=True)
    traces = [capture(chip, program) for program in programs]
    worker = core[0] + core[1] * chip.arch.grid[0]

    def words():
        return np.frombuffer(chip.chip.memory.read_l1(worker, out.address, 12), np.uint32).tolist()

    for round in range(3):
        tt.replay_trace(chip, 0, traces[0], blocking=True)
        assert words() == [5, 64, 3 + 2 * round]
        tt.replay_trace(chip, 0, traces[1], blocking=True)
        assert words() == [6, 128, 4 + 2 * round]
    for trace in traces:
        tt.release_trace(chip, trace)
