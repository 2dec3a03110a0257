"""The vendor's LLK test suite, where it can be run: a copy of its tests in a tree of links, with our tools as its compiler.

Its tests name headers by their place in the tree, and expect a compiler among themselves (tests/helpers/test_config.py of tt-llk).
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from tensim.drop_in.launchers import install_tools
from tensim.library.environment import link
from tensim.sim.engine.cache import cache_root
from tensim.sim.errors import UsageError

MARK = "helpers/test_config.py"  # a folder of its Python tests has it
COMPILER = "sfpi/compiler/bin"  # below the folder of tests
WITHOUT_ASSERTS = "TT_LLK_DISABLE_ASSERTS"  # environment: as the vendor's runs of performance tests are built
# environment: the folder in which the suite builds its programs, one for all chips unless it is said
BUILD = "RUNNER_TEMP"


def is_suite(folder: str | Path) -> bool:
    """Is it the folder of the suite's Python tests?"""
    return (Path(folder) / MARK).is_file()


def prepared(folder: str | Path) -> Path:
    """The folder of Python tests of a copy of a suite whose Python tests lie in `folder`; UsageError outside a whole tree."""
    tests = Path(folder).resolve().parent
    metal = tests.parents[1]
    if not (metal / "hw").is_dir():
        raise UsageError(
            f"{folder} lies in no tree of tt_metal, whose headers its tests include",
            hint="name .../ttnn/tt_metal/tt-llk/tests/python_tests of an installed ttnn",
        )
    root = cache_root() / "device" / f"llk-{hashlib.sha256(str(tests).encode()).hexdigest()[:16]}"
    copy = root / metal.name / tests.parent.name
    copy.mkdir(parents=True, exist_ok=True)
    for source, target, apart in (
        (metal.parent, root, metal),
        (metal, copy.parent, tests.parent),
        (tests.parent, copy, tests),
    ):
        for entry in source.iterdir():
            if entry != apart:
                link(target / entry.name, entry)
    shutil.copytree(tests, copy / tests.name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    install_tools(copy / tests.name / COMPILER)
    return copy / tests.name / Path(folder).resolve().name


def build_apart(folder: str | Path, arch: str) -> None:
    """Let the tests of a copy build in a folder of this process, which goes with it: two surveys at once, of one chip too, do not
    write to the same files.  What they compile is kept elsewhere.
    """
    if BUILD in os.environ:
        return
    build = Path(folder).parent / "build"
    build.mkdir(exist_ok=True)
    os.environ[BUILD] = tempfile.mkdtemp(prefix=f"{Path(arch).name}-", dir=build)
    atexit.register(shutil.rmtree, os.environ[BUILD], ignore_errors=True)
