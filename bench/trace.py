"""A loop of small programs, enqueued one by one and replayed as a trace: simulated time per program, and wall clock.

Published Wormhole times of a small program: 1571 ns traced (program_dispatch_golden.csv; another table has 1053,
docs/hardware/dispatch.md#published-dispatch-times), untraced 2.69 us, and 15.2 us of the host.  Each of the three is what a
parameter was fitted to; that the loops take the longest of what goes on side by side, and nothing more, is what they show.
"""
# ruff: noqa: F403, F405

import time
from dataclasses import dataclass

import tensim as tt
from tensim.kernel_api import *
from tensim.sim.arch import load_arch
from tensim.sim.loop.environment import FS_PER_NS

EAGER_DEVICE_NS, EAGER_HOST_NS = 2690, 15_200
TRACED_NS = 1571
NO_HOST = {"host.enqueue_program_ns": 0}  # the commands wait in the queue: what the device can do
REGION = 1 << 21


@kernel
def empty():
    """One processor, nothing to do."""


@dataclass
class Loop:
    """A loop of programs: simulated ns per program, and wall-clock seconds, each until the host knows of its end."""

    eager_ns: float
    traced_ns: float
    eager_seconds: float
    traced_seconds: float


def small_program():
    program = tt.create_program()
    tt.create_kernel(program, empty, tt.CoreCoord(0, 0), tt.ReaderDataMovementConfig())
    return program


def run(count, overrides=None):
    """`Loop` of `count` enqueues of one small program on a Wormhole."""
    with tt.create_device(0, arch=load_arch("wormhole_b0", overrides), trace_region_size=REGION) as device:
        queue, program = device.command_queue(), small_program()
        tt.enqueue_program(queue, program, blocking=True)
        eager = _time(device, lambda: _enqueue(queue, program, count))
        trace = tt.begin_trace_capture(device, 0)
        _enqueue(queue, program, count)
        tt.end_trace_capture(device, 0, trace)
        traced = _time(device, lambda: tt.enqueue_trace(queue, trace))
        return Loop(eager[0] / count, traced[0] / count, eager[1], traced[1])


def _enqueue(queue, program, count):
    for _ in range(count):
        tt.enqueue_program(queue, program)


def _time(device, work):
    """(simulated ns, wall-clock seconds) of some work and its end."""
    host, begun = device.system.host, time.perf_counter()
    started = host.now_fs
    work()
    tt.finish(device.command_queue())
    return (host.now_fs - started) / FS_PER_NS, time.perf_counter() - begun
