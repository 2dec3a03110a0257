"""Interpreters that tests of the library need."""

import functools
import subprocess

from tensim.library.environment import find_library
from tensim.sim.errors import UsageError


@functools.cache
def library_with_torch():
    """The library with torch beside it, which makes its tensors; None where one is missing."""
    try:
        found = find_library()
    except UsageError:
        return None
    return found if has_module(found.python, "torch") else None


def has_module(python, name):
    """Does an interpreter have a module?  It is looked for, not imported, which takes seconds of torch."""
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is None)"
    return subprocess.run([python, "-c", code], capture_output=True).returncode == 0
