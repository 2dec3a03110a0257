"""JSON as commands write it: the values of `json.dumps`, some levels an entry a line; null for what is no number of JSON."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensim.results.json_text import json_text

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.none(), inner),
)


@given(values)
def test_the_text_means_what_json_says(value):
    expected = json.loads(json.dumps(value), parse_constant=lambda name: None)
    assert json.loads(json_text(value), parse_constant=pytest.fail) == expected


def test_rows_take_a_line_each_and_other_objects_are_texts():
    assert json_text({"n": 2, "rows": [{"a": [1]}, {"file": Path("x")}], "left": []}) == (
        '{\n  "n": 2,\n  "rows": [\n    {"a":[1]},\n    {"file":"x"}\n  ],\n  "left": []\n}'
    )


class Pair(NamedTuple):
    left: float
    right: object


def test_numbers_of_numpy_and_named_tuples_are_numbers_and_lists():
    assert json.loads(json_text({"pair": Pair(np.float64(0.5), np.int64(3)), "nan": np.float32("nan")})) == {
        "pair": [0.5, 3],
        "nan": None,
    }
    assert json.loads(json_text(Pair(2.5, 1 << 70))) == [2.5, 1 << 70]
