"""No file of Python is longer than one reading: it answers one question."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_LINES = 600


def test_no_file_has_more_lines_than_600():
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [ROOT / name for name in listed.split()]
    lines = {
        str(file.relative_to(ROOT)): len(file.read_text().splitlines())
        for file in files
        if file.is_file() and not file.is_symlink()
    }
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}
