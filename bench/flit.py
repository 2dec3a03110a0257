"""The flit model: flit-hops a second, and latency-load curves of 8x8 networks: `python -m bench.flit [PICTURE]`.

Routers of the curves: 4 VCs of 8 flits, 2 cycles per hop, dimension-order routing, packets of 4 flits, uniform random pairs.
"""

import time

import click
import numpy as np

from tensim.sim.noc import flit, traffic
from tensim.sim.noc.flit_network import MESH, PACKET, TORUS, build
from tensim.sim.output_files import write_figure

ROUTER = {"vcs": 4, "buffer": 8, "hop": 2, "inject": 1, "eject": 1}
PACKETS = 50_000
LOADS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8)
KINDS = {"mesh 8x8": MESH, "torus 8x8": TORUS}


def speed():
    """Flit-hops per second of host time on an 8x8 mesh at 0.35 flits per node and cycle."""
    traffic.uniform_random(MESH, 8, 8, 0.1, 100, **ROUTER)  # compiles
    network, cycles, nodes = build(MESH, 8, 8, **ROUTER), 4000, 64
    network.place_packets(np.zeros(PACKETS, PACKET))
    packet = 0
    for time_ in range(0, cycles, 4):
        for node in range(nodes):
            if (node * 7 + time_ // 4) % 20 < 7:
                flit.inject(network.net, packet, node, (node * 31 + time_ * 17 + 11) % nodes, 4, 0, time_, 4)
                packet += 1
    begun = time.perf_counter()
    flit.run_until_idle(network.net, 10 * cycles, np.zeros(PACKETS, np.int64))
    return int(network.net["moved"]) / (time.perf_counter() - begun)


def curves(cycles=4000):
    """{name: [LoadPoint]}"""
    return {name: traffic.curve(kind, 8, 8, LOADS, cycles, drain=4, **ROUTER) for name, kind in KINDS.items()}


def plot(results, path):
    """Draw the curves."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5))
    for name, points in results.items():
        axes.plot([p.offered for p in points], [p.latency for p in points], "o-", label=name)
    axes.set(xlabel="offered load (flits per node and cycle)", ylabel="mean packet latency (cycles)", ylim=(0, 150))
    axes.set_title("4 VCs of 8 flits, 2 cycles per hop, 4-flit packets, uniform random")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    write_figure(path, figure, dpi=110)


@click.command(help=__doc__)
@click.argument("picture", required=False, type=click.Path(dir_okay=False))
def main(picture):
    print(f"{speed():,.0f} flit-hops/s")
    results = curves()
    for name, points in results.items():
        for p in points:
            print(f"{name:10} offered {p.offered:.2f} accepted {p.accepted:.3f} latency {p.latency:7.1f}")
    if picture:
        plot(results, picture)


if __name__ == "__main__":
    main()
