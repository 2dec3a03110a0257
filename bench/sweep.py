"""A sweep from outside: the time of the whole command against that of its runs divided by the processes that share them."""

import tempfile
from pathlib import Path

from bench.commands import tensim
from tensim.sweeps.local_processes import usable_processors

SHAPE, POINTS = "512x512x512", 200


def run(points=POINTS, shape=SHAPE):
    """(seconds of the whole process, seconds of its runs divided by processes) of a sweep over NoC and DRAM latencies."""
    hops = min(points, 20)
    over = ("noc.hop_cycles", range(1, hops + 1)), ("dram.read_latency", range(100, 100 + points // hops))
    words = [f"--over={name}={','.join(map(str, values))}" for name, values in over]
    with tempfile.TemporaryDirectory() as folder:
        table, seconds = tensim("sweep", "matmul_multicast", "--shape", shape, *words, "-o", str(Path(folder, "table")))
    if table["failed"] or table["points"] != points:
        raise SystemExit(f"{table['failed']} of {table['points']} points failed")
    return seconds, sum(row["host_seconds"] for row in table["rows"]) / min(usable_processors(), points)
