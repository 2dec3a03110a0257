"""Installations of the stand-in for the vendor's library, and `tensim ttnn --library` of programs with them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tensim.library.descriptions import READS_DESCRIPTION
from tests.library import stand_in_headers

HERE = Path(__file__).parent
# What `tensim` is, but for the folder in which the library's tree is made: its first argument.
COMMAND = """import sys
from pathlib import Path
from tensim.cli.main import main
from tensim.library import environment
place = Path(sys.argv.pop(1))
environment.cache_root = lambda: place
main()
"""
DECORATORS = '''"""The library's class of operations, as far as its name is known."""


class FastOperation:
    def __init__(self, name, function):
        self.python_fully_qualified_name, self.function = name, function

    def __call__(self, *arguments, **named):
        return self.function(*arguments, **named)
'''
CHANNELS = {  # NoC coordinates of each DRAM channel in the library's descriptions
    "wormhole_b0_80": "[[0-0, 0-1, 0-11], [0-5, 0-6, 0-7], [5-0, 5-1, 5-11], [5-2, 5-9, 5-10], [5-3, 5-4, 5-8], [5-5, 5-6, 5-7]]",
    "blackhole_140": "[[0-0, 0-1, 0-11], [0-2, 0-10, 0-3], [0-9, 0-4, 0-8], [0-5, 0-7, 0-6],"
    " [9-0, 9-1, 9-11], [9-2, 9-10, 9-3], [9-9, 9-4, 9-8], [9-5, 9-7, 9-6]]",
}


def install(place, release):
    """Install the stand-in as a release; returns an interpreter that has it."""
    package = place / "site/ttnn"
    descriptions = package / "tt_metal/soc_descriptors"
    descriptions.mkdir(parents=True)
    shutil.copyfile(HERE / "stand_in.py", package / "__init__.py")
    shutil.copyfile(HERE / "stand_in_bindings.py", package / "_ttnn.py")
    (package / "decorators.py").write_text(DECORATORS)
    for name, channels in CHANNELS.items():
        (descriptions / f"{name}_arch.yaml").write_text(f"dram: {channels}\n")
    for name, text in stand_in_headers.texts(release).items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    driver = package / "build/lib/libtt-umd.so"
    driver.parent.mkdir(parents=True)
    driver.write_bytes(b"ELF\0" + (READS_DESCRIPTION if release == "0.81.1" else b""))
    about = place / f"site/ttnn-{release}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: ttnn\nVersion: {release}\n")
    python = place / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={place}/site exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return python


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """Gives, for a release, an interpreter that has the stand-in; `cache`: where the library's trees are made."""
    place, known = tmp_path_factory.mktemp("libraries"), {}

    def of(release):
        if release not in known:
            known[release] = install(place / release, release)
        return known[release]

    return SimpleNamespace(of=of, cache=place / "cache")


@pytest.fixture
def library(installed, tmp_path):
    """`start` and `run` a program's text, `run_module` a module with a release of the stand-in below `tensim ttnn --library`."""

    def start(text, *arguments, **options):
        program = tmp_path / "program.py"
        program.write_text(text)
        return start_command(str(program), *arguments, **options)

    def start_command(*program, release="0.81.1", arch="wormhole_b0", options=(), **variables):
        words = [sys.executable, "-c", COMMAND, str(installed.cache), "ttnn", "--library", "--arch", arch]
        words += ["--python", str(installed.of(release)), *options, *program]
        return subprocess.Popen(
            words, cwd=tmp_path, env=os.environ | variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip

    def finished(process):
        said, errors = process.communicate(timeout=120)
        return SimpleNamespace(returncode=process.returncode, stdout=said, stderr=errors)

    def run(text, *arguments, **options):
        return finished(start(text, *arguments, **options))

    def run_module(*arguments, **options):
        return finished(start_command("-m", *arguments, **options))

    return SimpleNamespace(start=start, run=run, run_module=run_module)
