"""The vendor's LLK sources as a release of the library ships them: where they lie and what of them a kernel includes."""

import functools
import importlib.metadata
import os
from dataclasses import dataclass
from pathlib import Path

from tensim.sim.errors import UsageError

ENVIRONMENT = "TENSIM_LLK"  # names the folder that holds `tt_metal`
FAMILIES = {"wormhole_b0": "wormhole", "blackhole": "blackhole"}
HINT = f"name the library's folder, which holds tt_metal, by --kernel-path or {ENVIRONMENT}; library mode finds its own"


# Below `tt_metal`, where releases keep the headers of chips, the newest first
CHIP_HEADERS = "hw/inc/internal/tt-1xx", "hw/inc/tt-1xx"
LLK_FOLDERS = "tt-llk", "third_party/tt_llk"


@dataclass(frozen=True)
class LlkTree:
    """`root`: the folder that holds `tt_metal`; `llk`: that of tt_llk_wormhole_b0 and tt_llk_blackhole."""

    root: Path
    llk: Path

    def include_folders(self, chip):
        """Folders in the order of tt-metal's build."""
        family, metal = FAMILIES[chip], self.root / "tt_metal"
        internal = next((folder for name in CHIP_HEADERS if (folder := metal / name).is_dir()), metal)
        api = metal / f"hw/ckernels/{chip}/metal"
        llk = self.llk / f"tt_llk_{chip}"
        folders = [
            self.root, self.root / "ttnn", self.root / "ttnn/cpp", metal, metal / "include", metal / "hw/inc",
            metal / "hostdevcommon/api", metal / "api", self.llk / "common", self.llk / "tools/include", internal,
            internal / family, internal / family / f"{chip}_defines", internal / family / "noc", api / "common", api / "llk_io",
            api / "llk_api", api / "llk_api/llk_sfpu", llk / "common/inc", llk / "llk_lib", llk / "llk_lib/hal",
            metal / "hw/firmware/src/tt-1xx",
        ]  # fmt: skip
        return [folder for folder in folders if folder.is_dir()]

    def circular_buffers(self, chip):
        """How many circular buffers a release's kernels have."""
        header = self.root / "tt_metal/hw/inc/internal/circular_buffer_init.h"
        return 64 if chip == "blackhole" and "shift_mask" in header.read_text() else 32

    @functools.cached_property
    def release(self):
        """Of an installed library, else None."""
        found = importlib.metadata.Distribution.discover(name="ttnn", path=[str(self.root.parent)])
        return next((one.version for one in found), None)

    @functools.cached_property
    def is_typed(self):
        """Whether settings have enumerations of their own, as from 0.81 on."""
        definitions = self.llk / "tt_llk_blackhole/llk_lib/llk_defs.h"
        return "enum class MathFidelity" in definitions.read_text()


def tree_at(folder):
    """The `LlkTree` below a folder or one of those above it, None where there is none."""
    folder = Path(folder).resolve()
    for root in (folder, folder / "ttnn", *folder.parents):
        for llk in (root / "tt_metal" / name for name in LLK_FOLDERS):
            if (llk / "tt_llk_blackhole/llk_lib").is_dir():
                return LlkTree(root, llk)
    return None


def find_tree(folders=()):
    """The tree that one of `folders` belongs to, or that TENSIM_LLK names.  UsageError where there is none."""
    named = os.environ.get(ENVIRONMENT)
    for folder in (*folders, *([named] if named else [])):
        found = tree_at(folder)
        if found is not None:
            return found
    raise UsageError("the vendor's LLK sources are not here, and this kernel is built against them", hint=HINT)
