"""Where compiled code is kept between processes.

numba does not notice that a function called by a cached function has changed, so the cache directory's name holds a
hash of every source file of the package, of the compiled verifier and of the versions below them: a change anywhere
starts a fresh cache.
"""

import hashlib
import os
import platform
import sys
from pathlib import Path

import numba
import numpy

PACKAGE = Path(__file__).parent


def source_digest():
    """Hash of all sources of compiled code and of numba, numpy, Python and processor (hex, 16 digits)."""
    digest = hashlib.sha256()
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.parent.glob("traces/verifier_*.py")]):
        digest.update(str(path.relative_to(PACKAGE.parent)).encode())
        digest.update(path.read_bytes())
    versions = (numba.__version__, numpy.__version__, sys.version, platform.machine(), platform.processor())
    digest.update(repr(versions).encode())
    return digest.hexdigest()[:16]


def cache_root():
    """The user's cache directory for tensim; TENSIM_CACHE_DIR overrides it."""
    root = (
        os.environ.get("TENSIM_CACHE_DIR")
        or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tensim"
    )
    return Path(root)


def configure_cache():
    """Point numba's disk cache at this version's directory; call before anything is compiled."""
    directory = cache_root() / source_digest()
    directory.mkdir(parents=True, exist_ok=True)
    numba.config.CACHE_DIR = str(directory)
    return directory


DIRECTORY = configure_cache()
