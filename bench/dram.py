"""Speed of the command-level DRAM controller: bursts per second of host time on one core."""

import time

import numpy as np

from tensim.sim.arch import load_arch
from tensim.sim.dram.controller import COMMAND_DTYPE, build_controller, serve
from tensim.sim.dram.timing import build_timing

BURSTS = 400_000
PATTERNS = ("stream", "random", "random, a third written")


def traffic(pattern):
    """(burst numbers, is_write) of a pattern."""
    rng = np.random.default_rng(0)
    bursts = np.arange(BURSTS) if pattern == "stream" else rng.integers(0, 1 << 24, BURSTS)
    return bursts, (rng.random(BURSTS) < (1 / 3 if "written" in pattern else 0)).astype(np.int64)


def rate(arch_name, pattern, runs=3):
    """Bursts served per second, the fastest of some runs."""
    timing = build_timing(load_arch(arch_name))
    bursts, writes = traffic(pattern)
    arrivals, done, best = np.zeros(BURSTS, np.int64), np.zeros(BURSTS, np.int64), 0.0
    for _ in range(runs):
        controller, begun = build_controller(timing), time.perf_counter()
        serve(controller, timing, arrivals, bursts, writes, done, np.zeros(0, COMMAND_DTYPE))
        best = max(best, BURSTS / (time.perf_counter() - begun))
    return best


def main():
    """Print the rates."""
    for name in ("wormhole_b0", "blackhole", "grayskull"):
        for pattern in PATTERNS:
            print(f"{name:12} {pattern:24} {rate(name, pattern) / 1e6:6.2f} M bursts/s")


if __name__ == "__main__":
    main()
