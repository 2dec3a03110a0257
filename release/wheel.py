"""The wheel: the packages' sources and, where processors share a level, the machine code that numba would make of them.

Machine code calls nothing of numba's or Python's and depends on the sources alone, whose hash names its folder: whoever has changed
one of them, or has another kind of processor, compiles as from a checkout.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from tensim.sim.engine.cache import sources_digest
from tensim.sim.engine.processor import target
from tensim.sim.errors import UsageError

ROOT = Path(__file__).parents[1]
FILES = ("pyproject.toml", "setup.py", "README.md", "LICENSE")
GENERATED = shutil.ignore_patterns("__pycache__", "*.egg-info", "objects")
OBJECTS = "sim/engine/objects"  # `tensim.sim.engine.machine_code.PACKAGED`
COMPILE = """
from tensim.sim.chip.first_compilation import compile_instruction_level, compile_once
from tensim.sim.engine import entry_points

compile_once(check=True)
compile_instruction_level()
for one in vars(entry_points).values():
    if isinstance(one, entry_points.EntryPoint):
        one.code
"""
# whose kernels it brings
EXAMPLES = ("add_integers", "eltwise_add", "sfpu_chain", "matmul_single_core", "matmul_multicast")


def package_folders():
    """{package: its folder in the checkout}."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"]


def copy_sources(folder):
    """Copy what a wheel is built of: a build in the checkout would pick up what earlier builds left there."""
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    for name in package_folders().values():
        shutil.copytree(ROOT / name, folder / name, ignore=GENERATED)


def add_objects(folder, machine_code):
    """Copy the machine code of a cache (`DIRECTORY/machine_code`) that any processor of the level can run; returns how many."""
    place = folder / OBJECTS / sources_digest()
    place.mkdir(parents=True)
    found = list(machine_code.glob(f"*-{target().name}.o"))
    for path in found:
        shutil.copy(path, place)
    return len(found)


def compile_everything(cache):
    """Fill a cache with the engine and with kernels of examples."""
    environment = {**os.environ, "TENSIM_CACHE_DIR": str(cache)}
    subprocess.run([sys.executable, "-c", COMPILE], env=environment, check=True)
    for name in EXAMPLES:
        subprocess.run(
            [sys.executable, "-m", "tensim", "run", name], env=environment, check=True, stdout=subprocess.DEVNULL
        )


def build(folder, out):
    """Build the wheel of copied sources into the folder `out`; its path."""
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(out), "."]
    subprocess.run(command, cwd=folder, check=True)
    (found,) = Path(out).glob("tensim-*.whl")
    return found


def release(out):
    """A wheel with machine code in the folder `out`, which holds no other; (its path, how many objects it brings)."""
    if target().cpu is None:
        raise UsageError("this processor shares its machine code with no other", hint="build on one with x86-64-v3")
    if list(Path(out).glob("tensim-*.whl")):
        raise UsageError(f"{out} holds a wheel already", hint="name an empty folder")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        copy_sources(Path(folder))
        compile_everything(cache)
        (machine_code,) = Path(cache).glob("*/machine_code")
        count = add_objects(Path(folder), machine_code)
        return build(folder, Path(out).resolve()), count
