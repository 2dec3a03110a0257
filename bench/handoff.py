"""The engine's own load: every core hands pages on through circular buffers, writes to itself over the NoC, and waits.

On each core the two data-movement threads and the three compute threads take varied delays; BRISC feeds NCRISC and the
pack thread feeds the unpack thread, so that all threads wake each other all the time.  Plain code costs nothing on this
chip (`ARCH`), so that `simpy_reference` can play by the same rules and must reach the same cycle.
"""
# ruff: noqa: F403, F405

import time

import tensim as tt
from tensim.kernel_api import *
from tensim.sim.arch import load_arch
from tensim.sim.chip.statistics import thread_totals
from tensim.sim.cores.slots import THREADS_PER_CORE

PAGE = 32  # bytes: one flit
PAGES = 4
OVERRIDES = {f"riscv.{kind}": 0 for kind in ("alu", "branch", "mul", "div", "local_load")}
BUFFERS = PRODUCED, PACKED = 0, 1  # circular buffers
BARRIER_EVERY = 8


@device_function
def next_random(state):
    """A linear congruential step: 31 bits."""
    return (state * 1103515245 + 12345) & 0x7FFFFFFF


@kernel
def produce(rounds, seed):
    """BRISC: reserve a page, write it over the NoC, take a while, push it."""
    state = seed
    scratch = get_write_ptr(PRODUCED)
    for i in range(rounds):
        state = next_random(state)
        cb_reserve_back(PRODUCED, 1)
        noc_async_write(scratch, get_noc_addr(get_write_ptr(PRODUCED)), PAGE)
        riscv_wait(1 + (state >> 8) % 40)
        if i % BARRIER_EVERY == BARRIER_EVERY - 1:
            noc_async_write_barrier()
        cb_push_back(PRODUCED, 1)


@kernel
def consume(rounds, seed):
    """NCRISC: wait for a page, take a while, give it back."""
    state = seed
    for _ in range(rounds):
        state = next_random(state)
        cb_wait_front(PRODUCED, 1)
        riscv_wait(1 + (state >> 8) % 30)
        cb_pop_front(PRODUCED, 1)


@kernel
def compute(rounds, seed):
    """The pack thread hands pages to the unpack thread; the math thread is busy by itself."""
    state = seed
    for _ in range(rounds):
        state = next_random(state)
        cb_reserve_back(PACKED, 1)
        cb_wait_front(PACKED, 1)
        riscv_wait(1 + (state >> 8) % 60)
        cb_push_back(PACKED, 1)
        cb_pop_front(PACKED, 1)


def seeds(core):
    """Seeds of the kernels (produce, consume, compute) on a core."""
    return 7919 * core + 1, 104729 * core + 1, 1299709 * core + 1


def build(device, rounds):
    """The program on all cores of the device."""
    width, height = device.arch.grid
    cores = tt.CoreRange((0, 0), (width - 1, height - 1))
    program = tt.create_program()
    for index in BUFFERS:
        config = tt.CircularBufferConfig(PAGES * PAGE, {index: tt.DataFormat.UInt32}).set_page_size(index, PAGE)
        tt.create_circular_buffer(program, cores, config)
    kernels = (
        tt.create_kernel(program, produce, cores, tt.WriterDataMovementConfig()),
        tt.create_kernel(program, consume, cores, tt.ReaderDataMovementConfig()),
        tt.create_kernel(program, compute, cores, tt.ComputeConfig()),
    )
    for core in range(width * height):
        for kernel_id, seed in zip(kernels, seeds(core), strict=True):
            tt.set_runtime_args(program, kernel_id, tt.CoreCoord(core % width, core // width), [rounds, seed])
    return program


def run(rounds):
    """(operations, host seconds, cycles of the longest thread of each kind) of the program in the compiled engine."""
    device = tt.create_device(0, arch=load_arch("wormhole_b0", OVERRIDES), numerics="off")
    try:
        queue = device.command_queue(0)
        tt.enqueue_program(queue, build(device, 1), blocking=False)  # compiles what is not in the cache
        tt.finish(queue)
        program = build(device, rounds)
        before, begun = int(device.chip.machine["operations"]), time.perf_counter()
        tt.enqueue_program(queue, program, blocking=False)
        tt.finish(queue)
        seconds = time.perf_counter() - begun
        operations = int(device.chip.machine["operations"]) - before
        return (
            operations,
            seconds,
            [int(thread_totals(device.chip, slot)["longest"]) for slot in range(THREADS_PER_CORE)],
        )
    finally:
        tt.close_device(device)
