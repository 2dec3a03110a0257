"""A hash of all of tensim that a simulation's result can depend on: the same sources give the same hash on every machine.

Hundreds of files are read for it, in a tenth of the time of a small run: so the cache keeps it, beside what the file system says
of the files (size, inode, times of content and inode).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import time
from collections.abc import Collection, Iterable, Iterator
from importlib.util import find_spec
from typing import TypeAlias

from tensim.sim.engine.cache import DIRECTORY
from tensim.sim.engine.sealed_files import read_sealed, write_sealed

File: TypeAlias = "tuple[str, str, os.DirEntry[str]]"  # path, name in the hash, directory entry
PACKAGES = ("tensim", "tensim.sim", "tensim.traces", "tensim.examples")
APART = {  # folders of `tensim`: packages of their own above, and those that only start simulations or show what they gave
    "sim", "traces", "examples", "validation", "cli", "results", "sweeps", "testing", "analysis"
}  # fmt: skip
SOURCES = (".py", ".yaml", ".json", ".fbs", ".bfbs", ".h", ".hpp", ".cpp")
SETTLED = 2 * 10**9  # ns: two changes of a file that is younger may have the same time


@functools.cache
def code_digest() -> str:
    """SHA-256 (hex) of tensim's sources: machine, host API, runtime, files and examples, with chips and C++ headers."""
    files = [file for package in PACKAGES for file in _files_of(package)]
    state = hashlib.sha256(repr([(path, *_state(entry)) for path, _, entry in files]).encode()).hexdigest().encode()
    place = DIRECTORY / "code_digest"
    kept = (read_sealed(place) or b"").split()
    if kept[:1] == [state]:
        return kept[1].decode()
    digest = _digest(files)
    if max(max(_state(entry)[2:]) for *_, entry in files) < time.time_ns() - SETTLED:
        with contextlib.suppress(OSError):
            write_sealed(place, state + b" " + digest.encode())
    return digest


def _files_of(package: str) -> list[File]:
    """(path, its name in the hash, directory entry) of the source files of a package, in an order that depends on their names
    alone.
    """
    spec = find_spec(package)
    assert spec is not None and spec.submodule_search_locations is not None  # ours are packages in folders
    (folder,) = spec.submodule_search_locations
    found = sorted(_sources(folder, APART if package == "tensim" else ()), key=lambda entry: entry.path)
    return [(entry.path, f"{package}{entry.path[len(folder) :]}", entry) for entry in found]


def _sources(folder: str, without: Collection[str]) -> Iterator[os.DirEntry[str]]:
    """Directory entries of the source files below a folder, but for those in some folders of it."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(SOURCES):
                yield entry
            elif entry.name not in without and entry.name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                yield from _sources(entry.path, ())


def _state(entry: os.DirEntry[str]) -> tuple[int, int, int, int]:
    said = entry.stat()
    return said.st_size, said.st_ino, said.st_mtime_ns, said.st_ctime_ns


def _digest(files: Iterable[File]) -> str:
    digest = hashlib.sha256()
    for path, name, _ in files:
        digest.update(f"{name}\0".encode())
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()
