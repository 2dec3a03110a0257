"""Synthetic traffic for the flit model: uniform random destinations, latency against load."""

from dataclasses import dataclass

import numpy as np

from tensim.sim.noc import flit
from tensim.sim.noc.flit_network import PACKET, build

WARM_UP, MEASURED = 0.2, 0.8  # shares of the run between which packets count


@dataclass(frozen=True)
class LoadPoint:
    """Offered load and accepted throughput in flits per node and cycle, mean packet latency in cycles.

    `drained`: every packet arrived within the time limit.
    """

    offered: float
    accepted: float
    latency: float
    drained: bool


def uniform_random(kind, width, height, load, cycles, *, flits=4, seed=0, drain=20, **router):
    """A `LoadPoint` of packets of `flits` flits between uniformly random pairs of nodes; `router`: see `flit_network.build`."""
    rng, nodes = np.random.default_rng(seed), width * height
    times, sources = np.nonzero(rng.random((cycles, nodes)) < load / flits)
    targets = rng.integers(0, nodes - 1, len(sources))
    targets[targets >= sources] += 1
    network = build(kind, width, height, **router)
    network.place_packets(np.zeros(max(len(sources), 1), PACKET))
    for packet, (time, source, target) in enumerate(zip(times, sources, targets, strict=True)):
        flit.inject(network.net, packet, source, target, flits, 0, time, flits)
    done = np.full(max(len(sources), 1), -1)[: len(sources)]
    drained = flit.run_until_idle(network.net, cycles * drain, done)
    counted = (times >= cycles * WARM_UP) & (times < cycles * MEASURED) & (done >= 0)
    inside = (done >= cycles * WARM_UP) & (done < cycles * MEASURED)
    accepted = inside.sum() * flits / (cycles * (MEASURED - WARM_UP) * nodes)
    latency = float((done - times)[counted].mean()) if counted.any() else float("nan")
    return LoadPoint(load, float(accepted), latency, bool(drained))


def curve(kind, width, height, loads, cycles, **settings):
    """`LoadPoint`s of rising loads, up to the first that does not drain."""
    points = []
    for load in loads:
        points.append(uniform_random(kind, width, height, load, cycles, **settings))
        if not points[-1].drained:
            break
    return points
