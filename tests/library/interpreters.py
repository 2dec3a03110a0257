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
    has_torch = subprocess.run([found.python, "-c", "import torch"], capture_output=True).returncode == 0
    return found if has_torch else None
