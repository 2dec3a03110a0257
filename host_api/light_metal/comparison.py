"""What a comparison in a Light Metal binary finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.cores.numerics.host_formats import decode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensim.sim.host import commands as c

SHOWN_DIFFERENCES = 8


def unfinished(record: c.CompareBuffer) -> dict[str, Any]:
    """What is known of a comparison before the buffer could be looked at."""
    found = {"name": record.name, "passed": False, "mismatches": 0, "total": 0, "first": []}
    return found | {"why": "the replay ended before it"}


def compare(record: c.CompareBuffer, actual: bytes) -> dict[str, Any]:
    """What a comparison found: {"name", "passed", "mismatches", "total", "first", "pcc", "max_abs_error", "ulp_histogram"}.

    Without a format bytes are compared as 32-bit words; `first`: the first differences as (index, expected, actual).
    """
    expected = record.golden
    assert expected is not None  # but while it was captured
    found: dict[str, Any] = {"name": record.name, "passed": False, "mismatches": 0, "total": 0, "first": []}
    if len(actual) != len(expected):
        return found | {"mismatches": abs(len(actual) - len(expected)), "why": "sizes differ"}
    if record.format == DataFormat.Invalid:
        dtype = "<u4" if len(actual) % 4 == 0 else "u1"
        got, want = np.frombuffer(actual, dtype), np.frombuffer(expected, dtype)
        wrong = got != want
    else:
        tiles = len(expected) // tile_size(record.format)
        got, want = (decode(data, DataFormat(record.format), (32 * tiles, 32)).ravel() for data in (actual, expected))
        wrong = ~np.isclose(got, want, rtol=record.rtol, atol=record.atol, equal_nan=True)
        found |= _float_figures(got, want)
    places = np.flatnonzero(wrong)
    first = [[int(i), want[i].item(), got[i].item()] for i in places[:SHOWN_DIFFERENCES]]
    return found | {"passed": len(places) == 0, "mismatches": len(places), "total": len(got), "first": first}


def _float_figures(got: NDArray[Any], want: NDArray[Any]) -> dict[str, Any]:
    """Correlation, largest error and the histogram of distances in units in the last place (of float32)."""
    finite = np.isfinite(got) & np.isfinite(want)
    got, want = got[finite].astype(np.float64), want[finite].astype(np.float64)
    if len(got) == 0:
        return {"pcc": None, "max_abs_error": None, "ulp_histogram": {}}
    constant = got.std() == 0 or want.std() == 0
    pcc = float(np.array_equal(got, want)) if constant else float(np.corrcoef(got, want)[0, 1])
    distance = np.abs(got - want) / np.spacing(np.maximum(np.abs(want), np.finfo(np.float32).tiny).astype(np.float32))
    edges = [0, 1, 2, 4, 16, 256, np.inf]
    counts, _ = np.histogram(distance, [*edges[:-1], np.inf])
    names = ["0", "1", "2-3", "4-15", "16-255", "256-"]
    return {
        "pcc": pcc, "max_abs_error": float(np.abs(got - want).max()),
        "ulp_histogram": {name: int(count) for name, count in zip(names, counts, strict=True)},
    }  # fmt: skip
