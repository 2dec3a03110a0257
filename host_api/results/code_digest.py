"""A hash of all of tensim that a simulation's result can depend on: the same sources give the same hash on every machine."""

import functools
import hashlib
import os
from importlib.util import find_spec

PACKAGES = ("tensim", "tensim.sim", "tensim.traces", "tensim.examples")
APART = {  # folders of `tensim`: packages of their own above, and those that only start simulations or show what they gave
    "sim", "traces", "examples", "validation", "cli", "results", "sweeps", "testing", "analysis", "__pycache__"
}  # fmt: skip
SOURCES = (".py", ".yaml", ".json", ".fbs", ".bfbs", ".h", ".hpp", ".cpp")


@functools.cache
def code_digest():
    """SHA-256 (hex) of tensim's sources: machine, host API, runtime, files and examples, with chips and C++ headers."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        (folder,) = find_spec(package).submodule_search_locations
        for path in _sources(folder, APART if package == "tensim" else {"__pycache__"}):
            digest.update(f"{package}/{os.path.relpath(path, folder)}\0".encode())
            with open(path, "rb") as file:
                digest.update(file.read())
    return digest.hexdigest()


def _sources(folder, without):
    """Paths of the source files of a package, in an order that depends on their names alone."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in without]
        without = {"__pycache__"}
        found += [os.path.join(place, name) for name in names if name.endswith(SOURCES)]
    return sorted(found)
