"""Packets through the packet model alone, without cores and memories: packet-hops per second of processor time.

`python -m bench.packet` prints the rate of uniform random traffic at some loads of the injection links.
"""

import time

import numba as nb
import numpy as np

from tensim.sim.arch import load_arch
from tensim.sim.engine import event_heap, numba_compiler  # noqa: F401  code cached by the state of the model's source
from tensim.sim.engine.memory import zeros_in_cache_lines
from tensim.sim.noc.packet import head_event, prepare
from tensim.sim.noc.packet_state import PACKET_DTYPE, build_links, build_noc_params, build_ports, build_vcs
from tensim.sim.state import link_table, packet_table, vc_table, word_table

ONE_CYCLE = 1024  # per flit: sources that emit at the links' rate
LOADS = (0.02, 0.05, 0.1)  # uniform random traffic saturates these tori below 0.18
PACKETS, FLITS = 200_000, 33
REPEATS = 10

# A packet to send: `time`: cycle in which it is ready; `response`, `dynamic` (of its VC): 0 or 1;
# `static_vc`: 0 to 3
TRAFFIC = np.dtype([(name, np.int64) for name in "time noc source target flits response dynamic static_vc".split()])


@nb.njit(cache=True)
def run_events(all_links, all_vcs, all_ports, p, pool, free, keys, traffic, sequence, events, delivered, begun):
    """Send all packets in the order `sequence` of their times; returns the number of links passed.

    The model works on tables, as in the engine.
    `free`: slots of `pool`, as many as there are packets; the last ones are taken first, and again, as the engine does;
    `keys`: the index into `traffic` of the packet in each slot.
    Fills `delivered` and `begun` (cycles at the target and at the source).  Events of one cycle come in the order of the
    indices into `traffic`.
    """
    links, vcs = link_table(all_links.ctypes.data), vc_table(all_vcs.ctypes.data)
    ports, packets = word_table(all_ports.ctypes.data), packet_table(pool.ctypes.data)
    heap = word_table(events.ctypes.data)
    size = crossed = sent = 0
    left = len(free)
    key_mask = (1 << event_heap.KEY_BITS) - 1
    while size > 0 or sent < len(sequence):
        if sent < len(sequence):
            i = sequence[sent]
            t = traffic[i]
            order = event_heap.make_order(t.time, i)
            if order < heap[0]:
                left -= 1
                prepare(p, packets[free[left]], t.noc, t.source, t.target, t.flits, t.response, ONE_CYCLE)
                packets[free[left]].dynamic, packets[free[left]].static_vc = t.dynamic, t.static_vc
                keys[free[left]] = i
                size = event_heap.push(heap, size, order, free[left])
                sent += 1
        now, slot = heap[0] >> event_heap.KEY_BITS, heap[1]
        i = heap[0] & key_mask
        pk = packets[slot]
        if pk.delivered != 0:
            delivered[i], begun[i] = now, pk.begun
            crossed += pk.hop
            free[left] = slot
            left += 1
            size = event_heap.pop(heap, size)
            continue
        following = head_event(links, vcs, ports, p, packets, slot, now)
        other = p.granted
        while other >= 0:
            size = event_heap.push(heap, size, event_heap.make_order(packets[other].time, keys[other]), other)
            other = packets[other].next_granted
        if following >= 0:
            event_heap.replace_top(heap, size, event_heap.make_order(following, i), slot)
        else:
            size = event_heap.pop(heap, size)
    return crossed


def send(arch, traffic):
    """Send `traffic` (`TRAFFIC`, at most 2**20) through an idle chip's NoCs.

    Returns (links, cycles of delivery, cycles at which the heads left, VCs, links passed by all packets, seconds of processor
    time).
    """
    n = len(traffic)
    links, vcs, delivered, begun = build_links(arch), build_vcs(arch), np.full(n, -1), np.full(n, -1)
    pool = zeros_in_cache_lines(n, PACKET_DTYPE), np.arange(n)[::-1].copy(), np.zeros(n, np.int64)
    order = np.argsort(traffic["time"], kind="stable")
    arguments = links, vcs, build_ports(arch), build_noc_params(arch)[0], *pool, traffic, order, event_heap.new_heap(n)
    start = time.process_time()
    crossed = run_events(*arguments, delivered, begun)
    return links, delivered, begun, vcs, crossed, time.process_time() - start


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
