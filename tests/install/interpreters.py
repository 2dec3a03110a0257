"""Pythons of this machine by version: on the path, and where pyenv and uv keep those that they have installed.

    python -m tests.install.interpreters 3.10 3.12

prints the first that runs and makes environments; exit status 1 where there is none.  What stands on the path may be one of
pyenv's stand-ins for a version that is not chosen, or a Python without `venv`: so each is asked before it is taken.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

PROBE = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"


def interpreter(*versions):
    """Path of the first Python of one of these versions ("3.10"), in their order; None where there is none."""
    return next((path for version in versions for path in _places(version) if _answers(path, version)), None)


def _places(version):
    """Where a Python of a version may be, the path's first."""
    if found := shutil.which(f"python{version}"):
        yield found
    root = Path(os.environ.get("PYENV_ROOT") or _told_by("pyenv", "root") or Path.home() / ".pyenv")
    yield from sorted(map(str, root.glob(f"versions/{version}.*/bin/python")), reverse=True)
    if found := _told_by("uv", "python", "find", "--no-python-downloads", version):
        yield found


def _answers(path, version):
    return _told_by(path, "-c", PROBE) == version


def _told_by(*command):
    """What a command prints; empty when it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    found = interpreter(*sys.argv[1:])
    sys.exit(print(found) if found else 1)
