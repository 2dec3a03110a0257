"""Coordinates, ranges, sets of ranges, and how work is split: what ttnn 0.81.1 answers."""

import pytest

import tensim.ttnn as ttnn
from tensim.ttnn import CoreCoord as C
from tensim.ttnn import CoreRange as R
from tensim.ttnn import CoreRangeSet as S


def boxes(*corners):
    return S([R((x0, y0), (x1, y1)) for x0, y0, x1, y1 in corners])


TWO = boxes((0, 0, 3, 3), (5, 5, 6, 6))


@pytest.mark.parametrize(
    "found, text",
    [
        (C(1, 2), "1-2"),
        (C((1, 2)), "1-2"),
        (R((0, 0), (1, 1)), "[0-0 - 1-1]"),
        (S([]), "{}"),
        (boxes((0, 0, 0, 1), (1, 0, 1, 1)), "{[0-0 - 0-1], [1-0 - 1-1]}"),
        (ttnn.CoreGrid(x=2, y=3), "ttnn.CoreGrid(x=2, y=3)"),
        (R((0, 0), (1, 2)).grid_size(), "2-3"),
        (boxes((0, 0, 0, 1), (2, 0, 2, 1)).bounding_box(), "[0-0 - 2-1]"),
    ],
)
def test_texts(found, text):
    assert repr(found) == text


def test_a_coordinate_equals_its_tuple_and_has_no_order():
    assert C(1, 2) == (1, 2) and (1, 2) == C(1, 2) and hash(C(1, 2)) == hash(C(1, 2))
    with pytest.raises(TypeError):
        C(1, 2) < C(2, 2)  # noqa: B015
    with pytest.raises(TypeError):
        list(C(1, 2))


@pytest.mark.parametrize("arguments", [(), (1,), (-1, 2), (1.0, 2), (1, 2, 3)])
def test_what_is_no_coordinate(arguments):
    with pytest.raises(TypeError):
        C(*arguments)


@pytest.mark.parametrize("arguments", [(), (R((0, 0), (1, 1)),), ([C(1, 1)],)])
def test_what_is_no_set(arguments):
    with pytest.raises(TypeError):
        S(*arguments)


def test_refused_ranges_and_sets():
    with pytest.raises(RuntimeError, match="the end 0-0 lies before the start 1-1"):
        R((1, 1), (0, 0))
    with pytest.raises(RuntimeError, match=r"\[0-0 - 1-1\] and \[1-1 - 2-2\] overlap"):
        boxes((0, 0, 1, 1), (1, 1, 2, 2))
    with pytest.raises(RuntimeError, match="an empty set has no bounding box"):
        S([]).bounding_box()
    with pytest.raises(TypeError):
        ttnn.CoreGrid(2, 3)


def test_sets_keep_their_ranges_in_order():
    one, other = boxes((0, 0, 0, 1), (1, 0, 1, 1)), boxes((1, 0, 1, 1), (0, 0, 0, 1))
    assert one != other and one != boxes((0, 0, 1, 1)) and one == boxes((0, 0, 0, 1), (1, 0, 1, 1))
    assert (
        one.size() == 2 and one.num_cores() == 4 and [repr(r) for r in one.ranges()] == ["[0-0 - 0-1]", "[1-0 - 1-1]"]
    )
    assert one.contains(C(1, 1)) and one.contains(R((0, 0), (1, 1))) and not one.contains(boxes((0, 0, 2, 0)))


@pytest.mark.parametrize(
    "one, other, text",
    [
        (boxes((0, 0, 0, 1)), boxes((1, 0, 1, 1)), "{[0-0 - 1-1]}"),
        (boxes((0, 0, 1, 1)), boxes((0, 0, 2, 2)), "{[0-0 - 2-2]}"),
        (boxes((0, 0, 7, 7)), boxes((0, 8, 3, 8)), "{[0-0 - 7-7], [0-8 - 3-8]}"),
    ],
)
def test_merge(one, other, text):
    assert repr(one.merge(other)) == text


@pytest.mark.parametrize(
    "one, other, text",
    [
        (boxes((0, 0, 3, 3)), boxes((1, 1, 2, 2)), "{[0-0 - 0-3], [3-0 - 3-3], [1-0 - 2-0], [1-3 - 2-3]}"),
        (boxes((0, 0, 7, 7)), boxes((0, 0, 7, 0)), "{[0-1 - 7-7]}"),
        (boxes((0, 0, 3, 3)), boxes((0, 0, 3, 3)), "{}"),
    ],
)
def test_subtract(one, other, text):
    assert repr(one.subtract(other)) == text


