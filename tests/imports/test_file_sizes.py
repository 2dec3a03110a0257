"""No file of Python is longer than one reading, and few classes have many methods: each answers one question."""

import ast
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_LINES = 600
MOST_METHODS = 25
LARGE = {
    "Tensor",
    "MeshDevice",
    "TensorSpec",
    "Lanes",
    "Result",
}  # what tt-metal's API, SIMD words and a run's result have


def files():
    """{name: text} of the project's Python files."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = {name: ROOT / name for name in listed.split()}
    return {name: path.read_text() for name, path in paths.items() if path.is_file() and not path.is_symlink()}


def test_no_file_has_more_lines_than_600():
    lines = {name: len(text.splitlines()) for name, text in files().items()}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def test_five_classes_have_more_methods_than_25():
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    large = {
        node.name
        for name, text in files().items()
        if not name.startswith("tests/")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef) and sum(isinstance(one, functions) for one in node.body) > MOST_METHODS
    }
    assert large == LARGE
