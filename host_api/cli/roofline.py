"""The roofline plot of a run: attained FLOP/s over FLOP per DRAM byte, under the roofs of the matrix unit and DRAM."""

from __future__ import annotations

from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from tensim.sim.errors import UsageError
from tensim.sim.output_files import write_figure

SPAN = 64  # the axis reaches this factor to both sides of the ridge points


def write_roofline(summary: dict[str, Any], path: str) -> None:
    """Write the plot of a run's summary (`tensim.sim.chip.statistics.collect`) to `path`; its ending tells the format.

    UsageError for a run without matrix or vector arithmetic, or without DRAM traffic: it has no place on a roofline.
    """
    line = summary["roofline"]
    if not line["flops_per_second"] or line["flops_per_byte"] is None:
        raise UsageError("--roofline: the program does no arithmetic on data from DRAM", hint="run one that does both")
    slope, roofs = line["dram_bytes_per_second"], line["roofs"]
    ridges = [peak / slope for peak in roofs.values()]
    here = line["flops_per_byte"]
    x = np.geomspace(min(*ridges, here) / SPAN, max(*ridges, here) * SPAN, 400)
    figure, axes = plt.subplots(figsize=(8, 5))
    for name, peak in roofs.items():
        axes.loglog(x, np.minimum(x * slope, peak) / 1e12, lw=1.2, label=f"{name}: {peak / 1e12:.1f} TFLOP/s")
    axes.loglog([here], [line["flops_per_second"] / 1e12], "o", color="black", label=f"{summary['name']}")
    axes.annotate(f"bounded by {summary['bounded_by']}", (here, line["flops_per_second"] / 1e12),
                  textcoords="offset points", xytext=(8, -12))  # fmt: skip
    axes.set(
        xlabel="FLOP per DRAM byte", ylabel="TFLOP/s",
        title=f"{summary['name']} on {summary['arch']}, DRAM {slope / 1e9:.0f} GB/s",
    )  # fmt: skip
    axes.legend()
    axes.grid(alpha=0.3, which="both")
    figure.tight_layout()
    write_figure(path, figure, dpi=110)
    plt.close(figure)
