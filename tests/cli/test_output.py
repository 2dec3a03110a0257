"""JSON as commands write it: the values of `json.dumps`, some levels of them an entry a line."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tensim.results.json_text import json_text

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.none(), inner),
)


@given(values)
def test_the_text_means_what_json_says(value):
    assert json.loads(json_text(value)) == json.loads(json.dumps(value))


def test_rows_take_a_line_each_and_other_objects_are_texts():
    assert json_text({"n": 2, "rows": [{"a": [1]}, {"file": Path("x")}], "left": []}) == (
        '{\n  "n": 2,\n  "rows": [\n    {"a": [1]},\n    {"file": "x"}\n  ],\n  "left": []\n}'
    )
