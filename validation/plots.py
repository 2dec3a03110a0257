"""Pictures of a validation: measured against simulated, and the histogram of the errors."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from tensim.sim.output_files import write_figure

WIDEST = 60  # percent: larger errors are counted in the last bar


def plot_rows(rows, path, title):
    """Write a picture of the measured rows of `tensim.validation.figures.summary` to `path` (its ending tells the format)."""
    rows = [row for row in rows if row["measured"] is not None]
    figure, (scatter, histogram) = plt.subplots(1, 2, figsize=(12, 5.5))
    archs = sorted({row["group"].split("/")[0] for row in rows})
    for arch in archs:
        mine = [row for row in rows if row["group"].split("/")[0] == arch and not isinstance(row["measured"], tuple)]
        scatter.loglog([r["measured"] for r in mine], [r["simulated"] for r in mine], ".", ms=3, alpha=0.5, label=arch)
    ends = scatter.get_xlim()
    scatter.plot(ends, ends, color="black", lw=0.8)
    scatter.set(xlabel=f"measured ({rows[0]['unit']})" if rows else "", ylabel="simulated", title=title)
    errors = [[row["err_pct"] for row in rows if row["group"].split("/")[0] == arch] for arch in archs]
    bins = np.linspace(-WIDEST, WIDEST, 61)
    if rows:
        histogram.hist([np.clip(e, -WIDEST, WIDEST) for e in errors], bins, stacked=True, label=archs)
    histogram.set(xlabel="error (%)", ylabel="rows", title="errors")
    for axes in (scatter, histogram):
        axes.legend()
        axes.grid(alpha=0.3)
    figure.tight_layout()
    write_figure(path, figure, dpi=110)
    plt.close(figure)
