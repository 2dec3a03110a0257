"""Programs under the names of the vendor's tools, which run the stand-ins with this Python."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from tensim.library.environment import PREFIX

TOOLS = "g++ gcc c++ objcopy size nm objdump".split()


def install_tools(folder: str | Path) -> list[Path]:
    """Write the launchers into a folder, which is made; the paths written."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{PREFIX}{name}" for name in TOOLS]
    for path in paths:
        command = f"exec {shlex.quote(sys.executable)} -m tensim.drop_in.compiler {path.name}"
        _install(path, f'#!/bin/sh\nunset PYTHONPATH PYTHONHOME\n{command} "$@"\n')
    return paths


def _install(path: Path, text: str) -> None:
    """Let a program lie at a path.  One that is there already stays: another process may run it."""
    if path.is_file() and path.read_text() == text:
        return
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_text(text)
    partial.chmod(0o755)
    os.replace(partial, path)
