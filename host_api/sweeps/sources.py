"""The files that the points of a sweep were simulated from: a row holds as long as they are what they were."""

import functools
import os
import re
import sys
from pathlib import Path

from tensim.results.identity import file_sha256

INSTALLED = {"site-packages", "dist-packages"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def sources_of(runnable, kernel_files):
    """{path: SHA-256} of a program's own file, of modules beside it, and of its kernels with what they include beside them."""
    own = runnable.source_file()
    files = {own} if own else set()
    if runnable.file is not None:  # a user's: what it imports from its folder belongs to it
        files |= _modules_below(os.path.dirname(os.path.realpath(own)))
    for file in kernel_files:
        files |= _with_includes(file)
    hashes = {os.path.realpath(file): _hash_of(file) for file in files}
    return {path: digest for path, digest in sorted(hashes.items()) if digest is not None}


def _modules_below(folder):
    """Files of the modules that have been imported from a folder, but not of packages installed there or of tensim."""
    found = set()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if file.endswith(".py") and file.startswith(folder + os.sep) and not name.startswith("tensim."):
            if not INSTALLED.intersection(file.split(os.sep)):
                found.add(file)
    return found


def _hash_of(file):
    """SHA-256 of a file as it is now, or None."""
    try:
        stat = os.stat(file)
    except OSError:
        return None
    return _hashed(file, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=4096)
def _hashed(file, changed, size):
    return file_sha256(file)


def _with_includes(file):
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
