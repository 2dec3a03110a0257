"""The files that the points of a sweep were simulated from: a row holds as long as they are what they were."""

import re
import sys
from pathlib import Path

from tensim.results.identity import file_sha256

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def sources_of(runnable, kernel_files):
    """{path: SHA-256} of a program's own file, of modules beside it, and of its kernels with what they include beside them."""
    own = runnable.source_file()
    files = {own} if own else set()
    if runnable.file is not None:  # a user's: what it imports from its folder belongs to it
        files |= _modules_below(Path(own).resolve().parent)
    for file in kernel_files:
        files |= _with_includes(file)
    hashes = {str(Path(file).resolve()): file_sha256(file) for file in files}
    return {path: digest for path, digest in sorted(hashes.items()) if digest is not None}


def _modules_below(folder):
    """Files of the modules that have been imported from a folder."""
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return {file for file in files if file and file.endswith(".py") and folder in Path(file).resolve().parents}


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
