"""The packages of the wheel: every folder with an `__init__.py` below the folders that pyproject.toml maps into `tensim`.

setuptools finds packages by the folders' own names only; everything else about the project is in pyproject.toml.
"""

import tomllib
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
FOLDERS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"]

setup(
    packages=[
        name
        for package, folder in FOLDERS.items()
        for name in (package, *(f"{package}.{inner}" for inner in find_packages(ROOT / folder)))
    ]
)
