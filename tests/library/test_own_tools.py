"""The C files of ours that the library loads and runs: built once, and anew when they are damaged or their source has changed."""

import shutil
import subprocess

import pytest

from tensim.library import environment

DAMAGES = {
    "halved": lambda data: data[: len(data) // 2], "empty": lambda data: b"",
    "flipped": lambda data: data[:100] + bytes([data[100] ^ 1]) + data[101:],
}  # fmt: skip


@pytest.fixture
def built(tmp_path, monkeypatch):
    """(source, target, builds that have run)."""
    if not shutil.which("cc") and not shutil.which("gcc"):
        pytest.skip("no C compiler here")
    source, calls, run = tmp_path / "source.c", [], subprocess.run

    def counted(*arguments, **how):
        calls.append(1)
        return run(*arguments, **how)

    monkeypatch.setattr(environment.subprocess, "run", counted)
    source.write_text("int main(void) { return 0; }\n")
    environment.build_c(tmp_path / "target", source, ())
    return source, tmp_path / "target", calls


def test_a_whole_file_is_not_built_again(built):
    source, target, calls = built
    environment.build_c(target, source, ())
    assert len(calls) == 1


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_built_anew(damage, built):
    source, target, calls = built
    right = target.read_bytes()
    target.write_bytes(DAMAGES[damage](right))
    environment.build_c(target, source, ())
    assert len(calls) == 2 and target.read_bytes() == right


def test_a_changed_source_is_built_anew(built):
    source, target, calls = built
    source.write_text("int main(void) { return 1; }\n")
    environment.build_c(target, source, ())
    assert len(calls) == 2


def test_a_damaged_record_costs_a_build(built):
    source, target, calls = built
    target.with_name("target.made").write_bytes(b"")
    environment.build_c(target, source, ())
    assert len(calls) == 2
