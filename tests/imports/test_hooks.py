"""What is checked before a commit is what `make lint` checks."""

import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def test_hooks_are_the_commands_of_make_lint():
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    asked = subprocess.run(["make", "-n", "lint"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    commands = [line for line in asked.splitlines() if line.startswith(".venv/bin/") and " pip " not in line]
    assert [hook["entry"] for hook in local["hooks"]] == commands
