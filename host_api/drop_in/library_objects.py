"""Objects of the vendor's runtime library that hold no machine code, only what its own compiler goes on with (-flto).

Their sources lie in the same tree, `tt_metal/hw` beside `runtime/hw/lib/CHIP`; they are compiled in the objects' place as that
tree's own build does it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tensim.drop_in.command_line import read
from tensim.sim.cores.riscv.llk.tree import CHIP_HEADERS, FAMILIES, LLK_FOLDERS

if TYPE_CHECKING:
    from tensim.drop_in.command_line import Command

SLIM = b"__gnu_lto_slim"
PROCESSORS = {"wormhole_b0": "tt-wh", "blackhole": "tt-bh"}


def is_slim(path: Path) -> bool:
    """Whether an object has no machine code of its own."""
    return SLIM in path.read_bytes()


def source_of(path: Path, chip: str) -> tuple[Path, Path]:
    """(Root of the tree, source of an object of its library); FileNotFoundError."""
    root = next((folder.parent for folder in path.parents if folder.name == "runtime"), path.parent)
    hardware, family = root / "tt_metal/hw", FAMILIES[chip]
    firmware = hardware / "firmware/src/tt-1xx"
    for folder in (hardware / "toolchain", firmware / family, firmware):
        for end in (".cpp", ".cc", ".c"):
            source = folder / f"{path.stem}{end}"
            if source.is_file():
                return root, source
    raise FileNotFoundError(f"{path} has no machine code, and its source is not below {hardware}")


def command_for(root: Path, source: Path, chip: str) -> Command:
    """The `Command` by which the tree's build makes an object."""
    metal, family = root / "tt_metal", FAMILIES[chip]
    folders = ["api", "api/tt-metalium", "hw/inc", "hw/inc/debug", "hw/firmware/src/tt-1xx"]
    for inner in (f"{headers}/{family}" for headers in CHIP_HEADERS):
        folders += [inner, f"{inner}/{chip}_defines", f"{inner}/noc", f"{inner}/overlay"]
    folders += [f"hw/ckernels/{chip}/metal/common", f"hw/ckernels/{chip}/metal/llk_io"]
    for llk in (f"{name}/tt_llk_{chip}" for name in LLK_FOLDERS):
        folders += [f"{llk}/common/inc", f"{llk}/llk_lib"]
    includes = [f"-I{root}", f"-I{metal}", *(f"-I{metal / name}" for name in folders)]
    flags = [f"-mcpu={PROCESSORS[chip]}", "-Os", "-flto", "-DTENSIX_FIRMWARE"]
    flags += [f"-DARCH_{family.upper()}", *includes]
    return read([*flags, "-c", "-x", "c++", str(source)], root)
