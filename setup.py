"""The packages of the wheel: every folder with an `__init__.py` below the folders that pyproject.toml maps into `tensim`.

setuptools finds packages by the folders' own names only; everything else about the project is in pyproject.toml.
"""

import tomllib
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.editable_wheel import editable_wheel

ROOT = Path(__file__).resolve().parent
FOLDERS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"]


class EditableWheel(editable_wheel):
    """An editable install is an import hook, which type checkers do not follow: a file of paths leads them to `typings`."""

    def _install_namespaces(self, installation_dir, pth_prefix):
        """Fill the folder whose files are installed as they are."""
        super()._install_namespaces(installation_dir, pth_prefix)
        Path(installation_dir, "tensim_types.pth").write_text(f"{ROOT / 'typings/installed'}\n")


setup(
    packages=[
        name
        for package, folder in FOLDERS.items()
        for name in (package, *(f"{package}.{inner}" for inner in find_packages(ROOT / folder)))
    ],
    cmdclass={"editable_wheel": EditableWheel},
)
