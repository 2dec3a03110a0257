"""The vendor's LLK suite as `tensim survey` finds it, and the misuse of `tensim device`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tensim.drop_in import suite
from tensim.library import survey
from tensim.sim.errors import UsageError


def tensim(*arguments):
    done = subprocess.run([sys.executable, "-m", "tensim", *arguments], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def tests(tmp_path):
    """A tree as the vendor's, with two tests of two chips and one that measures."""
    folder = tmp_path / "ttnn/tt_metal/tt-llk/tests/python_tests"
    for name in (suite.MARK, "test_sum.py", "perf_sum.py", "quasar/test_other.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    (tmp_path / "ttnn/tt_metal/hw").mkdir()
    (tmp_path / "ttnn/tt_metal/tt-llk/tt_llk_blackhole").mkdir()
    return folder


def test_a_suite_is_known_by_its_files(tests, tmp_path):
    assert suite.is_suite(tests) and not suite.is_suite(tmp_path)


def test_the_copy_has_our_compiler_and_links_to_the_rest(tests, tmp_path, monkeypatch):
    monkeypatch.setattr(suite, "cache_root", lambda: tmp_path / "cache")
    for _ in range(2):
        copy = suite.prepared(tests)
        assert (copy / "test_sum.py").is_file() and not (copy / "test_sum.py").is_symlink()
        assert (copy.parent / suite.COMPILER / "riscv-tt-elf-g++").is_file()
        assert (copy.parents[1] / "tt_llk_blackhole").is_symlink() and (copy.parents[2] / "hw").is_symlink()
    assert not (tests.parent / "sfpi").exists()


def test_surveys_build_apart(tests, monkeypatch):
    monkeypatch.setenv(suite.BUILD, "")
    places = []
    for chip in ("blackhole", "wormhole_b0", "wormhole_b0"):
        monkeypatch.delenv(suite.BUILD)
        suite.build_apart(tests, chip)
        places.append(os.environ[suite.BUILD])
    assert len(set(places)) == 3 and all(Path(place).is_dir() for place in places)
    suite.build_apart(tests, "other")
    assert os.environ[suite.BUILD] == places[-1], "what the user has said stays"


def test_a_suite_outside_its_tree_is_refused(tests):
    (tests.parents[2] / "hw").rmdir()
    with pytest.raises(UsageError, match="lies in no tree of tt_metal"):
        suite.prepared(tests)


def test_tests_of_chips_that_are_not_simulated_are_left_out(tests):
    assert survey.families(tests) == {"sum": [tests / "test_sum.py"]}
    assert survey.families(tests, ("perf_*.py",)) == {"perf_sum": [tests / "perf_sum.py"]}


def test_options_of_the_other_kind_of_tests_are_refused(tests, tmp_path):
    status, _, said = tensim("survey", str(tests), "--check")
    assert status == 2 and "not of the LLK suite" in said
    (tmp_path / "other").mkdir()
    status, _, said = tensim("survey", str(tmp_path / "other"), "--perf")
    assert status == 2 and "--perf is for the LLK suite" in said


def test_a_device_wants_a_command_or_none():
    for arguments in ((), ("--print-env", "--", "true")):
        status, _, said = tensim("device", *arguments)
        assert status == 2 and "name a command to run" in said
