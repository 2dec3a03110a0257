"""Core coordinates, ranges and sets of ranges, and how work is split over cores.

Cores come column by column unless `row_wise`; a run of cores is written as ranges line by line: the rest of the line that it
begins in, the whole lines, and the start of its last line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Self, TypeAlias

import tensim.types as metal
from tensim.ttnn.errors import ArgumentError, ArgumentTypeError, check_type, unsigned

Place: TypeAlias = tuple[int, int]  # x, y
Box: TypeAlias = tuple[int, int, int, int]  # x0, y0, x1, y1, both corners inclusive
CoreLike: TypeAlias = "CoreCoord | Place"
Cores: TypeAlias = "CoreLike | CoreRange | CoreRangeSet"


class CoreCoord:
    """A position (x, y), equal to the tuple of its numbers; neither ordered nor iterable."""

    __slots__ = ("x", "y")

    def __init__(self, *place: Any) -> None:
        if len(place) == 1 and isinstance(place[0], tuple | list | CoreCoord):
            place = pair(place[0])
        if len(place) != 2:
            raise ArgumentTypeError(f"CoreCoord: takes (x, y), not {place!r}")
        self.x, self.y = (unsigned("CoreCoord", name, one, 64) for name, one in zip("xy", place, strict=True))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CoreCoord):
            return self.x == other.x and self.y == other.y
        return isinstance(other, tuple) and (self.x, self.y) == other

    def __hash__(self) -> int:
        return hash((self.x, self.y))

    def __repr__(self) -> str:
        return f"{self.x}-{self.y}"


def pair(core: object) -> Place:
    """(x, y) of a CoreCoord or a tuple of two."""
    if isinstance(core, CoreCoord):
        return core.x, core.y
    if isinstance(core, tuple | list) and len(core) == 2:
        return core[0], core[1]
    raise ArgumentTypeError(f"{core!r} is not a core coordinate: CoreCoord(x, y) or (x, y)")


class CoreRange:
    """A rectangle of cores, both corners inclusive."""

    __slots__ = ("start", "end")

    def __init__(self, start: CoreLike, end: CoreLike) -> None:
        self.start, self.end = CoreCoord(pair(start)), CoreCoord(pair(end))
        if self.end.x < self.start.x or self.end.y < self.start.y:
            raise ArgumentError(f"CoreRange: the end {self.end} lies before the start {self.start}")

    @property
    def corners(self) -> Box:
        """(x0, y0, x1, y1)."""
        return self.start.x, self.start.y, self.end.x, self.end.y

    def contains(self, other: Cores) -> bool:
        """Whether a core, range or set lies inside."""
        return all(_inside(box, self.corners) for box in _boxes(other))

    def grid_size(self) -> CoreCoord:
        """Columns and rows as a CoreCoord."""
        return CoreCoord(self.end.x - self.start.x + 1, self.end.y - self.start.y + 1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CoreRange) and self.corners == other.corners

    def __hash__(self) -> int:
        return hash(self.corners)

    def __repr__(self) -> str:
        return f"[{self.start} - {self.end}]"


class CoreRangeSet:
    """Ranges without overlap, in the order given; equal to a set with the same ranges in the same order."""

    __slots__ = ("_ranges",)

    def __init__(self, ranges: Collection[CoreRange]) -> None:
        if not isinstance(ranges, list | tuple | set | frozenset):
            raise ArgumentTypeError(f"CoreRangeSet: takes a list or set of CoreRange, not {type(ranges).__name__}")
        self._ranges = tuple(check_type("CoreRangeSet", "a range", item, CoreRange) for item in ranges)
        for i, one in enumerate(self._ranges):
            for other in self._ranges[:i]:
                if _cut(one.corners, other.corners):
                    raise ArgumentError(f"CoreRangeSet: core ranges {other} and {one} overlap")

    @classmethod
    def of_boxes(cls, boxes: Iterable[Box]) -> Self:
        """A set of (x0, y0, x1, y1)."""
        return cls([CoreRange((x0, y0), (x1, y1)) for x0, y0, x1, y1 in boxes])

    def ranges(self) -> list[CoreRange]:
        """The ranges, as a list."""
        return list(self._ranges)

    def size(self) -> int:
        """Number of ranges."""
        return len(self._ranges)

    def num_cores(self) -> int:
        """Number of cores."""
        return sum(_area(item.corners) for item in self._ranges)

    def empty(self) -> bool:
        """Whether it has no cores."""
        return not self._ranges

    def contains(self, other: Cores) -> bool:
        """Whether every core of a core, range or set is in this set."""
        mine = self.cores()
        return all(core in mine for box in _boxes(other) for core in _cores(box))

    def bounding_box(self) -> CoreRange:
        """The smallest CoreRange around the set."""
        if not self._ranges:
            raise ArgumentError("CoreRangeSet: an empty set has no bounding box")
        x0, y0, x1, y1 = zip(*(item.corners for item in self._ranges), strict=True)
        return CoreRange((min(x0), min(y0)), (max(x1), max(y1)))

    def merge(self, other: CoreRangeSet) -> CoreRangeSet:
        """The cores of both sets, as runs of rows: rows of one extent under each other make one range."""
        cores = self.cores() | check_type("CoreRangeSet.merge", "the other", other, CoreRangeSet).cores()
        return CoreRangeSet.of_boxes(_row_runs(cores))

    def subtract(self, other: CoreRangeSet) -> CoreRangeSet:
        """The cores that are in this set and not in the other."""
        left = [item.corners for item in self._ranges]
        for hole in check_type("CoreRangeSet.subtract", "the other", other, CoreRangeSet)._ranges:
            left = [piece for box in left for piece in _around(box, hole.corners)]
        return CoreRangeSet.of_boxes(left)

    def cores(self) -> set[Place]:
        """The set of (x, y)."""
        return {core for item in self._ranges for core in _cores(item.corners)}

    def host(self) -> metal.CoreRangeSet:
        """The set as the host API takes it."""
        return metal.CoreRangeSet(
            [
                metal.CoreRange(metal.CoreCoord(*pair(item.start)), metal.CoreCoord(*pair(item.end)))
                for item in self._ranges
            ]
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CoreRangeSet) and self._ranges == other._ranges

    def __hash__(self) -> int:
        return hash(self._ranges)

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self._ranges)) + "}"


class CoreGrid:
    """Columns and rows, by keyword."""

    def __init__(self, *, x: int, y: int) -> None:
        self.x, self.y = unsigned("CoreGrid", "x", x), unsigned("CoreGrid", "y", y)

    @property
    def num_cores(self) -> int:
        return self.x * self.y

    def __repr__(self) -> str:
        return f"ttnn.CoreGrid(x={self.x}, y={self.y})"


# --- rectangles (x0, y0, x1, y1)


def _boxes(spec: Cores) -> list[Box]:
    if isinstance(spec, CoreRangeSet):
        return [item.corners for item in spec.ranges()]
    if isinstance(spec, CoreRange):
        return [spec.corners]
    x, y = pair(spec)
    return [(x, y, x, y)]


def _cores(box: Box) -> list[Place]:
    x0, y0, x1, y1 = box
    return [(x, y) for y in range(y0, y1 + 1) for x in range(x0, x1 + 1)]


def _area(box: Box) -> int:
    return (box[2] - box[0] + 1) * (box[3] - box[1] + 1)


def _inside(inner: Box, outer: Box) -> bool:
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


def _cut(a: Box, b: Box) -> Box | None:
    """What two rectangles share, or None."""
    box = max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])
    return box if box[0] <= box[2] and box[1] <= box[3] else None


def _around(box: Box, hole: Box) -> list[Box]:
    """What is left of a rectangle: left and right of the hole at full height, then above and below it."""
    shared = _cut(box, hole)
    if shared is None:
        return [box]
    (x0, y0, x1, y1), (a0, b0, a1, b1) = box, shared
    pieces = (x0, y0, a0 - 1, y1), (a1 + 1, y0, x1, y1), (a0, y0, a1, b0 - 1), (a0, b1 + 1, a1, y1)
    return [piece for piece in pieces if piece[0] <= piece[2] and piece[1] <= piece[3]]


def _row_runs(cores: Iterable[Place]) -> list[Box]:
    """Rectangles of cores: runs of each row, joined with the run of the row above that has the same extent."""
    result, above = [], {}
    for y in sorted({y for _, y in cores}):
        here = {}
        for x0, x1 in _runs(sorted(x for x, row in cores if row == y)):
            index = above.get((x0, x1))
            if index is None or result[index][3] != y - 1:
                result.append((x0, y, x1, y))
                index = len(result) - 1
            result[index] = (*result[index][:3], y)
            here[x0, x1] = index
        above = here
    return result


def _runs(numbers: Iterable[int]) -> list[list[int]]:
    """(first, last) of the runs of consecutive numbers."""
    runs = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return runs


# --- splitting work


def _line_ranges(box: Box, first: int, count: int, row_wise: bool) -> list[Box]:
    """`count` cores of a rectangle from the `first` one on, as rectangles."""
    x0, y0, x1, y1 = box
    length = x1 - x0 + 1 if row_wise else y1 - y0 + 1
    result = []
    while count:
        line, at = divmod(first, length)
        lines = count // length if at == 0 else 0
        taken = lines * length or min(count, length - at)
        last_line, last_at = (line + lines - 1, length - 1) if lines else (line, at + taken - 1)
        corners = (at, line, last_at, last_line) if row_wise else (line, at, last_line, last_at)
        result.append((corners[0] + x0, corners[1] + y0, corners[2] + x0, corners[3] + y0))
        first, count = first + taken, count - taken
    return result


def _take(boxes: Iterable[Box], first: int, count: int, row_wise: bool) -> CoreRangeSet:
    """`count` cores from the `first` one on over several rectangles, as a CoreRangeSet."""
    result = []
    for box in boxes:
        size = _area(box)
        here = min(max(size - first, 0), count)
        for piece in _line_ranges(box, first, here, row_wise):
            if result and _continues(result[-1], piece, row_wise):
                result[-1] = (*result[-1][:2], *piece[2:])
            else:
                result.append(piece)
        first, count = max(first - size, 0), count - here
    return CoreRangeSet.of_boxes(result)


def _continues(last: Box, piece: Box, row_wise: bool) -> bool:
    """Whether whole lines of the same extent follow those of the last rectangle."""
    across, along = (0, 1) if row_wise else (1, 0)
    same = last[across] == piece[across] and last[across + 2] == piece[across + 2]
    return same and piece[along] == last[along + 2] + 1


def _grid_boxes(what: str, grid: object) -> list[Box]:
    if isinstance(grid, CoreRangeSet):
        return [item.corners for item in grid.ranges()]
    if isinstance(grid, CoreCoord | tuple):
        x, y = pair(grid)
        return [(0, 0, x - 1, y - 1)]
    raise ArgumentTypeError(f"{what}: the grid is a CoreCoord or a CoreRangeSet, not {type(grid).__name__}")


def split_work_to_cores(
    core_grid: CoreLike | CoreRangeSet, units_to_divide: int, row_wise: bool = False
) -> tuple[int, CoreRangeSet, CoreRangeSet, CoreRangeSet, int, int]:
    """Divide units of work evenly: (number of cores, all cores, group 1, group 2, units per core of group 1, of group 2).

    Cores of group 1 get one unit more than those of group 2, which is empty (and has 0 units) when all get the same.
    """
    boxes = _grid_boxes("split_work_to_cores", core_grid)
    units = unsigned("split_work_to_cores", "units_to_divide", units_to_divide)
    cores = min(units, sum(map(_area, boxes)))
    if not cores:
        return 0, CoreRangeSet([]), CoreRangeSet([]), CoreRangeSet([]), 0, 0
    each, more = divmod(units, cores)
    whole = cores == sum(map(_area, boxes))
    everyone = CoreRangeSet.of_boxes(boxes) if whole else _take(boxes, 0, cores, row_wise)
    if not more:
        return cores, everyone, everyone, CoreRangeSet([]), each, 0
    first, second = _take(boxes, 0, more, row_wise), _take(boxes, more, cores - more, row_wise)
    return cores, everyone, first, second, each + 1, each


def num_cores_to_corerangeset(
    target_num_cores: int, grid_size: CoreLike | CoreRangeSet, row_wise: bool = False
) -> CoreRangeSet:
    """The first cores of a grid."""
    boxes = _grid_boxes("num_cores_to_corerangeset", grid_size)
    _check_enough("num_cores_to_corerangeset", target_num_cores, sum(map(_area, boxes)))
    return _take(boxes, 0, target_num_cores, row_wise)


def num_cores_to_corerangeset_in_subcoregrids(
    start_core: CoreLike, target_num_cores: int, sub_core_grids: CoreRangeSet, row_wise: bool = False
) -> CoreRangeSet:
    """Cores of a set of ranges, from a core of it on."""
    boxes, start, first = _grid_boxes("num_cores_to_corerangeset_in_subcoregrids", sub_core_grids), pair(start_core), 0
    for box in boxes:
        if _inside((*start, *start), box):
            across, down = start[0] - box[0], start[1] - box[1]
            first += down * (box[2] - box[0] + 1) + across if row_wise else across * (box[3] - box[1] + 1) + down
            break
        first += _area(box)
    else:
        raise ArgumentError(f"num_cores_to_corerangeset_in_subcoregrids: {sub_core_grids} has no core {start_core}")
    _check_enough("num_cores_to_corerangeset_in_subcoregrids", target_num_cores, sum(map(_area, boxes)) - first)
    return _take(boxes, first, target_num_cores, row_wise)


def _check_enough(what: str, wanted: int, there: int) -> None:
    if wanted > there:
        raise ArgumentError(f"{what}: {wanted} cores are wanted, there are {there}")


def corerange_to_cores(crs: CoreRangeSet, max_cores: int | None = None, row_wise: bool = False) -> list[CoreCoord]:
    """The cores of a set, range by range."""
    cores = []
    for item in check_type("corerange_to_cores", "crs", crs, CoreRangeSet).ranges():
        cores += grid_to_cores(item.start, item.end, row_wise)
    return cores[:max_cores]


def grid_to_cores(*args: Any, row_wise: bool = False) -> list[CoreCoord]:
    """The first cores of a grid, as (number, columns, rows[, row_wise]), or all from corner to corner, (start, end[, row_wise])."""
    if len(args) > (3 if isinstance(args[0], int) else 2):
        args, row_wise = args[:-1], args[-1]
    if len(args) == 2:
        (x0, y0), (x1, y1) = map(pair, args)
        xs, ys = range(x0, x1 + 1), range(y0, y1 + 1)
        return [CoreCoord(x, y) for y in ys for x in xs] if row_wise else [CoreCoord(x, y) for x in xs for y in ys]
    count, columns, rows = args
    return [CoreCoord(i % columns, i // columns) if row_wise else CoreCoord(i // rows, i % rows) for i in range(count)]
