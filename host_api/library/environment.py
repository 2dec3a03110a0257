"""What the library needs around it: an interpreter that has it, a tree in which our compiler takes the place of its own, and the
folder that names our device.

Nothing is written into the library's folder: the tree is one of symbolic links in tensim's cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from tensim.library.descriptions import chip_description, cluster_description, dram_places, mesh_description
from tensim.library.identifiers import Commands
from tensim.sim.engine.cache import cache_root
from tensim.sim.engine.sealed_files import read_sealed, write_atomically, write_sealed
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.sim.arch import Arch
    from tensim.sim.host.wiring import Wiring

PACKAGE = Path(__file__).resolve().parent
COMPILER = "runtime/sfpi/compiler/bin"
PREFIX = "riscv-tt-elf-"
COMMANDS = "commands"  # folder of the compiler commands behind the identifiers in the library's own cache
TOOLS = ("g++", "gcc", "objcopy", "objdump", "ld", "nm")
INTERPRETERS = ("python3.10", "python3.12", "python3")
INTERPRETER = "TENSIM_LIBRARY_PYTHON"  # environment: an interpreter that has the library
# Unless the user asks for more: logs with warnings alone, and no server on a port that all programs share.
QUIET = {"TT_LOGGER_LEVEL": "warn", "TT_METAL_LOGGER_LEVEL": "warn", "TT_METAL_INSPECTOR_RPC": "0"}
# Release from which drivers link simulated chips by a description: to 0.79 they open one, 0.80's links need functions of its own
LINKED = 0, 81
MESH = "mesh_graph_descriptor.textproto"  # of chips whose board the library does not know
DEVICES = {"wormhole_b0": "libtensim_wh.so", "blackhole": "libtensim_bh.so"}
FLAGS = ("-O2", "-Wall", "-Wextra")
SOC_DESCRIPTORS = {"wormhole_b0": "wormhole_b0_80_arch.yaml", "blackhole": "blackhole_140_arch.yaml"}
FIND = """
import importlib.metadata, importlib.util, json, sys
found = importlib.util.find_spec("ttnn")
place = list(found.submodule_search_locations)[0] if found and found.submodule_search_locations else None
print(json.dumps([place, importlib.metadata.version("ttnn") if place else None, list(sys.version_info[:3])]))
"""


@dataclass(frozen=True)
class Library:
    """An installed library: interpreter, folder of the package, release."""

    python: str
    folder: Path
    release: str


def find_library(python: str | Path | None = None) -> Library:
    """The `Library` of an interpreter, of TENSIM_LIBRARY_PYTHON, or of the first that has it.  UsageError: what is missing."""
    tried, python = [], python or os.environ.get(INTERPRETER)
    for candidate in [python] if python else _interpreters():
        found = _library_of(candidate)
        if isinstance(found, Library):
            return found
        tried.append(f"{candidate}: {found}")
    raise UsageError(
        f"ttnn is not installed ({'; '.join(tried) or 'no Python found'})",
        hint="install it into an environment of Python 3.10 or 3.12 and name that environment's python: --python PATH",
    )


def _interpreters() -> list[str]:
    """Pythons that may have the library: ours, if it does, and those on the path."""
    own = [sys.executable] if find_spec("ttnn") is not None else []
    return [*own, *(path for name in INTERPRETERS if (path := shutil.which(name)))]


def _library_of(python: str | Path) -> Library | str:
    """A `Library`, or why there is none."""
    try:
        done = subprocess.run([python, "-c", FIND], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"cannot be run ({error})"
    try:
        place, release, version = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return f"does not run as Python does (status {done.returncode})"
    if place is None:
        return f"Python {'.'.join(map(str, version))} without ttnn"
    return Library(str(python), Path(place), release)


@dataclass(frozen=True)
class Surroundings:
    """Prepared folders: `root`, the library's tree; `device`, the folder of our device; `kept`, what the library keeps."""

    root: Path
    device: Path
    kept: Path
    # of each DRAM channel the coordinates by which the library may name it
    channels: tuple[tuple[tuple[int, int], ...], ...]

    def variables(self, socket: str | Path, arch: Arch, chips: int = 1) -> dict[str, str]:
        """Environment variables of the library's process."""
        mesh = {"TT_MESH_GRAPH_DESC_PATH": str(self.device / MESH)} if (self.device / MESH).exists() else {}
        return {name: value for name, value in (QUIET | mesh).items() if name not in os.environ} | {
            "TT_METAL_SIMULATOR": str(self.device / DEVICES[arch.name]), "TT_METAL_SLOW_DISPATCH_MODE": "1",
            "TT_METAL_RUNTIME_ROOT": str(self.root), "TT_METAL_HOME": str(self.root), "TT_METAL_CACHE": str(self.kept),
            "TENSIM_LIBRARY_SOCKET": str(socket), "TENSIM_LIBRARY_ARCH": arch.name, "TENSIM_LIBRARY_CHIPS": str(chips),
            "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip


def prepare(
    library: Library,
    arch: Arch,
    room: str = "library",
    install: Callable[[Path], object] | None = None,
    wiring: Wiring | None = None,
    compiled_by: str = "",
) -> Surroundings:
    """The `Surroundings` of a library and an architecture, made where they are not there, in a room of the cache.

    `wiring`: of several chips (`tensim.sim.host.wiring.Wiring`).  `compiled_by`: what the library keeps of another compiler goes.

    `install(folder)` puts the tools of the library's compiler into a folder; by default programs that pass command lines on to
    the `server`.
    """
    if wiring is not None and tuple(map(int, re.findall(r"\d+", library.release)[:2])) < LINKED:
        raise UsageError(
            f"ttnn {library.release} drives one simulated chip",
            hint=f"--mesh needs {'.'.join(map(str, LINKED))} or later",
        )
    install = install or _install_compiler
    described = library.folder / "tt_metal/soc_descriptors" / SOC_DESCRIPTORS[arch.name]
    if not described.is_file():
        raise UsageError(f"ttnn {library.release} is incomplete: {described} is missing", hint="install it anew")
    described = yaml.load(described.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    files = {
        "soc_descriptor.yaml": yaml.safe_dump(chip_description(described, arch)),
        "cluster_descriptor.yaml": yaml.safe_dump(cluster_description(arch, wiring)),
    }
    if wiring is not None and wiring.torus:
        files[MESH] = mesh_description(arch, wiring)
    place = cache_root() / room / f"{library.release}-{_digest(str(library.folder))}"
    root, device = place / "root", place / f"{arch.name}-{arch.board}-{_digest(repr(files))}"
    _link_tree(library.folder, root, install)
    device.mkdir(parents=True, exist_ok=True)
    build_c(device / DEVICES[arch.name], PACKAGE / "device.c", ("-shared", "-fPIC", "-lpthread"))
    for name, text in files.items():
        write_atomically(device / name, text.encode())
    kept, compiler = device / "kept", device / "compiled_by"
    is_other = compiler.exists() and compiler.read_text() != compiled_by
    if Commands(device / COMMANDS).drop_damaged() or is_other:  # the library then compiles anew what it has of them
        shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(exist_ok=True)
    write_atomically(compiler, compiled_by.encode())
    return Surroundings(root, device, kept, dram_places(described, arch))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _link_tree(folder: Path, root: Path, install: Callable[[Path], object]) -> None:
    """A tree of links to the library's, in which the tools of its compiler are those that `install(folder)` puts into a folder."""
    root.mkdir(parents=True, exist_ok=True)
    for entry in folder.iterdir():
        if entry.name != "runtime":
            link(root / entry.name, entry)
    install(root / COMPILER)
    for entry in (folder / "runtime").iterdir() if (folder / "runtime").is_dir() else ():
        if entry.name != "sfpi":
            link(root / "runtime" / entry.name, entry)


def _install_compiler(tools: Path) -> None:
    """Put the programs into a folder that pass command lines on to `server`."""
    tools.mkdir(parents=True, exist_ok=True)
    build_c(tools / "compiler", PACKAGE / "compiler.c", ())
    for name in TOOLS:
        link(tools / f"{PREFIX}{name}", tools / "compiler")


def link(place: Path, target: str | Path) -> None:
    """Let a symbolic link lie at a place."""
    if not place.is_symlink() or os.readlink(place) != str(target):
        place.unlink(missing_ok=True)
        place.symlink_to(target)


def build_c(target: Path, source: Path, flags: Sequence[str]) -> None:
    """Build a C file of ours, unless it is there as it was built of this source."""
    made, content = target.with_name(f"{target.name}.made"), hashlib.sha256(source.read_bytes()).hexdigest()
    if target.is_file() and read_sealed(made) == f"{content} {_digest_of(target)}".encode():
        return
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    command = [*_c_compiler(), *FLAGS, "-o", str(partial), str(source), *flags]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise UsageError(f"cannot build {source.name}:\n{done.stderr}")
    write_sealed(made, f"{content} {_digest_of(partial)}".encode())
    os.replace(partial, target)


def _digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _c_compiler() -> list[str]:
    """The command of a C compiler for this machine: the system's, or the one of the package ziglang."""
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return [found]
    if find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc"]
    raise UsageError("no C compiler for the library's device", hint="pip install 'tensim[cpp]', or install cc")
