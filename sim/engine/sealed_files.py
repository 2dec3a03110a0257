"""Files of a cache that tell whether they are whole: the hash of a content stands in front of it.

Whoever reads one gets the content that was written, or nothing, and makes it anew: a disk that was full, a machine that
stopped, a flipped bit cost time, never a crash.
"""

import contextlib
import hashlib
import os


def _seal(content):
    return hashlib.sha256(content).hexdigest().encode() + b"\n"


def read_sealed(path):
    """The content (bytes) of a file that `write_sealed` wrote; None when it is not there, unreadable or damaged."""
    try:
        with open(path, "rb") as file:
            seal, content = file.readline(80), file.read()
    except OSError:
        return None
    return content if seal == _seal(content) else None


def write_sealed(path, content):
    """Write bytes so that another process, and whoever reads them later, gets all of them or none."""
    write_atomically(path, _seal(content) + content)


def write_atomically(path, data):
    """Write bytes (of a cache) so that another process sees all of them or none; what fails leaves no file behind."""
    import tempfile  # not for who only reads

    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
        try:
            file.write(data)
            file.close()
            os.replace(file.name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(file.name)
            raise
