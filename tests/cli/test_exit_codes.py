"""The table of exit codes in docs/commands.md: each code that tensim ends with is there, and commands end with those."""

import re
from pathlib import Path

import pytest

from tensim.library import processes
from tensim.sim import errors
from tensim.ttnn import runner
from tests.commands import exit_code

ROOT = Path(__file__).parents[2]
TABLE = re.findall(r"^\| ([^|]+) \|", (ROOT / "docs/commands.md").read_text(), re.MULTILINE)


def test_every_code_is_in_the_table():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and hasattr(kind, "exit_code")]
    closed = re.search(r"CLOSED_STATUS = (\d+)", (ROOT / "host_api/library/device.c").read_text())[1]
    codes = {
        0,
        processes.INTERRUPTED,
        runner.INTERRUPTED,
        runner.UNWRITTEN,
        int(closed),
        *(kind.exit_code for kind in kinds),
    }
    assert {int(code) for code in TABLE if code.isdigit()} == codes


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--version"], 0),
        (["run", "no_such_program"], 2),
        (["compare", "no_such_file", "none"], 2),
        (["no_such_command"], 2),
    ],
)
def test_commands_end_with_them(arguments, code, capsys):
    assert exit_code(*arguments) == code
