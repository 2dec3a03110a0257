"""Parameters of programs: as text, as `--param` gives them, and as values."""

import inspect
from typing import Literal

import pytest

from tensim.running.options import Text, parameter_values
from tensim.sim.errors import UsageError


def values(annotation, value):
    parameter = inspect.Parameter("x", inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
    return parameter_values("program", {"x": value}, {"x": parameter})["x"]


@pytest.mark.parametrize(
    ("annotation", "text", "value"),
    [
        (int, "0", 0),
        (int, "-3", -3),
        (float, "0", 0.0),
        (float, "0.0", 0.0),
        (float, "1e-3", 0.001),
        (float, "-2", -2.0),
        (bool, "0", False),
        (bool, "true", True),
        (bool, "no", False),
        (str, "", ""),
        (str, "007", "007"),
        (str, "none", "none"),
        (int | None, "none", None),
        (int | None, "4", 4),
        (str | None, "x", "x"),
        (str | None, "null", None),
        (int | str, "4", 4),
        (int | str, "four", "four"),
        (Literal["a", "b"], "b", "b"),
        (Literal[1, 2], "2", 2),
        (inspect.Parameter.empty, "[1, 2]", [1, 2]),
    ],
)
def test_text_is_what_the_annotation_says(annotation, text, value):
    found = values(annotation, Text(text))
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [(int, "x"), (int, "1.5"), (int, ""), (float, "x"), (bool, "2"), (int | None, ""), (Literal["a"], "b"), (int, 1.5),
     (int, None), (int, True), (list, 3)],
)  # fmt: skip
def test_another_type_is_refused(annotation, value):
    with pytest.raises(UsageError, match="x must be"):
        values(annotation, Text(value) if isinstance(value, str) else value)


@pytest.mark.parametrize(("annotation", "value"), [(int, 0), (float, -1), (bool, False), (str, ""), (int | None, None)])
def test_values_are_taken_as_they_are(annotation, value):
    assert values(annotation, value) == value


def test_a_near_name_is_guessed():
    parameter = inspect.Parameter("pages", inspect.Parameter.KEYWORD_ONLY, annotation=int)
    with pytest.raises(UsageError, match="did you mean pages"):
        parameter_values("program", {"page": 1}, {"pages": parameter})
