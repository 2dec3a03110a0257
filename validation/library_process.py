"""A command of tensim's that starts the vendor's library: what it says, or why it failed; the release that it starts."""

import subprocess
from functools import cache

from tensim.library.environment import find_library
from tensim.sim.errors import TensimError, UsageError


@cache
def release():
    """The release of the library, which results belong to; None without one."""
    try:
        return find_library().release
    except UsageError:
        return None


def require_torch():
    """UsageError where the library is not installed, or not beside torch."""
    library = find_library()
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
    if subprocess.run([library.python, "-c", look], capture_output=True).returncode:
        raise UsageError(
            f"{library.python} has ttnn and no torch",
            hint="install it there, or name another interpreter by TENSIM_LIBRARY_PYTHON",
        )


def output_of(command):
    """Standard output of a command (a list of words); TensimError with its first line of error, else its last line that is not
    what tensim says behind it.
    """
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        said = [line for line in lines if not line.startswith("tensim: ")] or lines or ["it said nothing"]
        why = next((line for line in said if line.startswith("error: ")), said[-1])
        raise TensimError(f"the library ended with {done.returncode}: {why.removeprefix('error: ')}")
    return done.stdout
