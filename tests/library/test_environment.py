"""What the library needs around it: found, made, or missing in one clear line."""

import os
from pathlib import Path

import pytest
import yaml

from tensim.library import environment
from tensim.library.environment import Library, find_library, prepare
from tensim.library.runner import wiring_of
from tensim.sim.arch import load_arch
from tensim.sim.errors import UsageError
from tensim.sim.host.wiring import BOARDS
from tests.library.conftest import install

WORMHOLE = load_arch("wormhole_b0")


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "cache_root", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def message(call, *arguments, **named):
    """What a UsageError says, which is one line, and perhaps a hint."""
    with pytest.raises(UsageError) as raised:
        call(*arguments, **named)
    first, *rest = str(raised.value).splitlines()
    assert len(rest) <= 1 and all(line.strip().startswith("hint: ") for line in rest)
    return " ".join([first, *rest])


def test_an_interpreter_and_its_library(installed, monkeypatch):
    python = str(installed.of("0.81.1"))
    found = find_library(python)
    assert found == Library(python, Path(python).parent / "site/ttnn", "0.81.1")
    monkeypatch.setenv("TENSIM_LIBRARY_PYTHON", python)
    assert find_library() == found and find_library(str(installed.of("0.66.0"))).release == "0.66.0"


def test_interpreters_that_will_not_do(tmp_path, monkeypatch):
    assert f"{tmp_path}/no: cannot be run" in message(find_library, f"{tmp_path}/no")
    empty = script(tmp_path / "python", 'exec python3 -I -S "$@"')
    assert "without ttnn" in message(find_library, empty)
    assert "does not run as Python does (status 3)" in message(find_library, script(tmp_path / "other", "exit 3"))
    assert "does not run as Python does" in message(find_library, script(tmp_path / "true", "echo yes"))
    monkeypatch.setattr(environment, "_interpreters", list)
    monkeypatch.delenv("TENSIM_LIBRARY_PYTHON", raising=False)
    assert "no Python found" in message(find_library)


def test_nothing_is_written_into_the_librarys_folder(tmp_path, cache):
    library = find_library(str(install(tmp_path, "0.81.1")))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.joinpath("site").rglob("*")}
    made = prepare(library, WORMHOLE)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.joinpath("site").rglob("*")} == before
    assert made.root.is_relative_to(cache) and made.channels[0] == ((0, 0), (0, 1), (0, 11))
    assert os.readlink(made.root / "tt_metal") == str(library.folder / "tt_metal")
    assert os.access(made.root / "runtime/sfpi/compiler/bin/riscv-tt-elf-g++", os.X_OK)
    built = (made.device / "libtensim_wh.so").stat().st_mtime_ns
    assert prepare(library, WORMHOLE) == made and (made.device / "libtensim_wh.so").stat().st_mtime_ns == built


def test_the_library_is_told_what_a_board_lacks(tmp_path, cache):
    library, masks = find_library(str(install(tmp_path, "0.81.1"))), []
    for board in ("n150", "n300"):
        made = prepare(library, load_arch("wormhole_b0", {"board": board}))
        described = yaml.safe_load((made.device / "cluster_descriptor.yaml").read_text())
        masks.append(described["harvesting"][0]["harvest_mask"])
    assert masks == [1 << 9, 1 << 9 | 1 << 4], "rows of the ten that neither compute nor, as row 10 does, dispatch"


def test_a_galaxy_comes_with_its_mesh(tmp_path, cache, monkeypatch):
    monkeypatch.delenv("TT_MESH_GRAPH_DESC_PATH", raising=False)
    wiring, library = wiring_of(BOARDS["galaxy"], WORMHOLE), find_library(str(install(tmp_path, "0.81.1")))
    made = prepare(library, WORMHOLE, wiring=wiring)
    named = Path(made.variables("socket", WORMHOLE, 32)["TT_MESH_GRAPH_DESC_PATH"])
    assert "dims: [8, 4]" in named.read_text()
    assert "TT_MESH_GRAPH_DESC_PATH" not in prepare(library, WORMHOLE).variables("socket", WORMHOLE)
    monkeypatch.setenv("TT_MESH_GRAPH_DESC_PATH", "the user's own")
    assert "TT_MESH_GRAPH_DESC_PATH" not in made.variables("socket", WORMHOLE, 32)


def test_releases_that_drive_one_chip(tmp_path, cache):
    wiring, library = wiring_of(BOARDS["n300"], WORMHOLE), find_library(str(install(tmp_path, "0.66.0")))
    assert "ttnn 0.66.0 drives one simulated chip" in message(prepare, library, WORMHOLE, wiring=wiring)


def test_no_c_compiler(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    monkeypatch.setattr(environment, "find_spec", lambda name: None)
    library = find_library(str(install(tmp_path, "0.81.1")))
    assert message(prepare, library, WORMHOLE).startswith("no C compiler for the library's device")


def test_an_incomplete_library(tmp_path, cache):
    library = find_library(str(install(tmp_path, "0.81.1")))
    (library.folder / "tt_metal/soc_descriptors/wormhole_b0_80_arch.yaml").unlink()
    assert "ttnn 0.81.1 is incomplete" in message(prepare, library, WORMHOLE)
