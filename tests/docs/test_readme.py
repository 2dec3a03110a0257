"""The README says what it must on little space."""

from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_is_short():
    assert len(README.read_bytes()) <= 8192
