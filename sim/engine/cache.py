"""Where compiled code is kept between processes.

numba does not notice that a function called by a cached function has changed, so the cache directory's name holds a
hash of every source file that can hold compiled code (`COMPILED`) and of the versions below them: a change
anywhere there starts a fresh cache.  Inside it a function lies under its module's name, not under the path of its file:
a checkout, its copies and an installed wheel of the same sources share what one of them has compiled.

The checker of kernels (`CHECKS`), the coprocessor at instruction level (`COPROCESSOR`), routers (`FABRIC`), requests of the
register level (`PACKETS`) and the loop of a debugger (`STOPS`) are apart: the engine calls them by address, or they the engine, or
both stand on the same models, so a change of one alone compiles it alone.
"""

import functools
import hashlib
import os
import platform
import sys
from importlib.util import find_spec
from pathlib import Path

# Packages (without what lies in rooms of their own) and modules with compiled functions and constants that numba freezes
# into them; the others are plain Python
COMPILED = (
    "sim.engine sim.loop sim.state sim.noc sim.dram sim.cores sim.cores.niu sim.cores.numerics sim.cores.tensix "
    "sim.cores.kernels.kernel_runtime sim.cores.kernels.conventions sim.cores.riscv.interpreter sim.cores.riscv.core "
    "sim.cores.riscv.core_memory sim.cores.riscv.core_operations sim.cores.riscv.instruction_results "
    "sim.cores.riscv.decode sim.cores.riscv.layout sim.cores.riscv.traps "
    "traces.flatbuffers traces.light_metal.content traces.light_metal.content_state traces.light_metal.content_things "
    "traces.light_metal.content_sizes traces.light_metal.content_arguments traces.light_metal.rules"
).split()
CHECKS, COPROCESSOR, FABRIC = ("sim.cores.checks",), ("sim.cores.coprocessor",), ("sim.cores.fabric",)
STOPS, PACKETS = ("sim.chip.stops",), ("sim.register_level.packets", "sim.register_level.flits")


def compiled_sources(parts=COMPILED):
    """{name of a module below `tensim`: its file} of all that machine code depends on."""
    return dict(source for part in parts for source in _sources(part))


def _sources(name):
    spec = find_spec(f"tensim.{name}")
    if spec.submodule_search_locations is None:
        return [(name, Path(spec.origin))]
    folder = Path(next(iter(spec.submodule_search_locations)))
    return [(f"{name}.{path.stem}".removesuffix(".__init__"), path) for path in sorted(folder.glob("*.py"))]


@functools.cache
def sources_digest():
    """Hash of all sources of compiled code (hex, 16 digits)."""
    digest = hashlib.sha256()
    for name, path in compiled_sources().items():
        digest.update(name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def source_digest():
    """Hash of all sources of compiled code and of numba, numpy, Python and the machine's architecture (hex, 16 digits)."""
    digest = hashlib.sha256(sources_digest().encode())
    # Read, not imported: that takes longer than a small run
    for package, file in (("numba", "_version.py"), ("llvmlite", "_version.py"), ("numpy", "version.py")):
        digest.update(Path(find_spec(package).origin).with_name(file).read_bytes())
    digest.update(repr((sys.version, platform.machine())).encode())
    return digest.hexdigest()[:16]


def digest_apart(parts):
    """Hash of the sources of a part that is apart, and of the tables beside them (hex, 16 digits)."""
    digest = hashlib.sha256()
    for name, path in compiled_sources(parts).items():
        digest.update(name.encode())
        digest.update(path.read_bytes())
    for folder in sorted({path.parent for path in compiled_sources(parts).values()}):
        for path in sorted(folder.glob("*.yaml")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_root():
    """The user's cache directory for tensim; TENSIM_CACHE_DIR overrides it."""
    root = (
        os.environ.get("TENSIM_CACHE_DIR")
        or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tensim"
    )
    return Path(root)


DIRECTORY = cache_root() / source_digest()
