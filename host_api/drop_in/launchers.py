"""Programs under the names of the vendor's tools, which run the stand-ins with this Python."""

import shlex
import sys
from pathlib import Path

TOOLS = "g++ gcc c++ objcopy size nm objdump".split()
PREFIX = "riscv-tt-elf-"


def install_tools(folder):
    """Write the launchers into a folder, which is made; the paths written."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{PREFIX}{name}" for name in TOOLS]
    for path in paths:
        command = f"exec {shlex.quote(sys.executable)} -m tensim.drop_in.compiler {path.name}"
        path.write_text(f'#!/bin/sh\nunset PYTHONPATH PYTHONHOME\n{command} "$@"\n')
        path.chmod(0o755)
    return paths
