"""host_api/kernel_api.pyi: what type checkers see of a program with kernels."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs import write_kernel_stub
from tests.imports.contracts import lay_out

GUIDE = Path(__file__).parents[2] / "docs" / "python_programs.md"


def test_the_stub_is_up_to_date():
    assert write_kernel_stub.STUB.read_text() == write_kernel_stub.stub(), "run python -m docs.write_kernel_stub"


@pytest.fixture
def program():
    """The program of the guide, with the annotations that a strict check wants."""
    text = re.search(r"```python\n(import numpy as np\n.*?)```", GUIDE.read_text(), re.DOTALL)[1]
    return (
        text.replace("(source_address, destination_address, pages):", "(a: int, b: int, pages: int) -> None:")
        .replace("(source_address,", "(a,")
        .replace("(destination_address,", "(b,")
    )


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A folder with the package as it is installed, which type checkers do not find in an editable install."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("package")
    lay_out(folder)
    shutil.copy(write_kernel_stub.STUB, folder / "tensim")
    return folder


def check(package, text):
    file = package / "program.py"
    file.write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports", "silent", str(file)]
    environment = {**os.environ, "MYPYPATH": str(package)}
    return subprocess.run(command, capture_output=True, text=True, cwd=package, env=environment)


def test_a_program_passes_a_strict_check(package, program):
    done = check(package, program)
    assert done.returncode == 0, done.stdout


def test_a_call_that_is_none_is_found(package, program):
    done = check(package, program.replace("cb_reserve_back(0, 1)", "cb_reserve(0, 1)"))
    assert 'Name "cb_reserve" is not defined' in done.stdout
