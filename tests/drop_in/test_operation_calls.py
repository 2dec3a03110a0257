"""Operations of ttnn that a command calls are noted in its own process, and launches get their names."""

import os
import subprocess
import sys
from textwrap import dedent

from tensim.drop_in import operation_calls

OPERATIONS = """
class FastOperation:
    def __init__(self, name, work):
        self.python_fully_qualified_name, self.work = name, work

    def __call__(self, *arguments, **named):
        return self.work(*arguments, **named)
"""
PROGRAM = """
import ttnn._ttnn as numbers
from ttnn.decorators import FastOperation

def launch(count):
    numbers.last += count

class Config:
    math_fidelity = "MathFidelity.HiFi2"

add = FastOperation("ttnn.add", lambda **named: launch(1))
FastOperation("ttnn.ones", lambda: None)()
add(alpha=2, compute_kernel_config=Config())
FastOperation("ttnn.softmax", lambda: (launch(1), add(), launch(1)))()
"""


def run(folder, program=PROGRAM):
    """The calls that a program notes, with a library of three modules that launches by counting."""
    library = folder / "library" / "ttnn"
    library.mkdir(parents=True)
    (library / "__init__.py").touch()
    (library / "_ttnn.py").write_text("last = 1\ndef get_device_operation_id():\n    return last\n")
    (library / "decorators.py").write_text(OPERATIONS)
    (folder / "library" / "sitecustomize.py").write_text("print('the next one')")
    around = os.environ | {"PYTHONPATH": str(folder / "library")}
    around |= operation_calls.variables(folder / "calls", around)
    done = subprocess.run(
        [sys.executable, "-c", dedent(program)], env=around, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[0] == "the next one"
    return operation_calls.read(folder / "calls")


def test_calls_are_noted_with_the_programs_that_they_launched(tmp_path):
    calls = run(tmp_path)
    found = [(one["name"], one["first"], one["end"], one["fidelity"]) for one in calls]
    assert found == [
        ("ttnn.ones", 1, 1, None),
        ("ttnn.add", 1, 2, "HiFi2"),
        ("ttnn.add", 3, 4, None),
        ("ttnn.softmax", 2, 5, None),
    ]
    assert calls[1]["settings"] == {"alpha": "2"} and calls[1]["tensors"] == calls[1]["outputs"] == []


def test_launches_get_the_innermost_calls_name(tmp_path):
    launches = [{"id": number} for number in range(6)]
    operation_calls.name_launches(launches, run(tmp_path))
    names = [one["operation"] for one in launches]
    assert names == [None, "ttnn.add", "ttnn.softmax", "ttnn.add", "ttnn.softmax", None]


def test_a_program_that_fails_or_ends_in_the_middle_keeps_what_was_noted(tmp_path):
    calls = run(tmp_path, PROGRAM + "\nimport os\nos._exit(0)")
    with (tmp_path / "calls").open("a") as file:
        file.write('{"first": 9, "na')
    assert operation_calls.read(tmp_path / "calls") == calls and len(calls) == 4
    assert operation_calls.read(tmp_path / "none") == []
