"""Shell completion, and what help, completion and usage errors import: names, choices, and nothing of the machine."""

import os
import subprocess
import sys

import pytest

from tensim.cli.main import main
from tensim.examples import EXAMPLES

COMMAND = "import sys; sys.argv[0] = 'tensim'; from tensim.cli.main import main; main(prog_name='tensim')"
MODULES = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
HEAVY = {"numba", "numpy", "rich", "matplotlib", "simpy", "llvmlite"}


def complete(*words):
    """What bash is offered for the last of some words."""
    environment = {
        "_TENSIM_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["tensim", *words]),
        "COMP_CWORD": str(len(words)),
    }
    command = [sys.executable, "-c", COMMAND]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    return [tuple(line.split(",")) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["re"], ["replay", "replay-noc"]),
        (["run", "matmul_m"], [name for name in EXAMPLES if name.startswith("matmul_m")]),
        (["capture", "add"], ["add_integers"]),
        (["run", "add_integers", "--arch", "w"], ["wormhole_b0"]),
        (["replay", "a.bin", "--arch", "g"], ["grayskull"]),
        (["run", "add_integers", "--numerics", "e"], ["exact"]),
        (["run", "add_integers", "--noc", ""], ["packet", "flit"]),
        (["run", "--fid"], ["--fidelity"]),
        (["validate", "gem"], ["gemm"]),
    ],
)
def test_names_and_choices_are_completed(words, expected):
    assert complete(*words) == [("plain", name) for name in expected]


def test_files_are_left_to_the_shell():
    assert complete("run", "my_") == [("file", "my_")]
    assert complete("run", "add_integers", "--arch", "./my_") == [("file", "./my_")]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["--version"], 0),
        (["examples"], 0),
        (["run", "--help"], 0),
        (["replay-noc", "--help"], 0),
        (["validate", "--help"], 0),
        (["check", "--help"], 0),
        (["nonsense"], 2),
        (["run"], 2),
        (["run", "add_integers", "--nonsense"], 2),
        (["run", "nonsense"], 2),
        (["run", "add_integers", "--arch", "quasar"], 2),
        (["run", "missing.py"], 2),
    ],
)
def test_help_and_errors_import_nothing_of_the_machine(arguments, code):
    done = subprocess.run([sys.executable, "-c", MODULES + COMMAND, *arguments], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert not HEAVY & set(done.stderr.split())


def test_the_list_of_commands_says_what_the_commands_say():
    """Name and first sentence of each command stand in the list, so that the list needs no command."""
    for name, listed in main.commands.items():
        command = listed.load()
        assert command.name == name and command.get_short_help_str(1000) == listed.help
