"""Pythons are found on the path and with pyenv, and a stand-in that does not run is passed over."""

import os

import pytest

from tests.install.interpreters import interpreter
from tests.install.supported import lower_bounds, pythons


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A machine without Pythons."""
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), "/bin"]))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return tmp_path


def test_a_stand_in_that_does_not_run_is_passed_over(place):
    script(place / "bin/python3.90", "echo 'python3.90: command not found' >&2; exit 127")
    assert interpreter("3.90") is None
    kept = script(place / "pyenv/versions/3.90.2/bin/python", "echo 3.90")
    assert interpreter("3.90") == kept


def test_the_path_goes_first_and_versions_in_their_order(place):
    script(place / "pyenv/versions/3.90.2/bin/python", "echo 3.90")
    first = script(place / "bin/python3.90", "echo 3.90")
    other = script(place / "bin/python3.91", "echo 3.91")
    assert interpreter("3.90", "3.91") == first
    assert interpreter("3.91", "3.90") == other


def test_an_interpreter_of_another_version_is_passed_over(place):
    script(place / "bin/python3.90", "echo 3.12")
    assert interpreter("3.90") is None


def test_what_the_project_promises_is_read():
    assert pythons()[0] == "3.11" and pythons()[-1] == "3.13"
    assert {"numba", "numpy", "pandas", "pytest"} <= set(lower_bounds())
