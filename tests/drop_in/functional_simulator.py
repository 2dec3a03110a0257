"""The vendor's functional simulator, which has no time, where a driver expects a card.

TENSIM_FUNCTIONAL_SIMULATORS names the folder in which its build puts release_wh and release_bh; TENSIM_LIBRARY_PYTHON names an
interpreter that has ttnn, whose descriptions of chips are used.  It knows no SFPLOADMACRO: kernels for both are built without.
"""

import os
import shutil
from pathlib import Path

from tensim.drop_in.runner import place_of

FOLDER, PYTHON = (os.environ.get(name) for name in ("TENSIM_FUNCTIONAL_SIMULATORS", "TENSIM_LIBRARY_PYTHON"))
BUILDS = {"wormhole_b0": "release_wh", "blackhole": "release_bh"}
WITHOUT_MACROS = {"TT_METAL_DISABLE_SFPLOADMACRO": "1"}


def environment_of(chip, folder):
    """Environment of a command whose driver opens the functional simulator; it and descriptions of the chip come into a folder."""
    place = place_of(chip, {}, PYTHON)
    for description in place.surroundings.device.glob("*.yaml"):
        shutil.copy(description, folder)
    library = Path(shutil.copy(Path(FOLDER, BUILDS[chip], "libttsim.so"), folder))
    return os.environ | place.variables("") | WITHOUT_MACROS | {"TT_METAL_SIMULATOR": str(library)}
