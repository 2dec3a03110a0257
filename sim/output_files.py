"""The one writer of files that users ask for: results, timelines, saved binaries, tables, plots.

A regular file is replaced at once, with the mode that it had: whoever is interrupted, or finds the disk full, leaves the old file
or none, never a half one.  Symbolic links are followed.  What is no regular file, a device, a pipe or a descriptor of the process
(/dev/stdout), is written through and stays what it is.
"""

import contextlib
import errno
import io
import os
import stat
from pathlib import Path

IN_THE_WAY = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV)  # of a replacement, not of the file
MAX_LINKS = 40


@contextlib.contextmanager
def output_file(path, mode="w", **how):
    """The open file (`mode` "w", text, or "wb"; `how`: as for `open`) whose content `path` has after the block.

    OSError when that fails; then, and when the block raises, a regular file is what it was.
    """
    if "b" not in mode:
        how = {"encoding": "utf-8"} | how
    with output_path(path) as place, open(place, mode, **how) as file:
        yield file


@contextlib.contextmanager
def output_path(path):
    """A path to write to in the block, for what opens files itself; `path` has the content afterwards, as in `output_file`."""
    target = _replaceable(path)
    if target is None:
        yield str(path)
        return
    try:
        temporary = _temporary(target)
    except OSError as error:
        if error.errno not in IN_THE_WAY or not os.access(target, os.W_OK):
            raise OSError(error.errno, error.strerror, str(path)) from error
        yield str(target)  # a file that can be written in a folder that cannot
        return
    try:
        yield temporary
        _put(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def write_output(path, content):
    """Write a text or bytes."""
    with output_file(path, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)


def write_array(path, array):
    """Write an array in numpy's form; as with numpy's own function the name ends in .npy afterwards."""
    import numpy as np

    path = str(path)
    with output_file(path if path.endswith(".npy") or is_special(path) else f"{path}.npy", "wb") as file:
        np.save(_Sink(file), np.asanyarray(array))


def write_arrays(path, **arrays):
    """Write several arrays in numpy's form (.npz)."""
    import numpy as np

    if is_special(path):  # the form has its table at the end, and places in it
        content = io.BytesIO()
        np.savez(content, **arrays)
        write_output(path, content.getvalue())
        return
    with output_file(path, "wb") as file:
        np.savez(file, **arrays)


def write_figure(path, figure, **how):
    """Write a figure of matplotlib in the form that the name ends in."""
    picture = io.BytesIO()
    figure.savefig(picture, format=Path(path).suffix.removeprefix(".") or None, **how)
    write_output(path, picture.getvalue())


def append_output(path, text):
    """Add a text to a file, in place."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)


def remove_output(path):
    """Remove the regular file that a path leads to, if there is one; nothing else."""
    target = _replaceable(path)
    if target is not None:
        target.unlink(missing_ok=True)


def require_output(path):
    """OSError now, rather than after the work, when `path` cannot be written; nothing is changed."""
    if Path(path).is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    target = _replaceable(path)
    if target is None:
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    try:
        os.unlink(_temporary(target))
    except OSError as error:
        if error.errno not in IN_THE_WAY or not target.exists():
            raise


def is_special(path):
    """Whether a path leads to what is no regular file and is written through."""
    return Path(path).exists() and _replaceable(path) is None


def _replaceable(path):
    """The regular file to replace or to make at the end of a path's links; None for what is written through."""
    path, links = os.path.abspath(path), 0
    while os.path.islink(path):
        if os.path.realpath(os.path.dirname(path)).startswith("/proc/"):  # a descriptor: others write there, too
            return None
        path = os.path.join(os.path.dirname(path), os.readlink(path))
        links += 1
        if links > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    try:
        return Path(os.path.realpath(path)) if stat.S_ISREG(os.stat(path).st_mode) else None
    except FileNotFoundError:
        return Path(os.path.realpath(path))


def _temporary(target):
    """A new empty file beside a target, with its mode and owner, or those of any new file."""
    path = target.parent / f".tensim-{os.urandom(8).hex()}.tmp"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        if target.exists():
            found = target.stat()
            with contextlib.suppress(OSError):
                os.fchown(descriptor, found.st_uid, found.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(found.st_mode))
    finally:
        os.close(descriptor)
    return str(path)


def _put(temporary, target):
    """Move a whole file to its place; where that is held, as a single file of a container is, its content."""
    try:
        os.replace(temporary, target)
    except OSError as error:
        if error.errno not in IN_THE_WAY:
            raise
        import shutil  # not for who starts, looks and ends

        shutil.copyfile(temporary, target)


class _Sink:
    """What numpy only writes to: with a file it would ask a pipe for its position."""

    def __init__(self, file):
        self.write = file.write
