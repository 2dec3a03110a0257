"""Shapes and coordinates of meshes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any


class _Numbers:
    """A tuple of numbers under a name of its own."""

    __slots__ = ("_numbers",)

    def __init__(self, *numbers: Any) -> None:
        if len(numbers) == 1 and not isinstance(numbers[0], int):
            numbers = numbers[0]
        self._numbers = tuple(int(number) for number in numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    def __getitem__(self, index: int) -> int:
        return self._numbers[index]

    def dims(self) -> int:
        """Number of dimensions."""
        return len(self)

    def __eq__(self, other: object) -> bool:
        return self._numbers == tuple(other) if isinstance(other, _Numbers | tuple | list) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._numbers)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self._numbers)})"


class MeshShape(_Numbers):
    """Rows and columns of a mesh."""

    def mesh_size(self) -> int:
        """Number of chips."""
        return math.prod(self)

    def coordinates(self) -> list[MeshCoordinate]:
        """All places, row after row."""
        return [MeshCoordinate(place) for place in itertools.product(*map(range, self))]


class MeshCoordinate(_Numbers):
    """A place in a mesh."""


class MeshCoordinateRange:
    """A rectangle of places, both corners inclusive: (start, end), or all of a MeshShape."""

    def __init__(self, start: Any, end: Any = None) -> None:
        if isinstance(start, MeshShape):
            start, end = MeshCoordinate([0] * len(start)), MeshCoordinate([item - 1 for item in start])
        self.start, self.end = start, start if end is None else end

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeshCoordinateRange) and (self.start, self.end) == (other.start, other.end)

    def __hash__(self) -> int:
        return hash((self.start, self.end))

    def __iter__(self) -> Iterator[MeshCoordinate]:
        spans = [range(a, b + 1) for a, b in zip(self.start, self.end, strict=True)]
        return iter([MeshCoordinate(place) for place in itertools.product(*spans)])

    def shape(self) -> MeshShape:
        """Sizes of the rectangle."""
        return MeshShape([b - a + 1 for a, b in zip(self.start, self.end, strict=True)])

    def __repr__(self) -> str:
        return f"MeshCoordinateRange(start={self.start}, end={self.end})"


class MeshCoordinateRangeSet:
    """Rectangles of places, none of which is a part of another one, or makes one with it."""

    def __init__(self, range: MeshCoordinateRange | None = None) -> None:  # the library's name
        self.ranges = [] if range is None else [range]

    def merge(self, range: MeshCoordinateRange) -> None:
        """Add a rectangle, as one with those that it makes one with."""
        joined, ranges = range, self.ranges
        while found := next((one for one in ranges if _make_one(joined, one)), None):
            ranges = [one for one in ranges if one is not found]
            corners = [[*zip(*ends, strict=True)] for ends in ((joined.start, found.start), (joined.end, found.end))]
            joined = MeshCoordinateRange(
                *(MeshCoordinate(map(f, pairs)) for f, pairs in zip((min, max), corners, strict=True))
            )
        self.ranges = sorted([*ranges, joined], key=lambda one: (tuple(one.start), tuple(one.end)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeshCoordinateRangeSet) and self.ranges == other.ranges

    def __hash__(self) -> int:
        return hash(tuple(self.ranges))

    def __repr__(self) -> str:
        return f"MeshCoordinateRangeSet({self.ranges})"


def _make_one(one: MeshCoordinateRange, other: MeshCoordinateRange) -> bool:
    """Whether two rectangles together are one: a part of each other, or alike but in one dimension, where they touch."""
    spans = [*zip(one.start, one.end, other.start, other.end, strict=True)]
    inside = all(a <= c and d <= b for a, b, c, d in spans) or all(c <= a and b <= d for a, b, c, d in spans)
    apart = [(a, b, c, d) for a, b, c, d in spans if (a, b) != (c, d)]
    return inside or (len(apart) == 1 and all(c <= b + 1 and a <= d + 1 for a, b, c, d in apart))
