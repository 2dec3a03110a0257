"""How long a command queue takes for launches whose own durations are known: from a metal trace, or as a host issues them.

What the queue of a chip does around programs (`dispatch`), without a chip: their configuration is written while earlier ones
run, as far as ring and launch ring reach; their go signals wait for each other.  Programs with circular buffers follow each
other later than ones without, `dispatch.op_gap_ns` (docs/hardware/ethernet_pcie.md#dispatch-overheads).
"""

from itertools import accumulate
from typing import NamedTuple

import simpy

from tensim.sim.host.config_ring import ConfigRing
from tensim.sim.host.dispatch import Costs, ProgramCost, configured
from tensim.sim.loop.environment import FS_PER_NS


class Launch(NamedTuple):
    """A program and the ns from the first instruction of its kernels to the last."""

    cost: ProgramCost
    ns: float


def from_trace(arch, launches):
    """ns from the first go signal to the last kernel's end, for launches of a trace, which writes binaries once."""
    return _run(arch, launches, None)


def from_host(arch, launches, calls_ns):
    """The same for launches that a host issues: `calls_ns`, the host's time for each, before it issues the next."""
    return _run(arch, launches, calls_ns)


def _run(arch, launches, calls_ns):
    issued = None if calls_ns is None else [round(ns * FS_PER_NS) for ns in accumulate(calls_ns, initial=0)]
    env, costs = simpy.Environment(0), Costs(arch)
    ring = ConfigRing(arch["dispatch.config_ring_bytes"], arch["dispatch.launch_ring_entries"])
    gap = round(arch["dispatch.op_gap_ns"] * FS_PER_NS) - costs["done"]
    first_go, last_end = [], [0]

    def go(launch, before, done):
        if before is not None and not before.processed:
            yield before
        first_go.append(env.now)
        start = costs.start(launch.cost)
        yield env.timeout((max(start, gap) if launch.cost.config_bytes else start) + round(launch.ns * FS_PER_NS))
        last_end[0] = env.now
        yield env.timeout(costs["done"])
        done.succeed()

    def queue():
        before = None
        for number, launch in enumerate(launches):
            if issued is not None:
                yield env.timeout(max(0, issued[number] - env.now))
            yield from configured(env, ring, costs, launch.cost, host_fed=issued is not None)
            done = env.event()
            ring.stage(launch.cost, done, keep_binaries=issued is None)
            env.process(go(launch, before, done))
            before = done

    env.process(queue())
    env.run()
    return (last_end[0] - first_go[0]) / FS_PER_NS if launches else 0.0
