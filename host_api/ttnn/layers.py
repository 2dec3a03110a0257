"""Layers of a network: stretches of launches that come again and again, found in the order of launches alone."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

LONGEST = 2000  # launches of a layer
LEAST_SHARE = 0.02  # of all cycles, of a repetition that is worth a row


def layers(keys: Sequence[Hashable], cycles: Sequence[int]) -> list[dict[str, int]]:
    """[{"first", "launches": of a layer, "layers", "cycles": of all, "least", "most": cycles of a layer}] in the order of launches.

    `keys`: what makes launches equal, `cycles`: theirs.  The repetition with most cycles is taken, the shortest layer of equal
    ones, and then what stands before and behind it is searched alike.  What does not repeat is a row of one layer.
    """
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    codes, ends = np.array([numbers[key] for key in keys], np.int64), np.concatenate(([0], np.cumsum(cycles)))
    return [_row(ends, *part) for part in _parts(codes, ends, 0, len(codes), LEAST_SHARE * ends[-1])]


def _parts(codes: np.ndarray, ends: np.ndarray, first: int, last: int, least: float) -> list[tuple[int, int, int]]:
    """(first launch, launches of a layer, layers) of launches `first` to `last`, which is no part of them."""
    if first == last:
        return []
    found = _most_repeated(codes[first:last], ends[first : last + 1])
    if found is None or found[0] < least:
        return [(first, last - first, 1)]
    _, start, length, times = found
    begin, end = first + start, first + start + length * times
    return [*_parts(codes, ends, first, begin, least), (begin, length, times), *_parts(codes, ends, end, last, least)]


def _most_repeated(codes: np.ndarray, ends: np.ndarray) -> tuple[int, int, int, int] | None:
    """(cycles, first, launches of a layer, layers) of the repetition that takes most cycles; None where nothing repeats."""
    best = None
    for length in range(1, min(len(codes) // 2, LONGEST) + 1):
        # runs of launches that are equal to those one layer behind them
        equal = np.concatenate(([False], codes[length:] == codes[:-length], [False]))
        edges = np.flatnonzero(equal[1:] != equal[:-1])
        starts, times = edges[::2], (edges[1::2] - edges[::2]) // length + 1
        for start, count in zip(starts[times > 1], times[times > 1], strict=True):
            taken = ends[start + length * count] - ends[start]
            if best is None or taken > best[0]:
                best = taken, int(start), length, int(count)
    return best


def _row(ends: np.ndarray, first: int, launches: int, count: int) -> dict[str, int]:
    bounds = ends[first : first + launches * count + 1 : launches]
    each = np.diff(bounds)
    return {
        "first": first, "launches": launches, "layers": count, "cycles": int(bounds[-1] - bounds[0]),
        "least": int(each.min()), "most": int(each.max()),
    }  # fmt: skip
