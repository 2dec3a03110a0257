"""Environments at both ends of what pyproject.toml allows, for `make test-oldest` and `make test-newest`.

python -m tests.install.supported .venv-oldest      each package at its lower bound, on the oldest Python
python -m tests.install.supported .venv-newest      the newest packages on the newest Python
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.install.interpreters import interpreter

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[.*\])?>=(?P<bound>[\w.]+)")
CLASSIFIER = "Programming Language :: Python :: 3."
SHOWN = ("numba", "numpy", "simpy", "pandas")


def pythons():
    """Versions of Python that tensim says it supports, the oldest first."""
    minors = [int(text.removeprefix(CLASSIFIER)) for text in PROJECT["classifiers"] if text.startswith(CLASSIFIER)]
    return [f"3.{minor}" for minor in sorted(minors)]


def lower_bounds():
    """{package: lower bound} of everything that tensim asks for, extras included."""
    asked = [*PROJECT["dependencies"], *sum(PROJECT["optional-dependencies"].values(), [])]
    return {found["name"]: found["bound"] for text in asked if (found := REQUIREMENT.match(text))}


def make(folder, oldest):
    """Make the environment; exits with the reason where that cannot be."""
    version = pythons()[0 if oldest else -1]
    base = interpreter(version)
    if base is None:
        sys.exit(f"no Python {version} was found")
    subprocess.run([base, "-m", "venv", "--clear", folder], check=True)
    packages = ["-e", ".[test]"]
    if oldest:
        constraints = folder / "constraints.txt"
        constraints.write_text("".join(f"{name}=={bound}\n" for name, bound in lower_bounds().items()))
        packages += ["-c", str(constraints)]
    pip = (folder / "bin/python", "-m", "pip", "--disable-pip-version-check")
    subprocess.run([*pip, "--quiet", "install", "--no-compile", *packages], check=True)
    said = subprocess.run([*pip, "list", "--format", "freeze"], check=True, capture_output=True, text=True).stdout
    print(f"Python {version} with", ", ".join(line for line in said.splitlines() if line.partition("==")[0] in SHOWN))


if __name__ == "__main__":
    make(Path(sys.argv[1]), oldest=sys.argv[1].endswith("oldest"))
