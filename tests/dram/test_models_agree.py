"""The engine's channel against the command-level controller: achieved rate on streams and random traffic."""

import numpy as np
import pytest

from tensim.sim.arch import architectures, load_arch
from tensim.sim.dram.channel import build_banks, build_channels, build_dram_params, dram_access
from tensim.sim.dram.controller import COMMAND_DTYPE, build_controller, serve
from tensim.sim.dram.timing import build_timing, clock_ns

TOTAL = 4 << 20  # bytes


def engine_rate(arch, addresses, size, kinds):
    """GB/s of the engine's channel with as many requests in flight as the controller's queue holds, at least two."""
    channels, banks, p = build_channels(arch), build_banks(arch), build_dram_params(arch)[0]
    depth = max(2, int(arch["dram.read_queue"] * p["burst_bytes"] // size))
    done = []
    for i, (address, kind) in enumerate(zip(addresses, kinds, strict=True)):
        at = done[i - depth] - int(p["read_latency"] // 256) if i >= depth and not kinds[i - depth] else 0
        at = max(at, done[i - depth] if i >= depth and kinds[i - depth] else 0)
        done.append(dram_access(channels, banks, p, 0, int(address), size, bool(kind), max(at, 0), i % 2, 0, 0))
    return len(addresses) * size / max(done) * arch.clock_mhz / 1000


def controller_rate(arch, addresses, size, kinds):
    timing = build_timing(arch)
    per = size // int(timing["burst_bytes"])
    bursts = (np.repeat(addresses // int(timing["burst_bytes"]), per) + np.tile(np.arange(per), len(addresses))).astype(
        np.int64
    )
    done = np.zeros(len(bursts), np.int64)
    writes = np.repeat(np.asarray(kinds, np.int64), per)
    serve(
        build_controller(timing),
        timing,
        np.zeros(len(bursts), np.int64),
        bursts,
        writes,
        done,
        np.zeros(0, COMMAND_DTYPE),
    )
    return len(addresses) * size / (done.max() * clock_ns(arch))


@pytest.mark.parametrize("name", architectures())
@pytest.mark.parametrize(
    ("pattern", "size", "write_share", "tolerance"),
    [
        ("stream", 8192, 0, 0.03),
        ("stream", 1024, 0, 0.05),
        ("stream", 8192, 1, 0.05),
        ("random", 8192, 0, 0.05),
        ("random", 2048, 0, 0.15),
        ("random", 512, 0, 0.3),
        ("random", 64, 0, 0.6),  # the engine opens pairs of banks and reorders little: pessimistic
    ],
)
def test_rates_agree(name, pattern, size, write_share, tolerance):
    overrides = {"dram.request_cycles": 0.0, "dram.partial_write_bytes": 0, "dram.device_acknowledges": 1}
    arch = load_arch(name, overrides)  # acknowledgements tell when data have been written
    n, rng = TOTAL // max(size, 512), np.random.default_rng(0)
    addresses = np.arange(n) * size if pattern == "stream" else rng.integers(0, 1 << 16, n) * 8192
    kinds = (rng.random(n) < write_share).astype(int)
    engine, controller = (rate(arch, addresses, size, kinds) for rate in (engine_rate, controller_rate))
    print(
        f"\n{name} {pattern} {size} w{write_share}: engine {engine:.2f} controller {controller:.2f}  {engine / controller - 1:+.1%}"
    )
    assert engine == pytest.approx(controller, rel=tolerance)
