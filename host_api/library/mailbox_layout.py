"""Where a release of the library keeps its mailboxes: its own headers say, to a compiler."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tensim.library.mailboxes import Layout
from tensim.sim.cores.riscv.llk.tree import CHIP_HEADERS, FAMILIES
from tensim.sim.cores.riscv.toolchain import run, toolchain
from tensim.sim.engine.cache import cache_root
from tensim.sim.engine.sealed_files import read_sealed, write_sealed
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.library.environment import Library
    from tensim.sim.arch import Arch
    from tensim.sim.cores.riscv.toolchain import Toolchain

QUESTION = Path(__file__).with_name("mailbox_layout.cpp")
SECTION = ".rodata.tensim_layout"
METAL = "tt_metal"
# where releases keep the headers, the newest first
MESSAGES = f"{METAL}/hw/inc/hostdev/dev_msgs.h", f"{METAL}/hw/inc/dev_msgs.h"
INTERNAL = tuple(f"{METAL}/{name}" for name in CHIP_HEADERS)
WORD = 4
KNOWN = "install a release from 0.66 to 0.81"
# As for the firmware of a worker core's first processor
DEFINES = ("FW_BUILD", "TENSIX_FIRMWARE", "COMPILE_FOR_BRISC", "PROCESSOR_INDEX=0")


def layout_of(library: Library, arch: Arch, older: bool = False) -> Layout:
    """The `Layout` of a release's mailboxes on an architecture.  UsageError where its headers do not say.

    `older`: of a release before 0.66, too, whose kernels run at the register level alone.
    """
    if arch.name not in FAMILIES:
        raise UsageError(f"ttnn {library.release} knows no {arch.name}", hint=f"choose one of {', '.join(FAMILIES)}")
    messages = _header(library, MESSAGES if older else MESSAGES[:1])
    memory = _header(library, tuple(f"{folder}/{FAMILIES[arch.name]}/dev_mem_map.h" for folder in INTERNAL))
    # these headers include others of the release
    asked = hashlib.sha256(f"{library.release} {library.folder}\n".encode())
    for path in (QUESTION, messages, memory):
        asked.update(path.read_bytes())
    kept = cache_root() / "library" / f"layout-{arch.name}-{asked.hexdigest()[:16]}.json"
    known = read_sealed(kept)
    if known is None:
        known = json.dumps(_ask(library, arch.name)).encode()
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_sealed(kept, known)
    return Layout(*json.loads(known))


def _header(library: Library, places: tuple[str, ...]) -> Path:
    """The first of some places at which a release keeps a header."""
    for place in places:
        if (library.folder / place).is_file():
            return library.folder / place
    raise UsageError(
        f"ttnn {library.release} is not known here: it has no {Path(places[0]).name} where other releases do",
        hint=KNOWN,
    )


def _ask(library: Library, chip: str) -> list[int]:
    """The numbers that a compiler reads from the headers."""
    tools, family = toolchain(), FAMILIES[chip]
    below = ("", METAL, f"{METAL}/hw/inc", f"{METAL}/hostdevcommon/api", f"{METAL}/api", *INTERNAL)
    ours = ("", f"{chip}_defines", "noc")
    folders = [
        *(library.folder / name for name in below),
        *(library.folder / internal / family / name for internal in INTERNAL for name in ours),
    ]
    words = [f"-I{folder}" for folder in folders] + [f"-D{name}" for name in (f"ARCH_{family.upper()}", *DEFINES)]
    with tempfile.TemporaryDirectory() as place:
        target = Path(place) / "layout.o"
        done = run([*tools.compile, *tools.flags, *words, "-c", str(QUESTION), "-o", str(target)])
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error:" in line] or [done.stderr.strip()]
            raise UsageError(
                f"the headers of ttnn {library.release} do not say where its mailboxes lie: {errors[0]}",
                hint=KNOWN,
            )
        return _words_of(target, tools)


def _words_of(path: Path, tools: Toolchain) -> list[int]:
    """The numbers in an object file's section SECTION."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    with open(path, "rb") as file:
        try:
            section = ELFFile(file).get_section_by_name(SECTION)
            data = None if section is None else section.data()
        except ELFError:
            data = None
    if data is None:
        raise UsageError(f"the compiler {tools.compile[0]} leaves no {SECTION} in an object file")
    return [int.from_bytes(data[at : at + WORD], "little") for at in range(0, len(data), WORD)]
