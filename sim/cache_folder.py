"""The folder of compiled code is one that can be written: another one is chosen before anything is looked up there.

`tensim.sim.engine.cache` says where compiled code lies; this module runs before it (`tensim.sim`) and sets TENSIM_CACHE_DIR, for
child processes too, when the user's folder is read-only, full or nowhere.  What such a folder holds is still used.
"""

import os
import stat
import warnings
from pathlib import Path

VARIABLE = "TENSIM_CACHE_DIR"
ROOM = 64 << 20  # bytes that a folder must have left; an engine takes about 45 MB
MEMORY = "/dev/shm"


def wanted_root():
    """The folder that the environment asks for, as `tensim.sim.engine.cache.cache_root` finds it; None without a home."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tensim"
    except RuntimeError:
        return None


def obstacle(root):
    """Why a folder cannot take compiled code, or None."""
    while not os.path.lexists(root) and root != root.parent:  # the part of the path that exists
        root = root.parent
    if not root.is_dir():
        return f"{root} is no folder"
    if not os.access(root, os.W_OK | os.X_OK):
        return "it cannot be written"
    free = os.statvfs(root)
    if free.f_bavail * free.f_frsize < ROOM:
        return f"less than {ROOM >> 20} MB are left there"
    return None


def fallback(candidates=None):
    """A folder of this user's own in one of the candidates, or None: a temporary one, or memory."""
    import tempfile  # rarely needed, and every start comes by here

    for parent in candidates or (tempfile.gettempdir(), MEMORY):
        folder = Path(parent) / f"tensim-{os.getuid()}"
        try:
            folder.mkdir(0o700, exist_ok=True)
            found = folder.lstat()
        except OSError:
            continue
        own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
        if own and obstacle(folder) is None:  # machine code from elsewhere would run as this user
            return folder
    return None


def choose():
    """Set TENSIM_CACHE_DIR, and say so in one warning, if the folder that is wanted cannot be used."""
    root = wanted_root()
    why = "there is no home directory" if root is None else obstacle(root)
    if why is None:
        return
    folder = fallback()
    if folder is None:
        return
    os.environ[VARIABLE] = str(folder)
    if root is not None:
        _take_over(root, folder)
    from tensim.sim.errors import TensimWarning

    warnings.warn(
        f"compiled code is kept in {folder}: {root or 'the cache folder'} cannot be used, {why}; {VARIABLE} names another",
        TensimWarning,
        stacklevel=2,
    )


def _take_over(root, folder):
    """Links to what is compiled already, so that nothing is compiled again."""
    from tensim.sim.engine.cache import DIRECTORY

    for part in (DIRECTORY.name, "cpp"):
        for place, _, names in os.walk(root / part):
            target = folder / os.path.relpath(place, root)
            target.mkdir(parents=True, exist_ok=True)
            for name in names:
                if not os.path.lexists(target / name):
                    os.symlink(os.path.join(place, name), target / name)
