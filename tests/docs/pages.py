"""The blocks of a page, and what each asks a reader to do: write a file, run Python, run commands; or only to look at it."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tensim.cli.main import main
from tests.library.interpreters import library_with_torch

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
NAMED = re.compile(r"(?://|#) ([\w./-]+\.(?:py|cpp|yaml|yml|toml))\b")  # a first line that says which file a block is
COMMAND = re.compile(
    r"(?:\$ |[A-Z_]+=\S+ )?(?:\.venv/bin/)?(tensim|pytest|python3?|pip|make|seq|cp|eval|tt-\S+|ttnn-\S+|iree-\S+) "
)
STATUS = re.compile(r"# status (\d)\b")
# Commands by how they begin that a test of pages cannot run, and what runs them
NOT_RUN = {
    "make ": ".ci/run",
    "python3 -m venv": "tests/install",
    ".venv/bin/pip": "tests/install",
    "pip install": "tests/install",
    "eval ": "tests/cli/test_completion.py",
    "ttnn-visualizer": "a server: tests/tool_files/test_tools.py",
    "$ tensim debug": "a server for gdb: tests/debugger/test_gdb.py",
    "tensim debug square.py  ": "a prompt: tests/debugger/test_debug_command.py",
    "iree-compile": "the command of another project",
    "python -m tensim.validation": "make validate-quick",
    "tensim validate gemm": "minutes: make validate-quick",
    "tensim validate kernels": "minutes: make validate-quick",
    "tensim validate streaming": "minutes: make validate-quick",
    "tensim validate dispatch": "minutes: make validate-quick",
    "tensim survey": "the vendor's tests: tests/library",
    "tensim ttnn --library --arch blackhole examples/networks": "minutes: tests/library/test_networks.py",
    "tensim ttnn --library --arch blackhole --sample": "minutes: tests/library/test_networks.py",
    "tensim ttnn --library --compute instruction": "half a minute: tests/library/test_wheel.py",
    "tensim ttnn --library --mesh": "minutes: tests/library/test_meshes.py",
    "tensim device": "tests/drop_in",
}
# What needs the vendor's library, and torch beside it
LIBRARY = re.compile(r"--library\b|--compute instruction\b")
# Python that only other programs can run, by its first line, and what tests it
NOT_EXECUTED = {
    "from perfetto.trace_processor import TraceProcessor": "fetches a program: tests/docs/test_perfetto_page.py",
    'files = ["trisc0/trisc0.elf"': "another compiler's files: tests/cores/riscv/test_kernel_files.py",
    "auto device": "C++ of another project",
}


def pages():
    """README and all pages of guides, as paths."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/validation").glob("*.md"))]


def blocks(page):
    """[(tag, text, number of its first line)] of a page."""
    text = page.read_text()
    return [(found[1], found[2], text[: found.start(2)].count("\n")) for found in BLOCK.finditer(text)]


def kind_of(tag, text):
    """What a block asks for: "file", "python", "commands", or None to look at it."""
    if NAMED.match(text):
        return "file"
    if tag in ("python", "py"):
        return None if any(text.startswith(start) for start in NOT_EXECUTED) else "python"
    return "commands" if tag in ("", "sh") and COMMAND.match(text) else None


def commands(text):
    """Lines of a block that are commands, joined where one goes on; behind a prompt others are what they print."""
    lines = [
        line for line in text.replace("\\\n", " ").split("\n") if line.strip() and not line.lstrip().startswith("#")
    ]
    return [line for line in lines if line.startswith("$ ")] if text.startswith("$ ") else lines


class Reader:
    """Who does what a page asks for, in a folder with the files of a checkout that pages name."""

    def __init__(self, page, folder):
        self.page, self.folder, self.namespace, self.skipped = page, folder, {"__name__": page.stem}, []
        for name in ("examples", "validation", "bench", "docs"):
            (folder / name).symlink_to(ROOT / name)
        self._script = folder / f"{page.stem}_page.py"  # kernels need a file that their text can be read from
        lines = ["\n"] * page.read_text().count("\n")
        for tag, text, first in blocks(page):
            if kind_of(tag, text) == "python":
                lines[first : first + text.count("\n")] = text.splitlines(keepends=True)
        self._script.write_text("".join(lines))
        self.namespace["__file__"] = str(self._script)
        if "the README" in page.read_text():  # whose files the page goes on with
            for tag, text, _ in blocks(ROOT / "README.md"):
                self.write(tag, text)

    def follow(self):
        """Do all of it, in order.  AssertionError naming the command that ended otherwise than the page says."""
        for tag, text, first in blocks(self.page):
            kind = kind_of(tag, text)
            self.write(tag, text)
            if kind == "python":  # at its own lines, so that errors and kernels name lines of the page
                exec(compile("\n" * first + text, str(self._script), "exec"), self.namespace)
            elif kind == "commands":
                for line in commands(text):
                    self.run(line)

    def write(self, tag, text):
        """Write the file that a block is, if it is one."""
        if kind_of(tag, text) == "file":
            path = self.folder / NAMED.match(text)[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def run(self, line):
        """Run a command, unless it is none that a test runs (`NOT_RUN`) or the vendor's library is not there."""
        if any(line.startswith(start) for start in NOT_RUN):
            return
        if LIBRARY.search(line) and library_with_torch() is None:
            self.skipped.append(line)
            return
        expected = int(found[1]) if (found := STATUS.search(line)) else 0
        status = self._status(line.replace(".venv/bin/", "").removeprefix("$ "))
        assert status == expected, f"{self.page.name}: status {status} of: {line}"

    def _status(self, line):
        words = shlex.split(line, comments=True)
        if words[0] == "tensim" and not set(line) & set("|>*'") and words[1] != "ttnn":
            try:
                return main(words[1:]) or 0
            except SystemExit as left:
                return left.code or 0
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            line, shell=True, executable="/bin/bash", cwd=self.folder, env=os.environ | {"PATH": path}
        )
        return done.returncode
