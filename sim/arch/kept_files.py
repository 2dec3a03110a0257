"""The project's own YAML files as they were read before: parsing one takes longer than a small run.

They lie in the cache beside the compiled code, by a hash of the text; where nothing can be kept they are parsed each time.
"""

import contextlib
import hashlib
import marshal
from pathlib import Path

from tensim.sim.engine.cache import DIRECTORY
from tensim.sim.engine.sealed_files import read_sealed, write_sealed


def kept(path, parse):
    """What `parse()` gives for a file: dicts, lists, texts and numbers."""
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
    place = DIRECTORY / "parsed" / f"{Path(path).stem}-{digest}"
    content = read_sealed(place)
    if content is not None:
        return marshal.loads(content)
    data = parse()
    with contextlib.suppress(OSError):
        write_sealed(place, marshal.dumps(data))
    return data
