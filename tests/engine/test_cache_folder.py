"""Where compiled code goes when the user's cache cannot be written: read-only, full, no folder, no home."""

import os
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from tensim.sim import cache_folder
from tensim.sim.cache_folder import choose, fallback, obstacle, wanted_root
from tensim.sim.engine.cache import DIRECTORY, cache_root
from tensim.sim.errors import TensimWarning

Space = namedtuple("Space", "f_bavail f_frsize")


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The only candidate for a fallback; the environment is what it was afterwards."""
    monkeypatch.setenv("TENSIM_CACHE_DIR", "")
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(folder))
    monkeypatch.setattr(cache_folder, "MEMORY", str(tmp_path / "no memory"))
    return folder


def test_the_wanted_folder_is_the_one_of_the_cache(monkeypatch):
    for variable, value in (("TENSIM_CACHE_DIR", "/a/b"), ("XDG_CACHE_HOME", "/c")):
        monkeypatch.setenv(variable, value)
        assert wanted_root() == cache_root()
        monkeypatch.delenv(variable)
    assert wanted_root() == cache_root()


def test_a_folder_that_can_be_made_is_right(tmp_path, monkeypatch):
    monkeypatch.setenv("TENSIM_CACHE_DIR", str(tmp_path / "a" / "b"))
    choose()
    assert os.environ["TENSIM_CACHE_DIR"] == str(tmp_path / "a" / "b") and not (tmp_path / "a").exists()


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "file").write_text("")
    assert obstacle(tmp_path / "file" / "cache") == f"{tmp_path / 'file'} is no folder"


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert obstacle(tmp_path) == "it cannot be written"


def test_a_full_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "statvfs", lambda path: Space(100, 4096))
    assert obstacle(tmp_path) == "less than 64 MB are left there"


def test_another_folder_is_taken_with_one_warning(temporary, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TENSIM_CACHE_DIR", str(tmp_path / "file"))
    with pytest.warns(TensimWarning, match="compiled code is kept in .*file cannot be used") as warned:
        choose()
    own = temporary / f"tensim-{os.getuid()}"
    assert len(warned) == 1 and os.environ["TENSIM_CACHE_DIR"] == str(own) and own.stat().st_mode & 0o777 == 0o700
    choose()  # as a child process does


def test_what_is_compiled_already_is_still_used(temporary, tmp_path, monkeypatch):
    code = tmp_path / "cache" / DIRECTORY.name / "machine_code" / "run.o"
    code.parent.mkdir(parents=True)
    code.write_bytes(b"code")
    monkeypatch.setenv("TENSIM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache_folder, "obstacle", lambda root: None if temporary in root.parents else "it is read-only")
    for _ in range(2):
        monkeypatch.setenv("TENSIM_CACHE_DIR", str(tmp_path / "cache"))
        with pytest.warns(TensimWarning):
            choose()
        link = Path(os.environ["TENSIM_CACHE_DIR"]) / DIRECTORY.name / "machine_code" / "run.o"
        assert link.is_symlink() and link.read_bytes() == b"code"


def test_without_a_home(temporary, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.warns(TensimWarning, match="there is no home directory"):
        choose()
    assert Path(os.environ["TENSIM_CACHE_DIR"]).parent == temporary


def test_a_folder_that_others_can_write_is_not_taken(tmp_path):
    """Machine code that lies there runs as the user."""
    shared, good = tmp_path / "shared", tmp_path / "good"
    for parent in (shared, good):
        parent.mkdir()
    (shared / f"tensim-{os.getuid()}").mkdir()
    (shared / f"tensim-{os.getuid()}").chmod(0o777)
    assert fallback([str(shared)]) is None
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / f"tensim-{os.getuid()}").symlink_to(good)
    assert fallback([str(linked)]) is None
    assert fallback([str(shared), str(good)]) == good / f"tensim-{os.getuid()}"


def test_a_run_with_a_cache_that_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    environment = {**os.environ, "TENSIM_CACHE_DIR": str(tmp_path / "file"), "TMPDIR": str(tmp_path)}
    code = "from tensim.sim.engine.cache import DIRECTORY; print(DIRECTORY.parent)"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(tmp_path / f"tensim-{os.getuid()}")
    assert done.stderr.count("TensimWarning") == 1
