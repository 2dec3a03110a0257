"""The import contracts of pyproject.toml, checked on the package as it is installed: `python -m tests.imports.contracts`.

import-linter looks for `tensim.sim` inside the folder of `tensim`; in the checkout it lies beside it.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def lay_out(target):
    """Copy the package's modules to `target`/tensim, every folder in its installed place."""
    shutil.rmtree(target / "tensim", ignore_errors=True)
    folders = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"]
    for package, folder in folders.items():
        for path in (ROOT / folder).rglob("*.py"):
            copy = target / package.replace(".", "/") / path.relative_to(ROOT / folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)


def check(target):
    """What import-linter says of the tree that `lay_out` made, as a finished process."""
    search = os.pathsep.join(map(str, (target, ROOT)))
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--config", ROOT / "pyproject.toml"]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": search}, capture_output=True, text=True)


if __name__ == "__main__":
    lay_out(ROOT / "build" / "imports")
    found = check(ROOT / "build" / "imports")
    print(found.stdout, found.stderr, sep="", end="")
    sys.exit(found.returncode)
