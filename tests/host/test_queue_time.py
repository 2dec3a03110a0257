"""Launches of known durations against the chip's own command queue, which runs them."""

from dataclasses import replace

import pytest

import tensim as tt
from tensim.runtime import System
from tensim.runtime.systems import SystemConfig
from tensim.sim.arch import load_arch
from tensim.sim.host.binding import compile_kernels, program_cost
from tensim.sim.host.dispatch import ProgramCost
from tensim.sim.host.queue_time import Launch, from_host, from_trace
from tensim.validation.dispatch.programs import Shape, build

ARCH = load_arch("blackhole")
LONG = Shape(cycles=20_000, processors=("brisc",))
CONFIGURED = Shape(all_cores=True, args=32)  # for longer than it runs
ORDERS = {"long": [LONG] * 3, "short": [CONFIGURED] * 12, "mixed": [LONG, CONFIGURED, CONFIGURED, LONG]}


@pytest.mark.parametrize("order", ORDERS)
def test_launches_of_a_trace_take_as_long_as_on_the_chips_queue(order):
    with System(SystemConfig.named("blackhole", numerics="off")) as system:
        device = system.open(f"sim://blackhole?trace_region={1 << 26}").metal
        queue, grid = device.command_queue(0), device.compute_with_storage_grid_size()
        programs = {shape: build(grid, shape, shape.cycles) for shape in ORDERS[order]}
        for program in programs.values():
            tt.enqueue_program(queue, program, blocking=True)
        trace = tt.begin_trace_capture(device, 0)
        for shape in ORDERS[order]:
            tt.enqueue_program(queue, programs[shape])
        tt.end_trace_capture(device, 0, trace)
        tt.enqueue_trace(queue, trace)
        tt.finish(queue)
        ran = [device.chip.launches[number] for number in sorted(device.chip.launches)][-len(ORDERS[order]) :]
        frozen = {shape: program._state.snapshot(0) for shape, program in programs.items()}
        costs = {shape: program_cost(one, compile_kernels(one, ARCH), ARCH) for shape, one in frozen.items()}
    ns = [1000 / ARCH.clock_mhz * (one["ended"] - one["started"]) for one in ran]
    launches = [Launch(costs[shape], took) for shape, took in zip(ORDERS[order], ns, strict=True)]
    measured = 1000 / ARCH.clock_mhz * (ran[-1]["ended"] - ran[0]["started"])
    plain = [one._replace(cost=replace(one.cost, config_bytes=0)) for one in launches]
    assert from_trace(ARCH, plain) - ARCH["dispatch.go_ns"] == pytest.approx(measured, abs=3 * len(ran))


def test_nothing_takes_no_time():
    assert from_trace(ARCH, []) == from_host(ARCH, [], []) == 0


def test_a_host_that_is_slower_than_the_device_sets_the_pace():
    launches = [Launch(ProgramCost(program=number), 1000.0) for number in range(10)]
    slow = from_host(ARCH, launches, [50_000.0] * 10)
    assert slow == pytest.approx(9 * 50_000 + 1000 + ARCH["dispatch.go_ns"], rel=1e-3)
    assert from_trace(ARCH, launches) < from_host(ARCH, launches, [0.0] * 10) < slow


def test_programs_with_circular_buffers_follow_each_other_after_the_measured_gap():
    with_buffers = Launch(ProgramCost(config_bytes=16, config_cores=1, ring_bytes=64), 50_000.0)
    without = Launch(ProgramCost(), 50_000.0)
    gap = (from_trace(ARCH, [with_buffers] * 9) - from_trace(ARCH, [with_buffers] * 8)) - 50_000
    assert gap == pytest.approx(ARCH["dispatch.op_gap_ns"])
    gap = (from_trace(ARCH, [without] * 9) - from_trace(ARCH, [without] * 8)) - 50_000
    assert gap == pytest.approx(ARCH["dispatch.go_ns"] + ARCH["dispatch.done_ns"])
