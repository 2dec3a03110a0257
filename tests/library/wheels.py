"""The vendor's library for `make test-library`: an environment with a release that runs, and the kernels of an older one to read.

    python -m tests.library.wheels FOLDER

makes, in a folder, the environment itself (`bin/python`) and `RELEASE/ttnn` for each release, which TENSIM_TTNN_SOURCES may
name.  Both come from the registry that pip is configured for.
"""

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.install.interpreters import interpreter

VERSIONS = ("3.10", "3.12")  # of Python, for which the wheels are made
RELEASE = "0.81.1"
CLASSIC = "0.66.0"  # kernels of an earlier generation: tests/ttnn/library/test_classic_kernels.py
PROFILED = "0.64.5"  # built with its device profiler, run by PYTHONPATH: tests/drop_in/test_profiler.py
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")
PACKAGES = (f"ttnn=={RELEASE}", "numpy", "pytest")


def make(folder):
    """Make the environment and the sources; exits with the reason where that cannot be."""
    base = interpreter(*VERSIONS)
    if base is None:
        sys.exit(f"the vendor's library needs Python {' or '.join(VERSIONS)}, and none was found (docs/library.md)")
    print(f"ttnn {RELEASE} for {base}, into {folder}")
    _run(base, "-m", "venv", "--clear", folder)
    python = folder / "bin/python"
    _run(python, *PIP, "install", *PACKAGES)
    installed = subprocess.check_output(
        [python, "-c", "import importlib.util; print(importlib.util.find_spec('ttnn').submodule_search_locations[0])"], text=True
    )  # fmt: skip
    (folder / RELEASE).mkdir()
    (folder / RELEASE / "ttnn").symlink_to(installed.strip())
    for release in (CLASSIC, PROFILED):
        _unpack(python, release, folder)


def _unpack(python, release, folder):
    """A release's wheel, for the first of the versions of Python, into a folder of its name."""
    _run(python, *PIP, "download", "--no-deps", "--only-binary", ":all:", "--python-version", VERSIONS[0], "--dest", folder,
         f"ttnn=={release}")  # fmt: skip
    (wheel,) = folder.glob(f"ttnn-{release}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / release)
    wheel.unlink()


def _run(*command):
    done = subprocess.run(list(map(str, command)))
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed")


if __name__ == "__main__":
    make(Path(sys.argv[1]).absolute())
