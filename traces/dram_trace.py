"""Address traces against the command-level DRAM model: reading, serving, latency under load.

A trace is a text: one request a line, `R|W ADDRESS [BYTES]`, numbers decimal or hexadecimal (0x...), `#` for comments.
Without BYTES a request is one burst.
"""

from dataclasses import dataclass

import numpy as np

from tensim.sim.dram.controller import COMMAND_DTYPE, build_controller, serve
from tensim.sim.dram.timing import build_timing, clock_ns
from tensim.sim.errors import UsageError
from tensim.sim.output_files import write_figure

MOST_BYTES = 1 << 20  # of one request
LOADS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)  # shares of the peak of a latency-load curve


@dataclass(frozen=True)
class Requests:
    """`addresses`, `sizes`: bytes; `writes`: 0 or 1; arrays of one length."""

    addresses: np.ndarray
    sizes: np.ndarray
    writes: np.ndarray

    def __len__(self):
        return len(self.addresses)


def read_trace(path, burst_bytes):
    """The requests of a file; UsageError names file, line and reason."""
    rows = []
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                fields = line.split("#")[0].split()
                if fields:
                    rows.append(_request(fields, burst_bytes, f"{path}: line {number}"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not a text file: {error}") from None
    if not rows:
        raise UsageError(f"{path}: contains no request", hint="lines are: R|W ADDRESS [BYTES]")
    return Requests(*np.array(rows, np.int64).T.copy())


def _request(fields, burst_bytes, where):
    if len(fields) not in (2, 3):
        raise UsageError(f"{where}: {len(fields)} words", hint="R|W ADDRESS [BYTES]")
    if fields[0].upper() not in ("R", "W"):
        raise UsageError(f"{where}: {fields[0]!r} is neither R nor W")
    numbers = []
    for name, text in zip(("address", "byte count"), fields[1:], strict=False):
        try:
            numbers.append(int(text, 0))
        except ValueError:
            raise UsageError(
                f"{where}: {text!r} is not a valid {name}", hint="decimal, or 0x and hexadecimal"
            ) from None
    address, size = numbers[0], numbers[1] if len(numbers) > 1 else burst_bytes
    if not 0 <= address < 1 << 48:
        raise UsageError(f"{where}: address {address:#x} is outside 48 bits")
    if not 0 < size <= MOST_BYTES:
        raise UsageError(f"{where}: {size} bytes; a request has 1 to {MOST_BYTES}")
    return address, size, fields[0].upper() == "W"


class ChannelMap:
    """How addresses go to channels: `bank` (one channel after the other) or `interleave:BYTES` (pages in turn)."""

    def __init__(self, arch, text="bank"):
        self.channels, self.page = arch.dram_banks, 0
        self.bank_bytes = arch.dram_bank_bytes
        if text != "bank":
            kind, _, size = text.partition(":")
            burst = int(build_timing(arch)["burst_bytes"])
            if kind != "interleave" or not size.isdigit() or int(size) == 0 or int(size) % burst:
                raise UsageError(
                    f"{text!r} is not a channel map", hint=f"bank, or interleave:BYTES with a multiple of {burst} bytes"
                )
            self.page = int(size)

    def __call__(self, address):
        """(channels, offsets in them) of an array of addresses; UsageError for one beyond the memory."""
        if self.page:
            number = address // self.page
            channel, offset = number % self.channels, number // self.channels * self.page + address % self.page
        else:
            channel, offset = address // self.bank_bytes, address % self.bank_bytes
        beyond = (channel >= self.channels) | (offset >= self.bank_bytes)
        if beyond.any():
            at = int(np.argmax(beyond))
            raise UsageError(
                f"request {at + 1}: address {int(address[at]):#x} is beyond the memory of "
                f"{self.channels} x {self.bank_bytes} bytes"
            )
        return channel, offset


def split(requests, burst_bytes):
    """(index of the request, address) of every burst."""
    first, last = requests.addresses // burst_bytes, (requests.addresses + requests.sizes - 1) // burst_bytes
    counts = last - first + 1
    owner = np.repeat(np.arange(len(requests)), counts)
    inside = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, (first[owner] + inside) * burst_bytes


def serve_requests(arch, requests, channel_map, load=None):
    """Serve all requests; see `figures` for the result.

    `load`: share of the peak of the channels in use at which requests arrive, evenly spaced; None: all at once, so that
    the queues are always full.
    """
    timing, ns = build_timing(arch), clock_ns(arch)
    burst_bytes = int(timing["burst_bytes"])
    owner, addresses = split(requests, burst_bytes)
    channels, offsets = channel_map(addresses)
    used = np.unique(channels)
    arrivals = np.zeros(len(requests), np.int64)
    if load is not None:
        clocks = requests.sizes * timing["burst"] / burst_bytes / (load * len(used))
        arrivals = np.floor(np.cumsum(clocks) - clocks).astype(np.int64)
    finished, rows = np.zeros(len(requests), np.int64), []
    for channel in used:
        mine = np.flatnonzero(channels == channel)
        done, controller = np.zeros(len(mine), np.int64), build_controller(timing)
        writes = requests.writes[owner[mine]]
        serve(controller, timing, arrivals[owner[mine]], offsets[mine] // burst_bytes, writes, done,
              np.zeros(0, COMMAND_DTYPE))  # fmt: skip
        np.maximum.at(finished, owner[mine], done)
        activates, end = int(controller["activates"]), int(done.max())
        rows.append(
            {
                "channel": int(channel), "bursts": len(mine), "activates": activates,
                "row_hits": max(len(mine) - activates, 0), "refreshes": int(controller["refreshes"]),
                "utilization": len(mine) * int(timing["burst"]) / end,
            }
        )  # fmt: skip
    return figures(arch, requests, arrivals * ns, finished * ns, rows)


def figures(arch, requests, arrived, finished, channels):
    """Rates and latencies of a run as a dictionary: bytes, cycles of the chip, GB/s, share of peak, latencies in ns."""
    seconds, moved = float(finished.max()) * 1e-9, int(requests.sizes.sum())
    peak = arch["dram.data_rate_gts"] * arch["dram.channel_bits"] / 8 * len(channels)
    latency = finished - arrived
    written = int(requests.sizes[requests.writes == 1].sum())
    return {
        "arch": arch.name,
        "requests": len(requests),
        "bytes": {"read": moved - written, "written": written},
        "cycles": round(seconds * arch.clock_mhz * 1e6),
        "seconds": seconds,
        "gb_per_s": moved / seconds / 1e9,
        "share_of_peak": moved / seconds / 1e9 / peak,
        "latency_ns": {
            "mean": float(latency.mean()),
            **{f"p{q}": float(np.percentile(latency, q)) for q in (50, 90, 99)},
            "max": float(latency.max()),
        },
        "channels": channels,
    }


def latency_load(arch, requests, channel_map, loads=LOADS):
    """The latency-load curve of a trace: [{"load", "share_of_peak", "gb_per_s", "mean_ns", "p99_ns"}]."""
    curve = []
    for load in loads:
        result = serve_requests(arch, requests, channel_map, load)
        latency = result["latency_ns"]
        curve.append(
            {"load": load, "share_of_peak": result["share_of_peak"], "gb_per_s": result["gb_per_s"],
             "mean_ns": latency["mean"], "p99_ns": latency["p99"]}
        )  # fmt: skip
    return curve


def plot_latency_load(curves, path):
    """Write a picture of curves {label: curve of `latency_load`} to `path`."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 5))
    for label, curve in curves.items():
        axes.plot([100 * p["share_of_peak"] for p in curve], [p["mean_ns"] for p in curve], "o-", label=label)
    axes.set(xlabel="achieved share of peak (%)", ylabel="mean latency (ns)", yscale="log", title="DRAM under load")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    write_figure(path, figure, dpi=110)
    plt.close(figure)
