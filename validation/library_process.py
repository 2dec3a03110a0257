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


def output_of(command):
    """Standard output of a command (a list of words); TensimError with its first line of error, else its last line."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["it said nothing"]
        why = next((line for line in said if line.startswith("error: ")), said[-1])
        raise TensimError(f"the library ended with {done.returncode}: {why.removeprefix('error: ')}")
    return done.stdout
