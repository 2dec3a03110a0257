"""Tools find the package's modules where they are installed: `typings` has a link for each, and mypy reads the whole of them."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINKS = ROOT / "typings/tensim"
USER = """
import tensim
from tensim.sim.arch import load_arch
from tensim.traces import noc_events
reveal_type(tensim.create_device)
reveal_type(noc_events.TYPE_NAMES)
"""


def expected():
    """{name: what it links to} of `typings/tensim`: what lies in the package's own folder, and its folders beside it."""
    folders = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"]
    own = folders.pop("tensim")
    listed = subprocess.run(
        ["git", "ls-files", own], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    names = {Path(path).relative_to(own).parts[0] for path in listed}
    return {name: f"../../{own}/{name}" for name in names} | {
        package.removeprefix("tensim."): f"../../{folder}" for package, folder in folders.items()
    }


def test_every_module_has_its_link():
    assert {path.name: str(path.readlink()) for path in LINKS.iterdir() if path.is_symlink()} == expected()


def test_a_checker_resolves_all_imports_of_a_user(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(USER)
    command = [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", tmp_path, program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "import" not in done.stdout, done.stdout
    assert "def (" in done.stdout and "tuple[" in done.stdout, done.stdout
