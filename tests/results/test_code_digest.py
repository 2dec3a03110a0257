"""The hash of tensim's own code: kept, and made anew as soon as a file may have changed."""

import os
import time

import pytest

from tensim.results import code_digest as module


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two sources that stands for tensim, settled; the calls that read it."""
    folder = tmp_path / "package"
    (folder / "inner").mkdir(parents=True)
    for name in ("a.py", "inner/b.yaml", "inner/no_source.txt"):
        (folder / name).write_text(name)
    reads, read = [], module._digest
    monkeypatch.setattr(module, "PACKAGES", ("package",))
    monkeypatch.setattr(
        module, "find_spec", lambda name: type("Spec", (), {"submodule_search_locations": [str(folder)]})
    )
    monkeypatch.setattr(module, "DIRECTORY", tmp_path / "cache")
    monkeypatch.setattr(module, "_digest", lambda files: reads.append(1) or read(files))
    monkeypatch.setattr(time, "time_ns", lambda: max(os.stat(path).st_ctime_ns for path in folder.rglob("*")) + 10**10)
    return folder, reads


def digest():
    module.code_digest.cache_clear()
    try:
        return module.code_digest()
    finally:
        module.code_digest.cache_clear()


def test_it_is_read_once(package):
    _, reads = package
    assert digest() == digest() == digest() and len(reads) == 1


@pytest.mark.parametrize("name", ["a.py", "inner/b.yaml", "new.py"])
def test_a_change_is_seen_also_of_the_same_size_and_time(package, name):
    folder, reads = package
    before, times = digest(), (folder / "a.py").stat()
    (folder / name).write_text(name[::-1])
    os.utime(folder / name, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert digest() != before and len(reads) == 2


def test_other_files_do_not_matter(package):
    folder, reads = package
    before = digest()
    (folder / "inner/no_source.txt").write_text("changed")
    assert digest() == before and len(reads) == 1


def test_it_is_not_kept_while_files_may_change_within_the_same_time(package, monkeypatch):
    folder, reads = package
    monkeypatch.setattr(time, "time_ns", lambda: (folder / "a.py").stat().st_ctime_ns + 1)
    assert digest() == digest() and len(reads) == 2
