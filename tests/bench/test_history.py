"""`make bench` keeps what it measured, and compares with the last run on the same machine."""

import json

import pytest

from bench import history

HERE, OTHER = {"processor": "a", "cores": 2, "id": "1"}, {"processor": "b", "cores": 2, "id": "2"}


def figure(name, value):
    return {"name": name, "value": value, "unit": "s", "goal": "at most 1"}


def test_runs_are_lines_and_the_last_of_this_machine_counts(tmp_path):
    path = tmp_path / "history.jsonl"
    assert history.before(path, HERE) == {}
    history.keep(path, [figure("x", 1.0), figure("y", 5.0)], HERE)
    history.keep(path, [figure("x", 9.0)], OTHER)
    history.keep(path, [figure("x", 2.0)], HERE)
    assert history.before(path, HERE) == {"x": 2.0, "y": 5.0}
    first = json.loads(path.read_text().splitlines()[0])
    assert first["machine"] == HERE and first["figures"] == {"x": 1.0, "y": 5.0} and "commit" in first


@pytest.mark.parametrize(("value", "told"), [(2.0, "="), (2.05, "="), (2.5, "+25%"), (1.0, "-50%")])
def test_a_change_is_told_beyond_noise(value, told):
    assert history.change(figure("x", value), {"x": 2.0}) == told


def test_what_was_never_measured_has_no_change():
    assert history.change(figure("x", 2.0), {}) == "" == history.change(figure("x", 2.0), {"x": 0.0})


def test_this_machine_and_this_commit_have_names():
    here = history.machine()
    assert here["id"] == history.machine()["id"] and here["cores"] >= 1
    assert history.commit() is None or len(history.commit()) >= 7