@pytest.mark.parametrize(
    "grid, units, row_wise, text",
    [
        (C(8, 8), 0, False, "(0, {}, {}, {}, 0, 0)"),
        (C(8, 8), 7, False, "(7, {[0-0 - 0-6]}, {[0-0 - 0-6]}, {}, 1, 0)"),
        (C(8, 8), 10, False, "(10, {[0-0 - 0-7], [1-0 - 1-1]}, {[0-0 - 0-7], [1-0 - 1-1]}, {}, 1, 0)"),
        (C(8, 8), 64, False, "(64, {[0-0 - 7-7]}, {[0-0 - 7-7]}, {}, 1, 0)"),
        (
            C(8, 8), 100, False,
            "(64, {[0-0 - 7-7]}, {[0-0 - 3-7], [4-0 - 4-3]}, {[4-4 - 4-7], [5-0 - 7-7]}, 2, 1)",
        ),
        (
            C(8, 8), 100, True,
            "(64, {[0-0 - 7-7]}, {[0-0 - 7-3], [0-4 - 3-4]}, {[4-4 - 7-4], [0-5 - 7-7]}, 2, 1)",
        ),
        ((8, 8), 17, True, "(17, {[0-0 - 7-1], [0-2 - 0-2]}, {[0-0 - 7-1], [0-2 - 0-2]}, {}, 1, 0)"),
        (
            TWO, 50, False,
            "(20, {[0-0 - 3-3], [5-5 - 6-6]}, {[0-0 - 1-3], [2-0 - 2-1]}, {[2-2 - 2-3], [3-0 - 3-3], [5-5 - 6-6]}, 3, 2)",
        ),
        (
            TWO, 30, True,
            "(20, {[0-0 - 3-3], [5-5 - 6-6]}, {[0-0 - 3-1], [0-2 - 1-2]}, {[2-2 - 3-2], [0-3 - 3-3], [5-5 - 6-6]}, 2, 1)",
        ),
    ],
)  # fmt: skip
def test_split_work_to_cores(grid, units, row_wise, text):
    assert repr(ttnn.split_work_to_cores(grid, units, row_wise)) == text


@pytest.mark.parametrize(
    "count, row_wise, text",
    [
        (0, True, "{}"),
        (8, True, "{[0-0 - 7-0]}"),
        (10, False, "{[0-0 - 0-7], [1-0 - 1-1]}"),
        (19, True, "{[0-0 - 7-1], [0-2 - 2-2]}"),
        (64, True, "{[0-0 - 7-7]}"),
    ],
)
def test_num_cores_to_corerangeset(count, row_wise, text):
    assert repr(ttnn.num_cores_to_corerangeset(count, C(8, 8), row_wise)) == text


def test_too_many_cores():
    with pytest.raises(RuntimeError, match="65 cores are wanted, there are 64"):
        ttnn.num_cores_to_corerangeset(65, C(8, 8))
    with pytest.raises(RuntimeError, match="5 cores are wanted, there are 4"):
        ttnn.num_cores_to_corerangeset_in_subcoregrids(C(5, 5), 5, TWO, True)


@pytest.mark.parametrize(
    "start, count, grid, row_wise, text",
    [
        (C(1, 1), 5, boxes((0, 0, 3, 3)), False, "{[1-1 - 1-3], [2-0 - 2-1]}"),
        (C(1, 1), 5, boxes((0, 0, 3, 3)), True, "{[1-1 - 3-1], [0-2 - 1-2]}"),
        (C(2, 2), 8, TWO, True, "{[2-2 - 3-2], [0-3 - 3-3], [5-5 - 6-5]}"),
    ],
)
def test_cores_from_a_start_on(start, count, grid, row_wise, text):
    assert repr(ttnn.num_cores_to_corerangeset_in_subcoregrids(start, count, grid, row_wise)) == text


@pytest.mark.parametrize(
    "cores, text",
    [
        (ttnn.corerange_to_cores(boxes((0, 0, 1, 2), (3, 3, 4, 3))), "[0-0, 0-1, 0-2, 1-0, 1-1, 1-2, 3-3, 4-3]"),
        (ttnn.corerange_to_cores(boxes((0, 0, 1, 2)), 3), "[0-0, 0-1, 0-2]"),
        (ttnn.corerange_to_cores(boxes((0, 0, 1, 2)), None, True), "[0-0, 1-0, 0-1, 1-1, 0-2, 1-2]"),
        (ttnn.grid_to_cores(5, 3, 2), "[0-0, 0-1, 1-0, 1-1, 2-0]"),
        (ttnn.grid_to_cores(5, 3, 2, True), "[0-0, 1-0, 2-0, 0-1, 1-1]"),
        (ttnn.grid_to_cores(C(1, 1), C(2, 3)), "[1-1, 1-2, 1-3, 2-1, 2-2, 2-3]"),
        (ttnn.grid_to_cores(C(1, 1), C(2, 3), True), "[1-1, 2-1, 1-2, 2-2, 1-3, 2-3]"),
    ],
)
def test_lists_of_cores(cores, text):
    assert repr(cores) == text


STACKED = ttnn.CoreRangeSet(
    [ttnn.CoreRange((0, 0), (1, 1)), ttnn.CoreRange((0, 2), (1, 3)), ttnn.CoreRange((4, 0), (5, 1))]
)


@pytest.mark.parametrize(
    "number, taken",
    [
        (6, "{[0-0 - 1-2]}"),
        (7, "{[0-0 - 1-2], [0-3 - 0-3]}"),
        (10, "{[0-0 - 1-3], [4-0 - 5-0]}"),
        (12, "{[0-0 - 1-3], [4-0 - 5-1]}"),
    ],
)
def test_whole_lines_join_over_ranges(number, taken):
    start = ttnn.CoreCoord(0, 0)
    assert repr(ttnn.num_cores_to_corerangeset_in_subcoregrids(start, number, STACKED, True)) == taken


def test_a_split_over_all_cores_keeps_their_ranges():
    """The groups are taken line by line, so their ranges join."""
    _, everyone, first, second, *_ = ttnn.split_work_to_cores(STACKED, 19, True)
    assert repr(everyone) == repr(STACKED)
    assert repr(first) == "{[0-0 - 1-2], [0-3 - 0-3]}" and repr(second) == "{[1-3 - 1-3], [4-0 - 5-1]}"
