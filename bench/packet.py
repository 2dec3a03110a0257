"""Packets through the packet model alone, without cores and memories: packet-hops per second.

`python -m bench.packet` prints the rate of uniform random traffic at some loads of the injection links.
"""

import time

import numba as nb
import numpy as np

from sim import calendar as cal
from sim.arch import load_arch
from sim.noc.packet import PACKET_DTYPE, build_links, build_noc_params, build_ports, head_event, prepare

ONE_CYCLE = 1024  # per flit: sources that emit at the links' rate
LOADS = (0.05, 0.2, 0.4)
PACKETS, FLITS = 200_000, 33
REPEATS = 3

# A packet to send: `time`: cycle in which it is ready; `response`: 0 or 1
TRAFFIC = np.dtype([(name, np.int64) for name in "time noc source target flits response".split()])


@nb.njit(cache=True)
def run_events(links, ports, p, packets, traffic, heap, delivered):
    """Send all packets; fills `delivered` with their cycles (-1: never) and returns the number of links passed.

    Events of one cycle come in the order of the packets' indices.
    """
    size = crossed = 0
    for i in range(len(traffic)):
        t = traffic[i]
        prepare(p, packets[i], t.noc, t.source, t.target, t.flits, t.response, ONE_CYCLE)
        size = cal.push(heap, size, cal.make_order(t.time, i), i)
    while size > 0:
        now, index = heap[0] >> cal.KEY_BITS, heap[1]
        if packets[index].delivered != 0:
            delivered[index] = now
            crossed += packets[index].hop
            size = cal.pop(heap, size)
            continue
        following = head_event(links, ports, p, packets, index, now)
        other = p.granted
        while other >= 0:
            size = cal.push(heap, size, cal.make_order(packets[other].time, other), other)
            other = packets[other].next_granted
        if following >= 0:
            cal.replace_top(heap, size, cal.make_order(following, index), index)
        else:
            size = cal.pop(heap, size)
    return crossed


def send(arch, traffic):
    """Send `traffic` (`TRAFFIC`, at most 2**20) through an idle chip's NoCs: (links, packets, delivered, hops, seconds)."""
    links, packets = build_links(arch), np.zeros(len(traffic), PACKET_DTYPE)
    delivered = np.full(len(traffic), -1)
    arguments = links, build_ports(arch), build_noc_params(arch)[0], packets, traffic
    heap = cal.new_heap(len(traffic))
    begun = time.perf_counter()
    crossed = run_events(*arguments, heap, delivered)
    return links, packets, delivered, crossed, time.perf_counter() - begun


def uniform_random(arch, load, seed=0):
    """Packets of FLITS flits between random tiles, each tile injecting `load` flits per cycle into each NoC."""
    rng, (width, height) = np.random.default_rng(seed), arch.noc_size
    tiles = width * height
    traffic = np.zeros(PACKETS, TRAFFIC)
    traffic["time"] = np.sort(rng.integers(0, int(PACKETS * FLITS / (2 * tiles * load)), PACKETS))
    traffic["noc"], traffic["source"] = rng.integers(0, 2, PACKETS), rng.integers(0, tiles, PACKETS)
    traffic["target"], traffic["flits"] = rng.integers(0, tiles, PACKETS), FLITS
    return traffic


def rate(load):
    """Packet-hops per second of the fastest of some rounds."""
    arch = load_arch("wormhole_b0")
    traffic = uniform_random(arch, load)
    return max(crossed / seconds for *_, crossed, seconds in (send(arch, traffic) for _ in range(REPEATS)))


def main():
    for load in LOADS:
        print(f"load {load:.2f}: {rate(load) / 1e6:.1f} M packet-hops/s")


if __name__ == "__main__":
    main()
