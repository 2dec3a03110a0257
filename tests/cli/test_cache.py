"""`tensim cache`: what lies in the folder of compiled code, and what goes."""

import json
import os
import time

import pytest

from tensim.sim.engine import cache
from tests.commands import exit_code

OLD = time.time() - 40 * 86400


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A folder with this engine, another one, kernels old and new, and something of somebody else's."""
    for file in (
        f"{'a' * 16}/f.o",
        f"{'b' * 16}/f.o",
        "cpp/objects/old",
        "cpp/objects/new",
        "library/x/old",
        "mine/file",
    ):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(1000))
        if path.name == "old":
            os.utime(path, (OLD, OLD))
    monkeypatch.setattr(cache, "DIRECTORY", tmp_path / ("a" * 16))
    monkeypatch.setenv("TENSIM_CACHE_DIR", str(tmp_path))
    return tmp_path


def run(capsys, *arguments):
    assert exit_code("cache", *arguments) == 0
    return capsys.readouterr().out


def files(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_show_says_what_there_is_and_removes_nothing(root, capsys):
    before = files(root)
    text = run(capsys)
    assert "an engine of another version" in text and "prune removes 0.0 MB" in text and files(root) == before
    data = json.loads(run(capsys, "show", "--json"))
    assert {part["name"]: part["unused_bytes"] for part in data["parts"]} == {
        "a" * 16: 0, "b" * 16: 1000, "cpp": 1000, "library": 1000
    }  # fmt: skip


def test_prune_removes_other_engines_and_what_was_long_unused(root, capsys):
    run(capsys, "prune")
    assert files(root) == {f"{'a' * 16}/f.o", "cpp/objects/new", "mine/file"}


def test_days_say_how_long(root, capsys):
    run(capsys, "prune", "--days", "50")
    assert "cpp/objects/old" in files(root)


def test_clear_removes_all_of_it_and_nothing_of_others(root, capsys):
    run(capsys, "clear")
    assert files(root) == {"mine/file"}
