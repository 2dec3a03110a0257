"""The files that the points of a sweep were simulated from: a row holds as long as they are what they were."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tensim.results.identity import file_sha256

if TYPE_CHECKING:
    from tensim.running.runnable import Runnable

INSTALLED = {"site-packages", "dist-packages"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def sources_of(runnable: Runnable, kernel_files: Iterable[str]) -> dict[str, str]:
    """{path: SHA-256} of a program's own file, of modules beside it, and of its kernels with what they include beside them."""
    own = runnable.source_file()
    files = {own} if own else set()
    if runnable.file is not None and own is not None:  # a user's: what it imports from its folder belongs to it
        files |= _modules_below(os.path.dirname(os.path.realpath(own)))
    for file in kernel_files:
        files |= _with_includes(file)
    hashes = {os.path.realpath(file): _hash_of(file) for file in files}
    return {path: digest for path, digest in sorted(hashes.items()) if digest is not None}


def _modules_below(folder: str) -> set[str]:
    """Files of the modules that have been imported from a folder, but not of packages installed there or of tensim."""
    found = set()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if file.endswith(".py") and file.startswith(folder + os.sep) and not name.startswith("tensim."):
            if not INSTALLED.intersection(file.split(os.sep)):
                found.add(file)
    return found


def _hash_of(file: str) -> str | None:
    """SHA-256 of a file as it is now, or None."""
    try:
        stat = os.stat(file)
    except OSError:
        return None
    return _hashed(file, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=4096)
def _hashed(file: str, changed: int, size: int) -> str | None:
    return file_sha256(file)


def _with_includes(file: str) -> set[str]:
    """A kernel's file and what it names by `#include "..."` that lies beside it, and so on."""
    found, left = set(), [Path(file)]
    while left:
        path = left.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        if path.suffix != ".py":
            left += [path.parent / name for name in INCLUDE.findall(path.read_text(errors="replace"))]
    return {str(path) for path in found}
